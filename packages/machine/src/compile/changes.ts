/**
 * Through which names code may change a list or object, for strict code.
 *
 * Boundary: forms of one function, by name. The caller knows the slots. Functions that the code calls are looked into.
 *
 * CH1: a name is found if some way through the code changes what the name holds when the code begins, or something inside that. Lists and
 *      objects that the code makes do not count. The answer may have more names than that, never fewer.
 * CH2: a hidden name (`%3`) takes from the names of the expression that it stands for: what the code puts into those is met by way of it, too.
 */

import { type ExprForm, type FormPart, walk } from "@remit/language";
import type { Where } from "./context.ts";
import { asLambda } from "./effects.ts";
import type { Fn, Meaning } from "./program.ts";
import type { Scope } from "./scope.ts";

export interface Changes {
    readonly names: ReadonlySet<string>;
    /** Numbers of file imports. */
    readonly imports: ReadonlySet<number>;
}

export const NO_CHANGES: Changes = { names: new Set(), imports: new Set() };

/** A name that takes from others. `whole`: it may hold what they hold, else a part of that. */
interface Taken {
    readonly from: ReadonlySet<string>;
    readonly whole: boolean;
}

/** `scope`: of the function that is compiled. */
type Looked = Where & { readonly scope: Scope };

export function changesIn(where: Looked, parts: readonly FormPart[]): Changes {
    const found = new Finder(where);
    for (const part of parts) found.look(part);
    return found.changes();
}

class Finder {
    private readonly where: Looked;
    /** Names of which what they hold is changed; and of which something inside is. */
    private readonly direct = new Set<string>();
    private readonly inside = new Set<string>();
    private readonly taken = new Map<string, Taken[]>();
    /** What was put into what a name holds. */
    private readonly stored = new Map<string, ReadonlySet<string>[]>();
    private readonly imports = new Set<number>();

    constructor(where: Looked) {
        this.where = where;
    }

    look(part: FormPart): void {
        walk(part, (e) => {
            if (e.kind === "assign") this.assign(e.target, e.op, e.value);
            else if (e.kind === "for" || e.kind === "parallel") this.takes(e.item, namesIn(e.list), false);
            else if (e.kind === "call") this.call(e);
        });
    }

