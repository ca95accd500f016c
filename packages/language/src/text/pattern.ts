/**
 * Patterns of `match`: from text to a program for the machine's engine. The checker reads them where they are literals.
 *
 * Boundary: syntax and size. What is accepted, and nothing else:
 *   literals; `\` before punctuation for the character itself; `\n \r \t \f \v \uXXXX \u{…}`
 *   `.` any character but a line feed; `[a-z] [^…]` classes; `\d \D` (0–9) `\w \W` (A–Z a–z 0–9 _) `\s \S` white space, in classes too
 *   `* + ? {n} {n,} {n,m}`, each with `?` behind for as few as possible; `|`; `( … )` a group, `(?: … )` one that is not captured
 *   `^ $` start and end (of a line with flag `m`); `\b \B` a word boundary or none. Flags `i` (either case), `m`, `s` (`.` takes line feeds).
 * A turn of a repetition may take nothing: `(|a){2}` finds the empty text in "aa", where ECMAScript would go on to the `a`.
 * No back references and no look-around: they cannot be matched in linear time.
 *
 * PAT1: pattern, groups, repetitions and program are bounded; a pattern beyond a bound is refused before anything is matched.
 */
const MAX_PATTERN = 1000;
const MAX_PROGRAM = 4000;
const MAX_REPEAT = 1000;
const MAX_GROUPS = 50;
/** Units of a prefix that is looked for: a longer one is searched in more than linear time by the engine's own search. */
const MAX_PREFIX = 32;

/** `[low, high]` code points, inclusive. */
type Ranges = readonly (readonly [number, number])[];

export type Op =
    | { readonly op: "char"; readonly code: number }
    | { readonly op: "set"; readonly ranges: Ranges; readonly not: boolean }
    | { readonly op: "any" }
    /** Goes on at `first`; `second` is tried after everything that follows from `first`. */
    | { readonly op: "split"; first: number; second: number }
    | { readonly op: "jump"; to: number }
    | { readonly op: "save"; readonly slot: number }
    | { readonly op: "assert"; readonly what: "start" | "end" | "word" | "notWord" }
    | { readonly op: "match" };

export interface Pattern {
    readonly ops: readonly Op[];
    readonly groups: number;
    readonly ignoreCase: boolean;
    readonly multiline: boolean;
    /** Text every match begins with; empty where none is known. */
    readonly prefix: string;
    /** Every match begins at the start of the text. */
    readonly anchored: boolean;
}

type Node =
    | { readonly kind: "op"; readonly op: Op }
    | { readonly kind: "seq" | "alt"; readonly of: readonly Node[] }
    | { readonly kind: "repeat"; readonly of: Node; readonly min: number; readonly max: number; readonly lazy: boolean }
    | { readonly kind: "group"; readonly of: Node; readonly index: number };

/** Why a text is no pattern. */
export class PatternFault {
    readonly message: string;
    readonly hint: string | undefined;

    constructor(message: string, hint?: string) {
        this.message = message;
        this.hint = hint;
    }
}

export function compilePattern(text: string, flags: string): Pattern | PatternFault {
    try {
        return compiled(text, flags);
    } catch (error) {
        if (error instanceof PatternFault) return error;
        throw error;
    }
}

function compiled(text: string, flags: string): Pattern {
    for (const flag of flags) if (!"ims".includes(flag)) throw new PatternFault(`there is no flag '${flag}'`, "the flags are i, m and s");
    if (text.length > MAX_PATTERN) throw new PatternFault(`a pattern may have ${MAX_PATTERN} characters`);
    const reader = new Reader(text, flags.includes("s"));
    const tree = reader.whole();
    const ops: Op[] = [];
    emit({ kind: "group", of: tree, index: 0 }, ops);
    ops.push({ op: "match" });
    const ignoreCase = flags.includes("i");
    const multiline = flags.includes("m");
    const first = leading(tree);
    return {
        ops,
        groups: reader.groups,
        ignoreCase,
        multiline,
        prefix: ignoreCase ? "" : prefixOf(first),
        anchored: !multiline && first[0]?.op === "assert" && first[0].what === "start",
    };
}

/** The operations a pattern begins with, whatever it matches. */
function leading(node: Node): Op[] {
    if (node.kind === "op") return [node.op];
    if (node.kind !== "seq") return [];
    const found: Op[] = [];
    for (const part of node.of) {
        if (part.kind !== "op") break;
        found.push(part.op);
    }
    return found;
}

function prefixOf(ops: readonly Op[]): string {
    let text = "";
    for (const op of ops) {
        if (text.length >= MAX_PREFIX || op.op !== "char" || (op.code >= 0xd800 && op.code <= 0xdfff)) break;
        text += String.fromCodePoint(op.code);
    }
    return text;
}

// ---- program -----------------------------------------------------------------------------------------------------------

function put(ops: Op[], op: Op): number {
    if (ops.length >= MAX_PROGRAM) throw new PatternFault("the pattern is too large", "its repetitions are written out; use smaller ones");
    return ops.push(op) - 1;
}

