/** `with { … }` after a yield: its options, as one table for the checker, the form and the printer. */
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
