/** Questions that a project sends to the channel `server`: of runs that no session conducts, and of sessions (RAK1, RAK2). */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, openLedger, openProcess } from "@remit/host";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { ServeClient } from "../src/index.ts";
import type { RoutedAsk, Scope } from "../src/wire/messages.ts";
import type { RunPage, RunView } from "../src/wire/runs.ts";
import { OpenAsks } from "../src/session/asks.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

const PROGRAM = `import tool Mail from "host:mail" { send: ask }
main func(input: { to: string }) { Mail.send({ to: input.to }) }
`;

interface Elsewhere {
    readonly run: string;
    readonly sent: Json[];
    resume(): Promise<string>;
}

/** A run of another process, as far as the ledger knows, whose project says this of its questions. */
async function asked(at: Room, questions: Json): Promise<Elsewhere> {
    const folder = join(at.folder, "project");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "remit.json"), JSON.stringify({ questions }));
    writeFileSync(join(folder, "main.remit"), PROGRAM);
    const sent: Json[] = [];
    const how = {
        process: openProcess({ env: { HOME: at.folder }, cwd: folder }),
        tools: { Mail: { send: (args: Json) => sent.push(args) } },
        trust: true,
        ledger: at.server.ledger.store,
    };
    const program = await load<Json>(join(folder, "main.remit"), { ...how, cache: false });
    const { run, status } = await program.run({ to: "ada" }, { asks: { park: true } }).result;
    await program.close();
    expect(status).toBe("waiting");
    const resume = async (): Promise<string> => {
        const ledger = await openLedger(how.ledger, how);
        return (await (await ledger.resume(run, how)).result).status;
    };
    return { run, sent, resume };
}

const open = async (client: ServeClient): Promise<readonly RoutedAsk[]> =>
    (await client.request<{ asks: readonly RoutedAsk[] }>("GET", "/v1/asks")).asks;
const decide = (client: ServeClient, ask: string, decision = "once"): Promise<{ status: string; reason?: string }> =>
    client.request("POST", `/v1/asks/${ask}/decision`, { decision });
const clientAs = async (at: Room, as: string, scopes: readonly Scope[] = ["observe", "approve"]): Promise<ServeClient> => {
    const { token } = await at.owner.request<{ token: string }>("POST", "/v1/clients", { name: "phone", scopes, as });
    return new ServeClient({ url: at.server.url, token });
};

test("the approver decides at the server, by the identity of the client, and the run goes on; another client changes nothing", async () => {
    await using at = await room([]);
    const there = await asked(at, [{ to: ["server"], approvers: ["user:alice"] }]);
    const [alice, bob] = [await clientAs(at, "user:alice"), await clientAs(at, "user:bob")];
    const [ask, ...more] = await open(alice);
    expect(more).toEqual([]);
    expect(ask).toMatchObject({ run: there.run, question: "May user call Mail.send?", approvers: ["user:alice"], may: true });
    expect(ask?.call?.args).toMatchObject([{ name: "to", value: "ada", origins: ["user"] }]);
    const id = ask?.id ?? "";
    expect(await open(bob)).toMatchObject([{ id, may: false }]);
    // The owner of the server is no approver, either.
    for (const one of [bob, at.owner, (await at.client("pad")).client])
        expect(await decide(one, id)).toMatchObject({ status: "rejected", reason: expect.stringContaining("is for user:alice") });
    expect(await there.resume()).toBe("waiting");
    expect(await decide(alice, id)).toEqual({ status: "accepted" });
    expect(await open(alice)).toEqual([]);
    expect(await decide(alice, id)).toMatchObject({ status: "rejected" });
    expect([await there.resume(), there.sent]).toEqual(["done", [{ to: "ada" }]]);
});

test("without approvers the owner of the server decides where it is the user of the run, and no client that was only paired", async () => {
    await using at = await room([]);
    const there = await asked(at, [{ to: ["server"] }]);
    const [ask] = await open(at.owner);
    const { client } = await at.client("pad");
    expect(await decide(client, ask?.id ?? "")).toMatchObject({ status: "rejected" });
    expect(await decide(at.owner, ask?.id ?? "", "deny")).toEqual({ status: "accepted" });
    expect([await there.resume(), there.sent]).toEqual(["failed", []]);
});

