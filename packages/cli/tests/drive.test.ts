/** `remit serve` in a process of its own; `remit drive` and `remit clients` in another, where this one lends tools meanwhile or a signal ends them. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ServeClient, servers } from "@remit/serve";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Ran, type Room, room } from "./remit.ts";
import { Terminal } from "./typed.ts";

let at: Room;
let server: ChildProcess | null = null;
beforeEach(() => {
    at = room();
});
afterEach(async () => {
    await stop();
    at.clear();
});

const command = (...args: string[]) => at.started({}, ...args);

async function serve(replies: unknown, ...args: string[]): Promise<{ readonly client: ServeClient; readonly ran: Promise<Ran> }> {
    at.write("replies.json", JSON.stringify(replies));
    const { child, ran } = command("serve", "--model", "scripted:replies.json", "--ledger", "ledger.db", ...args);
    server = child;
    for (;;) {
        const [found] = servers(join(at.folder, "remit/serve"));
        if (found !== undefined) return { client: new ServeClient(found), ran };
        if (child.exitCode !== null) throw new Error((await ran).err);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

async function stop(): Promise<void> {
    if (server !== null && server.exitCode === null) {
        server.kill("SIGINT");
        await once(server, "exit");
    }
    server = null;
}

const drive = (...args: string[]): Ran => at.remit("drive", ...args);

test("a task is answered on standard output; the session goes on, and is found by the beginning of its id", async () => {
    const { client, ran } = await serve({
        rules: [
            { when: "named", reply: { text: "Named." } },
            { when: "anew", reply: { text: "New." } },
            { when: "once more", reply: { text: "Again." } },
            { when: "say hello", reply: { text: "Hello." } },
        ],
    });
    const first = drive("say", "hello");
    expect(first).toMatchObject({ code: 0, out: "Hello.\n", err: expect.stringContaining("no tools are lent to it") });
    expect(drive("--quiet", "once more")).toEqual({ code: 0, out: "Again.\n", err: "" });
    expect(drive("--session", "new", "--json", "anew")).toMatchObject({ code: 0, out: '"New."\n' });
    const { sessions } = await client.sessions();
    expect(sessions.map(({ turns }) => turns)).toEqual([1, 2]);
    // the first task names it
    expect(sessions.map(({ title }) => title)).toEqual(["anew", "say hello"]);
    const id = sessions[1]?.id ?? "";
    expect(drive("--quiet", "--session", id.slice(0, 14), "named")).toMatchObject({ code: 0, out: "Named.\n" });
    expect(drive("--session", "nothing", "x")).toMatchObject({
        code: 2,
        err: expect.stringContaining(`open are: ${sessions[0]?.id}`),
    });
    expect(drive("--models")).toMatchObject({
        code: 0,
        out: expect.stringMatching(/scripted:replies\.json +ready[\s\S]*Where a turn names none/),
    });
    const unknown = drive("--model", "grand", "x");
    expect(unknown).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringMatching(/there is no model 'grand'\n {2}there are: scripted:replies\.json/),
    });
    server?.kill("SIGINT");
    const ended = await ran;
    expect(ended).toMatchObject({ code: 0, out: "" });
    expect(ended.err).toMatch(/^Serving at http:\/\/127\.0\.0\.1:\d+;.*\nThe console: .*#code=[a-z2-9]{4}-[a-z2-9]{4}/);
    const runs = JSON.parse(at.remit("runs", "--ledger", "ledger.db", "--json").out) as { id: string; status: string }[];
    expect(runs.filter((run) => run.id === id)).toMatchObject([{ status: "session" }]);
    expect(at.remit("resume", id, "--ledger", "ledger.db").err).toContain("is a session of a server");
    expect(at.remit("trace", `${id}.t1`, "--ledger", "ledger.db").code).toBe(0);
});

test("without a terminal a call that acts is refused; --auto-approve makes it, and says so", async () => {
    const click = { calls: [{ name: "Lent_owner__click", args: {} }] };
    // The script begins anew where the model was closed between two turns.
    const { client } = await serve(
        Array(3)
            .fill([click, { text: "over" }])
            .flat(),
    );
    const { id } = await client.open();
    const over = new AbortController();
    const made: string[] = [];
    const lending = (async () => {
        for await (const { event, data } of client.events(id, { signal: over.signal })) {
            if (event === "session.opened") await client.lend(id, "click", { description: "Clicks" });
            if (event !== "call") continue;
            made.push(event);
            await client.result(id, (data as { id: string }).id, { ok: true, value: null });
        }
    })();
    while ((await client.session(id)).tools.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await command("drive", "click it").ran).toMatchObject({
        code: 0,
        out: "over\n",
        err: expect.stringContaining("May Model call click (lent by owner)? no: there is no terminal to ask on"),
    });
    const told = await command("drive", "--json", "click it").ran;
    // DRV3: each line is JSON.
    const lines = told.err
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { event?: string; message?: string });
    expect(lines.flatMap(({ message }) => message ?? [])).toEqual([expect.stringContaining("no: there is no terminal to ask on")]);
    expect(made).toEqual([]);
    const auto = await command("drive", "--auto-approve", "click it").ran;
    expect(auto).toMatchObject({ code: 0, out: "over\n" });
    expect(auto.err).toContain("no person looks at it first");
    expect(auto.err).toContain("calls click (lent by owner)");
    expect(auto.err).toContain("approved unseen: May Model call click (lent by owner)?");
    expect(made).toEqual(["call"]);
    over.abort();
    await lending;
});

test("at a terminal: always is yes from then on, never is no from then on, stop ends the turn", async () => {
    const call = (tool: string, n: number) => ({ calls: [{ name: `Lent_owner__${tool}`, args: { n } }] });
    // A later task has the earlier ones before it, so its rules come first.
    const { client } = await serve({
        rules: [
            { when: "go sell", reply: call("sell", 1) },
            { when: ["go buy", "was not allowed"], reply: { text: "Bought nothing." } },
            { when: "go buy", reply: call("buy", 1) },
            { when: ["go click", "clicked-2"], reply: { text: "Clicked both." } },
            { when: ["go click", "clicked-1"], reply: call("click", 2) },
            { when: "go click", reply: call("click", 1) },
        ],
    });
    const { id } = await client.open();
    for (const tool of ["click", "buy", "sell"]) await client.lend(id, tool, { description: tool });
    const over = new AbortController();
    const decided: string[] = [];
    const made: string[] = [];
    const lending = (async () => {
        for await (const { event, data } of client.events(id, { signal: over.signal })) {
            if (event === "ask.decided") decided.push((data as { readonly decision: string }).decision);
            if (event !== "call") continue;
            const { id: asked, tool, args } = data as { readonly id: string; readonly tool: string; readonly args: { readonly n: number } };
            made.push(`${tool} ${args.n}`);
            await client.result(id, asked, { ok: true, value: `clicked-${args.n}` });
        }
    })();
    const answers = [
        ["click", "always", "Clicked both.", 0],
        ["buy", "never", "Bought nothing.", 0],
        ["sell", "stop", "The turn was cancelled.", 130],
    ] as const;
    for (const [task, answer, end, code] of answers) {
        await using terminal = new Terminal(at, "drive", "go", task);
        // What is typed before this prompt stands is no answer.
        await terminal.shows("view all >");
        terminal.type(`${answer}\r`);
        await terminal.shows(end);
        expect(await terminal.ends()).toBe(code);
        expect(terminal.seen.match(/May Model call/g)).toHaveLength(1);
    }
    expect(made).toEqual(["click 1", "click 2"]);
    expect(decided).toEqual(["session", "deny session", "abort"]);
    over.abort();
    await lending;
});

test("an answer that is empty says so", async () => {
    await serve([]);
    expect(drive("--quiet", "--model", "mock:", "say hello")).toMatchObject({
        code: 0,
        out: "\n",
        err: expect.stringMatching(/^The answer is empty\..*--model names another/),
    });
});

test("DRV2: without a terminal a question of the program gets no answer, at once", async () => {
    const ask = { calls: [{ name: "Person_ask", args: { question: "Which size?" } }] };
    await serve({
        rules: [
            { when: '"answered":false', reply: { text: "Ordered none." } },
            { when: "order one", reply: ask },
        ],
    });
    // The question itself would wait for three minutes.
    const ran = await command("drive", "order one").ran;
    expect(ran).toMatchObject({ code: 0, out: "Ordered none.\n" });
    expect(ran.err).toContain("Which size? no answer: there is no terminal to ask on");
});

test("Ctrl-C cancels the turn on the server", async () => {
    const { client } = await serve([{ text: "late", delay: 600_000 }]);
    const { id } = await client.open();
    const { child, ran } = command("drive", "wait");
    while ((await client.session(id)).turns[0]?.status !== "running") await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGINT");
    expect(await ran).toMatchObject({ code: 130, out: "", err: expect.stringContaining("The turn was cancelled.") });
    expect((await client.session(id)).turns[0]?.status).toBe("cancelled");
});

test("Ctrl-C cancels a turn that the server has taken, also before drive hears of it", async () => {
    const { client } = await serve([{ text: "late", delay: 600_000 }]);
    const { id } = await client.open();
    const [real] = servers(join(at.folder, "remit/serve"));
    let drives: ChildProcess | null = null;
    const between = createServer(async (request, response) => {
        const { method = "GET", url = "", headers } = request;
        const body = method === "GET" ? {} : { body: await text(request) };
        const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => name === "authorization" || name === "content-type"));
        const answer = await fetch(`${real?.url}${url}`, { method, headers: kept as Record<string, string>, ...body });
        if (url.endsWith("/turns")) drives?.kill("SIGINT");
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
        for await (const part of answer.body ?? []) response.write(part);
        response.end();
    }).listen(0, "127.0.0.1");
    await once(between, "listening");
    const { port } = between.address() as AddressInfo;
    const { child, ran } = command("drive", "wait", "--url", `http://127.0.0.1:${port}`, "--token", String(real?.token));
    drives = child;
    expect(await ran).toMatchObject({ code: 130, err: expect.stringContaining("The turn was cancelled.") });
    expect((await client.session(id)).turns[0]?.status).toBe("cancelled");
    between.close();
    between.closeAllConnections();
});

test("a server that is not there, a credential that is wrong and a program with errors are told in one message", async () => {
    expect(at.remit("drive", "x")).toMatchObject({ code: 2, out: "", err: expect.stringContaining("start one with `remit serve`") });
    expect(at.remit("drive")).toMatchObject({ code: 2, err: expect.stringContaining("needs a task") });
    expect(at.remit("drive", "x", "--url", "http://127.0.0.1:1")).toMatchObject({
        code: 2,
        err: expect.stringContaining("--token or REMIT_TOKEN"),
    });
    expect(drive("x", "--url", "http://127.0.0.1:9", "--token", "t")).toMatchObject({
        code: 2,
        err: expect.stringContaining("cannot be reached"),
    });
    at.write("bad.remit", "main func(input) { missing }");
    const bad = at.remit("serve", "bad.remit", "--ledger", "ledger.db");
    expect(bad).toMatchObject({ code: 1, err: expect.stringContaining("bad.remit:1:20") });
    expect(at.remit("serve", "--origin", "shop.example")).toMatchObject({ code: 2, err: expect.stringContaining("is no origin") });
    const { client } = await serve([]);
    const url = servers(join(at.folder, "remit/serve"))[0]?.url ?? "";
    expect(drive("x", "--url", url, "--token", "wrong")).toMatchObject({
        code: 2,
        err: expect.stringContaining("not, or no longer, one of this server"),
    });
    const port = new URL(url).port;
    expect(at.remit("serve", "--port", port, "--ledger", "other.db", "--model", "mock:")).toMatchObject({
        code: 2,
        err: expect.stringContaining(`another program listens on 127.0.0.1:${port}`),
    });
    expect((await client.me()).id).toBe("owner");
});

test("a client is paired by a code, listed and revoked", async () => {
    await serve([]);
    expect(at.remit("clients", "pair", "--scopes", "observe,nope")).toMatchObject({
        code: 2,
        out: "",
        err: "error: --scopes: there is no scope 'nope'\n  known are observe, submit, lend, approve, admin, with commas or blanks between them\n",
    });
    expect(at.remit("clients", "pair", "--scopes", "lend").err).toContain("note: without the scope 'observe' it hears no call");
    const paired = at.remit("clients", "pair", "--scopes", "observe");
    expect(paired.err).not.toContain("note:");
    expect(paired.out).toMatch(/^[a-z2-9]{4}-[a-z2-9]{4}\n$/);
    const [found] = servers(join(at.folder, "remit/serve"));
    const response = await fetch(`${found?.url}/v1/pair`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code: paired.out.trim(), name: "A panel \u001b[31mred" }),
    });
    const { id, token } = (await response.json()) as { id: string; token: string };
    const list = at.remit("clients");
    expect(list.out).toContain(id);
    expect(list.out).not.toContain("\u001b");
    expect(list.out).not.toContain(token);
    expect(at.remit("clients", "revoke", id)).toMatchObject({ code: 0 });
    expect(at.remit("clients", "revoke", id)).toMatchObject({ code: 1 });
    expect(at.remit("clients", "list", "--json").out).toContain('"revoked"');
});

test("origins may be written in a list or one by one, and stand in no configuration; a model that is none is refused before anything listens", async () => {
    at.write("replies.json", "[]");
    for (const origin of ["*", "shop.example", "https://*/x"])
        expect(at.remit("serve", "--origin", origin)).toMatchObject({ code: 2, err: expect.stringContaining("is no origin") });
    const nonsense = at.remit("serve", "--model", "nonsense", "--ledger", "ledger.db");
    expect(nonsense).toMatchObject({ code: 2, out: "", err: expect.stringContaining("a model is openai://MODEL") });
    expect(servers(join(at.folder, "remit/serve"))).toEqual([]);

    // A folder that a person cloned opens the server to no page: only who starts it does.
    at.write("remit.json", JSON.stringify({ origins: ["https://a.example"] }));
    expect(at.remit("serve", "--trust")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("origins: is not known here") });
    at.write("remit.json", "{}");

    const origins = ["--origin", " https://a.example ,,https://b.example", "--origin", "https://b.example"];
    const { client, ran } = await serve([], ...origins, "--json");
    const url = servers(join(at.folder, "remit/serve"))[0]?.url ?? "";
    const preflight = async (origin: string): Promise<number> =>
        (await fetch(`${url}/v1/sessions`, { method: "OPTIONS", headers: { origin } })).status;
    expect(await Promise.all(["https://a.example", "https://b.example", "https://c.example"].map(preflight))).toEqual([204, 204, 403]);
    expect((await client.me()).id).toBe("owner");
    await stop();
    const lines = (await ran).err
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly message: string });
    expect(lines.filter(({ message }) => message === "ready")).toMatchObject([{ url, login: expect.stringMatching(/^[a-z2-9]{4}-/) }]);
});

