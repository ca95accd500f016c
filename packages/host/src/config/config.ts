/**
 * The configuration of a project: which files it is in, what they say together, and what of it counts.
 *
 * Boundary: reads files and environment; performs nothing. Models, prices and servers are used elsewhere.
 *
 * CO3: of a project's file that is not trusted only `limits`, `rates`, `policy`, `audit` (AI3 in `audit.ts`) and a `workspace` inside its folder count; all else is in `withheld` (TS1 in `trust.ts`).
 * CO4: the bytes that were hashed for trust are the bytes that are read as JSON.
 *
 * CO5: of the `remit.json` further up, to the root of the repository, only what narrows counts (CO3): a nearer file hides no policy of theirs.
 *
 * Files, the first that names something wins: `remit.json` upward from the program; `remit.json`, `agentscript.mcp.json`, `agentscript.npm.json`
 * in the workspace; `remit.json` in the user's configuration folder, which needs no trust. The workspace is the one the caller names, else the one
 * that the first of these files names which names any, else the caller's folder.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Json } from "@remit/language";
import type { Policy } from "@remit/machine";
import { systemWords } from "../failure/system.ts";
import { configFolder, type Environment, foreignScheme, isAddress, placeOf } from "../ledger/place.ts";
import { lowest, type Rate } from "../process/limiter.ts";
import { type AuditConfig, auditProblems, joinedAudit, loosens } from "./audit.ts";
import { type ChannelConfig, channelProblem, type RouteConfig, routeProblem } from "./channels.ts";
import { ConfigError, checkJson, type Keys, type Problem } from "./check.ts";
import {
    AGENTSCRIPT_MCP_KEYS,
    AGENTSCRIPT_NPM_KEYS,
    type AgentConfig,
    agentProblem,
    type ModelConfig,
    NEEDS_TRUST,
    type PolicyFile,
    type NpmAllow,
    type Price,
    type ProviderConfig,
    REMIT_KEYS,
    type RemitFile,
    type ServerConfig,
    serverProblem,
} from "./rules.ts";
import { joinedPolicy, readPolicy } from "./policy.ts";
import { stateOf, type TrustState } from "./trust.ts";

export interface ConfigFile {
    /** As shown to a person. */
    readonly name: string;
    /** Absolute, links followed. */
    readonly path: string;
    /** Paths in the file begin here. */
    readonly folder: string;
    readonly trust: TrustState;
    /** What the file says counts. */
    readonly trusted: boolean;
    /** Its keys that count only with trust. */
    readonly needs: readonly string[];
    readonly content: RemitFile;
    /** Counts without trust: it only takes away. Null where the file has none. */
    readonly policy: Policy | null;
}

/** Something a file says, and which file. */
export type From<T> = T & { readonly file: ConfigFile };

export interface Config {
    /** The person trusts for this time whatever would need it. */
    readonly always?: true;
    readonly files: readonly ConfigFile[];
    /** Absolute folder a file names as the workspace. */
    readonly workspace: string | null;
    /** Absolute path or address of the ledger, where a file names one. */
    readonly ledger: string | null;
    readonly limits: { readonly [name: string]: number };
    readonly models: { readonly [name: string]: From<ModelConfig> };
    readonly prices: { readonly [model: string]: Price };
    /** By host or provider; of several files the lowest. */
    readonly rates: { readonly [hostOrProvider: string]: Rate };
    readonly servers: { readonly [name: string]: From<ServerConfig> };
    /** Agents outside the program, by the NAME of `acp://NAME`. */
    readonly agents: { readonly [name: string]: From<AgentConfig> };
    /** Where questions are sent, by name. */
    readonly channels: { readonly [name: string]: From<ChannelConfig> };
    /** Which questions go where; the first that fits counts. Its channels are those of its own file. */
    readonly questions: readonly From<RouteConfig>[];
    readonly node: ReadonlySet<string>;
    readonly npm: { readonly [name: string]: From<NpmAllow> };
    /** Absolute paths of the program's own modules that may be loaded. */
    readonly local: ReadonlySet<string>;
    /** Origins that may be private addresses. */
    readonly privateOrigins: ReadonlySet<string>;
    /** Environment variables that may be read whatever their name looks like. */
    readonly plainEnv: ReadonlySet<string>;
    /** By secret reference: origins it may be sent to, and the file that says so. */
    readonly secrets: { readonly [reference: string]: From<{ readonly origins: readonly string[] }> };
    /** Providers of delegated credentials, by the NAME of `oauth("NAME")`. */
    readonly oauth: { readonly [name: string]: From<ProviderConfig> };
    /** What all files together add to what programs say about authority; null where they add nothing. */
    readonly policy: Policy | null;
    /** What all files together say of audits. */
    readonly audit: AuditConfig;
    /** What files that are not trusted say: kind and name → the file. Kinds: `mcp`, `agent`, `node`, `npm`, `local`, `http`, `env`, `secret`, `oauth`. */
    readonly withheld: ReadonlyMap<string, ConfigFile>;
}

