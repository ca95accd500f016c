/**
 * Who may do what in a program, read from its form: the table behind `remit check --authority`.
 *
 * Boundary: pure, no run. What a call decides besides (who chose it, what a tool says of itself, where values came from) is the machine's;
 * the table is what the program's own text gives.
 *
 * T1: of the rows for one principal and one thing that fit a call, the strictest gate counts; where none fits, the call is refused. Rows by
 *     `argument` are about use through that argument, all others about use by name; what a remit forbids or asks about counts for both.
 * T2: a thing is known by what it is and where it leads, as in the machine: two imports of one thing are one thing.
 * T3: an agent that several remits bind has what all of them give: their rows are crossed, and gates and bounds add up. A project's remit is one
 *     of them, and a project's clause one of the imports' (A2).
 */
import type {
    AgentForm,
    At,
    BoundForm,
    ClauseForm,
    FuncForm,
    Gate,
    ImportForm,
    Program,
    RefForm,
    RemitForm,
    SpendForm,
} from "../form/form.ts";
import type { Site } from "../text/source.ts";
import { type Imported, importsByThing, saidTogether } from "./clauses.ts";
import { grantsIn, idOf } from "./grants.ts";
import { addedTo, type ProjectPolicy, remitsOfProject } from "./project.ts";
import { declaredKey, keyOf, methodName } from "./thing.ts";

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
    /** What it does not give all the same, since whoever gives it does not have it. */
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

export interface Exception {
    /** `*`: every method. */
    readonly method: string;
    /** All of them must hold. */
    readonly bounds: readonly BoundForm[];
}

/** A clause and where it is said. */
interface Told {
    readonly clause: ClauseForm;
    readonly site: Site | null;
}

/** A remit that binds an agent, with the file whose names it uses. `site`: of a project's, where it stands. */
interface Bind {
    readonly remit: RemitForm;
    readonly file: number;
    readonly site?: Site | null;
}

/** What a name of a file stands for. */
export interface Thing {
    readonly what: "tool" | "llm" | "memory" | "agent" | "skill";
    readonly name: string;
    readonly key: string;
    readonly import: ImportForm | null;
    readonly at: At | undefined;
}

/** One line that gives something: null for every method. */
export interface Line {
    readonly thing: Thing;
    /** Index of the file in which `thing` is a name. */
    readonly file: number;
    readonly method: string | null;
    readonly gate: Gate;
    readonly bounds: readonly BoundForm[];
    readonly except?: readonly Exception[];
    readonly by: AuthorityRow["by"];
    readonly from?: string;
    readonly onward?: true;
    readonly site: Site | null;
}

export interface Holder {
    readonly name: string;
    readonly agent: AuthorityRow["agent"];
    /** The import of an agent outside the program. */
    readonly outside?: ImportForm;
    readonly lines: readonly Line[];
    readonly spend: SpendForm | null;
    readonly endorse: Site | true | null;
    readonly strict: boolean;
    readonly site: Site | null;
}

/**
 * What each principal of a program may do. `user` first, then agents as their files and declarations are. `policy`: what the project adds; a row
 * that it makes has its place in the project's file.
 */
export function authorityOf(program: Program, policy: ProjectPolicy = {}): AuthorityRow[] {
    const tables = new Tables(program, policy);
    const holders = [tables.user(), ...tables.agents(), ...tables.outside()];
    const given = grantsIn(tables, holders);
    return holders.flatMap((holder) => rowsOf(tables, { ...holder, lines: [...holder.lines, ...(given.get(idOf(holder)) ?? [])] }));
}

const RANK = { may: 0, ask: 1, never: 2 } as const;

export function stricter(a: Gate, b: Gate): Gate {
    return RANK[a] >= RANK[b] ? a : b;
}

/** What both lines give, as one; null where they speak of different things. */
export function crossed(a: Line, b: Line): Line | null {
    if (a.thing.key !== b.thing.key || (a.method !== null && b.method !== null && a.method !== b.method)) return null;
    const bounds = [...a.bounds, ...b.bounds.filter((one) => !a.bounds.includes(one))];
    const site = RANK[b.gate] > RANK[a.gate] ? b.site : a.site;
    const line = { ...a, method: a.method ?? b.method, gate: stricter(a.gate, b.gate), bounds, site };
    const except = [...(a.except ?? []), ...(b.except ?? []).filter((one) => !(a.except ?? []).includes(one))];
    if (except.some((one) => covers(one, line))) return null;
    return except.length === 0 ? line : { ...line, except };
}

function covers(one: Exception, line: Line): boolean {
    return one.bounds.length === 0 && (one.method === "*" || one.method === line.method);
}

