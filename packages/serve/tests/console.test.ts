/**
 * The console in a real browser: a whole task with its approvals, every view of a run, hostile text in every field, a connection that breaks, a phone,
 * a keyboard, and what reads the page out (axe).
 */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Json } from "@remit/language";
import { load, openProcess } from "@remit/host";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { scriptAt } from "../../host/tests/script.ts";
import { begun } from "./begun.ts";
import { calls, type Room, room } from "./room.ts";
import { wire } from "./wire.ts";

let browser: Browser;
let context: BrowserContext | undefined;
beforeAll(async () => {
    const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
    browser = await chromium.launch({ executablePath: process.env["REMIT_TEST_CHROMIUM"] ?? "/usr/bin/chromium", args });
});
afterAll(() => browser.close());
afterEach(async () => {
    await context?.close();
    context = undefined;
});

/** A page that is logged in, and what went wrong in it. */
async function opened(at: Room, place = "/", options: Parameters<Browser["newContext"]>[0] & { url?: string } = {}) {
    const { url = at.server.url, ...more } = options;
    context = await browser.newContext(more);
    const page = await context.newPage();
    page.setDefaultTimeout(500_000);
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    await page.goto(`${url}/#code=${await at.server.loginCode()}&to=${place}`);
    await page.waitForSelector("main h1");
    return { page, wrong };
}

