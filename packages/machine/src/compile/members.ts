/**
 * Reading members: own keys first, then built-in properties, then the failure.
 *
 * The one-entry cache of an object's shape belongs to the code, not to a run: a shape that another run made simply does not match.
 */
import { type Site, withArticle } from "@remit/language";
import { type Builtin, findBuiltin } from "../builtin/table.ts";
import { Fail } from "../effect/failure.ts";
import { located, unknownProperty } from "../value/access.ts";
import { aNameOf, join } from "../value/operators.ts";
import { Capability, Labelled, List, Obj, type Raw, type Shape, type Value } from "../value/value.ts";
import { type Code, codeOf, type Operand, type Slots } from "./code.ts";
import { placeOf, seen } from "./loose.ts";

/** Rows of the built-in table that have a name, by what they are on. */
export interface Rows {
    readonly string: Builtin | undefined;
    readonly list: Builtin | undefined;
    readonly object: Builtin | undefined;
    readonly number: Builtin | undefined;
}

export function rowsOf(name: string): Rows {
    return {
        string: findBuiltin("string", name),
        list: findBuiltin("list", name),
        object: findBuiltin("object", name),
        number: findBuiltin("number", name),
    };
}

export function rowFor(rows: Rows, self: Raw): Builtin | undefined {
    if (typeof self === "string") return rows.string;
    if (typeof self === "number") return rows.number;
    if (self instanceof List) return rows.list;
    if (self instanceof Obj) return rows.object;
    return undefined;
}

/** Where a member is read in the loose form of strict code. */
export interface Loose {
    readonly flow: number;
    readonly inner: boolean;
}

export function memberCode(o: Operand, name: string, safe: boolean, at: Site | null, loose: Loose | null = null): Code {
    const read = propertyCode(name, safe, at);
    const isLength = name === "length" && rowsOf(name).list?.property === true;
    let shape: Shape | null = null;
    let slot = 0;
    const slow = (f: Slots, object: Value): Value => {
        if (object instanceof Obj && !object.shape.own) {
            const found = object.shape.index.get(name);
            if (found !== undefined) {
                shape = object.shape;
                slot = found;
            }
        }
        return read(f, object);
    };
    if (loose !== null) {
        const { flow, inner } = loose;
        const code = codeOf(o);
        const from = o.kind === "s" ? o.slot : 0;
        return (f) => {
            const object = from === 0 ? code(f) : (f[from] as Value);
            if (object instanceof Obj && object.shape === shape) {
                const { label } = object;
                const value = seen(f, flow, object.slots[slot] as Value, inner);
                return label === 0 || (!inner && label === placeOf(f, flow)) ? value : join(f[0], value, label);
            }
            if (isLength && object instanceof List && object.label === 0) return object.items.length;
            if (typeof object === "string") return read(f, object);
            return seen(f, flow, slow(f, seen(f, flow, object, inner)), inner);
        };
    }
    if (o.kind === "s") {
        const from = o.slot;
        return (f) => {
            const object = f[from] as Value;
            if (object instanceof Obj && object.shape === shape) return object.slots[slot] as Value;
            if (isLength && object instanceof List) return object.items.length;
            return slow(f, object);
        };
    }
    const code = codeOf(o);
    return (f) => {
        const object = code(f);
        if (object instanceof Obj && object.shape === shape) return object.slots[slot] as Value;
        if (isLength && object instanceof List) return object.items.length;
        return slow(f, object);
    };
}

export function propertyCode(name: string, safe: boolean, at: Site | null): (f: Slots, object: Value) => Value {
    const rows = rowsOf(name);
    return (f, object) => {
        const m = f[0];
        const l = object instanceof Labelled ? object.l : 0;
        const v = object instanceof Labelled ? object.v : object;
        if (v instanceof Obj) {
            const own = v.get(name);
            if (own !== undefined) return join(m, own, l);
        }
        if (v instanceof Capability)
            throw new Fail("value", `${v.name} is ${withArticle(v.kind)}: '${name}' can only be called`, {
                site: at,
                hint: `write ${v.name}.${name}(…)`,
                labels: l,
            });
        const row = rowFor(rows, v);
        if (row?.property === true && !(v instanceof Obj)) {
            try {
                return row.call(m, v, l, []);
            } catch (error) {
                throw located(error, at);
            }
        }
        const absent = v instanceof Obj ? m.labels.union(l, v.keyLabel) : l;
        if (safe && (v === null || v instanceof Obj)) return absent === 0 ? null : new Labelled(null, absent);
        if (v instanceof Obj) throw unknownProperty(name, v, at, absent);
        throw new Fail("value", `${aNameOf(v)} has no property '${name}'`, {
            site: at,
            labels: l,
        });
    };
}
