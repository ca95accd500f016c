/**
 * Lambdas as built-in methods call them: one that stands in the code, and a function of the program that is given by name.
 *
 * Boundary: running them. How they are compiled is `calls.ts`.
 */
import type { Json, Site } from "@remit/language";
import type { Lambda } from "../builtin/builtin.ts";
import { Fail } from "../effect/failure.ts";
import { fromJson } from "../value/json.ts";
import { join } from "../value/operators.ts";
import { Labelled, type List, type Obj, type Value } from "../value/value.ts";
import { type Code, type RunState, type Slots, slotsOf } from "./code.ts";
import { checkArguments, checkResult } from "./contracts.ts";
import { lend, runLoose } from "./loose.ts";
import type { Fn } from "./program.ts";
import { type Caller, counted, enterStrict, flowOf, isLoose, raisePc, runStrict } from "./strict.ts";
import type { Along } from "./ways.ts";

export class SlotLambda implements Lambda {
    readonly arity: number;
    private readonly f: Slots;
    private readonly slots: readonly number[];
    private readonly body: Code;
    /** In strict code, what the items are in. */
    over: List | Obj | null = null;
    known = 0;
    constructor(f: Slots, slots: readonly number[], body: Code) {
        this.f = f;
        this.slots = slots;
        this.body = body;
        this.arity = slots.length;
    }
    call(args: readonly Value[]): Value {
        const { f, slots } = this;
        if (--f[0].left < 0) f[0].over();
        for (let i = 0; i < slots.length; i++) f[slots[i] as number] = args[i] ?? null;
        const { over } = this;
        if (over !== null && over.label !== this.known) for (const slot of slots) f[slot] = join(f[0], f[slot] as Value, over.label);
        return this.body(f);
    }
}

/** A function of the program given by name where a lambda is taken. */
export class FnLambda implements Lambda {
    readonly arity: number;
    private readonly m: RunState;
    private readonly fn: Fn;
    private readonly defaults: readonly Code[];
    constructor(m: RunState, fn: Fn) {
        this.m = m;
        this.fn = fn;
        this.arity = fn.form.params.length;
        this.defaults = defaultsFrom(fn, 0);
    }
    call(args: readonly Value[]): Value {
        const { m, fn } = this;
        asWritten(m, fn, null);
        const g = slotsOf(fn.closure.slots, m, args.slice(0, this.arity));
        for (let i = args.length; i < this.arity; i++) g[i + 1] = (this.defaults[i] as Code)(g);
        if (--m.left < 0) m.over();
        if (--m.depth < 0) m.deep();
        checkArguments(m, fn, g, null);
        const r = checkResult(m, fn, fn.closure.run(g), null);
        m.depth++;
        return r;
    }
}

/** A function given by name where the caller or the function is strict. `chooses`: what is raised where the method chooses by its results, else null. */
export class StrictLambda implements Lambda {
    readonly arity: number;
    private readonly f: Slots;
    private readonly caller: Caller;
    private readonly chooses: Along | null;
    private readonly fn: Fn;
    private readonly defaults: readonly Code[];
    over: List | Obj | null = null;
    constructor(f: Slots, caller: Caller, chooses: Along | null, fn: Fn) {
        this.f = f;
        this.caller = caller;
        this.chooses = chooses;
        this.fn = fn;
        this.arity = fn.form.params.length;
        this.defaults = defaultsFrom(fn, 0);
    }
    call(args: readonly Value[]): Value {
        const { f, fn, caller, over } = this;
        const { flow } = caller;
        asWritten(f[0], fn, null);
        const g = slotsOf(fn.strictClosure.slots, f[0], args.slice(0, this.arity));
        if (over !== null) for (let i = 1; i <= this.arity; i++) g[i] = join(f[0], g[i] as Value, over.label);
        for (let i = args.length; i < this.arity; i++) g[i + 1] = (this.defaults[i] as Code)(g);
        enterStrict(g, fn, f, flow, !fn.strict && isLoose(f, flow));
        counted(f[0]);
        const value = runStrict(fn, g, f, caller, null);
        if (this.chooses !== null) raisePc(f, flow, value, this.chooses);
        return value;
    }
}

/** The same in the loose form. */
export class LooseLambda implements Lambda {
    readonly arity: number;
    private readonly f: Slots;
    private readonly flow: number;
    private readonly chooses: Along | null;
    private readonly fn: Fn;
    private readonly defaults: readonly Code[];
    over: List | Obj | null = null;
    known = 0;
    constructor(f: Slots, flow: number, chooses: Along | null, fn: Fn) {
        this.f = f;
        this.flow = flow;
        this.chooses = chooses;
        this.fn = fn;
        this.arity = fn.form.params.length;
        this.defaults = defaultsFrom(fn, 0);
    }
    call(args: readonly Value[]): Value {
        const { f, fn, flow, over } = this;
        asWritten(f[0], fn, null);
        const g = slotsOf(fn.looseClosure.slots, f[0], args.slice(0, this.arity));
        if (over !== null && over.label !== this.known) for (let i = 1; i <= this.arity; i++) g[i] = join(f[0], g[i] as Value, over.label);
        for (let i = args.length; i < this.arity; i++) g[i + 1] = (this.defaults[i] as Code)(g);
        g[flowOf(fn)] = f[flow] as Value;
        counted(f[0]);
        const value = runLoose(fn, g, true, null);
        if (this.chooses !== null && value instanceof Labelled) lend(f, flow, value.l, this.chooses);
        return value;
    }
}

/** What the items are in that a lambda of strict code is called with. `known`: the label that they need not get from it. */
export function runsOver(arg: Value | Lambda, over: List | Obj, known = 0): void {
    if (arg instanceof StrictLambda) arg.over = over;
    if (!(arg instanceof SlotLambda || arg instanceof LooseLambda)) return;
    arg.over = over;
    arg.known = known;
}

export function isALambda(arg: Value | Lambda): arg is Lambda {
    return arg instanceof SlotLambda || arg instanceof FnLambda || arg instanceof StrictLambda || arg instanceof LooseLambda;
}

/** Code for the defaults of the parameters from `given` on. */
export function defaultsFrom(fn: Fn, given: number): Code[] {
    return fn.form.params.slice(given).map((p) => {
        const json: Json = p.default ?? null;
        if (json === null || typeof json !== "object") return () => json;
        return (f) => fromJson(json, f[0].heap);
    });
}

/** A lambda runs as closures, in which what an agent wrote never does: fails where the function was defined anew, by which that is known. */
export function asWritten({ replaced, labels }: RunState, fn: Fn, at: Site | null): void {
    const one = replaced?.get(fn.id);
    if (one === undefined) return;
    throw new Fail("value", `${fn.name} was defined anew by an agent and cannot be called in a lambda`, {
        site: at,
        labels: labels.of([`agent:${one.agent[1]}`, ...(one.by ?? [])]),
        hint: "call it in a `for`",
    });
}
