/** `remit debug`: going through a run that was recorded, forwards and backwards; with `--dap`, for editors. Nothing is performed or written; with `--agent`, what a person accepts. */
import { here, secretsNow } from "../here.ts";
import { createInterface } from "node:readline";
import { changedFiles, debugRun } from "@remit/host";
import { LineDebugger } from "../debug/lines.ts";
import { EXIT, paint, plainLine, print, UsageError } from "../io.ts";
import { openRun } from "../ledger.ts";

const PROMPT = "(remit) ";

export default async function debug(args: string[], options: Record<string, unknown>): Promise<number> {
    if (options["dap"]) {
        const { serve } = await import("../debug/serve.ts");
        return serve(args[0], options);
    }
    if (args[0] === undefined)
        throw new UsageError("remit debug takes a run: its id, the beginning of one, or last", "`remit runs` lists them");
    const { store, run } = await openRun(args[0], options);
    // What was no secret when the run was recorded may be one that is known now.
    const scrubber = secretsNow();
    try {
        if (options["agent"] !== undefined) {
            const { debugWith } = await import("../debug/agent.ts");
            return await debugWith(await debugRun(store, run.id, { scrubber }), scrubber, store, options);
        }
        for (const name of ["at", "json"])
            if (options[name] !== undefined) throw new UsageError(`--${name} is for --agent`, "in the debugger: goto PLACE");
        const lines = new LineDebugger(
            await debugRun(store, run.id, { scrubber }),
            (text) => print(scrubber.text(text)),
            paint(process.stdout),
        );
        lines.begin(await changedFiles(store, run, here()));
        return await converse(lines);
    } finally {
        await store.close();
    }
}

/** Lines from a person, or from a pipe: then each is shown as if it had been typed, and a wrong one is told in the exit code. */
async function converse(lines: LineDebugger): Promise<number> {
    const person = process.stdin.isTTY === true && process.stdout.isTTY === true;
    const input = createInterface({
        input: process.stdin,
        ...(person ? { output: process.stdout, prompt: PROMPT } : {}),
        terminal: person,
    });
    // Ctrl-C stops a movement; where nothing moves it leaves.
    input.on("SIGINT", () => {
        if (!lines.interrupt()) input.close();
    });
    let wrong = false;
    if (person) input.prompt();
    for await (const line of input) {
        if (!person && (line.trim() === "" || line.trim().startsWith("#"))) continue;
        if (!person) print(`${PROMPT}${plainLine(line.trim())}`);
        const did = await lines.line(line);
        if (did === "quit") break;
        if (did === "wrong") wrong = true;
        if (person) input.prompt();
    }
    input.close();
    return wrong && !person ? EXIT.failed : EXIT.ok;
}
