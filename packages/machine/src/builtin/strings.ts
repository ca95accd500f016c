/**
 * Built-in methods of strings.
 *
 * Boundary: text in, text out; `match` hands its pattern to `match.ts`.
 *
 * Lengths and positions are UTF-16 code units, the unit of `max` budgets; a negative position counts from the end.
 * STR1: no result holds half of a character whose halves were together in the operand: a cut that would fall inside one moves inwards.
 * STR2: a result carries the labels of the receiver and of every argument.
 */

import { LONG } from "../value/operators.ts";
import { wholeAfter, wholeBefore } from "../value/text.ts";
import type { Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import {
    type Arg,
    cut,
    LARGE,
    label,
    labelsWith,
    listOf,
    part,
    rangeOf,
    room,
    roomForItems,
    textOf,
    wholeOf,
    wrong,
    wrongValue,
} from "./args.ts";
import type { Builtin, Runtime } from "./builtin.ts";
import { matchText } from "./match.ts";
import { joining, type RowOf, rowsOn } from "./row.ts";
import { find, findAll, SHORT } from "./search.ts";

type Method = (rt: Runtime, self: string, args: readonly Arg[]) => Value;

const plain = rowsOn<string>("string");

/**
 * A row whose result is labelled with its receiver and arguments (STR2). A long text that was joined from others takes memory of its own from
 * when it is looked at, which may be now; slices are too many for that, and count a part.
 */
const row: RowOf<Method> = (signature, summary, method, more) =>
    plain(
        signature,
        summary,
        joining<string>((rt, self, args) => {
            if (self.length > LONG && signature !== "length") rt.heap.take(self.length >>> (signature.startsWith("slice(") ? 8 : 3));
            return method(rt, self, args);
        }),
        more,
    );

const words = /[^ \t\n\r\f\v\u00a0\u2028\u2029\ufeff]+/g;

function list(rt: Runtime, parts: readonly string[]): Value {
    roomForItems(rt, parts.length);
    return rt.heap.list([...parts]);
}

function split(rt: Runtime, self: string, args: readonly Arg[]): Value {
    rt.work(WORK.chars(4 * self.length));
    if (args.length === 0) return list(rt, parted(self.match(words) ?? [], self));
    const separator = textOf("split", "separator", args[0]);
    return list(rt, separator === "" ? Array.from(self) : parts(rt, self, separator));
}

/** Parts of a text, each as it is held best. */
function parted(all: string[], text: string): string[] {
    return text.length > LARGE ? all.map((one) => part(one, text)) : all;
}

function parts(rt: Runtime, self: string, separator: string): string[] {
    rt.work(searching(self, separator));
    if (separator.length <= SHORT) return parted(self.split(separator), self);
    const out: string[] = [];
    let from = 0;
    for (const at of findAll(self, separator)) {
        out.push(cut(self, from, at));
        from = at + separator.length;
    }
    out.push(cut(self, from, self.length));
    return out;
}

function lines(rt: Runtime, self: string): Value {
    rt.work(WORK.chars(4 * self.length));
    const all = self.split(/\r\n|\n|\r/);
    if (all[all.length - 1] === "") all.pop();
    return list(rt, parted(all, self));
}

function replace(rt: Runtime, self: string, args: readonly Arg[]): Value {
    const old = textOf("replace", "old", args[0]);
    const by = textOf("replace", "new", args[1]);
    if (old === "") throw wrongValue("replace", "old", "a string that is not empty", args[0]);
    const between = parts(rt, self, old);
    if (between.length === 1) return self;
    room(rt, self.length + (between.length - 1) * (by.length - old.length));
    return between.join(by);
}

/** Work of reading a part of a text that may first have to be put together from what was joined: mostly it has been. */
function reading(text: string, units: number): number {
    return WORK.chars(units) + (text.length >>> 10);
}

function slice(rt: Runtime, self: string, args: readonly Arg[]): Value {
    const [from, to] = rangeOf(self.length, args[0], args[1]);
    rt.work(reading(self, to - from));
    return cut(self, wholeAfter(self, from), Math.max(wholeAfter(self, from), wholeBefore(self, to)));
}

function indexOf(rt: Runtime, self: string, args: readonly Arg[]): Value {
    const from = wholeOf("index_of", "from", args[1], 0);
    const at = search(rt, self, textOf("index_of", "text", args[0]), from < 0 ? Math.max(0, self.length + from) : from);
    return at < 0 ? null : at;
}

/** `sep.join(list)`: labels of the items and of their list as well. */
const joinRow = plain(
    "join(list)",
    "The strings, numbers and booleans of a list, as one text with this string between them.",
    (rt, self, l, args) => joined(rt, listOf("join", "list", args[0]).items, labelsWith(rt, l, args[0]), self),
);

/** The text of list items with a separator between them; its label is `l` joined with every item's. */
export function joined(rt: Runtime, items: readonly Value[], l: number, separator: string): Value {
    rt.work(items.length);
    const texts: string[] = [];
    let units = Math.max(0, items.length - 1) * separator.length;
    let met = l;
    for (const item of items) {
        met = labelsWith(rt, met, item);
        const raw = typeof item === "object" && item !== null && "v" in item ? item.v : item;
        if (typeof raw !== "string" && typeof raw !== "number" && typeof raw !== "boolean")
            throw wrong("join", "every item", "a string, number or boolean", item);
        const text = String(raw);
        units += text.length;
        texts.push(text);
    }
    room(rt, units);
    return label(rt, texts.join(separator), met);
}

/** Position of a text in another, -1 where it does not occur. */
function search(rt: Runtime, text: string, wanted: string, from = 0): number {
    rt.work(searching(text, wanted));
    return find(text, wanted, from);
}

function searching(text: string, wanted: string): number {
    return WORK.chars(8 * text.length + 16 * wanted.length);
}

function changed(rt: Runtime, text: string): string {
    room(rt, text.length);
    return text;
}

export const STRING_BUILTINS: readonly Builtin[] = [
    row("length", "Number of UTF-16 units: most characters are one, an emoji is two.", (_, self) => self.length, {
        property: true,
    }),
    row("trim()", "Without spaces, tabs and line breaks at both ends.", (rt, self) => {
        rt.work(WORK.chars(self.length));
        return part(self.trim(), self);
    }),
    row(
        "split(separator?)",
        "The parts between separators; without one the words between runs of white space; with an empty one the characters.",
        split,
    ),
    joinRow,
    row("lines()", "The lines, without their line breaks. A line break at the end does not begin another line.", lines),
    row("lower()", "In lower case, by Unicode's rules that depend on no language.", (rt, self) => changed(rt, self.toLowerCase())),
    row("upper()", "In upper case, by Unicode's rules that depend on no language.", (rt, self) => changed(rt, self.toUpperCase())),
    row(
        "contains(text)",
        "Whether the text occurs in it. The empty text occurs everywhere.",
        (rt, self, args) => search(rt, self, textOf("contains", "text", args[0])) >= 0,
    ),
    row("starts_with(text)", "Whether it begins with the text.", (rt, self, args) => {
        const start = textOf("starts_with", "text", args[0]);
        rt.work(reading(self, start.length));
        return self.startsWith(start);
    }),
    row("ends_with(text)", "Whether it ends with the text.", (rt, self, args) => {
        const end = textOf("ends_with", "text", args[0]);
        rt.work(reading(self, end.length));
        return self.endsWith(end);
    }),
    row("replace(old, new)", "Every occurrence of the text `old` replaced, from left to right. `old` is text, not a pattern.", replace),
    row(
        "slice(from, to?)",
        "The part from position `from` up to, not including, `to`. Negative positions count from the end; a character is never cut in two.",
        slice,
    ),
    row("index_of(text, from?)", "Position of the first occurrence at or after `from`, none where there is none.", indexOf),
    row("match(pattern, flags?)", "The first match of a pattern: `{text, index, groups}`, or none. See Patterns.", (rt, self, args) =>
        matchText(rt, self, textOf("match", "pattern", args[0]), args[1] === undefined ? "" : textOf("match", "flags", args[1])),
    ),
];
