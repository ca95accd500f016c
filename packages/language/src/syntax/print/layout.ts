/**
 * Expressions and contracts, on one line or several.
 *
 * Boundary: a node goes on the present line if it fits and holds no comment; otherwise it is broken at its own brackets or operators and
 * the same question is asked of its parts.
 *
 * LY1: no line break is written before `(` or `[` of a call or an index, nor before the sign at the start of a statement (D6).
 */
import { isIdentifier } from "../../contract/open.ts";
import { blockLines, blockRawLines, decodeBlock, guardLines, quoteString, nameText } from "../strings.ts";
import { templateText } from "../templates.ts";
import { POSTFIX_PRECEDENCE, PRECEDENCE, UNARY_PRECEDENCE } from "../tokens.ts";
import type {
    Arg,
    Binary,
    Block,
    Call,
    ContractField,
    ContractNode,
    Endorse,
    Expr,
    Generate,
    GenerateOption,
    Narrow,
    ObjectEntry,
    Param,
    Spread,
    StringLit,
    Try,
    TryExpr,
} from "../tree.ts";
import { boundsText } from "./authority.ts";
import {
    contractLiteral,
    endorsesBare,
    isSigned,
    keyText,
    needsParens,
    numberLiteral,
    readsAsNarrow,
    stringText,
    unwrapped,
} from "./literals.ts";
import {
    type Brackets,
    between,
    commentsAfter,
    commentsBefore,
    fits,
    hasComments,
    mayBreak,
    newline,
    put,
    putLine,
    sequence,
    significant,
    type Writer,
} from "./writer.ts";

/** An expression where at least `least` is wanted, with `tail` characters to follow on its last line. */
export function expression(w: Writer, node: Expr, tail: number, least = 0): void {
    if (w.failed) return;
    if (w.limit === undefined) {
        between(w, node.range.start);
        if (!hasComments(w, node.range) && fits(w, tail, () => grouped(w, node, 0, least))) return;
    }
    grouped(w, node, tail, least);
}

function grouped(w: Writer, node: Expr, tail: number, least: number): void {
    const inner = w.display ? unwrapped(node) : node;
    const parens = needsParens(inner, least);
    if (parens) put(w, "(");
    write(w, inner, parens ? tail + 1 : tail);
    if (parens) put(w, ")");
}

/** Why it is long: one case for each kind of expression. */
function write(w: Writer, node: Expr, tail: number): void {
    switch (node.kind) {
        case "string":
            if (node.style === "block" && !w.display) blockString(w, node);
            else put(w, stringText(w, node));
            return;
        case "number":
            put(w, numberLiteral(node));
            return;
        case "bool":
            put(w, String(node.value));
            return;
        case "none":
            put(w, "none");
            return;
        case "ident":
            put(w, node.name);
            return;
        case "missing":
            return;
        case "list":
            sequence(w, { open: "[", from: node.range.start + 1, close: node.range.end - 1 }, node.items, item);
            return;
        case "object":
            sequence(w, { open: "{", from: node.range.start + 1, close: node.range.end - 1 }, node.entries, item);
            return;
        case "member":
            expression(w, node.object, tail, POSTFIX_PRECEDENCE);
            w.indent++;
            between(w, node.name.range.start);
            put(w, (node.safe ? "?." : ".") + node.name.text);
            w.indent--;
            return;
        case "index":
            expression(w, node.object, 1, POSTFIX_PRECEDENCE);
            put(w, "[");
            expression(w, node.index, tail + 1);
            between(w, node.range.end - 1);
            put(w, "]");
            return;
        case "call":
            yieldOrCall(w, node, tail);
            return;
        case "unary":
            if (node.op === "text") {
                hole(w, node.value);
                return;
            }
            put(w, node.op === "not" ? "not " : "-");
            if (node.op === "-" && isSigned(w.display ? unwrapped(node.value) : node.value)) put(w, " ");
            expression(w, node.value, tail, UNARY_PRECEDENCE);
            return;
        case "binary":
            if (node.template === true) template(w, node);
            else chain(w, node, tail);
            return;
        case "paren":
            put(w, "(");
            expression(w, node.value, tail + 1);
            between(w, node.range.end - 1);
            put(w, ")");
            return;
        case "lambda":
            put(w, `(${node.params.map((param) => param.text).join(", ")}) => `);
            expression(w, node.body, tail);
            return;
        case "if.expr":
            branches(w, node.branches, node.otherwise);
            return;
        case "try.expr":
            attempt(w, node);
            return;
        case "narrow":
            expression(w, node.object, tail, POSTFIX_PRECEDENCE);
            put(w, narrowText(node));
            return;
        case "endorse":
            endorse(w, node, tail);
            return;
        case "generate":
            generate(w, node, tail);
            return;
        case "parallel":
            if (!w.display && !mayBreak(w)) return;
            put(w, `parallel for ${node.item.text} in `);
            expression(w, node.list, node.max.text.length + 8);
            put(w, ` max ${node.max.text} `);
            if (node.stop !== undefined) put(w, `stop after ${node.stop.text} ${node.stop.value === 1 ? "failure" : "failures"} `);
            w.block(w, node.body);
            return;
    }
}

