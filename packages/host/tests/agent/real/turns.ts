/**
 * One prompt turn with any of the agents, through our own host and in its sandbox: what `npm run agents` prints a line of.
 */
import type { AgentReply } from "@remit/machine";
import type { AgentName } from "./agents.ts";
import { rig } from "./rig.ts";
import { judge } from "./schema.ts";

export interface Turned {
    readonly agent: string;
    /** What went wrong, null where nothing did. */
    readonly problem: string | null;
    readonly self: string;
    readonly stop: string;
    readonly text: string;
    readonly usage: string;
    readonly confinement: string;
    readonly outside: readonly string[];
    /** Milliseconds from nothing to the reply. */
    readonly ms: number;
}

export async function oneTurn(name: AgentName): Promise<Turned> {
    await using one = await rig(name, () => [{ when: "say hello", say: [{ text: "Hello from the model." }] }]);
    const begun = performance.now();
    const outcome = await one.turn("say hello");
    const ms = Math.round(performance.now() - begun);
    const theirs = judge(one.seen, "agent");
    const ours = judge(one.seen, "client");
    if (!outcome.ok) {
        const problem = `${outcome.failure.kind}: ${outcome.failure.message}${outcome.failure.hint === undefined ? "" : ` (${outcome.failure.hint})`}`;
        return { agent: name, problem, self: "", stop: "", text: "", usage: "", confinement: "", outside: theirs.outside, ms };
    }
    const reply = outcome.value as unknown as AgentReply;
    const wrong = [
        ...theirs.invalid,
        ...ours.invalid,
        ...ours.outside,
        // codex puts a warning of its own before what its model says
        ...(reply.text.includes("Hello from the model.") ? [] : [`the model's text is not in the reply: ${reply.text.slice(0, 200)}`]),
    ];
    const { input, output } = outcome.usage ?? {};
    return {
        agent: name,
        problem: wrong.length === 0 ? null : wrong.join("; "),
        self: `${reply.agent?.name ?? "?"} ${reply.agent?.version ?? ""}`,
        stop: reply.stop,
        text: reply.text,
        usage: input === undefined ? "not reported" : `${input} in, ${output ?? "?"} out`,
        confinement: reply.confinement,
        outside: theirs.outside,
        ms,
    };
}
