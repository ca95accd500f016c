/**
 * The top level of a file: imports, agents, functions, shapes.
 *
 * DL1: configuration and `use` of an agent stand before its first function.
 */
import { nearest } from "../../diagnostics/nearest.ts";
import { fix } from "../../text/fix.ts";
import { FOREIGN_CONSTANT, FOREIGN_ITEMS, FOREIGN_LINES, FOREIGN_SETTING, FOREIGN_STARTS, OUTSIDE } from "../foreign.ts";
import { IMPORT_KINDS, T } from "../tokens.ts";
import type { Agent, ContractNode, Expr, Func, Import, ImportKind, Item, Name, Param, RemitUse, ShapeDecl, StringLit } from "../tree.ts";
import { atFlow, parseFlow, parseRemit, parseRemitUse } from "./authority.ts";
import { parseAgentBraces, parseClauses } from "./clauses.ts";
import { leaveBrace, closed, separated, skipLine } from "./brackets.ts";
import { parseContract, startsContract } from "./contracts.ts";
import { parseDefault } from "./expressions.ts";
import { parseString } from "./literals.ts";
import {
    advance,
    beginStatement,
    bind,
    closesNothing,
    end,
    endStatement,
    enter,
    expected,
    expectName,
    here,
    insertion,
    isWord,
    jump,
    leave,
    lineBreakBefore,
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
    skip,
    oldSpelling,
} from "./state.ts";
import { parseBlock, parseConfig } from "./statements.ts";
import { atBackendBlock, atStages, parseBackendBlock, parseBareBody } from "./stages.ts";
import { skipTest } from "./unsupported.ts";
import { parseContextBudget, parseUse } from "./use.ts";

export function parseItems(p: State): Item[] {
    const items: Item[] = [];
    while (p.k !== T.EOF) {
        const before = p.pos;
        const item = parseItem(p);
        if (item !== undefined) items.push(item);
        if (p.pos === before) skipToItem(p);
    }
    return items;
}

function parseItem(p: State): Item | undefined {
    p.height = 0;
    p.statement = start(p);
    const word = p.k === T.Main ? peek(p, 1) : p.k;
    if (word === T.Agent) return parseAgent(p);
    if (word === T.Func || foreignFunc(p)) return parseFunc(p);
    switch (p.k) {
        case T.Import:
            return parseImport(p);
        case T.Shape:
            return parseShape(p);
        case T.Remit:
            return parseRemit(p);
        case T.Test:
            skipTest(p);
            return undefined;
        default:
            if (atFlow(p)) return parseFlow(p);
            if (atBackendBlock(p)) return parseBackendBlock(p);
            if (p.k === T.LParen) return parseBareBody(p);
            if (p.k === T.RBrace || p.k === T.RParen || p.k === T.RBracket) {
                closesNothing(p, "A bracket may be closed twice above.");
                return undefined;
            }
            expected(p, "`import`, `shape`, `agent`, `func`, `main` or a block", itemHint(p), undefined, true);
            return undefined;
    }
}

function itemHint(p: State): string {
    const next = peek(p, 1);
    // `export func f() -> string` has the arrow of a stage.
    if (!isForeignItem(p, next) && atStages(p)) return "Stages stand inside a block: `memory static ( … >=> … )`.";
    if (isWord(p.k) && next === T.Colon) return FOREIGN_SETTING;
    if (isWord(p.k) && (next === T.Assign || FOREIGN_STARTS.get(tokenText(p)) === "name")) return FOREIGN_CONSTANT;
    const meant = p.k === T.Main ? nearest(tokenText(p, p.pos + 1), ["agent", "func"]) : null;
    return FOREIGN_ITEMS.get(tokenText(p)) ?? (meant === null ? OUTSIDE : `Did you mean \`${meant}\`?`);
}

/** A word of another language before a declaration; alone it may be the name of a stage. */
function isForeignItem(p: State, next: number): boolean {
    return FOREIGN_ITEMS.has(tokenText(p)) && (next === T.Func || next === T.Agent || next === T.Main || next === T.Shape);
}

/** On to the next line that begins a declaration, brackets skipped whole. */
function skipToItem(p: State): void {
    do {
        skip(p);
    } while (p.k !== T.EOF && !(onNewLine(p) && startsItem(p)));
}

function startsItem(p: State): boolean {
    const word = p.k === T.Main ? peek(p, 1) : p.k;
    return (
        word === T.Agent ||
        word === T.Func ||
        word === T.Import ||
        word === T.Shape ||
        word === T.Remit ||
        atFlow(p) ||
        word === T.Test ||
        atBackendBlock(p)
    );
}

