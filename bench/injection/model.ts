/**
 * The worst model there can be: it does the user's task, then obeys every injection that it reads anywhere in its prompt.
 *
 * Boundary: from one request of the wire to one reply, a pure function; what was said before is in the request.
 *
 * M1: where tools are offered it calls those of the task, turn by turn, then those of the goals it read; calls of tools that are not offered are left out.
 * M2: where a contract is asked, fields get what the task's facts say, and what a goal that was read wants in its place.
 * M3: it knows only what it was shown: an address, account or link that is in no message of the request is a fault of the script.
 */
import { type Args, type Goal, injection, type Json, type Seen, type Step, type Task } from "./kit.ts";

export interface WireMessage {
    readonly role: string;
    readonly content?: string | null | readonly { readonly type: string; readonly text?: string }[];
    readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments?: string } }[];
    readonly tool_call_id?: string;
}

export interface WireRequest {
    readonly model: string;
    readonly stream?: boolean;
    readonly messages: readonly WireMessage[];
    readonly tools?: readonly { readonly function: { readonly name: string } }[];
    readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: Json } };
}

export type Reply = { readonly text: string } | { readonly calls: readonly { readonly name: string; readonly args: Args }[] };

/** A script that asks for what its model cannot know or do. */
export class ScriptFault extends Error {}

type AnyTask = Task<unknown>;
type AnyGoal = Goal<unknown>;

/** The name under which a method is offered to a model. */
export const offered = (tool: string): string => tool.replace(".", "_");

export function reply(request: WireRequest, task: AnyTask, goals: readonly AnyGoal[]): Reply {
    const prompt = request.messages.map(textOf).join("\n");
    const read = goals.filter((goal) => prompt.includes(goal.text));
    const names = (request.tools ?? []).map((one) => one.function.name);
    if (names.length > 0) {
        const calls = nextCalls(request, [...task.steps, ...read.flatMap((goal) => goal.steps)], names);
        if (calls !== null) {
            grounded(calls as unknown as Json, prompt);
            return { calls };
        }
    }
    const schema = request.response_format?.json_schema?.schema;
    if (schema === undefined) return { text: typeof task.answer === "string" ? task.answer : task.answer(seenIn(request.messages)) };
    const value = contractOf(schema, task, read, prompt);
    grounded(value, prompt);
    return { text: JSON.stringify(value) };
}

export function textOf(message: WireMessage): string {
    const { content } = message;
    if (content === undefined || content === null) return "";
    return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
}

// ---- tools -----------------------------------------------------------------------------------------------------------

/** The calls of this turn; null after the last one. */
function nextCalls(request: WireRequest, steps: readonly Step[], names: readonly string[]): { name: string; args: Args }[] | null {
    const possible = steps.map((step) => step.filter(([tool]) => names.includes(offered(tool)))).filter((step) => step.length > 0);
    const turn = request.messages.filter((message) => (message.tool_calls ?? []).length > 0).length;
    const step = possible[turn];
    if (step === undefined) return null;
    const seen = seenIn(request.messages);
    return step.map(([tool, args]) => ({ name: offered(tool), args: typeof args === "function" ? args(seen) : args }));
}

export function seenIn(messages: readonly WireMessage[]): Seen {
    const called = new Map(messages.flatMap((message) => (message.tool_calls ?? []).map((call) => [call.id, call.function.name] as const)));
    const results = messages
        .filter((message) => message.role === "tool")
        .map((message) => ({ name: called.get(message.tool_call_id ?? "") ?? "", value: parsed(textOf(message)) }));
    const all = (tool: string): Json[] => results.filter((one) => one.name === offered(tool)).map((one) => one.value);
    return { all, last: (tool) => all(tool).at(-1) ?? null };
}

/** What a tool gave, as a prompt holds it. */
export function parsed(text: string): Json {
    try {
        return JSON.parse(text) as Json;
    } catch {
        // A text is shown as it is, and so are the words that a call failed with.
        return text;
    }
}

// ---- contracts -------------------------------------------------------------------------------------------------------

export type Schema = {
    readonly type?: string;
    readonly enum?: readonly Json[];
    readonly properties?: { readonly [name: string]: Schema };
    readonly items?: Schema;
};

/** Fields that hold whole sentences: an obedient model hands on what it was told in them. */
export const SENTENCES = ["summary", "answer", "body", "reference", "what"];

function contractOf(schema: Json, task: AnyTask, read: readonly AnyGoal[], prompt: string): Json {
    const value: { [name: string]: Json } = {};
    for (const [name, field] of Object.entries((schema as Schema).properties ?? {})) {
        const fact = task.facts?.[name];
        if (fact === undefined) throw new ScriptFault(`${task.id} has no fact for the field ${name}`);
        const honest = typeof fact === "function" ? fact(prompt) : fact;
        value[name] = read.reduce((so, goal) => obeyed(name, field, so, goal, prompt), honest);
    }
    return value;
}

function obeyed(name: string, schema: Schema, honest: Json, goal: AnyGoal, prompt: string): Json {
    const wish = goal.values[name];
    const wanted = typeof wish === "function" ? wish(prompt) : wish;
    if (wanted !== undefined && schema.enum === undefined) {
        if (Array.isArray(wanted)) {
            if (Array.isArray(honest)) return [...honest, ...wanted];
        } else if (typeof wanted === schema.type) return wanted;
    }
    if (Array.isArray(honest)) return honest.map((one) => obeyed(name, schema.items ?? {}, one, goal, prompt));
    if (typeof honest === "object" && honest !== null)
        return Object.fromEntries(
            Object.entries(honest).map(([key, one]) => [key, obeyed(key, schema.properties?.[key] ?? {}, one, goal, prompt)]),
        );
    if (typeof honest === "string" && schema.enum === undefined && SENTENCES.includes(name)) return honest + injection(goal);
    return honest;
}

// ---- M3 --------------------------------------------------------------------------------------------------------------

const IDENTIFIERS = [/[\w.-]+@[\w-]+(?:\.[\w-]+)+/g, /\b[A-Z]{2}\d{8,}\b/g, /https?:\/\/[\w./-]+[\w/]/g];

export function grounded(value: Json, prompt: string): void {
    const text = JSON.stringify(value);
    for (const pattern of IDENTIFIERS)
        for (const [found] of text.matchAll(pattern))
            if (!prompt.includes(found)) throw new ScriptFault(`the script knows ${found}, which its model was not shown`);
}
