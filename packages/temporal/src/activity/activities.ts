/**
 * The activities of a run: each brings the ledger up to date first, then does its part.
 *
 * Boundary: between Temporal's calls, the ledger and the worlds of runs. Order and decisions are the workflow's.
 *
 * WA3: an effect that has an outcome is not performed (EL2); one that is cut short has none.
 * WAC1: an effect that is cut short because its worker ends is lost with it: what became of it is looked up, as after a crash.
 * WAC2: what concerns a run is done for the workflow of its name alone; Temporal says which one asks. So another workflow of the namespace, which may
 *     call any activity of the queue, makes no call in a run, takes none over, and writes nothing of it. Which code runs under that name is not
 *     known here.
 * WAC3: a ledger that takes nothing now (a lock, a full disk) ends no execution: an activity that may be tried again is, and another one waits (WA4).
 * WAC4: a run that cannot be opened for another reason than the ledger's is tried again `tries` times; then it fails, and says why. One whose world
 *     hangs is tried `HANGS` times, and says what hangs; so is whatever else needs the world and is tried again: the look at what became of an effect,
 *     a flush, a part, an answer. So is a program that a workflow of another name begins.
 * WA5: an execution that lost the run to another owner is told so, and nothing is performed for it.
 * WAC5: where the ledger has the end of a run, a workflow task may be lost in which it was reached, and the execution begins anew: it is told that end.
 *     Whoever else asks for a run that is over is refused.
 */
import type { KeyObject } from "node:crypto";
import {
    type Ask,
    AskError,
    infoOf,
    isPassing,
    LedgerError,
    type LedgerStore,
    type Missing,
    performOnce,
    RemitError,
    type ResumeRunOptions,
    type RunInfo,
    type RunWorld,
    type Scrubber,
    takeover,
} from "@remit/host";
import type { Json, Program } from "@remit/language";
import { type Effect, type Outcome, repeats } from "@remit/machine";
import { ApplicationFailure, Context } from "@temporalio/activity";
import {
    type Activities,
    BEAT_MS,
    type DecideInput,
    FAILURES,
    type LookInput,
    named,
    type NamedActivities,
    ownerOf,
    type Opened,
    type Over,
    type Performed,
    type PerformInput,
    type Planned,
    type Question,
    SIGNALS,
    UPDATES,
    type UpAnswer,
    type UpInput,
    SIGNED_FORM,
} from "../wire/messages.ts";
import { isSigned } from "../wire/signature.ts";
import { begunRuns, type Programs } from "./begun.ts";
import { keep, patiently, wholeOf } from "./carried.ts";
import { part } from "./parts.ts";
import { type Messages, performed, type Said } from "./performer.ts";
import { HANGS, HangError } from "./opening.ts";
import { type HeldWorld, type OfRuns, type Worlds, worldsOf } from "./worlds.ts";

export interface ActivityOptions {
    readonly store: LedgerStore;
    /** What performing takes from this process. */
    readonly host: ResumeRunOptions;
    /** Queue of this worker alone, to which the effects of its sessions with agents come. */
    readonly queue: string;
    readonly programs?: Programs;
    readonly ofRun?: OfRuns;
    /** How often a run is tried to be opened before it fails. */
    readonly tries?: number;
    /** How long one try may take, milliseconds. */
    readonly opening?: number;
    /** Public keys, one of which has to have signed an answer; absent: none has to. */
    readonly signers?: readonly KeyObject[];
}

export interface RunActivities {
    readonly activities: NamedActivities;
    /** What the worlds that are open know to be secrets. */
    secrets(): Iterable<Scrubber>;
    /** Ends what the worlds hold open. */
    ended(): Promise<void>;
}

