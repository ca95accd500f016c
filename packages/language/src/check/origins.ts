/**
 * Origins that clauses name: one that several things of the program give is none that a clause could mean, nor is one that nothing has.
 *
 * Boundary: what the text tells; the machine lets none of them in (`sharedOrigins`).
 */
import { nearest } from "../diagnostics/nearest.ts";
import type { StringLit } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { type Checking, type FileScope, report } from "../scope/model.ts";
import { meant } from "../scope/model.ts";
import { keyOf } from "./things.ts";

const ORIGINS = { tool: "tool", llm: "model", memory: "memory", skill: "skill", agent: "agent" } as const;

const KINDS: readonly string[] = Object.values(ORIGINS).map((kind) => `${kind}:`);

/** Origins that no import gives. */
const OTHERS: readonly string[] = ["user", "trusted", "unlabelled"];

/** A run may declare origins of its own, and records of a memory keep theirs: what is nearly the name of one that is here is a mistake for certain. */
function checkKnown(file: FileScope, { value, range }: StringLit, places: readonly string[]): void {
    if (file.broken || OTHERS.includes(value)) return;
    const at = value.indexOf(":");
    const kind = value.slice(0, at + 1);
    const names = places.flatMap((one) => (one.startsWith(kind) ? [one.slice(kind.length)] : []));
    const name = at < 0 ? null : nearest(value.slice(at + 1), names);
    // Of a kind that no import has, the kind itself may be what is misspelt.
    const other = name === null && !KINDS.includes(kind) ? nearest(value, at < 0 ? [...OTHERS, ...places] : places) : null;
    const near = name === null ? other : `${kind}${name}`;
    if (near === null) return;
    report(file, "ORIGIN_UNKNOWN", range, `nothing has the origin '${value}'`, meant(near, range, JSON.stringify(near)));
}

/** Clauses that name what several things are called. */
export function checkOrigins(checking: Checking): void {
    const places = new Map<string, { readonly key: string; readonly file: string; readonly range: Range }[]>();
    for (const file of checking.order)
        for (const binding of file.names.values()) {
            const { kind, name, range } = binding;
            if (!Object.hasOwn(ORIGINS, kind)) continue;
            const origin = `${ORIGINS[kind as keyof typeof ORIGINS]}:${name}`;
            places.set(origin, [...(places.get(origin) ?? []), { key: keyOf(binding, file), file: file.name, range }]);
        }
    for (const file of checking.order)
        for (const item of file.tree.items)
            for (const clause of item.kind === "import" ? (item.clauses ?? []) : [])
                for (const origin of clause.kind === "clause.arg" || clause.kind === "clause.choice" ? (clause.from ?? []) : []) {
                    const all = places.get(origin.value) ?? [];
                    if (all.length === 0) checkKnown(file, origin, [...places.keys()]);
                    const own = all.find((one) => one.file === file.name) ?? all[0];
                    const other = all.find((one) => one.key !== own?.key);
                    if (other === undefined) continue;
                    const message = `'${origin.value}' is what values of several things carry, so that this lets none of them in`;
                    report(file, "ORIGIN_SHARED", origin.range, message, {
                        related: [{ message: "another thing of that name", file: other.file, range: other.range }],
                    });
                }
}
