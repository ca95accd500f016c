/**
 * Writes `docs/diagnostics.md` from the table of codes: `node packages/language/scripts/diagnostics-page.ts`.
 *
 * Boundary: the page's words that are not in the table are here; a test says that the file is what this makes.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Code, CODES, type CodeRow } from "../src/diagnostics/codes.ts";
import { SYNTAX_CODES } from "../src/syntax/codes.ts";

const SEVERITIES = [
    {
        severity: "error",
        title: "Errors",
        words: "The program cannot run, or would fail or break a promise of the language wherever the place is reached.",
    },
    { severity: "warning", title: "Warnings", words: "The program runs, and probably not as meant." },
    { severity: "note", title: "Notes", words: "They ask for nothing; `remit check` shows them." },
] as const;

export function diagnosticsPage(): string {
    const rows = Object.entries(CODES) as [Code, CodeRow][];
    const sections = SEVERITIES.map(({ severity, title, words }) => {
        const some = rows.filter(([, row]) => row.severity === severity);
        const [reading, checking] = [true, false].map((syntax) => some.filter(([code]) => Object.hasOwn(SYNTAX_CODES, code) === syntax));
        return `## ${title}\n\n${words}\n\n${table("reading", reading ?? [])}${table("checking", checking ?? [])}`;
    });
    return `# Diagnostics

What \`remit check\` says about a program before it runs. What goes wrong while a program runs has a kind in place of a code: [Failures](failures.md).

A diagnostic is printed as \`file:line:column: error CODE: message\`, with the line of the program below it, often a hint, and sometimes fixes. \`remit check --fix\` applies the fixes that keep the meaning, \`remit fmt --fix\` those of old spellings as well.

- **An error** keeps the program from running: \`remit check\` and \`remit run\` end with exit code 1, and nothing was begun. **A warning** and **a note** do not. A code has one severity everywhere, and AgentScript's name where the rule is the same.
- **What to do** is in the hint below the message. In the tables it stands where one sentence fits every case; elsewhere the hint depends on the place: read it there.
- \`remit errors CODE\` shows a row of the tables in a terminal, and \`remit errors KIND\` a kind of failure.
- \`remit check --json FILE\` prints a list of objects with \`code\`, \`severity\`, \`message\`, \`file\` and \`range\` (\`start\` and \`end\`, in UTF-16 units from the beginning of the file), and with \`hint\`, \`fixes\` and \`related\` places where there are any. A script goes by the code: words of messages change.

${sections.join("\n")}`;
}

function table(phase: string, rows: readonly (readonly [string, CodeRow])[]): string {
    if (rows.length === 0) return "";
    const lines = rows.map(([code, row]) => `| \`${code}\` | ${cell(row.summary)} | ${row.hint === undefined ? "" : cell(row.hint)} |`);
    return `| found when ${phase} | rule | what to do |\n| --- | --- | --- |\n${lines.join("\n")}\n\n`;
}

function cell(text: string): string {
    return text.replaceAll("|", "\\|");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
    writeFileSync(new URL("../../../docs/diagnostics.md", import.meta.url), diagnosticsPage());
