/**
 * What programs are compiled to: closures over slots.
 *
 * Boundary: shapes. Nothing here belongs to a run: the run is slot 0 of every slot array, so compiled code serves any number of runs.
 *
 * CD1: a slot that a compiled expression reads was written before, because names are resolved to slots by what stands textually before.
 */

import type { Permit } from "../authority/policy.ts";
import type { Builtin, Runtime } from "../builtin/builtin.ts";
import type { Fail } from "../effect/failure.ts";
import type { Capability, Value } from "../value/value.ts";

export type { Builtin };

/** Who defined a function anew, and labels of the place where that was. */
export interface Redefined {
    readonly agent: readonly [file: number, name: string];
    readonly by?: readonly string[];
}

/** What closures see of a run. */
export interface RunState extends Runtime {
    /** Steps left in the present slice. Below zero after a decrement: call `over`. */
    left: number;
    /** Calls that may still be nested in the present stretch of closures. */
    depth: number;
    /** A rule asks who decides that a use happens: control flow keeps it. */
    readonly tracks: boolean;
    /** Contents of file imports, by the number that the compiled program gave each. */
    readonly imports: readonly Value[];
    /** Keeps what a block with a name gave, by the number of the name. */
    bind(number: number, value: Value): void;
    /** Set where code runs under a remit: gives a capability that is named the rights of the principal that names it. */
    readonly minter: ((c: Capability) => Capability) | null;
    /** Functions of the program that were defined anew while it runs, by number; null where there are none. */
    readonly replaced: ReadonlyMap<number, Redefined> | null;
    /** `.only(…)`. */
    narrow(c: Capability, layer: readonly Permit[]): Capability;
    /** Whether the code that runs may catch this failure here. */
    catches(fail: Fail): boolean;
    /** The slice is over: leaves a stretch of closures by throwing `BAIL`; does nothing between instructions of frames. */
    over(): void;
    /** Nested too deep for closures: throws `BAIL`. */
    deep(): never;
}

/** Slot 0 is the run, then parameters, locals and temporaries. */
export type Slots = [RunState, ...Value[]];

export type Code = (f: Slots) => Value;

/** How a statement ended: undefined normally, a value for `return`, or a jump out of a loop's body. */
export type Done = Value | undefined | Jump;
export type Step = (f: Slots) => Done;

export class Jump {
    readonly name: string;
    constructor(name: string) {
        this.name = name;
    }
}
export const BREAK = new Jump("break");
export const CONTINUE = new Jump("continue");

/** Thrown through closures to give up a stretch; never seen by a program. */
export class Bail {
    readonly name = "bail";
}
export const BAIL = new Bail();

/** What an operator or a member is read from: a slot, a constant or code. */
export type Operand =
    | { readonly kind: "s"; readonly slot: number }
    | { readonly kind: "k"; readonly value: Value }
    | { readonly kind: "e"; readonly code: Code };

export function codeOf(o: Operand): Code {
    if (o.kind === "e") return o.code;
    if (o.kind === "s") {
        const { slot } = o;
        return (f) => f[slot] as Value;
    }
    const { value } = o;
    return () => value;
}

/** A function as closures. `slots` is the size of its slot array. */
export interface ClosureForm {
    readonly slots: number;
    readonly run: Code;
}

// Arrays as literals by size: `new Array(n)` is slower to make and to use.
export function slots0(size: number, m: RunState): Slots {
    switch (size) {
        case 1:
            return [m];
        case 2:
            return [m, null];
        case 3:
            return [m, null, null];
        case 4:
            return [m, null, null, null];
        case 5:
            return [m, null, null, null, null];
        case 6:
            return [m, null, null, null, null, null];
        default:
            return grown([m, null, null, null, null, null, null, null], size);
    }
}

export function slots1(size: number, m: RunState, a: Value): Slots {
    switch (size) {
        case 2:
            return [m, a];
        case 3:
            return [m, a, null];
        case 4:
            return [m, a, null, null];
        case 5:
            return [m, a, null, null, null];
        case 6:
            return [m, a, null, null, null, null];
        default:
            return grown([m, a, null, null, null, null, null, null], size);
    }
}

export function slots2(size: number, m: RunState, a: Value, b: Value): Slots {
    switch (size) {
        case 3:
            return [m, a, b];
        case 4:
            return [m, a, b, null];
        case 5:
            return [m, a, b, null, null];
        case 6:
            return [m, a, b, null, null, null];
        default:
            return grown([m, a, b, null, null, null, null, null], size);
    }
}

/** `args` are the first parameters. */
export function slotsOf(size: number, m: RunState, args: readonly Value[]): Slots {
    const f = slots0(size, m);
    for (let i = 0; i < args.length; i++) f[i + 1] = args[i] as Value;
    return f;
}

function grown(f: Slots, size: number): Slots {
    for (let i = f.length; i < size; i++) f.push(null);
    return f;
}
