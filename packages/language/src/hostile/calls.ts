/**
 * Calls: of functions, tools, memories and agents as they hand hostile data on, of built-ins by what their results hold.
 *
 * Boundary: one call at its place; values and facts are `walk.ts`'s and `known.ts`'s.
 *
 * HC1: a result of a tool carries what its arguments carried, and the tool. What hostile data got a tool to change may come back out of any of its
 *     methods, under the tool's name alone. So it may out of every tool of the same folder.
 */
import { isNamespace, METHODS } from "../scope/builtins.ts";
import { methodName, schemeOf } from "../authority/thing.ts";
import type { Thing } from "../authority/tables.ts";
import type { CallForm, ExprForm } from "../form/form.ts";
import type { Site } from "../text/source.ts";
import {
    dataVal,
    deciding,
    type Facts,
    factsOf,
    join,
    joinOf,
    knownAs,
    NO_FACTS,
    PLAIN,
    through,
    union,
    unionOf,
    type Val,
} from "./facts.ts";
import { calledBy, isAgain, textsOf } from "./again.ts";
import { ANY, type Known } from "./known.ts";
import type { Rules, Ruling } from "./rules.ts";
import { type Cap, type Func, isOutsideAgent, type Scope } from "./scope.ts";
import type { Seeds } from "./seeds.ts";
import type { ArgFacts, By, Seen, Uses } from "./uses.ts";
import type { Place } from "./walk.ts";

/** The walk that a call stands in. */
export interface Calling {
    readonly scope: Scope;
    readonly known: Known;
    readonly seeds: Seeds;
    readonly rules: Rules;
    readonly uses: Uses;
    expr(place: Place, e: ExprForm): Val;
    shown(v: Val): Val;
    written(place: Place, object: ExprForm, field: string | null, value: Val): void;
    touch(place: Place, facts: Facts): void;
    decidedBy(place: Place): Facts;
    site(place: Place, node: { readonly at?: readonly [number, number, number, number] }): Site | null;
}

/** An argument of a call, with its name where it has one. */
export interface Given {
    readonly name?: string | undefined;
    readonly form: ExprForm;
    readonly value: Val;
}

export function callOf(w: Calling, place: Place, e: CallForm): Val {
    const { callee } = e;
    if (callee.kind === "member") return methodCall(w, place, e, callee);
    const given = argsOf(w, place, e);
    const v = w.expr(place, callee);
    const { caps } = v;
    // What is called by an expression (`list[i]()`) is called through a value, as a variable's.
    const isOwn = callee.kind !== "name" || place.func.locals.has(callee.name);
    if (caps.size === 0 && callee.kind !== "name") return join(dataOf(w, given), w.shown(v));
    if (caps.size === 0) return isOwn ? join(dataOf(w, given), v) : globalCall(w, place, e, given);
    return capsCall(w, decidedAlso(w, place, callee, factsOf(v)), e, { caps, method: null, given, isOwn });
}

function argsOf(w: Calling, place: Place, e: CallForm): Given[] {
    return e.args.map(({ name, value }) => ({ name, form: value, value: value.kind === "lambda" ? PLAIN : w.expr(place, value) }));
}

/** What a built-in function makes of what it is given. */
function dataOf(w: Calling, given: readonly Given[]): Val {
    return joinOf(given.map(({ value }) => w.shown(value)));
}

function decidedAlso(w: Calling, place: Place, node: ExprForm, by: Facts): Place {
    return by.size === 0 ? place : { ...place, local: union(place.local, deciding(by, w.site(place, node))) };
}

export interface Called {
    readonly caps: ReadonlySet<string>;
    readonly method: string | null;
    readonly given: readonly Given[];
    /** It is called through a variable. */
    readonly isOwn: boolean;
}

export function capsCall(w: Calling, place: Place, e: CallForm, called: Called): Val {
    return joinOf([...called.caps].map((id) => capCall(w, place, e, w.scope.cap(id), called)));
}

