/**
 * Trees to text on one line.
 *
 * Boundary: makes strings; knows no comments and no layout. Serves `printExpr` (how a context item names its source) and the formatter,
 * which asks whether a node fits on a line.
 *
 * FL1: parentheses are written where the tree needs them; those of the source are kept by the formatter and dropped by `printExpr`.
 */
import { decodeQuoted, quoteString } from "../strings.ts";
import { POSTFIX_PRECEDENCE, PRECEDENCE, UNARY_PRECEDENCE } from "../tokens.ts";
import type {
    Arg,
    Block,
    Call,
    ContractField,
    ContractNode,
    Endorse,
    Expr,
    GenerateOption,
    Name,
    Narrow,
    ObjectEntry,
    Param,
    Spread,
    Stmt,
    StringLit,
} from "../tree.ts";
import { boundsText } from "./authority.ts";

export interface Style {
    /** Text that the ranges of string literals point into, so that they stay as written; absent: literals are made anew. */
    readonly text?: string;
    /** For people to read, not for the parser: strings as JSON, keys bare, only needed parentheses, blocks on the line. */
    readonly display: boolean;
}

/** How tightly a node holds together; 0 for a lambda, which takes everything to its right. */
export function precedenceOf(node: Expr): number {
    switch (node.kind) {
        case "lambda":
        case "endorse":
            return 0;
        case "binary":
            return PRECEDENCE[node.op];
        case "unary":
            return UNARY_PRECEDENCE;
        case "number":
            return node.value < 0 ? UNARY_PRECEDENCE : POSTFIX_PRECEDENCE;
        default:
            return POSTFIX_PRECEDENCE;
    }
}

/** Whether a node needs parentheses where at least `least` is wanted. */
export function needsParens(node: Expr, least: number): boolean {
    if (precedenceOf(node) < least) return true;
    // What stands behind a yield ends it: nothing goes on from there.
    if (least >= POSTFIX_PRECEDENCE && node.kind === "call" && (node.contract !== undefined || node.options !== undefined)) return true;
    return least >= POSTFIX_PRECEDENCE && node.kind === "generate" && node.contract !== undefined && opensFurther(node.contract);
}

/** A contract that would take a following `[` or `.` for its own. */
function opensFurther(contract: ContractNode): boolean {
    if (contract.kind === "c.name") return contract.name.text === "list";
    if (contract.kind === "c.union") return opensFurther(contract.members.at(-1) as ContractNode);
    return contract.kind === "c.optional";
}

/** One line, or undefined where the node does not go on one or would be longer than `limit`. */
export function flatExpr(node: Expr, style: Style, limit: number, least = 0): string | undefined {
    if (style.display && node.kind === "paren") return flatExpr(node.value, style, limit, least);
    if (needsParens(node, least)) {
        const inner = flatExpr(node, style, limit - 2);
        return inner === undefined ? undefined : `(${inner})`;
    }
    const text = flatten(node, style, limit);
    return text !== undefined && text.length <= limit ? text : undefined;
}