/** `if … { } else if … { } else { }` */
export function branches(w: Writer, all: readonly { readonly test: Expr; readonly body: Block }[], otherwise?: Block): void {
    all.forEach((branch, index) => {
        put(w, index === 0 ? "if " : " else if ");
        expression(w, branch.test, 2);
        put(w, " ");
        w.block(w, branch.body);
    });
    if (otherwise === undefined) return;
    put(w, " else ");
    w.block(w, otherwise);
}

/** `try { } catch name { }` */
export function attempt(w: Writer, { body, name, handler }: Try | TryExpr): void {
    put(w, "try ");
    w.block(w, body);
    put(w, name === undefined ? " catch " : ` catch ${name.text} `);
    w.block(w, handler);
}

/** Operators of one precedence; over several lines each on a line of its own, before its right side. */
function chain(w: Writer, node: Binary, tail: number): void {
    const precedence = PRECEDENCE[node.op];
    const links: Binary[] = [];
    let first: Expr = node;
    while (first.kind === "binary" && first.template !== true && PRECEDENCE[first.op] === precedence) {
        links.push(first);
        first = first.left;
    }
    expression(w, first, 0, precedence);
    w.indent++;
    for (let i = links.length - 1; i >= 0 && !w.failed; i--) {
        const link = links[i] as Binary;
        // Comments before the operand stand at the end of the line before, or on lines of their own.
        between(w, link.right.range.start);
        if (w.limit !== undefined) put(w, " ");
        else if (!w.fresh) newline(w);
        put(w, `${link.op} `);
        expression(w, link.right, i === 0 ? tail : 0, precedence + 1);
    }
    w.indent--;
}

/** Its texts as they are, line breaks too; its expressions on one line. */
function template(w: Writer, node: Binary): void {
    const parts: Expr[] = [];
    let first: Expr = node;
    while (first.kind === "binary" && first.template === true) {
        parts.push(first.right);
        first = first.left;
    }
    put(w, "`");
    for (const part of [first, ...parts.reverse()]) {
        if (part.kind === "string") put(w, w.display ? JSON.stringify(templateText(part.value)).slice(1, -1) : templateText(part.value));
        else if (part.kind === "unary") hole(w, part.value);
    }
    put(w, "`");
}

function hole(w: Writer, value: Expr): void {
    put(w, "{");
    expression(w, value, 1);
    put(w, "}");
}

/** A text in quotes would be a value that the method `only` is called with. */
function narrowedText(name: string): string {
    const text = nameText(name);
    return text === name ? name : `.${text}`;
}

function narrowText(node: Narrow): string {
    return `.only(${node.methods.map((m) => narrowedText(m.method.text) + boundsText(m.bounds)).join(", ")})`;
}

