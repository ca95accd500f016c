/**
 * One function, walked once as a run would: what its value carries, and which uses get what, as far as its parameters and text tell.
 *
 * Boundary: statements and expressions in the order of a run; every way is taken, and where ways meet only what all of them have is kept.
 * Calls are in `calls.ts`; which flows are refused is decided by `flows.ts` from the uses found here.
 *
 * WA6: control flow carries something in strict code only (`compile/strict.ts` of the machine): what certainly decides over a place is in what is
 *     assigned, returned, passed and sent there, and in what the ways that meet again behind it may have assigned. A run may carry more.
 *
 * Why it is long: statements and expressions of one language, one case each; the work of a case is in its own function.
 */
import type { Block, Expr, For, Generate, If, Loop, Member, ObjectLit, Repeat, Stmt, Try, TryExpr } from "../../syntax/tree.ts";
import type { Range } from "../../text/source.ts";
import type { FuncInfo, GenerateSite, UseEntry } from "../../scope/model.ts";
import { callOf, itemOf, literalKey, type Walking } from "./calls.ts";
import type { Known } from "./known.ts";
import { type Ways, waysOf } from "./ways.ts";
import { type Rules, readersFact } from "./rules.ts";
import { GIVEN_UP, type Led, type Sink, type Summary } from "./summary.ts";
import {
    type Cap,
    carrying,
    capVal,
    deciding,
    deep,
    type Fact,
    type Facts,
    ITEM,
    join,
    listVal,
    NEVER,
    NO_FACTS,
    objectVal,
    PLAIN,
    paramVal,
    read,
    sameVal,
    shell,
    textVal,
    union,
    UNKNOWN,
    type Val,
    with_,
    written,
} from "./value.ts";

/** How often a loop's body is looked at before nothing more is said of the function. */
export const MAX_PASSES = 8;
/** Deeper expressions and blocks are not followed. */
const MAX_NESTING = 300;

type Env = Map<string, Val>;

interface LoopExit {
    readonly breaks: Env[];
    readonly continues: Env[];
}

export class FlowWalk implements Walking {
    /** Uses in this function's own text, with what the last pass over them found. */
    readonly sinks = new Map<Expr, Sink>();
    readonly led = new Map<Expr, Led[]>();
    /** Functions whose summaries were read. */
    readonly called = new Set<FuncInfo>();
    readonly func: FuncInfo;
    private readonly rules: Rules;
    readonly summaryOf: (func: FuncInfo) => Summary;
    readonly known: Known;
    readonly loose: ReadonlySet<string>;
    private readonly sites: ReadonlyMap<Generate, GenerateSite>;
    env: Env = new Map();
    pc: Facts = NO_FACTS;
    private dead = false;
    private result: Val = NEVER;
    /** Depth of what may not be reached. */
    unsure = 0;
    /** Some way has left the function before here. */
    left = false;
    private readonly loops: LoopExit[] = [];
    /** What `return` gives inside a `parallel for` is the iteration's value. */
    private readonly iterations: { value: Val }[] = [];
    /** What was assigned since a `try` began. */
    private readonly tries: Env[] = [];
    private nesting = 0;
    /** What flows through it was not followed to the end. */
    lost = false;

    constructor(func: FuncInfo, rules: Rules, summaryOf: (func: FuncInfo) => Summary, known: Known) {
        this.func = func;
        this.rules = rules;
        this.summaryOf = summaryOf;
        this.known = known;
        this.loose = known.loose;
        this.sites = known.sites;
    }

    run(): Summary {
        this.func.node.params.forEach((param, i) => {
            const v = paramVal(i);
            this.env.set(param.name.text, this.loose.has(param.name.text) ? shell(v) : v);
        });
        const last = this.block(this.func.node.body);
        if (!this.dead) this.result = join(this.result, with_(last, this.pc));
        if (this.lost) {
            this.sinks.clear();
            this.led.clear();
            return GIVEN_UP;
        }
        return { value: this.result, sinks: [] };
    }

    // ---- statements ------------------------------------------------------------------------------------------------------

