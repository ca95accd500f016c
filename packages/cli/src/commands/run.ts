/** `remit run`: a program from its file to its value. */
import { existsSync, statSync } from "node:fs";
import { here } from "../here.ts";
import { dirname, resolve } from "node:path";
import {
    doubtsOf,
    load,
    loadConfig,
    type LoadOptions,
    monitor,
    profileOfRun,
    readJson,
    RemitError,
    type RemitProgram,
    shellWord,
    type Unperformed,
} from "@remit/host";
import { isObject, type Json, nearest, shownUse } from "@remit/language";
import type { AuditFinding } from "@remit/machine";
import { showDiagnostics } from "../diagnostics.ts";
import { showFailure } from "../failure.ts";
import { atLeast, findingLines, severityOf } from "../auditing.ts";
import { counted, EXIT, paint, plainLine, safeJson, say, sayJson, UsageError } from "../io.ts";
import { finish, loadOptions, origins, type Watch, watched } from "../running.ts";
import { blocksThere } from "../temporal.ts";
import { inputExample } from "../input-example.ts";
import { argument, decoded, readText } from "../text.ts";

export default async function run(args: string[], given: Record<string, unknown>): Promise<number> {
    const options = agentScript(given);
    const file = args[0] as string;
    if (options["parse"]) return (await import("./parse.ts")).default([file], options);
    if (options["check"]) return (await import("./check.ts")).default([file], options);
    const input = await readInput(options["input"] as string | undefined);
    const watch = watched(options);
    const there = blocksThere(options);
    const program = await load<Json, Json>(file, {
        ...loadOptions(options, watch),
        blocks: there.blocks,
        queues: there.queues,
        ...(options["mock"] ? { mode: "mock" as const } : options["dryRun"] ? { mode: "dry-run" as const } : {}),
        ...(options["cache"] === false ? { cache: false } : {}),
        ...(options["frozen"] ? { frozen: true } : {}),
        ...(options["inputOrigin"] === undefined ? {} : { inputOrigins: origins(options["inputOrigin"] as string[]) }),
        ...(options["variant"] === undefined ? {} : { variants: variants(options["variant"] as string[]) }),
        ...entryOf(options),
    });
    watch.root = program.root || dirname(resolve(file));
    if (!options["quiet"] && program.diagnostics.length > 0) {
        const { sourcesOf } = await import("../diagnostics.ts");
        showDiagnostics(program.diagnostics, sourcesOf(program.root, program.diagnostics), { json: options["json"] === true });
    }
    try {
        if (options["against"] !== undefined && !options["monitor"]) throw new UsageError("--against is for --monitor");
        const rules = options["monitor"] ? await rulesOf(file, program, options) : null;
        const handle = begun(() => program.run(input, { signal: watch.begins() }));
        const findings = rules === null ? null : monitor(handle, { ...rules, finding: (one) => tell(one, watch, options) });
        const ended = await finish(handle, watch, {
            ...options,
            root: watch.root,
            answered: () => program.answering(),
        });
        const over = rules === null || findings === null ? [] : atLeast(await findings, rules.failOn);
        if (over.length > 0) say(`the audit found ${counted(over.length, "thing")} at ${rules?.failOn} or over`);
        const code = over.length > 0 && ended === EXIT.ok ? EXIT.failed : ended;
        if (options["dryRun"]) showUnperformed(program.unperformed(), options["json"] === true);
        return code;
    } catch (error) {
        // The input does not fit: no run was begun.
        if (!(error instanceof RemitError) || error.run !== undefined || error.kind !== "contract") throw error;
        const example = inputExample(program.form);
        const help = `${strayKeys(input, example)}give the input with --input, for example --input ${shellWord(example)}`;
        showFailure(error.failure, { json: options["json"] === true, root: watch.root, help });
        return EXIT.usage;
    } finally {
        watch.end();
        await program.close();
        await there.end();
    }
}

/** Names what the input has and no part of the program takes: a part that is missing may stand there under another name. */
function strayKeys(input: Json, example: string): string {
    const taken = Object.keys(JSON.parse(example) as object);
    const stray = isObject(input) ? Object.keys(input).filter((key) => !taken.includes(key) && nearest(key, taken) !== null) : [];
    return stray.map((key) => `the input has '${key}': did you mean '${nearest(key, taken)}'? `).join("");
}

