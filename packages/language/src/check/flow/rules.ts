/**
 * What clauses say of a flow: which of what a call is certainly given they refuse.
 *
 * Boundary: the clauses of all imports of a thing (T6) and those of the project, as the machine reads them.
 *
 * RU5: nothing is refused here that an `or ask`, an `among`, an `addresses`, a reader that is not known yet or an argument that cannot be told could let pass.
 */
import { addedTo, type Project } from "../../authority/project.ts";
import { declaredKey, keyOf, methodName, schemeOf } from "../../authority/thing.ts";
import type { ClauseForm } from "../../form/form.ts";
import { clauseForm } from "../../form/lower.ts";
import { position, type Range, type Site } from "../../text/source.ts";
import type { Binding, Checking, FileScope } from "../../scope/model.ts";
import { type Cap, deep, type Fact, type Facts, NO_FACTS, read, type Source, union, type Val } from "./value.ts";

/** Where something stands, in a file of the program or of the project. */
export interface Place {
    readonly file: string;
    readonly range: Range;
    readonly line: number;
}

/** A clause and where it stands. */
export interface Rule<C> {
    readonly clause: C;
    readonly at: Place;
    /** The project's own: its word for who reads gives nothing (A2). */
    readonly project: boolean;
}

type ArgClause = Extract<ClauseForm, { kind: "arg" }>;

type ReadersClause = Extract<ClauseForm, { kind: "reads" | "audience" }>;

/** A use that something flows into. `model`: a prompt; `out`: what is handed to an agent outside the program. */
export interface Use {
    readonly kind: "call" | "model" | "out";
    readonly cap: Cap;
    readonly method: string;
    readonly args: readonly Val[];
}

export interface Refused {
    readonly fact: Fact;
    /** `to` of a clause; null where it is about readers. */
    readonly arg: string | null;
    /** Null: nothing says who reads it, so every person does. */
    readonly rule: Rule<ArgClause | ReadersClause> | null;
    /** Arguments by place that it is in. */
    readonly places: readonly number[];
    readonly why: string;
}

interface Numbered {
    readonly at: number;
    readonly rule: Rule<ArgClause>;
}

export class Rules {
    /** By key of the thing. */
    private readonly args = new Map<string, Rule<ArgClause>[]>();
    private readonly readers = new Map<string, Rule<ReadersClause>[]>();
    /** Those of an import by method, null for every method: an import may have as many clauses as there are uses of it. */
    private readonly ofMethods = new Map<Binding, Map<string | null, Numbered[]>>();
    /** Names and places that clauses about arguments speak of. */
    private readonly names = new Set<string>();
    private placed = false;
    private readonly trusted = new Map<Binding, boolean>();
    private readonly keys = new Map<Binding, string>();
    private readonly trusts: (binding: Binding) => boolean;

    constructor(checking: Checking, trusts: (binding: Binding) => boolean) {
        this.trusts = trusts;
        const things = new Map<string, Binding[]>();
        for (const file of checking.order)
            for (const binding of file.names.values()) {
                if (binding.import === null) continue;
                const key = this.keyOf({ binding, file });
                things.set(key, [...(things.get(key) ?? []), binding]);
                for (const clause of binding.import.clauses ?? [])
                    this.add(key, { clause: clauseForm(clause), at: placeIn(file, clause.range), project: false });
            }
        const { project } = checking;
        if (project === null) return;
        for (const [key, bindings] of things) {
            const imports = bindings.map(({ name, kind, import: node }) => ({ name, what: kind, uri: node?.uri.value ?? "" }));
            for (const clause of addedTo(project.policy, key, imports))
                this.add(key, { clause, at: placeOfProject(project, clause.site), project: true });
        }
    }

    private add(key: string, { clause, at, project }: Rule<ClauseForm>): void {
        if (clause.kind === "arg") {
            put(this.args, key, { clause, at, project });
            this.names.add(clause.name);
            this.placed ||= /^[0-9]/.test(clause.name);
        } else if (clause.kind === "reads" || clause.kind === "audience") put(this.readers, key, { clause, at, project });
    }

    /** No clause speaks of flows. */
    get isEmpty(): boolean {
        return this.args.size === 0 && this.readers.size === 0;
    }

    private keyOf({ binding, file }: Cap): string {
        let key = this.keys.get(binding);
        if (key === undefined) {
            key =
                binding.kind === "agent"
                    ? declaredKey("agent", binding.agent?.file.name ?? file.name, binding.name)
                    : keyOf(binding.kind, binding.import?.uri.value ?? binding.name, file.name);
            this.keys.set(binding, key);
        }
        return key;
    }

    private isTrusted(binding: Binding): boolean {
        let known = this.trusted.get(binding);
        if (known === undefined) {
            known = binding.kind !== "agent" && this.trusts(binding);
            this.trusted.set(binding, known);
        }
        return known;
    }

