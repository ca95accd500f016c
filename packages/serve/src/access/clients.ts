/**
 * Clients of the server and their tokens.
 *
 * Boundary: one private file. What a scope allows is said by the routes.
 *
 * CLN1: the file holds hashes, no token: a token is shown once, to the client that gets it.
 * CLN2: a revoked client stays in the file, so that what it did keeps a name, and its token never works again.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { privateFolder, writePrivate } from "@remit/host";
import { z } from "zod";
import { SCOPES } from "../wire/bounds.ts";
import type { Scope } from "../wire/messages.ts";

export interface Client {
    readonly id: string;
    readonly name: string;
    readonly scopes: readonly Scope[];
    /** ISO 8601 UTC. */
    readonly created: string;
    /** The one web origin that may use it; absent: any listed one, and programs that have none. */
    readonly origin?: string;
    /** On whose behalf its turns make requests, such as `user:alice`; absent: no user's. */
    readonly as?: string;
    readonly revoked?: string;
}

/** What a client is given with its token. */
export interface Minted {
    readonly origin?: string | undefined;
    readonly as?: string | undefined;
}

/** A client as it is kept: with the hash of its token, never the token. */
export const ClientRow = z.strictObject({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    created: z.string(),
    origin: z.string().optional(),
    as: z.string().optional(),
    revoked: z.string().optional(),
    hash: z.string(),
});
export type ClientRow = z.infer<typeof ClientRow>;

const Kept = z.strictObject({ version: z.literal(1), clients: z.array(ClientRow) });

/** The file cannot be used as it is. */
export class ClientsError extends Error {
    override readonly name = "ClientsError";
}

/** Where clients are kept: for one machine, or for the servers of several. */
export interface ClientList {
    /** Its token is told once. */
    mint(
        name: string,
        scopes: readonly Scope[],
        given?: Minted,
    ): { readonly client: Client; readonly token: string } | Promise<{ readonly client: Client; readonly token: string }>;
    /** Null where no client has it, or had it. */
    of(token: string): Client | null;
    /** Oldest first. */
    list(): Client[];
    get(id: string): Client | null;
    /** False where there is none, or it was revoked before. */
    revoke(id: string): boolean | Promise<boolean>;
    /** Looks what others changed; `isNews`: they say that they have. */
    refresh(isNews?: boolean): Promise<void>;
}

export class Clients implements ClientList {
    readonly #file: string;
    readonly #rows = new Map<string, ClientRow>();
    readonly #byHash = new Map<string, ClientRow>();

    /** Of the file, when it was read. */
    #seen = 0;

    /** `folder`: where they are kept. Throws `ClientsError`. */
    constructor(folder: string) {
        this.#file = join(folder, "clients.json");
        privateFolder(folder);
        this.#read();
    }

    mint(name: string, scopes: readonly Scope[], given: Minted = {}): { readonly client: Client; readonly token: string } {
        this.#read();
        const { row, token } = minted(name, scopes, given);
        this.#add(row);
        this.#write();
        return { client: shown(row), token };
    }

    /** Null where no client has it, or had it. A hash is looked up: how long that takes says nothing of the token. */
    of(token: string): Client | null {
        this.#read();
        const row = this.#byHash.get(hashOf(token));
        return row === undefined || row.revoked !== undefined ? null : shown(row);
    }

    /** Oldest first. */
    list(): Client[] {
        this.#read();
        return [...this.#rows.values()].map(shown);
    }

    get(id: string): Client | null {
        const row = this.#rows.get(id);
        return row === undefined ? null : shown(row);
    }

    /** False where there is none, or it was revoked before. */
    revoke(id: string): boolean {
        this.#read();
        const row = this.#rows.get(id);
        if (row === undefined || row.revoked !== undefined) return false;
        this.#add({ ...row, revoked: new Date().toISOString() });
        this.#write();
        return true;
    }

    /** It looks each time it is asked. */
    refresh(): Promise<void> {
        return Promise.resolve();
    }

    #add(row: ClientRow): void {
        this.#rows.set(row.id, row);
        this.#byHash.set(row.hash, row);
    }

    /** Another server of the same user may have paired or revoked one meanwhile. */
    #read(): void {
        const at = changed(this.#file);
        if (at === this.#seen) return;
        this.#seen = at;
        for (const row of read(this.#file)) this.#add(row);
    }

    #write(): void {
        writePrivate(this.#file, `${JSON.stringify({ version: 1, clients: [...this.#rows.values()] }, null, 1)}\n`);
        this.#seen = changed(this.#file);
    }
}

/** A client that is new, and its token, which nothing keeps. */
export function minted(
    name: string,
    scopes: readonly Scope[],
    { origin, as }: Minted,
): { readonly row: ClientRow; readonly token: string } {
    const token = `remit_${randomBytes(32).toString("base64url")}`;
    const row = {
        id: `${slug(name)}-${randomBytes(3).toString("hex")}`,
        name,
        scopes: [...new Set(scopes)],
        created: new Date().toISOString(),
        ...(origin === undefined ? {} : { origin }),
        ...(as === undefined ? {} : { as }),
        hash: hashOf(token),
    };
    return { row, token };
}

/** What may be told of it. */
export function shown({ hash: _, ...client }: ClientRow): Client {
    return client;
}

function changed(file: string): number {
    return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function read(file: string): readonly ClientRow[] {
    let text: string;
    try {
        text = readFileSync(file, "utf8");
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw new ClientsError(`the list of clients ${file} cannot be read: ${(error as Error).message}`);
    }
    try {
        return Kept.parse(JSON.parse(text)).clients;
    } catch (error) {
        if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error;
        throw new ClientsError(`${file} is no list of clients of this version; move it away, and pair the clients anew`);
    }
}

export function hashOf(token: string): string {
    return createHash("sha256").update(token).digest("hex");
}

/** Of a name, what may stand in a tool's name: `Chrome on Ada's laptop` is `chrome-on-ada-s-lapt`. */
function slug(name: string): string {
    const made = name
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "")
        .slice(0, 20);
    return made === "" ? "client" : made;
}
