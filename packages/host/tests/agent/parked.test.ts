/** Questions of agents in the middle of their turns that wait for a person: the run ends, and later the turn is told again with the answer standing. */
import {
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    realpathSync,
    renameSync,
    rmdirSync,
    rmSync,
    writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import type { AgentReply, AgentTurn, Effect, LedgerEvent, Outcome } from "@remit/machine";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PerformIO } from "../../src/run/host.ts";
import { openStore } from "../../src/ledger/open.ts";
import type { LedgerStore } from "../../src/ledger/store.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import { AGENT, rig } from "./rig.ts";

const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");
let root: string;
let home: string;
beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "remit-parked-")));
    home = realpathSync(mkdtempSync(join(tmpdir(), "remit-parked-home-")));
    const tester = { command: [process.execPath, AGENT], sandbox: { read: [ROOT] }, graceMs: 300 };
    writeFileSync(join(root, "remit.json"), JSON.stringify({ agents: { tester } }));
});
afterEach(() => {
    for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true });
});

type Played = (io: PerformIO, turn: AgentTurn) => Promise<Json>;
const source = (body: string): string => `import tool Repo from "file://workspace"
import tool Shell from "shell: unconfined" { run: may }
import agent Fixer from "acp://tester" { remit { may Shell.run, Repo.read, Repo.write in "own/*"  ask Repo.write in "*" } }

main func() {
    ${body}
}
`;

/** The run's next part, from its start or from where it stands; played by a function, or by the tests' agent. */
async function part(body: string, answer: string | null, played?: Played, through = (store: LedgerStore): LedgerStore => store) {
    writeFileSync(join(root, "main.remit"), source(body));
    const about = {
        ...{ workspace: root, trust: true, env: { HOME: home, PATH: process.env.PATH } },
        ...(played === undefined
            ? {}
            : { performers: { agent: (effect: Effect, io: PerformIO) => said(played(io, effect.request as unknown as AgentTurn)) } }),
    };
    const ledger = await openLedger(through(await openStore(join(root, "ledger.db"), { config: join(root, "config") })));
    try {
        const [before] = await ledger.runs();
        const open = (await ledger.asks(before?.id ?? "none").catch(() => [])).filter(({ state }) => state === "open");
        if (answer !== null) await ledger.answer(before?.id ?? "", open[0]?.id ?? "", answer, open[0]?.owner ?? "");
        const handle =
            before === undefined
                ? (await load(join(root, "main.remit"), { ...about, ledger: ledger.store, cache: false, asks: { park: true } })).run({})
                : await ledger.resume(before.id, { ...about, park: true });
        const result = await handle.result;
        const run = result.run;
        const events: LedgerEvent[] = await Array.fromAsync(ledger.store.events(run));
        const asks = await ledger.asks(run);
        return { result, events, asks, open: asks.filter(({ state }) => state === "open"), sound: (await ledger.verify(run)).ok };
    } finally {
        await ledger.close();
    }
}
async function said(work: Promise<Json>): Promise<Outcome> {
    const text = JSON.stringify(await work);
    const reply: AgentReply = { text, stop: "end_turn", entries: [], confinement: "remote", spent: { steps: 1, calls: 0, ms: 0 } };
    return { ok: true, value: reply as unknown as Json, origins: ["agent:Fixer"] };
}
const write = (path: string, content = path) => ({ tool: "Repo", method: "write", args: [{ path, content }] });
const run = (command: string) => ({ tool: "Shell", method: "run", args: [{ command }] });
const read = (name: string): string | null => (existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : null);

