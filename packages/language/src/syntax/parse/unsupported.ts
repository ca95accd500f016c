/**
 * Constructs of the language that this version does not run. Each is reported once and skipped whole, so that it hides no other error
 * and causes none.
 */
import type { Range } from "../../text/source.ts";
import { T } from "../tokens.ts";
import { parseContract } from "./contracts.ts";
import { advance, isBound, onNewLine, peek, report, type State, start, tokenRange, skip } from "./state.ts";

export function unsupported(p: State, what: string, range: Range, hint?: string): void {
    report(p, "UNSUPPORTED", `${what} is not supported in this version.`, range, hint);
}

/** Skips to the closing partner of the first bracket of a kind, on from the present token. */
function skipPast(p: State, open: number): void {
    while (p.k !== T.EOF && p.k !== open && p.k !== T.RBrace) {
        skip(p);
    }
    if (p.k !== open) return;
    skip(p);
}

function headRange(p: State, words: number): Range {
    return { start: start(p), end: p.ends[Math.min(p.pos + words - 1, p.tokens.count - 1)] as number };
}

export function skipTest(p: State): void {
    unsupported(p, "A test", headRange(p, peek(p, 1) === T.LBrace ? 1 : 2));
    skipPast(p, T.LBrace);
}

/** After a call that is no yield: `with { … }` and `-> contract`. False: neither follows. */
export function skipCallOptions(p: State): boolean {
    const options = p.k === T.With && !onNewLine(p) && peek(p, 1) === T.LBrace && !isBound(p, T.With);
    if (!options && p.k !== T.Arrow) return false;
    const hint = "They stand after `generate(…)` and after `Agent.yield(…)`.";
    unsupported(p, options ? "`with` after a call" : "A contract after a call", tokenRange(p, p.pos), hint);
    if (options) skipPast(p, T.LBrace);
    if (p.k === T.Arrow) {
        advance(p);
        const { quiet } = p;
        p.quiet = true;
        parseContract(p);
        p.quiet = quiet;
    }
    return true;
}
