/**
 * Whole words within what the user wrote, addresses and amounts among them.
 *
 * Boundary: pure, over text. What a word that is found lets in is the standing's.
 */

/** What may stand within an address, a place or a name (RFC 5322 section 3.2.3, RFC 3986). */
const JOINS = ".+%&=/~#$*^`{|}'!?";

/** Whether a text holds a word that does not go on before or behind it. */
export function holdsWord(text: string, word: string): boolean {
    const isWord = (c: string | undefined): boolean => c !== undefined && /[\p{L}\p{M}\p{N}_@-]/u.test(c);
    // `smith@x.com` is none of the words of `dana.smith@x.com`, `dana@x.com` none of `dana@x.com.au`: what joins two words makes one.
    const goesOn = (near: string | undefined, beyond: string | undefined): boolean =>
        isWord(near) || (near !== undefined && JOINS.includes(near) && isWord(beyond));
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
        const end = at + word.length;
        // `1150.00` is not `1150`, the end of a sentence is no part of a word.
        const digit = (c: string | undefined): boolean => c !== undefined && /[0-9]/.test(c);
        const decimal =
            (/[.,]/.test(text[end] ?? "") && digit(text[end + 1])) ||
            (/[.,]/.test(text[at - 1] ?? "") && digit(text[at - 2]) && digit(word[0]));
        if (!goesOn(text[at - 1], text[at - 2]) && !goesOn(text[end], text[end + 1]) && !decimal) return true;
    }
    return false;
}
