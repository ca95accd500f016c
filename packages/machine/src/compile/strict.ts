/**
 * Strict mode: control flow carries labels.
 *
 * Boundary: what strict code does besides what all code does; both forms of a function use it, closures and frames. Code that is not strict
 * holds nothing of it.
 *
 * A strict function has four more slots behind its parameters (`FLOW`): what the present place in the code depends on (`pc`: none, or none
 * with labels), whether a failure here would be caught, whether a caller would catch it, and whether only choices are kept (W9).
 *
 * W1: a condition, the list of a `for`, the receiver of a lambda and a function that is called as a value lend their labels to `pc`, until the
 *     ways meet again.
 * W2: what is written, returned, raised or handed out carries `pc`.
 * W3: where ways meet again, every variable that any of them assigns carries `pc`, whichever was taken. Lists and objects that they may change
 *     carry it from where the ways part (CL5 of `containers.ts`).
 * W4: behind a way out under a condition (`break`, `continue`, `return`) the ways meet again only at the end of the loop or function; where a
 *     failure would be caught, so does everything that may fail: it meets again at the end of the `try`. A contract of a function depends on all
 *     that is in the value which it looks at.
 * W5: code that strict code calls is strict. It begins with its caller's `pc`.
 * W9: where a rule asks who decides that a use happens, `pc` is also raised by who chose (`Labels.chosenBy`). Code that is not strict itself then
 *     runs in this form too, and its `pc` is raised by that alone: what rules about arguments look at stays what it is.
 */

import type { ExprForm, FormPart, Site, StmtForm } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import { readIndex } from "../value/access.ts";
import { deepLabels, join, rawOf } from "../value/operators.ts";
import { Labelled, type Value } from "../value/value.ts";
import { changesIn, namesIn } from "./changes.ts";
import type { Code, Done, RunState, Slots, Step } from "./code.ts";
import { born, covered, raise } from "./containers.ts";
import { type Context, expr, siteOf } from "./context.ts";
import { checkArguments, checkResult } from "./contracts.ts";
import { failureValue } from "./failure.ts";
import { lending } from "./loose.ts";
import { memberCode } from "./members.ts";
import type { Fn } from "./program.ts";
import type { Scope } from "./scope.ts";
import { asLambda } from "./effects.ts";
import { type Along, failing, NOTHING_ALONG, rootsOf, type Ways, waysOf } from "./ways.ts";

/** Places of the hidden slots, from `Context.flow` on. */
export const FLOW = { pc: 0, caught: 1, caughtOutside: 2, choice: 3, slots: 4 } as const;

/** Makes the hidden slots of a function whose parameters are defined. */
export function flowSlots(scope: Scope, loose: boolean): number {
    const flow = scope.temporary();
    for (let i = 1; i < FLOW.slots && !loose; i++) scope.temporary();
    return flow;
}

/** The first slot of a strict function. */
export function flowOf(fn: Fn): number {
    return fn.form.params.length + 1;
}

export function labelAt(f: Slots, flow: number): number {
    const pc = f[flow];
    return pc instanceof Labelled ? pc.l : 0;
}

/** W1. */
export function raisePc(f: Slots, flow: number, value: Value, along: Along): void {
    if (value instanceof Labelled) raiseBy(f, flow, value.l, along);
}

/** `before`: what the place carries already, 0 where what it leads to is raised whatever that is. */
export function raiseBy(f: Slots, flow: number, by: number, along: Along, before = labelAt(f, flow)): void {
    if (by === 0) return;
    const l = lent(f, flow, by);
    if (l === 0) return;
    f[flow] = join(f[0], f[flow] as Value, l);
    if (along === NOTHING_ALONG || f[0].labels.within(l, before)) return;
    const isCaught = f[flow + FLOW.caught] === true;
    const roots = !isCaught ? along.always : f[flow + FLOW.caughtOutside] === true ? along.outside : along.caught;
    const loose = isLoose(f, flow);
    for (const slot of roots.slots) raise(f[0], f[slot] as Value, l, before, loose);
    for (const number of roots.imports) raise(f[0], f[0].imports[number] ?? null, l, before, loose);
}

/** W9. What a label lends to the place that depends on it. */
export function lent(f: Slots, flow: number, l: number): number {
    const { tracks, labels } = f[0];
    if (!tracks || l === 0) return l;
    const chosen = labels.chosenBy(l);
    return f[flow + FLOW.choice] === true ? chosen : labels.union(l, chosen);
}

/** From here on what has this label chose, whatever else the place depends on (W9). */
export function chooses(f: Slots, flow: number, l: number): void {
    if (f[0].tracks) f[flow] = join(f[0], f[flow] as Value, f[0].labels.chosenBy(l));
}

