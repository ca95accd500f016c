/** `remit debug`: fed from a pipe, and as a debug adapter on standard input and output. */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { framed, FramingError, MAX_HEADER, MAX_MESSAGE, Messages } from "../src/debug/framing.ts";
import { readPath, shownPath } from "../src/debug/path.ts";
import { BIN, type Room, room } from "./remit.ts";

const PROGRAM = `func twice(n: number) {
    m = n + n
    m
}
main func(input: { n: number }) {
    before = { a: [1, input.n], b: "text" }
    total = 0
    for i in [1, 2, 3] max 5 {
        total += twice(i) * input.n
    }
    many = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
    before.a[total]
}
`;

function failing(): Room {
    const at = room();
    at.write("main.remit", PROGRAM);
    expect(at.remit("run", "main.remit", "--input", '{"n": 4}', "-q").code).toBe(1);
    return at;
}

describe("from a pipe", () => {
    let at: Room;
    beforeAll(() => {
        at = failing();
    });
    afterAll(() => at.clear());
    const talk = (...lines: string[]) => at.remitWith({ input: `${lines.join("\n")}\n` }, "debug", "last");

    test("there and back", () => {
        const { code, out, err } = talk(
            "next",
            "locals",
            "break 9",
            "continue",
            "step",
            "where",
            "out",
            "rc",
            "goto failure",
            "back",
            "# a note",
            "",
            "quit",
        );
        expect(err).toBe("");
        expect(code).toBe(0);
        expect(out.replace(/^run \S+:/, "run ID").split("\n")).toEqual(
            `run ID main.remit, failed
main.remit:6 in main  step 0, event 1
→  6      before = { a: [1, input.n], b: "text" }
(remit) next
main.remit:7 in main  step 1, event 1
→  7      total = 0
(remit) locals
  input = { n: 4 }  ⟵ user
  before = { a: [1, 4], b: "text" }  (inside: user)
(remit) break 9
  1  main.remit:9
(remit) continue
breakpoint main.remit:9
main.remit:9 in main  step 4, event 2
→● 9          total += twice(i) * input.n
(remit) step
main.remit:2 in twice  step 6, event 2
→  2      m = n + n
(remit) where
→ 0  twice  main.remit:2  main/for[0]/twice#0
  1  main  main.remit:9  main
(remit) out
breakpoint main.remit:9
main.remit:9 in main  step 9, event 3
→● 9          total += twice(i) * input.n
(remit) rc
breakpoint main.remit:9
main.remit:9 in main  step 4, event 2
→● 9          total += twice(i) * input.n
(remit) goto failure
main.remit:12 in main  step 19, event 4
→  12      before.a[total]
(remit) back
main.remit:11 in main  step 18, event 4
→  11      many = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]
(remit) quit
`.split("\n"),
        );
    });

    test("values, pages, origins, authority, events", () => {
        const { code, out } = talk(
            "goto failure",
            "print before.a[1]",
            'print before["b"]',
            "print many 20",
            "origins before",
            "authority",
            "account",
            "pending",
            "threads",
            "events 2",
            "list",
            "goto step 3",
            "goto 3",
            "goto main/for[1]/twice#0",
            "goto end",
            "goto start",
            "help",
        );
        expect(code).toBe(0);
        for (const part of [
            "  4  ⟵ user\n",
            '  "text"\n',
            "  list of 25\n    [20]: 20\n    [21]: 21\n    [22]: 22\n    [23]: 23\n    [24]: 24\n",
            "  before  ⟵ the program's own text\n    a  ⟵ user\n",
            "user: whatever the imports' clauses leave\n",
            "  steps   19\n",
            "  nothing is waited for\n",
            "→ 0  main  next\n",
            "    4  for  main/for[2]  main.remit:8\n",
            "→  12      before.a[total]\n   13  }\n",
            "main.remit:2 in twice  step 11, event 3\n",
            "this is the end\nmain.remit:12 in main the run failed: value: list index 48 is out of range (length 2)  step 20, event 6\n→  12      before.a[total]",
            "this is the beginning\nmain.remit:6 in main  step 0",
            "continue, c ",
        ])
            expect(out).toContain(part);
    });

    test("what cannot be done is said in a line, and the session goes on", () => {
        const wrong = [
            ["dance", "there is no command 'dance'"],
            ["print 1 + 1", "'1 + 1' is no path"],
            ["print nothing", "there is no nothing here"],
            ["print before.__proto__", "there is no before.__proto__ here"],
            ["print before.a.length", "there is no before.a.length here"],
            ["break 999", "no statement begins at or after main.remit:999"],
            ["break other.remit:1", "no statement begins at or after other.remit:1"],
            ["break a b", "break takes"],
            ["delete 3", "there is no breakpoint 3"],
            ["goto main/nowhere#3", "nothing in this run has the path main/nowhere#3"],
            ["goto 99999", "there is no event 99999"],
            ["goto", "goto takes"],
            ["frame 7", "there is no frame 7"],
            ["thread 7", "there is no thread 7"],
            ["step -1", "how often is a whole number"],
            ["list x", "list takes the number of a line"],
        ];
        const { code, out, err } = talk("next", ...wrong.map(([line]) => line as string), "where");
        expect([code, err]).toEqual([1, ""]);
        for (const [line, said] of wrong) expect(out).toContain(`(remit) ${line}\nerror: ${said}`);
        expect(out).toContain("→ 0  main  main.remit:7  main");
    });

    test("text that others wrote cannot move the cursor, and a run without its source is gone through all the same", () => {
        const at = failing();
        at.write("evil.remit", "main func(input: { s: string }) {\n    x = input.s\n    y = { k: x }\n    y\n}\n");
        at.remit("run", "evil.remit", "--input", JSON.stringify({ s: "\u001b[2Jgone\u009b1A\nnext line" }), "-q");
        at.write("evil.remit", "\u001b[2J\n".repeat(5));
        const lines = ["next", "next", "locals", "print x", "list", "pending", "events"];
        const { code, out } = at.remitWith({ input: lines.join("\n") }, "debug", "last");
        expect(code).toBe(0);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
        expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
        at.write("evil.remit", "");
        rmSync(join(at.folder, "evil.remit"));
        const gone = at.remitWith({ input: "next\nlist\n" }, "debug", "last");
        expect(gone.out).toContain("evil.remit:3 in main");
        expect(gone.out).toContain("the source of evil.remit cannot be read");
        at.clear();
    });

    test("the ledger is as it was", () => {
        const path = readLedger(at);
        const before = readFileSync(path);
        talk("goto end", "rc", "next", "goto failure");
        expect(readFileSync(path).equals(before)).toBe(true);
    });

    test("without a run, or with an unknown one", () => {
        expect(at.remit("debug")).toMatchObject({ code: 2, err: expect.stringContaining("takes a run") });
        expect(at.remit("debug", "zzz")).toMatchObject({ code: 1, err: expect.stringContaining("has no run zzz") });
    });
});

