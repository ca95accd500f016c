/**
 * Origins that clauses name: one that several things of the program give is none that a clause could mean.
 *
 * Boundary: what the text tells; the machine lets none of them in (`sharedOrigins`).
 */
import type { Range } from "../text/source.ts";
import type { Checking } from "./model.ts";
import { fileReporter } from "./remits.ts";
import { keyOf } from "./things.ts";

const ORIGINS = { tool: "tool", llm: "model", memory: "memory", skill: "skill", agent: "agent" } as const;

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
                for (const origin of clause.kind === "clause.arg" ? (clause.from ?? []) : []) {
                    const all = places.get(origin.value) ?? [];
                    const own = all.find((one) => one.file === file.name) ?? all[0];
                    const other = all.find((one) => one.key !== own?.key);
                    if (other === undefined) continue;
                    const message = `'${origin.value}' is what values of several things carry, so that this lets none of them in`;
                    fileReporter(file)("ORIGIN_SHARED", origin.range, message, {
                        related: [{ message: "another thing of that name", file: other.file, range: other.range }],
                    });
                }
}
