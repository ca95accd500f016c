/** Where a session may reach: said by its opening, by the owner of the server and by the project; refused before a person is asked. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import type { ServeOptions } from "../src/index.ts";
import { calls, ended, type Room, room, watch } from "./room.ts";

const GO = { description: "Opens a page", input: { type: "object" } } as const;
const SHOP = "https://shop.example";

interface Tried {
    readonly asked: number;
    readonly called: readonly Json[];
    /** What the model was told at the end. */
    readonly told: string;
}

/** One call of a lent tool by the model, allowed by a person. The model's last words are the result that it was shown. */
async function tried(at: Room, id: string, site?: string): Promise<Tried> {
    let asked = 0;
    const called: Json[] = [];
    const turn = await at.owner.submit(id, { text: "go" });
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (data["turn"] !== turn.id) return;
        if (event === "ask.requested") {
            asked++;
            await at.owner.decide(id, data["ask"] as string, "once");
        }
        if (event === "call") {
            called.push(data["args"] ?? null);
            await at.owner.result(id, data["id"] as string, { ok: true, value: "the page", ...(site === undefined ? {} : { site }) });
        }
    });
    const run = `${id}.${turn.id}`;
    const events = await Array.fromAsync(at.server.ledger.events(run, 0));
    return { asked, called, told: JSON.stringify(events.filter(({ kind }) => kind === "generate.attempt").at(-1)?.data) };
}

/** A session with one lent tool that is called with these arguments. */
async function session(args: Json, reach: readonly string[] | undefined, options: ServeOptions = {}): Promise<{ at: Room; id: string }> {
    const at = await room([calls("owner", "go", args), { text: "over" }], options);
    const { id } = await at.owner.open(reach === undefined ? {} : { reach: [...reach] });
    await at.owner.lend(id, "go", GO);
    return { at, id };
}

test.each<[string, Json]>([
    ["an address of the list", { url: `${SHOP}/pricing?x=1` }],
    ["a text that is no address", { text: "note: buy milk" }],
    ["nothing", {}],
])("goes: %s", async (_, args) => {
    const { at, id } = await session(args, [SHOP]);
    await using _room = at;
    expect(await tried(at, id)).toMatchObject({ asked: 1, called: [args] });
});

test.each<[string, Json, string]>([
    ["another site", { url: "https://evil.example/x" }, "https://evil.example/x"],
    ["another port", { url: `${SHOP}:8443/` }, ":8443"],
    ["another scheme", { url: "http://shop.example/" }, "http://shop.example/"],
    ["a user before the host", { url: `${SHOP}@evil.example/` }, "@evil.example"],
    ["a longer name", { url: `${SHOP}.evil.example/` }, ".evil.example"],
    ["a backslash", { url: "https:\\\\evil.example" }, "evil.example"],
    ["no scheme", { url: "//evil.example" }, "//evil.example"],
    ["a name alone", { url: "evil.example" }, "evil.example"],
    ["a tab in it", { to: "ht\ttps://evil.example" }, "evil.example"],
    ["a control character before it", { to: "\u0001 https://evil.example" }, "evil.example"],
    ["no slashes behind the scheme", { to: "https:evil.example" }, "evil.example"],
    ["a script", { text: "javascript:fetch('https://evil.example')" }, "javascript:"],
    ["deep inside", { steps: [{ open: { href: "https://evil.example" } }] }, "https://evil.example"],
])("WHI2: does not go, and no person is asked: %s", async (_, args, shown) => {
    const { at, id } = await session(args, [SHOP]);
    await using _room = at;
    const { asked, called, told } = await tried(at, id);
    expect([asked, called]).toEqual([0, []]);
    expect(told).toContain(JSON.stringify(shown).slice(1, -1).replaceAll("\\", "\\\\"));
    expect(told).toContain("the session, as owner opened it, allows only https://shop.example");
    expect(told).toContain("The call was not made.");
});

test("LNT6: what comes from a site that is not listed is not shown to the model", async () => {
    const { at, id } = await session({}, [SHOP]);
    await using _room = at;
    const { told } = await tried(at, id, "https://evil.example/after/a/click");
    expect(told).not.toContain("the page");
    expect(told).toContain("https://evil.example");
});

test("WHI1: what the owner of the server and the project say holds for each session; a session only narrows; it is there after a new start", async () => {
    const { at, id } = await session({ url: `${SHOP}/` }, [SHOP, "https://evil.example"], { reach: ["https://other.example"] });
    await using _room = at;
    const first = await tried(at, id);
    expect(first.told).toContain("the server's --reach allows only https://other.example");
    expect([first.asked, first.called]).toEqual([0, []]);
    mkdirSync(join(at.folder, ".config", "remit"), { recursive: true });
    writeFileSync(join(at.folder, ".config", "remit", "remit.json"), JSON.stringify({ policy: { reach: [] } }, null, 2));
    at.says([calls("owner", "go", { url: `${SHOP}/` }), { text: "over" }]);
    await at.again({ reach: [SHOP] });
    expect((await at.owner.session(id)).reach).toEqual([SHOP, "https://evil.example"]);
    await at.owner.lend(id, "go", GO);
    const second = await tried(at, id);
    expect(second.told).toContain("the project's policy allows only nothing");
    expect(second.told).toMatch(/remit\.json:\d+/);
});

const FETCHES = `import llm Model from "mock:"
import tool Web from "URL"
main agent Reader {
    model Model
    role "a reader"
    description "Reads"
    main func(input { task: string }) { Web.get({ url: input.task }).body }
}`;

test("a tool of HTTP of the program reaches the origins of the list, and the event names the rule and the line of the call", async () => {
    const server = createServer((_request, response) => response.end('"here"'));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const folder = mkdtempSync(join(tmpdir(), "remit-reach-"));
    writeFileSync(join(folder, "main.remit"), FETCHES.replace("URL", url));
    await using at = await room([], { program: join(folder, "main.remit") });
    // Addresses of this machine are reached only where the person says so.
    mkdirSync(join(at.folder, ".config", "remit"), { recursive: true });
    writeFileSync(join(at.folder, ".config", "remit", "remit.json"), JSON.stringify({ http: { private: [url] } }));
    const go = async (reach: readonly string[]): Promise<unknown> => {
        const { id } = await at.owner.open({ reach: [...reach] });
        return at.owner.request("POST", `/v1/sessions/${id}/turns?wait=1`, { text: "/page" });
    };
    const refused = await go([SHOP]);
    expect(refused).toMatchObject({
        status: "failed",
        failure: { kind: "denied", message: expect.stringMatching(/Web\.get would reach .*allows only https:\/\/shop\.example/) },
    });
    const { run } = refused as { run: string };
    const events = await Array.fromAsync(at.server.ledger.events(run, 0));
    const denied = events.find(({ kind }) => kind === "policy.denied");
    expect(denied).toMatchObject({ site: { line: 7 }, data: { why: "reach", outside: { by: expect.stringContaining("the session") } } });
    const went = await go([url]);
    expect(went, JSON.stringify(went)).toMatchObject({ status: "done", value: expect.stringContaining("here") });
    server.close();
    rmSync(folder, { recursive: true, force: true });
});

test("what is no origin is refused at the opening", async () => {
    await using at = await room([]);
    for (const reach of ["*", "shop.example", `${SHOP}/`, "https://*.example", "javascript:x"])
        expect([reach, (await at.raw("POST", "/v1/sessions", { body: { reach: [reach] } })).status]).toEqual([reach, 400]);
});
