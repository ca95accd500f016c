/**
 * An audit of a run in a ledger, or of a program: rules first, agents' findings added, evidence resolved.
 *
 * Boundary: reads the ledger and files; what is a finding is the machine's `audit`.
 *
 * Q1: what could not be looked at is never called clean.
 */
import type { Json } from "@remit/language";
import { type AuditFinding, type AuditOptions, auditEvents, type Invariant, merged, parseInvariant, resolved } from "@remit/machine";
import type { LedgerStore } from "../ledger/store.ts";

export interface Audited {
    readonly findings: readonly AuditFinding[];
    /** Findings of others whose evidence is not there. */
    readonly fabricated: readonly AuditFinding[];
    /** Why it cannot be told; empty where everything was looked at. */
    readonly unsure: readonly string[];
}

export interface AuditRunOptions extends AuditOptions {
    /** Findings of agents: they can add, never take away. */
    readonly others?: readonly AuditFinding[];
    /** Lines of a source file, for evidence that is a place. Default: any line of a file of the program. */
    readonly line?: (file: string, line: number) => boolean;
}

export function auditRun(store: LedgerStore, id: string, options: AuditRunOptions = {}): Audited {
    const info = store.run(id);
    const unsure: string[] = [];
    const verified = store.verify(info.id);
    if (!verified.ok) unsure.push(`the ledger of run ${info.id} does not verify, so what it says cannot be relied on`);
    const program = store.program(info.program);
    const events = [...store.events(info.id)];
    const found = auditEvents(events, program, options);
    const files = new Set(program.files.map((file) => file.file));
    const checked = resolved(options.others ?? [], {
        event: (run, seq) => (run === info.id ? (events.find((event) => event.seq === seq) ?? null) : null),
        line: (file, line) => files.has(file) && (options.line?.(file, line) ?? true),
    });
    return { findings: merged(found, checked.good), fabricated: checked.fabricated, unsure };
}

/** Invariants from a list of texts; a text that is none is told. */
export function invariantsOf(texts: readonly Json[]): { readonly invariants: Invariant[]; readonly wrong: string[] } {
    const invariants: Invariant[] = [];
    const wrong: string[] = [];
    for (const text of texts) {
        const made = typeof text === "string" ? parseInvariant(text) : null;
        if (made === null) wrong.push(typeof text === "string" ? text : JSON.stringify(text));
        else invariants.push(made);
    }
    return { invariants, wrong };
}
