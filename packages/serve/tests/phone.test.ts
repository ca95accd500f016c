/** The console on a phone of 390 pixels, in a real browser: a turn whose lent tool was refused, under the names that people know it by. */
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { begun } from "./begun.ts";
import { calls, ended, room, watch } from "./room.ts";

let browser: Browser;
beforeAll(async () => {
    const args = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
    browser = await chromium.launch({ executablePath: process.env["REMIT_TEST_CHROMIUM"] ?? "/usr/bin/chromium", args });
});
afterAll(() => browser.close());

test("every view of a run can be reached, no word of its prompts is broken, and a lent tool has its person's name beside the model's", async () => {
    await using at = await room({ replies: [] });
    const panel = await at.client("panel");
    at.says([calls(panel.id, "click", { at: "#buy" }), { text: "Nothing was bought." }]);
    const { id } = await at.owner.open({ title: "shop" });
    await panel.client.lend(id, "click", { description: "Clicks" });
    const turn = await at.owner.submit(id, { text: "Buy it" });
    await watch(at.owner, id, ended(turn.id), async (event, data) => {
        if (event === "ask.requested") await at.owner.decide(id, data["ask"] as string, "deny");
    });
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await context.newPage();
    page.setDefaultTimeout(500_000);
    await page.goto(`${at.server.url}/#code=${await at.server.loginCode()}&to=/runs/${id}.${turn.id}/prompts`);
    await page.waitForSelector(".prompt");
    const tabs = (await page.evaluate(`[...document.querySelectorAll(".tabs a")].map((tab) => {
        const { left, right } = tab.getBoundingClientRect();
        return [tab.textContent, left >= 0 && right <= innerWidth];
    })`)) as unknown;
    expect(tabs).toEqual(["Overview", "Trace", "Timeline", "Prompts", "Plan"].map((name) => [name, true]));
    const broken = await page.evaluate(`[...document.querySelectorAll(".prompt table :is(td, th)")].flatMap((cell) => {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        const found = [];
        for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
            for (const { index, 0: word } of text.data.matchAll(/[\\p{L}\\d]+/gu)) {
                const range = document.createRange();
                range.setStart(text, index);
                range.setEnd(text, index + word.length);
                if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word);
            }
        return found;
    })`);
    expect(broken).toEqual([]);
    expect(await page.evaluate(`[...document.querySelectorAll(".wide")].filter((one) => one.scrollWidth > one.clientWidth).length`)).toBe(
        0,
    );
    await page.click(".offered summary");
    const name = `click (lent by ${panel.id})`;
    const asModel = `Lent_${panel.id.replaceAll("-", "_")}__click`;
    expect(await page.innerText(".offered li >> nth=0")).toContain(`${name} ${asModel}`);
    expect(await page.innerText(".message.model >> nth=0")).toContain(`calls ${name}`);
    const shots = process.env["REMIT_TEST_SCREENS"];
    if (shots !== undefined) await page.screenshot({ path: join(shots, "phone-prompts.png"), fullPage: true });
    await context.close();
});

test.each([390, 1280])(
    "of a question about a long call its answers are in sight at %i pixels, and nothing lies half under them",
    async (width) => {
        const said = Array.from({ length: 4 }, () => ({ text: "A line of it.\n\n".repeat(20) }));
        const long = calls("owner", "save", { text: "a line of it\n".repeat(800), old: "a line\n".repeat(800) });
        await using at = await room([...said, long, { text: "over" }]);
        const { id } = await at.owner.open({ title: "shop" });
        await at.owner.lend(id, "save", { description: "Saves" });
        for (const _ of said) {
            const before = await at.owner.submit(id, { text: "Say it" });
            await watch(at.owner, id, ended(before.id));
        }
        const turn = await at.owner.submit(id, { text: "Save it" });
        await watch(at.owner, id, (event) => event === "ask.requested");
        const context = await browser.newContext({ viewport: { width, height: 844 } });
        const page = await context.newPage();
        page.setDefaultTimeout(500_000);
        await page.goto(`${at.server.url}/#code=${await at.server.loginCode()}&to=/sessions/${id}`);
        await page.waitForSelector(".ask .yes");
        const seen = await page.evaluate(`(() => {
        const boxOf = (one) => document.querySelector(one).getBoundingClientRect();
        const [yes, asks, composer] = [".ask .yes", ".asks", ".composer"].map(boxOf);
        return { inSight: yes.top >= 0 && yes.bottom <= innerHeight, apart: composer.top >= asks.bottom };
    })()`);
        expect(seen).toEqual({ inSight: true, apart: true });
        const shots = process.env["REMIT_TEST_SCREENS"];
        if (shots !== undefined) await page.screenshot({ path: join(shots, `long-question-${width}.png`) });
        await context.close();
        await at.owner.cancel(id, turn.id);
    },
);

test.each(["trace", "timeline"])(
    "CTR2: who closes the details of a row far down is at that row of the %s again, and arrows go on from it",
    async (view) => {
        await using at = await room({ replies: [] });
        const source = "main func(input { rows: list[number] }) { for row in input.rows max 100 { row + 1 } }";
        const run = await begun(at, { source, input: { rows: Array.from({ length: 90 }, (_, i) => i) } });
        await run.result;
        const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
        const page = await context.newPage();
        page.setDefaultTimeout(500_000);
        await page.goto(`${at.server.url}/#code=${await at.server.loginCode()}&to=/runs/${run.id}/${view}`);
        const row = page.getByRole("treeitem").filter({ hasText: "for row[70]" });
        await row.click();
        await page.getByRole("button", { name: "Close" }).click();
        const focused = (text: string): Promise<unknown> =>
            page.waitForFunction(`(() => {
            const one = document.activeElement;
            const { top, bottom } = one.getBoundingClientRect();
            return one.role === "treeitem" && one.textContent.includes(${JSON.stringify("for row[")} + "${text}]") && top >= 0 && bottom <= innerHeight;
        })()`);
        await focused("70");
        await page.keyboard.press("ArrowUp");
        await focused("69");
        await page.keyboard.press("ArrowDown");
        await focused("70");
        await context.close();
    },
);
