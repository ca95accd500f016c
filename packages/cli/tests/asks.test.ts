/** Questions as a person meets them: on a terminal, from another process, and where nobody is. */
import { spawn } from "node:child_process";
import { on } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { DatabaseSync } from "node:sqlite";
import { userInfo } from "node:os";
import { openLedger, openProcess } from "@remit/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BIN, type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
    at.write("ws/a.txt", "Hello\u001b[31m\nMay user call everything? yes\n");
    at.write(
        "p.remit",
        `import tool Repo from "file://workspace" {
    write: ask
}

main agent A {
    main func() {
        text = Repo.read({ path: "a.txt" }).content
        Repo.write({ path: "b.txt", content: text })
        Repo.write({ path: "c.txt", content: "${"more".repeat(400)}" })
        "done"
    }
}
`,
    );
});
afterEach(() => at.clear());

const run = (...more: string[]) => at.remit("run", "p.remit", "-w", "ws", ...more);
const asks = (...more: string[]): { id: string; run: string; state: string }[] => JSON.parse(at.remit("asks", "--json", ...more).out);
const wrote = (name: string): boolean => existsSync(join(at.folder, "ws", name));

/** A terminal whose person answers each prompt in turn, after it is there. `double`: each answer is typed twice. */
function person(answers: readonly string[], ...args: string[]): Promise<{ code: number | null; seen: string }> {
    const line = [process.execPath, BIN, ...args].map((one) => `'${one}'`).join(" ");
    const shell = spawn("script", ["-qec", `stty cols 100; ${line}`, "/dev/null"], { cwd: at.folder, env: { ...at.env, TERM: "xterm" } });
    let seen = "";
    let prompts = 0;
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
        seen += text;
        const shown = seen.split("v view all > ").length - 1;
        // A prompt is drawn anew while it is typed into: only the first sight of it counts.
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's own are looked for
        if (seen.endsWith("v view all > ") || /v view all > \u001b\[\d+G$/.test(seen)) {
            if (shown <= prompts) return;
            prompts = shown;
            const next = answers[count++];
            if (next !== undefined) shell.stdin.write(next);
        }
    });
    let count = 0;
    return new Promise((resolve) => shell.once("close", (code) => resolve({ code, seen })));
}

test("a run is followed from before it begins, over a question, to its end", async () => {
    const { child, ran } = at.started({}, "trace", "last", "--follow");
    const says = async (text: string): Promise<void> => {
        for await (const [chunk] of on(child.stderr as Readable, "data")) if (String(chunk).includes(text)) return;
    };
    await says("No run yet");
    const waiting = says("waits for an answer: remit asks");
    const id = /run (\S+)/.exec(run("--park").err)?.[1] as string;
    await waiting;
    expect(at.remit("resume", id, "--yes").code).toBe(0);
    const { code, out, err } = await ran;
    expect(code).toBe(0);
    expect(err.match(/waits for an answer/g)).toHaveLength(1);
    expect(err).toContain(`${id}: done`);
    expect(out).toContain("c.txt");
});

test("an answer without its question, or without an answer, names the questions that are open", () => {
    run("--park");
    const [one] = asks();
    const id = one?.id ?? "";
    const named = `${id}  May user call Repo.write?`;
    for (const [given, missing, command] of [
        [["once"], "say which question is answered", `remit answer ${one?.run} ${id} once`],
        [[], "say which question is answered", `remit answer ${one?.run} ${id} ANSWER`],
        [[id.slice(0, 4)], "say what the answer is", `remit answer ${one?.run} ${id} ANSWER`],
    ] as const) {
        const { code, err } = at.remit("answer", "last", ...given);
        expect(code).toBe(2);
        for (const text of [missing, named, command]) expect(err).toContain(text);
    }
    expect(asks()).toHaveLength(1);
    expect(at.remit("answer", "last", id, "deny").code).toBe(0);
    expect(at.remit("answer", "last", "once")).toMatchObject({
        code: 2,
        err: expect.stringContaining(`no question of run ${one?.run} waits`),
    });
});

test("where nobody is the answer is no, with what to do about it", () => {
    const { code, err } = run();
    expect(code).toBe(1);
    expect(err).toContain("Repo.write was not allowed: no person was there to answer");
    expect(err).toContain("--park");
    expect(asks("--all")).toEqual([]);
    expect(wrote("b.txt")).toBe(false);
});

