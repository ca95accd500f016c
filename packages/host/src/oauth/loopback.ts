/**
 * The redirect at the end of a login, on this machine (RFC 8252, section 7.3).
 *
 * Boundary: one small server that hears one request. What the request says is checked by its caller.
 *
 * OAL1: it listens on the loopback address alone. A request without the right state gets an error page and ends nothing: any page that is open in a
 *       browser can make one.
 */
import type { AddressInfo } from "node:net";
import { isSameSecret } from "../secret/same.ts";
import { OAuthError } from "./error.ts";

export interface Redirect extends AsyncDisposable {
    /** `http://127.0.0.1:PORT/callback`. */
    readonly uri: string;
    /** The URL that came with this state. */
    come(state: string, signal: AbortSignal): Promise<URL>;
}

const PATH = "/callback";

export async function redirectHere(port = 0): Promise<Redirect> {
    const { createServer } = await import("node:http");
    let wanted: { readonly state: string; readonly done: (url: URL) => void } | null = null;
    const server = createServer((request, response) => {
        const url = new URL(request.url ?? "/", "http://127.0.0.1");
        const page = (status: number, text: string): void => {
            response.writeHead(status, {
                "content-type": "text/plain; charset=utf-8",
                "cache-control": "no-store",
                "referrer-policy": "no-referrer",
                connection: "close",
            });
            response.end(`${text}\n`);
        };
        if (request.method !== "GET" || url.pathname !== PATH) return page(404, "There is nothing here.");
        const states = url.searchParams.getAll("state");
        if (wanted === null || states.length !== 1 || !isSameSecret(states[0] as string, wanted.state))
            return page(400, "This is not the answer that was waited for. Log in again from the terminal.");
        page(
            200,
            url.searchParams.has("error")
                ? "Nothing was granted. You can close this page."
                : "Done. You can close this page and go back to the terminal.",
        );
        wanted.done(url);
        wanted = null;
    });
    await new Promise<void>((done, fail) => {
        server.once("error", (error: NodeJS.ErrnoException) =>
            fail(
                new OAuthError(
                    "setup",
                    `port ${port} of this machine cannot be used (${error.code})`,
                    "end what listens there, or log in with --device",
                ),
            ),
        );
        server.listen(port, "127.0.0.1", done);
    });
    const { port: at } = server.address() as AddressInfo;
    return {
        uri: `http://127.0.0.1:${at}${PATH}`,
        come: (state, signal) =>
            new Promise((done, fail) => {
                const stop = (): void =>
                    fail(
                        new OAuthError(
                            Error.isError(signal.reason) && signal.reason.name === "TimeoutError" ? "expired" : "cancelled",
                            "no answer came from the browser",
                            "log in again",
                        ),
                    );
                if (signal.aborted) return stop();
                signal.addEventListener("abort", stop, { once: true });
                wanted = {
                    state,
                    done: (url) => {
                        signal.removeEventListener("abort", stop);
                        done(url);
                    },
                };
            }),
        [Symbol.asyncDispose]: async () => {
            server.closeAllConnections();
            await new Promise((done) => server.close(done));
        },
    };
}
