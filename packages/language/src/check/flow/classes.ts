/**
 * Classes of what may be the same list or object, and what is told of them: which names are loose, and which changes may be refused.
 *
 * Boundary: classes and names of a whole program. What the code does with them is found by `aliases.ts`.
 *
 * CS4: a change that is made through one name is followed through that name alone: every other name that may hold the same is loose.
 */
import type { Expr, Stmt } from "../../syntax/tree.ts";
import type { Range } from "../../text/source.ts";
import type { FuncInfo } from "../../scope/model.ts";
import { ownNames } from "../../scope/uses.ts";

/** Where something decides that may carry labels; null: nothing does. */
export type By = Place | null;

export interface Place {
    readonly func: FuncInfo;
    readonly range: Range;
}

/** What decides over a piece of code, or chose a reference. Once there is something, it stays. */
export interface Cell {
    by: By;
}

/** What may be the same. */
export interface Class {
    /** What it was joined with. */
    up: Class | null;
    inside: Class | null;
    /** It may carry labels. */
    readonly labelled: Cell;
    /** References in it may carry what the things may lack. */
    readonly chosen: Cell;
}

export interface Variable {
    readonly class: Class;
    /** A reference in it may carry what the thing may lack. */
    readonly chosen: Cell;
}

/** What an expression may stand for. */
export interface Ref {
    /** Null: no list or object. */
    readonly class: Class | null;
    readonly labelled: By;
    readonly chosen: By;
    /** It is made here, and so has what decides here. */
    readonly fresh: boolean;
}

export const SCALAR: Ref = { class: null, labelled: null, chosen: null, fresh: true };

/**
 * A change that may be refused; that an agent is let define functions, or what it defines after it was told something. `by`: what decides whether.
 */
export interface MayRefuse {
    readonly what: "change" | "let" | "define";
    readonly func: FuncInfo;
    readonly range: Range;
    readonly by: Place;
}

export interface Scope {
    readonly own: ReadonlyMap<string, number>;
    readonly variables: Map<string, Variable>;
    readonly callees: Set<FuncInfo>;
    readonly result: Variable;
    /** What its callers have decided by. */
    readonly given: Cell;
    /** A failure in it may be caught. */
    caught: boolean;
    strict: boolean;
}

export class Aliases {
    private readonly scopes = new Map<FuncInfo, Scope>();
    private readonly made = new Map<object, Class>();
    private readonly regions = new Map<object, Cell>();
    private readonly changes = new Map<Expr | Stmt, { readonly func: FuncInfo; readonly chosen: By }>();
    /** Where strict code lets an agent define functions, and where it hands over to one. */
    private readonly lets = new Map<Expr | Stmt, Lets>();
    /** Who changes what in this round, through which name; null for one that no name of the function tells. */
    private readonly changed: (readonly [FuncInfo, Class, Variable | null])[] = [];
    /** Who goes through what, item by item. */
    private readonly iterated: (readonly [FuncInfo, Class])[] = [];
    private told: Told | null = null;
    /** Something was found in this round. Where that never ends, nothing is certain. */
    grown = false;

    constructor(funcs: readonly FuncInfo[], isStrict: (func: FuncInfo) => boolean) {
        for (const func of funcs)
            this.scopes.set(func, {
                own: ownNames(func),
                variables: new Map(),
                callees: new Set(),
                result: newVariable(),
                given: { by: null },
                caught: false,
                strict: isStrict(func),
            });
    }

    begin(): void {
        this.grown = false;
        this.changed.length = 0;
        this.iterated.length = 0;
    }

    /** What strict code calls is strict (W5 of the machine). `caught`: where its failures may be caught. */
    called(scope: Scope, caught: boolean): void {
        this.grown ||= !scope.strict || (caught && !scope.caught);
        scope.strict = true;
        scope.caught ||= caught;
    }

    scopeOf(func: FuncInfo): Scope | undefined {
        return this.scopes.get(func);
    }

    get hasStrict(): boolean {
        return [...this.scopes.values()].some((scope) => scope.strict);
    }

    /** What no code of the program calls is called from outside, with anything. */
    fromOutside(func: FuncInfo): void {
        const scope = this.scopes.get(func) as Scope;
        for (const { name, range } of func.node.params) {
            const { class: at } = this.variable(scope, name.text);
            this.note(find(at).labelled, { func, range });
            this.join(at, this.inside(at));
        }
    }

    // ---- classes -----------------------------------------------------------------------------------------------------

    /** The class of what an expression makes. */
    of(node: object): Class {
        let known = this.made.get(node);
        if (known === undefined) {
            known = newClass();
            this.made.set(node, known);
        }
        return find(known);
    }

    /** What decides over the code of a node. */
    region(node: object): Cell {
        let known = this.regions.get(node);
        if (known === undefined) {
            known = { by: null };
            this.regions.set(node, known);
        }
        return known;
    }

    variable(scope: Scope, name: string): Variable {
        let known = scope.variables.get(name);
        if (known === undefined) {
            known = newVariable();
            scope.variables.set(name, known);
        }
        return known;
    }

    inside(of: Class): Class {
        const at = find(of);
        at.inside ??= newClass();
        return find(at.inside);
    }

    join(one: Class, other: Class): void {
        const rest: [Class, Class][] = [[one, other]];
        for (let pair = rest.pop(); pair !== undefined; pair = rest.pop()) {
            const [a, b] = [find(pair[0]), find(pair[1])];
            if (a === b) continue;
            this.grown = true;
            b.up = a;
            this.note(a.labelled, b.labelled.by);
            this.note(a.chosen, b.chosen.by);
            if (a.inside !== null && b.inside !== null) rest.push([a.inside, b.inside]);
            a.inside ??= b.inside;
        }
    }

