import { createConnection, createServer, type Server as TcpServer, type Socket } from "node:net";

/** Between the page and the server, so that the connection can be cut. */
export async function wire(to: number): Promise<AsyncDisposable & { readonly port: number; cut(isCut: boolean): void }> {
    const open = new Set<Socket>();
    let down = false;
    const server: TcpServer = createServer((socket) => {
        if (down) return void socket.destroy();
        const on = createConnection(to, "127.0.0.1");
        for (const one of [socket, on]) {
            open.add(one);
            one.on("error", () => one.destroy());
            one.on("close", () => open.delete(one));
        }
        socket.pipe(on).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const cut = (isCut: boolean): void => {
        down = isCut;
        if (isCut) for (const one of open) one.destroy();
    };
    const { port } = server.address() as { port: number };
    return {
        port,
        cut,
        [Symbol.asyncDispose]: () => {
            cut(true);
            return new Promise((resolve) => server.close(() => resolve()));
        },
    };
}
