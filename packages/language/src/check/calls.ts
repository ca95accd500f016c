/**
 * Calls: what is called, with how many arguments, what it does to them, and what it gives.
 *
 * Boundary: one call at a time. What follows from calls over the whole program is in `effects.ts`.
 *
 * L1: an object's own keys, a tool's methods and an agent's functions come before built-in methods of the same name.
 * L2: a lambda stands only where a built-in takes one, and reaches no effect.
 */
import type { Arg, Call, Expr, Ident, Lambda, Member } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { BUILTINS_ON, type BuiltinRow, METHODS } from "./builtins.ts";
import { expr } from "./expressions.ts";
import { summary } from "./functions.ts";
import { type AgentScope, type Binding, bit, DATA, type FuncInfo, type Walk } from "./model.ts";
import { elsewhere, shown, suggestion } from "./names.ts";
import { methodsOf, toolWrites } from "./tools.ts";
import {
    ANY,
    CAPABILITIES,
    describe,
    join,
    LIST,
    makeType,
    maybeCapability,
    misfit,
    NUMBER,
    optional,
    property,
    propertyNames,
    RESULTS,
    type Type,
} from "./types.ts";

// ---- effects at their place ------------------------------------------------------------------------------------------

/** Notes an effect; `writes`: it changes something, which iterations in parallel must not. */
export function raise(w: Walk, effect: string, range: Range, writes: boolean): void {
    w.func.effects.add(effect);
    if (w.lambda > 0) w.report("LAMBDA_EFFECT", range, `a lambda cannot reach ${effectName(effect)}`);
    if (!writes) return;
    w.checking.writes.add(effect);
    if (w.level > 0) w.report("PARALLEL_FOR_EFFECTFUL_CALL", range, `iterations in parallel must not call ${effectName(effect)}`);
}

export function effectName(effect: string): string {
    const colon = effect.indexOf(":");
    return colon < 0 ? (effect === "model" ? "a model" : effect === "parallel" ? "parallel for" : effect) : effect.slice(colon + 1);
}

/** A change of the value walked last. */
export function mutate(w: Walk, range: Range, share: number, params: number, what: string): void {
    w.func.mutates |= params;
    if (w.level > 0 && share < w.level) w.report("PARALLEL_FOR_OUTER_MUTATION", range, `${what} changes a value that all iterations share`);
}

// ---- arguments -------------------------------------------------------------------------------------------------------

/** Walks arguments nothing is known about. */
function walkArgs(w: Walk, args: readonly Arg[], data: boolean): number {
    let all = 0;
    for (const arg of args) {
        plain(w, arg);
        const type = expr(w, arg.value);
        all |= w.data;
        if (data && CAPABILITIES.has(type.kind))
            w.report("CONTRACT_MISMATCH", arg.value.range, `${describe(type)} is a capability and cannot be sent as data`, {
                hint: "pass data that was got from it",
            });
    }
    return all;
}

function plain(w: Walk, arg: Arg): void {
    if (arg.name !== undefined)
        w.report("NAMED_ARGUMENT", arg.name.range, `'${arg.name.text}:' names an argument of a call that takes its arguments by place`);
}

function arity(w: Walk, e: Call, name: string, min: number, max: number, certain: boolean): void {
    const given = e.args.length;
    if (given >= min && given <= max) return;
    const wants = min === max ? `${min}` : max >= 255 ? `at least ${min}` : `${min} to ${max}`;
    const message = `${name} takes ${wants} argument${wants === "1" ? "" : "s"}, not ${given}`;
    if (certain) w.report("INVALID_ARGUMENT_COUNT", e.range, message);
    else w.suspect("INVALID_ARGUMENT_COUNT", e.range, message, null, false);
}

// ---- calls -----------------------------------------------------------------------------------------------------------

export function call(w: Walk, e: Call): Type {
    switch (e.callee.kind) {
        case "ident":
            return named(w, e, e.callee);
        case "member":
            return method(w, e, e.callee);
        case "missing":
            walkArgs(w, e.args, false);
            w.isFresh(DATA);
            return ANY;
        default:
            w.report("NOT_CALLABLE", e.callee.range, "only a name or a member can be called");
            expr(w, e.callee);
            return unknown(w, e);
    }
}

