/**
 * What compiled code sees of a run: steps, depth, bytes, heap, labels.
 *
 * Boundary: counting. What happens when a slice or a budget ends is decided by the interpreter.
 *
 * SRU1: `steps` is exact at every moment: what a given-up stretch counted is given back.
 * SRU2: inside a stretch of closures the end of the slice throws `BAIL`; between instructions nothing is thrown and the interpreter looks.
 * SRU3: work that is no step uses up the slice alone: a slice that ends by work is the slice that was granted the steps it had taken so far, so
 *     that no count and no event depends on it. A stretch that frames can take over is given up; a single instruction goes on to its end, up to
 *     `MAX_WORK`, and the slice ends with it.
 */
import type { Pattern } from "@remit/language";
import { WORK } from "../value/work.ts";
import { BAIL, type RunState } from "../compile/code.ts";
import type { Instruction } from "../compile/instructions.ts";
import { Fail } from "../effect/failure.ts";
import { DerivedHeap, DerivedLabels } from "../value/derive.ts";
import { Labels } from "../value/label.ts";
import type { Permit } from "../authority/policy.ts";
import { type Capability, Heap, type Owner, ROOM, type Value } from "../value/value.ts";
import type { LetThrough } from "./repeats.ts";

/** Most that one value may take: a string of 64 Mi UTF-16 units. */
const MAX_VALUE_BYTES = 128 * 1024 * 1024;

/** Most that a run may put into requests and events from one outcome to the next. */
const MAX_GIVEN = 1024 ** 3;

/** Most work of one instruction: about a second. */
export const MAX_WORK = 2 ** 25;

/** Most steps of one instruction with a lambda, and most of `ROOM` that it may make: about a second, too. */
export const MAX_STEPS = 2 ** 24;
const MAX_MADE = 2 ** 25;

/** The failure of an instruction that would hold up its host. */
export function tooLong(what: string, limit: number): Fail {
    return new Fail("limit.steps", `one instruction may ${what}`, {
        here: true,
        detail: { meter: "work", limit },
        hint: "do it for fewer items at a time",
    });
}

/** The failure of a run whose data takes more than `units`. */
export function tooMuch(units: number, what: string): Fail {
    const limit = units * ROOM.unit;
    return new Fail("limit.bytes", `${what} may take about ${limit} bytes of memory`, {
        here: true,
        detail: { meter: "memory", limit },
        hint: 'keep less at a time, or raise "memory" in limits',
    });
}

/** Counts at the beginning of a stretch, to be put back where it is given up. */
export interface Mark {
    readonly steps: number;
    readonly left: number;
    readonly work: number;
    readonly bytes: number;
    readonly room: number;
}

export class Run implements RunState {
    readonly heap: Heap;
    readonly labels: Labels;
    /** By number: contents of file imports, and what blocks with a name gave, absent until then. */
    imports: Value[] = [];
    bind(number: number, value: Value): void {
        this.imports[number] = value;
    }

    /** Uses that were let through, by the instruction that made them (`repeats.ts`). */
    readonly letThrough = new Map<Instruction, LetThrough>();
    /** Set by the machine, before anything runs. */
    tracks = false;
    left = 0;
    depth = 0;
    /** Steps granted to the present slice, and steps of the slices before it. */
    granted = 0;
    before = 0;
    bytes = 0;
    given = 0;
    maxBytes: number;
    /** Steps of the slice that the running account does not have; how many beyond the slice it has. */
    private held = 0;
    private beyond = Number.POSITIVE_INFINITY;
    /** Steps beyond the slice that one instruction may take to come to its end. */
    overdraft = 0;
    /** Most memory that the data held may take, in units of `ROOM`. */
    memory: number;
    /** Steps that were taken from the slice so that the interpreter looks at once: memory has to be measured. */
    forced = 0;
    /** Work left in the present slice. */
    workLeft = 0;
    readonly patterns = new Map<string, Pattern>();
    /** `pure`: closures that frames can take over anywhere; `single`: one instruction, which goes on or begins again. */
    stretch: "none" | "pure" | "single" = "none";
    /** Work that was left when the stretch began. */
    private workAtStart = 0;
    /** Steps and room that a stretch of one instruction may not use. */
    private kept = { steps: 0, room: 0 };
    /** Steps that such a stretch had when it began. */
    private most = 0;
    /** Gives capabilities that are named as values their right; null where the run's own principal runs. */
    minter: ((c: Capability) => Capability) | null = null;
    /** `.only(…)` by the running principal; set by the machine. */
    narrower: (c: Capability, layer: readonly Permit[]) => Capability = (c) => c;
    /** Who runs. */
    acting = "user";
    /** Why the last stretch was given up. */
    cause: "slice" | "depth" = "slice";

    constructor(owner: Owner, maxBytes: number, memory: number, labels: Labels = new Labels()) {
        this.labels = labels;
        const isDerived = labels instanceof DerivedLabels;
        this.heap = new (isDerived ? DerivedHeap : Heap)(
            owner,
            (items) => this.work(WORK.items(items)),
            () => this.full(),
        );
        if (isDerived) (this.heap as DerivedHeap).derived = labels;
        this.memory = memory;
        this.heap.room = memory;
        this.maxBytes = maxBytes;
    }

    get steps(): number {
        return this.before + this.granted - this.left;
    }

    /** A new slice: so many steps and so much work. */
    grant(steps: number, work = 0): void {
        this.before = this.steps;
        this.granted = steps;
        this.left = steps;
        this.held = 0;
        this.forced = 0;
        this.workLeft = Math.min(work, MAX_WORK);
    }

