/** Programs as text, through the language package. */
import { check, type Json, loadProgram, lower, type Program } from "@remit/language";
import { type How, type Ran, runAll } from "./forms.ts";
import { withStandIns } from "./stand-ins.ts";

/** Functions that generated programs call: one returns and breaks under conditions of its parameter, the other changes a list of the caller. */
export const FUNCS = `func choose(n) { if n > 1 { return 1 }
x = 2
repeat * 2 { if n == x { break }
x = x + 1 }
x }
func grow(list, n) { if n > 0 { list.add(n) } }
`;

/** Forms of the latest programs: a run that is held to others is of the same program each time. */
const known = new Map<string, Program>();
const MOST = 50;

/** The form of a program, one for the same text. `unchecked`: errors of the checker are let through, for what the machine has to refuse itself. */
export function formOf(files: string | { [file: string]: string }, unchecked = false): Program {
    const key = JSON.stringify([files, unchecked]);
    let form = known.get(key);
    if (form === undefined) {
        form = read(files, unchecked);
        if (known.size >= MOST) known.clear();
        known.set(key, form);
    }
    return form;
}

function read(files: string | { [file: string]: string }, unchecked: boolean): Program {
    const all = typeof files === "string" ? { "main.remit": files } : files;
    const loaded = loadProgram(Object.keys(all)[0] as string, {
        read: (file) => all[file] ?? null,
        resolve: (_from, uri) => uri.replace(/^\.\//, ""),
        allowTool: () => ({ allowed: true }),
    });
    const checked = check(withStandIns(loaded));
    const errors = checked.diagnostics.filter((d) => d.severity === "error");
    if (!unchecked && errors.length > 0) throw new Error(errors.map((d) => `${d.code}: ${d.message}`).join("\n"));
    return lower(checked);
}

export const runText = (files: string | { [file: string]: string }, how: How & { unchecked?: boolean } = {}): Ran =>
    runAll(formOf(files, how.unchecked === true), how);

/** Statements as the body of a main func with parameter `input`. */
export const body = (statements: string, before = ""): string => `${before}\nmain agent A {\n main func(input) {\n${statements}\n }\n}\n`;

/** The value of statements, or `KIND: message` of their failure. */
export function evaluated(statements: string, how: How & { unchecked?: boolean; before?: string } = {}): Json {
    const { result } = runText(body(statements, how.before), how);
    if (!result.ok) return `${result.failure.kind}: ${result.failure.message}`;
    return JSON.parse(JSON.stringify(result.value)) as Json;
}
