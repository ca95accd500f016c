/**
 * Reads one JSON value that a model wrote, from a given place in a text, also where it is not quite JSON.
 *
 * Boundary: syntax only. It does not know the contract, so what was unquoted stays `Bare` and is decided by `fit.ts`. It never throws.
 *
 * LEN1: every departure from JSON is named in `repairs`; one that would lose or invent data is a `problem` instead, and the value must not be used.
 * LEN2: linear in what it reads: nothing is read twice but the look-ahead after a quote, which is bounded.
 * LEN3: where the text ends inside the value, `state` is `cut`; `closable` says that only closing brackets of objects are missing.
 * LEN4: a text with quotes inside a string can have two readings; `readValue` gives both where they differ, and the caller decides or refuses.
 *
 * Why not a repair library: those mend silently. Duplicate keys, ellipses, holes in a list, cut strings and text in mid-value come out of them as
 * good JSON with something missing.
 */
import { readBare, readNumber } from "./bareword.ts";
import { Bare, type Cursor, Loose, type Problem, stop, type Value } from "./loose.ts";
import { readString } from "./quoted.ts";

export interface Parsed {
    readonly value: Value;
    readonly state: "complete" | "cut" | "broken";
    /** Index after the last character read. */
    readonly end: number;
    readonly repairs: readonly string[];
    readonly problems: readonly Problem[];
    /** At least one name with a value, or one item, was read: this is JSON and not prose with a bracket in it. */
    readonly evidence: boolean;
    readonly closable: boolean;
    /** Brackets open at `end`. */
    readonly depth: number;
    /** Why it broke, with what stands there. */
    readonly why: string;
}

export const MAX_NESTING = 200;

