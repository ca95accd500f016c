/**
 * The hooks in the test runners they are for: Vitest and `node --test` run a suite of their own, in which passing and failing is known. Jest is
 * not among the packages of this project: its hook is held to Jest's documented globals (`expect`, `afterEach`) here.
 */
import { execFile } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Json } from "@remit/language";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { auditBeforeAssertion } from "../../src/testing/jest.ts";
import { AuditError, guardOf } from "../../src/testing/guard.ts";
import { clean, refused, tainted } from "./cases/flow.ts";

const here = dirname(fileURLToPath(import.meta.url));
const cases = join(here, "cases");
const room = mkdtempSync(join(tmpdir(), "remit-hooks-"));
afterAll(() => rmSync(room, { recursive: true, force: true }));
const root = join(here, "..", "..", "..", "..");

async function node(...args: string[]): Promise<{ out: string; code: number }> {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_TEST|NODE_OPTIONS|TEST$)/.test(name)));
    try {
        const { stdout } = await promisify(execFile)(process.execPath, args, {
            cwd: cases,
            env: { ...env, CASES_ROOM: room },
            encoding: "utf8",
            maxBuffer: 1 << 26,
        });
        return { out: stdout, code: 0 };
    } catch (error) {
        const { stdout, code } = error as { stdout: string; code: number };
        return { out: stdout, code };
    }
}

interface Report {
    readonly testResults: {
        readonly name: string;
        readonly assertionResults: { readonly title: string; readonly status: string; readonly failureMessages: string[] }[];
    }[];
}

let ran: Promise<Report> | undefined;
/** Title → why it failed, empty where it passed. Vitest starts once, for all files of the suite. */
async function vitest(file: string): Promise<Map<string, string>> {
    ran ??= suite();
    const results = (await ran).testResults.filter(({ name }) => basename(name) === file).flatMap((one) => one.assertionResults);
    return new Map(results.map((a) => [a.title, a.status === "passed" ? "" : a.failureMessages.join("\n")]));
}

async function suite(): Promise<Report> {
    const cli = join(root, "node_modules", "vitest", "vitest.mjs");
    const output = join(room, "report.json");
    const config = join(cases, "vitest.config.mjs");
    await node(cli, "run", "--root", cases, "--config", config, "--reporter", "json", "--outputFile", output);
    return JSON.parse(readFileSync(output, "utf8")) as Report;
}

// Other files of this process would be heard, too.
afterEach(() => expect(channel("remit:run").hasSubscribers).toBe(false));

const TAINT = "Mail.send goes where tool:Inbox says (argument to)";

function held(results: Map<string, string>, count: number): void {
    expect(results.size).toBe(count);
    for (const [title, why] of results) {
        if (/tainted fails/.test(title)) expect([title, why]).toEqual([title, expect.stringContaining(TAINT)]);
        else if (/passes/.test(title)) expect([title, why]).toEqual([title, ""]);
    }
}

test("F50: Vitest: a passing assertion with a tainted flow behind it fails with the finding; a clean one passes", async () => {
    const results = await vitest("vitest.case.ts");
    held(results, 11);
    expect(results.get("refused fails as a refusal")).toContain("flow-refused");
    const own = results.get("a failing assertion fails as itself");
    expect(own).toContain("expected true to be false");
    expect(own).not.toContain("audit");
});

test("Vitest: refusals can be expected, invariants declared", async () => {
    const results = await vitest("ignoring.case.ts");
    held(results, 3);
    expect(results.get("an invariant that does not hold fails")).toContain('Sender never Mail.send outside "bob" of to');
});

