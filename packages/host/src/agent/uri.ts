/**
 * What an agent's URI means: a command to be started, or a server to be reached.
 *
 * Boundary: from a URI and the configuration to a target; nothing is started, and nothing is asked.
 *
 * UR1: a command comes from the table of known agents, from a configuration that counts (CO3 in `config.ts`), or, written in the program itself,
 *     from a person who trusts it for this time: a program that was merely fetched starts nothing of its own choosing.
 * UR2: a secret reaches an agent only by a name that a trusted configuration writes into `env` or `headers`; every one is told to the scrubber
 *     first. Headers go to the configured URL alone, and over plain HTTP only on the loopback.
 */
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { didYouMean } from "@remit/language";
import { agentNamed, agentNames, knownAs, type ModesInSandbox } from "../config/agents.ts";
import type { Config } from "../config/config.ts";
import { expand } from "../config/expand.ts";
import type { AgentConfig } from "../config/rules.ts";
import type { Environment } from "../ledger/place.ts";
import { findCommand, isProgram } from "../process/command.ts";
import { looksSecret } from "../secret/names.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { literalOf, reachOf } from "../tool/address.ts";
import { fileFrom, packagesOf } from "./beside.ts";
import { AgentFail } from "./fail.ts";

export interface AgentSources {
    readonly config: Config;
    readonly env: Environment;
    /** Told of each secret before it is used. */
    readonly secrets: Pick<Scrubber, "add">;
    /** Absolute folder that relative paths of a command begin in, where no configuration file says. */
    readonly workspace: string;
}

interface Wishes {
    readonly mode: string | undefined;
    readonly options: { readonly [id: string]: string | boolean };
    readonly protocol: 1 | 2;
    readonly graceMs: number;
}

/** A process of ours. */
export interface ProcessTarget extends Wishes {
    readonly kind: "process";
    /** As shown. */
    readonly name: string;
    /** Absolute path. */
    readonly command: string;
    /** As written: what is said of the agent in a lock names no place. */
    readonly args: readonly string[];
    /** The same with the files of the configuration's folder made absolute. */
    readonly fullArgs: readonly string[];
    readonly env: { readonly [name: string]: string };
    /** Origins it may reach from its sandbox. */
    readonly endpoints: readonly URL[];
    /** Absolute paths it may read in its sandbox. */
    readonly read: readonly string[];
    /** Absolute paths of further programs that it looks for by name. */
    readonly programs: readonly string[];
    /** What it cannot do here because a program is missing, a sentence each. */
    readonly lacks: readonly string[];
    /** As in the table of known agents. */
    readonly modesInSandbox: ModesInSandbox | undefined;
    readonly readsItself: boolean;
    /** It makes allowed edits itself, by no request of the protocol. */
    readonly writesItself: boolean;
}

/** A server that runs somewhere else. */
export interface RemoteTarget extends Wishes {
    readonly kind: "remote";
    readonly name: string;
    readonly transport: "http" | "ws";
    readonly url: URL;
    /** What goes along with every request. */
    readonly headers: { readonly [name: string]: string };
}

export type AgentTarget = ProcessTarget | RemoteTarget;

const GRACE_MS = 2_000;

/** Throws `AgentFail`: `unreachable` where there is no such agent, `denied` where it takes trust. */
export function targetOf(uri: string, sources: AgentSources): AgentTarget {
    const remote = /^acp\+(https?|wss?):\/\/./.exec(uri)?.[1];
    if (remote !== undefined) return remoteTarget(uri, sources);
    const named = agentNamed(uri);
    if (named !== undefined) return namedTarget(named, sources);
    const line = /^acp:(?!\/\/)(.+)$/s.exec(uri)?.[1];
    if (line === undefined)
        throw new AgentFail("unreachable", `'${uri}' names no agent`, {
            hint: "write acp://NAME, acp:COMMAND ARGUMENTS, acp+http://…, acp+ws://… or stub:…",
        });
    return directTarget(line, sources);
}

