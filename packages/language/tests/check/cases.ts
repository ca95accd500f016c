/**
 * Reads the case files of this folder.
 *
 * A file holds chunks. A chunk begins with `--- title`; `-- file NAME` inside it begins another file of the same program (the first is
 * `main.remit`, or what `-- file` says at once). `### CODE CODE` at the end of a line says what is reported on that line; what is not
 * said must not be reported. Options stand in brackets at the end of the title:
 *   [body]   the chunk is the body of the main func of `PRELUDE`
 *   [notes]  notes are compared too; without it only errors and warnings are
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import {
    type CheckedProgram,
    check,
    type Diagnostic,
    type LoadedProgram,
    loadProgram,
    NATIVE_VERBS,
    position,
    type ProgramFiles,
    registryOf,
    type Verb,
} from "../../src/index.ts";

/** A verb that is there in memory alone. */
const LOCAL: Verb = {
    name: "local",
    description: "Stays here.",
    params: [{ name: "input", contract: { type: "json" }, description: "anything", optional: true, flows: true }],
    result: { type: "json" },
    effects: [],
    backends: ["memory"],
    example: "local",
    uri: "verb:local",
};
const VERBS = registryOf([...NATIVE_VERBS.values()], [LOCAL]);

/** On one line, so that the chunk begins on line 2. */
const PRELUDE = `
import llm M from "mock:" import llm M2 from "mock:other" import tool Repo from "file://workspace" import tool Web from "https://api.example.com"
import tool Find from "sh://find" import tool Mcp from "mcp://server" import tool Env from "env://process" import tool Opt from "host://tuner"
import memory Notes from "file://notes.jsonl" import file Doc from "./doc.md" import file Data from "./data.json"
agent Worker { func fine(x) { x } main func(input) { input } func save(x) { Notes.add({ v: x }) } }
main agent A { model M role "r" description "d"
func id(x) { x } func two(x, y) { [x, y] } func push(xs) { xs.add(1) } func deep(o) { push(o.items) } func copy(xs) { [...xs] } func first(xs) { xs.first() }
func save(x) { Notes.add({ v: x }) } func saves(x) { save(x) } func ask(q) { use q generate({ input: "Answer." }) } func tell(what) { what.text.trim() }
func run(thing) { thing.run({}) } func even(n) { n % 2 == 0 }
main func(input, xs) {`.replaceAll("\n", " ");

export interface Case {
    readonly title: string;
    readonly files: ReadonlyMap<string, string>;
    readonly entry: string;
    /** `main.remit:3 CODE`, sorted. */
    readonly expected: readonly string[];
    readonly notes: boolean;
    readonly shift: number;
}

const folder = join(dirname(fileURLToPath(import.meta.url)), "cases");

export function caseFiles(): string[] {
    return readdirSync(folder).sort();
}

export function readCases(name: string): Case[] {
    const text = readFileSync(join(folder, name), "utf8");
    return text
        .split(/^--- /m)
        .slice(1)
        .map((chunk) => {
            const end = chunk.indexOf("\n");
            const head = chunk.slice(0, end);
            return one(head, chunk.slice(end + 1).replace(/\n+$/, "\n"));
        });
}

function one(head: string, chunk: string): Case {
    const body = head.includes("[body]");
    const files = new Map<string, string>();
    const expected: string[] = [];
    let name = "main.remit";
    let entry = "";
    let lines: string[] = [];
    const close = (): void => {
        if (lines.length === 0 && entry === "") return;
        entry ||= name;
        const text = lines.join("\n");
        files.set(name, body ? `${PRELUDE}\n${text}\n} }` : text);
    };
    for (const line of chunk.split("\n")) {
        const file = /^-- file (\S+)$/.exec(line);
        if (file !== null) {
            close();
            name = file[1] as string;
            entry ||= name;
            lines = [];
            continue;
        }
        const mark = /\s*### ([A-Z_ ]+)$/.exec(line);
        lines.push(mark === null ? line : line.slice(0, mark.index));
        for (const code of mark?.[1]?.trim().split(/\s+/) ?? []) expected.push(`${name}:${lines.length} ${code}`);
    }
    close();
    return {
        title: head.replace(/\s*\[(?:body|notes)\]/g, ""),
        files,
        entry,
        expected: expected.sort(),
        notes: head.includes("[notes]"),
        shift: body ? 1 : 0,
    };
}

/** Loads files from memory; `../` beyond the top, and absolute paths, are outside the tree. */
export function load(files: ReadonlyMap<string, string>, entry: string): LoadedProgram {
    const program: ProgramFiles = {
        read: (path) => files.get(path) ?? null,
        resolve: (from, uri) => {
            const path = posix.normalize(posix.join(posix.dirname(from), uri.replace(/^file:\/\//, "")));
            return path.startsWith("..") || uri.replace(/^file:\/\//, "").startsWith("/") ? null : path;
        },
        allowTool: (uri) => {
            if (uri === "npm:yaml" || uri === "node:crypto" || uri === "./tools.ts") return { allowed: true };
            if (uri === "./untyped.ts") return { allowed: true, unread: "TypeScript is not installed" };
            if (uri === "./reader.ts" || uri === "npm:pure") return { allowed: true, effectful: false };
            return { allowed: false, reason: "it is not in the allow list" };
        },
    };
    return loadProgram(entry, program, VERBS);
}

export function run(text: string): CheckedProgram {
    return check(load(new Map([["main.remit", text]]), "main.remit"));
}

export function lineOf(program: CheckedProgram, d: Diagnostic): number {
    const file = program.files.get(d.file);
    return file === undefined ? 0 : position(file.source, d.range.start).line;
}

/** What was reported, as a case writes it. */
export function reported(program: CheckedProgram, shift: number, notes: boolean): string[] {
    return program.diagnostics
        .filter((d) => notes || d.severity !== "note")
        .map((d) => `${d.file}:${lineOf(program, d) - shift} ${d.code}`)
        .sort();
}
