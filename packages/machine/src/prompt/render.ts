/**
 * How a value becomes text in a prompt: a string as itself, everything else as JSON indented by two spaces, keys in order of insertion.
 *
 * Boundary: from `Value` to text and origins. Budgets are in `clip.ts`, the layout around the text in `layers.ts`.
 *
 * REN2: the origins given back are those of what the text holds, item by item, so that a clipped body forgets the origins of what was cut.
 * REN3: what is rendered is charged while it grows: a value whose text is exponentially larger than itself ends as `limit.bytes`.
 */

import type { Runtime } from "../builtin/builtin.ts";
import { JsonWriter } from "../builtin/json-writer.ts";
import { Fail } from "../effect/failure.ts";
import { labelOf, rawOf } from "../value/operators.ts";
import { Capability, heldIn, List, type Obj, type Raw, type Value } from "../value/value.ts";

/** UTF-16 units that one rendered value may have. */
export const MAX_RENDERED = 64 * 1024 * 1024;

/**
 * A rendered value in pieces, as plain JSON. `sets` are sets of origins (sorted); `own` and `marks` are indices into it. `parts` are the
 * items of a list or the fields of an object, each rendered and indented by two spaces; a string or scalar is one part.
 */
export interface Body {
    readonly kind: "string" | "scalar" | "list" | "object";
    readonly parts: readonly string[];
    readonly own: number;
    readonly marks: readonly number[];
    readonly sets: readonly (readonly string[])[];
}

/** The text of a body as it stands in the prompt. */
export function textOf(body: Body): string {
    if (body.kind === "string" || body.kind === "scalar") return body.parts[0] ?? "";
    const [open, close] = body.kind === "list" ? "[]" : "{}";
    return body.parts.length === 0 ? `${open}${close}` : `${open}\n${body.parts.join(",\n")}\n${close}`;
}

/** A body that is not cut any more: its text in one. */
export function wholeBody(body: Body): Body {
    return body.parts.length <= 1 && body.kind === "string"
        ? body
        : { kind: "string", parts: [textOf(body)], own: 0, marks: [], sets: [originsOf(body)] };
}

/** UTF-16 units of `textOf(body)`, without making it. */
export function sizeOf(body: Body): number {
    if (body.kind === "string" || body.kind === "scalar") return (body.parts[0] ?? "").length;
    return body.parts.length === 0 ? 2 : body.parts.reduce((sum, part) => sum + part.length + 2, 2);
}

/** Sorted origins of what the body holds. */
export function originsOf(body: Body): string[] {
    const met = new Set<string>(body.sets[body.own]);
    for (const mark of new Set(body.marks)) for (const origin of body.sets[mark] ?? []) met.add(origin);
    return [...met].sort();
}

/** The text of a value and the label set of all it holds. */
export function renderValue(value: Value, rt: Runtime): { text: string; labels: number } {
    const writer = writerFor(rt);
    const [raw, own] = [rawOf(value), labelOf(value)];
    if (typeof raw === "string") {
        writer.put(raw);
        return { text: writer.take(), labels: own };
    }
    writer.met = own;
    writer.write(raw, "\n", 0);
    return { text: writer.take(), labels: writer.met };
}

/** A value rendered in pieces. */
export function bodyOf(value: Value, rt: Runtime): Body {
    const writer = writerFor(rt);
    const [raw, own] = [rawOf(value), labelOf(value)];
    const sets: (readonly string[])[] = [];
    const known = new Map<number, number>();
    const mark = (labels: number): number => {
        let at = known.get(labels);
        if (at === undefined) {
            at = sets.length;
            sets.push(rt.labels.origins(labels));
            known.set(labels, at);
        }
        return at;
    };
    const ownMark = mark(raw instanceof List || isObj(raw) ? rt.labels.union(own, heldIn(rt.labels, raw)) : own);
    if (raw instanceof List || isObj(raw)) {
        const parts: string[] = [];
        const marks: number[] = [];
        const part = (prefix: string, item: Value): void => {
            writer.met = 0;
            writer.put(prefix);
            writer.write(item, "\n  ", 1);
            parts.push(writer.take());
            marks.push(mark(writer.met));
        };
        writer.enter(raw, 0);
        if (raw instanceof List) for (const item of raw.items) part("  ", item);
        else raw.shape.keys.forEach((key, slot) => void part(`  ${JSON.stringify(key)}: `, raw.slots[slot] as Value));
        return { kind: raw instanceof List ? "list" : "object", parts, own: ownMark, marks, sets };
    }
    if (typeof raw === "string") {
        writer.put(raw);
        return { kind: "string", parts: [writer.take()], own: ownMark, marks: [], sets };
    }
    writer.write(raw, "\n", 0);
    return { kind: "scalar", parts: [writer.take()], own: ownMark, marks: [], sets };
}

function isObj(raw: Raw): raw is Obj {
    return raw !== null && typeof raw === "object" && !(raw instanceof List) && !(raw instanceof Capability);
}

function writerFor(rt: Runtime): JsonWriter {
    return new JsonWriter(rt, 2, (units, labels) => {
        if (units > MAX_RENDERED)
            throw new Fail("limit.bytes", `the text of this value is longer than ${MAX_RENDERED} characters`, {
                hint: "use a part of it, or clip it with max",
                labels,
            });
    });
}
