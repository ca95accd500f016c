/** The command line against a real Temporal server: one command starts it with a worker, others begin, ask about and answer runs there. */
import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { on, once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Json } from "@remit/language";
import { type FoundServer, ServeClient, servers } from "@remit/serve";
import { afterAll, beforeAll, expect, test } from "vitest";
import { calls, ended, watch } from "../../serve/tests/room.ts";
import { shareBundles } from "../../temporal/tests/bundles.ts";
import { BIN, type Ran, type Room, room } from "./remit.ts";

/**
 * Runs a command until what it says will do. Each holds this thread up, so that no time limit of the test ends it: it is told after many. Between two
 * the processor is left to the server and the worker that are waited for.
 */
function eventually(args: readonly string[], when: (ran: Ran) => boolean): Ran {
    const asleep = new Int32Array(new SharedArrayBuffer(4));
    let ran = here.remit(...args);
    for (let tries = 0; !when(ran); tries++) {
        if (tries > 400) throw new Error(`remit ${args.join(" ")}: ${ran.code} ${ran.out} ${ran.err}`);
        Atomics.wait(asleep, 0, 0, 200);
        ran = here.remit(...args);
    }
    return ran;
}

/** The worker takes answers that are signed with it alone. */
const KEY = ["--decision-key", "decisions.pem"];
let here: Room;
let dev: ChildProcess;
let address = "";
let metrics = 0;

/** A port that nobody listens at now. */
async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    return port;
}

beforeAll(async () => {
    here = room();
    shareBundles(here.folder);
    here.write("shout.remit", 'func shout(text: string) { text.upper() + "!" }\ntemporal static ( shout "hi" >=> shout ) as out\n');
    here.write(
        "save.remit",
        'import tool Files from "file://workspace" { write: ask }\nmain func(text: string) { Files.write({ path: "out.txt", content: text })  "saved" }\n',
    );
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    here.write("decisions.pem", privateKey.export({ type: "pkcs8", format: "pem" }).toString());
    here.write("public.pem", publicKey.export({ type: "spki", format: "pem" }).toString());
    metrics = await freePort();
    dev = spawn(
        process.execPath,
        [BIN, "temporal", "dev", "--workspace", here.folder, "--metrics", `127.0.0.1:${metrics}`, "--decision-key", "public.pem"],
        {
            cwd: here.folder,
            env: here.env,
            stdio: ["ignore", "ignore", "pipe"],
        },
    );
    let said = "";
    await new Promise<void>((resolve, reject) => {
        dev.stderr?.on("data", (chunk: Buffer) => {
            said += chunk.toString("utf8");
            address = /answers at (\S+?): /.exec(said)?.[1] ?? "";
            if (said.includes("This worker")) resolve();
        });
        dev.once("exit", () => reject(new Error(`the server did not start: ${said}`)));
    });
});
afterAll(async () => {
    if (dev.exitCode === null) {
        // So that its server ends, too.
        dev.kill("SIGINT");
        await once(dev, "exit");
    }
    here.clear();
});

test("a run submitted and waited for, and a program here whose block runs there", () => {
    expect(here.remit("submit", "shout.remit", "--address", address, "--wait")).toMatchObject({ code: 0, out: '"HI!!"\n' });
    expect(here.remit("run", "shout.remit", "--address", address)).toMatchObject({ code: 0, out: '"HI!!"\n' });
    expect(here.remit("trace", "verify").code).toBe(0);
});

