/** F15: a session with an agent is the same over every transport: what it may do, how it ends, and that it ends. One table of rows, each over all of them. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { describe, expect, test, type TestContext } from "vitest";
import { load } from "../../src/run/program.ts";
import { type Step, TRANSPORTS, type Transport, type Turn } from "./transports.ts";

interface Row {
    readonly name: string;
    /** Statements of the program's main func. `Fixer` is the agent, `acts` what it needs to know, `TIME` some time in which it has begun. */
    readonly body: string;
    /** Those that it takes. */
    readonly turns: readonly Turn[];
    /** The value, or the kind of the failure that ends the run. */
    readonly gives: Json;
    /** As the session's end is told; null where the run was stopped, and may be gone on with. */
    readonly closed: { readonly [key: string]: Json } | null;
    readonly usage?: { readonly [key: string]: number };
    /** Files that are there afterwards. */
    readonly files?: { readonly [path: string]: string | null };
    readonly asked?: number;
    /** What its own acts found, in order. */
    readonly found?: readonly Json[];
    /** Its turn ends by being told to; "late": or by the end of its session, which comes right behind. */
    /** What an agent of the program gives, where that is something else. */
    readonly parks?: Json;
    readonly cancelled?: true | "late";
    /** Transports to which it does not apply, and why. */
    readonly not?: (transport: Transport) => string | null;
}

const REMIT = 'may Repo.read, Repo.write in "free/**"\nask Repo.write in "src/**"';
const answer = (body: string, ...params: string[]): Step => ({ answer: body, ...(params.length === 0 ? {} : { params }) });
const only: Row["not"] = ({ protocol }) => (protocol ? null : "it does not speak the protocol");
const outside: Row["not"] = ({ name }) =>
    name === "an agent of the program" ? "it has no hands and no process besides the program's" : null;
const ended = { ok: true } as const;
const permission = (kind: string, path: string): Step => ({
    act: (root) => ({ do: "permission", call: { toolCallId: path, title: kind, kind, locations: [{ path: join(root, path) }] } }),
});
const request = (method: string): Step => ({ act: () => ({ do: "request", method, params: {} }) });
const told = (optionId: string): Json => ({ ok: { outcome: "selected", optionId } });

/** A yield that fails so, where the program catches it. `call`: its arguments, and what stands behind them. */
const fails = (kind: string, name: string, call: string, turns: readonly Turn[], more: Partial<Row> = {}): Row => ({
    name,
    body: `return try { Fixer.yield${call} } catch failure { failure.kind }`,
    turns,
    gives: kind,
    closed: { ok: false, kind },
    ...more,
});