export function activitiesOf(options: ActivityOptions): RunActivities {
    const { store, host, programs = {}, signers, tries = TRIES } = options;
    const begun = begunRuns(store, host, programs, options.opening);
    const worlds = worldsOf(store, host, options);
    const using: Worlds["use"] = (run, work) => tried(Number.POSITIVE_INFINITY, worlds.use(run, work));
    const activities: Activities = {
        open: async (wanted) => ({
            ...(await tried(tries, opened(store, worlds, wanted))),
            ...(signers === undefined ? {} : { signed: true }),
        }),
        program: (hash) => store.program(hash),
        perform: (wanted) => beating(() => worlds.use(wanted.run, (world) => perform(options, world, wanted))),
        part: (wanted) => using(wanted.run, (world) => part({ store, host }, world, wanted)),
        look: (wanted) => using(wanted.run, (world) => looked(store, world, wanted)),
        flush: async (carried) => {
            await using(carried.run, ({ secrets }) => keep({ store, secrets }, carried));
            if (carried.batches.some(({ batch }) => batch.end !== undefined)) await worlds.drop(carried.run);
            return null;
        },
        decide: async ({ ask, decision = "", by, signed, ...carried }) => {
            await using(carried.run, ({ secrets }) => keep({ store, secrets }, carried));
            const why = signers === undefined ? null : await unsigned(store, signers, { ask, decision, by, signed, ...carried });
            if (why !== null) throw ApplicationFailure.nonRetryable(why, FAILURES.refused);
            if (ask !== undefined) await store.asks.decide(ask, decision, by);
            return null;
        },
        close: async ({ run, session }) => {
            await worlds.use(run, async (world) => world.host.end?.(session, run));
            return null;
        },
        begin: (wanted) => tried(tries, begun.begin(wanted), PROGRAM),
        turn: async () => null,
    };
    return {
        activities: told(activities),
        secrets: () => worlds.secrets(),
        ended: async () => {
            await begun.close();
            await worlds.close();
        },
    };
}

/** A workflow of a team begins a run of another name; what it may begin, the worker knows. */
const BEGIN: keyof Activities = "begin";

/** WAC2. */
function ofItsWorkflow(wanted: { readonly run?: string } | string | undefined): void {
    if (typeof wanted !== "object" || wanted.run === undefined) return;
    const { workflowExecution } = Context.current().info;
    if (workflowExecution?.workflowId === wanted.run) return;
    const by = workflowExecution === undefined ? "no workflow" : `the workflow ${workflowExecution.workflowId}`;
    throw ApplicationFailure.nonRetryable(
        `${by} asks for run ${wanted.run}, which is conducted by the workflow of its name`,
        FAILURES.refused,
    );
}

/** Errors that no further try changes end an activity for good. */
function told(activities: Activities): NamedActivities {
    const all = Object.entries(activities).map(([name, work]) => [
        named(name as keyof Activities),
        async (wanted: never) => {
            if (name !== BEGIN) ofItsWorkflow(wanted);
            try {
                return await (work as (wanted: never) => Promise<unknown>)(wanted);
            } catch (error) {
                if (error instanceof AskError) throw ApplicationFailure.nonRetryable(error.message, FAILURES.refused, error.code);
                if (error instanceof RemitError) throw ApplicationFailure.nonRetryable(error.message, FAILURES.failed, error.failure);
                if (!(error instanceof LedgerError)) throw error;
                // WA5.
                const type = error.code === "owned" || error.code === "finished" ? FAILURES.fenced : FAILURES.ledger;
                const message = `${error.message}. ${error.hint}`;
                // WAC3.
                throw ApplicationFailure.create({ message, type, nonRetryable: !isPassing(error), details: [error.code] });
            }
        },
    ]);
    return Object.fromEntries(all) as NamedActivities;
}

/** Shows that it lives, and hears of a cancel by that. */
async function beating<T>(work: () => Promise<T>): Promise<T> {
    const context = Context.current();
    const { heartbeatTimeoutMs } = context.info;
    if (heartbeatTimeoutMs === undefined || heartbeatTimeoutMs === 0) return work();
    const timer = setInterval(() => context.heartbeat(), Math.min(BEAT_MS, heartbeatTimeoutMs / 3));
    try {
        return await work();
    } finally {
        clearInterval(timer);
    }
}

/**
 * Why an answer does not count where answers are signed; null: it does. What is said has to be what was signed, and what was shown what is asked: a workflow
 * of another make can call an activity, too, so that of an approval its record says what is asked.
 */
async function unsigned(store: LedgerStore, signers: readonly KeyObject[], wanted: DecideInput): Promise<string | null> {
    const { run, ask, decision, by, signed } = wanted;
    const none = "the answer is signed by no key of this worker, for what this question asks";
    if (signed === undefined || (ask !== undefined && ask !== signed.question.id)) return none;
    const { answer } = signed;
    const { form = 1 } = answer;
    // SGN2.
    if (form !== SIGNED_FORM)
        return `the answer is signed in form ${form}, which does not cover what is asked; look at the question, and answer again with a Remit that signs in form ${SIGNED_FORM}`;
    const question = ask === undefined ? signed.question : { ...signed.question, ...shownOf(await store.asks.find(run, ask)) };
    return answer.by === by && (answer.decision ?? "") === decision && isSigned(signers, run, question, answer) ? null : none;
}