/** A line without what others forbid; null where nothing is left. */
export function without(line: Line, never: readonly Line[]): Line | null {
    const more = never
        .filter((one) => one.thing.key === line.thing.key && (one.method === null || line.method === null || one.method === line.method))
        .map((one): Exception => ({ method: one.method ?? "*", bounds: one.bounds }))
        .filter((one) => !(line.except ?? []).some((known) => known.method === one.method && known.bounds === one.bounds));
    if (more.some((one) => covers(one, line))) return null;
    return more.length === 0 ? line : { ...line, except: [...(line.except ?? []), ...more] };
}

/** Names, remits and principals of a program. */
export class Tables {
    readonly program: Program;
    readonly policy: ProjectPolicy;
    private readonly names: Map<string, Thing>[];
    private readonly together: ReadonlyMap<string, readonly Told[]>;

    constructor(program: Program, policy: ProjectPolicy = {}) {
        this.program = program;
        this.policy = policy;
        this.names = program.files.map((_, index) => this.namesOf(index));
        this.together = new Map([...importsByThing(program)].map(([key, imports]) => [key, this.toldOf(key, imports)]));
    }

    private toldOf(key: string, imports: readonly Imported[]): Told[] {
        const own = saidTogether(imports).map(({ clause, file }) => ({ clause, site: this.site(file, clause.at) }));
        const added = addedTo(
            this.policy,
            key,
            imports.map(({ form }) => form),
        );
        // What would open something counts for nothing there.
        const counts = added.filter((clause) => clause.kind !== "trusted" && (clause.kind !== "gate" || clause.gate !== "may"));
        return [...own, ...counts.map(({ site = null, ...clause }) => ({ clause, site }))];
    }

    /** What all imports of a thing, and the project, say of it. */
    said(thing: Thing): readonly Told[] {
        return this.together.get(thing.key) ?? [];
    }

    thing(file: number, name: string): Thing | undefined {
        return this.names[file]?.get(name);
    }

    things(file: number): Thing[] {
        return [...(this.names[file]?.values() ?? [])];
    }

    site(file: number, at: At | undefined): Site | null {
        const name = this.program.files[file]?.file;
        return at === undefined || name === undefined ? null : { file: name, line: at[0], column: at[1] };
    }

    private namesOf(index: number): Map<string, Thing> {
        const names = new Map<string, Thing>();
        const file = this.program.files[index];
        for (const one of file?.imports ?? []) {
            if (one.what === "file") continue;
            const owner = one.from === undefined ? undefined : this.program.files[one.from]?.file;
            const key =
                one.what === "agent"
                    ? // An agent outside the program is known by its import: each has sessions and a remit of its own.
                      declaredKey("agent", owner ?? file?.file ?? "", one.name)
                    : keyOf(one.what, one.uri, file?.file ?? "");
            names.set(one.name, { what: one.what, name: one.name, key, import: one, at: one.at });
        }
        for (const agent of file?.agents ?? [])
            names.set(agent.name, {
                what: "agent",
                name: agent.name,
                key: declaredKey("agent", file?.file ?? "", agent.name),
                import: null,
                at: agent.at,
            });
        return names;
    }

    user(): Holder {
        const lines = this.program.files.flatMap((_, file) =>
            this.things(file).map(
                (thing): Line => ({ thing, file, method: null, gate: "may", bounds: [], by: "user", site: this.site(file, thing.at) }),
            ),
        );
        return { name: "user", agent: null, lines, spend: null, endorse: true, strict: this.policy.strict === true, site: null };
    }

    /** Agents that a remit binds: their own, or that of an import. */
    agents(): Holder[] {
        return this.program.files.flatMap((file, index) => file.agents.flatMap((agent) => this.holder(index, agent) ?? []));
    }

    /** Agents outside the program: without a remit they have what they are passed. */
    outside(): Holder[] {
        return this.program.files.flatMap((form, file) =>
            form.imports.flatMap((one): Holder[] => {
                if (one.what !== "agent" || one.from !== undefined) return [];
                const named = one.remit?.use === undefined ? one.remit : form.remits?.find(({ name }) => name === one.remit?.use);
                const remit: RemitForm = named ?? { grants: [] };
                const all = [{ remit, file }, ...this.ofProject(one.name, file)];
                return [{ ...this.bound(one.name, form.file, all, null, this.site(file, one.at)), outside: one }];
            }),
        );
    }

    private ofProject(agent: string, file: number): Bind[] {
        return remitsOfProject(this.policy, agent).map(({ site = null, ...remit }) => ({ remit, file, site }));
    }

