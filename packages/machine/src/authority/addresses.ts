/**
 * What in a text leads somewhere: links, host names, mail addresses, numbers of accounts and telephones.
 *
 * Boundary: pure; from JSON to the words that a reader's program could follow. Whether they may stand there is `decide.ts`.
 *
 * AE1: what could be one is one: a word too many is a question, one too few an attacker's link in the user's name.
 * AE2: time is linear in the text.
 * AE3: a name with full stops and nothing else that tells of an address is one where it ends in a top-level domain: readers' programs link `readme.md`
 *     and leave `parser.ts` alone. Names in other letters than ASCII count as one.
 *
 * Not found: what is spelled out ("example dot com"), names that a reader would have to look up, and what a picture shows.
 */
import type { Json } from "@remit/language";
import { compatible, folded } from "./compatible.ts";
import { TOP_LEVEL } from "./tld-data.ts";

/** Digits of the shortest number that counts as one of an account or a telephone. */
const MIN_DIGITS = 7;
/** A number with its thousands marked: an amount, and no number to dial. */
const AMOUNT = /^\d{1,3}(?:,\d{3})+(?:\.\d{1,2})?$/;

const BETWEEN_WORDS = /\s+/u;
const OPENING = "([{<\"'“„‘«*_~`|";
const CLOSING = ")]}>\"'”’»*_~`|.,;:!?…";
/** Full stops as browsers read them in host names; `a` stands before one and `ab` behind. */
const WIDE_STOPS = /[\u3002\uff0e\uff61\u2024]/u;
const STOPS = /[.\u3002\uff0e\uff61\u2024]/u;
/** What ends a name: a sign that linkers take into none, and two full stops. Of signs that are no letters they take many. */
const NOT_OF_HOSTS = /(?:[\p{Z}\p{Cc}<>|\uff5c]|(?![.\u3002\uff0e\uff61\u2024-])\p{P})+|[.\u3002\uff0e\uff61\u2024]{2,}/u;
const DOTTED = /[\p{L}\p{N}\p{M}\p{Cf}-][.\u3002\uff0e\uff61\u2024][\p{L}\p{Cf}][\p{L}\p{N}\p{M}\p{Cf}-]/u;
const NUMBERED = /\d\.\d{1,3}\.\d{1,3}\.\d/;
const SCHEME = /(?:^|[^\p{L}\p{N}])(?:www\.|(?:https?|wss?|ftps?|file|mailto|tel|sms|data|javascript|vbscript|blob|view-source):(?=\S))/iu;
/**
 * A host without its scheme (WHATWG URL, "special authority slashes"): both slashes count as both in a browser, and `\\\\host\\share` elsewhere. To a linker a
 * backslash is a sign like others, behind which two slashes begin a link also within a word (`x\//127.1`). Each run of slashes is tried from its beginning
 * alone: from each of its signs, a long text of them would take the square of its length.
 */
