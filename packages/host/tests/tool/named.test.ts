/** SN2, SN3: a rule that names what a tool does not have lets no call of the tool through. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { afterEach, beforeEach, expect, test } from "vitest";
import { load } from "../../src/index.ts";

let folder = "";
let sent: Json[] = [];
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-named-"));
    sent = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const take = (args: Json): Json => {
    sent.push(args);
    return "sent";
};
const TOOLS = {
    Mail: {
        send: { call: take, input: { type: "object", properties: { to: {}, body: {} } } },
        list: { call: take, input: { type: "object", properties: { box: {} }, additionalProperties: false } },
        any: take,
    },
};

async function run(source: string): Promise<string> {
    const program = await load({ source }, { workspace: folder, ledger: "memory", cache: false, tools: TOOLS, on: { ask: () => "once" } });
    try {
        const ended = await program.run({}).result;
        return ended.status === "done"
            ? JSON.stringify(ended.value)
            : `${ended.failure?.kind}: ${ended.failure?.message} (${ended.failure?.hint})`;
    } finally {
        await program.close();
    }
}

const IMPORT = 'import tool Mail from "host:mail"';
const SEND = 'Mail.send({ to: "a", body: "b" })';
const clauses = (said: string, body = SEND): string => `${IMPORT} { ${said} }\nmain func() { ${body} }`;
const agent = (remit: string, body = SEND): string =>
    `${IMPORT}\nagent A {\n    remit { ${remit} }\n    func go(m) { ${body} }\n}\nmain agent M { main func() { A.go(1) } }`;

test.each([
    [
        "a gate",
        clauses("sned: never"),
        "<memory>:1:37 names the method 'sned', which Mail does not have (did you mean 'send'? write `send` in place of `sned`",
    ],
    [
        "an argument of a method",
        clauses("arg send.bdy: trusted"),
        "names the argument 'bdy', which Mail.send does not have (did you mean 'body'? write `body` in place of `bdy`",
    ],
    ["a method of an argument", clauses("arg sned.body: trusted"), "names the method 'sned'"],
    ["who reads", clauses('reads lst: "ann"'), "names the method 'lst'"],
    ["an audience", clauses("audience send: arg too"), "names the argument 'too'"],
    ["a list of origins", clauses('arg send.bdoy: from("user")'), "names the argument 'bdoy'"],
    ["values that occurred", clauses('arg send.bdoy: among("user")'), "names the argument 'bdoy'"],
    ["a remit", agent("may Mail  never Mail.sendd"), "<memory>:3:29 names the method 'sendd'"],
    ["a bound of a remit", agent('may Mail.send, Mail.list in bx: "b"'), "names the argument 'bx', which Mail.list"],
    ["a narrower handle", `${IMPORT}\nmain func() { m = Mail.only(send, lisst)  m.send({ to: "a" }) }`, "names the method 'lisst'"],
    [
        "a delegation",
        `${IMPORT}\nagent A { remit { may A.go } func go() { ${SEND} } }\nmain agent M { main func() { delegate Mail.send, Mail.any, Mail.lst to A { A.go() } } }`,
        "names the method 'lst'",
    ],
    [
        "another import of the thing",
        `import tool Post from "host:mail" { sned: never }\n${clauses("send: may")}`,
        "names the method 'sned'",
    ],
])("%s", async (_what, source, says) => {
    expect(await run(source)).toContain(says);
    expect(await run(source)).toMatch(/^denied: .*the rule at <memory>:\d+:\d+ names/);
    expect(sent).toEqual([]);
});

test.each([
    ["what is there", clauses("send: may, arg send.to: trusted, arg 1: trusted, arg body: trusted, audience: everyone")],
    ["a method that tells no arguments (SN3)", clauses("arg any.thing: trusted")],
    ["an argument of any method, where one does not tell its arguments (SN3)", clauses("arg thing: trusted")],
    ["a remit", agent('may Mail.send in to: "a", Mail.list in box: "x"')],
])("%s is let through", async (_what, source) => {
    expect(await run(source)).toBe('"sent"');
    expect(sent).toHaveLength(1);
});

test("the project's policy", async () => {
    const says = (policy: Json): void => writeFileSync(join(folder, "remit.json"), JSON.stringify({ policy }));
    says({ clauses: { Mail: "sned: never" } });
    expect(await run(clauses("send: may"))).toMatch(/^denied: .*the rule at .*remit\.json:1:\d+ names the method 'sned'/);
    says({ clauses: { Mail: "arg send.bdy: trusted", Other: "never: never" } });
    expect(await run(clauses("send: may"))).toContain("names the argument 'bdy'");
    says({ remits: { A: "may all  never Mail.sned" } });
    expect(await run(agent("may Mail"))).toContain("names the method 'sned'");
    expect(sent).toEqual([]);
});
