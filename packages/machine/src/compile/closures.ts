/**
 * Code that cannot reach an effect, as closures over slots.
 *
 * Boundary: expressions and statements to `Code` and `Step`. `frames.ts` uses the same expressions as operands of its instructions, with
 * calls of the user's functions lifted out before (`framed`).
 *
 * CU1: steps are the same in both forms: one for each statement, one for each call (of a function, built-in or lambda), one for each pass of
 *     a loop.
 * CU2: every failure of an expression carries its own place, so both forms report the same.
 *
 * Why it is long: expressions and statements call each other, and one switch over each keeps them complete.
 */

import { type BranchForm, type ExprForm, isModule, type Site, type StmtForm } from "@remit/language";
import { type Builtin, findBuiltin } from "../builtin/table.ts";
import { Fail } from "../effect/failure.ts";
import { readIndex, writeIndex, writeMember } from "../value/access.ts";
import { aNameOf, compares, join, labelOf, negate, not, numeric, plus, rawOf, truthy } from "../value/operators.ts";
import { Capability, Labelled, List, type Value } from "../value/value.ts";
import { callCode, globalCall } from "./calls.ts";
import { BREAK, type ClosureForm, CONTINUE, type Code, codeOf, type Operand, type Slots, type Step } from "./code.ts";
import { born, covered, writable } from "./containers.ts";
import { type Context, expr, fails, lookUp, siteOf, slotFor, type Where } from "./context.ts";
import { blockStep, testOf } from "./control.ts";
import { narrowing } from "./delegation.ts";
import { failureValue, raisedFailure } from "./failure.ts";
import { listCode, objectCode } from "./literals.ts";
import { branching, inside, lendingComparison, lendingTest, looseCode, meetingWhereRaised, seen, shows } from "./loose.ts";
import { looseCall } from "./loose-calls.ts";
import { memberCode, propertyCode } from "./members.ts";
import { type Compare, operator, sumInto } from "./operators.ts";
import type { Fn } from "./program.ts";
import { Scope } from "./scope.ts";
import {
    carrying,
    caughtCode,
    changedBy,
    flowSlots,
    isLoose,
    labelAt,
    lent,
    meetingStep,
    noting,
    partsOf,
    strictCode,
    tested,
    triedAs,
    withPc,
} from "./strict.ts";
import { Places, parted, tried, type Ways, waysOf } from "./ways.ts";

export function closureForm(fn: Fn, how: "plain" | "strict" | "loose" = "plain"): ClosureForm {
    const scope = new Scope();
    for (const p of fn.form.params) scope.define(p.name);
    const cx = contextOf(fn, scope, how === "plain" ? null : fn.form.body, how === "loose");
    const run = valueOfBlock(cx, fn.form.body);
    return { slots: scope.size, run };
}

/** For code with these names. `strict`: the body of a strict function whose parameters are defined, else null. */
export function contextOf({ program, file, agent }: Where, scope: Scope, strict: readonly StmtForm[] | null, loose = false): Context {
    const places = strict === null ? null : new Places(strict);
    return { program, file, agent, scope, flow: strict === null ? 0 : flowSlots(scope, loose), places, loose, code };
}

/** A block whose value is that of its last statement, if that is an expression; `return` inside ends it with its value. */
export function valueOfBlock(cx: Context, body: readonly StmtForm[]): Code {
    const last = body[body.length - 1];
    const rest = blockStep((last?.kind === "expr" ? body.slice(0, -1) : body).map((s) => step(cx, s)));
    if (last?.kind === "expr") {
        const value = expr(cx, last.value);
        if (rest === null)
            return (f) => {
                if (--f[0].left < 0) f[0].over();
                return value(f);
            };
        return (f) => {
            const done = rest(f);
            if (done !== undefined) return done as Value;
            if (--f[0].left < 0) f[0].over();
            return value(f);
        };
    }
    if (rest === null) return () => null;
    return (f) => {
        const done = rest(f);
        return done === undefined ? null : (done as Value);
    };
}

