/**
 * Answers that were read before: agents answer alike where they are asked alike, and reading is a pure function of text and options.
 *
 * Boundary: what is kept, and for how long. It belongs to a program and holds nothing of a run, so that no run depends on what others asked.
 *
 * ANS1: an answer counts as met before only where text, resources, parameters, what the remit gives, file, cap and shapes are all the same.
 */
import { type AnswerOptions, type ReadAnswer, readAnswer, type Shapes } from "@remit/language";

/** By all that reading depends on but the shapes, what was met last at the end. */
export type Answers = Map<string, { readonly shapes: Shapes | undefined; readonly read: ReadAnswer }>;

type Resources = Parameters<typeof readAnswer>[1];

/** Answers that are kept. */
const MOST = 32;
/** Longer ones (UTF-16 units) are read each time. */
const LONGEST = 16_384;

/** What `readAnswer` gives, from `known` where it is the same answer. */
export function readOnce(known: Answers, text: string, resources: Resources, options: AnswerOptions): ReadAnswer {
    if (text.length > LONGEST || resources.length > 0) return readAnswer(text, resources, options);
    const key = JSON.stringify([options.params, options.given, options.file, options.bytes, text]);
    const found = known.get(key);
    const read = found !== undefined && found.shapes === options.shapes ? found.read : readAnswer(text, resources, options);
    known.delete(key);
    known.set(key, { shapes: options.shapes, read });
    for (const oldest of known.keys()) {
        if (known.size <= MOST) break;
        known.delete(oldest);
    }
    return read;
}
