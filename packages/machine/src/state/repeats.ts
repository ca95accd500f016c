/**
 * Uses that were let through, so that the same use at the same place is not decided again.
 *
 * Boundary: what is kept of a decision, and when a use is the same. The decision itself is `authority/decide.ts`, the gate around it `gate.ts`.
 *
 * RPT1: only a `may` is kept, and only one that depended on nothing but who uses what, who chose it, and the names and labels of its arguments
 *     (`labelsDecide`). Where a delegation, an agent that a call binds further, or data that only some may read is in the run, each use is decided.
 * RPT2: what is kept holds for one instruction of one run: label sets are known by their numbers. A run that was loaded decides anew.
 */
import { isGeneric } from "../authority/given.ts";
import { labelsDecide, type Standing } from "../authority/decide.ts";
import type { Instruction } from "../compile/instructions.ts";
import { labelOf, rawOf } from "../value/operators.ts";
import { type Capability, heldIn, Obj, type Raw, type Shape, type Value } from "../value/value.ts";
import { isUnread, placeOf } from "./descriptions.ts";
import type { Frame } from "./fiber.ts";
import type { Target, Wish } from "./gate.ts";
import type { Ops } from "./ops.ts";

/** A use of a thing by an instruction. */
export interface Repeatable {
    readonly I: Instruction;
    readonly frame: Frame;
    readonly target: Target;
    readonly args: readonly Value[];
    readonly chosen: "program" | "model";
    /** Where an agent wrote the use, whether it was told that the method only reads; else undefined. */
    readonly reads: boolean | undefined;
}

/** A use that was let through. */
export interface LetThrough {
    readonly c: Capability;
    readonly method: string | null;
    readonly direct: boolean;
    readonly principal: string;
    readonly chosen: "program" | "model";
    readonly reads: boolean | undefined;
    /** Label set of the place. */
    readonly at: number;
    /** What the tool had said of itself. */
    readonly told: object | undefined;
    /** The names of each argument that is an object; null for any other. */
    readonly shapes: readonly (Shape | null)[];
    /** Label sets of the arguments and, of an object, of its names and of each of its parts, in order. */
    readonly labels: readonly number[];
}

/** RPT1. */
function isDecidedAlone({ run, sessions, standing, tracer }: Ops): boolean {
    if (run.labels.isRestricted || standing.delegations.size > 0 || tracer !== null) return false;
    for (const { policy } of sessions.values()) if (policy !== null) return false;
    return true;
}

/** Whether all that a thing was handed on by still goes on. */
function isAlive({ standing: { isAlive } }: Ops, { right }: Capability): boolean {
    return right === null || (right.alive.every(isAlive) && right.ways.every(({ alive }) => alive.every(isAlive)));
}

/** Whether the same use was let through at this place before (bench, "1,000 effects"). */
export function isRepeated(m: Ops, { I, frame, target, args, chosen, reads }: Repeatable): boolean {
    const before = m.run.letThrough.get(I);
    return (
        before !== undefined &&
        before.c === target.c &&
        before.method === target.method &&
        before.direct === target.direct &&
        before.principal === frame.principal &&
        before.chosen === chosen &&
        before.reads === reads &&
        before.at === frame.placeLabel &&
        isDecidedAlone(m) &&
        isAlive(m, target.c) &&
        before.told === m.described.get(placeOf(target.c)) &&
        carriesAsBefore(m, before, args)
    );
}

function carriesAsBefore({ run: { labels } }: Ops, before: LetThrough, args: readonly Value[]): boolean {
    if (args.length !== before.shapes.length) return false;
    let at = 0;
    for (let i = 0; i < args.length; i++) {
        const arg = args[i] as Value;
        if (labelOf(arg) !== before.labels[at++]) return false;
        const raw = rawOf(arg);
        const shape = before.shapes[i];
        if (shape === null) {
            if (!isPlain(raw)) return false;
            continue;
        }
        if (!(raw instanceof Obj) || raw.shape !== shape || heldIn(labels, raw) !== before.labels[at++]) return false;
        for (const slot of raw.slots) if (labelOf(slot) !== before.labels[at++] || !isPlain(rawOf(slot))) return false;
    }
    return true;
}

/** Keeps a use that was let through, where that depended on labels alone. */
export function keepUse(m: Ops, { I, frame, target, args, chosen, reads }: Repeatable, { readOnly }: Wish, on: Standing): void {
    const { c, uri, method, direct } = target;
    if (!isDecidedAlone(m) || !isAlive(m, c) || (c.kind !== "tool" && c.kind !== "memory")) return;
    if (method !== null && isGeneric(uri, method)) return;
    const shapes: (Shape | null)[] = [];
    const labels: number[] = [];
    for (const arg of args) {
        const raw = rawOf(arg);
        labels.push(labelOf(arg));
        if (!(raw instanceof Obj)) {
            if (!isPlain(raw)) return;
            shapes.push(null);
            continue;
        }
        // A shape of one object alone grows in place.
        if (raw.shape.own || !raw.slots.every((slot) => isPlain(rawOf(slot)))) return;
        shapes.push(raw.shape);
        labels.push(heldIn(m.run.labels, raw), ...raw.slots.map(labelOf));
    }
    const { principal } = frame;
    const at = frame.placeLabel;
    if (isUnread(m, c, at) || m.authority.countersAt(c.file, c.name).length > 0) return;
    if (!labelsDecide({ key: m.authority.keyOf(c), uri, method, readOnly, right: direct ? null : c.right }, on)) return;
    m.run.letThrough.set(I, { c, method, direct, principal, chosen, reads, at, told: m.described.get(placeOf(c)), shapes, labels });
}

/** What has no parts carries its label and nothing else. */
function isPlain(raw: Raw): boolean {
    return raw === null || typeof raw === "string" || typeof raw === "boolean" || (typeof raw === "number" && Number.isFinite(raw));
}