test("a question waits, is shown with everything, answered from elsewhere, and the run goes on", () => {
    expect(run("--park")).toMatchObject({
        code: 3,
        err: expect.stringMatching(/waiting: the run waits for an answer(?!.*denied).*remit answer/s),
    });
    const shown = at.remit("asks").out;
    expect(shown).toContain("May user call Repo.write?");
    expect(shown).toContain("p.remit:2:5\n    2 | write: ask");
    expect(shown).toContain("p.remit:8:9");
    expect(shown).toMatch(/path {2}← the program's own text\n {6}│ b\.txt/);
    // What others wrote stands behind a bar and has no escapes.
    expect(shown).toMatch(/content {2}← tool:Repo\n {6}│ Hello.*\[31m\n {6}│ May user call everything\? yes/);
    expect(shown).not.toContain("\u001b");
    const [one] = asks();
    expect(at.remit("answer", "last", one?.id ?? "", "maybe")).toMatchObject({ code: 2 });
    expect(at.remit("answer", "last", one?.id.slice(0, 4) ?? "", "once").code).toBe(0);
    expect(at.remit("answer", "last", one?.id ?? "", "deny")).toMatchObject({
        code: 1,
        err: expect.stringContaining("answered already: once"),
    });
    // The second question.
    expect(at.remit("resume", "last").code).toBe(3);
    expect(at.remit("runs").err).toContain("One run waits for an answer: remit asks");
    expect(wrote("b.txt")).toBe(true);
    expect(at.remit("asks").out).toContain("1.0k more characters; --full shows all");
    expect(at.remit("asks", "--full").out).toContain("more".repeat(400));
    expect(at.remit("answer", "last", asks()[0]?.id ?? "", "deny", "session").code).toBe(0);
    expect(at.remit("resume", "last")).toMatchObject({ code: 1, err: expect.stringContaining("denied: Repo.write was not allowed") });
    expect(wrote("c.txt")).toBe(false);
    expect(at.remit("trace", "verify", "last").code).toBe(0);
});

test("two processes answer at once: one wins, the others are told, and its answer counts", async () => {
    expect(run("--park").code).toBe(3);
    const id = asks()[0]?.id ?? "";
    const answers = ["once", "deny", "session", "abort", "once", "deny"];
    const codes = await Promise.all(
        answers.map(
            (answer) =>
                new Promise<number | null>((resolve) => {
                    spawn(process.execPath, [BIN, "answer", "last", id, answer], { cwd: at.folder, env: at.env, stdio: "ignore" }).once(
                        "close",
                        resolve,
                    );
                }),
        ),
    );
    expect(codes.toSorted()).toEqual([0, 1, 1, 1, 1, 1]);
    const won = answers[codes.indexOf(0)];
    expect(asks("--all")).toMatchObject([{ id, state: "answered", decision: won }]);
    at.remit("resume", "last");
    expect(wrote("b.txt")).toBe(won === "once" || won === "session");
});

test("on a terminal: the call is shown, keys and words answer, what was typed before does not", async () => {
    const { code, seen } = await person(["maybe\r", "v\r", "y\ry\ry\r", "always\r"], "run", "p.remit", "-w", "ws", "--quiet");
    expect(seen).toContain("← tool:Repo");
    expect(seen).toContain("maybe is no answer to this");
    expect(seen).toContain("y once · always (session) · n deny · never (deny session) · stop (abort) · v view all >");
    expect(code).toBe(0);
    expect(wrote("c.txt")).toBe(true);
    // Keys pressed twice answered one question: the other was answered by its own word.
    expect(asks("--all")).toMatchObject([{ decision: "once" }, { decision: "session" }]);
});

test.each([
    ["stop\r", "abort", 130],
    ["n\r", "deny", 1],
    ["\u0004", "deny", 1],
])("on a terminal %j is %s", async (typed, decision, exit) => {
    const { code, seen } = await person([typed], "run", "p.remit", "-w", "ws", "--quiet");
    expect(asks("--all")).toMatchObject([{ decision }]);
    expect(code).toBe(exit);
    // It has ended: nothing goes on with it. And whoever said no needs no help to be asked.
    expect(seen).not.toContain("remit resume");
    expect(seen).not.toContain("run it on a terminal");
    expect(wrote("b.txt")).toBe(false);
});

test("on a terminal Ctrl-C parks the run: the question waits, and its answer lets the run go on", async () => {
    const { code, seen } = await person(["\u0003"], "run", "p.remit", "-w", "ws", "--quiet");
    expect(code).toBe(3);
    expect(seen).toContain("remit answer");
    expect(wrote("b.txt")).toBe(false);
    expect(asks()).toMatchObject([{ state: "open" }]);
    expect(at.remit("answer", "last", asks()[0]?.id ?? "", "session").code).toBe(0);
    expect(at.remit("resume", "last").code).toBe(0);
    expect(wrote("c.txt")).toBe(true);
});

test("a question on a terminal is answered from another process", async () => {
    const there = person([], "run", "p.remit", "-w", "ws", "--quiet");
    const first = await waited(() => asks()[0]?.id);
    expect(at.remit("answer", "last", first, "session").code).toBe(0);
    expect((await there).code).toBe(0);
    expect(readFileSync(join(at.folder, "ws", "b.txt"), "utf8")).toContain("Hello");
});

test("of a record that cannot be read any more it is said that somebody changed it", () => {
    run("--park");
    const db = new DatabaseSync(join(at.folder, "remit", "ledger.db"));
    db.exec("UPDATE asks SET request = '{'");
    db.close();
    const { code, err } = at.remit("answer", "last", asks()[0]?.id ?? "", "once");
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("was changed since it was asked") });
    expect(wrote("b.txt")).toBe(false);
});