export interface ConfigOptions {
    /** Absolute path of the program's file, or of the folder where the search upward begins. */
    readonly from?: string;
    /** Absolute; in place of any that a file names. */
    readonly workspace?: string;
    /** Absolute; the workspace by default. */
    readonly folder?: string;
    readonly env: Environment;
    /** The person trusts what is found for this time. `REMIT_TRUST=1` says the same. */
    readonly trust?: boolean;
}

const MAX_CONFIG = 1024 * 1024;

/** Throws `ConfigError` with every problem of every file. */
export function loadConfig(options: ConfigOptions): Config {
    const { env } = options;
    const always = options.trust === true || env.REMIT_TRUST === "1";
    const problems: Problem[] = [];
    const found: ConfigFile[] = [];
    const tried = new Set<string>();
    const read = (path: string, keys: Keys, trusted: boolean): void => {
        // the project's folder is often the workspace too: its file is read, and complained about, once
        const place = join(realpathOr(dirname(path)), basename(path));
        if (tried.has(place)) return;
        tried.add(place);
        const file = readConfig({ path, name: shown(path, options.folder) }, { keys, env, trusted }, problems);
        if (file !== null && !found.some((known) => known.path === file.path)) found.push(file);
    };
    const readWorkspace = (folder: string): void => {
        read(join(folder, "remit.json"), REMIT_KEYS, always);
        read(join(folder, "agentscript.mcp.json"), AGENTSCRIPT_MCP_KEYS, always);
        read(join(folder, "agentscript.npm.json"), AGENTSCRIPT_NPM_KEYS, always);
    };

    const [upward, ...further] = options.from === undefined ? [] : upwardFrom(options.from);
    if (upward !== undefined) read(upward, REMIT_KEYS, always);
    const before = found.length;
    read(join(configFolder(env), "remit.json"), REMIT_KEYS, true);
    const own = found.splice(before);
    const folder = options.workspace ?? workspaceOf([...found, ...own], []) ?? options.folder;
    if (folder !== undefined) readWorkspace(folder);
    const files = (): ConfigFile[] => [...found, ...own];
    // a file of the caller's folder may name another folder
    const other = options.workspace === undefined ? workspaceOf(files(), []) : null;
    if (other !== null) readWorkspace(other);
    for (const path of further) {
        const known = found.length;
        read(path, REMIT_KEYS, false);
        found.push(...found.splice(known).map(narrowing));
    }
    const workspace = workspaceOf(files(), problems);
    if (problems.length > 0) throw new ConfigError(problems);
    return { ...(always ? { always } : {}), files: files(), workspace, ...merged(files()) };
}

/** A configuration that says nothing. */
export const NO_CONFIG: Config = { files: [], workspace: null, ...merged([]) };

/** Files that would say more if they were trusted. */
export function untrusted(config: Config): readonly ConfigFile[] {
    return config.files.filter((file) => !file.trusted && file.needs.length > 0);
}

