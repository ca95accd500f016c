/**
 * An audit of a run in a ledger, or of a program: rules first, agents' findings added, evidence resolved.
 *
 * Boundary: reads the ledger and files; what is a finding is the machine's `audit`.
 *
 * Q1: what could not be looked at is never called clean.
 */
import type { Json, Program } from "@remit/language";
import {
    type AuditFinding,
    type AuditOptions,
    auditEvents,
    type Invariant,
    type LedgerEvent,
    merged,
    parseInvariant,
    resolved,
} from "@remit/machine";
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
}

export function auditRun(store: LedgerStore, id: string, options: AuditRunOptions = {}): Audited {
    const info = store.run(id);
    const unsure: string[] = [];
    const verified = store.verify(info.id);
    if (!verified.ok) unsure.push(`the ledger of run ${info.id} does not verify, so what it says cannot be relied on`);
    const program = store.program(info.program);
    const events = [...store.events(info.id)];
    const found = auditEvents(events, program, options);
    const places = placesOf(program, events);
    const checked = resolved(options.others ?? [], {
        event: (run, seq) => (run === info.id ? (events.find((event) => event.seq === seq) ?? null) : null),
        line: (file, line) => places.has(`${file}:${line}`),
    });
    return { findings: merged(found, checked.good), fabricated: checked.fabricated, unsure };
}

/** Places that the record itself names: those of events, of declarations and of what they give. */
function placesOf(program: Program, events: readonly LedgerEvent[]): ReadonlySet<string> {
    const places = new Set<string>();
    for (const { site } of events) if (site !== null) places.add(`${site.file}:${site.line}`);
    for (const file of program.files) {
        const remits = [...(file.remits ?? []), ...file.agents.flatMap((agent) => (agent.remit === undefined ? [] : [agent.remit]))];
        const grants = remits.flatMap((remit) => remit.grants);
        for (const { at } of [
            ...file.imports,
            ...file.agents,
            ...file.funcs,
            ...remits,
            ...grants,
            ...grants.flatMap((grant) => grant.refs),
        ])
            if (at !== undefined) places.add(`${file.file}:${at[0]}`);
    }
    return places;
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
