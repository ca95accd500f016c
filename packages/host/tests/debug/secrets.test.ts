/**
 * A secret that is known now and was not when the run was recorded: wherever something is cut, no beginning of it is left before the cut, and
 * nobody can ask for it piece by piece.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { describe, expect, test } from "vitest";
import { askAgent, auditorsSay } from "../../src/index.ts";
import { lookingAt } from "../../src/debug/looking.ts";
import { debugRun, type DebugSession, moved } from "../../src/debug/session.ts";
import { snapshotOf } from "../../src/debug/snapshot.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { contents, type Recorded, recorded } from "./runs.ts";

const SECRET = "tk-3fA9zQ81mmXwPq7Lr2";
const env = { ...process.env, SERVICE_TOKEN: SECRET };
const scrubber = createScrubber([{ name: "env:SERVICE_TOKEN", value: SECRET }]);

const HOLDS = `import tool Work from "host:work"
func inner(text) {
    list = ["a", text]
    deep = { one: { two: [text, text] } }
    keyed = [text].group_by((s) => s)
    Work.fail(text)
}
main func(input: { text: string }) {
    inner(input.text)
}
`;

/** Where the secret begins in a text: around every cut that is made of values (40, 200 and 65536 units) and their surroundings. */
const PLACES = [0, 25, 39, 170, 185, 195, 199, 65_520, 65_535];
const holding = (before: number): string => `${"x".repeat(before)}${SECRET}${"y".repeat(5_000)}`;

/** Units of the secret's beginning that stand in a text. */
function leaked(text: string): number {
    let n = 3;
    while (n < SECRET.length && text.includes(SECRET.slice(0, n + 1))) n++;
    return n === 3 ? 0 : n;
}

async function failed(before: number): Promise<Recorded> {
    return recorded(HOLDS, { text: holding(before) });
}

async function at({ store, id }: Recorded): Promise<DebugSession> {
    const session = await debugRun(store, id, { scrubber });
    moved(session.goTo({ kind: "failure" }));
    return session;
}

async function asked(session: DebugSession, method: string, arg: Json): Promise<string> {
    const tool = lookingAt(session, scrubber)[method] as { readonly call: (arg: Json) => unknown };
    return JSON.stringify(await tool.call(arg));
}

describe.each(PLACES)("a secret %i units into a text", (before) => {
    test("is in no snapshot and no look, not even its beginning", async () => {
        const run = await failed(before);
        expect(await contents(run.store, run.id)).toContain(SECRET);
        const plain = await debugRun(run.store, run.id);
        moved(plain.goTo({ kind: "failure" }));
        expect(leaked(JSON.stringify(snapshotOf(plain, scrubber)))).toBe(0);
        const session = await at(run);
        const { threads } = session.inspect();
        expect(threads[0]?.stackFrames.length).toBe(2);
        expect(leaked(scrubber.text(JSON.stringify(threads)))).toBe(0);
        for (const names of [["text"], ["list"], ["list", 1], ["deep"], ["deep", "one", "two"], ["keyed"]])
            expect(leaked(scrubber.text(JSON.stringify(session.look({ thread: 0, frame: 0, names }, 0, 10))))).toBe(0);
    });

    test("is told to no agent that looks, not even its beginning", async () => {
        const session = await at(await failed(before));
        for (const [method, arg] of [
            ["frame", { index: 0 }],
            ["frame", { index: 1 }],
            ["owner", { path: "0/text" }],
            ["find", { text: "xx" }],
            ["find", { origin: "user" }],
        ] as const)
            expect(leaked(await asked(session, method, arg))).toBe(0);
        // Nor can it be guessed: what is found is what is shown.
        for (let n = 4; n <= SECRET.length; n++)
            expect(JSON.parse(await asked(session, "find", { text: SECRET.slice(0, n) })).value.found).toEqual([]);
    });
});

test("what an agent is given besides holds no beginning of it either: the effect's request, the failure, events, findings", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-secrets-"));
    try {
        const auditor = join(folder, "auditor.remit");
        writeFileSync(auditor, "main agent Auditor {\n    main func(input) {\n        []\n    }\n}\n");
        for (const before of [985, 995, 3985, 3999]) {
            const { store, id } = await failed(before);
            const session = await debugRun(store, id);
            moved(session.goTo({ kind: "failure" }));
            await expect(askAgent(session, "stub:refuse", { ledger: store, env })).rejects.toThrow();
            const { runs, unsure } = await auditorsSay(store, id, [auditor], [], { env, workspace: folder, cache: false });
            expect({ unsure, runs: runs.length }).toEqual({ unsure: [], runs: 1 });
            const others = (await store.runs()).filter((one) => one.id !== id);
            expect(others.length).toBe(2);
            for (const one of others) {
                expect(await contents(store, one.id)).toContain("xxxx");
                expect(leaked(await contents(store, one.id))).toBe(0);
            }
        }
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
});
