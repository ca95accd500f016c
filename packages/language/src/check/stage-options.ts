/**
 * What a stage says with `with { … }`.
 *
 * Boundary: keys and literals, by the table of the form. What they do is the machine's.
 */
import { CREDENTIAL_SOURCES, credentialOf, ON_ERROR, STAGE_OPTIONS, unfit } from "../form/options.ts";
import { checkModel } from "./context.ts";
import { suggestion } from "./names.ts";
import type { GenerateOption } from "../syntax/tree.ts";
import type { Place } from "./stage-targets.ts";

const SAYS = {
    time: "a time with its unit: 30s, 5 min",
    count: "a whole number",
    whole: "a whole number",
    amount: "a number above 0",
    word: ON_ERROR.join(", "),
    text: "a text in quotes",
    credential: `${CREDENTIAL_SOURCES.map((one) => `${one}("…")`).join(", ")}`,
    model: "the name of an imported llm",
} as const;

export function checkOptions(x: Place, options: readonly GenerateOption[]): void {
    const seen = new Set<string>();
    for (const option of options) {
        const { text, range } = option.key;
        const kind = STAGE_OPTIONS.get(text) as keyof typeof SAYS | undefined;
        if (seen.has(text)) x.report("INVALID_STAGE_OPTION", range, `'${text}' stands here twice`);
        seen.add(text);
        if (kind === undefined) {
            const known = [...STAGE_OPTIONS.keys()];
            x.report(
                "INVALID_STAGE_OPTION",
                range,
                `a stage has no option '${text}'`,
                suggestion(x.checking, text, range, known) ?? {
                    hint: `the options are ${known.join(", ")}`,
                },
            );
        } else if (kind === "model") checkModel(x.report, x.checking, x.file, null, option.value);
        else if (!isRight(kind, option)) x.report("INVALID_STAGE_OPTION", option.value.range, `'${text}' takes ${SAYS[kind]}`);
    }
}

function isRight(kind: Exclude<keyof typeof SAYS, "model">, { value, duration }: GenerateOption): boolean {
    switch (kind) {
        case "time":
            return duration !== undefined && duration.milliseconds > 0;
        case "count":
        case "whole":
            return duration === undefined && unfit(kind, value) === null;
        case "amount":
            return value.kind === "number" && duration === undefined && value.value > 0;
        case "word": {
            const word = value.kind === "none" ? "none" : value.kind === "ident" ? value.name : value.kind === "string" ? value.value : "";
            return ON_ERROR.some((one) => one === word);
        }
        case "text":
            return unfit(kind, value) === null;
        case "credential":
            return credentialOf(value) !== undefined && credentialOf(value)?.arg !== "";
    }
}