test("a question is shown, answered and followed by the value", async () => {
    const bounds = ["--workspace", here.folder, "--expires", "2h"];
    const run = here.remit("submit", "save.remit", "--address", address, ...bounds, "--input", '{"text":"x"}').out.trim();
    const status = eventually(["status", run, "--address", address], ({ code, out }) => code !== 0 || out.includes("done"));
    expect(status).toMatchObject({ code: 3 });
    expect(status.out).toContain("May user call Files.write?");
    const [asked] = JSON.parse(here.remit("asks", run, "--json").out) as [{ id: string; asked: string; expires: string }];
    expect(Date.parse(asked.expires) - Date.parse(asked.asked)).toBeLessThan(2.5 * 3_600_000);
    expect(here.remit("asks", run).out).toContain(`remit approve ${run} ${asked.id}`);
    expect(here.remit("runs", "--waiting").out).toMatch(new RegExp(`^${run} .* waiting `, "m"));
    const { child, ran: followed } = here.started({}, "trace", run, "--follow");
    for await (const [chunk] of on(child.stderr as Readable, "data")) if (String(chunk).includes(`${run} waits for an answer`)) break;
    // The execution would not learn of an answer that only the ledger has.
    expect(here.remit("answer", run, asked.id, "once")).toMatchObject({ code: 1, err: expect.stringContaining("remit approve RUN ASK") });
    expect(here.remit("approve", run, "--address", address)).toMatchObject({ code: 1, err: expect.stringContaining("is not signed") });
    expect(here.remit("approve", run, "--address", address, "--decision-key", "public.pem")).toMatchObject({ code: 2 });
    const mallory = here.remit("approve", run, "--by", "user:mallory", "--address", address, ...KEY);
    expect(mallory).toMatchObject({ code: 1, err: expect.stringContaining(`remit status ${run} shows what is asked now`) });
    expect(here.remit("approve", run, "--address", address, ...KEY).code).toBe(0);
    expect(here.remit("result", run, "--address", address)).toMatchObject({ code: 0, out: '"saved"\n' });
    const { err } = await followed;
    expect(err).toMatch(new RegExp(`^${run} waits for an answer: remit asks ${run}\\n${run}: done\\n$`));
});

test("a run that no worker has taken yet is Temporal's: it is told as running, and is not resumed here by mistake", () => {
    const queue = ["--queue", "later", "--address", address];
    const run = here.remit("submit", "shout.remit", ...queue).out.trim();
    const twice = here.remit("submit", "shout.remit", ...queue, "--id", run);
    expect(twice).toMatchObject({ code: 1, err: expect.stringContaining("has a run of that id already") });
    expect(here.remit("runs").out).toMatch(new RegExp(`^${run} .* running `, "m"));
    expect(here.remit("resume", run, "--yes")).toMatchObject({ code: 2, err: expect.stringContaining("goes on on Temporal") });
    expect(here.remit("resume", run, "--on", "memory", "--grace", "0s", "--address", address)).toMatchObject({ code: 0, out: '"HI!!"\n' });
});

test("a run goes from here to Temporal and back, and the command says what became of it there", () => {
    here.write(
        "two.remit",
        'import tool Files from "file://workspace" { write: ask }\nmain func(text: string) { Files.write({ path: "two.txt", content: text })  Files.write({ path: "two.txt", content: text + "!" })  "both" }\n',
    );
    const first = here.remit("run", "two.remit", "--input", '{"text":"x"}', "--park");
    expect(first.code).toBe(3);
    expect(here.remit("resume", "last", "--on", "elsewhere")).toMatchObject({ code: 2 });
    const there = here.remit("resume", "last", "--on", "temporal", "--address", address);
    expect(there).toMatchObject({ code: 0, err: expect.stringContaining("goes on on Temporal") });
    const waits = (): Ran => eventually(["status", "last", "--address", address], ({ code }) => code === 3);
    waits();
    expect(here.remit("approve", "last", "--address", address, ...KEY).code).toBe(0);
    waits();
    expect(here.remit("resume", "last", "--yes")).toMatchObject({ code: 2, err: expect.stringContaining("--on memory takes it over") });
    const back = here.remit("resume", "last", "--on", "memory", "--yes", "--address", address);
    expect(back).toMatchObject({ code: 0, out: '"both"\n', err: expect.stringContaining("Temporal let run") });
    expect(here.remit("trace", "verify").code).toBe(0);
});

test("a run that ends as Temporal lets it go is over, and was not taken over", () => {
    here.write(
        "slow.remit",
        'import tool Shell from "shell: unconfined" { run: may }\nmain func() { Shell.run({ command: "sleep 4" }).exit_code }\n',
    );
    expect(here.remit("submit", "slow.remit", "--trust", "--address", address).code).toBe(0);
    const over = here.remit("resume", "last", "--on", "memory", "--address", address);
    expect(over).toMatchObject({ code: 2, err: expect.stringMatching(/run \S+ is over/) });
    expect(over.err).not.toContain("taken over");
    expect(here.remit("result", "last", "--address", address)).toMatchObject({ code: 0, out: "0\n" });
});

