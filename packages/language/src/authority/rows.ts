/**
 * Who may do what in a program, read from its form: the table behind `remit check --authority`.
 *
 * Boundary: pure, no run. What a call decides besides (who chose it, what a tool says of itself, where values came from) is the machine's;
 * the table is what the program's own text gives.
 *
 * RO1: of the rows for one principal and one thing that fit a call, the strictest gate counts; where none fits, the call is refused. Rows by
 *     `argument` are about use through that argument, all others about use by name; what a remit forbids or asks about counts for both.
 * RO2: a thing is known by what it is and where it leads, as in the machine: two imports of one thing are one thing.
 * RO3: an agent that several remits bind has what all of them give: their rows are crossed, and gates and bounds add up. A project's remit is one
 *     of them, and a project's clause one of the imports' (A2).
 */
import type { BoundForm, ClauseForm, CountForm, Gate, Program, SpendForm } from "../form/form.ts";
import type { Site } from "../text/source.ts";
import { grantsIn, idOf } from "./grants.ts";
import { type Exception, type Holder, type Line, stricter, type Thing, Tables, methodOf } from "./tables.ts";
import type { ProjectPolicy } from "./project.ts";
import { keyOf } from "./thing.ts";

export interface AuthorityRow {
    /** `user`, or the name of an agent that has a remit. */
    readonly principal: string;
    /** Where the agent is declared; null for `user`. */
    readonly agent: { readonly file: string; readonly name: string } | null;
    /** The file whose names and clauses these are. */
    readonly file: string;
    /** `endorse`: the right to call values trusted. `nothing`: a remit that gives nothing. */
    readonly what: "tool" | "llm" | "memory" | "agent" | "skill" | "endorse" | "nothing";
    readonly name: string;
    /** Relative places are taken from the program's root; `FILE#NAME` for an agent of the program. */
    readonly uri: string;
    /** `*`: every method. */
    readonly method: string;
    readonly gate: Gate;
    /** All of them must hold. */
    readonly bounds: readonly BoundForm[];
    /** How often it may be used in a run, all principals together. */
    readonly counts?: readonly CountForm[];
    /** What it does not give all the same, since the principal that gives it does not have it. */
    readonly except?: readonly Exception[];
    /** What gives it. `clause`: what an import says tightens it. */
    readonly by: "user" | "remit" | "delegate" | "argument" | "model line" | "clause";
    /** Comes with an argument: for use through that only. */
    readonly argument?: true;
    /** For a delegation or an argument: who gives. */
    readonly from?: string;
    readonly onward?: true;
    /** Clauses of the import about arguments, readers and trust that apply to the method. */
    readonly flow: readonly ClauseForm[];
    /** Of a tool, what the project's policy says of untrusted values that no clause speaks of, in calls that do more than read. */
    readonly untrusted?: "ask" | "never";
    /** What the principal may spend; null for no limit of its own. */
    readonly spend: SpendForm | null;
    /** Control flow carries labels in what it does. */
    readonly strict?: true;
    /** Of a principal that is an agent outside the program: where it is. What it does with its own hands these rows bind as well. */
    readonly outside?: string;
    /** For an agent outside the program: nothing says `may`, so that a call which it chooses is asked about unless the tool says that it only reads. */
    readonly unsaid?: true;
    /** An external agent without a sandbox. */
    readonly unconfined?: true;
    /** Where it is said; null where the form holds no places. */
    readonly site: Site | null;
}

/**
 * What each principal of a program may do. `user` first, then agents as their files and declarations are. `policy`: what the project adds; a row
 * that it makes has its place in the project's file.
 */
export function authorityOf(program: Program, policy: ProjectPolicy = {}): AuthorityRow[] {
    const tables = new Tables(program, policy);
    return holdersOf(tables).flatMap((holder) => rowsOf(tables, holder));
}

/** Principals, each with all that it has: `user` first. */
export function authorityHolders(program: Program, policy: ProjectPolicy = {}): Holder[] {
    return holdersOf(new Tables(program, policy));
}