function namedTarget(name: string, sources: AgentSources): AgentTarget {
    const { config } = sources;
    const said = Object.hasOwn(config.agents, name) ? config.agents[name] : undefined;
    const known = knownAs(name);
    const withheld = config.withheld.get(`agent:${name}`);
    if (said === undefined && withheld !== undefined)
        throw new AgentFail(
            "denied",
            `it is configured by ${withheld.name}, which is not trusted${withheld.trust.state === "changed" ? " since it was changed" : ""}`,
            {
                hint: "it would start a command or send credentials: look at that file, then trust it with `remit trust`, or --trust for once",
            },
        );
    if (said?.url !== undefined) return serverTarget(said.url, name, said, sources);
    const command = said?.command ?? known?.command;
    if (command === undefined) {
        const names = agentNames(config);
        const meant = didYouMean(name, names);
        throw new AgentFail("unreachable", `there is no agent '${name}'`, {
            hint: `${meant === undefined ? "" : `${meant} `}known are ${names.join(", ")}; another one is written into remit.json: {"agents": {"${name}": {"command": ["…"]}}}`,
        });
    }
    const folder = said?.file.folder ?? sources.workspace;
    const install = said?.command === undefined ? known?.install : undefined;
    return processTarget({ name, command, said: said ?? {}, folder, install }, sources);
}

function directTarget(line: string, sources: AgentSources): AgentTarget {
    const words = wordsOf(line);
    const { config } = sources;
    const same = Object.entries(config.agents).find(
        ([, { command }]) => command !== undefined && command.length === words.length && command.every((word, i) => word === words[i]),
    );
    if (same !== undefined) return namedTarget(same[0], sources);
    if (config.always !== true)
        throw new AgentFail("denied", `the program would start the command '${line.trim()}', which is not trusted`, {
            hint: 'trust it for once with --trust, or write it into a trusted remit.json: {"agents": {"NAME": {"command": ["…"]}}}',
        });
    return processTarget({ name: words[0] ?? "", command: words, said: {}, folder: sources.workspace }, sources);
}

/** Words of a command line: quotes keep spaces, a backslash keeps the next character. No shell ever sees it. */
export function wordsOf(line: string): string[] {
    const words: string[] = [];
    let word: string | null = null;
    let quote = "";
    for (let i = 0; i < line.length; i++) {
        const char = line[i] as string;
        if (quote !== "") {
            if (char === quote) quote = "";
            else if (char === "\\" && quote === '"' && i + 1 < line.length) word += line[++i] as string;
            else word += char;
        } else if (char === '"' || char === "'") {
            quote = char;
            word ??= "";
        } else if (/\s/.test(char)) {
            if (word !== null) words.push(word);
            word = null;
        } else if (char === "\\" && i + 1 < line.length) word = (word ?? "") + (line[++i] as string);
        else word = (word ?? "") + char;
    }
    if (word !== null) words.push(word);
    if (quote !== "" || words.length === 0) throw new AgentFail("unreachable", `'${line}' is no command line`);
    return words;
}

interface Program {
    readonly name: string;
    readonly command: readonly string[];
    readonly said: AgentConfig;
    /** Relative paths begin there. */
    readonly folder: string;
    /** How it is installed. */
    readonly install?: string | undefined;
}

function processTarget({ name, command, said, folder, install }: Program, sources: AgentSources): ProcessTarget {
    const [program = "", ...args] = command;
    const found =
        program === "node" ? (findCommand(program, folder, sources.env) ?? process.execPath) : findCommand(program, folder, sources.env);
    if (found === null)
        throw new AgentFail("unreachable", `it cannot be started: there is no command '${program}'`, {
            hint: install === undefined ? "install it, or mend the command" : `install it: ${install}`,
        });
    const own = args.map((arg) => fileArgument(arg, folder));
    return {
        kind: "process",
        name,
        command: found,
        args,
        fullArgs: args.map((arg, i) => own[i] ?? arg),
        env: {
            ...knownAs(name)?.env,
            ...Object.fromEntries(Object.entries(said.env ?? {}).map(([key, text]) => [key, put(key, text, name, sources)])),
        },
        endpoints: (said.endpoints ?? []).map((origin) => new URL(origin)),
        read: [
            ...(said.sandbox?.read ?? []).map((path) => resolve(folder, path)),
            ...own.flatMap((file) => (file === null ? [] : [file, ...packagesOf(dirname(file))])),
        ],
        ...wantedOf(name, sources.env),
        modesInSandbox: knownAs(name)?.modesInSandbox,
        readsItself: knownAs(name)?.readsItself === true,
        writesItself: said.sandbox?.copy ?? knownAs(name)?.writesItself === true,
        ...wishesOf(said),
    };
}

