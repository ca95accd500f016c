/** The extension in a real Chromium: its panel's page in a tab, a shop of the test's own, a whole task, and everything that must not happen. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isObject, type Json } from "@remit/language";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { extension } from "../../../scripts/extension.mjs";
import { type FakeProvider, type FakeReply, startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { openProcess } from "@remit/host";
import { type Room, room } from "./room.ts";
import { type Shop, shop } from "./shop.ts";

const folder = mkdtempSync(join(tmpdir(), "remit-extension-"));
let context: BrowserContext;
let at: Room;
let tea: Shop;
let provider: FakeProvider;
let panel: Page;
/** Prefix of the lent tools. */
let lent = "";
const wrong: string[] = [];

beforeAll(async () => {
    const { folder: chrome } = (await extension(join(folder, "built"))).chrome;
    // The browser's own question for a permission has no place in a headless browser: it was answered with yes before, for all sites.
    const manifest = JSON.parse(readFileSync(join(chrome, "manifest.json"), "utf8")) as { host_permissions: string[] };
    manifest.host_permissions = ["<all_urls>"];
    writeFileSync(join(chrome, "manifest.json"), JSON.stringify(manifest));
    tea = await shop();
    provider = await startFakeProvider({ text: "nothing" });
    at = await room([], {
        model: "openai://some-model",
        findable: true,
        process: openProcess({
            env: {
                HOME: folder,
                PATH: process.env["PATH"],
                OPENAI_API_KEY: "sk-test-0123456789abcdef",
                OPENAI_BASE_URL: `${provider.url}/v1`,
            },
            cwd: folder,
        }),
    });
    context = await chromium.launchPersistentContext(join(folder, "profile"), {
        executablePath: process.env["REMIT_TEST_CHROMIUM"] ?? "/usr/bin/chromium",
        headless: true,
        viewport: { width: 900, height: 700 },
        ignoreDefaultArgs: ["--disable-extensions"],
        args: [
            ...["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage"],
            ...[`--disable-extensions-except=${chrome}`, `--load-extension=${chrome}`],
        ],
    });
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
    panel = await context.newPage();
    panel.setDefaultTimeout(500_000);
    panel.on("pageerror", (error) => wrong.push(error.message));
    await panel.goto(`chrome-extension://${new URL(worker.url()).host}/panel.html`);
});
afterAll(async () => {
    await context?.close();
    await at?.[Symbol.asyncDispose]();
    await tea?.[Symbol.asyncDispose]();
    await provider?.close();
    rmSync(folder, { recursive: true, force: true });
});

/** The last result of a tool that the model was shown, as text. */
function lastResult(): string {
    const messages = (provider.requests.at(-1)?.body.messages ?? []) as unknown as { role: string; content: unknown }[];
    return JSON.stringify(messages.findLast(({ role }) => role === "tool")?.content ?? "");
}
const call = (tool: string, args: Json = {}): FakeReply => ({ calls: [{ name: `${lent}__${tool}`, args }] });
/** What the model does next: made from what it was shown last. */
function script(...steps: (FakeReply | ((shown: string) => FakeReply))[]): void {
    let next = 0;
    provider.answer(() => {
        const step = steps[Math.min(next++, steps.length - 1)] as FakeReply | ((shown: string) => FakeReply);
        return typeof step === "function" ? step(lastResult()) : step;
    });
}
/** The reference that stands before these words. */
const ref = (shown: string, words: string): string =>
    new RegExp(`\\[([a-z0-9]+)\\] ${words}`).exec(shown.replaceAll('\\\\\\"', '"').replaceAll('\\"', '"'))?.[1] ?? "none";
const submit = async (text: string): Promise<void> => {
    await panel.bringToFront();
    await panel.fill("textarea", text);
    await panel.press("textarea", "Enter");
};
const answered = (text: string): Promise<unknown> => panel.locator(".answer", { hasText: text }).last().waitFor();