test("a question that another client decides is not asked here", async () => {
    const { client } = await serve([{ calls: [{ name: "Lent_owner__click", args: {} }] }, { text: "over" }]);
    const url = servers(join(at.folder, "remit/serve"))[0]?.url ?? "";
    const made = await client.request<{ id: string; token: string }>("POST", "/v1/clients", {
        name: "panel",
        scopes: ["observe", "approve"],
    });
    const panel = new ServeClient({ url, token: made.token });
    const { id } = await client.open({ approvers: [made.id] });
    const over = new AbortController();
    const lending = (async () => {
        for await (const { event, data } of client.events(id, { signal: over.signal })) {
            if (event === "session.opened") await client.lend(id, "click", { description: "Clicks" });
            if (event === "call") await client.result(id, (data as { id: string }).id, { ok: true, value: null });
        }
    })();
    const deciding = (async () => {
        for await (const { event, data } of panel.events(id, { signal: over.signal }))
            if (event === "ask.requested") await panel.decide(id, (data as { ask: string }).ask, "once");
    })();
    while ((await client.session(id)).tools.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const ran = await command("drive", "click it").ran;
    expect(ran).toMatchObject({ code: 0, out: "over\n" });
    expect(ran.err).not.toContain("there is no terminal to ask on");
    over.abort();
    await Promise.all([lending, deciding]);
});

test("--image sends the bytes of files; what is no picture, too large or not there is refused before anything is sent", async () => {
    const { client } = await serve({ rules: [{ when: "what is it", reply: { text: "A point." } }] });
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");
    writeFileSync(join(at.folder, "a.png"), png);
    writeFileSync(join(at.folder, "large.png"), Buffer.concat([png, Buffer.alloc(5 << 20)]));
    at.write("b.png", "no picture");
    const images = ["--image", "a.png", "--image", "a.png"];
    expect(drive("--quiet", ...images, "what is it")).toEqual({ code: 0, out: "A point.\n", err: "" });
    const [session] = (await client.sessions()).sessions;
    const { turns } = await client.session(session?.id ?? "");
    expect(turns[0]?.images).toMatchObject([{ media_type: "image/png", bytes: png.length }, { media_type: "image/png" }]);
    for (const [file, why] of [
        ["b.png", "is no picture"],
        ["large.png", "is larger than 5242880 bytes"],
        ["c.png", "--image c.png cannot be read: there is no such file"],
        [".", "is no file"],
    ])
        expect(drive("--image", file as string, "what is it")).toMatchObject({
            code: 2,
            err: expect.stringContaining(why as string),
        });
    expect((await client.session(session?.id ?? "")).turns).toHaveLength(1);
});