function capCall(w: Calling, place: Place, e: CallForm, cap: Cap, { method, given, isOwn }: Called): Val {
    const values = given.map(({ value }) => value);
    if (cap.kind === "func") return userCall(w, place, cap.func, { given, isOwn, by: e });
    const { thing } = cap;
    switch (thing.what) {
        case "tool": {
            const generic = method === "call" && schemeOf(thing.import?.uri ?? "") === "mcp" ? genericOf(w, given) : null;
            const args = generic?.args ?? namedArgs(w, given);
            const texts = generic === null ? textsOf(w, place, given) : undefined;
            const called = generic === null ? method : generic.method;
            const by = decidedAlso(w, place, e, generic?.by ?? NO_FACTS);
            return toolUse(w, by, { cap, method: called, args, texts, by: "program", named: (generic?.by.size ?? 0) > 0, node: e });
        }
        case "memory":
            return memoryUse(w, place, {
                cap,
                method,
                args: namedArgs(w, given),
                texts: textsOf(w, place, given),
                by: "program",
                named: false,
                node: e,
            });
        case "agent":
            return agentCall(w, place, e, { cap, method, given });
        default:
            return joinOf(values.map((value) => w.shown(value)));
    }
}

/** `call` of a tool server: the tool that it names. */
function genericOf(w: Calling, given: readonly Given[]): { method: string | null; args: Map<string, Val>; by: Facts } | null {
    const [first] = given;
    if (first === undefined) return null;
    const { known } = w;
    const named = known.read(first.value, "tool");
    const inner = known.read(first.value, "args");
    const entry =
        first.form.kind === "object" ? first.form.entries.findLast((one) => one.kind === "entry" && one.key === "tool") : undefined;
    const text =
        entry?.kind === "entry" && entry.value.kind === "literal" && typeof entry.value.value === "string" ? entry.value.value : null;
    return { method: text, args: fieldsOf(w, inner), by: text === null ? known.deepFacts(named) : NO_FACTS };
}

/** Arguments by name: fields of an only object, names of the call, places from 1. */
function namedArgs(w: Calling, given: readonly Given[]): Map<string, Val> {
    const [first] = given;
    if (given.length === 1 && first?.name === undefined && first !== undefined && first.value.made.size > 0)
        return fieldsOf(w, first.value);
    return new Map(given.map(({ name, value }, i) => [name ?? String(i + 1), value]));
}

function fieldsOf(w: Calling, v: Val): Map<string, Val> {
    const out = new Map<string, Val>();
    const put = (name: string, value: Val): void => {
        out.set(name, join(out.get(name) ?? PLAIN, value));
    };
    for (const id of v.made)
        for (const [field, value] of w.known.fieldsOf(id)) if (field !== ANY || factsOf(w.known.deep(value)).size > 0) put(field, value);
    const whole = dataVal(v.data, v.picks);
    if (whole !== PLAIN) {
        for (const name of [...out.keys()]) put(name, whole);
        put(ANY, whole);
    }
    return out;
}

// ---- functions -------------------------------------------------------------------------------------------------------

/** Who a function runs as. */
export function principalsOf(known: Known, { id, principal }: Pick<Func, "id" | "principal">): Iterable<string> {
    return principal === null ? known.set(`runs ${id}`) : [principal];
}

export function userCall(
    w: Calling,
    place: Place,
    func: Func,
    { given, isOwn, by }: { readonly given: readonly Pick<Given, "name" | "value">[]; readonly isOwn: boolean; readonly by: object | null },
): Val {
    const { known } = w;
    calledBy(known, place, func, by);
    known.addTo("reached", [func.id]);
    known.addFacts(`entry ${func.id}`, w.decidedBy(place));
    known.addTo(`runs ${func.id}`, principalsOf(known, func.principal === null ? place.func : func));
    func.form.params.forEach(({ name }, i) => {
        for (const [at, arg] of given.entries()) {
            if (arg.name === undefined ? at === i : arg.name === name) known.add(`var ${func.id} ${name}`, arg.value);
            // A verb gives an object, of which each parameter takes what has its name.
            else if (isOwn && arg.name === undefined) known.add(`var ${func.id} ${name}`, known.read(arg.value, name));
        }
    });
    const result = known.val(`result ${func.id}`);
    w.touch(place, known.facts(`touched ${func.id}`));
    // A contract looks at all that is in a value.
    func.form.params.forEach(({ name, contract }) => {
        if (contract !== undefined) w.touch(place, known.deepFacts(known.val(`var ${func.id} ${name}`)));
    });
    if (func.form.result !== undefined) w.touch(place, known.deepFacts(result));
    return result;
}

// ---- tools and memories ----------------------------------------------------------------------------------------------

