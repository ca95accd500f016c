/**
 * The real agents: how each is started and pointed at a model of loopback, with a home of its own in which nothing of the machine's is.
 *
 * | agent | what it sends beside the turn, and outside the protocol's schema |
 * | --- | --- |
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { has, programOf } from "../../../../../scripts/lib/agents.mjs";

export type AgentName = "opencode" | "qwen-code" | "claude" | "codex" | "gemini";

export interface Start {
    readonly command: string;
    readonly args: readonly string[];
    /** All that the process finds in its environment beside PATH. */
    readonly env: { readonly [name: string]: string };
}

export interface StartOptions {
    /** An empty folder that becomes its home. */
    readonly home: string;
    /** `http://127.0.0.1:PORT` of the model. */
    readonly model: string;
    /** opencode: what it may do without asking its client. Absent: it asks for everything that changes something. */
    readonly permission?: "allow" | "ask";
}

interface Recipe {
    readonly args: readonly string[];
    env(options: StartOptions): { readonly [name: string]: string };
    /** Path below home → text. */
    files?(options: StartOptions): { readonly [path: string]: string };
}

const KEY = "loopback";

const RECIPES: { readonly [name in AgentName]: Recipe } = {
    opencode: {
        args: ["acp"],
        env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1" }),
        files: ({ model, permission }) => ({
            ".config/opencode/opencode.json": JSON.stringify({
                $schema: "https://opencode.ai/config.json",
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
                permission: Object.fromEntries(
                    ["edit", "bash", "webfetch", "external_directory"].map((what) => [what, permission ?? "ask"]),
                ),
            }),
        }),
    },
    "qwen-code": {
        args: ["--acp", "--auth-type", "openai"],
        env: ({ model }) => ({ OPENAI_BASE_URL: `${model}/v1`, OPENAI_API_KEY: KEY, OPENAI_MODEL: "stub" }),
        files: () => ({
            ".qwen/settings.json": JSON.stringify({
                privacy: { usageStatisticsEnabled: false },
                telemetry: { enabled: false },
                general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
            }),
        }),
    },
    claude: {
        args: [],
        env: ({ model }) => ({
            ANTHROPIC_BASE_URL: model,
            ANTHROPIC_AUTH_TOKEN: KEY,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        }),
    },
    codex: {
        args: [],
        env: ({ home }) => ({ CODEX_HOME: join(home, ".codex"), LOOPBACK_KEY: KEY }),
        files: ({ model }) => ({
            ".codex/config.toml": [
                'model = "stub"',
                'model_provider = "loopback"',
                "[model_providers.loopback]",
                'name = "Loopback"',
                `base_url = "${model}/v1"`,
                'wire_api = "responses"',
                'env_key = "LOOPBACK_KEY"',
                "",
            ].join("\n"),
        }),
    },
    gemini: {
        args: ["--acp", "--model", "gemini-2.5-flash"],
        env: ({ model }) => ({ GOOGLE_GEMINI_BASE_URL: model, GEMINI_API_KEY: KEY }),
        files: () => ({
            ".gemini/settings.json": JSON.stringify({
                security: { auth: { selectedType: "gemini-api-key" } },
                privacy: { usageStatisticsEnabled: false },
                general: { disableAutoUpdate: true, disableUpdateNag: true },
            }),
        }),
    },
};

/** Writes what the agent finds in its home, and says how it is started. Throws with words where it is not installed. */
export function prepare(name: AgentName, options: StartOptions): Start {
    if (!has(name)) {
        const command = name === "opencode" || name === "qwen-code" ? "npm test` or `node scripts/agents.mjs --install" : "npm run agents";
        throw new Error(`the agent ${name} is not installed: \`${command}\` brings it from npm`);
    }
    const recipe = RECIPES[name];
    for (const [path, text] of Object.entries(recipe.files?.(options) ?? {})) {
        const file = join(options.home, path);
        if (!existsSync(dirname(file))) mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
    }
    const program = programOf(name);
    return {
        ...(name === "opencode" ? { command: program, args: recipe.args } : { command: process.execPath, args: [program, ...recipe.args] }),
        env: { HOME: options.home, ...recipe.env(options) },
    };
}
