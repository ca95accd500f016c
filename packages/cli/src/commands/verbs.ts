/** `remit verbs`: what a stage of a block can call besides the functions, agents and tools of its file. */
import { catalogueOf, type CatalogueVerb, didYouMean, type Json, NATIVE_VERBS } from "@remit/language";
import { EXIT, paint, plainLine, printJson, printLines, table, UsageError } from "../io.ts";

export default async function verbs(args: string[], options: Record<string, unknown>): Promise<number> {
    const catalogue = catalogueOf(NATIVE_VERBS);
    const named = args.map((name) => {
        const found = catalogue.verbs.find((one) => one.name === name);
        if (found === undefined)
            throw new UsageError(
                `there is no verb '${name}'`,
                nearVerb(
                    name,
                    catalogue.verbs.map((one) => one.name),
                ),
            );
        return found;
    });
    if (options["json"] === true) printJson((args.length === 0 ? catalogue : named) as unknown as Json, true);
    else if (args.length === 0) {
        const colour = paint(process.stdout);
        const sentences = [...catalogue.operators, ...catalogue.backends, ...catalogue.modes];
        printLines(table(catalogue.verbs.map((one) => [colour("bold", one.name), one.description])));
        printLines(`\n${table(sentences.map((one) => [colour("bold", one.name), one.description]))}`);
        printLines(`\n${catalogue.example}`);
    } else printLines(named.map(textOf).join("\n\n"));
    return EXIT.ok;
}

function nearVerb(name: string, known: readonly string[]): string {
    return didYouMean(name, known) ?? `there are ${known.join(", ")}`;
}

function textOf({ signature, description, params, backends, effects, example, credential }: CatalogueVerb): string {
    const rows = params.map(({ name, contract, description: what, required, flows }) => [
        `  ${name}`,
        contract,
        [what, flows ? "what flows in may fill it" : "", required ? "" : "may be left out"].filter((part) => part !== "").join("; "),
    ]);
    return [
        plainLine(signature),
        `  ${description}`,
        ...(rows.length === 0 ? [] : table(rows).split("\n")),
        `  runs on ${backends.join(", ")}${effects.length === 0 ? "" : `; effects: ${effects.join(", ")}`}`,
        ...(credential === undefined ? [] : [`  credential: ${credential}`]),
        `  ${example}`,
    ].join("\n");
}
