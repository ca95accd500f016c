/**
 * What a program says about authority, ready to be asked: remits of agents, clauses of imports.
 *
 * Boundary: from the program form (and a project's policy) to tables. Deciding is `decide.ts`.
 *
 * A1: a thing is known by what it is and where it leads (`keyOf`), so that a second import of the same thing is no way around a remit or
 *     around clauses.
 * A13: an argument is spoken of where every import of the thing does: no import of another file's says what may stand in the calls of this one.
 * A2: a project's policy is added to the clauses of the program, and the strictest counts: it can tighten, never loosen.
 */
import {
    type AmongForm,
    allowedText,
    type CountForm,
    declaredKey,
    type Gate,
    type Imported,
    keyOf,
    methodName,
    type ProjectClause as PolicyClause,
    type ProjectRemit as PolicyRemit,
    type ReadersForm,
    type RefForm,
    type RemitForm,
    resourceOf,
    type Site,
    type SpendForm,
    saidTogether,
    speaksOf,
} from "@remit/language";
import type { Compiled, Meaning } from "../compile/program.ts";
import { type Field, fieldOf, type Table, tableOf } from "./evidence.ts";
import { placeOf } from "./match.ts";

/** What is between a capability and its use; `open`: nothing was said, so it depends on who chose the call. */
export type Verdict = Gate | "open";

export interface Bound {
    /** Null: the argument that names the resource. */
    readonly arg: string | null;
    readonly patterns: readonly string[];
    /** The patterns are ranges of numbers. */
    readonly numbers?: boolean;
}

/** One line of a remit: a gate for a method (null: all of them) within bounds, all of which must hold. */
export interface Permit {
    readonly method: string | null;
    readonly gate: Verdict;
    readonly bounds: readonly Bound[];
    /** How often it may be used. */
    readonly counts?: readonly CountForm[];
    readonly site: Site | null;
}

export interface CountRule {
    readonly method: string;
    readonly count: CountForm;
    readonly site: Site | null;
}

export interface ArgRule {
    readonly method: string | null;
    readonly name: string;
    /** Null: trusted origins. */
    readonly from: readonly string[] | null;
    /** A value that occurred in what came from there may stand there, whatever else chose it. */
    readonly among: boolean;
    /** Whole values that stood there may stand there, too. */
    readonly fields: readonly Field[];
    /** Of what comes from elsewhere all of it, only the addresses in it, or what acts where texts act. */
    readonly words: "all" | "addresses" | "acting";
    /** As it is written, behind the name: `among("user")`. */
    readonly says: string;
    readonly ask: boolean;
    readonly site: Site | null;
    /** The project's own. */
    readonly project?: true;
    /** Some import of the thing says nothing of the argument: it binds there, too, and lets nothing in that no clause speaks of (A13). */
    readonly partly?: true;
}

/** Who may decide that a method is called. */
export interface ChoiceRule {
    /** Null: every method that does more than read. */
    readonly method: string | null;
    /** Null: trusted origins. */
    readonly from: readonly string[] | null;
    readonly any: boolean;
    readonly ask: boolean;
    readonly site: Site | null;
    /** The project's own. */
    readonly project?: true;
    /** Some import of the thing says nothing of it (A13). */
    readonly partly?: true;
}

export interface ReadersRule {
    readonly method: string | null;
    readonly readers: ReadersForm;
    /** Where the clause names people through a table. */
    readonly table?: Table;
    readonly ask: boolean;
    readonly site: Site | null;
    /** The project's own. */
    readonly project?: true;
}

/** A clause or remit of a project's file, and where it stands there. */
export type { PolicyClause, PolicyRemit };

export interface PolicySaid {
    readonly clause: PolicyClause;
    readonly file: number;
}

/** What is said of a thing. */
export interface Clauses {
    readonly gates: ReadonlyMap<string, { readonly gate: Gate; readonly site: Site | null }>;
    readonly counts: readonly CountRule[];
    readonly args: readonly ArgRule[];
    readonly choices: readonly ChoiceRule[];
    readonly reads: readonly ReadersRule[];
    readonly audience: readonly ReadersRule[];
}

export const NO_CLAUSES: Clauses = { gates: new Map(), counts: [], args: [], choices: [], reads: [], audience: [] };

