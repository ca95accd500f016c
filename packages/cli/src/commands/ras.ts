/** `remit ras run`: a Re in Act program in Python, TypeScript or Bash; `remit ras list`: the Riffs there are. */
import {
    RIA_CAPABILITIES,
    listRiffs,
    loadRas,
    type RasLimits,
    type RasObservation,
    type RasRunOptions,
    readJson,
    type RunHandle,
} from "@remit/host";
import { defined, type Json } from "@remit/language";
import { atLeastOne, milliseconds, whole } from "../amounts.ts";
import { EXIT, paint, plain, plainLine, print, printJson, printText, say, table, UsageError } from "../io.ts";
import { finish, folder, loadOptions, type Watch, watched } from "../running.ts";
import { readText } from "../text.ts";

export default async function ras(args: string[], options: Record<string, unknown>): Promise<number> {
    const [verb, what, ...rest] = args;
    if (verb === "list" && what === undefined) return list(options);
    if (verb === "capabilities" && what === undefined) return capabilities();
    if (verb !== "run" || what === undefined || rest.length > 0)
        throw new UsageError(
            "remit ras run FILE, remit ras list, or remit ras capabilities",
            "FILE is a .py, .ts or .sh program, or the name of a Riff",
        );
    const watch = watched(options);
    try {
        return await run(what, options, watch);
    } finally {
        watch.end();
    }
}

async function run(what: string, options: Record<string, unknown>, watch: Watch): Promise<number> {
    const { program, input } = await loadRas(what, { ...loadOptions(options, watch), ...rasOptions(options) });
    watch.root = program.root;
    try {
        const inputs = inputsOf(options["input"]);
        const handle = program.run(input(inputs), { signal: watch.begins() });
        let seen: RasObservation | null = null;
        const code = await finish(handle as unknown as RunHandle<Json>, watch, {
            ...options,
            root: watch.root,
            answered: () => program.answering(),
            unwritten: true,
            value: (value: Json) => {
                seen = value as unknown as RasObservation;
                show(seen, options["json"] === true);
            },
        });
        return code === EXIT.ok && (seen as RasObservation | null)?.error !== undefined ? EXIT.failed : code;
    } finally {
        await program.close();
    }
}

/** What it printed, as it printed it, then what it returned; its error goes where errors go. */
function show(seen: RasObservation, json: boolean): void {
    if (json) {
        printJson(seen as unknown as Json, true);
        return;
    }
    if (seen.output !== "") printText(seen.output);
    if (seen.value !== undefined && seen.value !== null) printJson(seen.value);
    if (seen.error !== undefined) say(`${paint(process.stderr)("red", "error")}: ${plain(seen.error.trimEnd())}`);
}

/** Options that `ras run` and `act` have alike. */
export function toolOptions(options: Record<string, unknown>): Pick<RasRunOptions, "toolsFile" | "may" | "agent" | "riffs"> {
    const { tools, may, agent, riff } = options as { tools?: string; may?: string[]; agent?: string; riff?: string[] };
    return defined({ toolsFile: tools, may, agent, riffs: riff });
}

function rasOptions(options: Record<string, unknown>): RasRunOptions {
    const amount = (name: string, flag: string): number => atLeastOne(whole(String(options[name]), flag), flag);
    const ras: Partial<RasLimits> = {
        ...(options["ownTime"] === undefined
            ? {}
            : { time: atLeastOne(milliseconds(String(options["ownTime"]), "--own-time"), "--own-time") }),
        ...(options["maxMemory"] === undefined ? {} : { memory: amount("maxMemory", "--max-memory") * 1_048_576 }),
        ...(options["maxProcesses"] === undefined ? {} : { processes: amount("maxProcesses", "--max-processes") }),
        ...(options["maxOutput"] === undefined ? {} : { output: amount("maxOutput", "--max-output") }),
    };
    return { ...toolOptions(options), ras, ...(options["unconfined"] === true ? { unconfined: true } : {}) };
}

/** `--input k=v` several times (a value is JSON where it reads as JSON, else text), or one object as JSON, @FILE or -. */
function inputsOf(given: unknown): Json {
    const all = given === undefined ? [] : Array.isArray(given) ? (given as string[]) : [String(given)];
    const out: { [name: string]: Json } = Object.create(null);
    for (const one of all) {
        if (/^\s*\{/.test(one) || one.startsWith("@")) {
            const read = readJson(one.startsWith("@") ? readText(one.slice(1)) : one);
            if (!read.ok) throw new UsageError(`--input ${read.message}`, read.hint);
            if (read.value === null || typeof read.value !== "object" || Array.isArray(read.value))
                throw new UsageError("--input takes an object");
            Object.assign(out, read.value);
            continue;
        }
        const at = one.indexOf("=");
        if (at <= 0) throw new UsageError(`--input takes NAME=VALUE or an object, not '${plainLine(one)}'`);
        const read = readJson(one.slice(at + 1));
        out[one.slice(0, at)] = read.ok ? read.value : one.slice(at + 1);
    }
    return { ...out };
}

/** What this runtime offers to a program, as capability metadata (Re in Act; `ria.agent` is an extension in draft). */
function capabilities(): number {
    printJson(RIA_CAPABILITIES as unknown as Json);
    return EXIT.ok;
}

function list(options: Record<string, unknown>): number {
    const workspace = options["workspace"] === undefined ? process.cwd() : folder(String(options["workspace"]), "--workspace");
    const { riffs, withheld, warnings } = listRiffs({
        workspace,
        riffs: (options["riff"] as string[] | undefined) ?? [],
        trust: options["trust"] === true,
    });
    const all = [
        ...riffs.map((one) => ({ ...one, trust: "trusted" })),
        ...withheld.map((one) => ({ ...one, trust: one.trust?.state ?? "unknown" })),
    ];
    const states: { readonly [state: string]: string } = { trusted: "", changed: "changed since it was trusted", unknown: "not trusted" };
    if (options["json"]) printJson(all as unknown as Json);
    else if (all.length === 0) say("There are no Riffs: they are looked for in .agents/riffs and .agents/skills.");
    else
        print(
            table(
                all.map((one) =>
                    [one.name, one.language, one.scope, states[one.trust] ?? "", one.description.split("\n")[0] ?? ""].map(plainLine),
                ),
            ),
        );
    if (withheld.length > 0) say("Riffs of a project run once they are trusted: read them, then `remit trust`.");
    for (const one of warnings) say(`${paint(process.stderr)("yellow", "warning")}: ${plainLine(one.place)}: ${plainLine(one.message)}`);
    return EXIT.ok;
}
