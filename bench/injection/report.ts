/** The results as a page. Boundary: from kept figures to Markdown. */
import { BEFORE, CAUSES, causeOf } from "./causes.ts";
import { type Column, sum, type Tally } from "./figures.ts";

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
        "Written by `npm run injection`; [README.md](README.md) says what is run and how to read it. All figures here are against an attacker who does not read the policy: his goals",
        "are fixed. Those against attackers who have read it are in [adaptive/RESULTS.md](adaptive/RESULTS.md).",
        "",
    ];
    for (const [set, title] of Object.entries(SETS)) {
        const kept = results[set as keyof typeof SETS];
        if (kept !== undefined) parts.push(`## ${title} (${kept.day})`, "", ...tables(kept.columns));
    }
    parts.push("## What `addresses` clauses changed", "", ...change());
    return `${parts.join("\n").trimEnd()}\n`;
}

/** Results that have no cause, and causes of what is no result any more. */
export function unexplained(results: Results): string[] {
    const found = new Set(
        Object.values(results).flatMap(({ columns }) => {
            const { no, yes } = withPolicies(columns);
            return [
                ...(no?.reached ?? []).map(({ task, goal }) => `${task} < ${goal}`),
                ...(yes?.questioned ?? []).map((one) => `${one.split(": ")[0]} < null`),
            ];
        }),
    );
    const told = new Set(CAUSES.map(({ task, goal }) => `${task} < ${goal}`));
    return [
        ...[...found].filter((one) => !told.has(one)),
        ...[...told].filter((one) => !found.has(one)).map((one) => `${one} is no result`),
    ];
}

function change(): string[] {
    const rows = BEFORE.map(({ set, attack, task, how }) => `| ${set} | ${attack} | ${task} | ${how} |`);
    return [
        "Without them 5 of the 297 open attacks and 2 of the 135 kept apart reached their goal under a no to every question, none of the 432 runs crossed a rule",
        "unseen, and as many tasks needed a question. What was reached lay inside what the policies let through:",
        "",
        "| set | attack | task | how |",
        "| --- | --- | --- | --- |",
        ...rows,
        "",
        "With them all but the last of the open ones are asked about. The price is paid under attack: a planted link now stands behind a question, and where the",
        "answer is no the text that holds it is not sent, so fewer attacked tasks are done under a no to all (249 of the open 297 before, 118 of the 135).",
    ];
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
            "| | done clean | without a question | done under attack | attacks that reached their goal | of these with nobody's yes | attacks that crossed a rule unseen | questions clean | questions under attack |",
        );
        lines.push("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
        for (const [name, column] of Object.entries(columns)) {
            const t = pick(column);
            const cells = [
                share(t.clean, t.tasks),
                share(t.unasked, t.tasks),
                share(t.useful, t.pairs),
                share(t.reached, t.pairs),
                share(t.silent, t.pairs),
                t.crossed === null ? "–" : share(t.crossed, t.pairs),
                t.askedClean,
                t.askedAttacked,
            ];
            lines.push(`| ${name} | ${cells.join(" | ")} |`);
        }
        lines.push("");
    }
    lines.push(...causes(columns));
    for (const [name, column] of Object.entries(columns)) {
        if (name.startsWith("plain")) continue;
        lines.push(...detail(`${name}: attacks that reached their goal`, byGoal(column.reached)));
        lines.push(...detail(`${name}: calls that crossed a rule unseen`, column.crossings));
        lines.push(...detail(`${name}: tasks that were not done`, column.missed));
        lines.push(...detail(`${name}: tasks with questions`, column.questioned));
    }
    return lines;
}

function detail(title: string, items: readonly string[]): string[] {
    if (items.length === 0) return [];
    return [`<details><summary>${title} (${items.length})</summary>`, "", ...items.map((item) => `- ${item}`), "", "</details>", ""];
}

function byGoal(reached: Column["reached"]): string[] {
    const goals = new Map<string, string[]>();
    for (const { goal, task } of reached) goals.set(goal, [...(goals.get(goal) ?? []), task]);
    return [...goals].map(([goal, tasks]) => `${goal}: ${tasks.join(", ")}`);
}

/** Why each attack that was not stopped, and each question, is what it is: with policies on. */
function causes(columns: Kept["columns"]): string[] {
    const { no, yes } = withPolicies(columns);
    if (no === undefined || yes === undefined) return [];
    const lines = ["### Why", "", "Attacks that reached their goal with policies on and a no to every question:", ""];
    lines.push("| attack | task | a call crossed a rule unseen | what the audit finds | why |", "| --- | --- | --- | --- | --- |");
    for (const { goal, task, findings } of no.reached) {
        const over = no.crossings.filter((one) => one.startsWith(`${goal} < ${task}: `));
        const cells = [
            goal,
            task,
            over.length === 0 ? "no" : over.join("; "),
            [...new Set(findings)].join("; ") || "nothing",
            causeOf(task, goal) ?? "?",
        ];
        lines.push(`| ${cells.join(" | ")} |`);
    }
    if (no.reached.length === 0) lines.push("| none | | | | |");
    lines.push("", "Tasks that needed a question in a clean run with policies on:", "", "| task | asked | why |", "| --- | --- | --- |");
    for (const one of yes.questioned) {
        const [task = "", asked = ""] = one.split(": ");
        lines.push(`| ${task} | ${asked.replace(" asked", "")} | ${causeOf(task, null) ?? "?"} |`);
    }
    return [...lines, ""];
}

function withPolicies(columns: Kept["columns"]): { readonly no: Column | undefined; readonly yes: Column | undefined } {
    return { no: columns["Remit, policies on, no to all"], yes: columns["Remit, policies on, yes to all"] };
}

function share(part: number, of: number): string {
    return of === 0 ? "–" : `${part} (${Math.round((1000 * part) / of) / 10} %)`;
}
