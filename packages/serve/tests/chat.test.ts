/** The page of `docs/streaming.md`, with `useChat` of the AI SDK, in a real browser; and what its requests may not do. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { UIMessageChunk } from "ai";
import { build } from "esbuild";
import { load, type ToolCallContext } from "@remit/host";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type UiChunk, uiMessages } from "../src/index.ts";
import { calls, type Room, room } from "./room.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

let browser: Browser;
let site: HttpServer;
let origin: string;
let script = "";
beforeAll(async () => {
    const [, page = ""] = /```tsx\n([\s\S]*?)```/.exec(readFileSync(join(root, "docs/streaming.md"), "utf8")) ?? [];
    const made = await build({
        stdin: { contents: page, loader: "tsx", resolveDir: join(root, "packages/serve") },
        bundle: true,
        write: false,
        format: "esm",
        jsx: "automatic",
        define: { "process.env.NODE_ENV": '"production"' },
        logLevel: "warning",
    });
    script = made.outputFiles[0]?.text ?? "";
    site = createServer((request, answer) => {
        const isScript = request.url === "/page.mjs";
        answer.setHeader("content-type", isScript ? "text/javascript" : "text/html");
        answer.end(isScript ? script : '<!doctype html><title>Chat</title><body><script type="module" src="/page.mjs"></script>');
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
    browser = await chromium.launch({ executablePath: process.env["REMIT_TEST_CHROMIUM"] ?? "/usr/bin/chromium", args });
});
afterAll(async () => {
    await browser.close();
    site.close();
});

interface Chat {
    readonly page: Page;
    readonly session: string;
    readonly token: string;
    readonly wrong: string[];
}

async function opened(at: Room): Promise<Chat> {
    const { client, token } = await at.client("chat page");
    const { id: session } = await client.open({ title: "chat" });
    const context = await browser.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(500_000);
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    await page.goto(`${origin}/#server=${at.server.url}&token=${token}&session=${session}`);
    await page.waitForSelector("form");
    return { page, session, token, wrong };
}

async function say(page: Page, text: string): Promise<void> {
    await page.fill('[aria-label="Message"]', text);
    await page.press('[aria-label="Message"]', "Enter");
}

test("text streams, a call asks and goes on after a yes, also in a page that was loaded again; a no is told as one", async () => {
    const click = calls("owner", "click", { at: "#buy" });
    await using at = await room([click, { text: "Bought it.", chunks: 2 }, click, { text: "Then not." }], {
        origins: [origin],
        bounds: { away: 60_000 },
    });
    const { page, session, wrong } = await opened(at);
    const clicked: string[] = [];
    const over = new AbortController();
    const lending = (async () => {
        for await (const { event, data } of at.owner.events(session, { signal: over.signal })) {
            if (event !== "call") continue;
            clicked.push(event);
            await at.owner.result(session, (data as { id: string }).id, { ok: true, value: "clicked", site: "https://shop.example" });
        }
    })();
    await at.owner.lend(session, "click", { description: "Clicks" });
    await say(page, "Buy it");
    await page.waitForSelector(".call >> text=approval-requested");
    expect(await page.innerText(".call")).toContain('click (lent by owner) {"at":"#buy"}');
    // loaded again while it waits
    await page.reload();
    await page.waitForSelector(".call >> text=approval-requested");
    expect(clicked).toEqual([]);
    await page.click("text=Yes");
    await page.waitForSelector(".call >> text=output-available");
    await page.waitForSelector(".assistant >> text=Bought it.");
    expect(clicked).toHaveLength(1);
    expect(await page.locator(".call").count()).toBe(1);
    expect(await page.locator(".assistant").count()).toBe(1);
    const shots = process.env["REMIT_TEST_SCREENS"];
    if (shots !== undefined) await page.screenshot({ path: join(shots, "chat.png") });

    await say(page, "Again");
    await page.waitForSelector(".call >> text=approval-requested");
    await page.click("text=No");
    await page.waitForSelector(".call >> text=output-denied");
    await page.waitForSelector(".assistant >> text=Then not.");
    expect(clicked).toHaveLength(1);
    // what was said is there when the page is loaded anew, and no turn is streamed
    await page.reload();
    await page.waitForSelector(".assistant >> text=Then not.");
    expect(await page.locator(".user").allInnerTexts()).toEqual(["Buy it", "Again"]);
    expect(wrong).toEqual([]);
    over.abort();
    await lending;
    await page.context().close();
});

/** The chunks of an answer. */
async function read(response: Response): Promise<UiChunk[]> {
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    return lines.map((line) => JSON.parse(line.slice(6)) as UiChunk);
}