function block(cx: Context, body: readonly StmtForm[]): Step {
    cx.scope.push();
    const made = blockStep(body.map((s) => step(cx, s)));
    cx.scope.pop();
    return made ?? (() => undefined);
}

// ---- statements ------------------------------------------------------------------------------------------------------

export function step(cx: Context, s: StmtForm): Step {
    const { flow } = cx;
    if (flow === 0) return stepOf(cx, s);
    switch (s.kind) {
        case "if":
        case "for":
        case "loop":
        case "repeat": {
            const ways = waysOf(cx, [[s]]);
            if (s.kind === "if" && cx.loose) return parted(cx, [[s]], ways, () => branches(cx, s.branches, s.otherwise, ways));
            const made = parted(cx, [[s]], ways, () => stepOf(cx, s), s.kind === "if" ? null : [s]);
            return cx.loose ? meetingWhereRaised(flow, ways, made) : meetingStep(flow, ways, made);
        }
        case "assign":
            return cx.loose || s.target.kind === "name" ? stepOf(cx, s) : noting(cx, s.target, stepOf(cx, s));
        default:
            return stepOf(cx, s);
    }
}

/** `e` where nothing but the way that is taken depends on it, which carries labels in strict code alone. */
export function condition(cx: Context, e: ExprForm): Code {
    const isOrder = e.kind === "binary" && (e.op === "<" || e.op === "<=" || e.op === ">" || e.op === ">=");
    if ((cx.flow !== 0 && !cx.loose) || !isOrder) return cx.loose ? expr(cx, e) : tested(cx, e);
    return operator(e.op, operand(cx, e.left), operand(cx, e.right), siteOf(cx, e.at), cx.loose ? lendingComparison(cx) : unboxed);
}

const unboxed: Compare = (f, op, a, b, at) => compares(f[0], op, a, b, at);

/** What `condition` gives, as a truth value. The loose form leaves it to this to lend what is not compared. */
function test(cx: Context, e: ExprForm): (f: Slots) => boolean {
    return cx.loose ? lendingTest(cx, condition(cx, e)) : testOf(condition(cx, e));
}

function stepOf(cx: Context, s: StmtForm): Step {
    switch (s.kind) {
        case "config":
        case "context":
        case "use":
        case "use.one":
            return () => undefined;
        case "expr": {
            const value = expr(cx, s.value);
            return (f) => {
                value(f);
                return undefined;
            };
        }
        case "return":
            return expr(cx, s.value);
        case "assign":
            return assign(cx, s);
        case "if":
            return branches(cx, s.branches, s.otherwise);
        case "define":
        case "delegate":
        case "spend":
            return fails(`${s.kind} cannot stand here`, siteOf(cx, s.at));
        case "raise": {
            const value = expr(cx, s.value);
            const at = siteOf(cx, s.at);
            return (f) => {
                throw raisedFailure(f[0], value(f), at);
            };
        }
        case "break":
            return () => BREAK;
        case "continue":
            return () => CONTINUE;
        case "debugger":
            return () => undefined;
        case "repeat":
            return repeated(cx, s);
        case "loop":
            return looped(cx, s);
        case "for":
            return iterated(cx, s);
        case "try":
            return triedStep(cx, s);
    }
}

function repeated(cx: Context, s: StmtForm & { kind: "repeat" }): Step {
    const { times } = s;
    const body = block(cx, s.body);
    return (f) => {
        const m = f[0];
        for (let i = 0; i < times; i++) {
            if (--m.left < 0) m.over();
            const done = body(f);
            if (done !== undefined && done !== CONTINUE) return done === BREAK ? undefined : done;
        }
        return undefined;
    };
}

function looped(cx: Context, s: StmtForm & { kind: "loop" }): Step {
    const until = test(cx, s.until);
    const { max } = s;
    const body = block(cx, s.body);
    return (f) => {
        const m = f[0];
        for (let i = 0; i < max; i++) {
            if (--m.left < 0) m.over();
            if (until(f)) break;
            const done = body(f);
            if (done !== undefined && done !== CONTINUE) return done === BREAK ? undefined : done;
        }
        return undefined;
    };
}

