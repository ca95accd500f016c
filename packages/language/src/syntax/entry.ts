/**
 * Where a program begins: the main agent, or the only one, and its main func; in a file without agents, its own main func.
 *
 * Boundary: the entry file's own declarations. Agents of imported files are never entries. What is wrong with them the checker tells.
 */
import type { Agent, File, Func } from "./tree.ts";

/** Internal names of what may go without one. */
export const MAIN_AGENT = "__main_agent";
export const MAIN_FUNC = "__main";

/** `main` for the unnamed main function and agent. */
export function shown(name: string): string {
    return name === MAIN_AGENT || name === MAIN_FUNC ? "main" : name;
}

export interface Entry {
    readonly agent: Agent | null;
    readonly func: Func;
}

/** The entry of a file, null where it has none (a library of functions, or an error that `checkEntry` tells). */
export function entryOf(file: File): Entry | null {
    const agents = file.items.filter((item) => item.kind === "agent");
    const agent = agents.find((one) => one.main) ?? (agents.length === 1 ? agents[0] : undefined);
    if (agent !== undefined) {
        const func = agent.funcs.find((one) => one.main);
        return func === undefined ? null : { agent, func };
    }
    const func = agents.length > 0 ? undefined : file.items.find((item) => item.kind === "func" && item.main);
    return func === undefined ? null : { agent: null, func: func as Func };
}