test("a panel is paired by a code, and refuses what is no server", async () => {
    await panel.waitForSelector("text=Pair this panel");
    await panel.screenshot({ path: shot("pairing") });
    await panel.fill("[name=url]", "http://shop.example");
    await panel.fill("[name=code]", "abcd-efgh");
    await panel.click("button:has-text('Pair')");
    await panel.waitForSelector("text=is reached over https");
    await panel.fill("[name=url]", at.server.url);
    await panel.click("button:has-text('Pair')");
    await panel.waitForSelector(".trouble >> text=the code is wrong");
    const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", {});
    await panel.fill("[name=code]", code);
    await panel.click("button:has-text('Pair')");
    await panel.waitForSelector(".link.live");
    await panel.waitForSelector("text=No site is chosen");
    // The models that a turn may name are those of the server.
    const ready = (await at.owner.models()).models.flatMap(({ uri, ok }) => (ok ? [uri.replace(/MODEL$/, "")] : []));
    expect(ready.length).toBeGreaterThan(0);
    await expect
        .poll(() => panel.locator("datalist option").evaluateAll((all) => all.map((one) => one.getAttribute("value"))))
        .toEqual(ready);
    await panel.waitForSelector("aside >> text=type_secret");
    const [session] = (await at.owner.sessions()).sessions;
    expect(session?.tools.map(({ tool, readOnly }) => [tool, readOnly])).toEqual([
        ["tabs", true],
        ["navigate", false],
        ["read_page", true],
        ["screenshot", true],
        ["click", false],
        ["type", false],
        ["type_secret", false],
        ["scroll", true],
    ]);
    lent = `Lent_${session?.tools[0]?.client.replaceAll("-", "_")}`;
});

test("a site that the person did not choose is not read, not opened and not listed; the model hears why", async () => {
    const page = await context.newPage();
    await page.goto(tea.site);
    script(call("read_page"), call("tabs"), { text: "no site" });
    await submit("Read the page");
    await answered("no site");
    const shown = JSON.stringify(provider.requests.at(-1)?.body.messages);
    expect(shown).toContain("no tab of a chosen site is open");
    expect(shown).toContain("1 more tabs are of sites that the person did not choose");
    expect(shown).not.toContain("Green tea");
    await page.close();
});

test("a whole task: read, type and order with one yes and one no; the text is the site's, in the origins and in the answer", async () => {
    await panel.fill("[aria-label='Site to choose']", `${tea.site}/some/page`);
    await panel.click(".sites button:has-text('Choose') >> nth=-1");
    await panel.waitForSelector(`.sites code:has-text("${tea.site}")`);
    const page = await context.newPage();
    await page.goto(tea.site);
    let fields = "";
    script(
        call("read_page"),
        (shown) => {
            fields = shown;
            return call("type", { ref: ref(shown, 'field "What"'), text: "green tea" });
        },
        () => call("click", { ref: ref(fields, 'button "Order"') }),
        { text: "It was not ordered." },
        () => call("click", { ref: ref(fields, 'button "Order"') }),
        { text: "Ordered green tea." },
    );
    await submit("Order green tea");
    const ask = panel.locator(".ask");
    await ask.waitFor();
    await panel.waitForSelector('.named >> text=field "What" = "" of ');
    await panel.screenshot({ path: shot("ask"), fullPage: true });
    expect(await ask.innerText()).toContain("green tea");
    expect(await ask.innerText()).toContain(`site:${tea.site}`);
    await ask.locator(".yes").first().click();
    await expect.poll(() => page.inputValue("[name=what]")).toBe("green tea");
    await panel.waitForSelector(".ask >> text=click");
    await panel.waitForSelector(`.named >> text=button "Order" of ${tea.site}`);
    await panel.click(".ask .no");
    await answered("It was not ordered.");
    expect(tea.orders).toEqual([]);
    await panel.waitForSelector(`.from >> text=site:${tea.site}`);
    // The page forged approvals and results all the while.
    expect(fields).toContain("Opens at nine");
    expect(fields).not.toContain("hidden words");
    expect(fields).not.toContain("opensesame");
    expect(fields).not.toContain("account 12345");
    expect(fields).not.toContain("forged by the page");
    expect(fields).toContain("(a frame of ");
    await submit("Order it now");
    await panel.click(".ask .yes");
    await answered("Ordered green tea.");
    expect(tea.orders).toEqual(["green tea"]);
    await panel.screenshot({ path: shot("done"), fullPage: true });
    await page.close();
    expect(wrong).toEqual([]);
});

