/**
 * The limit of memory: about how much the data takes that a run still holds.
 *
 * Boundary: walks what fibers hold. What is made is counted by the heap (`Heap.room`), which asks for a measurement when it may be too much.
 *
 * Y1: a run is measured between two instructions, right after the one that used up the room, or before a fiber goes on: neither slices nor the
 *     form that code has make a difference, so the failure comes at the same step everywhere.
 * Y2: a list or object counts once, and so does a text, which is then held once: texts that are equal are made the same.
 * Y3: a measurement costs in proportion to what is held, and comes only after an eighth of the limit or more was made since the last one.
 */
import { Labelled, List, type Obj, ROOM, type Value } from "../value/value.ts";
import type { Fiber, Frame } from "../state/fiber.ts";
import { yieldAround, endRegion } from "../state/handlers.ts";
import type { Machine } from "./machine.ts";
import { waitsOf, type Natives } from "../state/ops.ts";
import { tooMuch } from "../state/run.ts";

/** Texts from this length on are looked for among the others. */
const LONG = 128;
/** Most texts that are looked for: more than that many do not fit any limit that is usual. */
const MAX_TEXTS = 10_000_000;

/** Makes room where there is less than nothing left, or fails. Where it is yields that hold most of it, the one that holds most fails (SS7). */
export function measure(m: Machine, running: Fiber): void {
    const { run } = m;
    for (;;) {
        const held = new Holdings(m.natives, run.memory, ++run.heap.marks);
        held.all(run.imports);
        for (const fiber of m.fibers.values()) held.frames(fiber.frames);
        run.work(held.looked);
        if (held.units <= run.memory) {
            run.heap.room = Math.max(run.memory - held.units, run.memory >>> 3);
            return;
        }
        const fail = tooMuch(run.memory, "data of the run at one time");
        const most = yieldAround(m, running) === null ? largestYield(m) : null;
        if (most === null) throw fail;
        endRegion(m, most.fiber, fail.of(most.account));
        m.enter(running);
        m.stand(running, running.top);
    }
}

interface Holder {
    readonly fiber: Fiber;
    readonly account: number;
    readonly answering: (readonly Frame[])[];
}

/** The outermost yield whose answer holds most, where answers hold more than half of what may be held; else null. */
function largestYield(m: Machine): Holder | null {
    const held = new Holdings(m.natives, Number.POSITIVE_INFINITY, ++m.run.heap.marks);
    held.all(m.run.imports);
    const holders = new Map<Fiber, Holder>();
    for (const fiber of m.fibers.values()) {
        let outer: Fiber | null = fiber.parent;
        while (outer !== null && !holders.has(outer)) outer = outer.parent;
        if (outer !== null) {
            holders.get(outer)?.answering.push(fiber.frames);
            continue;
        }
        const at = fiber.frames.findIndex(({ native }) => native !== null && waitsOf(m, native).domain?.(m, native) != null);
        held.frames(at < 0 ? fiber.frames : fiber.frames.slice(0, at + 1));
        const account = at < 0 ? null : yieldAround(m, fiber, at);
        if (account !== null) holders.set(fiber, { fiber, account, answering: [fiber.frames.slice(at + 1)] });
    }
    let most: Holder | null = null;
    let [largest, all] = [0, 0];
    for (const holder of holders.values()) {
        const before = held.units;
        for (const frames of holder.answering) held.frames(frames);
        const units = held.units - before;
        all += units;
        if (units > largest) [most, largest] = [holder, units];
    }
    return all > m.run.memory / 2 ? most : null;
}

const NOTHING: readonly List[] = [];

class Holdings {
    units = 0;
    /** Values looked at. */
    looked = 0;
    private readonly most: number;
    private readonly mark: number;
    readonly natives: Natives;
    private readonly texts = new Map<string, string>();
    private readonly rest: (List | Obj)[] = [];

    constructor(natives: Natives, most: number, mark: number) {
        this.natives = natives;
        this.most = most;
        this.mark = mark;
    }

    frames(frames: readonly Frame[]): void {
        for (const { locals, native } of frames) {
            this.all(locals, 1);
            if (native !== null) this.all(waitsOf(this, native).held?.(native) ?? NOTHING);
        }
    }

    /** Everything in `cells` from `from` on, and in what is in it. Ends early where it is too much. */
    all(cells: unknown[] | readonly Value[], from = 0): void {
        this.cells(cells as Value[], from);
        for (let next = this.rest.pop(); next !== undefined && this.units <= this.most; next = this.rest.pop()) {
            const inside = next instanceof List ? next.items : next.slots;
            this.units += ROOM.thing + inside.length;
            this.cells(inside, 0);
        }
    }

    private cells(cells: Value[], from: number): void {
        this.looked += cells.length;
        for (let at = from; at < cells.length; at++) {
            const cell = cells[at] as Value;
            if (cell === null || typeof cell === "number" || typeof cell === "boolean") continue;
            if (typeof cell === "string") {
                if (cell.length >= LONG) cells[at] = this.text(cell);
                else this.units += 1 + (cell.length >>> 3);
            } else if (cell instanceof Labelled) {
                this.units += ROOM.label;
                const { v } = cell;
                if (typeof v !== "string") this.thing(v);
                else if (v.length < LONG) this.units += 1 + (v.length >>> 3);
                else cells[at] = new Labelled(this.text(v), cell.l);
            } else this.thing(cell);
        }
    }

    private thing(v: Value): void {
        if (!(v !== null && typeof v === "object" && "gen" in v) || v.mark === this.mark) return;
        v.mark = this.mark;
        this.rest.push(v);
    }

    private text(text: string): string {
        const known = this.texts.get(text);
        if (known !== undefined) return known;
        this.units += 1 + (text.length >>> 3);
        if (this.texts.size < MAX_TEXTS) this.texts.set(text, text);
        return text;
    }
}