function iterated(cx: Context, s: StmtForm & { kind: "for" }): Step {
    const list = tested(cx, s.list);
    const { max } = s;
    const at = siteOf(cx, s.list.at ?? s.at);
    cx.scope.push();
    const slot = cx.scope.define(s.item);
    const body = block(cx, s.body);
    cx.scope.pop();
    const { flow } = cx;
    const isStrict = flow !== 0;
    const inner = !cx.loose || cx.places?.inner === true;
    return (f) => {
        const m = f[0];
        const all = list(f);
        const own = labelOf(all);
        const from = listOf(all, at);
        let l = own;
        let label = -1;
        let place: unknown;
        const { items } = from;
        const n = Math.min(items.length, max);
        for (let i = 0; i < n; i++) {
            if (--m.left < 0) m.over();
            if (isStrict && (from.label !== label || f[flow] !== place)) {
                ({ label } = from);
                place = f[flow];
                l = m.labels.union(own, label);
                // The place has it, and what is made of the item gets it there (W11).
                if (!inner && m.labels.within(l, labelAt(f, flow))) l = 0;
            }
            f[slot] = l === 0 ? (items[i] as Value) : join(m, items[i] as Value, l);
            const done = body(f);
            if (done !== undefined && done !== CONTINUE) return done === BREAK ? undefined : done;
        }
        return undefined;
    };
}

function triedStep(cx: Context, s: StmtForm & { kind: "try" }): Step {
    const body = tried(cx, [s], () => block(cx, s.body));
    cx.scope.push();
    const slot = s.name === undefined ? 0 : cx.scope.define(s.name);
    const handler = block(cx, s.handler);
    cx.scope.pop();
    if (cx.flow !== 0) return caughtCode(cx, triedAs(cx, [s.body, s.handler]), { body, handler, slot }, (_, done) => done);
    return (f) => guarded(f, body, handler, slot);
}

/** The list behind a value that a loop goes over. */
export function listOf(value: Value, at: Site | null): List {
    const v = value instanceof Labelled ? value.v : value;
    if (!(v instanceof List))
        throw new Fail("value", `a loop needs a list, not ${aNameOf(v)}`, { site: at, labels: value instanceof Labelled ? value.l : 0 });
    return v;
}

function guarded<T>(f: Slots, body: (f: Slots) => T, handler: (f: Slots) => T, slot: number): T {
    const { depth } = f[0];
    try {
        return body(f);
    } catch (error) {
        if (!(error instanceof Fail) || error.whole || !f[0].catches(error)) throw error;
        f[0].depth = depth;
        if (slot !== 0) f[slot] = failureValue(f[0], error);
        return handler(f);
    }
}

function branches(cx: Context, list: readonly BranchForm[], otherwise: readonly StmtForm[] | undefined, ways: Ways | null = null): Step {
    let rest: Step | null = otherwise === undefined ? null : block(cx, otherwise);
    for (let i = list.length - 1; i >= 0; i--) {
        const branch = list[i] as BranchForm;
        const first = condition(cx, branch.test);
        const yes = block(cx, branch.body);
        rest = cx.loose ? branching(cx, i === 0 ? ways : null, first, { yes, no: rest }) : choose(first, yes, rest);
    }
    return rest ?? (() => undefined);
}

function choose(test: Code, yes: Step, no: Step | null): Step {
    if (no === null)
        return (f) => {
            const c = test(f);
            return c === true || (c !== false && truthy(c)) ? yes(f) : undefined;
        };
    return (f) => {
        const c = test(f);
        return c === true || (c !== false && truthy(c)) ? yes(f) : no(f);
    };
}

const OPERATION = { "+=": "+", "-=": "-" } as const;

