/** Snapshots: what a moment of a run holds, without secrets, the same for the same moment, and differences that can be applied. */
import { readFileSync } from "node:fs";
import type { Json } from "@remit/language";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { debugRun, moved, type Target } from "../../src/debug/session.ts";
import type { Snapshot } from "@remit/machine";
import { z } from "zod";
import { applyChanges, diffSnapshots, snapshotOf } from "../../src/debug/snapshot.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { ASKS, BRANCHES, FAILS, type Recorded, recorded } from "./runs.ts";

const SECRET = "correct-horse-battery";
const scrubber = createScrubber([{ name: "env:KEY", value: SECRET }]);

const SCHEMA = z.fromJSONSchema(
    JSON.parse(readFileSync(new URL("../../../machine/schema/snapshot-1.json", import.meta.url), "utf8")) as Parameters<
        typeof z.fromJSONSchema
    >[0],
);

/** Every one that is made here follows the published schema. */
function checked(made: Snapshot): Snapshot {
    const read = SCHEMA.safeParse(made);
    expect(read.success ? "" : z.prettifyError(read.error)).toBe("");
    return made;
}

async function at(run: Recorded, target: Target): Promise<Snapshot> {
    const session = await debugRun(run.store, run.id);
    moved(session.goTo(target));
    return checked(snapshotOf(session, scrubber));
}

describe("snapshots", () => {
    test("of a question that waits inside a delegation: frames in order, principals, the delegation, the effect", async () => {
        const run = await recorded(ASKS, { to: "bob" }, { on: { ask: () => null } });
        const made = await at(run, { kind: "end" });
        expect(made.format).toBe("remit-snapshot/1");
        expect(made.threads[0]?.frames.map((f) => [f.name, made.principals[f.principal]?.name])).toEqual([
            ["Sender.go", "Sender"],
            ["Main.main", "user"],
        ]);
        const [token] = made.threads[0]?.frames[0]?.delegations ?? [];
        expect(made.delegations[String(token)]).toMatchObject({ from: "user", to: "Sender", things: ["tool:host:mail"] });
        expect(made.pending).toMatchObject([{ kind: "ask" }]);
        expect(made.labels).toContain("user");
    });

    test("of a failure, with the values around it", async () => {
        const made = await at(await recorded(FAILS, { n: 1 }), { kind: "failure" });
        expect(made.threads[0]?.frames[0]?.scopes[0]?.variables.map((v) => v.name)).toEqual(["n", "x", "y"]);
    });

    test("a secret is nowhere in it, whatever holds it", async () => {
        const run = await recorded(ASKS, { to: SECRET }, { on: { ask: () => null } });
        const text = JSON.stringify(await at(run, { kind: "end" }));
        expect(text).not.toContain(SECRET);
        expect(text).not.toContain(Buffer.from(SECRET).toString("base64").replace(/=+$/, ""));
        expect(text).toContain("[secret env:KEY]");
    });

    test("what is not one follows the schema no more", async () => {
        const made = await at(await recorded(ASKS, { to: "bob" }, { on: { ask: () => null } }), { kind: "end" });
        for (const wrong of [
            { ...made, format: "remit-snapshot/2" },
            { ...made, more: 1 },
            { ...made, moment: { ...made.moment, steps: -1 } },
            { ...made, threads: [{ ...made.threads[0], frames: [{}] }] },
            { ...made, pending: [{ ...made.pending[0], kind: "mail" }] },
        ])
            expect(SCHEMA.safeParse(wrong).success).toBe(false);
    });

    test("budgets that are open, and rights that were given", async () => {
        const text = `import tool Mail from "host:mail" { send: ask }
agent Sender { remit { may Mail.find  spend 5 calls  flow strict } func go(mail, to) { mail.send({ to: to }) } }
main agent Main { main func(input) { spend 1k tokens, 2 usd { Sender.go(Mail.only(send), input.to) } } }
`;
        const made = await at(await recorded(text, { to: "bob" }, { on: { ask: () => null } }), { kind: "end" });
        expect(made.capabilities).toMatchObject([
            { name: "mail", held: { right: { holder: expect.any(String), methods: ["send"], live: true } } },
        ]);
        expect(made.budget.open.map((one) => one.limits)).toEqual([{ tokens: 1000, usd: 2 }, { calls: 5 }]);
    });

    test("the same bytes for the same moment, however it was come to", async () => {
        const run = await recorded(BRANCHES, { items: [1, 2, 3] }, { concurrency: 2 });
        const session = await debugRun(run.store, run.id);
        const direct = JSON.stringify(await at(run, { kind: "step", step: 20 }));
        moved(session.goTo({ kind: "end" }));
        moved(session.goTo({ kind: "step", step: 20 }));
        expect(JSON.stringify(snapshotOf(session, scrubber))).toBe(direct);
    });

    test("F46: the differences of two, applied to the first, give the second", async () => {
        const run = await recorded(BRANCHES, { items: [1, 2, 3] }, { concurrency: 2 });
        const moments: Json[] = [];
        for (const step of [0, 5, 12, 25, 40]) moments.push((await at(run, { kind: "step", step })) as unknown as Json);
        for (const a of moments)
            for (const b of moments) {
                expect(applyChanges(a, diffSnapshots(a, b))).toEqual(b);
                expect(diffSnapshots(a, a)).toEqual([]);
            }
    });

    test("so they do for any JSON", () => {
        fc.assert(
            fc.property(fc.jsonValue(), fc.jsonValue(), (x, y) => {
                const [a, b] = [JSON.parse(JSON.stringify(x)) as Json, JSON.parse(JSON.stringify(y)) as Json];
                expect(applyChanges(a, diffSnapshots(a, b))).toEqual(b);
            }),
        );
    });
});
