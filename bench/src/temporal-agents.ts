/**
 * The same agent on Temporal by Remit, by `@temporalio/ai-sdk` and by Mastra: ten model turns and ten calls of a tool that cannot be undone. What it takes
 * and leaves in history; and what is done twice when its worker is killed in the middle of a call.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type AgentStub, agentStub, CALLS, TURNS } from "./agent-stub.ts";
import { type AgentFacts, type AgentOrder, HELD } from "./agent-work.ts";
import { type Apart, apart } from "./apart.ts";
import { figure, median, QUICK, type Row, type Section } from "./harness.ts";
import { benchServer } from "./temporal.ts";

const BOUNDS = { bytes: 3 * 2 ** 30, ms: 180_000 };
const PAIRS = QUICK ? 1 : 5;

interface Agent {
    readonly name: string;
    readonly make: string;
    readonly module: string;
}
const AGENTS: readonly Agent[] = [
    { name: "Remit", make: "remit", module: "./agent-remit.ts" },
    { name: "@temporalio/ai-sdk", make: "aiSdk", module: "../peers/ai-sdk.ts" },
    { name: "Mastra in an activity", make: "mastra", module: "../peers/mastra.ts" },
];

export async function temporalAgents(): Promise<Section> {
    const folder = mkdtempSync(join(tmpdir(), "remit-bench-"));
    const [server, stub] = await Promise.all([benchServer(), agentStub()]);
    const begin = ({ name, make, module }: Agent): Apart =>
        apart(name, { module: new URL(module, import.meta.url).href, make, args: [server.address, folder, stub.url] }, BOUNDS);
    try {
        const timed = await compared(begin, stub);
        const [ours, ...others] = AGENTS.map(({ name }, i) => ({ name, ...(timed[i] as Timed) }));
        if (ours === undefined) throw new Error("there is no contender");
        const rows: Row[] = [
            {
                name: `${TURNS} model turns, ${CALLS} tool calls`,
                ours: ours.ms,
                unit: "ms",
                against: others.map(({ name, ms }) => ({ name, value: ms, ratio: ms / ours.ms })),
                note: [ours, ...others]
                    .map(({ name, events, bytes }) => `${name}: ${events} events of history, ${figure(bytes / 1000)} kB`)
                    .join("; "),
            },
        ];
        const told: string[] = [];
        const twice: number[] = [];
        for (const agent of AGENTS) {
            const { again, asked, turns } = await killed(agent, () => begin(agent), folder, stub);
            twice.push(again - asked);
            told.push(
                `${agent.name}: ${again} calls begun twice${asked > 0 ? `, after ${asked} question to a person` : " and no question"}, ${turns} model turns in all`,
            );
        }
        const [own = 0, ...theirs] = twice;
        rows.push({
            name: "calls begun twice, unasked, after a killed worker",
            ours: own,
            unit: "calls",
            against: theirs.map((value, i) => ({ name: AGENTS[i + 1]?.name ?? "", value, ratio: own === 0 ? value : value / own })),
            note: told.join("; "),
        });
        return { title: "The same agent on Temporal", how: HOW, rows };
    } finally {
        stub.close();
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
    }
}

type Timed = Pick<AgentFacts, "ms" | "events" | "bytes">;

async function compared(begin: (agent: Agent) => Apart, stub: AgentStub): Promise<Timed[]> {
    const all = AGENTS.map(begin);
    const facts: AgentFacts[][] = AGENTS.map(() => []);
    try {
        // The first one of each warms up.
        for (let pair = -1; pair < PAIRS; pair++) {
            for (const [i, one] of all.entries()) {
                const order: AgentOrder = { id: `${AGENTS[i]?.make}-${pair}`, begin: true };
                stub.turns();
                const value = (await one.ask(order)).value as AgentFacts;
                const turns = stub.turns();
                if (turns !== TURNS) throw new Error(`${one.name}: ${turns} model turns in place of ${TURNS}`);
                if (pair >= 0) facts[i]?.push(value);
            }
        }
    } finally {
        for (const one of all) one.close();
    }
    return facts.map((of) => ({
        ms: median(of.map(({ ms }) => ms)),
        events: median(of.map(({ events }) => events)),
        bytes: median(of.map(({ bytes }) => bytes)),
    }));
}

/** Its process is killed while call 5 is carried out; another one takes its place. */
async function killed(
    { make }: Agent,
    begin: () => Apart,
    folder: string,
    stub: AgentStub,
): Promise<{ again: number; asked: number; turns: number }> {
    const [calls, hold] = [join(folder, "calls"), join(folder, "hold")];
    rmSync(calls, { force: true });
    writeFileSync(hold, "");
    stub.turns();
    const id = `${make}-killed`;
    const first = begin();
    const lost = first.ask({ id, begin: true }).then(
        () => false,
        () => true,
    );
    while (!existsSync(calls) || !readFileSync(calls, "utf8").includes(`begun ${HELD}\n`)) await sleep(20);
    first.close();
    if (!(await lost)) throw new Error("the run ended before its worker did");
    rmSync(hold);
    const second = begin();
    try {
        const { asked } = (await second.ask({ id, begin: false })).value as AgentFacts;
        const begun = readFileSync(calls, "utf8")
            .split("\n")
            .filter((line) => line.startsWith("begun"));
        return { again: begun.length - new Set(begun).size, asked, turns: stub.turns() };
    } finally {
        second.close();
    }
}

const HOW =
    "A stub model on loopback answers over HTTP; the tool appends to a file, and none of the contenders is told that it may be repeated. Time is from the client's call to the value, worker and client warm and in one process, medians of interleaved rounds. Remit's has its ledger on disk (SQLite, `synchronous = FULL`) besides the history, the others have the history alone. Ratio is time of the other ÷ time of Remit. For the second row the worker's process is killed with SIGKILL while the sixth call is carried out, and started again. Mastra's own package for Temporal was not to be had, so its agent is one activity, as a user without it would write it.";