    /** The remits that bind an agent, each with the file whose names it uses. */
    remits(index: number, agent: AgentForm): Bind[] {
        const found: Bind[] = [];
        const add = (use: RemitForm, declared: number, names: number): void => {
            if (use.use === undefined) found.push({ remit: use, file: names });
            else {
                const named = this.program.files[declared]?.remits?.find((one) => one.name === use.use);
                // A name that means nothing gives nothing.
                found.push({ remit: named ?? { grants: [], ...(use.at === undefined ? {} : { at: use.at }) }, file: declared });
            }
        };
        if (agent.remit !== undefined) add(agent.remit, index, index);
        this.program.files.forEach((other, at) => {
            for (const one of other.imports)
                if (one.what === "agent" && one.from === index && one.name === agent.name && one.remit !== undefined)
                    add(one.remit, at, index);
        });
        return [...found, ...this.ofProject(agent.name, index)];
    }

    private holder(index: number, agent: AgentForm): Holder | null {
        const remits = this.remits(index, agent);
        const first = remits[0];
        if (first === undefined) return null;
        const file = this.program.files[index]?.file ?? "";
        return this.bound(agent.name, file, remits, { agent, home: index }, this.siteOf(first, first.remit.at ?? agent.at));
    }

    /** Who has what all of some remits give. `own`: an agent of the program, with its `model` line. */
    private bound(
        name: string,
        file: string,
        remits: readonly Bind[],
        own: { readonly agent: AgentForm; readonly home: number } | null,
        site: Site | null,
    ): Holder {
        const all = remits.map((one) => [...this.granted(one), ...(own === null ? [] : this.modelLines(own.home, own.agent))]);
        // A `never` of any of them stands alone; what permits has to be in all.
        const nevers = all.flat().filter((line) => line.gate === "never");
        let permits = (all[0] ?? []).filter((line) => line.gate !== "never");
        for (const more of all.slice(1))
            permits = permits.flatMap((line) => more.flatMap((other) => (other.gate === "never" ? [] : (crossed(line, other) ?? []))));
        let spend: SpendForm | null = null;
        for (const { remit } of remits) if (remit.spend !== undefined) spend = spend === null ? remit.spend : least(spend, remit.spend);
        const first = remits[0] as Bind;
        const form = this.program.files.find((one) => one.file === file);
        return {
            name,
            agent: { file, name },
            lines: [...permits, ...nevers],
            spend,
            endorse: remits.every(({ remit }) => remit.endorse === true) ? (this.siteOf(first, first.remit.at) ?? true) : null,
            strict: this.policy.strict === true || form?.flow === "strict" || remits.some(({ remit }) => remit.flow === "strict"),
            site,
        };
    }

    /** A project's remit has one place for all of it. */
    private siteOf({ file, site }: Bind, at: At | undefined): Site | null {
        return site === undefined ? this.site(file, at) : site;
    }

    private modelLines(home: number, agent: AgentForm): Line[] {
        return agent.config.flatMap((line): Line[] => {
            if (line.kind !== "config" || line.key !== "model" || line.value.kind !== "name") return [];
            const thing = this.thing(home, line.value.name);
            if (thing === undefined) return [];
            return [{ thing, file: home, method: null, gate: "may", bounds: [], by: "model line", site: this.site(home, line.at) }];
        });
    }

    private granted(bind: Bind): Line[] {
        const { remit, file } = bind;
        return remit.grants.flatMap((grant) =>
            grant.all === true
                ? this.things(file).map(
                      (thing): Line => ({
                          thing,
                          file,
                          method: null,
                          gate: grant.gate,
                          bounds: [],
                          by: "remit",
                          site: this.siteOf(bind, grant.at),
                      }),
                  )
                : grant.refs.flatMap((ref) => this.line(file, ref, grant.gate, "remit", this.siteOf(bind, ref.at ?? grant.at)) ?? []),
        );
    }

    line(file: number, ref: RefForm, gate: Gate, by: AuthorityRow["by"], site: Site | null): Line | null {
        const thing = this.thing(file, ref.name);
        return thing === undefined ? null : { thing, file, method: methodOf(thing, ref.method), gate, bounds: ref.in ?? [], by, site };
    }

    /** Every function, with whom it runs as: null for plain ones, which run as their caller. */
    funcs(): { readonly file: number; readonly agent: AgentForm | null; readonly func: FuncForm }[] {
        return this.program.files.flatMap((form, file) => [
            ...form.funcs.map((func) => ({ file, agent: null, func })),
            ...form.agents.flatMap((agent) => agent.funcs.map((func) => ({ file, agent, func }))),
        ]);
    }
}

export function methodOf(thing: Thing, method: string | undefined): string | null {
    if (method === undefined) return null;
    return thing.what === "tool" ? methodName(thing.import?.uri ?? "", method) : method;
}

function least(a: SpendForm, b: SpendForm): SpendForm {
    const out: { -readonly [K in keyof SpendForm]: SpendForm[K] } = { ...a };
    for (const key of Object.keys(b) as (keyof SpendForm)[]) out[key] = Math.min(b[key] as number, out[key] ?? (b[key] as number));
    return out;
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
