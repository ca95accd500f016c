/** Trajectories at a terminal: a run as one, the trajectories of others validated and shown. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { harbor } from "../../../scripts/lib/harbor.mjs";
import { type Room, room } from "./remit.ts";

const SAMPLES = fileURLToPath(new URL("../../machine/tests/ledger/atif/samples/", import.meta.url));
const sample = (name: string): string => join(SAMPLES, name);
const GOOD = "thirdparty-v1.7--fastagent-multiagent.json";

let at: Room;
beforeAll(() => {
    at = room();
    at.write(
        "a.remit",
        `import llm M from "mock:"
import file Photo from "photo.gif"
agent Helper {
    model M
    role "r"
    description "d"
    func short(q: string) -> string {
        use q
        use Photo
        generate({ input: "Say it shortly" }) -> string
    }
}
main agent A {
    main func(input: { q: string }) {
        Helper.short(input.q)
    }
}
`,
    );
    at.write("photo.gif", Buffer.from("R0lGODlhAQABAAAAACwAAAAAAQABAAA=", "base64").toString("latin1"));
});
afterAll(() => at.clear());

test("a run is a valid trajectory, by pipe and as a file with its pictures beside it", () => {
    expect(at.remit("run", "a.remit", "--quiet", "--input", '{"q": "what"}')).toMatchObject({ code: 0 });
    const piped = at.remit("trace", "last", "--atif");
    expect(piped.code).toBe(0);
    expect(JSON.parse(piped.out)).toMatchObject({ schema_version: "ATIF-v1.7", agent: { name: "A" } });
    const { code, err } = at.remit("trace", "last", "--atif", "--output", "t.json");
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("Wrote t.json") });
    expect(at.remit("atif", "validate", "--strict", "t.json").out).toMatch(/^t\.json: valid, ATIF-v1\.7, 2 steps\n$/);
    const trajectory = JSON.parse(readFileSync(join(at.folder, "t.json"), "utf8"));
    const paths = JSON.stringify(trajectory).match(/t\.media\/[^"]+/g) ?? [];
    for (const path of paths) expect(existsSync(join(at.folder, path))).toBe(true);
    if (paths.length > 0) expect(readdirSync(join(at.folder, "t.media"))).toHaveLength(new Set(paths).size);
    const shown = at.remit("atif", "show", "t.json").out;
    expect(shown).toContain("→ Helper.short(");
    expect(shown).toMatch(/\n {2}Helper sha256:/);
});

test("validate says rule and place, and goes on with the next file", () => {
    const bad = sample("negative--letta-arguments-is-array.json");
    const { code, out } = at.remit("atif", "validate", sample(GOOD), bad);
    expect(code).toBe(1);
    expect(out.split("\n")[0]).toBe(`${sample(GOOD)}: valid, ATIF-v1.7, 3 steps`);
    expect(out).toContain(`${bad}: not valid, 2 problems\n`);
    expect(out).toContain("  /steps/2/tool_calls/0/arguments  rule 9: expected an object, found a list\n");
    expect(out).toContain("  /steps/2/observation/results/0/content/1/source/path  rule 13: there is no file");
});

test("from standard input, as JSON, and what is not JSON", () => {
    const { code, out } = at.remitWith({ input: '{"steps": []}' }, "atif", "validate", "--json", "-");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
        file: "-",
        valid: false,
        problems: expect.arrayContaining([{ rule: 9, path: "/agent", message: expect.any(String), severity: "error" }]),
    });
    expect(at.remitWith({ input: "{" }, "atif", "validate", "-")).toMatchObject({ code: 1, out: expect.stringContaining("not JSON") });
    expect(at.remit("atif", "validate", "nowhere.json")).toMatchObject({ code: 1, err: expect.stringContaining("nowhere.json") });
});

test("--strict refuses what readers tolerate", () => {
    const loose = JSON.parse(readFileSync(sample(GOOD), "utf8"));
    loose.steps[1].metrics.prompt_tokens = "100";
    at.write("loose.json", JSON.stringify(loose));
    expect(at.remit("atif", "validate", "loose.json")).toMatchObject({ code: 0, out: expect.stringContaining("note rule 12") });
    expect(at.remit("atif", "validate", "--strict", "loose.json").code).toBe(1);
});

test("a giant file is refused with words", () => {
    const { code, err } = at.remitWith({ input: " ".repeat(64 * 1024 * 1024 + 1) }, "atif", "validate", "-");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("larger than 64 MiB") });
});

test("show makes no terminal do anything", () => {
    const one = JSON.parse(readFileSync(sample(GOOD), "utf8"));
    one.steps[0].message = "a\u001b]0;t\u0007\u202eb";
    one.agent.name = "\u001b[2J";
    at.write("foreign.json", JSON.stringify(one));
    const { code, out } = at.remit("atif", "show", "--full", "foreign.json");
    expect(code).toBe(0);
    expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(at.remit("atif", "show", sample("negative--letta-arguments-is-array.json"))).toMatchObject({
        code: 2,
        err: expect.stringContaining("/steps/2/tool_calls/0/arguments"),
    });
    expect(at.remit("atif", "draw", "a.json").code).toBe(2);
});

test("slips of the text are judged as Harbor does, but for those that the documentation names", async () => {
    const base = {
        schema_version: "ATIF-v1.7",
        session_id: "s",
        agent: { name: "a", version: "1" },
        steps: [{ step_id: 1, source: "agent", message: "hi", metrics: { cost_usd: 1 } }],
    };
    const good = JSON.stringify(base);
    const number = (text: string): string => good.replace('"cost_usd":1', `"cost_usd":${text}`);
    const cases: [string, string, boolean, boolean][] = [
        // name, text, whether Remit takes it, whether Harbor does
        ["good", good, true, true],
        ["half a character", good.replace("hi", "\\ud800"), true, true],
        ["a whole number as a fraction", good.replace('"step_id":1', '"step_id":1.0'), true, true],
        ["text behind it", `${good} x`, false, false],
        ["a comma too many", `${good.slice(0, -1)},}`, false, false],
        ["a line break in a text", good.replace("hi", "h\ni"), false, false],
        ["a fence around it", `\`\`\`json\n${good}\n\`\`\``, false, false],
        ["a list", `[${good}]`, false, false],
        ["nothing", "", false, false],
        ["NaN", number("NaN"), false, true],
        ["Infinity", number("Infinity"), false, true],
        ["too large", number("1e400"), false, true],
        ["a key twice", good.replace('"source":"agent"', '"source":"agent","source":"agent"'), false, true],
        ["a byte order mark", `\ufeff${good}`, true, false],
    ];
    for (const [nth, [, text]] of cases.entries()) at.write(`slip-${nth}.json`, text);
    const script = `
import json, sys
from pathlib import Path
from harbor.utils.trajectory_validator import TrajectoryValidator
print(json.dumps([TrajectoryValidator().validate(Path(name)) for name in sys.argv[1:]]))`;
    const files = cases.map((_, nth) => join(at.folder, `slip-${nth}.json`));
    const env = { ...process.env, PYTHONPATH: await harbor(), PYTHONDONTWRITEBYTECODE: "1" };
    const { stdout } = spawnSync("python3", ["-c", script, ...files], { env, encoding: "utf8" });
    const theirs = JSON.parse(stdout) as boolean[];
    expect(cases.map(([name], nth) => [name, at.remit("atif", "validate", files[nth] as string).code === 0, theirs[nth]])).toEqual(
        cases.map(([name, , ours, harbors]) => [name, ours, harbors]),
    );
});
