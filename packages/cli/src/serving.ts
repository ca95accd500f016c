/**
 * The server's package, loaded when a command needs it, and the server that a command speaks to.
 *
 * Boundary: names and options. What a server and a client are is `@remit/serve`'s.
 */
import { join } from "node:path";
import { LedgerError, type Process, stateFolder } from "@remit/host";
import type * as Serve from "@remit/serve";
import { here } from "./here.ts";
import { EXIT, UsageError } from "./io.ts";
import { untilStopped } from "./stopped.ts";

/** The server itself, which takes a while to load; a command that speaks to one takes less. */
export function serving(): Promise<typeof Serve> {
    return import("@remit/serve");
}

/** What is thrown where a server of any kind could not begin: told as wrong use where it is one. */
export function notBegun({ ServeError, ClientsError }: Pick<typeof Serve, "ServeError" | "ClientsError">, error: unknown): unknown {
    if (error instanceof ServeError) return new UsageError(error.message, error.hint);
    if (error instanceof LedgerError) return new UsageError(error.message, error.hint);
    if (error instanceof ClientsError) return new UsageError(error.message);
    return error;
}

/** Serves until the other side is gone, or this process is told to stop. Ends what the command began in this process (`on`) behind it. */
export async function whileServed(
    serve: typeof Serve,
    on: Process | undefined,
    begin: () => Promise<{ readonly closed: Promise<void>; close(): Promise<void> }>,
): Promise<number> {
    const stopped = untilStopped();
    try {
        const serves = await begin();
        await Promise.race([serves.closed, stopped]);
        await serves.close();
    } catch (error) {
        throw notBegun(serve, error);
    }
    await on?.close();
    return EXIT.ok;
}

/** The server that `--url` and `--token` name, else the newest of this user that runs. Throws `UsageError`. */
export async function serverHere(options: Readonly<Record<string, unknown>>): Promise<Serve.ServeClient> {
    const [{ ServeClient }, { servers }] = await Promise.all([import("@remit/serve/client"), import("@remit/serve/discovery")]);
    const { env } = here();
    const [url, token] = [options["url"], options["token"] ?? env["REMIT_TOKEN"]];
    if (url !== undefined) {
        if (!URL.canParse(String(url))) throw new UsageError(`--url '${String(url)}' is no address`, "such as http://127.0.0.1:4100");
        if (token === undefined) throw new UsageError("--url needs a credential", "give one with --token or REMIT_TOKEN");
        return new ServeClient({ url: String(url), token: String(token) });
    }
    const [newest] = servers(join(stateFolder(env), "serve"));
    if (newest === undefined)
        throw new UsageError(
            "no server of this user runs on this machine",
            "start one with `remit serve`, or name one with --url and --token",
        );
    return new ServeClient(newest);
}
