/**
 * FIDES itself, of the Python package `agent-framework-core`, over the same tools and the same model. `FIDES_PYTHON` names the interpreter that has it.
 *
 * Boundary: a process with lines of JSON, and a loopback server behind which the tools stand.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Setting } from "../../contenders.ts";
import type { Args, Call, Json, Toolbox } from "../../kit.ts";
import { offered } from "../../model.ts";
import type { Run } from "../run.ts";

interface Answer {
    readonly answer: string;
    readonly asked: readonly string[];
    readonly failure: string | null;
}

/** `trusted` says which tools of a world are its owner's own word: the others' results are labelled untrusted, as its documents say of what comes from outside. */
export async function fides(
    python: string,
    trusted: (world: string, tool: string) => boolean,
): Promise<{ readonly run: Run; close(): Promise<void> }> {
    let box: Toolbox = {};
    const server = createServer(async (request, response) => {
        let text = "";
        for await (const chunk of request) text += String(chunk);
        const { tool, args } = JSON.parse(text) as { readonly tool: string; readonly args: Args };
        try {
            response.end(JSON.stringify(methodOf(box, tool).run(args)));
        } catch (error) {
            response.writeHead(400);
            response.end(error instanceof Error ? error.message : String(error));
        }
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const call = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const child: ChildProcess = spawn(python, [fileURLToPath(new URL("./fides.py", import.meta.url))], {
        stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    const run: Run = async ({ world, task, planted, base }: Setting, person) => {
        const state = world.state(planted);
        const calls: Call[] = [];
        box = world.tools(state, calls);
        const tools = Object.entries(box).flatMap(([name, methods]) =>
            Object.entries(methods).map(([method, { description, input, readOnly }]) => ({
                name: offered(`${name}.${method}`),
                description,
                input,
                reads: readOnly,
                // What a call that does more than read says of itself is the tool's word.
                integrity: !readOnly || trusted(world.name, name) ? "trusted" : "untrusted",
            })),
        );
        child.stdin?.write(`${JSON.stringify({ base, model: task.id, request: task.request, tools, call, person })}\n`);
        const { value, done } = await lines.next();
        if (done === true) throw new Error("the process with FIDES ended");
        const { answer, asked, failure } = JSON.parse(String(value)) as Answer;
        return { end: { state, calls, answer }, asked, failure };
    };
    return {
        run,
        close: async () => {
            child.stdin?.end();
            await new Promise<void>((done) => server.close(() => done()));
        },
    };
}

function methodOf(box: Toolbox, name: string): Toolbox[string][string] {
    for (const [tool, methods] of Object.entries(box))
        for (const [method, one] of Object.entries(methods)) if (offered(`${tool}.${method}`) === name) return one;
    throw new Error(`there is no ${name}`);
}

// ---- what a model sees that works with hidden results -------------------------------------------------------------------

interface Message {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments?: string } }[];
    readonly tool_call_id?: string;
}

export interface Unfolded<M> {
    /** As if what was looked at had never been hidden. */
    readonly messages: readonly M[];
    /** Results that are still hidden. */
    readonly hidden: readonly string[];
}

export const LOOK = "inspect_variable";

export function unfolded<M extends Message>(messages: readonly M[]): Unfolded<M> {
    const looked = new Map<string, string>();
    const lookCalls = new Map<string, string>();
    for (const message of messages) {
        for (const call of message.tool_calls ?? [])
            if (call.function.name === LOOK) {
                const { variable_id } = JSON.parse(call.function.arguments ?? "{}") as { readonly variable_id?: string };
                lookCalls.set(call.id, variable_id ?? "");
            }
        const of = lookCalls.get(message.tool_call_id ?? "");
        if (message.role === "tool" && of !== undefined) looked.set(of, contentOf(textIn(message.content)));
    }
    const hidden: string[] = [];
    const shown = messages
        .filter(
            (message) =>
                !lookCalls.has(message.tool_call_id ?? "") && !(message.tool_calls ?? []).some((call) => call.function.name === LOOK),
        )
        .map((message) => {
            const id = message.role === "tool" ? variableIn(textIn(message.content)) : null;
            if (id === null) return message;
            if (looked.has(id)) return { ...message, content: looked.get(id) };
            hidden.push(id);
            return message;
        });
    return { messages: shown, hidden };
}

function textIn(content: unknown): string {
    if (typeof content === "string") return content;
    return Array.isArray(content) ? content.map((part) => String((part as { text?: unknown }).text ?? "")).join("\n") : "";
}

function variableIn(text: string): string | null {
    return /"variable_id": ?"(var_\w+)"/.exec(text)?.[1] ?? null;
}

/** What looking at a variable answers holds the content, and a warning. */
function contentOf(text: string): string {
    try {
        const { content } = JSON.parse(text) as { readonly content?: Json };
        return typeof content === "string" ? content : JSON.stringify(content ?? text);
    } catch {
        // Words of a failure.
        return text;
    }
}

export const looksAt = (hidden: readonly string[]): { readonly name: string; readonly args: Args }[] =>
    hidden.map((variable_id) => ({ name: LOOK, args: { variable_id, reason: "the task needs what stands in it" } }));
