/**
 * Calls of built-in functions and methods, and of methods of values nothing is known of.
 *
 * Boundary: the rows are in `builtins.ts`; what a row means for types, sharing and changes is decided here.
 *
 * MT2: a lambda stands only where a built-in takes one, and reaches no effect.
 */
import type { Arg, Call, Expr, Lambda, Member } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { BUILTIN_TAKES, type BuiltinRow, METHODS } from "../scope/builtins.ts";
import { compilePattern, PatternFault } from "../text/pattern.ts";
import { type Binding, DATA, either, type FuncInfo, type Local, localAt, type Origin, type Walk } from "../scope/model.ts";
import { inner, arity, mutate, plain, raise, unknown } from "./sites.ts";
import { suggestion } from "./names.ts";
import { toolWrites } from "./tools.ts";
import {
    ANY,
    ENTRIES,
    join,
    LIST,
    listOf,
    makeType,
    maybeCapability,
    NUMBER,
    optional,
    present,
    RESULTS,
    RESULTS_OF,
    type Type,
} from "../scope/types.ts";

export function anyMethod(w: Walk, e: Call, callee: Member, type: Type): Type {
    const name = callee.name.text;
    const { from } = w;
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
    const given = args(w, e, row, ANY, { ...from, data: DATA });
    const changes = rows.some((one) => one.mutates);
    if (changes) {
        if (given.type !== null && given.type.cap !== null) hold(w, callee.object, given.type.cap);
        w.checking.listsChange = true;
        mutate(w, callee.range, from, `.${name}()`);
    }
    const shares = rows.some((one) => one.shares === "self" || one.shares === "item" || one.shares === "made");
    w.isFresh(DATA);
    if (shares) w.from = either(w.from, { ...from, data: 0 });
    return type.cap !== null && shares ? maybeCapability(type.cap) : ANY;
}

/**
 * A call of a built-in that messages call `name`. `from`: the origin of the receiver.
 *
 * Why so many: a call, what it calls, and what it is called on, each of two parts.
 */
export function builtin(w: Walk, e: Call, row: BuiltinRow, name: string, receiver: Type, from: Origin): Type {
    arity(w, e, name, row.name === "reduce" ? { ...row, hint: REDUCE } : row, receiver.soft);
    const key = row.name === "has" || row.name === "get" ? e.args[0]?.value : undefined;
    if (key?.kind === "string") w.guarded.add(key.value);
    const given = args(w, e, row, receiver.item ?? ANY, from);
    if (row.mutates) {
        mutate(w, e.callee.range, from, `.${row.name}()`);
        if (given.type !== null && receiver.item !== null) {
            if (given.type.cap !== null) hold(w, (e.callee as Member).object, given.type.cap);
            if (receiver.item !== ANY && join(receiver.item, given.type) !== receiver.item) w.checking.listsChange = true;
        }
    }
    literals(w, e, row);
    if (row.on === "string" && row.name === "match") pattern(w, e);
    w.isFresh(given.data);
    switch (row.shares) {
        case "self":
            w.from = { ...from, data: given.data };
            return receiver;
        case "item":
            w.from = either(w.from, { ...from, data: 0 });
            if (receiver.item !== null && receiver.item !== ANY) return optional(receiver.item);
            return receiver.cap !== null ? maybeCapability(receiver.cap) : ANY;
        case "items":
            if (row.name === "map" && given.type !== null && given.type.cap === null && receiver.cap === null) return listOf(given.type);
            if (row.on === "object" && row.name === "entries" && receiver.cap === null) return ENTRIES;
            if (receiver.kind === "list" && row.result === "list" && row.name !== "map" && row.name !== "concat")
                return receiver.sure ? makeType("list", { item: receiver.item, cap: receiver.cap }) : present(receiver);
            return receiver.cap !== null
                ? makeType(row.result, { cap: receiver.cap, item: row.result === "list" ? ANY : null })
                : (RESULTS[row.result] as Type);
        case "made":
            w.from = either(w.from, either({ ...from, data: 0 }, { ...given.began, data: 0 }));
            return ANY;
        case "fresh":
            return row.name === "summary" ? LIST : (RESULTS_OF.get(`${row.on}.${row.name}`) ?? (RESULTS[row.result] as Type));
    }
}

/** A literal where a built-in takes a few texts, or an object of a few fields. */
function literals(w: Walk, e: Call, row: BuiltinRow): void {
    const called = `${row.on}.${row.name}`;
    const takes = BUILTIN_TAKES.get(called);
    const value = takes === undefined ? undefined : e.args[takes.at]?.value;
    if (value?.kind === "string" && takes?.texts?.includes(value.value) === false) {
        const near = suggestion(w.checking, value.value, value.range, takes.texts);
        const hint = near?.hint ?? `it is one of ${takes.texts.map((one) => JSON.stringify(one)).join(", ")}`;
        w.report("CONTRACT_MISMATCH", value.range, `${called} does not take ${JSON.stringify(value.value)} here`, { hint });
    }
    if (value?.kind !== "object" || takes?.fields === undefined) return;
    for (const entry of value.entries) {
        if (entry.kind !== "entry" || takes.fields.includes(entry.key.text)) continue;
        const { text, range } = entry.key;
        const near = suggestion(w.checking, text, range, takes.fields) ?? { hint: `it has ${takes.fields.join(", ")}` };
        w.report("UNKNOWN_FIELD", range, `${called} has no field '${text}'`, near);
    }
}

