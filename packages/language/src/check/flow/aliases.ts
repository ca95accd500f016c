/**
 * What all functions of a program do with lists and objects, in no order: which may be the same, what is changed through which name, and what
 * strict code may choose by what others may not see.
 *
 * Boundary: one look at each function, until no look finds more. A variable, a result and the inside of a list or object have a class of what
 * they may hold (`classes.ts`); all that a list or object holds is one class inside its own.
 *
 * AL7: in strict code the machine raises what a branch may change, wherever it is reached from (CL5 of the machine's `containers.ts`). So it
 *     refuses a change only where the *reference* carries something that the list or object may lack: a variable that was assigned under a
 *     condition, an item at a chosen index, a thing put into another under a condition (`chosen`). What may be chosen is told for every change.
 *
 * Why it is long: statements and expressions of one language, one case each, as in `walk.ts`.
 */
import { rootOf } from "../../syntax/nodes.ts";
import { schemeOf } from "../../authority/thing.ts";
import type * as tree from "../../syntax/tree.ts";
import type { Range } from "../../text/source.ts";
import { BUILTINS_ON, isNamespace, METHODS } from "../../scope/builtins.ts";
import type { Binding, FuncInfo } from "../../scope/model.ts";
import { Aliases, type By, type Cell, type Class, find, first, newly, type Ref, SCALAR, type Scope, type Variable } from "./classes.ts";
import { calledBy } from "./known.ts";

const MAX_ROUNDS = 30;

export function aliasesOf(funcs: readonly FuncInfo[], isStrict: (func: FuncInfo) => boolean): Aliases {
    const aliases = new Aliases(funcs, isStrict);
    // Labels matter in strict code alone; what is the same is found in one round.
    const rounds = aliases.hasStrict ? MAX_ROUNDS : 1;
    for (let round = 0; round < rounds; round++) {
        aliases.begin();
        for (const func of funcs) new Look(aliases, func, aliases.scopeOf(func) as Scope).run();
        if (round === 0) {
            const called = new Set(funcs.flatMap((func) => [...aliases.callees(func)]));
            for (const func of funcs) if (!called.has(func)) aliases.fromOutside(func);
        }
        if (!aliases.grown) break;
    }
    return aliases;
}

/** One look at one function. */
class Look {
    private readonly all: Aliases;
    private readonly func: FuncInfo;
    private readonly scope: Scope;
    /** What decides around this place: by the callers, in the function, in each condition and loop. */
    private readonly around: Cell[];
    /** Depth in `around` at which a name was first given a value. */
    private readonly declared = new Map<string, number>();
    /** Depth of the innermost loop, and of the `try` around. */
    private loop = 1;
    private tried = 0;
    /** How often something was read by which a failure that is caught decides. */
    private decided = 0;
    /** What `return` gives: the function's value, or that of an iteration. */
    private returns: Variable;

    constructor(aliases: Aliases, func: FuncInfo, scope: Scope) {
        this.all = aliases;
        this.func = func;
        this.scope = scope;
        this.around = [scope.given, aliases.region(func.node)];
        this.returns = scope.result;
    }

    run(): void {
        for (const param of this.func.node.params) this.declared.set(param.name.text, 2);
        if (this.scope.caught) this.tried = 1;
        this.give(this.block(this.func.node.body));
    }

    // ---- what decides ------------------------------------------------------------------------------------------------

    /** Code that is reached or not by this. */
    private under<T>(node: object, by: By, code: () => T): T {
        const region = this.all.region(node);
        this.decide(region, by);
        this.around.push(region);
        const made = code();
        this.around.pop();
        return made;
    }

    private decide(region: Cell, by: By): void {
        if (this.scope.strict) this.all.note(region, by);
    }

    /** A condition or index that carries something. */
    private at({ range }: tree.Node, v: Ref | By): By {
        return v === null || ("labelled" in v && v.labelled === null) ? null : { func: this.func, range };
    }

    private pc(from = 0): By {
        for (let i = from; i < this.around.length; i++) if (this.around[i]?.by != null) return this.around[i]?.by ?? null;
        return null;
    }

    /** Ways from here on, out of everything from a depth on, depend on this (W4 of the machine). */
    private leave(from: number, by: By): void {
        if (by !== null) for (const region of this.around.slice(from)) this.decide(region, by);
    }

    /** What is read where a failure is caught decides whether it is. */
    private reads(by: By): void {
        if (this.tried === 0) return;
        if (by !== null) this.decided++;
        this.leave(this.tried, by);
    }

