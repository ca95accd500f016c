/**
 * Values of the running program.
 *
 * Boundary: the shapes and the heap's write barrier. Operators are in `operators.ts`, JSON in `json.ts`, methods in `../builtin`.
 *
 * V2: raw means "no origin but the program's own text"; everything else is one `Labelled` around a raw value. A `Labelled` is never
 *     nested and never has the empty set.
 * V3: a label on the reference to a list or object covers everything read through it; elements carry their own only where they differ.
 *     `Obj.keyLabel` covers which keys an object has: whatever shows a key, counts keys or finds one absent has it.
 * V9: strict code gives a list or object a label of its own (`label`), which covers its items, keys and length for every reference to it
 *     (`../compile/containers.ts`). It only grows. Every walk through a value takes it (`heldIn`).
 * V4: a write to a list or object passes `heap.touch` unless the object was born in the present generation.
 * V5: a capability is never data: it cannot be rendered, stored in memory, compared or turned into JSON.
 */
import type { Right } from "../authority/decide.ts";
import { Fail } from "../effect/failure.ts";
import type { Labels } from "./label.ts";

export type Raw = null | boolean | number | string | List | Obj | Capability;
export type Value = Raw | Labelled;

export class Labelled {
    readonly v: Raw;
    readonly l: number;
    constructor(v: Raw, l: number) {
        this.v = v;
        this.l = l;
    }
}

/** What every heap object knows from birth. `id` is 0 until a save reaches the object. `owner` is the fiber it was born in. */
export class List {
    items: Value[];
    gen: number;
    id: number;
    /** The last measurement of memory that reached it. */
    mark: number;
    /** Label set of the whole (V9). */
    label: number;
    owner: Owner;
    constructor(items: Value[], heap: Heap) {
        this.items = items;
        this.label = 0;
        this.gen = heap.gen;
        this.id = 0;
        this.mark = 0;
        this.owner = heap.owner;
        heap.room -= THING + items.length;
        if (heap.room < 0) heap.full();
    }
}

/** Keys in order of insertion and the slot of each. A shared shape never changes; `own` shapes belong to one object and grow in place. */
export class Shape {
    readonly keys: string[];
    readonly index: Map<string, number>;
    readonly own: boolean;
    private readonly next = new Map<string, Shape>();
    constructor(keys: string[], own: boolean) {
        this.keys = keys;
        this.own = own;
        this.index = new Map(keys.map((key, slot) => [key, slot]));
    }
    /** The shape with one more key. Past `MAX_SHARED_KEYS` keys or `MAX_BRANCHES` ways the object gets a shape of its own. */
    with(key: string): Shape {
        if (this.own) {
            this.index.set(key, this.keys.length);
            this.keys.push(key);
            return this;
        }
        let to = this.next.get(key);
        if (to === undefined) {
            const own = this.keys.length >= MAX_SHARED_KEYS || this.next.size >= MAX_BRANCHES;
            to = new Shape([...this.keys, key], own);
            if (!own) this.next.set(key, to);
        }
        return to;
    }
    /** A shape that a second object may use: itself, or a copy where it belongs to one object. */
    shared(): Shape {
        return this.own ? new Shape([...this.keys], true) : this;
    }
}
const MAX_SHARED_KEYS = 48;
const MAX_BRANCHES = 64;

export class Obj {
    shape: Shape;
    slots: Value[];
    /** Label set of what chose its keys (V3): 0 where they are the program's own, or covered by the label of the reference. */
    keyLabel: number;
    /** Label set of the whole (V9). */
    label: number;
    gen: number;
    id: number;
    mark: number;
    owner: Owner;
    constructor(shape: Shape, slots: Value[], heap: Heap) {
        this.shape = shape;
        this.slots = slots;
        this.keyLabel = 0;
        this.label = 0;
        this.gen = heap.gen;
        this.id = 0;
        this.mark = 0;
        this.owner = heap.owner;
        heap.room -= THING + slots.length;
        if (heap.room < 0) heap.full();
    }
    /** Own value of a key, `undefined` where there is none. */
    get(key: string): Value | undefined {
        const slot = this.shape.index.get(key);
        return slot === undefined ? undefined : this.slots[slot];
    }
    has(key: string): boolean {
        return this.shape.index.has(key);
    }
}

export const CAPABILITY_KINDS = ["tool", "llm", "agent", "memory", "func", "skill"] as const;
export type CapabilityKind = (typeof CAPABILITY_KINDS)[number];

