/**
 * The stand-in in a tool loop with `hide: "untrusted"`: it does the user's task by references, and obeys every order that reaches a prompt of its own or of
 * its readers.
 *
 * Boundary: from one request of the wire to one reply, a pure function. It knows the task's plan, as the other stand-ins do, and no policy.
 *
 * REF1: what a call or the answer needs and the prompt does not show is asked of a reader, field by field, and stands in the call as a reference.
 * REF2: where the request has a condition, a reader says whether it holds, and the model looks at that one truth before it goes on. If it is not shown, or
 *       does not hold, the model stops.
 * REF3: a model that looks at everything (`Looks`) sees each result before it goes on, as FIDES's stand-in does, and obeys what it sees in its calls.
 */
import type { Args, Json, Planned, Seen, Task } from "../kit.ts";
import { grounded, offered, type Reply, seenIn, textOf, type WireMessage, type WireRequest } from "../model.ts";
import { type Leaf, obey, type Order, orderIn, stepsUnder } from "./model.ts";
import { HOLDS } from "./reading.ts";

export type Looks = "what a condition needs" | "at everything";

/** The two tools that a loop with references offers. */
const READER = "reader";
const LOOK = "look";

export const isHidden = ({ tools = [] }: WireRequest): boolean =>
    [READER, LOOK].every((name) => tools.some((one) => one.function.name === name));

export function obeyReferences(
    request: WireRequest,
    task: Task<unknown>,
    orders: ReadonlyMap<string, Order>,
    asked: (leaves: Leaf[]) => void,
    looks: Looks,
): Reply {
    const talk = talkOf(request.messages);
    const prompt = request.messages.map(textOf).join("\n");
    const unseen = talk.results.filter(({ looked }) => !looked);
    if (looks === "at everything") {
        const [next] = unseen.filter(({ name }) => !talk.refused.includes(name));
        if (next !== undefined) return look(next.name);
    }
    const order = orderIn(prompt, orders);
    const names = (request.tools ?? []).map((one) => one.function.name);
    const seen = seenIn(talk.messages);
    const step = stepsUnder(task, order, talk.messages, names)[talk.turns];
    if (step === undefined && unseen.length === 0) return obey({ ...request, messages: talk.messages, tools: [] }, task, orders, asked);
    // REF2.
    if (step !== undefined && unseen.length > 0 && /\b(?:if|unless|whether|whoever)\b/i.test(task.request) && !talk.holds) {
        const at = talk.fields.get(HOLDS);
        if (at === undefined) return talk.asked.has(HOLDS) ? stopped(task) : ask(unseen, [[HOLDS, true]]);
        return talk.refused.includes(at) || talk.lookedAt.includes(at) ? stopped(task) : look(at);
    }
    // REF1.
    if (step === undefined) return answered(task, talk, unseen, seen, prompt);
    const wanted = step.map(([tool, args]) => wantedOf(task, tool, args, seen, step, prompt));
    const missing = wanted.flatMap(({ unknown }) => unknown).filter(([field]) => !talk.asked.has(field));
    if (missing.length > 0 && unseen.length > 0) return ask(unseen, missing);
    const calls = wanted.map(({ name, known, unknown }) => ({
        name,
        args: { ...known, ...Object.fromEntries(unknown.map(([field, value, arg]) => [arg, referenceTo(talk, field) ?? value])) },
    }));
    grounded(calls as unknown as Json, prompt);
    return { calls };
}

// ---- what was said so far --------------------------------------------------------------------------------------------------

interface Talk {
    /** As if what was looked at had never been hidden, and no reader been asked. */
    readonly messages: readonly WireMessage[];
    /** Turns with calls of tools. */
    readonly turns: number;
    /** References to results of tools. */
    readonly results: readonly { readonly name: string; readonly tool: string; readonly looked: boolean }[];
    /** Where a reader's answer to a field is: `r3/answer`. */
    readonly fields: ReadonlyMap<string, string>;
    /** Fields that a reader was asked for. */
    readonly asked: ReadonlySet<string>;
    readonly lookedAt: readonly string[];
    readonly refused: readonly string[];
    /** It was looked whether the condition holds, and it does. */
    readonly holds: boolean;
}

