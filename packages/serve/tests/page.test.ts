/** A page lends its functions with the server's script, in a real browser. */
import { readFileSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { calls, ended, type Room, room, watch } from "./room.ts";

let browser: Browser;
let site: HttpServer;
let origin: string;
let html = "";
let at: Room;
beforeAll(async () => {
    site = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(html));
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    browser = await chromium.launch({ executablePath: process.env["REMIT_TEST_CHROMIUM"] ?? "/usr/bin/chromium", args });
    at = await room({ replies: [] }, { origins: [origin], bounds: { away: 3_000 } });
});
afterAll(async () => {
    await browser.close();
    site.close();
    await at[Symbol.asyncDispose]();
});

test("ten lines lend a page's functions; the result says the page; a call that acts waits for a yes; closing the page withdraws them", async () => {
    const { id } = await at.owner.open();
    const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", { scopes: ["observe", "lend"] });
    html = `<!doctype html><title>The shop</title>
<script src="${at.server.url}/lend.js"></script>
<script>
    window.items = ["tea"];
    remit.lend({
        code: "${code}", session: "${id}",
        tools: {
            cart: { description: "What is in the cart", readOnly: true, call: () => items },
            add: { description: "Puts an item in the cart", input: { type: "object", properties: { item: { type: "string" } }, required: ["item"] }, call: ({ item }) => { items.push(item); return items; } },
            broken: { description: "Fails", readOnly: true, call: () => { throw new Error("no such page"); } },
        },
    }).then(() => { document.title = "lent"; }, (error) => { document.title = "failed: " + error.message; });
</script>`;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    await page.waitForFunction("document.title !== 'The shop'");
    expect(await page.title()).toBe("lent");
    const { tools } = await at.owner.session(id);
    expect(tools.map(({ tool, readOnly }) => [tool, readOnly])).toEqual([
        ["cart", true],
        ["add", false],
        ["broken", true],
    ]);
    const client = tools[0]?.client ?? "";
    expect(client).toMatch(/^the-shop-/);

    at.says([
        calls(client, "cart"),
        calls(client, "broken"),
        calls(client, "add", { item: "<img src=x onerror=alert(1)>" }),
        { text: "added" },
    ]);
    const turn = await at.owner.submit(id, { text: "add it" });
    const seen = await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event !== "ask.requested") return;
        expect(data["detail"]).toMatchObject({ args: [{ item: "<img src=x onerror=alert(1)>" }] });
        expect(await page.evaluate("items.length")).toBe(1);
        await at.owner.decide(id, data["ask"] as string, "once");
    });
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "added" });
    expect(await page.evaluate("items.length")).toBe(2);
    expect((seen.at(-1)?.data as { readonly origins?: unknown } | undefined)?.origins).toEqual(
        expect.arrayContaining([`lent:${client}`, `site:${origin}`]),
    );

    // The page that is loaded again has its token, needs no code, and lends the same tools anew.
    html = html.replace(code, "used-code");
    await page.reload();
    await page.waitForFunction("document.title === 'lent'");
    expect((await at.owner.session(id)).tools.map(({ client: one }) => one)).toEqual([client, client, client]);

    const { seq } = await at.owner.session(id);
    const isGone = (event: string, data: { readonly [key: string]: unknown }): boolean =>
        event === "lent.withdrawn" && data["tool"] === "broken" && data["why"] === "its client went away";
    const gone = watch(at.owner, id, isGone, undefined, seq);
    await context.close();
    await gone;
    expect((await at.owner.session(id)).tools).toEqual([]);
});

test("a page goes on lending after a proxy's error page and a server that is busy, and stops where its token is revoked", async () => {
    const { id } = await at.owner.open();
    const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", { scopes: ["observe", "lend"] });
    html = `<!doctype html><title>The shop</title>
<script>
    window.sockets = [];
    window.WebSocket = class extends WebSocket { constructor(url) { super(url); sockets.push(this); } };
</script>
<script src="${at.server.url}/lend.js"></script>
<script>
    const onEnd = (error) => { window.why = error.message; };
    remit.lend({ code: "${code}", session: "${id}", onEnd, tools: { cart: { description: "What is in the cart", readOnly: true, call: () => [] } } })
        .then(() => { document.title = "lent"; });
</script>`;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    await page.waitForFunction("document.title === 'lent'");
    const headers = { "access-control-allow-origin": origin };
    const busy = JSON.stringify({ error: { kind: "limit", message: "busy" } });
    const revoked = JSON.stringify({ error: { kind: "auth", message: "the token is revoked" } });
    const answers = [
        { status: 502, headers, contentType: "text/html", body: "<h1>Bad gateway</h1>" },
        { status: 503, headers, contentType: "application/json", body: busy },
        null,
        { status: 401, headers, contentType: "application/json", body: revoked },
    ];
    await page.route("**/v1/tickets", async (route) => {
        if (route.request().method() !== "POST") return await route.continue();
        const answer = answers.shift();
        return await (answer ? route.fulfill(answer) : route.continue());
    });
    await page.evaluate("sockets[0].close()");
    await page.waitForFunction("sockets.length === 2");
    await expect.poll(async () => (await at.owner.session(id)).tools.map(({ tool }) => tool)).toEqual(["cart"]);
    await page.evaluate("sockets[1].close()");
    await expect.poll(() => answers).toEqual([]);
    await expect.poll(async () => (await at.owner.session(id)).tools).toEqual([]);
    expect(await page.evaluate("sockets.length")).toBe(2);
    expect(await page.evaluate("why")).toBe("the token is revoked");
    await context.close();
});

