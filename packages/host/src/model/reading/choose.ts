/**
 * Which of the pieces of a reply is the answer.
 *
 * Boundary: weighs pieces by the words and marks around them. Each piece is first tried against the contract on its own.
 *
 * The rule: what is called final or stands in an answer tag counts more than a fence, a fence more than prose, a draft or an example least. Of those
 * that count most the last is the answer; what stood before it were drafts, and `repairs` names them. No reading is chosen (`ambiguous`) where
 * - anything that differs comes after the answer, whatever it is called;
 * - the words before the last say that it is something else ("usage:", "input:"), or make them equals ("alternatively", "for b.ts"), or two are called final and the later is no correction;
 * - they stand in one block, or in prose without a word about which counts;
 * - a list is asked for: its parts cannot be told from its drafts.
 * Any attempt after the answer that does not fit is the result (R7).
 */
import { isObject, canonicalJson, type Contract, type Json, type Shapes } from "@remit/language";
import type { ModelReply } from "@remit/machine";
import type { Found, Piece } from "./find.ts";
import { type Fitted, fit, open, soleField } from "./fit.ts";
import type { Parsed } from "./lenient.ts";
import { Loose, type Value } from "./loose.ts";
import { type Marks, marksOf } from "./marks.ts";
import { DATA_FENCES, goesOn, isPlaceholder, LATER_ANSWER, LATER_FINAL, OR_ELSE, TAKEN_BACK, WRAPPERS } from "./words.ts";

export type ReplyError = NonNullable<ModelReply["error"]>;

export type Verdict =
    | { readonly kind: "fits"; readonly value: Json; readonly repairs: readonly string[]; readonly from: string }
    | { readonly kind: "fails"; readonly error: ReplyError };