function holdersOf(tables: Tables): Holder[] {
    const holders = [tables.user(), ...tables.agents(), ...tables.outside()];
    const given = grantsIn(tables, holders);
    return holders.map((holder) => ({ ...holder, lines: [...holder.lines, ...(given.get(idOf(holder)) ?? [])] }));
}

function uriOf({ what, import: from, key }: Thing): string {
    const outside = what === "agent" && from !== null && from.from === undefined;
    return (outside ? keyOf(what, from.uri, "") : key).slice(what.length + 1);
}

function rowsOf(tables: Tables, holder: Holder): AuthorityRow[] {
    const who = {
        principal: holder.name === "__main_agent" ? "main" : holder.name,
        agent: holder.agent,
        spend: holder.spend,
        ...(holder.strict ? { strict: true as const } : {}),
        ...(holder.outside === undefined ? {} : { outside: holder.outside.uri }),
        ...(holder.outside?.unconfined === true ? { unconfined: true as const } : {}),
    };
    const rows: AuthorityRow[] = [];
    const { untrusted } = tables.policy;
    const home = tables.program.files.findIndex((file) => file.file === holder.agent?.file);
    for (const given of holder.lines) {
        // Used by name, it is used by a name of the holder's own file, as the clauses of that import say.
        const names = home < 0 || given.by === "argument" ? [] : tables.things(home).filter((one) => one.key === given.thing.key);
        const [own] = names.includes(given.thing) ? [given.thing] : names;
        const line: Line = own === undefined ? given : { ...given, thing: own, file: home };
        const said = tables.said(line.thing);
        const flowOf = (method: string | null): ClauseForm[] =>
            said
                .map(({ clause }) => clause)
                .filter(
                    (clause) =>
                        clause.kind !== "gate" &&
                        (clause.kind === "trusted" ||
                            clause.kind === "untrusted" ||
                            clause.kind === "labels" ||
                            clause.method === undefined ||
                            method === null ||
                            methodOf(line.thing, clause.method) === method),
                );
        const base = {
            ...who,
            file: tables.program.files[line.file]?.file ?? "",
            what: line.thing.what,
            name: line.thing.name,
            uri: uriOf(line.thing),
            bounds: line.bounds,
            ...(line.counts === undefined || line.counts.length === 0 ? {} : { counts: line.counts }),
            ...(line.except === undefined || line.except.length === 0 ? {} : { except: line.except }),
            ...(line.by === "argument" ? { argument: true as const } : {}),
            ...(line.from === undefined ? {} : { from: line.from }),
            ...(line.onward === undefined ? {} : { onward: line.onward }),
            ...(holder.outside !== undefined && line.gate === "may" && (line.by === "argument" || line.by === "delegate")
                ? { unsaid: true as const }
                : {}),
            ...(line.thing.import?.unconfined === true ? { unconfined: true as const } : {}),
            ...(untrusted !== undefined && line.thing.what === "tool" && line.gate !== "never" ? { untrusted: untrusted.gate } : {}),
        };
        rows.push({ ...base, method: line.method ?? "*", gate: line.gate, by: line.by, flow: flowOf(line.method), site: line.site });
        if (line.gate === "never") continue;
        for (const { clause, site } of said) {
            if (clause.kind !== "gate") continue;
            const method = methodOf(line.thing, clause.method) as string;
            if (line.method !== null && line.method !== method) continue;
            const gate = stricter(line.gate, clause.gate);
            if (gate === line.gate && line.method === method) continue;
            rows.push({ ...base, method, gate, by: "clause", flow: flowOf(method), site });
        }
    }
    const alone = { ...who, file: holder.agent?.file ?? "", uri: "", method: "*", bounds: [], flow: [], site: holder.site };
    if (holder.endorse !== null)
        rows.push({ ...alone, what: "endorse", name: "endorse", gate: "may", by: holder.agent === null ? "user" : "remit" });
    if (rows.length === 0) rows.push({ ...alone, what: "nothing", name: "", gate: "never", by: "remit" });
    return rows;
}
