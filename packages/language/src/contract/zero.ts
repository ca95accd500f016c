/**
 * The zero value of a contract: what a mock model answers.
 *
 * AgentScript's: "" for string, 0 for number, true for boolean, [] for a list, {} for json; an object has the zeros of its fields.
 * Besides: a default is the default, an optional field is absent, `T?` is none, a literal is itself, of a union the first member that has a
 * zero.
 *
 * ZE1: the zero value holds its contract.
 */
import type { Contract, Json, Shapes } from "./contract.ts";
import { copyJson, setOwn, shapeOf } from "./open.ts";

/** What stands where the contract leaves the value open, and whether a field with a default is there. */
export interface Blanks {
    readonly string: Json;
    readonly number: number;
    readonly json: Json;
    readonly defaults: boolean;
}

const ZERO: Blanks = { string: "", number: 0, json: {}, defaults: true };

/** Undefined where no value can hold the contract: an unknown shape, or one that requires a value of itself. */
export function zeroValue(contract: Contract, shapes: Shapes, blanks = ZERO): Json | undefined {
    const open = new Set<string>();
    const known = new Map<string, Json>();
    let left = MAX_VISITS;
    const zero = (c: Contract, depth: number): Json | undefined => {
        if (depth > MAX_DEPTH || --left < 0) return undefined;
        switch (c.type) {
            case "string":
                return blanks.string;
            case "number":
                return blanks.number;
            case "boolean":
                return true;
            case "json":
                return copyJson(blanks.json);
            case "none":
            case "optional":
                return null;
            case "list":
                return [];
            case "literal":
                return c.value;
            case "union":
                for (const member of c.of) {
                    const found = zero(member, depth + 1);
                    if (found !== undefined) return found;
                }
                return undefined;
            case "object": {
                const out: { [key: string]: Json } = {};
                for (const field of c.fields) {
                    if (field.default !== undefined) {
                        if (blanks.defaults) setOwn(out, field.name, copyJson(field.default));
                    } else if (field.optional !== true) {
                        const found = zero(field.contract, depth + 1);
                        if (found === undefined) return undefined;
                        setOwn(out, field.name, found);
                    }
                }
                return out;
            }
            case "ref": {
                const done = known.get(c.name);
                if (done !== undefined) return copyJson(done);
                const shape = shapeOf(c.name, shapes);
                if (shape === undefined || open.has(c.name)) return undefined;
                open.add(c.name);
                const found = zero(shape, depth + 1);
                open.delete(c.name);
                if (found !== undefined) known.set(c.name, found);
                return found;
            }
        }
    };
    return zero(contract, 0);
}

const MAX_VISITS = 100_000;
const MAX_DEPTH = 300;
