/**
 * Clients, codes and logins that several server processes share.
 *
 * Boundary: what `clients.ts`, `codes.ts` and `guard.ts` keep for one process, in the table of a team. Every value has a code under the ledger's key (TEA1), and
 * stands under a name that tells nothing of the token or code that it is found by.
 *
 * SHC1: a token or a cookie is looked up here where this process does not know it; what it knows is looked at again when another process changed the list,
 *       and every few seconds.
 * SHC2: a code is taken by one process, once.
 */
import type { Json } from "@remit/language";
import type { Shared } from "@remit/host";
import type { Scope } from "../wire/messages.ts";
import { type Client, type ClientList, ClientRow, hashOf, type Minted, minted, shown } from "./clients.ts";
import type { Login } from "./guard.ts";

/** Between two looks that a token which is not known leads to, milliseconds. */
const LOOK_MS = 100;
/** A login of a page lasts so long, milliseconds; as its cookie does. */
const LOGIN_MS = 7 * 24 * 3_600_000;

export class SharedClients implements ClientList {
    readonly #shared: Shared;
    readonly #changed: (revoked: string | null) => void;
    readonly #rows = new Map<string, ClientRow>();
    readonly #byHash = new Map<string, ClientRow>();
    #looked = 0;
    #looking: Promise<void> | null = null;

    /** `changed`: tells the other processes. */
    constructor(shared: Shared, changed: (revoked: string | null) => void) {
        this.#shared = shared;
        this.#changed = changed;
    }

    async mint(name: string, scopes: readonly Scope[], given: Minted = {}): Promise<{ readonly client: Client; readonly token: string }> {
        const { row, token } = minted(name, scopes, given);
        if (!(await this.#shared.put("client", row.id, row as unknown as Json))) return this.mint(name, scopes, given);
        this.#add(row);
        this.#changed(null);
        return { client: shown(row), token };
    }

    of(token: string): Client | null {
        const row = this.#byHash.get(hashOf(token));
        return row === undefined || row.revoked !== undefined ? null : shown(row);
    }

    list(): Client[] {
        return [...this.#rows.values()].map(shown).sort((a, b) => (a.created < b.created ? -1 : 1));
    }

    get(id: string): Client | null {
        const row = this.#rows.get(id);
        return row === undefined ? null : shown(row);
    }

    async revoke(id: string): Promise<boolean> {
        for (;;) {
            const kept = await this.#shared.get("client", id);
            const row = kept === null ? undefined : ClientRow.parse(kept.value);
            if (kept === null || row === undefined || row.revoked !== undefined) return false;
            const next = { ...row, revoked: new Date().toISOString() };
            if (!(await this.#shared.change(kept, next as unknown as Json))) continue;
            this.#add(next);
            this.#changed(id);
            return true;
        }
    }

    /** SHC1. */
    async refresh(isNews = false): Promise<void> {
        if (!isNews && Date.now() - this.#looked < LOOK_MS) return;
        // One that has begun may have missed the news.
        if (isNews) await this.#looking;
        this.#looking ??= this.#look().finally(() => {
            this.#looking = null;
        });
        await this.#looking;
    }

    async #look(): Promise<void> {
        this.#looked = Date.now();
        // What this process made or revoked meanwhile is newer than what was read.
        for (const { value } of await this.#shared.list("client")) {
            const row = ClientRow.parse(value);
            if (this.#rows.get(row.id)?.revoked === undefined) this.#add(row);
        }
    }

    #add(row: ClientRow): void {
        this.#rows.set(row.id, row);
        this.#byHash.set(row.hash, row);
    }
}

/** SHC2. */
export class SharedCodes<T extends Json> {
    readonly #shared: Shared;
    readonly #kind: string;

    constructor(shared: Shared, kind: string) {
        this.#shared = shared;
        this.#kind = kind;
    }

    async keep(code: string, value: T, until: number): Promise<void> {
        await this.#shared.put(this.#kind, this.#shared.nameOf(this.#kind, code), value, until);
    }

    async take(code: string): Promise<T | null> {
        const kept = await this.#shared.get(this.#kind, this.#shared.nameOf(this.#kind, code));
        return kept !== null && (await this.#shared.drop(kept)) ? (kept.value as T) : null;
    }
}

/** Logins of pages: a cookie of one process is good at another. */
export class SharedLogins {
    readonly #shared: Shared;

    constructor(shared: Shared) {
        this.#shared = shared;
    }

    async keep(cookie: string, login: Login): Promise<void> {
        const name = this.#shared.nameOf("login", cookie);
        await this.#shared.put("login", name, login as unknown as Json, Date.now() + LOGIN_MS);
    }

    async get(cookie: string): Promise<Login | null> {
        const kept = await this.#shared.get("login", this.#shared.nameOf("login", cookie));
        return kept === null ? null : (kept.value as unknown as Login);
    }

    async drop(cookie: string): Promise<void> {
        const kept = await this.#shared.get("login", this.#shared.nameOf("login", cookie));
        if (kept !== null) await this.#shared.drop(kept);
    }
}