const yes = async (): Promise<void> => {
    await panel.click(".ask .yes");
};

test("files, scripts, the browser's pages and sites that are not chosen are not opened, whatever a person approves", async () => {
    const page = await context.newPage();
    await page.goto(tea.site);
    for (const [url, why] of [
        ["file:///etc/passwd", "only addresses of http and https are opened"],
        ["javascript:document.title='ran'", "only addresses of http and https are opened"],
        ["chrome://settings", "only addresses of http and https are opened"],
        [`${tea.other}/secret`, `did not choose the site ${tea.other}`],
    ] as const) {
        script(call("navigate", { url }), { text: `not ${url}` });
        await submit(`Open ${url}`);
        await yes();
        await answered(`not ${url}`);
        expect(lastResult()).toContain(why);
    }
    expect(page.url()).toBe(`${tea.site}/`);
    // A click may lead there: then nothing of it is told.
    let link = "";
    script(
        call("read_page"),
        (shown) => {
            link = ref(shown, 'link "The bank"');
            return call("click", { ref: link });
        },
        call("read_page"),
        { text: "left" },
    );
    await submit("Follow the link");
    await yes();
    await answered("left");
    expect(page.url()).toBe(`${tea.other}/secret`);
    expect(JSON.stringify(provider.requests.at(-1)?.body.messages.slice(-4))).not.toContain("account 12345");
    expect(lastResult()).toContain(`did not choose the site ${tea.other}`);
    await page.goto(tea.site);
    script(call("click", { ref: link }), { text: "stale" });
    await submit("Follow it again");
    await yes();
    await answered("stale");
    expect(lastResult()).toContain("is stale");
    await page.close();
});

test("attack: a page that makes another button of the one that the person was asked about gets no click", async () => {
    const page = await context.newPage();
    await page.goto(tea.site);
    const before = tea.orders.length;
    script(call("read_page"), (shown) => call("click", { ref: ref(shown, 'button "Order"') }), { text: "Not clicked." });
    await submit("Order");
    await panel.waitForSelector(`.named >> text=button "Order" of ${tea.site}`);
    await page.evaluate(() => {
        (globalThis as unknown as { document: { querySelector(of: string): { textContent: string } } }).document.querySelector(
            "form button",
        ).textContent = "Order a hundred";
    });
    await yes();
    await answered("Not clicked.");
    expect(lastResult()).toMatch(/was .*"Order.*when the person was asked, and is .*"Order a hundred/);
    expect(tea.orders).toHaveLength(before);
    await page.close();
});

test("a password field takes nothing but from type_secret, which is asked about anew", async () => {
    const page = await context.newPage();
    await page.goto(tea.site);
    let word = "";
    script(
        call("read_page"),
        (shown) => {
            word = ref(shown, 'field "Word"');
            return call("type", { ref: word, text: "guess" });
        },
        () => call("type_secret", { ref: word, text: "guess" }),
        { text: "no secret" },
    );
    await submit("Fill the word in");
    await panel.click(".ask .yes");
    await panel.waitForSelector(".ask >> text=type_secret");
    expect(await page.inputValue("[name=word]")).toBe("opensesame");
    await panel.click(".ask .no");
    await answered("no secret");
    expect(await page.inputValue("[name=word]")).toBe("opensesame");
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain("filled with type_secret alone");
    await page.close();
});

