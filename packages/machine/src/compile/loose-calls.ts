/**
 * Calls in the loose form of strict code: of functions of the program and of methods of data.
 *
 * Boundary: as `calls.ts`, which does every other call.
 */
import type { ExprForm, Site } from "@remit/language";
import { located } from "../value/access.ts";
import type { Lambda } from "../builtin/builtin.ts";
import { addTo } from "../builtin/lists.ts";
import { deepLabels, join, labelOf, rawOf } from "../value/operators.ts";
import { Labelled, List, type Value } from "../value/value.ts";
import { type Arg, argsOf, callMethod, type Method, NESTING, refusalOf, SHARING, unlessReplaced } from "./calls.ts";
import { type ClosureForm, type Code, type Slots, slots0, slots1, slots2 } from "./code.ts";
import { born, isContainer, writable } from "./containers.ts";
import { type Context, expr, isDataName, lookUp, siteOf } from "./context.ts";
import { defaultsFrom, isALambda, runsOver } from "./lambdas.ts";
import { inside, lend, meetAgain, placeOf, runLoose, seen, shows } from "./loose.ts";
import { rowFor, rowsOf } from "./members.ts";
import type { Fn } from "./program.ts";
import { changedBy, CHOOSING, COMPARING, flowOf, takesLambda, withPc } from "./strict.ts";
import { NOTHING_ALONG, waysOf } from "./ways.ts";

type CallForm = ExprForm & { kind: "call" };
type MemberForm = ExprForm & { kind: "member" };

/** Null for a call that is the same in all code. */
export function looseCall(cx: Context, e: CallForm): Code | null {
    const { callee } = e;
    if (refusalOf(cx, e) !== null) return null;
    if (callee.kind === "name") {
        const meaning = lookUp(cx, callee.name);
        return meaning?.kind === "func" && !meaning.fn.effectful ? userCall(cx, meaning.fn, e) : null;
    }
    if (callee.kind !== "member") return null;
    const isVariable = callee.object.kind !== "name" || cx.scope.find(callee.object.name) !== 0;
    if (!isVariable && !isDataName(lookUp(cx, (callee.object as ExprForm & { kind: "name" }).name))) return null;
    return methodCall(cx, e, callee);
}

function userCall(cx: Context, fn: Fn, e: CallForm): Code {
    const given = e.args.map((a) => expr(cx, a.value));
    const args = [...given, ...defaultsFrom(fn, given.length)];
    const at = siteOf(cx, e.at);
    const { flow } = cx;
    const own = flowOf(fn);
    const inner = cx.places?.inner === true;
    const [a, b] = args as [Code, Code];
    const call: Call = { fn, own, flow, inner, at, checks: fn.checksParams || fn.form.result !== undefined };
    let code: Code = (f) => {
        const c = fn.looseClosure;
        const g = slots0(c.slots, f[0]);
        for (let i = 0; i < args.length; i++) g[i + 1] = (args[i] as Code)(f);
        return entered(call, c, f, g);
    };
    if (args.length === 1)
        code = (f) => {
            const c = fn.looseClosure;
            return entered(call, c, f, slots1(c.slots, f[0], a(f)));
        };
    else if (args.length === 2)
        code = (f) => {
            const c = fn.looseClosure;
            return entered(call, c, f, slots2(c.slots, f[0], a(f), b(f)));
        };
    return cx.program.changes ? unlessReplaced(fn, at, code) : code;
}

/** A call of a function as it stands in the code. `own`: the slot of its place. */
interface Call {
    readonly fn: Fn;
    readonly own: number;
    readonly flow: number;
    readonly inner: boolean;
    readonly checks: boolean;
    readonly at: Site | null;
}

function entered({ fn, own, flow, inner, checks, at }: Call, c: ClosureForm, f: Slots, g: Slots): Value {
    const m = f[0];
    const from = f[flow] as Value;
    g[own] = from;
    if (--m.left < 0) m.over();
    if (--m.depth < 0) m.deep();
    if (checks) return seen(f, flow, runLoose(fn, g, inner, at), inner);
    const value = c.run(g);
    m.depth++;
    const end = g[own];
    if ((end !== from || inner) && end instanceof Labelled) return seen(f, flow, join(m, value, end.l), inner);
    return typeof value !== "object" || value === null ? value : seen(f, flow, value, inner);
}

/** A method of data as it stands in the code. */
interface Place {
    readonly flow: number;
    readonly object: Code;
    readonly method: Method;
    readonly at: Site | null;
    readonly inner: boolean;
}