    /** A new thing that no name holds yet: what was read since it was made, and may fail, decides where it goes, and nothing raises it. */
    private since(before: number, v: Ref): Ref {
        return v.fresh && this.decided > before ? { ...v, fresh: false, chosen: v.chosen ?? this.pc() } : v;
    }

    // ---- statements --------------------------------------------------------------------------------------------------

    private block(block: tree.Block): Ref {
        const { size } = this.declared;
        let value = SCALAR;
        for (const s of block.statements) {
            value = SCALAR;
            if (s.kind === "expr") value = this.expr(s.value);
            else this.statement(s);
        }
        if (this.declared.size === size) return value;
        // A map keeps the order in which names came.
        let at = 0;
        for (const name of this.declared.keys()) if (at++ >= size) this.declared.delete(name);
        return value;
    }

    private statement(s: tree.Stmt): void {
        switch (s.kind) {
            case "assign":
                this.assign(s);
                return;
            case "return":
                this.give(this.expr(s.value));
                this.leave(1, this.pc(1));
                return;
            case "raise":
                // What decides over it was read, and so decides where the failure is caught.
                this.expr(s.value);
                return;
            case "break":
            case "continue":
                this.leave(this.loop, this.pc(this.loop));
                return;
            case "if":
            case "try":
                this.parts(s);
                return;
            case "for": {
                const list = this.expr(s.list);
                this.looping(s, this.at(s.list, list), () => this.each(s.item.text, list, () => this.block(s.body)));
                return;
            }
            case "loop":
                this.looping(s, null, () => {
                    this.decide(this.all.region(s), this.at(s.until, this.expr(s.until)));
                    this.block(s.body);
                });
                return;
            case "repeat":
                this.looping(s, null, () => this.block(s.body));
                return;
            case "delegate":
                if (s.all) this.lets("let", s, this.func.file.names.get(s.to.text), this.pc());
                this.block(s.body);
                return;
            case "spend":
                this.block(s.body);
                return;
            default:
                return;
        }
    }

    private looping(node: object, by: By, code: () => unknown): void {
        const { loop } = this;
        this.loop = this.around.length;
        this.under(node, by, code);
        this.loop = loop;
    }

    /** A name stands for any item of a list. */
    private each<T>(name: string, list: Ref, code: () => T): T {
        this.all.iterate(this.func, list);
        return this.declares(name, this.item(list, null), code);
    }

    private declares<T>(name: string, v: Ref, code: () => T): T {
        const shadowed = this.declared.get(name);
        this.declared.set(name, this.around.length);
        this.assignTo(name, v);
        const made = code();
        if (shadowed === undefined) this.declared.delete(name);
        else this.declared.set(name, shadowed);
        return made;
    }

    private assign(s: tree.Stmt & { kind: "assign" }): void {
        const { target, op, value } = s;
        const v = this.expr(value);
        if (target.kind === "ident") {
            this.assignTo(target.name, op === "=" ? v : { ...v, class: null });
            return;
        }
        if (target.kind !== "member" && target.kind !== "index") return;
        const { decided } = this;
        const object = this.expr(target.object);
        const by = target.kind === "index" ? this.at(target.index, this.expr(target.index)) : null;
        this.change(s, target.object, object, [this.since(decided, v)], by);
    }

    private assignTo(name: string, v: Ref): void {
        const depth = this.declared.get(name);
        if (depth === undefined) this.declared.set(name, this.around.length);
        this.flow(this.all.variable(this.scope, name), v, depth === undefined ? null : this.pc(depth));
    }

    /** The value of the function, or of an iteration. */
    private give(v: Ref): void {
        this.flow(this.returns, v, v.fresh ? null : this.pc(1));
    }

    /** `by`: what chose it. */
    private flow({ class: at, chosen }: Variable, v: Ref, by: By): void {
        if (v.class !== null) this.all.join(at, v.class);
        this.label(at, v.labelled);
        this.all.note(chosen, v.chosen ?? by);
    }

    /** What is in a place carries this, and what decides over the place. */
    private label(at: Class, by: By): void {
        this.all.note(find(at).labelled, by ?? this.pc());
    }

    /** With all that is reached through it, as the machine does it (CL3 to CL5 there). */
    private raise(of: Class, by: By): void {
        const seen = new Set<Class>();
        for (let at: Class | null = find(of); at !== null && !seen.has(at); at = at.inside === null ? null : find(at.inside)) {
            seen.add(at);
            this.label(at, by);
        }
    }

