/**
 * What a person said for the rest of the run: it stands once, here, whether a function asked or an agent with its own hands.
 *
 * Boundary: reads and writes the run's standing. Whether there is something to ask is `authority/decide.ts`.
 */
import { isObject, canonicalJson, type Json } from "@remit/language";
import type { Outcome } from "../effect/effect.ts";
import { notedIn } from "../ledger/notes.ts";
import type { Ops } from "./ops.ts";
import { struckAt } from "./spending.ts";

/** The answer for the session; undefined where there is none. */
export function answerFor(m: Ops, key: string): boolean | undefined {
    const { answers } = m.standing;
    return answers.get(wholeOf(key)) === false ? false : answers.get(key);
}

/** The same, with what was said while the machine waits or computes. */
export function answerNow(m: Ops, key: string): boolean | undefined {
    let known = answerFor(m, key);
    for (const told of m.inbox) {
        const said = lasting(told);
        if (said !== null && (said.use === key || (!said.yes && wholeOf(said.use) === wholeOf(key)))) known = said.yes && known !== false;
    }
    return known;
}

/** Keeps an answer for the rest of the run. A no is one for every call of the method, whatever is in its arguments. */
export function keepAnswer(m: Ops, { use, yes }: Lasting): void {
    m.standing.answers.set(yes ? use : wholeOf(use), yes);
}

/** What a person said about a use that an agent wanted to make with its own hands, for the rest of the run. */
export interface Lasting {
    readonly use: string;
    readonly yes: boolean;
}

/** It comes as an outcome, so that it counts where it came; null for every other outcome. */
export function lasting({ path, outcome }: { readonly path: string; readonly outcome: Outcome }): Lasting | null {
    if (!outcome.ok || !/\/hand\[\d+\]\/ask$/.test(path)) return null;
    const { value } = outcome;
    if (!isObject(value)) return null;
    return typeof value.use === "string" && typeof value.yes === "boolean" ? { use: value.use, yes: value.yes } : null;
}

function wholeOf(key: string): string {
    const parts = JSON.parse(key) as Json[];
    return canonicalJson([...parts.slice(0, -1), null]);
}

/** What is told without an effect that waits for it: the end of a time, what a person said for the rest of the run, and what an agent reported. */
export function isUnasked(told: { readonly path: string; readonly outcome: Outcome }): boolean {
    return struckAt(told) !== Number.POSITIVE_INFINITY || lasting(told) !== null || notedIn(told) !== null;
}
