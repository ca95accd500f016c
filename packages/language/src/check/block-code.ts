/**
 * A block as a function: what its stages call, in order, with what flows between them, so that effects, authority and the flow of labels are those
 * of any function.
 *
 * Boundary: makes trees that nothing prints. What is wrong with a stage is told before, and not once more for its call here.
 *
 * BLC1: every node stands at the place of its stage.
 */
import type { BlockDecl, Expr, Func, Ident, Stmt } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";

/** What flows in, and a name for what a stage gives; neither can be written. */
const INPUT = "%input";
const GAVE = "%gave";
/** Before the name of a verb, so that the file's own names stay what they are. */
export const VERB = "%verb.";

export interface Code {
    readonly statements: Stmt[];
}

export function ident(name: string, range: Range): Ident {
    return { kind: "ident", name, range };
}

export function blockInput(range: Range): Expr {
    return ident(INPUT, range);
}

/** The value of a stage, as a name that later ones may use. */
export function gave(code: Code, value: Expr): Expr {
    const target = ident(`${GAVE}${code.statements.length}`, value.range);
    code.statements.push({ kind: "assign", op: "=", target, value, range: value.range });
    return { ...target };
}

export function list(items: readonly Expr[], range: Range): Expr {
    return { kind: "list", items, range };
}

export function call(callee: Expr, args: readonly Expr[], range: Range): Expr {
    return { kind: "call", callee, args: args.map((value) => ({ value, range: value.range })), range };
}

/** Each item of a list. */
export function each(of: Expr, value: (item: Expr) => Expr, range: Range): Expr {
    const item = { text: `${GAVE}item`, range };
    const max = { kind: "number", value: 1, text: "1", range } as const;
    return {
        kind: "parallel",
        item,
        list: of,
        max,
        body: { statements: [{ kind: "expr", value: value(ident(item.text, range)), range }], range },
        range,
    };
}

export function object(entries: readonly (readonly [string, Expr])[], range: Range): Expr {
    return {
        kind: "object",
        entries: entries.map(([key, value]) => ({ kind: "entry", key: { text: key, range }, quoted: false, value, range })),
        range,
    };
}

export function none(range: Range): Expr {
    return { kind: "none", range };
}

export function functionOf({ range }: BlockDecl, number: number, { statements }: Code): Func {
    return {
        kind: "func",
        main: false,
        name: { text: `__block#${number}`, range },
        params: [{ name: { text: INPUT, range }, range }],
        body: { statements, range },
        range,
    };
}