function assign(cx: Context, s: StmtForm & { kind: "assign" }): Step {
    const { target, op, value } = s;
    const at = siteOf(cx, s.at);
    if (target.kind === "name") {
        if (op === "=") return assignSlot(cx, target.name, value, at);
        const place = s.at === undefined ? {} : { at: s.at };
        return assignSlot(cx, target.name, { kind: "binary", op: OPERATION[op], left: target, right: value, ...place }, at);
    }
    if (cx.flow !== 0 && (target.kind === "member" || target.kind === "index")) return assignInto(cx, target, op, value, at);
    const given = expr(cx, value);
    if (target.kind === "member") {
        const object = expr(cx, target.object);
        const { name } = target;
        if (op === "=")
            return (f) => {
                const v = given(f);
                writeMember(f[0].heap, object(f), name, v, at);
                return undefined;
            };
        const read = propertyCode(name, false, siteOf(cx, target.at) ?? at);
        const by = op;
        return (f) => {
            const v = given(f);
            const o = object(f);
            const before = read(f, o);
            writeMember(f[0].heap, o, name, by === "+=" ? plus(f[0], before, v, at) : numeric(f[0], "-", before, v, at), at);
            return undefined;
        };
    }
    if (target.kind === "index") {
        const object = expr(cx, target.object);
        const index = expr(cx, target.index);
        const by = op;
        return (f) => {
            const v = given(f);
            const o = object(f);
            const i = index(f);
            if (by === "=") writeIndex(f[0], o, i, v, at);
            else {
                const before = readIndex(f[0], o, i, at);
                writeIndex(f[0], o, i, by === "+=" ? plus(f[0], before, v, at) : numeric(f[0], "-", before, v, at), at);
            }
            return undefined;
        };
    }
    return fails("only a name, a property or an item can be assigned", at);
}

/** A write into a list or object in strict code. */
function assignInto(
    cx: Context,
    target: ExprForm & { kind: "member" | "index" },
    op: "=" | "+=" | "-=",
    value: ExprForm,
    at: Site | null,
): Step {
    const { flow, loose } = cx;
    const given = expr(cx, value);
    const object = changedBy(cx, target.object);
    const index = target.kind === "member" ? null : expr(cx, target.index);
    const name = target.kind === "member" ? target.name : "";
    const property = propertyCode(name, false, siteOf(cx, target.at) ?? at);
    return (f) => {
        const m = f[0];
        let v = given(f);
        const o = object(f);
        const i = index === null ? name : index(f);
        if (op !== "=") {
            const whole = covered(m, o);
            const before = index === null ? property(f, whole) : readIndex(m, whole, i, at);
            v = op === "+=" ? plus(m, before, v, at) : numeric(m, "-", before, v, at);
        }
        if (!loose || i instanceof Labelled || !shows(o, v, labelAt(f, flow))) {
            v = withPc(f, flow, v);
            const chosen = loose ? m.labels.chosenBy(labelOf(i)) : lent(f, flow, labelOf(i));
            writable(m, o, v, { pc: labelAt(f, flow), chosen, at, loose: loose || isLoose(f, flow) });
        }
        if (index === null) writeMember(m.heap, o, name, v, at);
        else writeIndex(m, o, i, v, at);
        return undefined;
    };
}

function assignSlot(cx: Context, name: string, value: ExprForm, at: Site | null): Step {
    if (cx.scope.isFenced(name)) return fails(`an iteration of a parallel for cannot assign '${name}', which its siblings share`, at);
    const carries = cx.flow !== 0 && !cx.loose;
    if (!carries && value.kind === "binary" && value.op === "+") {
        const [l, r] = [operand(cx, value.left), operand(cx, value.right)];
        return sumInto(slotFor(cx, name), l, r, siteOf(cx, value.at) ?? at);
    }
    const code = carries ? carrying(cx.flow, expr(cx, value)) : expr(cx, value);
    return into(slotFor(cx, name), code);
}

function into(slot: number, code: Code): Step {
    return (f) => {
        f[slot] = code(f);
        return undefined;
    };
}

// ---- expressions -----------------------------------------------------------------------------------------------------

