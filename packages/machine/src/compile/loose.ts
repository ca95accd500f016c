/**
 * The loose form of strict code: where only choices are kept (W9 of `strict.ts`), and no caller would catch a failure.
 *
 * Boundary: what this form does in place of what `strict.ts` and `containers.ts` do; it gives everything the same labels. Calls are `loose-calls.ts`.
 *
 * Of the hidden slots it uses `pc` alone. A function or loop that holds a `try` has no such form: there, failures may be caught. A failure in this form is
 * none yet: the stretch is given up, and what was done in it is done again on frames, where the failure gets its labels. What has no such form runs on
 * frames: a stretch may end anywhere, so what is done as closures has to have the labels that it has there.
 *
 * W10: a variable that is written gets `pc` only where the ways meet behind what raised `pc`. Until then nothing shows what it carries without `pc`:
 *      what goes into a list or object, a built-in, a result or a condition gets `pc` besides.
 * W11: for the same reason, what a list or object has in common with `pc` is not joined to what is read of it. Inside an expression whose ways part
 *      it is: the value of that expression outlives what `pc` is there, and carries it only where strict code says so. An item that a lambda is called
 *      with needs it nowhere: what the method gives has it.
 *
 * Without this form, code in which a condition has a label takes three to seven times as long (`bench/src/authority.ts`).
 */
import { type ExprForm, type FormPart, type Site, walk } from "@remit/language";
import { compares, join, truthy } from "../value/operators.ts";
import { Labelled, List, Obj, type Value } from "../value/value.ts";
import type { Code, Done, Slots, Step } from "./code.ts";
import { born, isContainer, raise } from "./containers.ts";
import { partsOtherwise } from "./effects.ts";
import type { Context, Where } from "./context.ts";
import { checkArguments, checkResult } from "./contracts.ts";
import type { Compare } from "./operators.ts";
import type { Fn } from "./program.ts";
import { type Along, NOTHING_ALONG, type Ways, waysOf } from "./ways.ts";

/** Whether code has a loose form. */
export function hasLooseForm(where: Where, part: FormPart): boolean {
    const { program, file, agent } = where;
    if (partsOtherwise(where, part, program.loosely.changes)) return false;
    return !walk(part, (e) => {
        const meaning = e.kind === "name" ? program.lookup(file, agent, e.name) : undefined;
        return meaning?.kind === "func" && !meaning.fn.isLoose;
    });
}

/** Label set of the place. */
export function placeOf(f: Slots, flow: number): number {
    const pc = f[flow];
    return pc instanceof Labelled ? pc.l : 0;
}

/** What follows depends on what has this label (W1). */
export function lend(f: Slots, flow: number, by: number, along: Along): void {
    const { labels } = f[0];
    // In a loop it is nearly always what it was in the pass before.
    if (by === labels.lentBy && f[flow] === labels.lentTo) return;
    raiseTo(f, flow, by, along);
    labels.lentBy = by;
    labels.lentTo = f[flow] as Value;
}

function raiseTo(f: Slots, flow: number, by: number, along: Along): void {
    const { labels } = f[0];
    const l = labels.chosenBy(by);
    const before = placeOf(f, flow);
    const all = labels.union(before, l);
    if (all === before) return;
    f[flow] = new Labelled(null, all);
    if (along === NOTHING_ALONG) return;
    for (const slot of along.always.slots) raise(f[0], f[slot] as Value, l, before, true);
    for (const number of along.always.imports) raise(f[0], f[0].imports[number] ?? null, l, before, true);
}

/** A condition or a list of which what follows depends on. */
export function lending(cx: Context, code: Code): Code {
    const { flow } = cx;
    const along = cx.places?.along ?? NOTHING_ALONG;
    return (f) => {
        const value = code(f);
        if (value instanceof Labelled) lend(f, flow, value.l, along);
        return value;
    };
}

/** A comparison of which what follows depends on: its result needs no labels. */
export function lendingComparison(cx: Context): Compare {
    const { flow } = cx;
    const along = cx.places?.along ?? NOTHING_ALONG;
    return (f, op, a, b, at) => {
        const result = compares(f[0], op, a, b, at);
        if (a instanceof Labelled) lend(f, flow, a.l, along);
        if (b instanceof Labelled) lend(f, flow, b.l, along);
        return result;
    };
}

/** A condition that was found to be no plain truth value. */
function isTrue(f: Slots, flow: number, value: Value, along: Along): boolean {
    if (value instanceof Labelled) lend(f, flow, value.l, along);
    return truthy(value);
}

/** `lending` as a truth value. */
export function lendingTest(cx: Context, code: Code): (f: Slots) => boolean {
    const { flow } = cx;
    const along = cx.places?.along ?? NOTHING_ALONG;
    return (f) => {
        const c = code(f);
        return c === true || (c !== false && isTrue(f, flow, c, along));
    };
}

/** A branch of an `if`. `ways`: of the whole statement, where this is its first. */
export function branching(cx: Context, ways: Ways | null, test: Code, { yes, no }: { yes: Step; no: Step | null }): Step {
    const { flow } = cx;
    const along = cx.places?.along ?? NOTHING_ALONG;
    const other: Step = no ?? (() => undefined);
    if (ways === null)
        return (f) => {
            const c = test(f);
            return c === true || (c !== false && isTrue(f, flow, c, along)) ? yes(f) : other(f);
        };
    if (no === null)
        return (f) => {
            const before = f[flow] as Value;
            const c = test(f);
            const done = c === true || (c !== false && isTrue(f, flow, c, along)) ? yes(f) : undefined;
            if (f[flow] !== before) meetAgain(f, flow, ways, before);
            return done;
        };
    return (f) => {
        const before = f[flow] as Value;
        const c = test(f);
        const done = c === true || (c !== false && isTrue(f, flow, c, along)) ? yes(f) : no(f);
        if (f[flow] !== before) meetAgain(f, flow, ways, before);
        return done;
    };
}

