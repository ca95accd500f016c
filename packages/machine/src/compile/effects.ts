/**
 * Which functions can reach an effect, and whether capabilities travel as values.
 *
 * Boundary: reads forms and the meaning of names. A least fixpoint over the call graph; names are taken for a local and for what they
 * mean outside at once where both are possible, so the answer can only be too careful.
 *
 * K4: "effectful" is: raises an effect (a member of a module that is read is one), declares context, calls another agent, runs iterations in parallel, leaves a function out of the
 *     middle of an expression, calls through a value that may be a capability, or calls an effectful function.
 */
import { type ExprForm, isModule, type StmtForm } from "@remit/language";
import { findBuiltin } from "../builtin/table.ts";
import { handoverOf } from "./handover.ts";
import type { Compiled, Fn } from "./program.ts";
import { type Visit, walk, walkBlock } from "./walk.ts";

export interface Reach {
    /** By function id. */
    readonly effectful: readonly boolean[];
    /** By function id: effectful, or strict, or calling one that is. */
    readonly framed: readonly boolean[];
    /** Somewhere in the program a capability is used as a value: any method call on a value may then reach an effect. */
    readonly travels: boolean;
}

/** Of a program that goes on with another only what is new is looked at, in which capabilities travel: they are what it was written for. */
export function analyse(program: Compiled): Reach {
    const { base } = program;
    const effectful = program.functions.map((_, id) => base?.reach.effectful[id] === true);
    const calls = program.functions.map((): Fn[] => []);
    const through = program.functions.map(() => false);
    let travels = base !== null;

    for (const fn of program.functions.slice(base?.functions.length ?? 0)) {
        const locals = localsOf(fn);
        /** Names that stand where a capability may: callee, receiver of a method, model, tool. */
        const direct = new Set<ExprForm>();
        const look = (name: string) => program.lookup(fn.file, fn.agent, name);
        const visit: Visit = {
            stmt: (s) => {
                if (s.kind === "use" || s.kind === "use.one" || s.kind === "delegate" || s.kind === "spend" || s.kind === "define")
                    effectful[fn.id] = true;
                if (s.kind === "config" && s.key === "model") direct.add(s.value);
                return true;
            },
            expr: (e) => {
                switch (e.kind) {
                    case "generate":
                        effectful[fn.id] = true;
                        if (e.model !== undefined) direct.add(e.model);
                        for (const t of e.tools ?? []) direct.add(t.kind === "member" ? t.object : t);
                        return true;
                    case "parallel":
                    case "endorse":
                        effectful[fn.id] = true;
                        return true;
                    case "if.expr":
                    case "try.expr":
                        if (leaves(e)) effectful[fn.id] = true;
                        return true;
                    case "member": {
                        if (e.object.kind !== "name" || direct.has(e.object)) return true;
                        const meaning = look(e.object.name);
                        if (meaning?.kind !== "tool" || !isModule(meaning.import.form.uri)) return true;
                        // A member of a module that is read, not called.
                        effectful[fn.id] = true;
                        direct.add(e.object);
                        if (locals.has(e.object.name)) through[fn.id] = true;
                        return true;
                    }
                    case "name": {
                        if (direct.has(e)) return true;
                        const meaning = look(e.name);
                        if (meaning !== undefined && "value" in meaning) travels = true;
                        return true;
                    }
                    case "call": {
                        const { callee } = e;
                        if (handoverOf(program, fn, (name) => locals.has(name), e) !== null) effectful[fn.id] = true;
                        if (callee.kind === "name") {
                            direct.add(callee);
                            if (locals.has(callee.name)) through[fn.id] = true;
                            const meaning = look(callee.name);
                            if (meaning?.kind === "func") (calls[fn.id] as Fn[]).push(meaning.fn);
                            else if (meaning?.kind === "agent") effectful[fn.id] = true;
                        } else if (callee.kind === "member") {
                            if (callee.object.kind === "name") {
                                direct.add(callee.object);
                                const meaning = look(callee.object.name);
                                if (meaning !== undefined && "value" in meaning) effectful[fn.id] = true;
                            }
                            if (callee.object.kind !== "literal") through[fn.id] = true;
                        } else through[fn.id] = true;
                        e.args.forEach((arg, i) => {
                            const named = asLambda(program, fn, locals, e, i);
                            if (named !== undefined) {
                                direct.add(arg.value);
                                (calls[fn.id] as Fn[]).push(named);
                            }
                        });
                        return true;
                    }
                    default:
                        return true;
                }
            },
        };
        walkBlock(fn.form.body, visit);
    }

    if (travels)
        through.forEach((is, id) => {
            if (is) effectful[id] = true;
        });
    spread(effectful, calls);
    const framed = program.functions.map((fn, id) => fn.strict || effectful[id] === true || base?.reach.framed[id] === true);
    spread(framed, calls);
    return { effectful, framed, travels };
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
    walkBlock(fn.form.body, {
        stmt: (s) => {
            if (s.kind === "assign" && s.target.kind === "name") names.add(s.target.name);
            else if (s.kind === "for") names.add(s.item);
            else if (s.kind === "try" && s.name !== undefined) names.add(s.name);
            return true;
        },
        expr: (e) => {
            if (e.kind === "parallel") names.add(e.item);
            else if (e.kind === "try.expr" && e.name !== undefined) names.add(e.name);
            else if (e.kind === "lambda") for (const p of e.params) names.add(p);
            return true;
        },
    });
    return names;
}

/** A `return`, `break` or `continue` in a block that stands in an expression. */
export function leaves(e: ExprForm): boolean {
    let found = false;
    walk(e, {
        stmt: (s: StmtForm) => {
            if (s.kind === "return" || s.kind === "break" || s.kind === "continue") found = true;
            return !found;
        },
    });
    return found;
}
