/**
 * The cache of compiled files: what `loadFile` made last time, used again while every file it read is still the same.
 *
 * Boundary: one private file an entry in `compiled/` of the cache folder. Knows nothing of parsing.
 *
 * CA1: an entry counts only with a MAC under the user's own key, over its name and its content; a bad, foreign or unreadable one is a miss.
 * CA2: an entry counts only while each file that was read has the same SHA-256 and each that was looked for in vain is still absent.
 * CA3: a cache that cannot be written is no cache; that is never an error.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic, Program } from "@remit/language";
import { sha256 } from "../ledger/blob.ts";
import { cacheFolder, configFolder, type Environment, privateKey, writePrivate } from "../ledger/place.ts";

export interface CacheEntry {
    /** Absolute paths and hashes of every file that was read as source. */
    readonly files: readonly { readonly path: string; readonly file: string; readonly sha256: string }[];
    readonly program: Program;
    /** Hash of the program form. */
    readonly hash: string;
    /** Warnings and notes; a program with errors is not kept. */
    readonly diagnostics: readonly Diagnostic[];
}

export interface CompiledCache {
    /** `name` is made with `entryName`. */
    get(name: string): { readonly entry: CacheEntry; readonly texts: ReadonlyMap<string, string> } | null;
    put(name: string, entry: CacheEntry): void;
}

const MAGIC = "remit-compiled/1";
/** Entries kept; the least recently used go first. */
const MAX_ENTRIES = 500;

/** What an entry depends on besides the contents of files. */
export function entryName(parts: {
    readonly engine: string;
    readonly path: string;
    readonly root: string;
    readonly grants: readonly string[];
    /** Packages that the configuration says only read: what may be called in parallel depends on it. */
    readonly readOnly?: readonly string[];
    /** Entries of the verbs, where they are not Remit's own alone. */
    readonly verbs?: string;
}): string {
    const { engine, path, root, grants, readOnly = [], verbs } = parts;
    const more = verbs === undefined ? [] : [verbs];
    return sha256(JSON.stringify([MAGIC, engine, path, root, [...grants].sort(), [...readOnly].sort(), ...more]));
}

export function compiledCache(env: Environment, folders: { readonly cache?: string; readonly config?: string } = {}): CompiledCache {
    const folder = join(folders.cache ?? cacheFolder(env), "compiled");
    const config = folders.config ?? configFolder(env);
    const mac = (name: string, payload: string): string =>
        createHmac("sha256", privateKey(config)).update(`${MAGIC}\n${name}\n${payload}`).digest("hex");

    return {
        get: (name) => {
            const path = join(folder, `${name}.json`);
            const entry = orNull(() => {
                const text = readFileSync(path, "utf8");
                const end = text.indexOf("\n");
                const [magic, code] = text.slice(0, end).split(" ");
                const payload = text.slice(end + 1);
                if (magic !== MAGIC || code === undefined) return null;
                const expected = Buffer.from(mac(name, payload));
                const given = Buffer.from(code);
                if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
                return JSON.parse(payload) as CacheEntry;
            });
            if (entry === null) return null;
            const texts = new Map<string, string>();
            for (const { path: from, file, sha256: was } of entry.files) {
                const text = orNull(() => readFileSync(from, "utf8").replace(/^\uFEFF/, ""));
                if (text === null || sha256(text) !== was) return null;
                texts.set(file, text);
            }
            return { entry, texts };
        },
        put: (name, entry) => {
            orNull(() => {
                const payload = JSON.stringify(entry);
                writePrivate(join(folder, `${name}.json`), `${MAGIC} ${mac(name, payload)}\n${payload}`);
                prune(folder);
                return null;
            });
        },
    };
}

/** CA1 and CA3: whatever goes wrong with the cache's own files is a miss. Programming errors are not hidden. */
function orNull<T>(work: () => T | null): T | null {
    try {
        return work();
    } catch (error) {
        if (error instanceof SyntaxError || (Error.isError(error) && "code" in error)) return null;
        throw error;
    }
}

function prune(folder: string): void {
    const names = readdirSync(folder);
    if (names.length <= MAX_ENTRIES + 50) return;
    const aged = names.map((name) => ({
        path: join(folder, name),
        at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }));
    aged.sort((a, b) => b.at - a.at);
    for (const { path } of aged.slice(MAX_ENTRIES)) rmSync(path, { force: true });
}
