/**
 * Which of the pieces of a reply is the answer.
 *
 * Boundary: weighs pieces by the words and marks around them. Each piece is first tried against the contract on its own.
 *
 * The rules, in order: a piece marked as final beats one that is not; a draft, an example or a template counts least; a fence or an answer tag
 * counts more than prose; between equals that differ nobody chooses. See R6 and R7 in `../reading.ts`.
 */
import type { Contract, Json, Shapes } from "@remit/language";
import type { ModelReply } from "@remit/machine";
import type { Found, Piece } from "./find.ts";
import { type Fitted, fit, open, soleField } from "./fit.ts";
import { Loose, type Parsed, type Value } from "./lenient.ts";
import { ALTERNATIVE, ANSWER, DATA_FENCES, DRAFT, FINAL, isPlaceholder, OR_ELSE, TAKEN_BACK, WRAPPERS } from "./words.ts";

export type ReplyError = NonNullable<ModelReply["error"]>;

export type Verdict =
    | { readonly kind: "fits"; readonly value: Json; readonly repairs: readonly string[]; readonly from: string }
    | { readonly kind: "fails"; readonly error: ReplyError };

export interface Attempt {
    readonly piece: Piece;
    readonly verdict: Verdict;
    readonly weight: number;
    /** It is an attempt at this contract, and not some other JSON that happens to stand there. */
    readonly relevant: boolean;
}

export interface Manner {
    readonly strict: boolean;
    readonly finish: ModelReply["finish"];
}

export type Decision =
    | { readonly error: ReplyError }
    | { readonly value: Json; readonly repairs: readonly string[]; readonly from: string; readonly place: string };

