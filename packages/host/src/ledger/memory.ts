/**
 * A ledger in memory with the same interface: for the library's short runs, for tests and for `--no-ledger`.
 *
 * Boundary: keeps what it is given; events are sealed when somebody looks at them, so that a run nobody audits pays nothing for it.
 *
 * Y1: nothing outlives the store: whoever drops it frees every run in it.
 */
import type { Json, Program } from "@remit/language";
import { GENESIS, type MachineEvent, type Outcome, type SealedEvent, type Usage } from "@remit/machine";
import { randomBytes } from "node:crypto";
import { memoryAskRows } from "./asks-rows.ts";
import { asksOver } from "./asks.ts";
import { LedgerError } from "./error.ts";
import { salts, seal } from "./seal.ts";
import {
    type Batch,
    type LedgerStore,
    type NewRun,
    type PendingEffect,
    type RecordedOutcome,
    type RunEnd,
    type RunInfo,
    type RunStatus,
    type RunWriter,
    addUsage,
} from "./store.ts";
import { chainOutcome, verifyRun } from "./verify.ts";

interface Kept {
    readonly run: NewRun;
    readonly started: number;
    ended: number | null;
    status: RunStatus;
    end: RunEnd | null;
    usage: Usage;
    steps: number;
    spent: number;
    owned: boolean;
    /** Events not yet sealed, a commit each, with its time. */
    loose: { readonly events: readonly MachineEvent[]; readonly time: number }[];
    /** How many events there are, sealed or not. */
    events: number;
    readonly sealed: SealedEvent[];
    readonly outcomes: { readonly path: string; readonly outcome: Outcome; readonly time: number }[];
    readonly pending: Map<string, PendingEffect>;
    image: Json | null;
    deltas: Json[];
    stateOutcomes: number;
}