/** One reading, or two where quotes inside strings allow two complete ones that differ. `at` is the index of `{` or `[`. */
export function readValue(s: string, at: number): Parsed[] {
    const [lazy, inner] = attempt(s, at, false);
    if (!inner && lazy.state !== "broken") return [lazy];
    // Prose with a bracket in it: nothing in it was quoted, so a second look cannot help.
    if (!inner && !lazy.evidence && !/^.\s*["'“]/.test(s.slice(at, at + 40))) return [lazy];
    const [greedy] = attempt(s, at, true);
    if (greedy.state !== "complete") return [lazy.state === "broken" && greedy.state === "cut" ? greedy : lazy];
    if (lazy.state !== "complete") return [greedy];
    return same(lazy.value, greedy.value) ? [lazy] : [lazy, greedy];
}

function attempt(s: string, at: number, greedy: boolean): [Parsed, boolean] {
    const c: Cursor = {
        s,
        i: at,
        depth: 0,
        greedy,
        inner: false,
        cut: false,
        closable: true,
        evidence: false,
        why: "",
        repairs: new Set(),
        problems: [],
    };
    const value = parse(c, ALONE);
    // A text whose quotes do not pair up swallows everything to the end: that is not a cut.
    const unpaired = c.cut && c.inner;
    if (unpaired) c.why = "a quote is missing or one too many";
    const state = value === undefined || unpaired ? "broken" : c.cut ? "cut" : "complete";
    const parsed: Parsed = {
        value: value ?? null,
        state,
        end: c.i,
        repairs: [...c.repairs],
        problems: c.problems,
        evidence: c.evidence,
        closable: c.closable,
        depth: c.depth,
        why: c.why,
    };
    return [parsed, c.inner];
}

/** What encloses a value: nothing, an object or a list. A closing bracket of the wrong kind may belong to it. */
const ALONE = 0;
const IN_OBJECT = 1;
const IN_LIST = 2;

/** `undefined` where it cannot be read; `c.why` then says why. */
function parse(c: Cursor, within: number): Value | undefined {
    const ch = c.s[c.i];
    if (ch === "{" || ch === "｛") return object(c, within);
    if (ch === "[" || ch === "(" || ch === "［") return list(c, within, ch === "(" ? ")" : "]");
    if (ch === '"' || ch === "'" || ch === "“" || ch === "‘" || ch === "`" || ch === "”")
        return text(c, within === IN_OBJECT ? "value" : "item");
    const number = readNumber(c);
    if (number !== undefined) return number;
    return readBare(c, within === IN_OBJECT);
}

/** A quoted text; pieces joined by `+` are one text. */
function text(c: Cursor, place: "value" | "item"): Value | undefined {
    let value = readString(c, place);
    while (value !== undefined && !c.cut) {
        const back = c.i;
        blank(c);
        if (c.s[c.i] !== "+") {
            c.i = back;
            return value;
        }
        c.i++;
        blank(c);
        const more = c.s[c.i] === '"' || c.s[c.i] === "'" ? readString(c, place) : undefined;
        if (more === undefined) return stop(c, "a + without a text after it");
        c.repairs.add("texts joined by + put together");
        value += more;
    }
    return value;
}

function object(c: Cursor, within: number): Value | undefined {
    const start = c.i;
    if (++c.depth > MAX_NESTING) return stop(c, `nested more than ${MAX_NESTING} deep`);
    c.i++;
    const made = new Loose();
    let pending = false;
    for (;;) {
        blank(c);
        const ch = c.s[c.i];
        if (ch === undefined) return ended(c, made, !pending || made.keys.length === 0);
        if (ch === "}" || ch === "｝") {
            c.i++;
            if (pending) c.repairs.add("comma before a closing bracket left out");
            break;
        }
        if (ch === "]" || ch === ")" || (ch === "{" && within === IN_LIST && made.keys.length > 0)) {
            if (within !== IN_LIST || made.keys.length === 0) return stop(c, `'${ch}' inside an object`);
            c.repairs.add("missing closing bracket added");
            break;
        }
        if (ch === "," || ch === "，") {
            c.repairs.add("extra comma left out");
            c.i++;
            continue;
        }
        if (elided(c)) continue;
        const quoted = ch === '"' || ch === "'" || ch === "“" || ch === "‘" || ch === "`" || ch === "”";
        const key = quoted ? readString(c, "key") : bareKey(c);
        if (key === undefined) return undefined;
        if (c.cut) return made;
        blank(c);
        const follows = c.s[c.i];
        if (quoted && made.keys.length === 0 && (follows === "," || follows === "}")) {
            c.i = start;
            c.depth--;
            c.repairs.add("a set in braces read as a list");
            return list(c, within, "}");
        }
        if (!colon(c, quoted, key)) return undefined;
        if (c.cut) return made;
        const value = member(c, key);
        if (value === undefined) return undefined;
        c.evidence = true;
        put(c, made, key, value);
        if (c.cut) return made;
        blank(c);
        const next = c.s[c.i];
        pending = next === "," || next === "，" || next === ";";
        if (pending) {
            if (next !== ",") c.repairs.add("unusual punctuation read as JSON's");
            c.i++;
        } else if (next !== undefined && !"}｝])".includes(next)) {
            if (
                next !== '"' &&
                next !== "'" &&
                next !== "“" &&
                !/^[\p{L}_$][\p{L}\p{N}_$\- ]{0,60}[:：=]/u.test(c.s.slice(c.i, c.i + 64)) &&
                next !== "{"
            )
                return stop(c, "no comma after a value");
            c.repairs.add("missing comma added");
        }
    }
    c.depth--;
    return made;
}

function member(c: Cursor, key: string): Value | undefined {
    const ch = c.s[c.i];
    if (ch === "," || ch === "}") {
        c.problems.push({ kind: "hole", message: `'${shown(key)}' has no value` });
        return null;
    }
    if (elided(c)) return null;
    return parse(c, IN_OBJECT);
}

function put(c: Cursor, made: Loose, key: string, value: Value): void {
    const at = made.keys.length < 12 ? made.keys.indexOf(key) : lookup(made, key);
    if (at < 0) {
        made.keys.push(key);
        made.values.push(value);
        indexes.get(made)?.set(key, made.keys.length - 1);
    } else if (same(made.values[at] as Value, value)) c.repairs.add("a repeated field with the same value read once");
    else {
        c.problems.push({
            kind: "duplicate",
            message: `'${shown(key)}' is given twice: ${brief(made.values[at] as Value)} and ${brief(value)}`,
        });
    }
}

/** Keys of large objects, so that an object of n keys takes time in n. */
const indexes = new WeakMap<Loose, Map<string, number>>();
function lookup(made: Loose, key: string): number {
    let index = indexes.get(made);
    if (index === undefined) {
        index = new Map(made.keys.map((name, at) => [name, at]));
        indexes.set(made, index);
    }
    return index.get(key) ?? -1;
}

function colon(c: Cursor, quoted: boolean, key: string): boolean {
    const ch = c.s[c.i];
    if (ch === ":") c.i++;
    else if (ch === "：" || ch === "=") {
        c.i += ch === "=" && c.s[c.i + 1] === ">" ? 2 : 1;
        c.repairs.add("unusual punctuation read as JSON's");
    } else if (ch === undefined) {
        c.cut = true;
        c.closable = false;
        return true;
    } else if (quoted && /["'{[\d\-tfn]/.test(ch)) c.repairs.add("missing colon added");
    else {
        stop(c, `no colon after '${shown(key)}'`);
        return false;
    }
    blank(c);
    if (c.i >= c.s.length) {
        c.cut = true;
        c.closable = false;
    }
    return true;
}

function bareKey(c: Cursor): string | undefined {
    const match = /[\p{L}\p{N}_$][\p{L}\p{N}_$.\- ]{0,80}/uy;
    match.lastIndex = c.i;
    const found = match.exec(c.s);
    if (found === null) return stop(c, "a name was expected");
    c.i += found[0].length;
    const after = c.s[c.i];
    if (after === undefined) {
        c.cut = true;
        c.closable = false;
        return found[0].trim();
    }
    if (after !== ":" && after !== "=" && after !== "：") return stop(c, "a name without a colon");
    c.repairs.add("quotes put around names");
    return found[0].trim();
}

function list(c: Cursor, within: number, closer: string): Value | undefined {
    if (++c.depth > MAX_NESTING) return stop(c, `nested more than ${MAX_NESTING} deep`);
    if (closer === ")") c.repairs.add("round brackets read as a list");
    c.i++;
    const made: Value[] = [];
    let pending = false;
    for (;;) {
        blank(c);
        const ch = c.s[c.i];
        if (ch === undefined) {
            c.closable = false;
            return ended(c, made, false);
        }
        if (ch === closer || (ch === "］" && closer === "]")) {
            c.i++;
            if (pending) c.repairs.add("comma before a closing bracket left out");
            break;
        }
        if (ch === "}" || ch === "]" || ch === ")") {
            if (within !== IN_OBJECT || ch !== "}") return stop(c, `'${ch}' inside a list`);
            c.repairs.add("missing closing bracket added");
            break;
        }
        if (ch === ",") {
            c.problems.push({ kind: "hole", message: `a list has nothing in place ${made.length + 1}` });
            c.i++;
            continue;
        }
        if (elided(c)) {
            blank(c);
            if (c.s[c.i] === ",") c.i++;
            continue;
        }
        const start = c.i;
        const item = parse(c, IN_LIST);
        if (item === undefined) return undefined;
        if (c.cut) {
            c.closable = false;
            if (!(item instanceof Bare) && typeof item !== "number") made.push(item);
            return made;
        }
        const line = blank(c);
        const next = c.s[c.i];
        if (typeof item === "string" && next === ":" && within === IN_OBJECT && made.length > 0) {
            c.i = start;
            c.repairs.add("missing closing bracket added");
            break;
        }
        made.push(item);
        if (!(item instanceof Bare)) c.evidence = true;
        pending = next === "," || next === "，" || next === ";";
        if (pending) {
            if (next !== ",") c.repairs.add("unusual punctuation read as JSON's");
            c.i++;
        } else if (next !== undefined && next !== closer && !"}])".includes(next)) {
            const structured = typeof item === "object" && item !== null && !(item instanceof Bare);
            if (!line && !structured) {
                c.problems.push({ kind: "unclear", message: `no comma after item ${made.length} of a list` });
            } else c.repairs.add("missing comma added");
        }
    }
    c.depth--;
    return made;
}

/** The text ended inside a value: give what there is. */
function ended<T extends Value>(c: Cursor, made: T, closable: boolean): T {
    c.cut = true;
    if (!closable) c.closable = false;
    c.depth--;
    return made;
}

/** `...` or `…` where a value or a name belongs: the writer left something out. */
function elided(c: Cursor): boolean {
    const length = c.s[c.i] === "…" ? 1 : c.s.startsWith("...", c.i) ? 3 : 0;
    if (length === 0) return false;
    c.i += length;
    c.problems.push({ kind: "elided", message: "something was left out ('...')" });
    return true;
}

/** Skips white space and comments; true where a line ended among them. */
export function blank(c: Cursor): boolean {
    const { s } = c;
    let line = false;
    for (;;) {
        const code = s.charCodeAt(c.i);
        if (code === 32 || code === 9 || code === 13 || code === 0xa0 || code === 0x200b || code === 0xfeff || code === 0x3000) c.i++;
        else if (code === 10 || code === 0x2028 || code === 0x2029) {
            line = true;
            c.i++;
        } else if (code === 35 || (code === 47 && s[c.i + 1] === "/")) {
            const end = s.indexOf("\n", c.i);
            comment(c, end < 0 ? s.length : end, end < 0 ? s.length : end);
        } else if (code === 47 && s[c.i + 1] === "*") {
            const end = s.indexOf("*/", c.i + 2);
            comment(c, end < 0 ? s.length : end, end < 0 ? s.length : end + 2);
        } else return line;
    }
}

/** A comment is left out; one that names an alternative is no comment. */
function comment(c: Cursor, end: number, next: number): void {
    if (/^[/#*\s]*(?:or|alternatively|maybe|perhaps)\b/i.test(c.s.slice(c.i, Math.min(end, c.i + 40))))
        c.problems.push({ kind: "unclear", message: "a comment names an alternative" });
    c.repairs.add("comments left out");
    c.i = next;
}

/** Equal as data; order of fields does not count. */
export function same(a: Value, b: Value): boolean {
    if (a === b) return true;
    if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
    if (a instanceof Bare) return b instanceof Bare && a.text === b.text;
    if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => same(item, b[at] as Value));
    if (!(b instanceof Loose) || a.keys.length !== b.keys.length) return false;
    return a.keys.every((key, at) => {
        const other = lookup(b, key);
        return other >= 0 && same(a.values[at] as Value, b.values[other] as Value);
    });
}

function brief(value: Value): string {
    if (value instanceof Bare) return shown(value.text);
    if (value instanceof Loose) return "an object";
    if (Array.isArray(value)) return "a list";
    return shown(JSON.stringify(value));
}

function shown(text: string): string {
    return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
