/**
 * Expressions as source again, as the ledger and prompts show them: `a.b[0]`, `{ k: v }`, `[x, y]`, `x + y`.
 *
 * Boundary: expressions of the program form. Whole programs are printed by the language package; this is the short form of AgentScript's
 * `source` fields, with brackets where precedence needs them.
 */
import type { BinaryOpForm, ExprForm } from "@remit/language";

const LEVEL: Record<BinaryOpForm, number> = {
    "??": 1,
    or: 2,
    and: 3,
    "==": 4,
    "!=": 4,
    "<": 5,
    "<=": 5,
    ">": 5,
    ">=": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "/": 7,
    "%": 7,
};
const UNARY = 8;
const POSTFIX = 9;

export function sourceOf(e: ExprForm, level = 0): string {
    switch (e.kind) {
        case "literal":
            return e.value === null ? "none" : JSON.stringify(e.value);
        case "name":
            return e.name;
        case "list":
            return `[${e.items.map((i) => (i.kind === "spread" ? `...${sourceOf(i.value)}` : sourceOf(i))).join(", ")}]`;
        case "object":
            return e.entries.length === 0
                ? "{}"
                : `{ ${e.entries.map((i) => (i.kind === "spread" ? `...${sourceOf(i.value)}` : `${keyOf(i.key)}: ${sourceOf(i.value)}`)).join(", ")} }`;
        case "member":
            return `${sourceOf(e.object, POSTFIX)}${e.safe ? "?." : "."}${e.name}`;
        case "index":
            return `${sourceOf(e.object, POSTFIX)}[${sourceOf(e.index)}]`;
        case "call":
            return `${sourceOf(e.callee, POSTFIX)}(${e.args.map((a) => (a.name === undefined ? "" : `${a.name}: `) + sourceOf(a.value)).join(", ")})`;
        case "unary":
            return within(level > UNARY, e.op === "not" ? `not ${sourceOf(e.value, UNARY)}` : `-${sourceOf(e.value, UNARY)}`);
        case "binary":
            return within(level > LEVEL[e.op], `${sourceOf(e.left, LEVEL[e.op])} ${e.op} ${sourceOf(e.right, LEVEL[e.op] + 1)}`);
        case "lambda":
            return within(level > 0, `(${e.params.join(", ")}) => ${sourceOf(e.body)}`);
        case "generate":
            return "generate(…)";
        case "parallel":
            return `parallel for ${e.item} in ${sourceOf(e.list)} max ${e.max} {…}`;
        case "if.expr":
            return "if …";
        case "try.expr":
            return "try …";
    }
}

function keyOf(key: string): string {
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? key : JSON.stringify(key);
}

function within(brackets: boolean, text: string): string {
    return brackets ? `(${text})` : text;
}
