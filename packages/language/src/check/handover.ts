/**
 * Handing over control: `Agent.yield(…)`, `agent.send(…)`, and the built-in functions `agent`, `reason` and `act`.
 *
 * Boundary: one call at a time. What an agent answers with is checked when it comes.
 *
 * HD1: what leaves is named: every argument of a yield has a name, and none is called `agent`, which is the first parameter of the answer.
 */
import { fix } from "../text/fix.ts";
import { unfit, YIELD_OPTIONS } from "../form/options.ts";
import type { Arg, Call, Expr, GenerateOption, Import, Member, Spread } from "../syntax/tree.ts";
import { isOutside as leadsOutside } from "../authority/schemas.ts";
import type { Range } from "../text/source.ts";
import { HANDOVERS } from "../scope/builtins.ts";
import { checkContract } from "./contracts.ts";
import { type Binding, DATA, type Extra, type Walk } from "../scope/model.ts";
import { suggestion } from "./names.ts";
import { inner, arity, plain, raise, walkArgs } from "./sites.ts";
import { ANY, contractType, FREE_TEXT, OBJECT, type Type } from "../scope/types.ts";

/** Options of `agent(prompt, { … })`, and of its `budget`. */
const AGENT_OPTIONS = ["agent", "budget", "policy", "model", "on_error", "skills"] as const;
export const BUDGET_OPTIONS = [
    "max_steps",
    "max_minutes",
    "max_seconds",
    "max_tokens",
    "max_cost",
    "max_usd",
    "max_calls",
    "max_tool_calls",
    "max_turns",
    "max_silence",
] as const;
const ON_ERROR = ["fail", "return_error", "retry_within_budget"] as const;

/** An agent that runs outside the program: its import names no file. */
export function isOutside(node: Import): boolean {
    return node.what === "agent" && leadsOutside(node.uri.value);
}

/** `x.yield(k: v, …) with {…} -> …`. `cap`: the agent, where it is known. */
export function yieldCall(w: Walk, e: Call, callee: Member, cap: Binding | null): Type {
    raise(w, `agent:${cap?.name ?? "agent"}`, callee.name.range, false);
    const seen = new Set<string>();
    for (const arg of e.args) {
        inner(w, arg.value);
        if (arg.name === undefined) {
            const named = arg.value.kind === "ident" ? arg.value.name : null;
            w.report("INVALID_YIELD_ARGUMENT", arg.range, "an argument of a yield has a name, which is the agent's parameter", {
                ...(named === null
                    ? { hint: "write `name: value`" }
                    : {
                          fixes: [fix(`write '${named}: ${named}'`, arg.range, `${named}: ${named}`, true)],
                      }),
            });
            continue;
        }
        const { text, range } = arg.name;
        if (text === "agent") w.report("INVALID_YIELD_ARGUMENT", range, "'agent' is the first parameter of the answer: the agent itself");
        else if (seen.has(text)) w.report("INVALID_YIELD_ARGUMENT", range, `'${text}' is given twice`);
        seen.add(text);
    }
    for (const option of e.options ?? []) withOption(w, e, option);
    if (e.contract !== undefined) checkContract(w.report, w.file, e.contract, false);
    w.isFresh(DATA);
    return e.contract === undefined ? ANY : contractType(e.contract, w.file);
}

function withOption(w: Walk, e: Call, option: GenerateOption): void {
    const { text, range } = option.key;
    const row = YIELD_OPTIONS.get(text);
    if (row === undefined) {
        w.report("INVALID_YIELD_OPTION", range, `a yield has no option '${text}'`, {
            hint: `the options are ${[...YIELD_OPTIONS.keys()].join(", ")}`,
            ...suggestion(w.checking, text, range, YIELD_OPTIONS.keys()),
        });
        return;
    }
    if ((e.options ?? []).find((one) => one.key.text === text) !== option)
        w.report("INVALID_YIELD_OPTION", range, `'${text}' is given twice`);
    const { value } = option;
    if (value.kind === "missing") return;
    if (row === "names") {
        skills(w, value);
        return;
    }
    const wants = unfit(row, value);
    if (wants !== null) w.report("INVALID_YIELD_OPTION", value.range, `'${text}' must be ${wants}, written as a literal`);
}

function skills(w: Walk, value: Expr): void {
    if (value.kind !== "list") {
        w.report("INVALID_YIELD_OPTION", value.range, "'skills' is a list of imported skills, such as [Triage]");
        return;
    }
    for (const item of value.items) {
        const found = item.kind === "ident" ? w.file.names.get(item.name) : undefined;
        if (item.kind !== "ident" || w.names.get(item.name) !== undefined || found?.kind !== "skill")
            w.report("INVALID_YIELD_OPTION", item.range, "'skills' takes names of imported skills", skillMeant(w, item));
        else found.used = true;
    }
}

