/**
 * The engine of `match`: all ways through a pattern at once, one character of the text after the other.
 *
 * Boundary: a compiled pattern and a text. The syntax is the language's, in its `pattern.ts`.
 *
 * Method: K. Thompson, "Regular expression search algorithm", CACM 11(6), 1968, with the ordered threads and submatch slots of R. Pike's `sam`.
 * Threads are kept in order of preference, so that the result is the one a backtracking engine would find first: leftmost, and by the
 * preferences of `*`, `*?` and `|`.
 *
 * MH1: the work is at most the product of text and program, and never more than `MAX_WORK`.
 * MH2: the text is read by whole characters; `index` is in UTF-16 units, as every position is.
 */

import { compilePattern, type Op, type Pattern, PatternFault } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import type { Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { cut, room } from "./args.ts";
import type { Runtime } from "./builtin.ts";

/** Thread steps of one match: a second or two. */
export const MAX_WORK = 50_000_000;

/** `{text, index, groups}` of the first match, or none. A group that took no part is none. */
export function matchText(rt: Runtime, text: string, pattern: string, flags: string): Value {
    const compiled = compiledPattern(rt, pattern, flags);
    const engine = new Engine(compiled, text);
    const slots = engine.run();
    rt.work(engine.work + WORK.chars(text.length));
    if (slots === null) return null;
    const part = (index: number): Value => {
        const [from, to] = [slots[2 * index], slots[2 * index + 1]];
        if (from === undefined || to === undefined || from < 0 || to < 0) return null;
        room(rt, to - from);
        return cut(text, from, to);
    };
    const groups: Value[] = [];
    for (let index = 1; index <= compiled.groups; index++) groups.push(part(index));
    return rt.heap.object([
        ["text", part(0)],
        ["index", slots[0] as number],
        ["groups", rt.heap.list(groups)],
    ]);
}

/** Compiled patterns that a run keeps at most. */
const MAX_KEPT = 64;

function compiledPattern(rt: Runtime, pattern: string, flags: string): Pattern {
    const name = `${flags}/${pattern}`;
    const kept = rt.patterns.get(name);
    if (kept !== undefined) return kept;
    const made = compilePattern(pattern, flags);
    if (made instanceof PatternFault) throw new Fail("value", `match: ${made.message}`, made.hint === undefined ? {} : { hint: made.hint });
    rt.work(WORK.values(made.ops.length));
    if (rt.patterns.size >= MAX_KEPT) rt.patterns.clear();
    rt.patterns.set(name, made);
    return made;
}

/** Where groups begin and end, -1 where they do not; shared between threads, never changed. */
type Slots = readonly number[];

interface Threads {
    count: number;
    readonly pcs: Int32Array;
    readonly slots: Slots[];
}

class Engine {
    private readonly pattern: Pattern;
    private readonly text: string;
    /** For each operation the last position (plus one) at which a thread came to it. */
    private readonly seen: Int32Array;
    private readonly stackPc: number[] = [];
    private readonly stackSlots: Slots[] = [];
    work = 0;

    constructor(pattern: Pattern, text: string) {
        this.pattern = pattern;
        this.text = text;
        this.seen = new Int32Array(pattern.ops.length);
    }

    run(): Slots | null {
        const { ops, prefix, anchored, groups } = this.pattern;
        const { text } = this;
        const none: Slots = new Array<number>(2 * groups + 2).fill(-1);
        let now: Threads = { count: 0, pcs: new Int32Array(ops.length), slots: [] };
        let next: Threads = { count: 0, pcs: new Int32Array(ops.length), slots: [] };
        let found: Slots | null = null;
        let at = 0;
        for (;;) {
            if (now.count === 0) {
                if (found !== null || (anchored && at > 0)) break;
                if (prefix !== "") {
                    at = text.indexOf(prefix, at);
                    if (at < 0) break;
                }
            }
            if (found === null && !(anchored && at > 0)) this.add(now, 0, none, at);
            const code = at < text.length ? (text.codePointAt(at) as number) : -1;
            const after = at + (code > 0xffff ? 2 : 1);
            next.count = 0;
            for (let thread = 0; thread < now.count; thread++) {
                const pc = now.pcs[thread] as number;
                const slots = now.slots[thread] as Slots;
                const op = ops[pc] as Op;
                if (op.op === "match") {
                    found = slots;
                    break;
                }
                if (code >= 0 && this.takes(op, code)) this.add(next, pc + 1, slots, after);
            }
            this.count(now.count + 1);
            [now, next] = [next, now];
            if (code < 0) break;
            at = after;
        }
        return found;
    }

    private count(work: number): void {
        this.work += work;
        if (this.work > MAX_WORK)
            throw new Fail("value", "match: this pattern is too much work on a text of this size", {
                hint: "match a part of the text, or use a simpler pattern",
            });
    }

    /** Adds the threads that a position of the program leads to without taking a character, in order of preference. */
    private add(to: Threads, start: number, given: Slots, at: number): void {
        const { ops } = this.pattern;
        const { stackPc, stackSlots, seen } = this;
        stackPc.push(start);
        stackSlots.push(given);
        let work = 0;
        for (let pc = stackPc.pop(); pc !== undefined; pc = stackPc.pop()) {
            const slots = stackSlots.pop() as Slots;
            work++;
            if (seen[pc] === at + 1) continue;
            seen[pc] = at + 1;
            const op = ops[pc] as Op;
            switch (op.op) {
                case "jump":
                    stackPc.push(op.to);
                    stackSlots.push(slots);
                    break;
                case "split":
                    stackPc.push(op.second, op.first);
                    stackSlots.push(slots, slots);
                    break;
                case "save":
                    stackPc.push(pc + 1);
                    stackSlots.push(slots.with(op.slot, at));
                    break;
                case "assert":
                    if (!this.holds(op.what, at)) break;
                    stackPc.push(pc + 1);
                    stackSlots.push(slots);
                    break;
                default:
                    to.pcs[to.count] = pc;
                    to.slots[to.count++] = slots;
            }
        }
        this.count(work);
    }

    private takes(op: Op, code: number): boolean {
        if (op.op === "any") return true;
        if (op.op === "char")
            return (
                op.code === code ||
                (this.pattern.ignoreCase && folds(op.code).includes(code)) ||
                (this.pattern.ignoreCase && folds(code).includes(op.code))
            );
        if (op.op !== "set") return false;
        const within = inRanges(op.ranges, code) || (this.pattern.ignoreCase && folds(code).some((other) => inRanges(op.ranges, other)));
        return within !== op.not;
    }

    private holds(what: "start" | "end" | "word" | "notWord", at: number): boolean {
        const { text } = this;
        if (what === "start") return at === 0 || (this.pattern.multiline && text.charCodeAt(at - 1) === 10);
        if (what === "end") return at === text.length || (this.pattern.multiline && text.charCodeAt(at) === 10);
        return (isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at))) === (what === "word");
    }
}

function inRanges(ranges: readonly (readonly [number, number])[], code: number): boolean {
    for (const [low, high] of ranges) if (code >= low && code <= high) return true;
    return false;
}

function isWord(unit: number): boolean {
    return (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90) || unit === 95 || (unit >= 97 && unit <= 122);
}

/** The same letter in the other case, where that is one character. */
function folds(code: number): number[] {
    const char = String.fromCodePoint(code);
    const out: number[] = [];
    for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        const folded = other.codePointAt(0) as number;
        if (folded !== code && other.length === (folded > 0xffff ? 2 : 1)) out.push(folded);
    }
    return out;
}
