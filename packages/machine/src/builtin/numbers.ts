/**
 * Built-in methods of numbers. Every result has the labels of the receiver and of all arguments.
 *
 * NU1: `round` rounds the number as it is written (its shortest decimal form), halves away from zero: `1.005.round(2)` is 1.01, `(-2.5).round()`
 *     is -3. No result is a negative zero.
 */
import { type Arg, numberOf, wholeOf, wrongValue } from "./args.ts";
import type { Builtin } from "./builtin.ts";
import { joining, type RowOf, rowsOn } from "./row.ts";

type Method = (self: number, args: readonly Arg[]) => number;

const plain = rowsOn<number>("number");

const row: RowOf<Method> = (signature, summary, method) =>
    plain(
        signature,
        summary,
        joining<number>((_, self, args) => method(self, args) + 0),
    );

/** Decimal places that rounding may ask for, either way. */
const MAX_DIGITS = 15;

function round(self: number, args: readonly Arg[]): number {
    const digits = wholeOf("round", "digits", args[0], 0);
    if (Math.abs(digits) > MAX_DIGITS) throw wrongValue("round", "digits", `between -${MAX_DIGITS} and ${MAX_DIGITS}`, args[0]);
    if (!Number.isFinite(self)) return self;
    const size = Math.round(shifted(Math.abs(self), digits));
    return Math.sign(self) * shifted(size, -digits);
}

/** `x` times a power of ten, exact in the decimal form. */
function shifted(x: number, by: number): number {
    const [digits, exponent = "0"] = String(x).split("e");
    return Number(`${digits}e${Number(exponent) + by}`);
}

function numbers(name: string, args: readonly Arg[]): number[] {
    return args.map((arg) => numberOf(name, "other", arg));
}

export const NUMBER_BUILTINS: readonly Builtin[] = [
    row(
        "round(digits?)",
        "Rounded to whole numbers or to that many decimal places, up to 15 (negative, down to -15: tens, hundreds …), halves away from zero.",
        round,
    ),
    row("floor()", "The largest whole number that is not above it.", Math.floor),
    row("ceil()", "The smallest whole number that is not below it.", Math.ceil),
    row("abs()", "Its size without its sign.", Math.abs),
    row("min(other, …)", "The smallest of it and the others.", (self, args) => Math.min(self, ...numbers("min", args))),
    row("max(other, …)", "The largest of it and the others.", (self, args) => Math.max(self, ...numbers("max", args))),
];
