/**
 * Clauses at imports: what a method may, what its arguments may carry, who may read its results (LANGUAGE 5).
 *
 * Boundary: as `authority.ts`, whose rule about words (AH1) holds here.
 */
import { didYouMean } from "../../diagnostics/nearest.ts";
import { T } from "../tokens.ts";
import type { Among, Import, ImportClause, Name, Readers, RemitUse, StringLit, Through } from "../tree.ts";
import {
    atCount,
    atName,
    expectNamed,
    GATES,
    isText,
    parseCounts,
    parseRemitUse,
    parseStrings,
    skipClause,
    takeNamed,
} from "./authority.ts";
import { closed, leaveBrace, startsDeclaration } from "./brackets.ts";
import { advance, expected, isWord, onNewLine, peek, prevEnd, type State, start, take, takeName, tokenText } from "./state.ts";

/** `{ send: ask, arg to: trusted, reads: "alice", audience send: arg to or ask, trusted }` */
export function parseClauses(p: State): ImportClause[] {
    const open = p.pos;
    advance(p);
    const clauses: ImportClause[] = [];
    while (p.k !== T.RBrace && p.k !== T.EOF) {
        const clause = parseClause(p);
        if (clause === undefined) {
            skipClause(p, open, () => true);
            take(p, T.Comma);
            continue;
        }
        clauses.push(clause);
        if (p.k !== T.Comma && p.k !== T.RBrace && !onNewLine(p)) {
            expected(p, "`,` or `}`");
            skipClause(p, open, () => true);
        }
        take(p, T.Comma);
    }
    closed(p, open, T.RBrace);
    return clauses;
}

/** `{ remit { … }, choice yield: trusted }` after the import of an agent. */
export function parseAgentBraces(p: State): Pick<Import, "remit" | "clauses"> {
    const open = p.pos;
    advance(p);
    let remit: RemitUse | undefined;
    const clauses: ImportClause[] = [];
    const read = () => ({ ...(remit === undefined ? {} : { remit }), ...(clauses.length === 0 ? {} : { clauses }) });
    while (p.k !== T.RBrace && p.k !== T.EOF && !(!p.tokens.balanced && onNewLine(p) && startsDeclaration(p))) {
        if (p.k === T.Remit) {
            const use = parseRemitUse(p);
            remit ??= use;
        } else if (atChoice(p)) {
            const clause = parseChoice(p);
            if (clause === undefined) skipClause(p, open, () => true);
            else clauses.push(clause);
        } else {
            expected(
                p,
                "`remit` or `choice`",
                "At the import of an agent stands what it may do, `{ remit { may Repo.read } }`, and who may hand it control, `{ choice: trusted or ask }`.",
            );
            leaveBrace(p, open);
            return read();
        }
        take(p, T.Comma);
    }
    closed(p, open, T.RBrace);
    return read();
}

function atChoice(p: State): boolean {
    return isText(p, "choice") && (peek(p, 1) === T.Colon ? !GATES.includes(peek(p, 2)) && !atCount(p, 2) : atName(p, 1));
}

/** Words with which a clause begins. */
const CLAUSE_WORDS = ["trusted", "untrusted", "labels from server", "choice", "arg", "reads", "audience"];

