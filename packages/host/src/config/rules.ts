/**
 * The keys of configuration files and the types they are read to.
 *
 * Boundary: tables and shapes. What needs trust is a column of the table (`NEEDS_TRUST`), not code.
 */
import type { Rate } from "../process/limiter.ts";
import type { Json } from "@remit/language";
import { SEVERITIES } from "@remit/machine";
import type { AuditFile } from "./audit.ts";
import type { Keys, Rule } from "./check.ts";

const text: Rule = { is: "text" };
const texts: Rule = { is: "list", of: text };
const origin: Rule = { is: "text", form: /^https?:\/\/[^/?#@\s]+\/?$/, say: "an origin such as https://api.example.com" };
const reference: Rule = { is: "text", form: /^(env|file):./, say: "a secret such as env:NAME or file:PATH" };

/** A server of tools. `env` and `headers` may hold `$NAME` and `${NAME}`. */
const server: Rule = {
    is: "object",
    keys: {
        transport: { is: "text", one: ["stdio", "http"] },
        command: text,
        args: texts,
        env: { is: "map", of: text },
        cwd: text,
        url: { is: "text", form: /^https?:\/\/[^\s]+$/, say: "an http or https URL" },
        headers: { is: "map", of: text },
        timeoutMs: { is: "number", min: 1, whole: true },
        protocol: { is: "text", one: ["auto", "legacy", "modern"] },
    },
};
const servers: Rule = { is: "map", of: server };

const npm: Rule = {
    is: "map",
    of: {
        is: "object",
        keys: {
            version: {
                is: "text",
                form: /^(\*|(\^|~|>=)?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?)$/,
                say: "a version such as ^2.3, ~1.2.3, >=1.0.0, 1.2.3 or *",
            },
            exports: texts,
            effectful: { is: "yes or no" },
        },
    },
};

const price: Rule = {
    is: "object",
    keys: { input: { is: "number", needed: true } as Rule, cached: { is: "number" }, output: { is: "number", needed: true } as Rule },
};
const rate: Rule = {
    is: "object",
    keys: {
        requestsPerMinute: { is: "number", min: 1, whole: true },
        tokensPerMinute: { is: "number", min: 1, whole: true },
    },
};
const model: Rule = {
    is: "object",
    keys: {
        uri: { ...text, needed: true } as Rule,
        baseUrl: { is: "text", form: /^https?:\/\/[^\s@]+$/, say: "an http or https URL without a password" },
        key: reference,
        headers: { is: "map", of: text },
    },
};

/** An agent outside the program, or what is to be said of one that is known. `env` and `headers` may hold `$NAME` and `${NAME}`. */
const agent: Rule = {
    is: "object",
    keys: {
        command: texts,
        url: { is: "text", form: /^(https?|wss?):\/\/[^\s@]+$/, say: "an http, https, ws or wss URL without a password" },
        headers: { is: "map", of: text },
        env: { is: "map", of: text },
        endpoints: { is: "list", of: origin },
        sandbox: { is: "object", keys: { read: texts } },
        mode: text,
        options: { is: "map", of: { is: "json" } },
        protocol: { is: "number", min: 1, whole: true },
        graceMs: { is: "number", min: 1, whole: true },
    },
};

/** Keys of `remit.json`. */
export const REMIT_KEYS: Keys = {
    $schema: text,
    workspace: text,
    limits: {
        is: "object",
        keys: {
            steps: { is: "number", min: 1, whole: true },
            depth: { is: "number", min: 1, whole: true },
            tokens: { is: "number", min: 1, whole: true },
            usd: { is: "number" },
            calls: { is: "number", min: 1, whole: true },
            turns: { is: "number", min: 1, whole: true },
            bytes: { is: "number", min: 1, whole: true },
            memory: { is: "number", min: 1, whole: true },
            time: { is: "number", min: 1 },
        },
    },
    models: { is: "map", of: model },
    prices: { is: "map", of: price },
    rates: { is: "map", of: rate },
    mcpServers: servers,
    agents: { is: "map", of: agent },
    allow: { is: "object", keys: { node: texts, npm, local: texts } },
    http: { is: "object", keys: { private: { is: "list", of: origin } } },
    env: { is: "object", keys: { allow: texts } },
    secrets: { is: "map", of: { is: "list", of: origin } },
    policy: {
        is: "object",
        keys: {
            clauses: { is: "map", of: { is: "text or texts" } },
            remits: { is: "map", of: { is: "text or texts" } },
            flow: { is: "text", one: ["strict"] },
            untrusted: { is: "text", one: ["ask", "never"] },
            input: { is: "text", one: ["unlabelled"] },
        },
    },
    audit: {
        is: "object",
        keys: { invariants: texts, failOn: { is: "text", one: [...SEVERITIES] } },
    },
};

/** Keys of AgentScript's two files. */
export const AGENTSCRIPT_MCP_KEYS: Keys = { mcpServers: servers };
export const AGENTSCRIPT_NPM_KEYS: Keys = { allow: { is: "object", keys: { node: texts, npm } } };

/**
 * Keys that start commands, load modules, read the environment, send credentials somewhere or say what something costs. In a project's file
 * they count only when the file is trusted. What is left, limits, rates, a policy, audits and a workspace inside the project's own
 * folder, can only narrow.
 */
export const NEEDS_TRUST: ReadonlySet<string> = new Set(["models", "prices", "mcpServers", "agents", "allow", "http", "env", "secrets"]);

// ---- what they are read to -------------------------------------------------------------------------------------------

export interface ServerConfig {
    readonly transport?: "stdio" | "http";
    readonly command?: string;
    readonly args?: readonly string[];
    readonly env?: { readonly [name: string]: string };
    readonly cwd?: string;
    readonly url?: string;
    readonly headers?: { readonly [name: string]: string };
    /** Of one call. Default 60 s. */
    readonly timeoutMs?: number;
    /** Which era of the protocol; `auto` finds out. */
    readonly protocol?: "auto" | "legacy" | "modern";
}

/** An agent that `acp://NAME` means. What is not said is what is known of an agent of that name (`KNOWN` in `agent/uri.ts`). */
export interface AgentConfig {
    /** Program and arguments, started without a shell. */
    readonly command?: readonly string[];
    /** Where it runs, in place of a command. */
    readonly url?: string;
    /** What goes along with every request to `url`; may hold `$NAME` and `${NAME}`. */
    readonly headers?: { readonly [name: string]: string };
    /** The environment beside what every agent gets; may hold `$NAME` and `${NAME}`. */
    readonly env?: { readonly [name: string]: string };
    /** Origins of its model, all that it reaches from its sandbox. */
    readonly endpoints?: readonly string[];
    /** Folders and files that it sees in its sandbox beside the system's and its own. */
    readonly sandbox?: { readonly read?: readonly string[] };
    /** Id of the mode that its sessions begin in. */
    readonly mode?: string;
    /** Values of its own options, by their ids: a text, true or false. */
    readonly options?: { readonly [id: string]: Json };
    /** Version of the Agent Client Protocol. Default 1; 2 is a draft. */
    readonly protocol?: number;
    /** How long it may take to end by itself, milliseconds. Default 2,000. */
    readonly graceMs?: number;
}

export interface NpmAllow {
    /** Range the installed version must be in: `*`, `x.y.z`, `^`, `~`, `>=`. */
    readonly version?: string;
    /** Subpaths that may be imported beside the package itself. */
    readonly exports?: readonly string[];
    /** False: its functions only read and compute. Default true. */
    readonly effectful?: boolean;
}

/** A model that answers for the `import llm` of its name. */
export interface ModelConfig {
    readonly uri: string;
    /** Where its requests go instead of the provider's own address. */
    readonly baseUrl?: string;
    /** Secret: `env:NAME` or `file:PATH`. */
    readonly key?: string;
    /** May hold `$NAME` and `${NAME}`. */
    readonly headers?: { readonly [name: string]: string };
}

/** US dollars for a million tokens. */
export interface Price {
    readonly input: number;
    readonly cached?: number;
    readonly output: number;
}

export interface RemitFile {
    readonly workspace?: string;
    readonly limits?: { readonly [name: string]: number };
    readonly models?: { readonly [name: string]: ModelConfig };
    readonly prices?: { readonly [model: string]: Price };
    readonly rates?: { readonly [hostOrProvider: string]: Rate };
    readonly mcpServers?: { readonly [name: string]: ServerConfig };
    readonly agents?: { readonly [name: string]: AgentConfig };
    readonly allow?: {
        readonly node?: readonly string[];
        readonly npm?: { readonly [name: string]: NpmAllow };
        readonly local?: readonly string[];
    };
    readonly http?: { readonly private?: readonly string[] };
    readonly env?: { readonly allow?: readonly string[] };
    readonly secrets?: { readonly [reference: string]: readonly string[] };
    readonly policy?: PolicyFile;
    readonly audit?: AuditFile;
}

/** Clauses and remits in the language's own words; it takes away, whatever it says. */
export interface PolicyFile {
    /** By URI of an import, or by its name in the program. */
    readonly clauses?: { readonly [place: string]: string | readonly string[] };
    /** By name of the agent. */
    readonly remits?: { readonly [agent: string]: string | readonly string[] };
    readonly flow?: "strict";
    readonly untrusted?: "ask" | "never";
    readonly input?: "unlabelled";
}

/** What a server must say beyond the form of its keys; the problem in words, null where there is none. */
export function serverProblem(server: { readonly [key: string]: Json }): string | null {
    const http = server.transport === "http" || (server.transport === undefined && server.url !== undefined);
    const wrong = (http ? ["command", "args", "env", "cwd"] : ["url", "headers"]).filter((key) => server[key] !== undefined);
    if (wrong.length > 0)
        return `${wrong.join(", ")} ${wrong.length === 1 ? "does" : "do"} not belong to a server reached by ${http ? "http" : "stdio"}`;
    if (http && server.url === undefined) return "url is missing";
    if (!http && server.command === undefined) return "command is missing (or url, for a server reached by http)";
    return null;
}

/** What an agent must say beyond the form of its keys; the key and the problem in words, null where there is none. */
export function agentProblem(agent: { readonly [key: string]: Json }): { readonly key: string; readonly message: string } | null {
    if (Array.isArray(agent.command) && (agent.command.length === 0 || agent.command[0] === ""))
        return { key: "command", message: "a program is expected, and its arguments" };
    if (agent.headers !== undefined && agent.url === undefined)
        return { key: "headers", message: "only an agent that is reached by a url has headers" };
    const local = ["command", "env", "endpoints", "sandbox", "mode", "options", "protocol"].filter((key) => agent[key] !== undefined);
    if (agent.url !== undefined && local[0] !== undefined)
        return { key: local[0], message: "this does not belong to an agent that is reached by a url" };
    if (agent.protocol !== undefined && agent.protocol !== 1 && agent.protocol !== 2)
        return { key: "protocol", message: `1 or 2 is expected, not ${String(agent.protocol)}` };
    for (const [id, value] of Object.entries((agent.options ?? {}) as { [id: string]: Json }))
        if (typeof value !== "string" && typeof value !== "boolean")
            return { key: `options.${id}`, message: "a text, true or false is expected" };
    return null;
}
