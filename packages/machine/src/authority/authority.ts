/**
 * The authority of one run: what its program, and its project, say about principals and things.
 *
 * Boundary: tables and lookups; made once for a run. Who stands where is the fibers' (`run/standing.ts`).
 *
 * A5: an agent with a remit is a principal of its own, known by the file that declares it and its name; everybody else is the run's own
 *     principal, `user` unless said otherwise.
 * A6: an origin is trusted only where every import that can give it says so.
 */
import type { ClauseForm, RemitForm } from "@remit/language";
import type { AgentEntry, Compiled, ImportEntry } from "../compile/program.ts";
import type { Capability } from "../value/value.ts";
import { type Clauses, clausesOf, compileRemit, keyOf, NO_CLAUSES, type Remit, thingsOf } from "./policy.ts";

/** What a project adds. It can tighten, never loosen. */
export interface Policy {
    /** Clauses by URI of the import, or by its name in the program. */
    readonly clauses?: { readonly [place: string]: readonly ClauseForm[] };
    /** Remits that bind agents besides their own, by name. */
    readonly remits?: { readonly [agent: string]: RemitForm | readonly RemitForm[] };
    /** Control flow carries labels everywhere. */
    readonly strict?: boolean;
}

const PREFIX = { tool: "tool", llm: "model", memory: "memory", file: "file" } as const;

export class Authority {
    /** Nothing is said anywhere: every use by the program's own text is allowed. */
    readonly plain: boolean;
    readonly base: string;
    readonly strict: boolean;
    private readonly program: Compiled;
    private readonly clauses = new Map<string, Clauses>();
    private readonly remits = new Map<string, readonly Remit[]>();
    private readonly names = new Map<string, string>();
    private readonly trusted = new Set<string>();
    /** Origins whose words `among` clauses ask about. */
    readonly watched = new Set<string>();

    /** `origins`: what a file import's content carries, by `FILE INDEX/NAME`. */
    constructor(program: Compiled, base: string, policy: Policy, origins: (place: string) => readonly string[]) {
        this.program = program;
        this.base = base;
        this.strict = policy.strict === true;
        let said = false;
        const untrusted = new Set<string>();
        program.files.forEach((file, index) => {
            for (const entry of file.imports.values()) {
                const made = clausesOf(program, entry, added(policy, entry));
                if (made !== NO_CLAUSES) {
                    this.clauses.set(placeOf(entry), made);
                    for (const rule of made.args) if (rule.among) for (const origin of rule.from ?? []) this.watched.add(origin);
                    said = true;
                }
                const { what } = entry.form;
                if (what === "agent" || what === "skill") continue;
                const own = what === "file" ? origins(placeOf(entry)) : [`${PREFIX[what]}:${entry.form.name}`];
                for (const origin of own) (made.trusted ? this.trusted : untrusted).add(origin);
            }
            for (const agent of file.agents.values()) {
                const remits = this.remitsFor(index, agent, policy);
                if (remits.length === 0) continue;
                said = true;
                this.remits.set(principalId(program, agent), remits);
                this.names.set(principalId(program, agent), agent.name);
            }
        });
        for (const origin of untrusted) this.trusted.delete(origin);
        this.plain = !said;
    }

    /** The agent's own remit, those of the imports that bring it in, and the project's. */
    private remitsFor(file: number, agent: AgentEntry, policy: Policy): Remit[] {
        const { program } = this;
        const form = program.program.files[file]?.agents.find((a) => a.name === agent.name);
        const remits: Remit[] = [];
        if (form?.remit !== undefined) remits.push(compileRemit(program, file, agent.name, form.remit));
        program.program.files.forEach((other, index) => {
            for (const i of other.imports)
                if (i.what === "agent" && i.from === file && i.name === agent.name && i.remit !== undefined)
                    remits.push(compileRemit(program, i.remit.use === undefined ? file : index, agent.name, i.remit));
        });
        if (policy.remits !== undefined && Object.hasOwn(policy.remits, agent.name))
            for (const added of [policy.remits[agent.name] as RemitForm | readonly RemitForm[]].flat())
                remits.push({ ...compileRemit(program, file, agent.name, added), project: true });
        return remits;
    }

    /** Who an agent's functions run as. */
    principalOf(agent: AgentEntry): string {
        const id = principalId(this.program, agent);
        return this.remits.has(id) ? id : this.base;
    }

    /** All of them must permit; empty for the run's own principal. */
    remitsOf(principal: string): readonly Remit[] {
        return this.remits.get(principal) ?? [];
    }

    clausesAt(file: number, name: string): Clauses {
        return this.clauses.get(`${file}/${name}`) ?? NO_CLAUSES;
    }

    /** Whether values of this origin may stand where only trusted ones may. */
    trusts(origin: string): boolean {
        return origin === this.base || origin === "user" || origin.startsWith("endorsed:") || this.trusted.has(origin);
    }

    /** Whether control flow carries labels in code that runs as this principal. */
    isStrict(principal: string): boolean {
        return this.strict || (!this.plain && this.remitsOf(principal).some((remit) => remit.strict));
    }

    mayEndorse(principal: string): boolean {
        const remits = this.remitsOf(principal);
        return remits.every((remit) => remit.endorse);
    }

    keyOf(c: Capability): string {
        if (c.kind === "agent") return keyOf(this.program, "agent", c.file, c.name);
        if (c.kind === "func") return keyOf(this.program, "func", c.file, c.name);
        return keyOf(this.program, c.kind, c.file, this.program.importOf(c)?.uri ?? c.name);
    }

    /** Everything that a file names, by key: what `delegate all` of `user` gives. */
    thingsOf(file: number): string[] {
        return thingsOf(this.program, file);
    }

    /** As shown to people. */
    nameOf(principal: string): string {
        return this.names.get(principal) ?? principal;
    }
}

export function principalId(program: Compiled, agent: { readonly file: number; readonly name: string }): string {
    return keyOf(program, "agent", agent.file, agent.name);
}

function placeOf(entry: ImportEntry): string {
    return `${entry.file}/${entry.form.name}`;
}

function added(policy: Policy, entry: ImportEntry): readonly ClauseForm[] {
    const given = policy.clauses ?? {};
    return [entry.form.uri, entry.form.name].flatMap((place) =>
        Object.hasOwn(given, place) ? (given[place] as readonly ClauseForm[]) : [],
    );
}
