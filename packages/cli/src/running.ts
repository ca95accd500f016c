/**
 * What `run` and `resume` do alike: options to limits and handlers, progress, Ctrl-C, the value on standard output, the failure on standard error.
 *
 * RG1: standard output gets the value, once, and nothing else.
 * RG2: the first Ctrl-C stops the run in good order, the second one ends the process. SIGINT and SIGTERM are counted apart, because the launcher of an
 *     older Node passes one Ctrl-C on as SIGTERM while the terminal sends SIGINT.
 */
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
    type Collector,
    collectorUrl,
    isIdentity,
    type LoadOptions,
    openProcess,
    parseModelUri,
    repliesProblem,
    RECORDING_HINT,
    SCRIPT_HINT,
    remedyOptions,
    type RunFailure,
    type RunHandle,
    type RunResult,
    SpanStream,
} from "@remit/host";
import { isObject, type Json } from "@remit/language";
import type { LedgerEvent, Limits, Remedies } from "@remit/machine";
import { atLeastOne, dollars, milliseconds, whole } from "./amounts.ts";
import { here, ledgerHere } from "./here.ts";
import { showFailure } from "./failure.ts";
import { count, counted, duration, EXIT, paint, plainLine, printJson, say, sayJson, UsageError } from "./io.ts";
import { type Progress, progress, silent } from "./progress.ts";
import { isPersonThere } from "./prompts.ts";

export interface Watch {
    readonly signal: AbortSignal;
    /** From now on a signal stops the run in good order. Before, nothing has begun, so a signal ends the process at once, whatever it computes. */
    begins(): AbortSignal;
    /** What a first Ctrl-C does, for a key that the terminal does not turn into a signal. */
    stop(): void;
    readonly progress: Progress;
    readonly event: (event: LedgerEvent) => void;
    /** Where its spans go; null where they are not sent. */
    readonly spans: SpanStream | null;
    /** Folder of the program's files, once it is known. */
    root: string;
    /** When the command began, for how long it took. */
    readonly begun: number;
    end(): void;
}

type Options = Record<string, unknown>;

export function watched(options: Options): Watch {
    const abort = new AbortController();
    const shown = options["quiet"] ? silent : options["json"] ? jsonLines() : progress(process.stderr);
    const file = options["traceFile"] === undefined ? null : openSync(String(options["traceFile"]), "w", 0o600);
    const collector = telemetry(options);
    const spans = collector === null ? null : new SpanStream(collector, { content: options["otelContent"] === true });
    const hits = new Set<NodeJS.Signals>();
    let ended = false;
    const stop = (signal: NodeJS.Signals): void => {
        if (hits.has(signal)) process.exit(EXIT.cancelled);
        hits.add(signal);
        if (hits.size > 1) return;
        shown.pause();
        say("Stopping; Ctrl-C again ends at once.");
        abort.abort();
    };
    return {
        signal: abort.signal,
        begins() {
            process.on("SIGINT", stop);
            process.on("SIGTERM", stop);
            return abort.signal;
        },
        stop: () => stop("SIGINT"),
        begun: Date.now(),
        root: process.cwd(),
        progress: shown,
        spans,
        event(event) {
            spans?.event(event);
            if (file !== null && !ended) writeSync(file, `${JSON.stringify(event)}\n`);
            shown.event(event);
        },
        // once: the code that begins a watch ends it in any case, also after the run has
        end() {
            if (ended) return;
            ended = true;
            process.off("SIGINT", stop);
            process.off("SIGTERM", stop);
            shown.end();
            if (file !== null) closeSync(file);
        },
    };
}

function jsonLines(): Progress {
    return { ...silent, event: (event) => sayJson({ event }) };
}

export function loadOptions(options: Options, watch: Watch): LoadOptions {
    return {
        ...hostOptions(options),
        ledger: ledgerHere(options),
        limits: limitsOf(options),
        concurrency: atLeastOne(whole(String(options["concurrency"] ?? "4"), "--concurrency"), "--concurrency"),
        interactive: true,
        ...untrusted(options),
        asks: {
            ...(parks(options) ? { park: true } : {}),
            ...(options["expires"] === undefined
                ? {}
                : { expires: atLeastOne(milliseconds(String(options["expires"]), "--expires"), "--expires") }),
        },
        on: handlers(options, watch),
    };
}

