/** `remit plan`: what the blocks of a program will do, before anything runs: every node, what it waits for, and where it stands. */
import { load } from "@remit/host";
import type { Json } from "@remit/language";
import { compileProgram, type Plan, type PlanNode, plansOf, validatePlan } from "@remit/machine";
import { EXIT, paint, plainLine, print, printJson, say, table, UsageError } from "../io.ts";

export default async function plan(args: string[], options: Record<string, unknown>): Promise<number> {
    if (options["json"] === true && options["mermaid"] === true)
        throw new UsageError("--json and --mermaid are two forms of the plan; use one");
    const file = args[0] as string;
    const program = await load(file);
    try {
        const plans = plansOf(compileProgram(program.form), program.hash);
        if (plans.length === 0) {
            say(`${plainLine(file)} has no block. A block is written \`memory static ( … )\` or \`temporal static ( … )\`.`);
            return EXIT.failed;
        }
        const errors = plans.flatMap((one) => validatePlan(one, () => true));
        for (const { message } of errors) say(plainLine(message));
        if (options["json"] === true) printJson(plans as unknown as Json, true);
        else print(plans.map(options["mermaid"] === true ? mermaidOf : textOf).join("\n\n"));
        return errors.length === 0 ? EXIT.ok : EXIT.failed;
    } finally {
        await program.close();
    }
}

function titleOf({ backend, mode, name }: Plan): string {
    return plainLine(`${backend} ${mode} block${name === undefined ? "" : ` as ${name}`}`);
}

function textOf(plan: Plan): string {
    const rows = plan.nodes.map((node) => [
        `  ${plainLine(node.id)}`,
        plainLine(argsOf(node)),
        node.requires.length === 0 ? "" : plainLine(`after ${node.requires.join(", ")}${node.join === "list" ? " (as one list)" : ""}`),
        node.site === null ? "" : plainLine(`${node.site.file}:${node.site.line}:${node.site.column}`),
    ]);
    const [head = "", ...lines] = table(rows, ["  NODE", "ARGUMENTS", "WAITS FOR", "PLACE"]).split("\n");
    const colour = paint(process.stdout);
    const nested = plan.nodes.flatMap((node) => (node.plan === undefined ? [] : [`\n${plainLine(node.id)}: ${textOf(node.plan)}`]));
    return [`${colour("bold", titleOf(plan))}, gives ${plainLine(plan.results.join(", "))}`, colour("dim", head), ...lines, ...nested].join(
        "\n",
    );
}

function argsOf({ args }: PlanNode): string {
    const shown = (value: Json): string => {
        const ref = value !== null && typeof value === "object" && !Array.isArray(value) ? value["ref"] : undefined;
        return typeof ref === "string" ? ref : JSON.stringify(value);
    };
    return args.map(({ name, value }) => `${name === undefined ? "" : `${name}: `}${shown(value)}`).join(", ");
}

/** A flowchart in Mermaid's language. */
function mermaidOf(plan: Plan): string {
    const ids = new Map(plan.nodes.map((node, i) => [node.id, `n${i}`]));
    const label = (node: PlanNode): string =>
        plainLine([node.id, argsOf(node)].filter((part) => part !== "").join(" ")).replaceAll('"', "#quot;");
    return [
        "flowchart LR",
        ...plan.nodes.map((node) => `    ${ids.get(node.id)}["${label(node)}"]`),
        ...plan.nodes.flatMap((node) => node.requires.map((id) => `    ${ids.get(id)} --> ${ids.get(node.id)}`)),
    ].join("\n");
}