test("a screenshot is a picture of the page, with the sites of its frames", async () => {
    const page = await context.newPage();
    await page.goto(tea.site);
    script(call("screenshot"), { text: "seen" });
    await submit("Look at it");
    await answered("seen");
    const { messages } = provider.requests.at(-1)?.body ?? { messages: [] };
    const picture = JSON.stringify(messages.at(-1)).match(/data:image\/png;base64,([A-Za-z0-9+/=]+)/)?.[1] ?? "";
    const bytes = Buffer.from(picture, "base64");
    expect([bytes.subarray(1, 4).toString(), bytes.readUInt32BE(16)]).toEqual(["PNG", 900]);
    writeFileSync(shot("page"), bytes);
    const [session] = (await at.owner.sessions()).sessions;
    const { turns } = await at.owner.session(session?.id ?? "");
    expect(turns.at(-1)?.origins).toEqual(expect.arrayContaining([`site:${tea.site}`, `site:${tea.other}`]));
    await page.close();
});

test("a server that is started anew is found without a code, on another port too; a stranger on its port gets no token", async () => {
    const port = at.server.port;
    const heard: string[] = [];
    await at.server.stop();
    const stranger = createServer((_, answer) => answer.end("{}"));
    await new Promise<void>((resolve) => stranger.listen(port, "127.0.0.1", resolve));
    const sockets = new WebSocketServer({ server: stranger });
    sockets.on("connection", (socket) =>
        socket.on("message", (data) => {
            heard.push(String(data));
            // It passes the challenge on to the real server, once that is there.
            const { challenge } = JSON.parse(String(data)) as { challenge?: string };
            if (challenge === undefined) return;
            const proof = relay === null ? "AAAA" : relay(challenge);
            socket.send(JSON.stringify({ proof }));
        }),
    );
    let relay: ((challenge: string) => string) | null = null;
    await panel.waitForSelector(".link.lost");
    await expect.poll(() => heard.length).toBeGreaterThan(0);
    await at.again();
    expect(at.server.port).not.toBe(port);
    relay = (challenge) => at.server.identity().proof(challenge, at.server.port);
    await panel.waitForSelector(".link.live");
    await expect.poll(async () => (await at.owner.sessions()).sessions[0]?.tools.length).toBe(8);
    expect(heard.every((one) => isObject(JSON.parse(one) as Json) && Object.keys(JSON.parse(one) as object).join() === "challenge")).toBe(
        true,
    );
    expect(heard.join()).not.toContain("remit_");
    for (const one of sockets.clients) one.terminate();
    sockets.close();
    stranger.closeAllConnections();
    await new Promise((resolve) => stranger.close(resolve));
    // No address held a token either.
    expect(tea.asked.join()).not.toContain("remit_");
});

test("what reads the panel out finds no serious fault, light and dark", async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    for (const colorScheme of ["light", "dark"] as const) {
        await panel.emulateMedia({ colorScheme });
        await panel.setViewportSize({ width: 380, height: 800 });
        await panel.screenshot({ path: shot(`panel-${colorScheme}`), fullPage: true });
        // By the test's own hand: the panel's policy lets no other script in.
        const session = await context.newCDPSession(panel);
        await session.send("Runtime.evaluate", { expression: axe });
        const found = await panel.evaluate(async () => {
            const { violations } = await (
                globalThis as unknown as {
                    axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
                }
            ).axe.run();
            return violations
                .filter(({ impact }) => impact === "serious" || impact === "critical")
                .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
        });
        expect(found).toEqual([]);
    }
});

test("a site is taken back, also one that the extension may always reach; the panel that is closed has withdrawn its tools", async () => {
    const remove = panel.getByRole("button", { name: `Remove ${tea.site}`, exact: true });
    await remove.click();
    await remove.waitFor({ state: "detached" });
    expect(wrong).toEqual([]);
    await panel.close();
    await expect.poll(async () => (await at.owner.sessions()).sessions[0]?.tools.length).toBe(0);
});

/** Where a picture for people goes. */
function shot(name: string): string {
    return join(process.env["REMIT_TEST_PICTURES"] ?? folder, `extension-${name}.png`);
}
