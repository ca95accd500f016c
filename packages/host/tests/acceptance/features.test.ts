/**
 * Features of tools, provenance, snapshots and spans in whole runs, each by the number under which they were asked for, where no other test shows
 * exactly that. `npx vitest run -t F33` runs what shows F33, here and elsewhere.
 */
import { createHash } from "node:crypto";
import type { lookup } from "node:dns";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Json } from "@remit/language";
import { otlp, type Snapshot } from "@remit/machine";
import { fetch } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { debugRun, moved } from "../../src/debug/session.ts";
import { snapshotOf } from "../../src/debug/snapshot.ts";
import { memoryStore } from "../../src/ledger/memory.ts";
import { load } from "../../src/run/program.ts";
import type { LoadOptions } from "../../src/run/setup.ts";
import { whyOf } from "../../src/run/why.ts";
import { createScrubber } from "../../src/secret/scrub.ts";
import { connections } from "../../src/tool/http.ts";
import { chainOf, ran as ranIn, world } from "../why/setup.ts";

let root: string;
beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "remit-features-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A run in a ledger of its own. */
async function run(source: string, input: Json = {}, options: LoadOptions = {}) {
    const store = memoryStore();
    writeFileSync(join(root, "main.remit"), source);
    const program = await load<Json, Json>(join(root, "main.remit"), {
        workspace: root,
        cache: false,
        env: { HOME: root },
        ledger: store,
        ...options,
    });
    try {
        return { store, result: await program.run(input).result };
    } finally {
        await program.close();
    }
}