    /** `by`: an index or key that carries something. */
    private change(node: tree.Expr | tree.Stmt, object: tree.Expr, of: Ref, values: readonly Ref[], by: By): void {
        if (of.class === null) return;
        const isOwn = object.kind === "ident" && this.scope.own.has(object.name);
        this.all.change(this.func, node, this.held(object, of), isOwn ? this.all.variable(this.scope, object.name) : null);
        for (const v of values) this.hold(of.class, v);
        this.raise(of.class, by ?? find(of.class).labelled.by);
        this.reads(of.labelled ?? by);
    }

    /** A thing that no name holds: what is read after it was made, and may fail, decides too, and nothing raises the thing. */
    private held(e: tree.Expr, v: Ref): Ref {
        if (this.tried === 0) return v;
        return rootOf(e).kind === "ident" ? v : { ...v, chosen: v.chosen ?? this.pc() };
    }

    /** Something is put into a list or object. */
    private hold(holder: Class, v: Ref): void {
        const inside = this.all.inside(holder);
        if (v.class === null) this.label(inside, v.labelled);
        else this.flow({ class: inside, chosen: find(holder).chosen }, v, v.fresh ? null : this.pc());
    }

    private parts(node: tree.If | tree.IfExpr | tree.Try | tree.TryExpr): Ref {
        const { tried } = this;
        const region = this.all.region(node);
        const ends = this.under(node, null, () => {
            if (node.kind === "if" || node.kind === "if.expr") {
                const { branches, otherwise } = node;
                const made = branches.map(({ test, body }) => {
                    this.decide(region, this.at(test, this.expr(test)));
                    return this.block(body);
                });
                return otherwise === undefined ? made : [...made, this.block(otherwise)];
            }
            if (tried === 0) this.tried = this.around.length - 1;
            const { body, name, handler } = node;
            const made = this.block(body);
            if (name !== undefined) {
                this.declared.set(name.text, this.around.length);
                this.assignTo(name.text, { ...SCALAR, class: this.all.of(handler), labelled: region.by });
            }
            return [made, this.block(handler)];
        });
        this.tried = tried;
        return this.oneOf(node, ends, region.by);
    }

    /** One of several values, as these decide. */
    private oneOf(node: object, values: readonly Ref[], by: By): Ref {
        const some = values.filter((v) => v.class !== null);
        const labelled = by ?? first(values, (v) => v.labelled);
        if (some.length === 0) return { ...SCALAR, labelled };
        const at = this.all.of(node);
        for (const v of some) this.all.join(at, v.class as Class);
        const fresh = values.every((v) => v.fresh);
        return { class: find(at), labelled, chosen: first(some, (v) => v.chosen) ?? (fresh ? null : by), fresh };
    }

    // ---- expressions -------------------------------------------------------------------------------------------------

    private expr(e: tree.Expr): Ref {
        const found = this.valueOf(e);
        this.reads(found.labelled);
        return found;
    }

    private valueOf(e: tree.Expr): Ref {
        switch (e.kind) {
            case "ident":
                return this.name(e.name, e.range);
            case "paren":
                return this.expr(e.value);
            case "member":
            case "index":
                return this.item(this.expr(e.object), e.kind === "member" ? null : this.at(e.index, this.expr(e.index)));
            case "unary": {
                const v = this.expr(e.value);
                return { ...v, class: null, ...(e.op === "text" ? { labelled: this.deep(v) } : {}) };
            }
            case "binary":
                return this.binary(e);
            case "list":
            case "object":
                return this.literal(e, e.kind === "list" ? e.items : e.entries);
            case "if.expr":
            case "try.expr":
                return this.parts(e);
            case "lambda":
                return { ...this.expr(e.body), class: null };
            case "endorse":
                this.expr(e.because);
                this.expr(e.value);
                return this.effect(e, e.range);
            case "generate":
                for (const option of e.options) this.expr(option.value);
                return this.effect(e, e.range);
            case "parallel":
                return this.parallel(e);
            case "call":
                return this.call(e);
            default:
                return SCALAR;
        }
    }

    private name(name: string, range: Range): Ref {
        const { func, scope } = this;
        if (scope.own.has(name)) {
            const { class: at, chosen } = this.all.variable(scope, name);
            return { ...newly(at), chosen: chosen.by, fresh: false };
        }
        const binding = func.file.names.get(name);
        if (binding?.kind !== "file") return SCALAR;
        return { ...this.effect(binding, range), fresh: false };
    }

