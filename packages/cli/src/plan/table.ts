/** A plan as a table for a terminal: nodes, arguments, what each waits for, and its place. */
import type { Plan } from "@remit/machine";
import { paint, plainLine, table } from "../io.ts";
import { argsOf, placeOf, titleOf } from "../plan-labels.ts";

export function tableOf(plan: Plan): string {
    const rows = plan.nodes.map((node) => [
        `  ${plainLine(node.id)}`,
        argsOf(node),
        node.requires.length === 0 ? "" : plainLine(`after ${node.requires.join(", ")}${node.join === "list" ? " (as one list)" : ""}`),
        placeOf(node),
    ]);
    const [head = "", ...lines] = table(rows, ["  NODE", "ARGUMENTS", "WAITS FOR", "PLACE"]).split("\n");
    const colour = paint(process.stdout);
    const nested = plan.nodes.flatMap((node) => (node.plan === undefined ? [] : [`\n${plainLine(node.id)}: ${tableOf(node.plan)}`]));
    return [`${colour("bold", titleOf(plan))}, gives ${plainLine(plan.results.join(", "))}`, colour("dim", head), ...lines, ...nested].join(
        "\n",
    );
}
