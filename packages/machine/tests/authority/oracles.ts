/**
 * Programs that people read texts with, and what they follow in one: the meaning of `addresses` (LANGUAGE 5).
 *
 * Boundary: tests only. Each oracle gives the addresses that it would load or link; a place on the page itself is none.
 */
import { Parser } from "commonmark";
import { LinkifyIt } from "linkify-it";
import MarkdownIt from "markdown-it";
import { Lexer, type Token } from "marked";

const PAGE = "https://page.invalid/";

/** Where a browser goes by an attribute's value on a page elsewhere; null: it stays there, or it is no URL. */
export function leadsTo(value: string): string | null {
    if (!URL.canParse(value, PAGE)) return null;
    const url = new URL(value, PAGE);
    return url.protocol === "https:" && url.host === "page.invalid" ? null : url.href;
}

const linkify = new LinkifyIt({ fuzzyEmail: true, fuzzyIP: true, fuzzyLink: true });
const markdownIt = new MarkdownIt({ linkify: true, html: true });
const commonmark = new Parser();

interface MarkdownToken {
    readonly type: string;
    readonly attrs?: readonly (readonly [string, string])[] | null;
    readonly children?: readonly MarkdownToken[] | null;
}

function attributes(tokens: readonly MarkdownToken[]): string[] {
    return tokens.flatMap((one) => [
        ...(one.attrs ?? []).flatMap(([name, value]) => (name === "href" || name === "src" ? [value] : [])),
        ...attributes(one.children ?? []),
    ]);
}

function hrefs(tokens: readonly Token[]): string[] {
    return tokens.flatMap((one) => {
        const { href, tokens: inner = [], items = [] } = one as { href?: unknown; tokens?: Token[]; items?: Token[] };
        const named = (one.type === "link" || one.type === "image") && typeof href === "string" ? [href] : [];
        return [...named, ...hrefs(inner), ...hrefs(items)];
    });
}

function destinations(text: string): string[] {
    const found: string[] = [];
    const walker = commonmark.parse(text).walker();
    for (let step = walker.next(); step !== null; step = walker.next()) {
        const { type, destination } = step.node;
        if (step.entering && (type === "link" || type === "image")) found.push(destination ?? "");
    }
    return found;
}

/** What each of them follows in a text. */
export const ORACLES: { readonly [name: string]: (text: string) => string[] } = {
    marked: (text) => hrefs(Lexer.lex(text, { gfm: true })),
    "markdown-it": (text) => attributes(markdownIt.parse(text, {}) as unknown as MarkdownToken[]),
    commonmark: destinations,
    "linkify-it": (text) => (linkify.match(text) ?? []).map(({ url }) => url),
};

/** The first address that one of them follows off the page, by the name of the oracle. */
export function followedIn(text: string): { readonly by: string; readonly to: string } | null {
    for (const [by, oracle] of Object.entries(ORACLES))
        for (const value of oracle(text)) {
            const to = leadsTo(value);
            if (to !== null) return { by, to };
        }
    return null;
}
