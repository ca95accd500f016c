/**
 * What the imports of one thing say of it together.
 *
 * Boundary: the program form; what a project adds is the machine's.
 *
 * T6: a clause binds the thing, by whatever import it is used: the strictest of all imports counts. What loosens (`trusted`, a gate `may`)
 *     counts only where all of them say it, so that no import of one's own is a way around another.
 */
import type { AmongForm, ClauseForm, Gate, ImportForm, Program, RefForm } from "../form/form.ts";
import { declaredKey, keyOf, methodName } from "./thing.ts";

/** The arguments that a clause speaks of. */
export function argumentsOf(clause: ClauseForm): readonly string[] {
    switch (clause.kind) {
        case "arg":
            return [clause.name];
        case "count":
            return countedBy(clause);
        case "reads":
        case "audience":
            return clause.readers.arg === undefined ? [] : [clause.readers.arg];
        default:
            return [];
    }
}

/** The fields of results that a clause names. */
export function fieldsOf(clause: ClauseForm): readonly AmongForm[] {
    if (clause.kind === "arg") return clause.fields ?? [];
    if (clause.kind !== "reads" && clause.kind !== "audience") return [];
    return clause.readers.through === undefined ? [] : [clause.readers.through];
}

/** The arguments that what gives a use speaks of. */
export function argumentsOfRef(ref: Pick<RefForm, "in" | "counts">): readonly string[] {
    return [...(ref.in ?? []).flatMap(({ arg }) => (arg === undefined ? [] : [arg])), ...countedBy(ref)];
}

function countedBy({ counts = [] }: Pick<RefForm, "counts">): string[] {
    return counts.flatMap(({ by }) => (by === undefined ? [] : [by]));
}

/** An import, and the index of the file that it stands in. */
export interface Imported {
    readonly form: ImportForm;
    readonly file: number;
}

/** A clause, with the file whose names and places it uses. */
export interface Said {
    readonly clause: ClauseForm;
    readonly file: number;
}

/** The method that a clause names, if it does. */
export function methodOf(clause: ClauseForm): string | undefined {
    return clause.kind === "trusted" || clause.kind === "untrusted" || clause.kind === "labels" ? undefined : clause.method;
}

/** Whether a clause lets something be that is not without it: a project's policy, which only narrows, may not say it. */
export function gives(clause: ClauseForm): boolean {
    if (clause.kind === "gate") return clause.gate === "may";
    return clause.kind === "trusted" || clause.kind === "labels" || (clause.kind === "choice" && clause.any === true);
}

const RANK: { readonly [G in Gate]: number } = { may: 0, ask: 1, never: 2 };

/** Imports by what they lead to. An agent outside the program is known by its import; one of the program has its remit where it is declared. */
export function importsByThing(program: Program): Map<string, Imported[]> {
    const all = new Map<string, Imported[]>();
    program.files.forEach((file, index) => {
        for (const form of file.imports) {
            if (form.what === "agent" && form.from !== undefined) continue;
            const key = form.what === "agent" ? declaredKey("agent", file.file, form.name) : keyOf(form.what, form.uri, file.file);
            const known = all.get(key);
            if (known === undefined) all.set(key, [{ form, file: index }]);
            else known.push({ form, file: index });
        }
    });
    return all;
}

