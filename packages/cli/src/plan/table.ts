/** A plan as a table: nodes, arguments, what each waits for, and its place; as a list on a terminal that is too narrow for the table. */
import type { Plan } from "@remit/machine";
import { columnsOf, type Paint, paint, plainLine, table } from "../io.ts";
import { argsOf, optionsOf, placeOf, titleOf } from "../plan-labels.ts";

export function tableOf(plan: Plan, colour: Paint = paint(process.stdout), width = columnsOf(process.stdout)): string {
    // Few plans say how a stage runs.
    const said = plan.nodes.map(optionsOf);
    const isSaid = said.some((one) => one !== "");
    const rows = plan.nodes.map((node, i) => [
        `  ${plainLine(node.id)}`,
        argsOf(node),
        ...(isSaid ? [said[i] ?? ""] : []),
        node.requires.length === 0 ? "" : plainLine(`after ${node.requires.join(", ")}${node.join === "list" ? " (as one list)" : ""}`),
        placeOf(node),
    ]);
    const all = table(rows, ["  NODE", "ARGUMENTS", ...(isSaid ? ["WITH"] : []), "WAITS FOR", "PLACE"]).split("\n");
    const isNarrow = width !== undefined && all.some((line) => line.length >= width);
    const [head = "", ...rest] = all;
    const lines = isNarrow ? rows.flatMap(listed) : [colour("dim", head), ...rest];
    const nested = plan.nodes.flatMap((node) =>
        node.plan === undefined ? [] : [`\n${plainLine(node.id)}: ${tableOf(node.plan, colour, width)}`],
    );
    const title = `${colour("bold", titleOf(plan))}, gives ${plainLine(plan.results.join(", "))}`;
    return [title, ...lines, ...nested].join("\n");
}

function listed(row: readonly string[]): string[] {
    return [
        `${row[0]}  ${row.at(-1)}`,
        ...row
            .slice(1, -1)
            .filter((one) => one !== "")
            .map((one) => `    ${one}`),
    ];
}