    /** Takes the count to be `steps`, with nothing left. */
    settle(steps: number): void {
        this.before = steps;
        this.granted = 0;
        this.left = 0;
        this.held = 0;
    }

    /** Lets the slice go no further than so many steps, for as long as the present account pays. */
    clip(room: number): void {
        this.left += this.held;
        this.granted += this.held;
        this.held = Math.max(0, this.left - room);
        this.left -= this.held;
        this.granted -= this.held;
        this.beyond = room - this.left;
    }

    step(): void {
        if (--this.left < 0) this.over();
    }

    over(): void {
        const beyond = Math.min(this.overdraft, this.beyond, MAX_STEPS - this.most);
        if (this.stretch === "single" && this.left + beyond >= 0) return;
        if (this.stretch !== "none") this.bail("slice");
    }

    work(units: number): void {
        this.workLeft -= units;
        if (this.workLeft < 0) this.tired();
    }

    /** Inside a stretch of one instruction all work is that of the instruction. */
    fresh(): void {
        if (this.stretch === "none") this.workAtStart = this.workLeft;
    }

    private tired(): void {
        if (this.stretch === "pure") this.bail("slice");
        if (this.stretch === "none") this.endSlice();
        if (this.workAtStart - this.workLeft > MAX_WORK) throw tooLong(`look at about ${MAX_WORK * 4} items`, MAX_WORK);
    }

    /** The slice is as long as what was taken of it. */
    private endSlice(): void {
        this.held = 0;
        if (this.left <= 0) return;
        this.granted -= this.left;
        this.left = 0;
    }

    /** There is no room left: what is held has to be measured, between two instructions. */
    private full(): void {
        if (this.stretch === "pure") this.bail("slice");
        if (this.stretch === "none") this.force();
        // One instruction cannot be measured in between: what it makes counts, also what it no longer holds.
        const most = Math.min(this.memory, MAX_MADE);
        if (this.kept.room > 0 || this.heap.room < -most) throw tooMuch(most, "what one instruction makes");
    }

    private force(): void {
        if (this.left < 0) return;
        const taken = this.left + 1;
        this.forced += taken;
        this.granted -= taken;
        this.left -= taken;
    }

    /** Gives back what was taken for a measurement. */
    release(): void {
        this.granted += this.forced;
        this.left += this.forced;
        this.forced = 0;
        if (this.workLeft < 0) this.endSlice();
    }

    private bail(cause: Run["cause"]): never {
        this.cause = cause;
        throw BAIL;
    }

    deep(): never {
        this.bail("depth");
    }

    charge(bytes: number): void {
        this.bytes += bytes;
        if (bytes > MAX_VALUE_BYTES) throw new Fail("limit.bytes", `one value may take ${MAX_VALUE_BYTES} bytes`, { here: true });
        if (this.bytes > this.maxBytes) throw this.tooMuch();
        this.work(bytes >>> 4);
    }

    /** Bytes handed to the host in requests and events. */
    give(bytes: number): void {
        this.given += bytes;
        this.bytes += bytes;
        if (this.given > MAX_GIVEN) {
            this.given -= bytes;
            throw new Fail("limit.bytes", `a run may hand out ${MAX_GIVEN} bytes of data at once`, { here: true });
        }
        if (this.bytes > this.maxBytes) throw this.tooMuch();
        this.work(Math.ceil(bytes / 16));
    }

    /** The failure of the account that holds no more bytes; null where it is the run. Set by the machine. */
    bytesSpent: () => Fail | null = () => null;

    private tooMuch(): Fail {
        const fail = this.bytesSpent();
        if (fail !== null) return fail;
        return new Fail("limit.bytes", `the run may make ${this.maxBytes} bytes of data`, { whole: true });
    }

    replaced: RunState["replaced"] = null;

    narrow(c: Capability, layer: readonly Permit[]): Capability {
        return this.narrower(c, layer);
    }

    /** LANGUAGE 7: closures run as one principal, whose own every violation in them is, and inside every region that bounds them. */
    catches(fail: Fail): boolean {
        return fail.region === null && fail.class !== "violation";
    }

    // ---- stretches ----

    begin(kind: "pure" | "single", depth: number): Mark {
        this.heap.gen++;
        this.heap.undo = [];
        this.depth = depth;
        this.stretch = kind;
        this.workAtStart = this.workLeft;
        if (kind === "single") this.keep(Math.max(0, this.left - MAX_STEPS), Math.max(0, this.heap.room - MAX_MADE));
        this.most = this.left;
        return { steps: this.steps, left: this.left, work: this.workLeft, bytes: this.bytes, room: this.heap.room };
    }

    private keep(steps: number, room: number): void {
        this.left -= steps;
        this.granted -= steps;
        this.heap.room -= room;
        this.kept = { steps, room };
    }

    /** True where a stretch of one instruction had all the steps that one may have. */
    get isAtMost(): boolean {
        return this.most >= MAX_STEPS;
    }

    end(): void {
        this.heap.undo = null;
        this.stretch = "none";
        const { steps, room } = this.kept;
        if (steps > 0 || room > 0) {
            this.keep(-steps, -room);
            this.kept = { steps: 0, room: 0 };
        }
        if (this.workLeft < 0) this.endSlice();
        if (this.heap.room < 0) this.force();
    }

    /** Ends a stretch that was given up: everything is as it was when it began. Gives the steps and work that were in vain. */
    undo(mark: Mark): number {
        this.heap.rollBack();
        const wasted = mark.left - this.left + (mark.work - this.workLeft);
        this.left = mark.left;
        this.workLeft = mark.work;
        this.bytes = mark.bytes;
        this.heap.room = mark.room;
        this.end();
        return wasted;
    }
}
