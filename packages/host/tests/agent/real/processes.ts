/** Processes below one of ours, as Linux tells of them: who is there while an agent works, and that nobody is afterwards. */
import { readdirSync, readFileSync } from "node:fs";
import type { AgentName } from "./agents.ts";

export interface Process {
    readonly pid: number;
    /** Clock ticks from the system's start: a process id is used again. */
    readonly since: string;
}

/** Process ids below one that have the agent's name in their command, the outermost first. */
export function agentsBelow(parent: number, name: AgentName): number[] {
    return below(parent).filter((pid) => commandOf(pid).includes(name === "opencode" ? "opencode" : "qwen"));
}

/** Whether this is the agent or stands around it, and not a program that the agent started, which may lie in its folder. */
export function speaksAcp(pid: number): boolean {
    return /(?:--| )acp\b/.test(commandOf(pid));
}

/** All processes below one. */
export function processesBelow(parent: number): Process[] {
    return below(parent).map((pid) => ({ pid, since: fieldsOf(pid)?.[19] ?? "" }));
}

/** Those that still run. */
export function alive(processes: readonly Process[]): Process[] {
    return processes.filter(({ pid, since }) => {
        const fields = fieldsOf(pid);
        return fields !== null && fields[19] === since && fields[0] !== "Z";
    });
}

/** Process ids below one, the outermost first. */
function below(parent: number): number[] {
    const all = readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }));
    const own = all.filter((one) => one.parent === parent).map((one) => one.pid);
    return [...own, ...own.flatMap((pid) => below(pid))];
}

function parentOf(pid: number): number {
    return Number(fieldsOf(pid)?.[1] ?? -1);
}

/** Of its `stat`, from its state on. */
function fieldsOf(pid: number): string[] | null {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    } catch {
        // It has ended meanwhile.
        return null;
    }
}

function commandOf(pid: number): string {
    try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
        // It has ended meanwhile.
        return "";
    }
}
