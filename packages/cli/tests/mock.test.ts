/** Tests and scripts of a project that run the command with models that answer from nothing. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { room as testRoom } from "./remit.ts";

let room: string;
beforeEach(() => {
    room = mkdtempSync(join(tmpdir(), "remit-mock-"));
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

const PROGRAM = `import llm Model from "openai://gpt-5-mini"
import tool Files from "file://workspace"
import tool Env from "env://process"
import tool Mail from "mcp://mail"
import memory Notes from "file://notes.jsonl"
main agent Dry {
    model Model
    role "a tester"
    description "Touches nothing"
    main func() {
        written = Files.write({ path: "out.txt", content: "x" })
        first = Notes.add({ text: "a" })
        {
            content: Files.read({ path: "nowhere" }).content,
            home: Env.get({ name: "HOME" }).value,
            mail: Mail.send({ to: "you" }),
            notes: Notes.query({ text: "b" }),
            answer: generate({ input: "Answer." }) -> { ok: boolean, words: string }
        }
    }
}`;

function dry(flag: string): { value: unknown; said: string } {
    writeFileSync(join(room, "dry.as"), PROGRAM);
    const ran = testRoom(room).remitWith({ env: { HOME: "/home/of" } }, "run", "dry.as", flag, "--quiet");
    expect(existsSync(join(room, "out.txt"))).toBe(false);
    expect(existsSync(join(room, "notes.jsonl"))).toBe(false);
    return { value: JSON.parse(ran.out), said: ran.err };
}
const MOCKED = {
    mail: { ok: true, summary: "Mail.send", source: "mcp://mail", args: [{ to: "you" }] },
    notes: [{ id: "1", created_at: "mock", updated_at: "mock", record: { text: "a" } }],
    answer: { ok: true, words: "" },
};

test("--mock reaches no tool, no memory, no environment and no model", () => {
    expect(dry("--mock").value).toEqual({ content: "mock file content from file://workspace", home: null, ...MOCKED });
});

test("--dry-run performs only what reads, and lists the rest", () => {
    writeFileSync(join(room, "nowhere"), "real");
    const { value, said } = dry("--dry-run");
    expect(value).toEqual({ content: "real", home: "/home/of", ...MOCKED });
    expect(said.match(/^ {2}\w+\.\w+(?=\()/gm)).toEqual(["  Files.write", "  Notes.add", "  Mail.send"]);
});
