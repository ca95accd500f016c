/** `remit translate`: what is shown before the question, and that nothing runs without a yes. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { BIN, type Ran, type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
    at.write("a.md", "one\n");
    at.write("b.md", "two\n");
});
afterEach(() => at.clear());

const PROGRAM = 'memory static ( ( read "a.md" <*> read "b.md" ) >=> merge >=> save "out.md" ) as both\n';
const script = (...replies: string[]): string[] => {
    at.write("model.json", JSON.stringify(replies));
    return ["--model", "scripted:model.json"];
};

test("without a terminal the program is the result, and nothing runs", () => {
    const { code, out, err } = at.remit("translate", "compare", "a.md", "and", "b.md", ...script(`\`\`\`remit\n${PROGRAM}\`\`\``));
    expect({ code, out }).toEqual({ code: 0, out: PROGRAM });
    expect(err).toMatch(/save#0 +"out\.md" +after merge#0/);
    expect(err).toMatch(/user +verbs \(tool file:\/\/workspace\) +may/);
    expect(existsSync(join(at.folder, "out.md"))).toBe(false);
    expect(at.remit("check", "--json", "x.remit").code).toBe(1);
});

test("the answer is mended with what the checker says; one that never fits is told with its mistakes", () => {
    const mended = at.remit("translate", "x", ...script("I cannot", "memory static ( red )", PROGRAM));
    expect(mended).toMatchObject({ code: 0, out: PROGRAM, err: expect.stringContaining("3 answers") });
    const never = at.remit("translate", "x", "--attempts", "2", ...script(...Array(2).fill("memory static ( \u001b[2Jred )")));
    expect(never).toMatchObject({ code: 1, out: "" });
    expect(never.err).toContain("the model gave no program in 2 answers");
    expect(never.err).toContain("what is wrong with it");
    expect(never.err).not.toContain("\u001b[2J");
});

test("--yes runs it; what is not trusted is asked about all the same, and where nobody can be asked it is a no", () => {
    const reading = 'memory static ( read "a.md" )\n';
    expect(at.remit("translate", "x", "--yes", ...script(reading))).toMatchObject({ code: 0, out: '"one\\n"\n' });
    const saving = at.remit("translate", "x", "--yes", ...script(PROGRAM));
    expect(saving).toMatchObject({ code: 1, out: "", err: expect.stringContaining("save was not allowed") });
    expect(existsSync(join(at.folder, "out.md"))).toBe(false);
});

test("--plan-only asks and runs nothing, also with --yes; -o writes the program, and overwrites none", () => {
    const { code, err } = at.remit("translate", "x", "--plan-only", "--yes", "--output", "p.remit", ...script(PROGRAM));
    expect(code).toBe(0);
    expect(err).toContain("written to p.remit");
    expect(readFileSync(join(at.folder, "p.remit"), "utf8")).toBe(PROGRAM);
    expect(existsSync(join(at.folder, "out.md"))).toBe(false);
    expect(at.remit("fmt", "--check", "p.remit").code).toBe(0);
    const again = at.remit("translate", "x", "--output", "p.remit", ...script("memory static ( echo 1 )"));
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining("p.remit is there already") });
    expect(readFileSync(join(at.folder, "p.remit"), "utf8")).toBe(PROGRAM);
});

test("a schedule is the line to submit it with, and begins nothing", () => {
    const { err, out } = at.remit(
        "translate",
        "every",
        "morning",
        "compare",
        "them",
        "--output",
        "p.remit",
        ...script(`// schedule: 0 7 * * *\n${PROGRAM}`),
    );
    expect(err).toContain("remit submit p.remit --cron '0 7 * * *'");
    expect(out).toBe("");
    expect(at.remit("runs", "--json").out).not.toContain("p.remit");
});

test("--json gives the program, its plans and every answer; the request may come from a file or standard input", () => {
    at.write("request.txt", "compare them daily");
    const { out } = at.remit("translate", "@request.txt", "--json", ...script("no", PROGRAM));
    expect(JSON.parse(out)).toMatchObject({
        source: PROGRAM,
        schedule: "0 8 * * *",
        plans: [{ nodes: expect.objectContaining({ length: 4 }) }],
        attempts: [{ answer: "no" }, { problems: [] }],
    });
    expect(at.remitWith({ input: "compare them" }, "translate", "-", ...script(PROGRAM)).out).toBe(PROGRAM);
});

test.each([
    ["y\r", true],
    ["n\r", false],
    ["\u0003", false],
])("on a terminal it asks; %j runs it: %s", (input, runs) => {
    const line = [BIN, "translate", "x", ...script('memory static ( read "a.md" )')].map((one) => `'${one}'`).join(" ");
    return new Promise<void>((done, fail) => {
        const shell = spawn("script", ["-qec", `stty cols 100; '${process.execPath}' ${line}`, "/dev/null"], {
            cwd: at.folder,
            env: { ...at.env, TERM: "xterm" },
        });
        let seen = "";
        let answered = false;
        shell.stdout.on("data", (piece) => {
            seen += piece;
            if (answered || !seen.includes("Run it?")) return;
            answered = true;
            shell.stdin.write(input);
        });
        shell.on("error", fail);
        shell.on("close", () => {
            try {
                expect(seen).toContain('read "a.md"');
                expect(seen.includes("· done ·")).toBe(runs);
                expect(seen.includes('"one\\n"')).toBe(runs);
                done();
            } catch (error) {
                fail(error);
            }
        });
    });
});

test("a model behind HTTP translates, and its failure is told as any", async () => {
    await using provider = await startFakeProvider({ text: PROGRAM });
    const env = { OPENAI_API_KEY: "sk-test-0123456789abcdef", OPENAI_BASE_URL: `${provider.url}/v1` };
    const remit = (...args: string[]): Promise<Ran> => at.started({ env }, ...args).ran;
    expect(await remit("translate", "compare a.md and b.md", "--model", "openai://gpt-5-mini")).toMatchObject({ code: 0, out: PROGRAM });
    provider.script({ status: 401, code: "invalid_api_key", message: "no such key" });
    const failed = await remit("translate", "x", "--model", "openai://gpt-5-mini");
    expect(failed).toMatchObject({ code: 1, out: "" });
    expect(failed.err).toContain("no such key");
});
