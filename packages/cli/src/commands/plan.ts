/** `remit plan`: what the blocks of a program will do, before anything runs: every node, what it waits for, and where it stands. */
import { load } from "@remit/host";
import type { Json } from "@remit/language";
import { compileProgram, type Plan, plansOf, validatePlan } from "@remit/machine";
import { EXIT, plainLine, print, printJson, printLines, say, UsageError } from "../io.ts";

const FORMS = ["json", "mermaid", "svg"] as const;

export default async function plan(args: string[], options: Record<string, unknown>): Promise<number> {
    const forms = FORMS.filter((form) => options[form] === true);
    if (forms.length > 1) throw new UsageError(`${forms.map((form) => `--${form}`).join(" and ")} are forms of the plan; use one`);
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
        await show(plans, forms[0]);
        return errors.length === 0 ? EXIT.ok : EXIT.failed;
    } finally {
        await program.close();
    }
}

async function show(plans: readonly Plan[], form: (typeof FORMS)[number] | undefined): Promise<void> {
    switch (form) {
        case "json":
            printJson(plans as unknown as Json, true);
            break;
        case "svg":
            print((await import("../plan/svg.ts")).svgOf(plans));
            break;
        case "mermaid": {
            const { mermaidOf } = await import("../plan/mermaid.ts");
            print(plans.map(mermaidOf).join("\n\n"));
            break;
        }
        case undefined: {
            const { tableOf } = await import("../plan/table.ts");
            printLines(plans.map((plan) => tableOf(plan)).join("\n\n"));
        }
    }
}