export interface Attempt {
    readonly piece: Piece;
    readonly verdict: Verdict;
    readonly marks: Marks;
    readonly strength: number;
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
    let marks = marksOf("");
    return found.pieces.map((piece, index) => {
        const verdict = combine(piece.readings.map((parsed) => judge(parsed, contract, shapes, manner)));
        // What stands directly after another piece is introduced by the same words.
        if (index === 0 || piece.before.trim() !== "") marks = marksOf(piece.before);
        const relevant = verdict.kind === "fits" || piece.readings.some((parsed) => concerns(parsed, contract, shapes));
        return { piece, verdict, marks, strength: strengthOf(piece, marks, verdict), relevant };
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
    if (at.type !== "object" || !isObject(value)) return false;
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
    const sole = soleField(contract, shapes);
    const listField = sole !== null && open(sole.contract, shapes).type === "list";
    let value: Value = parsed.value;
    for (let depth = 0; depth < 3; depth++) {
        if (at.type === "list" || (listField && Array.isArray(value))) return Array.isArray(value) || parsed.state === "cut";
        if (Array.isArray(value) && at.type === "object") value = value[0] ?? null;
        if (!(value instanceof Loose) || at.type !== "object")
            return at.type !== "object" && value instanceof Loose && value.keys.some((key) => WRAPPERS.has(key));
        const names = new Set(value.keys.map((key) => key.toLowerCase()));
        if (at.fields.some((field) => names.has(field.name.toLowerCase()))) return true;
        if (value.keys.length !== 1) return parsed.state === "cut";
        value = value.values[0] as Value;
    }
    return false;
}

const THOUGHT = -1;
const ASIDE = 0;
const PROSE = 1;
const BLOCK = 2;
const FINAL = 3;

function strengthOf(piece: Piece, marks: Marks, verdict: Verdict): number {
    if (piece.zone === "think") return THOUGHT;
    if (verdict.kind === "fits" && template(verdict.value)) return ASIDE;
    if (piece.zone === "tag") return FINAL;
    if (marks.as === "aside") return ASIDE;
    if (marks.as === "final") return FINAL;
    return (piece.zone === "fence" && DATA_FENCES.has(piece.fence)) || marks.as === "answer" ? BLOCK : PROSE;
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
    const top = Math.max(...relevant.map((attempt) => attempt.strength));
    const at = relevant.findLastIndex((attempt) => attempt.strength === top);
    const winner = relevant[at] as Attempt;
    const won = winner.verdict;
    if (won.kind === "fails") return { error: won.error };
    const later = relevant.slice(at + 1);
    const failed = later.find((attempt) => attempt.verdict.kind === "fails");
    if (failed?.verdict.kind === "fails") return { error: failed.verdict.error };
    if (winner.piece.zone === "think" && (found.after.replace(/[`\s]+/g, "") !== "" || manner.finish === "length"))
        return { error: { kind: "empty", message: "the reply never ends its thinking" } };
    const wonText = canonicalJson(won.value);
    const others = relevant.filter((attempt) => attempt.verdict.kind === "fits" && canonicalJson(attempt.verdict.value) !== wonText);
    const rival = others.find((other) => later.includes(other) || !supersedes(winner, other, contract, shapes));
    if (rival?.verdict.kind === "fits") return { error: ambiguous("the reply holds different answers", rival.verdict.value, won.value) };
    if (announcesAnother(winner, found))
        return { error: { kind: "not_json", message: "the reply holds a draft, and after it an answer that cannot be read" } };
    if (beginsAnother(found, manner))
        return { error: { kind: "truncated", message: "the reply was cut off where it began another answer" } };
    if (OR_ELSE.test(found.after.slice(0, 40)) && winner.piece === found.pieces.at(-1))
        return { error: { kind: "ambiguous", message: "the reply names an alternative after its answer", rejected: won.value } };
    if (TAKEN_BACK.test(found.after.slice(0, 400)))
        return { error: { kind: "ambiguous", message: "the reply takes its answer back and gives no other", rejected: won.value } };
    const drafts = relevant.slice(0, at).flatMap(({ verdict }) => {
        if (verdict.kind === "fails") return `passed over an earlier attempt that does not fit: ${verdict.error.message.slice(0, 120)}`;
        return canonicalJson(verdict.value) === wonText ? [] : `passed over an earlier draft: ${brief(verdict.value)}`;
    });
    return { ...won, repairs: [...won.repairs, ...new Set(drafts)], place: placeOf(winner.piece) };
}

/** Whether an answer makes an earlier one that differs a draft. */
function supersedes(winner: Attempt, other: Attempt, contract: Contract, shapes: Shapes): boolean {
    if (winner.marks.equal || (other.marks.equal && other.strength > ASIDE)) return winner.marks.correction;
    if (winner.strength === FINAL && other.strength === FINAL) return winner.marks.correction;
    if (winner.marks.as === "final" || other.strength <= ASIDE) return winner.strength > ASIDE;
    // From here on nothing but its place says that the last counts.
    if (open(soleField(contract, shapes)?.contract ?? contract, shapes).type === "list") return false;
    if (winner.piece.zone !== "tag" && !goesOn(winner.marks.sentence)) return false;
    if (alike(winner.marks.sentence, other.marks.sentence)) return false;
    return winner.strength > other.strength || (winner.strength === BLOCK && winner.piece.block !== other.piece.block);
}

/** Two sentences that begin the same way introduce equals: `Severity of a.ts:` and `Severity of b.ts:`. */
function alike(one: string, two: string): boolean {
    const first = (text: string): string => /[\p{L}\p{N}]+/u.exec(text)?.[0]?.toLowerCase() ?? "";
    return first(one) !== "" && first(one) === first(two);
}

/** After the answer something is called final that is no piece, or, after what is only a draft, anything that could be the answer stands. */
function announcesAnother(winner: Attempt, found: Found): boolean {
    const rest = found.text.slice(winner.piece.end, winner.piece.end + 4000);
    return LATER_FINAL.test(rest) || (winner.strength === ASIDE && winner.marks.as === "aside" && LATER_ANSWER.test(rest));
}

/** A fence that was opened after the last piece and holds nothing yet. */
function beginsAnother(found: Found, manner: Manner): boolean {
    const last = found.fences.at(-1);
    if (last === undefined || last.closed || last.start < (found.pieces.at(-1)?.end ?? 0)) return false;
    return manner.finish === "length" || (last.lang !== "" && last.text.trim() === "");
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
