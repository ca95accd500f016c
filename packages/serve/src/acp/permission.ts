/**
 * A question of a run, as an editor puts it to its person: with the whole call, where each argument comes from, and why it is asked.
 *
 * Boundary: from a question to a request of the protocol and from its answer to one of the question's options. Whose answer counts is the session's.
 *
 * ACA1: what is no answer that allows is a no: an unknown option, an editor that cannot ask, an error.
 * ACA2: `cancelled` ends the run: it is the person's stop.
 */
import type { PermissionOption, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { plainLine } from "@remit/language";
import type { AskedCall } from "@remit/machine";

/** Answers of the machine and what they are to an editor; `abort` is its cancel. */
const OFFERED: { readonly [option: string]: Pick<PermissionOption, "kind"> & { readonly name: (calls: string) => string } } = {
    once: { kind: "allow_once", name: () => "Allow once" },
    session: { kind: "allow_always", name: (calls) => `Allow ${calls}` },
    deny: { kind: "reject_once", name: () => "Refuse" },
    "deny session": { kind: "reject_always", name: (calls) => `Refuse ${calls}` },
    again: { kind: "allow_once", name: () => "Perform it again" },
    "give up": { kind: "reject_once", name: () => "Do not perform it again" },
};

/** The names say for which calls and how long in short; the question's text does in full (`AskedCall.lasts`). */
export function optionsOf(options: readonly string[], call: AskedCall | null): PermissionOption[] {
    const calls = (kind: string): string => {
        if (call === null) return "for this run";
        const which = kind === "allow_always" && call.isFlow ? "every such call" : "every call";
        return `${which} of ${plainLine(call.what)} for ${call.span}`;
    };
    return options.flatMap((optionId) => {
        const offered = Object.hasOwn(OFFERED, optionId) ? OFFERED[optionId] : undefined;
        return offered === undefined ? [] : [{ optionId, kind: offered.kind, name: offered.name(calls(offered.kind)) }];
    });
}

/** ACA1, ACA2. */
export function decisionOf(response: RequestPermissionResponse, options: readonly string[]): string {
    const no = options.includes("deny") ? "deny" : "give up";
    const { outcome } = response;
    if (outcome.outcome === "cancelled") return options.includes("abort") ? "abort" : no;
    return outcome.outcome === "selected" && options.includes(outcome.optionId) ? outcome.optionId : no;
}