    /** What stands in a list or object, at an index that carries something. */
    private item(of: Ref, by: By): Ref {
        const labelled = of.labelled ?? by;
        if (of.class === null) return { ...SCALAR, labelled };
        const inside = this.all.inside(of.class);
        const chosen = of.chosen ?? find(of.class).chosen.by ?? by;
        return { class: inside, labelled: labelled ?? inside.labelled.by, chosen, fresh: false };
    }

    /** What any part of it carries. */
    private deep({ class: at, labelled }: Ref): By {
        let found = labelled;
        const seen = new Set<Class>();
        for (let one = at; found === null && one !== null && !seen.has(find(one)); one = find(one).inside) {
            seen.add(find(one));
            found = find(one).labelled.by;
        }
        return found;
    }

    private binary(e: tree.Binary): Ref {
        const left = this.expr(e.left);
        if (e.op !== "and" && e.op !== "or" && e.op !== "??") {
            const right = this.expr(e.right);
            return { ...SCALAR, labelled: this.deep(left) ?? this.deep(right) };
        }
        const right = this.under(e, this.at(e.left, left), () => this.expr(e.right));
        return this.oneOf(e, e.op === "??" ? [left, right] : [{ ...right, class: null }], left.labelled);
    }

    private literal(e: tree.Expr, items: readonly (tree.Expr | tree.Spread | tree.ObjectEntry)[]): Ref {
        const at = this.all.of(e);
        this.under(e, null, () => {
            const held: { readonly v: Ref; readonly at: number }[] = [];
            for (const item of items) {
                if (item.kind === "spread") {
                    const v = this.expr(item.value);
                    this.decide(this.all.region(e), this.at(item, v));
                    this.hold(at, { ...this.item(v, null), fresh: true });
                } else held.push({ v: this.expr(item.kind === "entry" ? item.value : item), at: this.decided });
            }
            for (const { v, at: since } of held) this.hold(at, this.since(since, v));
        });
        this.label(at, this.all.region(e).by);
        return newly(at);
    }

    /** What comes from elsewhere: nothing else holds it. */
    private effect(node: object, range: Range): Ref {
        const at = this.all.of(node);
        this.all.join(at, this.all.inside(at));
        this.label(at, { func: this.func, range });
        return newly(at);
    }

    private parallel(e: tree.ParallelFor): Ref {
        const list = this.expr(e.list);
        const at = this.all.of(e);
        const { returns } = this;
        this.returns = { class: this.all.inside(at), chosen: find(at).chosen };
        this.looping(e, this.at(e.list, list), () => this.each(e.item.text, list, () => this.give(this.block(e.body))));
        this.returns = returns;
        this.label(at, list.labelled);
        // The machine gives a list that iterations make no label of its own.
        return { ...newly(at), chosen: list.labelled ?? this.pc(), fresh: false };
    }

    // ---- calls -------------------------------------------------------------------------------------------------------

    private call(e: tree.Call): Ref {
        const { callee } = e;
        const found = calledBy(this.func, e, this.scope.own);
        for (const option of e.options ?? []) this.expr(option.value);
        if (found !== null) {
            const args = this.args(e);
            if (!("kind" in found)) return this.userCall(e, found, args);
            if (callee.kind === "member" && callee.name.text === "yield")
                this.lets("define", e, found, this.pc() ?? first(args, (v) => this.deep(v)) ?? this.readBy(e, found));
            return this.effect(e, e.range);
        }
        if (callee.kind === "member") {
            const { object } = callee;
            const isOuter = object.kind === "ident" && isNamespace(object.name) && !this.scope.own.has(object.name);
            return isOuter ? this.computed(e, this.args(e)) : this.method(e, callee, this.expr(object));
        }
        const args = this.args(e);
        const name = callee.kind === "ident" && !this.scope.own.has(callee.name) ? callee.name : "";
        return BUILTINS_ON.global.has(name) ? this.computed(e, args) : this.unknown(e, [this.expr(callee), ...args]);
    }

    private lets(what: "let" | "define", node: tree.Expr | tree.Stmt, agent: Binding | undefined, by: By): void {
        const { func } = this;
        if (agent?.kind === "agent") this.all.letsDefine(node, { what, func, agent: agent.import?.uri.value ?? agent.name, by });
    }

    /** An agent outside the program acts by what it read with its own hands, which its remit or a tool for files may let it do unseen. */
    private readBy({ range }: tree.Call, { agent, import: own }: Binding): By {
        const isGiven =
            own?.remit !== undefined && (own.remit.kind === "remit.use" || own.remit.clauses.some(({ kind }) => kind === "remit.grant"));
        const hasFiles = (): boolean =>
            [...this.func.file.names.values()].some((one) => one.kind === "tool" && schemeOf(one.import?.uri.value ?? "") === "file");
        return agent === null && (isGiven || hasFiles()) ? { func: this.func, range } : null;
    }