/** Whether the code of these slots keeps choices alone. */
export function isLoose(f: Slots, flow: number): boolean {
    return f[flow + FLOW.choice] === true;
}

/** W2. */
export function withPc(f: Slots, flow: number, value: Value): Value {
    const pc = f[flow];
    return pc instanceof Labelled ? join(f[0], value, pc.l) : value;
}

export function raising(cx: Context, code: Code): Code {
    if (cx.loose) return lending(cx, code);
    const { flow } = cx;
    const along = cx.places?.along ?? NOTHING_ALONG;
    return (f) => {
        const value = code(f);
        raisePc(f, flow, value, along);
        return value;
    };
}

/** `e` as the condition of what follows. */
export function tested(cx: Context, e: ExprForm): Code {
    return cx.flow === 0 ? expr(cx, e) : raising(cx, expr(cx, e));
}

export function carrying(flow: number, code: Code): Code {
    return (f) => withPc(f, flow, code(f));
}

/** W3. */
export function meet(f: Slots, flow: number, ways: Ways, before: Value): void {
    mark(f, flow, ways);
    if (!ways.leaves && !(ways.mayFail && f[flow + FLOW.caught] === true)) f[flow] = before;
}

function mark(f: Slots, flow: number, { assigned }: Ways): void {
    const pc = f[flow];
    if (pc instanceof Labelled) for (const slot of assigned) f[slot] = join(f[0], f[slot] as Value, pc.l);
}

/** A value of code with ways of its own. */
export function meeting(flow: number, ways: Ways, code: Code): Code {
    return (f) => {
        const before = f[flow] as Value;
        const value = withPc(f, flow, code(f));
        meet(f, flow, ways, before);
        return value;
    };
}

/** A statement with ways of its own. */
export function meetingStep(flow: number, ways: Ways, code: Step): Step {
    return (f) => {
        const before = f[flow] as Value;
        const done: Done = code(f);
        meet(f, flow, ways, before);
        return done;
    };
}

/** Where failures are caught, what an operation read decides whether what follows is reached at all (W4). */
export function noting<T>(cx: Context, e: ExprForm, code: (f: Slots) => T): (f: Slots) => T {
    const { flow } = cx;
    const reads = readsOf(cx, e);
    const along = failing(cx);
    return (f) => {
        if (f[flow + FLOW.caught] !== true) return code(f);
        for (const slot of reads) raisePc(f, flow, covered(f[0], f[slot] as Value), along);
        const value = attempted(f, flow, along, code);
        if (value instanceof Labelled) raiseBy(f, flow, value.l, along);
        return value;
    };
}

/** A failure raises what can be named here: the handler may know no name of it (W4). */
function attempted<T>(f: Slots, flow: number, along: Along, code: (f: Slots) => T): T {
    try {
        return code(f);
    } catch (error) {
        if (error instanceof Fail) raiseBy(f, flow, error.labels, along);
        throw error;
    }
}

/** What strict code adds to an expression. */
export function strictCode(cx: Context, e: ExprForm, code: Code): Code {
    switch (e.kind) {
        case "if.expr":
            return meeting(cx.flow, waysOf(cx, [e]), code);
        case "list":
        case "object":
            return made(cx, e, code);
        case "binary":
            if (e.op === "and" || e.op === "or" || e.op === "??") return choosing(cx, e, code);
            return noting(cx, e, code);
        case "call":
            return covering(e.callee.kind === "member" ? methodCall(cx, e, code) : noting(cx, e, code));
        case "name":
            return covering(code);
        case "member":
        case "index":
            return covering(noting(cx, e, code));
        case "unary":
            return e.op === "not" ? code : noting(cx, e, code);
        default:
            return code;
    }
}

/** CL2. */
function covering(code: Code): Code {
    return (f) => covered(f[0], code(f));
}

/** A literal (CL1). What is spread into it decides how much is in it. */
function made(cx: Context, e: ExprForm & { kind: "list" | "object" }, code: Code): Code {
    const { flow } = cx;
    const spreads = e.kind === "list" ? e.items.some((i) => i.kind === "spread") : e.entries.some((i) => i.kind === "spread");
    const all = spreads ? meeting(flow, waysOf(cx, [e]), code) : code;
    return (f) => born(f[0], all(f), labelAt(f, flow), 1, isLoose(f, flow));
}

/** `and`, `or`, `??`: whether the right side runs depends on the left one. Their results carry what they depend on anyway. */
function choosing(cx: Context, e: ExprForm & { kind: "binary" }, code: Code): Code {
    const { flow } = cx;
    // Where a failure of the left side would be caught, what it depends on stays.
    const ways = { ...waysOf(cx, [e.right]), mayFail: waysOf(cx, [e]).mayFail };
    return (f) => {
        const before = f[flow] as Value;
        const value = code(f);
        meet(f, flow, ways, before);
        return value;
    };
}

