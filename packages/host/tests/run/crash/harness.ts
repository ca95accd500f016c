/**
 * Killing runs and going on with them, in real processes, and what must hold whenever one is killed.
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLedger } from "../../../src/run/open.ts";
import { EFFECTS, EXPECTED, PROGRAM, linesOf } from "./program.ts";
import { scriptAt } from "../../script.ts";

/** Compiled modules, shared by all the processes: starting them is most of the work. */
const COMPILED = join(tmpdir(), "remit-crash-compiled");
const CHILD = scriptAt("packages/host/tests/run/crash/child.ts");

/** `moment`: at that moment of the process's own count; `after`: from outside, so many milliseconds after its first sign of life. */
export type Kill = { readonly moment: number } | { readonly after: number };

/** Where the steps are performed: in the process that runs the program, or in a child of it, over JSON lines. */
export type Shell = "local" | "remote";

export interface CrashCase {
    /** One after the other: the run, then each resume. */
    readonly kills: readonly Kill[];
    /** Shells that take turns, a process each; `local` where absent. */
    readonly shells?: readonly Shell[];
    /** After the first kill go on with a copy of the ledger's files elsewhere. */
    readonly copy?: boolean;
}

interface Ended {
    readonly killed: boolean;
    readonly out: string;
    readonly err: string;
}

function child(folder: string, shell: Shell, kill: Kill | null): Promise<Ended> {
    return new Promise((resolve, reject) => {
        const args = [CHILD, folder, shell, ...(kill !== null && "moment" in kill ? [String(kill.moment)] : [])];
        const started = spawn(process.execPath, args, {
            stdio: ["ignore", "pipe", "pipe"],
            env: { ...process.env, NODE_OPTIONS: "", NODE_COMPILE_CACHE: COMPILED },
        });
        let out = "";
        let err = "";
        started.stdout.on("data", (data: Buffer) => {
            out += data;
        });
        started.stderr.on("data", (data: Buffer) => {
            err += data;
        });
        if (kill !== null && "after" in kill) {
            const before = linesOf(join(folder, "side.log")).length;
            const watch = setInterval(() => {
                if (linesOf(join(folder, "side.log")).length === before) return;
                clearInterval(watch);
                setTimeout(() => started.kill("SIGKILL"), kill.after);
            }, 1);
            started.on("exit", () => clearInterval(watch));
        }
        started.on("error", reject);
        started.on("close", (_code, signal) => resolve({ killed: signal === "SIGKILL", out, err }));
    });
}

export interface CrashReport {
    readonly kills: number;
    /** Steps that a person was asked about and that were done again. */
    readonly again: number;
    readonly problems: readonly string[];
}

/** Runs a case to its end. `problems` is empty where everything held. */
export async function crash(test: CrashCase): Promise<CrashReport> {
    let folder = mkdtempSync(join(tmpdir(), "remit-crash-"));
    const folders = [folder];
    try {
        writeFileSync(join(folder, "program.remit"), PROGRAM);
        let kills = 0;
        let ended: Ended | null = null;
        const shells = test.shells ?? ["local"];
        for (const [n, kill] of [...test.kills, null].entries()) {
            ended = await child(folder, shells[n % shells.length] as Shell, kill);
            if (!ended.killed) break;
            kills++;
            if (test.copy === true && kills === 1) {
                const elsewhere = mkdtempSync(join(tmpdir(), "remit-crash-copy-"));
                folders.push(elsewhere);
                mkdirSync(elsewhere, { recursive: true });
                for (const name of ["program.remit", "side.log", "ledger.db", "ledger.db-wal", "ledger.db.anchors", "config"])
                    if (existsSync(join(folder, name)))
                        cpSync(join(folder, name), join(elsewhere, name), { recursive: true, force: true, errorOnExist: false });
                folder = elsewhere;
            }
        }
        return { kills, ...(await judge(folder, ended as Ended)) };
    } finally {
        for (const one of folders) rmSync(one, { recursive: true, force: true });
    }
}

async function judge(folder: string, ended: Ended): Promise<{ again: number; problems: string[] }> {
    const problems: string[] = [];
    if (ended.out === "") return { again: 0, problems: [`the last process gave no result: ${ended.err.slice(0, 2000)}`] };
    const result = JSON.parse(ended.out) as { ok: boolean; value?: unknown; failure?: unknown };
    if (JSON.stringify(result.value) !== JSON.stringify(EXPECTED))
        problems.push(`the value is ${JSON.stringify(result.value ?? result.failure)}`);

    const lines = linesOf(join(folder, "side.log"));
    const count = new Map<string, number>();
    for (const line of lines) count.set(line, (count.get(line) ?? 0) + 1);
    let again = 0;
    for (const [line, times] of count) {
        if (line.startsWith("end ") && times > 1) problems.push(`a finished step was done again: ${line} ${times} times`);
        if (line.startsWith("begin ") && times > 1) again += times - 1;
    }
    const ends = [...count.keys()].filter((line) => line.startsWith("end ")).length;
    if (ends !== EFFECTS) problems.push(`${ends} steps instead of ${EFFECTS}`);

    const ledger = await openLedger(join(folder, "ledger.db"), { config: join(folder, "config") });
    try {
        const runs = await ledger.runs();
        if (runs.length !== 1) problems.push(`${runs.length} runs in the ledger`);
        const [run] = runs;
        if (run === undefined) return { again, problems };
        const verified = await ledger.verify(run.id);
        if (!verified.ok) problems.push(`the chain does not verify: ${verified.problem?.message}`);
        if (run.effects !== EFFECTS) problems.push(`${run.effects} outcomes instead of ${EFFECTS}`);
        const replayed = await ledger.replay(run.id);
        if (!replayed.equal) problems.push(`the replay differs: ${replayed.first?.path}: ${replayed.first?.message}`);
    } finally {
        await ledger.close();
    }
    return { again, problems };
}

/** Moments of a whole run: four a step, and one for each event. */
export const MOMENTS = 300;

/** The ways to perform a run and what goes on with it. */
export const SHELLS: readonly (readonly Shell[])[] = [["local"], ["remote"], ["local", "remote"], ["remote", "local"]];

/** Case number `n` of the matrix, the same every time. */
export function caseOf(n: number, shells: readonly Shell[] = ["local"]): CrashCase {
    const random = generator(n);
    const kill = (): Kill => (random() < 0.6 ? { moment: Math.floor(random() * MOMENTS) } : { after: Math.floor(random() * 150) });
    const kills = [kill()];
    while (random() < 0.35 && kills.length < 4) kills.push(kill());
    return { kills, shells, copy: n % 4 === 3 };
}

/** A small generator of numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
    let state = (seed + 1) * 0x9e3779b9;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}
