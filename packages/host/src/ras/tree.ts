/**
 * What a process and everything that came of it does at this moment, as Linux tells in `/proc`.
 *
 * Boundary: reads; a system without `/proc` gives null. A process that goes away while it is looked at is not there.
 */
import { readdirSync, readFileSync } from "node:fs";

export interface TreeLook {
    readonly processes: number;
    /** Bytes in memory, shared pages counted for each. */
    readonly memory: number;
    /** Some process computes, or waits for a disk. */
    readonly running: boolean;
    /** Changes whenever a process of the tree began, ended or computed. */
    readonly mark: string;
    /** Processes that were started with `marked` as an argument. */
    readonly marked: number;
}

const PAGE = 4096;

export function lookAtTree(root: number, marked = ""): TreeLook | null {
    let processes = 0;
    let memory = 0;
    let running = false;
    let count = 0;
    const marks: string[] = [];
    const todo = [root];
    const children = childrenOf(root);
    if (children === null) return null;
    for (let pid = todo.pop(); pid !== undefined; pid = todo.pop()) {
        const stat = textOf(`/proc/${pid}/stat`);
        if (stat === null) continue;
        // The name in parentheses may hold anything, parentheses too.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const state = fields[0] ?? "";
        todo.push(...children(pid));
        if (state === "Z" || state === "X") continue;
        processes++;
        memory += Number(fields[21] ?? 0) * PAGE;
        if (state === "R" || state === "D") running = true;
        marks.push(`${pid}:${fields[11]}+${fields[12]}`);
        if (marked !== "" && (textOf(`/proc/${pid}/cmdline`) ?? "").split("\0").includes(marked)) count++;
    }
    return { processes, memory, running, mark: marks.sort().join(" "), marked: count };
}

function textOf(path: string): string | null {
    try {
        return readFileSync(path, "latin1");
    } catch {
        // It ended meanwhile, or there is no such system.
        return null;
    }
}

/** Children by parent: one look at each where the kernel lists them, else at all processes. */
function childrenOf(root: number): ((pid: number) => number[]) | null {
    const numbers = (text: string | null): number[] => (text ?? "").split(" ").filter(Boolean).map(Number);
    if (textOf(`/proc/${root}/task/${root}/children`) !== null)
        return (pid) => {
            try {
                return readdirSync(`/proc/${pid}/task`).flatMap((task) => numbers(textOf(`/proc/${pid}/task/${task}/children`)));
            } catch {
                // It ended meanwhile.
                return [];
            }
        };
    if (textOf(`/proc/${root}/stat`) === null) return null;
    const by = new Map<number, number[]>();
    for (const name of readdirSync("/proc")) {
        const stat = /^\d+$/.test(name) ? textOf(`/proc/${name}/stat`) : null;
        if (stat === null) continue;
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        by.set(parent, [...(by.get(parent) ?? []), Number(name)]);
    }
    return (pid) => by.get(pid) ?? [];
}