test("a schedule is made, looked at and deleted; a wrong one is not made", () => {
    const at = ["--address", address];
    expect(here.remit("submit", "shout.remit", "--cron", "0 25 * * *", ...at)).toMatchObject({
        code: 1,
        err: expect.stringContaining("'25' is no hour"),
    });
    expect(here.remit("schedule", "show", "shout", ...at)).toMatchObject({
        code: 1,
        err: expect.stringContaining("there is no schedule shout"),
    });
    expect(here.remit("submit", "shout.remit", "--cron", "0 7 * * *", "--timezone", "Asia/Tokyo", ...at)).toMatchObject({
        code: 0,
        out: "shout\n",
    });
    expect(here.remit("schedule", "show", "shout", ...at).out).toContain("0 7 * * * Asia/Tokyo");
    expect(here.remit("schedule", "pause", "shout", "--note", "a rest", ...at).code).toBe(0);
    expect(here.remit("schedule", "show", "shout", ...at).out).toContain("paused (a rest)");
    expect(here.remit("schedule", "trigger", "shout", ...at).code).toBe(0);
    const [, run = ""] =
        /run (shout-\S+)/.exec(eventually(["schedule", "show", "shout", ...at], ({ out }) => /run shout-/.test(out)).out) ?? [];
    // The run is in the ledger once its workflow has begun.
    eventually(["result", run, ...at], ({ code }) => code === 0);
    expect(here.remit("result", run, ...at)).toMatchObject({ code: 0, out: '"HI!!"\n' });
    expect(here.remit("schedule", "delete", "shout", ...at).code).toBe(0);
    expect(here.remit("schedule", "mend", "shout", ...at)).toMatchObject({ code: 2 });
});

test("who cancels by a schedule's name is asked which is meant: the run that it began, or the schedule", () => {
    here.write("nightly.remit", "main func(name: string) { name }\n");
    const at = ["--address", address];
    expect(here.remit("submit", "nightly.remit", "--input", "{}", "--cron", "0 3 * * *", ...at)).toMatchObject({
        code: 0,
        out: "nightly\n",
    });
    expect(here.remit("schedule", "trigger", "nightly", ...at).code).toBe(0);
    const begun = eventually(["schedule", "show", "nightly", ...at], ({ out }) => /run nightly-/.test(out));
    const [, run = ""] = /run (nightly-\S+)/.exec(begun.out) ?? [];
    eventually(["status", run, ...at], ({ code }) => code === 3);
    const { code, err } = here.remit("cancel", "nightly", ...at);
    expect({ code, err }).toMatchObject({
        code: 2,
        err: expect.stringContaining(`nightly is a schedule, and run ${run} is one that it began`),
    });
    expect(err).toContain("remit schedule delete nightly");
    expect(here.remit("status", run, ...at).code).toBe(3);
    expect(here.remit("cancel", run, ...at).code).toBe(0);
    expect(here.remit("schedule", "delete", "nightly", ...at).code).toBe(0);
});

test("a run that waits for a part of its input gets it by its name", () => {
    here.write("greet.remit", 'main func(name: string) { "Hello " + name }\n');
    const at = ["--address", address];
    const run = here.remit("submit", "greet.remit", "--input", "{}", ...at).out.trim();
    eventually(["status", run, ...at], ({ code }) => code === 3);
    expect(here.remit("signal", run, "nick", "Ada", ...at)).toMatchObject({ code: 2, err: expect.stringContaining("it waits for name") });
    expect(here.remit("signal", run, "name", "Ada", ...at, ...KEY).code).toBe(0);
    expect(here.remit("result", run, ...at)).toMatchObject({ code: 0, out: '"Hello Ada"\n' });
    here.write("twice.remit", "main func(count: number) { count * 2 }\n");
    const twice = here.remit("submit", "twice.remit", "--input", "{}", ...at).out.trim();
    eventually(["status", twice, ...at], ({ code }) => code === 3);
    expect(here.remit("signal", twice, "count", "nope", ...at, ...KEY)).toMatchObject({
        code: 2,
        err: expect.stringContaining("'nope' is no value that the run waits for: expected a number"),
    });
    expect(here.remit("signal", twice, "count", "21", ...at, ...KEY).code).toBe(0);
    expect(here.remit("result", twice, ...at)).toMatchObject({ code: 0, out: "42\n" });
});

