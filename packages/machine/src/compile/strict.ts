/**
 * Strict mode: control flow carries labels.
 *
 * Boundary: what strict code does besides what all code does; both forms of a function use it, closures and frames. Code that is not strict
 * holds nothing of it.
 *
 * A strict function has three more slots behind its parameters (`FLOW`): what the present place in the code depends on (`pc`: none, or none
 * with labels), whether a failure here would be caught, and whether it would be caught by whoever called.
 *
 * W1: a condition, the list of a `for`, the receiver of a lambda and a function that is called as a value lend their labels to `pc`, until the
 *     ways meet again.
 * W2: what is written, returned, raised or handed out carries `pc`.
 * W3: where ways meet again, every variable that any of them assigns carries `pc`, whichever was taken; of variables through which a list or
 *     object may have been changed, those that hold one.
 * W4: behind a way out under a condition (`break`, `continue`, `return`) the ways meet again only at the end of the loop or function; where a
 *     failure would be caught, so does everything that may fail: it meets again at the end of the `try`.
 * W5: code that strict code calls is strict. It begins with its caller's `pc`.
 */
import type { ExprForm, StmtForm } from "@remit/language";
import { Fail } from "../failure.ts";
import { deepLabels, join, rawOf } from "../value/operators.ts";
import { Labelled, List, Obj, type Value } from "../value/value.ts";
import type { Context } from "./closures.ts";
import type { Code, Done, Slots, Step } from "./code.ts";
import { failureValue } from "./failure.ts";
import type { Fn } from "./program.ts";
import type { Scope } from "./scope.ts";
import { walk, walkBlock } from "./walk.ts";

/** Places of the hidden slots, from `Context.flow` on. */
export const FLOW = { pc: 0, caught: 1, caughtOutside: 2, slots: 3 } as const;

/** Slots that a piece of code may write, of those that are visible around it. */
export interface Touched {
    readonly assigned: readonly number[];
    /** Variables through which a list or object may be changed. */
    readonly changed: readonly number[];
}

/** Code whose ways meet again behind it. */
export interface Ways extends Touched {
    /** A way leads out. */
    readonly leaves: boolean;
    readonly mayFail: boolean;
}

type Part = ExprForm | readonly StmtForm[] | undefined;

const isBlock = (part: ExprForm | readonly StmtForm[]): part is readonly StmtForm[] => Array.isArray(part);