    private args(e: tree.Call): Ref[] {
        return e.args.map((arg) => this.expr(arg.value));
    }

    /** Something new that carries what these do. */
    private computed(e: tree.Call, from: readonly Ref[]): Ref {
        const at = this.all.of(e);
        for (const v of from) this.label(at, this.deep(v));
        return newly(at);
    }

    /** Code that is not known may do anything with what it is given, and give any of it back. */
    private unknown(e: tree.Call, given: readonly Ref[]): Ref {
        const at = this.effect(e, e.range).class as Class;
        for (const v of given) if (v.class !== null) this.all.join(at, v.class);
        for (const v of given) this.all.change(this.func, e, v, null);
        this.all.note(find(at).chosen, first(given, (v) => v.chosen) ?? this.pc());
        return { ...newly(at), chosen: find(at).chosen.by, fresh: false };
    }

    private userCall(e: tree.Call, to: FuncInfo, args: readonly Ref[]): Ref {
        this.scope.callees.add(to);
        const scope = this.all.scopeOf(to);
        if (scope === undefined) return this.unknown(e, args);
        to.node.params.forEach((param, i) => {
            const arg = e.args[i]?.value;
            if (arg !== undefined) this.flow(this.all.variable(scope, param.name.text), this.held(arg, args[i] as Ref), null);
        });
        if (this.scope.strict) {
            this.all.called(scope, this.tried > 0);
            this.all.note(scope.given, this.pc());
        }
        const { class: at, chosen } = scope.result;
        return { ...newly(at), chosen: chosen.by, fresh: false };
    }

    private method(e: tree.Call, { name }: tree.Member, of: Ref): Ref {
        const rows = METHODS.get(name.text);
        if (rows === undefined) return this.unknown(e, [of, ...this.args(e)]);
        if (name.text === "reduce") return this.reduced(e, of);
        const made: Ref[] = [];
        const args = this.under(e, this.at(e.callee, of), () =>
            e.args.map(({ value }) => {
                if (value.kind === "lambda") {
                    const v = this.lambda(value, of);
                    made.push(v);
                    return { ...v, class: null };
                }
                return this.expr(value);
            }),
        );
        const by = this.at(
            e,
            first(args, (v) => v.labelled),
        );
        if (rows.some((row) => row.mutates)) {
            this.change(e, (e.callee as tree.Member).object, of, args, null);
            return of;
        }
        const shares = new Set(rows.map((row) => row.shares));
        if (shares.has("item")) return this.oneOf(e, [this.item(of, by), ...args], by);
        const at = this.computed(e, [of, ...args]).class as Class;
        if (!shares.has("items") || of.class === null) return newly(at);
        // A list of the items, a list of pairs, lists by key.
        const isNested = name.text === "entries" || name.text === "group_by";
        const items = made[0] !== undefined && name.text === "map" ? made[0] : this.item(of, by);
        for (const v of [items, ...args.map((v) => this.item(v, null)), ...args]) this.hold(isNested ? this.all.inside(at) : at, v);
        return newly(at);
    }

    /** What is on its way may be the value that it began with, an item, or what the lambda made, and the lambda may change it. */
    private reduced(e: tree.Call, of: Ref): Ref {
        const at = this.all.of(e);
        const holds = (v: Ref): void =>
            this.flow({ class: at, chosen: find(at).chosen }, { ...v, labelled: v.labelled ?? of.labelled }, null);
        this.under(e, this.at(e.callee, of), () => {
            for (const { value } of e.args) if (value.kind !== "lambda") holds(this.expr(value));
            for (const { value } of e.args) {
                if (value.kind !== "lambda") continue;
                const [acc, ...params] = value.params;
                const rest = { ...value, params };
                if (acc === undefined) holds(this.lambda(rest, of));
                else this.declares(acc.text, { ...newly(at), fresh: false }, () => holds(this.lambda(rest, of)));
            }
        });
        return { ...newly(at), chosen: find(at).chosen.by, fresh: false };
    }

    private lambda({ params, body }: tree.Lambda, list: Ref): Ref {
        const code = (at: number): Ref => {
            const name = params[at]?.text;
            return name === undefined ? this.expr(body) : this.each(name, list, () => code(at + 1));
        };
        return code(0);
    }
}
