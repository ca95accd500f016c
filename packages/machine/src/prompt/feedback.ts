/**
 * The instruction of a prompt, and what a further attempt adds to it.
 *
 * Boundary: text and JSON only. Which errors are worth another attempt is decided in `generate.ts`.
 *
 * F1: the first attempt's instruction is the rendered `input`, byte for byte.
 * F2: feedback follows the original text, or goes into the key `repair` where the input is an object, or beside the input as
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

/** The text that tells the model what was wrong with its last answer. */
export function feedbackText(rejection: Rejection): string {
    const parts = ["Previous generation failed."];
    if (rejection.rejected !== undefined) parts.push(`Previous output:\n${JSON.stringify(rejection.rejected, null, 2)}`);
    parts.push(`Error:\n${rejection.message}`, "Return corrected JSON matching the requested schema only.");
    return parts.join("\n\n");
}

/** The instruction of an attempt: the first one's, or with the rejection of the attempt before it. */
export function instructionText(instruction: Instruction, rejection: Rejection | null): string {
    if (rejection === null) return instruction.text;
    const feedback = feedbackText(rejection);
    if (instruction.kind === "string") return `${instruction.text}\n\n${feedback}`;
    const repair = `  "repair": ${JSON.stringify(feedback)}`;
    if (instruction.kind === "object") {
        const empty = instruction.text === "{}";
        return empty ? `{\n${repair}\n}` : `${instruction.text.slice(0, -2)},\n${repair}\n}`;
    }
    return `{\n  "input": ${instruction.text.replaceAll("\n", "\n  ")},\n${repair}\n}`;
}
