/**
 * Walking program forms: every statement and expression once, parents first.
 *
 * Boundary: structure only; what a node means is decided by whoever walks.
 */
import type { ExprForm, StmtForm } from "@remit/language";

export interface Visit {
    /** False: do not go into it. */
    expr?(e: ExprForm): boolean | undefined;
    stmt?(s: StmtForm): boolean | undefined;
}

export function walkBlock(body: readonly StmtForm[], visit: Visit): void {
    for (const s of body) walkStmt(s, visit);
}

export function walkStmt(s: StmtForm, visit: Visit): void {
    if (visit.stmt?.(s) === false) return;
    switch (s.kind) {
        case "config":
        case "use":
        case "return":
        case "raise":
        case "expr":
            walk(s.value, visit);
            return;
        case "use.one":
            for (const c of s.candidates) if (c.value !== undefined) walk(c.value, visit);
            return;
        case "assign":
            walk(s.target, visit);
            walk(s.value, visit);
            return;
        case "for":
            walk(s.list, visit);
            walkBlock(s.body, visit);
            return;
        case "loop":
            walk(s.until, visit);
            walkBlock(s.body, visit);
            return;
        case "repeat":
        case "delegate":
        case "spend":
            walkBlock(s.body, visit);
            return;
        case "if":
            for (const b of s.branches) {
                walk(b.test, visit);
                walkBlock(b.body, visit);
            }
            if (s.otherwise !== undefined) walkBlock(s.otherwise, visit);
            return;
        case "try":
            walkBlock(s.body, visit);
            walkBlock(s.handler, visit);
            return;
        // Its body is a function of its own.
        case "define":
        case "context":
        case "break":
        case "continue":
        case "debugger":
            return;
    }
}

export function walk(e: ExprForm, visit: Visit): void {
    if (visit.expr?.(e) === false) return;
    switch (e.kind) {
        case "literal":
        case "name":
            return;
        case "list":
            for (const i of e.items) walk(i.kind === "spread" ? i.value : i, visit);
            return;
        case "object":
            for (const i of e.entries) walk(i.value, visit);
            return;
        case "member":
            walk(e.object, visit);
            return;
        case "index":
            walk(e.object, visit);
            walk(e.index, visit);
            return;
        case "call":
            walk(e.callee, visit);
            for (const a of e.args) walk(a.value, visit);
            return;
        case "unary":
            walk(e.value, visit);
            return;
        case "binary":
            walk(e.left, visit);
            walk(e.right, visit);
            return;
        case "lambda":
            walk(e.body, visit);
            return;
        case "if.expr":
            for (const b of e.branches) {
                walk(b.test, visit);
                walkBlock(b.body, visit);
            }
            if (e.otherwise !== undefined) walkBlock(e.otherwise, visit);
            return;
        case "try.expr":
            walkBlock(e.body, visit);
            walkBlock(e.handler, visit);
            return;
        case "parallel":
            walk(e.list, visit);
            walkBlock(e.body, visit);
            return;
        case "narrow":
            walk(e.object, visit);
            return;
        case "endorse":
            walk(e.value, visit);
            walk(e.because, visit);
            return;
        case "generate":
            walk(e.input, visit);
            if (e.model !== undefined) walk(e.model, visit);
            for (const t of e.tools ?? []) walk(t, visit);
            return;
    }
}
