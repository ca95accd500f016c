/**
 * What a program and its project say about principals and things, as tables by place.
 *
 * Boundary: nothing of any run, so that all runs of a program under one policy share it; who asks it is the authority of a run (`authority.ts`).
 *
 * RB1: whatever it holds is made with it and never changes.
 */
import {
    addedTo,
    type Imported,
    importsByThing,
    originsOf,
    type ProjectPolicy as Policy,
    remitsOfProject,
    sharedOrigins,
    trustedOrigins,
    declaredKey,
} from "@remit/language";
import type { AgentEntry, Compiled } from "../compile/program.ts";
import { type Counter, countersOf } from "./counts.ts";
import type { Field, Table } from "./evidence.ts";
import { type Rule, rulesIn } from "./named.ts";
import { type Clauses, clausesOf, compileRemit, NO_CLAUSES, type PolicySaid, type Remit } from "./policy.ts";

/** By file and name of an import. */
type Places<T> = Map<string, T>[];

function put<T>(places: Places<T>, { file, form }: Imported, value: T): void {
    const found = places[file] ?? new Map<string, T>();
    places[file] = found;
    found.set(form.name, value);
}

export class Rulebook {
    /** Nothing is said anywhere: every use by the program's own text is allowed. */
    readonly plain: boolean;
    /** Some rule asks who decides that a use happens. */
    readonly tracks: boolean;
    /** Something is counted in the run. */
    readonly isCounting: boolean;
    readonly clauses: Places<Clauses> = [];
    readonly rules: Places<readonly Rule[]> = [];
    readonly counters: Places<readonly Counter[]> = [];
    /** Keys of imports. */
    readonly keys: Places<string> = [];
    /** By principal. */
    readonly remits = new Map<string, readonly Remit[]>();
    /** Origins that several things give. */
    readonly shared: ReadonlySet<string>;
    /** Origins of models whose import says `untrusted`. */
    readonly models: ReadonlySet<string>;
    /** Origins whose words `among` clauses ask about. */
    readonly watched = new Set<string>();
    /** Fields whose values they ask about. */
    readonly fields = new Map<string, Field>();
    /** Tables through which clauses name people. */
    readonly tables = new Map<string, Table>();
    /** What of results a part that runs elsewhere takes along and brings back: those tables (ROW1), and those fields of results (EVI3). */
    readonly told: readonly string[];
    private readonly program: Compiled;
    private readonly trusted: ReadonlySet<string> | null;

    constructor(program: Compiled, policy: Policy) {
        this.program = program;
        let isCounting = false;
        let tracks = policy.untrusted !== undefined;
        let said = policy.untrusted !== undefined || (policy.reach ?? []).length > 0;
        // Only where a tool or a memory is imported: what reads them is loaded for those.
        let rulesOf: ReturnType<typeof rulesIn> | null = null;
        for (const [key, imports] of importsByThing(program.program)) {
            for (const one of imports) put(this.keys, one, key);
            const what = imports[0]?.form.what;
            const isUsed = what === "tool" || what === "memory";
            if (isUsed) rulesOf ??= rulesIn(program.program, policy, (file, at) => program.site(file, at));
            const rules = rulesOf === null || !isUsed ? [] : rulesOf([key, imports]);
            if (rules.length > 0) {
                for (const one of imports) put(this.rules, one, rules);
                said = true;
            }
            const made = clausesOf(program, imports, added(policy, key, imports));
            const counters = isUsed ? countersOf(program.program, policy, [key, imports], made) : [];
            isCounting ||= counters.some(({ isDaily }) => !isDaily);
            if (counters.length > 0) for (const one of imports) put(this.counters, one, counters);
            if (made === NO_CLAUSES) continue;
            for (const one of imports) put(this.clauses, one, made);
            tracks ||= made.choices.some((rule) => !rule.any);
            for (const rule of made.args.filter(({ among }) => among)) {
                for (const origin of rule.from ?? []) this.watched.add(origin);
                for (const field of rule.fields) this.fields.set(field.id, field);
            }
            for (const { table } of [...made.reads, ...made.audience]) if (table !== undefined) this.tables.set(table.id, table);
            said = true;
        }
        const ofResults = [...this.fields.values()].filter(({ key }) => key !== null);
        this.told = [...this.tables.keys(), ...ofResults.map(({ id }) => id)];
        this.isCounting = isCounting;
        this.shared = sharedOrigins(program.program);
        program.files.forEach((file, index) => {
            for (const agent of file.agents.values()) {
                const remits = remitsFor(program, index, agent, policy);
                if (remits.length === 0) continue;
                said = true;
                this.remits.set(principalId(program, agent), remits);
            }
        });
        this.plain = !said;
        this.tracks = tracks;
        this.models = untrustedModels(program);
        this.trusted = program.fileImports.length === 0 ? trustedOrigins(program.program) : null;
    }