// ---- import ------------------------------------------------------------------------------------------------------

/** What AgentScript called `sh://read-range` before its current spelling. */
const OLD_READ_RANGE = "sh://sed";
const READ_RANGE = "sh://read-range";

function readRange(p: State, uri: StringLit): StringLit {
    oldSpelling(p, "`sh://sed` is called `sh://read-range`.", uri.range, "Write `sh://read-range`", [
        { range: uri.range, text: `"${READ_RANGE}"` },
    ]);
    return { ...uri, value: READ_RANGE, style: "double" };
}

/** `import func f from "./x.remit"`. */
const NOT_SHARED = "A file shares its agents alone: put it into an agent there, `import agent Name`, and call `Name.f()`.";

function importHint(p: State): string {
    if (p.k === T.Func || p.k === T.Shape) return NOT_SHARED;
    const kinds = `One of ${IMPORT_KINDS.map((name) => `\`${name}\``).join(", ")}`;
    return isWord(p.k) && peek(p, 1) === T.From
        ? `${kinds} stands before the name: \`import tool ${tokenText(p)} from "…"\`.`
        : `${kinds}.`;
}

function parseImport(p: State): Import | undefined {
    const from = start(p);
    advance(p);
    const kind = isWord(p.k) ? tokenText(p) : "";
    const known = (IMPORT_KINDS as readonly string[]).includes(kind);
    if (!known) {
        const near = kind === "" || p.k === T.Func || p.k === T.Shape ? null : nearest(kind, IMPORT_KINDS);
        const range = tokenRange(p, p.pos);
        const fixes = near === null ? undefined : [fix(`Write \`${near}\``, range, near, true)];
        expected(p, "what to import", near === null ? importHint(p) : `Did you mean \`${near}\`?`, fixes);
        // What it was to be is not known, so that nothing more of it can be wrong.
        if (!onNewLine(p)) skipLine(p, false);
        return undefined;
    }
    advance(p);
    const nameless = p.k === T.From && peek(p, 1) === T.String;
    const name = nameless ? { range: here(p), text: "" } : expectName(p, "a name for it");
    if (nameless) expected(p, "a name for it", 'Write `import tool Name from "…"`.');
    let uri: StringLit;
    if (!take(p, T.From)) expected(p, '`from` and where it is: `from "…"`');
    if (p.k === T.String && tokenText(p).includes("\n")) {
        // The quote that ends it is that of a later line.
        const range = { start: start(p), end: end(p) };
        report(
            p,
            "UNTERMINATED_STRING",
            "This string is never closed.",
            range,
            `Close it with \`${p.text[range.start]}\` on its own line.`,
        );
        uri = { kind: "string", range: { start: range.start, end: range.start }, value: "", style: "double" };
        do advance(p);
        while (p.k !== T.EOF && !(onNewLine(p) && startsItem(p)));
    } else if (p.k === T.String || p.k === T.Block) uri = parseString(p);
    else {
        expected(p, "where it is, as a string");
        uri = { kind: "string", range: here(p), value: "", style: "double" };
        if (!onNewLine(p)) skipLine(p, false);
    }
    if (kind === "tool" && uri.value === OLD_READ_RANGE) uri = readRange(p, uri);
    const what = kind as ImportKind;
    if (what === "file" && !/\.json$/i.test(uri.value)) p.noNumbers = new Set([...p.noNumbers, name.text]);
    const unconfined = what === "agent" && p.k === T.Unconfined && !onNewLine(p);
    if (unconfined) advance(p);
    let clauses: Import["clauses"];
    let remit: RemitUse | undefined;
    if (p.k === T.LBrace) {
        if (what === "agent") ({ remit, clauses } = parseAgentBraces(p));
        else if (what === "skill") {
            report(p, "SYNTAX", "The import of a skill has no clauses.", tokenRange(p, p.pos), "Leave the braces out.");
            leaveBrace(p, p.pos);
        } else clauses = parseClauses(p);
    }
    return {
        kind: "import",
        range: { start: from, end: prevEnd(p) },
        what,
        name,
        uri,
        ...(clauses === undefined ? {} : { clauses }),
        ...(remit === undefined ? {} : { remit }),
        ...(unconfined ? { unconfined } : {}),
    };
}

// ---- shape -------------------------------------------------------------------------------------------------------