/** What `--monitor` goes by: the project's invariants, and the run to compare with. */
async function rulesOf(file: string, program: RemitProgram<Json, Json>, options: Record<string, unknown>) {
    const workspace = options["workspace"];
    const { audit, ...rest } = loadConfig({
        env: here().env,
        folder: process.cwd(),
        from: file,
        ...(workspace === undefined ? {} : { workspace: String(workspace) }),
        ...(options["trust"] ? { trust: true } : {}),
    });
    const store = await program.ledger();
    const before = options["against"] === undefined || store === null ? null : (await store.run(String(options["against"]))).id;
    if (store !== null && before !== null) {
        const [why] = await doubtsOf(store, before);
        if (why !== undefined) throw new UsageError(`--against: ${why}`);
    }
    return {
        invariants: audit.invariants,
        failOn: severityOf(undefined, { audit, ...rest }),
        ...(store === null || before === null ? {} : { against: await profileOfRun(store, before) }),
    };
}

function tell(finding: AuditFinding, watch: Watch, options: Record<string, unknown>): void {
    watch.progress.pause();
    if (options["json"]) sayJson({ finding });
    else for (const line of findingLines(finding, paint(process.stderr))) say(line);
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
        sayJson({ unperformed: calls });
        return;
    }
    say(calls.length === 0 ? "Nothing was left unperformed." : "Not performed:");
    for (const { path, call, args } of calls) {
        const text = args.map((one) => safeJson(one)).join(", ");
        say(`  ${plainLine(`${shownUse(call)}(${text.length > 200 ? `${text.slice(0, 200)}…` : text})`)}  ${plainLine(path)}`);
    }
}

function entryOf({ main, agent, function: func }: Record<string, unknown>): Pick<LoadOptions, "entry"> {
    if (main) {
        const other = agent !== undefined ? "--agent" : func !== undefined ? "--function" : undefined;
        if (other !== undefined) throw new UsageError(`--main and ${other} cannot be used together`);
        return { entry: { main: true } };
    }
    if (agent === undefined && func === undefined) return {};
    return { entry: { ...(agent ? { agent: String(agent) } : {}), ...(func ? { func: String(func) } : {}) } };
}

/** AgentScript's options, and short forms, in Remit's words. */
function agentScript(given: Record<string, unknown>): Record<string, unknown> {
    const options = { ...given };
    if (options["inputFile"] !== undefined) {
        if (options["input"] !== undefined) throw new UsageError("--input and --input-file say the same thing; use one");
        options["input"] = `@${String(options["inputFile"])}`;
    }
    if (options["mock"] && options["dryRun"]) throw new UsageError("--mock and --dry-run cannot be used together");
    if (options["verbose"]) options["trace"] = true;
    if (options["replay"] !== undefined) {
        if (options["model"] !== undefined) throw new UsageError("--replay says which model answers, and so does --model; use one");
        options["model"] = `recorded:${String(options["replay"])}`;
    }
    return options;
}

/** `from`: what a message calls the text. */
export async function readInput(text: string | undefined, from = "--input"): Promise<Json> {
    if (text === undefined) return {};
    if (text === "-") return parsed(decoded(await new Response(process.stdin as never).arrayBuffer(), "standard input"), "standard input");
    if (text.startsWith("@")) return parsed(readText(text.slice(1)), text.slice(1));
    return parsed(argument(text, from), from, text);
}

/** `name`: a text that may be the name of a file, where it is no JSON. */
function parsed(text: string, from: string, name = ""): Json {
    const read = readJson(text);
    if (read.ok) return read.value;
    // Of a text that is too long for a name, statSync alone would throw.
    const isFile = existsSync(name) && statSync(name, { throwIfNoEntry: false })?.isFile() === true;
    throw new UsageError(
        `${from} ${read.message}`,
        (isFile ? `it is the name of a file: write @${name}` : read.hint) ??
            `give an object such as '{"name": "value"}', @FILE, or - for standard input`,
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