function readLedger(at: Room): string {
    return join(at.folder, "remit", "ledger.db");
}

describe("paths", () => {
    test.each([
        ["a", ["a"]],
        ["a.b[0].c", ["a", "b", 0, "c"]],
        ['a["x y"].é', ["a", "x y", "é"]],
        ['a["\\""]', ["a", '"']],
    ] as const)("%s", (text, names) => {
        expect(readPath(text)).toEqual(names);
        expect(shownPath(names)).toBe(text);
    });
    test.each(["", "1", "a.", "a[", "a[-1]", "a[x]", "a b", "a()", 'a["x]', 'a["\\x"]', `a${".b".repeat(200)}`])("%# is none", (text) =>
        expect(readPath(text)).toBeNull(),
    );
});

describe("framing", () => {
    const texts = ["{}", JSON.stringify({ a: "ü".repeat(3000) }), '"€"'];
    const bytes = Buffer.concat(texts.map((text) => framed(JSON.parse(text))));

    test.each([1, 2, 3, 7, 19, 4096, 1 << 20])("cut every %i bytes", (size) => {
        const got: string[] = [];
        const messages = new Messages((text) => got.push(text));
        for (let i = 0; i < bytes.length; i += size) messages.push(bytes.subarray(i, i + size));
        expect(got).toEqual(texts);
    });

    test.each([
        [`Content-Length: ${MAX_MESSAGE + 1}\r\n\r\n`, "more than"],
        ["Content-Length: 99999999999999999999\r\n\r\n", "no Content-Length"],
        ["Content-Length: -1\r\n\r\n", "no Content-Length"],
        ["Content-Length: 1e3\r\n\r\n", "no Content-Length"],
        ["Other: 3\r\n\r\n", "no Content-Length"],
        ["x".repeat(MAX_HEADER + 1), "header has more"],
        [`${"x".repeat(MAX_HEADER + 1)}\r\n\r\n`, "header has more"],
    ])("%#", (text, said) => {
        for (const size of [1, 5, 1 << 20]) {
            const messages = new Messages(() => undefined);
            expect(() => {
                const all = Buffer.from(text);
                for (let i = 0; i < all.length; i += size) messages.push(all.subarray(i, i + size));
            }).toThrow(new RegExp(said));
        }
        expect(() => new Messages(() => undefined).push(Buffer.from(text))).toThrow(FramingError);
    });

    test("other headers and an empty message are let through", () => {
        const got: string[] = [];
        const messages = new Messages((text) => got.push(text));
        messages.push(Buffer.from("Content-Type: x\r\ncontent-length:  2\r\n\r\n{}Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n[]"));
        expect(got).toEqual(["{}", "[]"]);
    });
});

