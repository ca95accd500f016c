/**
 * One input of the REPL as a piece of a program: what it declares, or what it does.
 *
 * Boundary: text and its syntax tree. Names and types are the checker's, which reads the whole program.
 *
 * PCE1: what ends too early is open, so that the person goes on with it; what is wrong before its end is wrong.
 * PCE2: no piece ends the program: what comes after it has to run.
 */
import { type Diagnostic, parse, type Source, source, type tree } from "@remit/language";

import type { Declared } from "./versions.ts";

/** Name of an input in messages. */
export const INPUT = "input";

export interface Piece {
    readonly kind: "declared" | "done";
    readonly text: string;
    /** Names that it brings in. */
    readonly names: readonly string[];
    /** Its last statement is an expression, whose value is shown. */
    readonly isShown: boolean;
    /** The name that its last statement gives a value, so that its value is the piece's. */
    readonly assigned: string | null;
    readonly declares: readonly Declared[];
    /** What `import tool` brings in. */
    readonly tools: readonly { readonly name: string; readonly uri: string }[];
}

export type Read =
    | Piece
    | { readonly kind: "nothing" }
    /** It ends too early; the diagnostics are what is told where no more comes. */
    | ({ readonly kind: "open" } & Told)
    | ({ readonly kind: "wrong" } & Told);

interface Told {
    readonly diagnostics: readonly Diagnostic[];
    readonly source: Source;
}

/** On the first line of an input, so that lines which messages name are those of the input. */
export const HEAD = "main func() { ";
export const FOOT = "\n}\n";
const DECLARES = /^\s*(?:import|agent|func|shape|remit|flow|main|memory\s+(?:static|dynamic)|temporal)\b/;

export function pieceOf(text: string): Read {
    if (withoutComments(text) === "") return { kind: "nothing" };
    const isDeclared = DECLARES.test(withoutComments(text));
    const [before, after] = isDeclared ? ["", ""] : [HEAD, FOOT];
    const file = parse(source(before + text + after, INPUT));
    const errors = file.diagnostics.filter(({ severity }) => severity === "error");
    const end = before.length + text.trimEnd().length;
    const own = source(text, INPUT);
    const endless = errors.find((one) => isEndless(one, file.source.text));
    if (endless !== undefined) return { kind: "open", diagnostics: [moved(endless, -before.length)], source: own };
    if (errors.some((one) => one.range.start >= end)) return { kind: "open", diagnostics: [tooShort(text.trimEnd().length)], source: own };
    const wrong = (diagnostics: readonly Diagnostic[]): Read => ({ kind: "wrong", diagnostics, source: own });
    if (errors.length > 0) return wrong(errors.map((one) => moved(one, -before.length)));
    return isDeclared ? declared(text, file.items, wrong) : done(text, file.items, before.length, wrong);
}

/** What may go on over lines, and is not closed: a comment, a text in backticks or a block string. */
function isEndless({ code, range }: Diagnostic, text: string): boolean {
    if (code === "UNTERMINATED_COMMENT") return true;
    return code === "UNTERMINATED_STRING" && (text.startsWith("`", range.start) || text.startsWith('"""', range.start));
}

/** `end`: offset at which the input ends. */
function tooShort(end: number): Diagnostic {
    return problem({ start: end, end }, "the input ends here, and is not complete", "write what is missing, and close what is open");
}

function withoutComments(text: string): string {
    return text
        .replace(/\/\*[\s\S]*?\*\//g, " ")
        .replace(/^\s*\/\/.*$/gm, "")
        .trim();
}

type Wrong = (diagnostics: readonly Diagnostic[]) => Read;

function declared(text: string, items: readonly tree.Item[], wrong: Wrong): Read {
    const main = items.find((item) => (item.kind === "func" || item.kind === "agent") && item.main);
    const block = items.find((item) => item.kind === "block");
    const refused = main ?? block;
    if (refused !== undefined)
        return wrong([
            problem(
                refused.range,
                main === undefined ? "a block is no input here" : "the inputs are the main func here",
                main === undefined ? "write it in a file, and :run the file" : "write what it does, or take the word `main` away",
            ),
        ]);
    const names = items.flatMap((item) => ("name" in item && item.name !== undefined ? [item.name.text] : []));
    const tools = items.flatMap((item) =>
        item.kind === "import" && item.what === "tool" ? [{ name: item.name.text, uri: item.uri.value }] : [],
    );
    let at = 0;
    const declares = items.flatMap((item, i): Declared[] => {
        if (!("name" in item) || item.name === undefined) return [];
        // What stands between two declarations goes with the second one, and what is behind the last one with that.
        const end = i === items.length - 1 ? text.length : item.range.end;
        const what = item.kind === "import" && (item.what === "llm" || item.what === "tool") ? item.what : "other";
        const one: Declared = { name: item.name.text, what, text: text.slice(at, end), at };
        at = end;
        return [one];
    });
    return { kind: "declared", text, names, isShown: false, assigned: null, declares, tools };
}

function done(text: string, items: readonly tree.Item[], before: number, wrong: Wrong): Read {
    const [main] = items;
    const statements = main?.kind === "func" ? main.body.statements : [];
    const last = statements.at(-1);
    const back = returnIn(statements);
    if (back !== null)
        return wrong([
            problem(
                { start: back.range.start - before, end: back.range.end - before },
                "`return` would end the program, and all inputs are one program",
                "write the value alone",
            ),
        ]);
    const names = statements.flatMap((one) => (one.kind === "assign" && one.target.kind === "ident" ? [one.target.name] : []));
    const assigned = last?.kind === "assign" && last.target.kind === "ident" ? last.target.name : null;
    return { kind: "done", text, names, isShown: last?.kind === "expr", assigned, declares: [], tools: [] };
}

/** PCE2: a `return` that would end the main func; not one of a lambda, or of an item of a `parallel for`. */
function returnIn(of: unknown): tree.Return | null {
    if (Array.isArray(of)) {
        for (const one of of) {
            const found = returnIn(one);
            if (found !== null) return found;
        }
        return null;
    }
    if (of === null || typeof of !== "object") return null;
    const node = of as { readonly kind?: string };
    if (node.kind === "return") return of as tree.Return;
    if (node.kind === "lambda" || node.kind === "parallel" || node.kind === "define") return null;
    return returnIn(Object.values(of));
}

function problem(range: tree.Node["range"], message: string, hint: string): Diagnostic {
    return { code: "SYNTAX", severity: "error", message, file: INPUT, range, hint };
}

/** The same `by` units further on. */
export function moved(one: Diagnostic, by: number): Diagnostic {
    const { fixes: _, ...rest } = one;
    return { ...rest, file: INPUT, range: { start: Math.max(0, one.range.start + by), end: Math.max(0, one.range.end + by) } };
}