/** A call that nothing is known of; the mistake has been reported, or the value may have the method. */
function unknown(w: Walk, e: Call): Type {
    walkArgs(w, e.args, false);
    w.isFresh(DATA);
    return ANY;
}

function named(w: Walk, e: Call, callee: Ident): Type {
    const { name, range } = callee;
    const local = w.names.get(name);
    if (local !== undefined) {
        const hint = local.type.kind === "func" ? { hint: `call ${local.type.cap?.name} by its own name` } : undefined;
        w.report("NOT_CALLABLE", range, `'${name}' is a variable, not a function`, hint);
        return unknown(w, e);
    }
    const found = w.agent?.funcs.get(name) ?? w.file.names.get(name);
    if (found === undefined) {
        const row = BUILTINS_ON.global.get(name);
        if (row !== undefined) return builtin(w, e, row, `${name}()`, ANY, 0, 0, 0, true);
        const other = elsewhere(w.checking, w.file, name);
        if (other !== null) w.report("IMPORT_NOT_SHARED", range, `'${name}' belongs to ${other.where.name}, not to this file`, other.extra);
        else w.report("UNKNOWN_FUNCTION", range, `there is no function '${name}'`, functionHint(w, name));
        return unknown(w, e);
    }
    found.used = true;
    if (found.func !== null) return userCall(w, e, found.func, name);
    if (found.kind === "agent") {
        if (found.agent === null) return outside(w, e, found);
        if (found.agent.main !== null) return agentCall(w, e, found.agent, found.agent.main, name);
        w.report("UNKNOWN_FUNCTION", range, `agent '${name}' has no main func to call`, {
            hint: [...found.agent.funcs.keys()].map((one) => `${name}.${one}(…)`).join(", "),
        });
        return unknown(w, e);
    }
    w.report(
        "NOT_CALLABLE",
        range,
        `'${name}' is a ${found.kind}; ${found.kind === "tool" || found.kind === "memory" ? "call one of its methods" : "it cannot be called"}`,
    );
    return unknown(w, e);
}

function functionHint(w: Walk, name: string): { hint: string } | undefined {
    for (const agent of w.file.agents)
        if (agent !== w.agent && agent.funcs.has(name)) return { hint: `agent ${shown(agent.name)} has one: ${agent.name}.${name}(…)` };
    const own = [...w.file.names.values()].filter((one) => one.kind === "func" || one.kind === "agent").map((one) => one.name);
    const found = suggestion(name, w.agent?.funcs.keys() ?? [], own, BUILTINS_ON.global.keys());
    return found?.hint === undefined ? undefined : { hint: found.hint };
}

/** An agent that is not part of the program. */
function outside(w: Walk, e: Call, agent: Binding): Type {
    raise(w, `agent:${agent.name}`, e.callee.range, false);
    for (const arg of e.args) expr(w, arg.value);
    w.isFresh(DATA);
    return ANY;
}

function agentCall(w: Walk, e: Call, agent: AgentScope, func: FuncInfo, name: string): Type {
    if (agent !== w.agent) raise(w, `agent:${shown(agent.name)}`, e.callee.range, false);
    return userCall(w, e, func, name);
}

function userCall(w: Walk, e: Call, func: FuncInfo, name: string): Type {
    const { params } = func.node;
    let required = params.length;
    while (required > 0 && params[required - 1]?.default !== undefined) required--;
    arity(w, e, `${name}()`, required, params.length, true);
    const args: number[] = [];
    const ranges: Range[] = [];
    for (let i = 0; i < e.args.length; i++) {
        const arg = e.args[i] as Arg;
        plain(w, arg);
        const type = expr(w, arg.value);
        const param = params[i];
        args.push(w.params, w.share, w.data);
        ranges.push(arg.value.range);
        if (param === undefined) continue;
        if (type.cap !== null) pass(w, func, i, type.cap);
        if (param.contract !== undefined) {
            const reason = misfit(type, arg.value, param.contract, func.file);
            if (reason === null) continue;
            const message = `'${param.name.text}' of ${name}() does not accept this: ${reason}`;
            if (arg.value.kind === "ident" || arg.value.kind === "member" || arg.value.kind === "index")
                w.suspect("CONTRACT_MISMATCH", arg.value.range, message, null, false);
            else w.report("CONTRACT_MISMATCH", arg.value.range, message);
        }
    }
    w.func.calls.push({ callee: func, node: e, level: w.level, inLambda: w.lambda > 0, args, ranges });
    return result(w, func, args);
}

