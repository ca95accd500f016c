/** Turns: one after another, each a run of the ledger; with tools that clients lend, and people who decide. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openLedger, openProcess, openStore } from "@remit/host";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { CallResult, Frame } from "../src/wire/messages.ts";
import { calls, ended, room, watch } from "./room.ts";

const CLICK = { description: "Clicks", input: { type: "object", properties: { at: { type: "string" } }, required: ["at"] } };
const READ = { description: "Text of the page", readOnly: true } as const;

test("a tool that reads is called without a question, at the client that lent it", async () => {
    await using at = await room([calls("owner", "read"), { text: "It opens at nine.", chunks: 3 }]);
    const { id } = await at.owner.open({ title: "shop" });
    await at.owner.lend(id, "read", READ);
    const turn = await at.owner.submit(id, { text: "when?" });
    expect(turn.status).not.toBe("done");
    const seen = await watch(at.owner, id, ended(turn.id), (event, data) => {
        if (event === "call")
            return at.owner.result(id, data["id"] as string, { ok: true, value: "opens at nine", site: "https://shop.example/x" });
    });
    const kinds = seen.map(({ event }) => event);
    expect(kinds).not.toContain("ask.requested");
    expect(
        seen
            .filter(({ event }) => event === "turn.text")
            .map(({ data }) => (data as { delta: string }).delta)
            .join(""),
    ).toBe("It opens at nine.");
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "It opens at nine.", run: `${id}.${turn.id}` });
    const { origins } = (seen.at(-1) as Frame).data as unknown as { origins: string[] };
    expect(origins).toEqual(expect.arrayContaining(["lent:owner", "site:https://shop.example"]));
    const run = await at.server.ledger.verify(`${id}.${turn.id}`);
    expect(run).toMatchObject({ ok: true });
    expect(await at.server.ledger.verify(id)).toMatchObject({ ok: true });
});

test("what one fails with is its client's word, too", async () => {
    await using at = await room([calls("owner", "read"), { text: "It is closed." }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    const turn = await at.owner.submit(id, { text: "when?" });
    const seen = await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "call") return at.owner.result(id, data["id"] as string, { ok: false, error: "closed, says the page" });
    });
    const { origins } = (seen.at(-1) as Frame).data as unknown as { origins: string[] };
    expect(origins).toEqual(expect.arrayContaining(["lent:owner", "tool:Lent"]));
});

test("one that acts is asked about first; a no is told to the model, a yes for the session holds for its registration alone", async () => {
    const buy = calls("owner", "click", { at: "#buy" });
    await using at = await room([buy, { text: "not done" }, buy, buy, { text: "twice" }, buy, { text: "anew" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const asked: string[] = [];
    const clicked: string[] = [];
    const go = async (decision: "deny" | "session" | "once") => {
        const turn = await at.owner.submit(id, { text: "buy it" });
        return watch(at.owner, id, ended(turn.id), async (event, data) => {
            if (data["turn"] !== turn.id) return;
            if (event === "ask.requested") {
                asked.push(turn.id);
                expect(data["detail"]).toMatchObject({ args: [{ at: "#buy" }], chosen_by: "model:Model" });
                expect(clicked.filter((one) => one === turn.id).length).toBe(0);
                expect(await at.owner.decide(id, data["ask"] as string, decision)).toEqual({ status: "accepted" });
            }
            if (event === "call") {
                clicked.push(turn.id);
                await at.owner.result(id, data["id"] as string, { ok: true, value: null });
            }
        });
    };
    await go("deny");
    expect({ asked, clicked }).toEqual({ asked: ["t1"], clicked: [] });
    await go("session");
    expect({ asked, clicked }).toEqual({ asked: ["t1", "t2"], clicked: ["t2", "t2"] });
    await at.owner.lend(id, "click", CLICK);
    await go("once");
    expect({ asked, clicked }).toEqual({ asked: ["t1", "t2", "t3"], clicked: ["t2", "t2", "t3"] });
});

test("a result counts from the client that the call went to, a decision from one that the session names", async () => {
    // What the client is called follows from its id, which the server makes: the model is told by the list of tools.
    await using at = await room({ replies: [] });
    const panel = await at.client("panel");
    const other = await at.client("other");
    at.says([calls(panel.id, "click", { at: "a" }), { text: "ok" }]);
    const { id } = await at.owner.open({ approvers: [panel.id] });
    await panel.client.lend(id, "click", CLICK);
    const { tools } = await at.owner.session(id);
    expect(tools.map(({ name }) => name)).toEqual([`${panel.id.replaceAll("-", "_")}__click`]);
    const acks: unknown[] = [];
    const turn = await other.client.submit(id, { text: "x" });
    await watch(panel.client, id, ended(turn.id), async (event, data) => {
        const name = data["ask"] as string;
        if (event === "ask.requested") {
            acks.push(await other.client.decide(id, name, "once"));
            acks.push(await panel.client.decide(id, name, "once"));
            acks.push(await panel.client.decide(id, name, "deny"));
        }
        if (event === "call") {
            acks.push(await other.client.result(id, data["id"] as string, { ok: true, value: "forged" }));
            acks.push(await panel.client.result(id, data["id"] as string, { ok: true, value: "real" }));
        }
    });
    expect(acks.map((one) => (one as { status: string }).status)).toEqual(["rejected", "accepted", "rejected", "rejected", "accepted"]);
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "ok" });
});

test("LNT5, SAK4: of calls that a model makes at once each is acknowledged by itself, to a client that does one thing after the other", async () => {
    await using at = await room({
        rules: [
            { when: '"first"', reply: { text: "both" } },
            {
                when: "do",
                reply: {
                    calls: [
                        { name: "Lent_owner__click", args: { at: "a" } },
                        { name: "Lent_owner__click", args: { at: "b" } },
                    ],
                },
            },
        ],
    });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const turn = await at.owner.submit(id, { text: "do" });
    const acks: unknown[] = [];
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "ask.requested") acks.push(await at.owner.decide(id, data["ask"] as string, "once"));
        if (event === "call") acks.push(await at.owner.result(id, data["id"] as string, { ok: true, value: "first" }));
    });
    expect(acks).toEqual(Array.from({ length: 4 }, () => ({ status: "accepted" })));
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "both" });
});

test("turns wait for one another, can be cancelled while they wait, and have a bound", async () => {
    await using at = await room(
        { replies: [{ text: "slow", delay: 60_000 }, { text: "second" }, { text: "third" }] },
        { bounds: { queue: 2 } },
    );
    const { id } = await at.owner.open();
    const [one, two, three] = [
        await at.owner.submit(id, { text: "1" }),
        await at.owner.submit(id, { text: "2" }),
        await at.owner.submit(id, { text: "3" }),
    ];
    expect((await at.owner.turn(id, three.id)).position).toBe(2);
    const full = await at.raw("POST", `/v1/sessions/${id}/turns`, { body: { text: "4" } });
    expect(full.status).toBe(429);
    expect(await at.owner.cancel(id, two.id)).toEqual({ status: "accepted" });
    expect(await at.owner.turn(id, two.id)).toMatchObject({ status: "cancelled" });
    expect(await at.owner.cancel(id, two.id)).toMatchObject({ status: "rejected" });
    expect(await at.owner.cancel(id, one.id)).toEqual({ status: "accepted" });
    await watch(at.owner, id, ended(three.id));
    expect((await at.owner.session(id)).turns.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "done"]);
});

test("turns that are submitted at once are turns of their own, and one key is one turn", async () => {
    await using at = await room([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const { id } = await at.owner.open();
    const all = await Promise.all([
        at.owner.submit(id, { text: "1" }),
        at.owner.submit(id, { text: "2" }, "key-1"),
        at.owner.submit(id, { text: "2" }, "key-1"),
    ]);
    expect(all.map((one) => one.id)).toEqual(["t1", "t2", "t2"]);
    await watch(at.owner, id, ended("t2"));
    expect((await at.owner.session(id)).turns.map(({ text, status }) => [text, status])).toEqual([
        ["1", "done"],
        ["2", "done"],
    ]);
});

test("the same key is the same turn; another body under it is a conflict", async () => {
    await using at = await room([{ text: "once" }]);
    const { id } = await at.owner.open();
    const one = await at.owner.submit(id, { text: "x" }, "key-1");
    const two = await at.owner.submit(id, { text: "x" }, "key-1");
    expect(two.id).toBe(one.id);
    const other = await at.raw("POST", `/v1/sessions/${id}/turns`, { body: { text: "y" }, headers: { "idempotency-key": "key-1" } });
    expect(other.status).toBe(409);
});

test("a client that goes away takes its tools along, and the model hears why its call failed", async () => {
    const replies = {
        rules: [
            { when: "went away", reply: { text: "it is gone" } },
            { when: "try", reply: calls("owner", "read") },
        ],
    };
    await using at = await room(replies, { bounds: { away: 20 } });
    const { id } = await at.owner.open();
    let turn = "";
    const called = (event: string): boolean => event === "call";
    await watch(at.owner, id, called, async (event) => {
        if (event !== "session.opened") return;
        // The client is here: it listens.
        await at.owner.lend(id, "read", READ);
        turn = (await at.owner.submit(id, { text: "try" })).id;
    });
    // Now it is not, and its call has no result.
    await watch(await at.client("reader").then(({ client }) => client), id, ended(turn));
    expect(await at.owner.turn(id, turn)).toMatchObject({ status: "done", value: "it is gone" });
    expect((await at.owner.session(id)).tools).toEqual([]);
});

test("a question of the program is answered by the person, once", async () => {
    await using at = await room([{ calls: [{ name: "Person_ask", args: { question: "Which size?" } }] }, { text: "Ordered." }]);
    const { id } = await at.owner.open();
    const turn = await at.owner.submit(id, { text: "order" });
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event !== "ask.requested") return;
        expect(data["question"]).toBe("Which size?");
        expect(await at.owner.decide(id, data["ask"] as string, "once")).toMatchObject({ status: "rejected" });
        expect(await at.owner.answer(id, data["ask"] as string, "M")).toEqual({ status: "accepted" });
        expect(await at.owner.answer(id, data["ask"] as string, "L")).toMatchObject({ status: "rejected" });
    });
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "Ordered." });
});

test("a session that another process took ends here, and the server goes on", async () => {
    const broken: unknown[] = [];
    const noted = (error: unknown): void => void broken.push(error);
    process.on("unhandledRejection", noted);
    await using at = await room({
        rules: [
            { when: "buy", reply: calls("owner", "click", { at: "a" }) },
            { when: "say", reply: { text: "said" } },
        ],
    });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const turn = await at.owner.submit(id, { text: "buy" });
    let ask = "";
    await watch(at.owner, id, (event, data) => {
        if (event === "ask.requested") ask = data["ask"] as string;
        return ask !== "";
    });
    const other = await openStore(join(at.folder, "ledger.db"), {
        config: join(at.folder, ".config/remit"),
        state: join(at.folder, "other"),
    });
    for (const run of [id, `${id}.${turn.id}`]) await other.own(run, { from: (await other.run(run)).epoch });
    await expect(at.owner.decide(id, ask, "once")).rejects.toMatchObject({ status: 503 });
    const { id: next } = await at.owner.open();
    const { id: said } = await at.owner.submit(next, { text: "say" });
    await watch(at.owner, next, ended(said));
    expect(await at.owner.turn(next, said)).toMatchObject({ status: "done", value: "said" });
    await other.close();
    process.off("unhandledRejection", noted);
    expect(broken).toEqual([]);
});

test("LNT5: a result is not acknowledged where another process took the run before its record was kept", async () => {
    await using at = await room([calls("owner", "look")]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "look", { description: "Looks", readOnly: true });
    const turn = await at.owner.submit(id, { text: "look" });
    let call = "";
    await watch(at.owner, id, (event, data) => {
        if (event === "call") call = data["id"] as string;
        return call !== "";
    });
    const other = await openStore(join(at.folder, "ledger.db"), {
        config: join(at.folder, ".config/remit"),
        state: join(at.folder, "other"),
    });
    const run = `${id}.${turn.id}`;
    await other.own(run, { from: (await other.run(run)).epoch });
    const give = (): Promise<unknown> => at.owner.result(id, call, { ok: true, value: "seen" });
    const no = { status: "rejected", reason: expect.stringContaining("before the ledger had this result") };
    expect([await give(), await give()]).toEqual([no, no]);
    await other.close();
});

test("a later turn sees what was said before", async () => {
    await using at = await room({
        rules: [
            { when: "blue", reply: { text: "You said blue." } },
            { when: "hello", reply: { text: "My colour is blue." } },
        ],
    });
    const { id } = await at.owner.open();
    await at.owner.request("POST", `/v1/sessions/${id}/turns?wait=1`, { text: "hello" });
    expect(await at.owner.request("POST", `/v1/sessions/${id}/turns?wait=1`, { text: "what did I say?" })).toMatchObject({
        value: "You said blue.",
    });
});

test("a server that is started again goes on: the turn that ran, the one that waited, yeses, tokens; tools are lent anew", async () => {
    const click = calls("owner", "click", { at: "#a" });
    await using at = await room([click, click, { text: "first" }, click, { text: "second" }]);
    const { id } = await at.owner.open({ title: "kept" });
    const { client: reader, token } = await at.client("reader", ["observe"]);
    await at.owner.lend(id, "click", CLICK);
    const one = await at.owner.submit(id, { text: "1" });
    const two = await at.owner.submit(id, { text: "2" });
    await watch(reader, id, (event) => event === "ask.requested");
    await at.again();
    const again = new (await import("../src/index.ts")).ServeClient({ url: at.server.url, token });
    const state = await again.session(id);
    expect(state).toMatchObject({ title: "kept", tools: [] });
    expect(state.turns.map(({ status }) => status)).toEqual(["running", "queued"]);
    await at.owner.cancel(id, one.id);
    await at.owner.cancel(id, two.id);
    const seen = await watch(again, id, ended(two.id));
    const numbers = seen.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
});

test("a turn whose run an execution elsewhere has ends with what lets it go on, and is not run a second time", async () => {
    await using at = await room([calls("owner", "click", { at: "#a" }), { text: "never" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const { id: turn } = await at.owner.submit(id, { text: "x" });
    const run = `${id}.${turn}`;
    await watch(at.owner, id, (event) => event === "ask.requested");
    await at.server.stop();
    const on = openProcess({ env: { HOME: at.folder }, cwd: at.folder });
    const ledger = await openLedger(join(at.folder, "ledger.db"), { process: on });
    await (await ledger.store.own(run, { by: "temporal default/x/1" })).release();
    await ledger.close();
    await on.close();
    await at.again();
    await at.owner.lend(id, "click", CLICK);
    await watch(at.owner, id, ended(turn));
    expect(await at.owner.turn(id, turn)).toMatchObject({
        status: "failed",
        failure: { kind: "unreachable", message: expect.stringContaining("temporal default/x/1"), hint: expect.stringContaining(run) },
    });
});

test("a turn that gets nowhere ends: a refused call that comes again is not asked about, the same result and failures have an end", async () => {
    const click = { when: "click it", reply: calls("owner", "click", { at: "a" }) };
    const read = { when: "read it", reply: calls("owner", "read") };
    const fly = { when: "fly", reply: calls("owner", "fly") };
    await using at = await room({ rules: [click, read, fly] });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    await at.owner.lend(id, "read", READ);
    const seen: string[] = [];
    const go = async (text: string, result: (n: number) => CallResult): Promise<unknown> => {
        const turn = await at.owner.submit(id, { text });
        seen.length = 0;
        await watch(at.owner, id, ended(turn.id), async (event, data) => {
            if (data["turn"] !== turn.id) return;
            if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "deny");
            if (event === "call") await at.owner.result(id, data["id"] as string, result(seen.length));
            if (event === "ask.requested" || event === "call") seen.push(event);
        });
        return at.owner.turn(id, turn.id);
    };
    const stuck = (text: string): object => ({ status: "failed", failure: { kind: "stuck", message: expect.stringContaining(text) } });
    expect(await go("click it", () => ({ ok: true, value: null }))).toMatchObject(stuck("refused"));
    expect(seen).toEqual(["ask.requested"]);
    expect(await go("read it", () => ({ ok: true, value: "the same" }))).toMatchObject(stuck("gave the same 3 times"));
    expect(seen.length).toBe(3);
    // STK4.
    expect(await go("fly", () => ({ ok: true, value: null }))).toMatchObject(
        stuck("the same call of Lent_owner__fly gave the same 3 times"),
    );
    expect(seen).toEqual([]);
    expect(await go("read it", (n) => ({ ok: false, error: `no page ${n}` }))).toMatchObject(stuck("no page 3"));
    expect(seen.length).toBe(4);
});

test("STK4: calls whose arguments do not fit end a turn, though no client hears of them", async () => {
    await using at = await room([...[1, 2, 3, 4, 5].map((n) => calls("owner", "click", { nope: n })), { text: "never" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", CLICK);
    const turn = await at.owner.submit(id, { text: "click" });
    const seen = await watch(at.owner, id, ended(turn.id));
    expect(seen.map(({ event }) => event)).not.toContain("ask.requested");
    expect(await at.owner.turn(id, turn.id)).toMatchObject({
        status: "failed",
        failure: {
            kind: "stuck",
            message: expect.stringContaining("4 calls in a row came to nothing, the last one, of Lent_owner__click"),
        },
    });
    // Each counts once.
    at.says([calls("owner", "fly"), calls("owner", "run"), calls("owner", "steal"), { text: "none of them" }]);
    await at.again();
    const { id: next } = await at.owner.open();
    expect(await at.owner.request("POST", `/v1/sessions/${next}/turns?wait=1`, { text: "go" })).toMatchObject({ value: "none of them" });
});

/** A loop whose model sees no result, and looks at each. */
const HIDING = `import llm Model from "mock:" { look: may }
import tool Lent from "host:lent"
main agent Hiding {
    model Model
    role "an assistant"
    description "Helps"
    main func(input { task: string }) {
        generate({ input: input.task, tools: [Lent], turns: 12, hide: "untrusted" })
    }
}`;

