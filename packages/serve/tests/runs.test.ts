/** Runs of the ledger over HTTP: also those that no session began; nothing of them is changed, and no secret of them told. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json } from "@remit/language";
import { load, openProcess } from "@remit/host";
import { runMeant, ServeClient, Server } from "../src/index.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

const PROGRAM = `import llm Model from "scripted:x"
main agent Clerk {
    model Model
    role "a clerk"
    description "Sorts letters"
    main func(input: { text: string }) {
        use input.text max 12 keep end as "the letter"
        said = generate({ input: "Which?", attempts: 2 }) -> { which: "to" | "be" }
        { which: said.which, letter: input.text }
    }
}
`;
const BLOCK = `func shout(text: string) { text.upper() + "!" }
memory static ( ( shout "a" <*> shout "b" ) >=> merge )
`;

/** A run in the room's ledger that no session began. */
async function ran(at: Room, input: Json = { text: "hello world, this is long" }, source = PROGRAM): Promise<string> {
    at.says([{ value: { which: "to" } }]);
    const process = openProcess({ env: { HOME: at.folder }, cwd: at.folder });
    const program = await load(
        { source, file: "clerk.remit" },
        { process, ledger: at.server.ledger.store, model: `scripted:${at.folder}/replies.json` },
    );
    const handle = program.run(input);
    await handle.result;
    await program.close();
    await process.close();
    return handle.id;
}

const get = async (at: Room, path: string): Promise<Json & object> => (await at.raw("GET", path)).json() as Promise<Json & object>;

test("a run is listed, found by a search, and shown with its trace, prompts, plans and reasons", async () => {
    await using at = await room([]);
    const id = await ran(at);
    expect(await get(at, "/v1/runs")).toMatchObject({ runs: [{ id, file: "clerk.remit", state: "done" }], next: null });
    expect(await get(at, "/v1/runs?search=CLERK")).toMatchObject({ runs: [{ id }] });
    expect(await get(at, "/v1/runs?search=nothing+such")).toEqual({ runs: [], next: null });
    expect(await get(at, `/v1/runs/${id}`)).toMatchObject({ id, value: { which: "to" }, total: { turns: 1 } });
    const { rows } = (await get(at, `/v1/runs/${id}/trace`)) as unknown as { rows: { family: string; depth: number; to: number | null }[] };
    expect(rows.map(({ family }) => family)).toEqual(expect.arrayContaining(["run", "use", "generate", "generate.attempt"]));
    expect(rows.every(({ to }) => to !== null)).toBe(true);
    expect(await get(at, `/v1/runs/${id}/explain`)).toMatchObject([
        {
            items: [{ label: "the letter", text: "this is long", origins: ["user"], shown: true }],
            turns: [{ exact: true }],
            replies: [{ reply: { value: { which: "to" } } }],
            ended: { ok: true, result: { which: "to" } },
        },
    ]);
    expect(await get(at, `/v1/runs/${id}/why?at=/letter`)).toMatchObject({ origins: ["user"] });
    expect((await at.raw("GET", `/v1/runs/${id}/why?at=/none`)).status).toBe(422);
    expect(await get(at, `/v1/runs/${id}/events/1`)).toMatchObject({ seq: 1, kind: "run.started" });
    expect((await at.raw("GET", `/v1/runs/${id}/events/9999`)).status).toBe(404);
    expect((await at.raw("GET", "/v1/runs/nosuchrun")).status).toBe(404);
    expect(await at.server.ledger.verify(id)).toMatchObject({ ok: true });
});

test("every module that a file of the console imports is served with it", async () => {
    await using at = await room([]);
    const missing: string[] = [];
    const seen = new Set(["/console/main.ts"]);
    for (const path of seen) {
        const response = await at.raw("GET", path);
        if (response.status !== 200) missing.push(path);
        for (const [, name = ""] of (await response.text()).matchAll(/\bfrom\s*["'](\.?\/[^"']+)["']/g))
            seen.add(new URL(name, `http://x${path}`).pathname);
    }
    expect(seen.size).toBeGreaterThan(20);
    expect(missing).toEqual([]);
});

test("by `last`, or by a session, the session's last turn is meant", async () => {
    await using at = await room([{ text: "one" }, { text: "two" }]);
    const { id } = await at.owner.open();
    expect((await runMeant(at.server.shown, "last")).id).toBe(id);
    for (const text of ["a", "b"]) {
        const turn = await at.owner.submit(id, { text });
        await watch(at.owner, id, ended(turn.id));
    }
    expect((await runMeant(at.server.shown, "last")).id).toBe(`${id}.t2`);
    expect((await runMeant(at.server.shown, id)).id).toBe(`${id}.t2`);
    expect((await runMeant(at.server.shown, `${id}.t1`)).id).toBe(`${id}.t1`);
});

test("a turn stands in the list with what it was asked for, and waits where it asks a person", async () => {
    await using at = await room([calls("owner", "click"), { text: "done" }]);
    const { id } = await at.owner.open();
    let asked = "";
    const listed = () => get(at, "/v1/runs?search=button");
    await watch(
        at.owner,
        id,
        (event) => event === "turn.ended",
        async (event, data) => {
            if (event === "session.opened") {
                await at.owner.lend(id, "click", { description: "Clicks" });
                await at.owner.submit(id, { text: "Press the button" });
            }
            if (event === "ask.requested") {
                expect(await listed()).toMatchObject({ runs: [{ id: `${id}.t1`, task: "Press the button", state: "waiting" }] });
                asked = String(data["ask"]);
                await at.owner.decide(id, asked, "deny");
            }
        },
    );
    expect(asked).not.toBe("");
    expect(await listed()).toMatchObject({ runs: [{ task: "Press the button", state: "done" }] });
});