    note(to: Cell, by: By): void {
        if (by === null || to.by !== null) return;
        to.by = by;
        this.grown = true;
    }

    /** A list or object is changed. `name`: the variable that holds it, where one does. */
    change(func: FuncInfo, node: Expr | Stmt, of: Ref, name: Variable | null): void {
        if (of.class === null) return;
        this.changed.push([func, of.class, name]);
        if (this.scopes.get(func)?.strict === true) this.changes.set(node, { func, chosen: of.chosen });
    }

    /** Strict code lets an agent define functions, or hands over to it: by this. */
    letsDefine(node: Expr | Stmt, one: Lets): void {
        if (this.scopes.get(one.func)?.strict === true) this.lets.set(node, one);
    }

    iterate(func: FuncInfo, { class: at }: Ref): void {
        if (at !== null) this.iterated.push([func, at]);
    }

    // ---- what is told ------------------------------------------------------------------------------------------------

    callees(func: FuncInfo): ReadonlySet<FuncInfo> {
        return (this.scopes.get(func) as Scope).callees;
    }

    /** A name through which strict code reaches only what carries all that the reference does. */
    isCovered(func: FuncInfo, name: string): boolean {
        return this.scopes.get(func)?.variables.get(name)?.chosen.by === null;
    }

    mayRefuse(): MayRefuse[] {
        const changes = [...this.changes].flatMap(([{ range }, { func, chosen }]): MayRefuse[] => {
            const by = chosen ?? (this.grown ? { func, range } : null);
            return by === null ? [] : [{ what: "change", func, range, by }];
        });
        const let_ = new Set([...this.lets.values()].flatMap(({ what, agent }) => (what === "let" ? [agent] : [])));
        const lets = [...this.lets].flatMap(([{ range }, { what, func, agent, by: given }]): MayRefuse[] => {
            const by = given ?? (this.grown ? { func, range } : null);
            return by === null || !let_.has(agent) ? [] : [{ what, func, range, by }];
        });
        return [...changes, ...lets];
    }

    /** Names of a function whose inside may change unseen (CS4). */
    loose(func: FuncInfo): Set<string> {
        this.told ??= this.tell();
        const { changed, iterated } = this.told;
        const { variables } = this.scopes.get(func) as Scope;
        const params = new Set(func.node.params.map((param) => param.name.text));
        const holders = new Map<Class, number>();
        const within = new Set<Class>();
        for (const variable of variables.values()) {
            const at = find(variable.class);
            holders.set(at, (holders.get(at) ?? 0) + 1);
            for (let inner = at.inside; inner !== null && !within.has(find(inner)); inner = find(inner).inside) within.add(find(inner));
        }
        // Functions that change what they are given may be called between any two lines.
        const isForeign = (at: Class): boolean => {
            for (const by of changed.get(at)?.keys() ?? []) if (by !== func && by.mutates !== 0) return true;
            return false;
        };
        const loose = new Set<string>();
        for (const [name, variable] of variables) {
            const at = find(variable.class);
            const by = changed.get(at)?.get(func);
            const isShared = params.has(name) || iterated.get(at)?.has(func) === true || holders.get(at) !== 1 || within.has(at);
            const isOwn = by === undefined || (!isShared && by.size === 1 && by.has(variable));
            if (!isOwn || isForeign(at) || hasInside(at, (inner) => changed.get(inner)?.has(func) === true || isForeign(inner)))
                loose.add(name);
        }
        return loose;
    }

    private tell(): Told {
        const told: Told = { changed: new Map(), iterated: new Map() };
        for (const [func, of, name] of this.changed) {
            const at = find(of);
            const by = told.changed.get(at) ?? new Map<FuncInfo, Set<Variable | null>>();
            told.changed.set(at, by.set(func, (by.get(func) ?? new Set()).add(name)));
        }
        for (const [func, of] of this.iterated) told.iterated.set(find(of), (told.iterated.get(find(of)) ?? new Set()).add(func));
        return told;
    }
}

/** `let`: a block begins in which an agent may define functions; `define`: it is handed control. */
interface Lets {
    readonly what: "let" | "define";
    readonly func: FuncInfo;
    /** Which agent, by its import. */
    readonly agent: string;
    /** What decides over it, or is told. */
    readonly by: By;
}

/** By class. */
interface Told {
    readonly changed: Map<Class, Map<FuncInfo, Set<Variable | null>>>;
    readonly iterated: Map<Class, Set<FuncInfo>>;
}

/** At any depth. */
function hasInside(of: Class, test: (inner: Class) => boolean): boolean {
    const seen = new Set<Class>();
    for (let at = of.inside; at !== null && !seen.has(find(at)); at = find(at).inside) {
        if (test(find(at))) return true;
        seen.add(find(at));
    }
    return false;
}

function newClass(): Class {
    return { up: null, inside: null, labelled: { by: null }, chosen: { by: null } };
}

function newVariable(): Variable {
    return { class: newClass(), chosen: { by: null } };
}

export function find(of: Class): Class {
    let at = of;
    while (at.up !== null) {
        at.up = at.up.up ?? at.up;
        at = at.up;
    }
    return at;
}

/** What is made here. */
export function newly(of: Class): Ref {
    return { class: find(of), labelled: find(of).labelled.by, chosen: null, fresh: true };
}

export function first(of: readonly Ref[], by: (one: Ref) => By): By {
    for (const one of of) {
        const found = by(one);
        if (found !== null) return found;
    }
    return null;
}