function emit(node: Node, ops: Op[]): void {
    switch (node.kind) {
        case "op":
            put(ops, node.op);
            return;
        case "seq":
            for (const part of node.of) emit(part, ops);
            return;
        case "alt": {
            const ends: { to: number }[] = [];
            node.of.forEach((part, at) => {
                if (at === node.of.length - 1) {
                    emit(part, ops);
                    return;
                }
                const split = { op: "split" as const, first: ops.length + 1, second: 0 };
                put(ops, split);
                emit(part, ops);
                const jump = { op: "jump" as const, to: 0 };
                put(ops, jump);
                ends.push(jump);
                split.second = ops.length;
            });
            for (const jump of ends) jump.to = ops.length;
            return;
        }
        case "group":
            put(ops, { op: "save", slot: 2 * node.index });
            emit(node.of, ops);
            put(ops, { op: "save", slot: 2 * node.index + 1 });
            return;
        case "repeat":
            emitRepeat(node, ops);
    }
}

function emitRepeat(node: Extract<Node, { kind: "repeat" }>, ops: Op[]): void {
    for (let n = 0; n < node.min; n++) emit(node.of, ops);
    const branch = (): { aim: (to: number) => void } => {
        const split = { op: "split" as const, first: 0, second: 0 };
        const at = put(ops, split);
        split[node.lazy ? "second" : "first"] = at + 1;
        return {
            aim: (to) => {
                split[node.lazy ? "first" : "second"] = to;
            },
        };
    };
    if (node.max === Number.POSITIVE_INFINITY) {
        const loop = ops.length;
        const { aim } = branch();
        emit(node.of, ops);
        put(ops, { op: "jump", to: loop });
        aim(ops.length);
        return;
    }
    const branches: { aim: (to: number) => void }[] = [];
    for (let n = node.min; n < node.max; n++) {
        branches.push(branch());
        emit(node.of, ops);
    }
    for (const { aim } of branches) aim(ops.length);
}

// ---- syntax ------------------------------------------------------------------------------------------------------------

const DIGIT: Ranges = [[48, 57]];
const WORD: Ranges = [
    [48, 57],
    [65, 90],
    [95, 95],
    [97, 122],
];
const SPACE: Ranges = [
    [9, 13],
    [32, 32],
    [0xa0, 0xa0],
    [0x1680, 0x1680],
    [0x2000, 0x200a],
    [0x2028, 0x2029],
    [0x202f, 0x202f],
    [0x205f, 0x205f],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
];
const CLASSES = new Map<string, { ranges: Ranges; not: boolean }>([
    ["d", { ranges: DIGIT, not: false }],
    ["D", { ranges: DIGIT, not: true }],
    ["w", { ranges: WORD, not: false }],
    ["W", { ranges: WORD, not: true }],
    ["s", { ranges: SPACE, not: false }],
    ["S", { ranges: SPACE, not: true }],
]);
const CONTROL = new Map([
    ["n", 10],
    ["r", 13],
    ["t", 9],
    ["f", 12],
    ["v", 11],
]);
const LAST = 0x10ffff;

/** All code points that are not in `ranges`. */
export function complement(ranges: Ranges): [number, number][] {
    const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
    const out: [number, number][] = [];
    let next = 0;
    for (const [low, high] of sorted) {
        if (low > next) out.push([next, low - 1]);
        next = Math.max(next, high + 1);
    }
    if (next <= LAST) out.push([next, LAST]);
    return out;
}

class Reader {
    groups = 0;
    private at = 0;
    private readonly chars: readonly string[];
    private readonly dotAll: boolean;

    constructor(text: string, dotAll: boolean) {
        this.chars = Array.from(text);
        this.dotAll = dotAll;
    }

    whole(): Node {
        const tree = this.alternatives();
        if (this.at < this.chars.length) throw this.error("there is no group for this )");
        return tree;
    }

    private error(what: string, hint?: string): PatternFault {
        return new PatternFault(`${what}, at character ${this.at + 1} of the pattern`, hint);
    }

    private peek(): string | undefined {
        return this.chars[this.at];
    }

    private eat(char: string): boolean {
        if (this.chars[this.at] !== char) return false;
        this.at++;
        return true;
    }

    private alternatives(): Node {
        const of = [this.sequence()];
        while (this.eat("|")) of.push(this.sequence());
        return of.length === 1 ? (of[0] as Node) : { kind: "alt", of };
    }

    private sequence(): Node {
        const of: Node[] = [];
        for (let next = this.peek(); next !== undefined && next !== "|" && next !== ")"; next = this.peek()) of.push(this.repeated());
        return of.length === 1 ? (of[0] as Node) : { kind: "seq", of };
    }

    private repeated(): Node {
        const atom = this.atom();
        const bounds = this.quantifier();
        if (bounds === null) return atom;
        if (atom.kind === "op" && atom.op.op === "assert") throw this.error("a place such as ^ or \\b cannot be repeated");
        const lazy = this.eat("?");
        if (["*", "+", "?", "{"].includes(this.peek() ?? ""))
            throw this.error("one repetition follows another", "put the first into a group (?: … )");
        return { kind: "repeat", of: atom, min: bounds[0], max: bounds[1], lazy };
    }

