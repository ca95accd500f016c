/** A plan as a table for a terminal: nodes, arguments, what each waits for, and its place. */
import type { Plan } from "@remit/machine";
import { type Paint, paint, plainLine, table } from "../io.ts";
import { argsOf, placeOf, titleOf } from "../plan-labels.ts";

export function tableOf(plan: Plan, colour: Paint = paint(process.stdout)): string {
    const rows = plan.nodes.map((node) => [
        `  ${plainLine(node.id)}`,
        argsOf(node),
        node.requires.length === 0 ? "" : plainLine(`after ${node.requires.join(", ")}${node.join === "list" ? " (as one list)" : ""}`),
        placeOf(node),
    ]);
    const [head = "", ...lines] = table(rows, ["  NODE", "ARGUMENTS", "WAITS FOR", "PLACE"]).split("\n");
    const nested = plan.nodes.flatMap((node) =>
        node.plan === undefined ? [] : [`\n${plainLine(node.id)}: ${tableOf(node.plan, colour)}`],
    );
    return [`${colour("bold", titleOf(plan))}, gives ${plainLine(plan.results.join(", "))}`, colour("dim", head), ...lines, ...nested].join(
        "\n",
    );
}