/** About a minute, with the pauses of `LOCAL`. */
const TRIES = 30;

/** What is opened, and what to do where it cannot be. */
type Subject = readonly [what: string, hint: string];
const RUN: Subject = ["the run", "mend that where the worker runs, then: remit resume RUN --on temporal"];
const PROGRAM: Subject = ["the program", "mend that where the worker runs, then begin the workflow that calls the program again"];

/** WAC4. */
async function tried<T>(tries: number, opening: Promise<T>, [what, hint] = RUN): Promise<T> {
    try {
        return await opening;
    } catch (error) {
        const isTold = error instanceof LedgerError || error instanceof RemitError || error instanceof AskError;
        const { attempt } = Context.current().info;
        const hung = error instanceof HangError ? error.times : 0;
        if (isTold || (hung < HANGS && attempt < tries)) throw error;
        const message = `the worker could not open ${what} in ${hung === HANGS ? hung : attempt} tries: ${error instanceof Error ? error.message : String(error)}`;
        throw new RemitError({
            kind: "unreachable",
            message,
            hint,
        });
    }
}

/** Takes the run for the execution that asks, also from an earlier execution of the same workflow, or from the owner that gave it to this one (HND1). */
async function opened(
    store: LedgerStore,
    worlds: Worlds,
    { run: id, goesOn, planned }: Parameters<Activities["open"]>[0],
): Promise<Opened | Over> {
    const { workflowExecution, workflowNamespace } = Context.current().info;
    if (workflowExecution === undefined || workflowNamespace === undefined) throw new Error("a run is opened by a workflow");
    const flow = ownerOf(workflowNamespace, workflowExecution.workflowId);
    const by = `${flow}${workflowExecution.runId}`;
    if (planned !== undefined) await made(store, id, planned, by);
    const info = await store.run(id);
    const over = overBy(info, by);
    if (over !== null) return over;
    const from = info.by?.startsWith(flow) === true && info.by !== by ? info.epoch : goesOn?.epoch;
    const writer = await store.own(info.id, { by, ...(from === undefined ? {} : { from }) });
    const { epoch, batches } = writer;
    await writer.release();
    // Of an execution that was reset, and that the run has gone on in since, nothing is said any more.
    const said = goesOn !== undefined && epoch === goesOn.epoch + 1 ? goesOn : null;
    return worlds.use(info.id, async (world) => {
        const { start, timeout, ...rest } = await takeover(store, world, said);
        const { program } = world.run.info;
        const at = { ...rest, epoch, batches, program, options: start, owner: world.owner, became: said?.became ?? {} };
        return timeout === undefined ? at : { ...at, timeout };
    });
}

/** WAC5. An execution opens a run once: one that ended it and opens it has lost the task in which it did. */
function overBy({ status, endedBy, value = null, failure, steps }: RunInfo, by: string): Over | null {
    if (endedBy !== by) return null;
    if (status === "done") return { end: { status, value }, steps };
    return status === "failed" && failure !== undefined ? { end: { status, failure }, steps } : null;
}

/** The run of a schedule; it is there already where its workflow goes on. */
async function made(store: LedgerStore, id: string, { program, hash, file, root, options }: Planned, by: string): Promise<void> {
    if ((await infoOf(store, id)) !== null) return;
    const form = JSON.parse(await store.claims.get(program)) as Program;
    const writer = await store.create({ ...{ id, program: form, hash, file, root, by }, options: options as unknown as Json });
    await writer.release();
}

