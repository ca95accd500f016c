/**
 * What every call has in common: its effect at its place, the value it changes, its arguments.
 *
 * Boundary: one call site; which function or method is called is decided by the callers of these.
 */
import { fix } from "../text/fix.ts";
import type { Arg, Call, Expr } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { DATA, type Origin, type Walk } from "../scope/model.ts";
import { ANY, CAPABILITIES, describe, type Type } from "../scope/types.ts";

/** What stands inside another expression. Every way down passes here, by `scoped`, or counts for itself. */
export function inner(w: Walk, e: Expr): Type {
    w.checking.depth++;
    const type = w.ring.expr(w, e);
    w.checking.depth--;
    return type;
}

// ---- effects at their place ------------------------------------------------------------------------------------------

/** Notes an effect; `writes`: it changes something, which iterations in parallel must not. */
export function raise(w: Walk, effect: string, range: Range, writes: boolean): void {
    w.func.effects.add(effect);
    if (w.pure) w.report("LAMBDA_EFFECT", range, `a lambda cannot reach ${effectName(effect)}`);
    if (!writes) return;
    w.checking.writes.add(effect);
    if (w.level > 0) w.report("PARALLEL_FOR_EFFECTFUL_CALL", range, `iterations in parallel must not call ${effectName(effect)}`);
}

export function effectName(effect: string): string {
    const colon = effect.indexOf(":");
    return colon < 0
        ? effect === "model"
            ? "a model"
            : effect === "parallel"
              ? "parallel for"
              : effect === "clock"
                ? "the clock"
                : effect
        : effect.slice(colon + 1);
}

/** A change of a value. */
export function mutate(w: Walk, range: Range, { share, params }: Origin, what: string): void {
    w.func.mutates |= params;
    if (w.level > 0 && share < w.level) w.report("PARALLEL_FOR_OUTER_MUTATION", range, `${what} changes a value that all iterations share`);
}

// ---- arguments -------------------------------------------------------------------------------------------------------

/** Walks arguments nothing is known about. */
/** `types`: takes the type of each. */
export function walkArgs(w: Walk, args: readonly Arg[], data: boolean, types?: Type[]): number {
    let all = 0;
    for (const arg of args) {
        plain(w, arg);
        const type = inner(w, arg.value);
        types?.push(type);
        all |= w.from.data;
        if (data && CAPABILITIES.has(type.kind))
            w.report("CONTRACT_MISMATCH", arg.value.range, `${describe(type)} is a capability and cannot be sent as data`, {
                hint: "pass data that was got from it",
            });
    }
    return all;
}

export function plain(w: Walk, arg: Arg): void {
    if (arg.name !== undefined)
        w.report("NAMED_ARGUMENT", arg.name.range, `'${arg.name.text}:' names an argument of a call that takes its arguments by place`, {
            fixes: [fix("leave the name out", { start: arg.range.start, end: arg.value.range.start }, "")],
        });
}

/** How many arguments a call takes. */
interface Arity {
    readonly min: number;
    readonly max: number;
    /** What to write, where the number alone does not say it. */
    readonly hint?: string;
}

export function arity(w: Walk, e: Call, name: string, { min, max, hint }: Arity, soft = 0): void {
    const given = e.args.length;
    if (given >= min && given <= max) return;
    const wants = min === max ? `${min}` : max >= 255 ? `at least ${min}` : `${min} to ${max}`;
    const message = `${name} takes ${wants} argument${wants === "1" ? "" : "s"}, not ${given}`;
    w.suspect("INVALID_ARGUMENT_COUNT", e.range, message, soft, hint === undefined ? {} : { hint });
}

/** A call that nothing is known of; the mistake has been reported, or the value may have the method. */
export function unknown(w: Walk, e: Call): Type {
    walkArgs(w, e.args, false);
    w.isFresh(DATA);
    return ANY;
}
