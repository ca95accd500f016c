/**
 * Who may decide that an agent defines functions of the program: held where `delegate all` begins, and where a function is defined.
 *
 * Boundary: the refusal. Whether an agent was let define at all is `define.ts`.
 *
 * DN4: a call of a function that was not defined shows that it was not, and nothing in it could carry who decided that. So where choices are
 *     told apart, only such a choice lets an agent define as may decide what follows: a trusted one, or one that the agent's import allows.
 *     In strict code it is one without labels: what the agent was told is among those of its answer (W7).
 */
import { shownName } from "@remit/language";
import { choiceFlows } from "../authority/flows.ts";
import type { Refusal } from "../authority/refusal.ts";
import type { AgentEntry } from "../compile/program.ts";
import type { Fail } from "../effect/failure.ts";
import type { Call, Ops } from "../state/ops.ts";
import { refuse } from "../state/refusal.ts";

/** `strict`: the code that delegates is. `own`: what the agent itself decides, which was let do so. */
export function mayLetDefine(m: Ops, call: Call, agent: AgentEntry, { strict, own = "" }: { strict: boolean; own?: string }): void {
    const { labels } = m.run;
    const { frame } = call;
    const { placeLabel } = frame;
    if (placeLabel === 0) return;
    const { authority } = m;
    const name = shownName(agent.name);
    const without = (label: number): readonly string[] => labels.origins(label).filter((origin) => origin !== own);
    const no = (refusal: Pick<Refusal, "capability" | "clause" | "flow">): Fail =>
        refuse(m, call, { principal: frame.principal, why: "let define", ...refusal }, { labels: labels.origins(placeLabel) });
    const on = {
        clauses: authority.clausesAt(agent.value.file, agent.value.name),
        untrusted: authority.untrusted,
        labels,
        trusted: authority.trusts,
        neutral: authority.neutral,
        one: authority.isOne,
    };
    const [hit] = choiceFlows(labels.of(without(labels.choosers(placeLabel))), { method: "yield", does: true }, on);
    if (hit !== undefined) throw no({ capability: agent.outside === null ? name : `${name}.yield`, clause: hit.rule.site, flow: hit.flow });
    const origins = strict ? without(labels.withoutChoosers(placeLabel)) : [];
    if (origins.length > 0)
        throw no({ capability: name, clause: authority.strictAt(frame.principal), flow: { arg: "", origins, rule: "flow strict" } });
}
