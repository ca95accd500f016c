/** Questions on channels: what is sent, who may answer, and that nothing is lost where a channel fails. */
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/index.ts";
import { post, project, type Project, web } from "./setup.ts";

let here: Project | null = null;
afterEach(() => here?.clear());

const INPUT = { to: "ada@example.com", body: "hello" };
const KEY = `whsec_${Buffer.from("a key that is long enough for this").toString("base64")}`;
const env = { KEY, SLACK: "xoxb-0123456789-abcdef", SMTP: "right-password" };
const trusted = { trust: true } as const;

describe("webhook", () => {
    test("a signed POST that a library of the specification takes, with the question and how it is answered", async () => {
        await using there = await web();
        const hook = { kind: "webhook", url: `${there.url}/q`, secret: "env:KEY", answers: "https://approve.example.com/x" };
        here = project({ channels: { hook }, questions: [{ to: ["hook"], approvers: ["user:alice", "user:bob"] }] }, env);
        const { result, notices } = await here.run(INPUT, trusted);
        expect(result).toMatchObject({ status: "waiting" });
        const [got] = there.got;
        const said = new Webhook(KEY).verify(got?.body as string, got?.headers as Record<string, string>) as Record<string, unknown>;
        const ledger = await here.open();
        const [ask] = await ledger.asks(result.run);
        expect(said).toMatchObject({
            format: "remit-question/1",
            run: result.run,
            question: ask?.id,
            text: "May user call Mail.send?",
            what: "Mail.send",
            arguments: [
                { name: "to", origins: ["user"] },
                { name: "body", origins: ["user"] },
            ],
            options: ["once", "session", "deny", "deny session", "abort"],
            approvers: "user:alice, user:bob",
            answer: {
                command: `remit answer ${result.run} ${ask?.id} once --as WHO`,
                url: `https://approve.example.com/x?run=${result.run}&question=${ask?.id}`,
            },
        });
        // The page about channels names every field, and no other.
        const page = readFileSync(new URL("../../../../docs/approvals-channels.md", import.meta.url), "utf8");
        const rows = page.split("| field | is |")[1]?.split("\n\n")[0]?.split("\n") ?? [];
        const named = rows.flatMap((row) => row.split("|")[1]?.match(/(?<=`)\w+(?=`)/g) ?? []);
        expect(named.toSorted()).toEqual(Object.keys(said).toSorted());
        expect(got?.headers["webhook-id"]).toBe(`${result.run}.${ask?.id}`);
        expect(notices).toEqual([`question ${ask?.id} was sent to hook`]);
        expect(() => new Webhook(KEY).verify(`${got?.body} `, got?.headers as Record<string, string>)).toThrow();
        await ledger.close();
    });

    test("[RTC1] a failure is tried again; where all fail the question waits, and the next resume sends it", async () => {
        await using there = await web();
        there.answers({ status: 503 }, { status: 200 });
        const config = { channels: { hook: { kind: "webhook", url: there.url, secret: "env:KEY" } }, questions: [{ to: ["hook"] }] };
        here = project(config, env);
        expect((await here.run(INPUT, trusted)).result.status).toBe("waiting");
        expect(there.got).toHaveLength(2);
        expect(there.got[0]?.headers["webhook-id"]).toBe(there.got[1]?.headers["webhook-id"]);

        there.answers({ status: 400 });
        const { result, notices } = await here.run(INPUT, trusted);
        expect(result.status).toBe("waiting");
        expect(there.got).toHaveLength(3);
        expect(notices.join()).toContain("could not be sent to hook: it answered with status 400");
        there.answers({});
        expect((await here.resume(result.run, trusted)).result.status).toBe("waiting");
        expect(there.got).toHaveLength(4);
        const ledger = await here.open();
        const [ask] = await ledger.asks(result.run);
        expect(ask?.notes?.map(({ kind, who }) => [kind, who])).toEqual([
            ["failed", "hook"],
            ["sent", "hook"],
        ]);
        await ledger.close();
        // [RTC2]
        await here.resume(result.run, trusted);
        expect(there.got).toHaveLength(4);
    });

    test("a missing secret is told, and so is an address where nothing is", async () => {
        const closed = await web();
        await closed[Symbol.asyncDispose]();
        const channels = {
            gone: { kind: "webhook", url: closed.url, secret: "env:KEY" },
            mute: { kind: "webhook", url: closed.url, secret: "env:NO_SUCH" },
        };
        here = project({ channels, questions: [{ to: ["gone", "mute"] }] }, env);
        const { result, notices } = await here.run(INPUT, trusted);
        expect(result.status).toBe("waiting");
        expect(notices.join("\n")).toMatch(/sent to gone: cannot be reached \(ECONNREFUSED\)/);
        expect(notices.join("\n")).toMatch(/sent to mute: the environment has no NO_SUCH/);
    });
});

