/**
 * Takes known secrets out of what comes in, before the machine sees it, and out of what leaves the machine, before the ledger, a performer or a
 * person sees it.
 *
 * Boundary: text and JSON in, the same shape out; where secrets come from is told by the caller. Where it is called is `exits.ts`.
 *
 * SR2: no string of the result, keys included, holds a known secret of at least `MIN_SECRET` characters, or what is one within it (`partsOf`), in any
 *     form of `formsOf`.
 * SR4: shape is kept: text stays text, so that a failure's message or a contract's string is one still. In the place of the secret stands the name
 *     of its reference, `[secret env:NAME]`.
 * SR5: of a text that comes in pieces, what is before `hold` can be shown: no secret that goes on in the next piece has begun there.
 * SR7: of a text that is cut, nothing of a secret is left at the cut: it is taken out before (`beginning`, `ending`; `cut.ts` has what is mostly needed).
 */
import { hash } from "node:crypto";
import type { Json } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import { formsOf, MIN_SECRET } from "./forms.ts";
import { partsOf } from "./within.ts";
import { concealed, holds, isReserved, mapped, type Piece, revealed } from "./pieces.ts";

export interface Secret {
    /** Name of the reference: `env:NAME`, `file:PATH`. */
    readonly name: string;
    readonly value: string;
}

export interface Scrubber {
    scrub(json: Json): Json;
    text(text: string): string;
    /** Where the end of `text` begins that may be the beginning of a secret; its length where there is none. */
    hold(text: string): number;
    /** About the first `room` units of a text without its secrets, none of them cut; `more`: the text goes on after them. Costs what `room` costs. */
    beginning(text: string, room: number): { readonly text: string; readonly more: boolean };
    /** The same of its end. `isCut`: `text` itself is the end of a longer one, so that the end of a secret may stand at its beginning. */
    ending(text: string, room: number, isCut?: boolean): { readonly text: string; readonly more: boolean };
    /** The first secret in `text`, and where it stands; null where there is none. */
    find(text: string): { readonly name: string; readonly at: number } | null;
    /** The same for scrubbers that know the same secrets, and for no others. */
    fingerprint(): string;
    /** A secret that was read later. */
    add(secret: Secret): void;
    /** For the saved state: every secret is replaced by a reference, and the text around it is kept in pieces. `reveal` gives the same value back. */
    conceal(json: Json): Json;
    /** What `conceal` was given. Throws a `RemitError` that names a secret which is not known now. */
    reveal(json: Json): Json;
}

/** Values of variables with telling names that are words, not secrets. */
const WORDS = new Set(["disabled", "required", "optional", "undefined", "password", "changeme", "localhost", "keychain", "anonymous"]);

export function createScrubber(secrets: Iterable<Secret> = []): Scrubber {
    /** By form. */
    const names = new Map<string, Piece>();
    /** By secret, then by the form's name. */
    const values = new Map<string, ReadonlyMap<string, string>>();
    let pattern: RegExp | null = null;
    let longest = 0;

    function add(secret: Secret): void {
        const { value } = secret;
        if (value.length < MIN_SECRET || WORDS.has(value.toLowerCase()) || /^(.)\1*$/.test(value)) return;
        const forms = allFormsOf(value);
        values.set(secret.name, new Map([...forms].map(([form, as]) => [as, form])));
        for (const [form, as] of forms) {
            if (!names.has(form)) names.set(form, { $secret: secret.name, as });
            longest = Math.max(longest, form.length);
        }
        pattern = null;
    }
    function matcher(): RegExp | null {
        if (pattern === null && names.size > 0) {
            // Alternatives are literals: one pass, no backtracking worth the name. Longest first, so that a secret within another one does not cut it.
            const forms = [...names.keys()].sort((a, b) => b.length - a.length);
            pattern = new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"), "g");
        }
        return pattern;
    }
    function text(given: string): string {
        const found = matcher();
        if (found === null || given.length < MIN_SECRET) return given;
        return given.replace(found, (form) => said(names.get(form) as Piece));
    }
    const holdsSecret = (given: string): boolean => given.length >= MIN_SECRET && isIn(given, matcher());
    const hold = (given: string): number => heldFrom(given, names.keys(), matcher);
    function beginning(given: string, room: number): { readonly text: string; readonly more: boolean } {
        const window = given.slice(0, room + longest);
        if (window.length === given.length) return { text: text(given), more: false };
        // What begins before `room` is whole in the window; what begins behind it may be a part, which goes.
        return { text: text(window.slice(0, hold(window))), more: true };
    }
    function ending(given: string, room: number, isCut = false): { readonly text: string; readonly more: boolean } {
        // What ends in the last `room` units is whole in the window, also behind the end of another one at its beginning.
        const window = given.length > room + 2 * longest ? given.slice(-room - 2 * longest) : given;
        const more = isCut || window.length < given.length;
        return { text: text(more ? window.slice(endedAt(window, names.keys(), matcher)) : window), more };
    }
    function find(given: string): { readonly name: string; readonly at: number } | null {
        const parts = pieces(given);
        if (typeof parts === "string") return null;
        const [before] = parts as [string | Piece];
        const piece = parts.find((one) => typeof one !== "string") as Piece;
        return { name: piece.$secret, at: typeof before === "string" ? before.length : 0 };
    }
    const pieces = (given: string): string | (string | Piece)[] => piecesOf(given, given.length < MIN_SECRET ? null : matcher(), names);
    function known(piece: Piece): string {
        const form = values.get(piece.$secret)?.get(piece.as);
        if (form === undefined) throw unknown(piece);
        return form;
    }

    for (const secret of secrets) add(secret);
    return {
        scrub: (json) => (holds(json, holdsSecret) ? mapped(json, text) : json),
        text,
        hold,
        beginning,
        ending,
        find,
        fingerprint: () => hash("sha256", [...names.keys()].sort().join("\n")),
        add,
        conceal: (json) => (holds(json, (text) => isReserved(text) || holdsSecret(text)) ? concealed(json, pieces) : json),
        reveal: (json) => revealed(json, known),
    };
}

