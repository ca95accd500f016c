/**
 * The tools of a run: effects of kind `tool` are performed here.
 *
 * Boundary: from an effect to a tool's method and back to an outcome. What a method does is its scheme's, whether it may be called was decided
 * before.
 *
 * TL1: an import is opened once, when it is first used, and closed with its world. A connection to a server ends with the last world that uses it.
 * TL2: a failure says which call of which import failed: `Tool NAME.METHOD (URI) failed: …`; of a lent tool, who lends it.
 * TL3: whatever a tool gives carries the origin `tool:NAME`.
 */
import { existsSync, realpathSync } from "node:fs";
import { isObject, type Json, LENT, shownUse } from "@remit/language";
import type { Effect, Failure, Outcome, ToolDescription, ToolRequest } from "@remit/machine";
import { type Config, NO_CONFIG } from "../config/config.ts";
import { createCredentials, type Credentials } from "../credential/credentials.ts";
import { storedSources } from "../credential/stored.ts";
import { CredentialError } from "../credential/source.ts";
import { type Environment, stateFolder } from "../ledger/place.ts";
import { openProcess, type Process } from "../process/process.ts";
import type { PerformIO } from "../run/host.ts";
import { given } from "../input/given.ts";
import type { HostToolSource } from "./functions.ts";
import { missingIn } from "./mcp-authorized.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Servers } from "./mcp-servers.ts";
import { allowModule, type Allowed, isLocalModule } from "./module.ts";
import type { QueueCaller } from "./queue.ts";
import type { LockedTool } from "../lock/tools.ts";
import { opening, SCHEMES } from "./schemes.ts";
import { originsOfFailure } from "./origins.ts";
import { type Asked, broughtAs, type MethodInfo, Sourced, type ToolContext, ToolFail, type ToolHandle, type ToolImport } from "./tool.ts";

export interface ToolsOptions {
    /** Folder of the program's tree; empty or absent where there is none. */
    readonly root?: string;
    readonly workspace: string;
    /** What programs of one process share; one of its own where absent. */
    readonly process?: Process;
    /** On whose behalf; default: the user of the process. */
    readonly user?: string;
    readonly env?: Environment;
    /** Folder for the undo journal. Default: the user's state folder. */
    readonly state?: string;
    readonly functions?: { readonly [name: string]: HostToolSource };
    /** Calls what is on task queues of Temporal. */
    readonly queues?: QueueCaller;
    /** Told of each secret before its first use; takes known ones out of what the world says, before it is cut. */
    readonly secrets: Scrubber;
    /** What stages name. Default: none. */
    readonly credentials?: Credentials;
    /** How `remit.lock` has the tool of an import. Default: it has none. */
    readonly pins?: (about: ToolImport) => LockedTool | undefined;
}

export interface ToolListing {
    readonly name: string;
    readonly uri: string;
    readonly reachable: boolean;
    /** Why not, and what to do. */
    readonly reason?: string;
    readonly hint?: string;
    readonly methods: readonly MethodInfo[];
    /** Methods not listed are possible too (any HTTP verb). */
    readonly open?: boolean;
}

export interface Tools {
    perform(effect: Effect, io: PerformIO): Promise<Outcome>;
    describe(about: ToolImport, asked?: Asked): Promise<ToolDescription>;
    /** May this call be performed again after a crash without asking? */
    repeatable(effect: Effect): Promise<boolean>;
    /** Does this call only read, in the words of the tool itself? */
    readOnly(effect: Effect): Promise<boolean>;
    /** What is configured, or what the given imports come to; servers are started to be asked. */
    list(imports?: readonly ToolImport[], signal?: AbortSignal): Promise<ToolListing[]>;
    close(): Promise<void>;
}

