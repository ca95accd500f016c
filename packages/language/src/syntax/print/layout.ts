/**
 * Expressions and contracts over one or several lines.
 *
 * Boundary: a node goes on the present line if it fits and holds no comment; otherwise it is broken at its own brackets or operators and
 * the same question is asked of its parts.
 *
 * LY1: no line break is written before `(` or `[` of a call or an index, nor before the sign at the start of a statement (D6).
 */
import { blockLines, blockRawLines, decodeBlock, guardLines } from "../strings.ts";
import { POSTFIX_PRECEDENCE, PRECEDENCE, UNARY_PRECEDENCE } from "../tokens.ts";
import type {
    Arg,
    Binary,
    Block,
    Call,
    ContractField,
    ContractNode,
    Expr,
    Generate,
    GenerateOption,
    Name,
    ObjectEntry,
    Param,
    Spread,
    StringLit,
} from "../tree.ts";
import {
    breaksAlways,
    catchHead,
    contractLiteral,
    endorsesBare,
    endorseText,
    fieldHead,
    flatArg,
    flatContract,
    flatOption,
    spacedSequence,
    flatExpr,
    flatField,
    flatParam,
    sequence as flatSequence,
    groups,
    keyText,
    lambdaHead,
    narrowText,
    needsParens,
    numberText,
    type Style,
    stringText,
} from "./flat.ts";
import {
    between,
    commentsBefore,
    commentsAfter,
    hasComments,
    leading,
    leadingClose,
    newline,
    put,
    putLine,
    room,
    significant,
    trailing,
    type Writer,
} from "./writer.ts";

export function styleOf(w: Writer): Style {
    return { text: w.text, display: false };
}

/** An expression where at least `least` is wanted, with `tail` characters to follow on its last line. */
export function expression(w: Writer, node: Expr, tail: number, least = 0): void {
    between(w, node.range.start);
    if (!hasComments(w, node.range)) {
        const flat = flatExpr(node, styleOf(w), room(w) - tail, least);
        if (flat !== undefined) {
            put(w, flat);
            return;
        }
    }
    if (needsParens(node, least)) {
        put(w, "(");
        broken(w, node, tail + 1);
        put(w, ")");
    } else broken(w, node, tail);
}

