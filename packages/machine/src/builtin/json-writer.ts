/**
 * Values as JSON text, for `json.text` and for prompts: on one line or indented, keys in order of insertion.
 *
 * Boundary: from `Value` to text. How long it may become is the caller's.
 *
 * JW1: a capability, a cycle or a nesting beyond `MAX_DEPTH` is a failure, never text.
 */
import { Fail } from "../effect/failure.ts";
import { capabilityIsNotData, MAX_DEPTH } from "../value/json.ts";
import { Capability, heldIn, Labelled, List, type Obj, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import type { Runtime } from "./builtin.ts";
import { GrowingText, scalarText } from "./growing.ts";

export class JsonWriter {
    /** Labels of what was written. */
    met = 0;
    private readonly rt: Runtime;
    private readonly indent: string;
    private readonly above = new Set<List | Obj>();
    private readonly out: GrowingText;

    /** `grown`: told of all units so far, and throws where they are too many. */
    constructor(rt: Runtime, indent: number, grown: (units: number, met: number) => void) {
        this.rt = rt;
        this.indent = " ".repeat(indent);
        this.out = new GrowingText(rt, (units) => grown(units, this.met));
    }

    put(text: string): void {
        this.out.put(text);
    }

    /** What was written since the last time. */
    take(): string {
        return this.out.take();
    }

    enter(container: List | Obj, depth: number): void {
        if (this.above.has(container)) throw new Fail("value", "this value contains itself", { labels: this.met });
        if (depth > MAX_DEPTH) throw new Fail("value", `this value is nested more than ${MAX_DEPTH} deep`, { labels: this.met });
        this.above.add(container);
    }

    /** `line`: what begins a line of what holds the value; empty where all stands on one line. */
    write(value: Value, line: string, depth: number): void {
        const { rt } = this;
        const raw = value instanceof Labelled ? value.v : value;
        if (value instanceof Labelled) this.met = rt.labels.union(this.met, value.l);
        if (raw === null || typeof raw !== "object") {
            this.put(scalarText(raw));
            return;
        }
        if (raw instanceof Capability) throw capabilityIsNotData(raw, this.met);
        this.enter(raw, depth);
        rt.work(WORK.values(2));
        this.met = rt.labels.union(this.met, heldIn(rt.labels, raw));
        const inner = line === "" ? "" : `${line}${this.indent}`;
        const colon = line === "" ? ":" : ": ";
        const [open, close] = raw instanceof List ? "[]" : "{}";
        const held = raw instanceof List ? raw.items : raw.slots;
        for (let at = 0; at < held.length; at++) {
            const key = raw instanceof List ? "" : `${JSON.stringify(raw.shape.keys[at])}${colon}`;
            this.put(`${at === 0 ? open : ","}${inner}${key}`);
            this.write(held[at] as Value, inner, depth + 1);
        }
        this.put(held.length === 0 ? `${open}${close}` : `${line}${close}`);
        this.above.delete(raw);
    }
}