export function createTools(config: Config = NO_CONFIG, options: ToolsOptions): Tools {
    const on = options.process ?? openProcess();
    const env = options.env ?? on.env;
    const { secrets } = options;
    const context: ToolContext = {
        config,
        root: options.root === undefined || options.root === "" ? "" : realOr(options.root),
        workspace: realOr(options.workspace),
        env,
        user: options.user ?? on.user,
        pool: on.servers,
        children: on.children,
        state: options.state ?? stateFolder(env),
        functions: options.functions ?? {},
        queues: options.queues ?? null,
        secrets,
        // What a login to a server left also serves a command that only lists its tools.
        credentials: options.credentials ?? createCredentials({ sources: storedSources({ config, env }), secrets }),
        servers: () => {
            servers ??= import("./mcp-servers.ts").then(({ mcpServers }) => mcpServers(context));
            return servers;
        },
    };
    let servers: Promise<Servers> | null = null;
    const opened = new Map<string, Promise<ToolHandle>>();
    // What failed to open may open next time: a server that starts late, a file that was written since.
    const handle = (about: ToolImport): Promise<ToolHandle> => remembered(opened, keyOf(about), () => open(about, context));
    async function describe(about: ToolImport, asked?: Asked): Promise<ToolDescription> {
        const methods = await (await handle(about)).methods(asked);
        const said = { methods: methods.map(({ repeatable: _ours, ...one }) => one) };
        return isBrought(about, context) ? { ...said, pinned: true } : compared(said, options.pins?.(about));
    }
    async function performed(request: ToolRequest, effect: Effect, io: PerformIO): Promise<Json | Sourced> {
        const about = { name: request.tool, uri: request.uri, file: request.file };
        if (request.op === "describe") return told(about, await describe(about, { ...io, effect }), io);
        const tool = await handle(about);
        return tool.call(request.method ?? "", request.args, {
            name: request.tool,
            effect,
            signal: io.signal,
            emit: io.emit,
            child: io.child,
            ...given(io, ["traceparent", "run", "owner"]),
        });
    }

    return {
        perform: async (effect, io) => {
            const request = effect.request as unknown as ToolRequest;
            try {
                const gave = await performed(request, effect, io);
                const origins = [`tool:${request.tool}`];
                return gave instanceof Sourced
                    ? { ok: true, value: gave.json, origins, ...given(gave, ["parts", "claims", "grants"]) }
                    : { ok: true, value: gave, origins };
            } catch (error) {
                // The run waits for it.
                const missing = missingIn(error);
                if (missing !== null) throw missing;
                return { ok: false, failure: failureOf(error, request, effect, io.signal), ...statedOf(error) };
            }
        },
        describe,
        // Not reachable now: it is not known, so a person is asked.
        repeatable: (effect) => says("repeatable", effect, context, handle),
        readOnly: (effect) => says("readOnly", effect, context, handle),
        list: async (imports, signal) => {
            const all = imports ?? configured(context);
            const listed = await Promise.all(all.map((about) => listing(about, () => handle(about), signal)));
            return secrets.scrub(listed as unknown as Json) as unknown as ToolListing[];
        },
        close: async () => {
            const all = [...opened.values()];
            opened.clear();
            const pool = servers;
            servers = null;
            await Promise.allSettled([...all.map(async (one) => (await one).close?.()), pool?.then((one) => one.close())]);
        },
    };
}

/** The caller wrote what these functions say of themselves, as it wrote them. What a function gives when it is asked may come from elsewhere: a lent tool. */
function isBrought(about: ToolImport, { functions }: ToolContext): boolean {
    const name = broughtAs(about, functions);
    return name !== undefined && typeof functions[name] !== "function";
}

/** With whether it is as the lock has it, where it has it. */
async function compared(said: ToolDescription, pin: LockedTool | undefined): Promise<ToolDescription> {
    return pin === undefined ? said : { ...said, pinned: (await import("../lock/tools.ts")).isAsPinned(pin, said) };
}

function told({ name }: ToolImport, said: ToolDescription, io: Pick<PerformIO, "emit">): Json {
    if (said.pinned === false)
        io.emit({ message: `${name} does not say of itself what remit.lock pins: it counts as read (remit lock --check)` });
    return said as unknown as Json;
}

/** With lengths, so that no two imports are the same text; asked for each call. */
const keyOf = ({ name, uri, file }: ToolImport): string => `${name.length} ${uri.length} ${name}${uri}${file}`;

/** What was made for a key; what failed is made anew the next time. */
function remembered<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
    const made = known.get(key) ?? make();
    if (!known.has(key)) {
        known.set(key, made);
        made.catch(() => known.get(key) === made && known.delete(key));
    }
    return made;
}

/** What is said of the method that an effect calls; false where the tool cannot say. */
async function says(
    what: "repeatable" | "readOnly",
    effect: Effect,
    { functions }: ToolContext,
    handle: (about: ToolImport) => Promise<ToolHandle>,
): Promise<boolean> {
    const { op, tool, uri, file, method } = effect.request as unknown as ToolRequest;
    if (op === "describe") return true;
    try {
        const { isSafeVerb } = await import("./http.ts");
        if (/^https?:/.test(uri) && !Object.hasOwn(functions, tool)) return isSafeVerb(method ?? "");
        const methods = await (await handle({ name: tool, uri, file })).methods({ effect });
        const name = uri.startsWith("mcp:") && method === "call" ? calledTool(effect.request) : method;
        return methods.some((one) => one.name === name && one[what]);
    } catch (error) {
        if (error instanceof ToolFail || error instanceof CredentialError) return false;
        throw error;
    }
}