/**
 * Absolute path of an argument that names a file of the configuration's folder, such as the agent's program: the agent starts in another folder.
 * Null for every other argument; a folder such as `.` is the agent's own.
 */
function fileArgument(arg: string, folder: string): string | null {
    const path = arg === "" ? null : fileFrom(folder, arg, folder);
    return path !== null && statSync(path).isFile() ? path : null;
}

/** Programs that a known agent looks for, as far as they are here. */
function wantedOf(name: string, env: Environment): Pick<ProcessTarget, "programs" | "lacks"> {
    const cache = env.XDG_CACHE_HOME ?? (env.HOME === undefined ? null : join(env.HOME, ".cache"));
    const programs: string[] = [];
    const lacks: string[] = [];
    for (const { program, kept, without, install } of knownAs(name)?.wants ?? []) {
        const own = cache === null ? null : join(cache, kept);
        const found = findCommand(program, "/", env) ?? (own !== null && isProgram(own) ? own : null);
        if (found === null) lacks.push(`${name} finds no \`${program}\`: ${without}; ${install}`);
        else programs.push(found);
    }
    return { programs, lacks };
}

function wishesOf(said: AgentConfig): Wishes {
    return {
        mode: said.mode,
        options: (said.options ?? {}) as { readonly [id: string]: string | boolean },
        protocol: said.protocol === 2 ? 2 : 1,
        graceMs: said.graceMs ?? GRACE_MS,
    };
}

/** UR2. */
function put(key: string, text: string, name: string, sources: AgentSources): string {
    const { text: out, used } = expand(text, sources.env);
    for (const one of used) sources.secrets.add({ name: `env:${one}`, value: sources.env[one] ?? "" });
    if (used.length === 0 && looksSecret(key, out)) sources.secrets.add({ name: `config:${name}.${key}`, value: out });
    return out;
}

/** A URL in the program; where the configuration has an agent at the same one, that agent. */
function remoteTarget(uri: string, sources: AgentSources): RemoteTarget {
    const text = uri.slice("acp+".length);
    const same = Object.entries(sources.config.agents).find(
        ([, { url }]) => url !== undefined && URL.canParse(text) && URL.canParse(url) && new URL(url).href === new URL(text).href,
    );
    return serverTarget(text, same?.[0], same?.[1] ?? {}, sources);
}

function serverTarget(text: string, name: string | undefined, said: AgentConfig, sources: AgentSources): RemoteTarget {
    const { config } = sources;
    if (!URL.canParse(text)) throw new AgentFail("unreachable", `'${text}' is not a URL`);
    const url = new URL(text);
    if (url.username !== "" || url.password !== "") throw new AgentFail("denied", "the agent's URL holds a name or a password");
    const { origin } = new URL(text.replace(/^ws/, "http"));
    const literal = literalOf(url.hostname);
    // As for tools (P2 in `tool/http.ts`): what the import itself says to be loopback or private is meant; reserved addresses are not.
    if (literal !== null && reachOf(literal) === "never" && !config.privateOrigins.has(origin))
        throw new AgentFail("denied", `${url.hostname} is an address that programs do not reach`, {
            hint: `http.private of a trusted remit.json can allow ${origin}`,
        });
    const headers = Object.entries(said.headers ?? {});
    const plain = url.protocol === "http:" || url.protocol === "ws:";
    if (headers.length > 0 && plain && !(literal !== null && (literal === "::1" || literal.startsWith("127."))))
        throw new AgentFail("denied", `the headers of '${name}' would go over the network in plain text`, {
            hint: `write https or wss into agents.${name}.url`,
        });
    for (const [key] of headers)
        if (OWN_HEADERS.test(key)) throw new AgentFail("denied", `the header '${key}' of '${name}' belongs to the connection`);
    return {
        kind: "remote",
        name: name ?? url.host,
        transport: url.protocol.startsWith("ws") ? "ws" : "http",
        url,
        headers: Object.fromEntries(headers.map(([key, value]) => [key, put(key, value, name ?? "", sources)])),
        ...wishesOf(said),
    };
}

/** What the connection and the protocol say themselves. */
const OWN_HEADERS =
    /^(?:host|connection|content-(?:length|type)|transfer-encoding|upgrade|keep-alive|te|trailer|expect|proxy-.*|sec-websocket-.*|acp-.*)$/i;
