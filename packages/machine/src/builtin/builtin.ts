/**
 * What a built-in function or method is, and what it may use of a run.
 *
 * Boundary: a built-in is pure: it sees its operands and `Runtime`, never a host, but for the ones that are an effect (`effect`). Each is one row
 * of a table with its label rule.
 */
import type { Pattern } from "@remit/language";
import type { Labels } from "../value/label.ts";
import type { Heap, Raw, Value } from "../value/value.ts";

/** What operators, built-ins and rendering need of a run. */
export interface Runtime {
    readonly heap: Heap;
    readonly labels: Labels;
    /** One step. Throws at the end of the slice or of the budget. */
    step(): void;
    /** Bytes about to be allocated by a value that grows (2 for each UTF-16 unit, 8 for each element). Throws `limit.bytes`. */
    charge(bytes: number): void;
    /**
     * Work that is no step: looking at items and characters. It uses up the slice, not the budget of steps, and leaves no trace in what a run
     * gives. Throws at the end of the slice inside a stretch.
     */
    work(units: number): void;
    /** The work from here on is that of one built-in or operator, which may take so much and no more. */
    fresh(): void;
    /** Patterns that `match` compiled, by flags and text. Forgotten with the run, and when there are many. */
    readonly patterns: Map<string, Pattern>;
}

/** A lambda given to a built-in. Calling it counts its own steps. Missing arguments are none, spare ones are dropped. */
export interface Lambda {
    readonly arity: number;
    call(args: readonly Value[]): Value;
}

export type BuiltinOn = "string" | "list" | "object" | "number" | "global" | "json" | "csv" | "time";

export interface Builtin {
    readonly on: BuiltinOn;
    readonly name: string;
    /** One line for the documentation, and the call with parameter names: `slice(from, to?)`. */
    readonly signature: string;
    readonly summary: string;
    readonly min: number;
    readonly max: number;
    /** Index of the argument that is a lambda, if one is. */
    readonly lambda?: number;
    /** True where it changes its receiver (`add`). */
    readonly mutates?: true;
    /** It is an effect of this kind: no code of its own, and on frames only. */
    readonly effect?: "clock";
    /** A property, read without a call (`length`, `summary`), as well as a method. */
    readonly property?: true;
    /**
     * `self` is the receiver without its label, `selfLabel` its label set; null and 0 for globals. Lambdas come as `Lambda`. The result carries
     * exactly the labels that its rule gives it. Throws `Fail("value", …)` for operands it does not take.
     */
    call(rt: Runtime, self: Raw, selfLabel: number, args: readonly (Value | Lambda)[]): Value;
}