function parseShape(p: State): ShapeDecl {
    const from = start(p);
    advance(p);
    const name = expectName(p, "the name of the shape");
    // A field on the next line: the brace before it is missing.
    if (isWord(p.k) && onNewLine(p) && !startsItem(p)) {
        expected(p, "`{` and the fields of the shape", `Write \`shape ${name.text || "Name"} { name: string }\`.`);
        while (p.k !== T.RBrace && p.k !== T.EOF && !(onNewLine(p) && startsItem(p))) skip(p);
        take(p, T.RBrace);
        const range = { start: name.range.end, end: prevEnd(p) };
        return {
            kind: "shape",
            range: { start: from, end: range.end },
            name,
            contract: { kind: "c.name", range, name: { range, text: "json" } },
        };
    }
    const contract = parseContract(p);
    return { kind: "shape", range: { start: from, end: contract.range.end }, name, contract };
}

// ---- agent -------------------------------------------------------------------------------------------------------

function parseAgent(p: State): Agent | undefined {
    const from = start(p);
    const main = take(p, T.Main);
    const word = tokenRange(p, p.pos);
    advance(p);
    let name: Name | undefined;
    if (isWord(p.k)) name = takeName(p);
    else if (!main) {
        expected(p, "the name of the agent", "Only a `main agent` may have no name.");
        name = { range: { start: word.end, end: word.end }, text: "" };
    }
    const open = p.pos;
    const bodied = p.k === T.LBrace;
    if (!bodied) {
        expected(p, "`{` and the body of the agent");
        if (!startsMember(p)) return { kind: "agent", range: { start: from, end: prevEnd(p) }, main, name, config: [], funcs: [] };
    }
    enter(p);
    if (bodied) advance(p);
    const config: Agent["config"][number][] = [];
    const funcs: Func[] = [];
    let remit: RemitUse | undefined;
    let strays = false;
    while (p.k !== T.RBrace && p.k !== T.EOF) {
        const before = p.pos;
        const kind = p.k === T.Main ? peek(p, 1) : p.k;
        if (kind === T.Func || foreignFunc(p)) {
            funcs.push(parseFunc(p));
            strays = false;
        } else if (p.k === T.Remit) {
            if (remit !== undefined)
                report(p, "SYNTAX", "An agent has one remit.", tokenRange(p, p.pos), "Put all clauses into one `remit { … }`.");
            const read = parseRemitUse(p);
            remit ??= read;
            strays = false;
        } else if (strays && !startsItem(p)) {
            // Statements outside a function: the first of them has been reported.
            skipLine(p, true);
        } else if (!p.tokens.balanced && startsItem(p) && onNewLine(p)) break;
        else {
            const { errors } = p;
            const outer = beginStatement(p);
            const line = parseAgentLine(p);
            endStatement(p, outer, p.errors > errors);
            strays = line === undefined && p.errors > errors;
            if (line !== undefined) {
                if (funcs.length > 0) {
                    const message = "Configuration and `use` stand before the first function of an agent.";
                    report(p, "SYNTAX", message, line.range, "Move this line up.");
                }
                config.push(line);
            }
        }
        if (p.pos === before) skipLine(p, true);
        else if (p.errorAt === p.pos && !onNewLine(p) && p.k !== T.RBrace) skipLine(p, false);
    }
    // The closing brace of an agent whose opening one is missing may be there.
    const to = bodied || p.k === T.RBrace ? closed(p, open, T.RBrace) : prevEnd(p);
    leave(p);
    return { kind: "agent", range: { start: from, end: to }, main, name, config, funcs, ...(remit === undefined ? {} : { remit }) };
}

/** What stands inside an agent: the brace before it is missing. */
function startsMember(p: State): boolean {
    const word = p.k === T.Main ? peek(p, 1) : p.k;
    return word === T.Func || word === T.Use || word === T.Model || word === T.Role || word === T.Description;
}

const AGENT_WORDS = ["model", "role", "description", "use", "context", "func", "main", "remit"];

function parseAgentLine(p: State): Agent["config"][number] | undefined {
    switch (p.k) {
        case T.Model:
        case T.Role:
        case T.Description:
            return parseConfig(p);
        case T.Use:
            return parseUse(p);
        case T.Context:
            if (peek(p, 1) === T.Max) return parseContextBudget(p);
            break;
        default:
            break;
    }
    if (skipBeforeFunc(p)) return undefined;
    const lines = "`model`, `role`, `description`, `use`, `context max` or `func`";
    const foreign = isWord(p.k) ? FOREIGN_LINES.get(tokenText(p)) : undefined;
    const meant = isWord(p.k) && foreign === undefined ? nearest(tokenText(p), AGENT_WORDS) : null;
    const hint = foreign ?? (meant === null ? "Other statements stand inside a function of the agent." : `Did you mean \`${meant}\`?`);
    expected(p, lines, hint, meant === null ? undefined : [fix(`Write \`${meant}\``, tokenRange(p, p.pos), meant)], true);
    return undefined;
}