export function attemptsOf(found: Found, contract: Contract, shapes: Shapes, manner: Manner): Attempt[] {
    let marks = 0;
    return found.pieces.map((piece, index) => {
        const verdicts = piece.readings.map((parsed) => judge(parsed, contract, shapes, manner));
        const verdict = combine(verdicts);
        // What stands directly after another piece is introduced by the same words.
        if (index === 0 || piece.before.trim() !== "") marks = marksBefore(piece.before.replace(/(?:```|~~~)[\w+-]*\s*$/, ""));
        const relevant = verdict.kind === "fits" || piece.readings.some((parsed) => concerns(parsed, contract, shapes));
        return { piece, verdict, weight: marks + weigh(piece, verdict), relevant };
    });
}

function judge(parsed: Parsed, contract: Contract, shapes: Shapes, manner: Manner): Verdict {
    if (parsed.state === "broken") {
        if (manner.finish === "length")
            return { kind: "fails", error: { kind: "truncated", message: "the reply was cut off inside the answer" } };
        return { kind: "fails", error: { kind: "not_json", message: `the answer cannot be read as JSON: ${parsed.why}` } };
    }
    const fitted = fit(parsed.value, contract, { shapes, strict: manner.strict });
    if (parsed.state === "cut") return cut(parsed, fitted, contract, shapes, manner);
    const problem = parsed.problems[0];
    if (problem !== undefined) {
        const kind = problem.kind === "duplicate" || problem.kind === "unclear" ? "ambiguous" : "not_json";
        const message = `the answer cannot be read without loss: ${parsed.problems
            .slice(0, 3)
            .map((one) => one.message)
            .join("; ")}`;
        return { kind: "fails", error: { kind, message, ...(fitted.ok ? { rejected: fitted.value } : { rejected: fitted.rejected }) } };
    }
    if (!fitted.ok)
        return { kind: "fails", error: { kind: "shape", message: schemaEcho(parsed.value) ?? fitted.message, rejected: fitted.rejected } };
    return { kind: "fits", value: fitted.value, repairs: [...parsed.repairs, ...fitted.repairs], from: fitted.from };
}

/** The contract's own schema given back instead of an answer. */
function schemaEcho(value: Value): string | undefined {
    if (!(value instanceof Loose) || value.get("type") !== "object") return undefined;
    const properties = value.get("properties");
    if (!(properties instanceof Loose)) return undefined;
    const schemas = properties.values.filter((one) => one instanceof Loose && one.keys.includes("type"));
    return schemas.length > 0 ? "the reply repeats the schema instead of answering" : undefined;
}

/** Open at the end: right only where the model stopped of its own will, every declared field is there, and only brackets are missing. */
function cut(parsed: Parsed, fitted: Fitted, contract: Contract, shapes: Shapes, manner: Manner): Verdict {
    const whole =
        manner.finish === "stop" &&
        parsed.closable &&
        parsed.problems.length === 0 &&
        fitted.ok &&
        allFields(fitted.value, contract, shapes);
    if (whole && fitted.ok)
        return {
            kind: "fits",
            value: fitted.value,
            repairs: [...parsed.repairs, "missing closing bracket added", ...fitted.repairs],
            from: fitted.from,
        };
    return { kind: "fails", error: { kind: "truncated", message: "the reply ends inside the answer" } };
}

function allFields(value: Json, contract: Contract, shapes: Shapes): boolean {
    const at = open(contract, shapes);
    if (at.type !== "object" || value === null || typeof value !== "object" || Array.isArray(value)) return false;
    return at.fields.every((field) => {
        if (!Object.hasOwn(value, field.name)) return false;
        const inner = open(field.contract, shapes);
        return inner.type !== "object" || allFields(value[field.name] as Json, inner, shapes);
    });
}

function combine(verdicts: readonly Verdict[]): Verdict {
    const fits = verdicts.filter((verdict) => verdict.kind === "fits");
    if (fits.length === 2) {
        const [one, two] = fits as [Verdict & { kind: "fits" }, Verdict & { kind: "fits" }];
        return { kind: "fails", error: ambiguous("quotes inside a text allow two readings", one.value, two.value) };
    }
    return fits[0] ?? (verdicts[0] as Verdict);
}

function ambiguous(why: string, one: Json, two: Json): ReplyError {
    return { kind: "ambiguous", message: `${why}: ${brief(one)} and ${brief(two)}`, rejected: [one, two] };
}

function brief(value: Json): string {
    const text = JSON.stringify(value);
    return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** JSON that shares a declared name with the contract, or is a list where one is asked for, or broke on the way. */
function concerns(parsed: Parsed, contract: Contract, shapes: Shapes): boolean {
    if (parsed.state === "broken") return true;
    if (schemaEcho(parsed.value) !== undefined) return true;
    const at = open(contract, shapes);
    let value: Value = parsed.value;
    for (let depth = 0; depth < 3; depth++) {
        if (at.type === "list" || (soleField(contract, shapes) !== null && Array.isArray(value)))
            return Array.isArray(value) || parsed.state === "cut";
        if (!(value instanceof Loose) || at.type !== "object")
            return at.type !== "object" && value instanceof Loose && value.keys.some((key) => WRAPPERS.has(key));
        const names = new Set(value.keys.map((key) => key.toLowerCase()));
        if (at.fields.some((field) => names.has(field.name.toLowerCase()))) return true;
        if (value.keys.length !== 1) return parsed.state === "cut";
        value = value.values[0] as Value;
    }
    return false;
}

function marksBefore(before: string): number {
    if (FINAL.test(before)) return 4;
    if (DRAFT.test(before)) return -4;
    return ANSWER.test(before) ? 1 : 0;
}

function weigh(piece: Piece, verdict: Verdict): number {
    let weight = 0;
    if (piece.zone === "tag") weight += 5;
    if (piece.zone === "fence") weight += DATA_FENCES.has(piece.fence) ? 1 : 0;
    if (piece.zone === "think") weight -= 8;
    if (verdict.kind === "fits" && template(verdict.value)) weight -= 5;
    return weight;
}

/** Nothing but placeholders where texts belong: the shape of an answer, not one. */
function template(value: Json): boolean {
    let texts = 0;
    const only = (v: Json): boolean => {
        if (typeof v === "string") {
            texts++;
            return isPlaceholder(v);
        }
        if (v === null || typeof v !== "object") return true;
        return (Array.isArray(v) ? v : Object.values(v)).every(only);
    };
    return only(value) && texts > 0;
}

/** The answer, an error, or `null` where no piece has to do with the contract. */
export function decide(attempts: readonly Attempt[], found: Found, contract: Contract, shapes: Shapes, manner: Manner): Decision | null {
    const joined = joinedList(attempts, found, contract, shapes, manner);
    if (joined !== null) return joined;
    const relevant = attempts.filter((attempt) => attempt.relevant);
    if (relevant.length === 0) return null;
    const fits = relevant.filter((attempt) => attempt.verdict.kind === "fits");
    const top = Math.max(...relevant.map((attempt) => attempt.weight));
    if (fits.length === 0) {
        const last = relevant.findLast((attempt) => attempt.weight === top) as Attempt;
        return { error: (last.verdict as Verdict & { kind: "fails" }).error };
    }
    const best = Math.max(...fits.map((attempt) => attempt.weight));
    const winners = fits.filter((attempt) => attempt.weight === best);
    const winner = winners[winners.length - 1] as Attempt;
    const won = winner.verdict as Verdict & { kind: "fits" };
    const at = relevant.indexOf(winner);
    const failed = relevant.find(
        (attempt, index) => attempt.verdict.kind === "fails" && (attempt.weight > best || (index > at && attempt.weight >= best - 1)),
    );
    if (failed?.verdict.kind === "fails") return { error: failed.verdict.error };
    if (winner.piece.zone === "think" && (found.after.replace(/[`\s]+/g, "") !== "" || manner.finish === "length"))
        return { error: { kind: "empty", message: "the reply never ends its thinking" } };
    const wonText = canonical(won.value);
    const other = fits.find(
        (attempt) =>
            (attempt.weight === best || ALTERNATIVE.test(attempt.piece.before)) &&
            canonical((attempt.verdict as { value: Json }).value) !== wonText,
    );
    if (other !== undefined)
        return { error: ambiguous("the reply holds different answers", (other.verdict as { value: Json }).value, won.value) };
    if (OR_ELSE.test(found.after.slice(0, 40)) && winner.piece === found.pieces.at(-1))
        return { error: { kind: "ambiguous", message: "the reply names an alternative after its answer", rejected: won.value } };
    if (TAKEN_BACK.test(found.after.slice(0, 400)))
        return { error: { kind: "ambiguous", message: "the reply takes its answer back and gives no other", rejected: won.value } };
    return { ...won, place: placeOf(winner.piece) };
}

function placeOf(piece: Piece): string {
    if (piece.zone === "fence") return "fence";
    if (piece.zone === "tag") return "tag";
    return piece.zone === "think" ? "after thinking that never ends" : "prose around";
}

/** Objects one after the other, with nothing but space, commas and bullets between: the items of a list. */
function joinedList(attempts: readonly Attempt[], found: Found, contract: Contract, shapes: Shapes, manner: Manner): Decision | null {
    if (attempts.length < 2) return null;
    const sole = soleField(contract, shapes);
    const at = open(sole?.contract ?? contract, shapes);
    if (at.type !== "list" || manner.finish === "length") return null;
    const values: Value[] = [];
    const repairs = new Set<string>();
    for (const [index, { piece }] of attempts.entries()) {
        const parsed = piece.readings[0] as Parsed;
        if (piece.readings.length !== 1 || parsed.state !== "complete" || parsed.problems.length > 0 || !(parsed.value instanceof Loose))
            return null;
        if (index > 0 && !/^[\s,;]*(?:(?:[-*•]|\(?\d{1,3}[.):])\s*)?$/.test(piece.before)) return null;
        for (const repair of parsed.repairs) repairs.add(repair);
        values.push(parsed.value);
    }
    if (found.after.replace(/[\s`.,;]+/g, "") !== "") return null;
    const fitted = fit(values, contract, { shapes, strict: manner.strict });
    if (!fitted.ok) return null;
    return {
        value: fitted.value,
        repairs: [...repairs, "objects one after the other read as a list", ...fitted.repairs],
        from: fitted.from,
        place: "prose around",
    };
}

/** JSON with sorted names, for comparing. */
function canonical(value: Json): string {
    return JSON.stringify(value, (_key, v: Json) =>
        v !== null && typeof v === "object" && !Array.isArray(v)
            ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
            : v,
    );
}
