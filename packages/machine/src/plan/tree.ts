/**
 * A plan as its source has it: stages one after another, and fan-outs of branches among them.
 *
 * Boundary: made of the branches that the nodes name. What waits for what is the plan's.
 *
 * PTR1: nodes and branches stand in the order of the source.
 */
import type { PlanNode } from "./plan.ts";

export type PlanItem = { readonly node: PlanNode } | { readonly branches: readonly PlanRow[] };
export type PlanRow = readonly PlanItem[];

export function planTree(nodes: readonly PlanNode[]): PlanRow {
    return rowOf(nodes, 0);
}

/** `depth`: how many numbers of the branches are those of the rows around this one. */
function rowOf(nodes: readonly PlanNode[], depth: number): PlanRow {
    const row: PlanItem[] = [];
    for (let at = 0; at < nodes.length; ) {
        const node = nodes[at] as PlanNode;
        const fan = node.branch?.[depth];
        if (fan === undefined) {
            row.push({ node });
            at++;
            continue;
        }
        const end = upTo(nodes, at, (one) => one.branch?.[depth] === fan);
        const branches: PlanRow[] = [];
        while (at < end) {
            const branch = nodes[at]?.branch?.[depth + 1];
            const next = Math.min(
                end,
                upTo(nodes, at, (one) => one.branch?.[depth + 1] === branch),
            );
            branches.push(rowOf(nodes.slice(at, next), depth + 2));
            at = next;
        }
        row.push({ branches });
    }
    return row;
}

function upTo(nodes: readonly PlanNode[], from: number, belongs: (node: PlanNode) => boolean): number {
    let end = from;
    while (end < nodes.length && belongs(nodes[end] as PlanNode)) end++;
    return end;
}