/** Why it is long: one case for each kind of expression. */
function flatten(node: Expr, style: Style, limit: number): string | undefined {
    switch (node.kind) {
        case "string":
            if (style.display) return JSON.stringify(node.value);
            return node.style === "block" ? undefined : oneLine(stringText(node, style));
        case "number":
            return numberText(node.text, node.value);
        case "bool":
            return String(node.value);
        case "none":
            return "none";
        case "ident":
            return node.name;
        case "missing":
            return "";
        case "list":
            return sequence("[", "]", node.items, (item) => flatItem(item, style, limit), limit);
        case "object":
            return spacedSequence(node.entries, (entry) => flatEntry(entry, style, limit), limit);
        case "member": {
            const object = flatExpr(node.object, style, limit, POSTFIX_PRECEDENCE);
            return object === undefined ? undefined : object + (node.safe ? "?." : ".") + node.name.text;
        }
        case "index": {
            const object = flatExpr(node.object, style, limit, POSTFIX_PRECEDENCE);
            const index = object === undefined ? undefined : flatExpr(node.index, style, limit);
            return index === undefined ? undefined : `${object}[${index}]`;
        }
        case "call": {
            const bare = flatExpr(node.callee, style, limit, POSTFIX_PRECEDENCE);
            const callee = style.display && bare !== undefined && readsAsNarrow(node) ? `(${bare})` : bare;
            const flat =
                callee === undefined ? undefined : sequence(`${callee}(`, ")", node.args, (arg) => flatArg(arg, style, limit), limit);
            if (flat === undefined || (node.options === undefined && node.contract === undefined)) return flat;
            const options = node.options === undefined ? "" : spacedSequence(node.options, (one) => flatOption(one, style, limit), limit);
            const given = options === undefined ? undefined : `${flat}${node.options === undefined ? "" : ` with ${options}`}`;
            if (given === undefined || node.contract === undefined) return given;
            const contract = breaksAlways(node.contract) && !style.display ? undefined : flatContract(node.contract, style, limit);
            return contract === undefined ? undefined : `${given} -> ${contract}`;
        }
        case "unary": {
            const value = flatExpr(node.value, style, limit, UNARY_PRECEDENCE);
            return value === undefined ? undefined : unaryText(node.op, value);
        }
        case "binary": {
            const precedence = PRECEDENCE[node.op];
            const left = flatExpr(node.left, style, limit, precedence);
            const right = left === undefined ? undefined : flatExpr(node.right, style, limit - left.length, precedence + 1);
            return right === undefined ? undefined : `${left} ${node.op} ${right}`;
        }
        case "paren": {
            const value = flatExpr(node.value, style, limit);
            return value === undefined ? undefined : `(${value})`;
        }
        case "lambda": {
            const body = flatExpr(node.body, style, limit);
            return body === undefined ? undefined : `${lambdaHead(node.params)} => ${body}`;
        }
        case "if.expr": {
            const parts: string[] = [];
            for (const branch of node.branches) {
                const test = flatExpr(branch.test, style, limit);
                const body = flatBlock(branch.body, style, limit);
                if (test === undefined || body === undefined) return undefined;
                parts.push(`if ${test} ${body}`);
            }
            if (node.otherwise !== undefined) {
                const body = flatBlock(node.otherwise, style, limit);
                if (body === undefined) return undefined;
                parts.push(body);
            }
            return parts.join(" else ");
        }
        case "try.expr": {
            const body = flatBlock(node.body, style, limit);
            const handler = flatBlock(node.handler, style, limit);
            return body === undefined || handler === undefined ? undefined : `try ${body} ${catchHead(node.name)}${handler}`;
        }
        case "generate": {
            const options = spacedSequence(node.options, (option) => flatOption(option, style, limit), limit);
            if (options === undefined) return undefined;
            if (node.contract === undefined) return `generate(${options})`;
            const contract = breaksAlways(node.contract) && !style.display ? undefined : flatContract(node.contract, style, limit);
            return contract === undefined ? undefined : `generate(${options}) -> ${contract}`;
        }
        case "narrow": {
            const object = flatExpr(node.object, style, limit, POSTFIX_PRECEDENCE);
            return object === undefined ? undefined : object + narrowText(node);
        }
        case "endorse": {
            const value = flatExpr(node.value, style, limit);
            const because = value === undefined ? undefined : flatExpr(node.because, style, limit);
            const spoken = endorsesBare(style.display ? unwrapped(node.value) : node.value) ? value : `(${value})`;
            return because === undefined ? undefined : `endorse ${spoken}${endorseText(node)}${because}`;
        }
        case "parallel": {
            const list = flatExpr(node.list, style, limit);
            const body = style.display ? flatBlock(node.body, style, limit) : undefined;
            return list === undefined || body === undefined
                ? undefined
                : `parallel for ${node.item.text} in ${list} max ${node.max.text} ${body}`;
        }
    }
}

function oneLine(text: string): string | undefined {
    return text.includes("\n") || text.includes("\r") ? undefined : text;
}

export function narrowText(node: Narrow): string {
    return `.only(${node.methods.map((m) => m.method.text + boundsText(m.bounds)).join(", ")})`;
}

function unwrapped(node: Expr): Expr {
    return node.kind === "paren" ? unwrapped(node.value) : node;
}

/** Without the parentheses around one of them, names behind `.only` would be methods. */
function readsAsNarrow({ callee, args }: Call): boolean {
    const called = unwrapped(callee);
    return (
        called.kind === "member" &&
        !called.safe &&
        called.name.text === "only" &&
        args.length > 0 &&
        args.every((arg) => arg.name === undefined && unwrapped(arg.value).kind === "ident")
    );
}

const NOT_ENDORSED: ReadonlySet<string> = new Set(["and", "or", "as", "max", "selected"]);

/** Whether the value can stand right behind `endorse`: not where the word would be read as a name with an operator behind it. */
export function endorsesBare(node: Expr): boolean {
    let at = node;
    for (;;) {
        if (at.kind === "binary") at = at.left;
        else if (at.kind === "member" || at.kind === "index" || at.kind === "narrow") at = at.object;
        else if (at.kind === "call") at = at.callee;
        else break;
    }
    if (at.kind === "ident") return !NOT_ENDORSED.has(at.name);
    return (
        !(at.kind === "unary" && at.op === "-") && !(at.kind === "number" && at.value < 0) && at.kind !== "missing" && at.kind !== "lambda"
    );
}

