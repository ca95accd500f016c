/**
 * A run that another backend carries out, as its caller in this process holds it.
 *
 * Boundary: shapes, and what the run came to as the ledger has it. Who carries it out, and how, is the backend's.
 */
import type { Json } from "@remit/language";
import type { RunFailure } from "../failure/error.ts";
import type { LedgerStore } from "../ledger/store.ts";
import type { RunResult } from "./handle.ts";
import { aboutOf, cancelledResult, missingFailure } from "./handle.ts";
import type { Missing } from "./host.ts";
import type { ResumeRunOptions } from "./open.ts";
import type { KeptOptions } from "./options.ts";
import type { RemitProgram } from "./program.ts";
import type { Handlers } from "./setup.ts";

/** What one run takes from the process that performs its effects, beside what every run takes. */
export interface OfRun extends Pick<ResumeRunOptions, "tools"> {
    /** Hears what its effects give while they are performed here, as a watcher of a run in this process does. */
    readonly part?: Handlers["part"];
    /** Told once the ledger has the outcome of an effect that was performed here. */
    readonly recorded?: (path: string) => void;
    /** Told whenever the ledger may have more of the run. */
    readonly acted?: () => void;
}

export interface RunElsewhere {
    readonly run: string;
    /** What it begins with; null: the ledger has the run, which goes on. */
    readonly begins: { readonly program: Pick<RemitProgram, "form" | "hash" | "file" | "root">; readonly kept: KeptOptions } | null;
    readonly on: Handlers;
    /** For its effects, which are performed in this process. */
    readonly of: OfRun;
    /** Cancels the run. */
    readonly signal: AbortSignal;
    /** This process lets the run go on without it; `carryOut` rejects with the reason. */
    readonly leave: AbortSignal;
}

export interface RunCarrier extends AsyncDisposable {
    /** Resolves when the run is over, whatever it came to. */
    carryOut(run: RunElsewhere): Promise<RunResult>;
}

/** Makes what carries out runs of this ledger. */
export type RunCarriers = (store: LedgerStore) => Promise<RunCarrier>;

/** `missing`: what it was let go for. */
export async function resultElsewhere(store: LedgerStore, id: string, missing: Missing | null): Promise<RunResult> {
    const info = await store.run(id);
    const { status, value = null, failure } = info;
    if (status === "done") return { ...aboutOf(info, status), ok: true, value: structuredClone<Json>(value) };
    if (status === "failed") return { ...aboutOf(info, status), ok: false, failure: failure as RunFailure };
    if (missing !== null) return { ...aboutOf(info, "waiting"), ok: false, ...missingFailure(info.id, missing) };
    if (status === "stopped") return cancelledResult(info);
    const message = "its execution ended without an end of the run";
    return {
        ...aboutOf(info, status),
        ok: false,
        failure: { kind: "unreachable", message, hint: `remit resume ${info.id} goes on with it` },
    };
}
