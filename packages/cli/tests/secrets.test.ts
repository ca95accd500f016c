/**
 * A known secret that a program puts together from parts, or that its own text says: no byte that a run leaves on a disk, on a wire or on a
 * stream holds it (EI9), and a run that was interrupted computes with the same values afterwards.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeProvider, startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { type Ran, type Room, room } from "./remit.ts";

const SECRET = "tk-3fA9zQ81mmXwPq7Lr2";
const HALVES = { a: SECRET.slice(0, 9), b: SECRET.slice(9) };
/** Forms that the scrubber knows, without those that are the secret itself. */
const FORMS = [SECRET, Buffer.from(SECRET).toString("base64").slice(0, -2), Buffer.from(SECRET).toString("hex")];
const KEY = "sk-test-0123456789abcdef";

let at: Room;
let model: FakeProvider;
let web: Server;
let got: { url: string; headers: IncomingHttpHeaders; body: string }[];
let env: Record<string, string>;
beforeEach(async () => {
    at = room();
    got = [];
    model = await startFakeProvider();
    web = createServer((request, response) => {
        let body = "";
        request.on("data", (piece) => {
            body += piece;
        });
        request.on("end", () => {
            got.push({ url: request.url ?? "", headers: request.headers, body });
            response.writeHead(200, { "content-type": "text/plain" }).end("kept");
        });
    });
    await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
    env = { DEPLOY_TOKEN: SECRET, OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${model.url}/v1` };
});
afterEach(async () => {
    await model.close();
    web.close();
    at.clear();
});
const origin = (): string => `http://127.0.0.1:${(web.address() as AddressInfo).port}`;

/** Without blocking this process, in which the servers are. */
const remit = (...args: string[]): Promise<Ran> => at.started({ env }, ...args).ran;

/** In this process, which speaks to no server meanwhile. */
const here = (...args: string[]): Ran => at.remitWith({ env }, ...args);

/** Files of the room, by name, that hold the secret in a known form. */
function leaks(): string[] {
    const files = readdirSync(at.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    return files.flatMap((one) => {
        const bytes = readFileSync(join(one.parentPath, one.name));
        return FORMS.flatMap((form) => (bytes.includes(form) ? [`${join(one.parentPath, one.name)}: ${form}`] : []));
    });
}

const program = (): string => `import llm Model from "openai://m"
import tool Files from "file://workspace" { write: ask }
import tool Web from "${origin()}" { post: may, get: may }
import memory Notes from "file://notes.jsonl"

main agent A {
    model Model
    role "A clerk."
    description "Answers."
    main func(input: { a: string, b: string, coded: string }) {
        key = input.a + input.b
        coded = input.coded + "${Buffer.from(SECRET).toString("base64").slice(10)}"
        box = {}
        box[key] = [key, "<" + key + ">", coded]
        use key as "key"
        said = generate({ input: "Look at " + key + " and " + coded + "." })
        Notes.add({ text: key, box: box })
        Web.post({ url: "/" + key, body: { key: key, coded: coded }, headers: { "X-Key": key } })
        Web.get({ url: "/own", headers: { Authorization: ["Bearer ", { "$secret": "env:DEPLOY_TOKEN" }] } })
        failed = try { raise "no " + key } catch failure { failure.message.length }
        Files.write({ path: "out.txt", content: "" + key })
        {
            said: said, key: key, length: key.length, same: key == input.a + input.b and box[key][0] == key,
            box: box, failed: failed, coded: coded.length
        }
    }
}
`;
const INPUT = JSON.stringify({ ...HALVES, coded: Buffer.from(SECRET).toString("base64").slice(0, 10) });
const EXPECTED = {
    said: "It is [secret env:DEPLOY_TOKEN].",
    key: "[secret env:DEPLOY_TOKEN]",
    length: SECRET.length,
    same: true,
    box: { "[secret env:DEPLOY_TOKEN]": ["[secret env:DEPLOY_TOKEN]", "<[secret env:DEPLOY_TOKEN]>", expect.stringContaining("[secret")] },
    failed: SECRET.length + 3,
    coded: Buffer.from(SECRET).toString("base64").length,
};

test("what two inputs make together leaves nowhere, and a run that waited goes on with it", async () => {
    at.write("p.remit", program());
    at.write("remit.json", JSON.stringify({ secrets: { "env:DEPLOY_TOKEN": [origin()] } }));
    expect(here("trust", "--yes").code).toBe(0);
    // The model says it too, cut across the pieces of its stream.
    model.script({ text: `It is ${SECRET}.`, chunks: ["It is tk-3fA9", "zQ81mmXw", "Pq7Lr2."] });
    const ran = await remit("run", "p.remit", "--park", "--record", "replies.jsonl", "--input", INPUT, "-w", ".");
    expect(ran, ran.err).toMatchObject({ code: 3 });
    const streams: string[] = [ran.out, ran.err];
    expect(leaks()).toEqual([]);

    const asked = here("asks", "--json");
    const [ask] = JSON.parse(asked.out) as { id: string; run: string }[];
    const answered = here("answer", ask?.run ?? "", ask?.id ?? "", "once");
    const resumed = await remit("resume", ask?.run ?? "", "--json");
    streams.push(asked.out, answered.out, answered.err, resumed.out, resumed.err);
    expect(resumed, resumed.err).toMatchObject({ code: 0 });
    expect(JSON.parse(resumed.out)).toMatchObject(EXPECTED);
    for (const command of [
        ["trace", "last"],
        ["trace", "last", "--json"],
        ["trace", "last", "--atif"],
        ["explain", "p.remit"],
        ["runs", "--json"],
        ["replay", "last", "--json"],
        ["why", "last", "key", "--json"],
        ["snapshot", "last"],
        ["trace", "verify", "last"],
    ]) {
        const { code, out, err } = here(...command);
        streams.push(out, err);
        if (command[0] === "replay") expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('"equal":true') });
    }
    expect(leaks()).toEqual([]);
    for (const text of streams) for (const form of FORMS) expect(text).not.toContain(form);

    const prompts = JSON.stringify(model.requests);
    for (const form of FORMS) expect(prompts).not.toContain(form);
    expect(prompts).toContain("Look at [secret env:DEPLOY_TOKEN]");
    expect(got.map((one) => one.url)).toEqual([expect.stringContaining("secret"), "/own"]);
    const [posted, own] = got;
    for (const form of FORMS) expect(JSON.stringify(posted)).not.toContain(form);
    // The tool that the secret is for gets it, by its reference.
    expect(own?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(readFileSync(join(at.folder, "out.txt"), "utf8")).toBe("[secret env:DEPLOY_TOKEN]");
});

test("a run that was not interrupted gives the same result", async () => {
    at.write("p.remit", program().replace("write: ask", "write: may"));
    at.write("remit.json", JSON.stringify({ secrets: { "env:DEPLOY_TOKEN": [origin()] } }));
    expect(here("trust", "--yes").code).toBe(0);
    model.script({ text: `It is ${SECRET}.`, chunks: ["It is tk-3fA9", "zQ81mmXw", "Pq7Lr2."] });
    const ran = await remit("run", "p.remit", "--input", INPUT, "-w", ".", "--json");
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.out)).toMatchObject(EXPECTED);
    expect(leaks()).toEqual([]);
});

test("a run whose saved state holds a secret that is not known now does not go on", async () => {
    at.write("p.remit", program());
    at.write("remit.json", JSON.stringify({ secrets: { "env:DEPLOY_TOKEN": [origin()] } }));
    expect(here("trust", "--yes").code).toBe(0);
    expect((await remit("run", "p.remit", "--park", "--input", INPUT, "-w", ".")).code).toBe(3);
    const { DEPLOY_TOKEN: _, ...without } = env;
    env = without;
    const resumed = here("resume", "last");
    expect(resumed.code).not.toBe(0);
    expect(resumed.err).toContain("holds the secret env:DEPLOY_TOKEN, which is not known here");
    env = { ...without, DEPLOY_TOKEN: SECRET };
    const [ask] = JSON.parse(here("asks", "--json").out) as { id: string; run: string }[];
    here("answer", ask?.run ?? "", ask?.id ?? "", "once");
    expect((await remit("resume", "last")).code).toBe(0);
});

test.each([
    ["as it stands", `main func() { "${SECRET}" }\n`, "p.remit:1:16"],
    ["in a comment", `main func() { 1 }\n// ${SECRET}\n`, "p.remit:2:4"],
    ["with an escape", `main func() { "${SECRET.replace("A", "\\u{41}")}" }\n`, "env:DEPLOY_TOKEN"],
    ["in base64", `main func() { "${Buffer.from(SECRET).toString("base64")}" }\n`, "p.remit:1:16"],
])("a program whose text holds a known secret is refused: %s", (_, text, where) => {
    at.write("p.remit", text);
    for (const command of ["run", "check"]) {
        const { code, out, err } = here(command, "p.remit");
        expect({ command, code }).not.toMatchObject({ code: 0 });
        expect(out + err).toContain("env:DEPLOY_TOKEN");
        expect(out + err).toContain(where);
        expect(out + err).not.toContain(SECRET);
    }
    at.write("p.remit", "");
    expect(leaks()).toEqual([]);
});
