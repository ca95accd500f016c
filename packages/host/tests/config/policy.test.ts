/** A project's policy: it counts without trust, is read by the language's parser, and only takes away. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { checkFile } from "../../src/load/check.ts";
import { openLedger } from "../../src/run/open.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";

let folder = "";
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-policy-"));
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src", "a.txt"), "one");
    writeFileSync(join(folder, "b.txt"), "two");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const says = (policy: Json): void => writeFileSync(join(folder, "remit.json"), JSON.stringify({ policy }));
const problems = (policy: Json): string => {
    says(policy);
    try {
        loadConfig({ folder, env: {} });
        return "";
    } catch (error) {
        return (error as Error).message;
    }
};
const IMPORTS = 'import tool Repo from "file://workspace"\nimport tool Mail from "host:mail"\n';
const MAIL = { Mail: { send: () => "sent" } };
async function run(text: string, options: LoadOptions = {}) {
    const program = await load(
        { source: IMPORTS + text },
        { root: folder, workspace: folder, env: {}, cache: false, tools: MAIL, ...options },
    );
    try {
        return await program.run({}).result;
    } finally {
        await program.close();
    }
}
const main = (body: string): string => `main agent A { main func() { ${body} } }`;

describe("what a file may say", () => {
    test.each<[string, Json, string]>([
        ["a gate that opens", { clauses: { Mail: "send: may" } }, "policy.clauses.Mail: 'send: may' would give something"],
        ["trust", { clauses: { Mail: "trusted" } }, "would give something"],
        ["what is no gate", { clauses: { Mail: "send: maybe" } }, "policy.clauses.Mail: "],
        [
            "text that ends the braces",
            { clauses: { Mail: 'send: ask } import tool X from "sh://find" { run: never' } },
            "policy.clauses.Mail: ",
        ],
        ["a whole program", { remits: { A: "{ may all } agent B { func f() { 1 } }" } }, "policy.remits.A: "],
        ["no remit", { remits: { A: "allow everything" } }, "policy.remits.A: "],
        ["another kind of value", { clauses: { Mail: { send: "ask" } } }, "a text or a list of texts is expected"],
        ["a word that is not known", { flow: "loose" }, "one of strict"],
        ["leave for what is not trusted", { untrusted: "may" }, "one of ask, never"],
        ["trust in the input", { input: "user" }, "one of unlabelled"],
    ])("%s is a problem", (_what, policy, message) => {
        expect(problems(policy)).toContain(message);
    });

    test("several texts, with and without braces", () => {
        says({
            clauses: { "mcp://mail": ["send: ask", "arg to: trusted or ask"], Mail: "{ drop: never }" },
            remits: { A: "may Repo.read spend 10k tokens" },
            flow: "strict",
        });
        expect(loadConfig({ folder, env: {} }).policy).toMatchObject({
            clauses: {
                "mcp://mail": [
                    { kind: "gate", method: "send", gate: "ask" },
                    { kind: "arg", name: "to", ask: true },
                ],
                Mail: [{ kind: "gate", method: "drop", gate: "never" }],
            },
            remits: { A: [{ grants: [{ gate: "may", refs: [{ name: "Repo", method: "read" }] }], spend: { tokens: 10_000 } }] },
            strict: true,
        });
        expect(loadConfig({ folder, env: {} }).files[0]).toMatchObject({ trusted: false, needs: [] });
    });
});

describe("what it does", () => {
    test("a clause by name and one by URI bind the program, without trust", async () => {
        const text = `agent S { remit { may Mail, Repo } func send() { Mail.send({}) } }
${main('[try { S.send() } catch e { e.kind }, try { Repo.write({ path: "x", content: "y" }) } catch e { e.kind }]')}`;
        expect((await run(text)).value).toMatchObject(["sent", { ok: true }]);
        says({ clauses: { Mail: "send: never", "file://workspace": "write: ask" } });
        expect((await run(text)).value).toEqual(["violation.remit", "denied"]);
        expect((await run(text, { on: { ask: () => "once" } })).value).toMatchObject(["violation.remit", { ok: true }]);
    });

    test("flows too: what a file holds may not be sent", async () => {
        says({ clauses: { "host:mail": "arg body: trusted" } });
        const text = main('(try { Mail.send({ body: Repo.read({ path: "b.txt" }).content }) } catch e { e.kind })');
        expect(await run(text)).toMatchObject({ ok: false, failure: { kind: "violation.flow" } });
    });

    test("a remit binds an agent besides its own, and one without", async () => {
        const text = `agent F { remit { may Repo } func f(p) { Repo.read({ path: p }).content } }
agent G { func f(p) { Repo.read({ path: p }).content } }
${main('[F.f("src/a.txt"), try { F.f("b.txt") } catch e { e.kind }, G.f("src/a.txt"), try { G.f("b.txt") } catch e { e.kind }]')}`;
        expect((await run(text)).value).toEqual(["one", "two", "one", "two"]);
        says({ remits: { F: 'may Repo.read in "src/**"', G: 'may Repo.read in "src/*"' } });
        expect((await run(text)).value).toEqual(["one", "violation.remit", "one", "violation.remit"]);
    });

    test("of an agent's import a clause says who may hand it control, and nothing else", async () => {
        const text = `import agent Far from "stub:noop"\n${main("Far.send(Mail.send({}).text)\n1")}`;
        for (const [place, said] of [
            ["Far", "send: ask"],
            ["stub:noop", "arg 1: trusted"],
        ] as const) {
            says({ clauses: { [place]: said } });
            await expect(run(text)).rejects.toMatchObject({
                kind: "value",
                message: expect.stringContaining("the agent Far does not take"),
            });
        }
        says({ clauses: { "stub:noop": "choice snd: trusted" } });
        await expect(run(text)).rejects.toMatchObject({ message: expect.stringContaining("names the method snd") });
    });

    test("who is asked, or refused, is told where it stands in the file", async () => {
        writeFileSync(
            join(folder, "remit.json"),
            `{
    "limits": { "usd": 1 },
    "policy": {
        "clauses": {
            "Other": "send: ask",
            "Mail": [
                "drop: ask, trim: never",
                "send: ask"
            ]
        },
        "remits": { "F": "may Repo.list  ask Repo.read" }
    }
}
`,
        );
        const text = `agent F { remit { may Repo } func go() { Repo.read({ path: "b.txt" }).content } }
agent T { remit { may Mail } func trim() { Mail.trim({}) } }
${main("[Mail.send({}), try { T.trim() } catch e { e.kind }, F.go()]")}`;
        const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
        const told: Json[] = [];
        const on = { ask: (request: { readonly detail: Json }) => (told.push((request.detail as { clause: Json }).clause), "once") };
        const tools = { Mail: { ...MAIL.Mail, drop: () => null, trim: () => null } };
        const result = await run(text, { on, ledger: store, tools });
        expect(result.value).toEqual(["sent", "violation.remit", "two"]);
        const file = expect.stringMatching(/remit\.json$/);
        expect(told).toEqual([
            { file, line: 8, column: 17 },
            { file, line: 11, column: 26 },
        ]);
        const denied = (await Array.fromAsync(store.events(result.run))).find((event) => event.kind === "policy.denied");
        expect(denied?.data).toMatchObject({ clause: { file, line: 7, column: 17 } });
        await store.close();
    });

    describe("untrusted", () => {
        const copy = main('Repo.write({ path: "c.txt", content: Repo.read({ path: "b.txt" }).content })  1');

        test("what is not trusted is written after a yes, or not at all, and it says where that stands", async () => {
            expect((await run(copy)).value).toBe(1);
            writeFileSync(join(folder, "remit.json"), '{\n    "policy": {\n        "untrusted": "ask"\n    }\n}\n');
            const asked: Json[] = [];
            const on = {
                ask: (request: { readonly detail: Json }) => (request.detail === null ? "deny" : asked.push(request.detail) > 0 && "once"),
            };
            expect((await run(copy, { on: on as NonNullable<LoadOptions["on"]> })).value).toBe(1);
            expect(asked).toMatchObject([
                {
                    capability: "Repo.write",
                    flow: { arg: "content", origins: ["tool:Repo"] },
                    clause: { file: expect.stringMatching(/remit\.json$/), line: 3 },
                },
            ]);
            expect(await run(copy)).toMatchObject({ ok: false, failure: { kind: "denied" } });
            says({ untrusted: "never" });
            expect(await run(copy)).toMatchObject({ ok: false, failure: { kind: "violation.flow" } });
        });

        test("the stricter counts of what the project and whoever starts the run say", async () => {
            const on = { ask: () => "once" };
            expect(await run(copy, { untrusted: "never", on })).toMatchObject({ failure: { kind: "violation.flow" } });
            expect((await run(copy, { untrusted: "ask", on })).value).toBe(1);
            says({ untrusted: "never" });
            expect(await run(copy, { untrusted: "ask", on })).toMatchObject({ failure: { kind: "violation.flow" } });
            says({ untrusted: "ask" });
            expect(await run(copy, { untrusted: "never", on })).toMatchObject({ failure: { kind: "violation.flow" } });
        });

        test("an input that is nobody's word", async () => {
            const text = "main agent A { main func(input) { Mail.send({ text: input.a })  1 } }";
            const given = async (options: LoadOptions = {}) => {
                const program = await load(
                    { source: IMPORTS + text },
                    { root: folder, workspace: folder, env: {}, cache: false, tools: MAIL, ...options },
                );
                const { result } = program.run({ a: "b" });
                return result.then(async (r) => (await program.close(), r));
            };
            says({ untrusted: "never" });
            expect((await given()).value).toBe(1);
            expect(await given({ inputOrigins: ["unlabelled"] })).toMatchObject({
                failure: { kind: "violation.flow", detail: { origins: ["unlabelled"] } },
            });
            says({ untrusted: "never", input: "unlabelled" });
            expect(await given()).toMatchObject({ failure: { kind: "violation.flow", detail: { origins: ["unlabelled"] } } });
            expect((await given({ inputOrigins: ["user"] })).value).toBe(1);
        });
    });

    test("it never opens: a model's call is asked about although the policy's remit says may", async () => {
        const replies = join(folder, "replies.json");
        writeFileSync(replies, JSON.stringify({ replies: [{ calls: [{ name: "Mail_send", args: {} }] }, { text: `{"v": "done"}` }] }));
        const text = `import llm M from "mock:"
main agent A { model M  role "r"  description "d"  main func() { generate({ input: "x", tools: [Mail], turns: 3 }) -> { v: string } } }`;
        const asked: string[] = [];
        const on = {
            ask: (request: { readonly question: string }): string => {
                asked.push(request.question);
                return "deny";
            },
        };
        const options: LoadOptions = { model: `scripted:${replies}`, on };
        await run(text, options);
        const before = asked.length;
        says({ remits: { A: "may all" } });
        await run(text, options);
        expect([before, asked.length]).toEqual([1, 2]);
    });

    test("a remit with a mistake in a name is refused, not passed over", async () => {
        says({ remits: { A: "may all never Mial" } });
        await expect(run(main("1"))).rejects.toMatchObject({
            failure: { message: expect.stringContaining("names Mial"), hint: "did you mean Mail?" },
        });
    });

    test("it is kept with the run: in its first event, and when it is resumed after the file has gone", async () => {
        says({ clauses: { Mail: "send: ask" } });
        const store = openSqlite(join(folder, "ledger.db"), { config: join(folder, "config") });
        const result = await run(main("[Mail.send({ n: 1 }), Mail.send({ n: 2 })]"), {
            ledger: store,
            asks: { park: true, owner: "os:me" },
        });
        expect(result.status).toBe("waiting");
        rmSync(join(folder, "remit.json"));
        expect((await Array.fromAsync(store.events(result.run)))[0]).toMatchObject({
            kind: "run.started",
            data: { policy: { clauses: { Mail: [{ kind: "gate", gate: "ask" }] } } },
        });
        await store.asks.decide((await store.asks.list(result.run))[0]?.id ?? "", "once", "os:me");
        const ledger = await openLedger(store);
        expect((await (await ledger.resume(result.run, { tools: MAIL })).result).status).toBe("waiting");
        await store.asks.decide((await store.asks.list(result.run))[1]?.id ?? "", "once", "os:me");
        expect(await (await ledger.resume(result.run, { tools: MAIL })).value).toEqual(["sent", "sent"]);
        expect(await ledger.replay(result.run)).toMatchObject({ equal: true });
        await store.close();
    });
});

describe("slips of the pen (L2)", () => {
    const writes = main('Repo.write({ path: "c.txt", content: "x" })');
    test.each<[Json, string]>([
        [{ clauses: { Repo: "wrte: never" } }, "policy.clauses.Repo of the project names the method wrte"],
        [{ clauses: { "file://workspace": "arg wirte.path: trusted" } }, "names the method wirte"],
        [{ clauses: { "file:": "wrte: never" } }, "names the method wrte"],
        [{ remits: { A: "may all  never A.og" } }, "policy.remits.A of the project names the method og, which A does not have"],
        [
            { clauses: { Repo: "arg write.contnet: trusted" } },
            "policy.clauses.Repo of the project names the argument contnet, which Repo.write",
        ],
        [{ clauses: { Repo: "audience: arg pth" } }, "names the argument pth, which Repo does not have"],
        [{ remits: { A: 'may all  never Repo.write in pth: "c*"' } }, "names the argument pth, which Repo.write"],
        [{ remits: { A: "may all  never Repo.wrte" } }, "policy.remits.A of the project names the method wrte"],
    ])("%j forbids nothing, and that is an error", async (policy, message) => {
        says(policy);
        await expect(run(writes)).rejects.toThrow(message);
    });

    test("a name that is nearly one of the program's is told by check; another program's is not", async () => {
        writeFileSync(join(folder, "a.remit"), IMPORTS + writes);
        const slips = async (policy: Json): Promise<readonly string[]> => {
            says(policy);
            return (await checkFile(join(folder, "a.remit"), { root: folder })).slips;
        };
        expect(await slips({ clauses: { Rapo: "write: never" } })).toEqual([
            "policy.clauses.Rapo means nothing in this program; did you mean Repo?",
        ]);
        expect(await slips({ clauses: { Calendar: "write: never", "mcp://repo": "write: never" }, remits: { Fixer: "may all" } })).toEqual(
            [],
        );
        expect(await slips({ clauses: { Repo: "write: never", Mail: "whatever: never" } })).toEqual([]);
    });

    test("an agent's name that is nearly a known or configured one is told by check", async () => {
        writeFileSync(join(folder, "remit.json"), JSON.stringify({ agents: { mender: { command: ["mender"] } } }));
        const slips = async (uri: string): Promise<readonly string[]> => {
            writeFileSync(join(folder, "a.remit"), `import agent Fixer from "${uri}"\nmain func() { Fixer.yield() -> number }`);
            return (await checkFile(join(folder, "a.remit"), { root: folder, trust: true })).slips;
        };
        expect(await slips("acp://opencod")).toEqual(["Fixer: no agent 'opencod' is known here; did you mean acp://opencode?"]);
        expect(await slips("acp://mendr")).toEqual(["Fixer: no agent 'mendr' is known here; did you mean acp://mender?"]);
        expect([...(await slips("acp://mender")), ...(await slips("acp://codex")), ...(await slips("acp://elsewhere"))]).toEqual([]);
    });

    test.each([true, false])("and so is a server's name, whether its file is trusted (%s) or not", async (trust) => {
        writeFileSync(join(folder, "remit.json"), JSON.stringify({ mcpServers: { library: { command: "library" } } }));
        const slips = async (uri: string): Promise<readonly string[]> => {
            writeFileSync(join(folder, "a.remit"), `import tool Books from "${uri}"\nmain func() { Books.find({}).ok }`);
            return (await checkFile(join(folder, "a.remit"), { root: folder, trust })).slips;
        };
        expect(await slips("mcp://libary")).toEqual(["Books: no server 'libary' is configured here; did you mean mcp://library?"]);
        expect([...(await slips("mcp://library")), ...(await slips("mcp://elsewhere"))]).toEqual([]);
    });
});

test("a file nearer to the program hides no policy, limit or invariant of those above it in the repository, and takes nothing else from them", () => {
    mkdirSync(join(folder, ".git"));
    mkdirSync(join(folder, "sub", "deep"), { recursive: true });
    const at = (place: string, json: Json): void => writeFileSync(join(folder, place, "remit.json"), JSON.stringify(json));
    at("", {
        policy: { clauses: { Repo: "write: never" } },
        limits: { steps: 7 },
        audit: { invariants: ["* never Repo.write"] },
        workspace: "src",
    });
    at("sub", { policy: { clauses: { Mail: "send: ask" } }, models: { fast: { uri: "mock:" } } });
    at("sub/deep", {});
    const config = loadConfig({ from: join(folder, "sub", "deep", "a.remit"), folder: join(folder, "sub", "deep"), env: {} });
    expect(Object.keys(config.policy?.clauses ?? {}).sort()).toEqual(["Mail", "Repo"]);
    expect(config.limits).toEqual({ steps: 7 });
    expect(config.audit.invariants.map((one) => one.text)).toEqual(["* never Repo.write"]);
    expect([config.workspace, config.models, config.withheld.size]).toEqual([null, {}, 0]);
    // Outside of a repository a folder above is anybody's.
    rmSync(join(folder, ".git"), { recursive: true });
    expect(loadConfig({ from: join(folder, "sub", "deep", "a.remit"), folder: join(folder, "sub", "deep"), env: {} }).policy).toBeNull();
});
