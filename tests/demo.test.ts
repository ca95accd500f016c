/** What `npm run demo` shows after its set-up, with the scripted model in the small one's place. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ran, room as testRoom } from "../packages/cli/tests/remit.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let room: string;
beforeAll(() => {
    // inside the checkout, so that the example's own server finds the checkout's packages
    room = mkdtempSync(join(root, ".tools-test-"));
    cpSync(join(root, "examples", "support-desk"), room, { recursive: true });
    cpSync(join(root, "examples", "fix-build"), join(room, "fix-build"), { recursive: true });
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

function remit(...args: string[]): Ran {
    const env = { REMIT_MODEL: `scripted:${join(room, "replies.json")}`, REMIT_LEDGER: join(room, "ledger.db") };
    return testRoom(room).remitWith({ env, cwd: "data" }, ...args);
}

test("works in parallel on real files and an MCP server, refuses wrong answers, and shows what the model saw", () => {
    const run = remit("run", join(room, "main.remit"), "--input", '{"inbox": "inbox"}', "--workspace", join(room, "data"), "--trust");
    expect(run.code).toBe(0);
    // the value alone is on standard output
    expect(JSON.parse(run.out)).toEqual(JSON.parse(readFileSync(join(room, "expected.json"), "utf8")));
    expect(run.err).toMatch(/Answered by a scripted model .*no model at all/);
    expect(run.err).toMatch(/one line: export REMIT_MODEL=/);

    const drafts = readFileSync(join(room, "data", "drafts.md"), "utf8");
    expect(drafts).toContain("## inbox/01-parcel.txt\n\nYour order A-1042 (");
    expect(drafts).toContain("## inbox/05-hours.txt\n\n(no order number found: a person should read this one)");
    expect(drafts.match(/^## /gm)).toHaveLength(6);

    const seen = remit("explain", "last", "--full", "--at", "parallel[5]/order_of#0/for[0]");
    expect(seen.code).toBe(0);
    expect(seen.out).toContain("--- user, as it was sent\n");
    expect(seen.out).toContain("Customer 4711 here. Please send E-9034 to my new address");
    expect(seen.out).toMatch(/user +\d+–\d+ +contract +the contract after ->/);

    // both second tries: the runtime's, of an answer that broke its contract, and the program's, of a wrong number
    const twice = remit("explain", "last", "--at", "parallel[4]/order_of#0/for[0]");
    expect(twice.out).toMatch(/ {2}attempt 2, because .*order_number/);
    const { out: trace } = remit("trace", "last");
    expect(trace).toMatch(/- iteration \[4\]\n[\s\S]*in 2 attempts[\s\S]*- iteration \[5\]/);
    expect(trace.match(/- tool Orders\.lookup\(/g)).toHaveLength(5);
    expect(trace.slice(trace.indexOf("- iteration [5]")).match(/- generate "Copy the order number\."/g)).toHaveLength(2);

    expect(remit("trace", "verify", "last")).toMatchObject({ code: 0, out: expect.stringContaining("sound") });
    expect(remit("replay", "last").code).toBe(0);
});

test("hands a failing build to an agent, whose function repairs it", () => {
    const build = join(room, "fix-build");
    const input = `@${join(build, "input.json")}`;
    const scripted = ["--model", `scripted:${join(build, "replies.json")}`];
    const where = [join(build, "main.remit"), "--input", input, "--workspace", join(build, "data")];
    // nobody says yes: nothing is written, and the program says so
    const refused = remit("run", ...where, ...scripted);
    expect(JSON.parse(refused.out)).toMatchObject({ severity: "high", not_fixed: expect.stringMatching(/Repo\.write/) });
    const source = join(build, "data", "src", "slug.mjs");
    expect(readFileSync(source, "utf8")).toContain("/[^a-z0-9]/");

    const run = remit("run", ...where, ...scripted, "--yes");
    expect(JSON.parse(run.out)).toEqual(JSON.parse(readFileSync(join(build, "expected.json"), "utf8")));
    expect(readFileSync(source, "utf8")).toContain("/[^a-z0-9]+/g");
    const tests = spawnSync(process.execPath, ["--test"], { cwd: join(build, "data"), env: { PATH: process.env.PATH }, encoding: "utf8" });
    expect(tests.stdout).toMatch(/pass 1\n/);
    expect(remit("trace", "last").out).toMatch(
        /- yield to Fixer [\s\S]*- Fixer gave a function[\s\S]*- tool Repo\.write\([\s\S]*ask "May Fixer/,
    );
    expect(remit("replay", "last").code).toBe(0);
});