function parseClause(p: State): ImportClause | undefined {
    const from = start(p);
    const done = () => ({ start: from, end: prevEnd(p) });
    if (!atName(p)) {
        expected(p, "the name of a method", "Write `send: ask`, or `arg to: trusted` for an argument.");
        return undefined;
    }
    const next = peek(p, 1);
    if (p.k === T.Trusted && next !== T.Colon) {
        advance(p);
        return { kind: "clause.trusted", range: done() };
    }
    if (isText(p, "untrusted") && next !== T.Colon) {
        advance(p);
        return { kind: "clause.untrusted", range: done() };
    }
    if (isText(p, "labels") && next === T.From) {
        advance(p);
        advance(p);
        if (!isText(p, "server")) {
            expected(p, "`server`", "Write `labels from server`.");
            return undefined;
        }
        advance(p);
        return { kind: "clause.labels", range: done() };
    }
    if (atChoice(p)) return parseChoice(p);
    if (p.k === T.Arg && (atName(p, 1) || next === T.Number)) return parseArgClause(p);
    if ((p.k === T.Reads || p.k === T.Audience) && (next === T.Colon ? !GATES.includes(peek(p, 2)) && !atCount(p, 2) : atName(p, 1))) {
        const which = p.k === T.Reads ? "reads" : "audience";
        advance(p);
        const method = p.k === T.Colon ? undefined : takeNamed(p);
        if (!take(p, T.Colon)) expected(p, `\`:\` after \`${which}\``);
        const readers = parseReaders(p);
        if (readers === undefined) return undefined;
        const ask = which === "audience" && parseOrAsk(p);
        return { kind: "clause.readers", range: done(), which, ...(method === undefined ? {} : { method }), readers, ask };
    }
    const method = takeNamed(p);
    if (!take(p, T.Colon)) {
        const gate = tokenText(p, p.pos - 1);
        const turned = ["may", "ask", "never"].includes(gate) && isWord(p.k);
        const meant = didYouMean(method.text, CLAUSE_WORDS);
        const hint = turned
            ? `The method stands first: \`${tokenText(p)}: ${gate}\`.`
            : meant && `${meant[0]?.toUpperCase()}${meant.slice(1)}`;
        expected(p, `\`:\` after \`${method.text}\``, hint);
        return undefined;
    }
    const counts = parseCounts(p);
    if (counts.length > 0) return { kind: "clause.count", range: done(), method, counts };
    if (!isWord(p.k) || onNewLine(p)) {
        expected(p, "`may`, `ask`, `never`, `at most 3` or `once by …`");
        return undefined;
    }
    const gate = takeName(p);
    if (atCount(p)) expected(p, "`,`", `Write \`${method.text}: ${gate.text}, ${method.text}: at most 3\`.`);
    return { kind: "clause.gate", range: done(), method, gate };
}

/** `choice send: trusted or ask`; the present token is `choice`. */
function parseChoice(p: State): ImportClause | undefined {
    const from = start(p);
    advance(p);
    const method = p.k === T.Colon ? undefined : takeNamed(p);
    if (!take(p, T.Colon)) expected(p, "`:` after `choice`");
    const any = isText(p, "any");
    if (any) advance(p);
    const allowed = !any && p.k === T.From ? parseOrigins(p) : undefined;
    if (!any && allowed === undefined && !take(p, T.Trusted)) {
        expected(p, "`trusted`, `from(…)` or `any`", 'Write `choice send: trusted or ask`, or `choice send: from("user", "tool:Inbox")`.');
        return undefined;
    }
    const ask = !any && parseOrAsk(p);
    return {
        kind: "clause.choice",
        range: { start: from, end: prevEnd(p) },
        ...(method === undefined ? {} : { method }),
        ...(allowed === undefined ? {} : { from: allowed }),
        ...(any ? { any } : {}),
        ask,
    };
}

/** `arg to: trusted`, `arg send.to: addresses among("user", Contacts.find.email) or ask`. */
function parseArgClause(p: State): ImportClause | undefined {
    const from = start(p);
    advance(p);
    let method: Name | undefined;
    let name = takeNamed(p);
    if (p.k === T.Dot) {
        advance(p);
        method = name;
        name = p.k === T.Number ? takeName(p) : expectNamed(p, "the name of an argument");
    }
    if (!take(p, T.Colon)) expected(p, `\`:\` after \`${name.text}\``);
    const addresses = p.k === T.Addresses && [T.From, T.Among, T.Trusted].includes(peek(p, 1));
    const isPlain = !addresses && isText(p, "plain");
    if (addresses || isPlain) advance(p);
    const among = p.k === T.Among;
    let listed: ReturnType<typeof parseListed> = {};
    if ((p.k === T.From || among) && peek(p, 1) === T.LParen) {
        advance(p);
        listed = parseListed(p, among);
    } else if (!take(p, T.Trusted) && !isPlain) {
        expected(p, "`trusted`, `plain`, `from(…)` or `among(…)`", 'Write `arg to: trusted`, or `arg to: from("user", "tool:Contacts")`.');
        return undefined;
    }
    const ask = parseOrAsk(p);
    return {
        kind: "clause.arg",
        range: { start: from, end: prevEnd(p) },
        ...(method === undefined ? {} : { method }),
        name,
        ...listed,
        ...(among ? { among } : {}),
        ...(addresses ? { addresses } : {}),
        ...(isPlain ? { plain: true } : {}),
        ask,
    };
}

