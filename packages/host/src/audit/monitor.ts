/**
 * An audit that goes along with a run: each finding as soon as the event that shows it is kept.
 *
 * Boundary: follows a handle's events; the rules are the machine's. It takes no decision: the caller that it tells may cancel the run.
 *
 * MN2: a finding is told once, however often what it shows happens again at the same place.
 * MN3: while the run waits, the monitor waits: it looks at nothing until something new is kept.
 */
import {
    type AuditFinding,
    type AuditOptions,
    against,
    auditorOf,
    type Baseline,
    fingerprint,
    type LedgerEvent,
    type Profile,
    profileOf,
} from "@remit/machine";
import type { Program } from "@remit/language";
import type { LedgerStore } from "../ledger/store.ts";
import type { RunHandle } from "../run/handle.ts";

export interface MonitorOptions extends AuditOptions {
    /** Findings that are known and accepted until a day are not told. */
    readonly baseline?: Baseline;
    /** Called with each finding, as it happens. */
    readonly finding?: (finding: AuditFinding) => void;
}

/** Resolves with all that was told when the run ends, stops or waits for a person. Grants that a run did not use are for an audit of the whole run. */
export async function monitor(
    handle: Pick<RunHandle<unknown>, "events" | "program">,
    options: MonitorOptions = {},
): Promise<readonly AuditFinding[]> {
    const watch = watchOf(handle.program, options);
    const told: AuditFinding[] = [];
    const tell = (findings: readonly AuditFinding[]): void => {
        for (const finding of findings) {
            told.push(finding);
            options.finding?.(finding);
        }
    };
    tell(watch.begin());
    for await (const event of handle.events) tell(watch.event(event));
    return told;
}

export interface RunWatch {
    begin(): readonly AuditFinding[];
    event(event: LedgerEvent): readonly AuditFinding[];
}

/** The rules one event after the other, without what was told and what is accepted. */
export function watchOf(program: Program, options: Omit<MonitorOptions, "finding">): RunWatch {
    const auditor = auditorOf(program, options);
    const known = new Set<string>();
    const fresh = (findings: readonly AuditFinding[]): readonly AuditFinding[] => {
        if (findings.length === 0) return findings;
        const { open } = against(findings, options.baseline ?? null, today());
        return open.filter((finding) => {
            const print = fingerprint(finding);
            if (known.has(print)) return false;
            known.add(print);
            return true;
        });
    };
    return { begin: () => fresh(auditor.begin()), event: (event) => fresh(auditor.event(event)) };
}

/** What a run gave and did, to compare others with. Rejects with `LedgerError` `unknown`. */
export async function profileOfRun(store: LedgerStore, id: string): Promise<Profile> {
    const info = await store.run(id);
    return profileOf(await Array.fromAsync(store.events(info.id)), await store.program(info.program));
}

/** `2026-11-21`, UTC. */
export function today(): string {
    return new Date().toISOString().slice(0, 10);
}
