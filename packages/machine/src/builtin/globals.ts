/**
 * Built-in functions called by their bare name: `text number min max`. They are outermost and can be shadowed.
 *
 * GL1: `text` shows strings, numbers and booleans as `+` does, everything else as JSON on one line.
 * GL2: `number` reads what the language would read as a number literal, with a sign, an exponent and white space around it allowed. What is
 *     not a number is a failure: none would lose the text that was there. So would a whole number beyond 2^53.
 */

import { Fail } from "../effect/failure.ts";
import { rawOf } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { type Arg, isLambda, label, labelsWith, numberOf, wrong } from "./args.ts";
import type { Builtin, Runtime } from "./builtin.ts";
import { jsonText } from "./json.ts";
import { shapeOf } from "./row.ts";

function text(rt: Runtime, args: readonly Arg[]): Value {
    const value = args[0] as Arg;
    if (isLambda(value)) throw wrong("text", "its argument", "a value", value);
    const raw = rawOf(value);
    if (typeof raw === "string") return value;
    const made = jsonText(value, rt);
    return label(rt, typeof raw === "number" ? String(raw) : made.text, made.labels);
}

const NUMERAL = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

function number(rt: Runtime, args: readonly Arg[]): Value {
    const value = args[0] as Arg;
    const raw = isLambda(value) ? null : rawOf(value);
    if (typeof raw === "number" && !isLambda(value)) return value;
    if (typeof raw !== "string") throw wrong("number", "its argument", "a number or a string", value);
    const l = labelsWith(rt, 0, value);
    rt.work(WORK.chars(4 * raw.length));
    const found = NUMERAL.exec(raw.trim());
    const shown = JSON.stringify(raw.length > 40 ? `${raw.slice(0, 40)}…` : raw);
    if (found === null)
        throw new Fail("value", `number: ${shown} is not a number`, { labels: l, hint: "catch the failure where something else may come" });
    const read = Number(found[0]);
    if (!Number.isFinite(read)) throw new Fail("value", `number: ${shown} is too large`, { labels: l });
    if (found[1] === undefined && found[2] === undefined && !Number.isSafeInteger(read))
        throw new Fail("value", `number: ${shown} is a whole number beyond 2^53 and would lose digits`, {
            labels: l,
            hint: "keep it as a string",
        });
    return label(rt, read, l);
}

const extreme =
    (name: "min" | "max") =>
    (rt: Runtime, args: readonly Arg[]): Value => {
        let l = 0;
        for (const arg of args) l = labelsWith(rt, l, arg);
        return label(rt, Math[name](...args.map((arg) => numberOf(name, "every argument", arg))), l);
    };

function row(signature: string, summary: string, call: (rt: Runtime, args: readonly Arg[]) => Value): Builtin {
    return { on: "global", ...shapeOf(signature), signature, summary, call: (rt, _self, _l, args) => call(rt, args) };
}

export const GLOBAL_BUILTINS: readonly Builtin[] = [
    row("text(value)", "The value as text: strings, numbers and booleans as `+` shows them, everything else as JSON on one line.", text),
    row("number(value)", "The number that a string stands for; a number as it is. A `value` failure where it is none.", number),
    row("min(number, …)", "The smallest of the numbers.", extreme("min")),
    row("max(number, …)", "The largest of the numbers.", extreme("max")),
];