    /** Origins that the program calls trusted. `origins`: what a file import's content carries, by `FILE INDEX/NAME`. */
    trustedOrigins(origins: (place: string) => readonly string[]): ReadonlySet<string> {
        return (
            this.trusted ??
            trustedOrigins(this.program.program, (one) => (one.form.what === "file" ? origins(placeOf(one)) : originsOf(one)))
        );
    }
}

/** The last one made for a program, with the text of its policy. */
const MADE = new WeakMap<Compiled, { readonly said: string; readonly book: Rulebook }>();

/** Made once for a program whose runs have one policy after the other: without this, beginning a run that has rules takes five times as long (`bench/src/authority.ts`). */
export function rulebookOf(program: Compiled, policy: Policy): Rulebook {
    const said = JSON.stringify(policy);
    const known = MADE.get(program);
    if (known !== undefined && known.said === said) return known.book;
    // It holds parts of the policy, which its owner may change.
    const book = new Rulebook(program, JSON.parse(said) as Policy);
    MADE.set(program, { said, book });
    return book;
}

/** The agent's own remit, those of the imports that bring it in, and the project's. */
function remitsFor(program: Compiled, file: number, agent: AgentEntry, policy: Policy): Remit[] {
    const form = program.program.files[file]?.agents.find((a) => a.name === agent.name);
    const remits: Remit[] = [];
    // Without a remit an agent outside the program has nothing but what it is passed.
    if (agent.outside !== null) remits.push(compileRemit(program, file, agent.name, agent.outside.form.remit ?? { grants: [] }));
    if (form?.remit !== undefined) remits.push(compileRemit(program, file, agent.name, form.remit));
    program.program.files.forEach((other, index) => {
        for (const i of other.imports)
            if (i.what === "agent" && i.from === file && i.name === agent.name && i.remit !== undefined)
                remits.push(compileRemit(program, i.remit.use === undefined ? file : index, agent.name, i.remit, file));
    });
    for (const added of remitsOfProject(policy, agent.name))
        remits.push({ ...compileRemit(program, file, agent.name, added), project: true });
    return remits;
}

export function principalId(program: Compiled, agent: { readonly file: number; readonly name: string }): string {
    return declaredKey("agent", program.fileName(agent.file), agent.name);
}

function untrustedModels({ program }: Compiled): Set<string> {
    const imports = program.files.flatMap((file) => file.imports.map((form) => ({ form, file: 0 })));
    return new Set(
        imports.flatMap((one) =>
            one.form.what === "llm" && one.form.clauses?.some(({ kind }) => kind === "untrusted") ? originsOf(one) : [],
        ),
    );
}

function placeOf({ file, form }: Imported): string {
    return `${file}/${form.name}`;
}

/** What a project adds to a thing, under its URI or under the name of one of its imports. */
function added(policy: Policy, key: string, imports: readonly Imported[]): PolicySaid[] {
    return Object.entries(policy.clauses ?? {}).flatMap(([place, clauses]) => {
        const meant = imports.find((one) => addedTo({ clauses: { [place]: clauses } }, key, [one.form]).length > 0);
        return meant === undefined ? [] : clauses.map((clause) => ({ clause, file: meant.file }));
    });
}
