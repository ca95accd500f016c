/**
 * Memories: effects of kind `remember` and `recall` are performed here.
 *
 * Boundary: what adding and querying mean; where records are kept is in `jsonl.ts` and `sqlite.ts`. Results are AgentScript's.
 *
 * Y5: a record is an object. Its id (a version 4 UUID of RFC 9562) and its times come from here; the outcome is recorded, so a replay has them.
 * Y6: a memory's file is in the workspace or in the program's tree, its real path too.
 * Y9: `from` lists origins: a record counts where all that it came from, and all who chose that it was added, are listed, and the limit counts these alone.
 *     A record of which no origins are known came from `program`: of its text, or of a person who wrote into the file.
 * Y7: what is recalled carries the origin `memory:NAME`, and each record the origins it was stored with: a memory launders nothing.
 */
import { randomUUID } from "node:crypto";
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { canonicalJson, isObject, type Json, sourceOf } from "@remit/language";
import type { Effect, Failure, MemoryRequest, Outcome } from "@remit/machine";
import { makeFolder } from "../ledger/place.ts";
import type { PerformIO } from "../run/host.ts";
import { jail } from "../tool/jail.ts";
import { fileProblem, ToolFail } from "../tool/tool.ts";

export interface Envelope {
    readonly id: string;
    /** ISO 8601, UTC. */
    readonly created_at: string;
    readonly updated_at: string;
    readonly record: { [key: string]: Json };
    /** Origins of what is in the record, as they were when it was stored; absent where they were not said. Beside the record, so no program writes them. */
    readonly origins?: readonly string[];
}

export interface Store {
    add(envelope: Envelope, signal: AbortSignal): Promise<void>;
    /** All records, the newest first. Throws where something kept cannot be read. */
    newest(): AsyncIterable<Envelope>;
    close(): void;
}

export interface MemoriesOptions {
    /** Folder of the program's tree; empty or absent where there is none. */
    readonly root?: string;
    readonly workspace: string;
}

export interface Memories {
    remember(effect: Effect, io: Pick<PerformIO, "signal">): Promise<Outcome>;
    recall(effect: Effect, io: Pick<PerformIO, "signal">): Promise<Outcome>;
    close(): Promise<void>;
}

const DEFAULT_LIMIT = 10;
const DEFAULT_NAMESPACE = "memory";

export function createMemories(options: MemoriesOptions): Memories {
    const open = new Map<string, Promise<Store>>();
    const storeOf = (request: MemoryRequest): Promise<Store> => {
        const key = JSON.stringify([request.uri, request.file]);
        let store = open.get(key);
        if (store === undefined) {
            store = openStore(request, options);
            open.set(key, store);
            store.catch(() => open.delete(key));
        }
        return store;
    };
    const outcome = async (effect: Effect, method: string, work: (request: MemoryRequest) => Promise<Stored>): Promise<Outcome> => {
        const request = effect.request as unknown as MemoryRequest;
        try {
            const { value, parts } = await work(request);
            const origins = [`memory:${request.memory}`];
            return Object.keys(parts).length === 0 ? { ok: true, value, origins } : { ok: true, value, origins, parts };
        } catch (error) {
            return { ok: false, failure: failureOf(error, request, method, effect) };
        }
    };
    return {
        remember: (effect, { signal }) =>
            outcome(effect, "add", async (request) => {
                if (!isObject(request.arg)) throw new ToolFail(`${request.memory}.add expects one json object argument`);
                const now = new Date().toISOString();
                const envelope: Envelope = {
                    id: randomUUID(),
                    created_at: now,
                    updated_at: now,
                    record: request.arg,
                    ...(effect.labels.length === 0 ? {} : { origins: [...effect.labels] }),
                };
                await (await storeOf(request)).add(envelope, signal);
                return stored(envelope, "");
            }),
        recall: (effect, { signal }) =>
            outcome(effect, "query", async (request) => {
                const query = queryOf(request.memory, request.arg);
                const store = await storeOf(request);
                const found: Envelope[] = [];
                for await (const envelope of store.newest()) {
                    if (signal.aborted) throw new ToolFail("the call was cancelled", { kind: "cancelled" });
                    if (isFrom(envelope, query) && matches(envelope.record, query)) found.push(envelope);
                    if (found.length >= query.limit) break;
                }
                const all = found.map((envelope, at) => stored(envelope, `/${at}`));
                return { value: all.map((one) => one.value), parts: Object.assign({}, ...all.map((one) => one.parts)) as Stored["parts"] };
            }),
        close: async () => {
            const all = [...open.values()];
            open.clear();
            await Promise.allSettled(all.map(async (store) => (await store).close()));
        },
    };
}

/** What a program gets, and where its parts come from. */
interface Stored {
    readonly value: Json;
    readonly parts: { readonly [pointer: string]: readonly string[] };
}

function stored({ origins = [], ...envelope }: Envelope, pointer: string): Stored {
    return { value: envelope as unknown as Json, parts: origins.length === 0 ? {} : { [`${pointer}/record`]: origins } };
}