function talkOf(messages: readonly WireMessage[]): Talk {
    const calls = new Map(messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function] as const)));
    const results: { name: string; tool: string; id: string }[] = [];
    const fields = new Map<string, string>();
    const asked = new Set<string>();
    const shown = new Map<string, string>();
    const refused: string[] = [];
    for (const message of messages) {
        const call = message.role === "tool" ? calls.get(message.tool_call_id ?? "") : undefined;
        if (call === undefined) continue;
        const text = textOf(message);
        const said = JSON.parse(call.arguments ?? "{}") as { readonly at?: string; readonly answer?: object };
        const name = referenceIn(text);
        if (call.name === LOOK) {
            if (isRefused(text)) refused.push(said.at ?? "");
            else shown.set(said.at ?? "", text);
        } else if (call.name === READER)
            for (const field of Object.keys(said.answer ?? {})) {
                asked.add(field);
                if (name !== null) fields.set(field, `${name}/${field}`);
            }
        else if (name !== null) results.push({ name, tool: call.name, id: message.tool_call_id ?? "" });
    }
    const ours = new Set([...calls].filter(([, { name }]) => name === READER || name === LOOK).map(([id]) => id));
    const kept = messages
        .filter(({ tool_call_id, tool_calls = [] }) => !ours.has(tool_call_id ?? "") && !tool_calls.some(({ id }) => ours.has(id)))
        .map((message): WireMessage => {
            const hidden = results.find(({ id }) => id === message.tool_call_id);
            return hidden === undefined ? message : { ...message, content: shown.get(hidden.name) ?? "null" };
        });
    return {
        messages: kept,
        turns: kept.filter(({ tool_calls = [] }) => tool_calls.length > 0).length,
        results: results.map(({ name, tool }) => ({ name, tool, looked: shown.has(name) })),
        fields,
        asked,
        lookedAt: [...shown.keys()],
        refused,
        holds: shown.get(fields.get(HOLDS) ?? "") === "true",
    };
}

const referenceIn = (text: string): string | null => /^\{(?:"isError": ?true, ?)?"hidden": ?"(r\d+)"/.exec(text)?.[1] ?? null;
const isRefused = (text: string): boolean => text.startsWith('{"isError":true');

// ---- what is said next -----------------------------------------------------------------------------------------------------

const look = (at: string): Reply => ({ calls: [{ name: LOOK, args: { at } }] });

const stopped = (task: Task<unknown>): Reply => ({ text: `I do not know whether this is to be done: ${task.request}` });

/** What only a reader can tell, with a value of its type. */
type Unknown = readonly [field: string, value: Json, arg?: string];

function ask(from: Talk["results"], fields: readonly Unknown[]): Reply {
    const sources = from.map(({ name, tool }) => `${name} is what ${tool} gave`).join(", ");
    const args = {
        from: from.map(({ name }) => name),
        question: `Of what the user asks for, say what stands here (${sources}).`,
        answer: Object.fromEntries(fields.map(([field, value]) => [field, typeOf(value)])),
    };
    return { calls: [{ name: READER, args }] };
}

const typeOf = (value: Json): string =>
    Array.isArray(value) ? "texts" : typeof value === "number" || typeof value === "boolean" ? typeof value : "text";

const referenceTo = ({ fields }: Talk, field: string): string | undefined => {
    const at = fields.get(field);
    return at === undefined ? undefined : `{{${at}}}`;
};

function answered(task: Task<unknown>, talk: Talk, unseen: Talk["results"], seen: Seen, prompt: string): Reply {
    const answer = typeof task.answer === "string" ? task.answer : task.answer(seen);
    if (typeof task.answer === "string" && isShown(answer, prompt)) return { text: answer };
    if (!talk.asked.has("answer")) return ask(unseen, [["answer", ""]]);
    return { text: referenceTo(talk, "answer") ?? "I could not find out." };
}

interface Wanted {
    readonly name: string;
    readonly known: Args;
    /** Arguments that only a reader can tell. */
    readonly unknown: readonly (readonly [field: string, value: Json, arg: string])[];
}

function wantedOf(task: Task<unknown>, tool: string, args: Planned[1], seen: Seen, step: readonly Planned[], prompt: string): Wanted {
    const all = task.steps.flat().filter((one) => one[0] === tool);
    const at = all.findIndex((one) => one[1] === args);
    const count = (at < 0 ? step.findIndex((one) => one[1] === args) : at) + 1;
    const values = typeof args === "function" ? args(seen) : args;
    const unknown = Object.entries(values).flatMap(([arg, value]) =>
        isShown(value, prompt) && value !== "" ? [] : [[`${tool}.${count}.${arg}`, value, arg] as const],
    );
    const known = Object.fromEntries(Object.entries(values).filter(([arg]) => !unknown.some((one) => one[2] === arg)));
    return { name: offered(tool), known, unknown };
}

/** Each of its words of three letters, and each with a digit, stands in the prompt. */
function isShown(value: Json, prompt: string): boolean {
    if (typeof value === "boolean" || value === null) return true;
    if (typeof value === "object") return Object.values(value).every((one) => isShown(one, prompt));
    const words =
        String(value)
            .toLowerCase()
            .match(/[\p{L}\p{N}][\p{L}\p{N}@.:_-]*[\p{L}\p{N}]|\p{N}/gu) ?? [];
    const text = prompt.toLowerCase();
    return words.every((word) => (word.length < 3 && !/\p{N}/u.test(word)) || text.includes(word));
}