    /** What a result of a use carries. `args`: of the call. */
    carried(cap: Cap, method: string | null, args: readonly Val[], source: Source): Facts {
        const { binding } = cap;
        const trusted = this.isTrusted(binding);
        const facts = new Map<string, Fact>();
        const key = originOf(cap);
        facts.set(key, { key, source, trusted });
        if (!trusted) facts.set("!", { key: "!", source });
        if (binding.kind === "agent" || binding.kind === "skill") return facts;
        // A model and a file have no methods: whatever a clause names, it is about what comes from there.
        const asked = binding.kind === "tool" || binding.kind === "memory" ? meant(cap, method, args) : null;
        for (const { clause } of this.readers.get(this.keyOf(cap)) ?? []) {
            const { readers } = clause;
            if (clause.kind !== "reads" || readers.everyone === true) continue;
            if (clause.method !== undefined && asked !== null && (asked.method === null || !same(cap, clause.method, asked.method)))
                continue;
            facts.set("r", { key: "r", source });
            const isNamed = readers.arg !== undefined && readers.through === undefined && asked !== null;
            const names = readers.names ?? (isNamed ? textsOf(asked.args, readers.arg) : null);
            if (names !== null) {
                const only = readersFact(names, source);
                facts.set(only.key, only);
            }
        }
        return facts;
    }

    /** The first flow that is refused whenever the use is made; null where none is certain. */
    refused(use: Use): Refused | null {
        const { cap, args } = use;
        if (use.kind === "model") return this.readBy(use, args);
        const { method, args: given } = meant(cap, use.method, args);
        if (method === null) return null;
        for (const rule of this.argRules(cap, method)) {
            const { clause } = rule;
            if (clause.ask === true) continue;
            for (const { v, facts, places } of argumentsOf(given, clause.name)) {
                const fact = notAllowed(clause, facts);
                if (fact === null || mayPass(clause, v)) continue;
                const what = `'${clause.name}' of ${cap.binding.name}`;
                const why =
                    clause.from === undefined && clause.fields === undefined && clause.addresses !== true && clause.plain !== true
                        ? `${what} takes only what is trusted`
                        : `${what} does not take that`;
                return { fact, arg: clause.name, rule, places, why };
            }
        }
        return this.readBy({ ...use, method }, given);
    }

    /** Clauses about arguments of this method, in the order in which they are said. */
    private argRules(cap: Cap, method: string): readonly Rule<ArgClause>[] {
        const uri = cap.binding.import?.uri.value ?? "";
        let known = this.ofMethods.get(cap.binding);
        if (known === undefined) {
            known = new Map();
            for (const [at, rule] of (this.args.get(this.keyOf(cap)) ?? []).entries()) {
                const of = rule.clause.method;
                put(known, of === undefined ? null : methodName(uri, of), { at, rule });
            }
            this.ofMethods.set(cap.binding, known);
        }
        const found = [...(known.get(null) ?? []), ...(known.get(methodName(uri, method)) ?? [])];
        return found.sort((a, b) => a.at - b.at).map(({ rule }) => rule);
    }

    /** What only some may read, and another would. */
    private readBy(use: Use, given: readonly Val[]): Refused | null {
        const { cap } = use;
        const isModel = use.kind === "model";
        const all = (this.readers.get(this.keyOf(cap)) ?? []).filter(
            ({ clause }) => clause.kind === "audience" && (isModel || clause.method === undefined || same(cap, clause.method, use.method)),
        );
        for (const [place, v] of given.entries()) {
            const facts = deep(v);
            const some = facts.get("r");
            if (some === undefined) continue;
            const only = [...facts.values()].filter((fact) => fact.readers !== undefined);
            const who = only[0] === undefined ? "not for every person" : `for ${only[0].readers?.join(", ") || "no person"} only`;
            const name = cap.binding.name;
            if (!isModel && all.every((rule) => rule.project))
                return { fact: some, arg: null, rule: null, places: [place], why: `is ${who}, and no import says who reads ${name}` };
            for (const rule of all) {
                const { readers } = rule.clause;
                if (rule.clause.kind === "audience" && rule.clause.ask === true && !isModel) continue;
                const isNamed = readers.arg !== undefined && readers.through === undefined && !isModel;
                const names = readers.names ?? (isNamed ? textsOf(given, readers.arg) : null);
                const other = readers.everyone === true ? "everybody" : outside(names, only);
                if (other !== null) return { fact: some, arg: null, rule, places: [place], why: `is ${who}, and ${other} reads ${name}` };
            }
        }
        return null;
    }

    /** Arguments without what no clause of the program could speak of. */
    needed(args: readonly Val[]): readonly Val[] {
        const [only] = args;
        if (this.readers.size > 0 || this.placed || args.length !== 1 || only?.is !== "object" || only.fields === null) return args;
        const fields = new Map([...only.fields].filter(([key]) => this.names.has(key) || key === "tool" || key === "args"));
        return [{ ...only, fields, inner: NO_FACTS }];
    }
}

function put<K, T>(map: Map<K, T[]>, key: K, value: T): void {
    const known = map.get(key);
    if (known === undefined) map.set(key, [value]);
    else known.push(value);
}