/** `async main func …`, `main function …`: told, and the function is read where that word is left out, or else skipped. */
function skipBeforeFunc(p: State): boolean {
    const word = tokenText(p);
    const next = peek(p, 1);
    const advice = isWord(p.k) && (next === T.Func || next === T.Main) ? FOREIGN_ITEMS.get(word) : undefined;
    if (advice !== undefined) {
        report(p, "SYNTAX", `No \`${word}\` stands before a function.`, tokenRange(p, p.pos), advice, [
            fix("Leave the word out", { start: start(p), end: p.starts[p.pos + 1] as number }, "", true),
        ]);
        advance(p);
        return true;
    }
    if (p.k !== T.Main || !isWord(next) || FOREIGN_STARTS.get(tokenText(p, p.pos + 1)) !== "function") return false;
    const range = tokenRange(p, p.pos + 1);
    report(p, "SYNTAX", "A function begins with `func`.", range, "Write `main func`.", [fix("Write `func`", range, "func", true)]);
    jump(p, p.pos + 2);
    skipToMember(p);
    return true;
}

/** On to the next line that begins a function, or to the end of the agent. */
function skipToMember(p: State): void {
    while (p.k !== T.EOF && p.k !== T.RBrace && !(onNewLine(p) && (startsMember(p) || startsItem(p)))) skip(p);
}

// ---- func --------------------------------------------------------------------------------------------------------

/** `function f(`, `def f(`: says what to write; the function is read all the same. */
function foreignFunc(p: State): boolean {
    if (p.k !== T.Word || !isWord(peek(p, 1)) || peek(p, 2) !== T.LParen || FOREIGN_STARTS.get(tokenText(p)) !== "function") return false;
    const range = tokenRange(p, p.pos);
    const fixes = [fix("Write `func`", range, "func", true)];
    report(p, "SYNTAX", "A function begins with `func`.", range, "Write `func`.", fixes);
    return true;
}

/** `given`: its name stands elsewhere (`define name = func (…) { … }`). */
export function parseFunc(p: State, given?: Name): Func {
    const from = start(p);
    p.func = p.pos;
    const outer = beginStatement(p);
    const main = take(p, T.Main);
    advance(p);
    let name: Name | undefined = given;
    if (isWord(p.k) && given === undefined) name = takeName(p);
    else if (!main && given === undefined) {
        expected(p, "the name of the function", "Only a `main func` may have no name.");
        name = { range: here(p), text: "" };
    }
    const bound = p.bound;
    const params: Param[] = [];
    if (p.k === T.LParen) {
        const open = p.pos;
        const mode = p.mode;
        p.mode = 0;
        advance(p);
        while (p.k !== T.RParen && p.k !== T.EOF) {
            const param = parseParam(p, open);
            if (param !== undefined) params.push(param);
            if (!separated(p, open, T.RParen, false)) break;
        }
        closed(p, open, T.RParen);
        p.mode = mode;
    } else {
        // `main func input { … }) {`: what stands before the lone bracket is the contract of a parameter.
        const close = (p.tokens.match[p.pos] as number) + 1;
        const lone = p.k === T.LBrace && close > p.pos && p.kinds[close] === T.RParen;
        const empty = "A function without parameters has empty parentheses: `func f() { … }`.";
        expected(p, "`(` and the parameters", lone ? "Parameters stand in parentheses: `func f(input: { … }) { … }`." : empty);
        if (lone && main && name !== undefined) {
            params.push({ range: name.range, name, contract: parseContract(p), default: undefined });
            name = undefined;
        }
        if (lone) jump(p, close + 1);
    }
    const result = parseResult(p);
    const { noNumbers } = p;
    p.noNumbers = withParams(noNumbers, params);
    const body = parseBlock(p, "`{` and the body of the function");
    endStatement(p, outer, false);
    p.noNumbers = noNumbers;
    p.bound = bound;
    return { kind: "func", range: { start: from, end: body.range.end }, main, name, params, result, body };
}

