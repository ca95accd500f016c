/**
 * Labels of lists and objects in strict code.
 *
 * Boundary: one value and the slots it is reached from. Where code parts and meets is in `strict.ts`, what it may change in `changes.ts`.
 *
 * The model. A variable, an item and a field carry a label. A list or object has one more (`label`). It covers all items or fields, which keys
 * there are and how many. It holds for every reference, so no alias tells what another hides. It only grows.
 *
 * CL1: a list or object that strict code makes has the label of its place (`pc`). One that a built-in, an effect or other code made has the
 *      label of its reference.
 * CL2: a read through a reference has the label that the list or object has at that moment.
 * CL3: a write or an `add` is allowed if the label has `pc` and the label of the reference. Only a reader who may see the label then learns
 *      whether this list or object was changed, and not another. Any other write is `violation.flow`.
 * CL4: a write gives the label of its index or key to the list or object, also if the write is refused: every reference shows the same.
 * CL5: where a label raises `pc`, it also raises everything that the ways which part there may change, taken or not, as each is reached at that
 *      moment.
 * CL7: code that keeps choices alone (W9 of `strict.ts`) gives lists and objects nothing but who chose. It refuses no write, and raises whatever it
 *      reaches: an alias that is not visible where ways part shows such a choice only where the way was taken.
 * CL6: a label is raised only where that tells nothing new: the raised label already has everything that led the code to the list or object.
 */
import type { Site } from "@remit/language";
import { violation } from "../effect/broken.ts";
import { type Joins, join, labelOf, nameOf, rawOf } from "../value/operators.ts";
import { Labelled, List, Obj, type Raw, type Value } from "../value/value.ts";

export const isContainer = (v: Raw): v is List | Obj => typeof v === "object" && (v instanceof List || v instanceof Obj);

/** CL2. */
export function covered(m: Joins, value: Value): Value {
    const raw = value instanceof Labelled ? value.v : value;
    return isContainer(raw) && raw.label !== 0 ? join(m, value, raw.label) : value;
}

/** CL1. `depth`: how many levels of lists and objects are new. */
export function born(m: Joins, value: Value, l: number, depth = 1, loose = false): Value {
    // What has no label of its own gets none that its reference does not show already (CL7).
    if (loose && l === 0 && !(value instanceof Labelled)) return value;
    if (!isContainer(rawOf(value))) return value;
    const rest: { readonly value: Value; readonly l: number; readonly depth: number }[] = [{ value, l, depth }];
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        const raw = rawOf(one.value);
        const by = labelOf(one.value);
        const own = m.labels.union(one.l, loose ? m.labels.onlyChoosers(by) : by);
        if (!isContainer(raw) || (own !== 0 && m.labels.within(own, raw.label))) continue;
        if (own !== 0) m.heap.relabel(raw, m.labels.union(raw.label, own));
        if (one.depth === 1) continue;
        const held = raw instanceof List ? raw.items : raw.slots;
        m.work(held.length);
        for (const item of held) if (typeof rawOf(item) === "object") rest.push({ value: item, l: own, depth: one.depth - 1 });
    }
    return value;
}

/** Everything that a reference leads to gets a label (CL6). `path`: what has led to here. */
export function raise(m: Joins, value: Value, l: number, path: number, loose = false): void {
    const { labels } = m;
    // Nearly always there is nothing to do.
    const top = rawOf(value);
    if (!isContainer(top) || labels.within(l, top.label)) return;
    const rest: { readonly value: Value; readonly path: number }[] = [{ value, path }];
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        const raw = rawOf(one.value);
        if (!isContainer(raw)) continue;
        const { label } = raw;
        if (labels.within(l, label)) continue;
        if (!loose && !labels.within(labels.withoutChoosers(labels.union(one.path, labelOf(one.value))), label)) continue;
        m.heap.relabel(raw, labels.union(label, l));
        if (raw.label === label) continue;
        const held = raw instanceof List ? raw.items : raw.slots;
        m.work(held.length);
        for (const item of held) {
            const inner = rawOf(item);
            if (isContainer(inner)) rest.push({ value: item, path: label });
        }
    }
}

/** Where something is written. `pc`: label set of the place; `chosen`: of the index or key. */
export interface Writing {
    readonly pc: number;
    readonly chosen: number;
    readonly at: Site | null;
    /** Only choices are kept (CL7). */
    readonly loose: boolean;
}

/** Before `value` is put into what `to` refers to (CL3, CL4). */
export function writable(m: Joins, to: Value, value: Value, { pc, chosen, at, loose }: Writing): void {
    const raw = rawOf(to);
    // The heap refuses every change of what iterations share.
    if (!isContainer(raw) || !m.heap.mayChange(raw)) return;
    if (loose && pc === 0 && chosen === 0 && raw.label === 0 && !(to instanceof Labelled)) return;
    const { labels } = m;
    const by = labels.union(pc, labelOf(to));
    // Who chose is noted where it is new, and refuses nothing (CL7).
    const choosers = labels.onlyChoosers(by);
    if (choosers !== 0) raise(m, to, choosers, pc, true);
    if (!loose && !labels.within(labels.withoutChoosers(by), raw.label)) {
        const origins = labels.origins(by).filter((origin) => !labels.origins(raw.label).includes(origin));
        const what = nameOf(raw);
        throw violation({ why: "change", capability: what, flow: { arg: what, origins, rule: "flow strict" } }, { site: at, labels: by });
    }
    if (chosen !== 0) raise(m, to, chosen, pc, loose);
    // From here on `value` is reached through it, too.
    if (raw.label !== 0) raise(m, value, raw.label, pc, loose);
}

/** Strict code gives a value to other code: the reference gets the labels of all lists and objects behind it. */
export function outward(m: Joins, value: Value): Value {
    let l = 0;
    const seen = new Set<Raw>();
    const rest: Value[] = [value];
    for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
        const raw = rawOf(one);
        if (!isContainer(raw) || seen.has(raw)) continue;
        seen.add(raw);
        l = m.labels.union(l, raw.label);
        const held = raw instanceof List ? raw.items : raw.slots;
        m.work(held.length);
        for (const item of held) rest.push(item);
    }
    return join(m, value, l);
}