const RELATIVE = /(?:^|[^\p{L}\p{N}\\/])[\\/]{2,}[^\s\\/]|(?<![\\/])(?=[\\/]+[^\s\\/])[\\/]*?\\\/\//u;
/** Where a page or a Markdown text says that an address follows, any scheme makes one: the program for `slack:` is one of the reader's. */
const URL_ATTRIBUTES = "(?:href|src|srcset|action|formaction|data|poster|cite|background|ping)";
const OPENS = `(?:\\]\\( ?<?|\\]: ?<?|\\b${URL_ATTRIBUTES} ?= ?(?:["'] ?)?)`;
const LINKED = new RegExp(`${OPENS}(?:[a-z][a-z0-9+.-]*:|[\\\\/]{2})|<[a-z][a-z0-9+.-]{1,31}:[^\\s<>]*>`, "iu");
/** What may be the beginning of that, at the end of words. */
const ANNOUNCED = new RegExp(`(?:${OPENS}|\\b${URL_ATTRIBUTES})$`, "iu");
const BEGINS_URL = /^(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/iu;
const LOCAL = /(?:^|[^\p{L}\p{N}.-])localhost(?=[:/\\?#])/iu;
const MAIL = /[^@]@[^@]/u;
/** Also within a word where a sign of mails is in it: a renderer looks for a link anew before each. */
const WWW = /www\./iu;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
/** A piece of a number that is written in groups: `DE75`, `(0)`, `5121-0800`. */
const GROUP = /^[\p{Nd}\p{Lu}()/.+-]+$/u;

/** The addresses in all texts and numbers of a value, names of fields included. */
export function addressesIn(json: Json): readonly string[] {
    const found: string[] = [];
    for (const one of saidIn(json)) inText(String(one), found);
    return found;
}

/** All texts and numbers of a value, names of fields included, however deep it is. */
export function* saidIn(json: Json): Generator<string | number> {
    const rest: Json[] = [json];
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        if (typeof one === "string" || typeof one === "number") yield one;
        else if (Array.isArray(one)) for (const item of one) rest.push(item);
        else if (one !== null && typeof one === "object")
            for (const [key, value] of Object.entries(one)) {
                yield key;
                rest.push(value);
            }
    }
}

/**
 * Whether a value holds a link: an address with a scheme, or a name with full stops and something behind it, which a tool may ask wherever it ends. A
 * host name alone may be a file's.
 */
export function hasLink(json: Json): boolean {
    for (const one of saidIn(json))
        for (const piece of String(one).split(BETWEEN_WORDS)) if ([bare(piece), bare(shownAs(piece))].some(asksBehind)) return true;
    return addressesIn(json).some((address) => asksBehind(shownAs(address)));
}

function asksBehind(word: string): boolean {
    if (word.includes("://") || /^www\./iu.test(word)) return true;
    const behind = word.replace(/^[\\/]+/, "");
    const end = behind.search(/[\\/?#:]/);
    return end > 0 && DOTTED.test(behind.slice(0, end));
}

/** Names that are kept for special use, which some networks resolve (RFC 6761, 6762, 7686). */
const SPECIAL = "example invalid internal lan local localhost onion test";
const TOP: ReadonlySet<string> = new Set(`${TOP_LEVEL} ${SPECIAL}`.split(" "));

/** AE3. A full stop of other writings is one of a name to a browser, and a sign between words to a linker. */
function hasHost(word: string): boolean {
    return word.split(NOT_OF_HOSTS).some((run) => {
        if (!STOPS.test(run)) return false;
        return endsAtTop(run.split(STOPS)) || (WIDE_STOPS.test(run) && run.split(WIDE_STOPS).some((part) => endsAtTop(part.split("."))));
    });
}

function endsAtTop(labels: readonly string[]): boolean {
    // A full stop behind the name is the sentence's.
    const last = labels.at(-1) === "" ? labels.length - 2 : labels.length - 1;
    return last > 0 && labels[last - 1] !== "" && isTop(labels[last] as string);
}

const NOT_ASCII = /[^\x20-\x7e]/;

function isTop(label: string): boolean {
    const name = folded(label);
    return NOT_ASCII.test(name) || name.startsWith("xn--") || TOP.has(/^[a-z0-9]*/.exec(name)?.[0] ?? "");
}

function inText(text: string, found: string[]): void {
    inWords(text, found);
    for (const value of [...brokenAttributes(text), ...brokenDestinations(text)])
        if ([value, shownAs(value)].some((one) => leads(one) || BEGINS_URL.test(one))) found.push(value);
    if (!text.includes("\\")) return;
    const unescaped = text.replace(CSS_ESCAPE, (_, hex: string) => pointOf(Number.parseInt(hex, 16)) ?? "\ufffd");
    if (unescaped !== text) inWords(unescaped, found);
}

function inWords(text: string, found: string[]): void {
    let group: string[] = [];
    const end = (): void => {
        // One piece alone was looked at as a word.
        if (group.length > 1 && digits(group.join("")) >= MIN_DIGITS) found.push(group.join(" "));
        group = [];
    };
    let announced = "";
    for (const piece of text.split(BETWEEN_WORDS)) {
        const word = bare(piece);
        const isDate = DATE.test(word);
        const isNumber = !isDate && !AMOUNT.test(word) && digits(word) >= MIN_DIGITS;
        const shown = shownAs(piece);
        if (
            isNumber ||
            leads(word) ||
            leads(bare(shown)) ||
            isName(piece) ||
            isName(shown) ||
            [piece, shown].some((one) => LINKED.test(`${announced} ${one}`))
        )
            found.push(word);
        announced = ANNOUNCED.exec(`${announced} ${piece}`)?.[0] ?? "";
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

/** Codes of a sign by its number in CSS (Syntax Level 3, section 4.3.7); the space behind one belongs to it. */
const CSS_ESCAPE = /\\([0-9a-f]{1,6})[ \t\n\r\f]?/giu;
/** What URLs are read without, wherever it stands in them (WHATWG URL, "basic URL parser"). */
const DROPPED = /[\t\n\r]/g;

/** Values of attributes of HTML that hold tabs or line breaks, up to the first space, as a browser reads an address in them. */
function* brokenAttributes(text: string): Generator<string> {
    if (!text.includes("=")) return;
    const unclosed = new Set<string>();
    for (let at = text.indexOf("="); at >= 0; at = text.indexOf("=", at + 1)) {
        let from = at + 1;
        while (from < text.length && BLANK.includes(text[from] as string)) from++;
        const quote = text[from] as string;
        if ((quote !== '"' && quote !== "'") || unclosed.has(quote)) continue;
        const to = text.indexOf(quote, from + 1);
        if (to < 0) {
            unclosed.add(quote);
            continue;
        }
        const value =
            text
                .slice(from + 1, to)
                .trim()
                .split(" ", 1)[0] ?? "";
        const whole = value.replace(DROPPED, "");
        if (whole !== value) yield whole;
        at = to;
    }
}
const BLANK = " \t\n\r\f";

/** Destinations of Markdown in `<…>` that hold tabs (CommonMark 0.31.2, section 6.3), as a browser reads an address in them. */
function* brokenDestinations(text: string): Generator<string> {
    if (!text.includes("\t")) return;
    for (const [, value = ""] of text.matchAll(/\](?:\(|:)\s{0,9}<([^<>\n]*)>?/g)) {
        const whole = value.trim().split(" ", 1)[0]?.replace(DROPPED, "") ?? "";
        if (value.includes("\t")) yield whole;
    }
}

/** Character references of HTML and codes of URLs and of mails that stand for a sign of an address (HTML 13.5, RFC 3986 section 2.1, RFC 2045 section 6.7): who shows the text puts the signs in their place. */
const CODED =
    /&#x0*([0-9a-f]{1,6});?|&#0*([0-9]{1,7});?|&(period|colon|sol|bsol|commat|hyphen|dash|percnt|Tab|NewLine|lowbar);|[%=]([0-9a-f]{2})/giu;
const NAMED: { readonly [name: string]: string } = {
    period: ".",
    colon: ":",
    sol: "/",
    bsol: "\\",
    commat: "@",
    hyphen: "-",
    dash: "-",
    percnt: "%",
    tab: "\t",
    newline: "\n",
    lowbar: "_",
};
const LAST = 0x10ffff;
/** A sign that Markdown takes for itself (CommonMark 0.31.2, section 2.4). */
const MARKDOWN_ESCAPE = /\\(?=[!-/:-@[-`{-~])/g;

function pointOf(point: number): string | null {
    return point <= LAST ? String.fromCodePoint(point) : null;
}

function decoded(word: string): string {
    return word.replace(CODED, (code: string, hex?: string, decimal?: string, name?: string, byte?: string) => {
        if (name !== undefined) return NAMED[name.toLowerCase()] ?? code;
        return pointOf(decimal === undefined ? Number.parseInt(hex ?? byte ?? "", 16) : Number(decimal)) ?? code;
    });
}

/** As a reader's program has it: signs for their codes, of a URL's within a reference too; letters for their forms in other shapes (UTS 46). */
function shownAs(word: string): string {
    if (PLAIN.test(word)) return word;
    // A backslash that Markdown takes away may as well be a slash of a browser: either reading leads.
    const shown = compatible(decoded(decoded(word)).replace(DROPPED, ""));
    return RELATIVE.test(shown) ? shown : shown.replace(MARKDOWN_ESCAPE, "");
}
/** Nothing in it stands for something else. */
const PLAIN = /^[!-$'-<>-[\]-~]*$/;

function leads(word: string): boolean {
    return (
        word.includes("://") ||
        SCHEME.test(word) ||
        MAIL.test(word) ||
        (word.includes("@") && WWW.test(word)) ||
        hasHost(word) ||
        NUMBERED.test(word) ||
        RELATIVE.test(word) ||
        LOCAL.test(word)
    );
}

/** Linkers take signs into a name that a sentence puts around one. */
function isName(piece: string): boolean {
    return MAIL.test(piece) || hasHost(piece);
}

function digits(text: string): number {
    let count = 0;
    for (const char of text) if (/\p{Nd}/u.test(char)) count++;
    return count;
}
