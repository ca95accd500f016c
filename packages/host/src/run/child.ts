/**
 * Requests that arise while an effect runs: an elicitation of a tool server, a permission an agent asks for.
 *
 * Boundary: they go to the same host and leave their own events; what they come to is part of their parent's outcome.
 *
 * H2: while a person is asked, time that counts stands still, as for the program's own questions.
 * H1: such events have `host: true` in their data: they follow from the world, not from the program, and a replay does not expect them.
 */
import type { Json } from "@remit/language";
import type { Effect, EventKind, MachineEvent, Outcome } from "@remit/machine";
import { effectOut } from "../secret/exits.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { failureOf } from "./error.ts";
import type { Host, PerformIO } from "./host.ts";
import { isPersonal } from "./perform.ts";

/** Events a child effect leaves, by its kind. */
const KINDS: { readonly [kind: string]: readonly [EventKind, EventKind] } = {
    ask: ["ask.requested", "ask.decided"],
    input: ["input.requested", "input.given"],
    tool: ["tool.started", "tool.ended"],
    model: ["model.started", "model.ended"],
};

export function childOf(
    host: Host,
    note: (event: MachineEvent) => Promise<void>,
    secrets: Scrubber,
    person: (change: 1 | -1) => void,
): (parent: Effect, effect: Effect, io: PerformIO) => Promise<Outcome> {
    const { scrub } = secrets;
    return async (parent, asked, io) => {
        const effect = effectOut(asked, secrets);
        const [began, ended] = KINDS[effect.kind] ?? (["effect.started", "effect.ended"] as const);
        const tell = (kind: EventKind, data: { [key: string]: Json }): Promise<void> =>
            note({
                path: effect.path,
                parent: parent.path,
                kind,
                principal: effect.principal,
                site: effect.site,
                labels: effect.labels,
                data: { ...data, effect: effect.kind, host: true },
            });
        await tell(began, { request: effect.request });
        let outcome: Outcome;
        if (isPersonal(effect)) person(1);
        try {
            const answer = await host.perform(effect, { ...io, parent: parent.path });
            outcome =
                "later" in answer
                    ? {
                          ok: false,
                          failure: { kind: "denied", message: "nobody was there to answer", site: effect.site, detail: { later: true } },
                      }
                    : (scrub(answer as unknown as Json) as unknown as Outcome);
        } catch (error) {
            outcome = { ok: false, failure: failureOf(error, "tool") };
        } finally {
            if (isPersonal(effect)) person(-1);
        }
        await tell(ended, outcome.ok ? { ok: true, value: outcome.value } : { ok: false, failure: outcome.failure as unknown as Json });
        return outcome;
    };
}