const go = (page: Page, place: string): Promise<unknown> => page.evaluate(`location.hash = ${JSON.stringify(`#${place}`)}`);

const CLERK = `import llm Model from "scripted:x"
import tool Post from "host:post"
main agent Clerk {
    model Model
    role "a clerk"
    description "Sorts letters"
    main func(input: { text: string }) {
        use input.text max 12 keep end as "the letter"
        said = generate({ input: "Which?", attempts: 2 }) -> { which: string }
        Post.send({ to: "Ana", text: said.which })
        { which: said.which, letter: input.text }
    }
}
`;
const POST = { post: { send: () => "sent" } };
const CLICK = { description: "Clicks", input: { type: "object", properties: { at: { type: "string" } }, required: ["at"] } };

test("a task is done in the console: a turn, its text as it comes, a yes by a key, a no by a click, an answer; the code counts once", async () => {
    const buy = calls("owner", "click", { at: "#buy" });
    await using at = await room([
        buy,
        { text: "Bought the blue one.", chunks: 3 },
        buy,
        { calls: [{ name: "Person_ask", args: { question: "Which size?" } }] },
        { text: "Nothing was bought." },
    ]);
    const clicked: string[] = [];
    const { page, wrong } = await opened(at);
    expect(page.url()).not.toContain("code");
    await page.fill('[aria-label="Title of a new session"]', "The shop");
    await page.click("text=New session");
    await page.waitForSelector("h1:has-text('The shop')");
    const id = decodeURIComponent(page.url().split("/").at(-1) as string);
    const over = new AbortController();
    const lender = (async () => {
        for await (const { event, data } of at.owner.events(id, { signal: over.signal })) {
            if (event !== "call") continue;
            clicked.push("#buy");
            await at.owner.result(id, (data as { id: string }).id, { ok: true, value: "ok", site: "https://shop.example/x" });
        }
    })();
    await at.owner.lend(id, "click", CLICK);
    await page.waitForSelector("aside >> text=acts");
    // A key that is on its way while the question comes answers nothing (CAK1).
    await page.evaluate(`new MutationObserver((_, self) => {
        if (document.querySelector(".ask .yes") === null) return;
        self.disconnect();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
        window.early = true;
    }).observe(document.body, { childList: true, subtree: true })`);
    await page.fill("textarea", "Buy it");
    await page.press("textarea", "Enter");
    const ask = page.locator(".ask");
    await ask.waitFor();
    const shown = await ask.innerText();
    for (const part of ["#buy", "model:Model", "says may", "Always: yes to every call of click (lent by owner)"])
        expect(shown).toContain(part);
    expect(clicked).toEqual([]);
    await page.evaluate("document.activeElement.blur()");
    expect(await page.evaluate("window.early")).toBe(true);
    expect(await page.locator(".ask .yes").first().isEnabled()).toBe(true);
    await expect
        .poll(async () => {
            await page.keyboard.press("y");
            return ask.count();
        })
        .toBe(0);
    await page.waitForSelector(".answer >> text=Bought the blue one.");
    expect(clicked).toEqual(["#buy"]);
    await page.waitForSelector(".from >> text=site:https://shop.example");
    await page.fill("textarea", "Again");
    await page.press("textarea", "Enter");
    await page.click(".ask .no");
    await page.waitForSelector(".ask >> text=Which size?");
    await page.fill('[aria-label="Your answer"]', "M");
    await page.click(".ask >> text=Answer");
    await page.waitForSelector(".answer >> text=Nothing was bought.");
    expect(clicked).toEqual(["#buy"]);
    over.abort();
    await lender;
    expect(wrong).toEqual([]);
    const { status } = await at.raw("POST", "/v1/login", { body: { code: "wrong-code" } });
    expect(status).toBe(403);
});

test("a run that waits says for what, and how it is answered; its program is told from others by its folder", async () => {
    await using at = await room([]);
    mkdirSync(join(at.folder, "letters"));
    writeFileSync(
        join(at.folder, "letters", "main.remit"),
        'import tool Post from "host:post" { send: ask }\nmain func(input: { to: string }) { Post.send({ to: input.to }) }\n',
    );
    const own = openProcess({ env: { HOME: at.folder }, cwd: at.folder });
    const about = { process: own, ledger: at.server.ledger.store, tools: { Post: POST.post }, cache: false, asks: { park: true } };
    const program = await load<Json>(join(at.folder, "letters", "main.remit"), about);
    const { run } = await program.run({ to: "<b>Ana</b>" }).result;
    await program.close();
    await own.close();
    const { page, wrong } = await opened(at, "/runs");
    await page.click("text=letters/main.remit");
    const told = await page.textContent("section[aria-label='What the run waits for']");
    expect(told).toContain("May user call Post.send?");
    const [ask] = await at.server.ledger.store.asks.list(run);
    expect(told).toContain(`remit answer ${run} ${ask?.id} once`);
    expect(wrong).toEqual([]);
});

test("a question that is decided elsewhere goes away here, and a turn is cancelled from the page", async () => {
    await using at = await room([calls("owner", "click", { at: "#buy" }), { text: "done" }, { text: "slow", delay: 60_000 }]);
    const { id } = await at.owner.open({ title: "two windows" });
    await at.owner.lend(id, "click", CLICK);
    const { page } = await opened(at, `/sessions/${id}`);
    await at.owner.submit(id, { text: "go" });
    await page.waitForSelector(".ask");
    const [ask] = (await at.owner.session(id)).asks;
    await at.owner.decide(id, ask?.id as string, "deny");
    await page.waitForSelector(".ask", { state: "detached" });
    await page.waitForSelector(".answer >> text=done");
    await at.owner.submit(id, { text: "slow" });
    await page.click("text=Cancel");
    await page.waitForSelector(".state.cancelled");
});

test("an answer is shown with its Markdown: what has been said stays as it is while more comes, and nothing is loaded or leads away", async () => {
    const row = [...Array<string>(9).fill("1,450"), "word ".repeat(30).trim()];
    const said = [
        `# Found\n\n**Twice**, see \`A-1042\`:\n\n- one\n- two\n\n4. [x] three\n\n|${"a|".repeat(10)}\n|${"-|".repeat(10)}\n|${row.join("|")}|\n`,
        "[rules](https://evil.example/rules) ![p](https://evil.example/p.png) [go](javascript:window.pwned=1) <b>no</b>\n",
    ].join("\n");
    await using provider = await startFakeProvider({ text: said, chunks: said.match(/.{1,12}/gs) ?? [], pace: 40 });
    const env = {
        HOME: "/nonexistent",
        PATH: process.env["PATH"],
        OPENAI_API_KEY: "sk-test-0123456789abcdef",
        OPENAI_BASE_URL: `${provider.url}/v1`,
    };
    await using at = await room([], { model: "openai://some-model", process: openProcess({ env }) });
    const { id } = await at.owner.open({ title: "\u05e9\u05dc\u05d5\u05dd" });
    const { page, wrong } = await opened(at, `/sessions/${id}`);
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes("evil") && asked.push(request.url()));
    await page.waitForSelector(".link.live");
    await at.owner.submit(id, { text: "look" });
    await page.waitForSelector(".going .words strong");
    await page.evaluate("window.first = document.querySelector('.going .words h3')");
    await page.waitForSelector(".going .words table");
    expect(await page.evaluate("window.first === document.querySelector('.going .words h3')")).toBe(true);
    await page.waitForSelector(".answer:not(.going) .words");
    const words = page.locator(".answer .words");
    expect(await words.innerText()).toContain(
        "rules (https://evil.example/rules) p (https://evil.example/p.png) go (javascript:window.pwned=1) <b>no</b>",
    );
    expect(await words.locator("h3, strong, code, li, td").allInnerTexts()).toEqual([
        "Found",
        "Twice",
        "A-1042",
        "one",
        "two",
        "three",
        ...row,
    ]);
    const sideOf = (which: string): Promise<unknown> => page.evaluate(`getComputedStyle(document.querySelector("${which}")).direction`);
    expect([await sideOf("h1"), await sideOf(".words p"), await sideOf(".you")]).toEqual(["rtl", "ltr", "ltr"]);
    // A task that has a number keeps it.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.words ol > li')).listStyleType")).toBe("decimal");
    await page.setViewportSize({ width: 390, height: 844 }); // a wide table scrolls: no figure is broken, and no text is a tower
    const linesOf = "(td) => { const all = document.createRange(); all.selectNodeContents(td); return all.getClientRects().length; }";
    const lines = (await page.evaluate(`[...document.querySelectorAll(".words td")].map(${linesOf})`)) as number[];
    expect([Math.max(...lines.slice(0, -1)), (lines.at(-1) ?? 9) < 6, await words.locator("a, img, b").count()]).toEqual([1, true, 0]);
    await page.click("text=As written");
    expect(await page.innerText(".answer .words.raw")).toContain("**Twice**, see `A-1042`:");
    expect({ asked, wrong }).toEqual({ asked: [], wrong: [] });
});