test("only who may decide decides; a message is one turn; what does not fit is refused", async () => {
    await using at = await room([calls("owner", "click"), { text: "over" }], { bounds: { away: 60_000 } });
    const { client, token } = await at.client("page");
    const other = await at.client("other");
    const blind = await at.client("blind", ["observe", "submit"]);
    const { id } = await client.open();
    await at.owner.lend(id, "click", { description: "Clicks" });
    const chat = (body: unknown, as = token): Promise<Response> =>
        at.raw("POST", "/v1/chat", { body, headers: { authorization: `Bearer ${as}` } });
    const asked = (parts: unknown[], role = "user", messageId = "m1") => ({
        id,
        trigger: "submit-message",
        messages: [{ id: messageId, role, parts }],
    });
    for (const [body, status] of [
        [{}, 400],
        [asked([]), 400],
        [asked([{ type: "file", url: "file:///etc/passwd" }]), 400],
        [{ ...asked([{ type: "text", text: "x" }]), id: "session-none" }, 404],
        [{ ...asked([{ type: "text", text: "x" }]), by: "owner" }, 400],
    ] as const)
        expect((await chat(body)).status).toBe(status);

    const first = await read(await chat(asked([{ type: "text", text: "go" }])));
    const request = first.find((chunk) => chunk.type === "tool-approval-request");
    expect(first.map(({ type }) => type)).toEqual([
        "start",
        "start-step",
        "tool-input-available",
        "tool-approval-request",
        "finish-step",
        "finish",
    ]);
    // the same message again is the same turn
    expect(await read(await chat(asked([{ type: "text", text: "go" }])))).toEqual(first);
    expect((await chat(asked([{ type: "text", text: "other" }]))).status).toBe(409);
    expect((await client.session(id)).turns).toHaveLength(1);

    const approvalId = request?.type === "tool-approval-request" ? request.approvalId : "";
    const yes = asked([{ type: "dynamic-tool", state: "approval-responded", approval: { id: approvalId, approved: true } }], "assistant");
    expect((await chat(yes, other.token)).status).toBe(409);
    expect((await chat(yes, blind.token)).status).toBe(403);
    const none = asked([{ type: "dynamic-tool", state: "approval-responded", approval: { id: "none", approved: true } }], "assistant");
    expect((await chat(none)).status).toBe(409);
    expect((await client.session(id)).asks).toHaveLength(1);
    const no = asked([{ type: "dynamic-tool", state: "approval-responded", approval: { id: approvalId, approved: false } }], "assistant");
    const rest = await read(await chat(no));
    expect(rest.map(({ type }) => type)).toEqual(expect.arrayContaining(["tool-output-denied", "text-delta", "finish"]));
    expect((await chat(no)).status).toBe(409);
    const stream = await at.raw("GET", `/v1/chat/${id}/stream`);
    expect(stream.status).toBe(204);
    // the chunks are the SDK's
    const sdk: UIMessageChunk[] = [...first, ...rest] as UiChunk[];
    expect(sdk.length).toBeGreaterThan(8);
});

test("a run of the library as chunks: text as it comes, what a tool says meanwhile, a value that is no text, a failure", async () => {
    await using at = await room([]);
    writeFileSync(join(at.folder, "said.json"), JSON.stringify([{ text: "One two three.", chunks: 3 }]));
    const source = (rest: string) => `import llm Model from "scripted:${join(at.folder, "said.json")}"
import tool Files from "file://workspace"
import tool Slow from "host:slow"
main agent Clerk {
    model Model
    role "a clerk"
    description "Answers."
    main func(input) {
        said = generate({ input: "Say it.", stream: true }) -> string
        Files.list({ path: "." })
        Slow.copy({})
        ${rest}
    }
}`;
    const chunksOf = async (rest: string): Promise<UiChunk[]> => {
        const copy = (_: object, { emit }: ToolCallContext) => {
            emit({ done: 1, of: 2 });
            emit({ type: "text", delta: "not of the model" });
            return true;
        };
        const program = await load({ source: source(rest) }, { cache: false, workspace: at.folder, tools: { Slow: { copy } } });
        const chunks = await Array.fromAsync(uiMessages((on) => program.run(null, { on })));
        await program.close();
        return chunks;
    };
    const chunks = await chunksOf("{ said: said }");
    const text = chunks.flatMap((chunk) => (chunk.type === "text-delta" && chunk.id === "text-1" ? [chunk.delta] : []));
    expect(text.join("")).toBe("One two three.");
    expect(chunks.filter(({ type }) => type === "data-progress")).toEqual([
        { type: "data-progress", id: "main/Slow.copy#0", data: { done: 1, of: 2 } },
        { type: "data-progress", id: "main/Slow.copy#0", data: { type: "text", delta: "not of the model" } },
    ]);
    expect(chunks.map(({ type }) => type)).toEqual(expect.arrayContaining(["tool-input-available", "tool-output-available", "data-value"]));
    expect(chunks.at(-1)).toMatchObject({ type: "finish", messageMetadata: { status: "done", origins: ["model:Model"] } });
    const failed = await chunksOf('Files.read({ path: "none.txt" })');
    expect(failed.find(({ type }) => type === "tool-output-error")).toBeDefined();
    expect(failed.find(({ type }) => type === "error")).toMatchObject({ errorText: expect.stringContaining("none.txt") });
});

test("what an agent asks for with its own hands is a question of the page as well", async () => {
    await using at = await room([]);
    const use = { tool: "Files", method: "write", args: [{ path: "a.txt", content: "a" }] };
    writeFileSync(join(at.folder, "turns.json"), JSON.stringify([{ text: "Done.", use: [use] }]));
    const source = `import tool Files from "file://workspace" { write: ask }
import agent Fixer from "stub:sequence:turns.json" { remit { ask Files.write  spend 2 turns } }
main func() { agent("Write it.", { agent: Fixer }).data.text }`;
    const program = await load({ source, file: join(at.folder, "main.remit") }, { cache: false, workspace: at.folder });
    const chunksOf = (answer: "once" | "deny") =>
        Array.fromAsync(uiMessages((on) => program.run(null, { on: { ...on, ask: async () => answer } })));
    const asked = { type: "tool-approval-request", reason: expect.stringMatching(/^May Fixer call Files\.write\?\nWho wants it: Fixer/) };
    for (const [answer, approved] of [
        ["once", true],
        ["deny", false],
    ] as const)
        expect((await chunksOf(answer)).filter(({ type }) => type.startsWith("tool-approval"))).toMatchObject([
            asked,
            { type: "tool-approval-response", approved },
        ]);
    await program.close();
});
