/** Runs that change nothing (Z1, Z2): with mock nothing is reached, with dry-run only what reads is performed. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryStore } from "../../src/ledger/memory.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import { scriptAt } from "../script.ts";

const root = realpathSync(fileURLToPath(new URL("../../../..", import.meta.url)));
const examples = readdirSync(join(root, "examples"), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

let folder = "";
beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-rehearse-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `import llm Model from "openai://gpt-5-mini"
import tool Files from "file://workspace"
import tool Env from "env://process"
import tool Web from "http://127.0.0.1:9"
import tool Mail from "mcp://mail"
import tool Path from "node:path"
import memory Notes from "file://notes.jsonl"
main agent Dry {
    model Model
    role "a tester"
    description "Touches nothing"
    main func(input: { name: string }) {
        written = Files.write({ path: "out.txt", content: input.name })
        first = Notes.add({ text: "a" })
        second = Notes.add({ text: "b" })
        {
            content: Files.read({ path: "in.txt" }).content,
            entries: Files.list({ path: "." }).entries,
            home: Env.get({ name: "PLACE" }).value,
            web: Web.post({ url: "/x" }),
            mail: Mail.send({ to: "you" }),
            base: Path.basename("/a/b"),
            notes: Notes.query({ text: "b" }).map(n => n.id),
            answer: generate({ input: "Answer.", tools: [Files.read, Mail] }) -> { ok: boolean, words: string },
        }
    }
}
`;
const CONFIG = { allow: { node: ["path"] }, mcpServers: { mail: { command: "no-such-command" } } };
const options = (more: object = {}) => ({
    root: folder,
    workspace: folder,
    env: { HOME: folder, PLACE: "here" },
    trust: true,
    cache: false,
    ...more,
});
const prepare = (): string => {
    writeFileSync(join(folder, "remit.json"), JSON.stringify(CONFIG));
    writeFileSync(join(folder, "in.txt"), "real");
    writeFileSync(join(folder, "main.remit"), PROGRAM);
    return join(folder, "main.remit");
};

describe("mock", () => {
    test("a picture that is read is a picture", async () => {
        const source = `import llm M from "mock:"
import tool Files from "file://workspace"
main agent {
    model M
    role "r"
    description "d"
    main func() {
        picture = Files.read({ path: "nowhere.png", as: "image" })
        use image picture
        generate({ input: "What is it?" })
    }
}
`;
        const program = await load<Json, Json>({ source }, options({ mode: "mock", model: "mock:" }));
        expect((await program.run({}).result).failure).toBeUndefined();
        await program.close();
    });
    test("answers with AgentScript's values and reaches nothing", async () => {
        const program = await load<Json, Json>(prepare(), options({ mode: "mock" }));
        expect(await program({ name: "x" })).toEqual({
            content: "mock file content from file://workspace",
            entries: [],
            home: null,
            web: { ok: true, summary: "Web.post", source: "http://127.0.0.1:9", args: [{ url: "/x" }] },
            mail: { ok: true, summary: "Mail.send", source: "mcp://mail", args: [{ to: "you" }] },
            base: { ok: true, summary: "Path.basename", source: "node:path", args: ["/a/b"] },
            notes: ["2", "1"],
            answer: { ok: true, words: "" },
        });
        expect(readdirSync(folder).sort()).toEqual(["in.txt", "main.remit", "remit.json"]);
        await program.close();
    });

    test("every example, in a process that may write nothing, start nothing and open no socket", () => {
        const workspace = join(folder, "work");
        mkdirSync(workspace);
        const child = scriptAt("packages/host/tests/run/mock/child.ts");
        const files = examples.map((name) => join(root, "examples", name, "main.remit"));
        // What may be read is the checkout and the folder that is empty; nothing may be written, and no process begun.
        const flags = ["--permission", `--allow-fs-read=${root}/*`, `--allow-fs-read=${folder}/*`, "--no-warnings"];
        const out = execFileSync(process.execPath, [...flags, child, workspace, ...files], { encoding: "utf8", cwd: root });
        const found = JSON.parse(out) as {
            status: string;
            failure: { kind: string; message: string } | null;
            effects: number;
            sockets: number;
        }[];
        expect(found).toHaveLength(examples.length);
        for (const [i, one] of found.entries()) {
            expect(one.sockets, examples[i]).toBe(0);
            expect(one.effects, examples[i]).toBeGreaterThan(0);
            expect(["done", "failed"], examples[i]).toContain(one.status);
            // A program may not like the fixed values, and no person is there to approve, but no tool, memory or model fails.
            expect(["contract", "value", "raised", "denied", undefined], `${examples[i]}: ${one.failure?.message}`).toContain(
                one.failure?.kind,
            );
        }
        expect(readdirSync(workspace)).toEqual([]);
    });
});

describe("dry-run", () => {
    test("performs what reads, answers the rest, and tells which", async () => {
        const done: string[] = [];
        const tools = {
            Mail: {
                send: () => void done.push("send"),
                look: { readOnly: true, call: () => done.push("look") },
            },
        };
        const path = prepare();
        writeFileSync(
            path,
            PROGRAM.replace('web: Web.post({ url: "/x" })', "look: Mail.look({})").replace(
                'import tool Web from "http://127.0.0.1:9"\n',
                "",
            ),
        );
        const program = await load<Json, Json>(path, options({ mode: "dry-run", tools }));
        expect(await program({ name: "x" })).toEqual({
            content: "real",
            entries: expect.arrayContaining(["in.txt"]),
            home: "here",
            look: 1,
            mail: { ok: true, summary: "Mail.send", source: "mcp://mail", args: [{ to: "you" }] },
            base: null,
            notes: ["2", "1"],
            answer: { ok: true, words: "" },
        });
        expect(done).toEqual(["look"]);
        expect(program.unperformed().map((one) => one.call)).toEqual([
            "Files.write",
            "Notes.add",
            "Notes.add",
            "Mail.send",
            "Path.basename",
        ]);
        expect(program.unperformed()[0]?.args).toEqual([{ path: "out.txt", content: "x" }]);
        expect(existsSync(join(folder, "out.txt"))).toBe(false);
        expect(existsSync(join(folder, "notes.jsonl"))).toBe(false);
        await program.close();
    });

    test("a tool that nobody can ask is not performed; another model may answer", async () => {
        const path = prepare();
        writeFileSync(path, PROGRAM.replace(", Mail]", "]"));
        writeFileSync(join(folder, "replies.json"), JSON.stringify({ replies: ['{"ok": false, "words": "so"}'] }));
        const model = `scripted:${join(folder, "replies.json")}`;
        const program = await load<Json, { answer: Json }>(path, options({ mode: "dry-run", model }));
        expect((await program({ name: "x" })).answer).toEqual({ ok: false, words: "so" });
        expect(program.unperformed().map((one) => one.call)).toContain("Mail.send");
        await program.close();
    });

    test("stays one when it is resumed", async () => {
        const store = memoryStore();
        const source =
            'import tool Files from "file://workspace"\nmain func(input: { name: string }) { Files.write({ path: "out.txt", content: input.name }) }\n';
        const program = await load<Json, Json>(
            { source },
            options({ mode: "dry-run", ledger: store, interactive: true, on: { input: () => null } }),
        );
        const handle = program.run({});
        expect((await handle.result).status).toBe("waiting");
        const resumed = await (await openLedger(store)).resume(handle.id, { env: { HOME: folder }, on: { input: () => "late" } });
        expect(await resumed.value).toMatchObject({ summary: "Files.write" });
        expect(existsSync(join(folder, "out.txt"))).toBe(false);
        await program.close();
    });
});