/** Why it is long: one case for each kind of expression. */
function broken(w: Writer, node: Expr, tail: number): void {
    switch (node.kind) {
        case "string":
            if (node.style === "block") blockString(w, node);
            else put(w, stringText(node, styleOf(w)));
            return;
        case "number":
            put(w, numberText(node.text, node.value));
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
            sequence(w, "[", "]", node.items, item, node.range.start + 1, node.range.end - 1);
            return;
        case "object":
            sequence(w, "{", "}", node.entries, entry, node.range.start + 1, node.range.end - 1);
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
            put(w, node.op === "not" ? "not " : "-");
            if (node.op === "-" && node.value.kind === "unary" && node.value.op === "-") put(w, " ");
            expression(w, node.value, tail, UNARY_PRECEDENCE);
            return;
        case "binary":
            chain(w, node, tail);
            return;
        case "paren":
            put(w, "(");
            expression(w, node.value, tail + 1);
            between(w, node.range.end - 1);
            put(w, ")");
            return;
        case "lambda":
            put(w, `${lambdaHead(node.params)} => `);
            expression(w, node.body, tail);
            return;
        case "if.expr":
            branches(w, node.branches, node.otherwise);
            return;
        case "try.expr":
            put(w, "try ");
            w.block(w, node.body);
            catchBlock(w, node.name, node.handler);
            return;
        case "narrow":
            expression(w, node.object, tail, POSTFIX_PRECEDENCE);
            put(w, narrowText(node));
            return;
        case "endorse":
            put(w, "endorse ");
            if (!endorsesBare(node.value)) put(w, "(");
            expression(w, node.value, 0);
            if (!endorsesBare(node.value)) put(w, ")");
            put(w, endorseText(node));
            expression(w, node.because, tail);
            return;
        case "generate":
            generate(w, node, tail);
            return;
        case "parallel":
            put(w, `parallel for ${node.item.text} in `);
            expression(w, node.list, node.max.text.length + 8);
            put(w, ` max ${node.max.text} `);
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

/** Operators of one precedence: each on a line of its own, before its right side. */
function chain(w: Writer, node: Binary, tail: number): void {
    const precedence = PRECEDENCE[node.op];
    const links: Binary[] = [];
    let first: Expr = node;
    while (first.kind === "binary" && PRECEDENCE[first.op] === precedence) {
        links.push(first);
        first = first.left;
    }
    expression(w, first, 0, precedence);
    w.indent++;
    for (let i = links.length - 1; i >= 0; i--) {
        const link = links[i] as Binary;
        // Comments before the operand stand at the end of the line before, or on lines of their own.
        between(w, link.right.range.start);
        if (!w.fresh) newline(w);
        put(w, `${link.op} `);
        expression(w, link.right, i === 0 ? tail : 0, precedence + 1);
    }
    w.indent--;
}

interface Ranged {
    readonly range: { readonly start: number; readonly end: number };
}

/** Elements one to a line. `from`: after the opening bracket; `close`: the closing one. `comma`: written between them. */
export function sequence<X extends Ranged>(
    w: Writer,
    open: string,
    end: string,
    items: readonly X[],
    print: (w: Writer, item: X, tail: number) => void,
    from: number,
    close: number,
    comma = ",",
): void {
    put(w, open);
    if (items.length === 0 && !commentsBefore(w, close)) {
        put(w, end);
        return;
    }
    w.indent++;
    w.at = from;
    trailing(w, from, items[0]?.range.start ?? close, items.length === 0);
    newline(w);
    items.forEach((item, index) => {
        const last = index === items.length - 1;
        leading(w, item.range.start, index === 0);
        print(w, item, 1);
        if (!last) put(w, comma);
        trailing(w, item.range.end, last ? close : (items[index + 1] as X).range.start, last);
        newline(w);
    });
    leadingClose(w, close, items.length === 0);
    w.indent--;
    put(w, end);
}

function item(w: Writer, node: Expr | Spread, tail: number): void {
    if (node.kind === "spread") {
        put(w, "...");
        expression(w, node.value, tail);
    } else expression(w, node, tail);
}

function entry(w: Writer, node: ObjectEntry | Spread, tail: number): void {
    if (node.kind === "spread") item(w, node, tail);
    else {
        put(w, `${keyText(node.key, node.quoted, styleOf(w))}: `);
        expression(w, node.value, tail);
    }
}

function argument(w: Writer, node: Arg, tail: number): void {
    if (node.name !== undefined) put(w, `${node.name.text}: `);
    expression(w, node.value, tail);
}

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
        call(w, node.callee, node.args, node.range.end - 1, tail);
        return;
    }
    const last = node.args.at(-1)?.range.end ?? significant(w, node.callee.range.end) + 1;
    call(w, node.callee, node.args, significant(w, last), contract === undefined ? 8 : 12);
    if (options !== undefined) {
        put(w, " with ");
        const from = options[0]?.range.start ?? node.range.end;
        const close = significant(w, options.at(-1)?.range.end ?? from);
        const flat = commentsBefore(w, close)
            ? undefined
            : spacedSequence(options, (one) => flatOption(one, styleOf(w), room(w)), room(w) - tail);
        if (flat !== undefined) put(w, flat);
        else sequence(w, "{", "}", options, option, from, close);
    }
    if (contract === undefined) return;
    put(w, " -> ");
    contractNode(w, contract, tail, true);
}

function call(w: Writer, callee: Expr, args: readonly Arg[], close: number, tail: number): void {
    expression(w, callee, 1, POSTFIX_PRECEDENCE);
    if (!commentsBefore(w, close)) {
        const flat = flatSequence("(", ")", args, (arg) => flatArg(arg, styleOf(w), room(w) - tail), room(w) - tail - 1);
        if (flat !== undefined) {
            put(w, flat);
            return;
        }
    }
    const only = args.length === 1 ? args[0] : undefined;
    const hugged = only !== undefined && HUGGED.has(only.value.kind) && !commentsBefore(w, only.range.start);
    if (hugged && !commentsAfter(w, only.range.end, close)) {
        put(w, "(");
        argument(w, only, 1);
        put(w, ")");
        return;
    }
    sequence(w, "(", ")", args, argument, callee.range.end, close);
}

