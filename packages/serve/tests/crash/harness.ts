/**
 * A server that is killed under load and started again, as often as is said, and what did not hold.
 *
 * Boundary: a real server in a process of its own, real clients in this one. Each session runs a program that calls a lent tool again and again; the
 * tool may not be called a second time, so a call that was under way is asked about, and the answer here is: again.
 *
 * What holds: a turn that was taken is there, and a result that was taken is not asked about; its events have every number once, whatever server told them; the tool is performed a second time only
 * where that was asked; every call has one outcome in the ledger; every turn ends with its value; every chain verifies.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openLedger } from "@remit/host";
import { type FoundServer, ServeClient, ServerRefusal, servers } from "../../src/index.ts";

const SERVER = fileURLToPath(new URL("../process/server.ts", import.meta.url));
const SOURCE = `import tool Lent from "host:lent"
main func(input: { n: number }) {
    i = 0
    loop until i >= input.n max 1000000 {
        Lent.owner__echo({ i: i })
        i += 1
    }
    i
}
`;

const ECHO = { description: "Gives back", readOnly: true, repeatable: false } as const;

export interface Load {
    readonly sessions: number;
    /** Calls of each session. */
    readonly trips: number;
    readonly kills: number;
    /** Of the moments of the kills. */
    readonly seed: number;
    /** Address of the ledger; default: a file of its own. */
    readonly ledger?: string;
}

export interface Report {
    kills: number;
    /** Calls that a client performed. */
    performed: number;
    /** Calls that were asked about after a kill. */
    asked: number;
    readonly problems: string[];
}

interface Served {
    readonly id: string;
    turn: string;
    /** Number of the last event that was heard. */
    seq: number;
    /** How often each call was performed, and was asked about. */
    readonly performed: number[];
    readonly asked: number[];
    readonly taken: Set<number>;
    over: boolean;
}

