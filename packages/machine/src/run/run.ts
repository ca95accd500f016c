/**
 * What compiled code sees of a run: steps, depth, bytes, heap, labels.
 *
 * Boundary: counting. What happens when a slice or a budget ends is decided by the interpreter.
 *
 * R1: `steps` is exact at every moment: what a given-up stretch counted is given back.
 * R2: inside a stretch of closures the end of the slice throws `BAIL`; between instructions nothing is thrown and the interpreter looks.
 */
import { BAIL, type RunState } from "../compile/code.ts";
import { Fail } from "../failure.ts";
import { Labels } from "../value/label.ts";
import type { Permit } from "../authority/policy.ts";
import { type Capability, Heap, type Owner, type Value } from "../value/value.ts";

/** Most that one value may take: a string of 64 Mi UTF-16 units. */
const MAX_VALUE_BYTES = 128 * 1024 * 1024;

/** Most that a run may put into requests and events from one outcome to the next. */
const MAX_GIVEN = 1024 ** 3;

export class Run implements RunState {
    readonly heap: Heap;
    readonly labels = new Labels();
    imports: Value[] = [];
    left = 0;
    depth = 0;
    /** Steps granted to the present slice, and steps of the slices before it. */
    granted = 0;
    before = 0;
    bytes = 0;
    given = 0;
    readonly maxBytes: number;
    stretch = false;
    minter: ((c: Capability) => Capability) | null = null;
    /** `.only(…)` by whoever runs; set by the machine. */
    narrower: (c: Capability, layer: readonly Permit[]) => Capability = (c) => c;
    /** Who runs, and whether that is the run's own principal. */
    isBase = true;
    acting = "user";
    /** Why the last stretch was given up. */
    cause: "steps" | "depth" = "steps";

    constructor(owner: Owner, maxBytes: number) {
        this.heap = new Heap(owner);
        this.maxBytes = maxBytes;
    }

    get steps(): number {
        return this.before + this.granted - this.left;
    }

    /** A new slice. */
    grant(steps: number): void {
        this.before = this.steps;
        this.granted = steps;
        this.left = steps;
    }

    /** Takes the count to be `steps`, with nothing left. */
    settle(steps: number): void {
        this.before = steps;
        this.granted = 0;
        this.left = 0;
    }

    step(): void {
        if (--this.left < 0) this.over();
    }

    over(): void {
        if (!this.stretch) return;
        this.cause = "steps";
        throw BAIL;
    }

    deep(): never {
        this.cause = "depth";
        throw BAIL;
    }

    charge(bytes: number): void {
        this.bytes += bytes;
        if (bytes > MAX_VALUE_BYTES) throw new Fail("limit.bytes", `one value may take ${MAX_VALUE_BYTES} bytes`, { whole: true });
        if (this.bytes > this.maxBytes) throw this.tooMuch();
    }

    /** Bytes handed to the host in requests and events. */
    give(bytes: number): void {
        this.given += bytes;
        this.bytes += bytes;
        if (this.given > MAX_GIVEN) throw new Fail("limit.bytes", `a run may hand out ${MAX_GIVEN} bytes of data at once`, { whole: true });
        if (this.bytes > this.maxBytes) throw this.tooMuch();
    }

    private tooMuch(): Fail {
        return new Fail("limit.bytes", `the run may make ${this.maxBytes} bytes of data`, { whole: true });
    }

    narrow(c: Capability, layer: readonly Permit[]): Capability {
        return this.narrower(c, layer);
    }

    /** LANGUAGE 7: a violation is caught only by the author's own code, never by whoever committed it under a remit. */
    catches(fail: Fail): boolean {
        return fail.class !== "violation" || this.isBase;
    }

    // ---- stretches ----

    begin(depth: number): void {
        this.heap.gen++;
        this.heap.undo = [];
        this.depth = depth;
        this.stretch = true;
    }

    end(): void {
        this.heap.undo = null;
        this.stretch = false;
    }
}
