/**
 * How rows of the table of built-ins are written.
 *
 * Boundary: the form of a row. What it does is a method, in the file of its receiver.
 */
import type { Raw, Value } from "../value/value.ts";
import { ANY_NUMBER, type Arg, label, labelsWith } from "./args.ts";
import type { Builtin, BuiltinOn, Runtime } from "./builtin.ts";

/** A method of receivers of one kind. Its result carries what its own rule says. */
export type Method<Self extends Raw> = (rt: Runtime, self: Self, selfLabel: number, args: readonly Arg[]) => Value;

export type RowOf<M> = (signature: string, summary: string, method: M, more?: Partial<Builtin>) => Builtin;

/** Rows for one kind of receiver: who calls a row has looked at the receiver. */
export function rowsOn<Self extends Raw>(on: BuiltinOn): RowOf<Method<Self>> {
    return (signature, summary, method, more = {}) => ({
        on,
        ...shapeOf(signature),
        signature,
        summary,
        ...more,
        call: (rt, self, selfLabel, args) => method(rt, self as Self, selfLabel, args),
    });
}

/** The name and how many arguments it takes, as a signature says: `slice(from, to?)` one or two, `max(number, …)` one or more. */
export function shapeOf(signature: string): Pick<Builtin, "name" | "min" | "max"> {
    const [, name = signature, inner = ""] = /^(?:json\.|csv\.|time\.)?(\w+)\((.*)\)$/.exec(signature) ?? [];
    const args = inner === "" ? [] : inner.replace(/\(.*?\) => …/, "lambda").split(", ");
    const max = args.includes("…") ? ANY_NUMBER : args.length;
    return { name, min: args.filter((arg) => arg !== "…" && !arg.endsWith("?")).length, max };
}

/** A method whose result carries the labels of its receiver and of every argument. */
export function joining<Self extends Raw>(method: (rt: Runtime, self: Self, args: readonly Arg[]) => Value): Method<Self> {
    return (rt, self, selfLabel, args) => {
        let l = selfLabel;
        for (const arg of args) l = labelsWith(rt, l, arg);
        return label(rt, method(rt, self, args), l);
    };
}
