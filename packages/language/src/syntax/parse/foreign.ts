/**
 * Statements of other languages: each is one report that says what to write, and is skipped or read as what it means.
 *
 * FE1: a word is foreign only where it stands so at every place of the file that has it; a program that uses it as a name keeps it.
 */
import { fix } from "../../text/fix.ts";
import { FOREIGN_ADVICE, FOREIGN_STARTS, type ForeignStart } from "../foreign.ts";
import { T } from "../tokens.ts";
import type { Stmt } from "../tree.ts";
import { skipLine } from "./brackets.ts";
import { braceAfter, isForeign } from "./foreign-parts.ts";
import { parseBranches, parseIteration } from "./forms.ts";
import { advance, isWord, jump, report, type State, tokenRange, tokenText, parseExpr, parseBlock, parseStatement, skip } from "./state.ts";
import { parseUse } from "./use.ts";

/** The statement that begins here in another language, if the present word begins one. */
export function foreignStart(p: State): ForeignStart | undefined {
    const word = tokenText(p);
    const what = FOREIGN_STARTS.get(word);
    if (what === undefined || !begins(p, p.pos, what)) return undefined;
    return isForeign(p, "start", (at) => begins(p, at, what)) ? what : undefined;
}

/** Whether what stands after the word goes on as such a statement, and could not be the next statement after a bare name. */
function begins(p: State, at: number, what: ForeignStart): boolean {
    const next = p.kinds[at + 1] ?? T.EOF;
    const after = p.kinds[at + 2] ?? T.EOF;
    if (at + 1 >= p.tokens.count || p.tokens.newline[at + 1] === 1) return false;
    switch (what) {
        case "name":
            return isWord(next) && after === T.Assign;
        case "function":
            return isWord(next) && after === T.LParen;
        case "failure":
            return next >= T.Number && next !== T.Dot && next !== T.Assign && !(next >= T.RBrace && next < T.Word);
        default:
            return (isWord(next) && next !== T.And && next !== T.Or) || (next === T.LParen && braceAfter(p, at + 1));
    }
}

/** The word that stands for it here. */
const WRITES: Readonly<Partial<Record<ForeignStart, string>>> = { branch: "else if", context: "use", each: "for", failure: "raise" };

/** The present token is the word that `foreignStart` found. */
export function parseForeign(p: State, what: ForeignStart): Stmt | undefined {
    const { message, hint } = FOREIGN_ADVICE[what];
    const range = tokenRange(p, p.pos);
    const write = WRITES[what];
    const fixes =
        what === "name"
            ? [fix("Leave the word out", { start: range.start, end: p.starts[p.pos + 1] as number }, "", true)]
            : write === undefined
              ? undefined
              : [fix(`Write \`${write}\``, range, write, true)];
    report(p, "SYNTAX", message, range, hint, fixes);
    switch (what) {
        case "name":
            advance(p);
            return parseStatement(p);
        case "context":
            return parseUse(p);
        case "each":
            advance(p);
            parseIteration(p);
            return undefined;
        case "branch":
            parseBranches(p);
            return undefined;
        case "loop":
            advance(p);
            skipHead(p);
            if (p.k === T.LBrace) parseBlock(p, "`{`");
            return undefined;
        case "failure":
            advance(p);
            parseExpr(p);
            return undefined;
        default:
            advance(p);
            skipHead(p);
            if (p.k === T.LBrace) {
                const partner = p.tokens.match[p.pos] as number;
                if (partner > p.pos) jump(p, partner + 1);
                else skipLine(p, true);
            }
            return undefined;
    }
}

/** On to the brace that opens the body on this line, or to the next line. */
function skipHead(p: State): void {
    while (p.k !== T.EOF && p.k !== T.LBrace && p.k !== T.RBrace && p.tokens.newline[p.pos] !== 1) {
        skip(p);
    }
    p.height = 1;
}
