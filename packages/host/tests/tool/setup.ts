/** A folder to work in, tools opened over it, and calls as a run makes them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import type { Effect, Failure, Outcome } from "@remit/machine";
import { type Config, loadConfig, NO_CONFIG } from "../../src/config/config.ts";
import type { HostToolSource } from "../../src/tool/functions.ts";
import { createTools, type Tools } from "../../src/tool/tools.ts";
import { tellingScrubber } from "../secret/told.ts";

export interface Work {
    readonly folder: string;
    readonly workspace: string;
    readonly env: Record<string, string>;
    write(path: string, content: string | Uint8Array): string;
    /** Configuration of the workspace, trusted unless said otherwise. */
    config(json?: Json, trust?: boolean): Config;
    tools(config?: Config, functions?: { readonly [name: string]: HostToolSource }): Tools;
    readonly secrets: Map<string, string>;
    [Symbol.asyncDispose](): Promise<void>;
}

export function work(): Work {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-tool-")));
    const workspace = join(folder, "work");
    mkdirSync(workspace);
    const env: Record<string, string> = { HOME: folder, PATH: process.env.PATH ?? "" };
    const opened: Tools[] = [];
    const secrets = new Map<string, string>();
    const write = (path: string, content: string | Uint8Array): string => {
        const full = join(workspace, path);
        mkdirSync(dirname(full), { recursive: true });
        writeFileSync(full, content);
        return full;
    };
    return {
        folder,
        workspace,
        env,
        write,
        secrets,
        config: (json, trust = true) => {
            if (json !== undefined) write("remit.json", JSON.stringify(json));
            return loadConfig({ workspace, env, trust });
        },
        tools: (config = NO_CONFIG, functions = {}) => {
            const tools = createTools(config, {
                root: workspace,
                workspace,
                env,
                state: join(folder, "state"),
                functions,
                secrets: tellingScrubber(secrets),
            });
            opened.push(tools);
            return tools;
        },
        [Symbol.asyncDispose]: async () => {
            await Promise.all(opened.map((tools) => tools.close()));
            rmSync(folder, { recursive: true, force: true });
        },
    };
}

export interface CallOptions {
    readonly name?: string;
    readonly file?: string;
    readonly signal?: AbortSignal;
    readonly emit?: (part: Json) => void;
    readonly child?: (effect: Effect) => Promise<Outcome>;
    readonly traceparent?: string;
}

export function toolEffect(uri: string, method: string, args: Json[] | undefined, options: CallOptions = {}): Effect {
    const request = {
        op: "call",
        tool: options.name ?? "T",
        uri,
        file: options.file ?? "main.remit",
        method,
        ...(args === undefined ? {} : { args }),
    };
    return { path: `main/T.${method}#0`, kind: "tool", principal: "user", site: null, request: request as unknown as Json, labels: [] };
}

export function perform(tools: Tools, uri: string, method: string, args: Json[] | undefined, options: CallOptions = {}): Promise<Outcome> {
    return tools.perform(toolEffect(uri, method, args, options), {
        signal: options.signal ?? new AbortController().signal,
        emit: options.emit ?? (() => undefined),
        wait: async () => undefined,
        child: options.child ?? (async () => ({ ok: false, failure: { kind: "denied", message: "nobody is there" } })),
        ...(options.traceparent === undefined ? {} : { traceparent: options.traceparent }),
    });
}

/** The value of a call that goes well. */
export async function call(
    tools: Tools,
    uri: string,
    method: string,
    arg: Json,
    options: CallOptions = {},
): Promise<{ [key: string]: Json }> {
    const outcome = await perform(tools, uri, method, [arg], options);
    if (!outcome.ok) throw new Error(`${outcome.failure.kind}: ${outcome.failure.message}`);
    return outcome.value as { [key: string]: Json };
}

/** The failure of a call that does not. */
export async function failure(tools: Tools, uri: string, method: string, arg: Json, options: CallOptions = {}): Promise<Failure> {
    const outcome = await perform(tools, uri, method, [arg], options);
    if (outcome.ok) throw new Error(`no failure but ${JSON.stringify(outcome.value)}`);
    return outcome.failure;
}