export interface ToolUse {
    readonly cap: Cap & { readonly kind: "thing" };
    /** Null: any. */
    readonly method: string | null;
    readonly args: ReadonlyMap<string, Val>;
    /** Of arguments that have the same value whenever it is made. */
    readonly texts?: ReadonlyMap<string, string> | undefined;
    readonly by: By;
    readonly named: boolean;
    readonly hides?: boolean;
    readonly certain?: Seen["certain"];
    readonly node: { readonly at?: readonly [number, number, number, number] };
}

/** Where what tools changed is found again. Those of the workspace reach the same files. */
export function storeOf(thing: Thing): string {
    const scheme = schemeOf(thing.import?.uri ?? "");
    return scheme === "file" || scheme === "sh" || scheme === "shell" ? "out workspace" : `out ${thing.key}`;
}

/** All that is known of a use: what decides over it, what is in its arguments. */
function seen(
    w: Calling,
    place: Place,
    { cap, method, args, texts, by, named, hides = false, certain = [], node }: ToolUse,
): { readonly use: Seen; readonly data: Facts; readonly picks: Facts } {
    const { known, rules } = w;
    const found = new Map<string, ArgFacts>();
    const told = new Map<string, string | null>();
    const called = method === null ? null : methodName(cap.thing.import?.uri ?? "", method);
    let data = NO_FACTS;
    let picks = NO_FACTS;
    const strict = place.func.strict ? w.decidedBy(place) : NO_FACTS;
    for (const [name, value] of args) {
        const deep = known.deep(value);
        const all = { data: union(deep.data, strict), picks: deep.picks };
        for (const one of name === ANY ? rules.argsOf(cap.thing, called) : [name]) {
            told.set(one, texts?.get(one) ?? null);
            if (factsOf(all).size > 0) addTo(found, one, all);
        }
        data = union(data, all.data);
        picks = union(picks, all.picks);
    }
    const choice = union(w.decidedBy(place), deciding(picks, w.site(place, node)));
    const whole = {
        thing: cap.thing,
        file: cap.file,
        method: called,
        by,
        named,
        hides,
        certain,
        site: w.site(place, node),
        in: new Set([place.func.id]),
        choice,
        args: found,
        given: told,
        again: by !== "program" || isAgain(known, place),
    };
    const use = choice.size === 0 && found.size === 0 ? whole : w.uses.see(known.idOf(node), whole);
    return { use, data, picks };
}

function addTo(all: Map<string, ArgFacts>, name: string, { data, picks }: ArgFacts): void {
    const known = all.get(name) ?? { data: NO_FACTS, picks: NO_FACTS };
    all.set(name, { data: union(known.data, data), picks: union(known.picks, picks) });
}

/** A use of a tool; where any method may be meant, of each that is known to be there. */
export function toolUse(w: Calling, place: Place, asked: ToolUse): Val {
    if (asked.method !== null) return oneUse(w, place, asked);
    return joinOf(w.rules.methodsOf(asked.cap.thing).map((method) => oneUse(w, place, { ...asked, method })));
}

function oneUse(w: Calling, place: Place, asked: ToolUse): Val {
    const { known } = w;
    const { thing } = asked.cap;
    const { use, data, picks } = seen(w, place, asked);
    const origin = `tool:${thing.name}`;
    if (w.rules.does(thing, use.method) !== "reads") {
        const passed = passing(w, use);
        if (passed.size > 0) known.addFacts(storeOf(thing), knownAs(passed, [], `what ${thing.name} keeps`));
    }
    const own = union(knownAs(known.facts(storeOf(thing)), [origin]), w.seeds.ofUse(thing, use.method));
    const entered = new Map([...own].map(([id, fact]) => [id, { ...fact, entered: fact.entered ?? use.site }]));
    const result = known.opaque(`result ${known.idOf(asked.node)}`);
    return join(result, dataVal(union(through(data, origin), entered), picks));
}

/** Hostile data that gets a use made, or gets into one, with no question. */
function passing(w: Calling, use: Seen): Facts {
    const by = use.named && use.by === "program" ? "model" : use.by;
    const principals = [...use.in].flatMap((id) => [...w.known.set(`runs ${id}`)]);
    const { thing, method } = use;
    if (!principals.some((one) => changes(w.rules.gate(one, thing, method, by))) || w.rules.always(use) !== null) return NO_FACTS;
    const chosen = [...use.choice].filter(([, fact]) => changes(w.rules.choice(thing, method, fact)));
    // A choice that is not let through stops the whole call wherever it is there; a value may come by another way.
    const written = [...use.args].flatMap(([name, { data }]) =>
        [...data].filter(([, fact]) => changes(w.rules.arg(thing, method, name, fact))),
    );
    return unionOf([...chosen, ...written].map((one) => new Map([one])));
}

