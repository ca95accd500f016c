/** A turn of a well-behaved agent, in the sandbox: what it tells, what it may ask, what is sent. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judge } from "./real/schema.ts";
import { type Act, handOf, rig } from "./rig.ts";

test("an agent answers, and what it told is in order", async () => {
    await using here = rig();
    const reply = await here.reply([
        { do: "think", text: "Hm. " },
        { do: "think", text: "Yes." },
        { do: "say", text: "One", more: { messageId: "m1" } },
        { do: "say", text: " message.", more: { messageId: "m1" } },
        { do: "say", text: "Another.", more: { messageId: "m2" } },
        { do: "update", update: { sessionUpdate: "tool_call", toolCallId: "c1", title: "Read a.txt", kind: "read", rawInput: {} } },
        { do: "update", update: { sessionUpdate: "tool_call_update", toolCallId: "c1", name: "read_file", rawInput: { path: "a.txt" } } },
        {
            do: "update",
            update: {
                sessionUpdate: "tool_call_update",
                toolCallId: "c1",
                status: "completed",
                rawInput: {},
                locations: [{ path: "/x/a.txt", line: 3 }],
                content: [{ type: "content", content: { type: "text", text: "its text" } }],
            },
        },
        { do: "update", update: { sessionUpdate: "plan", entries: [{ content: "Mend it", priority: "high", status: "pending" }] } },
        { do: "update", update: { sessionUpdate: "something_of_tomorrow", much: true } },
        { do: "say", text: "Done." },
        { do: "stop", with: { usage: { inputTokens: 10, cachedReadTokens: 5, outputTokens: 4, totalTokens: 19 } } },
    ]);
    const time = expect.any(String);
    expect(reply).toEqual({
        text: "One message.\n\nAnother.\n\nDone.",
        stop: "end_turn",
        confinement: "sandbox",
        agent: { name: "tester", version: "1.2.3", model: "small" },
        entries: [
            { kind: "thought", text: "Hm. Yes.", time, round: 0 },
            { kind: "message", text: "One message.", time, round: 0 },
            { kind: "message", text: "Another.", time, round: 1 },
            {
                kind: "call",
                id: "c1",
                name: "read_file",
                title: "Read a.txt",
                toolKind: "read",
                input: { path: "a.txt" },
                output: "its text",
                status: "completed",
                locations: ["/x/a.txt"],
                time,
                ended: time,
                round: 1,
            },
            { kind: "plan", items: [{ content: "Mend it", status: "pending" }], time, round: 1 },
            { kind: "message", text: "Done.", time, round: 2 },
        ],
        spent: { steps: 4, calls: 1, ms: expect.any(Number) },
    });
    expect(here.parts).toContainEqual({ type: "text", delta: "One" });
    expect(judge(here.seen, "client").invalid).toEqual([]);
});

test("usage is what the agent reported, and nothing where it reported none", async () => {
    await using here = rig();
    const silent = await here.turn([{ do: "say", text: "Hi." }]);
    expect(silent).not.toHaveProperty("usage");
    const apart = await here.turn([
        { do: "stop", with: { usage: { inputTokens: 10, cachedReadTokens: 5, outputTokens: 4, totalTokens: 19 } } },
    ]);
    expect(apart.usage).toEqual({ input: 15, output: 4, cached: 5 });
    const chunks = await here.turn([
        { do: "say", text: "a", more: { _meta: { usage: { promptTokens: 7, completionTokens: 2, totalTokens: 9 } } } },
        { do: "say", text: "b", more: { _meta: { usage: { promptTokens: 8, completionTokens: 3, totalTokens: 11 } } } },
        { do: "update", update: { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 0.5, currency: "USD" } } },
    ]);
    expect(chunks.usage).toEqual({ input: 15, output: 5, usd: 0.5 });
    const dearer = await here.turn([
        { do: "update", update: { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount: 0.75, currency: "USD" } } },
    ]);
    expect(dearer.usage).toEqual({ usd: 0.25 });
});

test("one process serves a session, another session has another", async () => {
    await using here = rig();
    const about = [{ do: "about" }] as const;
    const turns = async (session: string, run?: string): Promise<unknown> =>
        ((await here.found(about, { session, ...(run === undefined ? {} : { run }) }))[0] as { turns: number }).turns;
    expect(await turns("main/A#0")).toBe(1);
    expect(await turns("main/A#0")).toBe(2);
    expect(await turns("main/B#0")).toBe(1);
    expect(await turns("main/A#0", "another run")).toBe(1);
    await here.host.end("main/A#0");
    const late = await here.failure(about, { session: "main/A#0" });
    expect(late).toMatchObject({ kind: "unreachable", message: expect.stringContaining("its session with it") });
});

test("capabilities are announced as far as the hands go", async () => {
    const asked = (seen: readonly { readonly message: unknown }[]): unknown => {
        const hello = seen.map(({ message }) => message as { method?: string; params: { clientCapabilities: unknown } });
        return hello.find(({ method }) => method === "initialize")?.params.clientCapabilities;
    };
    await using none = rig();
    await none.reply([]);
    const always = { elicitation: { form: {} }, session: { compaction: {}, notices: {} } };
    expect(asked(none.seen)).toEqual({ fs: { readTextFile: false, writeTextFile: false }, terminal: false, ...always });
    await using all = rig();
    await all.reply([], {
        hands: [handOf("file://workspace", { read: "may", write: "ask" }), handOf("shell:", { run: "ask" }, undefined, "Shell")],
    });
    expect(asked(all.seen)).toEqual({ fs: { readTextFile: true, writeTextFile: true }, terminal: true, ...always });
});

test("documents are embedded where the agent takes them, else told as text", async () => {
    const prompt = [{ type: "resource", uri: "remit:handshake", mediaType: "application/json", text: '{"a":1}' }] as const;
    const block = async (fault?: string): Promise<unknown> => {
        await using here = rig(fault === undefined ? {} : { fault });
        const [about] = (await here.found([{ do: "about" }], { prompt })) as [{ prompt: { prompt: unknown[] } }];
        expect(judge(here.seen, "client").invalid).toEqual([]);
        return about.prompt.prompt[0];
    };
    expect(await block()).toEqual({
        type: "resource",
        resource: { uri: "remit:handshake", mimeType: "application/json", text: '{"a":1}' },
    });
    expect(await block("no embedding")).toEqual({ type: "text", text: 'Document remit:handshake (application/json):\n{"a":1}' });
});

test("files are read and written through the remit, inside the granted folder only", async () => {
    await using here = rig({ allow: ["Repo.read", "Repo.write src/new.txt"] });
    here.here.write("a.txt", "one\ntwo\nthree\n");
    mkdirSync(join(here.here.workspace, "src"));
    writeFileSync(join(here.here.folder, "outside.txt"), "secret");
    symlinkSync(join(here.here.folder, "outside.txt"), join(here.here.workspace, "link.txt"));
    const at = (path: string): string => join(here.here.workspace, path);
    const read = (path: string, more: object = {}) => ({ do: "request", method: "fs/read_text_file", params: { path, ...more } });
    const write = (path: string) => ({ do: "request", method: "fs/write_text_file", params: { path, content: "made" } });
    const found = await here.found(
        [
            read(at("a.txt")),
            read(at("a.txt"), { line: 2, limit: 1 }),
            read(at("missing.txt")),
            read(at("link.txt")),
            read(at("../outside.txt")),
            read("/etc/passwd"),
            read("a.txt"),
            write(at("src/new.txt")),
            write(at("src/other.txt")),
            write(join(here.here.folder, "x.txt")),
        ] as never,
        { hands: [handOf("file://workspace", { read: "may", write: "ask" })] },
    );
    expect(found).toEqual([
        { ok: { content: "one\ntwo\nthree\n" } },
        { ok: { content: "two\n" } },
        { no: -32002 },
        { no: expect.any(Number) },
        { no: -32603 },
        { no: -32603 },
        { no: -32602 },
        { ok: {} },
        { no: -32603 },
        { no: -32603 },
    ]);
    expect(readFileSync(at("src/new.txt"), "utf8")).toBe("made");
    expect(here.uses.map(({ use, allowed }) => `${use.method} ${(use.args[0] as { path: string }).path} ${allowed}`)).toEqual([
        "read a.txt true",
        "read a.txt true",
        "read missing.txt true",
        "read link.txt true",
        "write src/new.txt true",
        "write src/other.txt false",
    ]);
    expect(judge(here.seen, "client").invalid).toEqual([]);
});

test("SV5: a call that the agent told of as failed is neither allowed any more nor written", async () => {
    await using here = rig({ allow: ["Repo.write"] });
    const path = join(here.here.workspace, "a.txt");
    const call = { toolCallId: "c1", title: "write", kind: "edit", content: [{ type: "diff", path, oldText: null, newText: "made" }] };
    const failed = (id: string): Act => ({ do: "update", update: { sessionUpdate: "tool_call_update", toolCallId: id, status: "failed" } });
    const write = { do: "request", method: "fs/write_text_file", params: { path, content: "made" } };
    const other = { ...call, toolCallId: "c2" };
    const told: Act = { do: "update", update: { sessionUpdate: "tool_call", ...other } };
    const acts: Act[] = [{ do: "permission", call }, failed("c1"), write, told, failed("c2"), { do: "permission", call: other }];
    const reply = await here.reply(acts, {
        hands: [handOf("file://workspace", { read: "may", write: "ask" })],
    });
    const said = reply.entries.flatMap((one) => (one.kind === "message" ? one.text.trim().split("\n") : []));
    expect(said.map((line) => JSON.parse(line) as unknown)).toEqual([
        { ok: { outcome: "selected", optionId: "a" } },
        { no: -32603 },
        { ok: { outcome: "cancelled" } },
    ]);
    expect(existsSync(path)).toBe(false);
    expect(reply.entries.filter(({ kind }) => kind === "call")).toMatchObject([
        { id: "c1", status: "failed" },
        { id: "c2", status: "failed" },
    ]);
});

test("permission is what the remit says of the hand that a call stands for, and never lasts", async () => {
    await using here = rig({ allow: ["Repo.read", "Repo.write", "Shell.run", "Web.get"] });
    const at = (path: string): string => join(here.here.workspace, path);
    const ask = (call: object, more: object = {}) => ({ do: "permission", call: { toolCallId: JSON.stringify(call), ...call }, ...more });
    const cases = [
        [{ kind: "read", locations: [{ path: at("a.txt") }] }, "a"],
        [{ kind: "edit", content: [{ type: "diff", path: at("b.txt"), oldText: "x", newText: "y" }] }, "a"],
        [{ kind: "edit", rawInput: { file_path: "c.txt" } }, "a"],
        [{ kind: "execute", rawInput: { command: "npm test" } }, "a"],
        [{ kind: "execute", rawInput: { command: "npm run a", workdir: at("src") } }, "a"],
        [{ kind: "execute", rawInput: { command: "npm run b", cwd: "src/../docs", env: {} } }, "a"],
        [{ kind: "execute", rawInput: { command: "npm run c", working_directory: at(".") } }, "a"],
        [{ kind: "execute", rawInput: { command: "npm test", workdir: "/elsewhere" } }, "r"],
        [{ kind: "execute", rawInput: { command: "npm test", cwd: ".." } }, "r"],
        [{ kind: "execute", rawInput: { command: "npm test", cwd: ["src"] } }, "r"],
        [{ kind: "execute", rawInput: { command: "npm test", cwd: "src", workdir: "docs" } }, "r"],
        [{ kind: "execute", rawInput: { command: "npm test", env: { PATH: "/elsewhere" } } }, "r"],
        [{ kind: "execute", rawInput: { command: "npm test", environment: ["PATH=/elsewhere"] } }, "r"],
        [{ kind: "fetch", rawInput: { url: "https://example.com/page" } }, "a"],
        [{ kind: "fetch", rawInput: { url: "https://example.org/page" } }, "r"],
        [{ kind: "edit", locations: [{ path: at("a.txt") }, { path: "/etc/passwd" }] }, "r"],
        [{ kind: "edit" }, "r"],
        [{ kind: "delete", locations: [{ path: at("a.txt") }] }, "r"],
        [{ kind: "other", title: "external_directory" }, "r"],
        [{ kind: "switch_mode", title: "yolo" }, "r"],
    ] as const;
    const hands = [
        handOf("file://workspace", { read: "may", write: "ask" }),
        handOf("shell:", { run: "ask" }, undefined, "Shell"),
        handOf("https://example.com", { get: "may" }, undefined, "Web"),
    ];
    const found = await here.found(cases.map(([call]) => ask(call)) as never, { hands });
    expect(found).toEqual(cases.map(([, optionId]) => ({ ok: { outcome: "selected", optionId } })));
    expect(here.uses.map(({ use }) => [use.method, use.args[0]])).toContainEqual([
        "write",
        { path: "b.txt", edits: [{ old: "x", new: "y" }] },
    ]);
    expect(here.uses.map(({ use }) => [use.method, use.args[0]])).toContainEqual(["run", { command: "npm test" }]);
    // Where it runs is part of what is decided, and of what is asked.
    expect(here.uses.filter(({ use }) => use.method === "run").map(({ use }) => use.args[0])).toEqual([
        { command: "npm test" },
        { command: "npm run a", cwd: "src" },
        { command: "npm run b", cwd: "docs" },
        { command: "npm run c" },
    ]);
    const onlyAlways = [{ optionId: "A", name: "Always", kind: "allow_always" }];
    const never = await here.found([ask(cases[0][0], { options: onlyAlways })] as never, { hands });
    expect(never).toEqual([{ ok: { outcome: "cancelled" } }]);
    expect(judge(here.seen, "client").invalid).toEqual([]);
});

test("what is asked about is the text that the file will have, and it is what a yes is for", async () => {
    await using here = rig({ allow: ["Repo.write"] });
    const at = (path: string): string => join(here.here.workspace, path);
    const before = "one\ntwo\nthree\ntwo\n";
    here.here.write("a.txt", before);
    writeFileSync(join(here.here.folder, "outside.txt"), "secret");
    symlinkSync(join(here.here.folder, "outside.txt"), at("link.txt"));
    const diff = (oldText: string | null, newText: string, path = "a.txt") => ({ type: "diff", path: at(path), oldText, newText });
    const asked = async (
        content: readonly object[],
        more: object = {},
        hand: { readonly [method: string]: "may" | "ask" } = { read: "may", write: "ask" },
    ) => {
        const call = { toolCallId: `c${here.uses.length}`, kind: "edit", content, ...more };
        await here.found([{ do: "permission", call }] as never, { hands: [handOf("file://workspace", hand)] });
        const { path: _, ...shown } = (here.uses.at(-1)?.use.args[0] ?? {}) as { readonly path?: string };
        return shown;
    };
    // claude shows the piece that it changes, others the file.
    expect(await asked([diff("one\n", "1\n")])).toEqual({ content: "1\ntwo\nthree\ntwo\n" });
    expect(await asked([diff(before, "all\n")])).toEqual({ content: "all\n" });
    expect(await asked([diff(null, "made\n", "new.txt")])).toEqual({ content: "made\n" });
    expect(await asked([diff("", "made\n", "new.txt")])).toEqual({ content: "made\n" });
    // A piece with `$` in it is text.
    expect(await asked([diff("three", "$&$'")])).toEqual({ content: "one\ntwo\n$&$'\ntwo\n" });
    // None of several is left out.
    expect(await asked([diff("one", "1"), diff("three", "3")])).toEqual({ content: "1\ntwo\n3\ntwo\n" });
    expect(await asked([diff("two", "2")], { rawInput: { replace_all: true } })).toEqual({ content: "one\n2\nthree\n2\n" });
    // Where it cannot be told what the file will hold, the pieces are no file.
    for (const [content, edits] of [
        [[diff("two", "2")], [{ old: "two", new: "2" }]],
        [[diff("four", "4")], [{ old: "four", new: "4" }]],
        [[diff("", "4")], [{ old: "", new: "4" }]],
        [[diff("secret", "4", "link.txt")], [{ old: "secret", new: "4" }]],
    ] as const)
        expect(await asked(content)).toEqual({ edits });
    // What it may not read is not read for it.
    expect(await asked([diff("one", "1")], {}, { write: "ask" })).toEqual({ edits: [{ old: "one", new: "1" }] });

    const call = { toolCallId: "last", kind: "edit", content: [diff("one", "1")] };
    const write = { do: "request", method: "fs/write_text_file", params: { path: at("a.txt"), content: "1\ntwo\nthree\ntwo\n" } };
    await here.found([{ do: "permission", call }, write] as never, { hands: [handOf("file://workspace", { read: "may", write: "ask" })] });
    const [may, made] = here.uses.slice(-2);
    expect([may?.how, made?.how, made?.use.args]).toEqual(["may", "use", may?.use.args]);
    expect(readFileSync(at("a.txt"), "utf8")).toBe("1\ntwo\nthree\ntwo\n");
    // What was told of the call before counts where the question says nothing of it.
    const update = { sessionUpdate: "tool_call", toolCallId: "early", title: "Edit", kind: "edit", content: [diff("three", "3")] };
    await here.found(
        [
            { do: "update", update },
            { do: "permission", call: { toolCallId: "early" } },
        ] as never,
        {
            hands: [handOf("file://workspace", { read: "may", write: "ask" })],
        },
    );
    expect(here.uses.at(-1)?.use.args).toEqual([{ path: "a.txt", content: "1\ntwo\n3\ntwo\n" }]);
});

test("what was decided is with the call that it was decided about", async () => {
    await using here = rig({ allow: ["Repo.read"] });
    const hands = [handOf("file://workspace", { read: "may", write: "ask" })];
    const call = (id: string, kind: string) => ({
        do: "permission",
        call: { toolCallId: id, kind, title: kind, locations: [{ path: join(here.here.workspace, "a") }] },
    });
    const { entries } = await here.reply([call("c1", "read"), call("c2", "edit")] as never, { hands });
    expect(entries.filter(({ kind }) => kind === "call")).toMatchObject([
        { id: "c1", permission: { allowed: true, by: "remit" } },
        { id: "c2", permission: { allowed: false, by: "remit", why: "the remit does not allow Repo.write" } },
    ]);
});

test("a question of the agent's is asked as one", async () => {
    await using here = rig();
    const asked: unknown[] = [];
    const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const request = { do: "request", method: "elicitation/create", params: { mode: "form", message: "Who?", requestedSchema: schema } };
    const said = await here.found([request] as never, {
        io: {
            child: async (effect) => {
                asked.push([
                    effect.kind,
                    (effect.request as { question?: string; name?: string }).question ?? (effect.request as { name: string }).name,
                ]);
                return { ok: true, value: effect.kind === "ask" ? "once" : "Ada", origins: ["user"] };
            },
        },
    });
    expect(said).toEqual([{ ok: { action: "accept", content: { name: "Ada" } } }]);
    expect(asked).toEqual([
        ["ask", "The agent 'Fixer' asks: Who?"],
        ["input", "Fixer.name"],
    ]);
});

test("a terminal is a use of the program's shell", async () => {
    await using here = rig();
    const hands = [handOf("file://workspace", { read: "may" }), handOf("shell:", { run: "may" }, undefined, "Shell")];
    const lines: unknown[] = [];
    const use = async (one: { readonly args: readonly unknown[] }) => {
        lines.push(one.args[0]);
        return { ok: true, value: { exit_code: 3, stdout: "out\n", stderr: "err\n", truncated: false }, origins: [] } as const;
    };
    const acts = [
        { do: "request", method: "terminal/create", params: { command: "echo", args: ["a b", "c"], cwd: join(here.here.workspace) } },
        { do: "request", method: "terminal/wait_for_exit", params: { terminalId: "terminal-1" } },
        { do: "request", method: "terminal/output", params: { terminalId: "terminal-1" } },
        { do: "request", method: "terminal/release", params: { terminalId: "terminal-1" } },
        { do: "request", method: "terminal/output", params: { terminalId: "terminal-1" } },
        { do: "request", method: "terminal/create", params: { command: "ls", cwd: "/etc" } },
    ];
    const found = await here.found(acts as never, { hands, io: { use } });
    expect(found).toEqual([
        { ok: { terminalId: "terminal-1" } },
        { ok: { exitCode: 3, signal: null } },
        { ok: { output: "out\nerr\n", truncated: false, exitStatus: { exitCode: 3, signal: null } } },
        { ok: {} },
        { no: -32002 },
        { no: -32603 },
    ]);
    expect(lines).toEqual([{ command: "echo 'a b' c" }]);
    expect(judge(here.seen, "client").invalid).toEqual([]);
});

test("a mode and a model are chosen", async () => {
    await using here = rig({ agent: { mode: "code" } });
    const { agent } = await here.reply([], { model: "large" });
    expect(agent?.model).toBe("large");
    expect(here.seen.filter(({ from }) => from === "client").map(({ message }) => (message as { method?: string }).method)).toContain(
        "session/set_mode",
    );
    await using strange = rig({ agent: { mode: "poetry" } });
    expect(await strange.failure([])).toMatchObject({ kind: "unreachable", message: expect.stringContaining("no mode 'poetry'") });
});

test("trace context travels with the prompt", async () => {
    await using here = rig({ setting: { meta: () => ({ traceparent: "00-1-2-01" }) } });
    const [about] = (await here.found([{ do: "about" }])) as [{ prompt: { _meta: unknown } }];
    expect(about.prompt._meta).toEqual({ traceparent: "00-1-2-01" });
});

test("notices are shown, and a flood of them is not", async () => {
    await using here = rig();
    const notice = { do: "update", update: { sessionUpdate: "notice", severity: "info", title: "Look" } };
    await here.reply(Array.from({ length: 100 }, () => notice));
    const shown = here.parts.filter((part) => (part as { type?: string }).type === "notice");
    expect(shown).toHaveLength(21);
    expect([shown[0], shown.at(-1)]).toMatchObject(
        [{ text: /: Look$/ }, { text: /further notices/ }].map(({ text }) => ({ text: expect.stringMatching(text) })),
    );
});
