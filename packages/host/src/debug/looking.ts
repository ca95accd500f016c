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
    let made: Promise<HostTool> | null = null;
    const open = async (): Promise<HostTool> => {
        const session = await debugRun(store, id);
        const last = session.timeline.record.events.findLast((event) => event.kind !== "run.ended");
        moved(session.goTo(session.info.status === "failed" ? { kind: "failure" } : { kind: "event", seq: last?.seq ?? 1 }));
        return lookingAt(session, scrubber);
    };
    return Object.fromEntries(
        INSPECTOR.methods.map(({ name, description = "", input, readOnly }) => {
            const call = async (arg: { readonly [key: string]: Json }) => {
                made ??= open();
                const method = (await made)[name] as { readonly call: (arg: { readonly [key: string]: Json }) => unknown };
                return method.call(arg);
            };
            return [name, { call, description, input, readOnly }];
        }),
    ) as HostTool;
}
