/** Harbor's own validator (PyPI `harbor`) is the referee: it takes what is written, and refuses what the check refuses. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Json } from "@remit/language";
import { harbor } from "../../../../../scripts/lib/harbor.mjs";
import { type AgentReply, atifOfRun, checkTrajectory, trajectoryOf } from "../../../src/index.ts";
import { isTimestamp } from "../../../src/ledger/atif/time.ts";
import { sample as sampleRun, seal } from "../support.ts";
import { BASE, GOOD, MUTATIONS, mutated, sample, turns } from "./support.ts";

let env: NodeJS.ProcessEnv;
beforeAll(async () => {
    env = { ...process.env, PYTHONPATH: await harbor(), PYTHONDONTWRITEBYTECODE: "1" };
});

function python(script: string, given: Json): Json {
    const { status, stdout, stderr } = spawnSync("python3", ["-c", script], {
        env,
        encoding: "utf8",
        input: JSON.stringify(given),
        maxBuffer: 1 << 28,
    });
    if (status !== 0) throw new Error(`python3 ended with ${status}: ${stderr}`);
    return JSON.parse(stdout);
}

const BATCH = `
import json, sys
from harbor.utils.trajectory_validator import TrajectoryValidator
out = []
for one in json.load(sys.stdin):
    v = TrajectoryValidator()
    out.append([] if v.validate(one) else v.errors)
print(json.dumps(out))
`;
const verdicts = (of: readonly Json[]): string[][] => python(BATCH, of as Json[]) as string[][];
const refusedHere = (of: Json): boolean => checkTrajectory(of).some((one) => one.severity === "error");

test("it says of every sample and every mutation what the check says", () => {
    const cases: [string, Json][] = [
        ...[...GOOD, "negative--letta-arguments-is-array.json"].map((name): [string, Json] => [name, sample(name)]),
        ...MUTATIONS.map((one): [string, Json] => [`${one.rule}: ${one.name}`, mutated(one)]),
    ];
    const there = verdicts(cases.map(([, one]) => one));
    const differ = cases.flatMap(([name, one], at) => ((there[at]?.length ?? 0) > 0 === refusedHere(one) ? [] : [`${name}: ${there[at]}`]));
    expect(differ).toEqual([]);
    expect(there.filter((one) => one.length > 0).length).toBeGreaterThan(50);
});

test("it says of samples with a value in the place of another what the check says", () => {
    const base = sample(BASE);
    const places: (string | number)[][] = [];
    const walk = (value: Json, at: (string | number)[]): void => {
        if (at.length > 0) places.push(at);
        if (Array.isArray(value)) for (const [i, one] of value.entries()) walk(one, [...at, i]);
        else if (value !== null && typeof value === "object") for (const [key, one] of Object.entries(value)) walk(one, [...at, key]);
    };
    walk(base, []);
    const values: Json[] = [
        null,
        true,
        0,
        1,
        -1,
        2.5,
        "",
        "1",
        " 2 ",
        "x",
        [],
        {},
        [{}],
        ["a"],
        { extra: null },
        "1.0",
        "1_0",
        "2026-01-01",
    ];
    const cases = places.flatMap((place) =>
        values.map((value): Json => {
            const copy = structuredClone(base);
            let into = copy as { [key: string]: Json };
            for (const key of place.slice(0, -1)) into = into[key as string] as { [key: string]: Json };
            into[place.at(-1) as string] = value;
            return copy;
        }),
    );
    const there = verdicts(cases);
    const differ = cases.flatMap((one, at) => {
        if ((there[at]?.length ?? 0) > 0 === refusedHere(one)) return [];
        return [`${places[Math.floor(at / values.length)]?.join("/")} = ${JSON.stringify(values[at % values.length])}: ${there[at]}`];
    });
    expect(differ).toEqual([]);
});

test("it takes whatever is written", () => {
    const written = [
        ...fc
            .sample(turns, 150)
            .map((one) => trajectoryOf({ agent: { name: "A" }, session: "s", turns: one, end: { reason: "done" } }).trajectory),
        atifOfRun(seal(sampleRun())).trajectory,
    ];
    expect(verdicts(written).filter((one) => one.length > 0)).toEqual([]);
});

test("its command takes files with their pictures, and refuses them without", () => {
    const reply: AgentReply = {
        text: "Look",
        stop: "end_turn",
        confinement: "remote",
        spent: { steps: 1, calls: 0, ms: 1 },
        entries: [
            {
                kind: "message",
                text: "Look",
                media: [
                    { mediaType: "image/png", data: "AAEC" },
                    { mediaType: "audio/mp3", data: "AA==" },
                ],
            },
        ],
    };
    const { trajectory, media } = trajectoryOf({
        agent: { name: "A" },
        session: "s",
        turns: [{ prompt: [], reply }],
        end: { reason: "done" },
    });
    const room = mkdtempSync(join(tmpdir(), "remit-atif-"));
    try {
        const file = join(room, "t.json");
        writeFileSync(file, JSON.stringify(trajectory));
        const run = () => spawnSync("python3", ["-m", "harbor.utils.trajectory_validator", file], { env, encoding: "utf8" });
        expect(run()).toMatchObject({ status: 1, stderr: expect.stringContaining("does not exist") });
        for (const one of media) {
            mkdirSync(dirname(join(room, one.path)), { recursive: true });
            writeFileSync(join(room, one.path), Buffer.from(one.data, "base64"));
        }
        expect(run()).toMatchObject({ status: 0, stderr: "" });
    } finally {
        rmSync(room, { recursive: true, force: true });
    }
});

test("a time is one where Python reads it", () => {
    const part = (...texts: string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);
    const made = fc
        .tuple(
            part("2026", "0000", "0001", "2024", "2020", "9999", "26"),
            part("-01-31", "-02-29", "-02-30", "0131", "-13-01", "-W01", "-W53", "-W53-7", "-W54", "W011", "-01", "", "-W01-0", "-00-10"),
            part("T", " ", "t", "_", ""),
            part(
                "",
                "12",
                "12:30",
                "1230",
                "12:30:45",
                "123045",
                "12:30:45.1",
                "12:30:45,123456789",
                "12:3045",
                "24:00",
                "12.5",
                "12:60",
                "12:30:60",
            ),
            part("", "Z", "z", "+00:00", "-0530", "+5", "+24:00", "+05:30:15.5", "Z+00:00", "+"),
        )
        // a time without a separator is another question: Python overlooks one stray character before an offset
        .map(([year, day, separator, time, zone]) => (separator === "" ? `${year}${day}` : [year, day, separator, time, zone].join("")));
    const cases = [
        ...new Set([...fc.sample(made, 3000), "2026-01-01", "1783857600", "", "2026-01-01T12:00:00.123Z", "Sun, 12 Jul 2026 12:00:00 GMT"]),
    ];
    const script = `
import json, sys
from harbor.models.trajectories import Step
out = []
for one in json.load(sys.stdin):
    try:
        Step(step_id=1, source="user", message="", timestamp=one); out.append(True)
    except Exception:
        out.append(False)
print(json.dumps(out))
`;
    const there = python(script, cases) as boolean[];
    expect(cases.filter((one, at) => isTimestamp(one) !== there[at])).toEqual([]);
});