/** What is let in only where the tool says that it reads changes nothing in it. */
function changes(ruling: Ruling): boolean {
    return "bounds" in ruling && ruling.bounds.every(({ kind }) => kind !== "reads");
}

export function memoryUse(w: Calling, place: Place, asked: ToolUse): Val {
    const { known } = w;
    const { thing } = asked.cap;
    const { use, data, picks } = seen(w, place, asked);
    const origin = `memory:${thing.name}`;
    const stored = `memory ${thing.key}`;
    if (use.method !== "query") known.addFacts(stored, union(through(data, origin), knownAs(union(use.choice, picks), [origin])));
    const result = known.opaque(`result ${known.idOf(asked.node)}`);
    return join(result, dataVal(unionOf([through(data, origin), known.facts(stored), w.seeds.ofUse(thing, use.method)]), picks));
}

// ---- agents ----------------------------------------------------------------------------------------------------------

function agentCall(
    w: Calling,
    place: Place,
    e: CallForm,
    called: { readonly cap: Cap & { kind: "thing" }; readonly method: string | null; readonly given: readonly Given[] },
): Val {
    const { cap, method, given } = called;
    const { thing } = cap;
    if (isOutsideAgent(thing))
        return handedOver(w, place, {
            cap,
            method: method ?? "send",
            args: namedArgs(w, given),
            texts: textsOf(w, place, given),
            by: "program",
            named: false,
            node: e,
        });
    const own = w.scope.agentOf(thing);
    if (own === null) return dataOf(w, given);
    const func = method === null || method === "yield" || method === "send" ? undefined : w.scope.func(own.file, own.form.name, method);
    const main = func ?? w.scope.mainOf(own.file, own.form);
    return main === undefined
        ? dataOf(w, given)
        : join(userCall(w, place, main, { given, isOwn: false, by: e }), w.shown(dataVal(w.seeds.ofUse(thing, null))));
}

/** An agent outside the program: what it was told decides over all that it does, and what it gives is its own. */
export function handedOver(w: Calling, place: Place, asked: ToolUse): Val {
    const { known } = w;
    const { thing } = asked.cap;
    const { use, data, picks } = seen(w, place, asked);
    const told = toldTo(thing);
    known.addTo("handed", [thing.key]);
    known.addFacts(told, unionOf([data, picks, use.choice]));
    for (const value of asked.args.values())
        for (const id of known.deepCaps(value)) {
            const cap = w.scope.cap(id);
            const words = dataVal(through(known.facts(told), `agent:${thing.name}`));
            // A function that is passed may be called by it, with anything.
            if (cap.kind === "func" && words !== PLAIN)
                userCall(w, { ...place, local: union(place.local, words.data) }, cap.func, {
                    given: cap.func.form.params.map(() => ({ value: words })),
                    isOwn: false,
                    by: null,
                });
        }
    const words = union(knownAs(known.facts(told), [`agent:${thing.name}`]), w.seeds.ofUse(thing, null));
    return join(known.opaque(`result ${known.idOf(asked.node)}`), dataVal(words, picks));
}

export function toldTo(thing: Thing): string {
    return `told ${thing.key}`;
}

// ---- what is called by its bare name ---------------------------------------------------------------------------------

function globalCall(w: Calling, place: Place, e: CallForm, given: readonly Given[]): Val {
    const name = e.callee.kind === "name" ? e.callee.name : "";
    if (name === "agent") return agentFunction(w, place, e, given);
    if (name === "act") return actFunction(w, place, e, given);
    const data = dataOf(w, given);
    return name === "reason" ? join(w.known.opaque(`result ${w.known.idOf(e)}`), data) : data;
}

function agentFunction(w: Calling, place: Place, e: CallForm, given: readonly Given[]): Val {
    const named = [...(given[1] === undefined ? [] : w.known.deepCaps(given[1].value))].map((id) => w.scope.cap(id));
    const { func } = place;
    const all = w.scope.tables.things(func.file).flatMap(({ name }) => {
        const meaning = w.scope.lookup(func.file, null, name);
        return meaning?.kind === "cap" ? [meaning.cap] : [];
    });
    const agents = (named.length > 0 ? named : all).flatMap((cap) => (cap.kind === "thing" && cap.thing.what === "agent" ? [cap] : []));
    const by = decidedAlso(w, place, e, given[1] === undefined ? NO_FACTS : factsOf(given[1].value));
    return joinOf(agents.map((cap) => agentCall(w, by, e, { cap, method: "send", given: given.slice(0, 1) })));
}

