/**
 * The command's two streams where they are pipes: writing to one waits until it is taken, as with Node's own, but no socket is made of it. Node's own
 * way loads the network for that, a tenth of what a small run takes.
 *
 * Boundary: of a process of its own. Terminals, files and Windows stay with Node.
 */
import { fstatSync, writeSync } from "node:fs";
import { Writable } from "node:stream";

/** Milliseconds between two attempts at a pipe that is full and does not wait by itself. */
const PAUSE = 2;

/** Before anything looks at the streams of the process. */
export function writePipes(): void {
    if (process.platform === "win32") return;
    for (const [fd, name] of [
        [1, "stdout"],
        [2, "stderr"],
    ] as const) {
        if (isPipe(fd)) Object.defineProperty(process, name, { value: pipe(fd), configurable: true, enumerable: true, writable: true });
    }
}

function isPipe(fd: number): boolean {
    try {
        const stats = fstatSync(fd);
        return stats.isFIFO() || stats.isSocket();
    } catch {
        // closed by what started the command
        return false;
    }
}

function pipe(fd: number): Writable {
    const made = new Writable({
        write(chunk: Buffer, _encoding, done) {
            try {
                for (let rest = chunk; rest.length > 0; ) rest = rest.subarray(written(fd, rest));
            } catch (error) {
                done(error as Error);
                return;
            }
            done();
        },
        // what is said at the very end, such as at `exit`, is said
        autoDestroy: false,
    });
    return Object.assign(made, { fd });
}

function written(fd: number, bytes: Buffer): number {
    for (;;) {
        try {
            return writeSync(fd, bytes);
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
        }
    }
}