/** Makes the hidden slots of a function whose parameters are defined. */
export function flowSlots(scope: Scope): number {
    const flow = scope.temporary();
    for (let i = 1; i < FLOW.slots; i++) scope.temporary();
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
export function raisePc(f: Slots, flow: number, value: Value): void {
    if (value instanceof Labelled) raiseBy(f, flow, value.l);
}

export function raiseBy(f: Slots, flow: number, l: number): void {
    if (l !== 0) f[flow] = join(f[0], f[flow] as Value, l);
}

/** W2. */
export function withPc(f: Slots, flow: number, value: Value): Value {
    const pc = f[flow];
    return pc instanceof Labelled ? join(f[0], value, pc.l) : value;
}

export function raising(flow: number, code: Code): Code {
    return (f) => {
        const value = code(f);
        raisePc(f, flow, value);
        return value;
    };
}

export function carrying(flow: number, code: Code): Code {
    return (f) => withPc(f, flow, code(f));
}

/** W3. */
export function meet(f: Slots, flow: number, ways: Ways, before: Value): void {
    mark(f, flow, ways);
    if (!ways.leaves && !(ways.mayFail && f[flow + FLOW.caught] === true)) f[flow] = before;
}

export function mark(f: Slots, flow: number, touched: Touched): void {
    const pc = f[flow];
    if (!(pc instanceof Labelled)) return;
    for (const slot of touched.assigned) f[slot] = join(f[0], f[slot] as Value, pc.l);
    for (const slot of touched.changed) {
        const value = f[slot] as Value;
        const raw = value instanceof Labelled ? value.v : value;
        if (raw instanceof List || raw instanceof Obj) f[slot] = join(f[0], value, pc.l);
    }
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
export function noting(cx: Context, e: ExprForm, code: Code): Code {
    const { flow } = cx;
    const reads = readsOf(cx, e);
    return (f) => {
        if (f[flow + FLOW.caught] !== true) return code(f);
        for (const slot of reads) raisePc(f, flow, f[slot] as Value);
        const value = code(f);
        raisePc(f, flow, value);
        return value;
    };
}

/** A write into a list or object: the variable that it is reached through carries `pc`. */
export function writing(cx: Context, target: ExprForm, code: Step): Step {
    const { flow } = cx;
    const reads = readsOf(cx, target);
    const touched = touchedBy(cx, [[{ kind: "assign", target, op: "=", value: { kind: "literal", value: null } }]]);
    return (f) => {
        if (f[flow + FLOW.caught] === true) for (const slot of reads) raisePc(f, flow, f[slot] as Value);
        const done = code(f);
        mark(f, flow, touched);
        return done;
    };
}

/** What strict code adds to an expression. */
export function strictCode(cx: Context, e: ExprForm, code: Code): Code {
    switch (e.kind) {
        case "if.expr":
            return meeting(cx.flow, waysOf(cx, [e]), code);
        case "list":
            return e.items.some((i) => i.kind === "spread") ? meeting(cx.flow, waysOf(cx, [e]), code) : code;
        case "object":
            return e.entries.some((i) => i.kind === "spread") ? meeting(cx.flow, waysOf(cx, [e]), code) : code;
        case "binary":
            if (e.op === "and" || e.op === "or" || e.op === "??") return choosing(cx, e, code);
            return noting(cx, e, code);
        case "call":
            return e.callee.kind === "member" ? methodCall(cx, e, code) : noting(cx, e, code);
        case "member":
        case "index":
            return noting(cx, e, code);
        case "unary":
            return e.op === "not" ? code : noting(cx, e, code);
        default:
            return code;
    }
}

/** `and`, `or`, `??`: whether the right side runs depends on the left one. Their results carry what they depend on anyway. */
function choosing(cx: Context, e: ExprForm & { kind: "binary" }, code: Code): Code {
    const { flow } = cx;
    const ways = waysOf(cx, [e.right]);
    return (f) => {
        const before = f[flow] as Value;
        const value = code(f);
        meet(f, flow, ways, before);
        return value;
    };
}

/** `try` as closures: the handler depends on everything that the failure does. */
export function caughtCode<T>(
    flow: number,
    ways: Ways,
    body: (f: Slots) => T,
    handler: (f: Slots) => T,
    slot: number,
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
            error.labels = f[0].labels.union(error.labels, labelAt(f, flow));
            raiseBy(f, flow, error.labels);
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

/** Fills the hidden slots of a callee. `flow` 0: the caller is not strict. */
export function enterStrict(g: Slots, fn: Fn, f: Slots | null, flow: number): void {
    const own = flowOf(fn);
    const caught = f !== null && flow !== 0 && f[flow + FLOW.caught] === true;
    g[own + FLOW.pc] = f === null || flow === 0 ? null : (f[flow] as Value);
    g[own + FLOW.caught] = caught;
    g[own + FLOW.caughtOutside] = caught;
}

/** What a caller learns by the return of a callee: that it did not fail, and which of its arguments were changed. */
export function leaveStrict(g: Slots, fn: Fn, f: Slots, flow: number, roots: readonly number[]): void {
    const own = flowOf(fn);
    if (g[own + FLOW.caughtOutside] === true) raisePc(f, flow, g[own] as Value);
    for (let i = 0; i < roots.length; i++) {
        const root = roots[i] as number;
        if (root === 0) continue;
        const after = g[i + 1];
        const value = f[root] as Value;
        const raw = value instanceof Labelled ? value.v : value;
        if (after instanceof Labelled && after.v === raw && (raw instanceof List || raw instanceof Obj))
            f[root] = join(f[0], value, after.l);
    }
}

/** The variables that stand as arguments of a call; 0 where another expression does. */
export function rootsOf(cx: Context, args: readonly { readonly value: ExprForm }[]): number[] {
    return args.map((a) => (a.value.kind === "name" ? cx.scope.find(a.value.name) : 0));
}

/** Methods whose result depends on what their lambda gave for every item. */
export const CHOOSING: ReadonlySet<string> = new Set(["filter", "find", "sort_by", "any", "all", "group_by"]);

/** Methods whose number of results depends on what is in the items. */
const COMPARING: ReadonlySet<string> = new Set(["unique"]);

/** A method of data: the lambda it runs, and what it changes, depend on its receiver. */
export function methodCall(cx: Context, e: ExprForm & { kind: "call" }, code: Code): Code {
    const { flow } = cx;
    const ways = waysOf(cx, [e]);
    const name = e.callee.kind === "member" ? e.callee.name : "";
    const carries = COMPARING.has(name) || (e.args.length > 0 && CHOOSING.has(name));
    return (f) => {
        const before = f[flow] as Value;
        let value = code(f);
        if (f[flow + FLOW.caught] === true) raisePc(f, flow, value);
        if (carries) value = withPc(f, flow, value);
        meet(f, flow, ways, before);
        return value;
    };
}

/** The receiver of a method: what its lambda does, and what it changes, depends on it. */
export function receiver(cx: Context, e: ExprForm & { kind: "call" }, code: Code): Code {
    const { flow } = cx;
    const name = e.callee.kind === "member" ? e.callee.name : "";
    if (COMPARING.has(name))
        return (f) => {
            const value = code(f);
            raisePc(f, flow, value);
            raiseBy(f, flow, deepLabels(f[0], rawOf(value), null));
            return value;
        };
    return raising(flow, code);
}

// ---- what code touches -----------------------------------------------------------------------------------------------

export function waysOf(cx: Context, parts: readonly Part[], more: readonly number[] = []): Ways {
    const touched = touchedBy(cx, parts);
    let leaves = false;
    let mayFail = false;
    let loops = 0;
    const look = (body: readonly StmtForm[]): void => {
        for (const s of body) {
            if (s.kind === "return" || ((s.kind === "break" || s.kind === "continue") && loops === 0)) leaves = true;
            if (s.kind === "raise") mayFail = true;
            const isLoop = s.kind === "for" || s.kind === "loop" || s.kind === "repeat";
            if (isLoop) loops++;
            if (s.kind === "if") {
                for (const b of s.branches) look(b.body);
                if (s.otherwise !== undefined) look(s.otherwise);
            } else if (s.kind === "try") {
                look(s.body);
                look(s.handler);
            } else if ("body" in s) look(s.body);
            if (isLoop) loops--;
        }
    };
    const into = {
        expr: (e: ExprForm) => {
            if (isFallible(e)) mayFail = true;
            if (e.kind === "if.expr") {
                for (const b of e.branches) look(b.body);
                if (e.otherwise !== undefined) look(e.otherwise);
            } else if (e.kind === "try.expr") {
                look(e.body);
                look(e.handler);
            }
            return undefined;
        },
        stmt: (s: StmtForm) => {
            if (
                s.kind === "raise" ||
                (s.kind === "assign" && s.target.kind !== "name") ||
                s.kind === "delegate" ||
                s.kind === "spend" ||
                s.kind === "define"
            )
                mayFail = true;
            return undefined;
        },
    };
    for (const part of parts) {
        if (part === undefined) continue;
        if (isBlock(part)) {
            look(part);
            walkBlock(part, into);
        } else walk(part, into);
    }
    return { assigned: [...touched.assigned, ...more], changed: touched.changed, leaves, mayFail };
}

function isFallible(e: ExprForm): boolean {
    switch (e.kind) {
        case "member":
        case "index":
        case "call":
        case "generate":
        case "parallel":
        case "endorse":
        case "narrow":
            return true;
        case "unary":
            return e.op !== "not";
        case "binary":
            return e.op !== "and" && e.op !== "or" && e.op !== "??";
        default:
            return false;
    }
}

export function touchedBy(cx: Context, parts: readonly Part[]): Touched {
    const assigned = new Set<number>();
    const changed = new Set<number>();
    const root = (e: ExprForm): void => {
        let at = e;
        while (at.kind === "member" || at.kind === "index" || at.kind === "call") at = at.kind === "call" ? at.callee : at.object;
        if (at.kind === "name") put(changed, at.name);
    };
    const put = (to: Set<number>, name: string): void => {
        const slot = cx.scope.find(name);
        if (slot !== 0) to.add(slot);
    };
    const visit = {
        stmt: (s: StmtForm) => {
            if (s.kind === "assign") {
                if (s.target.kind === "name") put(assigned, s.target.name);
                else root(s.target);
            }
            return undefined;
        },
        expr: (e: ExprForm) => {
            if (e.kind !== "call") return undefined;
            if (e.callee.kind === "member" && e.callee.name === "add") root(e.callee.object);
            // Whoever is called may change what it is given.
            if (e.callee.kind !== "member" || (e.callee.object.kind === "name" && cx.scope.find(e.callee.object.name) === 0))
                for (const a of e.args) root(a.value);
            return undefined;
        },
    };
    for (const part of parts) {
        if (part === undefined) continue;
        if (isBlock(part)) walkBlock(part, visit);
        else walk(part, visit);
    }
    return { assigned: [...assigned], changed: [...changed] };
}

/** Slots of the variables that an expression names. */
function readsOf(cx: Context, e: ExprForm): number[] {
    const slots = new Set<number>();
    walk(e, {
        expr: (x) => {
            if (x.kind === "name") slots.add(cx.scope.find(x.name));
            return undefined;
        },
    });
    slots.delete(0);
    return [...slots];
}
