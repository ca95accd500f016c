/** What a plan, its nodes and their arguments are called, in every form in which a plan is shown. Text of the program is made visible here. */
import widthOf from "fast-string-width";
import type { Json } from "@remit/language";
import type { Plan, PlanNode } from "@remit/machine";
import { duration, plainLine } from "./io.ts";

export function titleOf({ backend, mode, name }: Plan): string {
    return plainLine(`${backend} ${mode} block${name === undefined ? "" : ` as ${name}`}`);
}

export function argsOf({ args }: Pick<PlanNode, "args">): string {
    const shown = (value: Json): string => {
        const ref = value !== null && typeof value === "object" && !Array.isArray(value) ? value["ref"] : undefined;
        return typeof ref === "string" ? ref : JSON.stringify(value);
    };
    return plainLine(args.map(({ name, value }) => `${name === undefined ? "" : `${name}: `}${shown(value)}`).join(", "));
}

/** `FILE:LINE:COLUMN`; empty where it is not known. */
export function placeOf({ site }: Pick<PlanNode, "site">): string {
    return site === null ? "" : plainLine(`${site.file}:${site.line}:${site.column}`);
}

/** What a stage says with `with { … }` of how it runs. */
export function optionsOf(node: PlanNode): string {
    const { timeout, retries, on_error, queue, model, as, priority, rate } = node;
    const said = [
        timeout === undefined ? "" : `timeout ${duration(timeout)}`,
        retries === undefined ? "" : `retries ${retries}`,
        on_error === undefined ? "" : `on_error ${on_error}`,
        queue === undefined ? "" : `queue ${queue}`,
        model === undefined ? "" : `model ${model}`,
        as === undefined ? "" : `as ${as}`,
        priority === undefined ? "" : `priority ${priority}`,
        rate === undefined ? "" : `rate ${rate}`,
    ];
    return plainLine(said.filter((one) => one !== "").join(", "));
}

/** At most so many columns; what was cut ends with an ellipsis. No character is cut in two. */
export function clipped(text: string, columns: number): string {
    if (widthOf(text) <= columns) return text;
    let kept = "";
    let used = 1;
    for (const char of text) {
        used += widthOf(char);
        if (used > columns) break;
        kept += char;
    }
    return columns < 1 ? "" : `${kept}…`;
}
