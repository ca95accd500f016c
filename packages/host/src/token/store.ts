/**
 * The tokens that users delegated, and other secrets given by name: one file, each value sealed for its place.
 *
 * Boundary: keeps and gives back. Which token is sent where is `../credential`, how one is got `../oauth`.
 *
 * TST1: a value is on the disk only sealed; provider, identity and time of the last change are in the clear, so that they can be listed.
 * TST2: the file is changed by one process at a time and appears whole; a reader sees the old or the new one.
 * TST3: what a provider said last about a token counts: a refresh is one at a time for a token, in all processes (`alone`).
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json } from "@remit/language";
import { configFolder, type Environment, privateFolder, writePrivate } from "../ledger/place.ts";
import { LockError, type LockOptions, withFileLock } from "../process/lock.ts";
import { TokenError } from "./error.ts";
import { type Keychain, type Keys, type KeysIn, keysOf, systemKeychain } from "./keys.ts";
import { readPrivate } from "./private.ts";
import { newRing, type Place, seal, unseal } from "./seal.ts";

/** What is kept of a token, or of a secret that was given by name. Times in milliseconds since 1970. */
export interface Token {
    readonly access: string;
    readonly refresh?: string;
    readonly expires?: number;
    readonly scopes?: readonly string[];
    /** The client that got it, which alone can renew it. */
    readonly client?: string;
    /** Of that client, where it registered itself with one, or a user said it. */
    readonly secret?: string;
    /** The token endpoint that gave it. */
    readonly server?: string;
    /** Of a token for a server that says itself who gives it: the authorization server, and the resource that it is for. */
    readonly issuer?: string;
    readonly resource?: string;
    /** Where it may be sent, as it was when it was got. */
    readonly origins?: readonly string[];
}

export interface Listed extends Place {
    /** ISO 8601. */
    readonly updated: string;
    /** Null: it cannot be opened with the keys that are here. */
    readonly token: Token | null;
}

export interface TokenStore {
    get(place: Place): Promise<Token | null>;
    put(place: Place, token: Token): Promise<void>;
    /** What was there. */
    remove(place: Place): Promise<Token | null>;
    list(): Promise<Listed[]>;
    /** New keys for all; those that no value needs any more are forgotten. */
    rotate(): Promise<number>;
    /** One at a time for a place, in all processes. */
    alone<T>(place: Place, options: LockOptions, work: () => Promise<T>): Promise<T>;
}

interface Row extends Place {
    readonly updated: string;
    readonly sealed: string;
}

interface Content {
    readonly keys: KeysIn;
    readonly rows: readonly Row[];
}

const VERSION = 1;

export interface TokensAt {
    /** Folder of the tokens and their keys. */
    readonly folder: string;
    readonly keychain: Keychain | null;
}

/** Those of the user that the environment names. */
export async function openTokens(env: Environment): Promise<TokenStore> {
    const folder = configFolder(env);
    return tokensAt({ folder, keychain: await systemKeychain(folder) });
}

/** Its methods throw `TokenError`. */
export function tokensAt({ folder, keychain }: TokensAt): TokenStore {
    const path = join(folder, "tokens.json");
    const keys = keysOf(join(folder, "tokens.key"), keychain);
    const lock = `${path}.lock`;
    const changed = async <T>(change: (content: Content) => { readonly rows: readonly Row[]; readonly gave: T }): Promise<T> => {
        privateFolder(folder);
        return locked(lock, {}, () => {
            const content = contentOf(path, keys);
            const { rows, gave } = change(content);
            write(path, { ...content, rows });
            return gave;
        });
    };
    return {
        get: async (place) => {
            const { keys: where, rows } = contentOf(path, keys);
            const row = rows.find((one) => isAt(one, place));
            return row === undefined ? null : opened(row, keys, where, path);
        },
        put: (place, token) =>
            changed(({ keys: where, rows }) => {
                const { provider, as } = place;
                const sealed = seal(JSON.stringify(token), place, keys.read(where));
                const row: Row = { provider, as, updated: new Date().toISOString(), sealed };
                return { rows: [...rows.filter((one) => !isAt(one, place)), row], gave: undefined };
            }),
        remove: async (place) => {
            if (!existsSync(path)) return null;
            return changed(({ keys: where, rows }) => {
                const row = rows.find((one) => isAt(one, place));
                const gave = row === undefined ? null : tokenIn(row, keys, where);
                return { rows: rows.filter((one) => !isAt(one, place)), gave };
            });
        },
        list: async () => {
            const { keys: where, rows } = contentOf(path, keys);
            return rows.map(({ provider, as, updated, sealed }) => ({
                ...{ provider, as, updated },
                token: tokenIn({ provider, as, updated, sealed }, keys, where),
            }));
        },
        rotate: async () => {
            if (!existsSync(path)) return 0;
            return locked(lock, {}, () => rotated(path, keys));
        },
        alone: (place, options, work) => {
            privateFolder(folder);
            const name = createHash("sha256")
                .update(JSON.stringify([place.provider, place.as]))
                .digest("hex")
                .slice(0, 16);
            return locked(`${path}.${name}.lock`, options, work);
        },
    };
}

