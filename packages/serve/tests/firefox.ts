/**
 * A headless Firefox with an extension, over WebDriver BiDi: pages are opened, scripts are run in them, keys and clicks are a person's.
 *
 * Boundary: the few commands that tests need, over one WebSocket. Why no library: the smallest that speaks BiDi brings 50 MB for these eight commands.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";

export interface FirefoxPage {
    go(url: string): Promise<void>;
    /** What an expression gives, which is JSON. */
    evaluate<T>(expression: string): Promise<T>;
    /** Until the expression is true. */
    until(expression: string, ms?: number): Promise<void>;
    /** A person's click on what a selector finds. */
    click(selector: string): Promise<void>;
    type(selector: string, text: string): Promise<void>;
    picture(): Promise<Buffer>;
    close(): Promise<void>;
}

export interface Firefox extends AsyncDisposable {
    /** Loads an extension; gives the origin of its pages. */
    install(zip: string, id: string): Promise<string>;
    open(): Promise<FirefoxPage>;
}

const UUID = "5f2b4b9e-3c43-4d6c-9a3e-1c0c5d2f7a11";

export async function firefox(id: string): Promise<Firefox> {
    const folder = mkdtempSync(join(tmpdir(), "remit-firefox-"));
    const profile = join(folder, "profile");
    mkdirSync(profile);
    const prefs = {
        "extensions.webextensions.uuids": JSON.stringify({ [id]: UUID }),
        // The browser's question for a permission is answered with yes: it has no place in a headless browser.
        "extensions.webextOptionalPermissionPrompts": false,
        "browser.shell.checkDefaultBrowser": false,
        "datareporting.policy.dataSubmissionEnabled": false,
        "toolkit.telemetry.reportingpolicy.firstRun": false,
        "app.update.enabled": false,
        "network.captive-portal-service.enabled": false,
        "browser.startup.page": 0,
    };
    writeFileSync(
        join(profile, "user.js"),
        Object.entries(prefs)
            .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
            .join(""),
    );
    const child = spawn(
        process.env["REMIT_TEST_FIREFOX"] ?? "/usr/bin/firefox-esr",
        [
            "--headless",
            "--no-remote",
            "--remote-allow-system-access",
            "--remote-debugging-port",
            "0",
            "--profile",
            profile,
            "--new-instance",
            "about:blank",
        ],
        { env: { ...process.env, HOME: folder, MOZ_HEADLESS: "1" }, stdio: ["ignore", "ignore", "pipe"] },
    );
    const bidi = new Bidi(await addressOf(child));
    await bidi.begun;
    await bidi.send("session.new", { capabilities: {} });
    return {
        install: async (path) => {
            await bidi.send("webExtension.install", { extensionData: { type: "archivePath", path } });
            return `moz-extension://${UUID}`;
        },
        open: async () => pageOf(bidi, ((await bidi.send("browsingContext.create", { type: "tab" })) as { context: string }).context),
        [Symbol.asyncDispose]: async () => {
            const ended = once(child, "exit");
            await bidi.send("browser.close", {}).catch(() => child.kill());
            await ended;
            bidi.close();
            rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
        },
    };
}

function addressOf(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
        let said = "";
        child.stderr?.on("data", (part) => {
            said += String(part);
            const found = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said)?.[1];
            if (found !== undefined) resolve(`${found}/session`);
        });
        child.once("error", reject);
        child.once("exit", () => reject(new Error(`Firefox ended: ${said.slice(-2000)}`)));
    });
}

class Bidi {
    readonly begun: Promise<unknown>;
    readonly #socket: WebSocket;
    readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
    #last = 0;

    constructor(address: string) {
        this.#socket = new WebSocket(address, { maxPayload: 64 << 20 });
        this.begun = once(this.#socket, "open");
        this.#socket.on("message", (data) => {
            const { id, result, error, message } = JSON.parse(String(data)) as {
                id?: number;
                result?: unknown;
                error?: string;
                message?: string;
            };
            const one = this.#waiting.get(id ?? -1);
            this.#waiting.delete(id ?? -1);
            if (error === undefined) one?.resolve(result);
            else one?.reject(new Error(`${error}: ${message}`));
        });
        this.#socket.on("close", () => {
            for (const one of this.#waiting.values()) one.reject(new Error("Firefox went away"));
        });
    }

    send(method: string, params: object): Promise<unknown> {
        return new Promise((resolve, reject) => {
            const id = ++this.#last;
            this.#waiting.set(id, { resolve, reject });
            this.#socket.send(JSON.stringify({ id, method, params }));
        });
    }

    close(): void {
        this.#socket.close();
    }
}

function pageOf(bidi: Bidi, context: string): FirefoxPage {
    const evaluate = async <T>(expression: string): Promise<T> => {
        const said = (await bidi.send("script.evaluate", {
            expression: `(async () => JSON.stringify((await (${expression})) ?? null))()`,
            target: { context },
            awaitPromise: true,
            userActivation: true,
        })) as { type: string; result?: { value: string }; exceptionDetails?: { text: string } };
        if (said.type !== "success") throw new Error(said.exceptionDetails?.text ?? "the script failed");
        return JSON.parse(said.result?.value ?? "null") as T;
    };
    const until = async (expression: string, ms = 500_000): Promise<void> => {
        for (const end = Date.now() + ms; ; ) {
            if (await evaluate<boolean>(`Boolean(${expression})`).catch(() => false)) return;
            if (Date.now() > end) throw new Error(`not so in time: ${expression}\n${await evaluate<string>("document.body.innerText")}`);
            await new Promise((go) => setTimeout(go, 100));
        }
    };
    const click = async (selector: string): Promise<void> => {
        const found = `document.querySelector(${JSON.stringify(selector)})`;
        await until(`${found} !== null && !${found}.disabled`);
        const at = await evaluate<{ x: number; y: number }>(
            `(() => { const e = ${found}; e.scrollIntoView({ block: "center", behavior: "instant" }); const r = e.getBoundingClientRect(); return { x: Math.round(r.x + r.width / 2), y: Math.round(r.y + r.height / 2) }; })()`,
        );
        const pointer = (type: string, more: object = {}): object => ({ type, ...more });
        await bidi.send("input.performActions", {
            context,
            actions: [
                {
                    type: "pointer",
                    id: "mouse",
                    actions: [pointer("pointerMove", at), pointer("pointerDown", { button: 0 }), pointer("pointerUp", { button: 0 })],
                },
            ],
        });
    };
    return {
        evaluate,
        until,
        click,
        go: async (url) => void (await bidi.send("browsingContext.navigate", { context, url, wait: "complete" })),
        type: async (selector, text) => {
            await click(selector);
            const keys = [...text].flatMap((value) => [
                { type: "keyDown", value },
                { type: "keyUp", value },
            ]);
            await bidi.send("input.performActions", { context, actions: [{ type: "key", id: "keys", actions: keys }] });
        },
        picture: async () =>
            Buffer.from(((await bidi.send("browsingContext.captureScreenshot", { context })) as { data: string }).data, "base64"),
        close: async () => void (await bidi.send("browsingContext.close", { context })),
    };
}