/** What a call of a function gives, and what it shares. */
function result(w: Walk, func: FuncInfo, args: readonly number[]): Type {
    const known = summary(w, func);
    w.isFresh(known === null ? DATA : func.data & DATA);
    if (known === null) return ANY;
    for (let i = 0; i * 3 < args.length; i++) {
        const at = bit(i);
        if ((func.returns & at) !== 0) {
            w.params |= args[i * 3] as number;
            w.share = Math.min(w.share, args[i * 3 + 1] as number);
        }
        if ((func.data & at) !== 0) w.data |= args[i * 3 + 2] as number;
    }
    return known;
}

/** A call passes a capability: the parameter may be one from now on. */
function pass(w: Walk, func: FuncInfo, index: number, cap: Binding): void {
    if (func.passed[index] != null) return;
    func.passed[index] = cap;
    if (func.state !== "new" && !func.queued) {
        func.queued = true;
        w.checking.queue.push(func);
    }
}

// ---- methods ---------------------------------------------------------------------------------------------------------

function method(w: Walk, e: Call, callee: Member): Type {
    const type = expr(w, callee.object);
    const { share, params, data } = w;
    const name = callee.name.text;
    const at = callee.name.range;
    switch (type.kind) {
        case "agent": {
            const agent = (type.cap as Binding).agent;
            if (agent === null) return outside(w, e, type.cap as Binding);
            const found = agent.funcs.get(name);
            if (found?.func != null) return agentCall(w, e, agent, found.func, `${type.cap?.name}.${name}`);
            if (name === "yield" || name === "send")
                w.report("UNSUPPORTED", at, `handing control to an agent with '${name}' is not in this version`);
            else w.report("UNKNOWN_FUNCTION", at, `agent '${type.cap?.name}' has no func '${name}'`, suggestion(name, agent.funcs.keys()));
            return unknown(w, e);
        }
        case "tool":
            return toolCall(w, e, type.cap as Binding, name, at);
        case "memory":
            return memoryCall(w, e, type.cap as Binding, name, at);
        case "llm":
        case "func":
        case "skill":
            w.report("NOT_CALLABLE", at, `${describe(type)} has no methods`);
            return unknown(w, e);
        case "json": {
            const row = BUILTINS_ON.json.get(name);
            if (row !== undefined) return builtin(w, e, row, `json.${name}()`, ANY, 0, 0, 0, true);
            w.report("UNKNOWN_METHOD", at, `json has no function '${name}'`, suggestion(name, BUILTINS_ON.json.keys()));
            return unknown(w, e);
        }
        case "none":
            if (callee.safe) return unknown(w, e);
            w.suspect("UNKNOWN_METHOD", at, `none has no method '${name}'`, null, type.inList);
            return unknown(w, e);
        case "boolean":
            w.suspect("UNKNOWN_METHOD", at, `a boolean has no method '${name}'`, null, type.inList);
            return unknown(w, e);
        case "any":
            return anyMethod(w, e, callee, type);
        default: {
            if (type.kind === "object") {
                const own = property(type, name);
                if (own != null) {
                    if (own.kind !== "any" && own.kind !== "func")
                        w.suspect("NOT_CALLABLE", at, `the property '${name}' is ${describe(own)}, not a function`, name, type.inList);
                    return unknown(w, e);
                }
            }
            const rows = BUILTINS_ON[type.kind];
            const row = rows.get(name);
            if (row !== undefined) return builtin(w, e, row, `${name}()`, type, share, params, data, false);
            if (type.kind === "object" && property(type, name) === undefined) return unknown(w, e);
            const message = `${describe(type)} has no method '${name}'`;
            w.suspect(
                "UNKNOWN_METHOD",
                at,
                message,
                name,
                type.inList,
                suggestion(name, rows.keys(), propertyNames(type)) ?? elsewhereHint(name, type.kind),
            );
            return unknown(w, e);
        }
    }
}

