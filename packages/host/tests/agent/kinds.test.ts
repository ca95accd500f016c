/** F14, LANGUAGE 7: every kind of failure is committed by an agent, and the program sees that kind: by `catch`, or as the end of its run. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { FAILURE_KINDS, type FailureKind, type LedgerEvent } from "@remit/machine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { load } from "../../src/run/program.ts";

let root: string;
beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "remit-kinds-"));
    writeFileSync(join(root, "remit.json"), "{}\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A way in which an agent commits it. */
interface Way {
    /** What it does, where it is not the fault of this name. */
    readonly by?: string;
    /** Statements of the function that it answers with; its parameter is `repo`. */
    readonly source?: string;
    /** The tool's clauses at its import, and what is handed over of it. */
    readonly clauses?: string;
    readonly repo?: string;
    readonly with?: string;
    readonly expects?: string;
    /** It ends the run, whoever catches. */
    readonly ends?: true;
    /** The whole of the program's main func, where a yield is not all there is to it. */
    readonly body?: string;
}

const WAYS: { readonly [kind in FailureKind]: readonly Way[] } = {
    refusal: [{}],
    unreachable: [{}, { by: "crash" }],
    timeout: [{}, { by: "silence", with: "silence: 50" }],
    rate_limited: [{}],
    invalid_payload: [{}, { by: "bad_source" }, { by: "wrong_signature" }, { by: "huge", with: "bytes: 1000" }],
    contract: [{ expects: "-> number" }],
    tool: [{}, { source: 'repo.read({ path: "none.txt" })' }],
    model: [{}],
    value: [{}],
    denied: [{}, { source: 'repo.write({ path: "a.txt", content: "x" })', clauses: "{ write: ask }" }],
    raised: [{}],
    cancelled: [{ ends: true }],
    "limit.steps": [{ with: "steps: 2000" }],
    "limit.time": [{ with: "time: 200 ms" }, { by: "silence", with: "time: 200 ms" }],
    "limit.tokens": [{ with: "tokens: 1000" }],
    "limit.cost": [{ with: "usd: 1" }],
    "limit.turns": [{ with: "turns: 3" }],
    "limit.calls": [{ with: "calls: 5" }, { with: "calls: 5", source: 'for i in [1, 2, 3, 4, 5, 6] max 6 { repo.list({ path: "." }) }' }],
    "limit.bytes": [{}],
    "limit.depth": [{}],
    "violation.remit": [{ source: 'box = [repo]\nbox[0].write({ path: "a.txt", content: "x" })', repo: "Repo.only(read)" }],
    "violation.flow": [{ source: 'repo.write({ path: "a.txt", content: "made up" })', clauses: "{ arg content: trusted }" }],
    "violation.capability": [{}, { source: 'return "This is " + repo' }],
    "violation.revoked": [
        {
            source: 'define keep = func(box, repo) { if repo == none { box[0].read({ path: "a.txt" }) } else { box.add(repo) } } keep\nreturn none',
            body: "delegate all to Fixer { Fixer.yield(repo: Repo) }\nbox = []\nkeep(box, Repo)\nkeep(box, none)",
        },
    ],
    "violation.payload": [{ with: "turns: 2" }],
};

const CASES = Object.entries(WAYS).flatMap(([kind, ways]) => ways.map((way, index) => ({ kind: kind as FailureKind, way, index })));

async function ran(uri: string, main: string, clauses = ""): Promise<{ readonly gave: Json; readonly events: readonly LedgerEvent[] }> {
    const file = join(root, "main.remit");
    const helper = "func keep(box, repo) { none }\n";
    writeFileSync(
        file,
        `import tool Repo from "file://workspace" ${clauses}\nimport agent Fixer from ${JSON.stringify(uri)}\n\n${helper}main func() {\n${main}\n}\n`,
    );
    const program = await load<Json, Json>(file, { workspace: root, cache: false, env: { HOME: root } });
    try {
        const handle = program.run({});
        const result = await handle.result;
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        return { gave: result.ok ? (result.value ?? null) : { run: result.failure?.kind ?? "none" }, events };
    } finally {
        await program.close();
    }
}

function uriOf(kind: string, { by, source }: Way): string {
    if (source === undefined) return `stub:faulty?kind=${by ?? kind}`;
    writeFileSync(join(root, "answer.remit"), `func answer(agent, repo) {\n${source}\n}\n`);
    return "stub:source:answer.remit";
}

const yielded = ({ repo = "Repo", with: options, expects = "" }: Way): string =>
    `Fixer.yield(repo: ${repo})${options === undefined ? "" : ` with { ${options} }`} ${expects}`;

test("every kind has a way", () => {
    expect(Object.keys(WAYS).sort()).toEqual(Object.keys(FAILURE_KINDS).sort());
    expect(Object.entries(WAYS).filter(([, ways]) => ways.length === 0)).toEqual([]);
});

describe.each(CASES)("$kind, $index", ({ kind, way }) => {
    const body = way.body ?? yielded(way);
    test("a program that catches it sees its kind, and one that does not ends with it; a session is closed where it is caught", async () => {
        const caught = await ran(uriOf(kind, way), `return try {\n${body}\n} catch failure {\n[failure.kind]\n}`, way.clauses);
        expect(caught.gave).toEqual(way.ends === true ? { run: kind } : [kind]);
        const loose = await ran(uriOf(kind, way), body, way.clauses);
        expect(loose.gave).toEqual({ run: kind });
        const closed = (events: readonly LedgerEvent[]) => events.filter((event) => event.kind === "yield.closed");
        expect(closed(caught.events)).toHaveLength(way.ends === true ? 0 : 1);
        // The failed run may go on with its session as it is, where the failure came up inside it.
        expect(closed(loose.events)).toHaveLength(way.body?.includes("delegate") === true ? 1 : 0);
    });
});

describe("inside a session", () => {
    const inside = 'return try { agent.send("more") } catch failure { ["inside", failure.kind] }';
    test.each(Object.entries(FAILURE_KINDS))("a further turn that fails with %s (%s)", async (kind, of) => {
        writeFileSync(
            join(root, "replies.json"),
            JSON.stringify([{ source: `func answer(agent, repo) {\n${inside}\n}` }, { fail: { kind } }]),
        );
        const { gave } = await ran("stub:sequence:replies.json", "return try { Fixer.yield(repo: Repo) } catch failure { [failure.kind] }");
        expect(gave).toEqual(of === "failure" ? ["inside", kind] : kind === "cancelled" ? { run: kind } : [kind]);
    });
    test.each(CASES.filter(({ way }) => way.source !== undefined && way.body === undefined))(
        "what its own code commits: $kind, $index",
        async ({ kind, way }) => {
            const source = `return try {\n${way.source}\n} catch failure {\n["inside", failure.kind]\n}`;
            const { gave } = await ran(
                uriOf(kind, { ...way, source }),
                `return try { ${yielded(way)} } catch failure { [failure.kind] }`,
                way.clauses,
            );
            expect(gave).toEqual(FAILURE_KINDS[kind] === "failure" ? ["inside", kind] : [kind]);
        },
    );
});
