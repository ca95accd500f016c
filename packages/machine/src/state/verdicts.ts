/**
 * What a person said for the rest of the run: it stands once, here, whether a function asked or an agent with its own hands.
 *
 * Boundary: reads and writes the run's standing. Whether there is something to ask is `authority/decide.ts`.
 */
import { isObject, canonicalJson, type Json, type Site } from "@remit/language";
import type { Outcome } from "../effect/effect.ts";
import { ABORTED, Fail } from "../effect/failure.ts";
import { notedIn } from "../ledger/notes.ts";
import type { Said } from "./delegations.ts";
import type { Ops } from "./ops.ts";
import { struckAt } from "./spending.ts";

/** The answer for the session; undefined where there is none. A yes is one for fewer who chose, too. */
export function answerFor(m: Ops, key: string): Said | undefined {
    const { answers } = m.standing;
    if (answers.get(wholeOf(key)) === false) return false;
    const said = answers.get(key);
    if (said !== undefined || answers.size === 0) return said;
    for (const [known, wider] of answers) if (wider !== false && covers(known, key)) return wider;
    return undefined;
}

/** Whether two keys are about the same but for who chose, of whom `known` lists all that `key` does. */
function covers(known: string, key: string): boolean {
    if (wholeOf(known) !== wholeOf(key)) return false;
    const [all, some] = [choiceIn(known), choiceIn(key)];
    return all.chosen.length > 0 && all.rest === some.rest && some.chosen.every((one) => all.chosen.includes(one));
}

/** Who chose, each with the rule that it breaks, and the other flows. */
function choiceIn(key: string): { readonly chosen: readonly string[]; readonly rest: string } {
    const flows = ((JSON.parse(key) as Json[]).at(-1) ?? []) as (string | null)[][];
    const chosen = flows.flatMap(([arg, rule, ...origins]) => (arg === null ? origins.map((one) => `${rule} ${one}`) : []));
    return { chosen, rest: canonicalJson(flows.filter(([arg]) => arg !== null)) };
}

/** The same, with what was said while the machine waits or computes. */
export function answerNow(m: Ops, key: string): Said | undefined {
    let known = answerFor(m, key);
    for (const told of m.inbox) {
        const said = lasting(told);
        if (said === null || known === false) continue;
        if (said.use === key) known = said.said;
        else if (said.said === false && wholeOf(said.use) === wholeOf(key)) known = false;
    }
    return known;
}

/** Keeps an answer for the rest of the run. A no is one for every call of the method, whatever is in its arguments. */
export function keepAnswer(m: Ops, { use, said }: Lasting): void {
    m.standing.answers.set(said === false ? wholeOf(use) : use, said);
}

/** What an answer that allows something allows it as. */
export function describedIn(outcome: Outcome): string {
    return (outcome.ok ? outcome.described : undefined) ?? "";
}

/** What a person said about a use that an agent wanted to make with its own hands, for the rest of the run. */
export interface Lasting {
    readonly use: string;
    readonly said: Said;
}

/** The question about what an agent wants to do with its own hands. */
const HAND_ASK = /\/hand\[\d+\]\/ask$/;

/** It comes as an outcome, so that it counts where it came; null for every other outcome. */
function lasting({ path, outcome }: { readonly path: string; readonly outcome: Outcome }): Lasting | null {
    if (!outcome.ok || !HAND_ASK.test(path)) return null;
    const { value } = outcome;
    if (!isObject(value)) return null;
    if (typeof value.use !== "string" || typeof value.yes !== "boolean") return null;
    return { use: value.use, said: value.yes && describedIn(outcome) };
}

/** Behind the path of a call: the question whether it may be made although its tool describes it otherwise now. */
export const REDESCRIBED = "/ask/changed";

/** Keeps what was told of the rest of the run: its end; an answer; or a yes to a tool as it is now, for which each yes about this method of a principal then holds. */
export function keepTold(m: Ops, told: { readonly path: string; readonly outcome: Outcome }): void {
    if (isAbort(told)) {
        const around = [...m.waiting.values()].find(({ effect }) => told.path.startsWith(`${effect.path}/`));
        m.finish(aborted(around?.effect.site ?? null));
        return;
    }
    const said = lasting(told);
    if (said !== null) keepAnswer(m, said);
    const { path, outcome } = told;
    if (!path.endsWith(REDESCRIBED) || !outcome.ok || !isObject(outcome.value)) return;
    const { principal, file, tool, method } = outcome.value;
    for (const [key, before] of m.standing.answers) {
        if (before === false) continue;
        const [who, , at, name, what] = JSON.parse(key) as Json[];
        if (who === principal && m.compiled.fileName(at as number) === file && name === tool && what === method)
            m.standing.answers.set(key, describedIn(outcome));
    }
}

/** The end of a run at a question. */
export function aborted(site: Site | null): Fail {
    return new Fail(ABORTED.kind, ABORTED.message, { site, whole: true });
}

/** Of a question that no effect of the machine waits for: about an agent's own use, or a tool that has changed. */
function isAbort({ path, outcome }: { readonly path: string; readonly outcome: Outcome }): boolean {
    return outcome.ok && outcome.value === "abort" && (HAND_ASK.test(path) || path.endsWith(REDESCRIBED));
}

function wholeOf(key: string): string {
    const parts = JSON.parse(key) as Json[];
    return canonicalJson([...parts.slice(0, -1), null]);
}

/** What is told without an effect that waits for it: the end of a time, what a person said for the rest of the run or to end it, and what an agent reported. */
export function isUnasked(told: { readonly path: string; readonly outcome: Outcome }): boolean {
    return (
        struckAt(told) !== Number.POSITIVE_INFINITY ||
        isAbort(told) ||
        lasting(told) !== null ||
        notedIn(told) !== null ||
        told.path.endsWith(REDESCRIBED)
    );
}