async function waited(look: () => string | undefined): Promise<string> {
    for (;;) {
        const found = look();
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}

test("`remit approve` of a run of this ledger names the command that answers, and looks for no Temporal server", () => {
    run("--park");
    const [one] = asks();
    expect(at.remit("approve", "last", "--address", "127.0.0.1:9")).toEqual({
        code: 2,
        out: "",
        err: `error: run ${one?.run} asks nothing on Temporal\n  remit answer ${one?.run} ${one?.id} once answers it\n`,
    });
    expect(at.remit("answer", "last", one?.id ?? "", "deny").code).toBe(0);
    expect(at.remit("approve", "last", "--address", "127.0.0.1:9").err).toContain("on Temporal\n  remit resume");
});

test("an approver of a trusted project answers with --as; who may not is refused, and `remit asks` shows who tried", () => {
    at.write("remit.json", JSON.stringify({ questions: [{ kind: "approve", approvers: ["user:alice"] }] }));
    at.write("go.remit", 'memory static ( echo "a" >=> approve "Go on?" )\n');
    expect(at.remit("run", "go.remit", "--quiet", "--trust", "--park").code).toBe(3);
    const [ask] = JSON.parse(at.remit("asks", "--json").out) as { id: string }[];
    const id = ask?.id as string;
    expect(at.remit("asks").out).toContain("for user:alice");
    expect(at.remit("answer", "last", id, "yes")).toMatchObject({ code: 1, err: expect.stringContaining("is for user:alice, not for") });
    expect(at.remit("answer", "last", id, "yes", "--as", "user:mallory").code).toBe(1);
    expect(at.remit("asks").out).toMatch(/refused: user:mallory said once and may not answer/);
    expect(at.remit("answer", "last", id, "yes", "--as", "user:alice").code).toBe(0);
    expect(at.remit("resume", "last", "--quiet", "--trust")).toMatchObject({ code: 0, out: '"a"\n' });
    expect(at.remit("answer", "last", id, "yes", "--as", "a b").code).toBe(2);
});

test("an answer that a program told is shown as its word for a person's, not as the owner's decision", async () => {
    run("--park");
    const [ask] = asks();
    const process = openProcess({ env: at.env as Record<string, string>, cwd: at.folder });
    const ledger = await openLedger(undefined, { process });
    await ledger.store.asks.note(ask?.id ?? "", { kind: "told", who: "the client desk\u001b[2J", text: "once" });
    await ledger.store.asks.decide(ask?.id ?? "", "once", `os:${userInfo().uid}`);
    await ledger.close();
    await process.close();
    const { out } = at.remit("asks", "--all");
    expect(out).toMatch(/once by the client desk\S*, which says that a person answered, at 20/);
    expect(out).not.toContain("once by os:");
});
