/** `remit run`: a program from its file to its value. */
import { dirname, resolve } from "node:path";
import { load, readJson, RemitError, type Unperformed } from "@remit/host";
import type { Json } from "@remit/language";
import { showDiagnostics } from "../diagnostics.ts";
import { plainLine, safeJson, say, UsageError } from "../io.ts";
import { finish, loadOptions, watched } from "../running.ts";
import { decoded, readText } from "../text.ts";

export default async function run(args: string[], given: Record<string, unknown>): Promise<number> {
    const options = agentScript(given);
    const file = args[0] as string;
    if (options["parse"]) return (await import("./parse.ts")).default([file], options);
    if (options["check"]) return (await import("./check.ts")).default([file], options);
    const input = await readInput(options["input"] as string | undefined);
    const watch = watched(options);
    const program = await load<Json, Json>(file, {
        ...loadOptions(options, watch),
        ...(options["mock"] ? { mode: "mock" as const } : options["dryRun"] ? { mode: "dry-run" as const } : {}),
        ...(options["cache"] === false ? { cache: false } : {}),
        ...(options["variant"] === undefined ? {} : { variants: variants(options["variant"] as string[]) }),
        ...(options["agent"] === undefined && options["function"] === undefined
            ? {}
            : {
                  entry: {
                      ...(options["agent"] ? { agent: String(options["agent"]) } : {}),
                      ...(options["function"] ? { func: String(options["function"]) } : {}),
                  },
              }),
    });
    if (!options["quiet"] && program.diagnostics.length > 0) {
        const { sourcesOf } = await import("../diagnostics.ts");
        showDiagnostics(program.diagnostics, sourcesOf(program.root, program.diagnostics), { json: options["json"] === true });
    }
    try {
        const handle = begun(() => program.run(input, { signal: watch.signal }));
        const code = await finish(handle, watch, {
            ...options,
            root: program.root || dirname(resolve(file)),
            answered: () => program.answering(),
        });
        if (options["dryRun"]) showUnperformed(program.unperformed(), options["json"] === true);
        return code;
    } finally {
        watch.end();
        await program.close();
    }
}

/** What cannot begin is not in the program: an entry, a candidate. */
function begun<T>(begin: () => T): T {
    try {
        return begin();
    } catch (error) {
        if (error instanceof RemitError && error.kind === "value") throw new UsageError(error.failure.message, error.hint);
        throw error;
    }
}

/** What a dry run did not do, on standard error. */
function showUnperformed(calls: readonly Unperformed[], json: boolean): void {
    if (json) {
        say(safeJson({ unperformed: calls }));
        return;
    }
    say(calls.length === 0 ? "Nothing was left unperformed." : "Not performed:");
    for (const { path, call, args } of calls) {
        const text = args.map((one) => safeJson(one)).join(", ");
        say(`  ${plainLine(`${call}(${text.length > 200 ? `${text.slice(0, 200)}…` : text})`)}  ${plainLine(path)}`);
    }
}

/** AgentScript's options in Remit's words. */
function agentScript(given: Record<string, unknown>): Record<string, unknown> {
    const options = { ...given };
    if (options["inputFile"] !== undefined) {
        if (options["input"] !== undefined) throw new UsageError("--input and --input-file say the same thing; use one");
        options["input"] = `@${String(options["inputFile"])}`;
    }
    if (options["mock"] && options["dryRun"]) throw new UsageError("--mock and --dry-run cannot be used together");
    if (options["verbose"]) options["trace"] = true;
    return options;
}

async function readInput(text: string | undefined): Promise<Json> {
    if (text === undefined) return {};
    if (text === "-") return parsed(decoded(await new Response(process.stdin as never).arrayBuffer(), "standard input"), "standard input");
    if (text.startsWith("@")) return parsed(readText(text.slice(1)), text.slice(1));
    return parsed(text, "--input");
}

function parsed(text: string, from: string): Json {
    const read = readJson(text);
    if (read.ok) return read.value;
    throw new UsageError(
        `${from} ${read.message}`,
        read.hint ?? `give an object such as '{"name": "value"}', @FILE, or - for standard input`,
    );
}

function variants(pairs: readonly string[]): Record<string, string> {
    return Object.fromEntries(
        pairs.map((pair) => {
            const at = pair.lastIndexOf("=");
            if (at <= 0) throw new UsageError(`--variant takes SITE=NAME, not '${pair}'`);
            return [pair.slice(0, at), pair.slice(at + 1)];
        }),
    );
}
