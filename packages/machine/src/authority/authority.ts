/**
 * The authority of one run: what its program, and its project, say about principals and things.
 *
 * Boundary: tables and lookups; made once for a run. Who stands where is the fibers' (`run/delegations.ts`).
 *
 * A5: an agent with a remit is a principal of its own, known by the file that declares it and its name; every other agent is the run's own
 *     principal, `user` unless said otherwise.
 * A6: an origin is trusted only where every import that can give it says so, and every other import of the same thing. One that several things give
 *     is none that a clause could name.
 */
import {
    declaredKey,
    type Imported,
    importsByThing,
    keyOf,
    originsOf,
    type ProjectPolicy as Policy,
    type ReachRule,
    remitsOfProject,
    type Site,
    sharedOrigins,
    shownName,
    statedOrigin,
    trustedOrigins,
    type Untrusted,
} from "@remit/language";
import type { AgentEntry, Compiled } from "../compile/program.ts";
import type { Capability } from "../value/value.ts";
import { type Counter, countersOf } from "./counts.ts";
import type { Field, Table } from "./evidence.ts";
import { type Rule, rulesOf } from "./named.ts";
import { type Clauses, clausesOf, compileRemit, NO_CLAUSES, type PolicySaid, type ReadersRule, type Remit, thingsOf } from "./policy.ts";

export type { Policy };

/** By file and name of an import. */
type Places<T> = Map<string, T>[];

function put<T>(places: Places<T>, { file, form }: Imported, value: T): void {
    const found = places[file] ?? new Map<string, T>();
    places[file] = found;
    found.set(form.name, value);
}

const NO_REMITS: readonly Remit[] = [];
const NO_RULES: readonly Rule[] = [];
const NO_COUNTERS: readonly Counter[] = [];

export class Authority {
    /** Nothing is said anywhere: every use by the program's own text is allowed. */
    readonly plain: boolean;
    readonly base: string;
    readonly strict: boolean;
    readonly untrusted: Untrusted | null;
    readonly reach: readonly ReachRule[];
    /** Some rule asks who decides that a use happens. */
    readonly tracks: boolean;
    /** With what agents wrote behind it. */
    program: Compiled;
    private readonly clauses: Places<Clauses> = [];
    private readonly rules: Places<readonly Rule[]> = [];
    private readonly counters: Places<readonly Counter[]> = [];
    /** Something is counted in the run. */
    readonly isCounting: boolean;
    private readonly policies = new Map<string, Remit | null>();
    private readonly remits = new Map<string, readonly Remit[]>();
    private readonly trusted: ReadonlySet<string>;
    private readonly shared: ReadonlySet<string>;
    /** Origins of models whose import says `untrusted`. */
    private readonly models: ReadonlySet<string>;
    /** Keys of imports. */
    private readonly keys: Places<string> = [];
    /** Origins whose words `among` clauses ask about. */
    readonly watched = new Set<string>();
    /** Fields whose values they ask about. */
    readonly fields = new Map<string, Field>();
    /** Tables through which clauses name people. */
    readonly tables = new Map<string, Table>();

