/**
 * Calls: what a name or a member stands for, and what calling it gives.
 *
 * Boundary: one call at a time. Built-ins are in `methods.ts`, tools and memories in `resources.ts`; what follows from calls over the
 * whole program is in `effects.ts`.
 *
 * CAL1: an object's own keys, a tool's methods and an agent's functions come before built-in methods of the same name.
 */
import { withArticle } from "../text/words.ts";
import type { Arg, Call, Ident, Member } from "../syntax/tree.ts";
import { FOREIGN_NAMES } from "../syntax/foreign.ts";
import type { Range } from "../text/source.ts";
import { BUILTINS_ON, HANDOVERS, isNamespace, METHODS } from "../scope/builtins.ts";
import { builtinMeant, builtinWritten } from "../scope/elsewhere.ts";
import { handover, isOutside, isYield, sendCall, yieldCall } from "./handover.ts";
import { anyMethod, builtin, hold, STRAY } from "./methods.ts";
import {
    type AgentScope,
    type Binding,
    bit,
    DATA,
    either,
    type Extra,
    type FuncInfo,
    holding,
    NOWHERE,
    type Origin,
    type Walk,
    meant,
} from "../scope/model.ts";
import { shown } from "../syntax/entry.ts";
import { elsewhere, suggestion } from "./names.ts";
import { memoryCall, toolCall } from "./resources.ts";
import { inner, arity, plain, raise, unknown, walkArgs } from "./sites.ts";
import { ANY, describe, MAY_GROW, misfit, property, propertyNames, type Type } from "../scope/types.ts";

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
            inner(w, e.callee);
            return unknown(w, e);
    }
}

function named(w: Walk, e: Call, callee: Ident): Type {
    const { name, range } = callee;
    const local = w.names.get(name);
    if (local !== undefined) {
        // What an agent was handed may be a function: whether it is shows when it is called.
        if ((w.checking.answer || w.file.prelude) && local.type.kind === "any") {
            raise(w, `func:${name}`, range, false);
            return unknown(w, e);
        }
        // The lambda has been told.
        if (local.type === STRAY) return unknown(w, e);
        const hint = local.type.kind === "func" ? { hint: `call ${local.type.cap?.name} by its own name` } : undefined;
        w.report("NOT_CALLABLE", range, `'${name}' is a variable, not a function`, hint);
        return unknown(w, e);
    }
    const found = w.agent?.funcs.get(name) ?? w.file.names.get(name);
    if (found === undefined) {
        const row = BUILTINS_ON.global.get(name);
        if (row !== undefined) return builtin(w, e, row, `${name}()`, ANY, NOWHERE);
        if (HANDOVERS.has(name)) return handover(w, e, name);
        const other = elsewhere(w.checking, w.file, name);
        if (other !== null) w.report("IMPORT_NOT_SHARED", range, `'${name}' belongs to ${other.where.name}, not to this file`, other.extra);
        else w.report("UNKNOWN_FUNCTION", range, `there is no function '${name}'`, functionHint(w, name, range));
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
        `'${name}' is ${withArticle(found.kind)}; ${found.kind === "tool" || found.kind === "memory" ? "call one of its methods" : "it cannot be called"}`,
    );
    return unknown(w, e);
}

function functionHint(w: Walk, name: string, range: Range): Extra | undefined {
    for (const agent of w.file.agents)
        if (agent !== w.agent && agent.funcs.has(name)) return { hint: `agent ${shown(agent.name)} has one: ${agent.name}.${name}(…)` };
    const foreign = FOREIGN_NAMES.get(name)?.hint;
    if (foreign !== undefined) return { hint: foreign };
    const own = [...w.file.names.values()].filter((one) => one.kind === "func" || one.kind === "agent").map((one) => one.name);
    return suggestion(w.checking, name, range, w.agent?.funcs.keys() ?? [], own, BUILTINS_ON.global.keys());
}

/** An agent that is not part of the program. */
function outside(w: Walk, e: Call, agent: Binding): Type {
    if (agent.import !== null && isOutside(agent.import))
        w.report("UNKNOWN_FUNCTION", e.callee.range, `'${agent.name}' is outside the program and has no functions`, {
            hint: `hand over control: ${agent.name}.yield(name: value) -> contract`,
        });
    raise(w, `agent:${agent.name}`, e.callee.range, false);
    for (const arg of e.args) inner(w, arg.value);
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
    arity(w, e, `${name}()`, { min: required, max: params.length });
    const args: Origin[] = [];
    const ranges: Range[] = [];
    for (let i = 0; i < e.args.length; i++) {
        const arg = e.args[i] as Arg;
        plain(w, arg);
        const type = inner(w, arg.value);
        const param = params[i];
        args.push(w.from);
        ranges.push(arg.value.range);
        if (param === undefined) continue;
        if (type.cap !== null) pass(w, func, i, type.cap);
        if (param.contract !== undefined) {
            const reason = misfit(type, arg.value, param.contract, func.file);
            if (reason === null) continue;
            const message = `'${param.name.text}' of ${name}() does not accept this: ${reason}`;
            if (arg.value.kind === "ident" || arg.value.kind === "member" || arg.value.kind === "index")
                w.suspect("CONTRACT_MISMATCH", arg.value.range, message, type.soft | (type.kind === "object" ? MAY_GROW : 0));
            else w.report("CONTRACT_MISMATCH", arg.value.range, message);
        }
    }
    w.func.calls.push({ callee: func, node: e, level: w.level, inLambda: w.pure, args, ranges });
    const type = result(w, func, args);
    if (func.stores !== null) {
        const { from } = w;
        for (let i = 0; i < e.args.length; i++) if ((func.mutates & bit(i)) !== 0) hold(w, (e.args[i] as Arg).value, func.stores);
        w.from = from;
    }
    return type;
}