function methodCall(cx: Context, e: CallForm, callee: MemberForm): Code {
    const { name } = callee;
    const place: Place = {
        flow: cx.flow,
        object: name === "add" ? changedBy(cx, callee.object) : expr(cx, callee.object),
        method: { name, rows: rowsOf(name), safe: callee.safe === true },
        at: siteOf(cx, e.at),
        inner: cx.places?.inner === true,
    };
    const takes = takesLambda(cx, e);
    const [only] = e.args;
    if (name === "add" && e.args.length === 1 && only !== undefined && only.value.kind !== "lambda" && !isFunction(cx, only.value))
        return adding(place, callee.object.kind === "name" ? cx.scope.find(callee.object.name) : 0, expr(cx, only.value));
    if (!takes && !COMPARING.has(name) && (e.args.length === 0 || (!place.inner && name !== "add")))
        return plainly(
            place,
            e.args.map((a) => expr(cx, a.value)),
        );
    return generally(cx, place, e, takes);
}

function isFunction(cx: Context, e: ExprForm): boolean {
    return e.kind === "name" && cx.scope.find(e.name) === 0 && lookUp(cx, e.name)?.kind === "func";
}

/** `list.add(item)`. An item does not get what the list has. `slot`: of the list where it is a variable, else 0. */
function adding({ flow, object, method, at, inner }: Place, slot: number, item: Code): Code {
    return (f) => {
        const m = f[0];
        let self = slot === 0 ? null : (f[slot] as Value);
        if (!(self instanceof List) || inner || self.label !== placeOf(f, flow)) self = object(f);
        let given = item(f);
        if (--m.left < 0) m.over();
        const pc = placeOf(f, flow);
        if (!(self instanceof List)) return called(f, { flow, object, method, at, inner }, self, [withPc(f, flow, given)]);
        if (!shows(self, given, pc)) {
            given = withPc(f, flow, given);
            writable(m, self, given, { pc, chosen: 0, at, loose: true });
        }
        try {
            addTo(m, self, given);
        } catch (error) {
            throw located(error, at);
        }
        return self;
    };
}

/** A method that is given no lambda and changes nothing: no ways part, and what it gives is as any other value that is not written yet (W10). */
function plainly(place: Place, args: readonly Code[]): Code {
    const { object } = place;
    const [only] = args;
    const given = args.length === 1 ? (f: Slots) => [(only as Code)(f)] : (f: Slots) => args.map((arg) => arg(f));
    return (f) => {
        const self = object(f);
        const values = only === undefined ? NO_ARGS : given(f);
        if (--f[0].left < 0) f[0].over();
        return called(f, place, self, values);
    };
}

const NO_ARGS: readonly Value[] = [];

/** `takes`: a lambda, perhaps, which depends on the receiver. */
function generally(cx: Context, place: Place, e: CallForm, takes: boolean): Code {
    const { flow, object, method } = place;
    const along = cx.places?.along ?? NOTHING_ALONG;
    const args = inside(cx, () => argsOf(cx, e));
    const ways = waysOf(cx, [e]);
    const compares = COMPARING.has(method.name);
    const carries = compares || CHOOSING.has(method.name);
    return (f) => {
        const m = f[0];
        const before = f[flow] as Value;
        let self = object(f);
        let shown = 0;
        if ((takes || compares) && self instanceof Labelled) {
            lend(f, flow, self.l, along);
            // Items need nothing that the place has: the result gets it (W11).
            if (m.labels.within(self.l, placeOf(f, flow))) {
                shown = self.l;
                self = self.v;
            }
        }
        if (compares) lend(f, flow, deepLabels(m, rawOf(self), null), along);
        const given: (Value | Lambda)[] = [];
        for (let i = 0; i < args.length; i++) given.push((args[i] as Arg)(f));
        if (--m.left < 0) m.over();
        let value = join(m, called(f, place, self, given, labelOf(before)), shown);
        if (carries) value = withPc(f, flow, value);
        if (f[flow] !== before) meetAgain(f, flow, ways, before);
        return value;
    };
}

/**
 * What `strictlyCalled` does. `around`: label set of the place outside the call, which is not joined to anything (W11). The receiver is looked at again
 * behind the arguments, which may have changed it.
 */
function called(f: Slots, place: Place, object: Value, args: readonly (Value | Lambda)[], around = placeOf(f, place.flow)): Value {
    const { flow, method, at, inner } = place;
    const { name, rows } = method;
    const m = f[0];
    const raw = rawOf(object);
    const pc = placeOf(f, flow);
    if (!isContainer(raw)) {
        const value = callMethod(m, object, args, method, at);
        return typeof value !== "object" || SHARING.has(name) ? value : born(m, value, pc, 1, true);
    }
    const [item] = args;
    if (rowFor(rows, raw)?.mutates === true && item !== undefined && !isALambda(item))
        writable(m, object, item, { pc, chosen: 0, at, loose: true });
    // Nor do its items need in a lambda what the place has there.
    const isShown = m.labels.within(raw.label, pc);
    for (const arg of args) runsOver(arg, raw, isShown ? raw.label : 0);
    let value = callMethod(m, isShown ? object : join(m, object, raw.label), args, method, at);
    // What a lambda did to the receiver shows in what was read of it.
    if (raw.label !== 0 && (raw.label !== around || inner)) value = join(m, value, raw.label);
    return typeof value !== "object" || SHARING.has(name) ? value : born(m, value, pc, NESTING.has(name) ? 2 : 1, true);
}