test("F27: a jail that is lent for reading refuses to be written to, by whatever name the file goes", async () => {
    writeFileSync(join(root, "a.txt"), "as it was");
    const source = `import tool Repo from "file://workspace"
agent Fixer {
    remit {}
    main func() { 1 }
    func look(place) { place.read({ path: "a.txt" }).content }
    func go(place, path: string) { place.write({ path: path, content: "changed" }) }
    func mend(place) { place.patch({ path: "a.txt", search: "was", replace: "is" }) }
}
main agent Main {
    main func() {
        paths = ["a.txt", "./a.txt", "new.txt", "b/../a.txt"]
        tried = parallel for path in paths max 4 {
            one = try { Fixer.go(Repo.only(read), path) } catch e { e.kind }
            one
        }
        mended = try { Fixer.mend(Repo.only(read, list)) } catch e { e.kind }
        [Fixer.look(Repo.only(read)), tried, mended]
    }
}
`;
    const { result } = await run(source);
    expect(result.value).toEqual(["as it was", Array(4).fill("violation.remit"), "violation.remit"]);
    expect(readdirSync(root).sort()).toEqual(["a.txt", "main.remit"]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("as it was");
});

describe("F29: a name is followed to its addresses before anything is sent", () => {
    test.each<[string, string[], boolean, "refused" | "reached"]>([
        ["this machine", ["127.0.0.1"], false, "refused"],
        ["a private network", ["10.1.2.3"], false, "refused"],
        ["a metadata service", ["169.254.169.254"], false, "refused"],
        ["one that looks public and an own one beside it", ["192.168.0.7", "127.0.0.1"], false, "refused"],
        ["this machine, where the configuration names the origin", ["127.0.0.1"], true, "reached"],
    ])("%s", async (_, addresses, named, expected) => {
        let asked = 0;
        const server = createServer((_request, response) => {
            asked += 1;
            response.end("inside");
        });
        await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
        const resolve = ((_name: string, _options: object, done: (error: null, found: object[]) => void) =>
            done(
                null,
                addresses.map((address) => ({ address, family: 4 })),
            )) as unknown as typeof lookup;
        const dispatcher = await connections({ private: named, never: false }, {}, resolve);
        try {
            const url = `http://rebound.example:${(server.address() as AddressInfo).port}/`;
            const got = await fetch(url, { dispatcher }).then(
                () => "reached",
                (error: Error) =>
                    (error.cause as { code?: string } | undefined)?.code === "REMIT_FORBIDDEN_ADDRESS" ? "refused" : String(error),
            );
            expect(got).toBe(expected);
            expect(asked).toBe(expected === "reached" ? 1 : 0);
        } finally {
            await dispatcher.destroy();
            server.close();
        }
    });
});

describe("F31: the way of a value of every kind begins where it was born", () => {
    test.each([
        ["a number and a constant", "x = p.n + 1"],
        ["a comparison", "x = p.n > 2"],
        ["a boolean", "x = not p.flag"],
        ["an item of a list", "x = [0, p.n][1]"],
        ["a field", "x = { k: p.n }.k"],
        ["a key", "x = p.a.keys()[0]"],
    ])("%s", async (_, statement) => {
        const at = world();
        try {
            const { run: id } = await ranIn(at, { clauses: "", body: `p = Page.get({})\n${statement}\nSend.go({ to: x })` });
            const found = await whyOf(at.store, id, "main/Send.go#0.to");
            expect(found.origins).toEqual(["tool:Page"]);
            expect(await chainOf(at, id, "main/Send.go#0.to")).toEqual(["1 tool Page.get", "2"]);
        } finally {
            at.close();
        }
    });
});

describe("F33: a text from the network in a statement of SQL", () => {
    const source = (query: string): string => `import tool Page from "host:page"
import tool Db from "host:db" { arg sql: trusted }
main func() {
    page = Page.get({})
    name = page.name
    ${query}
}
`;
    const db = new DatabaseSync(":memory:");
    db.exec("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('ann')");
    const asked: string[] = [];
    const tools = {
        Page: { get: () => ({ name: "ann' OR '1'='1" }) },
        Db: {
            query: {
                input: { type: "object", properties: { sql: {}, params: {} } },
                call: ({ sql, params = [] }: { sql: string; params?: string[] }) => {
                    asked.push(sql);
                    return db.prepare(sql).all(...params) as Json;
                },
            },
        },
    };
    beforeEach(() => void asked.splice(0));

    const JOINED = '"SELECT * FROM users WHERE name = \'" + name + "\'"';
    test("is refused before the run where that is certain", async () => {
        await expect(run(source(`Db.query({ sql: ${JOINED} })`), {}, { tools })).rejects.toThrow(
            "this comes from Page, and 'sql' of Db takes only what is trusted",
        );
    });
    test("is refused in the run, with the way from where it came in to where it stood", async () => {
        const text = `${source("Db.query({ sql: made(name, 7) })")}func made(name, n) {
    if n > 8 { return "SELECT 1" }
    joined = ${JOINED}
    joined
}
`;
        const { store, result } = await run(text, {}, { tools });
        expect(result.failure).toMatchObject({ kind: "violation.flow", detail: { origins: ["tool:Page"] } });
        expect(asked).toEqual([]);
        const { chain } = await whyOf(store, result.run, "main/Db.query#0.sql");
        expect(chain.map((step) => [step.what, step.site?.line])).toEqual([
            ["tool Page.get", 4],
            ["value", 5],
            ["value", 10],
            ["value", 6],
        ]);
    });
    test("is let through as a bound parameter of the same statement", async () => {
        const { result } = await run(source('Db.query({ sql: "SELECT * FROM users WHERE name = ?", params: [name] })'), {}, { tools });
        expect(result).toMatchObject({ ok: true, value: [] });
        expect(asked).toEqual(["SELECT * FROM users WHERE name = ?"]);
    });
});

const SNAPSHOT = z.fromJSONSchema(
    JSON.parse(readFileSync(new URL("../../../machine/schema/snapshot-1.json", import.meta.url), "utf8")) as Parameters<
        typeof z.fromJSONSchema
    >[0],
);

test("F40: a snapshot inside a delegated yield has the frames of the agent and of the block, in order, with what was delegated", async () => {
    writeFileSync(
        join(root, "answer.remit"),
        'func answer(agent, mail, to) {\n    text = "to " + to\n    mail.send({ to: to, text: text })\n}\n',
    );
    const source = `import tool Mail from "host:mail" { send: ask }
import agent Fixer from "stub:source:answer.remit"
main agent Main {
    main func(input: { to: string }) {
        done = none
        delegate Mail.read to Fixer {
            done = Fixer.yield(mail: Mail.only(send), to: input.to)
        }
        done
    }
}
`;
    const tools = { Mail: { read: () => "a letter", send: () => "sent" } };
    const { store, result } = await run(source, { to: "bob" }, { tools, asks: { park: true } });
    expect(result.status).toBe("waiting");
    const session = await debugRun(store, result.run);
    moved(session.goTo({ kind: "end" }));
    const made: Snapshot = snapshotOf(session, createScrubber());
    expect(SNAPSHOT.safeParse(made).success).toBe(true);
    const [thread, ...more] = made.threads;
    expect(more).toEqual([]);
    expect(thread?.frames.map((f) => [f.name, made.principals[f.principal]?.name, f.site?.file, f.site?.line])).toEqual([
        ["answer", "Fixer", "Fixer's answer", 3],
        ["Main.main", "user", "main.remit", 7],
    ]);
    const [token] = thread?.frames[0]?.delegations ?? [];
    expect(made.delegations[String(token)]).toMatchObject({ from: "user", to: "Fixer", things: ["tool:host:mail"] });
    expect(made.capabilities).toMatchObject([
        { name: "agent", held: { kind: "agent" } },
        { name: "mail", held: { kind: "tool", right: { from: "user", methods: ["send"], live: true } } },
    ]);
    expect(made.moment.steps).toBeGreaterThan(0);
});

test("F41: a planted secret is in no byte of a snapshot: not in what a failure says, in keys, in handles, nor as a hash", async () => {
    const SECRET = "pin-48120037";
    const source = `import tool Work from "host:work"
func inner(given) {
    keyed = [given].group_by((s) => s)
    parts = given.split("")
    url = "https://example.com/?k=" + given
    json = json.text({ k: given })
    Work.fail({ with: given, url: url })
}
main func(input: { text: string }) {
    try { raise "first " + input.text } catch e { kept = e  inner(input.text) }
}
`;
    const tools = {
        Work: {
            fail: (args: Json) => {
                throw new Error(`no: ${JSON.stringify(args)}`);
            },
        },
    };
    const { store, result } = await run(source, { text: SECRET }, { tools });
    expect(result.failure?.message).toContain(SECRET);
    const scrubber = createScrubber([{ name: "env:PIN", value: SECRET }]);
    for (const place of ["failure", "end", "start"] as const) {
        const session = await debugRun(store, result.run);
        moved(session.goTo({ kind: place }));
        const bytes = JSON.stringify(snapshotOf(session, scrubber));
        expect(bytes).not.toContain(SECRET);
        // Anybody can hash the few secrets that a PIN may be.
        for (const known of [SECRET, JSON.stringify(SECRET), JSON.stringify({ text: SECRET }), JSON.stringify([SECRET])])
            for (const algorithm of ["sha256", "sha1", "md5"])
                for (const form of ["hex", "base64", "base64url"] as const)
                    expect(bytes).not.toContain(createHash(algorithm).update(known).digest(form).slice(0, 16));
    }
});

test("F43: crossings, grants, lifts, refusals, endorsements, questions, yields and failures are events of one chain", async () => {
    const source = `import tool Mail from "host:mail" { send: ask, arg drop.to: trusted }
import agent Fixer from "stub:noop"
agent Clerk { remit { may Mail.read } func go() { Mail.read({}) } func over() { Mail.drop({ to: "x" }) } }
main agent Main {
    main func(input) {
        delegate Mail.read to Clerk { Clerk.go() }
        tried = try { Clerk.over() } catch e { e.kind }
        known = endorse input.to as trusted because "ours"
        asked = try { Mail.send({ to: known }) } catch e { e.kind }
        Fixer.yield(a: 1)
        raise "the end"
    }
}
`;
    const { store, result } = await run(source, { to: "bob" }, { tools: { Mail: { read: () => 1, send: () => 1, drop: () => 1 } } });
    const kinds = new Set((await Array.fromAsync(store.events(result.run))).map((one) => one.kind));
    for (const kind of [
        ...["agent.started", "agent.ended", "delegate.granted", "delegate.lifted", "policy.denied", "policy.endorsed"],
        ...["ask.requested", "ask.decided", "tool.started", "tool.ended", "yield.opened", "agent.asked", "agent.answered"],
        ...["yield.payload", "yield.closed", "run.ended"],
    ])
        expect([...kinds]).toContain(kind);
    expect((await store.verify(result.run)).ok).toBe(true);
});

test("F47: spans of an agent, a skill, a function and a sink are one tree, without content unless it is asked for", async () => {
    mkdirSync(join(root, "home/.agents/skills/triage"), { recursive: true });
    writeFileSync(join(root, "home/.agents/skills/triage/SKILL.md"), "---\nname: triage\ndescription: Sorts.\n---\n\nLook at the LOG.\n");
    writeFileSync(join(root, "answer.remit"), 'func answer(agent, mail, to) {\n    mail.send({ to: to, text: "TEXT" })\n}\n');
    const source = `import tool Mail from "host:mail" { send: may }
import tool Skills from "skills:"
import agent Fixer from "stub:source:answer.remit"
main func(input: { to: string }) {
    act("Skills.activate", { name: "triage" })
    Fixer.yield(mail: Mail, to: input.to)
    1
}
`;
    const tools = { Mail: { send: () => "SENT" } };
    const { store, result } = await run(source, { to: "TO" }, { tools, env: { HOME: join(root, "home") } });
    expect(result).toMatchObject({ ok: true });
    interface Span {
        readonly name: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
    }
    const told = async (content: boolean): Promise<Span[]> =>
        (
            otlp(await Array.fromAsync(store.events(result.run)), { content }) as unknown as {
                resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
            }
        ).resourceSpans.flatMap((one) => one.scopeSpans.flatMap(({ spans }) => spans));
    const spans = await told(false);
    const byId = new Map(spans.map((one) => [one.spanId, one]));
    const way = (one: Span | undefined): string[] => (one === undefined ? [] : [...way(byId.get(one.parentSpanId ?? "")), one.name]);
    expect(spans.filter((one) => !byId.has(one.parentSpanId ?? ""))).toHaveLength(1);
    const named = (name: string): string[] => way(spans.find((one) => one.name === name)).slice(1);
    expect(named("execute_tool Skills.activate")).toEqual(["execute_tool Skills.activate"]);
    expect(named("invoke_agent Fixer")).toEqual(["yield Fixer", "invoke_agent Fixer"]);
    expect(named("execute_tool Mail.send")).toEqual([
        "yield Fixer",
        "invoke_workflow payload",
        "invoke_agent Fixer",
        "execute_tool Mail.send",
    ]);
    for (const word of ["TEXT", "SENT", "LOG", '"TO"']) expect(JSON.stringify(spans)).not.toContain(word);
    expect(JSON.stringify(await told(true))).toContain("SENT");
});
