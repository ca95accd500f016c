/**
 * Calls, as a run would make them: of functions by their summaries, of tools, memories and agents as uses, of built-ins by what their results carry.
 *
 * Boundary: one call in a walk (`walk.ts`), which holds what is known where it stands.
 */
import type { Call, Expr, Member } from "../../syntax/tree.ts";
import type { Range } from "../../text/source.ts";
import { isNamespace, METHODS } from "../../scope/builtins.ts";
import type { FuncInfo } from "../../scope/model.ts";
import { calledBy, type Known } from "./known.ts";
import type { Led, Sink, Summary } from "./summary.ts";
import {
    added,
    type Cap,
    carrying,
    capVal,
    deep,
    type Facts,
    given,
    ITEM,
    join,
    listVal,
    NO_FACTS,
    PLAIN,
    paramVal,
    read,
    shell,
    union,
    UNKNOWN,
    type Val,
    with_,
} from "./value.ts";

/** The walk that a call stands in. */
export interface Walking {
    readonly func: FuncInfo;
    readonly known: Known;
    readonly loose: ReadonlySet<string>;
    readonly env: Map<string, Val>;
    /** Functions whose summaries were read. */
    readonly called: Set<FuncInfo>;
    readonly led: Map<Expr, Led[]>;
    readonly summaryOf: (func: FuncInfo) => Summary;
    /** In strict code, what decides whether this place is reached. */
    readonly pc: Facts;
    /** Depth of what may not be reached. */
    unsure: number;
    /** Some way has left the function before here. */
    readonly left: boolean;
    expr(e: Expr): Val;
    set(name: string, value: Val): void;
    carried(cap: Cap, method: string | null, args: readonly Val[], range: Range): Facts;
    sink(e: Expr, sink: Omit<Sink, "func" | "sure" | "trail">): void;
}

/** Calls that a use is told of upwards. */
const MAX_TRAIL = 8;

/** Methods of texts, lists and numbers whose result carries the receiver and all arguments. */
const JOINING: ReadonlySet<string> = new Set(
    "trim split lines lower upper contains starts_with ends_with replace slice index_of match join concat round floor ceil abs min max has".split(
        " ",
    ),
);
const ITEMS: ReadonlySet<string> = new Set(["filter", "sort_by", "slice", "unique", "concat"]);
const TEXTS: ReadonlySet<string> = new Set(["trim", "lower", "upper", "replace", "join", "contains", "starts_with", "ends_with", "has"]);

export function callOf(w: Walking, e: Call): Val {
    const { callee } = e;
    if (callee.kind === "member") return methodCall(w, e, callee);
    if (callee.kind !== "ident") {
        argsOf(w, e);
        return UNKNOWN;
    }
    const { name } = callee;
    if (w.env.has(name)) {
        argsOf(w, e);
        return UNKNOWN;
    }
    const found = calledBy(w.func, e, w.env);
    if (found !== null && !("kind" in found)) return userCall(w, e, found);
    if (found !== null) {
        argsOf(w, e);
        return UNKNOWN;
    }
    return globalCall(w, e, name);
}

function argsOf(w: Walking, e: Call): Val[] {
    return e.args.map((arg) => (arg.value.kind === "lambda" ? UNKNOWN : w.expr(arg.value)));
}

function globalCall(w: Walking, e: Call, name: string): Val {
    const args = argsOf(w, e);
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
            const only = [...w.func.file.names.values()].filter((one) => one.kind === "agent" && one.agent === null);
            const binding = named === undefined && e.args.length < 2 ? (only.length === 1 ? only[0] : undefined) : named?.cap?.binding;
            if (binding?.kind !== "agent" || binding.agent !== null) return UNKNOWN;
            const cap: Cap = { binding, file: w.func.file };
            w.sink(e, { kind: "out", tool: capVal(cap), method: "agent", args, ranges: rangesOf(e), range: e.range, call: e });
            return carrying(w.carried(cap, null, args, e.range));
        }
        default:
            return UNKNOWN;
    }
}

function methodCall(w: Walking, e: Call, callee: Member): Val {
    const method = callee.name.text;
    const outer = callee.object.kind === "ident" ? callee.object.name : "";
    if (isNamespace(outer) && !w.env.has(outer) && w.func.file.names.get(outer) === undefined) {
        const [v = UNKNOWN, ...more] = argsOf(w, e);
        if (outer === "time")
            return carrying(
                [v, ...more].reduce((all, one) => union(all, deep(one)), NO_FACTS),
                "plain",
            );
        return method === "text" ? carrying(deep(v), "plain") : method === "parse" ? carrying(v.top) : UNKNOWN;
    }
    let object = w.expr(callee.object);
    const passed = callee.object.kind === "ident" ? w.known.fixed.get(callee.object.name) : undefined;
    // What is passed may be a tool, and a tool has no inside that could change.
    if (passed !== undefined && !METHODS.has(method)) object = paramVal(passed);
    const { cap } = object;
    if (cap?.binding.kind === "agent") return agentCall(w, e, method, cap);
    if (cap !== null) {
        const args = argsOf(w, e);
        if (cap.binding.kind !== "tool" && cap.binding.kind !== "memory") return UNKNOWN;
        if (e.args.every((arg) => arg.name === undefined))
            w.sink(e, { kind: "call", tool: object, method, args, ranges: rangesOf(e), range: e.range, call: e });
        return carrying(w.carried(cap, method, args, e.range));
    }
    if (object.param !== null && (!METHODS.has(method) || method === "find" || method === "get" || method === "add")) {
        // It may be a tool that the caller passes.
        const args = argsOf(w, e);
        if (e.args.every((arg) => arg.name === undefined && arg.value.kind !== "lambda"))
            w.sink(e, { kind: "call", tool: object, method, args, ranges: rangesOf(e), range: e.range, call: e });
        return carrying(object.top);
    }
    return builtin(w, e, callee, object, method);
}

