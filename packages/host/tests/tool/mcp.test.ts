/** `mcp:` against real servers: a process over stdio in both eras of the protocol, and one over HTTP (MR1–MCP5). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Json } from "@remit/language";
import type { Effect } from "@remit/machine";
import { describe, expect, test } from "vitest";
import { trust } from "../../src/config/trust.ts";
import { call, failure, perform, toolEffect, type Work, work } from "./setup.ts";
import { scriptAt } from "../script.ts";

const SERVER = scriptAt("packages/host/tests/tool/mcp-server.ts");
const NOTES = "mcp://notes";

function stdio(here: Work, ...flags: string[]): Json {
    return { mcpServers: { notes: { command: "node", args: [SERVER, join(here.folder, "notes.txt"), ...flags], timeoutMs: 20_000 } } };
}

/** A server process over HTTP; its URL. */
async function http(
    here: Work,
    env: Record<string, string> = {},
): Promise<{ readonly url: string; [Symbol.asyncDispose](): Promise<void> }> {
    const child = spawn(process.execPath, [SERVER, join(here.folder, "notes.txt"), "--http"], {
        env: { ...here.env, ...env },
        stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    for await (const chunk of child.stderr) {
        said += String(chunk);
        if (said.includes("\n")) break;
    }
    const url = /listening on (\S+)/.exec(said)?.[1];
    if (url === undefined) throw new Error(`the server said ${said}`);
    return {
        url,
        [Symbol.asyncDispose]: async () => {
            child.kill();
            if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
        },
    };
}

const greeter = (asked: Effect[]) => async (effect: Effect) => {
    asked.push(effect);
    return { ok: true as const, value: effect.kind === "ask" ? "once" : "Ada", origins: ["user"] };
};

describe.each([["--legacy-only"], ["--modern-only"], ["both eras"]])("over stdio, %s", (era) => {
    test("calls, descriptions, errors, progress, questions", async () => {
        await using here = work();
        const tools = here.tools(here.config(stdio(here, ...(era.startsWith("--") ? [era] : []))));

        expect(await call(tools, NOTES, "add", { note: "tides are caused by the moon" })).toEqual({
            ok: true,
            text: "note 1",
            content: [{ type: "text", text: "note 1" }],
            structured: null,
            isError: false,
        });
        expect(await call(tools, NOTES, "call", { tool: "search", args: { text: "moon" } })).toMatchObject({
            ok: true,
            structured: { notes: ["tides are caused by the moon"] },
        });
        expect(await call(tools, NOTES, "refuse", {})).toMatchObject({ ok: false, isError: true, text: "not today" });

        const unknown = await failure(tools, NOTES, "erase", {}, { name: "Notes" });
        expect(unknown.message).toBe(
            "Tool Notes.erase (mcp://notes) failed: the server 'notes' has no tool 'erase'. Available: search, add, touch, refuse, count, wait, environment, greet, crash",
        );
        expect(await failure(tools, NOTES, "search", "moon", { name: "Notes" })).toMatchObject({
            message: expect.stringContaining("Notes.search expects one json object argument"),
            hint: expect.stringContaining("a stage names them, too, Notes.search(field: value)"),
        });
        // What does not hold against the tool's schema is the tool's error, not a broken connection.
        expect(await perform(tools, NOTES, "add", [{ note: 7 }])).toMatchObject({ ok: true, value: { ok: false, isError: true } });
        expect(readFileSync(join(here.folder, "notes.txt"), "utf8")).toBe("tides are caused by the moon\n");

        const parts: Json[] = [];
        expect((await call(tools, NOTES, "count", { to: 3 }, { emit: (part) => void parts.push(part) })).text).toBe("3");
        expect(parts[0]).toEqual({ progress: 1, total: 3, message: "at 1" });

        const asked: Effect[] = [];
        expect((await call(tools, NOTES, "greet", {}, { child: greeter(asked) })).text).toBe("hello Ada");
        expect(asked.map(({ kind, path }) => [kind, path])).toEqual([
            ["ask", "main/T.greet#0/elicit#0"],
            ["input", "main/T.greet#0/elicit#0/name"],
        ]);
        expect(asked[0]?.request).toMatchObject({ question: "The tool server 'notes' asks: Who are you?" });
        expect((await call(tools, NOTES, "greet", {})).text).toBe("hello nobody");
    });
});

describe("a server over stdio", () => {
    test.each(["--legacy-only", "--modern-only"])("a call carries its trace context where there is one, %s", async (era) => {
        await using here = work();
        const tools = here.tools(here.config(stdio(here, era)));
        const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        expect(await call(tools, NOTES, "touch", {}, { traceparent })).toMatchObject({ text: `hello ${traceparent}` });
        expect(await call(tools, NOTES, "touch", {})).toMatchObject({ text: "hello" });
    });

    test("annotations say what only reads and what may be repeated", async () => {
        await using here = work();
        const tools = here.tools(here.config(stdio(here)));
        const { methods } = await tools.describe({ name: "N", uri: NOTES, file: "" });
        expect(Object.fromEntries(methods.map(({ name, readOnly }) => [name, readOnly]))).toMatchObject({
            search: true,
            add: false,
            touch: false,
        });
        expect(methods.find(({ name }) => name === "search")?.input).toMatchObject({
            type: "object",
            properties: { text: { type: "string" } },
        });
        const repeatable = (method: string, args: Json[] = [{}]) => tools.repeatable(toolEffect(NOTES, method, args));
        expect([await repeatable("search"), await repeatable("touch"), await repeatable("add")]).toEqual([true, true, false]);
        expect([await repeatable("call", [{ tool: "search" }]), await repeatable("call", [{ tool: "add" }])]).toEqual([true, false]);
    });
    test("gets a small environment, and what its configuration names", async () => {
        await using here = work();
        here.env.NOTEBOOK_SOURCE = "hunter2-hunter2";
        here.env.OTHER_SECRET = "must-not-arrive";
        const config = stdio(here) as { mcpServers: { notes: { [key: string]: Json } } };
        config.mcpServers.notes.env = { NOTEBOOK_KEY: "$NOTEBOOK_SOURCE-$UNSET!" };
        const tools = here.tools(here.config(config));
        expect(JSON.parse((await call(tools, NOTES, "environment", {})).text as string)).toEqual({
            NOTEBOOK_KEY: "hunter2-hunter2-!",
            OTHER_SECRET: null,
            cwd: here.workspace,
        });
        expect(here.secrets.get("env:NOTEBOOK_SOURCE")).toBe("hunter2-hunter2");
    });
    test("that crashes is unreachable, says what it wrote, and is started again at the next call", async () => {
        await using here = work();
        const tools = here.tools(here.config(stdio(here)));
        const crashed = await failure(tools, NOTES, "crash", {});
        expect([crashed.kind, crashed.message]).toEqual(["unreachable", expect.stringMatching(/; it wrote: notebook: out of paper$/)]);
        expect((await call(tools, NOTES, "touch", {})).text).toBe("hello");
    });
    test("a call that takes too long is a timeout; one that is cancelled is cancelled", async () => {
        await using here = work();
        const config = stdio(here) as { mcpServers: { notes: { [key: string]: Json } } };
        config.mcpServers.notes.timeoutMs = 300;
        const tools = here.tools(here.config(config));
        expect((await failure(tools, NOTES, "wait", { ms: 60_000 })).kind).toBe("timeout");
        const controller = new AbortController();
        const waiting = failure(tools, NOTES, "wait", { ms: 60_000 }, { signal: controller.signal });
        controller.abort();
        expect((await waiting).kind).toBe("cancelled");
    });
    test("one process serves all imports and calls, and ends with the run", async () => {
        await using here = work();
        const config = {
            mcpServers: {
                notes: {
                    command: "node",
                    args: [
                        "-e",
                        `require("fs").appendFileSync("pids", process.pid + "\\n"); import(${JSON.stringify(`file://${SERVER}`)})`,
                    ],
                },
            },
        };
        const tools = here.tools(here.config(config));
        await Promise.all([call(tools, NOTES, "touch", {}, { name: "A" }), call(tools, NOTES, "touch", {}, { name: "B" })]);
        const pids = readFileSync(join(here.workspace, "pids"), "utf8").trim().split("\n").map(Number);
        expect(pids).toHaveLength(1);
        await tools.close();
        await expect.poll(() => alive(pids[0] as number)).toBe(false);
    });
    test("speaks the era that its configuration names, or is unreachable", async () => {
        await using here = work();
        const config = (protocol: string, ...flags: string[]): Json => {
            const json = stdio(here, ...flags) as { mcpServers: { notes: { [key: string]: Json } } };
            json.mcpServers.notes.protocol = protocol;
            return json;
        };
        expect((await call(here.tools(here.config(config("modern"))), NOTES, "touch", {})).text).toBe("hello");
        expect((await failure(here.tools(here.config(config("legacy", "--modern-only"))), NOTES, "touch", {})).kind).toBe("unreachable");
    });
    test("that cannot be started says so; several at once are told the same", async () => {
        await using here = work();
        const tools = here.tools(
            here.config({
                mcpServers: {
                    gone: { command: "no-such-command-here" },
                    lost: { command: "node", cwd: "no-such-folder" },
                    quits: { command: "node", args: ["-e", "console.error('no licence'); process.exit(1)"] },
                },
            }),
        );
        const all = await Promise.all([failure(tools, "mcp://gone", "x", {}), failure(tools, "mcp://gone", "y", {})]);
        for (const one of all)
            expect(one).toMatchObject({
                kind: "unreachable",
                message: expect.stringContaining("there is no command 'no-such-command-here'"),
            });
        expect(await failure(tools, "mcp://lost", "x", {})).toMatchObject({
            message: expect.stringMatching(/there is no folder '.*no-such-folder'/),
            hint: "mend `cwd` of that server in remit.json",
        });
        expect(await failure(tools, "mcp://quits", "x", {})).toMatchObject({
            kind: "unreachable",
            message: expect.stringMatching(/; it wrote: no licence$/),
        });
        expect(await failure(tools, "mcp://other", "x", {})).toMatchObject({
            kind: "unreachable",
            hint: "configured are gone, lost, quits",
        });
    });
});

describe("trust", () => {
    test("a project's file that is not trusted starts nothing; trusted it does; changed it is asked about again", async () => {
        await using here = work();
        const evil = (mark: string): Json => ({
            mcpServers: {
                notes: { command: "node", args: ["-e", `require("fs").writeFileSync(${JSON.stringify(join(here.folder, mark))}, "x")`] },
            },
        });
        const first = await failure(here.tools(here.config(evil("one"), false)), NOTES, "touch", {});
        expect([first.kind, first.message]).toEqual(["denied", expect.stringContaining("which is not trusted")]);
        expect(existsSync(join(here.folder, "one"))).toBe(false);

        trust(join(here.workspace, "remit.json"), here.env);
        await failure(here.tools(here.config(undefined, false)), NOTES, "touch", {});
        expect(existsSync(join(here.folder, "one"))).toBe(true);

        const changed = await failure(here.tools(here.config(evil("two"), false)), NOTES, "touch", {});
        expect(changed.message).toContain("not trusted since it was changed");
        await pause(100);
        expect(existsSync(join(here.folder, "two"))).toBe(false);
    });
});

describe("a server over HTTP", () => {
    test("is called, described and listed", async () => {
        await using here = work();
        await using server = await http(here);
        const tools = here.tools(here.config({ mcpServers: { notes: { url: server.url } } }));
        expect((await call(tools, NOTES, "add", { note: "neap" })).text).toBe("note 1");
        expect((await call(tools, NOTES, "search", { text: "neap" })).structured).toEqual({ notes: ["neap"] });
        const asked: Effect[] = [];
        expect((await call(tools, NOTES, "greet", {}, { child: greeter(asked) })).text).toBe("hello Ada");
        const listed = await tools.list([{ name: "Notes", uri: NOTES, file: "" }]);
        expect(listed[0]).toMatchObject({
            reachable: true,
            methods: expect.arrayContaining([expect.objectContaining({ name: "search", readOnly: true })]),
        });
    });
    test("gets the headers its configuration names; without them it is unreachable", async () => {
        await using here = work();
        here.env.NOTES_KEY = "sesame-sesame";
        await using server = await http(here, { NOTEBOOK_KEY: "sesame-sesame" });
        const good = here.tools(
            here.config({ mcpServers: { notes: { url: server.url, headers: { Authorization: "Bearer $NOTES_KEY" } } } }),
        );
        expect((await call(good, NOTES, "touch", {})).text).toBe("hello");
        expect(here.secrets.get("env:NOTES_KEY")).toBe("sesame-sesame");
        const bad = here.tools(here.config({ mcpServers: { notes: { url: server.url } } }));
        expect((await failure(bad, NOTES, "touch", {})).kind).toBe("unreachable");
    });
    test("that is not there is unreachable", async () => {
        await using here = work();
        const tools = here.tools(here.config({ mcpServers: { notes: { url: "http://127.0.0.1:9/mcp" } } }));
        expect((await failure(tools, NOTES, "touch", {})).kind).toBe("unreachable");
    });
});

test("the list says what is configured, what can be reached, and why not", async () => {
    await using here = work();
    const config = here.config({
        mcpServers: { notes: (stdio(here) as { mcpServers: { notes: Json } }).mcpServers.notes, gone: { command: "no-such-command-here" } },
        allow: { node: ["path"] },
    });
    const listed = await here.tools(config, { Search: { find: { call: () => [], readOnly: true } } }).list();
    const byUri = Object.fromEntries(listed.map((one) => [one.uri, one]));
    expect(byUri["file://workspace"]?.methods.filter((one) => one.readOnly).map((one) => one.name)).toEqual(["read", "list"]);
    expect(byUri[NOTES]?.reachable).toBe(true);
    expect(byUri["mcp://gone"]).toMatchObject({ reachable: false, reason: expect.stringContaining("there is no command") });
    expect(byUri["node:path"]?.methods.map((one) => one.name)).toContain("basename");
    expect(byUri["host:Search"]?.methods).toMatchObject([{ name: "find", readOnly: true }]);
});

function alive(pid: number): boolean {
    try {
        process.kill(pid, 0);
        return true;
    } catch {
        // No such process.
        return false;
    }
}
