import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const remit = fileURLToPath(new URL("../bin/remit.mjs", import.meta.url));
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

test.each(["--mock", "--dry-run"])("%s reaches no tool, no memory, no environment and no model", (flag) => {
    writeFileSync(join(room, "dry.as"), PROGRAM);
    const env = { ...process.env, XDG_STATE_HOME: room, XDG_CACHE_HOME: room, XDG_CONFIG_HOME: room, NO_COLOR: "1" };
    const out = execFileSync(process.execPath, [remit, "run", "dry.as", flag, "--quiet"], { cwd: room, env, encoding: "utf8" });
    expect(JSON.parse(out)).toEqual({
        content: "mock file content from file://workspace",
        home: null,
        mail: { ok: true, summary: "Mail.send", source: "mcp://mail", args: [{ to: "you" }] },
        notes: [{ id: "1", created_at: "mock", updated_at: "mock", record: { text: "a" } }],
        answer: { ok: true, words: "" },
    });
    expect(existsSync(join(room, "out.txt"))).toBe(false);
    expect(existsSync(join(room, "notes.jsonl"))).toBe(false);
});
