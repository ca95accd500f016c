/**
 * The URIs that an import may name, by what is imported.
 *
 * Boundary: data and the reading of a URI's scheme. What stands behind a URI is the host's business.
 */
import { schemeOf } from "../authority/thing.ts";
import type { ImportKind } from "../syntax/tree.ts";

/** Schemes of each kind; `""` stands for a path without one. */
export const SCHEMES: Readonly<Record<ImportKind, readonly string[]>> = {
    tool: [
        "sh",
        "file",
        "env",
        "http",
        "https",
        "mcp",
        "node",
        "npm",
        "host",
        "inspect",
        "shell",
        "webfetch",
        "skills",
        "ras",
        "verb",
        "temporal",
        "",
    ],
    llm: ["openai", "anthropic", "google", "ollama", "local", "mock", "scripted", "recorded", "default", "http", "https"],
    memory: ["file", "sqlite"],
    file: ["file", ""],
    agent: ["file", "", "acp", "acp+http", "acp+https", "acp+ws", "acp+wss", "stub"],
    skill: ["file", "", "https"],
};

/** Commands behind `sh://`; nothing ever starts a shell. */
export const COMMANDS: readonly string[] = ["find", "grep", "read-range"];
export const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "fish", "dash", "ksh", "csh", "pwsh", "powershell", "cmd"]);

/** Tools that AgentScript's host brings and Remit does not have (LANGUAGE 10, D17). */
export const OF_AGENTSCRIPT: ReadonlySet<string> = new Set(["architect", "optimizer"]);

/** Files that are modules with tools of their own. */
export const MODULE = /\.[cm]?[jt]s$/i;
/** Files that hold programs. */
export const PROGRAM = /\.(?:as|remit)$/i;

/** Schemes whose code runs in the host's process, so that an allow list has to name them. */
export const CODE: ReadonlySet<string> = new Set(["node", "npm", ""]);

/** A tool whose members may also be read without a call: a module in the host's process. */
export function isModule(uri: string): boolean {
    return CODE.has(schemeOf(uri));
}

/** Example of a right URI, for hints. */
export const EXAMPLES: Readonly<Record<ImportKind, string>> = {
    tool: "sh://grep, file://workspace, https://api.example.com, mcp://NAME, npm:PACKAGE or ./tools.ts",
    llm: "openai://gpt-5-mini, anthropic://claude-sonnet-4-5, ollama://llama3.2 or local:",
    memory: "file://notes.jsonl or sqlite://notes.db",
    file: "./notes.md",
    agent: "./worker.remit, acp://opencode or stub:noop",
    skill: "./skills/triage",
};
