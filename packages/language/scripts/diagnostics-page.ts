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

Everything that can be said about a program before it runs. A code has one severity everywhere, and AgentScript's name where the rule is the same. Each diagnostic has a code, a message, \`file:line:column\`, often a hint, and sometimes
fixes: those that keep the meaning are applied by \`remit check --fix\`, those of old spellings by \`remit fmt --fix\` as well. This page is made from the tables in \`packages/language/src\`.

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