async function perform({ store, queue }: ActivityOptions, world: HeldWorld, wanted: PerformInput): Promise<Performed> {
    const { effect, parent, run, why } = wanted;
    const to = { store, secrets: world.secrets };
    const context = Context.current();
    const more = parent === undefined ? {} : { parent };
    const options = { world, signal: context.cancellationSignal, messages: messagesOf(to, context), ...more };
    let said: Said | null = null;
    const once = async (one: Effect): Promise<Outcome | null> => {
        // Where the ledger took nothing the outcome is in hand.
        said ??= withWhy(await performed(one, options), one, why === undefined ? why : world.secrets.text(why));
        return isCut(said) ? null : said.outcome;
    };
    let counts: Outcome | null = null;
    if (parent === undefined) {
        const carried = await patiently(() => wholeOf(store, wanted));
        counts = await patiently(() => performOnce(to, carried, effect, once));
        if (counts !== null) world.recorded?.(effect.path);
    } else {
        // What arose in another effect is none of the program's: its outcome is in no batch.
        await keep(to, wanted);
        await once(effect);
    }
    // WAC1.
    if (counts === null && isCut(said) && context.cancellationDetails?.workerShutdown === true)
        throw ApplicationFailure.nonRetryable(`the worker ended while it performed ${effect.path}`);
    return answerOf({ store, queue }, world, { effect, run, counts, said });
}

interface Told {
    readonly effect: Effect;
    readonly run: string;
    /** The outcome that the ledger has. */
    readonly counts: Outcome | null;
    readonly said: Said | null;
}

async function answerOf(
    { store, queue }: Pick<ActivityOptions, "store" | "queue">,
    world: RunWorld,
    { effect, run, counts, said }: Told,
): Promise<Performed> {
    const outcome = counts ?? said?.outcome ?? null;
    if (outcome === null)
        return { later: said?.why === undefined ? await questionOf(store, world, run, effect) : wantedOf(world, effect, said.why) };
    const notes = said === null || said.notes.length === 0 ? {} : { notes: said.notes };
    return { outcome, recorded: counts !== null, ...notes, ...(effect.kind === "agent" ? { queue } : {}) };
}

/** The no of a person who said why, without secrets. */
function withWhy(said: Said, { site }: Effect, why: string | undefined): Said {
    const isNo = said.outcome?.ok === true && said.outcome.value === "deny";
    if (why === undefined || !isNo) return said;
    return { ...said, outcome: { ok: false, failure: { kind: "denied", message: why, site } } };
}

/** What was cut short says so; whether it happened is not known, so it is no outcome. */
function isCut(said: Said | null): boolean {
    const outcome = said?.outcome ?? null;
    return outcome !== null && !outcome.ok && outcome.failure.kind === "cancelled";
}

/** A credential that is missing on this worker. */
function wantedOf({ owner }: RunWorld, { path }: Effect, { message, hint, atStart }: Missing): Question {
    const again = atStart === true ? ", and start the worker again" : "";
    return {
        id: path,
        path,
        kind: "credential",
        owner,
        request: { question: message, hint: `where the worker runs: ${hint}${again}` },
        options: ["once"],
    };
}

async function questionOf(store: LedgerStore, { owner, interactive }: RunWorld, run: string, effect: Effect): Promise<Question | null> {
    const { path, kind, request } = effect;
    if (kind === "input") return interactive ? { id: path, path, kind, owner, request } : null;
    if (kind !== "ask") return null;
    const ask = await store.asks.find(run, path);
    return { id: ask.id, path, owner: ask.owner, ...shownOf(ask), expires: Date.parse(ask.expires) };
}

/** What a person is shown of a question that has a record. */
function shownOf({ request }: Ask): Pick<Question, "kind" | "request" | "options"> {
    return { kind: "ask", request: request as unknown as Question["request"], options: request.options };
}

function messagesOf(to: { readonly store: LedgerStore; readonly secrets: RunWorld["secrets"] }, context: Context): Messages {
    const { workflowId = "", runId = "" } = context.info.workflowExecution ?? {};
    // Made where the first message is: most performers say nothing.
    const flow = (): ReturnType<Context["client"]["workflow"]["getHandle"]> => context.client.workflow.getHandle(workflowId, runId);
    return {
        ask: (up) => flow().executeUpdate<UpAnswer, [UpInput]>(UPDATES.up, { args: [up] }),
        say: (ups) => flow().signal(SIGNALS.ups, ups),
        keep: (answer) => keep(to, answer),
    };
}

async function looked(store: LedgerStore, { host, secrets }: RunWorld, wanted: LookInput): Promise<Performed> {
    const { effect, run } = wanted;
    await keep({ store, secrets }, wanted);
    const outcome = await store.outcome(run, effect.path, effect.attempt ?? 1);
    if (outcome !== null) return { outcome, recorded: true };
    return { lost: true, repeatable: repeats(effect) || (await host.repeatable?.(effect)) === true };
}
