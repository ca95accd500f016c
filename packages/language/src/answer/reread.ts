/**
 * The rules of the language for a form that came as JSON: it is printed as source, and that source is parsed and checked like any other.
 *
 * Boundary: forms of the right structure. There is no second checker for forms.
 *
 * RER2: a form is accepted only where its source has no error and lowers to the same form, places aside. So what runs is what was checked.
 */
import { check } from "../check/check.ts";
import type { Json } from "../contract/contract.ts";
import { parse } from "../syntax/parse/parse.ts";
import { position, type Source, source } from "../text/source.ts";
import { type Errors, MAX_ERRORS } from "../form/errors.ts";
import type { At, Program } from "../form/form.ts";
import { type Lowerable, lower } from "../form/lower.ts";
import { printForm } from "../form/raise.ts";
import type { Registry } from "../verbs/verb.ts";
import { INEXACT, isInexact } from "../form/structure.ts";

type Value = Json | undefined;

export interface Reread {
    /** It is what an agent answered a yield with. */
    readonly answer?: boolean;
    /** What stages may call. */
    readonly verbs?: Registry;
}

/** Adds what the checker finds, at the innermost nodes that it speaks of. */
export function checkSource(program: Program, { answer = false, verbs }: Reread, errors: Errors): void {
    const texts = printForm(program).map((text, i) => source(text, `${i}`));
    const files = new Map(texts.map((text) => [text.file, parse(text)]));
    const links = new Map(
        program.files.map((file, i) => [
            `${i}`,
            new Map(file.imports.flatMap((one) => (one.from === undefined ? [] : [[one.name, `${one.from}`] as const]))),
        ]),
    );
    const prelude = program.files.findIndex((file) => file.prelude === true);
    const more = prelude < 0 ? {} : { prelude: `${prelude}` };
    const loaded: Lowerable = { entry: `${program.files.length - 1}`, files, order: [...files.keys()], links, ...more };
    const diagnostics = [...files.values()].flatMap((file) => file.diagnostics);
    const checked = check({ ...loaded, readOnly: new Set(), diagnostics, ...(verbs === undefined ? {} : { verbs }) }, { answer });
    const again = lower(loaded);
    for (const { severity, file, range, code, message, hint } of checked.diagnostics) {
        if (errors.found.length >= MAX_ERRORS) return;
        // Where a program begins, its form says itself, and a library of functions has no beginning.
        if (severity !== "error" || code === "MISSING_MAIN_AGENT" || code === "MISSING_MAIN_FUNC") continue;
        const found = innermost(again.files[Number(file)] as unknown as Json, texts[Number(file)] as Source, range.start);
        errors.add(code, ["files", Number(file), ...found], hint === undefined ? message : `${message}; ${hint}`);
    }
    if (errors.found.length > 0) return;
    same(program.files as unknown as Json, again.files as unknown as Json, "", ["files"], errors);
}

/** Keys to the innermost node whose source holds this place. */
function innermost(form: Json, text: Source, offset: number): (string | number)[] {
    const { line, column } = position(text, offset);
    let best: (string | number)[] = [];
    const visit = (value: Value, keys: (string | number)[]): void => {
        if (value === null || typeof value !== "object") return;
        if (!Array.isArray(value) && Array.isArray(value.at)) {
            const [l, c, endLine, endColumn] = value.at as unknown as At;
            if (line < l || line > endLine || (line === l && column < c) || (line === endLine && column >= endColumn)) return;
            best = keys;
        }
        for (const [key, inner] of Object.entries(value)) visit(inner, [...keys, Array.isArray(value) ? Number(key) : key]);
    };
    visit(form, []);
    return best;
}

/** Adds where two forms differ; what is no part of a source does not count, nor how a number is written. */
function same(a: Value, b: Value, key: string, place: (string | number)[], errors: Errors): boolean {
    if (a === b || key === "at" || key === "effects" || key === "file" || (key === "text" && b === undefined)) return true;
    if (a !== null && b !== null && typeof a === "object" && typeof b === "object" && Array.isArray(a) === Array.isArray(b)) {
        const [x, y] = [a as { [key: string]: Json }, b as { [key: string]: Json }];
        if (x.kind === "literal" && typeof x.value === "number" && isInexact(x.value) && !String(x.text ?? "").includes(".")) {
            errors.add("NUMBER_TOO_LARGE", [...place, "value"], INEXACT);
            return false;
        }
        for (const inner of Object.keys(x).concat(Object.keys(y).filter((one) => !Object.hasOwn(x, one)))) {
            place.push(Array.isArray(a) ? Number(inner) : inner);
            if (!same(x[inner], y[inner], inner, place, errors)) return false;
            place.pop();
        }
        return true;
    }
    if (isNothing(a, key) && isNothing(b, key)) return true;
    errors.add("FORM_VALUE", place, "the source of this form reads as another form");
    return false;
}

/** What a form may say where the language says nothing. */
function isNothing(value: Value, key: string): boolean {
    if (value === undefined) return true;
    if (Array.isArray(value)) return value.length === 0 && (key === "clauses" || key === "remits");
    return value === false && (key === "main" || key === "optional");
}