/** `-> CONTRACT`, or what other languages write for it. */
function parseResult(p: State): ContractNode | undefined {
    const foreign = (p.k === T.Colon || p.k === T.FatArrow) && !onNewLine(p) && startsResult(p);
    if (foreign) {
        const range = tokenRange(p, p.pos);
        const fixes = [fix("Write `->`", range, p.text[range.start - 1] === " " ? "->" : " ->", true)];
        report(p, "SYNTAX", "The contract of a result stands behind `->`.", range, "Write `func f(x) -> string { … }`.", fixes);
        advance(p);
        return parseContract(p);
    }
    return take(p, T.Arrow) ? parseContract(p) : undefined;
}

/** Behind the present colon or arrow stands a contract, and the body behind that. */
function startsResult(p: State): boolean {
    if (lineBreakBefore(p, 1)) return false;
    if (peek(p, 1) !== T.LBrace) return isWord(peek(p, 1)) || peek(p, 1) === T.String;
    return p.kinds[(p.tokens.match[p.pos + 1] as number) + 1] === T.LBrace;
}

function withParams(outside: ReadonlySet<string>, params: readonly Param[]): ReadonlySet<string> {
    if (params.length === 0) return outside;
    const names = new Set(outside);
    for (const { name, contract } of params) {
        if (contract !== undefined && takesNoNumber(contract)) names.add(name.text);
        else names.delete(name.text);
    }
    return names;
}

/** For certain: what a shape stands for is not known here. */
function takesNoNumber(contract: ContractNode): boolean {
    if (contract.kind === "c.name") return NO_NUMBERS.has(contract.name.text);
    if (contract.kind === "c.union") return contract.members.every(takesNoNumber);
    if (contract.kind === "c.optional") return takesNoNumber(contract.of);
    return contract.kind !== "c.literal" || typeof contract.value !== "number";
}

const NO_NUMBERS: ReadonlySet<string> = new Set(["string", "boolean", "list", "none"]);
const TYPES: ReadonlySet<string> = new Set(["string", "number", "boolean", "json", "list"]);

/** The bracket of the parameters is never closed, and the present brace, which nothing like it follows, opens the body. */
function startsBody(p: State, open: number): boolean {
    if (p.k !== T.LBrace || (p.tokens.match[open] as number) >= 0) return false;
    const partner = p.tokens.match[p.pos] as number;
    const after = p.kinds[partner + 1];
    return partner < 0 || (after !== T.LBrace && after !== T.RParen && after !== T.Comma);
}

function parseParam(p: State, open: number): Param | undefined {
    if (!isWord(p.k)) {
        const contract = p.k === T.LBrace && (p.tokens.match[p.pos] as number) > p.pos;
        const hint = contract ? "A parameter has a name before its contract: `func f(input: { … }) { … }`." : undefined;
        expected(p, "the name of a parameter", hint, contract ? insertion("Write `input:`", start(p), "input: ", false) : undefined, true);
        if (!contract) return undefined;
        // Read as what it was to be, so that the body knows its name.
        const range = here(p);
        return { range: { start: start(p), end: end(p) }, name: { range, text: "input" }, contract: parseContract(p), default: undefined };
    }
    if (isWord(peek(p, 1)) && TYPES.has(tokenText(p))) {
        // `string a`
        const range = { start: start(p), end: p.ends[p.pos + 1] as number };
        const text = `${tokenText(p, p.pos + 1)}: ${tokenText(p)}`;
        const fixes = [fix(`Write \`${text}\``, range, text, true)];
        report(p, "SYNTAX", "The name of a parameter stands before its contract.", range, `Write \`${text}\`.`, fixes);
        advance(p);
    }
    bind(p, p.k);
    const name = takeName(p);
    let contract: ContractNode | undefined;
    if (p.k === T.Question && peek(p, 1) === T.Colon) {
        const hint = `What may be left out has a default: \`${name.text}: string? = none\`.`;
        report(p, "SYNTAX", "A parameter has no `?` behind its name.", tokenRange(p, p.pos), hint);
        advance(p);
    }
    const hasColon = take(p, T.Colon);
    if (hasColon || (startsContract(p) && !startsBody(p, open))) contract = parseContract(p);
    const colon = hasColon && contract?.kind === "c.object" ? { colon: true as const } : {};
    let fallback: Expr | undefined;
    if (take(p, T.Assign)) fallback = parseDefault(p);
    return { range: { start: name.range.start, end: prevEnd(p) }, name, contract, ...colon, default: fallback };
}