    /** `origins`: what a file import's content carries, by `FILE INDEX/NAME`. */
    constructor(program: Compiled, base: string, policy: Policy, origins: (place: string) => readonly string[]) {
        this.program = program;
        this.base = base;
        this.strict = policy.strict === true;
        this.untrusted = policy.untrusted ?? null;
        this.reach = policy.reach ?? [];
        let isCounting = false;
        let tracks = this.untrusted !== null;
        let said = this.untrusted !== null || this.reach.length > 0;
        for (const [key, imports] of importsByThing(program.program)) {
            for (const one of imports) put(this.keys, one, key);
            const what = imports[0]?.form.what;
            const rules =
                what === "tool" || what === "memory"
                    ? rulesOf(program.program, policy, [key, imports], (file, at) => program.site(file, at))
                    : [];
            if (rules.length > 0) {
                for (const one of imports) put(this.rules, one, rules);
                said = true;
            }
            const made = clausesOf(program, imports, added(policy, key, imports));
            const counters = what === "tool" || what === "memory" ? countersOf(program.program, policy, [key, imports], made) : [];
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
        this.isCounting = isCounting;
        this.shared = sharedOrigins(program.program);
        this.trusted = trustedOrigins(program.program, (one) => (one.form.what === "file" ? origins(placeOf(one)) : originsOf(one)));
        program.files.forEach((file, index) => {
            for (const agent of file.agents.values()) {
                const remits = this.remitsFor(index, agent, policy);
                if (remits.length === 0) continue;
                said = true;
                this.remits.set(principalId(program, agent), remits);
            }
        });
        this.plain = !said;
        this.tracks = tracks;
        this.models = untrustedModels(program);
    }

    /** The agent's own remit, those of the imports that bring it in, and the project's. */
    private remitsFor(file: number, agent: AgentEntry, policy: Policy): Remit[] {
        const { program } = this;
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

    /** Who an agent's functions run as. */
    principalOf(agent: AgentEntry): string {
        const id = principalId(this.program, agent);
        return this.remits.has(id) ? id : this.base;
    }

    /** A remit of a file that binds an agent for one call, compiled once; null where the file has none of that name. */
    policyNamed([file, name]: readonly [number, string], agent: readonly [number, string]): Remit | null {
        const key = JSON.stringify([file, name, agent]);
        let made = this.policies.get(key);
        if (made === undefined) {
            const form = this.program.program.files[file]?.remits?.find((one) => one.name === name);
            made = form === undefined ? null : compileRemit(this.program, file, agent[1], form, agent[0]);
            this.policies.set(key, made);
        }
        return made;
    }

    /** All of them must permit; empty for the run's own principal. */
    remitsOf(principal: string): readonly Remit[] {
        return this.remits.get(principal) ?? NO_REMITS;
    }

    clausesAt(file: number, name: string): Clauses {
        return this.clauses[file]?.get(name) ?? NO_CLAUSES;
    }

    /** What is counted of a thing. */
    countersAt(file: number, name: string): readonly Counter[] {
        return this.counters[file]?.get(name) ?? NO_COUNTERS;
    }

    /** What is said of a tool's methods and arguments by name, wherever it is said. */
    rulesAt(file: number, name: string): readonly Rule[] {
        return this.rules[file]?.get(name) ?? NO_RULES;
    }

    /** Who reads what is sent to a model, or who may read what it answers, as all imports of that name and URI say. */
    saidOfModel(which: "audience" | "reads", name: string, uri: string): readonly ReadersRule[] {
        return this.program.files.flatMap((file) =>
            [...file.imports.values()].flatMap((entry) =>
                entry.form.what === "llm" && entry.form.name === name && entry.form.uri === uri
                    ? this.clausesAt(entry.file, entry.form.name)[which]
                    : [],
            ),
        );
    }

    /** Whether values of this origin may stand where only trusted ones may. */
    readonly trusts = (origin: string): boolean =>
        origin === this.base || origin === "user" || this.trusted.has(origin) || origin.startsWith("endorsed:");

    /** Whether labels that the server of a tool states grant. */
    readonly grants = (origin: string): boolean => this.trusted.has(statedOrigin(origin));

    /** Whether an origin is a model's own, beside which only counts what it read. */
    readonly neutral = (origin: string): boolean => origin.startsWith("model:") && !this.models.has(origin);

    /** Whether values of this origin come from one thing alone: what a clause names is that thing (A6). */
    readonly isOne = (origin: string): boolean => !this.shared.has(origin);

    /** Whether control flow carries labels in code that runs as this principal. */
    isStrict(principal: string): boolean {
        return this.strict || (!this.plain && this.remitsOf(principal).some((remit) => remit.strict));
    }

    /** Where a remit of it says so; null where its file or the project does. */
    strictAt(principal: string): Site | null {
        return this.remitsOf(principal).find((remit) => remit.strict)?.site ?? null;
    }

    mayEndorse(principal: string): boolean {
        const remits = this.remitsOf(principal);
        return remits.every((remit) => remit.endorse);
    }

    keyOf(c: Capability): string {
        if (c.kind === "agent" || c.kind === "func") return declaredKey(c.kind, this.program.fileName(c.file), c.name);
        return this.keys[c.file]?.get(c.name) ?? keyOf(c.kind, this.program.importOf(c)?.uri ?? c.name, this.program.fileName(c.file));
    }

    /** Everything that a file names, by key: what `delegate all` of `user` gives. */
    thingsOf(file: number): string[] {
        return thingsOf(this.program, file);
    }

    /** As shown to people. */
    nameOf(principal: string): string {
        return shownPrincipal(principal);
    }
}

export function principalId(program: Compiled, agent: { readonly file: number; readonly name: string }): string {
    return declaredKey("agent", program.fileName(agent.file), agent.name);
}

/** The name of an agent, where a principal is one. */
export function shownPrincipal(principal: string): string {
    return principal.startsWith("agent:") ? shownName(principal.slice(principal.lastIndexOf("#") + 1)) : principal;
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
        const meant = imports.find(({ form }) => form.name === place || keyOf(form.what, place, "") === key);
        return meant === undefined ? [] : clauses.map((clause) => ({ clause, file: meant.file }));
    });
}
