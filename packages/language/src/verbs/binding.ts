/**
 * Which parameter of a stage gets what: its arguments, and what flows in.
 *
 * Boundary: names only, so that the checker and the machine decide alike. What the values are is theirs.
 *
 * BIN1: a literal without a name takes the first parameter from the left that no name gives, past the one of a verb that what flows in takes.
 * BIN2: what flows in takes, in order, the parameters that are left and have no default; where there are none, the flowing one of a verb, else the
 *     first that is left; of a tool none. A fan-out gives its values one by one exactly where that many are left so, else it gives one list.
 */
import { FLOWING } from "./verb.ts";

export interface StageParam {
    readonly name: string;
    /** It may be left out. */
    readonly hasDefault: boolean;
}

export type Callee = "verb" | "func" | "agent" | "tool";

export interface Bound<A> {
    readonly values: ReadonlyMap<string, A>;
    /** Arguments without a name for which there is no parameter. */
    readonly extra: readonly A[];
    /** Names that no parameter has, and those that were given before. */
    readonly unknown: readonly A[];
    readonly twice: readonly A[];
    /** Parameters that what flows in may take, in order. */
    readonly free: readonly string[];
}

export function bindStage<A extends { readonly name?: string }>(args: readonly A[], params: readonly StageParam[], kind: Callee): Bound<A> {
    const values = new Map<string, A>();
    const [extra, unknown, twice]: [A[], A[], A[]] = [[], [], []];
    for (const arg of args) {
        const { name } = arg;
        if (name === undefined) continue;
        if (!params.some((param) => param.name === name)) unknown.push(arg);
        else if (values.has(name)) twice.push(arg);
        else values.set(name, arg);
    }
    const flows = (name: string): boolean => kind === "verb" && name === FLOWING;
    const open = params.filter(({ name }) => !values.has(name) && !flows(name));
    let next = 0;
    for (const arg of args) {
        if (arg.name !== undefined) continue;
        const param = open[next++];
        if (param === undefined) extra.push(arg);
        else values.set(param.name, arg);
    }
    const left = params.filter(({ name }) => !values.has(name));
    const needed = left.filter(({ hasDefault }) => !hasDefault);
    const other = left.find(({ name }) => flows(name)) ?? (kind === "tool" ? undefined : left[0]);
    const free = needed.length > 0 ? needed : other === undefined ? [] : [other];
    return { values, extra, unknown, twice, free: free.map(({ name }) => name) };
}
