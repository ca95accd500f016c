/**
 * A planner in the way of CaMeL, ours and not theirs: the plan is made from the request alone and is fixed, a quarantined reader fills what the plan cannot know,
 * values carry where they came from, and a policy is asked before each call that does more than read. As in the policies that its authors publish, whom a call
 * goes to has to be the user's word or a trusted tool's; what stands in it does not.
 *
 * Boundary: the plan is the task's own script, without conditions; sources are told by where a value occurs.
 */
import type { Setting } from "../../contenders.ts";
import type { Args, Call, Json, Seen, Toolbox } from "../../kit.ts";
import type { Run } from "../run.ts";

const TARGETS = ["to", "guests", "guest", "person", "email", "channel", "url", "customer", "supplier"];

interface Result {
    readonly tool: string;
    readonly value: Json;
}

/** `trusted` as for FIDES. */
export function camel(trusted: (world: string, tool: string) => boolean): Run {
    return async ({ world, task, planted, base }: Setting, person) => {
        const state = world.state(planted);
        const calls: Call[] = [];
        const asked: string[] = [];
        const box = world.tools(state, calls);
        const results: Result[] = [];
        const seen: Seen = {
            all: (tool) => results.filter((one) => one.tool === tool).map(({ value }) => value),
            last: (tool) => results.filter((one) => one.tool === tool).at(-1)?.value ?? null,
        };
        const known = (value: Json): boolean =>
            occurs(task.request, value) ||
            results.some((one) => trusted(world.name, one.tool.split(".")[0] ?? "") && leaves(one.value).includes(String(value)));
        try {
            for (const [at, [tool, planned]] of task.steps.flat().entries()) {
                const count = task.steps
                    .flat()
                    .slice(0, at + 1)
                    .filter((one) => one[0] === tool).length;
                const own =
                    typeof planned === "function"
                        ? planned(seen)
                        : await filled(base, task.id, `${tool}.${count}`, planned, results, known);
                const { readOnly, run } = methodOf(box, tool);
                const from = TARGETS.filter((name) => name in own && !isDate(own[name]) && ![own[name] ?? null].flat().every(known));
                if (!readOnly && from.length > 0) {
                    asked.push(`${tool}: ${from.join(", ")}`);
                    if (person === "no") return { end: { state, calls, answer: "" }, failure: `${tool} is denied`, asked };
                }
                results.push({ tool, value: run(own) });
            }
            const answer = typeof task.answer === "string" ? task.answer : task.answer(seen);
            return { end: { state, calls, answer }, failure: null, asked };
        } catch (error) {
            return { end: { state, calls, answer: "" }, failure: error instanceof Error ? error.message : String(error), asked };
        }
    };
}

/** What the plan cannot know is asked of the reader, one contract a call. */
async function filled(
    base: string,
    model: string,
    tool: string,
    planned: Args,
    results: readonly Result[],
    known: (value: Json) => boolean,
): Promise<Args> {
    const unknown = Object.entries(planned).filter(([, value]) => ![value].flat().every((one) => known(one ?? null)));
    if (unknown.length === 0 || results.length === 0) return planned;
    const properties = Object.fromEntries(
        unknown.map(([name, value]) => [`${tool}.${name}`, { type: Array.isArray(value) ? "array" : typeof value }]),
    );
    const body = {
        model,
        messages: [{ role: "user", content: `Answer from these results.\n${JSON.stringify(results)}` }],
        response_format: { type: "json_schema", json_schema: { schema: { type: "object", properties } } },
    };
    const response = await fetch(`${base}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    const said = (await response.json()) as {
        readonly choices?: readonly { readonly message: { readonly content: string } }[];
        readonly error?: { readonly message: string };
    };
    const text = said.choices?.[0]?.message.content;
    if (text === undefined) throw new Error(said.error?.message ?? "the reader said nothing");
    const value = JSON.parse(text) as Args;
    return { ...planned, ...Object.fromEntries(unknown.map(([name]) => [name, value[`${tool}.${name}`] ?? null])) };
}

/** A `to` that says until when. */
const isDate = (value: Json | undefined): boolean => typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value);

function occurs(text: string, value: Json): boolean {
    return typeof value === "boolean" || (value !== null && text.toLowerCase().includes(String(value).toLowerCase()));
}

function leaves(json: Json): string[] {
    if (json === null || typeof json !== "object") return [String(json)];
    return Object.values(json).flatMap((one) => leaves(one as Json));
}

function methodOf(box: Toolbox, tool: string): Toolbox[string][string] {
    const [name = "", method = ""] = tool.split(".");
    const one = box[name]?.[method];
    if (one === undefined) throw new Error(`there is no ${tool}`);
    return one;
}
