/**
 * Who sends a request, and whether it may be looked at: `Host`, `Origin`, credential, scope.
 *
 * Boundary: headers in, a client or a refusal out. No route is reached without it but the ones that need no credential, and those pass the first two
 * checks as well.
 *
 * GRD1: nothing in a body or a query says who sends it.
 * GRD2: a page of another origin gets no answer that it can read, and its request does nothing, whatever credential its browser adds: a cookie counts
 *     only together with the token against forgery, in a header.
 * GRD4: a browser's extension reaches the two addresses with which it pairs and opens its socket, and no other, unless it is listed.
 * GRD5: a request is for this server where its name is: a name of this machine or of `--host` at any port, because a tunnel or a container passes another
 *     one on and no page elsewhere can have such a name; a name of a proxy at the port that is listened on, at that of its scheme, or at the one that it
 *     was given with. A request line that names a server counts, not the `Host` beside it.
 * GRD3: wrong credential 401, wrong origin, host or scope 403. Many wrong credentials: 429, for requests with a wrong one alone.
 */
import { isSameSecret } from "@remit/host";
import type { Scope } from "../wire/messages.ts";
import type { SharedLogins } from "./shared.ts";
import { type Client, type ClientList, hashOf } from "./clients.ts";

/** The client that holds the owner's token. */
export const OWNER: Client = { id: "owner", name: "owner", scopes: ["observe", "submit", "lend", "approve", "admin"], created: "" };

/** Who looks at a ledger that nothing is done with. */
export const VIEWER: Client = { id: "viewer", name: "viewer", scopes: ["observe"], created: "" };

/** Browsers keep cookies by host and not by port: two servers of one machine need two names. */
export function cookieName(headers: Headers): string {
    return `remit_session${/:(\d+)$/.exec(headers.get("host") ?? "")?.[1] ?? ""}`;
}
export const CSRF_HEADER = "x-remit-csrf";

export interface GuardOptions {
    readonly clients: ClientList;
    /** Of several processes; null for one alone. */
    readonly shared?: SharedLogins | null;
    readonly ownerToken: string;
    /** Names that the server has itself, without a port. */
    readonly own: readonly string[];
    /** Names of proxies, with a port or without. */
    readonly named?: readonly string[];
    /** It is reached over TLS: its own pages are https. */
    readonly isSecure: boolean;
    /** Origins of pages that may use the server beside its own. */
    readonly origins: readonly string[];
}

export interface Refusal {
    readonly status: 401 | 403 | 421 | 429;
    readonly message: string;
    readonly hint?: string;
}

export interface Login {
    readonly client: Client;
    readonly csrf: string;
}

const MAX_WRONG = 20;
const WINDOW_MS = 60_000;

export class Guard {
    readonly #options: GuardOptions;
    /** Of pages that logged in, by hash of their cookie. */
    readonly #logins = new Map<string, Login>();
    #wrong: number[] = [];
    /** What `Host` may say of a proxy. */
    #proxies: ReadonlySet<string> = new Set();

    constructor(options: GuardOptions) {
        this.#options = options;
    }

    /** It is listened on. GRD5. */
    listens(port: number): void {
        const { named = [], isSecure } = this.#options;
        const ports: readonly (number | "")[] = isSecure ? ["", 443, port] : ["", 80, 443, port];
        this.#proxies = new Set(named.flatMap((one) => (hasPort(one) ? [one] : at(one, ports))));
    }

