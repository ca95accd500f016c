/**
 * Servers that are killed under load and started again, as often as is said, and what did not hold.
 *
 * Boundary: real servers in processes of their own, real clients in this one; of several on one ledger one is killed at a time, and each client goes to
 * any of them. Each session runs a program that calls a lent tool again and again; the
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
import { openLedger } from "@remit/host";
import { scriptAt } from "../../../host/tests/script.ts";
import { ServeClient, ServerRefusal, servers } from "../../src/index.ts";

const SERVER = scriptAt("packages/serve/tests/process/server.ts");
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

/** Why a tool is withdrawn that is lent again. */
const AGAIN = "it is lent anew";
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
    /** Servers on the ledger at once, which has to be a database where they are several. Default: one. */
    readonly servers?: number;
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
    /** Ids of calls that were performed. */
    readonly calls: Set<string>;
    /** Its tool has to be lent again. */
    isWithdrawn: boolean;
    /** The question that waits. */
    ask: string | null;
    over: boolean;
}

/** A server that runs. */
interface Running {
    readonly child: ChildProcess;
    readonly client: ServeClient;
    /** It was killed. */
    readonly over: AbortController;
}

export async function crash(load: Load): Promise<Report> {
    const folder = mkdtempSync(join(tmpdir(), "remit-serve-crash-"));
    mkdirSync(join(folder, "home"));
    writeFileSync(join(folder, "main.remit"), SOURCE);
    const report: Report = { kills: 0, performed: 0, asked: 0, problems: [] };
    const ledger = load.ledger ?? join(folder, "ledger.db");
    const random = randomOf(load.seed);
    const running: Running[] = [];
    let n = 0;
    const begun = async (): Promise<void> => void running.push(await start(folder, ledger, n++));
    try {
        for (let i = 0; i < (load.servers ?? 1); i++) await begun();
        const all = await begin(running, load);
        const anyOf = (): Running | null => running[Math.floor(random() * running.length)] ?? null;
        const working = Promise.all(all.map((one) => work(anyOf, one, report)));
        for (let left = load.kills; left > 0 && all.some(({ over }) => !over); left--) {
            await Promise.race([working, new Promise((resolve) => setTimeout(resolve, 100 + random() * 600))]);
            const [killed] = running.splice(Math.floor(random() * running.length), 1);
            report.kills++;
            await end(killed as Running);
            await begun();
            await check(running.at(-1) as Running, all, report);
        }
        await working;
        await Promise.all(running.splice(0).map(end));
        await verify(folder, ledger, all, load, report);
    } finally {
        await Promise.all(running.map(end));
        rmSync(folder, { recursive: true, force: true });
    }
    return report;
}

async function end({ child, over }: Running): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
    }
    over.abort();
}

async function start(folder: string, ledger: string, n: number): Promise<Running> {
    // Of several each has a state folder of its own, as on machines of their own.
    const state = join(folder, `state${n}`);
    const options = JSON.stringify({
        ledger,
        state,
        program: join(folder, "main.remit"),
        model: "mock:",
        bounds: { back: 60_000, away: 60_000 },
    });
    const child = spawn(process.execPath, [SERVER, folder, options], { stdio: ["ignore", "inherit", "inherit"] });
    for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        const found = servers(join(state, "serve")).find(({ pid }) => pid === child.pid);
        if (found !== undefined) return { child, client: new ServeClient(found), over: new AbortController() };
        if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode} before it was ready`);
    }
}

async function begin(running: readonly Running[], { sessions, trips }: Load): Promise<Served[]> {
    const all: Served[] = [];
    for (let i = 0; i < sessions; i++) {
        const { client } = running[i % running.length] as Running;
        const { id } = await client.open({ title: `load ${i}` });
        await client.lend(id, "echo", ECHO);
        const { id: turn } = await client.submit(id, { input: { n: trips } }, "the turn");
        all.push({
            id,
            turn,
            seq: 0,
            performed: [],
            asked: [],
            taken: new Set(),
            calls: new Set(),
            isWithdrawn: false,
            ask: null,
            over: false,
        });
    }
    return all;
}

/** What was acknowledged before the kill is there. */
async function check({ client }: Running, all: readonly Served[], { problems }: Report): Promise<void> {
    for (const one of all) {
        const told = one.seq;
        const { turns, seq } = await patiently(() => client.session(one.id));
        if (turns.length !== 1 || turns[0]?.id !== one.turn) problems.push(`${one.id}: its turn is gone`);
        if (seq < told) problems.push(`${one.id}: event ${told} was told, and the log ends at ${seq}`);
    }
}

/** A session moves for a moment. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (;;)
        try {
            return await ask();
        } catch (error) {
            if (!(error instanceof ServerRefusal) || error.status !== 503) throw error;
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
}

/** Until the session's turn is over, at one server after another. */
async function work(anyOf: () => Running | null, one: Served, report: Report): Promise<void> {
    while (!one.over) {
        const at = anyOf();
        if (at !== null) await workAt(at, one, report);
        if (!one.over) await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

async function workAt({ client, over }: Running, one: Served, report: Report): Promise<void> {
    try {
        await owed(client, one);
        for await (const { seq, event, data } of client.events(one.id, { from: one.seq, signal: over.signal })) {
            if (seq !== undefined) {
                if (seq !== one.seq + 1) report.problems.push(`${one.id}: event ${seq} follows ${one.seq}`);
                one.seq = seq;
            }
            const about = data as {
                readonly id: string;
                readonly ask: string;
                readonly why: string;
                readonly args: { readonly i: number };
                readonly detail: unknown;
                readonly failure?: unknown;
            };
            // It was lent to the process that had the session before.
            if (event === "lent.withdrawn" && about.why !== AGAIN) one.isWithdrawn = true;
            if (event === "ask.decided" || event === "ask.withdrawn") one.ask = null;
            if (event === "call") {
                const { i } = about.args;
                // A call that is open is told again to a client that comes again: it gives its result, and performs nothing.
                if (!one.calls.has(about.id)) {
                    one.performed[i] = (one.performed[i] ?? 0) + 1;
                    report.performed++;
                }
                one.calls.add(about.id);
                const ack = await client.result(one.id, about.id, { ok: true, value: i });
                if (ack.status === "accepted") one.taken.add(i);
            }
            if (event === "ask.requested") {
                const found = /"i":(\d+)/.exec(JSON.stringify(about.detail))?.[1];
                const i = Number(found);
                one.asked[i] = (one.asked[i] ?? 0) + 1;
                report.asked++;
                if (one.taken.has(i)) report.problems.push(`${one.id}: the result of call ${i} was taken, and it is asked about`);
                one.ask = about.ask;
            }
            await owed(client, one);
            if (event === "turn.ended") {
                one.over = true;
                if (about.failure !== undefined) report.problems.push(`${one.id}: its turn failed: ${JSON.stringify(about.failure)}`);
                return;
            }
        }
    } catch (error) {
        // The server was killed while it was asked, or the one that had the session was.
        if (!(error instanceof ServerRefusal) || (error.status !== 0 && error.status !== 503)) throw error;
    }
}

/** What the session waits for from the client; what a killed server has not acknowledged is said to the next one. */
async function owed(client: ServeClient, one: Served): Promise<void> {
    if (one.isWithdrawn) await client.lend(one.id, "echo", ECHO);
    one.isWithdrawn = false;
    const { ask } = one;
    if (ask === null) return;
    await client.decide(one.id, ask, "again");
    if (one.ask === ask) one.ask = null;
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