test("LND3: a result that the server cannot take now is sent again as it is; one that it does not take at all is told as a failure", async () => {
    const { id } = await at.owner.open();
    const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", { scopes: ["observe", "lend"] });
    html = `<!doctype html><title>The shop</title>
<script src="${at.server.url}/lend.js"></script>
<script>
    window.calls = 0;
    const call = () => { calls++; return "tea"; };
    remit.lend({ code: "${code}", session: "${id}", tools: { cart: { description: "What is in the cart", readOnly: true, call } } })
        .then(() => { document.title = "lent"; });
</script>`;
    const context = await browser.newContext();
    const page = await context.newPage();
    const sent: string[] = [];
    await page.routeWebSocket("**/v1/socket", (socket) => {
        const server = socket.connectToServer();
        socket.onMessage((text) => {
            const message = JSON.parse(String(text)) as {
                readonly id: number;
                readonly path?: string;
                readonly body?: { readonly ok: boolean };
            };
            const isResult = message.path?.endsWith("/result") === true;
            if (isResult) sent.push(String(message.body?.ok));
            const status = isResult ? [503, 429, null, 413][sent.length - 1] : null;
            if (typeof status === "number")
                socket.send(JSON.stringify({ id: message.id, status, body: { error: { kind: "x", message: `said ${status}` } } }));
            else server.send(text);
        });
    });
    await page.goto(origin);
    await page.waitForFunction("document.title === 'lent'");
    const client = (await at.owner.session(id)).tools[0]?.client ?? "";
    at.says([calls(client, "cart"), calls(client, "cart", { other: true }), { text: "done" }]);
    const turn = await at.owner.submit(id, { text: "look" });
    const seen = await watch(at.owner, id, ended(turn.id));
    expect(await at.owner.turn(id, turn.id)).toMatchObject({ status: "done", value: "done" });
    expect(seen.flatMap(({ event, data }) => (event === "call.ended" ? [(data as { readonly ok: boolean }).ok] : []))).toEqual([
        true,
        false,
    ]);
    expect([sent, await page.evaluate("calls")]).toEqual([["true", "true", "true", "true", "false"], 2]);
    await context.close();
});

test("a page that the server does not list lends nothing, whatever code it has", async () => {
    const { id } = await at.owner.open();
    const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", {});
    html = `<!doctype html><title>other</title><script src="${at.server.url}/lend.js"></script>
<script>remit.lend({ code: "${code}", session: "${id}", tools: { x: { description: "x", call: () => 1 } } }).then(() => { document.title = "lent"; }, () => { document.title = "failed"; });</script>`;
    const page = await (await browser.newContext()).newPage();
    await page.goto(origin.replace("127.0.0.1", "localhost"));
    await page.waitForFunction("document.title !== 'other'");
    expect(await page.title()).toBe("failed");
    expect((await at.owner.session(id)).tools).toEqual([]);
    await page.close();
});

test("the page of docs/serve-http.md lends its tools, once it has the code", async () => {
    const text = readFileSync(new URL("../../../docs/serve-http.md", import.meta.url), "utf8");
    const sample = /```html\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
    expect(sample).toContain("http://127.0.0.1:41730");
    const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", {});
    const { id } = await at.owner.open();
    html = `<!doctype html><title>docs</title><script>window.cart = { items: [] };</script>${sample.replace("http://127.0.0.1:41730", at.server.url)}`;
    const page = await (await browser.newContext()).newPage();
    page.on("dialog", (dialog) => void dialog.accept(code));
    const lent = watch(at.owner, id, (event, data) => event === "lent.registered" && data["tool"] === "add");
    await page.goto(origin);
    await lent;
    await page.close();
});