/** What an agent was given. `rows`: by key of the thing; `all`: what is forbidden of everything. */
export interface Remit {
    readonly rows: ReadonlyMap<string, readonly Permit[]>;
    readonly all: readonly Permit[];
    readonly spend: SpendForm | null;
    readonly endorse: boolean;
    readonly strict: boolean;
    readonly site: Site | null;
    /** The project's own: it takes away, and its `may` gives nothing that the program does not give. */
    readonly project?: true;
}

const NOTHING: Remit = { rows: new Map(), all: [], spend: null, endorse: false, strict: false, site: null };

/** Keys of everything that a file imports and declares. */
export function thingsOf(program: Compiled, file: number): string[] {
    const entry = program.files[file];
    if (entry === undefined) return [];
    const keys = new Set<string>();
    for (const name of [...entry.imports.keys(), ...entry.agents.keys()]) {
        const meaning = program.lookup(file, null, name);
        const key = meaning === undefined ? null : keyOfMeaning(program, meaning);
        if (key !== null) keys.add(key);
    }
    return [...keys];
}

/** The key of what a name means; null for what is no capability. */
export function keyOfMeaning(program: Compiled, meaning: Meaning): string | null {
    switch (meaning.kind) {
        case "tool":
        case "llm":
        case "memory":
        case "skill":
            return keyOf(meaning.kind, meaning.import.form.uri, program.fileName(meaning.import.file));
        case "agent":
            return declaredKey("agent", program.fileName(meaning.agent.file), meaning.agent.name);
        case "func":
            return declaredKey("func", program.fileName(meaning.fn.file), meaning.fn.form.name);
        default:
            return null;
    }
}

/** `uri`: the import that is bound. What a URL's pattern is relative to stays that, by whatever import of the thing it is used. */
export function bounds(ref: { readonly in?: RefForm["in"] }, uri: string | null): Bound[] {
    const absolute = (pattern: string): string => {
        if (uri === null || resourceOf(uri)?.kind !== "url") return pattern;
        const place = placeOf(pattern, uri);
        return place === null ? pattern : `${place.origin}/${place.path}`;
    };
    return (ref.in ?? []).map(({ arg, patterns, numbers }) => ({
        arg: arg ?? null,
        patterns: arg === undefined ? patterns.map(absolute) : patterns,
        ...(numbers === true ? { numbers } : {}),
    }));
}

/** The URI of the import that a name means. */
export function uriOf(meaning: Meaning | undefined): string | null {
    return meaning !== undefined && "import" in meaning ? meaning.import.form.uri : null;
}

/** `file`: whose names are meant. `home`: that of the agent. */
export function compileRemit(program: Compiled, file: number, agent: string, use: PolicyRemit, home = file): Remit {
    const named = use.use !== undefined ? program.program.files[file]?.remits?.find((r) => r.name === use.use) : use;
    // A name that means nothing gives nothing (DESIGN 5.2).
    if (named === undefined) return NOTHING;
    return compileBody(program, file, [home, agent], named, use.site ?? null);
}

function compileBody(
    program: Compiled,
    file: number,
    [home, agent]: readonly [number, string],
    form: RemitForm,
    place: Site | null,
): Remit {
    const rows = new Map<string, Permit[]>();
    const all: Permit[] = [];
    const add = (key: string, permit: Permit): void => {
        const known = rows.get(key);
        if (known === undefined) rows.set(key, [permit]);
        else known.push(permit);
    };
    for (const grant of form.grants) {
        if (grant.all === true) {
            const permit: Permit = { method: null, gate: grant.gate, bounds: [], site: program.site(file, grant.at) ?? place };
            // What is forbidden is so wherever it comes from; what is given is what the file itself names.
            if (grant.gate === "never") all.push(permit);
            else for (const key of thingsOf(program, file)) add(key, permit);
            continue;
        }
        for (const ref of grant.refs) {
            const meaning = program.lookup(file, null, ref.name);
            const key = meaning === undefined ? null : keyOfMeaning(program, meaning);
            if (key === null) continue;
            add(key, {
                method: ref.method ?? null,
                gate: grant.gate,
                bounds: bounds(ref, uriOf(meaning)),
                ...(ref.counts === undefined ? {} : { counts: ref.counts }),
                site: program.site(file, ref.at ?? grant.at) ?? place,
            });
        }
    }
    const config = program.program.files[home]?.agents.find((a) => a.name === agent)?.config ?? [];
    for (const line of config) {
        // The agent's own `model` line is a grant of that model.
        if (line.kind !== "config" || line.key !== "model" || line.value.kind !== "name") continue;
        const meaning = program.lookup(home, null, line.value.name);
        const key = meaning === undefined ? null : keyOfMeaning(program, meaning);
        if (key !== null) add(key, { method: null, gate: "may", bounds: [], site: program.site(home, line.at) });
    }
    return {
        rows,
        all,
        spend: form.spend ?? null,
        endorse: form.endorse === true,
        strict: form.flow === "strict",
        site: program.site(file, form.at) ?? place,
    };
}

