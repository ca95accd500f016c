/**
 * `with { … }` after a yield: its options, as one table for the parser's reader, the checker, the form and the printer.
 *
 * Boundary: from the tree to the form; what is no option was refused by the checker.
 */
import type * as tree from "../syntax/tree.ts";
import type { WithForm } from "./form.ts";

/** Options of a yield and what their values are. */
export const WITH_OPTIONS: ReadonlyMap<keyof WithForm, "skills" | "text" | "time" | "count" | "amount"> = new Map([
    ["skills", "skills"],
    ["turns", "count"],
    ["steps", "count"],
    ["calls", "amount"],
    ["tokens", "count"],
    ["bytes", "count"],
    ["usd", "amount"],
    ["time", "time"],
    ["silence", "time"],
    ["model", "text"],
] as const);

/** What `with { … }` says; the checker has refused what is no option. */
export function withForm(options: readonly tree.GenerateOption[]): WithForm {
    const form: { -readonly [K in keyof WithForm]: WithForm[K] } = {};
    for (const { key, value } of options) {
        const row = WITH_OPTIONS.get(key.text as keyof WithForm);
        if (row === "skills" && value.kind === "list")
            form.skills = value.items.flatMap((item) => (item.kind === "ident" ? [item.name] : []));
        else if (row === "text" && value.kind === "string") form.model = value.value;
        else if (row !== undefined && row !== "skills" && row !== "text" && value.kind === "number")
            form[key.text as "turns"] = value.value;
    }
    return form;
}