/** `act(name, args)`: a tool or function by a name that is data. */
function actFunction(w: Calling, place: Place, e: CallForm, given: readonly Given[]): Val {
    const [first, second] = given;
    if (first === undefined) return PLAIN;
    const { scope } = w;
    const { func } = place;
    const text = first.form.kind === "literal" && typeof first.form.value === "string" ? first.form.value : null;
    const dot = text?.indexOf(".") ?? -1;
    const by = w.known.deepFacts(first.value);
    const at = decidedAlso(w, place, first.form, by);
    const args = second === undefined ? new Map<string, Val>() : namedArgs(w, [{ form: second.form, value: second.value }]);
    const out: Val[] = [w.shown(first.value)];
    for (const { name, what } of scope.tables.things(func.file)) {
        const meaning = what === "tool" ? scope.lookup(func.file, null, name) : null;
        if (meaning?.kind !== "cap" || meaning.cap.kind !== "thing" || (text !== null && dot >= 0 && text.slice(0, dot) !== name)) continue;
        const method = text === null || text === name ? null : text.slice(dot + 1);
        out.push(toolUse(w, at, { cap: meaning.cap, method, args, by: "program", named: by.size > 0, node: e }));
    }
    for (const one of scope.funcs)
        if (one.file === func.file && (one.agent === null || one.agent === func.agent) && (text === null || text === one.form.name))
            out.push(userCall(w, at, one, { given: second === undefined ? [] : [second], isOwn: true, by: e }));
    return joinOf(out);
}

// ---- methods ---------------------------------------------------------------------------------------------------------

function methodCall(w: Calling, place: Place, e: CallForm, callee: ExprForm & { kind: "member" }): Val {
    const { object, name: method } = callee;
    const { func } = place;
    if (
        object.kind === "name" &&
        isNamespace(object.name) &&
        !func.locals.has(object.name) &&
        w.scope.lookup(func.file, null, object.name) === null
    )
        return join(w.known.opaque(`result ${w.known.idOf(e)}`), dataOf(w, argsOf(w, place, e)));
    const v = w.expr(place, object);
    const given = argsOf(w, place, e);
    const uses =
        v.caps.size === 0
            ? PLAIN
            : capsCall(w, decidedAlso(w, place, object, factsOf(v)), e, { caps: v.caps, method, given, isOwn: false });
    if (v.caps.size > 0 && v.made.size === 0 && factsOf(v).size === 0) return uses;
    return METHODS.has(method) || v.caps.size === 0 ? join(uses, builtin(w, place, e, { v, given, method, object })) : uses;
}

/** A method of data: its result holds what the receiver and the arguments hold; its lambda is given items, and what it gives is held, too, as what picks among them. */
function builtin(
    w: Calling,
    place: Place,
    e: CallForm,
    { v, given, method, object }: { readonly v: Val; readonly given: readonly Given[]; readonly method: string; readonly object: ExprForm },
): Val {
    const { known } = w;
    if (method === "add") {
        w.written(place, object, null, joinOf(given.map(({ value }) => value)));
        return v;
    }
    const items = known.read(v, null);
    let made = PLAIN;
    const around = { ...decidedAlso(w, place, object, factsOf(v)), again: true };
    for (const { form, value } of given) {
        let result = value;
        if (form.kind === "lambda") {
            for (const name of form.params)
                known.add(`var ${place.func.id} ${name}`, joinOf([items, made, ...given.map((one) => one.value)]));
            result = w.expr(around, form);
        } else if (value.caps.size > 0)
            result = capsCall(w, around, e, { caps: value.caps, method: null, given: [{ form, value: items }], isOwn: false });
        else result = join(value, { ...known.read(value, null), caps: value.caps });
        made = join(made, result);
    }
    const inside = join(items, made);
    const id = `result ${known.idOf(e)}`;
    known.put(id, ANY, inside);
    // Fields of a container that a built-in copies stay what they were called.
    const deep = known.deep(v);
    return join({ ...inside, made: new Set([...inside.made, id]) }, dataVal(deep.data, deep.picks));
}