/** A pattern that stands in the program, held to what `match` takes. */
function pattern(w: Walk, e: Call): void {
    const [text, flags] = e.args.map(({ value }) => value);
    if (text?.kind !== "string") return;
    const found = compilePattern(text.value, flags?.kind === "string" ? flags.value : "");
    if (!(found instanceof PatternFault)) return;
    w.report("INVALID_PATTERN", text.range, found.message, found.hint === undefined ? undefined : { hint: found.hint });
}

/** How `reduce` is written: in other languages what it begins with can be left out, or stands first. */
const REDUCE = "write `reduce((made, item) => …, first)`: the function, and behind it what it begins with";

interface Args {
    /** Of the first. */
    readonly type: Type | null;
    /** What data all came from. */
    readonly data: number;
    /** Of the last, with which a lambda's work may begin. */
    readonly began: Origin;
}

/** Walks the arguments of a built-in. What a lambda makes of its own result is walked behind what that begins with. */
function args(w: Walk, e: Call, row: BuiltinRow, item: Type, from: Origin): Args {
    let first: Type | null = null;
    let all = from.data;
    let began = from;
    const order = row.shares === "made" ? [...e.args.keys()].reverse() : e.args.keys();
    for (const i of order) {
        const arg = e.args[i] as Arg;
        plain(w, arg);
        if (i === row.lambda) {
            if (arg.value.kind === "lambda") {
                const type = lambda(w, arg.value, item, from, row.shares === "made" ? began : null);
                all |= w.from.data;
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
                    args: [from],
                    ranges: [arg.value.range],
                });
                all |= DATA;
                continue;
            }
        }
        const type =
            row.name === "reduce" && arg.value.kind === "lambda" ? strayLambda(w, arg.value, { hint: REDUCE }) : inner(w, arg.value);
        all |= w.from.data;
        began = w.from;
        first ??= type;
    }
    return { type: first, data: all, began };
}

/** The function that a name stands for, where it is given in place of a lambda. */
function functionNamed(w: Walk, e: Expr): FuncInfo | null {
    if (e.kind !== "ident" || w.names.has(e.name)) return null;
    const found = w.agent?.funcs.get(e.name) ?? w.file.names.get(e.name);
    if (found?.func == null) return null;
    found.used = true;
    return found.func;
}

/** `began`: its first parameter is what it made before, and the item the second. */
function lambda(w: Walk, e: Lambda, item: Type, { share, params, data }: Origin, began: Origin | null = null): Type {
    const mark = w.visible.length;
    const { breakable } = w;
    w.lambda++;
    w.loop++;
    w.breakable = 0;
    const names = e.params as readonly { text: string; range: Range }[];
    const [made] = names;
    if (began !== null && made !== undefined) {
        w.from = { ...began, share: Math.min(began.share, w.level), data: began.data | data };
        w.define(made.text, made.range, ANY);
    }
    for (const [i, name] of names.slice(began === null ? 0 : 1).entries()) {
        w.from = i === 0 ? { share: Math.min(share, w.level), params, data } : { share: w.level, params: 0, data };
        w.define(name.text, name.range, i === 0 ? item : i === 1 ? NUMBER : ANY);
    }
    const type = inner(w, e.body);
    w.leave(mark);
    w.lambda--;
    w.loop--;
    w.breakable = breakable;
    return type;
}

/** What a lambda where none belongs gives: a variable that has it is no second mistake where it is called. */
export const STRAY: Type = makeType("any");

/** A lambda where none belongs: reported, and walked for its own mistakes. */
export function strayLambda(w: Walk, e: Lambda, said: { readonly hint?: string } = {}): Type {
    const message =
        said.hint === undefined ? "a lambda can only be given to a built-in that takes one" : "a lambda stands in the place of a value";
    w.report("LAMBDA_PLACE", e.range, message, said);
    const outer = w.stray;
    w.stray = true;
    lambda(w, e, ANY, { share: w.level, params: 0, data: DATA });
    w.stray = outer;
    w.isFresh(DATA);
    return STRAY;
}

/** The variable at the root of `a.b[0]` now holds a capability. */
export function hold(w: Walk, e: Expr, cap: Binding): void {
    const local = localAt(w, e);
    if (local === undefined) return;
    // The caller that passed it in holds it too.
    if (local.from.params !== 0) {
        w.func.stores ??= cap;
        w.func.mutates |= local.from.params;
    }
    for (const one of local.aliases ?? [local]) {
        if (one.type.cap !== null) continue;
        w.from = one.from;
        w.widen(one, maybeCapability(cap));
    }
}

/** From here on `local` may be, or stand inside, what `e` reads from: what is put into one is in the other. */
export function alias(w: Walk, local: Local, e: Expr): void {
    const other = localAt(w, e);
    if (other === undefined || other === local || (other.aliases !== undefined && other.aliases === local.aliases)) return;
    const all = new Set([local, other, ...(local.aliases ?? []), ...(other.aliases ?? [])]);
    // A chain of a thousand names would take a million steps; no program has one that stores capabilities.
    if (all.size > MAX_ALIASES) return;
    for (const one of all) one.aliases = all;
}

const MAX_ALIASES = 100;
