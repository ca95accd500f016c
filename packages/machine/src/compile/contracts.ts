/**
 * Contracts at calls: arguments and results of functions that declare them.
 *
 * Boundary: a value that holds its contract is passed on as it is, so references stay references; only one that does not is turned into
 * JSON and shown to the contract module, which fills in defaults or says what is wrong.
 */
import { type Contract, checkValue, type Shapes, type Site } from "@remit/language";
import { WORK } from "../builtin/builtin.ts";
import { Fail } from "../failure.ts";
import { located } from "../value/access.ts";
import { fromJson, toJson } from "../value/json.ts";
import { deepLabels, join, rawOf } from "../value/operators.ts";
import { Capability, List, Obj, type Value } from "../value/value.ts";
import type { RunState, Slots } from "./code.ts";
import type { Fn } from "./program.ts";

/** Checks the arguments that stand in the first slots of `g`. */
export function checkArguments(m: RunState, fn: Fn, g: Slots, at: Site | null): void {
    if (!fn.checksParams) return;
    const { params } = fn.form;
    for (let i = 0; i < params.length; i++) {
        const p = params[i] as (typeof params)[number];
        if (p.contract !== undefined) g[i + 1] = hold(m, fn, g[i + 1] as Value, p.contract, `argument '${p.name}' of ${fn.name}`, at);
    }
}

export function checkResult(m: RunState, fn: Fn, value: Value, at: Site | null): Value {
    const { result } = fn.form;
    return result === undefined ? value : hold(m, fn, value, result, `result of ${fn.name}`, at);
}

function hold(m: RunState, fn: Fn, value: Value, contract: Contract, what: string, at: Site | null): Value {
    const shapes = fn.program.shapesOf(fn.file);
    m.fresh();
    if (holds(m, value, contract, shapes, 0)) {
        if (fn.program.reach.travels) deepLabels(m, rawOf(value), at);
        return value;
    }
    let json: ReturnType<typeof toJson>;
    try {
        json = toJson(value, m.labels);
    } catch (error) {
        throw located(error, at);
    }
    m.work(json.size >>> 4);
    const checked = checkValue(contract, json.json, shapes, { what, internal: true });
    if (checked.ok) return join(m, fromJson(checked.value, m.heap), json.labels);
    throw new Fail("contract", checked.message, { site: at, labels: json.labels });
}

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