/** Would set `window.pwned`, turn the text around, end an element, or colour a terminal. */
const HOSTILE = `</script></title><img src=x onerror="window.pwned=1"><svg onload="window.pwned=1"><script>window.pwned=1</script> javascript:window.pwned=1 \u202egnp.exe\u2066 \u001b[31mred \u0007 {{window.pwned=1}} ![x](x) [**x**](javascript:window.pwned=1)`;

test("hostile text in every field is shown, and is neither markup nor obeyed", async () => {
    const evil = calls("owner", "click", { at: HOSTILE, [HOSTILE]: HOSTILE });
    await using at = await room([evil, { text: HOSTILE, chunks: 2 }], { bounds: { away: 60_000 } });
    const { id } = await at.owner.open({ title: HOSTILE.slice(0, 200) });
    await at.owner.lend(id, "click", {
        description: HOSTILE,
        input: { type: "object", properties: { at: { type: "string", description: HOSTILE } } },
    });
    const clerk = await begun(at, {
        source: CLERK,
        input: { text: HOSTILE },
        file: `${"<img src=x onerror=pwned=1>"}.remit`,
        replies: [{ value: { which: HOSTILE } }],
        tools: POST,
    });
    expect((await clerk.result).ok).toBe(true);
    at.says([evil, { text: HOSTILE }]);
    const { page, wrong } = await opened(at, "/sessions");
    const inert = async (where: string): Promise<void> => {
        const found = await page.evaluate(`({
            pwned: window.pwned ?? null,
            made: document.querySelectorAll("#app img[src='x'], #app script, #app svg, #app iframe, #app [onerror], #app [onload]").length,
            links: [...document.querySelectorAll("a[href]")].filter((one) => /^javascript:/i.test(one.href)).length,
            obeyed: /[\\u202a-\\u202e\\u2066-\\u2069\\u001b\\u0007]/.test(document.body.innerText + document.title),
            shown: document.body.innerText.includes("onerror"),
        })`);
        expect({ where, ...(found as object) }).toEqual({ where, pwned: null, made: 0, links: 0, obeyed: false, shown: true });
    };
    await page.waitForSelector(".row");
    await inert("sessions");
    await go(page, `/sessions/${id}`);
    await page.waitForSelector("aside details");
    await page.click("aside summary");
    await at.owner.submit(id, { text: HOSTILE });
    await page.waitForSelector(".ask");
    await inert("a question");
    await page.click(".ask .no");
    await page.waitForSelector(".answer .words >> text=onerror");
    await inert("a turn");
    await go(page, "/runs");
    await page.waitForSelector(".row");
    await inert("runs");
    for (const [view, ready] of [
        ["overview", ".value .part"],
        ["trace", ".node"],
        ["timeline", ".node"],
        ["prompts", ".pieces"],
    ] as const) {
        await go(page, `/runs/${clerk.id}/${view}`);
        await page.waitForSelector(ready);
        await inert(view);
    }
    await go(page, `/runs/${clerk.id}/trace`);
    await page.click(".f-tool");
    await page.waitForSelector(".event .value");
    await inert("an event");
    await go(page, `/runs/${encodeURIComponent(HOSTILE)}`);
    await page.waitForSelector(".trouble");
    await inert("an address");
    // A run that is not there is the one thing that the browser reports.
    expect(wrong.filter((text) => !text.includes("404"))).toEqual([]);
});

