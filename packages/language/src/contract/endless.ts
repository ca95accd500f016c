/**
 * Shapes that no value can hold, because each value of them would have to contain another.
 *
 * Boundary: shapes only; unknown names count as shapes that have values, so that one mistake is told once.
 */
import type { Contract, Shapes } from "./contract.ts";
import { shapeOf } from "./open.ts";

/** Names in the order of the shapes. */
export function endlessShapes(shapes: Shapes): string[] {
    const names = Object.keys(shapes);
    const possible = new Set<string>();
    /** By a name that is not known to have values yet: the shapes to look at again when it is. */
    const waiting = new Map<string, Set<string>>();
    const work = [...names].reverse();
    for (let name = work.pop(); name !== undefined; name = work.pop()) {
        if (possible.has(name)) continue;
        const blockers = blockersOf(shapes[name] as Contract, possible, shapes);
        if (blockers === null) {
            possible.add(name);
            for (const other of waiting.get(name) ?? []) work.push(other);
            waiting.delete(name);
        } else for (const blocker of blockers) waiting.set(blocker, (waiting.get(blocker) ?? new Set()).add(name));
    }
    return names.filter((name) => !possible.has(name));
}

/** Null where a value is known to exist; else names of which one more has to turn out possible before that can change. */
function blockersOf(c: Contract, possible: ReadonlySet<string>, shapes: Shapes): readonly string[] | null {
    switch (c.type) {
        case "ref":
            return possible.has(c.name) || shapeOf(c.name, shapes) === undefined ? null : [c.name];
        case "object":
            for (const field of c.fields) {
                if (field.optional === true || field.default !== undefined) continue;
                const found = blockersOf(field.contract, possible, shapes);
                if (found !== null) return found;
            }
            return null;
        case "union": {
            const all: string[] = [];
            for (const member of c.of) {
                const found = blockersOf(member, possible, shapes);
                if (found === null) return null;
                all.push(...found);
            }
            return all;
        }
        default:
            return null;
    }
}