/** A name to be bound again, never the thing itself. `file` is the index of the program's file whose import (or declaration) it is. */
export class Capability {
    readonly kind: CapabilityKind;
    readonly file: number;
    readonly name: string;
    /** For a function of an agent: the agent's name. */
    readonly agent: string | null;
    /** What it was given with; null where the run's own principal made it, who may use it as its clauses say. */
    readonly right: Right | null;
    private known: string | null = null;
    constructor(kind: CapabilityKind, file: number, name: string, agent: string | null = null, right: Right | null = null) {
        this.kind = kind;
        this.file = file;
        this.name = name;
        this.agent = agent;
        this.right = right;
    }
    /** Where it is declared, as one text: made once, since each decision about it looks by that. */
    get place(): string {
        this.known ??= `${this.file}/${this.name}`;
        return this.known;
    }
    /** The same thing, given with another right. */
    with(right: Right | null): Capability {
        return new Capability(this.kind, this.file, this.name, this.agent, right);
    }
}

/** A fiber as the heap sees it: who may write what it made. */
export interface Owner {
    readonly parent: Owner | null;
}

/** What to put back when a stretch of closures is given up. `items` (`slots`) is null where the object only grew. */
export type UndoEntry =
    | { readonly list: List; readonly gen: number; readonly length: number; readonly label: number; readonly items: Value[] | null }
    | {
          readonly obj: Obj;
          readonly gen: number;
          readonly shape: Shape;
          readonly keys: number;
          readonly keyLabel: number;
          readonly label: number;
          readonly slots: Value[] | null;
      };

/** How an object with an id changed since the last save: from `at` on it grew; `whole`: something before `at` was overwritten. */
export interface Change {
    readonly at: number;
    whole: boolean;
}

function asItIs(obj: Obj, slots: Value[] | null): UndoEntry {
    return { obj, gen: obj.gen, shape: obj.shape, keys: obj.shape.keys.length, keyLabel: obj.keyLabel, label: obj.label, slots };
}

/** What a walk meets by looking into a list or object, besides what its items carry (V3, V9). */
export function heldIn(labels: Labels, o: List | Obj): number {
    return o instanceof List ? o.label : labels.union(o.keyLabel, o.label);
}

/** No list holds more items; see LANGUAGE 9 on what bounds a run. */
export const MAX_ITEMS = 10_000_000;
/** No string is longer, in UTF-16 units. */
export const MAX_STRING = 64 * 1024 * 1024;

const nothing = (): void => undefined;

// Read for every list and object that is made: as numbers they cost nothing.
const THING = 8;
const CELL = 4;

/** About how much memory things take, in units of `unit` bytes: a list or object without its cells, a label. A cell that is added takes `CELL`. */
export const ROOM = { unit: 16, thing: THING, label: 3 } as const;

/** A bound in bytes, in units of `ROOM`. */
export const roomOf = (bytes: number): number => Math.min(2 ** 30 - 1, Math.ceil(bytes / ROOM.unit));

/**
 * The write barrier's state. `gen` is raised at every save, at the start of every stretch of closures and at every change of fiber, so
 * that the first write to an older object after it passes `touch` once. An object's `gen` is `gen` once it may be overwritten freely and
 * `-gen` once it may only grow freely: growing logs a length, overwriting a copy.
 */
export class Heap {
    gen = 1;
    owner: Owner;
    /** Objects with an id that changed since the last save. */
    readonly dirty = new Map<List | Obj, Change>();
    /** Set while a stretch of closures may have to be undone. */
    undo: UndoEntry[] | null = null;
    readonly root = new Shape([], false);

    /** Units of `ROOM` that may be made before what is held has to be measured. */
    room = 2 ** 30 - 1;
    /** Measurements so far. */
    marks = 0;
    /** Told when there is less than no room, which may throw: nothing has changed then. */
    readonly full: () => void;
    /** Told of items that are copied before they are overwritten, which may throw: nothing has changed then. */
    private readonly copying: (items: number) => void;

    constructor(owner: Owner = { parent: null }, copying: (items: number) => void = nothing, full: () => void = nothing) {
        this.owner = owner;
        this.full = full;
        this.copying = copying;
    }

    /** Room for something that is about to be made. */
    take(units: number): void {
        this.room -= units;
        if (this.room < 0) this.full();
    }

    list(items: Value[]): List {
        return new List(items, this);
    }

