/**
 * Signatures of answers: an update says nothing about who sent it, so a worker that has keys takes only what one of them signed.
 *
 * Boundary: keys and texts, outside the sandbox. Which answers have to be signed is the worker's to say, and its activity looks at them.
 *
 * SGN1: what is signed is the run, the question, this asking of it, who answers, and the answer. So it is good for no other run, no other question, and
 *     no second asking of the same one.
 */
import { type KeyObject, sign, verify } from "node:crypto";
import { canonicalJson, type Json } from "@remit/language";
import type { Answer, Question } from "./messages.ts";

type Asking = Pick<Question, "id" | "nonce">;

/** The answer, signed by an Ed25519 key. */
export function signed(key: KeyObject, run: string, question: Asking, answer: Answer): Answer {
    const whole = { ...answer, question: question.id };
    return { ...whole, signature: sign(null, textOf(run, question, whole), key).toString("base64") };
}

/** Whether one of the keys signed it. */
export function isSigned(keys: readonly KeyObject[], run: string, question: Asking, answer: Answer): boolean {
    const signature = Buffer.from(answer.signature ?? "", "base64");
    const text = textOf(run, question, answer);
    return answer.question === question.id && keys.some((key) => verify(null, text, key, signature));
}

function textOf(run: string, { id, nonce = "" }: Asking, { by, decision, value, said }: Answer): Buffer {
    // What is absent is told apart from null.
    const answer = Object.entries({ decision, value, said }).filter(([, one]) => one !== undefined) as unknown as Json;
    return Buffer.from(`remit answer\n${canonicalJson([run, id, nonce, by, answer])}`);
}