test("a run is followed: trace by keyboard, timeline, what the model saw, why by a click, cost", async () => {
    await using at = await room([]);
    const handle = await begun(at, {
        source: CLERK,
        input: { text: "hello world, this is long" },
        replies: [{ text: "no json" }, { value: { which: "to" } }],
        tools: POST,
    });
    await handle.result;
    const { page, wrong } = await opened(at, `/runs/${handle.id}`);
    await page.click(".whence:has-text('\"to\"')");
    await page.waitForSelector(".why >> text=model Model");
    expect(await page.innerText(".why")).toContain("clerk.remit:9");
    await page.click("nav >> text=Trace");
    await page.waitForSelector('[role="treeitem"]');
    const rows = () => page.locator('[role="treeitem"]');
    const all = await rows().count();
    expect(all).toBeGreaterThan(5);
    await rows().first().focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rows().count()).toBe(1);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rows().count()).toBe(all);
    await page.fill('[aria-label="Filter the trace"]', "Post.send");
    await expect.poll(() => rows().count()).toBe(2);
    await rows().last().focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector(".detail >> text=arguments");
    await page.click(".detail .whence:has-text('\"to\"')");
    await page.waitForSelector(".why >> text=model Model");
    await page.click("nav >> text=Timeline");
    await page.waitForSelector(".track i");
    await page.click("nav >> text=Prompts");
    await page.waitForSelector(".pieces .l-context");
    expect(await page.innerText(".pieces .l-context")).toBe("this is long");
    expect(await page.innerText(".prompt table")).toContain("12 of 25 characters");
    expect(await page.locator(".sent").count()).toBe(2);
    await page.click(".pieces .l-context");
    await page.waitForSelector(".because >> text=user");
    expect(wrong).toEqual([]);
});

