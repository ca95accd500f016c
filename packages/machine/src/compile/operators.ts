/**
 * Operators as closures.
 *
 * Boundary: raw numbers and strings are computed here, everything else in `../value/operators.ts`.
 *
 * Each operator has a closure of its own, because V8 keeps type feedback for each place in the source. `+`, `-`, `<` and `>=` have one more
 * for two variables and one more for a variable and a constant, and `x = a + b` has three: without these eleven the programs of
 * `bench/src/machine.ts` take 1.2 times as long (`arithmetic loop` 1.4 times). Closures for all eleven operators and eight kinds of operands,
 * of which there were 120, brought nothing more there.
 */
import type { BinaryOpForm, Site } from "@remit/language";
import { concat, equals, LONG, minus, type NumberOp, numeric, plus, times } from "../value/operators.ts";
import type { Value } from "../value/value.ts";
import { type Code, codeOf, type Operand, type Slots, type Step } from "./code.ts";

type Operator = Exclude<BinaryOpForm, "and" | "or" | "??">;

/** An operator over two operands of these kinds. `compare`: what orders values other than two raw numbers. */
type Make<L, R> = (x: L, y: R, at: Site | null, compare: Compare) => Code;

export type Compare = (f: Slots, op: NumberOp, a: Value, b: Value, at: Site | null) => Value;

const whole: Compare = (f, op, a, b, at) => numeric(f[0], op, a, b, at);

export function operator(op: Operator, l: Operand, r: Operand, at: Site | null, compare = whole): Code {
    if (l.kind === "s" && r.kind === "k") {
        const make = SLOT_AND_CONSTANT[op];
        if (make !== undefined) return make(l.slot, r.value, at, compare);
    }
    if (l.kind === "s" && r.kind === "s") {
        const make = TWO_SLOTS[op];
        if (make !== undefined) return make(l.slot, r.slot, at, compare);
    }
    return GENERAL[op](codeOf(l), codeOf(r), at, compare);
}

/** `l + r`, assigned to a slot. */
export function sumInto(slot: number, l: Operand, r: Operand, at: Site | null): Step {
    if (l.kind === "s" && r.kind === "k") {
        const x = l.slot;
        const b = r.value;
        return (f) => {
            const a = f[x] as Value;
            f[slot] = typeof a === "number" && typeof b === "number" ? a + b : sum(f, a, b, at);
            return undefined;
        };
    }
    if (l.kind === "s" && r.kind === "s") {
        const x = l.slot;
        const y = r.slot;
        return (f) => {
            const a = f[x] as Value;
            const b = f[y] as Value;
            f[slot] = typeof a === "number" && typeof b === "number" ? a + b : sum(f, a, b, at);
            return undefined;
        };
    }
    const x = codeOf(l);
    const y = codeOf(r);
    return (f) => {
        const a = x(f);
        const b = y(f);
        f[slot] = typeof a === "number" && typeof b === "number" ? a + b : sum(f, a, b, at);
        return undefined;
    };
}

function sum(f: Slots, a: Value, b: Value, at: Site | null): Value {
    return typeof a === "string" && typeof b === "string" ? concat(f[0], a, b, at) : plus(f[0], a, b, at);
}

/** Two values that are compared as they are: no lists, no objects, no long strings. */
function areShort(a: Value, b: Value): boolean {
    return typeof a !== "object" && typeof b !== "object" && (typeof a !== "string" || a.length < LONG);
}

const GENERAL: Readonly<Record<Operator, Make<Code, Code>>> = {
    "+": (x, y, at) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" ? a + b : sum(f, a, b, at);
    },
    "-": (x, y, at) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" ? a - b : minus(f[0], a, b, at);
    },
    "*": (x, y, at) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" ? a * b : times(f[0], a, b, at);
    },
    "/": (x, y, at) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" && b !== 0 ? a / b : numeric(f[0], "/", a, b, at);
    },
    "%": (x, y, at) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" && b !== 0 ? a % b : numeric(f[0], "%", a, b, at);
    },
    "<": (x, y, at, compare) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" ? a < b : compare(f, "<", a, b, at);
    },
    "<=": (x, y, at, compare) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" ? a <= b : compare(f, "<=", a, b, at);
    },
    ">": (x, y, at, compare) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" ? a > b : compare(f, ">", a, b, at);
    },
    ">=": (x, y, at, compare) => (f) => {
        const a = x(f);
        const b = y(f);
        return typeof a === "number" && typeof b === "number" ? a >= b : compare(f, ">=", a, b, at);
    },
    "==": (x, y, at) => (f) => {
        const a = x(f);
        const b = y(f);
        return areShort(a, b) ? a === b : equals(f[0], a, b, true, at);
    },
    "!=": (x, y, at) => (f) => {
        const a = x(f);
        const b = y(f);
        return areShort(a, b) ? a !== b : equals(f[0], a, b, false, at);
    },
};

const SLOT_AND_CONSTANT: { readonly [op in Operator]?: Make<number, Value> } = {
    "+": (x, b, at) => (f) => {
        const a = f[x] as Value;
        return typeof a === "number" && typeof b === "number" ? a + b : sum(f, a, b, at);
    },
    "-": (x, b, at) => (f) => {
        const a = f[x] as Value;
        return typeof a === "number" && typeof b === "number" ? a - b : minus(f[0], a, b, at);
    },
    "<": (x, b, at, compare) => (f) => {
        const a = f[x] as Value;
        return typeof a === "number" && typeof b === "number" ? a < b : compare(f, "<", a, b, at);
    },
    ">=": (x, b, at, compare) => (f) => {
        const a = f[x] as Value;
        return typeof a === "number" && typeof b === "number" ? a >= b : compare(f, ">=", a, b, at);
    },
};

const TWO_SLOTS: { readonly [op in Operator]?: Make<number, number> } = {
    "+": (x, y, at) => (f) => {
        const a = f[x] as Value;
        const b = f[y] as Value;
        return typeof a === "number" && typeof b === "number" ? a + b : sum(f, a, b, at);
    },
    "-": (x, y, at) => (f) => {
        const a = f[x] as Value;
        const b = f[y] as Value;
        return typeof a === "number" && typeof b === "number" ? a - b : minus(f[0], a, b, at);
    },
    "<": (x, y, at, compare) => (f) => {
        const a = f[x] as Value;
        const b = f[y] as Value;
        return typeof a === "number" && typeof b === "number" ? a < b : compare(f, "<", a, b, at);
    },
    ">=": (x, y, at, compare) => (f) => {
        const a = f[x] as Value;
        const b = f[y] as Value;
        return typeof a === "number" && typeof b === "number" ? a >= b : compare(f, ">=", a, b, at);
    },
};
