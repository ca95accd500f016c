/**
 * Reads a model's reply against the contract of its `generate`.
 *
 * Boundary: text in, value or error out; pure and synchronous. Finding is in `reading/find.ts`, syntax in `reading/lenient.ts`, shape in
 * `reading/fit.ts`, answers that are not JSON in `reading/bare.ts`.
 *
 * R5: nothing is dropped in silence. What was mended is said in `reading.repairs`; what could only be mended with loss is an error.
 * R6: where two different values hold and neither is marked as the one that counts, the reply is `ambiguous`, and both are shown.
 * R7: a draft is never taken where a later or more final attempt at the same contract failed: that attempt's error is the result.
 * R8: a reply cut off is told apart from a malformed one: by the provider's word (`finish`), or by a structure that is open at the end.
 */
import type { Contract, Json, Shapes } from "@remit/language";
import type { ModelReply, Reading } from "@remit/machine";
import { type Attempt, attemptsOf, decide, type ReplyError } from "./reading/choose.ts";
import { bareAnswer, namedAnswer } from "./reading/bare.ts";
import { find } from "./reading/find.ts";
import { fit, open, soleField } from "./reading/fit.ts";
import { Loose, type Value } from "./reading/loose.ts";
import { refuses } from "./reading/words.ts";

export interface ReadOptions {
    readonly strict: boolean;
    /** Why the provider stopped; `stop` where nothing is known. */
    readonly finish?: ModelReply["finish"];
    /** The provider's own constraint was used. */
    readonly constrained?: boolean;
}

export type ReadResult = { readonly value: Json; readonly reading: Reading } | { readonly error: ReplyError };

/** Value of a reply, or why it has none. Never throws; linear in the length of the text. */
export function readReply(text: string, contract: Contract, shapes: Shapes, options: ReadOptions): ReadResult {
    const finish = options.finish ?? "stop";
    const constrained = options.constrained === true;
    if (finish === "refusal") return { error: { kind: "refused", message: `the model declined: ${excerpt(text)}` } };
    const found = find(text);
    const spoken = found.spoken.trim();
    if (spoken === "") {
        if (finish === "length") return { error: { kind: "truncated", message: "the reply ended before the answer began" } };
        const what = found.thought ? "the reply holds nothing but thinking" : "the reply is empty";
        return { error: { kind: "empty", message: what } };
    }
    const target = open(contract, shapes);
    if (target.type === "string") return textual(spoken, found.pieces.length, contract, shapes, options);
    if (found.gaveUp) return { error: { kind: "not_json", message: "the reply is too tangled to read" } };
    const attempts = attemptsOf(found, contract, shapes, { strict: options.strict, finish });
    const whole =
        attempts.length === 1 && attempts[0]?.piece.start === text.search(/\S/) && attempts[0]?.piece.end === text.trimEnd().length;
    const decided = decide(attempts, found, contract, shapes, { strict: options.strict, finish });
    if (decided !== null) {
        if ("error" in decided) return decided;
        return {
            value: decided.value,
            reading: { from: decided.from || (whole ? "whole reply" : decided.place), repairs: decided.repairs, constrained },
        };
    }
    if (refuses(spoken)) return { error: { kind: "refused", message: `the model declined: ${excerpt(spoken)}` } };
    if (finish === "length") return { error: { kind: "truncated", message: "the reply was cut off before it held an answer" } };
    const bare = found.openThought ? undefined : withoutJson(spoken, found.fences, contract, shapes, options);
    if (bare !== undefined) return { value: bare.value, reading: { from: bare.from, repairs: bare.repairs, constrained } };
    return { error: noAnswer(attempts, spoken) };
}

/** A contract that asks for nothing but a text: the reply is the text, unless it is a JSON string or wraps one. */
function textual(spoken: string, pieces: number, contract: Contract, shapes: Shapes, options: ReadOptions): ReadResult {
    const constrained = options.constrained === true;
    if (refuses(spoken)) return { error: { kind: "refused", message: `the model declined: ${excerpt(spoken)}` } };
    if (options.finish === "length") return { error: { kind: "truncated", message: "the reply was cut off" } };
    const inner = /^<(answer|final|final_answer|output|result|response)>([\s\S]*)<\/\1>$/i.exec(spoken)?.[2]?.trim() ?? spoken;
    const fenced = /^```[\w+-]*\n([\s\S]*?)\n?```$/.exec(inner)?.[1];
    const text = fenced !== undefined && !fenced.includes("```") ? fenced : inner;
    if (pieces > 0 && !options.strict && text.startsWith("{")) {
        const only = find(text).pieces;
        const parsed = only.length === 1 && only[0]?.end === text.length ? only[0].readings[0] : undefined;
        if (parsed !== undefined && parsed.state === "complete" && parsed.problems.length === 0) {
            const fitted = fit(parsed.value, contract, { shapes, strict: false });
            if (fitted.ok)
                return { value: fitted.value, reading: { from: "wrapper", repairs: [...parsed.repairs, ...fitted.repairs], constrained } };
        }
    }
    const answer = bareAnswer(text, { type: "string" }, shapes);
    const value = typeof answer?.value === "string" ? answer.value : text;
    return {
        value,
        reading: { from: fenced === undefined ? "whole reply" : "fence", repairs: value === text ? [] : ["quotes taken off"], constrained },
    };
}

function withoutJson(
    spoken: string,
    fences: readonly { readonly text: string }[],
    contract: Contract,
    shapes: Shapes,
    options: ReadOptions,
): { value: Json; repairs: readonly string[]; from: string } | undefined {
    const text =
        fences.length === 1
            ? (fences[0]?.text.trim() ?? "")
            : spoken.replace(/^<([a-z_]{2,20})>([\s\S]*)<\/\1>$/i, (all, tag, inside) => (isAnswerTag(tag) ? inside : all)).trim();
    const sole = soleField(contract, shapes);
    // A scalar contract is answered by a scalar; the rest is leniency, which `strict` has none of.
    if (options.strict && (sole !== null || open(contract, shapes).type === "object")) return undefined;
    const tries: { answer: ReturnType<typeof bareAnswer>; wrap: string | null }[] = [
        { answer: bareAnswer(text, contract, shapes), wrap: null },
    ];
    if (sole !== null) tries.push({ answer: namedAnswer(text, sole.contract, shapes, sole.name), wrap: sole.name });
    for (const { answer, wrap } of tries) {
        if (answer === undefined) continue;
        let value: Value = answer.value;
        if (wrap !== null) {
            const made = new Loose();
            made.keys.push(wrap);
            made.values.push(value);
            value = made;
        }
        const fitted = fit(value, contract, { shapes, strict: options.strict });
        if (!fitted.ok) continue;
        const repairs = [`${answer.how} instead of JSON`, ...(wrap === null ? [] : [`put into its only field '${wrap}'`])];
        return { value: fitted.value, repairs: [...repairs, ...fitted.repairs], from: fences.length === 1 ? "fence" : "bare" };
    }
    return undefined;
}

function isAnswerTag(tag: string): boolean {
    return /^(?:answer|final|final_answer|output|result|response)$/i.test(tag);
}

function noAnswer(attempts: readonly Attempt[], spoken: string): ReplyError {
    const failed = attempts.findLast((attempt) => attempt.verdict.kind === "fails");
    if (failed?.verdict.kind === "fails") return failed.verdict.error;
    return { kind: "not_json", message: excerpt(spoken) };
}

export function excerpt(text: string): string {
    const line = text.trim().replace(/\s+/g, " ");
    return line.length > 120 ? `${line.slice(0, 120)}…` : line;
}
