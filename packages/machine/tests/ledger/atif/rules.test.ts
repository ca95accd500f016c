/** ATIF as it is read: the samples of others come out as they went in, and what breaks a rule is refused, with the rule and the place. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "@remit/language";
import { checkTrajectory, readTrajectory } from "../../../src/index.ts";
import { BASE, GOOD, MUTATIONS, mutated, sample, schemaProblems } from "./support.ts";

/** Without nulls of fields of the format; `extra` and arguments are data. */
function withoutNulls(value: Json): Json {
    if (Array.isArray(value)) return value.map(withoutNulls);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
        Object.entries(value)
            .filter(([, held]) => held !== null)
            .map(([key, held]) => [key, key === "extra" || key === "arguments" ? held : withoutNulls(held)]),
    );
}

test("there are samples of Harbor, of the RFC and of another project", () => {
    expect(GOOD.map((name) => name.split("-")[0])).toEqual(["harbor", "harbor", "harbor", "rfc", "thirdparty"]);
});

test.each(GOOD)("%s comes out as it went in", (name) => {
    const given = sample(name);
    const read = readTrajectory(given);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const written = read.trajectory as unknown as Json;
    expect(written).toEqual(withoutNulls(given));
    expect(readTrajectory(written)).toEqual(read);
    expect(schemaProblems(written)).toEqual([]);
});

test("arguments in a list are refused with the place", () => {
    const read = readTrajectory(sample("negative--letta-arguments-is-array.json"));
    expect(read).toMatchObject({ ok: false, problems: [{ rule: 9, path: "/steps/2/tool_calls/0/arguments", severity: "error" }] });
});

test("a file that is named and not there is refused, a URL is not looked up", () => {
    const image = (path: string): Json => ({
        schema_version: "ATIF-v1.7",
        agent: { name: "a", version: "1" },
        steps: [{ step_id: 1, source: "user", message: [{ type: "image", source: { media_type: "image/png", path } }] }],
    });
    const looked: string[] = [];
    const exists = (path: string): boolean => looked.push(path) > 1;
    expect(checkTrajectory(image("a.png"), { exists })).toMatchObject([
        { rule: 13, path: "/steps/0/message/0/source/path", severity: "error" },
    ]);
    expect(checkTrajectory(image("a.png"), { exists })).toEqual([]);
    expect(checkTrajectory(image("s3://a/b.png"), { exists })).toEqual([]);
    expect(looked).toEqual(["a.png", "a.png"]);
});

describe("each rule", () => {
    test.each(MUTATIONS.map((one) => [`${one.rule}: ${one.name}`, one] as const))("%s", (_, mutation) => {
        const broken = mutated(mutation);
        const read = checkTrajectory(broken);
        expect(read.map((one) => [one.rule, one.path])).toContainEqual([mutation.rule, mutation.at]);
        expect(readTrajectory(broken).ok).toBe(!mutation.refused);
        // a writer's trajectory has none of it
        expect(checkTrajectory(broken, { writing: true }).filter((one) => one.severity === "error")).not.toEqual([]);
    });

    test("is told of by a mutation of its own", () => {
        expect([...new Set(MUTATIONS.map((one) => one.rule))].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    });

    test("the sample that they start from breaks none", () => {
        expect(checkTrajectory(sample(BASE), { writing: true })).toEqual([]);
    });
});

test("lax spellings are read as what they mean", () => {
    const given = sample(BASE) as { [key: string]: Json };
    const step = (given.steps as { [key: string]: Json }[])[1] as { [key: string]: Json };
    Object.assign(step, { step_id: "2", is_copied_context: "no", llm_call_count: true });
    step.message = [{ type: "audio", source: { media_type: " Audio/MP3", path: "a.mp3", duration_sec: "1.5" } }];
    const read = readTrajectory(given);
    expect(read.ok && read.trajectory.steps[1]).toMatchObject({
        step_id: 2,
        is_copied_context: false,
        llm_call_count: 1,
        message: [{ type: "audio", source: { media_type: "audio/mpeg", path: "a.mp3", duration_sec: 1.5 } }],
    });
});

test("trajectories within trajectories end somewhere", () => {
    let inner: Json = sample(BASE);
    for (let depth = 0; depth < 150; depth++)
        inner = {
            agent: { name: "a", version: "1" },
            trajectory_id: "t",
            steps: [{ step_id: 1, source: "user", message: "" }],
            subagent_trajectories: [inner],
        };
    expect(checkTrajectory(inner).find((one) => one.severity === "error")?.message).toContain("nested");
});

test("whatever JSON there is, the check says something and never throws", () => {
    const anything = fc.jsonValue() as fc.Arbitrary<Json>;
    fc.assert(
        fc.property(anything, (given) => {
            expect(readTrajectory(given).ok).toBe(false);
        }),
    );
    const place = fc.constantFrom("steps", "agent", "final_metrics", "subagent_trajectories", "extra", "schema_version", "notes");
    fc.assert(
        fc.property(place, anything, (key, value) => {
            const read = readTrajectory({ ...(sample(BASE) as object), [key]: value } as Json);
            if (read.ok) expect(readTrajectory(read.trajectory as unknown as Json).ok).toBe(true);
            else expect(read.problems.every((one) => one.path === "" || one.path.startsWith("/"))).toBe(true);
        }),
    );
});