/** Bounds of a run. */
export function limitsOf(options: Options): Limits {
    return {
        ...(options["maxTokens"] === undefined ? {} : { tokens: whole(String(options["maxTokens"]), "--max-tokens") }),
        ...(options["maxCost"] === undefined ? {} : { usd: dollars(String(options["maxCost"]), "--max-cost") }),
        ...(options["maxSteps"] === undefined ? {} : { steps: whole(String(options["maxSteps"]), "--max-steps") }),
        ...(options["maxCalls"] === undefined ? {} : { calls: whole(String(options["maxCalls"]), "--max-calls") }),
        ...(options["timeout"] === undefined
            ? {}
            : { time: atLeastOne(milliseconds(String(options["timeout"]), "--timeout"), "--timeout") }),
    };
}

/** What `--untrusted` says, where it is said. Throws `UsageError`. */
export function untrusted({ untrusted: said }: Options): { readonly untrusted?: "ask" | "never" } {
    if (said === undefined) return {};
    if (said !== "ask" && said !== "never") throw new UsageError("--untrusted takes ask or never");
    return { untrusted: said };
}

/** Names of origins. Who may read a value and what was endorsed are no origins to be claimed. */
export function origins(said: string[]): string[] {
    for (const one of said)
        if (!/^[a-z][a-z0-9_-]*(:[^\s,"]+)?$/i.test(one) || /^(?:only|endorsed):/.test(one))
            throw new UsageError(`--input-origin: '${plainLine(one)}' is no origin`, "for example user, unlabelled, web:form, tool:Inbox");
    return said;
}

/** `--ask later`: no person is asked now, even on a terminal. */
function asksLater(options: Options): boolean {
    const when = options["ask"];
    if (when !== undefined && when !== "now" && when !== "later") throw new UsageError("--ask takes now or later");
    return when === "later";
}

/** A question without an answer waits. */
export function parks(options: Options): boolean {
    return options["park"] === true || asksLater(options);
}

/** Options that say how effects are performed, for `run` and `resume` alike. */
export function hostOptions(
    options: Options,
): Pick<LoadOptions, "process" | "model" | "workspace" | "trust" | "record" | "telemetry" | "as"> {
    const named = options["model"] ?? options["llm"];
    const model = named === undefined ? undefined : modelNamed(String(named), options["model"] === undefined ? "--llm" : "--model");
    // what the environment names is looked at here and used by the host
    const on = openProcess(here());
    const variable = on.env["REMIT_MODEL"]?.trim();
    if (model === undefined && variable) modelNamed(variable, "REMIT_MODEL");
    return {
        process: on,
        ...(model === undefined ? {} : { model }),
        ...(options["workspace"] === undefined ? {} : { workspace: folder(String(options["workspace"]), "--workspace") }),
        ...(options["trust"] ? { trust: true } : {}),
        ...behalf(options, on.env),
        ...(telemetry(options) === null ? {} : { telemetry: true }),
        ...(options["record"] === undefined ? {} : { record: writable(String(options["record"]), "--record") }),
    };
}

/** `--as`, else `REMIT_AS`. */
function behalf(options: Options, env: Readonly<Record<string, string | undefined>>): { readonly as?: string } {
    const variable = env["REMIT_AS"]?.trim();
    const said = options["as"] === undefined ? variable : String(options["as"]);
    if (said === undefined || said === "") return {};
    if (!isIdentity(said))
        throw new UsageError(
            `${options["as"] === undefined ? "REMIT_AS" : "--as"}: ${plainLine(said)} is no identity`,
            "write a name such as user:alice: letters, digits and . _ @ + -",
        );
    return { as: said };
}

/** Where spans go to: null where they are not sent. What is no address is said before the run begins. */
function telemetry(options: Options): Collector | null {
    const given = options["otel"];
    if (given === undefined) {
        if (options["otelContent"]) throw new UsageError("--otel-content is for --otel");
        return null;
    }
    const { env } = here();
    const collector = given === true ? { env } : { env, endpoint: String(given) };
    const to = collectorUrl(collector);
    if ("problem" in to)
        throw new UsageError(`--otel: ${to.problem}`, "write --otel http://localhost:4318, or --otel alone after the program's file");
    return collector;
}

/** A collector that takes nothing is a warning: the run is what it is. */
async function send(handle: RunHandle<Json>, { spans }: Watch): Promise<void> {
    if (spans === null) return;
    const sent = await spans.end(await Array.fromAsync(handle.events));
    if (!sent.ok) say(`${paint(process.stderr)("yellow", "warning")}: no spans were sent: ${plainLine(sent.message)}`);
}

/** The URI of a model, and the file it names: what only the first turn would find wrong is said now. */
function modelNamed(uri: string, option: string): string {
    const found = parseModelUri(uri);
    if (!found.ok) throw new UsageError(`${option}: ${found.message}`, found.hint);
    const { kind } = found.uri;
    if (kind !== "scripted" && kind !== "recorded") return uri;
    const hint = kind === "scripted" ? SCRIPT_HINT : RECORDING_HINT;
    if (!statSync(found.uri.path, { throwIfNoEntry: false })?.isFile())
        throw new UsageError(`${option}: there is no file ${found.uri.path}`, hint);
    const problem = repliesProblem(kind, found.uri.path);
    if (problem !== null) throw new UsageError(`${option}: ${problem}`, hint);
    return uri;
}

/** A folder that is there: what a tool would only find missing later is said now. */
export function folder(path: string, option: string): string {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) throw new UsageError(`${option}: there is no folder ${path}`);
    if (!found.isDirectory()) throw new UsageError(`${option}: ${path} is not a folder`);
    return resolve(path);
}

/** A file that can be written, in a folder that is there; said before anything is paid for. */
function writable(path: string, option: string): string {
    folder(dirname(resolve(path)), option);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${option}: ${path} is a folder`);
    return resolve(path);
}

/** `run`: the id of the run, where it is known before its first event. */
export function handlers(options: Options, watch: Watch, run?: string): NonNullable<LoadOptions["on"]> {
    const there = isPersonThere();
    const yes = options["yes"] === true;
    const later = asksLater(options);
    if (yes && later) throw new UsageError("--yes answers every question, --ask later none; use one");
    let last: LedgerEvent | null = null;
    const where = (): string =>
        last === null
            ? `run${run === undefined ? "" : ` ${run}`}`
            : `run ${last.run}${last.path === "" ? "" : `, which is at ${plainLine(last.path)},`}`;
    return {
        event: (event) => {
            last = event;
            watch.event(event);
        },
        part: (path, part) => watch.progress.part(path, part),
        stalled: (why) => {
            watch.progress.pause();
            if (why === null) say("The ledger can be written again; the run goes on.");
            else
                say(
                    `${paint(process.stderr)("yellow", "waiting")}: ${plainLine(why.message)}. The ${where()} goes on when it can be written; Ctrl-C ends it.`,
                );
        },
        ...(yes ? { ask: (request) => request.options[0] ?? "once" } : {}),
        ...(there && !yes && !later
            ? {
                  ask: async (request, about) =>
                      (await import("./ask.ts")).askChoice(request, watch.progress, {
                          root: watch.root,
                          signal: about.signal,
                          stop: watch.stop,
                      }),
              }
            : {}),
        ...(there
            ? {
                  input: async (request, about) => {
                      const { askField, askInput } = await import("./ask.ts");
                      const said = await askField(request, (line, how) => askInput(line, how, watch.progress), about);
                      return said === null ? null : said.value;
                  },
              }
            : {}),
    };
}

/** Waits for the end of a run and says how it ended. */
export async function finish(
    handle: RunHandle<Json>,
    watch: Watch,
    options: Options & {
        root: string;
        answered?: () => readonly { readonly text: string; readonly told?: boolean }[];
        /** Shows the value in a way of its own. */
        value?: (value: Json) => void;
        /** The program is one that no person wrote: places in it say nothing. */
        unwritten?: true;
    },
): Promise<number> {
    const result = await handle.result;
    watch.end();
    if (options["trace"]) {
        const { traceText } = await import("./shown.ts");
        const events: LedgerEvent[] = [];
        for await (const event of handle.events) events.push(event);
        process.stderr.write(`${traceText(events, { paint: paint(process.stderr) as never })}\n`);
    }
    await send(handle, watch);
    if (!options["quiet"] && !options["json"]) {
        summary(result, Date.now() - watch.begun);
        // which model answered, and the one line that puts a better one in its place
        for (const text of new Set(options.answered?.().flatMap(({ text, told }) => (told === true ? [] : [text])))) say(plainLine(text));
    }
    if (result.ok) {
        if (options.value === undefined) printJson(result.value, options["json"] === true);
        else options.value(result.value as Json);
        return EXIT.ok;
    }
    const failure = options.unwritten === true && result.failure ? { ...result.failure, site: null } : result.failure;
    if (failure) {
        const over = result.status === "failed";
        const help = options["json"] === true ? undefined : await helpOf(handle, failure, result.remedies);
        showFailure(failure, {
            json: options["json"] === true,
            root: options.root,
            run: result.run,
            over,
            ...(help === undefined ? {} : { help }),
            // A person who said no is not told how to be asked again.
            ...(result.remedies === undefined || (failure.kind === "denied" && help === null)
                ? {}
                : { resume: remedyOptions(result.remedies) }),
        });
    }
    if (result.failure?.kind === "violation.flow" && options["json"] !== true) await sayWhy(handle, result.run);
    if (result.status === "waiting") return EXIT.waiting;
    return watch.signal.aborted || result.failure?.kind === "cancelled" ? EXIT.cancelled : EXIT.failed;
}

/**
 * What helps, where more is known than the failure's kind: nothing against a person's no, and no option of `remit run` raises what a `spend` of the
 * program allows. Undefined where the kind says it.
 */
async function helpOf(handle: RunHandle<Json>, { kind }: RunFailure, remedies: Remedies | undefined): Promise<string | null | undefined> {
    if (kind.startsWith("limit.")) return remedies?.raise.some(({ account }) => account !== "run") === true ? null : undefined;
    if (kind !== "denied") return undefined;
    let help: string | null | undefined;
    for await (const { kind: what, data } of handle.events) {
        // an answer that no person gave says why
        if (what === "ask.decided" && isObject(data)) help = data["error"] === undefined ? null : undefined;
    }
    return help;
}

/** The command that shows the way of the value that was refused, from where it entered to where it stands. */
async function sayWhy(handle: RunHandle<Json>, run: string): Promise<void> {
    let where: string | null = null;
    for await (const event of handle.events) {
        if (event.kind !== "policy.denied") continue;
        const { flow, args } = event.data as { readonly flow?: { readonly arg?: Json }; readonly args?: Json };
        if (typeof flow?.arg !== "string" || !Array.isArray(args)) continue;
        const [first] = args;
        const named = first !== null && typeof first === "object" && !Array.isArray(first) && Object.hasOwn(first, flow.arg);
        where = named ? `${event.path}/0/${flow.arg}` : /^[1-9]\d*$/.test(flow.arg) ? `${event.path}/${Number(flow.arg) - 1}` : null;
    }
    if (where !== null) say(`  ${paint(process.stderr)("cyan", "the way")}: remit why ${run} '${plainLine(where)}'`);
}

function summary(result: RunResult<Json>, took: number): void {
    const colour = paint(process.stderr);
    const tokens = (result.usage.input ?? 0) + (result.usage.output ?? 0);
    const parts = [
        `run ${result.run}`,
        result.status,
        duration(took),
        counted(result.steps, "step"),
        counted(result.effects, "effect"),
        ...(tokens ? [`${count(tokens)} tokens`] : []),
        ...(result.usage.usd === undefined || result.usage.usd === 0 ? [] : [`$${result.usage.usd.toFixed(4)}`]),
    ];
    say(colour("dim", parts.join(" · ")));
}