test("an agent over ACP: the run parks at its question, nothing begins before the answer, and what its hands did is not done twice", async () => {
    const acts = [
        { do: "request", method: "terminal/create", params: { command: "echo hand >> log" } },
        { do: "request", method: "terminal/wait_for_exit", params: { terminalId: "terminal-1" } },
        { do: "request", method: "fs/write_text_file", params: { path: join(root, "b.txt"), content: "written" } },
    ];
    const body = `agent(${JSON.stringify(JSON.stringify(acts))}, { agent: Fixer })`;
    const first = await part(body, null);
    expect(first.result).toMatchObject({ status: "waiting", failure: { kind: "waiting", hint: expect.stringContaining("remit asks") } });
    expect(first.result.waiting).toMatchObject([{ kind: "ask", path: expect.stringMatching(/hand\[1\]\/ask$/) }]);
    expect(first.open).toMatchObject([{ request: { question: "May Fixer call Repo.write?" } }]);
    expect([read("log"), read("b.txt")]).toEqual(["hand\n", null]);

    const second = await part(body, null);
    expect(second.result.status).toBe("waiting");
    expect(second.asks.map(({ id }) => id)).toEqual(first.asks.map(({ id }) => id));
    const begun = ({ kind }: LedgerEvent): boolean => kind.startsWith("agent.") || kind.startsWith("tool.");
    expect(second.events.filter(begun)).toHaveLength(first.events.filter(begun).length);

    const third = await part(body, "once");
    expect(third.result.failure).toBeUndefined();
    expect([read("log"), read("b.txt")]).toEqual(["hand\n", "written"]);
    expect(third.asks).toMatchObject([{ state: "used", decision: "once" }]);
    expect(third.sound).toBe(true);
});

/** With states that another build saved, which compiles to other code. */
const ofAnotherBuild = (store: LedgerStore): LedgerStore => ({
    ...store,
    state: async (id) => {
        const saved = await store.state(id);
        if (saved === null) return null;
        const other = (json: Json): Json => ({ ...(json as object), code: [{ file: 0, version: "0" }] });
        return { ...saved, image: other(saved.image), deltas: saved.deltas.map(other) };
    },
});

test("a run that parked in another build is told again and asks nothing about the turn that waits: the answer stands, nothing is done twice", async () => {
    const agent: Played = async (io) => {
        await io.use?.(run("echo hand >> log"));
        return (await io.use?.(write("a.txt")))?.ok ?? null;
    };
    const body = 'Fixer.send("go")';
    await part(body, null, agent);
    const { result, asks, sound } = await part(body, "once", agent, ofAnotherBuild);
    expect(result).toMatchObject({ ok: true });
    expect([read("log"), read("a.txt")]).toEqual(["hand\n", "a.txt"]);
    expect(asks).toMatchObject([{ state: "used", decision: "once" }]);
    expect(sound).toBe(true);
});

test("a no stands for the whole turn, a yes for one use: what was made is told as it was, what is new is asked", async () => {
    const told: Json[] = [];
    const agent: Played = async (io) => {
        const seen: Json[] = [];
        seen.push((await io.use?.(run("echo hand >> log")))?.ok ?? null);
        seen.push((await io.may?.(write("a.txt")))?.allowed ?? null);
        seen.push((await io.use?.(write("a.txt")))?.ok ?? null);
        seen.push((await io.use?.(write("b.txt")))?.ok ?? null, (await io.use?.(write("b.txt")))?.ok ?? null);
        seen.push((await io.use?.(run("echo hand >> log")))?.ok ?? null);
        seen.push((await io.use?.(write("c.txt", "once"))) !== undefined, (await io.use?.(write("c.txt", "once")))?.ok ?? null);
        told.push(seen);
        return seen;
    };
    const body = 'Fixer.send("go")';
    for (const [answer, question] of [
        [null, "a.txt"],
        ["once", "b.txt"],
        ["deny", "c.txt"],
        ["once", "c.txt"],
    ] as const) {
        const { result, open } = await part(body, answer, agent);
        expect(result.status).toBe("waiting");
        expect(open.map(({ request }) => (request.detail as { args: Json[] }).args[0])).toMatchObject([{ path: question }]);
    }
    const { result, sound } = await part(body, "deny", agent);
    expect(result).toMatchObject({ ok: true });
    expect(told.at(-1)).toEqual([true, true, true, false, false, true, true, false]);
    expect([read("log"), read("a.txt"), read("b.txt"), read("c.txt")]).toEqual(["hand\nhand\n", "a.txt", null, "once"]);
    expect(sound).toBe(true);
});

