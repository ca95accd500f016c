/**
 * Calls in code that cannot reach an effect: functions of the program, built-ins, and lambdas.
 *
 * Boundary: closures only. Calls on frames are instructions (`frames.ts`), which share the argument and method code of this file.
 *
 * CAS1: a call counts one step after its arguments; each run of a lambda counts one.
 */

import { builtinHint, type ExprForm, isNamespace, type Site, withArticle } from "@remit/language";
import type { Builtin, Lambda } from "../builtin/builtin.ts";
import { addTo } from "../builtin/lists.ts";
import { findBuiltin } from "../builtin/table.ts";
import { Fail } from "../effect/failure.ts";
import { located, unknownProperty } from "../value/access.ts";
import { aNameOf, join, nameOf, rawOf } from "../value/operators.ts";
import { Capability, Labelled, List, Obj, type Raw, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { type Code, type RunState, type Slots, slots0, slots1, slots2 } from "./code.ts";
import { born, covered, writable } from "./containers.ts";
import { type Context, expr, fails, isDataName, lookUp, siteOf } from "./context.ts";
import { checkArguments, checkResult } from "./contracts.ts";
import { asLambda } from "./effects.ts";
import { handoverOf } from "./handover.ts";
import { asWritten, defaultsFrom, FnLambda, isALambda, LooseLambda, runsOver, SlotLambda, StrictLambda } from "./lambdas.ts";
import { inside } from "./loose.ts";
import { type Rows, rowFor, rowsOf } from "./members.ts";
import type { Fn } from "./program.ts";
import {
    CHOOSING,
    type Caller,
    carrying,
    changedBy,
    counted,
    enterStrict,
    isLoose,
    labelAt,
    receiver,
    runStrict,
    tested,
} from "./strict.ts";
import { failing, NOTHING_ALONG } from "./ways.ts";

/** An argument as a built-in takes it. */
export type Arg = (f: Slots) => Value | Lambda;

/** Why a call can only fail, in a program whose capabilities do not travel; null where it may be one. Its arguments are not evaluated then. */
export function refusalOf(cx: Context, e: ExprForm & { kind: "call" }): string | null {
    const { callee } = e;
    if (handoverOf(cx.program, cx, (name) => cx.scope.find(name) !== 0, e) !== null) return null;
    if (e.args.some((a) => a.name !== undefined)) return "this call takes no named arguments";
    if (callee.kind === "member") {
        if (callee.object.kind !== "name" || cx.scope.find(callee.object.name) !== 0) return null;
        const meaning = lookUp(cx, callee.object.name);
        if (meaning?.kind === "agent" && !meaning.agent.funcs.has(callee.name))
            // A member that hands over control was told apart above.
            return `agent ${callee.object.name} has no function '${callee.name}'`;
        return meaning?.kind === "llm" || meaning?.kind === "skill" || meaning?.kind === "func"
            ? `${callee.object.name} is ${withArticle(meaning.kind)} and has no methods`
            : null;
    }
    if (callee.kind !== "name") return "only a name or a member can be called";
    if (cx.scope.find(callee.name) !== 0) return `'${callee.name}' is not a function`;
    const meaning = lookUp(cx, callee.name);
    if (meaning === undefined) return `Unknown function '${callee.name}'`;
    if (meaning.kind === "agent" && meaning.agent.main === null) return `agent ${callee.name} has no main func`;
    if (meaning.kind === "func") return wrongCount(meaning.fn, e.args.length);
    return meaning.kind === "agent" || meaning.kind === "builtin" ? null : `'${callee.name}' is not a function`;
}

export function callCode(cx: Context, e: ExprForm & { kind: "call" }): Code {
    const at = siteOf(cx, e.at);
    const { callee } = e;
    const refusal = refusalOf(cx, e);
    if (refusal !== null) return fails(refusal, at);
    if (callee.kind === "name") {
        const meaning = lookUp(cx, callee.name);
        if (meaning?.kind === "func") return userCall(cx, meaning.fn, e, at);
        if (meaning?.kind === "builtin") return globalCall(meaning.row, argsOf(cx, e), at);
        return fails("an effect cannot happen here", at);
    }
    if (callee.kind !== "member") return fails("only a name or a member can be called", at);
    if (callee.object.kind === "name" && cx.scope.find(callee.object.name) === 0) {
        const meaning = lookUp(cx, callee.object.name);
        if (meaning === undefined) {
            const row = isNamespace(callee.object.name) ? findBuiltin(callee.object.name, callee.name) : undefined;
            if (row !== undefined) return globalCall(row, argsOf(cx, e), at);
        } else if (!isDataName(meaning)) return fails("an effect cannot happen here", at);
    }
    if (cx.flow !== 0) return strictMethod(cx, e, callee, at);
    return methodCode(expr(cx, callee.object), callee.name, argsOf(cx, e), callee.safe === true, at);
}

/** A method of data in strict code: the receiver is looked at again behind the arguments, which may have changed it. */
function strictMethod(cx: Context, e: ExprForm & { kind: "call" }, callee: ExprForm & { kind: "member" }, at: Site | null): Code {
    const { flow } = cx;
    const { name } = callee;
    const object = receiver(cx, e, name === "add" ? changedBy(cx, callee.object) : expr(cx, callee.object));
    const args = argsOf(cx, e);
    const method: Method = { name, rows: rowsOf(name), safe: callee.safe === true };
    return (f) => {
        const self = object(f);
        const given = args.map((a) => a(f));
        if (--f[0].left < 0) f[0].over();
        return strictlyCalled(f[0], self, given, method, { at, pc: labelAt(f, flow), loose: isLoose(f, flow) });
    };
}

/** Methods that give something that others hold, or nothing new. */
export const SHARING: ReadonlySet<string> = new Set(["add", "find", "first", "last", "get", "reduce"]);
/** Methods that give new lists or objects inside a new one. */
export const NESTING: ReadonlySet<string> = new Set(["entries", "group_by"]);

/** A method of data as the code names it. `safe`: `?.`. */
export interface Method {
    readonly name: string;
    readonly rows: Rows;
    readonly safe: boolean;
}

export interface StrictCall {
    readonly at: Site | null;
    /** Label set of the place. */
    readonly pc: number;
    /** Only choices are kept (W9). */
    readonly loose: boolean;
}

/** A method of data that strict code calls (CL1 to CL4). */
export function strictlyCalled(
    m: RunState,
    object: Value,
    args: readonly (Value | Lambda)[],
    method: Method,
    { at, pc, loose }: StrictCall,
): Value {
    const { name, rows } = method;
    const self = covered(m, object);
    const raw = rawOf(self);
    const isHeld = raw instanceof List || raw instanceof Obj;
    const row = rowFor(rows, raw);
    const [item] = args;
    if (row?.mutates === true && item !== undefined && !isALambda(item)) writable(m, object, item, { pc, chosen: 0, at, loose });
    if (isHeld) for (const arg of args) runsOver(arg, raw);
    let value = callMethod(m, self, args, method, at);
    // What a lambda did to the receiver shows in what was read of it.
    if (isHeld && raw.label !== 0) value = join(m, value, raw.label);
    return SHARING.has(name) ? value : born(m, value, pc, NESTING.has(name) ? 2 : 1, loose);
}

// ---- functions of the program ----------------------------------------------------------------------------------------

function userCall(cx: Context, fn: Fn, e: ExprForm & { kind: "call" }, at: Site | null): Code {
    if (fn.effectful) return fails("an effect cannot happen here", at);
    const given = e.args.map((a) => expr(cx, a.value));
    const args = [...given, ...defaultsFrom(fn, given.length)];
    if (cx.program.changes) return unlessReplaced(fn, at, userCallAs(cx, fn, args, at));
    return userCallAs(cx, fn, args, at);
}

export function unlessReplaced(fn: Fn, at: Site | null, code: Code): Code {
    return (f) => {
        asWritten(f[0], fn, at);
        return code(f);
    };
}

function userCallAs(cx: Context, fn: Fn, args: readonly Code[], at: Site | null): Code {
    const [a, b] = args as [Code, Code];
    if (cx.flow !== 0) return strictCall(cx, fn, args, at);
    if (fn.checksParams || fn.form.result !== undefined)
        return (f) => {
            const m = f[0];
            const c = fn.closure;
            const g = slots0(c.slots, m);
            for (let i = 0; i < args.length; i++) g[i + 1] = (args[i] as Code)(f);
            if (--m.left < 0) m.over();
            if (--m.depth < 0) m.deep();
            checkArguments(m, fn, g, at);
            const r = checkResult(m, fn, c.run(g), at);
            m.depth++;
            return r;
        };
    if (args.length === 1)
        return (f) => {
            const m = f[0];
            const c = fn.closure;
            const g = slots1(c.slots, m, a(f));
            if (--m.left < 0) m.over();
            if (--m.depth < 0) m.deep();
            const r = c.run(g);
            m.depth++;
            return r;
        };
    if (args.length === 2)
        return (f) => {
            const m = f[0];
            const c = fn.closure;
            const g = slots2(c.slots, m, a(f), b(f));
            if (--m.left < 0) m.over();
            if (--m.depth < 0) m.deep();
            const r = c.run(g);
            m.depth++;
            return r;
        };
    return (f) => {
        const m = f[0];
        const c = fn.closure;
        const g = slots0(c.slots, m);
        for (let i = 0; i < args.length; i++) g[i + 1] = (args[i] as Code)(f);
        if (--m.left < 0) m.over();
        if (--m.depth < 0) m.deep();
        const r = c.run(g);
        m.depth++;
        return r;
    };
}

/** A call of strict code: it begins with what its caller depends on, and what it gives depends on how it got there. */
function strictCall(cx: Context, fn: Fn, args: readonly Code[], at: Site | null): Code {
    const caller: Caller = { flow: cx.flow, along: failing(cx) };
    return (f) => {
        const m = f[0];
        const g = slots0(fn.strictClosure.slots, m);
        for (let i = 0; i < args.length; i++) g[i + 1] = (args[i] as Code)(f);
        enterStrict(g, fn, f, cx.flow, !fn.strict && isLoose(f, cx.flow));
        counted(m);
        return runStrict(fn, g, f, caller, at);
    };
}

/** Null where a function takes that many arguments. */
export function wrongCount(fn: Fn, given: number): string | null {
    const most = fn.form.params.length;
    if (given >= fn.required && given <= most) return null;
    const expected = fn.required === most ? `${most}` : `${fn.required} to ${most}`;
    return `${fn.name} expects ${expected} argument${expected === "1" ? "" : "s"}, got ${given}`;
}

// ---- built-ins -------------------------------------------------------------------------------------------------------

export function argsOf(cx: Context, e: ExprForm & { kind: "call" }): Arg[] {
    return e.args.map((a, i): Arg => {
        if (a.value.kind === "lambda") return lambdaArg(cx, a.value, e.callee.kind === "member" && CHOOSING.has(e.callee.name));
        const named = asLambda(cx.program, cx, { has: (name) => cx.scope.find(name) !== 0 }, e, i);
        if (named !== undefined) {
            if (named.effectful) return fails(`${named.name} reaches an effect, so it cannot stand for a lambda`, siteOf(cx, e.at));
            const flow = e.callee.kind === "member" && CHOOSING.has(e.callee.name) ? cx.flow : 0;
            const caller: Caller = { flow: cx.flow, along: failing(cx) };
            const along = cx.places?.along ?? NOTHING_ALONG;
            if (cx.loose) return (f) => new LooseLambda(f, cx.flow, flow === 0 ? null : along, named);
            if (cx.flow !== 0) return (f) => new StrictLambda(f, caller, flow === 0 ? null : along, named);
            return (f) => new FnLambda(f[0], named);
        }
        return cx.flow === 0 ? expr(cx, a.value) : carrying(cx.flow, expr(cx, a.value));
    });
}

/** `chooses`: what the method gives depends on what this gives. */
function lambdaArg(cx: Context, e: ExprForm & { kind: "lambda" }, chooses: boolean): Arg {
    cx.scope.push();
    const slots = e.params.map((p) => cx.scope.define(p));
    const body = inside(cx, () => (chooses ? tested(cx, e.body) : expr(cx, e.body)));
    cx.scope.pop();
    return (f) => new SlotLambda(f, slots, body);
}

export function globalCall(row: Builtin, args: readonly Arg[], at: Site | null): Code {
    const wrong = row.effect === undefined ? wrongArgs(row, args.length) : "an effect cannot happen here";
    return (f) => {
        const given = args.map((a) => a(f));
        if (--f[0].left < 0) f[0].over();
        if (wrong !== null) throw new Fail("value", wrong, { site: at });
        return callRow(f[0], row, null, given, at);
    };
}

export function wrongArgs(row: Builtin, given: number): string | null {
    if (given >= row.min && given <= row.max) return null;
    const expected = row.min === row.max ? `${row.min}` : Number.isFinite(row.max) ? `${row.min} to ${row.max}` : `at least ${row.min}`;
    return `${row.name} expects ${expected} argument${expected === "1" ? "" : "s"}, got ${given}`;
}

function callRow(m: RunState, row: Builtin, object: Value, args: readonly (Value | Lambda)[], at: Site | null): Value {
    const l = object instanceof Labelled ? object.l : 0;
    const self = object instanceof Labelled ? object.v : object;
    for (let i = 0; i < args.length; i++) {
        const isLambda = isALambda(args[i] as Value | Lambda);
        if (isLambda !== (row.lambda === i))
            throw new Fail("value", isLambda ? `${row.name} takes no lambda there` : `${row.name} needs a lambda: ${row.signature}`, {
                site: at,
            });
    }
    m.fresh();
    try {
        return row.call(m, self, l, args);
    } catch (error) {
        throw located(decided(m, error, self, l, args), at);
    }
}

/** Operands decide whether a built-in fails: a failure has the labels of all of them and of a list's items, as a result would. */
function decided(m: RunState, error: unknown, self: Raw, l: number, args: readonly (Value | Lambda)[]): unknown {
    if (!(error instanceof Fail)) return error;
    error.labels = m.labels.union(error.labels, l);
    if (self instanceof List) {
        m.work(WORK.items(self.items.length));
        for (const item of self.items) if (item instanceof Labelled) error.labels = m.labels.union(error.labels, item.l);
    }
    for (const arg of args) if (arg instanceof Labelled) error.labels = m.labels.union(error.labels, arg.l);
    return error;
}

/** `object.name(args)` where the object is data. */
export function methodCode(object: Code, name: string, args: readonly Arg[], safe: boolean, at: Site | null): Code {
    const rows = rowsOf(name);
    const method: Method = { name, rows, safe };
    const only = args[0];
    if (name === "add" && args.length === 1 && only !== undefined && rows.list?.mutates === true)
        return (f) => {
            const self = object(f);
            const given = only(f);
            const m = f[0];
            if (--m.left < 0) m.over();
            if (self instanceof List && !isALambda(given)) {
                try {
                    // Where nothing asks who chose, an item is not counted: a run that was recorded has to come out as it did.
                    if (m.tracks) addTo(m, self, given);
                    else m.heap.push(self, given);
                } catch (error) {
                    throw located(error, at);
                }
                return self;
            }
            return callMethod(m, self, [given], method, at);
        };
    if (args.length === 0)
        return (f) => {
            const self = object(f);
            if (--f[0].left < 0) f[0].over();
            return callMethod(f[0], self, [], method, at);
        };
    if (args.length === 1 && only !== undefined)
        return (f) => {
            const self = object(f);
            const given = [only(f)];
            if (--f[0].left < 0) f[0].over();
            return callMethod(f[0], self, given, method, at);
        };
    return (f) => {
        const self = object(f);
        const given = args.map((a) => a(f));
        if (--f[0].left < 0) f[0].over();
        return callMethod(f[0], self, given, method, at);
    };
}

/** Own keys come before built-in methods, so an object's own `keys` is not the built-in one. */
export function callMethod(m: RunState, object: Value, args: readonly (Value | Lambda)[], method: Method, at: Site | null): Value {
    const { name, rows, safe } = method;
    const l = object instanceof Labelled ? object.l : 0;
    const self = object instanceof Labelled ? object.v : object;
    if (self instanceof Obj && self.has(name))
        throw new Fail("value", `'${name}' of this object is not a function`, { site: at, labels: m.labels.union(l, self.keyLabel) });
    const row = rowFor(rows, self);
    if (row === undefined) {
        const absent = self instanceof Obj ? m.labels.union(l, self.keyLabel) : l;
        if (safe && (self === null || self instanceof Obj)) return absent === 0 ? null : new Labelled(null, absent);
        if (self instanceof Capability)
            throw new Fail("value", `${self.name} is ${withArticle(self.kind)} and has no method '${name}' here`, { site: at, labels: l });
        if (self instanceof Obj) throw unknownProperty(name, self, at, absent);
        throw new Fail("value", `${aNameOf(self)} has no method '${name}'`, {
            site: at,
            labels: l,
            hint: () => builtinHint(name, nameOf(self)),
        });
    }
    const wrong = wrongArgs(row, args.length);
    if (wrong !== null) throw new Fail("value", wrong, { site: at, labels: l });
    return callRow(m, row, object, args, at);
}
