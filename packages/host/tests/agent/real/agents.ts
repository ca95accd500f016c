/**
 * The real agents: how each is started and pointed at a model of loopback, by its environment alone.
 *
 * What was learnt of them, beside what the protocol says (all as of the versions that the set-up installs):
 *
 * | agent | calls its model beside the turn | sends outside the schema | asks before it writes | its own write |
 * | --- | --- | --- | --- | --- |
 * | opencode | a title, without tools, at the first turn | `usage` of a prompt's answer | as `OPENCODE_PERMISSION` says, which Remit sets; by itself about nothing | tells the client by `fs/write_text_file`, then writes the file itself |
 * | qwen-code | memories after a turn, with tools; what the user may say next, after it | `models` of a session, request `craft/drainMidTurnQueue`, notification `qwen/notify/session/prompt-suggestion` | in its mode `default`; in `auto`, its own choice, its model decides | by `fs/write_text_file` only |
 * | claude | a title, without tools, after the turn | `usage`; notification `_auth/status_update` | in its mode `default` | itself: beside the file, then renamed |
 * | codex | a title, without tools | `models`, `usage`; `_auth/status_update` | in its mode `read-only`; a refusal ends its turn | itself; a command `apply_patch` is its edit; a warning of its own is the first message of a turn |
 * | gemini | none with its model named | `models` | in its mode `default` | by `fs/write_text_file`; reads first |
 */

import { join } from "node:path";
import { folderOf, has, programOf } from "../../../../../scripts/lib/agents.mjs";

export type AgentName = "opencode" | "qwen-code" | "claude" | "codex" | "gemini";

export interface Start {
    readonly command: string;
    readonly args: readonly string[];
    /** All that the process needs to find in its environment beside PATH and a home. */
    readonly env: { readonly [name: string]: string };
}

export interface StartOptions {
    /** `http://127.0.0.1:PORT` of the model. */
    readonly model: string;
    /** opencode: `allow`: it does everything without asking its client. Absent: it asks as Remit starts it. */
    readonly permission?: "allow";
}

interface Recipe {
    readonly args: readonly string[];
    /** Everything by the environment, so that a home can be empty. */
    env(options: StartOptions): { readonly [name: string]: string };
}

const KEY = "loopback";

const RECIPES: { readonly [name in AgentName]: Recipe } = {
    opencode: {
        args: ["acp"],
        env: ({ model, permission }) => ({
            OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
            OPENCODE_CONFIG_CONTENT: JSON.stringify({
                autoupdate: false,
                share: "disabled",
                enabled_providers: ["loopback"],
                model: "loopback/stub",
                small_model: "loopback/stub",
                provider: {
                    loopback: {
                        npm: "@ai-sdk/openai-compatible",
                        name: "Loopback",
                        options: { baseURL: `${model}/v1`, apiKey: KEY },
                        models: { stub: { name: "stub", tool_call: true, limit: { context: 100_000, output: 8_000 } } },
                    },
                },
            }),
            ...(permission === undefined
                ? {}
                : {
                      OPENCODE_PERMISSION: JSON.stringify(
                          Object.fromEntries(["edit", "bash", "webfetch", "external_directory"].map((what) => [what, permission])),
                      ),
                  }),
        }),
    },
    "qwen-code": {
        // its mode `auto`, which it would choose itself, lets its model decide what is asked
        args: ["--acp", "--auth-type", "openai", "--approval-mode", "default"],
        env: ({ model }) => ({
            OPENAI_BASE_URL: `${model}/v1`,
            OPENAI_API_KEY: KEY,
            OPENAI_MODEL: "stub",
            QWEN_CODE_NO_RELAUNCH: "1",
        }),
    },
    claude: {
        args: [],
        env: ({ model }) => ({ ANTHROPIC_BASE_URL: model, ANTHROPIC_AUTH_TOKEN: KEY, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" }),
    },
    codex: {
        args: [],
        env: ({ model }) => ({
            LOOPBACK_KEY: KEY,
            MODEL_PROVIDER: "loopback",
            CODEX_CONFIG: JSON.stringify({
                model: "stub",
                model_provider: "loopback",
                model_providers: {
                    loopback: { name: "Loopback", base_url: `${model}/v1`, wire_api: "responses", env_key: "LOOPBACK_KEY" },
                },
            }),
        }),
    },
    gemini: {
        args: ["--acp", "--model", "gemini-2.5-flash"],
        env: ({ model }) => ({ GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: KEY, GEMINI_DEFAULT_AUTH_TYPE: "gemini-api-key" }),
    },
};

/** How the agent is started. Throws with words where it is not installed. */
export function startOf(name: AgentName, options: StartOptions): Start {
    if (!has(name)) throw new Error(`the agent ${name} is not installed: \`npm run agents -- ${name}\` brings it from npm`);
    const { args, env } = RECIPES[name];
    return { command: programOf(name), args, env: env(options) };
}

/** Path of a ripgrep: the one that qwen-code brings. */
export function ripgrep(): string {
    const program = process.platform === "win32" ? "rg.exe" : "rg";
    const vendor = join("node_modules", "@qwen-code", "qwen-code", "vendor", "ripgrep");
    return join(folderOf("qwen-code"), vendor, `${process.arch}-${process.platform}`, program);
}
