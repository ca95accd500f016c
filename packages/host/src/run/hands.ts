/**
 * The hands of an agent at work: each use that it wants to make is ruled on by the machine, asked where that says so, and made by the host.
 *
 * Boundary: between a performer of `agent` effects and the machine. What the agent's protocol calls a use is the performer's.
 *
 * N3: a use is made exactly as it was ruled on: the request is the machine's.
 * N4: a question is put while the agent waits; nobody there is a no. A yes for the session is for this run, principal, tool and method.
 * N5: a yes to whether a use may be made holds once for making it in the same turn, with the very arguments that were shown.
 */
import { canonicalJson, type Json } from "@remit/language";
import { ANSWERS, type Effect, type MachineEvent, type Outcome, type Ruling, verdictOf } from "@remit/machine";
import type { AgentUse, PerformIO, Permission } from "./host.ts";

export type Rule = (path: string, use: AgentUse) => Ruling;

export interface Hands {
    may(parent: Effect, io: PerformIO, use: AgentUse, signal?: AbortSignal): Promise<Permission>;
    use(parent: Effect, io: PerformIO, use: AgentUse, signal?: AbortSignal, part?: (part: Json) => void): Promise<Outcome>;
}

export function handsOf(
    rule: Rule,
    child: (parent: Effect, effect: Effect, io: PerformIO) => Promise<Outcome>,
    note: (event: MachineEvent) => Promise<void>,
): Hands {
    /** Uses so far, by the effect in which they arose. */
    const counts = new Map<string, number>();
    const session = new Map<string, boolean>();
    /** What a person said yes to and nobody made yet. */
    const agreed = new Set<string>();
    const pathOf = (parent: Effect): string => {
        const nth = counts.get(parent.path) ?? 0;
        counts.set(parent.path, nth + 1);
        return `${parent.path}/hand[${nth}]`;
    };

    async function decide(
        parent: Effect,
        io: PerformIO,
        use: AgentUse,
        path: string,
        makes: boolean,
    ): Promise<{ readonly said: Permission; readonly ruling: Ruling }> {
        const ruling = rule(parent.path, use);
        if (ruling.kind === "may") return { said: { allowed: true, by: "remit" }, ruling };
        if (ruling.kind === "refused") {
            const data: Json = {
                capability: `${use.tool}.${use.method}`,
                args: [...use.args],
                why: ruling.message,
                chosen_by: "agent",
                host: true,
            };
            await note({
                path,
                parent: parent.path,
                kind: "policy.denied",
                principal: ruling.principal,
                site: parent.site,
                labels: ruling.labels,
                data,
            });
            return { said: { allowed: false, by: "remit", message: ruling.message }, ruling };
        }
        const known = session.get(ruling.use);
        if (known !== undefined)
            return {
                said: known
                    ? { allowed: true, by: "person" }
                    : { allowed: false, by: "person", message: "the answer for the session is no" },
                ruling,
            };
        const same = canonicalJson([parent.path, ruling.use, ruling.request.args ?? []]);
        if (makes && agreed.delete(same)) return { said: { allowed: true, by: "person" }, ruling };
        const detail = use.note === undefined ? ruling.detail : { ...(ruling.detail as { [key: string]: Json }), note: use.note };
        const request = { question: ruling.question, detail, options: [...ANSWERS] };
        const { principal, labels } = ruling;
        const { site } = parent;
        const outcome = await child(parent, { path: `${path}/ask`, kind: "ask", principal, site, request, labels }, io);
        const verdict = verdictOf(outcome);
        if (verdict === "session") session.set(ruling.use, true);
        if (verdict === "deny session") session.set(ruling.use, false);
        if (verdict === "once" && !makes) agreed.add(same);
        if (verdict === "once" || verdict === "session") return { said: { allowed: true, by: "person" }, ruling };
        const message = outcome.ok ? "the answer was no" : outcome.failure.message;
        return { said: { allowed: false, by: outcome.ok ? "person" : "nobody", message }, ruling };
    }

    return {
        may: async (parent, io, use, signal) => (await decide(parent, until(io, signal), use, pathOf(parent), false)).said,
        use: async (parent, given, use, signal, part) => {
            const path = pathOf(parent);
            const io = until(given, signal);
            const { said, ruling } = await decide(parent, io, use, path, true);
            if (!said.allowed || ruling.kind === "refused") {
                const message = said.allowed ? "refused" : said.message;
                return {
                    ok: false,
                    failure: { kind: !said.allowed && said.by === "remit" ? "violation.remit" : "denied", message, site: parent.site },
                };
            }
            const { principal, labels } = ruling;
            const { site } = parent;
            return child(
                parent,
                { path, kind: "tool", principal, site, request: ruling.request as unknown as Json, labels },
                part === undefined ? io : { ...io, emit: part },
            );
        },
    };
}

/** The same, aborted by a signal of its own as well. */
function until(io: PerformIO, signal: AbortSignal | undefined): PerformIO {
    return signal === undefined ? io : { ...io, signal: AbortSignal.any([io.signal, signal]) };
}
