/** Programs and settings that cannot work: each gets one error that says where and what to do, and leaves nothing behind in the ledger or on the server. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BIN, type Ran, type Room, room } from "./remit.ts";

let here: Room;
const started: ChildProcess[] = [];
let address = "";
let provider = "";

/** What a process says that matches. */
async function says(process: ChildProcess, from: "stdout" | "stderr", wanted: RegExp): Promise<string> {
    started.push(process);
    let said = "";
    return new Promise((resolve, reject) => {
        process[from]?.on("data", (chunk: Buffer) => {
            said += chunk.toString("utf8");
            const found = wanted.exec(said)?.[1];
            if (found !== undefined) resolve(found);
        });
        process.once("exit", () => reject(new Error(`it ended: ${said}`)));
    });
}

const REFUSES = `import { createServer } from "node:http";
const server = createServer(({ method }, reply) => method === "GET" ? reply.end("a page") : reply.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"Incorrect API key provided"}}'));
server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port + "."));
`;

beforeAll(async () => {
    here = room();
    here.write("401.mjs", REFUSES);
    here.write("fine.remit", 'temporal static (\n    echo "hi"\n)\n');
    const how = { cwd: here.folder, env: here.env } as const;
    const dev = spawn(process.execPath, [BIN, "temporal", "dev", "--workspace", here.folder], {
        ...how,
        stdio: ["ignore", "ignore", "pipe"],
    });
    address = await says(dev, "stderr", /answers at (\S+?): [\s\S]*This worker/);
    const refuses = spawn(process.execPath, ["401.mjs"], { ...how, stdio: ["ignore", "pipe", "inherit"] });
    provider = `http://127.0.0.1:${await says(refuses, "stdout", /port (\d+)\./)}/v1#m`;
});
afterAll(async () => {
    for (const one of started) {
        if (one.exitCode !== null || one.signalCode !== null) continue;
        // In good order, so that a development server ends with its command.
        one.kill("SIGINT");
        await once(one, "exit");
    }
    here.clear();
});

const at = (): string[] => ["--address", address];
function submitted(source: string, ...options: string[]): Ran {
    here.write("bad.remit", source);
    return here.remit("submit", "bad.remit", "--wait", ...at(), ...options);
}
const runs = (): string[] => (JSON.parse(here.remit("runs", "--json").out) as { id: string }[]).map(({ id }) => id);

test.each([
    ["an unknown verb", 'temporal static (\n    reed "a.md"\n)\n', "bad.remit:2:5", "did you mean 'read'?"],
    ["too many arguments", 'temporal static (\n    echo "a" "b"\n)\n', "bad.remit:2:14", "it takes text?, input?"],
    [
        "blocks in a circle",
        "temporal static ( echo b ) as a\ntemporal static ( echo a ) as b\n",
        "bad.remit:1:24",
        "'b' is given by a later block, which waits for this one",
    ],
    ["an option that is none", 'temporal static ( echo "a" with { timeout: 3 } )\n', "bad.remit:1:44", "30s, 5 min"],
])("%s is told before anything begins", (_, source, place, what) => {
    const before = runs();
    const { code, err } = submitted(source);
    expect(code).toBe(1);
    expect(err).toContain(place);
    expect(err).toContain(what);
    expect(err.match(/error [A-Z_]+:/g)).toHaveLength(1);
    expect(runs()).toEqual(before);
});

test.each([
    [
        "a credential without an identity",
        'temporal static (\n    fetch "http://127.0.0.1:1/" with { credential: oauth("github") }\n)\n',
        "null",
        "bad.remit:2:5: denied: ",
    ],
    ["an input that does not fit", "main func(input: { name: string }) { input.name }\n", '{"name": 7}', "contract: "],
])("%s is told before a server is looked for", (_, source, input, what) => {
    const before = runs();
    here.write("bad.remit", source);
    const { code, err } = here.remit("submit", "bad.remit", "--input", input, "--address", "127.0.0.1:9");
    expect(code).toBe(1);
    expect(err).toContain(what);
    expect(err).not.toContain("Temporal");
    expect(runs()).toEqual(before);
});

