/**
 * The workflow `remitRun`: one run of the ledger, carried out by activities.
 *
 * Boundary: opening, ending and what is heard from outside. What happens in between is `shell.ts`.
 */
import type { Json } from "@remit/language";
import { compileProgram, Machine } from "@remit/machine";
import {
    allHandlersFinished,
    ApplicationFailure,
    CancelledFailure,
    CancellationScope,
    condition,
    continueAsNew,
    defineQuery,
    defineSignal,
    defineUpdate,
    proxyLocalActivities,
    setCurrentDetails,
    setHandler,
    upsertSearchAttributes,
    workflowInfo,
} from "@temporalio/workflow";
import { defineSearchAttributeKey, SearchAttributeType } from "@temporalio/common";
import {
    type Answer,
    FAILURES,
    type LedgerPage,
    LOCAL,
    type NamedActivities,
    type Opened,
    type Over,
    QUERIES,
    type Question,
    type RunInput,
    type RunOutput,
    SIGNALS,
    type Status,
    UPDATES,
    type UpAnswer,
    type UpInput,
} from "../wire/messages.ts";
import { followersOf, tell } from "./parts.ts";
import { Shell, type ShellEnd } from "./shell.ts";
import { withoutStacks } from "./stacks.ts";

export { remitGuard } from "./guard.ts";

/** Events in one answer to a query. */
const PAGE = 500;

const RUN_STATUS = defineSearchAttributeKey("RemitStatus", SearchAttributeType.KEYWORD);

/** What only reads and writes the ledger is done by the worker that has the workflow: one event each, and no way to the server and back. */
const local = proxyLocalActivities<NamedActivities>(LOCAL);

export async function remitRun({ goesOn, planned, ...given }: RunInput): Promise<RunOutput> {
    withoutStacks();
    const run = planned === undefined ? given.run : workflowInfo().workflowId;
    const input: RunInput = { ...given, run };
    let shell: Shell | null = null;
    let over: Over | null = null;
    let value: Json | undefined;
    let said = "";
    let isCancelled = false;
    /** The state as people list it. */
    function changed(): void {
        const { state, questions } = statusNow();
        if (state === said) return;
        said = state;
        setCurrentDetails(detailsOf(state, questions));
        if (input.settings.attributes) upsertSearchAttributes([{ key: RUN_STATUS, value: state }]);
    }
    function statusNow(): Status {
        const none = { run, performing: [], questions: [], parts: [], events: 0 };
        const before: Status =
            over === null ? { ...none, state: "opening", steps: 0 } : { ...none, state: over.end.status, steps: over.steps };
        const now: Status = shell === null ? before : shell.status;
        return value === undefined ? now : { ...now, value };
    }
    function cancel(): void {
        isCancelled = true;
        shell?.cancel();
    }
    /** Null: the run was over when it was opened. */
    const opened = async (): Promise<Shell | null> => {
        await condition(() => shell !== null || over !== null);
        return shell;
    };

    setHandler(defineQuery<Status>(QUERIES.status), statusNow);
    setHandler(defineQuery<LedgerPage, [number?]>(QUERIES.ledger), (from = 1) => {
        const all = shell?.unsent.events ?? [];
        const events = all.slice(from - 1, from - 1 + PAGE);
        return { events, next: from - 1 + PAGE < all.length ? from + PAGE : null };
    });
    setHandler(defineUpdate<null, [Answer]>(UPDATES.answer), async (answer) => there(await opened()).questions.answer(answer), {
        description: "Answers a question of the run.",
        validator: (answer) => {
            const refused = shell?.questions.refusal(answer) ?? null;
            if (refused !== null) throw ApplicationFailure.nonRetryable(refused, FAILURES.refused);
        },
    });
    setHandler(defineSignal(SIGNALS.cancel), cancel);
    hears(opened);
    const followers = followersOf(input);
    CancellationScope.current().cancelRequested.catch(cancel);

    const end = await CancellationScope.nonCancellable(async (): Promise<ShellEnd> => {
        const begins = await local["remit.open"]({
            run,
            ...(goesOn === undefined ? {} : { goesOn }),
            ...(planned === undefined ? {} : { planned }),
        });
        if ("end" in begins) {
            over = begins;
            changed();
            return begins.end;
        }
        shell = new Shell(await machineOf(begins), begins, input, changed);
        if (isCancelled) shell.cancel();
        changed();
        return shell.run();
    });
    if (end.status === "done") value = end.value;
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    if (end.status === "on") return continueAsNew<typeof remitRun>({ ...input, followers, parts: [...there(shell).begun] });
    await tell(followers);
    if (end.status === "done") return { run, value: end.value };
    throw failureOf(end);
}

/** What performers, parts and clients tell a run that is open. */
function hears(opened: () => Promise<Shell | null>): void {
    setHandler(defineUpdate<UpAnswer, [UpInput]>(UPDATES.up), async ({ path, up }) => {
        const shell = there(await opened());
        const answer = shell.works.answer(path, up.n);
        shell.tell({ kind: "up", path, up });
        return answer;
    });
    setHandler(defineSignal<[readonly UpInput[]]>(SIGNALS.ups), async (ups) => {
        const shell = await opened();
        for (const { path, up } of ups) shell?.tell({ kind: "up", path, up });
    });
    setHandler(defineSignal<[string]>(SIGNALS.ended), async (path) => (await opened())?.works.parts.ended(path));
    setHandler(defineSignal(SIGNALS.here), () => undefined);
    setHandler(defineSignal(SIGNALS.drain), async () => (await opened())?.drain("drained"));
}

/** Throws where the run was over before. */
function there(shell: Shell | null): Shell {
    if (shell === null) throw ApplicationFailure.nonRetryable("the run is over", FAILURES.refused);
    return shell;
}

async function machineOf({ program: hash, options, state, goesOn }: Opened): Promise<Machine> {
    const compiled = compileProgram(await local["remit.program"](hash));
    const machine = state === null ? Machine.start(compiled, options) : Machine.load(compiled, options, [state]);
    if (goesOn !== undefined) machine.goOn(goesOn.how, goesOn.by);
    return machine;
}

/** The workflow ends as the run ended. */
function failureOf(end: Exclude<ShellEnd, { readonly status: "on" | "done" }>): Error {
    if (end.status === "stopped") return new CancelledFailure("the run was cancelled");
    if (end.status === "failed") {
        const { failure } = end;
        return ApplicationFailure.create({ message: failure.message, type: FAILURES.failed, nonRetryable: true, details: [failure] });
    }
    if (end.status === "waiting")
        return ApplicationFailure.nonRetryable("the run waits for an answer that cannot be given here", FAILURES.waiting, end.waiting);
    return ApplicationFailure.nonRetryable("the run was let go, to go on elsewhere", FAILURES.drained);
}

function detailsOf(state: Status["state"], questions: readonly Question[]): string {
    return [state, ...questions.map(({ kind, id, path }) => `- ${kind} ${id} at \`${path}\``)].join("\n");
}
