/**
 * What a turn with an agent costs beyond the agent's own time: the same small agent of the SDK's, asked by a client that is the SDK's own and
 * nothing more, and through the host's performer. From the prompt to the reply; opening a session is no part of it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentTurn, Effect } from "@remit/machine";
import { loadConfig } from "../../packages/host/src/config/config.ts";
import { agents as performer } from "../../packages/host/src/agent/agents.ts";
import { bare } from "../../packages/host/tests/agent/real/bare.ts";
import { figure, median, QUICK, type Row, type Section } from "./harness.ts";

const ROUNDS = QUICK ? 1 : 15;
const AGENT = fileURLToPath(new URL("./agents-small.ts", import.meta.url));
/** Prompt → what the agent does with it. */
const TURNS: { readonly [prompt: string]: string } = {
    "1": "a turn of one message",
    "200": "a turn of 200 pieces of text",
    ask: "a turn that asks for a permission",
};

export async function agents(): Promise<Section> {
    const folder = mkdtempSync(join(tmpdir(), "remit-bench-"));
    const env = { PATH: process.env.PATH ?? "", HOME: folder, REMIT_AGENT: AGENT };
    const loaded = loadConfig({ workspace: folder, env, trust: true });
    const config = {
        ...loaded,
        agents: { small: { command: [process.execPath, AGENT], file: { folder } } },
    } as unknown as typeof loaded;
    const host = performer({ config, workspace: folder, env });
    const client = await bare({ command: process.execPath, args: [AGENT], env: {} }, { cwd: folder, home: folder }, false, false);
    let turns = 0;
    const ours = async (prompt: string): Promise<void> => {
        const request: AgentTurn = {
            op: "turn",
            agent: { name: "Small", uri: "acp://small", file: "main.remit", unconfined: true },
            session: "main/Small.yield#0",
            turn: turns++,
            prompt: [{ type: "text", text: prompt }],
            hands: [],
            limits: { steps: 100_000, ms: 60_000, bytes: 1_000_000 },
        };
        const effect: Effect = {
            path: `main/Small.yield#0/turn[${turns}]`,
            kind: "agent",
            principal: "Small",
            site: null,
            request: request as unknown as Effect["request"],
            labels: [],
        };
        const outcome = await host.perform(effect, {
            signal: new AbortController().signal,
            emit: () => undefined,
            wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
            child: async () => ({ ok: false, failure: { kind: "denied", message: "nobody is there" } }),
            may: async () => ({ allowed: false, by: "remit", message: "no" }),
        });
        if (!("ok" in outcome) || !outcome.ok) throw new Error(JSON.stringify(outcome));
    };
    try {
        const rows: Row[] = [];
        for (const [prompt, name] of Object.entries(TURNS)) {
            const times: { bare: number[]; ours: number[] } = { bare: [], ours: [] };
            for (let round = -3; round < ROUNDS; round++) {
                // which of the two goes first changes with the round
                for (const who of round % 2 === 0 ? (["bare", "ours"] as const) : (["ours", "bare"] as const)) {
                    const begun = performance.now();
                    await (who === "bare" ? client.prompt(prompt) : ours(prompt));
                    const took = performance.now() - begun;
                    if (round >= 0) times[who].push(took);
                }
            }
            const [own, through] = [median(times.bare), median(times.ours)];
            const added = through - own;
            rows.push({
                name,
                ours: added,
                unit: "ms added",
                against: [],
                goal: "≤ 5 ms",
                met: added <= 5,
                note: `${figure(through)} ms through the host, ${figure(own)} ms by the SDK's client alone; best rounds ${figure(Math.min(...times.ours))} and ${figure(Math.min(...times.bare))}`,
            });
        }
        return {
            title: "A turn with an agent",
            how: `An agent of the SDK's own that answers at once, the same program in two processes: one asked by the SDK's client and nothing more, one through the host, which keeps the transcript, the limits and the decisions. Medians of ${ROUNDS} rounds in turn.`,
            rows,
        };
    } finally {
        await host.close();
        await client.close();
        rmSync(folder, { recursive: true, force: true });
    }
}
