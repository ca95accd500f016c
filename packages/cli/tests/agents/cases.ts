/** What every real agent goes through under `remit run`, in as few processes of the agent as that takes: each costs seconds to open. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { checkTrajectory, type LedgerEvent } from "@remit/machine";
import { describe, expect, test, vi } from "vitest";
import { harbor } from "../../../../scripts/lib/harbor.mjs";
import type { AgentName } from "../../../host/tests/agent/real/agents.ts";
import type { Said } from "../../../host/tests/agent/real/models/wire.ts";
import { agentsBelow } from "../../../host/tests/agent/real/processes.ts";
import { gone, place, resultOf, withAgent } from "./place.ts";

export interface Traits {
    readonly name: AgentName;
    write(path: string, text: string): Said;
    /** A call that needs no permission. */
    look(folder: string): Said;
    /** Name of its writing tool in the trajectory. */
    readonly writing: string;
}

const fenced = (...lines: string[]): Said => ({ text: ["Here it is.", "", "```remit", ...lines, "```"].join("\n") });

const ANSWER = fenced(
    "func answer(agent, log, repo) {",
    '    said = repo.read({ path: "notes.txt" })',
    "    second = agent.yield(topic: log) -> { where: string }",
    '    word = agent.send("One word, please.")',
    "    return { file: said.content, where: second.where, word: word }",
    "}",
);

const REMIT = `may Repo.read, Repo.write in "free/**"
        ask Repo.write in "src/**"
        spend 10 min, 200k tokens`;

const names = (otlp: string): string[] => [...otlp.matchAll(/"name":"([^"]+)","kind"/g)].map(([, name]) => name as string);

type Data = { readonly [key: string]: Json };
const of = (events: readonly LedgerEvent[], kind: string): Data[] =>
    events.filter((one) => one.kind === kind).map((one) => one.data as Data);

