/**
 * The one place where reading asks the contract module whether a value holds.
 */
import type { Contract, Json, Shapes } from "@remit/language";

export type Verified = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

const NUMERIC = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Coerces (unless strict) and checks. */
export function verify(value: Json, contract: Contract, shapes: Shapes, strict: boolean): Verified {
    const at = (path: string): string => (path === "" ? "the answer" : `'${path}'`);
    const go = (v: Json, c: Contract, path: string): Json => {
        switch (c.type) {
            case "json":
                return v;
            case "none":
                if (v === null) return v;
                throw new Misfit(`${at(path)} must be none`);
            case "string":
                if (typeof v === "string") return v;
                throw new Misfit(`${at(path)} must be a string`);
            case "number":
                if (typeof v === "number") return v;
                if (!strict && typeof v === "string" && NUMERIC.test(v)) return Number(v);
                throw new Misfit(`${at(path)} must be a number`);
            case "boolean":
                if (typeof v === "boolean") return v;
                if (!strict && typeof v === "string" && /^(true|false)$/i.test(v.trim())) return v.trim().toLowerCase() === "true";
                throw new Misfit(`${at(path)} must be a boolean`);
            case "literal":
                if (v === c.value) return v;
                throw new Misfit(`${at(path)} must be ${JSON.stringify(c.value)}`);
            case "ref":
                return go(v, shapes[c.name] as Contract, path);
            case "optional":
                return v === null ? v : go(v, c.of, path);
            case "union":
                for (const member of c.of) {
                    try {
                        return go(v, member, path);
                    } catch (e) {
                        if (!(e instanceof Misfit)) throw e;
                    }
                }
                throw new Misfit(`${at(path)} fits none of its kinds`);
            case "list":
                if (!Array.isArray(v)) throw new Misfit(`${at(path)} must be a list`);
                return c.item === undefined ? v : v.map((item, i) => go(item, c.item as Contract, `${path}[${i}]`));
            case "object": {
                if (v === null || typeof v !== "object" || Array.isArray(v)) throw new Misfit(`${at(path)} must be an object`);
                const out: { [k: string]: Json } = {};
                for (const f of c.fields) {
                    if (Object.hasOwn(v, f.name))
                        out[f.name] = go(v[f.name] as Json, f.contract, path === "" ? f.name : `${path}.${f.name}`);
                    else if (f.default !== undefined) out[f.name] = f.default;
                    else if (!f.optional) throw new Misfit(`missing required field '${f.name}'`);
                }
                for (const k of Object.keys(v))
                    if (!c.fields.some((f) => f.name === k)) {
                        if (strict) throw new Misfit(`unexpected field '${k}'`);
                        out[k] = v[k] as Json;
                    }
                return out;
            }
        }
    };
    try {
        return { ok: true, value: go(value, contract, "") };
    } catch (e) {
        if (e instanceof Misfit) return { ok: false, message: e.message };
        throw e;
    }
}
class Misfit {
    readonly message: string;
    constructor(m: string) {
        this.message = m;
    }
}
