/** Why a run asks a person, in the words that every face of a program shows. Text only. */
import { type Json, plainLine } from "@remit/language";
import { askedCall } from "@remit/machine";

/**
 * Who wants what and why the person is asked, where what is passed comes from, and what an answer would mean that holds beyond the call.
 * `answers`: those that are offered, each with the name that the face has for it.
 */
export function reasonOf(question: string, detail: Json, answers: readonly (readonly [option: string, name: string])[]): string {
    const call = askedCall(detail);
    if (call === null) return plainLine(question);
    const lasting = answers.flatMap(([option, name]) => (Object.hasOwn(call.lasts, option) ? [`${name}: ${call.lasts[option]}.`] : []));
    return [
        question,
        ...(call.who === "" ? [] : [`Who wants it: ${call.who}.`]),
        `What: ${call.what}${call.uri === "" ? "" : ` (${call.uri})`}, chosen by ${call.by}.`,
        ...(call.note === "" ? [] : [`It says: ${call.note}`]),
        ...call.why.map((one) => `Why: ${one}.`),
        ...call.args.map(
            ({ name, origins }) => `- ${name} comes from ${origins.length === 0 ? "the program's own text" : origins.join(", ")}`,
        ),
        ...lasting,
    ]
        .map(plainLine)
        .join("\n");
}
