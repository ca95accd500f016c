/** A plan as a flowchart in Mermaid's language. */
import type { Plan, PlanNode } from "@remit/machine";
import { plainLine } from "../io.ts";
import { argsOf } from "../plan-labels.ts";

export function mermaidOf(plan: Plan): string {
    const ids = new Map(plan.nodes.map((node, i) => [node.id, `n${i}`]));
    const label = (node: PlanNode): string =>
        [plainLine(node.id), argsOf(node)]
            .filter((part) => part !== "")
            .join(" ")
            .replaceAll('"', "#quot;");
    return [
        "flowchart LR",
        ...plan.nodes.map((node) => `    ${ids.get(node.id)}["${label(node)}"]`),
        ...plan.nodes.flatMap((node) => node.requires.map((id) => `    ${ids.get(id)} --> ${ids.get(node.id)}`)),
    ].join("\n");
}