/** Says which kinds of value have the method. */
function elsewhereHint(name: string, kind: string): { hint: string } | undefined {
    const rows = METHODS.get(name)?.filter((row) => row.on !== kind);
    return rows === undefined || rows.length === 0
        ? undefined
        : { hint: `it is a method of ${rows.map((row) => `a ${row.on}`).join(" and ")}` };
}

function anyMethod(w: Walk, e: Call, callee: Member, type: Type): Type {
    const name = callee.name.text;
    const { share, params } = w;
    if (type.cap !== null) {
        const { cap } = type;
        if (cap.kind === "tool")
            raise(w, `tool:${cap.name}.${name}`, callee.range, cap.import !== null && toolWrites(cap.import, name, w.checking) === "error");
        else if (cap.kind === "memory" && (name === "add" || name === "query")) raise(w, `memory:${cap.name}.${name}`, callee.range, false);
        else if (cap.kind === "agent") raise(w, `agent:${cap.name}`, callee.range, false);
    }
    const rows = METHODS.get(name);
    if (rows === undefined) return unknown(w, e);
    let fits: BuiltinRow | null = null;
    let takesLambda: BuiltinRow | null = null;
    for (const row of rows) {
        if (e.args.length >= row.min && e.args.length <= row.max) fits = row;
        if (row.lambda !== undefined) takesLambda = row;
    }
    if (fits === null && takesLambda === null) return unknown(w, e);
    const row = takesLambda ?? (fits as BuiltinRow);
    args(w, e, row, ANY, share, params, DATA);
    const changes = rows.some((one) => one.mutates);
    if (changes) {
        w.checking.listsChange = true;
        mutate(w, callee.range, share, params, `.${name}()`);
    }
    const shares = rows.some((one) => one.shares === "self" || one.shares === "item");
    w.isFresh(DATA);
    if (shares) {
        w.share = Math.min(share, w.share);
        w.params = params;
    }
    return type.cap !== null && shares ? maybeCapability(type.cap) : ANY;
}

/** A call of a built-in: `share`, `params` and `data` are those of the receiver. */
function builtin(
    w: Walk,
    e: Call,
    row: BuiltinRow,
    name: string,
    receiver: Type,
    share: number,
    params: number,
    data: number,
    certain: boolean,
): Type {
    arity(w, e, name, row.min, row.max, certain);
    const given = args(w, e, row, receiver.item ?? ANY, share, params, data);
    if (row.mutates) {
        mutate(w, e.callee.range, share, params, `.${row.name}()`);
        if (given.type !== null && receiver.item !== null) {
            if (given.type.cap !== null) hold(w, (e.callee as Member).object, given.type.cap);
            if (receiver.item.kind === "object" && join(receiver.item, given.type) !== receiver.item) w.checking.listsChange = true;
        }
    }
    w.isFresh(given.data);
    switch (row.shares) {
        case "self":
            w.share = share;
            w.params = params;
            return receiver;
        case "item":
            w.share = Math.min(share, w.share);
            w.params = params;
            if (receiver.item !== null && receiver.item !== ANY) return optional(receiver.item);
            return receiver.cap !== null ? maybeCapability(receiver.cap) : ANY;
        case "items":
            if (receiver.kind === "list" && row.result === "list" && row.name !== "map" && row.name !== "concat")
                return receiver.optional ? { ...receiver, optional: false } : receiver;
            return receiver.cap !== null
                ? makeType(row.result, { cap: receiver.cap, item: row.result === "list" ? ANY : null })
                : (RESULTS[row.result] as Type);
        case "fresh":
            return row.name === "summary" ? LIST : (RESULTS[row.result] as Type);
    }
}

/** Walks the arguments of a built-in; gives the type of the first, and what data all came from. */
function args(
    w: Walk,
    e: Call,
    row: BuiltinRow,
    item: Type,
    share: number,
    params: number,
    data: number,
): { type: Type | null; data: number } {
    let first: Type | null = null;
    let all = data;
    for (let i = 0; i < e.args.length; i++) {
        const arg = e.args[i] as Arg;
        plain(w, arg);
        if (i === row.lambda) {
            if (arg.value.kind === "lambda") {
                const type = lambda(w, arg.value, item, share, params, data);
                all |= w.data;
                first ??= type;
                continue;
            }
            const func = functionNamed(w, arg.value);
            if (func !== null) {
                w.func.calls.push({
                    callee: func,
                    node: e,
                    level: w.level,
                    inLambda: true,
                    args: [params, share, data],
                    ranges: [arg.value.range],
                });
                all |= DATA;
                continue;
            }
        }
        const type = expr(w, arg.value);
        all |= w.data;
        first ??= type;
    }
    return { type: first, data: all };
}

