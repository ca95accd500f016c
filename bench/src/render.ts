/**
 * Results as text: a table for the terminal, a document for `RESULTS.md`.
 */
import { figure, type Row, type Section } from "./harness.ts";

/** A section as it was measured on some day. */
export interface Kept {
    readonly day: string;
    readonly machine: string;
    readonly versions: readonly string[];
    readonly section: Section;
}

const goalOf = (row: Row): string => (row.goal === undefined ? "" : `${row.goal}: ${row.met === true ? "met" : "missed"}`);

/** Names of all that a section's rows are compared with, in the order in which they are met. */
function columns(section: Section): string[] {
    return [...new Set(section.rows.flatMap((row) => row.against.map((one) => one.name)))];
}

function cells(section: Section): string[][] {
    const names = columns(section);
    return section.rows.map((row) => [
        row.name,
        `${figure(row.ours)} ${row.unit}`,
        ...names.map((name) => {
            const one = row.against.find((other) => other.name === name);
            if (one === undefined) return "–";
            return one.lost === undefined ? `${figure(one.value)} (${figure(one.ratio)}×)` : `ended: ${one.lost}`;
        }),
        goalOf(row),
    ]);
}

export function table(section: Section): string {
    const rows = [["", "Remit", ...columns(section), "goal"], ...cells(section)];
    const widths = (rows[0] as string[]).map((_, i) => Math.max(...rows.map((row) => (row[i] as string).length)));
    const lines = rows.map((row) =>
        row
            .map((cell, i) => cell.padEnd(widths[i] as number))
            .join("  ")
            .trimEnd(),
    );
    const notes = section.rows.flatMap((row) => (row.note === undefined ? [] : [`  ${row.name}: ${row.note}`]));
    return [`\n${section.title}`, section.how, "", ...lines, ...(notes.length === 0 ? [] : ["", ...notes])].join("\n");
}

export function markdown(all: readonly Kept[]): string {
    const rows = all.flatMap(({ section }) => section.rows.filter((row) => row.met !== undefined).map((row) => ({ section, row })));
    const missed = rows.filter(({ row }) => row.met === false);
    return `${[
        "# Benchmark results",
        "Written by `npm run bench`; how to run and read it is in [README.md](README.md). Medians of rounds in which all contenders take turns, on a machine that other programs use at the same time: ratios mean more than times, and differences below a third mean little.",
        `Of ${rows.length} goals ${rows.length - missed.length} are met.${missed.length === 0 ? "" : " Missed:"}`,
        ...(missed.length === 0
            ? []
            : [
                  missed
                      .map(({ section, row }) => `- ${section.title}, ${row.name}: ${figure(row.ours)} ${row.unit}, goal ${row.goal}`)
                      .join("\n"),
              ]),
        ...all.map(document),
    ].join("\n\n")}\n`;
}

function document({ day, machine, versions, section }: Kept): string {
    const line = (row: readonly string[]): string => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    const head = ["", "Remit", ...columns(section), "goal"];
    const notes = section.rows.flatMap((row) => (row.note === undefined ? [] : [`- ${row.name}: ${row.note}`]));
    const missed = section.rows.some((row) => row.met === false);
    return [
        `## ${section.title}`,
        section.how,
        `${day}, ${machine}${versions.length === 0 ? "" : `; ${versions.join(", ")}`}`,
        [line(head), line(head.map(() => "---")), ...cells(section).map(line)].join("\n"),
        ...(notes.length === 0 ? [] : [notes.join("\n")]),
        ...(missed && section.cause !== undefined ? [`**Why a goal is missed.** ${section.cause}`] : []),
    ].join("\n\n");
}
