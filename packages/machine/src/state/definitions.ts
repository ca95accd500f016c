/**
 * Functions that agents defined for the rest of the run, and what a call of one that they replace means now.
 *
 * Boundary: looking up. Who may define what is `define.ts`.
 */

import type { Fn, AgentEntry } from "../compile/program.ts";
import { count, list, shape, type Told, text, tuple } from "../shape/build.ts";
import type { Ops } from "./ops.ts";

export const DEFINED = shape(
    {
        name: text,
        /** Number of the function. */
        fn: count,
        /** File and name of the agent that wrote it. */
        agent: tuple(count, text),
    },
    {
        /** Labels of the place where it was defined: who decided that it is there, and what it says, decides in each call of it. */
        by: list(text),
    },
);
export type Defined = Told<typeof DEFINED>;

/** A function that the program had when it began, in the file that it began with. */
export function programFn(m: Pick<Ops, "run" | "compiled" | "defined" | "authored">, name: string): Fn | undefined {
    return m.compiled.files[m.authored - 1]?.funcs.get(name);
}

/** Which functions of the program are replaced, from what is defined. */
export function settle(m: Pick<Ops, "run" | "compiled" | "defined" | "authored">): void {
    const replaced = new Map<number, Defined>();
    for (const one of m.defined.values()) {
        const before = programFn(m, one.name);
        if (before !== undefined) replaced.set(before.id, one);
    }
    m.run.replaced = replaced.size === 0 ? null : replaced;
}

interface Made {
    readonly fn: Fn;
    readonly author: AgentEntry;
    readonly by: readonly string[];
}

/** What a call of a function of the program means now: the function and its author; null where it is what it was. */
export function now(m: Pick<Ops, "run" | "compiled" | "defined" | "authored">, fn: Fn): Made | null {
    const one = m.run.replaced?.get(fn.id) as Defined | undefined;
    return one === undefined ? null : definedAs(m, one);
}

export function definedAs(m: Pick<Ops, "run" | "compiled" | "defined" | "authored">, one: Defined): Made | null {
    const made = m.compiled.functions[one.fn];
    const author = m.compiled.agent(...one.agent);
    return made === undefined || author === undefined ? null : { fn: made, author, by: one.by ?? [] };
}