test.each([
    ["submit", "no server", ["--address", "127.0.0.1:9"], "no Temporal server answers at 127.0.0.1:9", "remit temporal dev"],
    [
        "submit",
        "another namespace",
        ["--namespace", "nope"],
        "the Temporal server has no namespace 'nope'",
        "temporal operator namespace create nope",
    ],
    [
        "submit",
        "a queue without a worker",
        ["--queue", "nobody"],
        "no worker takes runs from the queue 'nobody'",
        "remit worker --queue nobody",
    ],
])("%s --wait to %s: one error, and no run", (command, _, options, what, help) => {
    const before = runs();
    const { code, err } = here.remit(command, "fine.remit", "--wait", ...at(), ...options);
    expect(code).toBe(1);
    expect(err.split("\n").filter((line) => line.includes("error:"))).toEqual([`error: ${what}`]);
    expect(err).toContain(help);
    expect(runs()).toEqual(before);
});

test.each([
    ["no server", ["--address", "127.0.0.1:9"], "no Temporal server answers at 127.0.0.1:9", "remit temporal dev"],
    [
        "another namespace",
        ["--namespace", "nope"],
        "the Temporal server has no namespace 'nope'",
        "temporal operator namespace create nope",
    ],
    ["a queue without a worker", ["--queue", "nobody"], "no worker takes runs from the queue 'nobody'", "remit worker --queue nobody"],
])("a block of a program here, and %s: the failure stands at the block, which left no run", (_, options, what, help) => {
    const before = runs();
    const { code, err } = here.remit("run", "fine.remit", ...at(), ...options);
    expect(code).toBe(1);
    expect(err).toContain(`fine.remit:1:1: unreachable: ${what}`);
    expect(err).toContain(help);
    expect(runs()).toHaveLength(before.length + 1);
    expect(runs().filter((id) => id.includes("."))).toEqual(before.filter((id) => id.includes(".")));
});

test("a stage that names a queue without a worker: one error with its line, and no run", () => {
    const before = runs();
    here.write("far.remit", 'temporal static (\n    read "a.md" with { queue: "nobody" }\n)\n');
    const submitted = here.remit("submit", "far.remit", "--wait", ...at());
    const ran = here.remit("run", "far.remit", ...at());
    for (const { code, err } of [submitted, ran]) {
        expect(code).toBe(1);
        expect(err).toContain("no worker takes runs from the queue 'nobody'");
        expect(err).toContain("remit worker --queue nobody; far.remit:2:5 names it");
    }
    expect(runs().filter((id) => id.includes("."))).toEqual(before.filter((id) => id.includes(".")));
});

test("submitted without waiting, a run for a queue without a worker is there, and the command says that none takes it", () => {
    const { code, err } = here.remit("submit", "fine.remit", ...at(), "--queue", "later");
    expect(code).toBe(0);
    expect(err).toContain("no worker takes runs from the queue 'later' now: remit worker --queue later starts one");
    const status = here.remit("status", "last", ...at());
    expect(status.code).toBe(1);
    expect(status.err).toContain("error: no worker takes runs from the queue 'later'");
    expect(status.err).toContain("remit worker --queue later");
    here.write("far.remit", 'temporal static (\n    read "a.md" with { queue: "nobody" }\n)\n');
    const far = here.remit("submit", "far.remit", ...at());
    expect(far.code).toBe(0);
    expect(far.err).toContain(
        "no worker takes runs from the queue 'nobody' now: start one with remit worker --queue nobody; far.remit:2:5 names it",
    );
    expect(here.remit("cancel", "last", ...at()).code).toBe(0);
});

