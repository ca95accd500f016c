/**
 * `remit translate`: from a request in plain words to a checked program, its plan and what it may do; then a question, and only then a run.
 *
 * TRC1: nothing of a translated program runs without a yes to what is shown: by a person at the terminal, or by `--yes`. Where no person can be asked it
 *     does not run.
 * TRC2: it runs by the rules of its project, and what is not trusted goes into no call that does more than read without a question.
 */
import { existsSync, writeFileSync } from "node:fs";
import { load, loadConfig, translate, type Translated, TranslationError, translator } from "@remit/host";
import { authorityOf, type Json, showAuthority } from "@remit/language";
import { atLeastOne, whole } from "../amounts.ts";
import { here } from "../here.ts";
import { EXIT, type Paint, paint, plain, plainLine, print, printJson, say, UsageError } from "../io.ts";
import { isPersonThere, prompted } from "../prompts.ts";
import { tableOf } from "../plan/table.ts";
import { finish, loadOptions, type Watch, watched } from "../running.ts";
import { blocksThere } from "../temporal.ts";
import { readInput } from "./run.ts";
import { decoded, readText } from "../text.ts";

type Options = Record<string, unknown>;

export default async function translated(args: string[], options: Options): Promise<number> {
    const request = await requestOf(args);
    const to = options["output"] === undefined ? null : String(options["output"]);
    if (to !== null && existsSync(to)) throw new UsageError(`--output: ${to} is there already`, "name a file that is not there");
    const input = await readInput(options["input"] as string | undefined);
    const { yes, ...rest } = options;
    // Its own questions are not the one that --yes answers.
    const asking = { ...rest, ...(yes === true ? { sure: true } : {}) };
    const found = await program(request, asking, to);
    if (found === null) return EXIT.failed;
    show(found, asking, to);
    if (!(await agreed(found, asking))) return notRun(found, asking, to);
    return run(found, input, asking);
}

async function requestOf(words: readonly string[]): Promise<string> {
    const text = words.join(" ");
    if (text === "-") return decoded(await new Response(process.stdin as never).arrayBuffer(), "standard input");
    return /^@\S+$/.test(text) ? readText(text.slice(1)) : text;
}

/** Null where the model does not get it right; that is told. */
async function program(request: string, options: Options, to: string | null): Promise<Translated | null> {
    const attempts = atLeastOne(whole(String(options["attempts"] ?? "3"), "--attempts"), "--attempts");
    if (attempts > 10) throw new UsageError("--attempts takes 1 to 10");
    const watch = watched(options);
    try {
        const how = loadOptions(options, watch);
        await using model = await translator(how);
        const made = await translate(request, model.complete, {
            attempts,
            root: process.cwd(),
            signal: watch.begins(),
            ...(how.process === undefined ? {} : { process: how.process }),
            ...(how.workspace === undefined ? {} : { workspace: how.workspace }),
            ...(to === null ? {} : { file: to }),
        });
        watch.end();
        if (options["quiet"] !== true && options["json"] !== true)
            for (const text of new Set(model.answering().map((one) => one.text))) say(plainLine(text));
        return made;
    } catch (error) {
        if (!(error instanceof TranslationError)) throw error;
        watch.end();
        told(error, options);
        return null;
    } finally {
        watch.end();
    }
}

function told(error: TranslationError, options: Options): void {
    if (options["json"] === true) {
        printJson({ failure: error.failure, attempts: error.attempts } as unknown as Json, true);
        return;
    }
    const colour = paint(process.stderr);
    say(`${colour("red", error.kind)}: ${plain(error.failure.message)}`);
    const last = error.attempts.at(-1);
    if (last !== undefined) {
        say(colour("bold", "\nits last answer"));
        for (const line of plain(last.answer).split("\n").slice(0, 60)) say(`  ${colour("dim", "│")} ${line}`);
        say(colour("bold", "\nwhat is wrong with it"));
        for (const problem of last.problems) say(plain(problem).replace(/^/gm, "  "));
    }
    say(`  help: ${plain(error.hint ?? "")}`);
}

/** The program, its plan and its rights, where a person reads. */
function show({ source, program: made, schedule, attempts }: Translated, options: Options, to: string | null): void {
    if (to !== null) writeFileSync(to, source, { flag: "wx", mode: 0o644 });
    if (options["json"] === true || options["quiet"] === true) return;
    const colour: Paint = paint(process.stderr);
    const head = (text: string): void => say(colour("bold", `\n${text}`));
    say(plain(source).trimEnd());
    if (attempts.length > 1) say(colour("dim", `\n(${attempts.length} answers; the ones before were no program)`));
    head("what it does");
    say(made.plans.map((plan) => tableOf(plan, colour)).join("\n\n"));
    head("what it may do");
    const { policy } = loadConfig({ env: here().env, folder: process.cwd() });
    say(plain(showAuthority(authorityOf(made.program, policy ?? undefined))));
    say(colour("dim", "What is not trusted goes into no call that does more than read without a question."));
    if (schedule !== null) {
        head("when");
        say(`It is to be done by a schedule, which is not begun here: remit submit ${to ?? "FILE"} --cron '${schedule}'`);
    }
    if (to !== null) say(`\nwritten to ${plainLine(to)}`);
    say("");
}

async function agreed({ schedule }: Translated, options: Options): Promise<boolean> {
    if (options["planOnly"] === true) return false;
    if (options["sure"] === true) return true;
    const isThere = isPersonThere() && process.stdout.isTTY === true;
    if (!isThere || options["json"] === true || options["quiet"] === true) return false;
    const { drained } = await import("../ask.ts");
    await drained();
    const message = schedule === null ? "Run it?" : "Run it once, now?";
    return (await prompted(({ confirm }, around) => confirm({ message, initialValue: false, ...around }))) === true;
}

/** The program is the result, where it was not shown on the same screen. */
function notRun(found: Translated, options: Options, to: string | null): number {
    if (options["json"] === true)
        printJson(
            { source: found.source, plans: found.program.plans, schedule: found.schedule, attempts: found.attempts } as unknown as Json,
            true,
        );
    else if (to === null && !(process.stdout.isTTY === true && options["quiet"] !== true))
        print(process.stdout.isTTY === true ? plain(found.source) : found.source);
    return EXIT.ok;
}

async function run({ source, program: made }: Translated, input: Json, options: Options): Promise<number> {
    const watch: Watch = watched(options);
    const there = blocksThere(options);
    const how = loadOptions({ untrusted: "ask", ...options }, watch);
    const started = await load<Json, Json>({ source, file: made.file }, { ...how, root: process.cwd(), blocks: there.blocks });
    watch.root = started.root;
    try {
        const handle = started.run(input, { signal: watch.begins() });
        return await finish(handle, watch, { ...options, root: watch.root, answered: () => started.answering() });
    } finally {
        watch.end();
        await started.close();
        await there.end();
    }
}