    /** Its value is that of an expression that it ends with. */
    private block(block: Block): Val {
        if (++this.nesting > MAX_NESTING) this.lost = true;
        let value: Val = PLAIN;
        if (!this.lost) {
            const before = new Set(this.env.keys());
            for (const s of block.statements) {
                value = PLAIN;
                if (this.dead) break;
                if (s.kind === "expr") value = this.expr(s.value);
                else this.statement(s);
            }
            for (const name of this.env.keys()) if (!before.has(name)) this.env.delete(name);
        }
        this.nesting--;
        return this.dead ? NEVER : value;
    }

    set(name: string, value: Val): void {
        const v = this.loose.has(name) ? shell(value) : value;
        this.env.set(name, v);
        for (const one of this.tries) {
            const known = one.get(name);
            one.set(name, known === undefined ? v : join(known, v));
        }
    }

    private leave(): void {
        this.dead = true;
        if (this.unsure > 0) this.left = true;
    }

    private statement(s: Stmt): void {
        switch (s.kind) {
            case "assign":
                this.assign(s.target, s.op, s.value);
                return;
            case "return": {
                const v = with_(this.expr(s.value), this.pc);
                const inside = this.iterations[this.iterations.length - 1];
                if (inside !== undefined) inside.value = join(inside.value, v);
                else this.result = join(this.result, v);
                this.leave();
                return;
            }
            case "raise":
                this.expr(s.value);
                this.leave();
                return;
            case "break":
            case "continue": {
                const exit = this.loops[this.loops.length - 1];
                (s.kind === "break" ? exit?.breaks : exit?.continues)?.push(new Map(this.env));
                // The loop may not be gone through whole, which is known of every loop.
                this.dead = true;
                return;
            }
            case "if":
                this.branches(s);
                return;
            case "for":
                this.forEach(s);
                return;
            case "loop":
            case "repeat":
                this.loop(s);
                return;
            case "try":
                this.attempt(s);
                return;
            case "delegate":
            case "spend":
                this.block(s.body);
                return;
            case "expr":
                this.expr(s.value);
                return;
            default:
                // What configures a prompt is read at the `generate`.
                return;
        }
    }

    private assign(target: Expr, op: "=" | "+=" | "-=", value: Expr): void {
        let v = with_(this.expr(value), this.pc);
        if (target.kind === "ident") {
            if (op !== "=") v = carrying(union((this.env.get(target.name) ?? UNKNOWN).top, v.top), "plain");
            this.set(target.name, v);
            return;
        }
        const path: (string | null)[] = [];
        let chosen: Facts = NO_FACTS;
        let root: Expr = target;
        while (root.kind === "member" || root.kind === "index") {
            if (root.kind === "member") path.unshift(root.name.text);
            else {
                chosen = this.expr(root.index).top;
                path.unshift(literalKey(root.index));
            }
            root = root.object;
        }
        const known = root.kind === "ident" ? this.env.get(root.name) : undefined;
        if (root.kind !== "ident" || known === undefined) {
            this.expr(root);
            return;
        }
        const certain = !path.includes(null) && op === "=";
        const after = certain ? written(known, path as string[], v) : shell(known);
        // An index or key chooses among all items of what the variable holds, not among those of what is inside it.
        this.set(root.name, this.known.strict && path.length === 1 ? with_(after, deciding(chosen)) : after);
    }

    private branches(s: Pick<If, "branches" | "otherwise">): Val {
        const ends: Env[] = [];
        let value: Val = NEVER;
        const before = this.pc;
        let first: Facts | null = null;
        for (const { test, body } of s.branches) {
            if (first !== null) this.unsure++;
            this.decide(this.expr(test));
            if (first !== null) this.unsure--;
            first ??= this.pc;
            const { pc } = this;
            const env = new Map(this.env);
            this.unsure++;
            value = join(value, this.block(body));
            this.unsure--;
            if (!this.dead) ends.push(this.env);
            this.env = env;
            this.dead = false;
            this.pc = pc;
        }
        if (s.otherwise === undefined) value = join(value, PLAIN);
        else {
            this.unsure++;
            value = join(value, this.block(s.otherwise));
            this.unsure--;
        }
        if (!this.dead) ends.push(this.env);
        this.meet(ends);
        this.pc = before;
        if (first === null || first.size === 0) return value;
        const bodies = s.branches.map(({ body }) => body);
        const ways = waysOf(s.otherwise === undefined ? bodies : [...bodies, s.otherwise]);
        this.mark(ways, first);
        // Behind a way out they meet again only at the end of the loop or function.
        if (ways.leaves) this.pc = first;
        return with_(value, first);
    }