const ROWS: readonly Row[] = [
    {
        name: "a function is returned, and what it gives is the value",
        body: "Fixer.yield(acts: acts, n: 20) -> number",
        turns: [{ steps: [answer("return n * 2 + 2", "acts", "n")] }],
        gives: 42,
        closed: ended,
    },
    {
        name: "the function goes on over the same session, with a text and with a yield; usage is the sum of what was reported",
        body: "Fixer.yield(acts: acts)",
        turns: [
            {
                steps: [
                    answer('where = agent.send("Where?")\nreturn [where, agent.yield(hint: "on")]'),
                    { usage: { input: 10, output: 1 } },
                ],
            },
            { when: "Where?", steps: [{ say: "in src" }, { usage: { input: 20, output: 2 } }] },
            { when: "hint", steps: [answer('return hint + "ward"', "hint"), { usage: { input: 30, output: 3 } }] },
        ],
        gives: ["in src", "onward"],
        closed: ended,
        usage: { input: 60, output: 6 },
        not: ({ name }) => (name === "an agent of the program" ? "its models report usage, it has none itself" : null),
    },
    {
        name: "an answer that is no function is sent back and put right",
        body: "Fixer.yield(acts: acts)",
        turns: [{ steps: [{ say: "I would rather talk." }] }, { when: "there is no answer", steps: [answer('return "right"')] }],
        gives: "right",
        closed: ended,
    },
    fails("invalid_payload", "one that is never put right ends with its turns", "(acts: acts) with { turns: 2 }", [
        { steps: [answer("return (")] },
        { when: "not valid", steps: [answer("return ]")] },
    ]),
    {
        name: "a function that raises",
        body: "return try { Fixer.yield(acts: acts) } catch failure { failure.message }",
        turns: [{ steps: [answer('raise "no way"')] }],
        gives: "no way",
        closed: { ok: false, kind: "raised" },
    },
    fails("contract", "a value that is not expected", "(acts: acts) -> number", [{ steps: [answer('return "many"')] }]),
    {
        name: "its hands: what may be is done, what is asked is asked, nothing else is done, inside the folder and outside",
        body: "Fixer.send(acts)",
        turns: [
            {
                steps: [
                    { use: "read", path: "a.txt" },
                    { use: "read", path: "../outside.txt" },
                    { use: "write", path: "free/a.txt" },
                    { use: "write", path: "src/yes.txt" },
                    { use: "write", path: "src/no.txt" },
                    { use: "write", path: "keys/a.txt" },
                    { use: "write", path: "../outside.txt" },
                    { say: "done" },
                ],
            },
        ],
        gives: expect.stringMatching(/done$/) as never,
        closed: ended,
        asked: 2,
        not: ({ name }) => (name === "an agent of the program" ? "a violation of its own code ends that; it has no hands besides" : null),
        files: { "free/a.txt": "made", "src/yes.txt": "made", "src/no.txt": null, "keys/a.txt": null, "../outside.txt": "secret" },
    },
    fails(
        "violation.remit",
        "a function does what the program lent it, and its own catch is none for what was not",
        "(acts: acts, repo: Repo.only(read))",
        [
            {
                steps: [
                    answer(
                        'repo.read({ path: "a.txt" })\nbox = [repo]\nreturn try { box[0].write({ path: "free/a.txt", content: "made" }) } catch failure { "inside" }',
                        "acts",
                        "repo",
                    ),
                ],
            },
        ],
        { files: { "free/a.txt": null } },
    ),
    {
        name: "permission is allowed, asked for, and refused",
        body: "Fixer.send(acts)",
        turns: [
            {
                steps: ["free/a.txt", "src/yes.txt", "src/no.txt", "keys/a.txt", "../outside.txt"].map((path) => permission("edit", path)),
            },
        ],
        gives: expect.any(String) as never,
        found: [told("a"), told("a"), told("r"), told("r"), told("r")],
        closed: ended,
        asked: 2,
        not: only,
    },
    {
        name: "a request that nobody knows is answered so, and the turn goes on",
        body: "Fixer.send(acts)",
        turns: [{ steps: [request("_vendor/thing"), request("craft/drainMidTurnQueue"), { say: '{"still":"here"}' }] }],
        gives: expect.any(String) as never,
        found: [{ no: -32601 }, { no: -32601 }, { still: "here" }],
        closed: ended,
        not: only,
    },
    {
        name: "a cancel ends the turn and the run",
        body: "Fixer.yield(acts: acts)",
        turns: [{ steps: [{ use: "write", path: "src/cancel.txt" }, answer("return 1")] }],
        // What the function of an agent asks itself waits for its answer; what was asked while an outside agent works ended with its turn.
        gives: "cancelled",
        parks: "waiting",
        closed: null,
        asked: 1,
        files: { "src/cancel.txt": null },
        cancelled: true,
    },
    fails(
        "limit.calls",
        "more calls than it may make end it",
        "(acts: acts) with { calls: 3 }",
        [{ steps: [{ calls: 5 }, { wait: true }] }],
        { cancelled: true, not: outside },
    ),
    {
        name: "more steps than it may take end it",
        body: 'agent(acts, { agent: Fixer, budget: { max_steps: 2 }, on_error: "return_error" }).error.reason',
        turns: [{ steps: [{ calls: 5 }, { wait: true }] }],
        gives: "limit.steps",
        closed: { ok: false, kind: "limit.steps" },
        cancelled: true,
        not: outside,
    },
    fails("limit.time", "the end of its time ends it", "(acts: acts) with { time: TIME }", [{ steps: [{ wait: true }] }], {
        cancelled: "late",
        not: outside,
    }),
    fails(
        "unreachable",
        "one that ends in the middle of a further turn is unreachable",
        "(acts: acts)",
        [{ steps: [answer('return agent.send("Where?")')] }, { when: "Where?", steps: [{ say: "I begin" }, { crash: true }] }],
        { not: outside },
    ),
];

