/**
 * What the test hooks share: the runs of a test are audited before each assertion and after the test.
 *
 * Boundary: listens to the runs of this process; which hooks a test runner has is said in the files beside.
 *
 * GU1: a finding fails the test, whatever its assertions say, and also where what was thrown was caught.
 * GU2: a run is looked at once: each look reads only the events that are new.
 * GU3: a run that has not ended when a test ends stays until it has, so that nothing it does later is missed; one that begins later than the end of
 *     the test that led to it is looked at with those. What no test waits for is looked at for as long as the file's tests last.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type AuditFinding, type Baseline, type LedgerEvent, type Severity, severityRank } from "@remit/machine";
import { invariantsOf } from "../audit/audit.ts";
import { type RunWatch, watchOf } from "../audit/monitor.ts";
import { type HeardRun, RUNS } from "../run/started.ts";

export interface HookOptions {
    /** Findings of this severity and over fail the test. Default `medium`. */
    readonly failOn?: Severity;
    /** What must hold: `Fixer never Repo.write outside "src/**"`. */
    readonly invariants?: readonly string[];
    /** Rules that may find something, for tests of refusals: `flow-refused`. */
    readonly ignore?: readonly string[];
    /** Findings that are known and accepted until a day. */
    readonly baseline?: Baseline;
    /** Origins that count as trusted besides `user` and what was endorsed. */
    readonly trusted?: readonly string[];
}

/** The audit has findings about the runs of a test. */
export class AuditError extends Error {
    override readonly name = "AuditError";
    readonly findings: readonly AuditFinding[];
    constructor(findings: readonly AuditFinding[]) {
        super(`the audit found ${findings.length === 1 ? "this" : `${findings.length} things`}:\n${findings.map(shown).join("\n")}`);
        this.findings = findings;
    }
}

export interface Guard {
    /** Audits what happened so far. Throws `AuditError`. */
    look(): void;
    /** The end of a test: as `look`, and what has ended is forgotten. `quietly`: the test has failed already. */
    end(quietly?: boolean): void;
    /** Runs that begin in `work` belong to it alone, also where tests run at the same time. */
    during(work: () => Promise<void>): Promise<void>;
    /** The end of the file's tests: as `end`, and it hears of no further run; files may share a process, and a run keeps nothing without a listener. */
    close(): void;
}

/** The runs of one test. `over`: what begins now belongs to no test any more. */
interface Own {
    readonly runs: Looked[];
    over: boolean;
}

interface Looked {
    readonly run: HeardRun;
    readonly watch: RunWatch;
    at: number;
    readonly found: AuditFinding[];
}

/** Throws `TypeError` where an invariant is none. */
export function guardOf(options: HookOptions): Guard {
    const { invariants, wrong } = invariantsOf(options.invariants ?? []);
    if (wrong.length > 0) throw new TypeError(`'${wrong[0]}' is no invariant; write: Fixer never Repo.write outside "src/**"`);
    const least = severityRank(options.failOn ?? "medium");
    const ignored = new Set(options.ignore ?? []);
    const counts = (finding: AuditFinding): boolean => severityRank(finding.severity) >= least && !ignored.has(finding.rule);
    let shared: Looked[] = [];
    const own = new AsyncLocalStorage<Own>();
    const hear = (message: unknown): void => {
        const run = message as HeardRun;
        const watch = watchOf(run.program, {
            invariants,
            ...(options.baseline === undefined ? {} : { baseline: options.baseline }),
            ...(options.trusted === undefined ? {} : { trusted: options.trusted }),
        });
        const mine = own.getStore();
        (mine === undefined || mine.over ? shared : mine.runs).push({ run, watch, at: 0, found: [...watch.begin()].filter(counts) });
    };
    subscribe(RUNS, hear);
    const read = (one: Looked): readonly AuditFinding[] => {
        while (one.at < one.run.events.length) one.found.push(...one.watch.event(one.run.events[one.at++] as LedgerEvent).filter(counts));
        return one.found;
    };
    const all = (): Looked[] => {
        const mine = own.getStore();
        return mine === undefined ? shared : [...mine.runs, ...shared];
    };
    const look = (): void => {
        const found = all().flatMap(read);
        if (found.length > 0) throw new AuditError(found);
    };
    const end = (quietly = false): void => {
        try {
            if (!quietly) look();
        } finally {
            // What goes on after its test is looked at in the tests that follow, without what was told.
            const later = all().filter((one) => !one.run.events.some((event) => event.kind === "run.ended"));
            for (const one of later) one.found.splice(0);
            const mine = own.getStore();
            mine?.runs.splice(0);
            shared = later;
        }
    };
    const during = (work: () => Promise<void>): Promise<void> => {
        const mine: Own = { runs: [], over: false };
        return own.run(mine, work).finally(() => {
            mine.over = true;
            shared.push(...mine.runs.splice(0));
        });
    };
    const close = (): void => {
        unsubscribe(RUNS, hear);
        end();
    };
    return { look, end, during, close };
}

function shown(finding: AuditFinding): string {
    const { site } = finding;
    const where = site === null ? (finding.path ?? "") : `${site.file}:${site.line}:${site.column}`;
    const events = finding.evidence.flatMap((one) => (one.kind === "event" ? [`event ${one.seq} of run ${one.run}`] : []));
    return `  ${finding.severity} ${finding.rule} at ${[where, ...events].join(", ")}: ${finding.message}`;
}