test("STK4: looking at what a loop hides is no call that came to nothing", async () => {
    const look = { calls: [{ name: "look", args: { at: "r1" } }] };
    await using at = await room([calls("owner", "read"), look, look, look, { text: "nine" }]);
    writeFileSync(join(at.folder, "hiding.remit"), HIDING);
    await at.again({ program: join(at.folder, "hiding.remit") });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    const turn = await at.owner.submit(id, { text: "when?" });
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "once");
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: "opens at nine" });
    });
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "nine" });
});

/** A program with a tool of its own; in turn, a loop for each word. */
const OWN = `import llm Model from "mock:"
import tool Disk from "file://workspace"
main agent Own {
    model Model
    role "an assistant"
    description "Helps"
    main func(input: { words: list[string] }) {
        for word in input.words max 9 { generate({ input: word, tools: [Disk], turns: 20 }) }
    }
}`;

test("STK5: a program's own tools count as lent ones do, each loop by itself", async () => {
    const look = { calls: [{ name: "Disk_list", args: { path: "." } }] };
    const wrong = (n: number): Json => ({ calls: [{ name: "Disk_list", args: { nope: n } }] });
    await using at = await room([look, look, look, look, { text: "never" }]);
    const program = join(at.folder, "own.remit");
    writeFileSync(program, OWN);
    await at.again({ program });
    const go = async (...words: string[]): Promise<unknown> =>
        at.owner.request("POST", `/v1/sessions/${(await at.owner.open()).id}/turns?wait=1`, { input: { words } });
    expect(await go("look")).toMatchObject({
        status: "failed",
        failure: { kind: "stuck", message: expect.stringContaining("the same call of Disk.list gave the same 3 times in a row") },
    });
    // Other loops begin with the same call.
    at.says([1, 2, 3, 4].flatMap((n) => [look, { text: `${n}` }]));
    await at.again({ program });
    expect(await go("one", "two", "three", "four")).toMatchObject({ status: "done" });
    // What came of own calls stands between those that were not made.
    at.says([wrong(1), look, wrong(2), wrong(3), wrong(4), look, wrong(5), { text: "done" }]);
    await at.again({ program });
    expect(await go("look")).toMatchObject({ status: "done" });
});

