/** Programs that `tests/packed.test.ts` puts into the room where the package is installed. Texts only. */

export const PROGRAM = `import llm Model from "openai://gpt-5-mini"
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

export const LIBRARY = `import { load, openLedger, run } from "remit-lang";
import { EVENT_KINDS, verifyChain } from "remit-lang/machine";
import { check, loadProgram } from "remit-lang/language";

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

export const SUBPATHS = `import { openProcess } from "remit-lang";
import { guardOf } from "remit-lang/testing";
import { auditBeforeAssertion } from "remit-lang/testing/jest";
import { Server, uiResponse, type NewTurn } from "remit-lang/serve";
import { ServeClient } from "remit-lang/serve/client";
import remitEsbuild from "remit-lang/esbuild";
import remitVite from "remit-lang/vite";
import { servers } from "remit-lang/serve/discovery";

export const turn: NewTurn = { text: "hello" };
export const server = Server.start({ process: openProcess(), model: "mock:" });
export { auditBeforeAssertion, guardOf, remitEsbuild, remitVite, ServeClient, servers, uiResponse };
`;

export const NEEDS_SDK = `import { compile, RemitError, run } from "remit-lang";
const program = await compile("temporal static ( echo 1 )");
const said = await run(program, { address: "127.0.0.1:1", ledger: "none.db" }).catch((error) => error);
const imported = await import("remit-lang/temporal").catch((error) => error.message);
console.log(JSON.stringify({ failure: said instanceof RemitError ? said.failure : String(said), imported }));
`;

export const SMALL = `main agent Small {
    main func(input: { n: number }) {
        input.n + 1
    }
}
`;

export const SAME = `import { compile, load, LoadError, RemitError } from "remit-lang";
import { ServerRefusal } from "remit-lang/serve";
import * as client from "remit-lang/serve/client";
import { AuditError } from "remit-lang/testing";
import * as jest from "remit-lang/testing/jest";
const load_ = await load({ source: "main func() { missing }" }).catch((error) => error);
const run_ = await (await load({ source: 'main func() { raise "no" }' }))(null).catch((error) => error);
console.log(JSON.stringify([load_ instanceof LoadError, run_ instanceof RemitError, client.ServerRefusal === ServerRefusal, jest.AuditError === AuditError]));
`;

export const SERVED = `import { createServer } from "node:http";
import { load, openLedger } from "remit-lang";

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

export const ON_TEMPORAL = `import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { openLedger, openWorld } from "remit-lang";
import { connect, createWorker, onlyErrors, placeOf, remitClient, startDevServer } from "remit-lang/temporal";
import * as child from "remit-lang/temporal/workflow";

onlyErrors();
await using server = await startDevServer({ program: process.env.REMIT_TEST_TEMPORAL });
const { store, close } = await openLedger("temporal.db");
const worker = await createWorker({ connect: { address: server.address }, ledger: store, cache: "bundles" });
const program = await openWorld({ source: "main func(input) { input.words.length }" });
const connection = await connect(placeOf({ address: server.address }));
const client = remitClient({ connection, store });
const run = await client.submit(program, program.kept({ words: ["a", "b"] }));
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

export const EMBEDDED = `import { Server } from "remit-lang/serve";
import { ServeClient } from "remit-lang/serve/client";

const server = await Server.start({ model: "mock:", ledger: "embedded.db", state: "embedded" });
const client = new ServeClient({ url: server.url, token: server.ownerToken });
const { id } = await client.open();
const turn = await client.request<{ status: string }>("POST", \`/v1/sessions/\${id}/turns?wait=1\`, { text: "hello" });
const page = await fetch(server.url + "/console/main.ts");
const library = await fetch(server.url + "/console/language.ts");
console.log(JSON.stringify([turn.status, page.status, library.status]));
await server.stop();
`;

export const JEST = `import { load } from "remit-lang";
import { auditBeforeAssertion } from "remit-lang/testing/jest";

const expect = auditBeforeAssertion();
const source = (arg) => \`import tool Inbox from "host:inbox"
import tool Mail from "host:mail"
main func(input) { Mail.send({ to: \${arg} }).ok }
\`;
const tools = { Inbox: { next: () => ({ from: "eve@evil.test" }) }, Mail: { send: () => ({ ok: true }) } };
async function sent(arg) {
    const program = await load({ source: source(arg) }, { tools, ledger: "jest.db" });
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