function endorse(w: Writer, { value, readers, because }: Endorse, tail: number): void {
    const bare = endorsesBare(w.display ? unwrapped(value) : value);
    put(w, bare ? "endorse " : "endorse (");
    expression(w, value, 0);
    if (!bare) put(w, ")");
    put(w, ` ${readers === undefined ? "as trusted" : `for ${readers.map((r) => quoteString(r.value, '"')).join(", ")}`} because `);
    expression(w, because, tail);
}

// ---- elements of brackets ----------------------------------------------------------------------------------------

function item(w: Writer, node: Expr | Spread | ObjectEntry, tail: number): void {
    if (node.kind === "spread") put(w, "...");
    else if (node.kind === "entry") put(w, `${keyText(w, node.key, node.quoted)}: `);
    expression(w, node.kind === "spread" || node.kind === "entry" ? node.value : node, tail);
}

function argument(w: Writer, node: Arg, tail: number): void {
    if (node.name !== undefined) put(w, `${node.name.text}: `);
    expression(w, node.value, tail);
}

export function option(w: Writer, node: GenerateOption, tail: number): void {
    put(w, `${keyText(w, node.key, false)}: `);
    const written = node.budget?.text ?? node.duration?.text;
    if (written !== undefined) put(w, written);
    else expression(w, node.value, tail);
}

// ---- calls -------------------------------------------------------------------------------------------------------

/** What can begin on the line of the call it is the only argument of. */
const HUGGED: ReadonlySet<Expr["kind"]> = new Set<Expr["kind"]>([
    "object",
    "list",
    "string",
    "generate",
    "parallel",
    "if.expr",
    "try.expr",
    "call",
]);

function yieldOrCall(w: Writer, node: Call, tail: number): void {
    const { options, contract } = node;
    if (options === undefined && contract === undefined) {
        call(w, node, node.range.end - 1, tail);
        return;
    }
    const last = node.args.at(-1)?.range.end ?? significant(w, node.callee.range.end) + 1;
    call(w, node, significant(w, last), contract === undefined ? 8 : 12);
    if (options !== undefined) {
        put(w, " with ");
        const from = options[0]?.range.start ?? node.range.end;
        sequence(w, { open: "{", from, close: significant(w, options.at(-1)?.range.end ?? from) }, options, option, tail);
    }
    result(w, contract, tail);
}

/** `-> …` behind what is given back. */
function result(w: Writer, contract: ContractNode | undefined, tail: number): void {
    if (contract === undefined) return;
    put(w, " -> ");
    contractNode(w, contract, tail, true);
}

function call(w: Writer, node: Call, close: number, tail: number): void {
    const { callee, args } = node;
    const parens = w.display && readsAsNarrow(node);
    if (parens) put(w, "(");
    expression(w, callee, 1, POSTFIX_PRECEDENCE);
    if (parens) put(w, ")");
    const only = args.length === 1 ? args[0] : undefined;
    const brackets = { open: "(", from: callee.range.end, close } as const;
    const hugs = only !== undefined && HUGGED.has(only.value.kind) && !commentsBefore(w, only.range.start);
    if (w.limit !== undefined || !hugs || commentsAfter(w, only.range.end, close)) sequence(w, brackets, args, argument, tail);
    else if (commentsBefore(w, close) || !fits(w, tail, () => sequence(w, brackets, args, argument))) {
        put(w, "(");
        argument(w, only, 1);
        put(w, ")");
    }
}

function generate(w: Writer, { options, contract, range }: Generate, tail: number): void {
    const last = options.at(-1);
    const close = last !== undefined ? significant(w, last.range.end) : contract === undefined ? range.end - 2 : contract.range.start;
    put(w, "generate(");
    sequence(w, { open: "{", from: range.start + "generate({".length, close }, options, option, contract === undefined ? tail + 1 : 7);
    put(w, ")");
    result(w, contract, tail);
}

/** Lines between the quotes stand one step in from the line of the opening ones. */
function blockString(w: Writer, node: StringLit): void {
    if (!mayBreak(w)) return;
    const literal = w.text.slice(node.range.start, node.range.end);
    const asWritten = literal.startsWith('"""') && literal.length >= 6 && decodeBlock(literal) === node.value;
    const lines = asWritten ? guardLines(blockLines(literal)) : blockRawLines(node.value);
    put(w, '"""');
    w.indent++;
    for (const line of lines) putLine(w, line);
    w.indent--;
    newline(w);
    put(w, '"""');
}

