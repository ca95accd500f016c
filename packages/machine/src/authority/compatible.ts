/**
 * One spelling for letters that Unicode has in several forms.
 *
 * Boundary: text in, text out. What is compared by it is the caller's.
 *
 * COM1: it takes no more time than the text is long. Marks are brought into one order, and who does that with a long run of them compares each with each: as
 *     in Unicode's own stream-safe form (UAX 15), a letter carries 30 at most. They are taken out one by one: a run that is matched as one fills the stack.
 */

/** Also what is a mark only once it is brought into that form. */
const TOO_MANY = /(?<=[\p{M}\u0e33\u0eb3\uff9e\uff9f]{30})[\p{M}\u0e33\u0eb3\uff9e\uff9f]/gu;

export function compatible(text: string): string {
    return text.replace(TOO_MANY, "").normalize("NFKC");
}

/** The same in one case, without signs that are not shown. */
export function folded(text: string): string {
    return compatible(text)
        .toLowerCase()
        .replace(/\p{Cf}/gu, "");
}
