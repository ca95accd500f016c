/** What a block promises, in this process and on a real server alike: order, failure, cancellation, width, size of work, waiting for people. */
import { type Handlers, type HostTool, load, type LoadOptions, memoryStore, openWorld, RemitError } from "@remit/host";
import type { Json } from "@remit/language";
import type { Failure, LedgerEvent } from "@remit/machine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DevServer } from "../src/index.ts";
import { questionsOf, type Room, roomAt, sharedServer } from "./room.ts";

let server: DevServer;
let room: Room;
/** Of the test that runs. */
let work: { readonly [method: string]: (value: Json, io: { readonly signal: AbortSignal }) => unknown } = {};
let on: Handlers = {};

const method = (name: string): HostTool[string] => ({
    call: (value: Json, io: { readonly signal: AbortSignal }) => work[name]?.(value, io) as Promise<Json>,
});
const tools = { Work: Object.fromEntries(["one", "two", "three", "count"].map((name) => [name, method(name)])) };
const WORK = `import tool Work from "host:work"
func one(x) { Work.one(x) }
func two(x) { Work.two(x) }
func three(x) { Work.three(x) }
func count(x) { Work.count(x) }
`;

beforeAll(async () => {
    server = await sharedServer();
    room = await roomAt(server);
    await room.worker({ host: { tools, on: { ask: (request, about) => on.ask?.(request, about) ?? null } } });
});
afterAll(async () => {
    await room[Symbol.asyncDispose]();
});

interface Ran {
    readonly value?: Json;
    readonly failure?: Failure;
    readonly events: readonly LedgerEvent[];
}
type Runs = (body: string, options?: LoadOptions) => Promise<Ran>;

const here: Runs = async (body, options = {}) => {
    const ledger = memoryStore();
    const program = await load<Json, Json>({ source: `${WORK}memory static ${body}` }, { tools, cache: false, ledger, on, ...options });
    const { run, value, failure } = await program.run(null).result;
    await program.close();
    const events = await Array.fromAsync(ledger.events(run));
    return { events, ...(failure === undefined ? { value: value as Json } : { failure: failure as Failure }) };
};

async function begun(source: string, options: LoadOptions = {}): Promise<string> {
    const world = await openWorld({ source }, { tools, cache: false, process: room.on, ...options });
    try {
        return await room.client.submit(world, world.kept(null));
    } finally {
        await world.close();
    }
}

const there: Runs = async (body, options) => {
    const run = await begun(`${WORK}temporal static ${body}`, options);
    const end = await room.client.result(run).then(
        (value) => ({ value }),
        (error: unknown) => {
            if (!(error instanceof RemitError)) throw error;
            return { failure: error.failure as Failure };
        },
    );
    expect(await room.store.verify(run)).toMatchObject({ ok: true, anchored: "yes" });
    return { ...end, events: await Array.fromAsync(room.store.events(run)) };
};

/** How nodes ended, in the order of their names. */
const states = (events: readonly LedgerEvent[]): string[] =>
    events
        .flatMap(({ kind, data }) =>
            kind === "plan.node.ended" ? [`${(data as { id: string }).id} ${(data as { state: string }).state}`] : [],
        )
        .sort();