/** What stands between the value and the reason. */
export function endorseText(node: Endorse): string {
    const how = node.readers === undefined ? "as trusted" : `for ${node.readers.map((r) => quoteString(r.value, '"')).join(", ")}`;
    return ` ${how} because `;
}

/** `open a, b close`; undefined as soon as it is too long. */
export function sequence<X>(
    open: string,
    close: string,
    items: readonly X[],
    text: (item: X) => string | undefined,
    limit: number,
): string | undefined {
    let out = open;
    for (let i = 0; i < items.length; i++) {
        const item = text(items[i] as X);
        if (item === undefined) return undefined;
        out += i === 0 ? item : `, ${item}`;
        if (out.length > limit) return undefined;
    }
    return out + close;
}

export function spacedSequence<X>(items: readonly X[], text: (item: X) => string | undefined, limit: number): string | undefined {
    return items.length === 0 ? "{}" : sequence("{ ", " }", items, text, limit);
}

export function flatItem(item: Expr | Spread, style: Style, limit: number): string | undefined {
    if (item.kind !== "spread") return flatExpr(item, style, limit);
    const value = flatExpr(item.value, style, limit);
    return value === undefined ? undefined : `...${value}`;
}

export function flatEntry(entry: ObjectEntry | Spread, style: Style, limit: number): string | undefined {
    if (entry.kind === "spread") return flatItem(entry, style, limit);
    const value = flatExpr(entry.value, style, limit);
    return value === undefined ? undefined : `${keyText(entry.key, entry.quoted, style)}: ${value}`;
}

export function flatArg(arg: Arg, style: Style, limit: number): string | undefined {
    const value = flatExpr(arg.value, style, limit);
    if (value === undefined) return undefined;
    return arg.name === undefined ? value : `${arg.name.text}: ${value}`;
}

export function flatOption(option: GenerateOption, style: Style, limit: number): string | undefined {
    const written = option.budget?.text ?? option.duration?.text;
    const value = written ?? flatExpr(option.value, style, limit);
    return value === undefined ? undefined : `${keyText(option.key, false, style)}: ${value}`;
}

export function unaryText(op: "not" | "-", value: string): string {
    return op === "not" ? `not ${value}` : value.startsWith("-") ? `- ${value}` : `-${value}`;
}

export function lambdaHead(params: readonly Name[]): string {
    return `(${params.map((param) => param.text).join(", ")})`;
}

export function catchHead(name: Name | undefined): string {
    return name === undefined ? "catch " : `catch ${name.text} `;
}

// ---- literals and names ------------------------------------------------------------------------------------------

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a text can be written as a name. */
export function isName(text: string): boolean {
    return NAME.test(text);
}

export function keyText(key: Name, quoted: boolean, style: Style): string {
    if (isName(key.text) && (!quoted || style.display)) return key.text;
    if (style.display) return JSON.stringify(key.text);
    return style.text === undefined ? quoteString(key.text, '"') : written(key.range, key.text, style.text, '"');
}

/** The literal as it stands in the source if it is that one, else a new one. */
function written(range: { start: number; end: number }, value: string, text: string, quote: '"' | "'"): string {
    const closed = range.end - range.start > 1 && text[range.start] === quote && text[range.end - 1] === quote;
    if (closed && decodeQuoted(text, range.start, range.end) === value) return text.slice(range.start, range.end);
    return quoteString(value, quote);
}

/** A string of one of the quoted styles. A block string is handled by the layout. */
export function stringText(node: StringLit, style: Style): string {
    const quote = node.style === "single" ? "'" : '"';
    return style.text === undefined ? quoteString(node.value, quote) : written(node.range, node.value, style.text, quote);
}

/** A number as the lexer reads it. Values that come from elsewhere may have an exponent, or be too large for an integer literal. */
export function numberText(text: string, value: number): string {
    if (/^\d+(\.\d+)?[A-Za-z_]*\w*$/.test(text)) return text;
    const size = Math.abs(value);
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    if (!Number.isFinite(size)) return `${sign}0`;
    if (Number.isInteger(size)) return sign + (size <= 2 ** 53 ? String(size) : `${BigInt(size)}.0`);
    const plain = String(size);
    // `1.5e-7` is written `0.00000015`.
    const [digits, exponent] = plain.split("e-");
    return sign + (exponent === undefined ? plain : `0.${"0".repeat(Number(exponent) - 1)}${(digits as string).replace(".", "")}`);
}

