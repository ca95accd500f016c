/**
 * What the imports of one thing say of it, held against one another, and which origins that makes trusted.
 *
 * Boundary: clauses at imports, all files together (T6). Remits, and who uses what, are `authority.ts`.
 */
import { declaredKey, keyOf as keyOfThing } from "../authority/thing.ts";
import type { Import, ImportClause } from "../syntax/tree.ts";
import { type Binding, type Checking, type FileScope, reporter } from "../scope/model.ts";

/** What a thing is and where it leads. */
export function keyOf(binding: Binding, file: FileScope): string {
    if (binding.kind === "agent" && binding.agent !== null) return declaredKey("agent", binding.agent.file.name, binding.agent.name);
    return keyOfThing(binding.kind, binding.import?.uri.value ?? binding.name, file.name);
}

/** Whether what comes from an import counts as trusted, or may where its server says so. */
export function trusting({ order }: Checking): (binding: Binding) => boolean {
    // An origin is a name, and a thing is trusted as a whole: every import of either has to say so.
    const all = order.flatMap((file) => [...file.names.values()].map((one) => ({ one, key: `${one.kind} ${keyOf(one, file)}` })));
    const ofName = Map.groupBy(all, ({ one }) => `${one.kind} ${one.name}`);
    const ofKey = Map.groupBy(all, ({ key }) => key);
    return ({ kind, name }) => {
        const keys = new Set(ofName.get(`${kind} ${name}`)?.map(({ key }) => key));
        const imports = [...keys].flatMap((key) => ofKey.get(key)?.map(({ one }) => one) ?? []);
        // What was in a model's prompt counts as what it is, and cannot be told here.
        return kind === "llm" && imports.some(isTrusted) ? true : imports.length > 0 && imports.every(isTrusted);
    };
}

/** Imports of one thing that say different things of it (T6). */
export function checkClauses(checking: Checking): void {
    const things = new Map<
        string,
        { readonly node: Import; readonly file: FileScope; readonly says: ReadonlyMap<string, ImportClause> }[]
    >();
    for (const file of checking.order)
        for (const item of file.tree.items) {
            if (item.kind !== "import" || item.what === "agent") continue;
            const text = (clause: ImportClause): string =>
                file.tree.source.text.slice(clause.range.start, clause.range.end).replace(/\s+/g, "");
            const says = new Map((item.clauses ?? []).map((clause) => [text(clause), clause]));
            const key = keyOfThing(item.what, item.uri.value, file.name);
            things.set(key, [...(things.get(key) ?? []), { node: item, file, says }]);
        }
    for (const imports of things.values())
        for (const { node, file, says } of imports) {
            const others = imports.filter((one) => one.node !== node);
            const report = reporter(file);
            const missing = others.flatMap((one) => [...one.says].flatMap(([text, clause]) => (says.has(text) ? [] : [{ one, clause }])));
            const binding = missing.find(({ clause }) => !loosens(clause));
            if (binding !== undefined)
                report(
                    "CLAUSES_DIFFER",
                    node.uri.range,
                    `what '${binding.one.node.name.text}' says of the same thing binds '${node.name.text}' too`,
                    {
                        related: [{ message: "it is said here", file: binding.one.file.name, range: binding.clause.range }],
                    },
                );
            for (const [text, clause] of says) {
                const other = loosens(clause) ? others.find((one) => !one.says.has(text)) : undefined;
                if (other !== undefined)
                    report(
                        "CLAUSES_DIFFER",
                        clause.range,
                        `this counts only where every import of the same thing says it, and '${other.node.name.text}' does not`,
                        { related: [{ message: "imported here", file: other.file.name, range: other.node.uri.range }] },
                    );
            }
        }
}

function loosens(clause: ImportClause): boolean {
    if (clause.kind === "clause.choice") return clause.any === true;
    return (
        clause.kind === "clause.trusted" || clause.kind === "clause.labels" || (clause.kind === "clause.gate" && clause.gate.text === "may")
    );
}

export function isTrusted(binding: Binding): boolean {
    return binding.import?.clauses?.some((clause) => clause.kind === "clause.trusted" || clause.kind === "clause.labels") === true;
}
