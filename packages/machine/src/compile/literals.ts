/**
 * List and object literals, with spread.
 *
 * LR3: what is made with spread has the labels of what was spread: they decided how much is in it, and whether a later key replaced an earlier
 * one. The labels of its keys stay those of keys where nothing stood before.
 */

import type { ExprForm, Site } from "@remit/language";
import { Fail } from "../effect/failure.ts";
import { aNameOf, join } from "../value/operators.ts";
import { Labelled, List, Obj, type Shape, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import type { Code, RunState, Slots } from "./code.ts";
import { type Context, expr, siteOf } from "./context.ts";
import { inside } from "./loose.ts";
import { tested } from "./strict.ts";

export function listCode(cx: Context, e: ExprForm & { kind: "list" }): Code {
    if (e.items.every((i) => i.kind !== "spread")) {
        const items = e.items.map((i) => expr(cx, i as ExprForm));
        const [a, b] = items as [Code, Code];
        if (items.length === 0) return (f) => new List([], f[0].heap);
        if (items.length === 1) return (f) => new List([a(f)], f[0].heap);
        if (items.length === 2) return (f) => new List([a(f), b(f)], f[0].heap);
        return (f) => {
            const made: Value[] = [];
            for (let i = 0; i < items.length; i++) made.push((items[i] as Code)(f));
            return new List(made, f[0].heap);
        };
    }
    const parts = inside(cx, () =>
        e.items.map((i) =>
            i.kind === "spread"
                ? { spread: true, code: tested(cx, i.value), at: siteOf(cx, i.at ?? e.at) }
                : { spread: false, code: expr(cx, i), at: null },
        ),
    );
    return (f) => {
        const made = new List([], f[0].heap);
        let met = 0;
        for (const part of parts) {
            const value = part.code(f);
            if (!part.spread) f[0].heap.push(made, value);
            else {
                const l = value instanceof Labelled ? value.l : 0;
                const from = value instanceof Labelled ? value.v : value;
                if (!(from instanceof List)) throw cannotSpread("list", value, part.at);
                f[0].charge(8 * from.items.length);
                f[0].work(from.items.length);
                for (const item of from.items.slice()) f[0].heap.push(made, item);
                met = f[0].labels.union(met, l);
            }
        }
        return join(f[0], made, met);
    };
}

function cannotSpread(into: "list" | "object", value: Value, at: Site | null): Fail {
    const v = value instanceof Labelled ? value.v : value;
    return new Fail("value", `${aNameOf(v)} cannot be spread into ${into === "list" ? "a list" : "an object"}`, {
        site: at,
        labels: value instanceof Labelled ? value.l : 0,
    });
}

export function objectCode(cx: Context, e: ExprForm & { kind: "object" }): Code {
    const keys = e.entries.map((i) => (i.kind === "entry" ? i.key : null));
    const plain = keys.every((k) => k !== null) && new Set(keys).size === keys.length && keys.length <= 40;
    if (plain) {
        const values = e.entries.map((i) => expr(cx, i.value));
        let root: Shape | null = null;
        let shape: Shape | null = null;
        const shapeIn = (m: RunState): Shape => {
            root = m.heap.root;
            let made: Shape = root;
            for (const key of keys) made = made.with(key as string);
            shape = made;
            return made;
        };
        const [a, b, c] = values as [Code, Code, Code];
        const make = (f: Slots, slots: Value[]): Obj => {
            const m = f[0];
            const s = m.heap.root === root && shape !== null ? shape : shapeIn(m);
            return new Obj(s.own ? s.shared() : s, slots, m.heap);
        };
        if (values.length === 1) return (f) => make(f, [a(f)]);
        if (values.length === 2) return (f) => make(f, [a(f), b(f)]);
        if (values.length === 3) return (f) => make(f, [a(f), b(f), c(f)]);
        return (f) => {
            const slots: Value[] = [];
            for (let i = 0; i < values.length; i++) slots.push((values[i] as Code)(f));
            return make(f, slots);
        };
    }
    const parts = inside(cx, () =>
        e.entries.map((i) => ({
            key: i.kind === "entry" ? i.key : null,
            code: i.kind === "entry" ? expr(cx, i.value) : tested(cx, i.value),
            at: siteOf(cx, i.at ?? e.at),
        })),
    );
    return (f) => {
        const { heap } = f[0];
        const made = new Obj(heap.root, [], heap);
        let met = 0;
        for (const part of parts) {
            const value = part.code(f);
            if (part.key !== null) heap.set(made, part.key, value);
            else {
                const l = value instanceof Labelled ? value.l : 0;
                const from = value instanceof Labelled ? value.v : value;
                if (!(from instanceof Obj)) throw cannotSpread("object", value, part.at);
                f[0].charge(8 * from.slots.length);
                f[0].work(WORK.values(from.slots.length));
                if (made.slots.length > 0) met = f[0].labels.union(met, from.keyLabel);
                else made.keyLabel = from.keyLabel;
                from.shape.keys.forEach((key, slot) => {
                    heap.set(made, key, from.slots[slot] as Value);
                });
                met = f[0].labels.union(met, l);
            }
        }
        return join(f[0], made, met);
    };
}