test("an answer is for what was shown: an agent that wants something else when its turn is told again is asked about again", async () => {
    let tellings = 0;
    const agent: Played = async (io) => (await io.use?.(write("a.txt", `text ${tellings++}`)))?.ok ?? null;
    await part('Fixer.send("go")', null, agent);
    const { result, open } = await part('Fixer.send("go")', "once", agent);
    expect(result.status).toBe("waiting");
    expect(open).toMatchObject([{ request: { detail: { args: [{ path: "a.txt", content: "text 1" }] } } }]);
    expect(read("a.txt")).toBe(null);
});

test("what is under way when a question is left for later ends first; what begins after it is told again", async () => {
    const agent: Played = async (io) => {
        const slow = io.use?.(run("sleep 0.3; echo slow >> log"));
        await io.use?.(write("a.txt"));
        return [(await slow)?.ok ?? null, (await io.use?.(run("echo after >> log")))?.ok ?? null];
    };
    const { result } = await part('Fixer.send("go")', null, agent);
    expect([result.status, read("log")]).toEqual(["waiting", "slow\n"]);
    await part('Fixer.send("go")', "session", agent);
    expect([read("log"), read("a.txt")]).toEqual(["slow\nafter\n", "a.txt"]);
});

test("edits that the agent made itself before the question are in the workspace when the run parks, and are not made twice", async () => {
    const tester = { command: [process.execPath, AGENT], sandbox: { read: [ROOT], copy: true }, graceMs: 300 };
    writeFileSync(join(root, "remit.json"), JSON.stringify({ agents: { tester } }));
    const edit = (...names: string[]) => {
        const paths = names.map((name) => join(root, name));
        const content = paths.map((path) => ({ type: "diff", path, oldText: null, newText: "made" }));
        return [
            { do: "permission", call: { toolCallId: names.join(), title: "edit", kind: "edit", content } },
            ...paths.map((path) => ({ do: "write", path, text: "made" })),
            { do: "update", update: { sessionUpdate: "tool_call_update", toolCallId: names.join(), status: "completed" } },
        ];
    };
    const body = `agent(${JSON.stringify(JSON.stringify([...edit("own/a.txt", "own/b.txt"), ...edit("c.txt")]))}, { agent: Fixer })`;
    mkdirSync(join(root, "own"));
    const seen: (string | null)[][] = [];
    for (const answer of [null, "once"]) {
        const { result } = await part(body, answer);
        seen.push([result.status, ...["own/a.txt", "own/b.txt", "c.txt"].map(read)]);
    }
    expect(seen).toEqual([
        ["waiting", "made", "made", null],
        ["done", "made", "made", "made"],
    ]);
});

test("H9: a turn that goes on with a session waits too where its agent takes sessions up: told again in the session that was loaded", async () => {
    const cost = (amount: number) => ({
        do: "update",
        update: { sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount, currency: "USD" } },
    });
    const acts = JSON.stringify([
        { do: "about" },
        cost(0.75),
        { do: "request", method: "fs/write_text_file", params: { path: join(root, "a.txt"), content: "written" } },
        cost(1),
    ]);
    const answer = `\`\`\`remit\nfunc answer(agent, acts) { return agent.send(${JSON.stringify(acts)}) }\n\`\`\``;
    const body = `Fixer.yield(acts: ${JSON.stringify(JSON.stringify([[cost(0.5), { do: "say", text: answer }]]))})`;
    const first = await part(body, null);
    expect(first.result).toMatchObject({ status: "waiting" });
    expect(first.open).toMatchObject([{ request: { question: "May Fixer call Repo.write?" } }]);
    expect(first.result.usage.usd).toBe(0.75);
    const rooms = join(home, ".local/state/remit/agents");
    expect(readdirSync(rooms)).toHaveLength(1);

    expect((await part(body, null)).asks.map(({ id }) => id)).toEqual(first.asks.map(({ id }) => id));
    const { result, events, sound } = await part(body, "once");
    expect(result.failure).toBeUndefined();
    expect(read("a.txt")).toBe("written");
    // What was said before is loaded, and not told once more.
    expect(result.value).toContain('"turns":8');
    // The agent tells what its session cost from the beginning.
    expect(result.usage.usd).toBe(1);
    expect(JSON.stringify(events)).not.toContain("what was said before");
    expect(sound).toBe(true);
    await expect.poll(() => readdirSync(rooms)).toEqual([]);
});