    #isDirect(host: string): boolean {
        return this.#options.own.includes(host.replace(/:\d+$/, ""));
    }

    /** Null where host and origin are right. `url`: what the request line names. */
    place(headers: Headers, url: URL): Refusal | null {
        const said = headers.get("host") ?? "";
        const host = said.toLowerCase();
        const { origins } = this.#options;
        // GRD5.
        const isHere = this.#isDirect(host) || this.#proxies.has(host);
        const other = !isHere ? said : URL.parse(`http://${host}`)?.host === url.host ? null : url.host;
        if (other !== null)
            return {
                status: 421,
                message: `this server does not answer for the host '${plain(other)}'`,
                hint: "name it with --host-name, with its port where that is another one",
            };
        const origin = headers.get("origin");
        if (
            origin === null ||
            origins.includes(origin) ||
            this.#isOwn(origin, host) ||
            (isExtension(origin) && OF_EXTENSIONS.has(url.pathname))
        )
            return null;
        return { status: 403, message: `the origin '${plain(origin)}' may not use this server`, hint: "name it with --origin" };
    }

    /** Behind a proxy with TLS its pages are https; on this machine it is reached without. */
    #isOwn(origin: string, host: string): boolean {
        const { isSecure } = this.#options;
        const schemes = !isSecure ? ["http"] : this.#isDirect(host) ? ["http", "https"] : ["https"];
        return schemes.some((scheme) => URL.parse(`${scheme}://${host}`)?.origin === origin);
    }

    /** The origin that an answer may be read by; null: none beside the server's own. */
    readableBy(headers: Headers): string | null {
        const origin = headers.get("origin");
        return origin !== null && this.#options.origins.includes(origin) ? origin : null;
    }

    /** As `client`; what this process does not know is looked for among what the others do (SHC1). */
    async identified(headers: Headers, method: string): Promise<Client | Refusal> {
        const { shared, clients } = this.#options;
        if (shared === undefined || shared === null) return this.client(headers, method);
        if ((headers.get("authorization") ?? "") !== "" && this.#found(headers, method) === null) await clients.refresh();
        const cookie = cookieOf(headers);
        if (cookie !== null) await this.#look(cookie, shared);
        return this.client(headers, method);
    }

    /** A login counts as long as it is kept: another process may have begun or ended it. */
    async #look(cookie: string, shared: SharedLogins): Promise<void> {
        const login = await shared.get(cookie);
        if (login === null) {
            this.#logins.delete(hashOf(cookie));
            return;
        }
        // Who logged in as the server's owner is the owner at each of its processes.
        const client = [OWNER, VIEWER].find(({ id }) => id === login.client.id) ?? login.client;
        this.#logins.set(hashOf(cookie), { ...login, client });
    }

    client(headers: Headers, method: string, now: number = Date.now()): Client | Refusal {
        const found = this.#found(headers, method);
        if (found !== null) return found;
        const isSaid = (headers.get("authorization") ?? "") !== "";
        const hint = "send `Authorization: Bearer TOKEN`; `remit clients pair` gives a client its own";
        if (!isSaid) return { status: 401, message: "no credential", hint };
        this.#wrong = this.#wrong.filter((at) => at > now - WINDOW_MS);
        if (this.#wrong.length >= MAX_WRONG) return { status: 429, message: "too many wrong credentials within a minute" };
        this.#wrong.push(now);
        return { status: 401, message: "the credential is not, or no longer, one of this server", hint };
    }

    #found(headers: Headers, method: string): Client | Refusal | null {
        const bearer = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(headers.get("authorization") ?? "")?.[1];
        if (bearer !== undefined) return this.bearer(bearer, headers.get("origin"));
        const cookie = cookieOf(headers);
        const login = cookie === null ? undefined : this.#logins.get(hashOf(cookie));
        if (login === undefined) return null;
        // GRD2: a picture or a script of another page has no origin, and says whose page it is.
        const site = headers.get("sec-fetch-site") ?? "none";
        if (site !== "none" && site !== "same-origin") return { status: 403, message: "a page of another site may not use this login" };
        // The client may have been revoked since.
        if (login.client !== OWNER && login.client !== VIEWER && this.#options.clients.get(login.client.id)?.revoked !== undefined)
            return null;
        if (method !== "GET" && method !== "HEAD" && !isSameSecret(headers.get(CSRF_HEADER) ?? "", login.csrf))
            return { status: 403, message: `a request with a cookie needs the header ${CSRF_HEADER}` };
        return login.client;
    }

    bearer(token: string, origin: string | null): Client | Refusal | null {
        if (isSameSecret(token, this.#options.ownerToken)) return OWNER;
        const client = this.#options.clients.of(token);
        if (client?.origin !== undefined && origin !== null && origin !== client.origin)
            return { status: 403, message: `this client belongs to the origin ${client.origin}` };
        return client;
    }

    /** A page logged in. `cookie`: what its browser keeps. */
    async login(cookie: string, login: Login): Promise<void> {
        this.#logins.set(hashOf(cookie), login);
        await this.#options.shared?.keep(cookie, login);
    }

    csrfOf(headers: Headers): string | null {
        const cookie = cookieOf(headers);
        return cookie === null ? null : (this.#logins.get(hashOf(cookie))?.csrf ?? null);
    }

    async logout(headers: Headers): Promise<void> {
        const cookie = cookieOf(headers);
        if (cookie === null) return;
        this.#logins.delete(hashOf(cookie));
        await this.#options.shared?.drop(cookie);
    }
}

export function lacks(client: Client, scope: Scope): Refusal | null {
    return client.scopes.includes(scope)
        ? null
        : { status: 403, message: `this needs the scope '${scope}', which ${client.id} does not have` };
}

export function isRefusal(one: object): one is Refusal {
    return "status" in one && "message" in one;
}

/** Where a code or a token is asked for, whatever cookie comes along. */
const OF_EXTENSIONS: ReadonlySet<string> = new Set(["/v1/pair", "/v1/socket"]);

function isExtension(origin: string): boolean {
    return /^(?:chrome|moz)-extension:\/\/[a-z0-9-]{1,64}$/.test(origin);
}

function hasPort(host: string): boolean {
    return /:\d+$/.test(host);
}

/** Without a port where that is empty. */
function at(name: string, ports: readonly (number | "")[]): string[] {
    return ports.map((port) => (port === "" ? name : `${name}:${port}`));
}

function cookieOf(headers: Headers): string | null {
    const wanted = cookieName(headers);
    for (const one of (headers.get("cookie") ?? "").split(";")) {
        const [name, value] = one.trim().split("=");
        if (name === wanted && value !== undefined && value !== "") return value;
    }
    return null;
}

function plain(text: string): string {
    return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);
}