describe("as a debug adapter", () => {
    let at: Room;
    beforeAll(() => {
        at = failing();
    });
    afterAll(() => at.clear());

    type Response = DebugProtocol.Response & { body: never };
    interface Client {
        request<B>(command: string, args?: unknown): Promise<{ success: boolean; message?: string; body: B }>;
        event<B>(name: string): Promise<B>;
        raw(bytes: Buffer | string): void;
        readonly ended: Promise<number | null>;
        readonly seen: DebugProtocol.ProtocolMessage[];
    }

    /** `cut`: bytes are written in pieces of this size. */
    function client(cut: number, ...args: string[]): Client {
        const child = spawn(process.execPath, [BIN, "debug", "--dap", ...args], {
            cwd: at.folder,
            env: at.env,
            stdio: ["pipe", "pipe", "inherit"],
        });
        const seen: DebugProtocol.ProtocolMessage[] = [];
        const events: DebugProtocol.Event[] = [];
        const wanted: (() => void)[] = [];
        const messages = new Messages((text) => {
            const message = JSON.parse(text) as DebugProtocol.ProtocolMessage;
            seen.push(message);
            if (message.type === "event") events.push(message as DebugProtocol.Event);
            for (const wake of wanted.splice(0)) wake();
        });
        child.stdout.on("data", (chunk: Buffer) => messages.push(chunk));
        let over = false;
        const ended = new Promise<number | null>((resolve) => {
            child.on("close", (code) => {
                over = true;
                for (const wake of wanted.splice(0)) wake();
                resolve(code);
            });
        });
        const when = async <T>(find: () => T | undefined): Promise<T> => {
            for (;;) {
                const found = find();
                if (found !== undefined) return found;
                if (over) throw new Error("the adapter ended");
                await new Promise<void>((resolve) => wanted.push(resolve));
            }
        };
        let seq = 0;
        const raw = (bytes: Buffer | string): void => {
            const all = Buffer.from(bytes as string);
            for (let i = 0; i < all.length; i += cut) child.stdin.write(all.subarray(i, i + cut));
        };
        return {
            seen,
            ended,
            raw,
            request: async (command, given) => {
                const mine = ++seq;
                raw(framed({ seq: mine, type: "request", command, ...(given === undefined ? {} : { arguments: given }) }));
                const found = await when(
                    () => seen.find((one) => one.type === "response" && (one as Response).request_seq === mine) as Response | undefined,
                );
                return { success: found.success, body: found.body, ...(found.message === undefined ? {} : { message: found.message }) };
            },
            event: async <B>(name: string) => {
                const found = await when(() => events.find((one) => one.event === name));
                events.splice(events.indexOf(found), 1);
                return found.body as B;
            },
        };
    }

    const top = async (c: Client): Promise<DebugProtocol.StackFrame> =>
        (await c.request<DebugProtocol.StackTraceResponse["body"]>("stackTrace", { threadId: 1 })).body
            .stackFrames[0] as DebugProtocol.StackFrame;

    test.each([1, 13, 65_536])("a session, cut every %i bytes", async (cut) => {
        const c = client(cut);
        const { body: can } = await c.request<DebugProtocol.Capabilities>("initialize", { adapterID: "remit" });
        expect(can).toMatchObject({ supportsStepBack: true, supportsConfigurationDoneRequest: true });
        expect(await c.request("launch", { run: "last" })).toMatchObject({ success: true });
        await c.event("initialized");
        const file = join(at.folder, "main.remit");
        const { body: set } = await c.request<DebugProtocol.SetBreakpointsResponse["body"]>("setBreakpoints", {
            source: { path: file },
            breakpoints: [{ line: 8 }, { line: 9 }, { line: 400 }],
        });
        expect(set.breakpoints).toMatchObject([{ verified: true, line: 8 }, { verified: true, line: 9 }, { verified: false }]);
        await c.request("setExceptionBreakpoints", { filters: ["failure"] });
        await c.request("configurationDone");
        expect(await c.event("stopped")).toMatchObject({ reason: "entry", threadId: 1, allThreadsStopped: true });
        expect((await c.request<DebugProtocol.ThreadsResponse["body"]>("threads")).body.threads).toEqual([{ id: 1, name: "main" }]);
        expect(await top(c)).toMatchObject({ name: "main", line: 6, source: { name: "main.remit", path: file } });

        await c.request("setBreakpoints", { source: { path: file }, breakpoints: [{ line: 9 }] });
        await c.request("continue", { threadId: 1 });
        expect(await c.event("stopped")).toMatchObject({ reason: "breakpoint" });
        const frame = await top(c);
        const { scopes } = (await c.request<DebugProtocol.ScopesResponse["body"]>("scopes", { frameId: frame.id })).body;
        expect(scopes.map((one) => one.name)).toEqual(["Locals", "Authority", "Run"]);
        const inside = async (reference: number | undefined, more: object = {}): Promise<DebugProtocol.Variable[]> =>
            (await c.request<DebugProtocol.VariablesResponse["body"]>("variables", { variablesReference: reference, ...more })).body
                .variables;
        const locals = await inside(scopes[0]?.variablesReference);
        expect(locals.map((one) => [one.name, one.value])).toEqual([
            ["input", "{ n: 4 }  ⟵ user"],
            ["before", '{ a: [1, 4], b: "text" }  (inside: user)'],
            ["total", "0"],
            ["i", "1"],
        ]);
        const [list] = await inside(locals[1]?.variablesReference);
        expect(list).toMatchObject({ name: "a", evaluateName: "before.a", indexedVariables: 2 });
        expect(await inside(list?.variablesReference, { start: 1, count: 5 })).toMatchObject([
            { name: "[1]", value: "4  ⟵ user", evaluateName: "before.a[1]", variablesReference: 0 },
        ]);
        expect(await c.request("evaluate", { expression: "before.a[1]", frameId: frame.id })).toMatchObject({
            body: { result: "4  ⟵ user" },
        });
        expect(await c.request("evaluate", { expression: "before.a.map(f)" })).toMatchObject({ success: false });

        await c.request("stepIn", { threadId: 1 });
        await c.event("stopped");
        expect(await top(c)).toMatchObject({ name: "twice", line: 2 });
        expect(await c.request("variables", { variablesReference: list?.variablesReference })).toMatchObject({ success: false });
        await c.request("stepBack", { threadId: 1 });
        await c.event("stopped");
        expect(await top(c)).toMatchObject({ name: "main", line: 9 });
        await c.request("setBreakpoints", { source: { path: file }, breakpoints: [] });
        await c.request("continue", { threadId: 1 });
        expect(await c.event("stopped")).toMatchObject({ reason: "exception", description: "failure" });
        expect(await top(c)).toMatchObject({ line: 12 });
        expect(await c.request("exceptionInfo", { threadId: 1 })).toMatchObject({
            success: true,
            body: { exceptionId: "value", description: expect.stringMatching(/index/i), breakMode: "always" },
        });
        expect(await top(c)).toMatchObject({ line: 12 });
        // The program's own files are shown: no source is handed out.
        expect(await c.request("source", { sourceReference: 1 })).toMatchObject({ success: false });
        await c.request("reverseContinue", { threadId: 1 });
        expect(await c.event("stopped")).toMatchObject({ reason: "entry" });
        expect(await c.request("exceptionInfo", { threadId: 1 })).toMatchObject({ success: false, message: "nothing fails here" });
        await c.request("next", { threadId: 1 });
        await c.event("stopped");
        expect(await top(c)).toMatchObject({ line: 7 });
        await c.request("setFunctionBreakpoints", { breakpoints: [{ name: "for" }, { name: "no such" }] });
        await c.request("continue", { threadId: 1 });
        expect(await c.event("stopped")).toMatchObject({ reason: "function breakpoint", description: "for" });
        expect(await c.request("disconnect")).toMatchObject({ success: true });
        expect(await c.ended).toBe(0);
    });

    test("every request has one answer, whatever is asked", async () => {
        const c = client(4096, "last");
        await c.request("initialize");
        expect(await c.request("threads")).toMatchObject({ success: false, message: expect.stringContaining("no run is open") });
        expect(await c.request("launch", { run: "zzzz" })).toMatchObject({
            success: false,
            message: expect.stringContaining("has no run zzzz"),
        });
        expect(await c.request("attach", {})).toMatchObject({ success: true });
        expect(await c.request("launch", {})).toMatchObject({ success: false });
        for (const [command, args] of [
            ["fly", {}],
            ["", {}],
            ["__proto__", {}],
            ["constructor", {}],
            ["stackTrace", { threadId: 99 }],
            ["stackTrace", { threadId: "1" }],
            ["scopes", { frameId: 1e99 }],
            ["scopes", []],
            ["variables", { variablesReference: -1 }],
            ["variables", null],
            ["evaluate", { expression: 7 }],
            ["evaluate", { expression: "x".repeat(100_000) }],
            ["continue", { threadId: 77 }],
        ] as const)
            expect(await c.request(command, args)).toMatchObject({ success: false });
        expect(await c.request("setBreakpoints", { source: 3, breakpoints: "x" })).toMatchObject({ success: true });
        const many = await c.request<DebugProtocol.SetBreakpointsResponse["body"]>("setBreakpoints", {
            source: { path: "main.remit" },
            breakpoints: Array.from({ length: 5000 }, () => ({ line: 2 ** 60 })),
        });
        expect(many.body.breakpoints.length).toBe(1000);
        c.raw("Content-Length: 5\r\n\r\n{nope");
        expect(await c.event("output")).toMatchObject({ category: "stderr" });
        c.raw(framed([1, 2]));
        c.raw(framed({ type: "response", request_seq: 1 }));
        c.raw(framed(null));
        expect(await c.request("threads")).toMatchObject({ success: true });
        const answers = c.seen.filter((one) => one.type === "response").map((one) => (one as Response).request_seq);
        expect(new Set(answers).size).toBe(answers.length);
        expect(c.seen.map((one) => one.seq)).toEqual(c.seen.map((_, i) => i + 1));
        c.raw(`Content-Length: ${2 ** 40}\r\n\r\n`);
        expect(await c.ended).toBe(1);
    });

    test("a long way can be paused", async () => {
        at.write("long.remit", "main func() {\n    x = 0\n    repeat * 3000000 {\n        x += 1\n    }\n    x\n}\n");
        at.remit("run", "long.remit", "-q");
        const c = client(4096, "last");
        await c.request("initialize");
        await c.request("launch", { stopOnEntry: true });
        await c.request("setBreakpoints", { source: { name: "long.remit" }, breakpoints: [{ line: 6 }] });
        await c.request("configurationDone");
        await c.event("stopped");
        await c.request("continue", { threadId: 1 });
        expect(await c.request("stackTrace", { threadId: 1 })).toMatchObject({ success: false, message: "notStopped" });
        expect(await c.request("pause", { threadId: 1 })).toMatchObject({ success: true });
        expect(await c.event("stopped")).toMatchObject({ reason: "pause" });
        expect(await top(c)).toMatchObject({ name: "main" });
        c.raw(framed({ seq: 99, type: "request", command: "terminate" }));
        expect(await c.ended).toBe(0);
    });
});