    /** What is done from here on depends on a value. */
    private decide(by: Val): void {
        if (this.known.strict) this.pc = union(this.pc, deciding(by.top));
    }

    /** Where ways meet again, what any of them may have assigned or changed carries what decided between them. */
    private mark({ assigned, changed }: Ways, pc: Facts): void {
        if (pc.size === 0) return;
        const isRaised = (name: string, { is }: Val): boolean =>
            changed.has(name) && (is === "list" || is === "object") && this.known.covered(name);
        for (const [name, v] of this.env) if (assigned.has(name) || isRaised(name, v)) this.env.set(name, with_(v, pc));
    }

    /** Goes on from where all of these have come together. */
    private meet(ends: readonly Env[]): void {
        const [first, ...rest] = ends;
        this.dead = first === undefined;
        if (first === undefined) return;
        for (const other of rest)
            for (const [name, v] of first) {
                const w = other.get(name);
                if (w === undefined) first.delete(name);
                else if (v !== w) first.set(name, join(v, w));
            }
        this.env = first;
    }

    /** Goes through a body until another pass would find no less. */
    private passes(body: () => void, exit: LoopExit | null): void {
        if (exit !== null) this.loops.push(exit);
        this.unsure++;
        for (let pass = 0; ; pass++) {
            const head = new Map(this.env);
            if (exit !== null) exit.continues.length = 0;
            if (exit !== null) exit.breaks.length = 0;
            body();
            const ends = this.dead ? [] : [this.env];
            this.meet([new Map(head), ...ends, ...(exit?.continues ?? [])]);
            let same = this.env.size === head.size;
            if (same) for (const [name, v] of this.env) same &&= sameVal(v, head.get(name) ?? NEVER);
            if (same) break;
            if (pass > MAX_PASSES) {
                // It does not settle: nothing is said of this function.
                this.lost = true;
                break;
            }
        }
        this.unsure--;
        if (exit !== null) {
            this.loops.pop();
            this.meet([this.env, ...exit.breaks]);
        }
    }

    private forEach(s: For): void {
        const before = this.pc;
        const list = this.expr(s.list);
        this.decide(list);
        const { pc } = this;
        const item = itemOf(list);
        const name = s.item.text;
        const shadowed = this.env.get(name);
        this.passes(
            () => {
                this.pc = pc;
                this.env.set(name, this.loose.has(name) ? shell(item) : item);
                this.block(s.body);
                if (shadowed === undefined) this.env.delete(name);
                else this.env.set(name, shadowed);
            },
            { breaks: [], continues: [] },
        );
        if (shadowed === undefined) this.env.delete(name);
        else this.env.set(name, shadowed);
        this.pc = before;
        if (!this.dead && pc.size > 0) this.mark(waysOf([s.body]), pc);
    }

    private loop(s: Loop | Repeat): void {
        const before = this.pc;
        let pc = before;
        this.passes(
            () => {
                this.pc = before;
                if (s.kind === "loop") this.decide(this.expr(s.until));
                pc = this.pc;
                this.block(s.body);
            },
            { breaks: [], continues: [] },
        );
        this.pc = before;
        if (this.dead) return;
        if (s.kind === "loop") this.expr(s.until);
        if (pc.size > 0) this.mark(waysOf([s.body]), pc);
    }

    private attempt(s: Try | TryExpr): Val {
        const before = new Map(this.env);
        const { pc } = this;
        const changed: Env = new Map();
        this.tries.push(changed);
        this.unsure++;
        let value = this.block(s.body);
        this.tries.pop();
        const ends = this.dead ? [] : [this.env];
        this.env = before;
        this.dead = false;
        this.pc = pc;
        for (const [name, v] of changed) {
            const was = before.get(name);
            if (was !== undefined) this.env.set(name, join(was, v));
        }
        const name = s.name?.text;
        const shadowed = name === undefined ? undefined : this.env.get(name);
        if (name !== undefined) this.env.set(name, UNKNOWN);
        value = join(value, this.block(s.handler));
        if (name !== undefined) {
            if (shadowed === undefined) this.env.delete(name);
            else this.env.set(name, shadowed);
        }
        this.unsure--;
        this.pc = pc;
        if (!this.dead) ends.push(this.env);
        this.meet(ends);
        return value;
    }

