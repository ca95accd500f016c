/**
 * What npm gets: `npm run pack` makes the tarballs, they are installed into an empty folder without a network and without the checkout, and the
 * command and the library work there: from JavaScript, and for TypeScript with their types.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";

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

let room: string;
let env: Record<string, string>;
beforeAll(async () => {
    room = mkdtempSync(join(tmpdir(), "remit-packed-"));
    const home = join(room, "home");
    mkdirSync(home);
    const inherited = Object.entries(process.env).filter(([name]) => !/^(REMIT_|XDG_|VITEST|NODE_|npm_)|API_KEY$|BASE_URL$/.test(name));
    env = { ...(Object.fromEntries(inherited) as Record<string, string>), HOME: home, NO_COLOR: "1" };
    env.PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    await run(process.execPath, [join(root, "scripts/pack.mjs")], root);
    writeFileSync(join(room, "package.json"), '{ "private": true, "type": "module" }\n');
    const tarballs = ["language", "machine", "host", "cli"].map((name) => join(root, "dist", `remit-${name}.tgz`));
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], room);
    writeFileSync(join(room, "tiny.remit"), PROGRAM);
}, 300_000);
afterAll(() => rmSync(room, { recursive: true, force: true }));

async function run(command: string, args: string[], cwd: string): Promise<string> {
    const child = promisify(execFile)(command, args, { cwd, env, encoding: "utf8", timeout: 280_000 });
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
const verified = ledger.verify(handle.id).ok;
ledger.close();
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
}, 120_000);