/** `looksInside`: what is in a list or object is read, too. */
export function operand(cx: Context, e: ExprForm, looksInside = true): Operand {
    if (e.kind === "literal") return { kind: "k", value: e.value };
    if (e.kind === "name") {
        const slot = cx.scope.find(e.name);
        // In strict code more than the slot may be to be read (CL2).
        if (slot !== 0 && (cx.flow === 0 || cx.loose || !looksInside)) return { kind: "s", slot };
    }
    return { kind: "e", code: expr(cx, e) };
}

function code(cx: Context, e: ExprForm): Code {
    if (cx.flow === 0) return exprOf(cx, e);
    const parts = partsOf(e);
    const made = parts === null ? exprOf(cx, e) : parted(cx, parts, waysOf(cx, parts), () => exprOf(cx, e));
    return cx.loose ? looseCode(cx, e, made) : strictCode(cx, e, made);
}

function exprOf(cx: Context, e: ExprForm): Code {
    switch (e.kind) {
        case "literal": {
            const { value } = e;
            return () => value;
        }
        case "name":
            return nameCode(cx, e.name, siteOf(cx, e.at));
        case "list":
            return listCode(cx, e);
        case "object":
            return objectCode(cx, e);
        case "member": {
            const at = siteOf(cx, e.at);
            if (e.object.kind === "name" && cx.scope.find(e.object.name) === 0) {
                const meaning = lookUp(cx, e.object.name);
                if (meaning !== undefined && "value" in meaning) {
                    const isRead = meaning.kind === "tool" && isModule(meaning.import.form.uri);
                    const what = isRead ? "is read from a module: put it into a variable first" : "is a method: call it";
                    return fails(`${e.object.name}.${e.name} ${what}`, at);
                }
            }
            const loose = cx.loose ? { flow: cx.flow, inner: cx.places?.inner === true } : null;
            return memberCode(operand(cx, e.object), e.name, e.safe === true, at, loose);
        }
        case "index":
            return indexCode(cx, operand(cx, e.object), operand(cx, e.index), siteOf(cx, e.at));
        case "unary":
            return unary(cx, e);
        case "binary":
            return binary(cx, e);
        case "call":
            return (cx.loose ? looseCall(cx, e) : null) ?? callCode(cx, e);
        case "lambda":
            return fails("a lambda may stand only where a built-in method takes one", siteOf(cx, e.at));
        case "if.expr": {
            let rest: Code = e.otherwise === undefined ? () => null : valueBlock(cx, e.otherwise);
            for (let i = e.branches.length - 1; i >= 0; i--) {
                const branch = e.branches[i] as BranchForm;
                const first = test(cx, branch.test);
                const yes = valueBlock(cx, branch.body);
                const no = rest;
                rest = (f) => (first(f) ? yes(f) : no(f));
            }
            return rest;
        }
        case "try.expr": {
            const body = tried(cx, [{ kind: "expr", value: e }], () => valueBlock(cx, e.body));
            cx.scope.push();
            const slot = e.name === undefined ? 0 : cx.scope.define(e.name);
            const handler = valueBlock(cx, e.handler);
            cx.scope.pop();
            const { flow } = cx;
            if (flow !== 0) return caughtCode(cx, triedAs(cx, [e.body, e.handler]), { body, handler, slot }, (f, v) => withPc(f, flow, v));
            return (f) => guarded(f, body, handler, slot);
        }
        case "narrow": {
            const object = expr(cx, e.object);
            const layer = narrowing(cx, e.methods, e.at);
            const at = siteOf(cx, e.at);
            return (f) => {
                const c = rawOf(object(f));
                if (!(c instanceof Capability))
                    throw new Fail("value", `only a tool, memory or agent can be narrowed, not ${aNameOf(c)}`, { site: at });
                return f[0].narrow(c, layer);
            };
        }
        case "generate":
        case "parallel":
        case "endorse":
            return fails("an effect cannot happen here", siteOf(cx, e.at));
    }
}

function valueBlock(cx: Context, body: readonly StmtForm[]): Code {
    cx.scope.push();
    const code = valueOfBlock(cx, body);
    cx.scope.pop();
    return code;
}

