/**
 * Blocks and statements: one statement a line, four spaces a step.
 *
 * BK1: a statement that would be read as part of the one before, or as another statement, gets parentheses. Trees that were read from text
 *     never need them; trees made from a program form may.
 */
import { quoteString } from "../strings.ts";
import type { Agent, Block, Candidate, Config, ContextBudget, Expr, Func, Label, Stmt, Use, UseOneOf } from "../tree.ts";
import { amountsText, refsText } from "./authority.ts";
import { attempt, branches, contractNode, expression, parameters } from "./layout.ts";
import { isSigned, leftmost } from "./literals.ts";
import { commentsBefore, indented, mayBreak, put, sequence, significant, type Writer } from "./writer.ts";

export function block(w: Writer, node: Block): void {
    const { statements, range } = node;
    const close = range.end - 1;
    if (statements.length === 0 && !commentsBefore(w, close)) put(w, "{}");
    else if (w.limit !== undefined) blockOnOneLine(w, statements);
    else {
        put(w, "{");
        indented(w, { from: range.start + 1, close }, statements, (one, index) => statement(w, one, statements[index - 1]));
        put(w, "}");
    }
}

/** Statements that are shown on one line; the others hold blocks, or a prompt. */
const SHOWN: ReadonlySet<Stmt["kind"]> = new Set<Stmt["kind"]>(["expr", "return", "raise", "assign", "break", "continue", "debugger"]);

/** `{ expression }`. To the formatter a block of anything else does not go on one line. */
function blockOnOneLine(w: Writer, statements: readonly Stmt[]): void {
    if (!w.display && (statements.length > 1 || statements[0]?.kind !== "expr") && !mayBreak(w)) return;
    put(w, "{ ");
    statements.forEach((one, index) => {
        if (index > 0) put(w, " ");
        if (SHOWN.has(one.kind)) statement(w, one, undefined);
        else put(w, "…");
    });
    put(w, " }");
}

// ---- statements --------------------------------------------------------------------------------------------------

function statement(w: Writer, node: Stmt, before: Stmt | undefined): void {
    switch (node.kind) {
        case "config":
        case "context":
        case "use":
        case "use.one":
            agentLine(w, node);
            return;
        case "return":
        case "raise":
            put(w, `${node.kind} `);
            expression(w, node.value, 0);
            return;
        case "repeat":
            put(w, `repeat * ${node.times.text} `);
            block(w, node.body);
            return;
        case "for":
            put(w, `for ${node.item.text} in `);
            expression(w, node.list, node.max.text.length + 8);
            put(w, ` max ${node.max.text} `);
            block(w, node.body);
            return;
        case "loop":
            put(w, "loop until ");
            expression(w, node.until, node.max.text.length + 8);
            put(w, ` max ${node.max.text} `);
            block(w, node.body);
            return;
        case "if":
            branches(w, node.branches, node.otherwise);
            return;
        case "try":
            attempt(w, node);
            return;
        case "delegate":
            put(w, `delegate ${node.all ? "all" : refsText(node.refs)} to ${node.to.text}${node.onward ? " onward" : ""} `);
            block(w, node.body);
            return;
        case "define":
            put(w, `define ${node.func.name?.text ?? ""} = `);
            func(w, { ...node.func, name: undefined });
            if (node.keep) put(w, " keep");
            return;
        case "spend":
            put(w, `spend ${amountsText(node.amounts)} `);
            block(w, node.body);
            return;
        case "break":
        case "continue":
        case "debugger":
            put(w, node.kind);
            return;
        case "assign":
            opening(w, node.target, before, 3);
            put(w, ` ${node.op} `);
            expression(w, node.value, 0);
            return;
        case "expr":
            opening(w, node.value, before, 0);
            return;
    }
}

