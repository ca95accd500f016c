/**
 * The authority of one run: what its program, and its project, say about principals and things.
 *
 * Boundary: lookups, for one run; what is the same for all runs is in the rulebook (`rulebook.ts`). Who stands where is the fibers' (`run/delegations.ts`).
 *
 * A5: an agent with a remit is a principal of its own, known by the file that declares it and its name; every other agent is the run's own
 *     principal, `user` unless said otherwise.
 * A6: an origin is trusted only where every import that can give it says so, and every other import of the same thing. One that several things give
 *     is none that a clause could name.
 */
import {
    declaredKey,
    keyOf,
    type ProjectPolicy as Policy,
    type ReachRule,
    type Site,
    shownName,
    statedOrigin,
    type Untrusted,
} from "@remit/language";
import type { AgentEntry, Compiled } from "../compile/program.ts";
import type { Capability } from "../value/value.ts";
import type { Counter } from "./counts.ts";
import type { Rule } from "./named.ts";
import { type Clauses, compileRemit, NO_CLAUSES, type ReadersRule, type Remit, thingsOf } from "./policy.ts";
import { principalId, type Rulebook, rulebookOf } from "./rulebook.ts";

export type { Policy };

const NO_REMITS: readonly Remit[] = [];
const NO_RULES: readonly Rule[] = [];
const NO_COUNTERS: readonly Counter[] = [];

export class Authority {
    readonly base: string;
    readonly strict: boolean;
    readonly untrusted: Untrusted | null;
    readonly reach: readonly ReachRule[];
    /** What is said, for every run. */
    readonly book: Rulebook;
    /** With what agents wrote behind it. */
    program: Compiled;
    private readonly policies = new Map<string, Remit | null>();
    private readonly trusted: ReadonlySet<string>;

    /** `origins`: what a file import's content carries, by `FILE INDEX/NAME`. */
    constructor(program: Compiled, base: string, policy: Policy, origins: (place: string) => readonly string[]) {
        this.program = program;
        this.base = base;
        this.strict = policy.strict === true;
        this.untrusted = policy.untrusted ?? null;
        this.reach = policy.reach ?? [];
        this.book = rulebookOf(program, policy);
        this.trusted = this.book.trustedOrigins(origins);
    }

    /** Who an agent's functions run as. */
    principalOf(agent: AgentEntry): string {
        const id = principalId(this.program, agent);
        return this.book.remits.has(id) ? id : this.base;
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
        return this.book.remits.get(principal) ?? NO_REMITS;
    }

    clausesAt(file: number, name: string): Clauses {
        return this.book.clauses[file]?.get(name) ?? NO_CLAUSES;
    }

    /** What is counted of a thing. */
    countersAt(file: number, name: string): readonly Counter[] {
        return this.book.counters[file]?.get(name) ?? NO_COUNTERS;
    }

    /** What is said of a tool's methods and arguments by name, wherever it is said. */
    rulesAt(file: number, name: string): readonly Rule[] {
        return this.book.rules[file]?.get(name) ?? NO_RULES;
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
    readonly neutral = (origin: string): boolean => origin.startsWith("model:") && !this.book.models.has(origin);

    /** Whether values of this origin come from one thing alone: what a clause names is that thing (A6). */
    readonly isOne = (origin: string): boolean => !this.book.shared.has(origin);

    /** Whether control flow carries labels in code that runs as this principal. */
    isStrict(principal: string): boolean {
        return this.strict || (!this.book.plain && this.remitsOf(principal).some((remit) => remit.strict));
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
        return this.book.keys[c.file]?.get(c.name) ?? keyOf(c.kind, this.program.importOf(c)?.uri ?? c.name, this.program.fileName(c.file));
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

/** The name of an agent, where a principal is one. */
export function shownPrincipal(principal: string): string {
    return principal.startsWith("agent:") ? shownName(principal.slice(principal.lastIndexOf("#") + 1)) : principal;
}
