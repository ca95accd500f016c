/**
 * What follows from calls over the whole program: effects of functions, parameters that they change, and the rules that need both.
 *
 * Boundary: reads what the walks found (`FuncInfo.calls`, `effects`, `mutates`), walks nothing.
 *
 * EC1: both are least fixpoints over the call graph: a function has an effect, or changes a parameter, exactly if it or a function it
 *     calls does. Calls through values are not edges: capabilities that travel are seen by their types (`raise`).
 */
import { bit, type Checking, type FuncInfo, report } from "../scope/model.ts";
import { effectName } from "./sites.ts";
import { shown } from "../syntax/entry.ts";

/** Effects of one function that are told apart; what is beyond is told by kind (`tool:*`). */
const MAX_EFFECTS = 300;

export function settleEffects(checking: Checking, funcs: readonly FuncInfo[]): void {
    const callers = new Map<FuncInfo, Set<FuncInfo>>();
    for (const func of funcs)
        for (const edge of func.calls) {
            let all = callers.get(edge.callee);
            if (all === undefined) {
                all = new Set();
                callers.set(edge.callee, all);
            }
            all.add(func);
        }
    if (callers.size === 0) return;
    const queue = calleesFirst(funcs).filter((func) => callers.has(func));
    const queued = new Set(queue);
    // It grows as it is gone through.
    for (const func of queue) {
        queued.delete(func);
        if (func.effects.size === 0 && func.mutates === 0) continue;
        for (const caller of callers.get(func) ?? []) {
            if (!spread(checking, caller, func) || queued.has(caller)) continue;
            queued.add(caller);
            queue.push(caller);
        }
    }
}

/** So that a function without recursion is spread once, however long the chain of calls. */
function calleesFirst(funcs: readonly FuncInfo[]): FuncInfo[] {
    const order: FuncInfo[] = [];
    const met = new Set<FuncInfo>();
    const open: { readonly func: FuncInfo; next: number }[] = [];
    const enter = (func: FuncInfo): void => {
        if (met.has(func)) return;
        met.add(func);
        open.push({ func, next: 0 });
    };
    for (const func of funcs) {
        enter(func);
        for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
            const edge = at.func.calls[at.next++];
            if (edge !== undefined) enter(edge.callee);
            else order.push((open.pop() as typeof at).func);
        }
    }
    return order;
}

/** Takes over into `caller` what it reaches through `callee`; true where that was new. */
function spread(checking: Checking, caller: FuncInfo, callee: FuncInfo): boolean {
    const size = caller.effects.size;
    for (const effect of callee.effects) {
        if (caller.effects.size < MAX_EFFECTS || caller.effects.has(effect)) {
            caller.effects.add(effect);
            continue;
        }
        const kind = `${effect.split(":")[0]}:*`;
        if (checking.writes.has(effect)) checking.writes.add(kind);
        caller.effects.add(kind);
    }
    let { mutates } = caller;
    if (callee.mutates !== 0)
        for (const edge of caller.calls) {
            if (edge.callee !== callee) continue;
            for (const [i, arg] of edge.args.entries()) if ((callee.mutates & bit(i)) !== 0) mutates |= arg.params;
        }
    const changed = mutates !== caller.mutates || size !== caller.effects.size;
    caller.mutates = mutates;
    return changed;
}

/** Rules about what is reached through functions: in `parallel for`, and in lambdas. */
export function checkReach(checking: Checking, funcs: readonly FuncInfo[]): void {
    for (const func of funcs)
        for (const edge of func.calls) {
            const { callee } = edge;
            const at = edge.node.callee.range;
            if (edge.inLambda && callee.effects.size > 0)
                report(
                    func,
                    "LAMBDA_EFFECT",
                    at,
                    `a lambda cannot call '${shown(callee.name)}', which reaches ${effectName(first(callee.effects))}`,
                );
            if (edge.level === 0) continue;
            const writes = [...callee.effects].filter((effect) => checking.writes.has(effect)).sort();
            if (writes.length > 0)
                report(
                    func,
                    "PARALLEL_FOR_REACHES_EFFECT",
                    at,
                    `iterations in parallel reach ${writes.map(effectName).join(", ")} through '${shown(callee.name)}'`,
                );
            if (callee.mutates === 0) continue;
            for (const [i, arg] of edge.args.entries())
                if ((callee.mutates & bit(i)) !== 0 && arg.share < edge.level)
                    report(
                        func,
                        "PARALLEL_FOR_OUTER_MUTATION",
                        edge.ranges[i] ?? at,
                        `'${shown(callee.name)}' changes this value, which all iterations share`,
                    );
        }
}

function first(effects: ReadonlySet<string>): string {
    return [...effects].sort()[0] as string;
}