    /** An object from pairs; a later pair of the same key wins. */
    object(pairs: Iterable<readonly [string, Value]>): Obj {
        const made = new Obj(this.root, [], this);
        for (const [key, value] of pairs) this.set(made, key, value);
        return made;
    }

    set(obj: Obj, key: string, value: Value): void {
        const slot = obj.shape.index.get(key);
        if (slot !== undefined) {
            if (obj.gen !== this.gen) this.touch(obj);
            obj.slots[slot] = value;
        } else {
            this.room -= CELL;
            if (this.room < 0) this.full();
            if (obj.gen !== this.gen && obj.gen !== -this.gen) this.touchGrowth(obj);
            obj.shape = obj.shape.with(key);
            obj.slots.push(value);
        }
    }

    /** Writes a key that data chose: `keyLabel` is the object's from here on (V3). */
    setChosen(obj: Obj, key: string, value: Value, keyLabel: number): void {
        this.set(obj, key, value);
        // What was before is in the log that `set` wrote.
        obj.keyLabel = keyLabel;
    }

    push(list: List, value: Value): void {
        this.room -= CELL;
        if (this.room < 0) this.full();
        if (list.gen !== this.gen && list.gen !== -this.gen) this.touchGrowth(list);
        if (list.items.length >= MAX_ITEMS) throw new Fail("limit.bytes", `a list may hold ${MAX_ITEMS} items`, { here: true });
        list.items.push(value);
    }

    setItem(list: List, index: number, value: Value): void {
        if (list.gen !== this.gen) this.touch(list);
        list.items[index] = value;
    }

    /** Gives the whole a label set in place of its own (V9). Nothing happens to what the present fiber may not change. */
    relabel(o: List | Obj, label: number): void {
        if (o.gen !== this.gen && o.gen !== -this.gen) {
            if (!this.mayChange(o)) return;
            this.touchGrowth(o);
        }
        o.label = label;
    }

    /** Only what made an object, or waits for what made it, may change it. */
    mayChange(o: List | Obj): boolean {
        let owner: Owner | null = o.owner;
        while (owner !== null && owner !== this.owner) owner = owner.parent;
        return owner !== null;
    }

    /** Before something that `o` already holds is overwritten, once in a generation: may it be, and what was it. */
    touch(o: List | Obj): void {
        this.permit(o);
        if (this.undo !== null) {
            this.copying(o instanceof List ? o.items.length : o.slots.length);
            if (o instanceof List) this.undo.push({ list: o, gen: o.gen, length: o.items.length, label: o.label, items: o.items.slice() });
            else this.undo.push(asItIs(o, o.slots.slice()));
        }
        if (o.id !== 0) {
            const change = this.dirty.get(o);
            if (change !== undefined) change.whole = true;
            else this.dirty.set(o, { at: 0, whole: true });
        }
        o.gen = this.gen;
    }

    /** Before `o` grows for the first time in a generation. */
    touchGrowth(o: List | Obj): void {
        this.permit(o);
        const at = o instanceof List ? o.items.length : o.slots.length;
        if (this.undo !== null) {
            if (o instanceof List) this.undo.push({ list: o, gen: o.gen, length: at, label: o.label, items: null });
            else this.undo.push(asItIs(o, null));
        }
        if (o.id !== 0 && !this.dirty.has(o)) this.dirty.set(o, { at, whole: false });
        o.gen = -this.gen;
    }

    private permit(o: List | Obj): void {
        if (!this.mayChange(o))
            throw new Fail("value", "a parallel for changed something that its iterations share", {
                hint: "return the value from the iteration and collect the results after the parallel for",
            });
    }

    /** Puts back everything that was written since `undo` was set. */
    rollBack(): void {
        const log = this.undo ?? [];
        for (let i = log.length - 1; i >= 0; i--) {
            const entry = log[i] as UndoEntry;
            if ("list" in entry) {
                if (entry.items !== null) entry.list.items = entry.items;
                else entry.list.items.length = entry.length;
                entry.list.label = entry.label;
                entry.list.gen = entry.gen;
            } else {
                const { obj, shape, keys } = entry;
                if (entry.slots !== null) obj.slots = entry.slots;
                else obj.slots.length = keys;
                if (shape.own) for (const key of shape.keys.splice(keys)) shape.index.delete(key);
                obj.shape = shape;
                obj.keyLabel = entry.keyLabel;
                obj.label = entry.label;
                obj.gen = entry.gen;
            }
        }
        this.undo = null;
    }
}
