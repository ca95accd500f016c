/**
 * A plan that runs, as a picture of lines that fills in: a node a line, its state and its time, brackets around fan-outs.
 *
 * Boundary: ledger events in, lines out; knows no terminal.
 *
 * PPC1: a plan inside a node stands below that node, in the order of the source.
 * PPC2: what is no event of a plan changes nothing.
 */
import widthOf from "fast-string-width";
import { isObject } from "@remit/language";
import { type LedgerEvent, type Plan, type PlanNode, type PlanRow, planTree } from "@remit/machine";
import { duration, type Paint, plainLine } from "./io.ts";
import { argsOf, clipped, titleOf } from "./plan-labels.ts";

type State = "pending" | "running" | "done" | "failed" | "skipped" | "cancelled" | "stopped";

interface Line {
    /** Path of the node in its run. */
    readonly path: string;
    readonly node: PlanNode;
    readonly gutter: string;
    state: State;
    /** When it began, and ended; milliseconds. */
    since: number;
    took: number;
}

interface Shown {
    readonly path: string;
    readonly title: string;
    readonly lines: Line[];
}

export interface Look {
    readonly columns: number;
    readonly now: number;
    /** What stands before a node that runs. */
    readonly spinner: string;
    readonly paint: Paint;
}

export interface Picture {
    event(event: LedgerEvent): void;
    /** Of the plan that runs; empty where none does. */
    lines(look: Look): string[];
    /** Takes away the plans that have ended, or all, and gives what stays of them. */
    taken(look: Look, all?: boolean): string[];
}

const MARKS: { readonly [S in Exclude<State, "running">]: readonly [mark: string, style: Parameters<Paint>[0]] } = {
    pending: ["·", "dim"],
    done: ["✓", "green"],
    failed: ["✗", "red"],
    skipped: ["–", "dim"],
    cancelled: ["○", "yellow"],
    stopped: ["○", "yellow"],
};
/** Columns of the longest `3 min 5 s`, and of a word in its place. */
const TIME = 10;

export function picture(): Picture {
    let running: Shown | null = null;
    const ended: Shown[] = [];
    const lineAt = (path: string): Line | undefined => running?.lines.find((one) => one.path === path);
    return {
        event({ kind, path, time, data }) {
            const at = Date.parse(time);
            if (kind === "plan.started" && isObject(data)) {
                const plan = data["plan"] as unknown as Plan;
                if (running === null) running = { path, title: titleOf(plan), lines: linesOf(plan, path, "") };
                else insert(running, plan, path);
            } else if (kind === "plan.node.started") {
                const line = lineAt(path);
                if (line !== undefined) Object.assign(line, { state: "running", since: at });
            } else if (kind === "plan.node.ended" && isObject(data)) {
                const line = lineAt(path);
                if (line !== undefined) Object.assign(line, { state: data["state"], took: line.state === "running" ? at - line.since : 0 });
            } else if (kind === "plan.ended" && running?.path === path) {
                ended.push(running);
                running = null;
            }
        },
        lines: (look) => (running === null ? [] : drawn(running, look)),
        taken(look, all = false) {
            const shown = ended.splice(0);
            if (all && running !== null) {
                for (const line of running.lines) if (line.state === "running") Object.assign(line, { state: "stopped" });
                shown.push(running);
                running = null;
            }
            return shown.flatMap((one) => drawn(one, look));
        },
    };
}

function linesOf(plan: Plan, path: string, before: string): Line[] {
    return guttered(planTree(plan.nodes)).map(({ node, gutter }) => ({
        path: `${path}/${node.id}`,
        node,
        gutter: before + gutter,
        state: "pending",
        since: 0,
        took: 0,
    }));
}

/** Below the node in which the plan runs; a plan elsewhere is not shown. A block that is walked shows nothing that its node does not. */
function insert(running: Shown, plan: Plan, path: string): void {
    const at = running.lines.findIndex((one) => path.startsWith(`${one.path}/`) && one.node.plan !== undefined);
    const outer = running.lines[at];
    if (outer === undefined || plan.mode === "dynamic") return;
    const inner = running.lines.findLastIndex((one) => path.startsWith(`${one.path}/`));
    const around = running.lines[inner] ?? outer;
    running.lines.splice(inner + 1, 0, ...linesOf(plan, path, `${around.gutter.replace(/[┌├]/g, "│").replaceAll("└", " ")}  `));
}

function guttered(row: PlanRow): { readonly node: PlanNode; readonly gutter: string }[] {
    return row.flatMap((item) => {
        if ("node" in item) return [{ node: item.node, gutter: "" }];
        const branches = item.branches.map(guttered);
        const count = branches.reduce((sum, one) => sum + one.length, 0);
        let n = 0;
        return branches.flatMap((lines) =>
            lines.map(({ node, gutter }, i) => {
                n++;
                const bracket = n === 1 ? "┌" : n === count ? "└" : i === 0 ? "├" : "│";
                return { node, gutter: `${bracket} ${gutter}` };
            }),
        );
    });
}

function drawn({ title, lines }: Shown, { columns, now, spinner, paint }: Look): string[] {
    const names = lines.map(({ gutter, node }) => `${gutter}  ${plainLine(node.id)}`);
    const widest = Math.min(Math.max(...names.map((name) => widthOf(name))), Math.floor(columns / 2));
    const rows = lines.map(({ gutter, node, state, since, took }) => {
        const [mark, style] = state === "running" ? [spinner, "cyan" as const] : MARKS[state];
        const name = clipped(plainLine(node.id), widest - widthOf(gutter) - 2);
        const pad = " ".repeat(Math.max(0, widest - widthOf(gutter) - 2 - widthOf(name)));
        const time = state === "running" ? Math.max(0, now - since) : state === "done" || state === "failed" ? took : null;
        const word = (time !== null ? duration(time) : state === "pending" ? "" : state).padStart(TIME);
        const args = clipped(argsOf(node), columns - widest - TIME - 5);
        const soft = state === "pending" || state === "skipped";
        return `${paint("dim", gutter)}${paint(style, mark)} ${soft ? paint("dim", name) : name}${pad}  ${word}  ${paint("dim", args)}`.trimEnd();
    });
    return [paint("bold", clipped(title, columns - 1)), ...rows];
}
