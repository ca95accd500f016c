/**
 * Contracts at calls: arguments and results of functions that declare them.
 *
 * Boundary: a value that holds its contract is passed on as it is, so references stay references; only one that does not is turned into
 * JSON and shown to the contract module, which fills in defaults or says what is wrong.
 *
 * COT3: in a value with defaults filled in, what was there keeps its own labels where they were; a default has those of what was found absent.
 */

import { isObject, type Contract, checkValue, type Json, type Shapes, type Site } from "@remit/language";
import { copyOf } from "../builtin/canonical.ts";
import { Fail } from "../effect/failure.ts";
import { located } from "../value/access.ts";
import { fromJson, toJson } from "../value/json.ts";
import { deepLabels, join, labelOf, rawOf } from "../value/operators.ts";
import { Capability, Labelled, List, Obj, type Value } from "../value/value.ts";
import { WORK } from "../value/work.ts";
import type { RunState, Slots } from "./code.ts";
import type { Fn } from "./program.ts";

/** Checks the arguments that stand in the first slots of `g`. */
export function checkArguments(m: RunState, fn: Fn, g: Slots, at: Site | null): void {
    if (!fn.checksParams) return;
    const { params } = fn.form;
    for (let i = 0; i < params.length; i++) {
        const p = params[i] as (typeof params)[number];
        if (p.contract !== undefined) g[i + 1] = hold(m, fn, g[i + 1] as Value, p, at);
    }
}

export function checkResult(m: RunState, fn: Fn, value: Value, at: Site | null): Value {
    return fn.form.result === undefined ? value : hold(m, fn, value, null, at);
}

/** `param`: null for the result. */
function hold(m: RunState, fn: Fn, value: Value, param: Fn["form"]["params"][number] | null, at: Site | null): Value {
    const contract = (param === null ? fn.form.result : param.contract) as Contract;
    const shapes = fn.program.shapesOf(fn.file);
    m.fresh();
    if (holds(m, value, contract, shapes, 0)) {
        if (fn.program.reach.travels) deepLabels(m, rawOf(value), at);
        return value;
    }
    let json: ReturnType<typeof toJson>;
    try {
        json = toJson(value, m);
    } catch (error) {
        throw located(error, at);
    }
    m.work(json.size >>> 4);
    const what = param === null ? `result of ${fn.name}` : `argument '${param.name}' of ${fn.name}`;
    const checked = checkValue(contract, json.json, shapes, { what, internal: true });
    if (checked.ok) return filled(m, value, checked.value, contract, shapes);
    throw new Fail("contract", checked.message, { site: at, labels: json.labels });
}

/** A copy of `value` with what the check filled in or left out; `json` is its result. */
function filled(m: RunState, value: Value, json: Json, contract: Contract, shapes: Shapes): Value {
    if (value instanceof Labelled) return join(m, filled(m, value.v, json, contract, shapes), value.l);
    if (value === null || typeof value !== "object") return value === json ? value : fromJson(json, m.heap);
    switch (contract.type) {
        case "optional":
            return filled(m, value, json, contract.of, shapes);
        case "ref":
            return filled(m, value, json, shapes[contract.name] as Contract, shapes);
        case "list": {
            if (!(value instanceof List) || !Array.isArray(json) || contract.item === undefined) break;
            const { item } = contract;
            const made = m.heap.list(value.items.map((v, i) => filled(m, v, json[i] as Json, item, shapes)));
            made.label = value.label;
            return made;
        }
        case "object": {
            if (!(value instanceof Obj) || !isObject(json)) break;
            const fields = new Map(contract.fields.map((field) => [field.name, field.contract]));
            const made = m.heap.object([]);
            made.keyLabel = value.keyLabel;
            made.label = value.label;
            for (const key of new Set([...value.shape.keys, ...Object.keys(json)])) {
                const after = json[key];
                const own = value.get(key);
                const of = fields.get(key);
                if (!Object.hasOwn(json, key) || after === undefined) {
                    // It held none where it may be absent: which keys there are came from there.
                    made.keyLabel = m.labels.union(made.keyLabel, own === undefined ? 0 : labelOf(own));
                    continue;
                }
                if (own === undefined) m.heap.set(made, key, join(m, fromJson(after, m.heap), value.keyLabel));
                else m.heap.set(made, key, filled(m, own, after, of ?? ANYTHING, shapes));
            }
            return made;
        }
        case "union":
            // What decided between its members may be anywhere in the value.
            return join(m, fromJson(json, m.heap), deepLabels(m, value, null));
    }
    return copyOf(value, m);
}

const ANYTHING: Contract = { type: "json" };

const MAX_DEPTH = 200;

/** True where the value holds the contract with nothing to fill in. Wrong in one direction only: a false is looked at again. */
function holds(m: RunState, value: Value, contract: Contract, shapes: Shapes, depth: number): boolean {
    const v = rawOf(value);
    switch (contract.type) {
        case "string":
        case "boolean":
            return typeof v === contract.type;
        case "number":
            return typeof v === "number" && Number.isFinite(v);
        case "none":
            return v === null;
        case "json":
            return !(v instanceof Capability);
        case "literal":
            return v === contract.value;
        case "optional":
            return v === null || holds(m, v, contract.of, shapes, depth);
        case "union":
            return contract.of.some((of) => holds(m, v, of, shapes, depth));
        case "list":
            if (!(v instanceof List)) return false;
            if (contract.item === undefined) return true;
            if (depth > MAX_DEPTH) return false;
            m.work(v.items.length);
            for (const item of v.items) if (!holds(m, item, contract.item, shapes, depth + 1)) return false;
            return true;
        case "object":
            if (!(v instanceof Obj) || depth > MAX_DEPTH) return false;
            m.work(WORK.values(contract.fields.length));
            for (const field of contract.fields) {
                const own = v.get(field.name);
                if (own === undefined) {
                    if (field.optional !== true || field.default !== undefined) return false;
                } else if (field.optional === true && field.default === undefined && rawOf(own) === null) {
                    // A field that may be absent and holds none counts as absent.
                } else if (!holds(m, own, field.contract, shapes, depth + 1)) return false;
            }
            return true;
        case "ref": {
            const shape = Object.hasOwn(shapes, contract.name) ? shapes[contract.name] : undefined;
            return shape !== undefined && depth <= MAX_DEPTH && holds(m, v, shape, shapes, depth + 1);
        }
    }
}
