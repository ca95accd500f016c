/**
 * Whether no value of one contract can hold another.
 *
 * Boundary: what the outermost kinds tell; where it takes more to tell, it may fit.
 */
import type { Contract } from "./contract.ts";

/** `string`, `number`, …; null where any kind may be. */
function kindsOf(contract: Contract): ReadonlySet<string> | null {
    switch (contract.type) {
        case "json":
        case "ref":
            return null;
        case "optional": {
            const kinds = kindsOf(contract.of);
            return kinds === null ? null : new Set([...kinds, "none"]);
        }
        case "union": {
            const all = contract.of.map(kindsOf);
            return all.some((kinds) => kinds === null) ? null : new Set(all.flatMap((kinds) => [...(kinds ?? [])]));
        }
        case "literal":
            return new Set([contract.value === null ? "none" : typeof contract.value]);
        default:
            return new Set([contract.type]);
    }
}

export function neverFits(from: Contract, to: Contract): boolean {
    const [given, wanted] = [kindsOf(from), kindsOf(to)];
    return given !== null && wanted !== null && [...given].every((kind) => !wanted.has(kind));
}
