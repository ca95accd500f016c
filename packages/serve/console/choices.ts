/**
 * What a person may answer, and the key for it.
 *
 * Boundary: data; a terminal's words are `asking.ts` of the command.
 *
 * CHO1: it is said for which calls and how long a yes or a no holds, in the words that every other face has, too (`AskedCall.lasts`).
 */
import type { AskInfo } from "../src/wire/messages.ts";

export interface Choice {
    readonly key: string;
    readonly name: string;
    /** May hold what others wrote. */
    readonly does: string;
    readonly kind: "yes" | "no" | "stop";
    /** It holds beyond this call. */
    readonly lasts?: true;
}

export const CHOICES: { readonly [decision: string]: Choice } = {
    once: { key: "y", name: "Yes, once", does: "yes to the topmost question, for this call", kind: "yes" },
    session: { key: "a", name: "Always", does: "yes for the rest of the session", kind: "yes", lasts: true },
    deny: { key: "n", name: "No", does: "no to this call; the program is told", kind: "no" },
    "deny session": { key: "x", name: "Never", does: "no for the rest of the session", kind: "no", lasts: true },
    abort: { key: "s", name: "Stop", does: "no, and the turn ends", kind: "stop" },
    again: { key: "y", name: "Do it again", does: "perform the effect again", kind: "yes" },
    "give up": { key: "n", name: "Give up", does: "leave it as it is", kind: "no" },
};

const IN_THE_RUN: { readonly [decision: string]: string } = { session: "Yes, this run", "deny session": "Not in this run" };

/** CHO1. */
export function choiceOf(decision: string, call: AskInfo["call"]): Choice | undefined {
    const choice = Object.hasOwn(CHOICES, decision) ? CHOICES[decision] : undefined;
    if (choice?.lasts !== true || call === null) return choice;
    const name = call.span === "the session" ? undefined : IN_THE_RUN[decision];
    return { ...choice, name: name ?? choice.name, does: call.lasts[decision] ?? choice.does };
}
