/**
 * What a program and its project say of authority, looked up by name: things, lines of remits, principals.
 *
 * Boundary: what stands in the text, as values; the rows that people read are made by `rows.ts`.
 */
import type {
    AgentForm,
    At,
    BoundForm,
    ClauseForm,
    CountForm,
    FuncForm,
    Gate,
    ImportForm,
    Program,
    RefForm,
    RemitForm,
    SpendForm,
} from "../form/form.ts";
import type { AuthorityRow } from "./rows.ts";
import type { Site } from "../text/source.ts";
import { gives, type Imported, importsByThing, saidTogether } from "./clauses.ts";
import { addedTo, type ProjectPolicy, remitsOfProject } from "./project.ts";
import { declaredKey, keyOf, methodName } from "./thing.ts";

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
    readonly counts?: readonly CountForm[];
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

const RANK = { may: 0, ask: 1, never: 2 } as const;

export function stricter(a: Gate, b: Gate): Gate {
    return RANK[a] >= RANK[b] ? a : b;
}

/** What both lines give, as one; null where they speak of different things. */
export function crossed(a: Line, b: Line): Line | null {
    if (a.thing.key !== b.thing.key || (a.method !== null && b.method !== null && a.method !== b.method)) return null;
    const bounds = [...a.bounds, ...b.bounds.filter((one) => !a.bounds.includes(one))];
    const site = RANK[b.gate] > RANK[a.gate] ? b.site : a.site;
    const counts = [...(a.counts ?? []), ...(b.counts ?? []).filter((one) => a.counts?.includes(one) !== true)];
    const line = { ...a, method: a.method ?? b.method, gate: stricter(a.gate, b.gate), bounds, counts, site };
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
        const counts = added.filter((clause) => !gives(clause));
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
        const { in: bounds = [], counts = [] } = ref;
        return thing === undefined ? null : { thing, file, method: methodOf(thing, ref.method), gate, bounds, counts, by, site };
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
