/**
 * That a program has one place to begin (`syntax/entry.ts` finds it).
 *
 * Boundary: the entry file's own declarations.
 */
import { fix } from "../text/fix.ts";
import { MAIN_AGENT, shown } from "../syntax/entry.ts";
import type { Agent } from "../syntax/tree.ts";
import { type FileScope, report } from "../scope/model.ts";

export function checkEntry(file: FileScope): void {
    const { agents } = file;
    const mains = agents.filter((one) => one.node.main);
    for (const extra of mains.slice(1))
        report(file, "DUPLICATE_MAIN_AGENT", headOf(extra.node), `'${shown(extra.name)}' is a second main agent`, {
            related: [{ message: "the first one", file: file.name, range: headOf((mains[0] as { node: Agent }).node) }],
        });
    const beside = file.funcs.find((one) => one.agent === null && one.node.main);
    if (agents.length > 0 && beside !== undefined)
        report(
            file,
            "DUPLICATE_MAIN_FUNC",
            beside.node.name?.range ?? { start: beside.node.range.start, end: beside.node.range.start + 4 },
            "a file with agents starts with an agent, not with a main func beside them",
            {
                hint:
                    mains.length === 0
                        ? "put it into an agent that the file starts with: main agent Main { main func … }"
                        : "take the word `main` away",
            },
        );
}

/** For the file that a program starts with. */
export function checkStart(file: FileScope): void {
    // An agent that could not be read may be the one that is missing.
    if (file.broken) return;
    // Then it starts with these.
    if (file.tree.items.some((item) => item.kind === "block")) return;
    const { agents } = file;
    // A main func beside the agents is what is meant, and is told.
    if (!agents.some((one) => one.node.main) && file.funcs.some((one) => one.agent === null && one.node.main)) return;
    const entry = agents.find((one) => one.node.main) ?? (agents.length === 1 ? agents[0] : undefined);
    if (entry === undefined) {
        if (agents.length === 0 && (file.funcs.length > 0 || file.shapes.size > 0)) return;
        const last = agents[agents.length - 1];
        const range = last === undefined ? { start: 0, end: 0 } : headOf(last.node);
        const message =
            agents.length === 0
                ? "the program has nothing to start with"
                : `the program has ${agents.length} agents and none is marked main`;
        const fixes =
            last === undefined ? undefined : [fix(`mark '${shown(last.name)}' as main`, { start: range.start, end: range.start }, "main ")];
        const none = agents.length === 0 ? { hint: "write `main func(input) { … }`, or an agent with one" } : {};
        report(file, "MISSING_MAIN_AGENT", range, message, { ...none, fixes });
        return;
    }
    if (entry.main !== null) return;
    const only = entry.node.funcs.length === 1 ? entry.node.funcs[0] : undefined;
    const fixes =
        only === undefined ? undefined : [fix("mark its only func as main", { start: only.range.start, end: only.range.start }, "main ")];
    report(file, "MISSING_MAIN_FUNC", headOf(entry.node), `agent '${shown(entry.name)}' has no main func`, {
        hint: "mark one func with `main`",
        fixes,
    });
}

/** From `main agent` to the name. */
function headOf(node: Agent): { start: number; end: number } {
    return { start: node.range.start, end: node.name?.range.end ?? Math.min(node.range.end, node.range.start + MAIN_AGENT.length - 2) };
}