/** `("user", "tool:Contacts")` after `from` or `among`, which is the present token; undefined where no bracket follows. */
function parseOrigins(p: State): StringLit[] | undefined {
    if (peek(p, 1) !== T.LParen) return undefined;
    advance(p);
    const paren = p.pos;
    advance(p);
    const origins = parseStrings(p, 'an origin: `from("user")`');
    closed(p, paren, T.RParen);
    return origins;
}

/** `("user", Contacts.find.email)`: origins, and in `among` fields; the present token is the bracket. */
function parseListed(p: State, among: boolean): { readonly from?: readonly StringLit[]; readonly fields?: readonly Among[] } {
    const paren = p.pos;
    const from: StringLit[] = [];
    const fields: Among[] = [];
    do {
        advance(p);
        const some = among ? parseAmong(p) : [];
        fields.push(...some);
        if (some.length === 0) from.push(...parseStrings(p, 'an origin: `from("user")`'));
    } while (p.k === T.Comma && p.errorAt !== p.pos);
    closed(p, paren, T.RParen);
    return { ...(from.length === 0 && fields.length > 0 ? {} : { from }), ...(fields.length === 0 ? {} : { fields }) };
}

/** `input.recipients`, `Contacts.find.email`; none where something else stands. */
function parseAmong(p: State): Among[] {
    if (!isWord(p.k)) return [];
    const from = start(p);
    const of = takeName(p);
    const path: Name[] = [];
    while (take(p, T.Dot)) path.push(expectNamed(p, "the name of a field"));
    const method = of.text === "input" ? undefined : path.shift();
    if (path.length === 0) expected(p, "`.` and the name of a field", "Write `input.recipients`, or `Contacts.find.email`.");
    return [{ range: { start: from, end: prevEnd(p) }, of, ...(method === undefined ? {} : { method }), path }];
}

function parseOrAsk(p: State): boolean {
    if (p.k === T.And && peek(p, 1) === T.Ask) expected(p, "`or ask`", "Write `or ask`: what the clause does not let in is asked about.");
    else if (p.k !== T.Or || peek(p, 1) !== T.Ask) return false;
    advance(p);
    advance(p);
    return true;
}

/** `through Customers.list.id to email`; the present token is `through`. */
function parseThrough(p: State): Through | undefined {
    const from = start(p);
    const how = "Write `result customer_id through Customers.list.id to email`.";
    advance(p);
    const [at] = parseAmong(p);
    if (at === undefined || at.method === undefined) {
        expected(p, "a tool, its method and a field of its results", how);
        return undefined;
    }
    if (!take(p, T.To)) {
        expected(p, "`to` and the field that names people", how);
        return undefined;
    }
    const to = expectNamed(p, "the field that names people");
    return { range: { start: from, end: prevEnd(p) }, at, to };
}

function parseReaders(p: State): Readers | undefined {
    const from = start(p);
    const done = () => ({ start: from, end: prevEnd(p) });
    if (p.k === T.String || p.k === T.Block) {
        const names = parseStrings(p, "a name");
        return { kind: "readers.names", range: done(), names };
    }
    if (p.k === T.Everyone) {
        advance(p);
        return { kind: "readers.everyone", range: done() };
    }
    if (p.k === T.Arg || p.k === T.Result) {
        const kind = p.k === T.Arg ? "readers.arg" : "readers.result";
        advance(p);
        const name = expectNamed(p, kind === "readers.arg" ? "the name of an argument" : "the name of a field of the result");
        const through = isText(p, "through") && !onNewLine(p) ? parseThrough(p) : undefined;
        return { kind, range: done(), name, ...(through === undefined ? {} : { through }) };
    }
    expected(p, "who it is", "Write names in quotes, `arg to`, `result owner` or `everyone`.");
    return undefined;
}