export function placeIn({ name, tree }: FileScope, range: Range): Place {
    return { file: name, range, line: position(tree.source, range.start).line };
}

/** The text that says it, as it is written in JSON. */
export function placeOfProject({ sources }: Project, site: Site | undefined): Place {
    const file = site?.file ?? "";
    const line = site?.line ?? 1;
    const source = sources.get(file);
    const start = (source?.lineStarts[line - 1] ?? 0) + (site?.column ?? 1) - 1;
    const said = /^"(?:[^"\\]|\\.)*"/.exec(source?.text.slice(start) ?? "");
    return { file, range: { start, end: start + (said?.[0].length ?? 0) }, line };
}

/** The method and arguments that are meant: the generic `call` of a server is the method that it names. `method` null: that cannot be told. */
function meant(cap: Cap, method: string | null, args: readonly Val[]): { readonly method: string | null; readonly args: readonly Val[] } {
    if (cap.binding.kind !== "tool" || method !== "call" || schemeOf(cap.binding.import?.uri.value ?? "") !== "mcp")
        return { method, args };
    const named = args.length === 1 ? args[0]?.fields?.get("tool") : undefined;
    if (named?.text == null) return { method: null, args: [] };
    const inner = args[0]?.fields?.get("args");
    return { method: named.text, args: inner === undefined ? [] : [{ ...inner, top: union(inner.top, (args[0] as Val).top) }] };
}

export function readersFact(readers: readonly string[], source: Source): Fact {
    return { key: `r:${JSON.stringify([...new Set(readers)].sort())}`, readers, source };
}

function same(cap: Cap, a: string, b: string): boolean {
    const uri = cap.binding.import?.uri.value ?? "";
    return methodName(uri, a) === methodName(uri, b);
}

const WORDS = { tool: "tool", llm: "model", memory: "memory", file: "file", agent: "agent", skill: "skill" } as const;

function originOf({ binding, file }: Cap): string {
    if (binding.kind === "file") return `file:${keyOf("file", binding.import?.uri.value ?? "", file.name).replace(/^file:(?:\.\/)?/, "")}`;
    return `${WORDS[binding.kind as keyof typeof WORDS] ?? binding.kind}:${binding.name}`;
}

/** Texts of an argument, where they are written there. */
function textsOf(args: readonly Val[], name: string): string[] | null {
    const only = args.length === 1 ? args[0] : undefined;
    const v = /^[1-9][0-9]*$/.test(name) ? args[Number(name) - 1] : only?.is === "object" ? only.fields?.get(name) : undefined;
    return v === undefined || v.text === null ? null : [v.text];
}

function outside(audience: readonly string[] | null, only: readonly Fact[]): string | null {
    for (const name of audience ?? []) if (only.some((fact) => fact.readers?.includes(name) === false)) return name;
    return null;
}

interface Argument {
    readonly v: Val;
    readonly facts: Facts;
    readonly places: readonly number[];
}

/** What a clause's name stands for in a call, as far as that is certain. */
function argumentsOf(args: readonly Val[], name: string): Argument[] {
    const whole = (v: Val, i: number): Argument => ({ v, facts: deep(v), places: [i] });
    if (/^[1-9][0-9]*$/.test(name)) {
        const i = Number(name) - 1;
        return args[i] === undefined ? [] : [whole(args[i], i)];
    }
    const only = args.length === 1 ? (args[0] as Val) : undefined;
    // By place, a name stands for all of them; a single value may be the object that has the argument.
    if (only === undefined) return args.map(whole);
    if (only.is === "plain" || only.is === "list") return [whole(only, 0)];
    if (only.fields?.has(name) !== true) return [];
    const field = read({ ...only, param: null }, name);
    return [{ v: field, facts: deep(field), places: [0] }];
}

function notAllowed(clause: ArgClause, facts: Facts): Fact | null {
    const { from = clause.fields === undefined ? undefined : [] } = clause;
    if (from === undefined) return facts.get("!") ?? null;
    for (const fact of facts.values())
        if (fact.trusted !== undefined && !from.includes(fact.key) && !(fact.trusted && from.includes("trusted"))) return fact;
    return null;
}

/** What is in a value may let it pass, whatever it carries. */
function mayPass(clause: ArgClause, v: Val): boolean {
    // Without `among` no address may stand there, and a text that is certain to hold one is refused.
    if (clause.addresses === true || clause.plain === true) return clause.among === true || !hasAddress(v);
    return clause.among === true && !isNoWord(v);
}

/** What holds more than words occurred nowhere as a word. */
function isNoWord(v: Val): boolean {
    if (v.is !== "list") return v.is === "object";
    for (const item of v.fields?.values() ?? []) if (isNoWord(item)) return true;
    return false;
}

function hasAddress(v: Val): boolean {
    if (v.address) return true;
    for (const field of v.fields?.values() ?? []) if (hasAddress(field)) return true;
    return false;
}
