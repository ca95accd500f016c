/** A runtime for tests, values from JSON with labels in them, and built-ins called by name. */
import type { Json } from "@remit/language";
import {
    type BuiltinOn,
    Capability,
    Fail,
    findBuiltin,
    fromJson,
    Heap,
    Labelled,
    Labels,
    type Lambda,
    List,
    Obj,
    type Runtime,
    toJson,
    type Value,
} from "../../src/index.ts";

export interface TestRuntime extends Runtime {
    charged: number;
    steps: number;
    worked: number;
}

export function runtime(limit = Number.POSITIVE_INFINITY): TestRuntime {
    return {
        heap: new Heap(),
        labels: new Labels(),
        charged: 0,
        steps: 0,
        worked: 0,
        patterns: new Map(),
        step() {
            this.steps++;
        },
        work(units) {
            this.worked += units;
        },
        fresh() {
            // Nothing here limits what one built-in does.
        },
        charge(bytes) {
            this.charged += bytes;
            if (this.charged > limit) throw new Fail("limit.bytes", `more than ${limit} bytes`);
        },
    };
}

/** A value with these origins. */
export function labelled(rt: Runtime, value: Value, ...origins: string[]): Value {
    const own = value instanceof Labelled ? value.l : 0;
    const l = rt.labels.union(own, rt.labels.of(origins));
    const raw = value instanceof Labelled ? value.v : value;
    return l === 0 ? raw : new Labelled(raw, l);
}

export function list(rt: Runtime, ...items: Value[]): List {
    return rt.heap.list(items);
}

export function object(rt: Runtime, pairs: Record<string, Value>): Obj {
    return rt.heap.object(Object.entries(pairs));
}

export function lambda(arity: number, call: (...args: Value[]) => Value): Lambda {
    return { arity, call: (args) => call(...args) };
}

export function value(rt: Runtime, json: Json): Value {
    return fromJson(json, rt.heap);
}

export const TOOL = new Capability("tool", 0, "Mail");

/** Kind of receiver of a value, as the machine finds it. */
export function kindOf(v: Value): BuiltinOn {
    const raw = v instanceof Labelled ? v.v : v;
    if (raw instanceof List) return "list";
    if (raw instanceof Obj) return "object";
    return typeof raw as BuiltinOn;
}

export function call(rt: Runtime, self: Value, name: string, ...args: (Value | Lambda)[]): Value {
    const row = findBuiltin(kindOf(self), name);
    if (row === undefined) throw new Error(`no ${name} on ${kindOf(self)}`);
    return self instanceof Labelled ? row.call(rt, self.v, self.l, args) : row.call(rt, self, 0, args);
}

export function callGlobal(rt: Runtime, on: "global" | "json" | "csv" | "time", name: string, ...args: (Value | Lambda)[]): Value {
    const row = findBuiltin(on, name);
    if (row === undefined) throw new Error(`no ${name}`);
    return row.call(rt, null, 0, args);
}

/** The plain JSON of a value. */
export function plain(rt: Runtime, v: Value): Json {
    return JSON.parse(JSON.stringify(toJson(v, rt).json)) as Json;
}

/** Origins on the value itself, not inside it. */
export function own(rt: Runtime, v: Value): readonly string[] {
    return v instanceof Labelled ? rt.labels.origins(v.l) : [];
}

/** All origins in a value. */
export function origins(rt: Runtime, v: Value): readonly string[] {
    return rt.labels.origins(toJson(v, rt).labels);
}

/** What a call throws: the kind and message of its failure. */
export function failure(run: () => unknown): string {
    try {
        run();
    } catch (problem) {
        if (problem instanceof Fail) return `${problem.kind}: ${problem.message}`;
        throw problem;
    }
    return "no failure";
}
