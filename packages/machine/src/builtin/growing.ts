/**
 * A text that is written in small pieces: each piece and each character is charged while it grows, so that what is exponentially larger as text
 * than in memory ends early.
 *
 * Boundary: pieces and counts. What is written is the caller's.
 */
import { WORK } from "../value/work.ts";
import type { Runtime } from "./builtin.ts";

/** UTF-16 units written between two charges. */
const FLUSH = 4096;

export class GrowingText {
    private readonly rt: Runtime;
    /** Told of all units so far. Throws where they are too many. */
    private readonly grown: (units: number) => void;
    private readonly done: string[] = [];
    private held = "";
    private pieces = 0;
    private total = 0;

    constructor(rt: Runtime, grown: (units: number) => void) {
        this.rt = rt;
        this.grown = grown;
    }

    put(text: string): void {
        this.held += text;
        this.pieces++;
        if (this.held.length > FLUSH) this.flush();
    }

    private flush(): void {
        const units = this.held.length;
        this.total += units;
        this.grown(this.total);
        this.rt.charge(2 * units);
        this.rt.work(2 * this.pieces + WORK.chars(2 * units));
        this.done.push(this.held);
        this.held = "";
        this.pieces = 0;
    }

    /** What was written since the last time. */
    take(): string {
        this.flush();
        return this.done.splice(0).join("");
    }
}

/** A value without parts as JSON. */
export function scalarText(value: null | boolean | number | string): string {
    if (typeof value === "string") return JSON.stringify(value);
    return typeof value === "number" && !Number.isFinite(value) ? "null" : Object.is(value, -0) ? "0" : String(value);
}