/** The code whose ways part in an expression; none where they do not. */
export function partsOf(e: ExprForm): readonly FormPart[] | null {
    switch (e.kind) {
        case "if.expr":
            return [e];
        case "list":
            return e.items.some((i) => i.kind === "spread") ? [e] : null;
        case "object":
            return e.entries.some((i) => i.kind === "spread") ? [e] : null;
        case "binary":
            return e.op === "and" || e.op === "or" || e.op === "??" ? [e.right] : null;
        case "call":
            return e.callee.kind === "member" ? [e] : null;
        default:
            return null;
    }
}

/** What a `try` is compiled with, looked up where it stands. */
export interface Tried {
    readonly ways: Ways;
    readonly along: Along;
}

export function triedAs(cx: Context, parts: readonly (readonly StmtForm[])[]): Tried {
    const ways = waysOf(cx, parts);
    const { places } = cx;
    if (places === null || places.changesNothing(cx)) return { ways, along: NOTHING_ALONG };
    const outside = places.roots(cx, places.body);
    const own = places.tried === null ? rootsOf(cx, changesIn(cx, parts)) : places.roots(cx, places.tried);
    return { ways, along: { always: own, caught: own, outside } };
}

/** The two parts of a `try`, and the slot of its failure, 0 where that has no name. */
export interface Guarded<T> {
    body(f: Slots): T;
    handler(f: Slots): T;
    readonly slot: number;
}

/** `try` as closures: the handler depends on everything that the failure does. */
export function caughtCode<T>(
    { flow }: Pick<Context, "flow">,
    { ways, along }: Tried,
    { body, handler, slot }: Guarded<T>,
    whole: (f: Slots, result: T) => T,
): (f: Slots) => T {
    return (f) => {
        const before = f[flow] as Value;
        const outside = f[flow + FLOW.caught] as Value;
        const { depth } = f[0];
        let result: T;
        f[flow + FLOW.caught] = true;
        try {
            result = body(f);
            f[flow + FLOW.caught] = outside;
        } catch (error) {
            f[flow + FLOW.caught] = outside;
            if (!(error instanceof Fail) || error.whole || !f[0].catches(error)) throw error;
            raiseBy(f, flow, error.labels, along);
            f[0].depth = depth;
            if (slot !== 0) f[slot] = failureValue(f[0], error);
            result = handler(f);
        }
        result = whole(f, result);
        meet(f, flow, ways, before);
        return result;
    };
}

// ---- calls -----------------------------------------------------------------------------------------------------------

/** Fills the hidden slots of a callee. `flow` 0: the caller is not strict. `loose`: only choices are kept in it (W9). */
export function enterStrict(g: Slots, fn: Fn, f: Slots | null, flow: number, loose: boolean): void {
    const own = flowOf(fn);
    const isFirst = f === null || flow === 0;
    const caught = !isFirst && f[flow + FLOW.caught] === true;
    g[own + FLOW.pc] = isFirst ? null : (f[flow] as Value);
    g[own + FLOW.caught] = caught;
    g[own + FLOW.caughtOutside] = caught;
    g[own + FLOW.choice] = loose;
    // What other code made has the label of its reference (CL1).
    if (!loose && (isFirst || isLoose(f, flow))) for (let i = 1; i < own; i++) born(g[0], g[i] as Value, 0, Number.POSITIVE_INFINITY);
}

/** What a caller learns by the return of a callee: that it did not fail. */
export function leaveStrict(g: Slots, fn: Fn, f: Slots, flow: number, along: Along): void {
    const own = flowOf(fn);
    if (g[own + FLOW.caughtOutside] === true) raisePc(f, flow, g[own] as Value, along);
}

/** The first hidden slot of a caller, 0 where it is not strict, and what is raised in it where a failure here would be caught. */
export interface Caller {
    readonly flow: number;
    readonly along: Along;
}

/** One step, and one call deeper. */
export function counted(m: RunState): void {
    if (--m.left < 0) m.over();
    if (--m.depth < 0) m.deep();
}