async function locked<T>(path: string, options: LockOptions, work: () => T | Promise<T>): Promise<T> {
    try {
        return await withFileLock(path, options, work);
    } catch (error) {
        if (!(error instanceof LockError)) throw error;
        throw new TokenError("busy", error.message, "remove that file if no other remit runs");
    }
}

function isAt(one: Place, { provider, as }: Place): boolean {
    return one.provider === provider && one.as === as;
}

/** Old keys stay until everything is sealed anew, so that nothing is lost wherever this is cut off. */
function rotated(path: string, keys: Keys): number {
    const content = contentOf(path, keys);
    const old = keys.read(content.keys);
    const fresh = newRing();
    const rows = content.rows.map((row): Row => {
        const text = unseal(row.sealed, row, old);
        return text === null ? row : { ...row, sealed: seal(text, row, fresh) };
    });
    keys.write(content.keys, { current: fresh.current, keys: { ...old.keys, ...fresh.keys } });
    write(path, { ...content, rows });
    const needed = new Set([fresh.current, ...rows.map(({ sealed }) => sealed.split(".")[0] as string)]);
    const all = Object.entries({ ...old.keys, ...fresh.keys }).filter(([id]) => needed.has(id));
    keys.write(content.keys, { current: fresh.current, keys: Object.fromEntries(all) });
    return rows.filter(({ sealed }) => sealed.startsWith(`${fresh.current}.`)).length;
}

function tokenIn(row: Row, keys: Keys, where: KeysIn): Token | null {
    const text = unseal(row.sealed, row, keys.read(where));
    return text === null ? null : (JSON.parse(text) as Token);
}

function opened(row: Row, keys: Keys, where: KeysIn, path: string): Token {
    const token = tokenIn(row, keys, where);
    if (token !== null) return token;
    throw new TokenError(
        "damaged",
        `the token for ${row.provider} of ${row.as || "every identity"} in ${path} does not open: it was changed, moved, or sealed with other keys`,
        `remove it with remit credentials remove ${row.provider}, then log in again`,
    );
}

function write(path: string, { keys, rows }: Content): void {
    writePrivate(path, `${JSON.stringify({ version: VERSION, keys, tokens: rows }, null, 4)}\n`, true);
}

function contentOf(path: string, keys: Keys): Content {
    const text = readPrivate(path);
    if (text === null) return { keys: keys.place, rows: [] };
    const damaged = (): TokenError => new TokenError("damaged", `${path} cannot be read as tokens`, "move it away, then log in again");
    let json: Json;
    try {
        json = JSON.parse(text) as Json;
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw damaged();
    }
    if (!isObject(json) || json.version !== VERSION || !Array.isArray(json.tokens)) throw damaged();
    const rows = json.tokens as unknown as Row[];
    const isRow = (one: Row): boolean => [one?.provider, one?.as, one?.updated, one?.sealed].every((part) => typeof part === "string");
    if (!rows.every(isRow) || (json.keys !== "file" && json.keys !== "keychain")) throw damaged();
    return { keys: json.keys, rows };
}
