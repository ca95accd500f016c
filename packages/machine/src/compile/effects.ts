/**
 * Which functions can reach an effect, and whether capabilities travel as values.
 *
 * Boundary: reads forms and the meaning of names. A least fixpoint over the call graph; names are taken for a local and for what they
 * mean outside at once where both are possible, so the answer can only be too careful.
 *
 * EE4: "effectful" is: raises an effect (a member of a module that is read is one), declares context, calls another agent, runs iterations in parallel, leaves a function out of the
 *     middle of an expression, runs the nodes of a block, calls through a value that may be a capability, or calls an effectful function.
 */
import { type ExprForm, type FormNode, type FormPart, isModule, isNamespace, walk } from "@remit/language";
import { type Builtin, findBuiltin } from "../builtin/table.ts";
import type { Where } from "./context.ts";
import { handoverOf } from "./handover.ts";
import type { Compiled, Fn } from "./program.ts";

export interface Reach {
    /** By function id. */
    readonly effectful: readonly boolean[];
    /** By function id: effectful, or strict, or calling one that is. */
    readonly framed: readonly boolean[];
    /** By function id: what it calls by name; of a program that goes on with another, of what is new alone. */
    readonly calls: readonly (readonly Fn[])[];
    /** Somewhere in the program a capability is used as a value: any method call on a value may then reach an effect. */
    readonly travels: boolean;
}

/** What only code is asked for that may run loosely. */
export interface Loosely {
    /** By function id: where choices are kept, it and all that it calls have a loose form (`loose.ts`). */
    readonly loose: readonly boolean[];
    /** By function id: it, or one that it calls, changes a list or an object. */
    readonly changes: readonly boolean[];
}

/** Of a program that goes on with another only what is new is looked at, in which capabilities travel: they are what it was written for. */
export function analyse(program: Compiled): Reach {
    const { base } = program;
    const effectful = program.functions.map((_, id) => base?.reach.effectful[id] === true);
    const calls = program.functions.map((): readonly Fn[] => []);
    const through = program.functions.map(() => false);
    let travels = base !== null;

    for (const fn of program.functions.slice(base?.functions.length ?? 0)) {
        const seen = seenIn(program, fn);
        if (seen.effectful) effectful[fn.id] = true;
        through[fn.id] = seen.through;
        calls[fn.id] = seen.calls;
        travels ||= seen.travels;
    }

    if (travels)
        through.forEach((is, id) => {
            if (is) effectful[id] = true;
        });
    spread(effectful, calls);
    const framed = program.functions.map((fn, id) => fn.strict || effectful[id] === true || base?.reach.framed[id] === true);
    spread(framed, calls);
    return { effectful, framed, calls, travels };
}

export function analyseLoosely(program: Compiled): Loosely {
    const { base } = program;
    const { framed, calls } = program.reach;
    const changes = program.functions.map((fn, id) => base?.loosely.changes[id] ?? walk(fn.form.body, isChange));
    spread(changes, calls);
    const parting = program.functions.map(
        (fn, id) => (base?.loosely.loose[id] ?? true) === false || framed[id] === true || partsOtherwise(fn, fn.form.body, changes),
    );
    spread(parting, calls);
    return { loose: parting.map((is) => !is), changes };
}

function isChange(e: FormNode): boolean {
    if (e.kind === "assign") return e.target.kind !== "name";
    return e.kind === "call" && e.callee.kind === "member" && e.callee.name === "add";
}

/**
 * Code whose ways part and meet on frames, which take an expression apart, elsewhere than in closures: where a failure may be caught, all that an
 * expression reads counts before any of it is done; what a block in it assigns counts behind all of it; what a function of the program changes that is
 * called in it is changed before its ways part. `changes`: by function id.
 */
export function partsOtherwise(where: Where, part: FormPart, changes: readonly boolean[]): boolean {
    const isChanging = (e: FormNode): boolean => {
        if (e.kind !== "call" || e.callee.kind !== "name") return false;
        const meaning = where.program.lookup(where.file, where.agent, e.callee.name);
        return meaning?.kind === "func" && changes[meaning.fn.id] === true;
    };
    return walk(part, (e) => {
        if (e.kind === "try" || e.kind === "try.expr" || (e.kind === "if.expr" && assigns(e))) return true;
        return valuesIn(e).some((value) => value.kind !== "lambda" && walk(value, isChanging));
    });
}

/** What the call of a method, or a list or object that takes in others, is made of. */
function valuesIn(e: FormNode): readonly ExprForm[] {
    if (e.kind === "call") return e.callee.kind === "member" ? [e.callee.object, ...e.args.map(({ value }) => value)] : [];
    if (e.kind === "list")
        return e.items.some(({ kind }) => kind === "spread") ? e.items.map((i) => (i.kind === "spread" ? i.value : i)) : [];
    return e.kind === "object" && e.entries.some(({ kind }) => kind === "spread") ? e.entries.map(({ value }) => value) : [];
}

function assigns(part: FormPart): boolean {
    return walk(part, (e) => e.kind === "assign");
}

/** What is an effect, or leads to one, by itself. */
export const EFFECTS: ReadonlySet<string> = new Set(["generate", "parallel", "endorse", "use", "use.one", "delegate", "spend", "define"]);

/** What the text of one function shows. */
interface Seen {
    /** It raises an effect itself. */
    effectful: boolean;
    /** It calls through a value. */
    through: boolean;
    /** It uses a capability as a value. */
    travels: boolean;
    readonly calls: Fn[];
}