/** As builds kept it that told the name of a session alone. */
function earlier(conduct: { readonly [key: string]: Json }): Json {
    const loads = conduct.loads as unknown as readonly { readonly session: string; readonly id: string }[];
    return { ...conduct, loads: loads.map(({ session, id }) => [session, id]) };
}

test("a turn that an earlier build parked is told again in its session, though that build kept the session's name alone, and its room elsewhere", async () => {
    const acts = JSON.stringify([
        { do: "about" },
        { do: "request", method: "fs/write_text_file", params: { path: join(root, "a.txt"), content: "written" } },
    ]);
    const answer = `\`\`\`remit\nfunc answer(agent, acts) { return agent.send(${JSON.stringify(acts)}) }\n\`\`\``;
    const body = `Fixer.yield(acts: ${JSON.stringify(JSON.stringify([[{ do: "say", text: answer }]]))})`;
    expect((await part(body, null)).result).toMatchObject({ status: "waiting" });
    const rooms = join(home, ".local/state/remit/agents");
    const room = join(rooms, readdirSync(rooms)[0] ?? "");
    const telling = join(room, readdirSync(room)[0] ?? "");
    for (const name of readdirSync(telling)) renameSync(join(telling, name), join(room, name));
    rmdirSync(telling);
    const { result } = await part(body, "once", undefined, (store) => ({
        ...store,
        state: async (run) => {
            const state = await store.state(run);
            const old = (one: Json): Json => {
                const doc = one as { readonly [key: string]: Json };
                const conduct = doc.conduct as { readonly [key: string]: Json } | undefined;
                return conduct?.loads === undefined ? one : { ...doc, conduct: earlier(conduct) };
            };
            return state === null ? null : { ...state, image: old(state.image), deltas: state.deltas.map(old) };
        },
    }));
    expect(result.failure).toBeUndefined();
    expect(read("a.txt")).toBe("written");
    // What was said before is loaded.
    expect(result.value).toContain('"turns":8');
    await expect.poll(() => readdirSync(rooms)).toEqual([]);
});

test("a turn that an earlier build scheduled, with the name of the session alone, loads the session", async () => {
    const effect = JSON.parse(readFileSync(new URL("./turns/load-as-text.json", import.meta.url), "utf8")) as Effect;
    await using here = rig();
    await here.host.perform(effect, {
        signal: new AbortController().signal,
        emit: () => undefined,
        wait: () => Promise.resolve(),
        child: async () => ({ ok: false, failure: { kind: "denied", message: "nobody is there" } }),
    });
    const loads = here.seen.filter(
        ({ from, message }) => from === "client" && (message as { readonly method?: string }).method === "session/load",
    );
    expect(loads).toMatchObject([{ message: { params: { sessionId: "s2" } } }]);
});

test("a turn that goes on with a session cannot be told again: the answer is no, and the agent is told why", async () => {
    const told: string[] = [];
    const agent: Played = async (io, { turn }) => {
        const outcome = turn === 0 ? undefined : await io.use?.(write("a.txt"));
        if (outcome?.ok === false) told.push(outcome.failure.message);
        return "no function";
    };
    const body = "return try { Fixer.yield(x: 1) with { turns: 2 } } catch failure { failure.kind }";
    const { result } = await part(body, null, agent);
    expect(result).toMatchObject({ ok: true, value: "invalid_payload" });
    expect(told).toEqual([
        expect.stringMatching(/no person was there to answer, and this turn cannot be told again.* on a terminal or on a server/),
    ]);
});
