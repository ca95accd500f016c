/**
 * Built-in methods of lists.
 *
 * Boundary: a list and what is in it; lambdas come from the caller and count their own steps.
 *
 * Label rules. A label on the list (its reference) covers whatever is read through it; items have labels of their own only where they differ.
 * LI1: an item taken out has its own labels and the list's, and those of what decided that it was this item.
 * LI2: a list made of items keeps each item's own labels on that item. Its own label is that of the lists it came from, and of what decided
 *     which items are in it and in which order (`filter`, `sort_by`, `unique`). Nothing moves from one item to another.
 * LI3: a value computed from items has the labels of the list and of every item that was looked at.
 * LI4: the number of items is fixed when a method starts: what a lambda adds to the list is not visited.
 */

import { Fail } from "../effect/failure.ts";
import { rawOf, truthy } from "../value/operators.ts";
import { Labelled, type List, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { type Arg, isLambda, label, labelsWith, lambdaOf, listOf, rangeOf, roomForItems, textOf, wrong, wrongValue } from "./args.ts";
import type { Builtin, Lambda, Runtime } from "./builtin.ts";
import { copyOf, Keys } from "./canonical.ts";
import { type Method as MethodOf, rowsOn } from "./row.ts";
import { joined } from "./strings.ts";

type Method = MethodOf<List>;

const row = rowsOn<List>("list");

/** Calls a lambda with an item, and with its position where the lambda takes two parameters. */
function apply(rt: Runtime, f: Lambda, item: Value, index: number, l: number): Value {
    const arg = l === 0 ? item : label(rt, item, l);
    return f.call(f.arity > 1 ? [arg, label(rt, index, l)] : [arg]);
}

const map: Method = (rt, self, l, args) => {
    const f = lambdaOf("map", args[0]);
    const n = self.items.length;
    roomForItems(rt, n);
    const out: Value[] = [];
    for (let at = 0; at < n; at++) out.push(apply(rt, f, self.items[at] as Value, at, l));
    return label(rt, rt.heap.list(out), l);
};

const filter: Method = (rt, self, l, args) => {
    const f = lambdaOf("filter", args[0]);
    const n = self.items.length;
    const out: Value[] = [];
    let met = l;
    for (let at = 0; at < n; at++) {
        const item = self.items[at] as Value;
        const keep = apply(rt, f, item, at, l);
        if (keep instanceof Labelled) met = rt.labels.union(met, keep.l);
        if (truthy(keep)) out.push(item);
    }
    roomForItems(rt, out.length);
    return label(rt, rt.heap.list(out), met);
};

const find: Method = (rt, self, l, args) => {
    const f = lambdaOf("find", args[0]);
    const n = self.items.length;
    let met = l;
    for (let at = 0; at < n; at++) {
        const item = self.items[at] as Value;
        const found = apply(rt, f, item, at, l);
        met = labelsWith(rt, met, found);
        if (truthy(found)) return label(rt, item, met);
    }
    return label(rt, null, met);
};

/** `any` looks for a true one, `all` for a false one; both stop at the first. */
const quantifier =
    (name: string, wanted: boolean): Method =>
    (rt, self, l, args) => {
        const f = args.length === 0 ? null : lambdaOf(name, args[0]);
        const n = self.items.length;
        let met = l;
        for (let at = 0; at < n; at++) {
            const item = self.items[at] as Value;
            if (f === null && at % 4 === 0) rt.work(1);
            const held = f === null ? item : apply(rt, f, item, at, l);
            met = labelsWith(rt, met, held);
            if (truthy(held) === wanted) return label(rt, wanted, met);
        }
        return label(rt, !wanted, met);
    };

/** What is on its way carries what decided that the lambda was called: the number of items, so the list's labels. */
const reduce: Method = (rt, self, l, args) => {
    const f = lambdaOf("reduce", args[0]);
    const first = args[1] as Arg;
    if (isLambda(first)) throw wrong("reduce", "first", "a value", first);
    const n = self.items.length;
    let made: Value = label(rt, first, l);
    for (let at = 0; at < n; at++) {
        const item = label(rt, self.items[at] as Value, l);
        made = label(rt, f.call([made, item, label(rt, at, l)].slice(0, f.arity)), l);
    }
    return made;
};

const sortBy: Method = (rt, self, l, args) => {
    const f = lambdaOf("sort_by", args[0]);
    const order = args[1] === undefined ? "ascending" : textOf("sort_by", "order", args[1]);
    if (order !== "ascending" && order !== "descending") throw wrongValue("sort_by", "order", '"ascending" or "descending"', args[1]);
    const n = self.items.length;
    roomForItems(rt, 2 * n);
    let met = labelsWith(rt, l, args[1]);
    const keyed: { key: string | number; item: Value }[] = [];
    let kind: "string" | "number" | null = null;
    for (let at = 0; at < n; at++) {
        const item = self.items[at] as Value;
        const value = apply(rt, f, item, at, l);
        met = labelsWith(rt, met, value);
        const key = rawOf(value);
        if ((typeof key !== "string" && typeof key !== "number") || Number.isNaN(key))
            throw wrong("sort_by", "every key", "a number or a string", value);
        if (kind !== null && typeof key !== kind)
            throw new Fail("value", `sort_by: the keys are of two kinds, ${kind} and ${typeof key}`, {
                hint: "make them alike with text() or number()",
                labels: met,
            });
        kind = typeof key as "string" | "number";
        keyed.push({ key, item });
    }
    const sign = order === "ascending" ? 1 : -1;
    keyed.sort((a, b) => {
        rt.work(typeof a.key === "string" ? 4 + WORK.chars(Math.min(a.key.length, (b.key as string).length)) : 4);
        return a.key < b.key ? -sign : a.key > b.key ? sign : 0;
    });
    return label(rt, rt.heap.list(keyed.map(({ item }) => item)), met);
};

const slice: Method = (rt, self, l, args) => {
    const [from, to] = rangeOf(self.items.length, args[0], args[1]);
    roomForItems(rt, to - from);
    return label(rt, rt.heap.list(self.items.slice(from, to)), labelsWith(rt, labelsWith(rt, l, args[0]), args[1]));
};

const concat: Method = (rt, self, l, args) => {
    let out = self.items;
    let met = l;
    for (const arg of args) {
        const { items } = listOf("concat", "list", arg);
        roomForItems(rt, out.length + items.length);
        out = out.concat(items);
        met = labelsWith(rt, met, arg);
    }
    return label(rt, rt.heap.list(out), met);
};

const unique: Method = (rt, self, l) => {
    const keys = new Keys(rt);
    const seen = new Set<number>();
    const out: Value[] = [];
    let met = l;
    for (const item of self.items) {
        const { key, labels } = keys.of(item);
        met = rt.labels.union(met, labels);
        if (seen.has(key)) continue;
        seen.add(key);
        out.push(item);
    }
    roomForItems(rt, out.length);
    return label(rt, rt.heap.list(out), met);
};

const end =
    (at: number): Method =>
    (rt, self, l) => {
        const item = self.items.at(at);
        return label(rt, item === undefined ? null : item, l);
    };

const sum: Method = (rt, self, l) => {
    let total = 0;
    rt.work(WORK.items(self.items.length));
    let met = l;
    for (const item of self.items) {
        const raw = rawOf(item);
        met = labelsWith(rt, met, item);
        if (typeof raw !== "number") throw wrong("sum", "every item", "a number", item);
        total += raw;
    }
    return label(rt, total, met);
};

const groupBy: Method = (rt, self, l, args) => {
    const f = lambdaOf("group_by", args[0]);
    const n = self.items.length;
    roomForItems(rt, 2 * n);
    const groups = new Map<string, Value[]>();
    let met = l;
    for (let at = 0; at < n; at++) {
        const item = self.items[at] as Value;
        const value = apply(rt, f, item, at, l);
        met = labelsWith(rt, met, value);
        const raw = rawOf(value);
        if (typeof raw !== "string" && typeof raw !== "number" && typeof raw !== "boolean")
            throw wrong("group_by", "every key", "a string, number or boolean", value);
        const key = String(raw);
        rt.work(WORK.chars(key.length));
        const group = groups.get(key);
        if (group === undefined) groups.set(key, [item]);
        else group.push(item);
    }
    const pairs = [...groups].map(([key, items]) => [key, rt.heap.list(items)] as const);
    return label(rt, rt.heap.object(pairs), met);
};

/** One more item at the end of a list, counted among the bytes of the run. */
export function addTo(rt: Runtime, list: List, item: Value): void {
    rt.charge(8);
    rt.heap.push(list, item);
}

const add: Method = (rt, self, l, args) => {
    const value = args[0] as Arg;
    if (typeof value === "object" && value !== null && "call" in value) throw wrong("add", "item", "a value", value);
    addTo(rt, self, value as Value);
    return label(rt, self, l);
};

const join: Method = (rt, self, l, args) =>
    joined(rt, self.items, labelsWith(rt, l, args[0]), args[0] === undefined ? "" : textOf("join", "separator", args[0]));

export const LIST_BUILTINS: readonly Builtin[] = [
    row("length", "Number of items.", (rt, self, l) => label(rt, self.items.length, l), { property: true }),
    row("summary", "A copy of the list and of everything in it, plain data.", (rt, self, l) => label(rt, copyOf(self, rt), l), {
        property: true,
    }),
    row("add(item)", "Adds an item at the end of this list and gives the list itself back.", add, { mutates: true }),
    row("map((item, index) => …)", "A list of what the function makes of each item.", map, { lambda: 0 }),
    row("filter((item, index) => …)", "The items for which the function gives something true.", filter, { lambda: 0 }),
    row("find((item, index) => …)", "The first item for which the function gives something true, none where there is none.", find, {
        lambda: 0,
    }),
    row(
        "reduce((made, item, index) => …, first)",
        "What the function makes of `first` and the first item, then of that and the second item, and so on; `first` where the list is empty.",
        reduce,
        { lambda: 0 },
    ),
    row(
        "sort_by((item, index) => …, order?)",
        'Sorted by a key, all numbers or all strings (compared by UTF-16 units); equal keys keep their order. `order` is "ascending" or "descending".',
        sortBy,
        { lambda: 0 },
    ),
    row("slice(from, to?)", "The items from position `from` up to, not including, `to`. Negative positions count from the end.", slice),
    row("concat(list, …)", "A new list: the items of this one, then those of the others.", concat),
    row("join(separator?)", "Its strings, numbers and booleans as one text, with the separator between them.", join),
    row("unique()", "Each item once, at its first place; items are compared as `==` does.", unique),
    row("first()", "The first item, none in an empty list.", end(0)),
    row("last()", "The last item, none in an empty list.", end(-1)),
    row("sum()", "The sum of its numbers, 0 for an empty list.", sum),
    row(
        "any((item, index) => …)",
        "Whether the function gives something true for an item; without a function, whether an item is true.",
        quantifier("any", true),
        { lambda: 0, min: 0 },
    ),
    row(
        "all((item, index) => …)",
        "Whether the function gives something true for every item; without a function, whether every item is true.",
        quantifier("all", false),
        { lambda: 0, min: 0 },
    ),
    row(
        "group_by((item, index) => …)",
        "An object of lists: the items by a key (a string, number or boolean, shown as text), keys and items in their order.",
        groupBy,
        {
            lambda: 0,
        },
    ),
];
