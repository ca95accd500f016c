/**
 * Clauses and remits that stand outside a program, as text: what a project's file says about authority.
 *
 * Boundary: the language's own grammar read by its own parser; nothing of it is written a second time. What a name means is the program's.
 *
 * POL1: text that holds more than the clauses or the remit is refused: no text ends the braces it stands in.
 */
import { position, type Range, source } from "../text/source.ts";
import { parse } from "../syntax/parse/parse.ts";
import type * as tree from "../syntax/tree.ts";
import type { ClauseForm, RemitForm } from "./form.ts";
import { clauseForm, isGate, remitForm } from "./lower.ts";

/** `lines`: of the text, from 1, on which each part of the value begins. */
export type ReadPolicy<T> =
    | { readonly ok: true; readonly value: T; readonly lines: readonly number[] }
    | { readonly ok: false; readonly problems: readonly string[] };

/** Clauses as at an import, with or without their braces: `send: ask, arg to: trusted`. */
export function parseClausesText(text: string): ReadPolicy<readonly ClauseForm[]> {
    return read(text, 'import tool X from "x:x" ', (item) => {
        if (item.kind !== "import" || item.clauses === undefined) return ["no clauses"];
        const wrong = item.clauses.flatMap((clause) =>
            clause.kind === "clause.gate" && !isGate(clause.gate.text)
                ? [`${clause.gate.text} is no gate; a gate is may, ask or never`]
                : [],
        );
        if (wrong.length > 0) return wrong;
        return { value: item.clauses.map((clause) => bare(clauseForm(clause))), parts: item.clauses };
    });
}

/** A remit, with or without its braces: `may Repo.read  never Mail  spend 10k tokens`. */
export function parseRemitText(text: string): ReadPolicy<RemitForm> {
    return read(text, "remit X ", (item) =>
        item.kind === "remit" ? { value: bare(remitForm(item.body)), parts: [item.body] } : ["no remit"],
    );
}

interface Taken<T> {
    readonly value: T;
    readonly parts: readonly { readonly range: Range }[];
}

function read<T>(text: string, head: string, take: (item: tree.Item) => Taken<T> | readonly string[]): ReadPolicy<T> {
    const body = text.trim().startsWith("{") ? text : `{ ${text}\n}`;
    const file = parse(source(`${head}${body}\n`, "policy"));
    const problems = file.diagnostics.filter((one) => one.severity === "error").map((one) => one.message);
    if (problems.length > 0) return { ok: false, problems: [...new Set(problems)] };
    const [item] = file.items;
    if (item === undefined || file.items.length !== 1) return { ok: false, problems: ["this holds more than one set of clauses"] };
    const taken = take(item);
    if (!("value" in taken)) return { ok: false, problems: taken };
    return { ok: true, value: taken.value, lines: taken.parts.map(({ range }) => position(file.source, range.start).line) };
}

/** Places in a text that is in no file lead nowhere. */
function bare<T>(form: T): T {
    return JSON.parse(JSON.stringify(form, (key, value: unknown) => (key === "at" ? undefined : value))) as T;
}