export async function crash(load: Load): Promise<Report> {
    const folder = mkdtempSync(join(tmpdir(), "remit-serve-crash-"));
    mkdirSync(join(folder, "home"));
    writeFileSync(join(folder, "main.remit"), SOURCE);
    const report: Report = { kills: 0, performed: 0, asked: 0, problems: [] };
    const ledger = load.ledger ?? join(folder, "ledger.db");
    const random = randomOf(load.seed);
    let child: ChildProcess | null = null;
    try {
        const all: Served[] = [];
        for (let life = 0; all.length === 0 || all.some(({ over }) => !over); life++) {
            const started = await start(folder, ledger);
            child = started.child;
            const client = new ServeClient(started.found);
            if (life === 0) all.push(...(await begin(client, load)));
            else await check(client, all, report);
            const over = new AbortController();
            const working = Promise.all(all.map((one) => work(client, one, over.signal, report)));
            if (life < load.kills) {
                await Promise.race([working, new Promise((resolve) => setTimeout(resolve, 100 + random() * 600))]);
                report.kills++;
                child.kill("SIGKILL");
                await once(child, "exit");
                over.abort();
            }
            await working;
        }
        child?.kill("SIGKILL");
        if (child !== null && child.exitCode === null && child.signalCode === null) await once(child, "exit");
        await verify(folder, ledger, all, load, report);
    } finally {
        if (child !== null && child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
        rmSync(folder, { recursive: true, force: true });
    }
    return report;
}

async function start(folder: string, ledger: string): Promise<{ readonly child: ChildProcess; readonly found: FoundServer }> {
    const options = JSON.stringify({ ledger, program: join(folder, "main.remit"), model: "mock:" });
    const child = spawn(process.execPath, [SERVER, folder, options], { stdio: ["ignore", "inherit", "inherit"] });
    for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        const found = servers(join(folder, ".local/state/remit/serve")).find(({ pid }) => pid === child.pid);
        if (found !== undefined) return { child, found };
        if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode} before it was ready`);
    }
}

async function begin(client: ServeClient, { sessions, trips }: Load): Promise<Served[]> {
    const all: Served[] = [];
    for (let i = 0; i < sessions; i++) {
        const { id } = await client.open({ title: `load ${i}` });
        await client.lend(id, "echo", ECHO);
        const { id: turn } = await client.submit(id, { input: { n: trips } }, "the turn");
        all.push({ id, turn, seq: 0, performed: [], asked: [], taken: new Set(), over: false });
    }
    return all;
}

/** What was acknowledged before the kill is there; the same key is the same turn. */
async function check(client: ServeClient, all: readonly Served[], { problems }: Report): Promise<void> {
    for (const one of all) {
        const { turns, seq } = await client.session(one.id);
        if (turns.length !== 1 || turns[0]?.id !== one.turn) problems.push(`${one.id}: its turn is gone`);
        if (seq < one.seq) problems.push(`${one.id}: event ${one.seq} was told, and the log ends at ${seq}`);
    }
}

async function work(client: ServeClient, one: Served, signal: AbortSignal, report: Report): Promise<void> {
    if (one.over) return;
    try {
        if (one.seq > 0) await client.lend(one.id, "echo", ECHO);
        for await (const { seq, event, data } of client.events(one.id, { from: one.seq, signal })) {
            if (seq !== undefined) {
                if (seq !== one.seq + 1) report.problems.push(`${one.id}: event ${seq} follows ${one.seq}`);
                one.seq = seq;
            }
            const about = data as {
                readonly id: string;
                readonly ask: string;
                readonly args: { readonly i: number };
                readonly detail: unknown;
            };
            if (event === "call") {
                const { i } = about.args;
                one.performed[i] = (one.performed[i] ?? 0) + 1;
                report.performed++;
                const ack = await client.result(one.id, about.id, { ok: true, value: i });
                if (ack.status === "accepted") one.taken.add(i);
            }
            if (event === "ask.requested") {
                const found = /"i":(\d+)/.exec(JSON.stringify(about.detail))?.[1];
                const i = Number(found);
                one.asked[i] = (one.asked[i] ?? 0) + 1;
                report.asked++;
                if (one.taken.has(i)) report.problems.push(`${one.id}: the result of call ${i} was taken, and it is asked about`);
                await client.decide(one.id, about.ask, "again");
            }
            if (event === "turn.ended") {
                one.over = true;
                return;
            }
        }
    } catch (error) {
        // The server was killed while it was asked.
        if (!(error instanceof ServerRefusal) || error.status !== 0) throw error;
    }
}

async function verify(folder: string, address: string, all: readonly Served[], { trips }: Load, { problems }: Report): Promise<void> {
    const ledger = await openLedger(address, { config: join(folder, ".config/remit"), env: { HOME: folder } });
    try {
        for (const one of all) {
            const run = `${one.id}.${one.turn}`;
            for (const id of [one.id, run]) {
                const verdict = await ledger.verify(id);
                if (!verdict.ok) problems.push(`${id} does not verify: ${JSON.stringify(verdict)}`);
            }
            const outcomes = new Map<string, number>();
            let value: unknown;
            for await (const { kind, path, data } of ledger.events(run)) {
                if (kind === "tool.ended") outcomes.set(path, (outcomes.get(path) ?? 0) + 1);
                if (kind === "run.ended") value = (data as { readonly value?: unknown }).value;
            }
            if (outcomes.size !== trips) problems.push(`${run}: ${outcomes.size} calls have an outcome, and ${trips} were made`);
            for (const [path, n] of outcomes) if (n !== 1) problems.push(`${run}: ${path} has ${n} outcomes`);
            if (value !== trips) problems.push(`${run}: it ended with ${JSON.stringify(value)} and not with ${trips}`);
            for (let i = 0; i < trips; i++) {
                const [performed, asked] = [one.performed[i] ?? 0, one.asked[i] ?? 0];
                if (performed < 1) problems.push(`${run}: call ${i} was never performed`);
                if (performed > 1 + asked)
                    problems.push(`${run}: call ${i} was performed ${performed} times and asked about ${asked} times`);
            }
        }
    } finally {
        await ledger.close();
    }
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
}