test("attack: a question that was not sent to the server is neither shown nor decided there, and watching decides nothing", async () => {
    await using at = await room([]);
    const there = await asked(at, [{ to: ["terminal"] }]);
    const [kept] = await at.server.ledger.asks(there.run);
    expect(await open(at.owner)).toEqual([]);
    expect(await decide(at.owner, kept?.id ?? "")).toMatchObject({ status: "rejected" });
    const watcher = await clientAs(at, "user:alice", ["observe"]);
    await expect(decide(watcher, kept?.id ?? "")).rejects.toMatchObject({ status: 403 });
});

test("a question of a session's own run is put to the session's clients, and is in no other list", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-asks-"));
    writeFileSync(join(folder, "remit.json"), JSON.stringify({ questions: [{ to: ["server"] }] }));
    const source =
        'import tool Files from "file://workspace" { write: ask }\nmain func(input) { Files.write({ path: "a.txt", content: "x" }) }\n';
    writeFileSync(join(folder, "main.remit"), source);
    await using at = await room([], { program: join(folder, "main.remit"), load: { trust: true, workspace: folder, cache: false } });
    const { client } = await at.client("pad");
    const { id } = await client.open();
    const turn = await client.submit(id, { input: null });
    const seen: Json[] = [];
    await watch(client, id, ended(turn.id), async (event, data) => {
        if (event !== "ask.requested") return;
        seen.push((await open(at.owner)) as unknown as Json);
        await client.request("POST", `/v1/sessions/${id}/asks/${String(data["ask"])}/decision`, { decision: "once" });
    });
    expect(seen).toEqual([[]]);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("x");
    rmSync(folder, { recursive: true });
});

test("a run says what it waits for, also where that is answered on the command line, and in which folder its program is", async () => {
    await using at = await room([]);
    const { run } = await asked(at, [{ to: ["terminal"] }]);
    const view = await at.owner.request<RunView>("GET", `/v1/runs/${run}`);
    const [ask] = await at.server.ledger.store.asks.list(run);
    expect(view).toMatchObject({
        folder: "project",
        waits: [{ id: ask?.id, question: "May user call Mail.send?", expires: ask?.expires }],
    });
    expect(JSON.stringify(view)).not.toContain(at.folder);
    expect((await at.owner.request<RunPage>("GET", "/v1/runs?search=project/main")).runs.map(({ id }) => id)).toEqual([run]);
    await at.server.ledger.store.asks.decide(ask?.id ?? "", "deny", ask?.owner ?? "");
    expect((await at.owner.request<RunView>("GET", `/v1/runs/${run}`)).waits).toEqual([]);
});

test("a turn that is cancelled while it asks says so, and not that an answer is waited for", async () => {
    await using at = await room([calls("owner", "click")]);
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", { description: "Clicks" });
    const turn = await at.owner.submit(id, { text: "click" });
    await watch(at.owner, id, ended(turn.id), async (event) => {
        if (event === "ask.requested") await at.owner.cancel(id, turn.id);
    });
    const [told] = (await at.owner.session(id)).turns;
    expect(told).toMatchObject({ status: "cancelled", failure: { kind: "cancelled" } });
    expect(JSON.stringify(told)).not.toContain("remit answer");
});

test("a turn that fails at a no names the lent tool as people know it", async () => {
    await using at = await room([]);
    const program = join(at.folder, "lent.remit");
    writeFileSync(
        program,
        'import tool Lent from "host:lent" { owner__click: ask }\nmain func(input: { task: string }) { Lent.owner__click({}) }\n',
    );
    await at.again({ program });
    const { id } = await at.owner.open();
    await at.owner.lend(id, "click", { description: "Clicks" });
    const turn = await at.owner.submit(id, { text: "click" });
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "deny");
    });
    const { failure } = await at.owner.turn(id, turn.id);
    expect(failure).toMatchObject({ kind: "denied", message: "click (lent by owner) was not allowed" });
    const next = await at.owner.submit(id, { text: "click" });
    await watch(at.owner, id, ended(next.id), async (event, data) => {
        if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "once");
        if (event === "call") await at.owner.result(id, data["id"] as string, { ok: true, value: "clicked" });
    });
    const why = await at.owner.request<{ readonly chain: readonly { readonly what: string }[] }>(
        "GET",
        `/v1/runs/${id}.${next.id}/why?at=`,
    );
    expect(why.chain.map(({ what }) => what)).toContain("tool click (lent by owner)");
});

