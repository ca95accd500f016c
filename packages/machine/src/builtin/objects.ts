/**
 * Built-in methods of objects. An object's own key of the same name comes first: that is the caller's rule.
 *
 * Label rules as for lists (`lists.ts` LI1–LI3): a value taken out has its own labels, the object's and those of the key that chose it; an
 * object or list made of values keeps each value's own labels on it and takes the labels of the objects it came from. What shows keys, counts
 * them or finds one absent has the labels of the keys (`Obj.keyLabel`). A copy has them too; where keys decided which value won, the whole
 * result has them.
 *
 * OB1: own keys only. `__proto__` and its like are keys as any other: absent until data has them.
 */

import { rawOf } from "../value/operators.ts";
import { List, type Obj, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import { isLambda, label, labelsWith, objectOf, roomForItems, textOf, wrong } from "./args.ts";
import type { Builtin } from "./builtin.ts";
import { type Method as MethodOf, rowsOn } from "./row.ts";

type Method = MethodOf<Obj>;

const row = rowsOn<Obj>("object");

const get: Method = (rt, self, l, args) => {
    const own = self.get(textOf("get", "key", args[0]));
    const met = labelsWith(rt, l, args[0]);
    if (own !== undefined) return label(rt, own, met);
    const otherwise = args[1];
    if (isLambda(otherwise)) throw wrong("get", "otherwise", "a value", otherwise);
    return label(rt, otherwise ?? null, rt.labels.union(met, self.keyLabel));
};

const entries: Method = (rt, self, l) => {
    roomForItems(rt, 3 * self.slots.length);
    const items = self.shape.keys.map((key, slot) =>
        rt.heap.object([
            ["key", key],
            ["value", self.slots[slot] as Value],
        ]),
    );
    return label(rt, rt.heap.list(items), rt.labels.union(l, self.keyLabel));
};

const merge: Method = (rt, self, l, args) => {
    const made = rt.heap.object([]);
    let met = l;
    const take = (from: Obj): void => {
        roomForItems(rt, from.slots.length);
        rt.work(WORK.values(from.slots.length));
        if (made.slots.length > 0) met = rt.labels.union(met, from.keyLabel);
        else made.keyLabel = from.keyLabel;
        from.shape.keys.forEach((key, slot) => {
            rt.heap.set(made, key, from.slots[slot] as Value);
        });
    };
    take(self);
    for (const arg of args) {
        take(objectOf("merge", "object", arg));
        met = labelsWith(rt, met, arg);
    }
    return label(rt, made, met);
};

const without: Method = (rt, self, l, args) => {
    let met = l;
    const left = new Set<string>();
    for (const arg of args) {
        met = labelsWith(rt, met, arg);
        const raw = isLambda(arg) ? null : rawOf(arg);
        if (raw instanceof List)
            for (const item of raw.items) {
                rt.work(WORK.values(1));
                met = labelsWith(rt, met, item);
                left.add(textOf("without", "every key", item));
            }
        else left.add(textOf("without", "key", arg));
    }
    roomForItems(rt, self.slots.length);
    rt.work(WORK.values(self.slots.length));
    const made = rt.heap.object([]);
    self.shape.keys.forEach((key, slot) => {
        if (!left.has(key)) rt.heap.set(made, key, self.slots[slot] as Value);
    });
    made.keyLabel = self.keyLabel;
    return label(rt, made, met);
};

const keys: Method = (rt, self, l) => {
    roomForItems(rt, self.slots.length);
    return label(rt, rt.heap.list([...self.shape.keys]), rt.labels.union(l, self.keyLabel));
};

const values: Method = (rt, self, l) => {
    roomForItems(rt, self.slots.length);
    return label(rt, rt.heap.list([...self.slots]), rt.labels.union(l, self.keyLabel));
};

export const OBJECT_BUILTINS: readonly Builtin[] = [
    row("keys()", "A list of its keys, in the order in which they came.", keys),
    row("values()", "A list of its values, in the order of its keys.", values),
    row("entries()", "A list of `{key, value}`, in the order of its keys.", entries),
    row("has(key)", "Whether it has the key.", (rt, self, l, args) =>
        label(rt, self.has(textOf("has", "key", args[0])), labelsWith(rt, rt.labels.union(l, self.keyLabel), args[0])),
    ),
    row("get(key, otherwise?)", "The value of a key; where it is absent `otherwise`, or none.", get),
    row(
        "merge(object, …)",
        "A new object: its own keys, then those of the others; a later value of a key wins. Values are not merged.",
        merge,
    ),
    row("without(key, …)", "A new object without these keys; a list of keys will do as well.", without),
];
