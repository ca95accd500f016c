/**
 * Agents that `acp://NAME` means without a configuration: how each is started, what brings it, and which names are known.
 *
 * Boundary: a table and its names; nothing is looked for on this machine.
 */
import { type ImportForm, nearest, type Program } from "@remit/language";
import type { Config } from "./config.ts";

/** A program that an agent looks for on its search path, and would download: a sandbox has to show it. */
interface Wants {
    readonly program: string;
    /** Where the agent keeps its own, below the cache folder of its user. */
    readonly kept: string;
    /** What it cannot do without. */
    readonly without: string;
    readonly install: string;
}

/**
 * For an agent that puts its commands into a sandbox of its own: the mode that it begins in where Remit's sandbox is around it and no configuration says
 * another. `asking`: it asks before it edits, for folders in which single edits can be allowed. `free`: for others, and where no sandbox can be made inside
 * Remit's.
 */
export interface ModesInSandbox {
    readonly asking: string;
    readonly free: string;
}

interface Known {
    readonly command: readonly string[];
    readonly install: string;
    readonly wants?: readonly Wants[];
    /** What it is started with; `env` of a configuration comes before it. */
    readonly env?: { readonly [name: string]: string };
    readonly modesInSandbox?: ModesInSandbox;
    /** It takes no error of `fs/read_text_file` for a file that is not there, so what its sandbox shows it reads itself. */
    readonly readsItself?: true;
    /** It makes an edit that was allowed itself, and takes what its file system says for how that went. */
    readonly writesItself?: true;
}

/** opencode brings no ripgrep: `rg` of the search path is taken, then what it downloaded itself, which it cannot from a sandbox. */
const RIPGREP: Wants = {
    program: "rg",
    kept: "opencode/bin/rg",
    without: "its tools `glob` and `grep` will fail",
    install: "install ripgrep (Debian, Ubuntu, Fedora: the package `ripgrep`)",
};

/**
 * opencode asks its client about nothing unless its own configuration says so: it would try to write past the remit, and its sandbox would refuse it
 * without a question. It merges this over the `permission` of that configuration. A sandbox has no network for the other two.
 */
const OPENCODE: { readonly [name: string]: string } = {
    OPENCODE_PERMISSION: JSON.stringify({ edit: "ask", bash: "ask", webfetch: "ask", external_directory: "ask" }),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
};

/**
 * Known agents: how each is started, and what brings it. In the mode that qwen-code would choose itself its own model decides what is asked. codex puts
 * each command into a sandbox of its own: where that cannot be made inside ours, its commands would all fail, and it would tell of none.
 */
const KNOWN: { readonly [name: string]: Known } = {
    opencode: {
        command: ["opencode", "acp"],
        install: "npm install -g opencode-ai",
        wants: [RIPGREP],
        env: OPENCODE,
        writesItself: true,
    },
    "qwen-code": { command: ["qwen", "--acp", "--approval-mode", "default"], install: "npm install -g @qwen-code/qwen-code" },
    claude: {
        command: ["claude-agent-acp"],
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        writesItself: true,
    },
    codex: {
        command: ["codex-acp"],
        install: "npm install -g @agentclientprotocol/codex-acp",
        modesInSandbox: { asking: "read-only", free: "agent-full-access" },
        writesItself: true,
    },
    gemini: { command: ["gemini", "--acp"], install: "npm install -g @google/gemini-cli", readsItself: true },
};

/** What the table has of an agent of this name. */
export function knownAs(name: string): Known | undefined {
    return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
}

/** The name that `acp://NAME` asks for. */
export function agentNamed(uri: string): string | undefined {
    return /^acp:\/\/([A-Za-z0-9][A-Za-z0-9._-]*)\/?$/.exec(uri)?.[1];
}

/** Of the table and of the configuration. */
export function agentNames(config: Config): string[] {
    return [...new Set([...Object.keys(KNOWN), ...Object.keys(config.agents)])];
}

/** Agents of a program whose name is nearly a known or configured one, a sentence each. Another machine may configure any other name. */
export function agentSlips(program: Program, config: Config): string[] {
    const say = (asked: string, near: string): string => `no agent '${asked}' is known here; did you mean acp://${near}?`;
    return slipsAmong(program, agentNames(config), ({ what, uri }) => (what === "agent" ? agentNamed(uri) : undefined), say);
}

/** The same of the servers of tools that are configured here, also by a file that is not trusted. */
export function serverSlips(program: Program, config: Config): string[] {
    const withheld = [...config.withheld.keys()].flatMap((key) => (key.startsWith("mcp:") ? [key.slice("mcp:".length)] : []));
    const names = [...new Set([...Object.keys(config.servers), ...withheld])];
    const named = ({ what, uri }: ImportForm): string | undefined => (what === "tool" ? /^mcp:\/\/([^/]+)$/.exec(uri)?.[1] : undefined);
    const say = (asked: string, near: string): string => `no server '${asked}' is configured here; did you mean mcp://${near}?`;
    return slipsAmong(program, names, named, say);
}

/** A sentence for each import that asks for a name which is nearly one of `names`. */
function slipsAmong(
    { files }: Program,
    names: readonly string[],
    named: (one: ImportForm) => string | undefined,
    say: (asked: string, near: string) => string,
): string[] {
    return files
        .flatMap(({ imports }) => imports)
        .flatMap((one) => {
            const asked = named(one);
            if (asked === undefined || names.includes(asked)) return [];
            const near = nearest(asked, names);
            return near === null ? [] : [`${one.name}: ${say(asked, near)}`];
        });
}