function generate(w: Writer, node: Generate, tail: number): void {
    const { contract } = node;
    const last = node.options.at(-1);
    const close = last !== undefined ? significant(w, last.range.end) : contract === undefined ? node.range.end - 2 : contract.range.start;
    const style = styleOf(w);
    const flat = commentsBefore(w, close) ? undefined : flatExpr({ ...node, contract: undefined }, style, room(w) - (contract ? 6 : tail));
    if (flat !== undefined) put(w, flat);
    else {
        put(w, "generate(");
        sequence(w, "{", "}", node.options, option, node.range.start + "generate({".length, close);
        put(w, ")");
    }
    if (contract === undefined) return;
    put(w, " -> ");
    contractNode(w, contract, tail, true);
}

function option(w: Writer, node: GenerateOption, tail: number): void {
    put(w, `${keyText(node.key, false, styleOf(w))}: `);
    const written = node.budget?.text ?? node.duration?.text;
    if (written !== undefined) put(w, written);
    else expression(w, node.value, tail);
}

/** Lines between the quotes stand one step in from the line of the opening ones. */
function blockString(w: Writer, node: StringLit): void {
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

/** `top`: the contract of a parameter, a result, a shape or a `generate`, whose fields stand one to a line. */
export function contractNode(w: Writer, node: ContractNode, tail: number, top: boolean): void {
    between(w, node.range.start);
    if (!hasComments(w, node.range) && !(top && breaksAlways(node))) {
        const flat = flatContract(node, styleOf(w), room(w) - tail);
        if (flat !== undefined && flat.length <= room(w) - tail) {
            put(w, flat);
            return;
        }
    }
    switch (node.kind) {
        case "c.name":
            put(w, node.name.text);
            return;
        case "c.literal":
            put(w, contractLiteral(node.value, node.range, styleOf(w)));
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
            sequence(w, "{", "}", node.fields, field, node.range.start + 1, node.range.end - 1, "");
            return;
    }
}

function member(w: Writer, node: ContractNode, tail: number, optional: boolean): void {
    const group = groups(node, optional);
    if (group) put(w, "(");
    contractNode(w, node, tail, false);
    if (group) put(w, ")");
}

function unionMembers(w: Writer, members: readonly ContractNode[], tail: number): void {
    w.indent++;
    members.forEach((node, index) => {
        between(w, node.range.start);
        if (index > 0) {
            if (!w.fresh) newline(w);
            put(w, "| ");
        }
        member(w, node, tail, false);
    });
    w.indent--;
}

function field(w: Writer, node: ContractField): void {
    const flat = hasComments(w, node.range) ? undefined : flatField(node, styleOf(w), room(w));
    if (flat !== undefined && flat.length <= room(w)) {
        put(w, flat);
        return;
    }
    put(w, fieldHead(node, styleOf(w)));
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
    const text = flatExpr(node.description, styleOf(w), Number.POSITIVE_INFINITY);
    if (text === undefined) expression(w, node.description, 0);
    else put(w, text);
}

export function parameters(w: Writer, params: readonly Param[], from: number, close: number, tail: number): void {
    if (!commentsBefore(w, close)) {
        const parts: string[] = [];
        for (const one of params) {
            const text = flatParam(one, styleOf(w), room(w));
            if (text === undefined) break;
            parts.push(text);
        }
        const flat = `(${parts.join(", ")})`;
        if (parts.length === params.length && flat.length <= room(w) - tail) {
            put(w, flat);
            return;
        }
        if (params.length === 1) {
            put(w, "(");
            parameter(w, params[0] as Param, 1);
            put(w, ")");
            return;
        }
    }
    sequence(w, "(", ")", params, parameter, from, close);
}

function parameter(w: Writer, node: Param, tail: number): void {
    put(w, node.name.text);
    if (node.contract !== undefined) {
        put(w, node.contract.kind === "c.object" ? " " : ": ");
        contractNode(w, node.contract, tail, true);
    }
    if (node.default !== undefined) {
        put(w, " = ");
        expression(w, node.default, tail);
    }
}

export function catchBlock(w: Writer, name: Name | undefined, handler: Block): void {
    put(w, ` ${catchHead(name)}`);
    w.block(w, handler);
}