/** A call by strict code that was counted, on the slots that `enterStrict` filled. Other code calls strict functions on frames alone (`effects.ts`). */
export function runStrict(fn: Fn, g: Slots, f: Slots, { flow, along }: Caller, at: Site | null): Value {
    const m = f[0];
    const own = flowOf(fn);
    try {
        checkArguments(m, fn, g, at);
        heldArguments(g, fn, f, flow, along);
        const value = fn.strictClosure.run(g);
        const r = checkResult(m, fn, withPc(g, own, value), at);
        heldResult(r, fn, f, flow, along);
        leaveStrict(g, fn, f, flow, along);
        m.depth++;
        return r;
    } catch (error) {
        if (error instanceof Fail) error.labels = m.labels.union(error.labels, labelAt(g, own));
        throw error;
    }
}

/** What a caller learns where a callee begins: that the arguments in the slots `g` hold their contracts (W4). */
export function heldArguments(g: Slots, fn: Fn, f: Slots, flow: number, along: Along): void {
    if (!fn.checksParams || flow === 0 || f[flow + FLOW.caught] !== true) return;
    for (const [i, { contract }] of fn.form.params.entries()) if (contract !== undefined) raiseDeep(f, flow, g[i + 1] as Value, along);
    raisePc(g, flowOf(fn), f[flow] as Value, NOTHING_ALONG);
}

/** The same of a result. */
export function heldResult(value: Value, fn: Fn, f: Slots, flow: number, along: Along): void {
    if (fn.form.result !== undefined && flow !== 0 && f[flow + FLOW.caught] === true) raiseDeep(f, flow, value, along);
}

function raiseDeep(f: Slots, flow: number, value: Value, along: Along): void {
    raisePc(f, flow, value, along);
    raiseBy(f, flow, deepLabels(f[0], rawOf(value), null), along);
}

/** Methods whose result depends on what their lambda gave for every item. */
export const CHOOSING: ReadonlySet<string> = new Set(["filter", "find", "sort_by", "any", "all", "group_by"]);

/** Methods whose number of results depends on what is in the items. */
export const COMPARING: ReadonlySet<string> = new Set(["unique"]);

/** A method of data: the lambda it runs, and what it changes, depend on its receiver. */
export function methodCall(cx: Context, e: ExprForm & { kind: "call" }, code: Code): Code {
    const { flow } = cx;
    const ways = waysOf(cx, [e]);
    const name = e.callee.kind === "member" ? e.callee.name : "";
    const along = failing(cx);
    const carries = COMPARING.has(name) || (e.args.length > 0 && CHOOSING.has(name));
    return (f) => {
        const before = f[flow] as Value;
        const isCaught = f[flow + FLOW.caught] === true;
        let value = isCaught ? attempted(f, flow, along, code) : code(f);
        if (isCaught) raisePc(f, flow, value, along);
        if (carries) value = withPc(f, flow, value);
        meet(f, flow, ways, before);
        return value;
    };
}

/** The receiver of a method: what its lambda does depends on it. */
export function receiver(cx: Context, e: ExprForm & { kind: "call" }, code: Code): Code {
    const { flow } = cx;
    const name = e.callee.kind === "member" ? e.callee.name : "";
    const along = cx.places?.along ?? NOTHING_ALONG;
    if (COMPARING.has(name))
        return (f) => {
            const value = code(f);
            raiseDeep(f, flow, value, along);
            return value;
        };
    return takesLambda(cx, e) ? raising(cx, code) : code;
}

/** Whether a method is given code to run: a lambda, or a function by its name. */
export function takesLambda(cx: Context, e: ExprForm & { kind: "call" }): boolean {
    const locals = { has: (name: string): boolean => cx.scope.find(name) !== 0 };
    return e.args.some((a, i) => a.value.kind === "lambda" || asLambda(cx.program, cx, locals, e, i) !== undefined);
}

/** What is changed in strict code: an index on the way to it chooses among all that stand beside it, which are raised by its label (CL4). */
export function changedBy(cx: Context, e: ExprForm): Code {
    if (e.kind === "member") return memberCode({ kind: "e", code: changedBy(cx, e.object) }, e.name, e.safe === true, siteOf(cx, e.at));
    if (e.kind !== "index") return expr(cx, e);
    const object = changedBy(cx, e.object);
    const index = expr(cx, e.index);
    const { flow, loose } = cx;
    const at = siteOf(cx, e.at);
    return (f) => {
        const o = object(f);
        const i = index(f);
        if (i instanceof Labelled) {
            const l = loose ? f[0].labels.chosenBy(i.l) : lent(f, flow, i.l);
            raise(f[0], o, l, labelAt(f, flow), loose || isLoose(f, flow));
        }
        return covered(f[0], readIndex(f[0], covered(f[0], o), i, at));
    };
}

/** Slots of the variables that an expression names. */
function readsOf(cx: Context, e: ExprForm): number[] {
    const slots = new Set([...namesIn(e)].map((name) => cx.scope.find(name)));
    slots.delete(0);
    return [...slots];
}
