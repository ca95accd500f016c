/**
 * Going through trees whatever their kinds are.
 *
 * Boundary: shapes alone; nothing here knows what a node means.
 */
import type { Expr, Node } from "./tree.ts";

/** Any node below a node, itself included; parents first. What stands in one for which `visit` gives false is left out. */
export function eachNode(node: unknown, visit: (node: Node & { readonly kind: string }) => unknown): void {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) {
        for (const one of node) eachNode(one, visit);
        return;
    }
    const of = node as { readonly [key: string]: unknown };
    if (typeof of.kind === "string" && of.range !== undefined && visit(node as Node & { kind: string }) === false) return;
    for (const key in of) {
        const value = of[key];
        if (typeof value === "object" && value !== null && key !== "range") eachNode(value, visit);
    }
}

/** `a` of `a.b[0]`. */
export function rootOf(e: Expr): Expr {
    let root = e;
    while (root.kind === "member" || root.kind === "index" || root.kind === "paren")
        root = root.kind === "paren" ? root.value : root.object;
    return root;
}

/** Numbers, texts, booleans, none, and lists and objects of them; also what could not be read, which has been told. */
export function isLiteral(expr: Expr): boolean {
    switch (expr.kind) {
        case "string":
        case "number":
        case "bool":
        case "none":
        case "missing":
            return true;
        case "unary":
            return expr.op === "-" && expr.value.kind === "number";
        case "list":
            return expr.items.every((item) => item.kind !== "spread" && isLiteral(item));
        case "object":
            return expr.entries.every((entry) => entry.kind === "entry" && isLiteral(entry.value));
        default:
            return false;
    }
}