// ---- queries ---------------------------------------------------------------------------------------------------------

interface Query {
    readonly kind: string | null;
    /** Finds the text that is asked for, by simple case folding. */
    readonly text: RegExp | null;
    readonly where: { readonly [key: string]: Json } | null;
    readonly limit: number;
    /** Y9. */
    readonly from: readonly string[] | null;
}

function queryOf(name: string, arg: Json): Query {
    if (!isObject(arg)) throw new ToolFail(`${name}.query expects one json object argument`);
    const { kind = null, text = null, where = null, limit = null, from = null } = arg;
    if (kind !== null && typeof kind !== "string") throw new ToolFail("'kind' must be a string");
    if (text !== null && typeof text !== "string") throw new ToolFail("'text' must be a string");
    if (where !== null && !isObject(where)) throw new ToolFail("'where' must be an object");
    if (limit !== null && !(typeof limit === "number" && Number.isSafeInteger(limit) && limit > 0))
        throw new ToolFail("'limit' must be a positive integer");
    if (from !== null && !(Array.isArray(from) && from.every((one) => typeof one === "string")))
        throw new ToolFail("'from' must be a list of origins, such as [\"user\"]");
    const found = text === null ? null : new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu");
    return { kind, text: found, where, limit: limit ?? DEFAULT_LIMIT, from: from as readonly string[] | null };
}

function isFrom({ origins = ["program"] }: Envelope, { from }: Query): boolean {
    return from === null || origins.every((one) => one.startsWith("only:") || from.includes(sourceOf(one.replace(/^choice:/, ""))));
}

function matches(record: { readonly [key: string]: Json }, { kind, text, where }: Query): boolean {
    if (kind !== null && (!Object.hasOwn(record, "kind") || record.kind !== kind)) return false;
    if (text !== null) {
        const own = Object.hasOwn(record, "text") && typeof record.text === "string" ? record.text : "";
        if (!text.test(own) && !text.test(canonicalJson(record))) return false;
    }
    return (
        where === null || Object.keys(where).every((key) => Object.hasOwn(record, key) && equal(record[key] as Json, where[key] as Json))
    );
}

/** Deep, whatever the order of keys. */
function equal(a: Json, b: Json): boolean {
    if (a === b) return true;
    if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
    if (Array.isArray(a) || Array.isArray(b))
        return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index] as Json));
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key] as Json, b[key] as Json));
}

// ---- places ----------------------------------------------------------------------------------------------------------

async function openStore(request: MemoryRequest, options: MemoriesOptions): Promise<Store> {
    const { uri, file } = request;
    const found = /^(file|sqlite):(?:\/\/)?([^#]+)(?:#(.*))?$/.exec(uri);
    const kind = found?.[1];
    const written = found?.[2] ?? "";
    const ending = extname(written);
    if (
        kind === "file"
            ? ending !== ".jsonl" || found?.[3] !== undefined
            : kind !== "sqlite" || ![".db", ".sqlite", ".sqlite3"].includes(ending)
    )
        throw new ToolFail(`'${uri}' names no memory`, {
            hint: "write file://PATH.jsonl or sqlite://PATH.db, with #NAMESPACE after the latter if needed",
        });
    const { path, shown } = placeOf(written, file, options);
    makeFolder(dirname(path));
    if (kind === "file") return (await import("./jsonl.ts")).jsonlStore(path, shown);
    const namespace = found?.[3] === undefined || found[3] === "" ? DEFAULT_NAMESPACE : decodeURIComponent(found[3]);
    return (await import("./sqlite.ts")).sqliteStore(path, shown, namespace);
}

/** Relative paths begin at the importing file, as AgentScript's do; what they lead to must be inside (Y6). */
function placeOf(
    written: string,
    file: string,
    { root = "", workspace }: MemoriesOptions,
): { readonly path: string; readonly shown: string } {
    const absolute = isAbsolute(written) ? written : resolve(join(root === "" ? workspace : root, dirname(file)), written);
    for (const folder of [workspace, root]) {
        if (folder === "") continue;
        const inside = jail(folder);
        for (const start of new Set([resolve(folder), inside.root])) {
            const from = relative(start, absolute);
            if (from === "" || from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from)) continue;
            const place = inside.target(from.split(sep).join("/"));
            return { path: place.real, shown: place.shown };
        }
    }
    throw new ToolFail(`'${written}' is outside the workspace`, {
        kind: "denied",
        hint: "a memory is kept in the workspace or beside the program",
    });
}

function failureOf(error: unknown, request: MemoryRequest, method: string, effect: Effect): Failure {
    const about = `Memory ${request.memory}.${method} (${request.uri}) failed: `;
    if (error instanceof ToolFail)
        return {
            kind: error.kind,
            message: about + error.message,
            site: effect.site,
            ...(error.hint === undefined ? {} : { hint: error.hint }),
        };
    const said = fileProblem(error) ?? (Error.isError(error) ? error.message : String(error));
    return { kind: "tool", message: about + said, site: effect.site };
}