/** What a clause names that is not there lets nothing in. */
function fieldIn(program: Compiled, file: number, { of, method, path }: AmongForm): Field[] {
    if (method === undefined) return of === "input" ? [fieldOf(null, null, path)] : [];
    const meaning = program.lookup(file, null, of);
    const key = meaning === undefined ? null : keyOfMeaning(program, meaning);
    return key === null ? [] : [fieldOf(key, methodName(uriOf(meaning) ?? "", method), path)];
}

/** Clauses of a thing: what its imports say together, and what the project's policy adds. */
export function clausesOf(program: Compiled, imports: readonly Imported[], added: readonly PolicySaid[]): Clauses {
    const own = saidTogether(imports);
    const uri = imports[0]?.form.uri ?? "";
    if (own.length === 0 && added.length === 0) return NO_CLAUSES;
    const gates = new Map<string, { gate: Gate; site: Site | null }>();
    const counts: CountRule[] = [];
    const args: ArgRule[] = [];
    const choices: ChoiceRule[] = [];
    const reads: ReadersRule[] = [];
    const audience: ReadersRule[] = [];
    const take = ({ clause, file }: PolicySaid, mine: boolean): void => {
        const site = clause.site ?? program.site(file, clause.at);
        const said = (of: Parameters<typeof speaksOf>[1]): Pick<ArgRule, "site" | "project" | "partly"> => ({
            site,
            ...(mine ? {} : { project: true }),
            ...(!mine || imports.every((one) => speaksOf(one, of)) ? {} : { partly: true }),
        });
        switch (clause.kind) {
            case "gate": {
                // A gate of the project only closes (A2): its `may` would spare a model's call the question.
                if (!mine && clause.gate === "may") return;
                const method = methodName(uri, clause.method);
                const known = gates.get(method);
                if (known === undefined || rank(clause.gate) > rank(known.gate)) gates.set(method, { gate: clause.gate, site });
                return;
            }
            case "count":
                for (const count of clause.counts) counts.push({ method: methodName(uri, clause.method), count, site });
                return;
            case "arg":
                args.push({
                    method: clause.method === undefined ? null : methodName(uri, clause.method),
                    name: clause.name,
                    from: clause.from ?? (clause.fields === undefined ? null : []),
                    among: clause.among === true,
                    fields: (clause.fields ?? []).flatMap((one) => fieldIn(program, file, one)),
                    says: allowedText(clause),
                    words: clause.plain === true ? "acting" : clause.addresses === true ? "addresses" : "all",
                    ask: clause.ask === true,
                    ...said(clause),
                });
                return;
            case "choice":
                choices.push({
                    method: clause.method === undefined ? null : methodName(uri, clause.method),
                    from: clause.from ?? null,
                    any: clause.any === true,
                    ask: clause.ask === true,
                    ...said(clause),
                });
                return;
            case "trusted":
            case "untrusted":
            case "labels":
                // About origins, not uses: `Authority.trusts`, `Authority.neutral`, `Authority.grants`.
                return;
            case "reads":
            case "audience": {
                const method = clause.method === undefined ? null : methodName(uri, clause.method);
                const ask = clause.kind === "audience" && clause.ask === true;
                const { through, to = "" } = clause.readers;
                const [at] = through === undefined ? [] : fieldIn(program, file, through);
                const rule: ReadersRule = {
                    ...{ method, readers: clause.readers, ask, site },
                    ...(at === undefined ? {} : { table: tableOf(at, to) }),
                    ...(mine ? {} : { project: true }),
                };
                (clause.kind === "reads" ? reads : audience).push(rule);
                return;
            }
        }
    };
    for (const clause of own) take(clause, true);
    for (const clause of added) take(clause, false);
    return { gates, counts, args, choices, reads, audience };
}

const RANK: { readonly [V in Verdict]: number } = { may: 0, open: 1, ask: 2, never: 3 };
export function rank(verdict: Verdict): number {
    return RANK[verdict];
}
export function stricter(a: Verdict, b: Verdict): Verdict {
    return RANK[a] >= RANK[b] ? a : b;
}