export function memoryStore(): LedgerStore {
    const runs = new Map<string, Kept>();
    const salt = salts();
    // Nobody else sees what is in memory: a key of its own does.
    let key: Buffer | null = null;
    const askKey = (): Buffer => {
        key ??= randomBytes(32);
        return key;
    };
    const asks = asksOver(
        memoryAskRows((run, pending) => {
            const kept = runs.get(run);
            return kept !== undefined && kept.status !== "done" && kept.status !== "failed" && kept.pending.has(pending);
        }),
        askKey,
    );

    function find(id: string): Kept {
        const kept =
            id === "last" ? [...runs.values()].at(-1) : (runs.get(id) ?? [...runs.values()].find((one) => one.run.id.startsWith(id)));
        if (kept === undefined) throw new LedgerError("unknown", `there is no run ${id}`);
        return kept;
    }

    function sealAll(kept: Kept): readonly SealedEvent[] {
        for (const { events, time } of kept.loose)
            kept.sealed.push(
                ...seal(
                    events,
                    { run: kept.run.id, count: kept.sealed.length, head: kept.sealed.at(-1)?.hash ?? GENESIS },
                    new Date(time).toISOString(),
                    salt,
                ),
            );
        kept.loose = [];
        return kept.sealed;
    }

    function writer(kept: Kept): RunWriter {
        let open = true;
        let committed = false;
        const { status } = kept;
        kept.owned = true;
        kept.status = "running";
        return {
            id: kept.run.id,
            commit: async (batch: Batch) => {
                if (!open) throw new LedgerError("owned", `run ${kept.run.id} is no longer owned by this writer`);
                committed = true;
                const time = Date.now();
                for (const { path, outcome } of batch.outcomes ?? []) {
                    kept.outcomes.push({ path, outcome, time });
                    kept.pending.delete(path);
                }
                if (batch.events !== undefined && batch.events.length > 0) {
                    // The caller goes on using its list.
                    kept.loose.push({ events: batch.events.slice(), time });
                    kept.events += batch.events.length;
                }
                for (const path of batch.dropped ?? []) kept.pending.delete(path);
                for (const one of batch.pending ?? []) kept.pending.set(one.path, one);
                for (const path of batch.begin ?? []) {
                    const one = kept.pending.get(path);
                    if (one !== undefined) kept.pending.set(path, { path, begun: true });
                }
                if (batch.state?.kind === "image") {
                    kept.image = batch.state.json;
                    kept.deltas = [];
                } else if (batch.state !== undefined) kept.deltas.push(batch.state.json);
                if (batch.state !== undefined) kept.stateOutcomes = kept.outcomes.length;
                if (batch.usage !== undefined) kept.usage = addUsage(kept.usage, batch.usage);
                kept.steps = batch.steps ?? kept.steps;
                kept.spent = batch.spent ?? kept.spent;
                if (batch.end !== undefined) {
                    kept.end = batch.end;
                    kept.status = batch.end.status;
                    if (batch.end.status === "done" || batch.end.status === "failed") {
                        kept.ended = time;
                        kept.image = null;
                        kept.deltas = [];
                    }
                    open = false;
                    kept.owned = false;
                }
            },
            timed: () => undefined,
            release: async () => {
                if (open) {
                    kept.owned = false;
                    if (!committed) kept.status = status;
                }
                open = false;
            },
        };
    }

    function info(kept: Kept): RunInfo {
        const { run, end } = kept;
        return {
            id: run.id,
            program: run.hash,
            file: run.file,
            root: run.root,
            started: new Date(kept.started).toISOString(),
            ended: kept.ended === null ? null : new Date(kept.ended).toISOString(),
            status: kept.status,
            live: kept.owned,
            ...(end?.status === "done" ? { value: end.value } : end?.status === "failed" ? { failure: end.failure } : {}),
            usage: kept.usage,
            steps: kept.steps,
            spent: kept.spent,
            effects: kept.outcomes.length,
            events: kept.events,
        };
    }

    return {
        durable: false,
        path: null,
        create: async (run) => {
            const kept: Kept = {
                run,
                started: Date.now(),
                ended: null,
                status: "running",
                end: null,
                usage: {},
                steps: 0,
                spent: 0,
                owned: true,
                loose: [],
                events: 0,
                sealed: [],
                outcomes: [],
                pending: new Map(),
                image: null,
                deltas: [],
                stateOutcomes: 0,
            };
            runs.set(run.id, kept);
            return writer(kept);
        },
        own: async (id) => {
            const kept = find(id);
            if (kept.status === "done" || kept.status === "failed") throw new LedgerError("finished", `run ${kept.run.id} is over`);
            if (kept.owned) throw new LedgerError("owned", `run ${kept.run.id} goes on in this process`);
            return writer(kept);
        },
        dropped: async () => [],
        runs: async (limit = 100) => [...runs.values()].reverse().slice(0, limit).map(info),
        run: async (id) => info(find(id)),
        options: async (id) => find(id).run.options,
        events: async function* (id, from = 1): AsyncGenerator<SealedEvent> {
            const kept = find(id);
            for (let at = from - 1; at < sealAll(kept).length; at++) yield kept.sealed[at] as SealedEvent;
        },
        outcomes: async function* (id, after = 0): AsyncGenerator<RecordedOutcome> {
            const { outcomes } = find(id);
            for (let n = after + 1; n <= outcomes.length; n++) {
                const { path, outcome, time } = outcomes[n - 1] as Kept["outcomes"][number];
                yield { n, time: new Date(time).toISOString(), path, outcome };
            }
        },
        pending: async (id) => [...find(id).pending.values()],
        program: async (hash): Promise<Program> => {
            for (const kept of runs.values()) if (kept.run.hash === hash) return kept.run.program;
            throw new LedgerError("unknown", `there is no program ${hash}`);
        },
        state: async (id) => {
            const kept = find(id);
            return kept.image === null ? null : { image: kept.image, deltas: [...kept.deltas], outcomes: kept.stateOutcomes };
        },
        verify: async (id) => {
            const kept = find(id);
            const sealed = sealAll(kept);
            let answered = "";
            const outcomes = kept.outcomes.map((one, i) => {
                const text = JSON.stringify(one.outcome);
                answered = chainOutcome(answered, one.path, text);
                return { n: i + 1, path: one.path, text, hash: answered };
            });
            return verifyRun({
                count: sealed.length,
                head: sealed.at(-1)?.hash ?? GENESIS,
                answers: outcomes.length,
                answered,
                events: sealed,
                outcomes,
                program: kept.run.hash,
                status: info(kept).status,
                value: () => info(kept).value,
                form: () => kept.run.program,
                anchor: undefined,
                held: () => ({ held: "yes" }),
            });
        },
        asks,
        remove: async (ids) => {
            const gone = new Set(ids.map((id) => find(id)));
            for (const kept of gone) if (kept.owned) throw new LedgerError("owned", `run ${kept.run.id} goes on in this process`);
            for (const kept of gone) runs.delete(kept.run.id);
            return { runs: gone.size, bytes: 0, shrunk: true };
        },
        close: async () => runs.clear(),
    };
}
