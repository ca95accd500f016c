/** DN1–DN3: functions that an agent defined, used when the session in which it did is over. */
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import type { Effect, Outcome, Policy } from "../../src/index.ts";
import { answer, end, events, failed, kind, origins, run, said, turns, withFixer } from "./handing.ts";

const kept = (e: Effect): Outcome | undefined => (e.kind === "author" ? said({ file: ".remit/defined/f.remit" }, []) : undefined);
const F = 'func f(x: number) -> number { raise "nobody wrote it" }';
/** The yield in its block, then statements behind it. */
const building = (after: string, before = F): string =>
    withFixer(`delegate all to Fixer {\n Fixer.yield(spec: "double")\n}\n${after}`, before);
const DOUBLE = answer("define f = func(x) { x * 2 } keep\nreturn none", "spec");

describe("define … keep, after its session", () => {
    test("replaces for the rest of the run what was called by that name, and what it gives carries its author", () => {
        const ran = run(building("xs = []\nfor x in [1, 2, 3] max 3 { xs.add(f(x)) }\nreturn xs"), { agents: [DOUBLE], world: kept });
        expect(end(ran)).toEqual([2, 4, 6]);
        expect(origins(ran)).toContain("agent:Fixer");
        const order = ran.events.map((e) => e.kind).filter((one) => ["yield.closed", "program.changed", "effect.ended"].includes(one));
        expect(order).toEqual(["program.changed", "effect.ended", "yield.closed"]);
        expect(events(ran, "program.changed")).toMatchObject([
            { function: "f", author: "Fixer", replaces: true, keep: true, source: "func f(x: number) -> number {\n    x * 2\n}\n" },
        ]);
        expect(ran.effects.filter((e) => e.kind === "author").map((e) => e.request)).toMatchObject([
            { op: "keep", name: "f", author: "Fixer", source: expect.stringContaining("x * 2") },
        ]);
    });

    test("its contract holds when it is called, and its failure is one of its call", () => {
        const wrong = answer('define f = func(x) { "many" } keep\nreturn none', "spec");
        expect(kind(run(building("return f(1)"), { agents: [wrong], world: kept }))).toBe("contract");
        const raises = answer('define f = func(x) { raise "x" } keep\nreturn none', "spec");
        expect(end(run(building("return try { f(1) } catch e { [e.kind, e.message] }"), { agents: [raises], world: kept }))).toEqual([
            "raised",
            "x",
        ]);
        const endless = answer("define f = func(x) { loop until false max 999999 { x += 1 }\n x } keep\nreturn none", "spec");
        expect(
            end(run(building("return try { spend 500 steps { f(1) }  1 } catch e { [e.kind] }"), { agents: [endless], world: kept })),
        ).toEqual(["limit.steps"]);
    });

    test.each([
        ["basic mode", {}],
        ["basic mode that keeps who chose", { untrusted: { gate: "never" } }],
        ["strict mode", { strict: true }],
    ] satisfies [string, Policy][])("does not stand for a lambda by its name, where it would be what it was: %s", (_mode, policy) => {
        const ran = run(building("return try { [1, 2].map(f) } catch e { e.message }", "func f(x) { x }"), {
            agents: [DOUBLE],
            world: kept,
            options: { policy },
        });
        expect(end(ran)).toBe("f was defined anew by an agent and cannot be called in a lambda");
        expect(origins(ran)).toContain("agent:Fixer");
    });

    test("who decided that it was defined is known of the change, of what is written for review and of the failure of a lambda", () => {
        const text = withFixer(
            'm = Inbox.read({})\nx = "a"\nif m.did != "" { delegate all to Fixer { Fixer.yield(spec: 1) } }\ntry { [1].map(f) } catch e { x = "b" }\nOut.write({ path: x })',
            'import tool Inbox from "mcp://inbox"\nimport tool Out from "mcp://out" { write: may, choice write: from("agent:Fixer", "tool:Inbox") }\nfunc f(x) { x }',
        );
        const ran = run(text, { agents: [DOUBLE], world: kept });
        const all = ["agent:Fixer", "choice:agent:Fixer", "choice:tool:Inbox"];
        expect(ran.events.flatMap((e) => (e.kind === "program.changed" ? [e.labels] : []))).toEqual([all]);
        expect(ran.effects.flatMap((e) => (e.kind === "author" ? [e.labels] : []))).toEqual([all]);
        expect(ran.effects.at(-1)?.labels).toEqual(all.slice(1));
    });

    test("what the block lent it is not lent any more", () => {
        const before = `import tool Repo from "file://workspace"\nfunc f(repo) { raise "nobody" }`;
        const body = answer('define f = func(repo) { act("Repo.read", { path: "a" }) } keep\nreturn none', "spec");
        const ran = run(building("return f(1)", before), { agents: [body], world: kept });
        expect(end(ran)).toMatchObject({ isError: true });
    });

    test("one that is new is called by act(), in a later session of its author too, by nobody else's answer", () => {
        const made = answer("define twice = func(x) { x * 2 } keep\nreturn none", "spec");
        const later = answer('return act("twice", { x: 4 })', "n");
        const text = building(
            'a = act("twice", { x: 3 })\nb = Fixer.yield(n: 1)\nc = Other.yield(n: 1)\nreturn [a.structuredContent, b.structuredContent, c.isError]',
            'import agent Other from "acp://other"',
        );
        const ran = run(text, { agents: (turn) => (turn.session.endsWith("Fixer.yield#0") ? made : later), world: kept });
        expect(end(ran)).toEqual([6, 8, true]);
        expect(new Set(turns(ran).map((t) => t.session)).size).toBe(3);
    });

    test("a second one replaces the first, and both are written for review", () => {
        const text = withFixer(
            "delegate all to Fixer {\n Fixer.yield(spec: 1)\n a = f(5)\n Fixer.yield(spec: 2)\n}\nreturn [a, f(5)]".replace(
                "delegate",
                "a = 0\ndelegate",
            ),
            F,
        );
        const ran = run(text, {
            agents: (turn) => (turn.session.endsWith("#0") ? DOUBLE : answer("define f = func(x) { x * 3 } keep\nreturn none", "spec")),
            world: kept,
        });
        expect(end(ran)).toEqual([10, 15]);
        expect(ran.effects.filter((e) => e.kind === "author")).toHaveLength(2);
    });

    test("where it cannot be written the yield fails, and says so", () => {
        const full = (e: Effect): Outcome | undefined => (e.kind === "author" ? failed("tool", "the disk is full") : undefined);
        const ran = run(building("return 1"), { agents: [DOUBLE], world: full });
        expect(end(ran)).toBe("tool: the disk is full");
        const caught = withFixer("delegate all to Fixer {\n try { Fixer.yield(spec: 1) } catch e { 1 }\n}\nreturn f(4)", F);
        // It was defined before it was to be written: the program has it.
        expect(end(run(caught, { agents: [DOUBLE], world: full })) as Json).toBe(8);
    });
});