test("a question that a project sends to the server stands above the runs, and is decided there", async () => {
    await using at = await room([]);
    const folder = join(at.folder, "project");
    mkdirSync(folder);
    writeFileSync(join(folder, "remit.json"), JSON.stringify({ questions: [{ to: ["server"] }] }));
    writeFileSync(
        join(folder, "main.remit"),
        'import tool Mail from "host:mail" { send: ask }\nmain func() { Mail.send({ to: "<b>ada</b>" }) }\n',
    );
    const own = openProcess({ env: { HOME: at.folder }, cwd: folder });
    const tools = { Mail: { send: () => null } };
    const program = await load(join(folder, "main.remit"), {
        process: own,
        tools,
        trust: true,
        ledger: at.server.ledger.store,
        cache: false,
    });
    const { run } = await program.run(null).result;
    const { page, wrong } = await opened(at, "/runs");
    const ask = page.locator(".ask");
    expect(await ask.innerText()).toContain("<b>ada</b>");
    await ask.getByRole("button", { name: "Yes, once" }).click();
    await ask.waitFor({ state: "detached" });
    expect(await at.server.ledger.asks(run)).toMatchObject([{ state: "answered", decision: "once", by: at.server.ledger.user }]);
    expect(wrong).toEqual([]);
    await program.close();
});

test("the picture of a block fills in while it runs", async () => {
    await using at = await room([]);
    let pass: (value: string) => void = () => undefined;
    const open = new Promise<string>((resolve) => {
        pass = resolve;
    });
    const source = `import tool Gate from "host:gate"\nfunc shout(text: string) { text.upper() }\nmemory static ( echo "a" >=> Gate.pass >=> shout ) as said\n`;
    const handle = await begun(at, { source, tools: { gate: { pass: () => open } } });
    const { page, wrong } = await opened(at, `/runs/${handle.id}/plan`);
    await page.waitForSelector(".box.s-done:has-text('echo#0')");
    await page.waitForSelector(".box.s-running:has-text('Gate.pass#0')");
    await page.waitForSelector(".box.s-waits:has-text('shout#0')");
    pass("through");
    await page.waitForSelector(".box.s-done:has-text('shout#0')");
    await page.click(".box:has-text('shout#0')");
    await page.waitForSelector(".card >> text=THROUGH");
    expect(wrong).toEqual([]);
});

test("a connection that breaks is shown, and the page has what happened meanwhile; a login that ended is said", async () => {
    await using at = await room([{ text: "meanwhile" }]);
    const { id } = await at.owner.open({ title: "far away" });
    await using line = await wire(Number(new URL(at.server.url).port));
    const { page } = await opened(at, `/sessions/${id}`, { url: `http://127.0.0.1:${line.port}` });
    await page.waitForSelector(".link.live");
    line.cut(true);
    await page.waitForSelector(".link.lost >> text=reconnecting");
    await at.owner.request("POST", `/v1/sessions/${id}/turns?wait=1`, { text: "are you there?" });
    line.cut(false);
    await page.waitForSelector(".link.live");
    await page.waitForSelector(".answer >> text=meanwhile");
    await context?.clearCookies();
    await go(page, "/runs");
    await page.waitForSelector("text=This page needs the link");
});

