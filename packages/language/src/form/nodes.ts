/**
 * The small nodes of a tree that is made from a form: names, literals, options. They have no places.
 *
 * Boundary: one node at a time, for `raise.ts` and `stages.ts`.
 */
import type { Json } from "../contract/contract.ts";
import { numberText } from "../contract/show.ts";
import type * as tree from "../syntax/tree.ts";

export const at = { range: { start: 0, end: 0 } };

export function paren(value: tree.Expr): tree.Expr {
    return { kind: "paren", value, ...at };
}

export function ident(called: string): tree.Expr {
    return { kind: "ident", name: called, ...at };
}

export function literal(value: string | number | boolean | null, written?: string): tree.Expr {
    if (value === null) return { kind: "none", ...at };
    if (typeof value === "string") return text(value);
    if (typeof value === "boolean") return { kind: "bool", value, ...at };
    if (value < 0 || Object.is(value, -0)) return { kind: "unary", op: "-", value: number(-value, written?.slice(1)), ...at };
    return number(value, written);
}

export function number(value: number, written = numberText(value)): tree.NumberLit {
    return { kind: "number", value, text: written, ...at };
}

export function text(value: string): tree.StringLit {
    return { kind: "string", value, style: "double", ...at };
}

export function name(of: string): tree.Name {
    return { text: of, ...at };
}

export function raiseJson(value: Json): tree.Expr {
    if (value === null || typeof value !== "object") return literal(value);
    if (Array.isArray(value)) return { kind: "list", items: value.map(raiseJson), ...at };
    const entries = Object.entries(value).map(
        ([key, member]) => ({ kind: "entry", key: name(key), quoted: false, value: raiseJson(member), ...at }) as const,
    );
    return { kind: "object", entries, ...at };
}

/** Milliseconds in the largest unit that needs no fraction. */
export function timeText(milliseconds: number, gap: string): string {
    for (const [unit, size] of [
        ["h", 3_600_000],
        ["min", 60_000],
        ["s", 1000],
    ] as const)
        if (milliseconds > 0 && milliseconds % size === 0) return `${milliseconds / size}${gap}${unit}`;
    return `${milliseconds}${gap}ms`;
}