    changes(): Changes {
        if (this.direct.size === 0 && this.inside.size === 0 && this.imports.size === 0) return NO_CHANGES;
        const names = new Set<string>();
        const deep = new Set<string>();
        const rest: (readonly [string, boolean])[] = [
            ...[...this.direct].map((name) => [name, false] as const),
            ...[...this.inside].map((name) => [name, true] as const),
        ];
        for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
            const [name, isDeep] = one;
            if (deep.has(name) || (!isDeep && names.has(name))) continue;
            names.add(name);
            if (isDeep) deep.add(name);
            const meant = this.where.scope.meaningOf(name);
            if (meant !== undefined && !isScalar(meant) && !this.isNew(meant))
                for (const other of namesIn(meant)) rest.push([other, isDeep || meant.kind !== "name"]);
            for (const { from, whole } of this.taken.get(name) ?? []) for (const other of from) rest.push([other, isDeep || !whole]);
            if (isDeep) for (const from of this.stored.get(name) ?? []) for (const other of from) rest.push([other, true]);
        }
        return { names, imports: this.imports };
    }

    private assign(target: ExprForm, op: string, value: ExprForm): void {
        if (target.kind === "name") {
            if (op !== "=" || isScalar(value) || this.isNew(value)) return;
            if (value.kind === "list" || value.kind === "object") put(this.stored, target.name, namesIn(value));
            else this.takes(target.name, namesIn(value), value.kind === "name");
        } else if (target.kind === "member" || target.kind === "index") this.change(target.object, [value]);
    }

    /** What an expression stands for is changed, and takes in values. */
    private change(object: ExprForm, values: readonly ExprForm[]): void {
        const names = namesIn(object);
        for (const name of names) (object.kind === "name" ? this.direct : this.inside).add(name);
        for (const value of values) if (!isScalar(value)) for (const name of names) put(this.stored, name, namesIn(value));
    }

    private takes(name: string, from: ReadonlySet<string>, whole: boolean): void {
        put(this.taken, name, { from, whole });
    }

    private call(e: ExprForm & { kind: "call" }): void {
        const { callee, args } = e;
        const { program } = this.where;
        if (callee.kind === "member") {
            for (const { value } of args)
                if (value.kind === "lambda") for (const param of value.params) this.takes(param, namesIn(callee.object), false);
            if (callee.name === "add")
                this.change(
                    callee.object,
                    args.map((a) => a.value),
                );
            args.forEach((_, i) => {
                const named = asLambda(program, this.where, { has: () => false }, e, i);
                if (named !== undefined) this.calls(named, [callee.object, ...args.map((a) => a.value)]);
            });
        }
        const values = args.map((a) => a.value);
        const meaning = this.meaningOf(callee);
        if (meaning === "data") return;
        if (meaning === "unknown") this.given(values);
        else this.calls(meaning, values);
    }

    /** The function that is called; `data`: none, or a built-in, tool or memory, which change nothing else than `add` does. */
    private meaningOf(callee: ExprForm): Fn | "data" | "unknown" {
        const { program, file, agent } = this.where;
        const { travels } = program.reach;
        const look = (name: string): Meaning | undefined => program.lookup(file, agent, name);
        if (callee.kind === "name") {
            const meaning = look(callee.name);
            if (meaning?.kind === "func") return meaning.fn;
            if (meaning?.kind === "agent") return meaning.agent.main ?? "data";
            return meaning === undefined && travels ? "unknown" : "data";
        }
        if (callee.kind !== "member") return travels ? "unknown" : "data";
        const meaning = callee.object.kind === "name" ? look(callee.object.name) : undefined;
        if (meaning?.kind === "agent") return meaning.agent.funcs.get(callee.name) ?? "data";
        return travels && !(meaning !== undefined && "value" in meaning) ? "unknown" : "data";
    }

    private calls(fn: Fn, values: readonly ExprForm[]): void {
        const { program } = this.where;
        const changed = program.changes ? null : fn.mutations;
        // What an agent defines anew may do anything to what it is given.
        if (changed === null || changed.mutates) this.given(values);
        for (const number of changed?.imports ?? []) this.imports.add(number);
    }

    /** Values are given to code that may change them, and put one into another. */
    private given(values: readonly ExprForm[]): void {
        const all = new Set(values.flatMap((value) => [...namesIn(value)]));
        for (const name of all) {
            this.inside.add(name);
            put(this.stored, name, all);
        }
    }

    /** What a tool or a model gives nothing else holds. */
    private isNew(e: ExprForm): boolean {
        if (e.kind === "generate" || e.kind === "endorse") return true;
        if (e.kind !== "call" || e.callee.kind !== "member" || e.callee.object.kind !== "name") return false;
        const { program, file, agent } = this.where;
        const meaning = program.lookup(file, agent, e.callee.object.name);
        return meaning?.kind === "tool" || meaning?.kind === "memory";
    }
}

/** What calling a function changes: of what it is given (`mutates`), and of file imports. */
export interface Mutations {
    readonly mutates: boolean;
    readonly imports: ReadonlySet<number>;
}

export function mutationsOf(of: Fn): Mutations {
    const seen = new Set<Fn>([of]);
    const imports = new Set<number>();
    let mutates = false;
    for (const fn of seen) {
        const { program } = fn;
        const look = (name: string): Meaning | undefined => program.lookup(fn.file, fn.agent, name);
        walk(fn.form.body, (e) => {
            if (e.kind === "assign" && e.target.kind !== "name") mutates = true;
            const meaning = e.kind === "name" ? look(e.name) : undefined;
            if (meaning?.kind === "file" || meaning?.kind === "block") imports.add(meaning.number);
            if (meaning?.kind === "func") seen.add(meaning.fn);
            if (meaning?.kind === "agent") for (const one of meaning.agent.funcs.values()) seen.add(one);
            if (e.kind === "call" && e.callee.kind === "member" && (e.callee.name === "add" || program.reach.travels)) mutates = true;
            if (e.kind === "call" && e.callee.kind === "name" && look(e.callee.name) === undefined) mutates ||= program.reach.travels;
        });
    }
    return { mutates, imports: mutates ? imports : new Set() };
}

function put<T>(map: Map<string, T[]>, key: string, value: T): void {
    const known = map.get(key);
    if (known === undefined) map.set(key, [value]);
    else known.push(value);
}

/** It gives a text, a number, a truth value or none. */
function isScalar(e: ExprForm): boolean {
    return e.kind === "literal" || e.kind === "unary" || (e.kind === "binary" && e.op !== "??");
}

/** Every name in an expression. */
export function namesIn(e: ExprForm): Set<string> {
    const names = new Set<string>();
    walk(e, (x) => {
        if (x.kind === "name") names.add(x.name);
    });
    return names;
}
