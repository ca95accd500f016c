/**
 * What in a text leads somewhere: links, host names, mail addresses, numbers of accounts and telephones.
 *
 * Boundary: pure; from JSON to the words that a reader's program could follow. Whether they may stand there is `decide.ts`.
 *
 * AE1: what could be one is one: a word too many is a question, one too few an attacker's link in the user's name.
 * AE2: time is linear in the text.
 *
 * Not found: what is spelled out ("example dot com"), names that a reader would have to look up, and what a picture shows.
 */
import type { Json } from "@remit/language";

/** Digits of the shortest number that counts as one of an account or a telephone. */
const MIN_DIGITS = 8;

const BETWEEN_WORDS = /\s+/u;
const OPENING = "([{<\"'“„‘«*_~`|";
const CLOSING = ")]}>\"'”’»*_~`|.,;:!?…";
/** Full stops as browsers read them in host names; `a` stands before one and `ab` behind. */
const HOST = /[\p{L}\p{N}\p{M}\p{Cf}-][.\u3002\uff0e\uff61\u2024][\p{L}\p{Cf}][\p{L}\p{N}\p{M}\p{Cf}-]/u;
const NUMBERED = /\d\.\d{1,3}\.\d{1,3}\.\d/;
const SCHEME = /^(?:mailto|tel|sms|www)[:.]/iu;
const MAIL = /[^@]@[^@]/u;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
/** A piece of a number that is written in groups: `DE75`, `(0)`, `5121-0800`. */
const GROUP = /^[\p{Nd}\p{Lu}()/.+-]+$/u;

/** The addresses in all texts and numbers of a value, names of fields included. */
export function addressesIn(json: Json): readonly string[] {
    const found: string[] = [];
    const rest: Json[] = [json];
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        if (typeof one === "string") inText(one, found);
        else if (typeof one === "number") inText(String(one), found);
        else if (Array.isArray(one)) for (const item of one) rest.push(item);
        else if (one !== null && typeof one === "object")
            for (const [key, value] of Object.entries(one)) {
                inText(key, found);
                rest.push(value);
            }
    }
    return found;
}

/** Whether a value holds a link: an address with a scheme, or a host name with something behind it. A host name alone may be a file's. */
export function hasLink(json: Json): boolean {
    return addressesIn(json).some((address) => {
        const word = shownAs(address);
        if (word.includes("://") || /^www\./iu.test(word)) return true;
        const behind = word.replace(/^[\\/]+/, "");
        const end = behind.search(/[\\/?#:]/);
        return end > 0 && HOST.test(behind.slice(0, end));
    });
}

function inText(text: string, found: string[]): void {
    let group: string[] = [];
    const end = (): void => {
        // One piece alone was looked at as a word.
        if (group.length > 1 && digits(group.join("")) >= MIN_DIGITS) found.push(group.join(" "));
        group = [];
    };
    for (const piece of text.split(BETWEEN_WORDS)) {
        const word = bare(piece);
        const isDate = DATE.test(word);
        if (leads(word) || leads(shownAs(word)) || (!isDate && digits(word) >= MIN_DIGITS)) found.push(word);
        if (!isDate && GROUP.test(word) && digits(word) > 0) group.push(word);
        else if (word !== "") end();
        // `… 12, 30 …` are two numbers.
        if (/[,;:!?]$/u.test(piece)) end();
    }
    end();
}

/** Without the signs that a sentence puts around a word. */
function bare(piece: string): string {
    let from = 0;
    let to = piece.length;
    while (from < to && OPENING.includes(piece[from] as string)) from++;
    while (to > from && CLOSING.includes(piece[to - 1] as string)) to--;
    return piece.slice(from, to);
}

/** Character references of HTML and codes of URLs that stand for a sign of an address (HTML 13.5, RFC 3986 section 2.1): who shows the text puts the signs in their place. */
const CODED = /&#x0*([0-9a-f]{1,6});?|&#0*([0-9]{1,7});?|&(period|colon|sol|commat|hyphen|dash);|%([0-9a-f]{2})/giu;
const NAMED: { readonly [name: string]: string } = { period: ".", colon: ":", sol: "/", commat: "@", hyphen: "-", dash: "-" };
const LAST = 0x10ffff;

function shownAs(word: string): string {
    if (!word.includes("&") && !word.includes("%")) return word;
    return word.replace(CODED, (code: string, hex?: string, decimal?: string, name?: string, percent?: string) => {
        if (name !== undefined) return NAMED[name.toLowerCase()] ?? code;
        const point = decimal === undefined ? Number.parseInt(hex ?? percent ?? "", 16) : Number(decimal);
        return point <= LAST ? String.fromCodePoint(point) : code;
    });
}

function leads(word: string): boolean {
    return word.includes("://") || SCHEME.test(word) || MAIL.test(word) || HOST.test(word) || NUMBERED.test(word);
}

function digits(text: string): number {
    let count = 0;
    for (const char of text) if (/\p{Nd}/u.test(char)) count++;
    return count;
}
