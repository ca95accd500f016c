/**
 * Signatures of answers: an update says nothing about who sent it, so a worker that has keys takes only what one of them signed.
 *
 * Boundary: keys and texts, outside the sandbox. Which answers have to be signed is the worker's to say, and its activity looks at them.
 *
 * SGN1: what is signed is the run, the question with all that it shows (call, arguments, origins, answers that it takes), this asking of it, who answers,
 *     and the answer. So it is good for no other run, no other question or other text of it, and no second asking of the same one.
 * SGN2: it says its form. One of a form that covers less is refused with that reason, and its question stays open.
 */
import { createHash, type KeyObject, sign, verify } from "node:crypto";
import { canonicalJson, type Json } from "@remit/language";
import { type Answer, type Asking, SIGNED_FORM } from "./messages.ts";

/** The answer, signed by an Ed25519 key. */
export function signed(key: KeyObject, run: string, question: Asking, answer: Answer): Answer {
    const whole = { ...answer, question: question.id, form: SIGNED_FORM };
    return { ...whole, signature: sign(null, textOf(run, question, whole), key).toString("base64") };
}

/** Whether one of the keys signed it. */
export function isSigned(keys: readonly KeyObject[], run: string, question: Asking, answer: Answer): boolean {
    const signature = Buffer.from(answer.signature ?? "", "base64");
    const text = textOf(run, question, answer);
    return answer.question === question.id && keys.some((key) => verify(null, text, key, signature));
}

function textOf(run: string, asking: Asking, { by, decision, value, said, why }: Answer): Buffer {
    const { id, nonce = "", kind, request, options = null } = asking;
    const shown = createHash("sha256")
        .update(canonicalJson([kind, request, options === null ? null : [...options]]))
        .digest("hex");
    // What is absent is told apart from null.
    const answer = Object.entries({ decision, value, said, why }).filter(([, one]) => one !== undefined) as unknown as Json;
    return Buffer.from(`remit answer ${SIGNED_FORM}\n${canonicalJson([run, id, nonce, shown, by, answer])}`);
}
