/** The command line against a real Temporal server: one command starts it with a worker, others begin, ask about and answer runs there. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BIN, type Room, room } from "./remit.ts";

let here: Room;
let dev: ChildProcess;
let address = "";

beforeAll(async () => {
    here = room();
    here.write("shout.remit", 'func shout(text: string) { text.upper() + "!" }\ntemporal static ( shout "hi" >=> shout ) as out\n');
    here.write(
        "save.remit",
        'import tool Files from "file://workspace" { write: ask }\nmain func(text: string) { Files.write({ path: "out.txt", content: text })  "saved" }\n',
    );
    dev = spawn(process.execPath, [BIN, "temporal", "dev", "--workspace", here.folder], {
        cwd: here.folder,
        env: here.env,
        stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    await new Promise<void>((resolve, reject) => {
        dev.stderr?.on("data", (chunk: Buffer) => {
            said += chunk.toString("utf8");
            address = /answers at (\S+?)\.\n/.exec(said)?.[1] ?? "";
            if (said.includes("This worker")) resolve();
        });
        dev.once("exit", () => reject(new Error(`the server did not start: ${said}`)));
    });
});
afterAll(async () => {
    if (dev.exitCode === null) dev.kill("SIGKILL");
    here.clear();
});

test("a run submitted and waited for, and a program here whose block runs there", () => {
    expect(here.remit("submit", "shout.remit", "--address", address, "--wait")).toMatchObject({ code: 0, out: '"HI!!"\n' });
    expect(here.remit("run", "shout.remit", "--address", address)).toMatchObject({ code: 0, out: '"HI!!"\n' });
    expect(here.remit("trace", "verify").code).toBe(0);
});

test("a question is shown, answered and followed by the value", () => {
    const run = here.remit("submit", "save.remit", "--address", address, "--workspace", here.folder, "--input", '{"text":"x"}').out.trim();
    let status = here.remit("status", run, "--address", address);
    while (status.code === 0 && !status.out.includes("done")) status = here.remit("status", run, "--address", address);
    expect(status).toMatchObject({ code: 3 });
    expect(status.out).toContain("May user call Files.write?");
    expect(here.remit("approve", run, "--address", address).code).toBe(0);
    expect(here.remit("result", run, "--address", address)).toMatchObject({ code: 0, out: '"saved"\n' });
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
    let status = here.remit("status", "last", "--address", address);
    while (status.code === 0) status = here.remit("status", "last", "--address", address);
    expect(here.remit("approve", "last", "--address", address).code).toBe(0);
    do status = here.remit("status", "last", "--address", address);
    while (status.code === 0);
    expect(here.remit("resume", "last", "--yes")).toMatchObject({ code: 2, err: expect.stringContaining("--on memory takes it over") });
    const back = here.remit("resume", "last", "--on", "memory", "--yes", "--address", address);
    expect(back).toMatchObject({ code: 0, out: '"both"\n', err: expect.stringContaining("Temporal let run") });
    expect(here.remit("trace", "verify").code).toBe(0);
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
    let run = "";
    while (run === "") run = /run (\S+)/.exec(here.remit("schedule", "show", "shout", ...at).out)?.[1] ?? "";
    // The run is in the ledger once its workflow has begun.
    while (here.remit("result", run, ...at).code !== 0);
    expect(here.remit("result", run, ...at)).toMatchObject({ code: 0, out: '"HI!!"\n' });
    expect(here.remit("schedule", "delete", "shout", ...at).code).toBe(0);
    expect(here.remit("schedule", "mend", "shout", ...at)).toMatchObject({ code: 2 });
});

test("a run that waits for a part of its input gets it by its name", () => {
    here.write("greet.remit", 'main func(name: string) { "Hello " + name }\n');
    const at = ["--address", address];
    const run = here.remit("submit", "greet.remit", "--input", "{}", ...at).out.trim();
    let status = here.remit("status", run, ...at);
    while (status.code === 0) status = here.remit("status", run, ...at);
    expect(here.remit("signal", run, "nick", "Ada", ...at)).toMatchObject({ code: 2, err: expect.stringContaining("it waits for name") });
    expect(here.remit("signal", run, "name", "Ada", ...at).code).toBe(0);
    expect(here.remit("result", run, ...at)).toMatchObject({ code: 0, out: '"Hello Ada"\n' });
});

test("no server: one error that says what to do", () => {
    const { code, err } = here.remit("submit", "shout.remit", "--address", "127.0.0.1:9");
    expect(code).not.toBe(0);
    expect(err).toContain("no Temporal server answers at 127.0.0.1:9");
    expect(err).toContain("remit temporal dev");
});

test("Ctrl-C ends server and worker", async () => {
    dev.kill("SIGINT");
    const [code] = (await once(dev, "exit")) as [number | null];
    expect(code).toBe(0);
});
