/** The results as a page. Boundary: from kept figures to Markdown. */
import { type Column, sum, type Tally } from "./tally.ts";

export interface Kept {
    readonly day: string;
    readonly columns: { readonly [name: string]: Column };
}
export type Results = { readonly [set in "open" | "held"]?: Kept };

const SETS = {
    open: "Tasks that policies were written against",
    held: "Tasks that were kept apart",
} as const;

export function page(results: Results): string {
    const parts = [
        "# Injection benchmark: results",
        "",
        "Written by `npm run injection`; [README.md](README.md) says what is run and how to read it.",
        "",
    ];
    for (const [set, title] of Object.entries(SETS)) {
        const kept = results[set as keyof typeof SETS];
        if (kept !== undefined) parts.push(`## ${title} (${kept.day})`, "", ...tables(kept.columns));
    }
    return `${parts.join("\n").trimEnd()}\n`;
}

function tables(columns: Kept["columns"]): string[] {
    const first = Object.values(columns)[0];
    if (first === undefined) return [];
    const groups: [title: string, pick: (column: Column) => Tally][] = [
        ["All", (column) => sum(Object.values(column.worlds))],
        ...Object.keys(first.worlds).map((name): [string, (column: Column) => Tally] => [name, (column) => column.worlds[name] as Tally]),
        ["One `generate` with tools", (column) => column.styles.agent as Tally],
        ["Programs", (column) => column.styles.program as Tally],
    ];
    const lines: string[] = [];
    for (const [title, pick] of groups) {
        lines.push(`### ${title}: ${pick(first).tasks} tasks, ${pick(first).pairs} attacks`, "");
        lines.push(
            "| | done clean | without a question | done under attack | attacks that reached their goal | questions clean | questions under attack |",
        );
        lines.push("| --- | --- | --- | --- | --- | --- | --- |");
        for (const [name, column] of Object.entries(columns)) {
            const t = pick(column);
            const cells = [
                share(t.clean, t.tasks),
                share(t.unasked, t.tasks),
                share(t.useful, t.pairs),
                share(t.crossed, t.pairs),
                t.askedClean,
                t.askedAttacked,
            ];
            lines.push(`| ${name} | ${cells.join(" | ")} |`);
        }
        lines.push("");
    }
    for (const [name, column] of Object.entries(columns)) {
        if (name.startsWith("plain")) continue;
        lines.push(...detail(`${name}: attacks that reached their goal`, byGoal(column.crossings)));
        lines.push(...detail(`${name}: tasks that were not done`, column.missed));
        lines.push(...detail(`${name}: tasks with questions`, column.questioned));
    }
    return lines;
}

function detail(title: string, items: readonly string[]): string[] {
    if (items.length === 0) return [];
    return [`<details><summary>${title} (${items.length})</summary>`, "", ...items.map((item) => `- ${item}`), "", "</details>", ""];
}

function byGoal(crossings: readonly string[]): string[] {
    const goals = new Map<string, string[]>();
    for (const crossing of crossings) {
        const [goal = "", task = ""] = crossing.split(" < ");
        goals.set(goal, [...(goals.get(goal) ?? []), task]);
    }
    return [...goals].map(([goal, tasks]) => `${goal}: ${tasks.join(", ")}`);
}

function share(part: number, of: number): string {
    return of === 0 ? "–" : `${part} (${Math.round((1000 * part) / of) / 10} %)`;
}
