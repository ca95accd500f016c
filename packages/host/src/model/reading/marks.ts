/**
 * What the words around a piece of a reply say about it: that it is the answer, only a draft or example, a correction, or one of several.
 *
 * Boundary: the words alone; which piece counts is decided in `choose.ts`. A piece on its own needs no words, so all of this only matters where
 * a reply holds several answers that differ.
 *
 * MK1: the sentence right before a piece speaks first, the ones before it only where it says nothing.
 * MK2: a sentence that calls a piece final and doubts it at once ("the final answer would not be") makes it an aside, which never wins.
 */
import { ALTERNATIVE, ANSWER, CORRECTION, DOUBT, DRAFT, EXAMPLE, FINAL, LISTED, ONE_OF_SEVERAL } from "./words.ts";

export interface Marks {
    /** `aside`: a draft, an example, a template, something wrong. `final` and `answer`: it is called so. */
    readonly as: "final" | "answer" | "aside" | "none";
    /** It is called a correction of what was said before. */
    readonly correction: boolean;
    /** It stands beside others as an equal: an alternative, or the answer to one of several questions. */
    readonly equal: boolean;
    /** The sentence right before it. */
    readonly sentence: string;
}

/** A sentence about what stands before it, such as "That was wrong."; one that ends in a colon is about what follows. */
const BACKWARD =
    /^(?:(?:oh|oops|hmm|wait|no|sorry|but|however)[,.!\s]+)*(?:that|the (?:above|first|previous|draft)|my (?:first|previous))\b.*[.!]$/i;

/** `before`: the text between the piece or mark before and this one, and the opening of its fence. */
export function marksOf(before: string): Marks {
    const text = before.replace(/(?:```|~~~)[\w+-]*\s*$/, "").trim();
    const sentences = text.split(/(?<=[.!?])\s+|\s*\n+\s*/).filter((one) => /[\p{L}\p{N}]/u.test(one));
    const sentence = sentences.at(-1) ?? "";
    const equal = ALTERNATIVE.test(text) || ONE_OF_SEVERAL.test(sentence);
    const make = (as: Marks["as"], correction: boolean): Marks => ({ as, correction, equal, sentence });
    if (BACKWARD.test(sentence) && !EXAMPLE.test(sentence)) return make("final", true);
    if (DRAFT.test(sentence) || EXAMPLE.test(text) || (DOUBT.test(sentence) && FINAL.test(sentence))) return make("aside", false);
    if (DOUBT.test(sentence)) return make("aside", false);
    if (FINAL.test(sentence)) return make("final", CORRECTION.test(sentence));
    // An earlier sentence can call what follows final; what it says of drafts is about what stood before.
    if (CORRECTION.test(text)) return make("final", true);
    const listed = LISTED.test(sentence) || /(?:^|\n)\s*\d{1,3}[.)]$/.test(text);
    return { ...make(ANSWER.test(sentence) ? "answer" : "none", false), equal: equal || listed };
}