test("a block goes on where Ctrl-C stops the run around it, and the command says how it is followed", async () => {
    here.write("long.remit", 'temporal static ( echo "there" >=> wait 1h )\n');
    const run = spawn(process.execPath, [BIN, "run", "long.remit", "--address", address], {
        cwd: here.folder,
        env: here.env,
        stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    run.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8");
    });
    const over = once(run, "close");
    const at = ["--address", address];
    // A node of the block has ended: it goes on there.
    while (!said.includes("done: echo")) await new Promise((resolve) => setTimeout(resolve, 50));
    run.kill("SIGINT");
    expect(await over).toEqual([130, null]);
    const [, block = ""] = /The block goes on on Temporal as run (\S+): remit status /.exec(said) ?? [];
    expect(block).toMatch(/\.blocks-block-0$/);
    expect(here.remit("status", block, ...at).out).toContain("running");
    expect(here.remit("cancel", block, ...at).code).toBe(0);
    expect(here.remit("result", block, ...at).code).toBe(130);
});

test("the metrics of a worker are read as Prometheus reads them", async () => {
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    expect(text).toMatch(/^temporal_workflow_completed\w*\{.*workflow_type="remitRun".*\} \d+$/m);
    expect(text).toContain("temporal_worker_task_slots_available");
});

const CLICK = { description: "Clicks", input: { type: "object" } };
const READ = { description: "Text of the page", readOnly: true } as const;

interface Served extends AsyncDisposable {
    readonly client: ServeClient;
    /** Ends it at once. */
    kill(): Promise<void>;
}

/** `remit serve --on temporal`, with what the model says. */
async function served(replies: Json): Promise<Served> {
    here.write("replies.json", JSON.stringify(replies));
    const model = `scripted:${join(here.folder, "replies.json")}`;
    const child = spawn(process.execPath, [BIN, "serve", "--on", "temporal", "--address", address, "--model", model], {
        cwd: here.folder,
        env: here.env,
        stdio: ["ignore", "inherit", "inherit"],
    });
    const end = async (signal: NodeJS.Signals): Promise<void> => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill(signal);
        await once(child, "exit");
    };
    let found: FoundServer | undefined;
    while (found === undefined) {
        if (child.exitCode !== null) throw new Error("the server did not start");
        await new Promise((resolve) => setTimeout(resolve, 50));
        found = servers(join(here.folder, "remit", "serve"))[0];
    }
    return { client: new ServeClient(found), kill: () => end("SIGKILL"), [Symbol.asyncDispose]: () => end("SIGINT") };
}

test("a turn of a server is a run there: a lent tool is called here, a call is approved here, and the stream shows it; the next is cancelled", async () => {
    await using at = await served([
        calls("owner", "read"),
        calls("owner", "click"),
        { text: "It is bought.", chunks: 3 },
        calls("owner", "read"),
    ]);
    const { client } = at;
    const { id } = await client.open();
    await client.lend(id, "read", READ);
    await client.lend(id, "click", CLICK);
    const turn = await client.submit(id, { text: "buy" });
    const seen = await watch(client, id, ended(turn.id), async (event, data) => {
        const about = data["id"] as string;
        if (event === "ask.requested") expect(await client.decide(id, data["ask"] as string, "once")).toEqual({ status: "accepted" });
        if (event === "call") expect(await client.result(id, about, { ok: true, value: "done" })).toEqual({ status: "accepted" });
    });
    const kinds = seen.map(({ event }) => event);
    expect(kinds.filter((one) => ["ask.requested", "ask.decided", "call"].includes(one))).toEqual([
        "call",
        "ask.requested",
        "ask.decided",
        "call",
    ]);
    const said = seen.filter(({ event }) => event === "turn.text").map(({ data }) => (data as { delta: string }).delta);
    expect(said.join("")).toBe("It is bought.");
    const steps = seen.filter(({ event }) => event === "turn.step").map(({ data }) => (data as { kind: string }).kind);
    // With the look into what was said before.
    expect(steps.filter((one) => one === "tool.ended").length).toBe(3);
    const run = `${id}.${turn.id}`;
    expect(await client.turn(id, turn.id)).toMatchObject({ status: "done", value: "It is bought.", run });
    const next = await client.submit(id, { text: "again" });
    const more = await watch(
        client,
        id,
        ended(next.id),
        async (event, data) => {
            if (event === "call" && data["turn"] === next.id) expect(await client.cancel(id, next.id)).toEqual({ status: "accepted" });
        },
        (await client.session(id)).seq,
    );
    expect(more.at(-1)?.data).toMatchObject({ status: "cancelled" });
    expect(here.remit("status", run, "--address", address)).toMatchObject({ code: 0, out: expect.stringContaining("done") });
    expect(here.remit("trace", "verify", run).code).toBe(0);
    expect(here.remit("status", `${id}.${next.id}`, "--address", address).out).toContain("stopped");
});

