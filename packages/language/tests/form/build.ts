/** Forms by hand, one line a case, and what is expected of them. */
import { expect } from "vitest";
import type { Json } from "../../src/contract/contract.ts";
import { validateProgram } from "../../src/answer/validate.ts";

export type Obj = { [key: string]: Json };

export const lit = (value: string | number | boolean | null): Obj => ({ kind: "literal", value });
export const name = (of: string): Obj => ({ kind: "name", name: of });
export const expr = (value: Json): Obj => ({ kind: "expr", value });
export const set = (target: string, value: Json, op = "="): Obj => ({ kind: "assign", target: name(target), op, value });
export const call = (callee: Json, ...args: Json[]): Obj => ({ kind: "call", callee, args: args.map((value) => ({ value })) });
export const member = (object: Json, of: string): Obj => ({ kind: "member", object, name: of });
export const lambda = (body: Json, ...params: string[]): Obj => ({ kind: "lambda", params, body });
export const use = (value: Json, more: Obj = {}): Obj => ({ kind: "use", value, ...more });
export const config = (key: string, value: Json): Obj => ({ kind: "config", key, value });
export const SETTINGS = [config("model", name("Llm")), config("role", lit("r")), config("description", lit("d"))];
export const generate = (more: Obj = {}): Obj => ({ kind: "generate", input: lit("hi"), ...more });
export const func = (of: string, body: Json, params: Json = [], more: Obj = {}): Obj => ({ name: of, params, effects: [], body, ...more });

export const IMPORTS = [
    { what: "llm", name: "Llm", uri: "mock:" },
    { what: "tool", name: "Repo", uri: "file://workspace" },
    { what: "file", name: "Doc", uri: "./doc.md" },
    { what: "memory", name: "Notes", uri: "file://notes.jsonl" },
];

export function file(more: Obj = {}): Obj {
    return { file: "main.remit", imports: IMPORTS, shapes: [], funcs: [], agents: [], ...more };
}
export function program(...files: Json[]): Obj {
    return { format: "remit-program/1", files };
}
/** A program whose only agent has a main func `(x, items)` with this body. */
export function body(...statements: Json[]): Obj {
    return program(
        file({
            agents: [
                {
                    name: "A",
                    main: true,
                    config: SETTINGS,
                    funcs: [
                        func("main", statements, [{ name: "x" }, { name: "items" }], { main: true }),
                        func("helper", [], [{ name: "a" }]),
                    ],
                },
            ],
        }),
    );
}
export const stage = (call: string, ...args: Json[]): Obj => ({ kind: "stage", call, args });
/** A program of one block. */
export function blocks(flow: Json, more: Obj = {}): Obj {
    return program(file({ blocks: [{ kind: "block", backend: "memory", mode: "static", body: flow, ...more }] }));
}
export const BODY = "/files/0/agents/0/funcs/0/body";

export function refuses(form: unknown, ...expected: [code: string, pointer: string][]): void {
    const found = validateProgram(form);
    expect(found.ok ? "accepted" : found.errors.map((e) => [e.code, e.pointer])).toEqual(expected);
    // The same as text, unless it is text already or no JSON.
    if (typeof form === "string" || expected[0]?.[0] === "FORM_JSON") return;
    const text = validateProgram(JSON.stringify(form));
    expect(text.ok ? "accepted" : text.errors.map((e) => [e.code, e.pointer])).toEqual(expected);
}
export function accepts(form: Json): void {
    const found = validateProgram(form);
    expect(found.ok ? [] : found.errors).toEqual([]);
    expect(validateProgram(JSON.stringify(form)).ok).toBe(true);
}
