/**
 * Contracts: names, lists, objects with fields, literals, unions, `T?`. Parentheses group and leave no node.
 *
 * CR1: fields are separated by line breaks or commas. The type in `name T`, a default and a description stand on the line of the field.
 */
import { FOREIGN_GENERICS } from "../foreign.ts";
import { T } from "../tokens.ts";
import type { ContractField, ContractLiteral, ContractNode, Expr, Name, StringLit } from "../tree.ts";
import { bracketed, startsDeclaration } from "./brackets.ts";
import { parseNumber, parseString } from "./literals.ts";
import {
    advance,
    expected,
    FIELDS,
    insertion,
    isWord,
    jump,
    LINE_ENDS,
    lineBreakBefore,
    here,
    oldSpelling,
    onNewLine,
    peek,
    prevEnd,
    report,
    type State,
    start,
    take,
    takeName,
    tokenRange,
    tokenText,
    parseDefault,
    skip,
} from "./state.ts";

export function parseContract(p: State): ContractNode {
    const first = parsePostfixed(p);
    if (p.k !== T.Bar) return first;
    const members = [first];
    let height = p.height;
    while (take(p, T.Bar)) {
        members.push(parsePostfixed(p));
        if (p.height > height) height = p.height;
    }
    p.height = height + 1;
    return { kind: "c.union", range: { start: first.range.start, end: (members.at(-1) as ContractNode).range.end }, members };
}

function parsePostfixed(p: State): ContractNode {
    const from = start(p);
    const of = parsePrimary(p);
    if (p.k !== T.Question || onNewLine(p)) return of;
    advance(p);
    p.height++;
    return { kind: "c.optional", range: { start: from, end: prevEnd(p) }, of };
}

function parsePrimary(p: State): ContractNode {
    p.height = 1;
    const range = tokenRange(p, p.pos);
    switch (p.k) {
        case T.LBrace:
            return parseFields(p);
        case T.LParen:
            return parseGroup(p);
        case T.String:
            return literal(range, parseString(p).value);
        case T.Number:
        case T.Quantity:
            return literal(range, parseNumber(p).value);
        case T.Minus:
            if (peek(p, 1) === T.Number) {
                advance(p);
                const number = parseNumber(p);
                return literal({ start: range.start, end: number.range.end }, -number.value);
            }
            break;
        case T.True:
        case T.False:
            advance(p);
            return literal(range, p.kinds[p.pos - 1] === T.True);
        case T.List:
            if (peek(p, 1) === T.LBracket && (!lineBreakBefore(p, 1) || (p.mode & FIELDS) !== 0)) return parseListOf(p);
            break;
        default:
            break;
    }
    // A word with a colon on the next line is the next field.
    if (isWord(p.k) && !(onNewLine(p) && peek(p, 1) === T.Colon && (p.mode & FIELDS) !== 0))
        return skipGeneric(p) ? nothing(p) : { kind: "c.name", range, name: takeName(p) };
    const items = p.k === T.LBracket ? "A list is written `list[string]`." : undefined;
    const hint =
        items ?? "A contract is `string`, `number`, `boolean`, `json`, `none`, `list[…]`, `{ … }`, a literal or the name of a shape.";
    expected(p, "a contract", hint);
    return nothing(p);
}

/** `string[]`, `List[str]`, `Array<number>`, `enum("a")`: told, and skipped whole. What stands behind `-> T` may be an index, a call or a comparison. */
function skipGeneric(p: State): boolean {
    const open = p.pos + 1;
    const kind = p.kinds[open];
    const isBare = kind === T.LBracket && p.kinds[open + 1] === T.RBracket;
    if (p.ends[p.pos] !== p.starts[open] || (p.kinds[p.pos - 1] !== T.Colon && !isBare)) return false;
    const hint = FOREIGN_GENERICS.get(tokenText(p).toLowerCase());
    let close = -1;
    if (kind === T.LBracket || (kind === T.LParen && hint !== undefined)) close = p.tokens.match[open] as number;
    else if (kind === T.Lt)
        for (let at = open + 1; at < p.tokens.count && p.tokens.newline[at] !== 1 && p.kinds[at] !== T.Gt; at++)
            if (p.kinds[at + 1] === T.Gt) close = at + 1;
    if (close < open) return false;
    const range = { start: start(p), end: p.ends[close] as number };
    report(p, "SYNTAX", "Only `list` takes a type in brackets.", range, hint ?? "A list is written `list[string]`.");
    jump(p, close + 1);
    return true;
}

/** Stands for a contract that is not there: anything. */
function nothing(p: State): ContractNode {
    const range = here(p);
    return { kind: "c.name", range, name: { range, text: "json" } };
}

function literal(range: ContractNode["range"], value: ContractLiteral["value"]): ContractLiteral {
    return { kind: "c.literal", range, value };
}

function parseGroup(p: State): ContractNode {
    return bracketed(p, T.RParen, parseContract, p.mode) ?? nothing(p);
}

function parseListOf(p: State): ContractNode {
    const from = start(p);
    advance(p);
    const item = bracketed(p, T.RBracket, parseContract, p.mode);
    if (item === undefined) return nothing(p);
    p.height++;
    return { kind: "c.list", range: { start: from, end: prevEnd(p) }, item };
}

