/**
 * What a bridge between a model and tools elsewhere has to do, each over real HTTP: `bridge.json` names for each behaviour the tests that hold it,
 * here and in other files, or the decision where ours is another.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { announce } from "../src/discovery.ts";
import { ServeClient, servers } from "../src/index.ts";
import type { TurnInfo } from "../src/wire/messages.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

const CLICK = { description: "Clicks", input: { type: "object" } } as const;
const READ = { description: "Text of the page", readOnly: true } as const;

type Data = { readonly [key: string]: Json };

/** A turn that is followed to its end; `react` answers what it asks for. */
async function turn(
    at: Room,
    id: string,
    text: string,
    react: (event: string, data: Data, turn: string) => unknown = () => undefined,
): Promise<{ readonly turn: TurnInfo; readonly events: readonly string[] }> {
    const { id: name } = await at.owner.submit(id, { text });
    const { seq } = await at.owner.session(id);
    const seen = await watch(at.owner, id, ended(name), (event, data) => (data["turn"] === name ? react(event, data, name) : undefined));
    const events = seen.filter(({ data }) => (data as Data)["turn"] === name).map(({ event }) => event);
    expect(seq).toBeGreaterThan(0);
    return { turn: await at.owner.turn(id, name), events };
}

const answering =
    (at: Room, id: string, decision: "once" | "deny" | "deny session" | "abort", value: Json = "done") =>
    async (event: string, data: Data): Promise<void> => {
        if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, decision);
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value });
    };