function readConfig(
    { path, name }: { readonly path: string; readonly name: string },
    { keys, env, trusted }: { readonly keys: Keys; readonly env: Environment; readonly trusted: boolean },
    problems: Problem[],
): ConfigFile | null {
    let content: Buffer;
    let real: string;
    try {
        const stat = statSync(path, { throwIfNoEntry: false });
        if (stat === undefined) return null;
        if (!stat.isFile()) throw new ConfigError([{ file: name, key: "", message: "is not a file" }]);
        if (stat.size > MAX_CONFIG) throw new ConfigError([{ file: name, key: "", message: `is larger than ${MAX_CONFIG} bytes` }]);
        real = realpathSync(path);
        content = readFileSync(real);
    } catch (error) {
        if (error instanceof ConfigError) problems.push(...error.problems);
        else problems.push({ file: name, key: "", message: `cannot be read: ${systemWords(error)}` });
        return null;
    }
    const read = checkJson(content.toString("utf8"), name, keys);
    problems.push(...read.problems);
    for (const [server, said] of Object.entries((read.json.mcpServers ?? {}) as { [name: string]: { [key: string]: Json } })) {
        const problem = serverProblem(said);
        if (problem !== null) problems.push({ file: name, key: `mcpServers.${server}`, message: problem });
    }
    for (const [agent, said] of Object.entries((read.json.agents ?? {}) as { [name: string]: { [key: string]: Json } })) {
        const problem = agentProblem(said);
        if (problem !== null) problems.push({ file: name, key: `agents.${agent}.${problem.key}`, message: problem.message });
    }
    const ledger = read.json["ledger"];
    if (typeof ledger === "string" && hasPassword(ledger))
        problems.push({ file: name, key: "ledger", message: "holds a password: leave it out, and give it as PGPASSWORD" });
    if (typeof ledger === "string" && foreignScheme(ledger) !== null)
        problems.push({ file: name, key: "ledger", message: "names no file, and no database by postgres://" });
    problems.push(...channelProblems(read.json as unknown as RemitFile).map((one) => ({ file: name, ...one })));
    const policy = readPolicy(read.json.policy as unknown as PolicyFile | undefined, { name, text: content.toString("utf8") });
    problems.push(...policy.problems.map(({ key, message }) => ({ file: name, key: `policy.${key}`, message })));
    problems.push(...auditProblems((read.json as unknown as RemitFile).audit).map((one) => ({ file: name, ...one })));
    const trust = stateOf(real, content, env);
    return {
        name,
        path: real,
        folder: dirname(real),
        trust,
        trusted: trusted || trust.state === "trusted",
        needs: Object.keys(read.json).filter(
            (key) => NEEDS_TRUST.has(key) || (key === "audit" && loosens((read.json as unknown as RemitFile).audit)),
        ),
        content: read.json as unknown as RemitFile,
        policy: policy.policy,
    };
}

function hasPassword(ledger: string): boolean {
    return isAddress(ledger) && URL.canParse(ledger) && new URL(ledger).password !== "";
}

function channelProblems({ channels = {}, questions = [] }: RemitFile): Omit<Problem, "file">[] {
    const known = new Set(Object.keys(channels));
    const found = (key: string, message: string | null): Omit<Problem, "file">[] => (message === null ? [] : [{ key, message }]);
    return [
        ...Object.entries(channels).flatMap(([name, said]) =>
            found(`channels.${name}`, channelProblem(name, said as unknown as { [key: string]: Json })),
        ),
        ...questions.flatMap((said, i) => found(`questions[${i}]`, routeProblem(said as unknown as { [key: string]: Json }, known))),
    ];
}

/** Every `remit.json` upward, the nearest first; a repository's root ends the search, and where there is none the nearest file does. */
function upwardFrom(from: string): string[] {
    const start = statSync(from, { throwIfNoEntry: false })?.isDirectory() === true ? resolve(from) : dirname(resolve(from));
    const found: string[] = [];
    for (let at = start; ; at = dirname(at)) {
        const path = join(at, "remit.json");
        if (statSync(path, { throwIfNoEntry: false }) !== undefined) found.push(path);
        if (statSync(join(at, ".git"), { throwIfNoEntry: false }) !== undefined) return found;
        // Outside of a repository a folder above may be another user's.
        if (at === dirname(at)) return found.slice(0, 1);
    }
}

const NARROWING: ReadonlySet<string> = new Set(["limits", "rates", "policy", "audit"]);

/** CO5. */
function narrowing(file: ConfigFile): ConfigFile {
    const content = Object.fromEntries(Object.entries(file.content).filter(([key]) => NARROWING.has(key)));
    return { ...file, content, trusted: false, needs: [] };
}

function workspaceOf(files: readonly ConfigFile[], problems: Problem[]): string | null {
    const file = files.find(({ content }) => content.workspace !== undefined);
    if (file === undefined) return null;
    const folder = resolve(file.folder, file.content.workspace as string);
    const problem = (message: string): null => {
        problems.push({ file: file.name, key: "workspace", message });
        return null;
    };
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return problem("there is no such folder");
    const real = realpathSync(folder);
    const from = relative(file.folder, real);
    const inside = from === "" || (from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from));
    return inside || file.trusted ? real : problem("is outside the folder of the file, which takes trust: `remit trust`, or --trust");
}