/** The function that a name stands for, where it is given in place of a lambda. */
function functionNamed(w: Walk, e: Expr): FuncInfo | null {
    if (e.kind !== "ident" || w.names.has(e.name)) return null;
    const found = w.agent?.funcs.get(e.name) ?? w.file.names.get(e.name);
    if (found?.func == null) return null;
    found.used = true;
    return found.func;
}

function lambda(w: Walk, e: Lambda, item: Type, share: number, params: number, data: number): Type {
    const mark = w.visible.length;
    const { breakable } = w;
    w.lambda++;
    w.breakable = 0;
    for (let i = 0; i < e.params.length; i++) {
        const name = e.params[i] as { text: string; range: Range };
        w.share = i === 0 ? Math.min(share, w.level) : w.level;
        w.params = i === 0 ? params : 0;
        w.data = data;
        w.define(name.text, name.range, i === 0 ? item : i === 1 ? NUMBER : ANY);
    }
    const type = expr(w, e.body);
    w.leave(mark);
    w.lambda--;
    w.breakable = breakable;
    return type;
}

/** A lambda where none belongs: reported, and walked for its own mistakes. */
export function strayLambda(w: Walk, e: Lambda): Type {
    w.report("LAMBDA_PLACE", e.range, "a lambda can only be given to a built-in that takes one");
    lambda(w, e, ANY, w.level, 0, DATA);
    w.isFresh(DATA);
    return ANY;
}

/** The variable at the root of `a.b[0]` now holds a capability. */
export function hold(w: Walk, e: Expr, cap: Binding): void {
    let root = e;
    while (root.kind === "member" || root.kind === "index" || root.kind === "paren")
        root = root.kind === "paren" ? root.value : root.object;
    const local = root.kind === "ident" ? w.names.get(root.name) : undefined;
    if (local === undefined || local.type.cap !== null) return;
    w.share = local.share;
    w.params = local.params;
    w.data = local.data;
    w.widen(local, maybeCapability(cap));
}

// ---- tools and memories ----------------------------------------------------------------------------------------------

function toolCall(w: Walk, e: Call, tool: Binding, name: string, at: Range): Type {
    const known = tool.import === null ? null : methodsOf(tool.import);
    if (known !== null && !known.includes(name) && name !== "")
        w.report(
            "UNKNOWN_METHOD",
            at,
            `the tool '${tool.name}' has no method '${name}'`,
            suggestion(name, known) ?? { hint: `it has ${known.join(", ")}` },
        );
    walkArgs(w, e.args, true);
    const writes = tool.import === null ? null : toolWrites(tool.import, name, w.checking);
    const effect = `tool:${tool.name}.${name}`;
    raise(w, effect, e.callee.range, writes === "error");
    if (writes === "warning") {
        w.checking.writes.add(effect);
        if (w.level > 0)
            w.report("PARALLEL_FOR_REACHES_EFFECT", e.callee.range, `iterations in parallel call ${tool.name}.${name}, which may write`);
    }
    w.isFresh(DATA);
    return ANY;
}

const MEMORY_METHODS: readonly string[] = ["add", "query"];

function memoryCall(w: Walk, e: Call, memory: Binding, name: string, at: Range): Type {
    if (!MEMORY_METHODS.includes(name))
        w.report(
            "UNKNOWN_MEMORY_METHOD",
            at,
            `a memory has no method '${name}'`,
            suggestion(name, MEMORY_METHODS) ?? { hint: "it has add and query" },
        );
    else arity(w, e, `${memory.name}.${name}()`, 1, 1, true);
    walkArgs(w, e.args, true);
    raise(w, `memory:${memory.name}.${name}`, e.callee.range, name === "add");
    w.isFresh(DATA);
    return name === "query" ? LIST : ANY;
}
