/**
 * What a module's function gave, as JSON.
 *
 * Boundary: nothing is turned into something else in silence: what JSON cannot hold is a failure that names the place in the value. A key whose value
 * is undefined is an absent one, as for JSON and for an optional property of TypeScript.
 */
import type { Json } from "@remit/language";
import { ToolFail } from "./tool.ts";

const MAX_DEPTH = 200;
/** Largest number of values in one result. */
const MAX_NODES = 5_000_000;

/** `name` stands for the whole value in messages: `Yaml.parse`. */
export function plainJson(value: unknown, name: string): Json {
    const open = new Set<object>();
    let nodes = 0;
    const refuse = (what: string, at: string): ToolFail => new ToolFail(`${at} is ${what}, which is not plain JSON`);
    const walk = (one: unknown, at: string, depth: number): Json => {
        if (++nodes > MAX_NODES) throw new ToolFail(`${name} gave more than ${MAX_NODES} values`);
        if (one === null || typeof one === "string" || typeof one === "boolean") return one;
        if (typeof one === "number") {
            if (!Number.isFinite(one)) throw refuse(String(one), at);
            return one;
        }
        if (typeof one !== "object") throw refuse(one === undefined ? "undefined" : `a ${typeof one}`, at);
        if (open.has(one)) throw new ToolFail(`${at} contains itself, which is not plain JSON`);
        if (depth > MAX_DEPTH) throw new ToolFail(`${at} is nested more than ${MAX_DEPTH} deep`);
        const proto: unknown = Object.getPrototypeOf(one);
        if (Array.isArray(one)) {
            open.add(one);
            const list = Array.from(one as unknown[], (item, index) => walk(item, `${at}[${index}]`, depth + 1));
            open.delete(one);
            return list;
        }
        // Also an object of another realm: its prototype is the root of its own chain.
        const plain =
            proto === null ||
            proto === Object.prototype ||
            (Object.getPrototypeOf(proto) === null && Object.hasOwn(proto as object, "isPrototypeOf"));
        if (!plain) throw refuse(`a ${className(one as object)}`, at);
        open.add(one);
        const out: { [key: string]: Json } = Object.create(null);
        for (const [key, part] of Object.entries(one)) if (part !== undefined) out[key] = walk(part, `${at}.${key}`, depth + 1);
        open.delete(one);
        return out;
    };
    return value === undefined ? null : walk(value, name, 0);
}

function className(value: object): string {
    const made: unknown = (value as { constructor?: unknown }).constructor;
    return typeof made === "function" && made.name !== "" ? made.name : "class instance";
}
