/**
 * One function, walked once as a run would: what its value carries, and which uses get what, as far as its parameters and text tell.
 *
 * Boundary: statements and expressions in the order of a run; every way is taken, and where ways meet only what all of them have is kept.
 * Calls of functions are read from their summaries; which flows are refused is decided by `flows.ts` from the uses found here.
 *
 * F6: control flow carries nothing, as outside `flow strict`; in strict code a run may carry more and refuses no less.
 *
 * Why it is long: statements and expressions of one language, one case each; the work of a case is in its own function.
 */
import type { Block, Call, Expr, For, Generate, If, Loop, Member, ObjectLit, Repeat, Stmt, Try, TryExpr } from "../../syntax/tree.ts";
import type { Range } from "../../text/source.ts";
import type { Binding, FuncInfo, GenerateSite, UseEntry } from "../model.ts";
import { METHODS } from "../builtins.ts";
import { ownNames } from "../uses.ts";
import { type Rules, readersFact } from "./rules.ts";
import { looseNames } from "./sharing.ts";
import {
    added,
    type Cap,
    carrying,
    capVal,
    deep,
    type Fact,
    type Facts,
    given,
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

/** A use of a capability, and what it is certainly given. */
export interface Sink {
    readonly kind: "call" | "model" | "out";
    /** Where it stands: with `trail`, the same use by another way is another sink. */
    readonly func: FuncInfo;
    readonly range: Range;
    readonly call?: Call;
    readonly tool: Val;
    readonly method: string;
    readonly args: readonly Val[];
    /** Places of the arguments. */
    readonly ranges: readonly Range[];
    /** It is made whenever the function is called and gives a value. */
    readonly sure: boolean;
    /** Calls that lead to it, the outermost first. */
    readonly trail: readonly { readonly func: FuncInfo; readonly range: Range }[];
}

/** A call of a function and what it leads to. */
export interface Led {
    readonly sink: Sink;
    /** It is made whenever this call gives a value. */
    readonly sure: boolean;
    readonly call: Range;
    readonly args: readonly Val[];
    readonly ranges: readonly Range[];
}

export interface Summary {
    readonly value: Val;
    /** Uses that depend on what the parameters hold. */
    readonly sinks: readonly Sink[];
}

export const NOTHING: Summary = { value: NEVER, sinks: [] };
export const GIVEN_UP: Summary = { value: UNKNOWN, sinks: [] };

const MAX_PASSES = 8;
/** Deeper expressions and blocks are not followed. */
const MAX_NESTING = 300;
/** Calls that a use is told of upwards. */
const MAX_TRAIL = 8;

type Env = Map<string, Val>;

interface LoopExit {
    readonly breaks: Env[];
    readonly continues: Env[];
}

/** Methods of texts, lists and numbers whose result carries the receiver and all arguments. */
const JOINING: ReadonlySet<string> = new Set(
    "trim split lines lower upper contains starts_with ends_with replace slice index_of match join concat round floor ceil abs min max has".split(
        " ",
    ),
);
const ITEMS: ReadonlySet<string> = new Set(["filter", "sort_by", "slice", "unique", "concat"]);
const TEXTS: ReadonlySet<string> = new Set(["trim", "lower", "upper", "replace", "join", "contains", "starts_with", "ends_with", "has"]);

export class FlowWalk {
    /** Uses in this function's own text, with what the last pass over them found. */
    readonly sinks = new Map<Expr, Sink>();
    readonly led = new Map<Expr, Led[]>();
    /** Functions whose summaries were read. */
    readonly called = new Set<FuncInfo>();
    private readonly func: FuncInfo;
    private readonly rules: Rules;
    private readonly summaryOf: (func: FuncInfo) => Summary;
    private readonly known: Known;
    private readonly loose: ReadonlySet<string>;
    private readonly sites: ReadonlyMap<Generate, GenerateSite>;
    private env: Env = new Map();
    private dead = false;
    private result: Val = NEVER;
    /** Depth of what may not be reached. */
    private unsure = 0;
    /** Some way has left the function before here. */
    private left = false;
    private readonly loops: LoopExit[] = [];
    /** What `return` gives inside a `parallel for` is the iteration's value. */
    private readonly iterations: { value: Val }[] = [];
    /** What was assigned since a `try` began. */
    private readonly tries: Env[] = [];
    private nesting = 0;
    private lost = false;

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
        if (!this.dead) this.result = join(this.result, last);
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

    private set(name: string, value: Val): void {
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
                const v = this.expr(s.value);
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
        let v = this.expr(value);
        if (target.kind === "ident") {
            if (op !== "=") v = carrying(union((this.env.get(target.name) ?? UNKNOWN).top, v.top), "plain");
            this.set(target.name, v);
            return;
        }
        const path: (string | null)[] = [];
        let root: Expr = target;
        while (root.kind === "member" || root.kind === "index") {
            if (root.kind === "member") path.unshift(root.name.text);
            else {
                this.expr(root.index);
                path.unshift(literalKey(root.index));
            }
            root = root.object;
        }
        const known = root.kind === "ident" ? this.env.get(root.name) : undefined;
        if (root.kind !== "ident" || known === undefined) {
            this.expr(root);
            return;
        }
        const certain = !path.includes(null) && op === "=" && !this.loose.has(root.name);
        this.set(root.name, certain ? written(known, path as string[], v) : shell(known));
    }

    private branches(s: Pick<If, "branches" | "otherwise">): Val {
        const ends: Env[] = [];
        let value: Val = NEVER;
        let first = true;
        for (const { test, body } of s.branches) {
            if (!first) this.unsure++;
            this.expr(test);
            if (!first) this.unsure--;
            first = false;
            const before = new Map(this.env);
            this.unsure++;
            value = join(value, this.block(body));
            this.unsure--;
            if (!this.dead) ends.push(this.env);
            this.env = before;
            this.dead = false;
        }
        if (s.otherwise === undefined) value = join(value, PLAIN);
        else {
            this.unsure++;
            value = join(value, this.block(s.otherwise));
            this.unsure--;
        }
        if (!this.dead) ends.push(this.env);
        this.meet(ends);
        return value;
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
        const item = itemOf(this.expr(s.list));
        const name = s.item.text;
        const shadowed = this.env.get(name);
        this.passes(
            () => {
                this.env.set(name, this.loose.has(name) ? shell(item) : item);
                this.block(s.body);
                if (shadowed === undefined) this.env.delete(name);
                else this.env.set(name, shadowed);
            },
            { breaks: [], continues: [] },
        );
        if (shadowed === undefined) this.env.delete(name);
        else this.env.set(name, shadowed);
    }

    private loop(s: Loop | Repeat): void {
        this.passes(
            () => {
                if (s.kind === "loop") this.expr(s.until);
                this.block(s.body);
            },
            { breaks: [], continues: [] },
        );
        if (s.kind === "loop" && !this.dead) this.expr(s.until);
    }

    private attempt(s: Try | TryExpr): Val {
        const before = new Map(this.env);
        const changed: Env = new Map();
        this.tries.push(changed);
        this.unsure++;
        let value = this.block(s.body);
        this.tries.pop();
        const ends = this.dead ? [] : [this.env];
        this.env = before;
        this.dead = false;
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
        if (!this.dead) ends.push(this.env);
        this.meet(ends);
        return value;
    }

    // ---- expressions -----------------------------------------------------------------------------------------------------

    private expr(e: Expr): Val {
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
                return carrying(this.expr(e.value).top, "plain");
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
                return this.call(e);
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
        if (binding === undefined || binding.kind === "func" || binding.kind === "shape") return UNKNOWN;
        const cap: Cap = { binding, file: func.file };
        return binding.kind === "file" ? carrying(this.carried(cap, null, [], range)) : capVal(cap);
    }

    private carried(cap: Cap, method: string | null, args: readonly Val[], range: Range): Facts {
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
            else value = carrying(union(value.top, right.top), "plain");
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
        const { left } = this;
        this.passes(() => {
            this.env.set(name, this.loose.has(name) ? shell(item) : item);
            const last = this.block(e.body);
            inside.value = join(inside.value, last);
            // What leaves an iteration leaves no more.
            this.dead = false;
            if (shadowed === undefined) this.env.delete(name);
            else this.env.set(name, shadowed);
        }, null);
        this.left = left;
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
            if (option.key.text === "input") facts = union(facts, deep(v));
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

    // ---- calls -----------------------------------------------------------------------------------------------------------

    private call(e: Call): Val {
        const { callee } = e;
        if (callee.kind === "member") return this.methodCall(e, callee);
        if (callee.kind !== "ident") {
            this.args(e);
            return UNKNOWN;
        }
        const { name } = callee;
        if (this.env.has(name)) {
            this.args(e);
            return UNKNOWN;
        }
        const found = calledBy(this.func, e, this.env);
        if (found !== null && !("kind" in found)) return this.userCall(e, found);
        if (found !== null) {
            this.args(e);
            return UNKNOWN;
        }
        return this.globalCall(e, name);
    }

    private args(e: Call): Val[] {
        return e.args.map((arg) => (arg.value.kind === "lambda" ? UNKNOWN : this.expr(arg.value)));
    }

    private globalCall(e: Call, name: string): Val {
        const args = this.args(e);
        switch (name) {
            case "text":
                return carrying(args[0] === undefined ? NO_FACTS : deep(args[0]), "plain");
            case "number":
            case "min":
            case "max":
                return carrying(
                    args.reduce((all, v) => union(all, v.top), NO_FACTS),
                    "plain",
                );
            case "agent": {
                const named = args[1]?.fields?.get("agent");
                const only = [...this.func.file.names.values()].filter((one) => one.kind === "agent" && one.agent === null);
                const binding = named === undefined && e.args.length < 2 ? (only.length === 1 ? only[0] : undefined) : named?.cap?.binding;
                if (binding?.kind !== "agent" || binding.agent !== null) return UNKNOWN;
                const cap: Cap = { binding, file: this.func.file };
                this.sink(e, { kind: "out", tool: capVal(cap), method: "agent", args, ranges: rangesOf(e), range: e.range, call: e });
                return carrying(this.carried(cap, null, args, e.range));
            }
            default:
                return UNKNOWN;
        }
    }

    private methodCall(e: Call, callee: Member): Val {
        const method = callee.name.text;
        const isJson = callee.object.kind === "ident" && callee.object.name === "json" && !this.env.has("json");
        if (isJson && this.func.file.names.get("json") === undefined) {
            const [v = UNKNOWN] = this.args(e);
            return method === "text" ? carrying(deep(v), "plain") : method === "parse" ? carrying(v.top) : UNKNOWN;
        }
        let object = this.expr(callee.object);
        const passed = callee.object.kind === "ident" ? this.known.fixed.get(callee.object.name) : undefined;
        // What is passed may be a tool, and a tool has no inside that could change.
        if (passed !== undefined && !METHODS.has(method)) object = paramVal(passed);
        const { cap } = object;
        if (cap?.binding.kind === "agent") return this.agentCall(e, method, cap);
        if (cap !== null) {
            const args = this.args(e);
            if (cap.binding.kind !== "tool" && cap.binding.kind !== "memory") return UNKNOWN;
            if (e.args.every((arg) => arg.name === undefined))
                this.sink(e, { kind: "call", tool: object, method, args, ranges: rangesOf(e), range: e.range, call: e });
            return carrying(this.carried(cap, method, args, e.range));
        }
        if (object.param !== null && (!METHODS.has(method) || method === "find" || method === "get" || method === "add")) {
            // It may be a tool that the caller passes.
            const args = this.args(e);
            if (e.args.every((arg) => arg.name === undefined && arg.value.kind !== "lambda"))
                this.sink(e, { kind: "call", tool: object, method, args, ranges: rangesOf(e), range: e.range, call: e });
            return carrying(object.top);
        }
        return this.builtin(e, callee, object, method);
    }

    private agentCall(e: Call, method: string, cap: Cap): Val {
        const { agent } = cap.binding;
        if (agent !== null) {
            const func = agent.funcs.get(method)?.func;
            if (func != null) return this.userCall(e, func);
            this.args(e);
            return UNKNOWN;
        }
        const args = this.args(e);
        for (const option of e.options ?? []) this.expr(option.value);
        if (method !== "yield" && method !== "send") return UNKNOWN;
        this.sink(e, { kind: "out", tool: capVal(cap), method, args, ranges: rangesOf(e), range: e.range, call: e });
        return carrying(this.carried(cap, null, args, e.range));
    }

    private builtin(e: Call, callee: Member, object: Val, method: string): Val {
        if (method === "add" && callee.object.kind === "ident") {
            const [v = UNKNOWN] = this.args(e);
            const list = this.loose.has(callee.object.name) ? shell(object) : added(object, v);
            if (this.env.has(callee.object.name)) this.set(callee.object.name, list);
            return list;
        }
        let { top } = object;
        const args: Val[] = [];
        let mapped: Val | null = null;
        for (const { value } of e.args) {
            if (value.kind === "lambda")
                mapped = this.lambda(
                    value.params.map((one) => one.text),
                    value.body,
                    object,
                );
            else args.push(this.expr(value));
        }
        // Behind a parameter there may be a tool, whose result carries no argument.
        if (JOINING.has(method) && object.param === null && object.is !== null) for (const arg of args) top = union(top, arg.top);
        if (object.param !== null || object.is === null) {
            // Of which kind the receiver is, is not known.
            if (method === "first" || method === "last") return carrying(top);
            return carrying(top, TEXTS.has(method) && object.param === null ? "plain" : null);
        }
        if (object.is === "list") {
            if (method === "map") return listVal([], mapped ?? UNKNOWN, NO_FACTS, top);
            if (method === "join") {
                const places = [...(object.fields?.values() ?? [])].reduce((all, v) => union(all, v.top), NO_FACTS);
                return carrying(union(top, places), "plain");
            }
            if (method === "first") {
                const first = object.fields?.get("0");
                return first === undefined ? carrying(top) : with_(first, top);
            }
            if (ITEMS.has(method)) {
                const more = method === "concat" ? args : [];
                const items = more.reduce<Val | null>(
                    (all, v) => (all === null || v.items === null ? null : join(all, v.items)),
                    object.items,
                );
                const whole = method === "sort_by" || method === "concat" || method === "unique";
                const inner = whole ? more.reduce((all, v) => union(all, deep(v)), deep(object)) : NO_FACTS;
                return listVal([], items ?? UNKNOWN, inner, top);
            }
            return carrying(top);
        }
        if (object.is === "object") {
            if (method === "get" && e.args[0] !== undefined) {
                const key = literalKey(e.args[0].value);
                const found = key === null ? undefined : object.fields?.get(key);
                return found === undefined ? carrying(top) : with_(found, top);
            }
            return carrying(top);
        }
        return carrying(top, TEXTS.has(method) ? "plain" : null);
    }

    /** What a lambda makes of any item. */
    private lambda(params: readonly string[], body: Expr, list: Val): Val {
        const before = params.map((name) => [name, this.env.get(name)] as const);
        params.forEach((name, i) => {
            const v = i === 0 ? itemOf(list) : carrying(list.top, "plain");
            this.env.set(name, this.loose.has(name) ? shell(v) : v);
        });
        this.unsure++;
        const value = this.expr(body);
        this.unsure--;
        for (const [name, v] of before) {
            if (v === undefined) this.env.delete(name);
            else this.env.set(name, v);
        }
        return value;
    }

    private userCall(e: Call, func: FuncInfo): Val {
        const args = this.args(e);
        const ranges = rangesOf(e);
        func.node.params.forEach((param, i) => {
            if (args[i] === undefined) args[i] = param.default === undefined ? UNKNOWN : PLAIN;
        });
        this.called.add(func);
        const { value, sinks } = this.summaryOf(func);
        const led: Led[] = [];
        const sure = this.unsure === 0 && !this.left;
        for (const sink of sinks) {
            if (sink.trail.length >= MAX_TRAIL) continue;
            const tool = given(sink.tool, args, "");
            if (tool.cap === null && tool.param === null) continue;
            const passed = sink.args.map((arg) => given(arg, args, ""));
            led.push({
                sink: { ...sink, tool, args: passed, sure: sink.sure && sure, trail: [{ func: this.func, range: e.range }, ...sink.trail] },
                sure: sink.sure,
                call: e.range,
                args,
                ranges,
            });
        }
        this.led.set(e, led);
        return given(value, args, func.name);
    }

    private sink(e: Expr, sink: Omit<Sink, "func" | "sure" | "trail">): void {
        this.sinks.set(e, { ...sink, func: this.func, sure: this.unsure === 0 && !this.left, trail: [] });
    }
}

/** What is the same for every walk over a function. */
export interface Known {
    readonly loose: ReadonlySet<string>;
    readonly sites: ReadonlyMap<Generate, GenerateSite>;
    /** Functions that it calls by name. */
    readonly callees: ReadonlySet<FuncInfo>;
    readonly ofAgent: ReadonlySet<UseEntry>;
    /** Parameters that stay what was passed, by name. */
    readonly fixed: ReadonlyMap<string, number>;
}

export function knownOf(func: FuncInfo): Known {
    const own = ownNames(func);
    const callees = new Set<FuncInfo>();
    const loose = looseNames(func, own, (call) => {
        const found = calledBy(func, call, own);
        if (found !== null && !("kind" in found)) callees.add(found);
        return found;
    });
    for (const edge of func.calls) callees.add(edge.callee);
    const ofAgent = new Set<UseEntry>();
    for (let use = func.agent?.uses ?? null; use !== null; use = use.before) ofAgent.add(use);
    const fixed = new Map(func.node.params.flatMap(({ name }, i) => (own.get(name.text) === 1 ? [[name.text, i] as const] : [])));
    return { loose, sites: new Map(func.generates.map((site) => [site.node, site])), callees, ofAgent, fixed };
}

/** The function that a call names; what else of the file it uses; null where the text does not tell. */
function calledBy(func: FuncInfo, { callee }: Call, own: { has(name: string): boolean }): FuncInfo | Binding | null {
    const object = callee.kind === "member" ? callee.object : callee;
    if (object.kind !== "ident" || own.has(object.name)) return null;
    const found = func.agent?.funcs.get(object.name) ?? func.file.names.get(object.name);
    if (found === undefined) return null;
    if (callee.kind === "member") return found.agent?.funcs.get(callee.name.text)?.func ?? (found.kind === "file" ? null : found);
    return found.func ?? found.agent?.main ?? found;
}

function itemOf(v: Val): Val {
    return read(v, ITEM);
}

function rangesOf(e: Call): Range[] {
    return e.args.map((arg) => arg.value.range);
}

function literalKey(e: Expr): string | null {
    return e.kind === "string" ? e.value : e.kind === "number" ? e.text : null;
}