function seenIn(program: Compiled, fn: Fn): Seen {
    // The nodes of a block are fibers of their own.
    const seen: Seen = { effectful: fn.block !== null, through: false, travels: false, calls: [] };
    const locals = localsOf(fn);
    /** Names that stand where a capability may: callee, receiver of a method, model, tool. */
    const direct = new Set<ExprForm>();
    const look = (name: string) => program.lookup(fn.file, fn.agent, name);
    const member = (e: ExprForm & { kind: "member" }): void => {
        if (e.object.kind !== "name" || direct.has(e.object)) return;
        const meaning = look(e.object.name);
        if (meaning?.kind !== "tool" || !isModule(meaning.import.form.uri)) return;
        // A member of a module that is read, not called.
        seen.effectful = true;
        direct.add(e.object);
        if (locals.has(e.object.name)) seen.through = true;
    };
    const call = (e: ExprForm & { kind: "call" }): void => {
        const { callee } = e;
        if (handoverOf(program, fn, (name) => locals.has(name), e) !== null || clockOf(program, fn, (name) => locals.has(name), e) !== null)
            seen.effectful = true;
        const named = callee.kind === "name" ? callee : callee.kind === "member" && callee.object.kind === "name" ? callee.object : null;
        const meaning = named === null ? undefined : look(named.name);
        if (named !== null) direct.add(named);
        if (callee.kind === "name") {
            if (locals.has(callee.name)) seen.through = true;
            if (meaning?.kind === "func") seen.calls.push(meaning.fn);
            else if (meaning?.kind === "agent") seen.effectful = true;
        } else {
            if (meaning !== undefined && "value" in meaning) seen.effectful = true;
            if (callee.kind !== "member" || callee.object.kind !== "literal") seen.through = true;
        }
        e.args.forEach((arg, i) => {
            const lambda = asLambda(program, fn, locals, e, i);
            if (lambda === undefined) return;
            direct.add(arg.value);
            seen.calls.push(lambda);
        });
    };
    walk(fn.form.body, (e) => {
        if (e.kind === "config" && e.key === "model") direct.add(e.value);
        if (e.kind === "generate") {
            if (e.model !== undefined) direct.add(e.model);
            for (const t of e.tools ?? []) direct.add(t.kind === "member" ? t.object : t);
        }
        if (EFFECTS.has(e.kind)) seen.effectful = true;
        else if (e.kind === "if.expr" || e.kind === "try.expr") seen.effectful ||= leaves(e);
        else if (e.kind === "member") member(e);
        else if (e.kind === "call") call(e);
        else if (e.kind === "name" && !direct.has(e)) {
            const meaning = look(e.name);
            if (meaning !== undefined && "value" in meaning) seen.travels = true;
        }
    });
    return seen;
}

/** The built-in that is an effect, where a call means one; null where it does not. `isLocal`: the name is a variable at this place. */
export function clockOf(
    program: Compiled,
    fn: { readonly file: number; readonly agent: string | null },
    isLocal: (name: string) => boolean,
    { callee }: ExprForm & { kind: "call" },
): Builtin | null {
    if (callee.kind !== "member" || callee.object.kind !== "name" || !isNamespace(callee.object.name)) return null;
    const { name } = callee.object;
    if (isLocal(name) || program.lookup(fn.file, fn.agent, name) !== undefined) return null;
    const row = findBuiltin(name, callee.name);
    return row?.effect === undefined ? null : row;
}

/** From callees to their callers. */
function spread(is: boolean[], calls: readonly (readonly Fn[])[]): void {
    for (let changed = true; changed; ) {
        changed = false;
        calls.forEach((callees, id) => {
            if (is[id] !== true && callees.some((c) => is[c.id] === true)) {
                is[id] = true;
                changed = true;
            }
        });
    }
}

/** The function that argument `i` of a call names, where a built-in method takes a lambda there. */
export function asLambda(
    program: Compiled,
    fn: { readonly file: number; readonly agent: string | null },
    locals: { has(name: string): boolean },
    call: ExprForm & { kind: "call" },
    i: number,
): Fn | undefined {
    const value = call.args[i]?.value;
    if (call.callee.kind !== "member" || value?.kind !== "name" || locals.has(value.name)) return undefined;
    const { name } = call.callee;
    if (!(["list", "object", "string", "number"] as const).some((on) => findBuiltin(on, name)?.lambda === i)) return undefined;
    const meaning = program.lookup(fn.file, fn.agent, value.name);
    return meaning?.kind === "func" ? meaning.fn : undefined;
}

/** Names that are locals somewhere in a function. */
function localsOf(fn: Fn): Set<string> {
    const names = new Set(fn.form.params.map((p) => p.name));
    walk(fn.form.body, (e) => {
        if (e.kind === "assign" && e.target.kind === "name") names.add(e.target.name);
        else if (e.kind === "for" || e.kind === "parallel") names.add(e.item);
        else if ((e.kind === "try" || e.kind === "try.expr") && e.name !== undefined) names.add(e.name);
        else if (e.kind === "lambda") for (const p of e.params) names.add(p);
    });
    return names;
}

/** A `return`, `break` or `continue` in a block that stands in an expression. */
export function leaves(e: ExprForm): boolean {
    return walk(e, (s) => s.kind === "return" || s.kind === "break" || s.kind === "continue");
}