test("a server that is killed in the middle of a turn goes on with it: what has an outcome is not performed again", async () => {
    const rules = [
        { when: '"paid"', reply: { text: "bought" } },
        { when: '"clicked"', reply: calls("owner", "pay") },
        { when: "buy", reply: calls("owner", "click") },
    ];
    const done: string[] = [];
    const asked: Json[] = [];
    const reacts =
        ({ client }: Served, session: string, results: { readonly [tool: string]: string }) =>
        async (event: string, data: { readonly [key: string]: Json }): Promise<void> => {
            if (event === "ask.requested") {
                const options = data["options"] as string[];
                asked.push(options);
                await client.decide(session, data["ask"] as string, options.includes("again") ? "again" : "once");
            }
            if (event !== "call") return;
            const tool = data["tool"] as string;
            done.push(tool);
            const value = results[tool];
            if (value !== undefined) await client.result(session, data["id"] as string, { ok: true, value });
        };
    await using before = await served({ rules });
    const { id } = await before.client.open();
    await before.client.lend(id, "click", CLICK);
    await before.client.lend(id, "pay", CLICK);
    const turn = await before.client.submit(id, { text: "buy" });
    await watch(before.client, id, () => done.includes("pay"), reacts(before, id, { click: "clicked" }));
    await before.kill();
    await using after = await served({ rules });
    const { seq } = await after.client.session(id);
    await after.client.lend(id, "click", CLICK);
    await after.client.lend(id, "pay", CLICK);
    const seen = await watch(after.client, id, ended(turn.id), reacts(after, id, { pay: "paid" }), seq);
    expect(seen.at(-1)?.data).toMatchObject({ status: "done", value: "bought" });
    expect(done).toEqual(["click", "pay", "pay"]);
    // What became of the call that was under way is not known, so it is asked; that question says, too, that the tool was lent anew.
    const about = expect.arrayContaining(["once"]);
    expect(asked).toEqual([about, about, ["again", "give up"]]);
    expect(here.remit("trace", "verify", `${id}.${turn.id}`).code).toBe(0);
});

test("no server: one error that says what to do, and the command ends", async () => {
    const at = ["--address", "127.0.0.1:9"];
    const commands = [["submit", "shout.remit"], ["schedule", "list"], ["worker"], ["serve", "--port", "0", "--on", "temporal"]];
    const ended = await Promise.all(commands.map((words) => here.started({}, ...words, ...at).ran));
    for (const { code, err } of ended) {
        expect(code).toBe(1);
        expect(err.match(/^error: .*$/gm)).toEqual(["error: no Temporal server answers at 127.0.0.1:9"]);
        expect(err).toContain("remit temporal dev");
    }
});

test("Ctrl-C ends server and worker", async () => {
    dev.kill("SIGINT");
    const [code] = (await once(dev, "exit")) as [number | null];
    expect(code).toBe(0);
});

test("Ctrl-C in a terminal, which all of its processes get, ends a worker that is still being made, and its server", async () => {
    const started = spawn(process.execPath, [BIN, "temporal", "dev"], {
        cwd: here.folder,
        env: { ...here.env, XDG_CACHE_HOME: join(here.folder, "new") },
        stdio: ["ignore", "ignore", "pipe"],
        detached: true,
    });
    let said = "";
    for await (const [chunk] of on(started.stderr as Readable, "data")) {
        said += String(chunk);
        if (said.includes("answers at")) break;
    }
    process.kill(-(started.pid as number), "SIGINT");
    expect(await once(started, "exit")).toEqual([null, "SIGINT"]);
    const server = /answers at (\S+?): /.exec(said)?.[1] ?? "";
    const away = `no Temporal server answers at ${server}`;
    // Before that, one that is ending goes away in the middle of a call.
    expect(eventually(["submit", "shout.remit", "--address", server], ({ err }) => err.includes(away))).toMatchObject({ code: 1 });
});
