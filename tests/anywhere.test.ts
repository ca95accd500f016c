/**
 * The language and the machine run where there is nothing but the language of the web: in a bare V8 context without a single global of a host,
 * and in a browser, with the same steps and the same events as here.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const SOURCE = `
import tool Words from "host:words"
import llm Model from "openai://some-model"
func fib(k) {
    if k < 2 { return k }
    fib(k - 1) + fib(k - 2)
}
main agent Anywhere {
    model Model
    role "a clerk"
    description "Answers"
    main func(input: { text: string }) {
        parts = input.text.split(" ")
        sizes = parallel for part in parts max 10 { Words.size({ word: part }) }
        use input.text max 12 keep end as "text"
        said = generate({ input: "Which?", attempts: 2 }) -> { which: "to" | "be" }
        broken = try { parts[99] } catch failure { failure.kind }
        { sizes: sizes, upper: parts.map((p) => p.upper()).join("-"), fib: fib(16), broken: broken, which: said.which, found: input.text.match("b(.)") }
    }
}`;

/** Runs in each place: parse, check, lower, compile, run with a saved and loaded continuation at every stop. Returns plain JSON text. */
const DRIVER = `
import { check, loadProgram, lower } from "@remit/language";
import { compileProgram, Machine, canonicalLedger } from "@remit/machine";
/** A model answers wrongly at first. */
function outcome(effect) {
    if (effect.kind === "tool") return { ok: true, value: effect.request.args[0].word.length, origins: ["tool:Words"] };
    const wrong = effect.path.includes("attempt[0]");
    const reply = { text: "", finish: "stop", model: "some-model", value: { which: wrong ? "or" : "be" } };
    return { ok: true, value: reply, origins: ["model:Model"], usage: { input: 1, output: 1 } };
}
export function everything(source) {
    const checked = check(loadProgram("main.remit", { read: () => source, resolve: () => null }));
    if (checked.diagnostics.some((d) => d.severity === "error")) throw new Error(JSON.stringify(checked.diagnostics));
    const compiled = compileProgram(lower(checked));
    const options = { run: "run", programHash: "hash", input: { text: "to be or not to be" } };
    let machine = Machine.start(compiled, options);
    const events = [];
    for (;;) {
        const advanced = machine.advance();
        events.push(...advanced.events);
        if (advanced.state === "done") return JSON.stringify({ result: advanced.result, ledger: canonicalLedger(events) });
        if (advanced.state === "slice") continue;
        const saved = JSON.parse(JSON.stringify(machine.save({ image: true }).image));
        machine = Machine.load(compiled, options, [saved]);
        for (const effect of advanced.effects)
            machine.resolve(effect.path, outcome(effect));
        if (advanced.effects.length === 0) throw new Error("nothing to wait for");
    }
}
globalThis.everything = everything;
`;

let bundle: string;
let here: string;
beforeAll(async () => {
    const built = await build({
        stdin: { contents: DRIVER, resolveDir: root, loader: "js" },
        bundle: true,
        format: "iife",
        platform: "neutral",
        target: "es2024",
        write: false,
        mainFields: ["module", "main"],
    });
    bundle = built.outputFiles[0]?.text ?? "";
    // the same bundle in this process is the reference
    here = (new Function(`const globalThis = {}; ${bundle}; return globalThis.everything;`)() as (source: string) => string)(SOURCE);
    expect(JSON.parse(here).result).toMatchObject({
        ok: true,
        value: { sizes: [2, 2, 2, 3, 2, 2], fib: 987, broken: "value", which: "be" },
    });
});

test("in a bare V8 context", () => {
    const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
    // V8 itself brings a console for its inspector
    runInContext("delete globalThis.console", context);
    expect(runInContext("typeof process + typeof console + typeof setTimeout + typeof TextEncoder + typeof URL", context)).toBe(
        "undefined".repeat(5),
    );
    runInContext(bundle, context);
    expect(runInContext(`everything(${JSON.stringify(SOURCE)})`, context)).toBe(here);
});

test("in a browser", async () => {
    const executablePath = process.env.REMIT_TEST_CHROMIUM ?? "/usr/bin/chromium";
    const flags = [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ];
    await using browser = await chromium.launch({ executablePath, args: flags });
    const page = await browser.newPage();
    await page.setContent(
        `<!doctype html><meta http-equiv="Content-Security-Policy" content="script-src 'unsafe-inline'"><script>${bundle.replaceAll("</script", "<\\/script")}</script>`,
    );
    expect(await page.evaluate((source) => (globalThis as never as { everything(s: string): string }).everything(source), SOURCE)).toBe(
        here,
    );
});