/** A block that has run gave a value, be it none. */
function notYet(name: string, at: Site | null): never {
    throw new Fail("value", `block '${name}' has not run yet`, { site: at, hint: "blocks run in the order of the source" });
}

export function nameCode(cx: Context, name: string, at: Site | null): Code {
    const slot = cx.scope.find(name);
    if (slot !== 0) return (f) => f[slot] as Value;
    const meaning = lookUp(cx, name);
    if (meaning === undefined) return fails(`Unknown name '${name}'`, at);
    if (meaning.kind === "file") {
        const { number } = meaning;
        // It has the label of its file for every reader (CL1).
        if (cx.flow !== 0) return (f) => born(f[0], f[0].imports[number] ?? null, 0, Number.POSITIVE_INFINITY);
        return (f) => f[0].imports[number] ?? null;
    }
    if (meaning.kind === "block") {
        const { number } = meaning;
        return (f) => {
            const value = f[0].imports[number];
            return value === undefined ? notYet(name, at) : value;
        };
    }
    if (meaning.kind === "builtin") return fails(`${name} is a built-in function: call it`, at);
    const { value } = meaning;
    // A principal under a remit gets it with the rights that the remit gives at this moment.
    return (f) => {
        const { minter } = f[0];
        return minter === null ? value : minter(value);
    };
}

function indexCode({ flow, loose, places }: Context, l: Operand, r: Operand, at: Site | null): Code {
    const object = codeOf(l);
    if (flow !== 0) {
        const index = codeOf(r);
        const inner = !loose || places?.inner === true;
        return (f) => {
            const o = object(f);
            const i = index(f);
            return readIndex(f[0], seen(f, flow, o, inner), i, at);
        };
    }
    if (r.kind === "k") {
        const { value } = r;
        return (f) => {
            const o = object(f);
            if (o instanceof List && typeof value === "number") {
                const item = o.items[value];
                if (item !== undefined) return item;
            }
            return readIndex(f[0], o, value, at);
        };
    }
    const index = codeOf(r);
    return (f) => {
        const o = object(f);
        const i = index(f);
        if (o instanceof List && typeof i === "number") {
            const item = o.items[i];
            if (item !== undefined) return item;
        }
        return readIndex(f[0], o, i, at);
    };
}

const TEXT = findBuiltin("global", "text") as Builtin;

function unary(cx: Context, e: ExprForm & { kind: "unary" }): Code {
    const value = expr(cx, e.value);
    if (e.op === "not") return (f) => not(value(f));
    const at = siteOf(cx, e.at);
    // As the built-in of that name, which the program may have hidden.
    if (e.op === "text") return globalCall(TEXT, [value], at);
    if (e.value.kind === "literal" && typeof e.value.value === "number") {
        const negative = -e.value.value;
        return () => negative;
    }
    return (f) => negate(value(f), at);
}

function binary(cx: Context, e: ExprForm & { kind: "binary" }): Code {
    const at = siteOf(cx, e.at);
    if (e.op === "and" || e.op === "or" || e.op === "??") {
        const left = tested(cx, e.left);
        const right = inside(cx, () => expr(cx, e.right));
        if (e.op === "??")
            return (f) => {
                const a = left(f);
                if (a === null) return right(f);
                return a instanceof Labelled && a.v === null ? join(f[0], right(f), a.l) : a;
            };
        const isAnd = e.op === "and";
        return (f) => {
            const a = left(f);
            const l = a instanceof Labelled ? a.l : 0;
            let r = truthy(a);
            if (r !== isAnd) return l === 0 ? r : new Labelled(r, l);
            const b = right(f);
            r = truthy(b);
            const both = b instanceof Labelled ? f[0].labels.union(l, b.l) : l;
            return both === 0 ? r : new Labelled(r, both);
        };
    }
    // Lists and objects are compared by what is in them; other operators fail on them.
    const looksInside = e.op === "==" || e.op === "!=";
    return operator(e.op, operand(cx, e.left, looksInside), operand(cx, e.right, looksInside), at);
}
