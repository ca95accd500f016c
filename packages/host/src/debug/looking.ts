/**
 * A read-only look at a run that stands still, as a tool for another program: what `inspect:` would answer there.
 *
 * Boundary: from a session to a tool, without the secrets that are known now. Nothing is run and nothing is written; what it gives carries `run:ID` and the origins that the values have.
 */
import type { Json } from "@remit/language";
import { INSPECTOR } from "@remit/machine";
import type { LedgerStore } from "../ledger/store.ts";
import type { HostTool } from "../tool/functions.ts";
import { withOrigins } from "../tool/origins.ts";
import { ToolFail } from "../tool/tool.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { debugRun, type DebugSession, moved } from "./session.ts";

/** The tool `State`: what `inspect:` would answer where the run stands. */
export function lookingAt(session: DebugSession, scrubber: Scrubber): HostTool {
    const look = (method: string) => (arg: { readonly [key: string]: Json }) => {
        const found = session.timeline.machine.inspected(session.where().thread, method, arg, scrubber.beginning);
        if (!found.ok) throw new ToolFail(scrubber.text(found.message));
        return withOrigins(scrubber.scrub(found.value), { "": [`run:${session.info.id}`, ...found.origins] });
    };
    return Object.fromEntries(
        INSPECTOR.methods.map(({ name, description = "", input, readOnly }) => [name, { call: look(name), description, input, readOnly }]),
    );
}

/** The same for a run as it ended: where it failed, else before its last event. Opened when it is first looked at. */
export function lookingBack(store: LedgerStore, id: string, scrubber: Scrubber): HostTool {
    let made: HostTool | null = null;
    const open = (): HostTool => {
        if (made !== null) return made;
        const session = debugRun(store, id);
        const seqs = [...store.events(id)].filter((event) => event.kind !== "run.ended").map((event) => event.seq);
        moved(session.goTo(session.info.status === "failed" ? { kind: "failure" } : { kind: "event", seq: seqs.at(-1) ?? 1 }));
        made = lookingAt(session, scrubber);
        return made;
    };
    return Object.fromEntries(
        INSPECTOR.methods.map(({ name, description = "", input, readOnly }) => {
            const call = (arg: { readonly [key: string]: Json }) => {
                const method = open()[name] as { readonly call: (arg: { readonly [key: string]: Json }) => unknown };
                return method.call(arg);
            };
            return [name, { call, description, input, readOnly }];
        }),
    ) as HostTool;
}