/** May the checker let this tool import pass? Only modules are asked about; whether a server is configured shows at run time. */
export function allowTool(uri: string, file: string, about: { readonly config: Config; readonly root: string }): Allowed {
    return uri.startsWith("node:") || uri.startsWith("npm:") || isLocalModule(uri) ? allowModule(uri, file, about) : { ok: true };
}

async function open(about: ToolImport, context: ToolContext): Promise<ToolHandle> {
    if (Object.hasOwn(context.functions, about.name)) {
        const { functionTool } = await import("./functions.ts");
        return functionTool(about.name, context.functions[about.name] as HostToolSource);
    }
    const scheme = opening(about.uri);
    if (scheme === undefined)
        throw new ToolFail(`nothing here opens '${about.uri}'`, {
            kind: "unreachable",
            hint: `tools are ${SCHEMES.map(({ form }) => form).join(", ")}`,
        });
    return (await scheme.open())(about.uri, about, context);
}

function failureOf(error: unknown, request: ToolRequest, effect: Effect, signal: AbortSignal): Failure {
    const call = request.op === "describe" ? request.tool : shownUse(`${request.tool}.${request.method ?? ""}`, request.uri);
    const from = request.uri === LENT && request.op !== "describe" ? "" : ` (${withoutCredentials(request.uri)})`;
    const about = `Tool ${call}${from} failed: `;
    if (error instanceof CredentialError) return { kind: error.kind, message: about + error.message, site: effect.site, hint: error.hint };
    if (error instanceof ToolFail)
        return {
            kind: error.kind,
            message: about + error.message,
            site: effect.site,
            ...given(error, ["detail", "hint"]),
        };
    const message = Error.isError(error) ? error.message : String(error);
    return {
        kind: signal.aborted ? "cancelled" : "tool",
        message: about + (message === "" ? "it failed without saying why" : message),
        site: effect.site,
    };
}

/** What is said of what a failure tells, besides whose it is. */
function statedOf(error: unknown): Pick<Outcome & { readonly ok: false }, "origins" | "claims"> {
    if (error instanceof ToolFail) return given(error, ["claims"]);
    const origins = originsOfFailure(error);
    return origins.length === 0 ? {} : { origins: [...origins] };
}

function withoutCredentials(uri: string): string {
    return uri.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/i, "$1");
}

/** `call({tool: NAME})` is as repeatable as NAME. */
function calledTool(request: Json): string | undefined {
    const args = (request as unknown as ToolRequest).args?.[0];
    return isObject(args) && typeof args.tool === "string" ? args.tool : undefined;
}

/** What can be imported with this configuration. */
function configured(context: ToolContext): ToolImport[] {
    const { config } = context;
    const kinds: readonly string[] = ["mcp", "node", "npm"];
    const withheld = [...config.withheld.keys()].filter((key) => kinds.includes(key.slice(0, key.indexOf(":"))));
    const uris = new Set([
        "file://workspace",
        "sh://find",
        "sh://grep",
        "sh://read-range",
        "env://process",
        ...Object.keys(config.servers).map((key) => `mcp://${key}`),
        ...[...config.node].map((name) => `node:${name}`),
        ...Object.keys(config.npm).map((name) => `npm:${name}`),
        ...[...config.local].map((path) => `file://${path}`),
        ...withheld.map((key) => key.replace(/^mcp:/, "mcp://")),
        ...Object.keys(context.functions).flatMap((name) => (name.startsWith("verb:") ? [] : [`host:${name}`])),
    ]);
    return [...uris].map((uri) => ({ name: uri.replace(/^[a-z]+:(\/\/)?/, ""), uri, file: "" }));
}

async function listing(about: ToolImport, handle: () => Promise<ToolHandle>, signal?: AbortSignal): Promise<ToolListing> {
    const base = { name: about.name, uri: withoutCredentials(about.uri) };
    try {
        const methods = await (await handle()).methods({ signal });
        return { ...base, reachable: true, methods, ...(/^https?:/.test(about.uri) ? { open: true } : {}) };
    } catch (error) {
        if (error instanceof ToolFail)
            return {
                ...base,
                reachable: false,
                reason: error.message,
                ...given(error, ["hint"]),
                methods: [],
            };
        return { ...base, reachable: false, reason: Error.isError(error) ? error.message : String(error), methods: [] };
    }
}

function realOr(path: string): string {
    return existsSync(path) ? realpathSync(path) : path;
}
