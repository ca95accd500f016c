/**
 * `format`: a file in its one layout. `printExpr`: an expression on one line. `applyFixes`: a text with repairs made.
 *
 * Boundary: trees to text. Knows nothing of meaning; the same tree and comments give the same text.
 *
 * PRI1: parse(format(parse(text))) is the tree of the text, ranges aside. PRI2: formatting is idempotent. PRI3: no comment is lost.
 * PT3: a file that could not be read whole is given back as it is, and so is one whose layout could not be read again.
 */
import type { Fix } from "../../diagnostics/diagnostic.ts";
import { source } from "../../text/source.ts";
import { parse } from "../parse/parse.ts";
import type { Agent, Expr, File, Import, ImportClause, Item, RemitUse, ShapeDecl } from "../tree.ts";
import { clauseText, remitBody, remitUse } from "./authority.ts";
import { agentLine, block, func, head } from "./blocks.ts";
import { contractNode, expression } from "./layout.ts";
import { backendBlock } from "./stages.ts";
import { commentsBefore, elements, hasComments, indented, newWriter, put, sequence, type Writer } from "./writer.ts";

/** Comments inside expressions settle in one or two rounds; no text needs more than this. */
const ROUNDS = 8;

/**
 * The text of a file in its one layout: four spaces a step, at most one empty line, earlier spellings in the current one. Lines end as
 * they did where all ended in CR LF, else in LF.
 */
export function format(file: File): string {
    if (hasErrors(file)) return file.source.text;
    let { text, moved } = layOut(file);
    for (let round = 0; moved && round < ROUNDS; round++) {
        const read = parse(source(text, file.source.file));
        if (hasErrors(read)) return file.source.text;
        const again = layOut(read);
        if (again.text === text) break;
        ({ text, moved } = again);
    }
    // A line break inside a string in quotes is part of its value; in such a file it has its CR already.
    return endsInCrLf(file.source.text) ? text.replace(/\r?\n/g, "\r\n") : text;
}

function hasErrors(file: File): boolean {
    return file.diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

/** Every line break of the text is CR LF, and there is one. */
function endsInCrLf(text: string): boolean {
    return text.includes("\n") && !/(?:^|[^\r])\n|\r(?!\n)/.test(text);
}

function layOut(file: File): { text: string; moved: boolean } {
    const w = newWriter(block, { text: file.source.text, comments: file.comments });
    const end = file.source.text.length;
    // Imports may stand close together; everything else is set apart by one empty line.
    const isApart = (node: Item, before: Item): boolean => before.kind !== "import" || node.kind !== "import";
    elements(w, end, file.items, (node) => item(w, node), isApart);
    return { text: w.out, moved: w.moved };
}

/**
 * An expression on one line, as a context item names its source: `a.b[0]`, `{ k: v }`, `[x, y]`, strings in JSON's quotes, numbers as
 * written, parentheses only where they are needed. Blocks are shortened where they hold statements of several lines.
 */
export function printExpr(expr: Expr): string {
    const w = newWriter(block);
    expression(w, expr, 0);
    return w.out;
}

/**
 * The text with fixes applied; a line break in a fix is what it is in the text. Edits are made from first to last; a fix that overlaps one before it is left out whole, so that a second
 * round can bring it.
 */
export function applyFixes(text: string, fixes: readonly Fix[]): string {
    const chosen: { start: number; end: number; text: string }[] = [];
    for (const fix of fixes) {
        const edits = fix.edits.map((edit) => ({ start: edit.range.start, end: edit.range.end, text: edit.text }));
        const clashes = edits.some((edit) => chosen.some((other) => overlaps(edit, other)));
        if (!clashes) chosen.push(...edits);
    }
    const sorted = chosen
        .map((edit, order) => ({ ...edit, order }))
        .sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order);
    const lines = endsInCrLf(text);
    let out = "";
    let from = 0;
    for (const edit of sorted) {
        out += text.slice(from, edit.start) + (lines ? edit.text.replace(/\r?\n/g, "\r\n") : edit.text);
        from = edit.end;
    }
    return out + text.slice(from);
}

function overlaps(a: { start: number; end: number; text: string }, b: { start: number; end: number; text: string }): boolean {
    if (a.start === b.start && a.end === b.end) return a.start !== a.end || a.text === b.text;
    return a.start < b.end && b.start < a.end;
}

// ---- items -------------------------------------------------------------------------------------------------------

function item(w: Writer, node: Item): void {
    switch (node.kind) {
        case "import":
            importLine(w, node);
            return;
        case "shape":
            shape(w, node);
            return;
        case "agent":
            agent(w, node);
            return;
        case "func":
            func(w, node);
            return;
        case "remit":
            put(w, `remit ${node.name.text} `);
            remitBody(w, node.body);
            return;
        case "flow":
            put(w, "flow strict");
            return;
        case "block":
            backendBlock(w, node);
            return;
    }
}

function importLine(w: Writer, node: Import): void {
    put(w, `import ${node.what} ${node.name.text} from `);
    expression(w, node.uri, 0);
    if (node.unconfined === true) put(w, " unconfined");
    const { remit, clauses, uri, range } = node;
    if (remit === undefined && clauses === undefined) return;
    put(w, " ");
    const brackets = { open: "{", from: uri.range.end, close: range.end - 1 } as const;
    if (remit !== undefined && clauses !== undefined) {
        const parts = [remit, ...clauses].sort((a, b) => a.range.start - b.range.start);
        sequence(w, brackets, parts, (_, part) => (isRemit(part) ? remitUse(w, part) : put(w, clauseText(part))));
    } else if (clauses !== undefined) sequence(w, brackets, clauses, (_, clause) => put(w, clauseText(clause)), 0);
    else if (remit !== undefined && hasComments(w, range)) sequence(w, brackets, [remit], remitUse);
    else if (remit !== undefined) {
        put(w, "{ ");
        remitUse(w, remit);
        put(w, " }");
    }
}

function isRemit(part: RemitUse | ImportClause): part is RemitUse {
    return part.kind === "remit.body" || part.kind === "remit.use";
}

function shape(w: Writer, node: ShapeDecl): void {
    put(w, `shape ${node.name.text} `);
    contractNode(w, node.contract, 0, true);
}

function agent(w: Writer, node: Agent): void {
    const close = node.range.end - 1;
    put(w, `${head("agent", node)} {`);
    const parts = [...(node.remit === undefined ? [] : [node.remit]), ...node.config, ...node.funcs];
    // Where it stands among the lines before the functions is kept, so that comments stay beside what they are about.
    parts.sort((a, b) => a.range.start - b.range.start);
    if (parts.length > 0 || commentsBefore(w, close)) {
        const write = (line: (typeof parts)[number]): void => {
            if (line.kind === "func") func(w, line);
            else if (line.kind === "remit.body" || line.kind === "remit.use") remitUse(w, line);
            else agentLine(w, line);
        };
        indented(w, { from: node.name?.range.end ?? node.range.start, close }, parts, write, (line) => line.kind === "func");
    }
    put(w, "}");
}
