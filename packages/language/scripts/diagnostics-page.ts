/**
 * Writes `docs/diagnostics.md` and `docs/diagnostics-errors.md` from the table of codes: `node packages/language/scripts/diagnostics-page.ts`.
 *
 * Boundary: the pages' words that are not in the table are here; a test says that the files are what this makes.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Code, CODES, type CodeRow } from "../src/diagnostics/codes.ts";
import { SYNTAX_CODES } from "../src/syntax/codes.ts";

const SECTIONS = [
    {
        severity: "error",
        title: "Errors",
        words: "The program cannot run, or would fail or break a promise of the language wherever the place is reached.",
    },
    { severity: "warning", title: "Warnings", words: "The program runs, and probably not as meant." },
    { severity: "note", title: "Notes", words: "They ask for nothing; `remit check` shows them." },
] as const;

/** How diagnostics are read, with the warnings and notes; the errors have a page of their own, because they are twice as many. */
export function diagnosticsPage(): string {
    return `# Diagnostics

What \`remit check\` says about a program before it runs. What goes wrong while a program runs has a kind in place of a code: [Failures](failures.md).

A diagnostic is printed as \`file:line:column: error CODE: message\`, with the line of the program below it, often a hint, and sometimes fixes. \`remit check --fix\` applies the fixes that keep the meaning, \`remit fmt --fix\` those of old spellings as well.

- **An error** keeps the program from running: \`remit check\` and \`remit run\` end with exit code 1, and nothing was begun. **A warning** and **a note** do not. A code has one severity everywhere, and AgentScript's name where the rule is the same.
- **What to do** is in the hint below the message. In the tables it stands where one sentence fits every case; elsewhere the hint depends on the place: read it there.
- \`remit errors CODE\` shows a row of the tables in a terminal, and \`remit errors KIND\` a kind of failure.
- \`remit check --json FILE\` prints a list of objects with \`code\`, \`severity\`, \`message\`, \`file\` and \`range\` (\`start\` and \`end\`, in UTF-16 units from the beginning of the file), and with \`hint\`, \`fixes\` and \`related\` places where there are any. A script goes by the code: words of messages change.
- No comment and no option silences a diagnostic: mend its place. \`remit check\` has no option that makes warnings fail; a script can read \`severity\`.

| a code that was printed as | is on |
| --- | --- |
| \`error\` | [Errors of \`remit check\`](diagnostics-errors.md) |
| \`warning\` | [Warnings](#warnings) |
| \`note\` | [Notes](#notes) |

${SECTIONS.filter(({ severity }) => severity !== "error")
    .map(sectionOf)
    .join("\n")}`;
}

export function diagnosticErrorsPage(): string {
    return `# Diagnostics: errors

What \`remit check\` reports as an error, by its code. How a diagnostic is read, and the warnings and notes: [Diagnostics](diagnostics.md). \`remit errors CODE\` shows one row in a terminal. Where the column "what to do" is empty, the hint below the message says it for the place.

${SECTIONS.filter(({ severity }) => severity === "error")
    .map(sectionOf)
    .join("\n")}`;
}

function sectionOf({ severity, title, words }: (typeof SECTIONS)[number]): string {
    const some = (Object.entries(CODES) as [Code, CodeRow][]).filter(([, row]) => row.severity === severity);
    const [reading, checking] = [true, false].map((syntax) => some.filter(([code]) => Object.hasOwn(SYNTAX_CODES, code) === syntax));
    return `## ${title}\n\n${words}\n\n${table("reading", reading ?? [])}${table("checking", checking ?? [])}`;
}

function table(phase: string, rows: readonly (readonly [string, CodeRow])[]): string {
    if (rows.length === 0) return "";
    const lines = rows.map(([code, row]) => `| \`${code}\` | ${cell(row.summary)} | ${row.hint === undefined ? "" : cell(row.hint)} |`);
    return `| found when ${phase} | rule | what to do |\n| --- | --- | --- |\n${lines.join("\n")}\n\n`;
}

function cell(text: string): string {
    return text.replaceAll("|", "\\|");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    writeFileSync(new URL("../../../docs/diagnostics.md", import.meta.url), diagnosticsPage());
    writeFileSync(new URL("../../../docs/diagnostics-errors.md", import.meta.url), diagnosticErrorsPage());
}