/** Serious and critical faults that axe finds. */
async function faults(page: Page): Promise<string[]> {
    const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    await page.evaluate(source);
    return page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => id + ": " + node.target.join(" ") + " " + (node.any[0]?.message ?? ""))))`) as Promise<
        string[]
    >;
}

test("every view is sound to axe in light and dark, fits a phone of 360 pixels, and goes by keys", async () => {
    await using at = await room([calls("owner", "click", { at: "#buy" }), { text: "done" }], { bounds: { away: 60_000 } });
    const { id } = await at.owner.open({ title: "axe" });
    await at.owner.lend(id, "click", CLICK);
    const clerk = await begun(at, {
        source: CLERK,
        input: { text: "hello world, this is long" },
        replies: [{ value: { which: "to" } }],
        tools: POST,
    });
    await clerk.result;
    const block = await begun(at, {
        source: `func shout(text: string) { text.upper() }\nmemory static ( ( shout "a" <*> shout "b" >=> shout >=> shout ) >=> merge )\n`,
    });
    await block.result;
    at.says([calls("owner", "click", { at: "#buy" }), { text: "done" }]);
    await at.owner.submit(id, { text: "go" });
    const { page, wrong } = await opened(at, "/sessions", { viewport: { width: 360, height: 740 } });
    const views: [string, string][] = [
        ["/sessions", ".row"],
        [`/sessions/${id}`, ".ask"],
        ["/runs", ".row"],
        [`/runs/${clerk.id}`, ".value"],
        [`/runs/${clerk.id}/trace`, ".node"],
        [`/runs/${clerk.id}/timeline`, ".track i"],
        [`/runs/${clerk.id}/prompts`, ".pieces"],
        [`/runs/${block.id}/plan`, ".box"],
        ["/program", "td"],
    ];
    const found: string[] = [];
    for (const [i, [place, ready]] of views.entries()) {
        await go(page, place);
        await page.waitForSelector(ready);
        await page.emulateMedia({ colorScheme: i % 2 === 0 ? "dark" : "light" });
        const wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        if (wide !== 0) found.push(`${place} is ${String(wide)} pixels too wide`);
        // A table, and the names of a run's views, are seen whole: a phone shows no bar that says there is more.
        const cut = `[...document.querySelectorAll(".tabs, .wide:has(> table)")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className)`;
        for (const one of (await page.evaluate(cut)) as string[]) found.push(`${place} cuts .${one}`);
        const towers = `[...document.querySelectorAll(".prompt td.mono")].map((td) => { const all = document.createRange(); all.selectNode(td.firstChild); return [td.firstChild.data, all.getClientRects().length]; }).filter(([text, lines]) => text.length < 16 && lines > 1).map(([text]) => text)`;
        for (const one of (await page.evaluate(towers)) as string[]) found.push(`${place} breaks ${one}`);
        for (const one of await faults(page)) found.push(`${place} ${one}`);
    }
    expect(found).toEqual([]);
    // Who may do what, row by row, as the server says it.
    const { head, rows } = await at.owner.request<{ readonly head: unknown; readonly rows: readonly unknown[] }>("GET", "/v1/program");
    const cells = `(row) => [...row.cells].map((cell) => cell.textContent)`;
    const table = await page.evaluate(`[...document.querySelectorAll("[aria-labelledby=authority] tr")].map(${cells})`);
    expect(table).toEqual([head, ...rows]);
    expect(rows.length).toBeGreaterThan(1);
    await page.evaluate("document.activeElement.blur()");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open] >> text=search");
    expect(await faults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("t");
    await page.waitForSelector("html[data-theme='light']");
    await page.keyboard.press("2");
    await page.waitForSelector("h1:has-text('Runs')");
    // The heading of the new place has the focus.
    await page.waitForSelector("h1:focus");
    await page.keyboard.press("/");
    await page.keyboard.type("pipeline of nobody");
    await page.waitForSelector("text=No run has this");
    expect(wrong).toEqual([]);
});

test("remit open shows a run of the ledger, and only shows", async () => {
    await using at = await room([]);
    const handle = await begun(at, { source: CLERK, input: { text: "hello" }, replies: [{ value: { which: "to" } }], tools: POST });
    await handle.result;
    const ledger = at.server.ledger.store.path as string;
    const child = spawn(process.execPath, [scriptAt("packages/cli/bin/remit.mjs"), "open", handle.id, "--ledger", ledger], {
        env: { HOME: at.folder, PATH: process.env["PATH"] },
        stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    try {
        const link = await new Promise<string>((resolve) => child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim())));
        context = await browser.newContext();
        const page = await context.newPage();
        page.setDefaultTimeout(500_000);
        await page.goto(link);
        await page.waitForSelector("h1:has-text('clerk.remit')");
        await page.waitForSelector(".whence:has-text('hello')");
        expect(await page.locator("nav[aria-label='Main'] a").allInnerTexts()).toEqual(["Runs"]);
    } finally {
        child.kill("SIGINT");
    }
    expect(await ended).toBe(0);
});
