/**
 * The server, as the console speaks to it: requests with the token against forgery, and streams that come back by themselves.
 *
 * Boundary: `fetch` and `EventSource` of the browser; the credential is a cookie that no script can read.
 *
 * CAP1: a login code is taken out of the address before anything else is done with the page.
 */
import { refusalOf, serverAway, ServerRefusal } from "../src/wire/refusal.ts";

export { ServerRefusal };

export interface Me {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly string[];
    readonly csrf: string;
}

let csrf = "";

/** Told to the window when the server does not know this page any more: it was started anew, or the login was ended. */
export const LOGGED_OUT = "remit-logged-out";

/** Rejects with `ServerRefusal`. */
export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
    let response: Response;
    try {
        response = await fetch(path, {
            method,
            headers: {
                ...(method === "GET" ? {} : { "x-remit-csrf": csrf }),
                ...(body === undefined ? {} : { "content-type": "application/json" }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
    } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        throw serverAway();
    }
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok) return answer as T;
    if (response.status === 401) dispatchEvent(new Event(LOGGED_OUT));
    throw refusalOf(response.status, answer);
}

/** An address of parts that others wrote. */
export function at(...parts: readonly string[]): string {
    return `/v1/${parts.map(encodeURIComponent).join("/")}`;
}

/** Where the browser finds a picture of the server; null where it finds none. */
export function pictureAt(...parts: readonly string[]): string | null {
    return at(...parts);
}

/** Who this page is to the server; null where it has to log in. CAP1. */
export async function begin(): Promise<{ readonly me: Me | null; readonly refused: ServerRefusal | null }> {
    const said = new URLSearchParams(location.hash.slice(1));
    const code = said.get("code");
    let refused: ServerRefusal | null = null;
    if (code !== null) {
        history.replaceState(null, "", `#${said.get("to") ?? "/"}`);
        try {
            await request("POST", "/v1/login", { code });
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            refused = error;
        }
    }
    try {
        const me = await request<Me>("GET", "/v1/me");
        csrf = me.csrf;
        return { me, refused: null };
    } catch (error) {
        if (!(error instanceof ServerRefusal)) throw error;
        return { me: null, refused: refused ?? (error.status === 401 ? null : error) };
    }
}

export type Link = "live" | "lost" | "over";

export interface Heard {
    event(name: string, data: unknown): void;
    link(state: Link): void;
}

const AGAIN_MS = 2000;

/**
 * Server-sent events until the returned function is called. The browser comes back after a break by itself with the number of the last event; after a
 * refusal it does not, so that is done here. `names`: of the events that are heard besides those without a name.
 */
export function listen(path: string, names: readonly string[], heard: Heard): () => void {
    let last = "";
    let over = false;
    let source: EventSource;
    let timer = 0;
    const take = (event: MessageEvent<string>): void => {
        if (event.lastEventId !== "") last = event.lastEventId;
        heard.event(event.type, JSON.parse(event.data));
    };
    const open = (): void => {
        source = new EventSource(last === "" ? path : `${path.split("?")[0]}?from=${last}`);
        source.onopen = () => heard.link("live");
        source.onmessage = take;
        for (const name of names) source.addEventListener(name, take as EventListener);
        source.onerror = () => {
            if (over) return;
            heard.link("lost");
            if (source.readyState !== EventSource.CLOSED) return;
            timer = window.setTimeout(open, AGAIN_MS);
            // It says no more than that it was refused; whether the login has ended, this tells.
            void request("GET", "/v1/me").catch((error: unknown) => {
                if (!(error instanceof ServerRefusal)) throw error;
            });
        };
    };
    open();
    return () => {
        over = true;
        clearTimeout(timer);
        source.close();
    };
}