/** `covered` (CL2). `inner`: see W11. */
export function seen(f: Slots, flow: number, value: Value, inner: boolean): Value {
    if (typeof value !== "object" || value === null) return value;
    const raw = value instanceof Labelled ? value.v : value;
    if (!isContainer(raw) || raw.label === 0) return value;
    return !inner && raw.label === placeOf(f, flow) ? value : join(f[0], value, raw.label);
}

/** Code whose value may be a list or an object. */
export function seeing(cx: Context, code: Code): Code {
    const { flow } = cx;
    const inner = cx.places?.inner === true;
    return (f) => seen(f, flow, code(f), inner);
}

/** Compiles what stands inside an expression whose ways part. */
export function inside<T>({ places }: Context, compile: () => T): T {
    if (places === null) return compile();
    const { inner } = places;
    places.inner = true;
    const made = compile();
    places.inner = inner;
    return made;
}

/** W3. */
export function mark(f: Slots, flow: number, { assigned }: Ways): void {
    const pc = f[flow];
    if (pc instanceof Labelled) for (const slot of assigned) f[slot] = join(f[0], f[slot] as Value, pc.l);
}

/** Where ways meet of which one raised `pc`. */
export function meetAgain(f: Slots, flow: number, ways: Ways, before: Value): void {
    mark(f, flow, ways);
    if (!ways.leaves) f[flow] = before;
}

/** A statement with ways of its own: what did not raise `pc` leaves the marks to what did (W10). */
export function meetingWhereRaised(flow: number, ways: Ways, code: Step): Step {
    return (f) => {
        const before = f[flow] as Value;
        const done: Done = code(f);
        if (f[flow] !== before) meetAgain(f, flow, ways, before);
        return done;
    };
}

/** Marks always: behind it code runs that looks at variables by themselves. */
export function marking(flow: number, ways: Ways, code: Step): Step {
    return (f) => {
        const done = code(f);
        mark(f, flow, ways);
        return done;
    };
}

/** What an expression is besides what all code makes of it. */
export function looseCode(cx: Context, e: ExprForm, code: Code): Code {
    const { flow } = cx;
    switch (e.kind) {
        case "if.expr": {
            const ways = waysOf(cx, [e]);
            return (f) => {
                const before = f[flow] as Value;
                const value = code(f);
                const l = placeOf(f, flow);
                if (l === 0) return value;
                meetAgain(f, flow, ways, before);
                return join(f[0], value, l);
            };
        }
        case "binary": {
            if (e.op !== "and" && e.op !== "or" && e.op !== "??") return code;
            // What the right side assigns stands in an `if` of it, which marks it, and no way leads out: such an expression runs on frames.
            return (f) => {
                const before = f[flow] as Value;
                const value = code(f);
                f[flow] = before;
                return value;
            };
        }
        case "list":
        case "object":
            return made(cx, e, code);
        case "name":
            return nameCode(cx, e.name, code);
        case "index":
            return seeing(cx, code);
        default:
            return code;
    }
}

/** A variable needs no code of its own. */
function nameCode(cx: Context, name: string, code: Code): Code {
    const slot = cx.scope.find(name);
    if (slot === 0) return seeing(cx, code);
    const { flow } = cx;
    const inner = cx.places?.inner === true;
    return (f) => {
        const value = f[slot] as Value;
        return typeof value !== "object" || value === null ? value : seen(f, flow, value, inner);
    };
}

/** A literal (CL1). */
function made(cx: Context, e: ExprForm & { kind: "list" | "object" }, code: Code): Code {
    const { flow } = cx;
    const parts: readonly { readonly kind: string }[] = e.kind === "list" ? e.items : e.entries;
    if (!parts.some(({ kind }) => kind === "spread"))
        return (f) => {
            const value = code(f);
            const pc = f[flow];
            if (pc instanceof Labelled) (value as List | Obj).label = pc.l;
            return value;
        };
    const ways = waysOf(cx, [e]);
    return (f) => {
        const before = f[flow] as Value;
        const value = code(f);
        const l = placeOf(f, flow);
        if (l === 0) return born(f[0], value, 0, 1, true);
        meetAgain(f, flow, ways, before);
        return born(f[0], join(f[0], value, l), placeOf(f, flow), 1, true);
    };
}

/** Whether a list or object shows all that a value which is put into it would get from the place (CL3, W11): then neither has to be looked at. */
export function shows(to: Value, value: Value, pc: number): boolean {
    if (!(to instanceof List || to instanceof Obj) || to.label !== pc) return false;
    return pc === 0 || !isContainer(value instanceof Labelled ? value.v : value);
}

/** A call that was counted, on slots that hold its arguments and begin where the caller stands. `carries`: the result has its place, whatever that is (W11). */
export function runLoose(fn: Fn, g: Slots, carries: boolean, at: Site | null): Value {
    const own = fn.form.params.length + 1;
    const m = g[0];
    const from = g[own] as Value;
    checkArguments(m, fn, g, at);
    const value = fn.looseClosure.run(g);
    const end = g[own];
    const given = !(end instanceof Labelled) || (end === from && !carries) ? value : join(m, value, end.l);
    const r = checkResult(m, fn, given, at);
    m.depth++;
    return r;
}
