/**
 * The instruction of a prompt, and what a further attempt adds to it.
 *
 * Boundary: text and JSON only. Which errors are worth another attempt is decided in `generate.ts`.
 *
 * FD1: the first attempt's instruction is the rendered `input`, byte for byte.
 * FD2: feedback follows the original text, or goes into the key `repair` where the input is an object, or beside the input as
 *     `{input, repair}` where it is anything else or already has such a key.
 */
import type { Json } from "@remit/language";
import type { Body } from "./render.ts";
import { textOf } from "./render.ts";

export interface Instruction {
    readonly kind: "string" | "object" | "other";
    readonly text: string;
}

export interface Rejection {
    /** What was wrong, in the words of the check. */
    readonly message: string;
    /** The value that was read and refused; absent where the reply was not JSON. */
    readonly rejected?: Json;
}

export function instructionOf(body: Body): Instruction {
    const text = textOf(body);
    if (body.kind === "string") return { kind: "string", text };
    const takesKey = body.kind === "object" && !body.parts.some((part) => part.startsWith('  "repair": '));
    return { kind: takesKey ? "object" : "other", text };
}

/** A stretch of an instruction. `answer` and `error` are what was read and what was wrong with it; both may hold the model's words. */
export interface Stretch {
    readonly kind: "input" | "feedback" | "answer" | "error";
    readonly text: string;
}

/** What is told of a rejection, in stretches, for `explain`. */
export function feedbackStretches(rejection: Rejection): Stretch[] {
    const out: Stretch[] = [{ kind: "feedback", text: "Previous generation failed.\n\n" }];
    if (rejection.rejected !== undefined)
        out.push(
            { kind: "feedback", text: "Previous output:\n" },
            { kind: "answer", text: JSON.stringify(rejection.rejected, null, 2) },
            { kind: "feedback", text: "\n\n" },
        );
    out.push(
        { kind: "feedback", text: "Error:\n" },
        { kind: "error", text: rejection.message },
        { kind: "feedback", text: "\n\nReturn corrected JSON matching the requested schema only." },
    );
    return out;
}

function joined(stretches: readonly Stretch[]): string {
    return stretches.map((one) => one.text).join("");
}

/** The text that tells the model what was wrong with its last answer. */
export function feedbackText(rejection: Rejection): string {
    return joined(feedbackStretches(rejection));
}

/** The instruction of an attempt: the first one's, or with the rejection of the attempt before it. */
export function instructionText(instruction: Instruction, rejection: Rejection | null): string {
    return joined(instructionStretches(instruction, rejection));
}

/** The same in stretches, for `explain`. */
export function instructionStretches(instruction: Instruction, rejection: Rejection | null): Stretch[] {
    const input = (text: string): Stretch => ({ kind: "input", text });
    if (rejection === null) return [input(instruction.text)];
    const told = feedbackStretches(rejection);
    if (instruction.kind === "string") return [input(instruction.text), { kind: "feedback", text: "\n\n" }, ...told];
    // inside a string of JSON each stretch is escaped by itself: no escape spans two UTF-16 units but a pair, which no stretch splits
    const repair = told.map((one): Stretch => ({ ...one, text: JSON.stringify(one.text).slice(1, -1) }));
    const key = (before: string): Stretch => ({ kind: "feedback", text: `${before}  "repair": "` });
    const end: Stretch = { kind: "feedback", text: '"\n}' };
    if (instruction.kind === "object")
        return instruction.text === "{}"
            ? [key("{\n"), ...repair, end]
            : [input(instruction.text.slice(0, -2)), key(",\n"), ...repair, end];
    return [{ kind: "feedback", text: '{\n  "input": ' }, input(instruction.text.replaceAll("\n", "\n  ")), key(",\n"), ...repair, end];
}
