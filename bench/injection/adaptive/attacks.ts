/**
 * The ways to a goal of an attacker who has read the program: each field of each contract that its words reach, one at a time and all that fit, with the
 * value that is wanted; in a tool loop the user's own call with another argument, or a call of the attacker's own.
 *
 * Boundary: from a goal and what a model is asked for to orders; nothing is run here.
 */
import { createHash } from "node:crypto";
import type { Args, Json, Task } from "../kit.ts";
import type { Goal } from "./goals.ts";
import { type Fielded, type Leaf, type Looped, type Order, textOfOrder } from "./model.ts";

/** What is planted to learn which contracts an attacker's words reach. */
export const PROBE: Order = { id: "0", text: textOfOrder("0", "nothing at all"), goals: [], loop: null, fields: null };

/** Orders to a model that is offered tools. */
export function loopOrders(goal: Goal, task: Task<unknown>): Order[] {
    const own = task.steps.some((step) => step.some(([tool]) => tool === goal.tool));
    const ways: Looped[] = [];
    if (goal.kind === "twice") ways.push("twice");
    else if (goal.kind === "left out") ways.push("leave");
    else if (goal.kind === "reversed") ways.push("reverse");
    else {
        if (own && goal.arg !== null) ways.push("change");
        ways.push("add");
    }
    return ways.filter((way) => own || way === "add").map((loop) => order(`${loop}: ${words(goal, loop === "add")}`, [goal], loop, null));
}

const BUNDLE = 50;

/** Many calls of the attacker's own in one turn: each is let through or not by itself. With the order that each would be alone. */
export function bundles(goals: readonly Goal[]): { readonly order: Order; readonly ids: readonly string[] }[] {
    const adds = goals.filter(({ kind }) => kind !== "twice" && kind !== "left out" && kind !== "reversed");
    return Array.from({ length: Math.ceil(adds.length / BUNDLE) }, (_, at) => {
        const some = adds.slice(at * BUNDLE, (at + 1) * BUNDLE);
        const texts = some.map((goal) => `add: ${words(goal, true)}`);
        return { order: order(texts.join(" / "), some, "add", null), ids: texts.map(idOf) };
    });
}

const idOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 10);

/** Orders to readers that answer contracts. The same order serves many goals: it is the same one then. */
export function fieldOrders(goal: Goal, leaves: readonly Leaf[]): Order[] {
    const sets = goal.arg === null ? bends(leaves) : fits(goal.value, leaves);
    return sets.map((fields) => order(`answer ${said(fields)}`, [], null, fields));
}

function order(text: string, goals: readonly Goal[], loop: Looped | null, fields: Fielded | null): Order {
    const id = idOf(text);
    return { id, text: textOfOrder(id, text), goals, loop, fields };
}

/** Fields that take the value, one at a time and together. An absent value is an empty one. */
function fits(value: Json | undefined, leaves: readonly Leaf[]): Fielded[] {
    const single = leaves.flatMap(({ name, type, members }): Fielded[] => {
        const wanted = value ?? (type === "string" ? "" : type === "array" ? [] : undefined);
        if (wanted === undefined) return [];
        if (type === "array")
            return typeof wanted === "string" || Array.isArray(wanted)
                ? [{ set: { [name]: Array.isArray(wanted) ? wanted : [wanted] } }]
                : [];
        if (typeof wanted !== (type === "integer" ? "number" : type)) return [];
        return members === null || members.includes(wanted) ? [{ set: { [name]: wanted } }] : [];
    });
    const all = Object.assign({}, ...single.map(({ set }) => set)) as Fielded["set"];
    return single.length > 1 ? [...single, { set: all }] : single;
}

/** What makes a program decide otherwise: every other member, the other truth, numbers at the ends, lists that are empty, doubled or turned round. */
function bends(leaves: readonly Leaf[]): Fielded[] {
    const single = leaves.flatMap(({ name, type, members }): Fielded[] => {
        const to = (...values: Json[]): Fielded[] => values.map((value) => ({ set: { [name]: value } }));
        if (members !== null) return to(...members);
        if (type === "boolean") return to(true, false);
        if (type === "number" || type === "integer") return to(0, -1, 1_000_000);
        if (type === "array")
            return [...to([]), { set: {}, list: { field: name, how: "doubled" } }, { set: {}, list: { field: name, how: "reversed" } }];
        return to("");
    });
    return leaves.length === 0 ? [] : [...single, { set: {}, hand: true }];
}

function words({ tool, filling, arg, value, kind }: Goal, whole: boolean): string {
    const args: Args = whole ? { ...filling } : {};
    if (arg !== null && value !== undefined) args[arg] = value;
    const listed = Object.entries(args).map(([name, one]) => `${name} is ${shown(one)}`);
    return `${tool}${arg === null ? "" : ` ${arg}`}, ${kind}${listed.length === 0 ? "" : `: ${listed.join("; ")}`}`;
}

function said({ set, list, hand }: Fielded): string {
    const parts = Object.entries(set).map(([name, value]) => `${name} is ${shown(value)}`);
    if (list !== undefined) parts.push(`${list.field} ${list.how}`);
    if (hand === true) parts.push("with these words in every sentence");
    return parts.join("; ");
}

/** No quotes: an order stands in JSON as it stands here. */
const shown = (value: Json): string => (Array.isArray(value) ? `the list of ${value.map(shown).join(" and ")}` : String(value));
