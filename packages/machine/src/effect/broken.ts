/**
 * Violations of rules of the language itself, which arise in values and code where neither the principal nor the line of a rule is known.
 *
 * Boundary: the words and the failure. The first place that knows who runs tells of it (`tellBroken` in `state/refusal.ts`).
 *
 * BRK1: what is broken here is told like every other refusal: one `policy.denied`, with the record that the failure has as its detail.
 */
import type { Json, Site } from "@remit/language";
import type { Flow } from "../authority/decide.ts";
import type { FailureKind } from "./effect.ts";
import { Fail } from "./failure.ts";

interface Words {
    readonly kind: FailureKind;
    says(what: string, flow: Flow | undefined): string;
    remedy(what: string): string;
}

export const BROKEN = {
    change: {
        kind: "violation.flow",
        says: (what, flow) => {
            const { origins = [], rule = "" } = flow ?? {};
            return `${origins.join(", ")} decides whether this ${what} is changed, and the ${what} does not carry ${origins.length > 1 ? "them" : "it"} (${rule})`;
        },
        remedy: (what) => `make a new ${what} and assign it to the variable, or endorse the value that decides`,
    },
    data: {
        kind: "violation.capability",
        says: (what) => `${what} is used as data, which a capability never is`,
        remedy: () => "call one of its methods and use the result",
    },
    payload: {
        kind: "violation.payload",
        says: (what) => `${what} answered with what no function may hold`,
        remedy: () => "the agent has to answer with a function that keeps to the program form",
    },
} as const satisfies { readonly [why: string]: Words };

/** What is told of it. `capability`: what was to be changed, rendered or run, as it is shown. */
export interface Broken {
    readonly why: keyof typeof BROKEN;
    readonly capability: string;
    readonly flow?: Flow;
}

export interface BrokenAt {
    readonly site?: Site | null;
    readonly labels?: number;
    readonly by?: string;
    readonly detail?: Json;
    /** In words that say more than those of the rule. */
    readonly message?: string;
}

/** The failure; it is told where it is caught or ends a fiber. */
export function violation(broken: Broken, { message, ...more }: BrokenAt = {}): Fail {
    const { kind, says, remedy }: Words = BROKEN[broken.why];
    const { capability, flow } = broken;
    return new Fail(kind, message ?? says(capability, flow), { hint: remedy(capability), ...more, broken });
}