// ---- contracts ---------------------------------------------------------------------------------------------------

/** An object of several fields stands over several lines, one field a line, as AgentScript wants it. */
export function breaksAlways(contract: ContractNode): boolean {
    return contract.kind === "c.object" && contract.fields.length > 1;
}

export function flatContract(node: ContractNode, style: Style, limit: number): string | undefined {
    switch (node.kind) {
        case "c.name":
            return node.name.text;
        case "c.literal":
            return contractLiteral(node.value, node.range, style);
        case "c.list": {
            const item = flatContract(node.item, style, limit);
            return item === undefined ? undefined : `list[${item}]`;
        }
        case "c.optional": {
            const of = flatMember(node.of, style, limit, true);
            return of === undefined ? undefined : `${of}?`;
        }
        case "c.union": {
            const members: string[] = [];
            for (const member of node.members) {
                const text = flatMember(member, style, limit, false);
                if (text === undefined) return undefined;
                members.push(text);
            }
            return members.join(" | ");
        }
        case "c.object":
            return spacedSequence(node.fields, (field) => flatField(field, style, limit), limit);
    }
}

/** Whether a contract needs parentheses as a member of a union or before `?`. */
export function groups(node: ContractNode, optional: boolean): boolean {
    return node.kind === "c.union" || (optional && node.kind === "c.optional");
}

function flatMember(node: ContractNode, style: Style, limit: number, optional: boolean): string | undefined {
    const text = flatContract(node, style, limit);
    return text !== undefined && groups(node, optional) ? `(${text})` : text;
}

export function contractLiteral(value: string | number | boolean | null, range: { start: number; end: number }, style: Style): string {
    if (typeof value === "string") {
        if (style.display) return JSON.stringify(value);
        return style.text === undefined
            ? quoteString(value, '"')
            : written(range, value, style.text, style.text[range.start] === "'" ? "'" : '"');
    }
    if (typeof value === "number") return numberText(String(value), value);
    return value === null ? "none" : String(value);
}

export function fieldHead(field: ContractField, style: Style): string {
    return keyText(field.name, !isName(field.name.text), style) + (field.optional ? "?" : "");
}

export function flatField(field: ContractField, style: Style, limit: number): string | undefined {
    let out = fieldHead(field, style);
    if (field.type !== undefined) {
        const type = flatContract(field.type, style, limit);
        if (type === undefined) return undefined;
        out += `: ${type}`;
    }
    if (field.default !== undefined) {
        const value = flatExpr(field.default, style, limit);
        if (value === undefined) return undefined;
        out += ` = ${value}`;
    }
    if (field.description === undefined) return out;
    const description = flatExpr(field.description, style, limit);
    return description === undefined ? undefined : `${out} ${description}`;
}

export function flatParam(param: Param, style: Style, limit: number): string | undefined {
    let out = param.name.text;
    if (param.contract !== undefined) {
        const contract = breaksAlways(param.contract) ? undefined : flatContract(param.contract, style, limit);
        if (contract === undefined) return undefined;
        out += param.contract.kind === "c.object" ? ` ${contract}` : `: ${contract}`;
    }
    if (param.default === undefined) return out;
    const value = flatExpr(param.default, style, limit);
    return value === undefined ? undefined : `${out} = ${value}`;
}

// ---- blocks ------------------------------------------------------------------------------------------------------

/** `{ expression }`. To the formatter a block of anything else does not go on one line. */
function flatBlock(block: Block, style: Style, limit: number): string | undefined {
    if (block.statements.length === 0) return "{}";
    if (!style.display && (block.statements.length > 1 || block.statements[0]?.kind !== "expr")) return undefined;
    const parts: string[] = [];
    for (const statement of block.statements) {
        const text = flatStatement(statement, style, limit);
        if (text === undefined) return undefined;
        parts.push(text);
    }
    return `{ ${parts.join(" ")} }`;
}

function flatStatement(node: Stmt, style: Style, limit: number): string | undefined {
    switch (node.kind) {
        case "expr":
            return flatExpr(node.value, style, limit);
        case "return":
        case "raise": {
            const value = flatExpr(node.value, style, limit);
            return value === undefined ? undefined : `${node.kind} ${value}`;
        }
        case "assign": {
            const target = flatExpr(node.target, style, limit);
            const value = flatExpr(node.value, style, limit);
            return target === undefined || value === undefined ? undefined : `${target} ${node.op} ${value}`;
        }
        case "break":
        case "continue":
        case "debugger":
            return node.kind;
        default:
            return "…";
    }
}