test("reads that give nothing new end a turn, whatever else is called between them; one that does begins anew", async () => {
    const read = calls("owner", "read");
    const click = (at: string): Json => calls("owner", "click", { at });
    const round = ["a", "b", "c", "d", "e", "f"].flatMap((at) => [read, click(at)]);
    await using at = await room([...round, { text: "never" }]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    await at.owner.lend(id, "click", CLICK);
    const turn = await at.owner.submit(id, { text: "look" });
    let read1 = 0;
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "once");
        if (event !== "call") return;
        const value = data["tool"] === "read" ? (++read1 === 1 ? "before" : "the page") : `clicked ${JSON.stringify(data["args"])}`;
        await at.owner.result(id, data["id"] as string, { ok: true, value });
    });
    expect(await at.owner.turn(id, turn.id)).toMatchObject({
        status: "failed",
        failure: { kind: "stuck", message: expect.stringContaining("4 reads in a row gave what they gave before") },
    });
    expect(read1).toBe(6);
});

test("a model that only says what it is going to do is told so, twice in a row at most; what it says then is the answer", async () => {
    const said = { text: "Let me read the page." };
    await using at = await room([said, said, calls("owner", "read"), said, { text: "It opens at nine." }, said, said, said]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "read", READ);
    const go = async (): Promise<{ nudged: number; value: unknown }> => {
        let turn = "";
        let nudged = 0;
        const over = (event: string, data: { readonly [key: string]: Json }): boolean => turn !== "" && ended(turn)(event, data);
        await watch(at.owner, id, over, async (event, data) => {
            if (event === "caught-up") turn = (await at.owner.submit(id, { text: "when?" })).id;
            if (event === "turn.step" && data["nudged"] === true) nudged++;
            if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: "opens at nine" });
        });
        const { value, status } = await at.owner.turn(id, turn);
        expect(status).toBe("done");
        return { nudged, value };
    };
    expect(await go()).toEqual({ nudged: 3, value: "It opens at nine." });
    expect(await go()).toEqual({ nudged: 2, value: "Let me read the page." });
});
