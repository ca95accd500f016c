/**
 * The pages that people read: their fenced samples, links, headings and tables.
 *
 * Boundary: Markdown to parts. What a sample must hold to is in the tests.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Contract, type Json, type Program, zeroValue } from "@remit/language";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface Page {
    /** From the root, with `/`. */
    readonly name: string;
    readonly text: string;
}

export interface Sample {
    readonly page: string;
    /** Line of the opening fence, from 1. */
    readonly line: number;
    /** First word behind the fence. */
    readonly language: string;
    /** What stands behind it. */
    readonly mode: string;
    readonly text: string;
}

export function pages(): Page[] {
    const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
    const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`);
    return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md", ...docs.map((name) => `docs/${name}`), ...packages].map(
        (name) => ({
            name,
            text: readFileSync(join(root, name), "utf8"),
        }),
    );
}

export function page(name: string): string {
    return readFileSync(join(root, name), "utf8");
}

const FENCE = /^( *)(`{3,}|~{3,})(.*)$/;

export function samplesOf({ name, text }: Page): Sample[] {
    const found: Sample[] = [];
    const lines = text.split("\n");
    for (let at = 0; at < lines.length; at++) {
        const open = FENCE.exec(lines[at] as string);
        if (open === null) continue;
        const [, indent, fence, info] = open as unknown as [string, string, string, string];
        const end = lines.findIndex((line, i) => i > at && line.trim() === fence);
        if (end < 0) throw new Error(`${name}:${at + 1}: a fence is never closed`);
        const [language = "", ...mode] = info.trim().split(/\s+/);
        const body = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
        found.push({ page: name, line: at + 1, language, mode: mode.join(" "), text: `${body.join("\n")}\n` });
        at = end;
    }
    return found;
}

/** A page without its fenced samples. */
export function prose({ text }: Page): string {
    return text.replace(/^( *)(`{3,}|~{3,}).*\n[\s\S]*?^\1\2 *$/gm, "");
}

/** Inline code of a text, table cells included. */
export function inlineCode(text: string): string[] {
    return [...text.matchAll(/`([^`\n]+)`/g)].map((found) => (found[1] as string).replaceAll("\\|", "|"));
}

/** Targets of the links of a page, outside code. */
export function links(from: Page): string[] {
    return [
        ...prose(from)
            .replace(/`[^`\n]*`/g, "")
            .matchAll(/\]\(([^)\s]+)\)/g),
    ].map((found) => found[1] as string);
}

/** Anchors of a page's headings, as GitHub makes them. */
export function anchors(text: string): string[] {
    return [...text.matchAll(/^#+ (.+)$/gm)].map((found) =>
        (found[1] as string)
            .toLowerCase()
            .replace(/[^\p{L}\p{N}\s_-]/gu, "")
            .replace(/\s/g, "-"),
    );
}

/** Rows of the table that follows a text, header and rule left out; cells trimmed. */
export function tableAfter(text: string, after: string): string[][] {
    const from = text.indexOf(after);
    if (from < 0) throw new Error(`the page has no '${after}'`);
    const lines = text.slice(from + after.length).split("\n");
    const first = lines.findIndex((line) => /^\|[ -]+\|/.test(line));
    const rows: string[][] = [];
    for (const line of lines.slice(first + 1)) {
        if (!line.startsWith("|")) break;
        rows.push(
            line
                .replaceAll("\\|", "\u0000")
                .slice(1, -1)
                .split("|")
                .map((cell) => cell.replaceAll("\u0000", "|").trim()),
        );
    }
    return rows;
}

export function shown(sample: Sample): string {
    return `${relative(root, join(root, sample.page))}:${sample.line}`;
}

/** What a program of a page runs with: nothing is reached, and a session of the server has no tool that is lent to it. */
export function mocked(root: string, env: Readonly<Record<string, string | undefined>>) {
    const tools = { lent: {}, conversation: { history: () => [] }, person: {} };
    return { root, workspace: root, model: "mock:", cache: false, env, tools };
}

/** Files that samples name. */
export const FILES: Readonly<Record<string, string>> = {
    "rules.md": "Say what was done, not who did it.\n",
    "build.log": "compiling\nerror: expected ';' before '}' at line 12\n",
    "note.md": "The meeting is on Monday.\n",
};
/** Fields of inputs that name one of them. */
const FIELDS: Readonly<Record<string, Json>> = { path: "note.md", log: "build.log", folder: ".", photo: "photo.gif" };

/** Zero values for what a program begins with. */
export function inputOf(form: Program): Json {
    const entry = form.entry;
    const file = entry === undefined ? undefined : form.files[entry.file];
    if (entry === undefined || file === undefined) throw new Error("the program has no entry");
    const funcs = entry.agent === undefined ? file.funcs : (file.agents.find((agent) => agent.name === entry.agent)?.funcs ?? []);
    const contract = funcs.find((one) => one.name === entry.func)?.params[0]?.contract;
    const shapes = Object.fromEntries(file.shapes.map((shape) => [shape.name, shape.contract]));
    const zero = contract === undefined ? {} : (zeroValue(contract as Contract, shapes) ?? {});
    if (zero === null || typeof zero !== "object" || Array.isArray(zero)) return zero;
    return Object.fromEntries(
        Object.entries(zero).map(([name, value]) => [name, Object.hasOwn(FIELDS, name) ? (FIELDS[name] as Json) : value]),
    );
}