describe("Slack", () => {
    test("chat.postMessage with a token, as plain text", async () => {
        await using there = await web();
        there.answers({ body: '{"ok":true}' });
        const chat = { kind: "slack", token: "env:SLACK", channel: "C024BE91L", api: there.url, arguments: true };
        here = project({ channels: { chat }, questions: [{ to: ["chat"] }] }, env);
        const { result } = await here.run({ to: "<!channel>", body: "*b* <https://evil.example|click>" }, trusted);
        const [got] = there.got;
        expect(got?.url).toBe("/chat.postMessage");
        expect(got?.headers.authorization).toBe(`Bearer ${env.SLACK}`);
        const said = JSON.parse(got?.body as string) as { channel: string; blocks: { text: { type: string; text: string } }[] };
        expect(said).toMatchObject({ channel: "C024BE91L", mrkdwn: false, unfurl_links: false });
        expect(said.blocks.map(({ text }) => text.type)).toEqual(["plain_text"]);
        expect(said.blocks[0]?.text.text).toContain("to <- user: <!channel>");
        expect(said.blocks[0]?.text.text).toContain(`remit answer ${result.run} `);
        expect(got?.body).not.toContain(env.SLACK);
    });

    test("what Slack refuses is told by its own word, and not tried again in vain", async () => {
        await using there = await web();
        there.answers({ body: '{"ok":false,"error":"channel_not_found"}' });
        const chat = { kind: "slack", token: "env:SLACK", channel: "C1", api: there.url };
        here = project({ channels: { chat }, questions: [{ to: ["chat"] }] }, env);
        const { result, notices } = await here.run(INPUT, trusted);
        expect([result.status, there.got.length]).toEqual(["waiting", 1]);
        expect(notices.join()).toContain("Slack refused it: channel_not_found");
    });

    test("an incoming webhook, whose address is a secret", async () => {
        await using there = await web();
        const own = { ...env, HOOK: `${there.url}/services/T0/B0/not-to-be-told` };
        here = project({ channels: { chat: { kind: "slack", webhook: "env:HOOK" } }, questions: [{ to: ["chat"] }] }, own);
        await here.run(INPUT, trusted);
        expect(there.got.map(({ url }) => url)).toEqual(["/services/T0/B0/not-to-be-told"]);
        there.answers({ status: 404 });
        const { notices } = await here.run(INPUT, trusted);
        expect(notices.join()).toContain("status 404");
        expect(notices.join()).not.toContain("not-to-be-told");
    });
});