/** `expect` of the test itself: tests that run beside each other cannot share one that polls. */
async function conforms(row: Row, transport: Transport, { expect }: Pick<TestContext, "expect">): Promise<void> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "remit-conforms-")));
    const root = join(folder, "work");
    mkdirSync(root);
    writeFileSync(join(folder, "outside.txt"), "secret");
    writeFileSync(join(root, "a.txt"), "inside");
    const agent = await transport.place({ root, remit: REMIT, turns: row.turns });
    writeFileSync(join(root, "remit.json"), JSON.stringify(agent.config ?? {}));
    const main = `main func(acts: string) {\n${row.body.replace("TIME", transport.begun)}\n}\n`;
    writeFileSync(
        join(root, "main.remit"),
        `import tool Repo from "file://workspace"\n${agent.declared}\n\n${agent.beside === true ? `main agent Program {\n${main}}\n` : main}`,
    );
    const stop = new AbortController();
    let asked = 0;
    const program = await load<Json, Json>(join(root, "main.remit"), {
        workspace: root,
        cache: false,
        trust: true,
        env: { HOME: folder, PATH: process.env.PATH },
        signal: stop.signal,
        on: {
            ask: async ({ detail }, { signal }) => {
                asked++;
                const said = JSON.stringify(detail);
                if (said.includes("src/cancel.txt")) {
                    // Whoever is asked goes away with the question.
                    const gone = new Promise((done) => signal.addEventListener("abort", done, { once: true }));
                    stop.abort();
                    await gone;
                }
                return said.includes("src/yes.txt") ? "once" : "deny";
            },
        },
    });
    const events: LedgerEvent[] = [];
    try {
        // Outside a yield there is no handshake; the prompt holds the acts of the one turn.
        const acts = row.body.includes("acts: acts") ? agent.acts : JSON.stringify((JSON.parse(agent.acts) as Json[])[0] ?? []);
        const handle = program.run({ acts });
        const result = await handle.result;
        for await (const event of handle.events) events.push(event);
        expect(result.ok ? result.value : result.failure?.kind).toEqual(
            transport.name === "an agent of the program" ? (row.parks ?? row.gives) : row.gives,
        );
        if (row.found !== undefined) {
            const lines = String(result.ok ? result.value : "").split("\n");
            expect(lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Json)).toEqual(row.found);
        }
        if (row.usage !== undefined) expect(result.usage).toMatchObject(row.usage);
        if (row.asked !== undefined) expect(asked).toBe(row.asked);
        for (const [path, content] of Object.entries(row.files ?? {}))
            expect([path, existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null]).toEqual([path, content]);
        // One open, so many turns, one close, whichever way it went out; by the ledger, and by what the agent saw.
        const of = (kind: string): Json[] => events.filter((event) => event.kind === kind).map(({ data }) => data as Json);
        expect(of("yield.opened")).toHaveLength(1);
        expect(of("agent.asked")).toHaveLength(row.turns.length);
        expect(of("yield.closed")).toEqual(
            row.closed === null ? [] : [expect.objectContaining({ ...row.closed, turns: row.turns.length })],
        );
        const { log } = agent;
        if (log !== null) {
            const turns = Array.from({ length: row.turns.length }, () => "session/prompt");
            const whole = ["initialize", "session/new", ...turns, ...(row.cancelled === true ? ["session/cancel"] : []), "closed"];
            if (row.cancelled !== "late") await expect.poll(log, { interval: 10 }).toEqual(whole);
            else {
                // On a busy machine the time is up at any moment before the turn's end, also before the agent is there.
                await program.close();
                if (log().length > 0) await expect.poll(log, { interval: 10 }).toContain("closed");
                const told = [...whole.slice(0, -1), "session/cancel", "closed"].filter((method) => log().includes(method));
                expect(log()).toEqual(told);
            }
        }
    } finally {
        await program.close();
        await agent.close();
        rmSync(folder, { recursive: true, force: true });
    }
}

describe.concurrent.each(TRANSPORTS)("$name", (transport) => {
    test.for(ROWS.filter((row) => (row.not?.(transport) ?? null) === null))("$name", (row, context) => conforms(row, transport, context));
});