describe.each([
    ["in memory", here],
    ["on Temporal", there],
] as const)("%s", (_, run) => {
    test("a slow branch holds up nothing but what needs it", async () => {
        const last = Promise.withResolvers<void>();
        work = {
            one: async (x) => (await last.promise, `${x}1`),
            two: (x) => `${x}2`,
            three: (x) => (last.resolve(), `${x}3`),
        };
        const { value } = await run('( ( echo "a" >=> one >=> two <*> echo "b" >=> two >=> three ) >=> merge )');
        expect(value).toBe("## Part 1\n\na12\n\n## Part 2\n\nb23");
    });

    test("a failure names its node and line, cancels what goes on beside it, and what others gave is kept", async () => {
        const begun = Promise.withResolvers<void>();
        const told = Promise.withResolvers<void>();
        work = {
            one: (x) => `${x}1`,
            two: (_, { signal }) =>
                new Promise((resolve) => {
                    begun.resolve();
                    signal.addEventListener("abort", () => {
                        told.resolve();
                        resolve(null);
                    });
                }),
            three: async () => {
                await begun.promise;
                throw new Error("it is down");
            },
        };
        const { failure, events } = await run(
            '(\n ( echo "a" >=> one\n <*> echo "b" >=> two\n <*> echo "c" >=> one >=> three )\n >=> merge )',
        );
        expect(failure).toMatchObject({
            kind: "tool",
            message: expect.stringMatching(/^three#0 failed: .*it is down$/),
            site: { line: 9 },
            detail: [{ node: "three#0", kind: "tool", site: { line: 9 } }],
        });
        await told.promise;
        expect(states(events)).toEqual(
            expect.arrayContaining([
                "echo#0 done",
                "echo#1 done",
                "echo#2 done",
                "one#0 done",
                "one#1 done",
                "three#0 failed",
                "two#0 cancelled",
            ]),
        );
        const kept = events.find(({ kind, data }) => kind === "plan.node.ended" && (data as { id: string }).id === "one#1");
        expect(kept?.data).toMatchObject({ value: "c1" });
    });

    test("500 branches under a limit of 8 give their values in the order of the source", async () => {
        let [now, most] = [0, 0];
        work = {
            count: async (x) => {
                most = Math.max(most, ++now);
                await new Promise((resolve) => setTimeout(resolve, 1));
                now--;
                return (x as number) * 2;
            },
        };
        const numbers = Array.from({ length: 500 }, (_, i) => i);
        const { value, events } = await run(`( ( ${numbers.map((n) => `count ${n}`).join("\n <*> ")} ) >=> echo )`, { concurrency: 8 });
        expect(value).toEqual(numbers.map((n) => n * 2));
        expect(most).toBeLessThanOrEqual(8);
        expect(states(events)).toHaveLength(501);
    });

    test("60 million steps in one node, beside others", async () => {
        work = { one: (x) => `${x}1` };
        const long = "func long(x) { n = 0\n loop until n >= 30000000 max 40000000 { n += 1 }\n n }";
        const limits = { steps: 200_000_000 };
        const { value } = await run(`( ( long <*> one "a" >=> one ) >=> echo )\n${long}`, { limits });
        expect(value).toEqual([30_000_000, "a11"]);
    });

    test.each([
        ["once", { value: "a" }],
        ["deny", { failure: { kind: "denied", message: expect.stringContaining("approve#0 failed"), site: { line: 6 } } }],
        ["abort", { failure: { kind: "cancelled" } }],
    ] as const)("a person says %s", async (said, end) => {
        on = { ask: () => said };
        expect(await run('( echo "a" >=> approve "Publish?" )')).toMatchObject(end);
    });
});

test("cancelled in the middle of a block: its performers are told; submitted again it goes on where it was", async () => {
    const reached = Promise.withResolvers<void>();
    const made: Json[] = [];
    const told = Promise.withResolvers<void>();
    let isTold = false;
    work = {
        one: (x) => (made.push(x), `${x}1`),
        two: (x, { signal }) => {
            made.push(x);
            if (isTold) return `${x}2`;
            return new Promise((_, reject) => {
                signal.addEventListener("abort", () => {
                    isTold = true;
                    told.resolve();
                    reject(signal.reason);
                });
                reached.resolve();
            });
        },
    };
    const source = `import tool Work from "host:work" { two: may }\n${WORK.slice(WORK.indexOf("func one"))}temporal static ( one "a" >=> two >=> one )`;
    const run = await begun(source);
    await reached.promise;
    await room.client.cancel(run);
    await expect(room.client.result(run)).rejects.toMatchObject({ kind: "cancelled" });
    await told.promise;
    await room.client.goOn(run);
    const [question] = await questionsOf(room, run);
    expect(question).toMatchObject({ kind: "unknown" });
    const { id, owner } = question as { readonly id: string; readonly owner: string };
    await room.client.answer(run, { question: id, by: owner, said: { answer: "again" } });
    expect(await room.client.result(run)).toBe("a121");
    expect(made).toEqual(["a", "a1", "a1", "a12"]);
    expect(await room.store.verify(run)).toMatchObject({ ok: true, bound: "yes" });
});

test("a person is waited for while no worker is there; the next one goes on", async () => {
    work = { one: (x) => `${x}1` };
    on = {};
    await using apart = await roomAt(server);
    const first = await apart.worker({ host: { tools } });
    const world = await openWorld(
        { source: `${WORK}temporal static ( one "a" >=> approve "Publish?" >=> one )` },
        { tools, cache: false, process: apart.on },
    );
    const run = await apart.client.submit(world, world.kept(null, { asks: { park: true } }));
    const [question] = await questionsOf(apart, run);
    await first.shutdown();
    const { id, owner } = question as { readonly id: string; readonly owner: string };
    const answered = apart.client.answer(run, { question: id, by: owner, decision: "once" });
    await apart.worker({ host: { tools } });
    await answered;
    expect(await apart.client.result(run)).toBe("a11");
});