test("of a run that is not on Temporal the ledger tells, whether a server is there or not", () => {
    here.write("local.remit", 'memory static ( echo "hi" )\n');
    expect(here.remit("run", "local.remit").code).toBe(0);
    const away = ["--address", "127.0.0.1:9"];
    expect(here.remit("status", "last", ...away)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^\S+ {2}done {2}\d+ steps\n$/),
        err: "",
    });
    expect(here.remit("result", "last", ...away)).toMatchObject({ code: 0, out: '"hi"\n' });
    expect(here.remit("cancel", "last", ...away)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/error: run \S+ has ended: done\n/),
    });
    here.write("asks.remit", 'memory static ( approve "May it?" )\n');
    expect(here.remit("run", "asks.remit", "--park").code).toBe(3);
    for (const [place, why] of [
        [away, /^no Temporal server answers at 127\.0\.0\.1:9: /],
        [at(), /^run \S+ has no workflow on this Temporal server: /],
    ] as const) {
        expect(here.remit("status", "last", ...place)).toMatchObject({
            code: 3,
            out: expect.stringContaining("  waiting  "),
            err: expect.stringMatching(why),
        });
        const { code, err } = here.remit("signal", "last", "name", "x", ...place);
        expect(code).toBe(2);
        expect(err).toMatch(/error: the ledger has no execution on Temporal for run \S+: it is waiting\n/);
    }
});

test("a run that is waited for tells of what it waits for, and how it is given", async () => {
    here.write("bad.remit", `import llm M from "${provider}"\ntemporal static (\n    ask "hi" with { credential: env("NOPE_KEY") }\n)\n`);
    const args = [BIN, "submit", "bad.remit", "--wait", ...at()];
    const waits = spawn(process.execPath, args, { cwd: here.folder, env: here.env, stdio: ["ignore", "ignore", "pipe"] });
    expect(await says(waits, "stderr", /(waits for an answer:[\s\S]*NOPE_KEY[\s\S]*remit approve \S+ \S+)/)).toContain("NOPE_KEY");
    waits.kill("SIGKILL");
});

test("a run that lacks a credential goes on once it is given, and a worker was told to look again", () => {
    const { origin } = new URL(provider);
    here.write("late.remit", `temporal static (\n    fetch "${origin}/" with { credential: file("late.txt") }\n)\n`);
    const run = here.remit("submit", "late.remit", ...at()).out.trim();
    const waits = (): Ran => {
        for (;;) {
            const status = here.remit("status", run, ...at());
            if (status.code !== 0) return status;
        }
    };
    expect(waits().out).toContain("late.txt");
    expect(here.remit("approve", run, ...at())).toMatchObject({ code: 0, err: "answered: once\n" });
    expect(waits()).toMatchObject({ code: 3, out: expect.stringContaining("late.txt") });
    here.write("late.txt", "key");
    chmodSync(join(here.folder, "late.txt"), 0o600);
    expect(here.remit("approve", run, ...at())).toMatchObject({ code: 0, err: "answered: once\n" });
    expect(here.remit("result", run, ...at())).toMatchObject({ code: 0, out: '"a page"\n' });
});

test("a worker for a namespace that is not there says so", () => {
    const { code, err } = here.remitProcess({}, "worker", ...at(), "--namespace", "nope");
    expect(code).toBe(1);
    expect(err).toContain("error: the Temporal server has no namespace 'nope'");
});

test("a provider that refuses the key: the failure names the stage and the key", () => {
    const { code, err } = submitted(`import llm M from "${provider}"\ntemporal static (\n    ask "hi"\n)\n`);
    expect(code).toBe(1);
    expect(err).toContain("bad.remit:3:5");
    expect(err).toContain("ask#0 failed");
    expect(err).toContain("does not know the key: Incorrect API key provided");
});

test("a value over the limit: the failure names the line and the limit", () => {
    const source =
        'func big(x) {\n    t = "0123456789abcdef"\n    loop until false max 30 { t = t + t }\n    t\n}\ntemporal static ( big )\n';
    const { code, err } = submitted(source);
    expect(code).toBe(1);
    expect(err).toContain("bad.remit:3:35");
    expect(err).toContain("a string may hold 67108864 characters");
    expect(err).toContain("pass less at once");
});
