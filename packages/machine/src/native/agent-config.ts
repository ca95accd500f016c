/**
 * The options of `agent(prompt, { … })`, and the envelopes that `agent()` and `reason()` give (`ria.agent`, Re in Act).
 *
 * Boundary: from a value of the program to checked options.
 */
import { BUDGET_OPTIONS, defined, isObject, type Json, type Site, type SpendForm } from "@remit/language";
import type { HandoverDetail } from "../compile/instructions.ts";
import { Fail } from "../effect/failure.ts";
import { toJson } from "../value/json.ts";
import { labelOf, rawOf } from "../value/operators.ts";
import { Capability, Obj, type Value } from "../value/value.ts";
import type { Ops } from "../state/ops.ts";

export type OnError = "fail" | "return_error" | "retry_within_budget";

/** Plain data, but for the agent and the labels of the options, which are not saved: they are used up when the session opens. */
export interface AgentConfig {
    readonly agent?: Capability;
    readonly labels?: number;
    readonly budget: SpendForm;
    /** Messages and tool calls of the agent. */
    readonly steps?: number;
    /** Tool calls of the agent. */
    readonly calls?: number;
    readonly turns?: number;
    /** Milliseconds. */
    readonly silence?: number;
    readonly model?: string;
    readonly onError: OnError;
}

export const ENVELOPES = {
    data: (data: Json): Json => ({ data }),
    error: (error: Json): Json => ({ error }),
} as const;

const ON_ERROR: readonly OnError[] = ["fail", "return_error", "retry_within_budget"];
/** Milliseconds. */
const SCALE: { readonly [option: string]: number } = { max_minutes: 60_000, max_seconds: 1000, max_silence: 1000 };

export function agentConfig(m: Ops, value: Value, d: HandoverDetail, site: Site | null): AgentConfig {
    const wrong = (message: string): Fail => new Fail("value", message, { site });
    const raw = rawOf(value);
    if (raw === null) return { budget: {}, onError: "return_error" };
    if (!(raw instanceof Obj)) throw wrong("the options of agent() are an object");
    const held = rawOf(raw.get("agent") ?? null);
    if (held !== null && !(held instanceof Capability && held.kind === "agent")) throw wrong("'agent' is the name of an agent");
    let labels = labelOf(value);
    const read = (key: string): Json => {
        const out = toJson(raw.get(key) ?? null, m.run);
        labels = m.run.labels.union(labels, out.labels);
        return out.json;
    };
    for (const key of raw.shape.keys)
        if (!["agent", "budget", "policy", "model", "on_error"].includes(key)) throw wrong(`agent() has no option '${key}'`);
    if (raw.has("policy") && read("policy") !== null && d.policy === null) throw wrong("'policy' is the name of a remit of this file");
    const onError = read("on_error") ?? "return_error";
    if (!ON_ERROR.includes(onError as OnError)) throw wrong(`'on_error' is one of ${ON_ERROR.join(", ")}`);
    const model = read("model");
    if (model !== null && typeof model !== "string") throw wrong("'model' is a text");
    const budget = read("budget") ?? {};
    if (!isObject(budget)) throw wrong("'budget' is an object");
    const amount = (key: (typeof BUDGET_OPTIONS)[number]): number | undefined => {
        const n = budget[key];
        if (n === undefined || n === null) return undefined;
        if (typeof n !== "number" || !(n >= 0)) throw wrong(`'${key}' of the budget is a number from 0`);
        return n;
    };
    for (const key of Object.keys(budget))
        if (!(BUDGET_OPTIONS as readonly string[]).includes(key))
            throw wrong(`the budget has no '${key}': it has ${BUDGET_OPTIONS.join(", ")}`);
    const least = (...keys: readonly (typeof BUDGET_OPTIONS)[number][]): number | undefined => {
        const said = keys.flatMap((key) => {
            const n = amount(key);
            return n === undefined ? [] : [n * (SCALE[key] ?? 1)];
        });
        return said.length === 0 ? undefined : Math.min(...said);
    };
    const time = least("max_minutes", "max_seconds");
    const turns = least("max_turns");
    return {
        ...(held === null ? {} : { agent: held as Capability }),
        labels,
        budget: defined({
            time: time === undefined ? undefined : Math.ceil(time),
            usd: least("max_usd", "max_cost"),
            tokens: least("max_tokens"),
        }),
        ...defined({
            steps: least("max_steps"),
            calls: least("max_calls", "max_tool_calls"),
            turns: turns === undefined ? undefined : Math.floor(turns),
            silence: least("max_silence"),
        }),
        ...(model === null ? {} : { model: model as string }),
        onError: onError as OnError,
    };
}