test("a secret that is known now is shown nowhere, whoever looks", async () => {
    const at = room();
    const secret = "tk-3fA9zQ81mmXw";
    at.write(
        "main.remit",
        `import tool Look from "inspect:"
main func(input: { k: string }) {
    held = { token: "Bearer " + input.k, list: [input.k], long: "${"z".repeat(192)}" + input.k + "and so on" }
    seen = Look.find({ text: "Bearer" })
    held.list[7]
}
`,
    );
    try {
        // Nobody knew it when the run was recorded.
        expect(at.remit("run", "main.remit", "--input", JSON.stringify({ k: secret }), "-q").code).toBe(1);
        const known = { env: { SERVICE_TOKEN: secret } };
        const lines = "goto failure\nlocals\nprint held\nprint held.long\nprint seen\npending\nevents 20\nwhere\n";
        const shown = [
            at.remitWith({ ...known, input: lines }, "debug", "last"),
            at.remitWith(known, "snapshot", "last", "--json"),
            at.remitWith(known, "snapshot", "last"),
        ];
        for (const { out, err } of shown) {
            expect(`${out}${err}`).not.toContain(secret.slice(0, 6));
            expect(out).toContain("[secret env:SERVICE_TOKEN]");
        }
    } finally {
        at.clear();
    }
});
