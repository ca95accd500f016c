/**
 * An audit of a run in a ledger, or of a program: rules first, agents' findings added, evidence resolved.
 *
 * Boundary: reads the ledger and files; what is a finding is the machine's `audit`.
 *
 * AUD1: what could not be looked at is never called clean, nor is a record of which it cannot be told whether it was changed or cut off.
 */
import { type Json, nearest, type Program, toolSchema, unknownIn } from "@remit/language";
import {
    type AuditFinding,
    type AuditOptions,
    auditEvents,
    type Invariant,
    type LedgerEvent,
    merged,
    parseInvariant,
    type Reached,
    reachedIn,
    resolved,
} from "@remit/machine";
import type { LedgerStore } from "../ledger/store.ts";

export interface Audited {
    readonly findings: readonly AuditFinding[];
    /** Findings of others whose evidence is not there. */
    readonly fabricated: readonly AuditFinding[];
    /** What data of each origin chose, and was in; of a program nothing. */
    readonly reached: readonly Reached[];
    /** Why it cannot be told; empty where everything was looked at. */
    readonly unsure: readonly string[];
}

export interface AuditRunOptions extends AuditOptions {
    /** Findings of agents: they can add, never take away. */
    readonly others?: readonly AuditFinding[];
    /** A record that carries no code of one's own key is taken as it is. */
    readonly acceptForeign?: boolean;
}

export async function auditRun(store: LedgerStore, id: string, options: AuditRunOptions = {}): Promise<Audited> {
    const info = await store.run(id);
    const program = await store.program(info.program);
    const unsure = [...(await doubtsOf(store, info.id, options.acceptForeign)), ...misnamedIn(options.invariants ?? [], program)];
    const events = await Array.fromAsync(store.events(info.id));
    const found = auditEvents(events, program, options);
    const places = placesOf(program, events);
    const checked = resolved(options.others ?? [], {
        event: (run, seq) => (run === info.id ? (events.find((event) => event.seq === seq) ?? null) : null),
        line: (file, line) => places.has(`${file}:${line}`),
    });
    return { findings: merged(found, checked.good), fabricated: checked.fabricated, reached: reachedIn(events, program), unsure };
}

/** Why what is kept of a run cannot be relied on; empty where it can. */
export async function doubtsOf(store: LedgerStore, id: string, acceptForeign = false): Promise<string[]> {
    const { ok, bound, anchored, events } = await store.verify(id);
    if (!ok) return [`the ledger of run ${id} does not verify, so what it says cannot be relied on`];
    // Chains alone tell of mistakes: the writer of the file can make them anew, without what is to be hidden.
    if (acceptForeign) return [];
    if (bound === "yes")
        return anchored === "no" && events > 0
            ? [`the ledger has no anchor for run ${id}, so whether its last events were cut off cannot be told`]
            : [];
    const where = bound === "foreign" ? "under another key: by another user, or on another machine" : "under no key";
    return [`run ${id} was recorded ${where}, so whether its record was changed cannot be told`];
}

/** Invariants that name a method or an argument which no import of that name has: they would hold whatever was done (SN1). */
function misnamedIn(invariants: readonly Invariant[], program: Program): string[] {
    return invariants.flatMap(({ text, tool, method, bound }) => {
        const imports = program.files.flatMap((file) => file.imports.filter((one) => one.name === tool));
        const unknown = imports.map(({ what, uri }) => {
            const has = toolSchema(what, uri);
            return has === null ? null : unknownIn(has, uri, method, bound?.arg ?? null);
        });
        const first = unknown[0];
        if (first == null || unknown.includes(null)) return [];
        const near = nearest(first.name, first.known);
        return [`'${text}': ${tool} has no ${first.what} ${first.name}${near === null ? "" : `; did you mean ${near}?`}`];
    });
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
