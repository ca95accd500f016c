/**
 * The keys of configuration files and the types they are read to.
 *
 * Boundary: tables and shapes. What needs trust is a column of the table (`NEEDS_TRUST`), not code.
 */
import type { Json } from "@remit/language";
import { SEVERITIES } from "@remit/machine";
import { CHANNEL, ROUTE } from "./channels.ts";
import type { Keys, Read, ReadKeys, Rule } from "./check.ts";

const text = { is: "text" } as const satisfies Rule;
const texts = { is: "list", of: text } as const satisfies Rule;
const origin = { is: "text", form: /^https?:\/\/[^/?#@\s]+\/?$/, say: "an origin such as https://api.example.com" } as const satisfies Rule;
const reference = { is: "text", form: /^(env|file):./, say: "a secret such as env:NAME or file:PATH" } as const satisfies Rule;

/** A server of tools. `env` and `headers` may hold `$NAME` and `${NAME}`. */
const server = {
    is: "object",
    keys: {
        transport: { is: "text", one: ["stdio", "http"] },
        command: text,
        args: texts,
        env: { is: "map", of: text },
        cwd: text,
        url: { is: "text", form: /^https?:\/\/[^\s]+$/, say: "an http or https URL" },
        headers: { is: "map", of: text },
        /** Of one call. Default 60 s. */
        timeoutMs: { is: "number", min: 1, whole: true },
        /** Which era of the protocol; `auto` finds out. */
        protocol: { is: "text", one: ["auto", "legacy", "modern"] },
    },
} as const satisfies Rule;
const servers = { is: "map", of: server } as const satisfies Rule;

const npm = {
    is: "map",
    of: {
        is: "object",
        keys: {
            /** Range the installed version must be in: `*`, `x.y.z`, `^`, `~`, `>=`. */
            version: {
                is: "text",
                form: /^(\*|(\^|~|>=)?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?)$/,
                say: "a version such as ^2.3, ~1.2.3, >=1.0.0, 1.2.3 or *",
            },
            /** Subpaths that may be imported beside the package itself. */
            exports: texts,
            /** False: its functions only read and compute. Default true. */
            effectful: { is: "yes or no" },
        },
    },
} as const satisfies Rule;

/** US dollars for a million tokens. */
const price = {
    is: "object",
    keys: { input: { is: "number", needed: true }, cached: { is: "number" }, output: { is: "number", needed: true } },
} as const satisfies Rule;
const rate = {
    is: "object",
    keys: {
        requestsPerMinute: { is: "number", min: 1, whole: true },
        tokensPerMinute: { is: "number", min: 1, whole: true },
    },
} as const satisfies Rule;
/** A model that answers for the `import llm` of its name. `headers` may hold `$NAME` and `${NAME}`. */
const model = {
    is: "object",
    keys: {
        uri: { ...text, needed: true },
        /** Where its requests go instead of the provider's own address. */
        baseUrl: { is: "text", form: /^https?:\/\/[^\s@]+$/, say: "an http or https URL without a password" },
        /** Secret: `env:NAME` or `file:PATH`. */
        key: reference,
        headers: { is: "map", of: text },
        /** `text`: it takes no tools of its own, and is given them in words; `native`: it takes them. Default: found out. */
        tools: { is: "text", one: ["native", "text"] },
    },
} as const satisfies Rule;

/**
 * An agent that `acp://NAME` means. What is not said is what is known of an agent of that name (`agents.ts`). `env` and `headers` may
 * hold `$NAME` and `${NAME}`.
 */
const agent = {
    is: "object",
    keys: {
        /** Program and arguments, started without a shell. */
        command: texts,
        /** Where it runs, in place of a command. */
        url: { is: "text", form: /^(https?|wss?):\/\/[^\s@]+$/, say: "an http, https, ws or wss URL without a password" },
        /** What goes along with every request to `url`. */
        headers: { is: "map", of: text },
        /** The environment beside what every agent gets. */
        env: { is: "map", of: text },
        /** Origins of its model, all that it reaches from its sandbox. */
        endpoints: { is: "list", of: origin },
        /** Folders and files that it sees in its sandbox beside the system's and its own; whether it edits a copy of the folders it was given. */
        sandbox: { is: "object", keys: { read: texts, copy: { is: "yes or no" } } },
        /** Id of the mode that its sessions begin in. */
        mode: text,
        /** Values of its own options, by their ids: a text, true or false. */
        options: { is: "map", of: { is: "json" } },
        /** Version of the Agent Client Protocol. Default 1; 2 is a draft. */
        protocol: { is: "number", min: 1, whole: true },
        /** How long it may take to end by itself, milliseconds. Default 2,000. */
        graceMs: { is: "number", min: 1, whole: true },
    },
} as const satisfies Rule;

const url = { is: "text", form: /^https?:\/\/[^\s@]+$/, say: "an http or https URL without a password" } as const satisfies Rule;
const wide = {
    is: "text",
    form: /^https?:\/\/[^/?#@\s*]+\/?$|^https:\/\/\*(\.[^/?#@\s*:]+){2,}$/,
    say: "an origin such as https://api.example.com or https://*.example.com",
} as const satisfies Rule;
/** A provider of delegated credentials, by the NAME of `oauth("NAME")`. What is not said is what is known of a provider of that name. */
const provider = {
    is: "object",
    keys: {
        /** Its metadata is found there. */
        issuer: url,
        authorization: url,
        token: url,
        device: url,
        revocation: url,
        /** Id of the client that was registered there. */
        client: text,
        /** Secret of that client: `env:NAME` or `file:PATH`. */
        secret: reference,
        scopes: texts,
        /** Where its tokens may be sent. */
        origins: { is: "list", of: wide },
        /** How a user logs in where the command names neither way. */
        flow: { is: "text", one: ["code", "device"] },
        /** What else is said when a user is asked. */
        parameters: { is: "map", of: text },
        /** Port of this machine that the redirect goes to. Default: a free one. */
        port: { is: "number", min: 1, whole: true },
    },
} as const satisfies Rule;

/** Keys of `remit.json`. */
export const REMIT_KEYS = {
    $schema: text,
    workspace: text,
    /** A file, or the address of a database without a password. */
    ledger: text,
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
    oauth: { is: "map", of: provider },
    /** Where questions are sent, by name; and which go where. The first route that fits counts. */
    channels: { is: "map", of: CHANNEL },
    questions: { is: "list", of: ROUTE },
    /** Clauses and remits in the language's own words; it takes away, whatever it says. */
    policy: {
        is: "object",
        keys: {
            /** By URI of an import, or by its name in the program. */
            clauses: { is: "map", of: { is: "text or texts" } },
            /** By name of the agent. */
            remits: { is: "map", of: { is: "text or texts" } },
            flow: { is: "text", one: ["strict"] },
            untrusted: { is: "text", one: ["ask", "never"] },
            /** Origins that tools may reach over HTTP, and that lent tools may be sent to. */
            reach: { is: "list", of: origin },
            input: { is: "text", one: ["unlabelled"] },
        },
    },
    audit: {
        is: "object",
        keys: { invariants: texts, failOn: { is: "text", one: SEVERITIES } },
    },
} as const satisfies Keys;

/** Keys of AgentScript's two files. */
export const AGENTSCRIPT_MCP_KEYS: Keys = { mcpServers: servers };
export const AGENTSCRIPT_NPM_KEYS: Keys = { allow: { is: "object", keys: { node: texts, npm } } };

/**
 * Keys that start commands, load modules, read the environment, send credentials or questions somewhere or say what something costs. In a project's file
 * they count only when the file is trusted. What is left, limits, rates, a policy, audits and a workspace inside the project's own
 * folder, can only narrow.
 */
export const NEEDS_TRUST: ReadonlySet<string> = new Set([
    "ledger",
    "models",
    "prices",
    "mcpServers",
    "agents",
    "allow",
    "http",
    "env",
    "secrets",
    "oauth",
    "channels",
    "questions",
]);

// ---- what they are read to -------------------------------------------------------------------------------------------

export type ServerConfig = Read<typeof server>;
export type AgentConfig = Read<typeof agent>;
export type NpmAllow = Read<typeof npm>[string];
export type ModelConfig = Read<typeof model>;
export type ProviderConfig = Read<typeof provider>;
export type Price = Read<typeof price>;
export type RemitFile = ReadKeys<typeof REMIT_KEYS>;
export type PolicyFile = NonNullable<RemitFile["policy"]>;
export type AuditFile = NonNullable<RemitFile["audit"]>;

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