/** What configuration lines of agents and statements share. */
export function agentLine(w: Writer, node: Config | ContextBudget | Use | UseOneOf): void {
    switch (node.kind) {
        case "config":
            put(w, `${node.key} `);
            expression(w, node.value, 0);
            return;
        case "context":
            put(w, `context max ${node.max.text}`);
            return;
        case "use": {
            put(w, node.image ? "use image " : "use ");
            const rest = qualifiers(node);
            expression(w, node.value, rest.length);
            put(w, rest);
            return;
        }
        case "use.one":
            put(w, "use one of ");
            sequence(
                w,
                { open: "{", from: node.range.start + "use one of {".length, close: closeOf(w, node), comma: "" },
                node.candidates,
                candidate,
            );
            put(w, qualifiers(node));
            return;
    }
}

function closeOf(w: Writer, node: UseOneOf): number {
    const last = node.candidates.at(-1);
    return last === undefined ? node.range.end : significant(w, last.range.end);
}

function candidate(w: Writer, node: Candidate): void {
    put(w, `${node.name.text}: `);
    const rest = (node.max === undefined ? "" : ` max ${node.max.text}`) + (node.selected ? " selected" : "");
    if (node.value === undefined) put(w, "empty");
    else expression(w, node.value, rest.length);
    put(w, rest);
}

function qualifiers(node: Use | UseOneOf): string {
    let out = "";
    if (node.kind === "use" && node.max !== undefined) out += ` max ${node.max.text}`;
    if (node.priority !== undefined) out += ` priority ${node.priority.text}`;
    return node.label === undefined ? out : `${out} as ${labelText(node.label)}`;
}

function labelText(label: Label): string {
    return label.quoted ? quoteString(label.text, '"') : label.text;
}

// ---- the first word of a statement -------------------------------------------------------------------------------

/** Words that always begin another statement. */
const RESERVED: ReadonlySet<string> = new Set("use return repeat for loop if model role description".split(" "));

function opening(w: Writer, node: Expr, before: Stmt | undefined, tail: number): void {
    const first = leftmost(node);
    const guarded =
        !w.display &&
        ((isSigned(first) && before !== undefined && open(before)) ||
            (first.kind === "ident" && (RESERVED.has(first.name) || goesOn(first.name, before))) ||
            first.kind === "if.expr" ||
            first.kind === "try.expr");
    if (guarded) put(w, "(");
    expression(w, node, guarded ? tail + 1 : tail);
    if (guarded) put(w, ")");
}

/** Whether an expression ends the statement, so that an operator on the next line would go on with it. */
function open(node: Stmt): boolean {
    switch (node.kind) {
        case "expr":
        case "assign":
        case "return":
        case "raise":
        case "config":
        case "break":
        case "continue":
        case "debugger":
            return true;
        case "use":
            return node.max === undefined && node.priority === undefined && node.label === undefined;
        default:
            return false;
    }
}

/** Whether a word at the start of a line would go on with the statement before. */
function goesOn(word: string, before: Stmt | undefined): boolean {
    if (before === undefined) return false;
    if (word === "and" || word === "or") return open(before);
    if (before.kind === "use")
        return (word === "max" && before.max === undefined && before.label === undefined) || (word === "as" && before.label === undefined);
    return before.kind === "if" && before.otherwise === undefined && word === "else";
}

// ---- functions ---------------------------------------------------------------------------------------------------

export function head(word: string, node: Agent | Func): string {
    return `${node.main ? "main " : ""}${word}${node.name === undefined ? "" : ` ${node.name.text}`}`;
}

export function func(w: Writer, node: Func): void {
    const { result, body } = node;
    put(w, head("func", node));
    const from = node.name?.range.end ?? node.range.start;
    const last = node.params.at(-1);
    const close = last === undefined ? significant(w, significant(w, from) + 1) : significant(w, last.range.end);
    parameters(w, node.params, { from: node.range.start, close }, result === undefined ? 2 : 5);
    put(w, " ");
    if (result !== undefined) {
        put(w, "-> ");
        contractNode(w, result, 2, true);
        put(w, " ");
    }
    block(w, body);
}