test("SAK6: a question whose only approver is revoked is a no at once, and so is the next one; where another may answer, it stays open", async () => {
    await using at = await room({ replies: [] });
    const panel = await at.client("panel");
    at.says([calls(panel.id, "click"), calls("owner", "type"), { text: "done" }, calls("owner", "type"), { text: "done" }]);
    const revoke = (client: string): Promise<unknown> => at.owner.request("DELETE", `/v1/clients/${client}`);
    const { id } = await panel.client.open();
    await panel.client.lend(id, "click", { description: "Clicks" });
    await at.owner.lend(id, "type", { description: "Types" });
    const turn = await panel.client.submit(id, { text: "click" });
    const seen = await watch(at.owner, id, ended(turn.id), async (event) => {
        if (event === "ask.requested" && (await at.owner.session(id)).tools.length === 2) await revoke(panel.id);
    });
    const decided = seen.filter(({ event }) => event === "ask.decided").map(({ data }) => data);
    expect(decided).toMatchObject([
        { decision: "deny", by: "revoked" },
        { decision: "deny", by: "revoked" },
    ]);
    expect(seen.map(({ event }) => event)).not.toContain("call");
    const named = await at.client("phone");
    const both = await at.owner.open({ approvers: ["owner", named.id] });
    await at.owner.lend(both.id, "type", { description: "Types" });
    const next = await at.owner.submit(both.id, { text: "type" });
    const by: Json[] = [];
    await watch(at.owner, both.id, ended(next.id), async (event, data) => {
        if (event === "ask.requested") {
            await revoke(named.id);
            expect(await at.owner.decide(both.id, data["ask"] as string, "deny")).toEqual({ status: "accepted" });
        }
        if (event === "ask.decided") by.push(data["by"] ?? null);
    });
    expect(by).toEqual(["owner"]);
});

test("how long a question waits is told by the ledger's clock: a process whose own is an hour ahead, and that takes the session over, asks on", async () => {
    const now = (): number => Date.now() - 3_600_000;
    const asks = new OpenAsks(now, { isRevoked: () => false, isLent: () => true });
    const about = { id: "a", turn: "t1", question: "Send it?", options: ["once", "deny"], detail: null, call: null, approvers: ["owner"] };
    const expires = new Date(now() + 60_000).toISOString();
    const { signal } = new AbortController();
    const taken = asks.wait(
        { ...about, expires },
        { late: "deny", signal, at: { run: "r", path: "main/ask" }, tool: null, log: async () => undefined },
    );
    // a timer that counted by its own clock would have ended by then
    await new Promise((resolve) => setTimeout(resolve, 20));
    const said = asks.decide("a", "once", "owner");
    const { answer, by, kept } = (await taken) as NonNullable<Awaited<typeof taken>>;
    kept();
    expect([answer, by, await said]).toEqual(["once", "owner", { status: "accepted" }]);
});

test("what an MCP server asks for in a form is read as the form wants it, and asked again where it does not fit", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-form-"));
    const liar = join(import.meta.dirname, "../../host/tests/tool/mcp-liar.mjs");
    writeFileSync(join(folder, "remit.json"), JSON.stringify({ mcpServers: { liar: { command: "node", args: [liar, "form"] } } }));
    writeFileSync(join(folder, "main.remit"), 'import tool T from "mcp://liar" { go: may }\nmain func() { T.go({}).text }\n');
    await using at = await room([], { program: join(folder, "main.remit"), load: { trust: true, workspace: folder, cache: false } });
    const { id } = await at.owner.open();
    const turn = await at.owner.submit(id, { input: {} });
    const lines = ["zzz", "a", "b", "r", "a", '["a", "zzz"]', '["a"]', '["g"]', "odd", "no"];
    const asked: string[] = [];
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event !== "ask.requested") return;
        asked.push(String(data["question"]));
        if (data["options"] instanceof Array && data["options"].length > 0) await at.owner.decide(id, String(data["ask"]), "once");
        else await at.owner.answer(id, String(data["ask"]), lines.shift() ?? null);
    });
    expect(JSON.parse(String((await at.owner.turn(id, turn.id)).value))).toEqual({
        action: "accept",
        content: { plain: "a", named: "b", titled: "r", several: ["a"], colours: ["g"], odd: "odd", sure: false },
    });
    expect(asked.filter((one) => one.includes("zzz"))).toEqual([expect.stringContaining(`'[1]' is "zzz"\nliar.several`)]);
    expect(asked.slice(0, 3)).toEqual([
        expect.stringContaining("'liar' asks"),
        'liar.plain (Choose.): "a" or "b"',
        'expected "a" or "b"\nliar.plain (Choose.): "a" or "b"',
    ]);
    rmSync(folder, { recursive: true });
});