test("a turn without a call is one answer: nothing is called or asked, and the session is free again", async () => {
    await using at = await room([{ text: "Nine." }, { text: "Ten." }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const first = await turn(at, id, "when?");
    expect(first.turn).toMatchObject({ status: "done", value: "Nine." });
    expect(first.events.filter((one) => one === "turn.ended").length).toBe(1);
    for (const kind of ["call", "ask.requested"]) expect(first.events).not.toContain(kind);
    expect((await turn(at, id, "and then?")).turn).toMatchObject({ status: "done", value: "Ten." });
});

test("abort at a question ends the turn: nothing is called, and the model is not asked again", async () => {
    await using at = await room([calls("owner", "click"), { text: "never" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const { turn: over, events } = await turn(at, id, "click", answering(at, id, "abort"));
    expect(over).toMatchObject({ status: "cancelled", failure: { kind: "cancelled", message: "the run was ended at a question" } });
    expect(over.value).toBeUndefined();
    expect(events).not.toContain("call");
});

test("no for the session: the tool is not asked about again, in this turn and the next, and the model is told each time", async () => {
    const click = (at: string): Json => calls("owner", "click", { at });
    await using at = await room([click("a"), click("b"), { text: "gave up" }, click("c"), { text: "still no" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    let asked = 0;
    const count = async (event: string, data: Data): Promise<void> => {
        if (event !== "ask.requested") return;
        asked++;
        await at.owner.decide(id, data["ask"] as string, "deny session");
    };
    expect((await turn(at, id, "one", count)).turn).toMatchObject({ status: "done", value: "gave up" });
    const second = await turn(at, id, "two", count);
    expect(second.turn).toMatchObject({ status: "done", value: "still no" });
    expect(second.events).not.toContain("call");
    expect(asked).toBe(1);
});

test("a tool that is not there, and arguments that do not fit, are told to the model before a person is asked; it goes on", async () => {
    const wrong = calls("owner", "click", { at: 1 });
    const right = calls("owner", "click", { at: "#a" });
    await using at = await room([calls("owner", "steal"), wrong, right, { text: "clicked" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", { ...CLICK, input: { type: "object", properties: { at: { type: "string" } }, required: ["at"] } });
    const asked: Json[] = [];
    const { turn: over } = await turn(at, id, "click", async (event, data) => {
        if (event === "ask.requested") asked.push((data["detail"] as Data)["args"] ?? null);
        await answering(at, id, "once")(event, data);
    });
    expect(over).toMatchObject({ status: "done", value: "clicked" });
    expect(asked).toEqual([[{ at: "#a" }]]);
});

/** A program with a bound of its own. */
const SHORT = `import llm Model from "mock:"
import tool Lent from "host:lent"
main agent Short {
    model Model
    role "an assistant"
    description "Helps"
    main func(input { task: string }) {
        generate({ input: input.task, tools: [Lent], turns: 3 })
    }
}`;

test("a model that never stops calling tools ends at its bound, and the turn says so", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-short-"));
    writeFileSync(join(folder, "short.remit"), SHORT);
    const read = (n: number): Json => calls("owner", "read", { n });
    await using at = await room([read(1), read(2), read(3), { text: "never" }], { program: join(folder, "short.remit") });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    let n = 0;
    const { turn: over, events } = await turn(at, id, "read", async (event, data) => {
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: `page ${n++}` });
    });
    expect(over).toMatchObject({ status: "failed", failure: { kind: "limit.turns", message: expect.stringContaining("after 3 turns") } });
    expect(events.filter((one) => one === "call").length).toBe(2);
    rmSync(folder, { recursive: true, force: true });
});

test("a turn is cancelled while its tool is waited for: it ends at once, and what comes late changes nothing", async () => {
    await using at = await room([calls("owner", "read"), { text: "next" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    let call = "";
    const { turn: over } = await turn(at, id, "read", async (event, data, name) => {
        if (event !== "call") return;
        call = data["id"] as string;
        expect(await at.owner.cancel(id, name)).toEqual({ status: "accepted" });
    });
    expect(over.status).toBe("cancelled");
    expect(await at.owner.result(id, call, { ok: true, value: "late" })).toMatchObject({ status: "rejected" });
    // A cancelled turn is no part of the conversation.
    expect((await turn(at, id, "again")).turn).toMatchObject({ status: "done", value: "next" });
});

test("a question is answered by the client that submitted the turn alone; a turn that is cancelled withdraws it everywhere", async () => {
    const ask = { calls: [{ name: "Person_ask", args: { question: "Which size?" } }] };
    await using at = await room([ask, { text: "M it is." }, ask]);
    const { client: other } = await at.client("other");
    const { id } = await at.owner.open();
    const acks: string[] = [];
    const answered = await turn(at, id, "order", async (event, data) => {
        if (event !== "ask.requested") return;
        for (const client of [other, at.owner]) acks.push((await client.answer(id, data["ask"] as string, "M")).status);
    });
    expect([acks, answered.turn.value]).toEqual([["rejected", "accepted"], "M it is."]);
    const seen = watch(other, id, ended("t2"));
    const cancelled = await turn(at, id, "order", async (event, data, name) => {
        if (event === "ask.requested" && data["turn"] === name) await at.owner.cancel(id, name);
    });
    expect(cancelled.turn.status).toBe("cancelled");
    const heard = (await seen).filter(({ data }) => (data as Data)["turn"] === "t2").map(({ event }) => event);
    expect(heard).toContain("ask.withdrawn");
    expect((await at.owner.session(id)).asks).toEqual([]);
});

test("a decision takes the question down for everybody: each client hears who decided, and none can decide again", async () => {
    await using at = await room([calls("owner", "click"), { text: "clicked" }]);
    const [one, two] = [await at.client("one"), await at.client("two")];
    const { id } = await at.owner.open({ approvers: [one.id, two.id] });
    await at.owner.lend(id, "click", CLICK);
    const { id: name } = await at.owner.submit(id, { text: "click" });
    const heard: Json[] = [];
    const acks: string[] = [];
    const there = watch(two.client, id, ended(name), (event, data) => {
        if (event === "ask.decided") heard.push([data["decision"] ?? null, data["by"] ?? null]);
    });
    await watch(at.owner, id, ended(name), async (event, data) => {
        if (event === "ask.requested") {
            // The client that submitted the turn is none of those that the session names.
            const ask = data["ask"] as string;
            for (const client of [at.owner, one.client, two.client]) acks.push((await client.decide(id, ask, "once")).status);
            expect((await at.owner.session(id)).asks).toEqual([]);
        }
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: null });
    });
    await there;
    expect(acks).toEqual(["rejected", "accepted", "rejected"]);
    expect(heard).toEqual([["once", one.id]]);
});

test("no answer in time: a call without a result fails and the model hears why, a question without a decision is a no", async () => {
    const rules = [
        { when: "gave no result of read within", reply: { text: "the page is gone" } },
        { when: "was not allowed", reply: { text: "not allowed" } },
        { when: "read it", reply: calls("owner", "read") },
        { when: "click it", reply: calls("owner", "click") },
    ];
    await using at = await room({ rules }, { bounds: { call: 40, ask: 40 } });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    await at.owner.lend(id, "click", CLICK);
    const decided: Json[] = [];
    const note = (event: string, data: Data): void =>
        void (event === "ask.decided" && decided.push([data["decision"] ?? null, data["by"] ?? null]));
    const clicked = await turn(at, id, "click it", note);
    expect(clicked.turn).toMatchObject({ status: "done", value: "not allowed" });
    expect(clicked.events).not.toContain("call");
    expect(decided).toEqual([["deny", "expiry"]]);
    await using other = await room({ rules }, { bounds: { call: 40 } });
    const { id: second } = await other.owner.open();
    await other.owner.lend(second, "read", READ);
    expect((await turn(other, second, "read it")).turn).toMatchObject({ status: "done", value: "the page is gone" });
});

test("what a model fails with is what the turn fails with; the next one runs", async () => {
    await using at = await room([
        { fail: { kind: "unreachable", message: "the model is not there" } },
        { fail: { kind: "timeout", message: "the model says nothing" } },
        { text: "here" },
    ]);
    const { id } = await at.owner.open();
    expect((await turn(at, id, "a")).turn).toMatchObject({
        status: "failed",
        failure: { kind: "unreachable", message: "the model is not there" },
    });
    expect((await turn(at, id, "b")).turn).toMatchObject({ status: "failed", failure: { kind: "timeout" } });
    expect((await turn(at, id, "c")).turn).toMatchObject({ status: "done", value: "here" });
});

test("it says that it is alive and ready without a credential, and no more", async () => {
    await using at = await room([]);
    for (const path of ["/healthz", "/readyz"]) {
        const answer = await at.raw("GET", path, { headers: { authorization: "" } });
        expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
    }
    expect((await at.raw("GET", "/metrics", { headers: { authorization: "" } })).status).toBe(401);
});

test("two requests that wait for their turns are both answered; a result that comes by another request lets one go on", async () => {
    await using at = await room([calls("owner", "read"), { text: "read it" }, { text: "second" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    const send = (text: string): Promise<TurnInfo> => at.owner.request("POST", `/v1/sessions/${id}/turns?wait=1`, { text });
    const both = Promise.all([send("one"), send("two")]);
    await watch(
        at.owner,
        id,
        (event) => event === "call",
        async (event, data) => {
            if (event !== "call") return;
            expect(await at.owner.result(id, data["id"] as string, { ok: true, value: "page" })).toEqual({ status: "accepted" });
        },
    );
    const [one, two] = await both;
    expect(one.id).not.toBe(two.id);
    expect([one.status, two.status]).toEqual(["done", "done"]);
    expect(new Set([one.value, two.value])).toEqual(new Set(["read it", "second"]));
});

test("a request that waits for its turn and goes away cancels it; one with a key comes back to it", async () => {
    await using at = await room([calls("owner", "read"), calls("owner", "read"), { text: "kept" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    const send = (text: string, signal: AbortSignal, key?: string): Promise<Response> =>
        fetch(`${at.server.url}/v1/sessions/${id}/turns?wait=1`, {
            method: "POST",
            headers: {
                authorization: `Bearer ${at.server.ownerToken}`,
                "content-type": "application/json",
                ...(key === undefined ? {} : { "idempotency-key": key }),
            },
            body: JSON.stringify({ text }),
            signal,
        });
    const leave = async (text: string, name: string, key?: string): Promise<string> => {
        const gone = new AbortController();
        const sent = send(text, gone.signal, key).catch(() => null);
        let call = "";
        await watch(
            at.owner,
            id,
            (event, data) => event === "call" && data["turn"] === name,
            (event, data) => {
                if (event === "call" && data["turn"] === name) call = data["id"] as string;
            },
        );
        gone.abort();
        await sent;
        return call;
    };
    await leave("one", "t1");
    await watch(at.owner, id, ended("t1"));
    expect((await at.owner.turn(id, "t1")).status).toBe("cancelled");
    const call = await leave("two", "t2", "mine");
    const again = send("two", new AbortController().signal, "mine");
    await at.owner.result(id, call, { ok: true, value: "page" });
    expect(await (await again).json()).toMatchObject({ id: "t2", status: "done", value: "kept" });
});

test("no client takes another's tool over: the same name is another tool, and the first one goes on with its own calls", async () => {
    await using at = await room({ replies: [] });
    const [panel, thief] = [await at.client("panel"), await at.client("thief")];
    at.says([calls(panel.id, "click"), { text: "over" }]);
    const { id } = await at.owner.open();
    await panel.client.lend(id, "click", CLICK);
    const called: string[] = [];
    // A call is told to those who watch, too; whose it is it says.
    const stolen = watch(thief.client, id, ended("t1"), (event, data) => {
        if (event === "call" && data["client"] === thief.id) called.push("thief");
    });
    const own = watch(panel.client, id, ended("t1"), async (event, data) => {
        if (event !== "call") return;
        called.push("panel");
        await panel.client.result(id, data["id"] as string, { ok: true, value: null });
    });
    await at.owner.submit(id, { text: "click" });
    await watch(at.owner, id, ended("t1"), async (event, data) => {
        if (event !== "ask.requested") return;
        await thief.client.lend(id, "click", { description: "Clicks, says the thief", readOnly: true });
        expect(await thief.client.withdraw(id, "click")).toEqual({ status: "accepted" });
        await thief.client.lend(id, "click", { description: "Clicks, says the thief", readOnly: true });
        // No field says who sends it.
        const forged = { description: "x", client: panel.id };
        expect((await at.raw("PUT", `/v1/sessions/${id}/tools/click`, { body: forged })).status).toBe(400);
        await at.owner.decide(id, data["ask"] as string, "once");
    });
    await Promise.all([stolen, own]);
    expect(called).toEqual(["panel"]);
    expect((await at.owner.session(id)).tools.map(({ client }) => client).sort()).toEqual([panel.id, thief.id].sort());
});

test("a yes for the session goes with the client: one that comes back and lends the tool anew is asked about anew", async () => {
    await using at = await room({ replies: [] }, { bounds: { away: 10 } });
    const panel = await at.client("panel");
    at.says([calls(panel.id, "click"), { text: "one" }, calls(panel.id, "click"), { text: "two" }]);
    const { id } = await at.owner.open();
    const asked: string[] = [];
    const go = async (text: string): Promise<void> => {
        let name = "";
        await watch(
            panel.client,
            id,
            (event, data) => name !== "" && ended(name)(event, data),
            async (event, data) => {
                // The client is here only while it listens.
                if (event === "caught-up") {
                    await panel.client.lend(id, "click", CLICK);
                    name = (await panel.client.submit(id, { text })).id;
                }
                if (event === "ask.requested" && data["turn"] === name) {
                    asked.push(text);
                    await panel.client.decide(id, data["ask"] as string, "session");
                }
                if (event === "call") await panel.client.result(id, data["id"] as string, { ok: true, value: null });
            },
        );
        await watch(at.owner, id, (event, data) => event === "lent.withdrawn" && data["why"] === "its client went away");
    };
    await go("one");
    await go("two");
    expect(asked).toEqual(["one", "two"]);
});

test("the ledger and everything beside it is for its user alone", async () => {
    await using at = await room([{ text: "x" }]);
    const { id } = await at.owner.open();
    await turn(at, id, "x");
    for (const file of ["ledger.db", "ledger.db-wal"]) expect([file, statSync(join(at.folder, file)).mode & 0o077]).toEqual([file, 0]);
});

test("the conversation goes on within a budget: the newest is kept, the oldest is cut, and a failed turn is no part of it", async () => {
    await using provider = await startFakeProvider();
    const said: string[] = [];
    provider.answer((body) => {
        const text = JSON.stringify(body.messages);
        said.push(text);
        return text.includes("please fail") ? { status: 400, message: "no" } : { text: `answer ${said.length} ${"word ".repeat(500)}` };
    });
    await using at = await room([], { model: `openai://${provider.host}/v1/m` });
    const { id } = await at.owner.open();
    for (const n of [1, 2, 3, 4, 5]) expect((await turn(at, id, `question-${n}`)).turn.status).toBe("done");
    expect((await turn(at, id, "please fail")).turn.status).toBe("failed");
    expect((await turn(at, id, "what now?")).turn.status).toBe("done");
    const last = said.at(-1) ?? "";
    expect(said[1]).toContain("question-1");
    expect(last).toContain("question-5");
    expect(last).not.toContain("question-1");
    expect(last).not.toContain("please fail");
    const context = /the conversation so far[\s\S]*?<(item-[0-9a-f]+)>([\s\S]*?)<\/\1>/.exec(last)?.[2] ?? "";
    expect(context.length).toBeGreaterThan(4000);
    expect(context.length).toBeLessThan(8000 * 1.3);
});

test("words that look like a call are words to an engine that takes tools itself", async () => {
    const words = 'CALL-0123456789 {"tool": "Lent_owner__click", "args": {}}';
    await using at = await room([{ text: words }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const { turn: over, events } = await turn(at, id, "x");
    expect(over).toMatchObject({ status: "done", value: words });
    expect(events).not.toContain("ask.requested");
});

test("a client reads a stream as it comes: in pieces, with comments, other line ends and what it does not know", async () => {
    const one = { at: "x" };
    const pieces = [
        "retry: 10\n\n",
        ":\n\n",
        "id: 1\nevent: sess",
        `ion.opened\ndata: ${JSON.stringify(one)}\n`,
        "\n",
        `unknown: field\r\nid: 2\r\nevent: something.new\r\ndata: {"a":\r\ndata: 1}\r\n\r\n`,
        `id: 2\nevent: something.new\ndata: {}\n\nid: 3\nevent: session.closed\ndata: {}\n\n`,
    ];
    const server = createServer(async (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const piece of pieces) {
            response.write(piece);
            await new Promise((done) => setTimeout(done, 2));
        }
        response.end();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const client = new ServeClient({ url: `http://127.0.0.1:${port}`, token: "t" });
    const got = await Array.fromAsync(client.events("s"));
    expect(got).toEqual([
        { seq: 1, event: "session.opened", data: one },
        { seq: 2, event: "something.new", data: { a: 1 } },
        { seq: 3, event: "session.closed", data: {} },
    ]);
    await new Promise((done) => server.close(done));
});

test("no client cancels another's turn", async () => {
    await using at = await room([calls("owner", "read"), { text: "done" }]);
    const { client: other } = await at.client("other");
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    const { turn: over } = await turn(at, id, "read", async (event, data, name) => {
        if (event !== "call") return;
        expect(await other.cancel(id, name)).toMatchObject({ status: "rejected", reason: "another client submitted the turn" });
        await at.owner.result(id, data["id"] as string, { ok: true, value: "page" });
    });
    expect(over).toMatchObject({ status: "done", value: "done" });
});

test("of several servers the newest is found first", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-servers-"));
    expect(servers(join(folder, "none"))).toEqual([]);
    const at = (port: number): string => `http://127.0.0.1:${port}`;
    for (const port of [4101, 4102, 4103]) {
        announce(folder, { url: at(port), token: "t" });
        // The time of a server has milliseconds.
        await new Promise((done) => setTimeout(done, 5));
    }
    expect(servers(folder).map(({ url }) => url)).toEqual([at(4103), at(4102), at(4101)]);
    rmSync(folder, { recursive: true, force: true });
});

/** Names of the tests of a file, and the texts that the rows of its tables begin with, as they are written. */
function titles(source: string): ReadonlySet<string> {
    const text = /("(?:[^"\\]|\\.)*")/.source;
    const before = [/\b(?:test|it)\(\s*/, /\]\)\(\s*/, /^\s*\[?/].map(({ source: start }) => new RegExp(start + text, "gm"));
    const found = before.flatMap((one) => [...source.matchAll(one)]);
    return new Set(found.map(([, name]) => name as string));
}

interface Held {
    readonly n?: number;
    readonly says: string;
    readonly held: readonly { readonly file: string; readonly test: string }[];
    readonly decision?: string;
}

test("each behaviour is held by tests that are there, or decided otherwise where the decisions say so", () => {
    const root = new URL("../../../", import.meta.url);
    const read = (file: string): string => readFileSync(new URL(file, root), "utf8");
    const { behaviours, untested, faults } = JSON.parse(read("packages/serve/tests/bridge.json")) as {
        readonly [list: string]: readonly Held[];
    };
    expect(behaviours?.map(({ n }) => n)).toEqual(Array.from({ length: 76 }, (_, i) => i + 1));
    const decisions = new Set(
        ["docs/decisions.md", "docs/decisions-running.md"]
            .flatMap((file) => [...read(file).matchAll(/^\| (.+?) \| /gm)])
            .map(([, decision]) => decision),
    );
    const missing: string[] = [];
    for (const { says, held, decision } of [...(behaviours ?? []), ...(untested ?? []), ...(faults ?? [])]) {
        if (held.length === 0 && decision === undefined) missing.push(`${says}: nothing holds it`);
        if (decision !== undefined && !decisions.has(decision)) missing.push(`${says}: no decision '${decision}'`);
        // A test of a table is named by the row that it is about.
        for (const { file, test: name } of held)
            if (!titles(read(file)).has(JSON.stringify(name))) missing.push(`${says}: no test '${name}' in ${file}`);
    }
    expect(missing).toEqual([]);
});