// ---- contracts ---------------------------------------------------------------------------------------------------

/** `top`: the contract of a parameter, a result, a shape or a `generate`, whose fields, if there are several, stand one to a line, as AgentScript wants it. */
export function contractNode(w: Writer, node: ContractNode, tail: number, top: boolean): void {
    if (w.failed) return;
    const breaks = top && !w.display && node.kind === "c.object" && node.fields.length > 1;
    if (w.limit === undefined) {
        between(w, node.range.start);
        if (!breaks && !hasComments(w, node.range) && fits(w, tail, () => contract(w, node, 0))) return;
    }
    if (!breaks || mayBreak(w)) contract(w, node, tail);
}

function contract(w: Writer, node: ContractNode, tail: number): void {
    switch (node.kind) {
        case "c.name":
            put(w, node.name.text);
            return;
        case "c.literal":
            put(w, contractLiteral(w, node));
            return;
        case "c.list":
            put(w, "list[");
            contractNode(w, node.item, tail + 1, false);
            between(w, node.range.end - 1);
            put(w, "]");
            return;
        case "c.optional":
            member(w, node.of, tail + 1, true);
            put(w, "?");
            return;
        case "c.union":
            unionMembers(w, node.members, tail);
            return;
        case "c.object":
            sequence(w, { open: "{", from: node.range.start + 1, close: node.range.end - 1, comma: "" }, node.fields, field);
            return;
    }
}

/** In parentheses where it is a union, or before `?` one that has its own. */
function member(w: Writer, node: ContractNode, tail: number, optional: boolean): void {
    const group = node.kind === "c.union" || (optional && node.kind === "c.optional");
    if (group) put(w, "(");
    contractNode(w, node, tail, false);
    if (group) put(w, ")");
}

function unionMembers(w: Writer, members: readonly ContractNode[], tail: number): void {
    const step = w.limit === undefined ? 1 : 0;
    w.indent += step;
    members.forEach((node, index) => {
        between(w, node.range.start);
        if (index > 0) {
            if (w.limit !== undefined) put(w, " ");
            else if (!w.fresh) newline(w);
            put(w, "| ");
        }
        member(w, node, tail, false);
    });
    w.indent -= step;
}

function field(w: Writer, node: ContractField): void {
    const parts = (): void => {
        put(w, keyText(w, node.name, !isIdentifier(node.name.text)) + (node.optional ? "?" : ""));
        if (node.type !== undefined) {
            put(w, ": ");
            contractNode(w, node.type, 0, false);
        }
        if (node.default !== undefined) {
            put(w, " = ");
            expression(w, node.default, 0);
        }
        if (node.description === undefined) return;
        put(w, " ");
        // It has to stand on the line of the field: comments before it come behind it.
        write(w, node.description, 0);
    };
    if (w.limit !== undefined || hasComments(w, node.range) || !fits(w, 0, parts)) parts();
}

export function parameters(w: Writer, params: readonly Param[], inside: Pick<Brackets, "from" | "close">, tail: number): void {
    const brackets = { open: "(", ...inside } as const;
    const [only] = params;
    if (only === undefined || params.length > 1 || commentsBefore(w, inside.close)) sequence(w, brackets, params, parameter, tail);
    else if (!fits(w, tail, () => sequence(w, brackets, params, parameter))) {
        put(w, "(");
        parameter(w, only, 1);
        put(w, ")");
    }
}

function parameter(w: Writer, node: Param, tail: number): void {
    put(w, node.name.text);
    if (node.contract !== undefined) {
        put(w, node.contract.kind === "c.object" && node.colon !== true ? " " : ": ");
        contractNode(w, node.contract, tail, true);
    }
    if (node.default !== undefined) {
        put(w, " = ");
        expression(w, node.default, tail);
    }
}
