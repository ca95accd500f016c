/** A program from TypeScript: compiled with verbs of one's own, run block by block, with something around every phase and every effect. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuplicateVerb, type Json } from "@remit/language";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
    cache,
    chain,
    compile,
    keptRun,
    load,
    LoadError,
    log,
    type Logged,
    memoryStore,
    only,
    openLedger,
    RemitError,
    retry,
    run,
    timeout,
    type VerbPlugin,
    verbRegistry,
    type Wrap,
} from "../../src/index.ts";

let folder: string;
beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-compiled-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const asked: Json[] = [];
const STOCK: VerbPlugin = {
    entry: {
        name: "stock",
        description: "The price of a share.",
        params: [
            { name: "symbol", contract: { type: "string" }, description: "its symbol" },
            { name: "currency", contract: { type: "string" }, description: "its currency", default: "USD" },
        ],
        result: { type: "number" },
        example: 'stock "ACME"',
    },
    call: async ({ symbol, currency }: { symbol: string; currency: string }) => {
        asked.push(`${symbol} ${currency}`);
        if (symbol === "GONE") throw new Error("no such share");
        return symbol === "ODD" ? "a lot" : symbol.length;
    },
    readOnly: true,
};
const registry = verbRegistry([STOCK]);
const here = { env: {}, workspace: tmpdir() };
const codeOf = async (source: string, options = {}) =>
    compile(source, { ...here, ...options }).then(
        () => "compiles",
        (error: unknown) => (error instanceof LoadError ? error.diagnostics.map((one) => one.code).join() : String(error)),
    );

test("compile gives plans, run one value a block, in order", async () => {
    const program = await compile(
        'func plus(a: number, b: number) { a + b }\nmemory static ( ( stock "ACME" <*> stock "X" ) >=> plus ) as sum\nmemory static ( echo sum )',
        { ...here, registry },
    );
    expect(program.plans.map((plan) => plan.nodes.map((node) => node.id))).toEqual([["stock#0", "stock#1", "plus#0"], ["echo#0"]]);
    expect(await run(program, here)).toEqual([5, 5]);
    expect(await run(program, here)).toEqual([5, 5]);
    expect(await run(await compile('memory static ( echo "a" )', here), here)).toEqual(["a"]);
    expect(await run(await compile("memory static ( echo )", here), { ...here, input: "in" })).toEqual(["in"]);
});

test("a path is told from a text, and a file from TypeScript has its folder", async () => {
    writeFileSync(join(folder, "main.remit"), 'import file Text from "./a.txt"\nmemory static ( echo Text >=> stock )\n');
    writeFileSync(join(folder, "a.txt"), "four");
    const program = await compile(join(folder, "main.remit"), { ...here, registry });
    expect(await run(program, here)).toEqual([4]);
    // what `load` keeps of the file in its cache knows the registry
    const own = { env: {}, workspace: folder, folders: { cache: folder, config: folder } };
    const path = join(folder, "main.remit");
    for (let i = 0; i < 2; i++) expect(await (await load(path, { ...own, registry }))({})).toBe(4);
    await expect(load(path, own)).rejects.toThrow("there is no verb, function, agent or tool 'stock'");
});

test("a stage of a plugin is checked like any other, and without its registry it is unknown", async () => {
    expect(await codeOf('memory static ( stock "ACME" )', { registry })).toBe("compiles");
    expect(await codeOf('memory static ( stock "ACME" )')).toBe("UNKNOWN_STAGE");
    expect(await codeOf('memory static ( stok "ACME" )', { registry })).toBe("UNKNOWN_STAGE");
    expect(await codeOf("memory static ( stock 5 )", { registry })).not.toBe("compiles");
    expect(await codeOf('memory static ( stock "ACME" (curency: "EUR") )', { registry })).not.toBe("compiles");
    const here = verbRegistry([{ ...STOCK, entry: { ...STOCK.entry, backends: ["memory"] } }]);
    expect(await codeOf('temporal static ( stock "ACME" )', { registry: here })).toMatch(/BACKEND/);
});

test("[VPL1] what cannot be a verb is refused where the registry is made", () => {
    const bad = (more: Partial<VerbPlugin["entry"]>) => () => verbRegistry([{ ...STOCK, entry: { ...STOCK.entry, ...more } }]);
    const string = { contract: { type: "string" }, description: "" } as const;
    expect(bad({ name: "echo" })).toThrow(DuplicateVerb);
    expect(() => verbRegistry([STOCK, STOCK])).toThrow(DuplicateVerb);
    expect(bad({ name: "a b" })).toThrow(/no program can write/);
    expect(bad({ description: " " })).toThrow(/no description/);
    expect(bad({ backends: [] })).toThrow(/runs nowhere/);
    expect(
        bad({
            params: [
                { name: "x", ...string },
                { name: "x", ...string },
            ],
        }),
    ).toThrow(/two parameters called 'x'/);
    expect(
        bad({
            params: [
                { name: "x", ...string, optional: true },
                { name: "y", ...string },
            ],
        }),
    ).toThrow(/needs 'y' behind 'x'/);
    expect(bad({ params: [{ name: "x", ...string, flows: true }] })).toThrow(/has the parameter 'x' for what flows in/);
});

test("[VPL2] a failure names the call; a value that its contract refuses is one; without the function the verb is unreachable", async () => {
    const options = { ...here, registry };
    await expect(run(await compile('memory static ( stock "GONE" )', options), here)).rejects.toMatchObject({
        kind: "tool",
        message: expect.stringContaining("stock#0 failed"),
    });
    await expect(run(await compile('memory static ( stock "ODD" )', options), here)).rejects.toMatchObject({ kind: "contract" });
    const { program } = await compile('memory static ( stock "ACME" )', options);
    const form = program as unknown as Json;
    expect(await run(await compile({ form }, options), here)).toEqual([4]);
    await expect(compile({ form }, here)).rejects.toThrow("no verb, function, agent or tool 'stock'");
    const store = memoryStore();
    const parked = await compile('memory static ( approve "buy?" >=> stock "ACME" )', options);
    await expect(run(parked, { ...here, ledger: store, asks: { park: true } })).rejects.toMatchObject({ kind: "waiting" });
    const ledger = await openLedger(store, { env: {} });
    const [ask] = await ledger.asks();
    await ledger.answer(ask?.run as string, ask?.id as string, "once");
    const failed = (await ledger.resume(ask?.run as string, here)).value;
    await expect(failed).rejects.toMatchObject({ kind: "unreachable", message: expect.stringContaining("brings no verb 'stock'") });
});

test("a run that waits is resumed with the registry", async () => {
    const store = memoryStore();
    const program = await compile('memory static ( approve "buy?" >=> stock "ACME" )', { ...here, registry });
    const failure = await run(program, { ...here, ledger: store, asks: { park: true } }).catch((error: unknown) => error);
    if (!(failure instanceof RemitError) || failure.run === undefined) throw new Error("it does not wait");
    expect(failure.kind).toBe("waiting");
    const ledger = await openLedger(store, { env: {} });
    const [ask] = await ledger.asks(failure.run);
    await ledger.answer(failure.run, ask?.id as string, "once");
    expect(await (await ledger.resume(failure.run, { ...here, registry })).value).toBe(4);
});

test("a program without blocks, and errors of a plan, say what to do", async () => {
    await expect(run(await compile("main func() { 1 }", here), here)).rejects.toMatchObject({
        message: expect.stringContaining("has no block"),
    });
    expect(await codeOf('memory static ( stock "a" >=> stok )\nmemory static ( nothing )', { registry })).toBe(
        "UNKNOWN_STAGE,UNKNOWN_STAGE",
    );
});

test("every phase and every effect of a node can be wrapped, the first wrapper outermost", async () => {
    const order: string[] = [];
    const note =
        (name: string): Wrap =>
        (work, about) =>
        async (signal) => {
            order.push(`${name} ${about.what} ${about.name} ${about.node ?? "-"}`);
            return work(signal);
        };
    const wrap = [note("outer"), note("inner")];
    const program = await compile('memory static ( echo "a" >=> memory static ( stock "ACME" >=> stock "B" ) )', {
        ...here,
        registry,
        wrap,
    });
    expect(order.filter((one) => one.startsWith("outer"))).toEqual(
        ["read", "check", "lower", "plan", "validate"].map((one) => `outer phase ${one} -`),
    );
    expect(order.slice(0, 2)).toEqual(["outer phase read -", "inner phase read -"]);
    order.length = 0;
    await run(program, { ...here, wrap });
    expect(order).toEqual(
        ["stock#0", "stock#1"].flatMap((node) => [
            `outer effect tool Verb_stock.call ${node}`,
            `inner effect tool Verb_stock.call ${node}`,
        ]),
    );
});

test("retry: a failure that may pass is tried again, one of work that must not be repeated is not", async () => {
    let tries = 0;
    const flaky = (readOnly: boolean) =>
        verbRegistry([
            {
                entry: { name: "flaky", description: "Fails twice.", params: [], result: { type: "number" } },
                call: () => {
                    if (++tries < 3) throw new Error("not now");
                    return tries;
                },
                readOnly,
            },
        ]);
    const source = "memory static ( flaky )";
    const program = await compile(source, { ...here, registry: flaky(true) });
    const store = memoryStore();
    expect(await run(program, { ...here, ledger: store, wrap: [retry({ wait: 1 })] })).toEqual([3]);
    const [info] = await store.runs();
    const events = await Array.fromAsync(store.events(info?.id as string));
    expect(events.filter((one) => one.kind === "tool.started")).toHaveLength(1);
    tries = 0;
    await expect(run(await compile(source, { ...here, registry: flaky(false) }), { ...here, wrap: [retry({ wait: 1 })] })).rejects.toThrow(
        "not now",
    );
    expect(tries).toBe(1);
    tries = 0;
    await expect(run(program, { ...here, wrap: [retry({ times: 1, wait: 1 })] })).rejects.toThrow("not now");
    expect(tries).toBe(2);
});

test("timeout: work that does not end is ended, and told so", async () => {
    let stopped = false;
    const slow = verbRegistry([
        {
            entry: { name: "slow", description: "Does not end.", params: [], result: { type: "json" } },
            call: (_args: unknown, { signal }: { signal: AbortSignal }) =>
                new Promise((_, reject) => {
                    signal.addEventListener("abort", () => {
                        stopped = true;
                        reject(signal.reason);
                    });
                }),
        },
    ]);
    const program = await compile("memory static ( slow )", { ...here, registry: slow });
    await expect(run(program, { ...here, wrap: [timeout(20)] })).rejects.toMatchObject({ kind: "timeout" });
    expect(stopped).toBe(true);
    const never: Wrap = (work, about) => (about.name === "check" ? async () => new Promise(() => undefined) : work);
    await expect(compile("memory static ( slow )", { ...here, registry: slow, wrap: [timeout(20), never] })).rejects.toMatchObject({
        kind: "timeout",
        message: expect.stringContaining("check"),
    });
});

test("cache: the same work is done once, with the origins of its value; what writes, and what failed, is done again", async () => {
    const remembered = cache();
    const program = await compile('memory static ( ( stock "ACME" <*> stock "B" ) )', { ...here, registry });
    asked.length = 0;
    const store = memoryStore();
    for (let i = 0; i < 3; i++) expect(await run(program, { ...here, ledger: store, wrap: [remembered] })).toEqual([[4, 1]]);
    expect(asked.toSorted()).toEqual(["ACME USD", "B USD"]);
    const labels = await Promise.all(
        (await store.runs()).map(async ({ id, events }) => (await Array.fromAsync(store.events(id, events)))[0]?.labels),
    );
    expect(new Set(labels.map(String)).size).toBe(1);
    expect(String(labels[0])).toContain("tool:Verb_stock");
    // another user is another key
    await run(program, { ...here, user: "other", wrap: [remembered] });
    expect(asked).toHaveLength(4);
    asked.length = 0;
    const gone = await compile('memory static ( stock "GONE" )', { ...here, registry });
    for (let i = 0; i < 2; i++) await expect(run(gone, { ...here, wrap: [remembered] })).rejects.toThrow();
    expect(asked).toHaveLength(2);
    const writing = verbRegistry([{ ...STOCK, readOnly: false }]);
    asked.length = 0;
    for (let i = 0; i < 2; i++)
        await run(await compile('memory static ( stock "ACME" )', { ...here, registry: writing }), { ...here, wrap: [remembered] });
    expect(asked).toHaveLength(2);
});

test("cache: a phase is done once for the same text, and is bounded and forgets by time", async () => {
    let now = 0;
    const done: Logged[] = [];
    const wrap = [
        cache({ ttl: 10, most: 2, now: () => now }),
        log(
            (one) => done.push(one),
            () => 0,
        ),
    ];
    const checks = () => done.filter(({ about }) => about.name === "check").length;
    const text = (n: number) =>
        compile(`memory static ( echo "${n}" )`, { ...here, wrap: [only(({ name }) => name === "check", chain(...wrap))] });
    await text(1);
    await text(1);
    expect(checks()).toBe(1);
    now = 11;
    await text(1);
    expect(checks()).toBe(2);
    for (const n of [2, 3, 1]) await text(n);
    expect(checks()).toBe(5);
});

test("log: names, times and kinds, nothing of what was given", async () => {
    const told: Logged[] = [];
    const program = await compile('memory static ( stock "GONE" )', { ...here, registry });
    await run(program, { ...here, wrap: [log((one) => told.push(one))] }).catch(() => undefined);
    expect(told).toMatchObject([{ ok: false, kind: "tool", about: { node: "stock#0", path: expect.stringContaining("stock#0") } }]);
    expect(JSON.stringify(told)).not.toContain("GONE");
});

test("on whose behalf it runs is kept with the run", async () => {
    const store = memoryStore();
    await run(await compile('memory static ( echo "a" )', here), { ...here, ledger: store, as: "user:alice" });
    const [info] = await store.runs();
    expect((await keptRun(store, info?.id as string)).options).toMatchObject({ as: "user:alice" });
});

test("[RBK1] an address that no server answers at is told", async () => {
    const program = await compile('temporal static ( echo "a" )', here);
    const ledger = memoryStore();
    await expect(run(program, { ...here, ledger, address: "127.0.0.1:9" })).rejects.toMatchObject({ kind: "unreachable" });
});
