/** The extension in a real Firefox: paired, a site chosen, a task with one yes and one no, a picture of the page; what was not chosen stays unread. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProcess } from "@remit/host";
import type { Json } from "@remit/language";
import { expect, test } from "vitest";
import { extension } from "../../../scripts/extension.mjs";
import { type FakeReply, startFakeProvider } from "../../host/tests/model/fake-provider.ts";
import { firefox } from "./firefox.ts";
import { room } from "./room.ts";
import { shop } from "./shop.ts";

const ID = "remit@remit.invalid";

test("a task is done in Firefox with one yes and one no; another site stays unread; a picture of the page is one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-extension-"));
    const built = await extension(join(folder, "built"));
    await using tea = await shop();
    await using provider = await startFakeProvider({ text: "nothing" });
    await using at = await room([], {
        model: "openai://some-model",
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
    await using browser = await firefox(ID);
    const panel = await browser.open();
    await panel.go(`${await browser.install(built.firefox.zip, ID)}/panel.html`);
    await panel.until("document.querySelector('[name=code]')");
    const { code } = await at.owner.request<{ code: string }>("POST", "/v1/pairings", {});
    const fill = (selector: string, text: string): Promise<boolean> =>
        panel.evaluate(
            `(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.value = ${JSON.stringify(text)}; e.dispatchEvent(new InputEvent("input", { bubbles: true })); return true; })()`,
        );
    await fill("[name=url]", at.server.url);
    await panel.type("[name=code]", code);
    await panel.click(".pairing .primary");
    await panel.until("document.querySelector('.link.live') && document.querySelectorAll('.tools li').length === 8");
    const [session] = (await at.owner.sessions()).sessions;
    const lent = `Lent_${session?.tools[0]?.client.replaceAll("-", "_")}`;

    let step = 0;
    let page = "";
    const call = (tool: string, args: Json = {}): FakeReply => ({ calls: [{ name: `${lent}__${tool}`, args }] });
    const ref = (words: string): string => new RegExp(`\\[([a-z0-9]+)\\] ${words}`).exec(page)?.[1] ?? "none";
    const steps: (() => FakeReply)[] = [
        () => call("read_page"),
        () => ({ text: "nothing is chosen" }),
        () => call("read_page"),
        () => call("type", { ref: ref('field "What"'), text: "green tea" }),
        () => call("click", { ref: ref('button "Order"') }),
        () => ({ text: "It was not ordered." }),
        () => call("screenshot"),
        () => ({ text: "It was seen." }),
    ];
    provider.answer(({ messages }) => {
        const last = messages.findLast(({ role }) => role === "tool")?.content;
        if (typeof last === "string" && last.includes("Tea shop")) page = last;
        return (steps[step++] as () => FakeReply)();
    });
    const submit = async (text: string): Promise<void> => {
        await fill("textarea", text);
        await panel.click(".composer .primary");
    };
    const answered = (text: string): Promise<void> =>
        panel.until(`[...document.querySelectorAll('.answer')].some((one) => one.innerText.includes(${JSON.stringify(text)}))`);

    const other = await browser.open();
    await other.go(tea.site);
    await submit("Read the page");
    await answered("nothing is chosen");
    expect(JSON.stringify(provider.requests.at(-1)?.body.messages)).not.toContain("Green tea");

    await fill("[aria-label='Site to choose']", tea.site);
    await panel.click(".sites form button");
    await panel.until("document.querySelector('.sites li code')");
    await submit("Order green tea");
    await panel.click(".ask .yes");
    await panel.until("document.querySelector('.ask')?.innerText.includes('click')");
    expect(await other.evaluate("document.querySelector('[name=what]').value")).toBe("green tea");
    writeFileSync(join(process.env["REMIT_TEST_PICTURES"] ?? folder, "extension-firefox.png"), await panel.picture());
    await panel.click(".ask .no");
    await answered("It was not ordered.");
    expect(tea.orders).toEqual([]);
    expect(page).toContain("Opens at nine");
    for (const hidden of ["hidden words", "opensesame", "account 12345", "forged by the page"]) expect(page).not.toContain(hidden);

    await panel.until("document.querySelector('.sites button.plain:not(.stop)') !== null");
    await panel.click(".sites > button.plain");
    await panel.until("document.querySelector('.sites').innerText.includes('are allowed')");
    await submit("Look");
    await answered("It was seen.");
    expect(JSON.stringify(provider.requests.at(-1)?.body.messages.at(-1))).toMatch(/data:image\/png;base64,iVBORw0KGgo/);
    rmSync(folder, { recursive: true, force: true });
});