describe("mail", () => {
    const to = { from: "remit@example.com", to: ["ada@example.com", "bob@example.com"] };

    test("through an SMTP server, with a password", async () => {
        await using server = await post();
        const mail = { kind: "mail", host: "127.0.0.1", port: server.port, user: "remit", password: "env:SMTP", ...to };
        here = project({ channels: { mail }, questions: [{ to: ["mail"] }] }, env);
        const { result } = await here.run(INPUT, trusted);
        expect(result.status).toBe("waiting");
        expect(server.got).toMatchObject([{ from: to.from, to: to.to, user: "remit" }]);
        const text = server.got[0]?.text.replace(/=\r?\n/g, "") ?? "";
        expect(text).toContain("Subject: Remit asks: May user call Mail.send?");
        expect(text).toContain(`remit answer ${result.run} `);
        expect(text).not.toContain(env.SMTP);
    });

    test("a wrong password and a refusal are told without what the server says, and the question waits", async () => {
        await using server = await post(550);
        const mail = { kind: "mail", host: "127.0.0.1", port: server.port, ...to };
        here = project(
            { channels: { mail, wrong: { ...mail, user: "remit", password: "env:KEY" } }, questions: [{ to: ["mail", "wrong"] }] },
            env,
        );
        const { result, notices } = await here.run(INPUT, trusted);
        expect(result.status).toBe("waiting");
        expect(notices.join("\n")).toMatch(/sent to mail: the mail server did not take it \(\w+, 550\)/);
        expect(notices.join("\n")).toMatch(/sent to wrong: the mail server did not take it \(EAUTH/);
        expect(notices.join("\n")).not.toContain(KEY);
    });

    test("[CHE1] a password goes to no other machine in plain text", async () => {
        await using server = await post();
        // another spelling of this machine, which counts as another machine
        const mail = { kind: "mail", host: "127.1", port: server.port, ...to };
        const channels = { plain: mail, secret: { ...mail, user: "remit", password: "env:SMTP" } };
        here = project({ channels, questions: [{ to: ["plain", "secret"] }] }, env);
        const { notices } = await here.run(INPUT, trusted);
        expect(server.got.map(({ user }) => user)).toEqual([""]);
        expect(notices.join("\n")).toMatch(/could not be sent to secret/);
    });
});

describe("who may answer", () => {
    test("an approver's answer counts, and nobody else's; who was refused is recorded", async () => {
        here = project({ questions: [{ call: "Mail.*", approvers: ["user:alice", "user:bob"] }] }, env);
        const { result } = await here.run(INPUT, { ...trusted, asks: { park: true } });
        const ledger = await here.open();
        const [ask] = await ledger.asks(result.run);
        const id = ask?.id as string;
        for (const by of ["os:1000", "user:mallory", "user:ali", "user:alice\nuser:bob", "", "owner"])
            await expect(ledger.answer(result.run, id, "once", by)).rejects.toMatchObject({ code: "owner" });
        expect((await ledger.asks(result.run))[0]).toMatchObject({
            state: "open",
            notes: ["os:1000", "user:mallory", "user:ali", "user:alice\nuser:bob", "", "owner"].map((who) => ({
                kind: "refused",
                who,
                text: "once",
            })),
        });
        expect(await ledger.answer(result.run, id, "once", "user:bob")).toMatchObject({ state: "answered", by: "user:bob" });
        await ledger.close();
        expect((await here.resume(result.run, trusted)).result).toMatchObject({ ok: true });
        expect(here.sent).toEqual([INPUT]);
    });

    test("at the terminal only a person who may answer is asked, `--yes` included; `owner` is who began the run", async () => {
        here = project({ questions: [{ approvers: ["user:alice"] }] }, env);
        let asked = 0;
        const on = { ask: () => (asked++, "once") };
        const { result } = await here.run(INPUT, { ...trusted, on });
        expect([result.failure?.kind, asked, here.sent.length]).toEqual(["denied", 0, 0]);
        expect(result.failure?.message).toContain("it is for user:alice");
        here.clear();
        here = project({ questions: [{ approvers: ["user:alice", "owner"] }] }, env);
        expect((await here.run(INPUT, { ...trusted, on })).result).toMatchObject({ ok: true });
        expect(asked).toBe(1);
    });

    test("the first route that fits counts, by name or URI; what none fits goes to the owner", async () => {
        await using there = await web();
        const hook = (path: string) => ({ kind: "webhook", url: `${there.url}/${path}`, secret: "env:KEY" });
        const channels = { a: hook("a"), b: hook("b"), c: hook("c") };
        const paths = async (questions: object[]): Promise<string[]> => {
            here?.clear();
            there.got.length = 0;
            here = project({ channels, questions }, env);
            await here.run(INPUT, { ...trusted, on: { ask: () => "deny" } });
            return there.got.map(({ url }) => url);
        };
        expect(
            await paths([
                { call: "Files.*", to: ["a"] },
                { kind: "approve", to: ["b"] },
                { call: "Mail.s*", to: ["c"] },
            ]),
        ).toEqual(["/c"]);
        expect(await paths([{ call: "host:mail.send", to: ["a"] }, { to: ["b"] }])).toEqual(["/a"]);
        expect(await paths([{ kind: "call", to: ["b", "terminal"] }])).toEqual(["/b"]);
        expect(await paths([{ call: "Files.*", to: ["a"] }])).toEqual([]);
    });

    test("approvers stand in the record: a configuration that changes afterwards does not widen them", async () => {
        here = project({ questions: [{ approvers: ["user:alice"] }] }, env);
        const { result } = await here.run(INPUT, { ...trusted, asks: { park: true } });
        // not trusted now: the record counts
        const again = await here.resume(result.run, { on: { ask: () => "once" } });
        expect([again.result.status, here.sent.length]).toEqual(["waiting", 0]);
    });
});

test.each([
    [
        { channels: { terminal: { kind: "webhook", url: "https://a.example", secret: "env:A" } } },
        /channels\.terminal: 'terminal' is a name of Remit's own/,
    ],
    [{ questions: [{ to: ["ops"] }] }, /there is no channel ops; channels names none/],
    [{ questions: [{ approvers: [] }] }, /approvers names no user/],
    [{ questions: [{ approvers: ["user:a b"] }] }, /a principal such as user:alice/],
    [{ channels: { a: { kind: "webhook", url: "https://a.example" } } }, /channels\.a: secret is missing/],
    [{ channels: { a: { kind: "webhook", url: "http://a.example", secret: "env:A" } } }, /go over https/],
    [{ channels: { a: { kind: "webhook", url: "https://a.example", secret: "hunter2" } } }, /a secret such as env:NAME/],
    [{ channels: { a: { kind: "slack" } } }, /webhook is missing, or token and channel/],
    [{ channels: { a: { kind: "slack", token: "env:A" } } }, /token and channel belong together/],
    [{ channels: { a: { kind: "mail", host: "h", from: "a@b.example", to: [] } } }, /to names no address/],
    [{ channels: { a: { kind: "mail", host: "h", from: "A <a@b.example>", to: ["a@b.example"] } } }, /an address such as/],
    [
        { channels: { a: { kind: "mail", host: "h", from: "a@b.example", to: ["a@b.example"], url: "https://a.example" } } },
        /url does not belong/,
    ],
    [{ channels: { a: { kind: "pigeon" } } }, /one of webhook, slack, mail is expected/],
])("a configuration that cannot be meant is refused: %j", (config, message) => {
    here = project(config);
    expect(() => loadConfig({ env: {}, folder: here?.folder, from: `${here?.folder}/project/main.remit` })).toThrow(message);
});