test("F50: node:test: a passing assertion with a tainted flow behind it fails with the finding; a clean one passes", async () => {
    const { out, code } = await node("--test", "--test-reporter", "tap", join(cases, "node.case.ts"));
    expect(code).toBe(1);
    const blocks = out.split(/^ *(?=(?:not )?ok \d+ - )/m).slice(1);
    const results = new Map(
        blocks.flatMap((block): [string, string][] => {
            const found = /^(not )?ok \d+ - (.*)/.exec(block);
            return found === null || found[2]?.includes(".ts") ? [] : [[found[2] as string, found[1] === undefined ? "" : block]];
        }),
    );
    held(results, 5);
    expect(results.get("refused fails as a refusal")).toContain("flow-refused");
});

describe("Jest's globals", () => {
    type Globals = { expect?: unknown; afterEach?: unknown; afterAll?: unknown };
    const globals = globalThis as Globals;
    afterEach(() => {
        delete globals.expect;
        delete globals.afterEach;
        delete globals.afterAll;
    });

    test("a tainted flow fails before the assertion and after the test; a clean one passes", async () => {
        const hooks: (() => void)[] = [];
        const seen: Json[] = [];
        const own = Object.assign((value: Json) => ({ toBe: (other: Json) => seen.push(value === other) }), { any: () => "any" });
        const last: (() => void)[] = [];
        const hook = (of: (() => void)[]) => (one: () => void) => of.push(one);
        Object.assign(globals, { expect: own, afterEach: hook(hooks), afterAll: hook(last) });
        const wrapped = auditBeforeAssertion<typeof own>();
        wrapped(await (await clean())({ to: "bob" })).toBe(true);
        hooks[0]?.();
        expect(seen).toEqual([true]);
        expect(wrapped.any()).toBe("any");
        const value = await (await tainted())({});
        expect(() => wrapped(value)).toThrow(TAINT);
        expect(() => hooks[0]?.()).toThrow(AuditError);
        // What was told belongs to that test alone.
        hooks[0]?.();
        expect(seen).toEqual([true]);
        last[0]?.();
    });

    test("outside Jest it says so", () => {
        expect(() => auditBeforeAssertion()).toThrow("call this in a test file that Jest runs");
    });
});

describe("what the hooks share", () => {
    test("a run that goes on after its test is looked at in those that follow", async () => {
        const guard = guardOf({});
        let go: () => void = () => undefined;
        const wait = new Promise<void>((resolve) => {
            go = resolve;
        });
        const { load } = await import("@remit/host");
        const program = await load<Json, Json>(
            {
                source: `import tool Inbox from "host:inbox"\nimport tool Mail from "host:mail"\nmain agent A { main func(input) { Mail.send({ to: Inbox.read({}).from }) } }`,
            },
            {
                cache: false,
                tools: { Inbox: { read: { call: async () => (await wait, { from: "eve" }) } }, Mail: { send: { call: async () => true } } },
            },
        );
        const { result } = program.run({});
        guard.end();
        go();
        await result;
        expect(() => guard.end()).toThrow(TAINT);
        guard.close();
    });

    test("a run that begins after the end of its test is looked at in those that follow", async () => {
        const guard = guardOf({});
        let go: () => void = () => undefined;
        const wait = new Promise<void>((resolve) => {
            go = resolve;
        });
        let forgotten: Promise<unknown> = Promise.resolve();
        await guard.during(async () => {
            forgotten = wait.then(async () => (await tainted())({}));
            guard.end();
        });
        go();
        await forgotten;
        await expect(
            guard.during(async () => {
                guard.look();
            }),
        ).rejects.toThrow(TAINT);
        expect(() => guard.end()).toThrow(TAINT);
        guard.close();
    });

    test("refusals are findings unless a test is about them", async () => {
        const strict = guardOf({});
        const about = guardOf({ ignore: ["flow-refused"] });
        await (await refused())({ to: "bob", evil: true });
        expect(() => strict.look()).toThrow("flow-refused");
        about.look();
        about.close();
        expect(() => strict.close()).toThrow("flow-refused");
    });

    test("an invariant that is none is told at once", () => {
        expect(() => guardOf({ invariants: ["Fixer may Repo"] })).toThrow(TypeError);
    });
});
