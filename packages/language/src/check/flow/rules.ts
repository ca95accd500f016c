/**
 * What the clauses of the program's imports say of a flow: which of what a call is certainly given they refuse.
 *
 * Boundary: the clauses of all imports of a thing (T6), as the machine reads them; a project's policy is the machine's.
 *
 * F5: nothing is refused here that an `or ask`, an `among`, an `addresses`, a reader that is not known yet or an argument that cannot be told could let pass.
 */
import { declaredKey, keyOf, methodName, schemeOf } from "../../authority/thing.ts";
import type { ArgClause, ReadersClause } from "../../syntax/tree.ts";
import { isOutside } from "../handover.ts";
import type { Binding, Checking, FileScope } from "../model.ts";
import { type Cap, deep, type Fact, type Facts, NO_FACTS, read, type Source, union, type Val } from "./value.ts";

/** A clause and the file that it stands in. */
export interface Rule<C> {
    readonly clause: C;
    readonly file: FileScope;
}

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
    /** Null: nothing says who reads it, so anybody does. */
    readonly rule: Rule<ArgClause | ReadersClause> | null;
    /** Arguments by place that it is in. */
    readonly places: readonly number[];
    readonly why: string;
}

export class Rules {
    /** By key of the thing. */
    private readonly args = new Map<string, Rule<ArgClause>[]>();
    private readonly readers = new Map<string, Rule<ReadersClause>[]>();
    /** Names and places that clauses about arguments speak of. */
    private readonly names = new Set<string>();
    private placed = false;
    private readonly trusted = new Map<Binding, boolean>();
    private readonly keys = new Map<Binding, string>();
    private readonly trusts: (binding: Binding) => boolean;

    constructor(checking: Checking, trusts: (binding: Binding) => boolean) {
        this.trusts = trusts;
        for (const file of checking.order)
            for (const binding of file.names.values())
                for (const clause of binding.import?.clauses ?? []) {
                    const key = this.keyOf({ binding, file });
                    if (clause.kind === "clause.arg") {
                        this.args.set(key, [...(this.args.get(key) ?? []), { clause, file }]);
                        this.names.add(clause.name.text);
                        this.placed ||= /^[0-9]/.test(clause.name.text);
                    }
                    if (clause.kind === "clause.readers") this.readers.set(key, [...(this.readers.get(key) ?? []), { clause, file }]);
                }
    }

    /** No clause of the program speaks of flows. */
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
        if (binding.kind !== "tool" && binding.kind !== "memory") return facts;
        for (const { clause } of this.readers.get(this.keyOf(cap)) ?? []) {
            const { readers } = clause;
            if (clause.which !== "reads" || readers.kind === "readers.everyone") continue;
            if (clause.method !== undefined && (binding.kind === "memory" || method === null || !same(cap, clause.method.text, method)))
                continue;
            facts.set("r", { key: "r", source });
            const names =
                readers.kind === "readers.names"
                    ? readers.names.map((one) => one.value)
                    : readers.kind === "readers.arg" && binding.kind === "tool"
                      ? textsOf(args, readers.name.text)
                      : null;
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
        let { method } = use;
        let given = args;
        if (cap.binding.kind === "tool" && method === "call" && schemeOf(cap.binding.import?.uri.value ?? "") === "mcp") {
            // The generic `call` of a server is the method that it names.
            const named = args.length === 1 ? args[0]?.fields?.get("tool") : undefined;
            if (named?.text == null) return null;
            method = named.text;
            const inner = args[0]?.fields?.get("args");
            given = inner === undefined ? [] : [{ ...inner, top: union(inner.top, (args[0] as Val).top) }];
        }
        for (const rule of this.args.get(this.keyOf(cap)) ?? []) {
            const { clause } = rule;
            if (clause.ask || clause.among === true || clause.addresses === true) continue;
            if (clause.method !== undefined && !same(cap, clause.method.text, method)) continue;
            for (const { facts, places } of argumentsOf(given, clause.name.text)) {
                const fact = notAllowed(clause, facts);
                if (fact === null) continue;
                const why =
                    clause.from === undefined
                        ? `'${clause.name.text}' of ${cap.binding.name} takes only what is trusted`
                        : `'${clause.name.text}' of ${cap.binding.name} does not take that`;
                return { fact, arg: clause.name.text, rule, places, why };
            }
        }
        return this.readBy({ ...use, method }, given);
    }

    /** What only some may read, and somebody else would. */
    private readBy(use: Use, given: readonly Val[]): Refused | null {
        const { cap } = use;
        const isModel = use.kind === "model";
        const all = (this.readers.get(this.keyOf(cap)) ?? []).filter(
            ({ clause }) =>
                clause.which === "audience" && (isModel || clause.method === undefined || same(cap, clause.method.text, use.method)),
        );
        for (const [place, v] of given.entries()) {
            const facts = deep(v);
            const some = facts.get("r");
            if (some === undefined) continue;
            const only = [...facts.values()].filter((fact) => fact.readers !== undefined);
            const who = only[0] === undefined ? "not for everybody" : `for ${only[0].readers?.join(", ") || "nobody"} only`;
            const name = cap.binding.name;
            if (all.length === 0 && !isModel)
                return { fact: some, arg: null, rule: null, places: [place], why: `is ${who}, and whoever reads ${name} is not said` };
            for (const rule of all) {
                const { readers, ask } = rule.clause;
                if (ask && !isModel) continue;
                const names =
                    readers.kind === "readers.names"
                        ? readers.names.map((one) => one.value)
                        : readers.kind === "readers.arg" && !isModel
                          ? textsOf(given, readers.name.text)
                          : null;
                const other = readers.kind === "readers.everyone" ? "everybody" : outside(names, only);
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

    /** An agent outside the program. */
    static isOutside(cap: Cap): boolean {
        return cap.binding.kind === "agent" && cap.binding.agent === null && cap.binding.import !== null && isOutside(cap.binding.import);
    }
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

/** What a clause's name stands for in a call, as far as that is certain. */
function argumentsOf(args: readonly Val[], name: string): { readonly facts: Facts; readonly places: readonly number[] }[] {
    const whole = (v: Val, i: number): { facts: Facts; places: number[] } => ({ facts: deep(v), places: [i] });
    if (/^[1-9][0-9]*$/.test(name)) {
        const i = Number(name) - 1;
        return args[i] === undefined ? [] : [whole(args[i], i)];
    }
    const only = args.length === 1 ? (args[0] as Val) : undefined;
    // By place, a name stands for all of them; a single value may be the object that has the argument.
    if (only === undefined) return args.map(whole);
    if (only.is === "plain" || only.is === "list") return [whole(only, 0)];
    const field = only.fields?.get(name);
    return field === undefined ? [] : [{ facts: deep(read({ ...only, param: null }, name)), places: [0] }];
}

function notAllowed(clause: ArgClause, facts: Facts): Fact | null {
    if (clause.from === undefined) return facts.get("!") ?? null;
    const names = clause.from.map((one) => one.value);
    for (const fact of facts.values())
        if (fact.trusted !== undefined && !names.includes(fact.key) && !(fact.trusted && names.includes("trusted"))) return fact;
    return null;
}
