/** `remit runs`: what the ledger holds, newest first; `--prune` removes runs. */
import { isCarriedElsewhere, isSession, LedgerError, type LedgerStore, type RunInfo, type UnreadableRun } from "@remit/host";
import { age, atLeastOne, whole } from "../amounts.ts";
import { EXIT, UsageError, count, counted, duration, paint, plainLine, printJson, printLines, say, table } from "../io.ts";
import { isPersonThere, prompted } from "../prompts.ts";
import { openForReading, openForShowing, sayNoRuns } from "../ledger.ts";

/** No limit on how many runs are listed. */
const EVERY = Number.MAX_SAFE_INTEGER;

/** The word shown for a run's state: a run whose process is gone is interrupted, whatever it was doing. */
export function stateOf(run: RunInfo): string {
    if (isSession(run.id)) return run.status === "done" ? "closed" : "session";
    return run.status === "running" && !run.live ? "interrupted" : run.status;
}

export default async function runs(args: string[], options: Record<string, unknown>): Promise<number> {
    if (options["prune"]) return prune(args, options);
    for (const option of ["olderThan", "keep", "yes"])
        if (options[option] !== undefined) throw new UsageError(`--${option === "olderThan" ? "older-than" : option} goes with --prune`);
    if (args.length > 0) throw new UsageError("remit runs takes runs only with --prune", "remit trace RUN shows one");
    const limit = atLeastOne(whole(String(options["limit"] ?? "20"), "--limit"), "--limit");
    const store = await openForShowing(options);
    if (store === null) {
        sayNoRuns("No runs yet: `remit run FILE` makes the first one.", options);
        if (options["json"]) printJson([]);
        return EXIT.ok;
    }
    try {
        const unreadable: UnreadableRun[] = [];
        const all = await store.runs(options["waiting"] ? EVERY : limit, (one) => unreadable.push(one));
        const asking = await asked(
            store,
            all.filter((run) => stateOf(run) === "waiting" || isCarriedElsewhere(run)),
        );
        // An execution elsewhere goes on while it waits for a person, so the ledger has it as running.
        const stateHere = (run: RunInfo): string => (isCarriedElsewhere(run) && asking.has(run.id) ? "waiting" : stateOf(run));
        const open = (run: RunInfo): boolean => ["interrupted", "waiting", "stopped"].includes(stateHere(run));
        const found = options["waiting"] ? all.filter(open).slice(0, limit) : all;
        sayUnreadable(unreadable);
        const code = unreadable.length === 0 ? EXIT.ok : EXIT.failed;
        if (options["json"]) {
            printJson(found.map((run) => ({ ...run, status: stateHere(run) })) as never);
            return code;
        }
        if (found.length === 0) {
            if (unreadable.length > 0) return code;
            if (options["waiting"]) say("No run waits.");
            else sayNoRuns("No runs yet: `remit run FILE` makes the first one.", options);
            return EXIT.ok;
        }
        const colour = paint(process.stdout);
        const rows = found.map((run) => {
            const state = stateHere(run);
            const took = run.ended ? duration(Date.parse(run.ended) - Date.parse(run.started)) : "";
            const tokens = (run.usage.input ?? 0) + (run.usage.output ?? 0);
            const cost = run.usage.usd === undefined || run.usage.usd === 0 ? "" : `$${run.usage.usd.toFixed(4)}`;
            return [
                run.id,
                run.started.replace("T", " ").slice(0, 19),
                state,
                took,
                String(run.effects),
                tokens ? count(tokens) : "",
                cost,
                plainLine(run.file),
            ];
        });
        // on a terminal a column that is empty would move the last one out of sight
        const isShown = HEAD.map((_, i) => process.stdout.isTTY !== true || rows.some((row) => row[i] !== ""));
        const [head, ...lines] = table([HEAD, ...rows].map((row) => row.filter((_, i) => isShown[i]))).split("\n");
        printLines([colour("dim", head ?? ""), ...lines].join("\n"));
        // a run whose questions are all answered can go on, and one that waits for the outcome of an effect is told it by `resume`
        const waiting = found.filter((run) => stateHere(run) === "waiting" && asking.has(run.id)).length;
        const going = found.filter((run) => open(run) && !(stateHere(run) === "waiting" && asking.has(run.id)));
        if (waiting + going.length > 0) say("");
        if (waiting > 0) say(`${waiting === 1 ? "One run waits" : `${waiting} runs wait`} for an answer: remit asks`);
        if (going.length > 0)
            say(`${going.length === 1 ? "One run" : `${going.length} runs`} can go on: remit resume ${going[0]?.id ?? "RUN"}`);
        return code;
    } finally {
        await store.close();
    }
}