function merged(files: readonly ConfigFile[]): Omit<Config, "files" | "workspace"> {
    const limits: { [name: string]: number } = Object.create(null);
    const models: { [name: string]: From<ModelConfig> } = Object.create(null);
    const prices: { [name: string]: Price } = Object.create(null);
    const rates: { [name: string]: Rate } = Object.create(null);
    const servers: { [name: string]: From<ServerConfig> } = Object.create(null);
    const agents: { [name: string]: From<AgentConfig> } = Object.create(null);
    const npm: { [name: string]: From<NpmAllow> } = Object.create(null);
    const secrets: { [name: string]: From<{ readonly origins: readonly string[] }> } = Object.create(null);
    const oauth: { [name: string]: From<ProviderConfig> } = Object.create(null);
    const channels: { [name: string]: From<ChannelConfig> } = Object.create(null);
    const questions: From<RouteConfig>[] = [];
    const node = new Set<string>();
    const local = new Set<string>();
    const privateOrigins = new Set<string>();
    const plainEnv = new Set<string>();
    const withheld = new Map<string, ConfigFile>();
    let ledger: string | null = null;
    for (const file of files) {
        const { content } = file;
        for (const [name, limit] of Object.entries(content.limits ?? {})) limits[name] = Math.min(limits[name] ?? limit, limit);
        for (const [name, rate] of Object.entries(content.rates ?? {})) rates[name] = lowest(rates[name] ?? {}, rate);
        const says: readonly Said[] = [
            ...all(content.ledger === undefined ? [] : [content.ledger], "ledger", (said) => {
                ledger ??= placeOf(said, file.folder);
            }),
            ...each(content.models, "model", models, (said) => ({ ...said, file })),
            ...each(content.prices, "price", prices, (said) => said),
            ...each(content.mcpServers, "mcp", servers, (said) => ({ ...said, file })),
            ...each(content.agents, "agent", agents, (said) => ({ ...said, file })),
            ...each(content.allow?.npm, "npm", npm, (said) => ({ ...said, file })),
            ...each(content.secrets, "secret", secrets, (said) => ({ origins: said.map(originOf), file })),
            ...each(content.oauth, "oauth", oauth, (said) => ({ ...said, origins: said.origins?.map(originOf), file })),
            ...each(content.channels, "channel", channels, (said) => ({ ...said, file })),
            ...(content.questions ?? []).map((said): Said => ["route", "", () => void questions.push({ ...said, file })]),
            ...all(content.allow?.node, "node", (name) => void node.add(name.replace(/^node:/, ""))),
            ...all(
                content.allow?.local?.map((path) => resolve(file.folder, path)),
                "local",
                (path) => void local.add(path),
            ),
            ...all(content.http?.private?.map(originOf), "http", (origin) => void privateOrigins.add(origin)),
            ...all(content.env?.allow, "env", (name) => void plainEnv.add(name)),
        ];
        for (const [kind, name, apply] of says) {
            if (file.trusted) apply();
            else if (!withheld.has(`${kind}:${name}`)) withheld.set(`${kind}:${kind === "node" ? name.replace(/^node:/, "") : name}`, file);
        }
    }
    return {
        ledger,
        limits,
        models,
        prices,
        rates,
        servers,
        agents,
        npm,
        secrets,
        oauth,
        channels,
        questions,
        node,
        local,
        privateOrigins,
        plainEnv,
        withheld,
        policy: joinedPolicy(files),
        audit: joinedAudit(files),
    };
}

/** Kind, name, and what to do if it counts. */
type Said = readonly [string, string, () => void];

/** The first file that names something wins. */
function each<T, Made>(
    map: { readonly [name: string]: T } | undefined,
    kind: string,
    into: { [name: string]: Made },
    make: (said: T) => Made,
): Said[] {
    return Object.entries(map ?? {}).map(([name, said]) => [
        kind,
        name,
        () => {
            into[name] ??= make(said);
        },
    ]);
}
function all(list: readonly string[] | undefined, kind: string, use: (name: string) => void): Said[] {
    return (list ?? []).map((name) => [kind, name, () => use(name)] as const);
}
function originOf(text: string): string {
    return URL.canParse(text) ? new URL(text).origin : text;
}

function realpathOr(path: string): string {
    return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
}

/** A path as a person would write it from here. */
function shown(path: string, from: string | undefined): string {
    const near = from === undefined ? path : relative(from, path);
    return near === "" || near.startsWith("..") || isAbsolute(near) ? path : near.split(sep).join("/");
}