/** What a call of a function gives, and what it shares. */
function result(w: Walk, func: FuncInfo, args: readonly Origin[]): Type {
    const known = w.ring.summary(w, func);
    w.isFresh(known === null ? DATA : func.data & DATA);
    if (known === null) return ANY;
    args.forEach((arg, i) => {
        const shares = (func.returns & bit(i)) !== 0 ? { ...arg, data: 0 } : w.from;
        w.from = holding(either(w.from, shares), (func.data & bit(i)) !== 0 ? arg.data : 0);
    });
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
    const type = inner(w, callee.object);
    const { from } = w;
    const name = callee.name.text;
    const at = callee.name.range;
    switch (type.kind) {
        case "agent": {
            const cap = type.cap as Binding;
            const { agent } = cap;
            if (agent?.funcs.get(name) === undefined) {
                if (name === "yield") return yieldCall(w, e, callee, cap);
                if (name === "send") return sendCall(w, e, callee, cap);
            }
            if (agent === null) return outside(w, e, cap);
            const found = agent.funcs.get(name);
            if (found?.func != null) return agentCall(w, e, agent, found.func, `${type.cap?.name}.${name}`);
            w.report(
                "UNKNOWN_FUNCTION",
                at,
                `agent '${type.cap?.name}' has no func '${name}'`,
                suggestion(w.checking, name, at, agent.funcs.keys()),
            );
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
        case "json":
        case "csv":
        case "time": {
            const rows = BUILTINS_ON[type.kind];
            const row = rows.get(name);
            if (row?.effect !== undefined) raise(w, row.effect, e.callee.range, false);
            if (row !== undefined) return builtin(w, e, row, `${type.kind}.${name}()`, ANY, NOWHERE);
            w.report(
                "UNKNOWN_METHOD",
                at,
                `${type.kind} has no function '${name}'`,
                suggestion(w.checking, name, at, rows.keys()) ?? { hint: `it has ${[...rows.keys()].join(", ")}` },
            );
            return unknown(w, e);
        }
        case "none":
            if (callee.safe) return unknown(w, e);
            w.suspect("UNKNOWN_METHOD", at, `none has no method '${name}'`, type.soft);
            return unknown(w, e);
        case "boolean":
            w.suspect("UNKNOWN_METHOD", at, `a boolean has no method '${name}'`, type.soft);
            return unknown(w, e);
        case "any":
            return isYield(e) ? yieldCall(w, e, callee, type.cap) : anyMethod(w, e, callee, type);
        default: {
            if (type.kind === "object") {
                const own = property(type, name);
                if (own != null) {
                    if (own.kind !== "any" && own.kind !== "func")
                        w.suspect("NOT_CALLABLE", at, `the property '${name}' is ${describe(own)}, not a function`, own.soft);
                    return unknown(w, e);
                }
            }
            const rows = BUILTINS_ON[type.kind];
            const row = rows.get(name);
            if (row !== undefined) return builtin(w, e, row, `${name}()`, type, from);
            if (type.kind === "object" && property(type, name) === undefined && !isOfLists(e, name)) return unknown(w, e);
            const message = `${describe(type)} has no method '${name}'`;
            const near =
                elsewhereNamed(callee, type.kind) ??
                suggestion(w.checking, name, at, rows.keys(), propertyNames(type)) ??
                elsewhereHint(name, type.kind);
            w.suspect("UNKNOWN_METHOD", at, message, type.soft, type.kind === "object" ? { ...near, property: name } : near);
            return misspelt(w, e, type);
        }
    }
}

/** `push(…)` of a list means a change: what its items have then is no further mistake. */
function misspelt(w: Walk, e: Call, { kind }: Type): Type {
    if (kind === "list" && e.args.some(({ value }) => value.kind !== "lambda")) w.checking.listsChange = true;
    return unknown(w, e);
}

/** A call after an object that means a list's method: a key that is not known may hold a function, but no function takes a lambda. */
function isOfLists(e: Call, name: string): boolean {
    return builtinWritten(name, "object") !== undefined && e.args.some((arg) => arg.value.kind === "lambda");
}

function elsewhereNamed({ object, name: { text: name, range } }: Member, kind: string): Extra | undefined {
    if (object.kind === "ident" && isNamespace(object.name) && BUILTINS_ON[object.name].has(name))
        return { hint: `a variable called ${object.name} hides the built-in ${object.name}.${name}: give the variable another name` };
    const found = builtinMeant(name, kind);
    return found === undefined ? undefined : meant(found, range, found);
}

/** Says which kinds of value have the method. */
function elsewhereHint(name: string, kind: string): { hint: string } | undefined {
    const written = builtinWritten(name, kind);
    if (written !== undefined) return { hint: written };
    const rows = METHODS.get(name)?.filter((row) => row.on !== kind);
    return rows === undefined || rows.length === 0
        ? undefined
        : { hint: `it is a method of ${rows.map((row) => withArticle(row.on)).join(" and ")}` };
}