test("the blocks of a run are shown as far as they have come", async () => {
    await using at = await room([]);
    const id = await ran(at, null, BLOCK);
    expect(await get(at, `/v1/runs/${id}/plan`)).toMatchObject([
        {
            state: "done",
            tree: [{ branches: [[{ node: { id: "shout#0" } }], [{ node: { id: "shout#1" } }]] }, { node: { id: "merge#0" } }],
        },
    ]);
});

test("a run that failed shows the line that failed, and no line of a file that is not the program's", async () => {
    await using at = await room([]);
    const folder = join(at.folder, "project");
    mkdirSync(folder);
    const file = join(folder, "broken.remit");
    writeFileSync(file, 'main agent A {\n    main func() {\n        ["key-0123456789"][7]\n    }\n}\n');
    const process = openProcess({ env: { HOME: at.folder }, cwd: folder });
    const program = await load(file, { process, ledger: at.server.ledger.store });
    const handle = program.run(null);
    await handle.result;
    await program.close();
    await process.close();
    const shown = async () => ((await get(at, `/v1/runs/${handle.id}`)) as unknown as { failure: { source?: string } }).failure.source;
    expect(await shown()).toBe('        ["key-0123456789"][7]');
    at.server.secrets.add({ name: "key", value: "key-0123456789" });
    expect(await shown()).not.toContain("key-0123456789");
    const secret = join(at.folder, "secret");
    writeFileSync(secret, "a\nb\nno part of it\n");
    rmSync(file);
    expect(await shown()).toBeUndefined();
    symlinkSync(secret, file);
    expect(await shown()).toBeUndefined();
});

test("runs are given a page at a time", async () => {
    await using at = await room([]);
    const all = [await ran(at), await ran(at), await ran(at)].reverse();
    const first = (await get(at, "/v1/runs?limit=2")) as unknown as { runs: { id: string }[]; next: string };
    expect(first.runs.map(({ id }) => id)).toEqual(all.slice(0, 2));
    const rest = (await get(at, `/v1/runs?limit=2&after=${first.next}`)) as unknown as { runs: { id: string }[]; next: null };
    expect(rest.runs.map(({ id }) => id)).toEqual(all.slice(2));
    expect(rest.next).toBeNull();
    expect((await at.raw("GET", "/v1/runs?limit=0")).status).toBe(400);
});

test("events of a run come as a stream that goes on where its reader was, and says when no more come", async () => {
    await using at = await room([]);
    const id = await ran(at);
    const whole = await (await at.raw("GET", `/v1/runs/${id}/events`)).text();
    const numbers = [...whole.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
    expect(whole).toMatch(/event: ended\ndata: \{"status":"done","live":false\}\n\n$/);
    const rest = await (await at.raw("GET", `/v1/runs/${id}/events`, { headers: { "last-event-id": String(numbers.length - 1) } })).text();
    expect([...rest.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))).toEqual([numbers.length]);
});

test("the program that is served and the models are told to whoever may observe, and to no other", async () => {
    await using at = await room([]);
    const { client } = await at.client("lender", ["lend"]);
    for (const path of ["/v1/runs", "/v1/program", "/v1/models"])
        await expect(client.request("GET", path)).rejects.toMatchObject({ status: 403 });
    const program = (await get(at, "/v1/program")) as unknown as { head: string[]; rows: string[][] };
    expect(program.head).toContain("gate");
    expect(program.rows.map(([, what]) => what).join("\n")).toContain("Lent");
    expect(await get(at, "/v1/models")).toMatchObject({ chosen: { uri: expect.stringMatching(/^scripted:/) } });
});

test("a secret that is known now is not told, though the ledger has it", async () => {
    const secret = "sk-very-secret-0123456789";
    await using at = await room([]);
    const id = await ran(at, { text: `my key is ${secret}` });
    at.server.secrets.add({ name: "key", value: secret });
    for (const path of ["", "/trace", "/explain", "/plan", "/events", "/events/1", "/why?at=/letter"])
        expect(await (await at.raw("GET", `/v1/runs/${id}${path}`)).text()).not.toContain(secret);
});

test("a server that shows a ledger does nothing else", async () => {
    await using at = await room([]);
    const id = await ran(at);
    const path = at.server.ledger.store.path as string;
    const viewer = await Server.start({ view: true, ledger: path, process: openProcess({ env: { HOME: at.folder }, cwd: at.folder }) });
    const login = await fetch(`${viewer.url}/v1/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code: await viewer.loginCode() }),
    });
    const cookie = login.headers.get("set-cookie")?.split(";")[0] as string;
    const { csrf } = (await login.json()) as { csrf: string };
    const headers = { cookie, "x-remit-csrf": csrf, "content-type": "application/json" };
    expect((await fetch(`${viewer.url}/v1/runs/${id}/trace`, { headers })).status).toBe(200);
    expect((await fetch(`${viewer.url}/v1/program`, { headers })).status).toBe(404);
    for (const [method, path] of [
        ["POST", "/v1/sessions"],
        ["POST", "/v1/clients"],
        ["POST", "/v1/pairings"],
    ] as const)
        expect(
            (await fetch(viewer.url + path, { method, headers, body: '{"name":"x","scopes":["admin"]}' })).status,
        ).toBeGreaterThanOrEqual(400);
    expect(viewer.sessions.size).toBe(0);
    await viewer.stop();
    // The one beside it goes on.
    expect(await new ServeClient({ url: at.server.url, token: at.server.ownerToken }).sessions()).toEqual({ sessions: [] });
});