/** Of a secret and of what is one within it, with their names. */
function allFormsOf(value: string): ReadonlyMap<string, string> {
    const forms = new Map(formsOf(value));
    for (const part of partsOf(value)) {
        if (WORDS.has(part.value.toLowerCase())) continue;
        const own = part.isLine === true ? new Map([[part.value, "plain"]]) : formsOf(part.value);
        for (const [form, as] of own) if (!forms.has(form)) forms.set(form, `${part.name}:${as}`);
    }
    return forms;
}

/** The parts of a text; the text itself where it holds no secret. */
function piecesOf(given: string, found: RegExp | null, names: ReadonlyMap<string, Piece>): string | (string | Piece)[] {
    const out: (string | Piece)[] = [];
    let at = 0;
    if (found !== null)
        for (const { index, 0: form } of given.matchAll(found)) {
            if (index > at) out.push(given.slice(at, index));
            out.push(names.get(form) as Piece);
            at = index + form.length;
        }
    if (at === 0) return given;
    return at === given.length ? out : [...out, given.slice(at)];
}

function unknown({ $secret }: Piece): RemitError {
    return new RemitError({
        kind: "value",
        message: `the saved state of this run holds the secret ${$secret}, which is not known here`,
        hint: `give ${$secret} the value that it had when the run was saved, then resume the run again`,
    });
}

function isIn(given: string, forms: RegExp | null): boolean {
    return forms !== null && given.search(forms) >= 0;
}

/** SR5. */
function heldFrom(given: string, forms: Iterable<string>, matcher: () => RegExp | null): number {
    let at = given.length;
    for (const form of forms) {
        for (let from = Math.max(0, given.length - form.length + 1); from < at; from++) {
            from = given.indexOf(form[0] as string, from);
            if (from < 0 || from >= at) break;
            if (form.startsWith(given.slice(from))) at = from;
        }
    }
    const found = at === given.length ? null : matcher();
    // A secret that is whole already may hold that beginning: it is kept in one piece.
    if (found !== null) for (const { index, 0: whole } of given.matchAll(found)) if (index < at && index + whole.length > at) return index;
    return at;
}

/** Behind what may be the end of a secret at the beginning of a text that is the end of a longer one. */
function endedAt(given: string, forms: Iterable<string>, matcher: () => RegExp | null): number {
    let at = 0;
    for (const form of forms) {
        const last = form.at(-1) as string;
        for (let to = Math.min(given.length, form.length - 1); to > at; to--) {
            to = given.lastIndexOf(last, to - 1) + 1;
            if (to > at && form.endsWith(given.slice(0, to))) at = to;
        }
    }
    const found = at === 0 ? null : matcher();
    // What is cut there is no whole secret any more: it goes, too.
    if (found !== null)
        for (const { index, 0: whole } of given.matchAll(found)) if (index < at && index + whole.length > at) return index + whole.length;
    return at;
}

/** What stands in a text in the place of a secret (SR4). */
function said({ $secret }: Piece): string {
    return `[secret ${$secret}]`;
}