function agentCall(w: Walking, e: Call, method: string, cap: Cap): Val {
    const { agent } = cap.binding;
    if (agent !== null) {
        const func = agent.funcs.get(method)?.func;
        if (func != null) return userCall(w, e, func);
        argsOf(w, e);
        return UNKNOWN;
    }
    const args = argsOf(w, e);
    for (const option of e.options ?? []) w.expr(option.value);
    if (method !== "yield" && method !== "send") return UNKNOWN;
    w.sink(e, { kind: "out", tool: capVal(cap), method, args, ranges: rangesOf(e), range: e.range, call: e });
    // In strict code a function that it answers with depends on what it was told, as a text does anywhere.
    const told = method === "send" || w.known.strict ? args.reduce((all, v) => union(all, deep(v)), w.pc) : NO_FACTS;
    return carrying(union(w.carried(cap, null, args, e.range), told));
}

function builtin(w: Walking, e: Call, callee: Member, object: Val, method: string): Val {
    if (method === "add" && callee.object.kind === "ident") {
        const [v = UNKNOWN] = argsOf(w, e);
        const list = w.loose.has(callee.object.name) ? shell(object) : added(object, v);
        if (w.env.has(callee.object.name)) w.set(callee.object.name, list);
        return list;
    }
    // What is on its way may be anything by then.
    if (method === "reduce") return reduced(w, e, object);
    let { top } = object;
    const args: Val[] = [];
    let mapped: Val | null = null;
    for (const { value } of e.args) {
        if (value.kind === "lambda")
            mapped = lambda(
                w,
                value.params.map((one) => one.text),
                value.body,
                object,
            );
        else args.push(w.expr(value));
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
            const items = more.reduce<Val | null>((all, v) => (all === null || v.items === null ? null : join(all, v.items)), object.items);
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

/** Its parts are walked; what comes of them is not known here. */
function reduced(w: Walking, e: Call, object: Val): Val {
    for (const { value } of e.args) {
        if (value.kind !== "lambda") w.expr(value);
        else
            lambda(
                w,
                value.params.map((one) => one.text),
                value.body,
                object,
                1,
            );
    }
    return UNKNOWN;
}

/** What a lambda makes of any item, which is its parameter `at`. */
function lambda(w: Walking, params: readonly string[], body: Expr, list: Val, at = 0): Val {
    const before = params.map((name) => [name, w.env.get(name)] as const);
    params.forEach((name, i) => {
        const v = i === at ? itemOf(list) : i < at ? UNKNOWN : carrying(list.top, "plain");
        w.env.set(name, w.loose.has(name) ? shell(v) : v);
    });
    w.unsure++;
    const value = w.expr(body);
    w.unsure--;
    for (const [name, v] of before) {
        if (v === undefined) w.env.delete(name);
        else w.env.set(name, v);
    }
    return value;
}

function userCall(w: Walking, e: Call, func: FuncInfo): Val {
    const { pc } = w;
    const args = argsOf(w, e);
    const ranges = rangesOf(e);
    func.node.params.forEach((param, i) => {
        if (args[i] === undefined) args[i] = param.default === undefined ? UNKNOWN : PLAIN;
    });
    w.called.add(func);
    const { value, sinks } = w.summaryOf(func);
    const led: Led[] = [];
    const sure = w.unsure === 0 && !w.left;
    for (const sink of sinks) {
        if (sink.trail.length >= MAX_TRAIL) continue;
        const tool = given(sink.tool, args, "");
        if (tool.cap === null && tool.param === null) continue;
        // What strict code calls is strict, and begins with what decided over the call.
        const passed = sink.args.map((arg) => with_(given(arg, args, ""), pc));
        led.push({
            sink: { ...sink, tool, args: passed, sure: sink.sure && sure, trail: [{ func: w.func, range: e.range }, ...sink.trail] },
            sure: sink.sure,
            call: e.range,
            args,
            ranges,
        });
    }
    w.led.set(e, led);
    return given(value, args, func.name);
}

export function itemOf(v: Val): Val {
    return read(v, ITEM);
}

export function rangesOf(e: Call): Range[] {
    return e.args.map((arg) => arg.value.range);
}

export function literalKey(e: Expr): string | null {
    return e.kind === "string" ? e.value : e.kind === "number" ? e.text : null;
}
