/**
 * Runs that change nothing: `mock`, where tools and memories answer with fixed values, and `dry-run`, where what only reads is performed.
 *
 * Boundary: performers of tools and memories; the model is the caller's choice (`mock:` where nothing is said). The fixed values are AgentScript's.
 *
 * Z1: with `mock` no tool and no memory touches network, disk or environment. Functions that the calling program brings are its own and run.
 * Z2: with `dry-run` a method is performed only where its tool, or the configuration, says that it only reads; modules of which this is not said
 *     are not even loaded. Memories are kept in this process. All that was not performed is in `unperformed`.
 */
import type { Json, Program } from "@remit/language";
import type { Effect, MemoryRequest, Outcome, ToolDescription, ToolRequest } from "@remit/machine";
import type { Config } from "../config/config.ts";
import type { Performers } from "./host.ts";
import type { Tools } from "../tool/tools.ts";

export type Mode = "mock" | "dry-run";

/** A call that was answered without being performed. */
export interface Unperformed {
    readonly path: string;
    /** `Files.write`, `Notes.add`. */
    readonly call: string;
    readonly args: readonly Json[];
}

export interface RehearseOptions {
    readonly mode: Mode;
    readonly program: Program;
    readonly config: Config;
    readonly root: string;
    /** Names of imports that the calling program brings itself. */
    readonly own: ReadonlySet<string>;
    readonly tools: () => Promise<Tools>;
}

export interface Rehearsal {
    readonly performers: Performers;
    unperformed(): readonly Unperformed[];
}

export function rehearsal({ mode, program, config, root, own, tools }: RehearseOptions): Rehearsal {
    const memories = new Map<string, { readonly made: Json; readonly from: readonly string[] }[]>();
    const skipped: Unperformed[] = [];
    let used: ReadonlyMap<string, ReadonlySet<string>> | null = null;

    const skip = (effect: Effect, call: string, args: readonly Json[]): void => {
        if (mode === "dry-run") skipped.push({ path: effect.path, call, args });
    };
    /** Without asking the tool: the methods that the program names. */
    const described = (request: ToolRequest): ToolDescription => {
        used ??= methodsNamed(program);
        const names = [...(used.get(request.tool) ?? [])].sort();
        return { methods: names.map((name) => ({ name, input: { type: "object" }, readOnly: false })) };
    };
    async function real(effect: Effect, request: ToolRequest): Promise<boolean> {
        if (mode === "mock") return own.has(request.tool);
        if (isModule(request.uri) && !own.has(request.tool)) {
            const { allowTool } = await import("../tool/tools.ts");
            const said = allowTool(request.uri, request.file, { config, root });
            // What is not allowed fails in its own words.
            return !said.ok || said.effectful === false;
        }
        return request.op === "describe" || (await tools()).readOnly(effect);
    }

    return {
        unperformed: () => skipped,
        performers: {
            tool: async (effect, io) => {
                const request = effect.request as unknown as ToolRequest;
                if (await real(effect, request)) return (await tools()).perform(effect, io);
                if (request.op === "describe") return given(described(request) as unknown as Json, `tool:${request.tool}`);
                skip(effect, `${request.tool}.${request.method ?? ""}`, request.args ?? []);
                return given(mode === "dry-run" && isModule(request.uri) ? null : fixed(request), `tool:${request.tool}`);
            },
            remember: async (effect) => {
                const { memory, uri, arg } = effect.request as unknown as MemoryRequest;
                const kept = memories.get(uri) ?? [];
                const made = { id: String(kept.length + 1), created_at: "mock", updated_at: "mock", record: arg };
                memories.set(uri, [{ made, from: effect.labels }, ...kept]);
                skip(effect, `${memory}.add`, [arg]);
                return { ...given(made, `memory:${memory}`), parts: { "/record": effect.labels } };
            },
            // The query is not looked at: everything, the newest first.
            recall: async (effect) => {
                const { memory, uri } = effect.request as unknown as MemoryRequest;
                const kept = memories.get(uri) ?? [];
                return {
                    ...given(
                        kept.map((one) => one.made),
                        `memory:${memory}`,
                    ),
                    parts: Object.fromEntries(kept.map((one, at) => [`/${at}/record`, one.from])),
                };
            },
        },
    };
}

function given(value: Json, origin: string): Outcome {
    return { ok: true, value, origins: [origin] };
}

/** The smallest picture there is: a GIF of one pixel. */
const ONE_PIXEL = "R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

function fixed({ tool, uri, method = "", args }: ToolRequest): Json {
    if (args === undefined) return null;
    if (uri.startsWith("file:") && method === "read") {
        const [asked] = args;
        const image = asked !== null && typeof asked === "object" && !Array.isArray(asked) && asked.as === "image";
        return image ? { ok: true, media_type: "image/gif", data: ONE_PIXEL } : { ok: true, content: `mock file content from ${uri}` };
    }
    if (uri.startsWith("file:") && method === "list") return { ok: true, entries: [] };
    if (uri.startsWith("env:") && method === "get") return { ok: true, value: null };
    return { ok: true, summary: `${tool}.${method}`, source: uri, args, ...NOTHING_FOUND[uri] };
}

/** What a search that finds nothing has, so that a program that reads it goes on. */
const NOTHING_FOUND: { readonly [uri: string]: { readonly [field: string]: Json } | undefined } = {
    "sh://find": { files: [] },
    "sh://grep": { matches: [] },
    "sh://read-range": { text: "", start: 1, end: 0 },
};

/** Code that would run in this process. */
function isModule(uri: string): boolean {
    return /^(?:node:|npm:|\.{1,2}\/|file:\/\/\/)/.test(uri);
}

/** Members of names anywhere in a program, by name: what it may call of an import. */
function methodsNamed(program: Program): ReadonlyMap<string, ReadonlySet<string>> {
    const found = new Map<string, Set<string>>();
    const left: Json[] = [program as unknown as Json];
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
        if (one === null || typeof one !== "object") continue;
        if (Array.isArray(one)) {
            for (const item of one) left.push(item);
            continue;
        }
        const { kind, object, name } = one;
        if (kind === "member" && typeof name === "string" && isName(object)) {
            const names = found.get(object.name) ?? new Set<string>();
            found.set(object.name, names.add(name));
        }
        for (const value of Object.values(one)) left.push(value);
    }
    return found;
}

function isName(json: Json | undefined): json is { kind: "name"; name: string } {
    return json !== null && typeof json === "object" && !Array.isArray(json) && json.kind === "name" && typeof json.name === "string";
}