/** The imported skill whose name is nearly this one. */
function skillMeant(w: Walk, item: Expr | Spread): Extra | undefined {
    if (item.kind !== "ident") return undefined;
    const known = [...w.file.names.values()].filter(({ kind }) => kind === "skill");
    const extra = suggestion(
        w.checking,
        item.name,
        item.range,
        known.map(({ name }) => name),
    );
    const one = known.find(({ name }) => name === extra?.fixes?.[0]?.edits[0]?.text);
    if (one !== undefined) one.used = true;
    return extra ?? (known.length === 0 ? undefined : { hint: `there are ${known.map(({ name }) => name).join(", ")}` });
}

/** `x.send(text)` of an agent: one turn of its session. */
export function sendCall(w: Walk, e: Call, callee: Member, cap: Binding | null): Type {
    raise(w, `agent:${cap?.name ?? "agent"}`, callee.name.range, false);
    arity(w, e, "send()", { min: 1, max: 1 });
    walkArgs(w, e.args, true);
    w.isFresh(DATA);
    return FREE_TEXT;
}

/** `agent(prompt, {…})`, `reason(prompts, example, {…})`, `act(name, args)`. */
export function handover(w: Walk, e: Call, name: string): Type {
    const row = HANDOVERS.get(name) as { readonly min: number; readonly max: number };
    arity(w, e, `${name}()`, row);
    raise(w, name === "reason" ? "model" : name === "act" ? "tool:act" : "agent:agent", e.callee.range, false);
    if (name === "act" && w.level > 0) w.checking.writes.add("tool:act");
    if (name === "reason") {
        for (const [i, arg] of e.args.entries()) {
            if (!(i === 1 && arg.name?.text === "example")) plain(w, arg);
            inner(w, arg.value);
        }
        if (w.config.model === null && !hasModel(w))
            w.report(
                "MISSING_GENERATE_CONFIG",
                e.callee.range,
                "reason needs a model: none is declared here, and the file does not import exactly one",
                {
                    hint: "add 'model NAME' to the agent or function",
                },
            );
    } else if (name === "agent") agentArgs(w, e);
    else walkArgs(w, e.args, true);
    w.isFresh(DATA);
    return OBJECT;
}

function hasModel(w: Walk): boolean {
    const models = [...w.file.names.values()].filter((one) => one.kind === "llm");
    if (models.length !== 1) return false;
    (models[0] as Binding).used = true;
    return true;
}

function agentArgs(w: Walk, e: Call): void {
    const [prompt, config] = e.args;
    if (prompt !== undefined) {
        plain(w, prompt);
        inner(w, prompt.value);
    }
    if (config === undefined) return;
    plain(w, config);
    if (config.value.kind !== "object") {
        inner(w, config.value);
        return;
    }
    let named = false;
    for (const entry of config.value.entries) {
        if (entry.kind === "spread") {
            inner(w, entry.value);
            named = true;
            continue;
        }
        const { text, range } = entry.key;
        const { value } = entry;
        named ||= text === "agent";
        if (text === "policy" && value.kind === "ident" && isRemit(w, value.name)) {
            w.file.policies.add(value.name);
            continue;
        }
        if (text === "skills") {
            skills(w, value);
            continue;
        }
        if (text === "budget" && value.kind === "object") {
            for (const one of value.entries) if (one.kind === "entry") known(w, one.key.text, one.key.range, BUDGET_OPTIONS, "a budget");
        }
        const type = inner(w, value);
        known(w, text, range, AGENT_OPTIONS, "agent()");
        if (text === "agent" && type.kind !== "agent" && type.kind !== "any")
            w.report("INVALID_YIELD_OPTION", value.range, "'agent' takes the name of an agent");
        if (text === "on_error" && value.kind === "string" && !(ON_ERROR as readonly string[]).includes(value.value))
            w.report(
                "INVALID_YIELD_OPTION",
                value.range,
                `'on_error' is one of ${ON_ERROR.join(", ")}`,
                suggestion(w.checking, value.value, value.range, ON_ERROR),
            );
    }
    if (!named) theAgent(w);
}

/** Without `agent:` it is the one agent outside the program that the file imports. */
function theAgent(w: Walk): void {
    for (const one of w.file.names.values()) if (one.kind === "agent" && one.import !== null && isOutside(one.import)) one.used = true;
}

function known(w: Walk, text: string, range: Range, options: readonly string[], what: string): void {
    if (options.includes(text)) return;
    w.report("INVALID_YIELD_OPTION", range, `${what} has no option '${text}'`, {
        hint: `the options are ${options.join(", ")}`,
        ...suggestion(w.checking, text, range, options),
    });
}

function isRemit(w: Walk, name: string): boolean {
    return w.names.get(name) === undefined && w.file.remits.has(name);
}

/** Whether a call of a member `yield` hands over control, whatever its receiver may turn out to be. */
export function isYield(e: Call): boolean {
    return (
        e.callee.kind === "member" &&
        e.callee.name.text === "yield" &&
        (e.args.length === 0 || e.args.some((arg: Arg) => arg.name !== undefined) || e.options !== undefined || e.contract !== undefined)
    );
}