/** Which of these runs have an open question. Only theirs are read: a ledger keeps every question that was ever asked. */
async function asked(store: LedgerStore, runs: readonly RunInfo[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(runs.map((run) => store.asks.list(run.id)));
    return new Set(found.flat().flatMap((one) => (one.state === "open" ? [one.run] : [])));
}

const HEAD = ["RUN", "STARTED (UTC)", "STATE", "TOOK", "EFFECTS", "TOKENS", "COST", "PROGRAM"];

/** On standard error: one run that cannot be read must not hide the others. */
export function sayUnreadable(runs: readonly UnreadableRun[]): void {
    for (const { id, error } of runs) say(`Run ${plainLine(id)} cannot be read: ${plainLine(error.message)}. ${error.hint}`);
}

/** Removes finished runs that are old enough and not among the newest, or the runs that are named. Without `--yes` a person is asked. */
async function prune(args: string[], options: Record<string, unknown>): Promise<number> {
    const older = options["olderThan"] === undefined ? null : age(String(options["olderThan"]), "--older-than");
    const keep = options["keep"] === undefined ? null : whole(String(options["keep"]), "--keep");
    if (args.length === 0 && older === null && keep === null)
        throw new UsageError("--prune needs to know which runs", "say --older-than 30d, --keep 100, both, or name runs");
    if (args.length > 0 && (older !== null || keep !== null)) throw new UsageError("name runs, or say --older-than and --keep, not both");
    if (options["json"]) throw new UsageError("--prune has no --json");
    const store = await openForReading(options);
    if (store === null) {
        sayNoRuns("No runs yet, so nothing to remove.", options);
        return EXIT.ok;
    }
    try {
        const unreadable: UnreadableRun[] = [];
        const before = Date.now() - (older ?? 0);
        const chosen =
            args.length > 0
                ? [...new Map((await Promise.all(args.map((id) => named(store, id)))).map((one) => [one.id, one])).values()]
                : (await store.runs(EVERY, (one) => unreadable.push(one)))
                      .slice(keep ?? 0)
                      .filter((run) => run.ended !== null && (older === null || Date.parse(run.ended) < before))
                      .map(described);
        sayUnreadable(unreadable);
        if (chosen.length === 0) {
            say("No run is to be removed.");
            return EXIT.ok;
        }
        for (const one of chosen) printLines(`${one.id}  ${one.line}`);
        if (options["yes"] !== true && !(await agreed(chosen.length))) {
            say("Nothing was removed; --yes removes without asking.");
            return EXIT.ok;
        }
        const { runs: gone, bytes, shrunk } = await store.remove(chosen.map((one) => one.id));
        const room = shrunk
            ? `, ${megabytes(bytes)} freed`
            : "; the ledger is in use, so its file stays as large as it is and the room is used again";
        say(`Removed ${counted(gone, "run")}${room}.`);
        return EXIT.ok;
    } finally {
        await store.close();
    }
}

interface Chosen {
    readonly id: string;
    readonly line: string;
}

function described(run: RunInfo): Chosen {
    return { id: run.id, line: `${run.started.replace("T", " ").slice(0, 19)}  ${stateOf(run)}  ${plainLine(run.file)}` };
}

/** A run that cannot be read can be removed by its whole id. */
async function named(store: LedgerStore, id: string): Promise<Chosen> {
    try {
        return described(await store.run(id));
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "tampered") throw error;
        return { id, line: "cannot be read" };
    }
}

function megabytes(bytes: number): string {
    return bytes < 100_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Where no person is at a terminal the answer is no. */
async function agreed(runs: number): Promise<boolean> {
    if (!isPersonThere()) return false;
    const message = `Remove ${counted(runs, "run")} for ever?`;
    return (await prompted(({ confirm }, around) => confirm({ message, initialValue: false, ...around }))) === true;
}