/** What the imports of one thing say of it. */
export function saidTogether(imports: readonly Imported[]): Said[] {
    const out: Said[] = [];
    const gates = new Map<string, (Said & { readonly gate: Gate })[]>();
    const loosening = new Map<ClauseForm["kind"], Said & { readonly imports: Set<Imported> }>();
    for (const one of imports) {
        const { form, file } = one;
        const own = new Map<string, Said & { readonly gate: Gate }>();
        for (const clause of form.clauses ?? []) {
            if (clause.kind === "gate") {
                const method = methodName(form.uri, clause.method);
                const known = own.get(method);
                if (known === undefined || RANK[clause.gate] > RANK[known.gate]) own.set(method, { clause, file, gate: clause.gate });
            } else if (clause.kind === "trusted" || clause.kind === "labels") {
                const known = loosening.get(clause.kind) ?? { clause, file, imports: new Set() };
                known.imports.add(one);
                loosening.set(clause.kind, known);
            } else out.push({ clause, file });
        }
        for (const [method, said] of own) gates.set(method, [...(gates.get(method) ?? []), said]);
    }
    for (const all of gates.values()) {
        const strictest = all.reduce((a, b) => (RANK[b.gate] > RANK[a.gate] ? b : a));
        if (strictest.gate !== "may" || all.length === imports.length) out.push({ clause: strictest.clause, file: strictest.file });
    }
    for (const { clause, file, imports: all } of loosening.values()) if (all.size === imports.length) out.push({ clause, file });
    return out;
}

/**
 * Origins of imports that count as trusted: every import that gives such an origin leads to a thing that is called trusted wherever it is
 * imported. `origins`: what an import's values carry.
 */
export function trustedOrigins(program: Program, origins: (one: Imported) => readonly string[] = originsOf): Set<string> {
    const yes = new Set<string>();
    const no = new Set<string>();
    for (const imports of importsByThing(program).values()) {
        const said = saidTogether(imports).map(({ clause }) => clause.kind);
        for (const one of imports)
            for (const origin of origins(one)) {
                (said.includes("trusted") ? yes : no).add(origin);
                if (one.form.what === "tool") (said.includes("labels") ? yes : no).add(statedOrigin(origin));
            }
    }
    for (const origin of no) yes.delete(origin);
    return yes;
}

/** Origins of which a part may count as trusted: as the program says, or as a server may state of a result. */
export function perhapsTrusted(program: Program): Set<string> {
    return new Set([...trustedOrigins(program)].map(sourceOf));
}

const STATED = "trusted:";

/** What values of a tool carry in place of its own origin where its server, whose labels grant, calls them trusted. */
export function statedOrigin(origin: string): string {
    return `${STATED}${origin}`;
}

/** The origin that clauses name for it. */
export function sourceOf(origin: string): string {
    return origin.startsWith(`${STATED}tool:`) ? origin.slice(STATED.length) : origin;
}

/** Origins that several things give: a clause that names one cannot tell which of them it means, and lets none of them in. */
export function sharedOrigins(program: Program): Set<string> {
    const things = new Map<string, Set<string>>();
    const add = (origin: string, key: string): void => {
        things.set(origin, (things.get(origin) ?? new Set()).add(key));
    };
    for (const [key, imports] of importsByThing(program)) for (const one of imports) for (const origin of originsOf(one)) add(origin, key);
    for (const file of program.files) {
        for (const agent of file.agents) add(`agent:${agent.name}`, declaredKey("agent", file.file, agent.name));
        for (const { what, name, uri, from } of file.imports)
            if (what === "agent" && from === undefined) add(`agent:${name}`, keyOf(what, uri, file.file));
    }
    return new Set([...things].flatMap(([origin, keys]) => (keys.size > 1 ? [origin] : [])));
}

const PREFIX = { tool: "tool", llm: "model", memory: "memory", file: "file", skill: "skill" } as const;

/** As the text tells; a file's content may carry more. */
export function originsOf({ form }: Imported): readonly string[] {
    const { what } = form;
    if (what === "agent") return [];
    return [`${PREFIX[what]}:${what === "file" ? form.uri.replace(/^\.\//, "") : form.name}`];
}

/** Whether an import says something of what a clause is about. */
export function speaksOf({ form }: Imported, said: ClauseForm & { readonly kind: "arg" | "choice" }): boolean {
    const { method } = said;
    return (form.clauses ?? []).some((one) => {
        if (one.kind !== "arg" && one.kind !== "choice") return false;
        if (one.kind !== said.kind || (one.kind === "arg" && said.kind === "arg" && one.name !== said.name)) return false;
        return one.method === undefined || (method !== undefined && methodName(form.uri, one.method) === methodName(form.uri, method));
    });
}