function parseFields(p: State): ContractNode {
    const from = start(p);
    const fields = bracketed(p, T.RBrace, fieldsIn, LINE_ENDS | FIELDS);
    if (fields === undefined) return nothing(p);
    p.height++;
    return { kind: "c.object", range: { start: from, end: prevEnd(p) }, fields };
}

function fieldsIn(p: State): ContractField[] {
    const fields: ContractField[] = [];
    let height = 0;
    let bare = false;
    // Where a brace is missing, the next declaration is no field.
    while (p.k !== T.RBrace && p.k !== T.EOF && !(!p.tokens.balanced && onNewLine(p) && startsDeclaration(p))) {
        if (fields.length > 0 && !take(p, T.Comma) && !onNewLine(p)) missingSeparator(p, bare);
        if (p.k === T.RBrace || p.k === T.EOF) break;
        const before = p.pos;
        const field = parseField(p);
        if (field === undefined) {
            if (!p.tokens.balanced && onNewLine(p)) break;
            skipField(p, before);
        } else {
            fields.push(field.node);
            bare = field.bare;
        }
        height = Math.max(height, p.height);
    }
    p.height = height;
    return fields;
}

function missingSeparator(p: State, bare: boolean): void {
    const at = prevEnd(p);
    const range = { start: at, end: at };
    if (p.k === T.Or)
        expected(p, "a comma or a new line between fields", "Choices are separated by `|`.", [
            { title: "Write `|`", safe: true, edits: [{ range: tokenRange(p, p.pos), text: "|" }] },
        ]);
    else if (bare && isWord(p.k))
        oldSpelling(p, "Fields on one line are separated by commas.", range, "Insert a comma", [{ range, text: "," }]);
    else {
        expected(p, "a comma or a new line between fields", undefined, isWord(p.k) ? insertion("Insert a comma", at, ",") : undefined);
    }
}

function skipField(p: State, before: number): void {
    while (p.k !== T.EOF && p.k !== T.RBrace && p.k !== T.Comma) {
        if (p.pos > before && onNewLine(p)) return;
        skip(p);
    }
    if (p.k === T.Comma && p.pos === before) advance(p);
}

/** `bare`: the type stands without a colon. */
function parseField(p: State): { node: ContractField; bare: boolean } | undefined {
    let name: Name;
    const next = peek(p, 1);
    if (p.k === T.String && (next === T.Colon || next === T.Question)) {
        const quoted = parseString(p);
        name = { range: quoted.range, text: quoted.value };
    } else if (isWord(p.k)) name = takeName(p);
    else {
        const described = p.k === T.String && p.kinds[p.pos - 1] === T.Comma && !onNewLine(p);
        const hint = described ? 'A description stands behind the type, without a comma: `cause: string "one sentence"`.' : undefined;
        expected(p, "the name of a field", hint, undefined, true);
        return undefined;
    }
    const optional = p.k === T.Question && !onNewLine(p);
    if (optional) advance(p);
    p.height = 1;
    let type: ContractNode | undefined;
    let bare = false;
    if (p.k === T.Colon) {
        advance(p);
        type = parseContract(p);
    } else if (!onNewLine(p) && startsType(p)) {
        bare = true;
        const at = prevEnd(p);
        const range = { start: at, end: at };
        type = parseContract(p);
        oldSpelling(p, `A colon stands between the field \`${name.text}\` and its type.`, name.range, "Insert a colon", [
            { range, text: ":" },
        ]);
    }
    let fallback: Expr | undefined;
    if (p.k === T.Assign) {
        // `cause = string`.
        const typed = type === undefined && isTypeName(p);
        if (typed)
            expected(p, `\`:\` between the field \`${name.text}\` and its type`, `Write \`${name.text}: ${tokenText(p, p.pos + 1)}\`.`);
        advance(p);
        if (typed) type = parseContract(p);
        else fallback = parseDefault(p);
    }
    let description: StringLit | undefined;
    if ((p.k === T.String || p.k === T.Block) && !onNewLine(p)) description = parseString(p);
    const range = { start: name.range.start, end: prevEnd(p) };
    return { node: { range, name, optional, type, default: fallback, description }, bare };
}

/** Behind the `=` stands the name of a type of all programs. */
function isTypeName(p: State): boolean {
    return isWord(peek(p, 1)) && !lineBreakBefore(p, 1) && TYPES.has(tokenText(p, p.pos + 1));
}

const TYPES: ReadonlySet<string> = new Set(["string", "number", "boolean", "json", "list"]);

/** A type without a colon; a string is one only as the first of several. */
function startsType(p: State): boolean {
    if (p.k === T.String) return peek(p, 1) === T.Bar;
    return isWord(p.k) || p.k === T.LBrace || p.k === T.LParen;
}

/** Whether a parameter's contract follows its name without a colon. */
export function startsContract(p: State): boolean {
    return isWord(p.k) || p.k === T.LBrace || p.k === T.LParen || p.k === T.String || p.k === T.Number || p.k === T.Minus;
}
