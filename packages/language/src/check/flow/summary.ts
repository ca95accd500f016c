/**
 * What is told of a function to those that call it: what its value carries, and uses that its parameters decide.
 *
 * Boundary: shapes only.
 */
import type { Call } from "../../syntax/tree.ts";
import type { Range } from "../../text/source.ts";
import type { FuncInfo } from "../../scope/model.ts";
import { NEVER, UNKNOWN, type Val } from "./value.ts";

/** A use of a capability, and what it is certainly given. */
export interface Sink {
    readonly kind: "call" | "model" | "out";
    /** Where it stands: with `trail`, the same use by another way is another sink. */
    readonly func: FuncInfo;
    readonly range: Range;
    readonly call?: Call;
    readonly tool: Val;
    readonly method: string;
    readonly args: readonly Val[];
    /** Places of the arguments. */
    readonly ranges: readonly Range[];
    /** It is made whenever the function is called and gives a value. */
    readonly sure: boolean;
    /** Calls that lead to it, the outermost first. */
    readonly trail: readonly { readonly func: FuncInfo; readonly range: Range }[];
}

/** A call of a function and what it leads to. */
export interface Led {
    readonly sink: Sink;
    /** It is made whenever this call gives a value. */
    readonly sure: boolean;
    readonly call: Range;
    readonly args: readonly Val[];
    readonly ranges: readonly Range[];
}

export interface Summary {
    readonly value: Val;
    /** Uses that depend on what the parameters hold. */
    readonly sinks: readonly Sink[];
}

export const NOTHING: Summary = { value: NEVER, sinks: [] };
export const GIVEN_UP: Summary = { value: UNKNOWN, sinks: [] };