    // ---- expressions -----------------------------------------------------------------------------------------------------

    expr(e: Expr): Val {
        if (this.lost) return UNKNOWN;
        if (++this.nesting > MAX_NESTING) this.lost = true;
        const value = this.lost ? UNKNOWN : this.valueOf(e);
        this.nesting--;
        return value;
    }

    private valueOf(e: Expr): Val {
        switch (e.kind) {
            case "string":
                return textVal(e.value);
            case "number":
            case "bool":
            case "none":
                return PLAIN;
            case "ident":
                return this.name(e.name, e.range);
            case "paren":
                return this.expr(e.value);
            case "member":
                return this.member(e);
            case "index": {
                const object = this.expr(e.object);
                const index = this.expr(e.index);
                return with_(read(object, literalKey(e.index) ?? ITEM), index.top);
            }
            case "unary":
                return e.op === "text" ? carrying(deep(this.expr(e.value)), "plain") : carrying(this.expr(e.value).top, "plain");
            case "binary":
                return this.binary(e);
            case "list":
                return this.list(e.items);
            case "object":
                return this.object(e);
            case "if.expr":
                return this.branches(e);
            case "try.expr":
                return this.attempt(e);
            case "narrow":
                return this.expr(e.object);
            case "parallel":
                return this.parallel(e);
            case "generate":
                return this.generate(e);
            case "call":
                return callOf(this, e);
            case "endorse": {
                const facts = deep(this.expr(e.value));
                this.expr(e.because);
                const isReaders = (fact: Fact): boolean => fact.key === "r" || fact.readers !== undefined;
                const kept = [...facts].filter(([, fact]) => fact.param === undefined && isReaders(fact) === (e.readers === undefined));
                const source = { name: "endorse", file: this.func.file, range: e.range };
                const only = e.readers?.map((one) => one.value);
                return carrying(
                    new Map([
                        ...kept,
                        ...(only === undefined
                            ? []
                            : [["r", { key: "r", source }] as const, [readersFact(only, source).key, readersFact(only, source)] as const]),
                    ]),
                );
            }
            default:
                return UNKNOWN;
        }
    }

    private name(name: string, range: Range): Val {
        const local = this.env.get(name);
        if (local !== undefined) return local;
        const { func } = this;
        const binding = func.agent?.funcs.get(name) ?? func.file.names.get(name);
        if (binding === undefined || binding.kind === "func" || binding.kind === "shape" || binding.kind === "block") return UNKNOWN;
        const cap: Cap = { binding, file: func.file };
        return binding.kind === "file" ? carrying(this.carried(cap, null, [], range)) : capVal(cap);
    }

    carried(cap: Cap, method: string | null, args: readonly Val[], range: Range): Facts {
        return this.rules.carried(cap, method, args, { name: cap.binding.name, file: this.func.file, range });
    }

    private member(e: Member): Val {
        const object = this.expr(e.object);
        if (object.cap !== null)
            return object.cap.binding.kind === "tool" ? carrying(this.carried(object.cap, e.name.text, [], e.range)) : UNKNOWN;
        if (e.name.text === "length" && object.is === "list") return carrying(object.top, "plain");
        return read(object, e.name.text);
    }

