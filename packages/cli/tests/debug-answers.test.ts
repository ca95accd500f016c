/** Debugging what agents wrote: their sources come from the ledger, by reference, with breakpoints of their own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debugRun, load, memoryStore } from "@remit/host";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Adapter } from "../src/debug/adapter.ts";
import { LineDebugger } from "../src/debug/lines.ts";

const MAIN = `import agent Fixer from "stub:sequence:answers.json"
main func(input: { n: number }) {
    a = Fixer.yield(n: input.n)
    b = Fixer.yield(n: a)
    a + b
}
`;
const FIRST = "func helper(n) {\n    n * 2\n}\nfunc answer(agent, n) {\n    x = helper(n)\n    x + 1\n}";

let folder: string;
beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "remit-answers-"));
    mkdirSync(join(folder, "state"));
    writeFileSync(join(folder, "main.remit"), MAIN);
    writeFileSync(join(folder, "answers.json"), JSON.stringify([{ source: FIRST }]));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function recorded() {
    const store = memoryStore();
    const program = await load<{ n: number }, number>(join(folder, "main.remit"), { ledger: store, cache: false, root: folder });
    const run = program.run({ n: 3 });
    expect(await run.value).toBe(22);
    return { store, id: run.id };
}

test("an editor gets each answer as a source of its own, and stops in it by line", async () => {
    const { store, id } = await recorded();
    const got: DebugProtocol.ProtocolMessage[] = [];
    let wake = (): void => undefined;
    const adapter = new Adapter({
        send: (message) => {
            got.push(message);
            wake();
        },
        open: async () => ({ session: await debugRun(store, id), changed: ["main.remit"] }),
        end: () => undefined,
    });
    const when = async (found: () => boolean): Promise<void> => {
        while (!found()) await new Promise<void>((resolve) => (wake = resolve));
    };
    let seq = 0;
    const ask = async <B>(command: string, args: object = {}): Promise<B> => {
        const mine = ++seq;
        adapter.take(JSON.stringify({ seq: mine, type: "request", command, arguments: args }));
        const answer = (): DebugProtocol.Response | undefined =>
            got.find((one) => one.type === "response" && (one as DebugProtocol.Response).request_seq === mine) as DebugProtocol.Response;
        await when(() => answer() !== undefined);
        return answer()?.body as B;
    };
    const stops = (): number => got.filter((one) => one.type === "event" && (one as DebugProtocol.Event).event === "stopped").length;
    const go = async (command: string): Promise<DebugProtocol.StackFrame | undefined> => {
        const before = stops();
        await ask(command, { threadId: 1 });
        await when(() => stops() > before);
        return (await ask<DebugProtocol.StackTraceResponse["body"]>("stackTrace", { threadId: 1 })).stackFrames[0];
    };
    await ask("initialize", { adapterID: "remit" });
    await ask("launch", { run: id });
    const output = expect.stringContaining("main.remit was changed since this run began");
    expect(got).toContainEqual(expect.objectContaining({ event: "output", body: { category: "important", output } }));
    await go("configurationDone");
    let frame = await go("stepIn");
    for (let n = 0; n < 20 && frame?.source?.name !== "Fixer's answer"; n++) frame = await go("stepIn");
    expect(frame).toMatchObject({
        name: "answer (as Fixer)",
        line: 5,
        source: { name: "Fixer's answer", origin: "main/Fixer.yield#0/turn[0]" },
    });
    const source = frame?.source;
    expect(await ask("source", { sourceReference: source?.sourceReference })).toEqual({ content: FIRST, mimeType: "text/x-remit" });
    expect(await ask("setBreakpoints", { source, breakpoints: [{ line: 1 }, { line: 6 }, { line: 90 }] })).toMatchObject({
        breakpoints: [{ verified: true, line: 2 }, { verified: true, line: 6 }, { verified: false }],
    });
    expect(await go("continue")).toMatchObject({
        name: "helper (as Fixer)",
        line: 2,
        source: { sourceReference: source?.sourceReference },
    });
    expect(await go("continue")).toMatchObject({ name: "answer (as Fixer)", line: 6 });
    // The second answer has the same name and other breakpoints: none.
    await go("continue");
    expect(got.findLast((one) => one.type === "event")).toMatchObject({ body: { description: expect.stringContaining("ended") } });
    expect(await ask("source", { sourceReference: 9999 })).toMatchObject({ error: { format: "there is no such source in this run" } });
});

test("on a terminal its lines are shown", async () => {
    const { store, id } = await recorded();
    const out: string[] = [];
    const lines = new LineDebugger(
        await debugRun(store, id),
        (text) => out.push(text),
        (_, text) => text,
    );
    for (let n = 0; n < 12 && !out.join("\n").includes("helper(n)"); n++) await lines.line("step");
    expect(out.join("\n")).toContain("→  5      x = helper(n)");
    await lines.line("list");
    expect(out.at(-1)).toContain("   4  func answer(agent, n) {");
});