    private quantifier(): [number, number] | null {
        if (this.eat("*")) return [0, Number.POSITIVE_INFINITY];
        if (this.eat("+")) return [1, Number.POSITIVE_INFINITY];
        if (this.eat("?")) return [0, 1];
        if (!this.eat("{")) return null;
        const min = this.count();
        let max = min;
        if (this.eat(",")) max = this.peek() === "}" ? null : this.count();
        if (min === null || !this.eat("}"))
            throw this.error("a { begins a repetition such as {2} or {2,5}", "write \\{ for the character itself");
        const most = max ?? Number.POSITIVE_INFINITY;
        if (min > MAX_REPEAT || (max !== null && max > MAX_REPEAT)) throw this.error(`a repetition goes up to ${MAX_REPEAT}`);
        if (min > most) throw this.error("the repetition's bounds are the wrong way round");
        return [min, most];
    }

    private count(): number | null {
        let digits = "";
        while (/^[0-9]$/.test(this.peek() ?? "")) digits += this.chars[this.at++];
        return digits === "" ? null : Number(digits.slice(0, 6));
    }

    private atom(): Node {
        const char = this.chars[this.at++] as string;
        switch (char) {
            case ".":
                return { kind: "op", op: this.dotAll ? { op: "any" } : { op: "set", ranges: [[10, 10]], not: true } };
            case "^":
                return { kind: "op", op: { op: "assert", what: "start" } };
            case "$":
                return { kind: "op", op: { op: "assert", what: "end" } };
            case "(":
                return this.group();
            case "[":
                return this.set();
            case "\\":
                return this.escape();
            case "*":
            case "+":
            case "?":
            case "{":
                this.at--;
                throw this.error(`there is nothing for this ${char} to repeat`, `write \\${char} for the character itself`);
            default:
                return { kind: "op", op: { op: "char", code: char.codePointAt(0) as number } };
        }
    }

    private group(): Node {
        if (!this.eat("?")) {
            const index = ++this.groups;
            if (index > MAX_GROUPS) throw this.error(`a pattern may have ${MAX_GROUPS} groups`);
            const of = this.alternatives();
            this.close();
            return { kind: "group", of, index };
        }
        if (!this.eat(":")) throw this.error("look-around and named groups are not supported", "use ( … ) or (?: … )");
        const of = this.alternatives();
        this.close();
        return of;
    }

    private close(): void {
        if (!this.eat(")")) throw this.error("a ) is missing");
    }

    private escape(): Node {
        const char = this.peek();
        if (char === "b" || char === "B") {
            this.at++;
            return { kind: "op", op: { op: "assert", what: char === "b" ? "word" : "notWord" } };
        }
        const set = char === undefined ? undefined : CLASSES.get(char);
        if (set !== undefined) {
            this.at++;
            return { kind: "op", op: { op: "set", ...set } };
        }
        return { kind: "op", op: { op: "char", code: this.escapedCode() } };
    }

    /** The code point of an escape, the `\` already read. */
    private escapedCode(): number {
        const char = this.chars[this.at++];
        if (char === undefined) throw this.error("the pattern ends in a \\");
        const control = CONTROL.get(char);
        if (control !== undefined) return control;
        if (char === "u") return this.unicode();
        if (/^[0-9]$/.test(char)) throw this.error("back references are not supported");
        if (/^[A-Za-z]$/.test(char)) throw this.error(`there is no escape \\${char}`);
        return char.codePointAt(0) as number;
    }

    private unicode(): number {
        const braced = this.eat("{");
        let digits = "";
        while (digits.length < (braced ? 6 : 4) && /^[0-9a-fA-F]$/.test(this.peek() ?? "")) digits += this.chars[this.at++];
        const code = Number.parseInt(digits, 16);
        if (braced ? digits === "" || !this.eat("}") : digits.length < 4) throw this.error("an escape is \\uXXXX or \\u{…}");
        if (code > LAST) throw this.error("there is no such character");
        return code;
    }

    private set(): Node {
        const not = this.eat("^");
        const ranges: [number, number][] = [];
        while (!this.eat("]")) {
            const low = this.member();
            if (typeof low !== "number") {
                ranges.push(...low);
                continue;
            }
            if (this.peek() === "-" && this.chars[this.at + 1] !== "]" && this.chars[this.at + 1] !== undefined) {
                this.at++;
                const high = this.member();
                if (typeof high !== "number" || high < low) throw this.error("this range is the wrong way round");
                ranges.push([low, high]);
            } else ranges.push([low, low]);
        }
        if (ranges.length === 0) throw this.error("this class is empty", "write \\[ for the character itself");
        return { kind: "op", op: { op: "set", ranges, not } };
    }

    /** One character of a class, or the ranges of `\d` and its like. */
    private member(): number | [number, number][] {
        const char = this.chars[this.at++];
        if (char === undefined) throw this.error("a ] is missing");
        if (char !== "\\") return char.codePointAt(0) as number;
        const set = CLASSES.get(this.peek() ?? "");
        if (set === undefined) return this.escapedCode();
        this.at++;
        return set.not ? complement(set.ranges) : set.ranges.map(([low, high]) => [low, high]);
    }
}