    private binary(e: Expr & { kind: "binary" }): Val {
        // A long sum is a deep tree to the left, and is walked from its end.
        const rest: (Expr & { kind: "binary" })[] = [];
        let left: Expr = e;
        while (left.kind === "binary") {
            rest.push(left);
            left = left.left;
        }
        let value = this.expr(left);
        for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
            const lazy = one.op === "and" || one.op === "or" || one.op === "??";
            if (lazy) this.unsure++;
            const right = this.expr(one.right);
            if (lazy) this.unsure--;
            if (one.op === "??") value = join(value, with_(right, value.top));
            else if (lazy) value = carrying(value.top, "plain");
            else if (one.op === "==" || one.op === "!=") value = carrying(union(deep(value), deep(right)), "plain");
            else {
                const address = one.op === "+" && (value.address || right.address);
                value = carrying(union(value.top, right.top), "plain");
                if (address) value = { ...value, address };
            }
        }
        return value;
    }

    private list(items: readonly (Expr | { readonly kind: "spread"; readonly value: Expr })[]): Val {
        const places: Val[] = [];
        let each: Val = NEVER;
        let inner = NO_FACTS;
        let top = NO_FACTS;
        let placed = true;
        for (const item of items) {
            if (item.kind === "spread") {
                const v = this.expr(item.value);
                placed = false;
                top = union(top, v.top);
                inner = union(inner, v.inner);
                each = join(each, v.items ?? UNKNOWN);
                continue;
            }
            const v = this.expr(item);
            if (placed) places.push(v);
            else inner = union(inner, deep(v));
            each = join(each, v);
        }
        return listVal(places, each, inner, top);
    }

    private object(e: ObjectLit): Val {
        let fields = new Map<string, Val>();
        let top = NO_FACTS;
        for (const entry of e.entries) {
            const v = this.expr(entry.value);
            if (entry.kind === "spread") {
                top = union(top, v.top);
                // What it holds besides what is known may replace any key before it.
                fields = new Map(v.fields ?? []);
            } else fields.set(entry.key.text, v);
        }
        return objectVal(fields, top);
    }

    private parallel(e: Expr & { kind: "parallel" }): Val {
        const item = itemOf(this.expr(e.list));
        const name = e.item.text;
        const shadowed = this.env.get(name);
        const inside = { value: NEVER as Val };
        this.iterations.push(inside);
        const { left, pc } = this;
        this.passes(() => {
            this.pc = pc;
            this.env.set(name, this.loose.has(name) ? shell(item) : item);
            const last = this.block(e.body);
            inside.value = join(inside.value, last);
            // What leaves an iteration leaves no more.
            this.dead = false;
            if (shadowed === undefined) this.env.delete(name);
            else this.env.set(name, shadowed);
        }, null);
        this.left = left;
        this.pc = pc;
        this.iterations.pop();
        return listVal([], inside.value, NO_FACTS);
    }

    // ---- models ----------------------------------------------------------------------------------------------------------

    private generate(e: Generate): Val {
        const site = this.sites.get(e);
        let model: Val = UNKNOWN;
        let facts = NO_FACTS;
        for (const option of e.options) {
            const v = this.expr(option.value);
            if (option.key.text === "model") model = v;
            if (option.key.text === "input") facts = union(facts, union(deep(v), this.pc));
        }
        const config = site?.config.model?.value;
        if (!e.options.some((option) => option.key.text === "model") && config !== undefined)
            model = this.declared(config, site?.config.model === this.func.agent?.config.model);
        for (let use: UseEntry | null = site?.uses ?? null; use !== null; use = use.before) {
            const { node } = use;
            // An item may give way to a total, or be one of several; a cut one keeps what the whole carries.
            if (node.kind !== "use" || node.image || site?.config.context != null) continue;
            const v = this.declared(node.value, this.known.ofAgent.has(use));
            facts = union(facts, node.max === undefined ? deep(v) : v.top);
        }
        if (model.cap !== null && model.cap.binding.kind === "llm") {
            facts = union(this.carried(model.cap, null, [], e.range), facts);
            this.sink(e, { kind: "model", tool: model, method: "", args: [carrying(facts)], ranges: [e.range], range: e.range });
        }
        return carrying(facts);
    }

    /** What a line of a prompt reads; one of the agent sees no variable of the function. */
    private declared(e: Expr, ofAgent: boolean): Val {
        if (!ofAgent) return this.expr(e);
        const { env } = this;
        this.env = new Map();
        const value = this.expr(e);
        this.env = env;
        return value;
    }

    sink(e: Expr, sink: Omit<Sink, "func" | "sure" | "trail">): void {
        const args = this.pc.size === 0 ? sink.args : sink.args.map((v) => with_(v, this.pc));
        this.sinks.set(e, { ...sink, args, func: this.func, sure: this.unsure === 0 && !this.left, trail: [] });
    }
}
