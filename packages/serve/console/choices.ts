/**
 * What a person may answer, and the key for it.
 *
 * Boundary: data; a terminal's words are `asking.ts` of the command.
 *
 * CHO1: it is said how long a yes or a no holds: of a tool that is lent for the session (PPL1), of one of the program's own for the run that asks.
 */
import type { AskInfo } from "../src/wire/messages.ts";

export interface Choice {
    readonly key: string;
    readonly name: string;
    readonly does: string;
    readonly kind: "yes" | "no" | "stop";
}

export const CHOICES: { readonly [decision: string]: Choice } = {
    once: { key: "y", name: "Yes, once", does: "yes to the topmost question, for this call", kind: "yes" },
    session: { key: "a", name: "Always", does: "yes for the rest of the session", kind: "yes" },
    deny: { key: "n", name: "No", does: "no to this call; the program is told", kind: "no" },
    "deny session": { key: "x", name: "Never", does: "no for the rest of the session", kind: "no" },
    abort: { key: "s", name: "Stop", does: "no, and the turn ends", kind: "stop" },
    again: { key: "y", name: "Do it again", does: "perform the effect again", kind: "yes" },
    "give up": { key: "n", name: "Give up", does: "leave it as it is", kind: "no" },
};

const IN_THE_RUN: { readonly [decision: string]: Pick<Choice, "name" | "does"> } = {
    session: { name: "Yes, this run", does: "yes to every such call for the rest of this run" },
    "deny session": { name: "Not in this run", does: "no to every such call for the rest of this run" },
};

/** CHO1. */
export function choiceOf(decision: string, call: AskInfo["call"]): Choice | undefined {
    const choice = Object.hasOwn(CHOICES, decision) ? CHOICES[decision] : undefined;
    return choice === undefined || call?.uri === "host:lent" ? choice : { ...choice, ...IN_THE_RUN[decision] };
}
