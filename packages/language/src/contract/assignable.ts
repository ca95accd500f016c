/**
 * How two contracts relate, for checking before anything runs.
 *
 * Boundary: contracts only. Both directions err on the safe side: `assignable` may be false where it could be true, `disjoint` too.
 */
import type { Contract, Field, Shapes } from "./contract.ts";
import { kindWanted, membersOf, resolve } from "./open.ts";

const MAX_DEPTH = 100;
const MAX_PAIRS = 20_000;
const ANY: Contract = { type: "json" };

type Pairs = Map<Contract, Set<Contract>>;

/** True where every value that holds `from` holds `to`. */
export function assignable(from: Contract, to: Contract, shapes: Shapes): boolean {
    const open: Pairs = new Map();
    let left = MAX_PAIRS;
    const all = (a: Contract, b: Contract, depth: number): boolean => {
        if (a === b || b.type === "json") return true;
        if (depth > MAX_DEPTH || --left < 0) return false;
        // A pair that is being looked at holds unless something else speaks against it.
        if (seen(open, a, b)) return true;
        const targets = membersOf(b, shapes);
        const sources = membersOf(a, shapes);
        const holds = sources.length > 0 && sources.every((source) => toAny(source, targets, depth));
        open.get(a)?.delete(b);
        return holds;
    };
    const toAny = (source: Contract, targets: readonly Contract[], depth: number): boolean => {
        const a = resolve(source, shapes);
        if (a === undefined) return false;
        if (targets.some((target) => one(a, target, depth))) return true;
        return (
            a.type === "boolean" && [true, false].every((value) => targets.some((target) => one({ type: "literal", value }, target, depth)))
        );
    };
    const one = (a: Contract, target: Contract, depth: number): boolean => {
        const b = resolve(target, shapes);
        if (b === undefined) return false;
        if (b.type === "json") return true;
        if (a.type === "literal") return b.type === "literal" ? a.value === b.value : kindWanted(a, shapes) === b.type;
        if (a.type !== b.type) return false;
        if (a.type === "list" && b.type === "list") return all(a.item ?? ANY, b.item ?? ANY, depth + 1);
        if (a.type === "object" && b.type === "object") return b.fields.every((field) => fieldFrom(a.fields, field, depth));
        return true;
    };
    const fieldFrom = (fields: readonly Field[], wanted: Field, depth: number): boolean => {
        const given = fields.find((field) => field.name === wanted.name);
        if (given === undefined) return mayBeAbsent(wanted) && wanted.contract.type === "json";
        // An absent field with a default has been filled in by whoever checked it.
        if (given.optional === true && given.default === undefined && !mayBeAbsent(wanted)) return false;
        return all(given.contract, wanted.contract, depth + 1);
    };
    return all(from, to, 0);
}

/** True where no value holds both. */
export function disjoint(a: Contract, b: Contract, shapes: Shapes): boolean {
    const open: Pairs = new Map();
    let left = MAX_PAIRS;
    const none = (x: Contract, y: Contract, depth: number): boolean => {
        if (x === y || depth > MAX_DEPTH || --left < 0 || seen(open, x, y)) return false;
        return membersOf(x, shapes).every((one) => membersOf(y, shapes).every((other) => apart(one, other, depth)));
    };
    const apart = (x: Contract, y: Contract, depth: number): boolean => {
        const one = resolve(x, shapes);
        const other = resolve(y, shapes);
        if (one === undefined || other === undefined || one.type === "json" || other.type === "json") return false;
        if (one.type === "literal" && other.type === "literal") return one.value !== other.value;
        if (kindWanted(one, shapes) !== kindWanted(other, shapes)) return true;
        if (one.type !== "object" || other.type !== "object") return false;
        return other.fields.some((field) => {
            const same = one.fields.find((candidate) => candidate.name === field.name);
            return same !== undefined && !mayBeAbsent(field) && !mayBeAbsent(same) && none(same.contract, field.contract, depth + 1);
        });
    };
    return none(a, b, 0);
}

function mayBeAbsent(field: Field): boolean {
    return field.optional === true || field.default !== undefined;
}

/** Whether the pair was there before; it is there afterwards. */
function seen(pairs: Pairs, a: Contract, b: Contract): boolean {
    const known = pairs.get(a);
    if (known === undefined) pairs.set(a, new Set([b]));
    else if (known.has(b)) return true;
    else known.add(b);
    return false;
}