export function programs(traits: Traits): void {
    // opening an agent takes seconds of a quiet machine, and many of a busy one
    vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
    const { name, write, look } = traits;

    describe(`${name} under remit run`, () => {
        test("a yield: its own hands ruled on, a bad answer repaired, its function come back over the session, the value checked", async () => {
            await using here = await place(name, (folder) => [
                // a refusal ends the turn of some agents
                { when: "7 turns are left", say: [write(join(folder, "src/no.txt"), "asked"), { text: "Still talking." }] },
                { when: "6 turns are left", say: [ANSWER] },
                {
                    when: "func answer(agent, log, repo)",
                    say: [
                        write(join(folder, "free/a.txt"), "free"),
                        write(join(folder, "src/yes.txt"), "asked"),
                        write(join(folder, "keys/a.txt"), "refused"),
                        { text: "I would rather talk about it." },
                    ],
                },
                {
                    when: "func answer(agent, topic)",
                    say: [fenced("func answer(agent, topic) {", '    return { where: "about " + topic }', "}")],
                },
                { when: "One word, please.", say: [{ text: "fine" }] },
            ]);
            here.at.write("notes.txt", "three notes");
            here.at.write("src/old.txt", "");
            here.at.write("free/old.txt", "");
            here.at.write("keys/old.txt", "");
            here.at.write(
                "main.remit",
                withAgent(
                    name,
                    REMIT,
                    "    return Fixer.yield(log: log, repo: Repo.only(read)) with { turns: 8 } -> { file: string, where: string, word: string }",
                ),
            );
            const run = here.run({ terminal: true }, "run", "main.remit", "--trust", "--input", '{"log": "red"}');
            // a key is heard from the moment the line to type it in is there
            const question = (nth: number): Promise<void> =>
                // the progress line names the question, too, where it is drawn in between
                run.until((seen) => (seen.split("\nMay Fixer call Repo.write?")[nth] ?? "").includes("v view all > "));
            await question(1);
            run.child.stdin?.write("o\n");
            await question(2);
            run.child.stdin?.write("d\n");
            const ran = await run.ended;
            expect(resultOf(ran)).toEqual({ file: "three notes", where: "about red", word: "fine" });

            const read = (path: string): string | null =>
                existsSync(join(here.at.folder, path)) ? readFileSync(join(here.at.folder, path), "utf8") : null;
            expect(["free/a.txt", "src/yes.txt", "src/no.txt", "keys/a.txt"].map(read)).toEqual(["free", "asked", null, null]);
            const { events } = here.run1();
            expect(of(events, "yield.opened")).toMatchObject([{ agent: "Fixer", uri: `acp://${name}` }]);
            expect(of(events, "yield.closed")).toMatchObject([{ ok: true, turns: 5 }]);
            expect(of(events, "yield.payload").map(({ ok }) => ok)).toEqual([false, false, true, true]);
            const turns = of(events, "agent.answered") as unknown as { reply: { confinement: string; entries: Data[] } }[];
            expect(turns.map(({ reply }) => reply.confinement)).toEqual(Array(5).fill("sandbox"));
            const calls = turns.flatMap(({ reply }) => reply.entries).filter((one) => one.kind === "call");
            expect(calls.map((one) => [one.name, one.permission])).toMatchObject([
                [traits.writing, { allowed: true, by: "remit" }],
                [traits.writing, { allowed: true, by: "person" }],
                [traits.writing, { allowed: false, by: "remit" }],
                [traits.writing, { allowed: false, by: "person" }],
            ]);
            expect(of(events, "policy.denied")).toMatchObject([{ capability: "Repo.write", chosen_by: "agent" }]);
            expect(of(events, "ask.decided")).toMatchObject([{ value: "once" }, { value: "deny" }]);
            expect(here.judged()).toMatchObject({ sound: true, equal: true });
        });

        test("agent(): a trajectory, a budget that ends it; a crash that the program catches", async () => {
            await using here = await place(name, (folder) => [
                { when: "Look around", say: [look(folder), { text: "There are some files." }] },
                { when: "For ever", say: () => look(folder) },
                { when: "func answer(agent, crash)", say: [{ hang: true }] },
            ]);
            here.at.write(
                "main.remit",
                withAgent(
                    name,
                    "may Repo.read",
                    `    first = agent("Look around.", { agent: Fixer, budget: { max_steps: 40, max_minutes: 30 } })
    second = agent("For ever.", { agent: Fixer, budget: { max_steps: 4, max_minutes: 30 } })
    third = try { Fixer.yield(crash: log) } catch e { e.kind }
    return { first: first, second: second, third: third }`,
                ),
            );
            const run = here.run({}, "run", "main.remit", "--trust", "--input", '{"log": "red"}');
            await run.asked("func answer(agent, crash)");
            const processes = run.processes();
            // the innermost is the agent itself; those around it end with it
            process.kill(agentsBelow(run.child.pid as number, name).at(-1) as number, "SIGKILL");
            const value = resultOf(await run.ended) as unknown as {
                first: { data: { text: string; trajectory: Json } };
                second: { error: { kind: string; trajectory?: Json } };
                third: string;
            };
            expect(value.first.data.text).toContain("There are some files.");
            expect(value.second).toMatchObject({ error: { kind: "limit.steps" } });
            expect(value.third).toBe("unreachable");
            const { trajectory } = value.first.data;
            expect(checkTrajectory(trajectory)).toEqual([]);
            expect(trajectory).toMatchObject({ agent: { name: expect.any(String) }, steps: expect.any(Array) });
            const { id } = here.run1();
            const whole = JSON.parse(here.at.remit("trace", id, "--atif").out) as Json;
            const judge =
                "import json, sys\nfrom harbor.utils.trajectory_validator import TrajectoryValidator\nv = TrajectoryValidator()\nprint([e for t in json.load(sys.stdin) if not v.validate(t) for e in v.errors])";
            const env = { ...process.env, PYTHONPATH: await harbor(), PYTHONDONTWRITEBYTECODE: "1" };
            expect(
                spawnSync("python3", ["-c", judge], { env, input: JSON.stringify([trajectory, whole]), encoding: "utf8" }),
            ).toMatchObject({ status: 0, stdout: "[]\n" });
            // every call that its model made is seen, by the name that the model gave it
            const made = here.model.heard.flatMap(({ user, results }) => (user.includes("Look around") ? [results.length] : []));
            const shown = look(here.at.folder);
            const called = "call" in shown ? shown.call.name : "";
            const [first] = JSON.stringify(trajectory).matchAll(/"function_name":"([^"]+)"/g);
            expect(first?.[1]).toBe(called);
            expect(Math.max(...made)).toBe(1);
            expect(here.at.remit("trace", id).out).toContain(`- ${called}({`);
            expect(names(here.at.remit("trace", id, "--otel").out)).toContain(`execute_tool ${called}`);
            expect(here.judged()).toMatchObject({ sound: true, equal: true });
            await gone(processes);
        });

        test("Ctrl-C: the run stops in good order, and nothing of the agent is left", async () => {
            await using here = await place(name, () => [{ when: "func answer(agent, log)", say: [{ hang: true }] }]);
            here.at.write("main.remit", withAgent(name, "may Repo.read", "    return Fixer.yield(log: log)"));
            const run = here.run({}, "run", "main.remit", "--trust", "--input", '{"log": "red"}');
            await run.asked("func answer(agent, log)");
            const processes = run.processes();
            expect(processes.length).toBeGreaterThan(0);
            run.child.kill("SIGINT");
            expect(await run.ended).toMatchObject({
                code: 130,
                out: "",
                err: expect.stringContaining("Stopping; Ctrl-C again ends at once."),
            });
            await gone(processes);
            const { id } = here.run1();
            expect(JSON.parse(here.at.remit("runs", "--json").out)).toMatchObject([{ id, status: "stopped" }]);
            expect(here.at.remit("trace", "verify", id)).toMatchObject({ code: 0, out: expect.stringContaining("sound") });
        });
    });
}
