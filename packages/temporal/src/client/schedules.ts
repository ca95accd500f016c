/**
 * Schedules: runs that the server begins at their times, each one of the ledger with the id of its schedule and the time.
 *
 * Boundary: between Temporal's schedules and the ledger. That such a run is made when its workflow begins is `activity/activities.ts`.
 *
 * SCD1: what is wrong with a schedule is told before anything is made; where the server refuses it nothing is left of it. Where it may have
 *     been made (STW1) the error says so.
 */
import { type KeptOptions, type LedgerStore, type ProgramWorld, RemitError } from "@remit/host";
import {
    type Client,
    isGrpcServiceError,
    ScheduleAlreadyRunning,
    type ScheduleHandle,
    type ScheduleOptions as TemporalOptions,
    ScheduleNotFoundError,
    type ScheduleOverlapPolicy as TemporalOverlap,
} from "@temporalio/client";
import proto from "@temporalio/proto";
import { isNotFound } from "../server/connect.ts";
import { type Planned, type RunInput, type Settings, WORKFLOW } from "../wire/messages.ts";
import { beginOf } from "../wire/begin.ts";
import { shownOf } from "./attributes.ts";
import { cronProblem } from "./cron.ts";
import { answered, called } from "./workers.ts";
import { listedSchedules, type ScheduleListed, scheduleOf, type Tell, tellUnread } from "./lists.ts";
import { textIn } from "./payloads.ts";
import { MARK, started } from "./start.ts";

const { ScheduleOverlapPolicy } = proto.temporal.api.enums.v1;

/** What becomes of a time at which the run before still goes on. */
export const OVERLAPS = ["skip", "buffer-one", "buffer-all", "cancel-other", "allow-all"] as const;
export type Overlap = (typeof OVERLAPS)[number];

/** A time that passed while no server was there is made up for within this. */
const CATCH_UP = "1 hour";
/** gRPC's INVALID_ARGUMENT. */
const INVALID = 3;

export interface ScheduleOptions {
    readonly id: string;
    /** Five fields, as for cron; `@daily` and the like; `@every 90m`. */
    readonly cron: string;
    /** IANA name. Default: UTC. */
    readonly zone?: string;
    /** Default: `skip`. */
    readonly overlap?: Overlap;
}

/** With what only one of them tells. */
export interface ScheduleShown extends ScheduleListed {
    readonly overlap: Overlap;
    readonly taken: number;
    readonly skipped: number;
    readonly missed: number;
}

export interface Schedules {
    /** Rejects with `RemitError` (SCD1). */
    create(program: ProgramWorld, kept: KeptOptions, options: ScheduleOptions): Promise<void>;
    /** `tell` hears how many of them cannot be read here (LST1). */
    list(tell?: Tell): AsyncIterable<ScheduleListed>;
    /** `tell` hears where it cannot be read here (LST1). */
    show(id: string, tell?: Tell): Promise<ScheduleShown>;
    pause(id: string, note?: string): Promise<void>;
    resume(id: string): Promise<void>;
    /** Begins a run now. */
    trigger(id: string): Promise<void>;
    remove(id: string): Promise<void>;
}

export interface SchedulesOps {
    readonly client: Client;
    readonly store: LedgerStore;
    readonly queue: string;
    settings(): Promise<Settings>;
}

interface Memo {
    readonly program: string;
    readonly cron: string;
    readonly zone: string;
}

export function schedulesOf(ops: SchedulesOps): Schedules {
    const { schedule } = ops.client;
    const one = (id: string): ScheduleHandle => schedule.getHandle(id);
    const of = <T>(id: string, ask: (handle: ScheduleHandle) => Promise<T>): Promise<T> =>
        ask(one(id)).catch((error: unknown) => {
            throw error instanceof ScheduleNotFoundError
                ? wrong(`there is no schedule ${id}`, "remit schedule list shows those there are")
                : called(error, `whether schedule ${id} is as it was is not known`);
        });
    return {
        create: (program, kept, options) => created(ops, program, kept, options),
        list: (tell) => listedSchedules(ops.client, tell),
        show: (id, tell) => of(id, (handle) => shown(ops.client, handle, tell)),
        pause: (id, note) => of(id, (handle) => handle.pause(note)),
        resume: (id) => of(id, (handle) => handle.unpause()),
        trigger: (id) => of(id, (handle) => handle.trigger()),
        remove: (id) => of(id, (handle) => handle.delete()),
    };
}

/** Temporal's own call decodes what a run begins with, too: all of it would have to be readable here. */
async function shown(client: Client, handle: ScheduleHandle, tell: Tell = () => undefined): Promise<ScheduleShown> {
    const { namespace } = client.options;
    const { scheduleId } = handle;
    const found = await client.workflowService.describeSchedule({ namespace, scheduleId }).catch(async (error: unknown) => {
        // Temporal's own call tells whether the schedule is not there or the namespace.
        if (isNotFound(error)) await handle.describe();
        throw error;
    });
    const { memo, schedule, info } = found;
    const row = await scheduleOf(client, scheduleId, { memo: memo ?? null, state: schedule?.state ?? null, info: info ?? null });
    tellUnread(row.program === null ? 1 : 0, "schedules", tell);
    const overlap = ScheduleOverlapPolicy[schedule?.policies?.overlapPolicy ?? 0]?.replace("SCHEDULE_OVERLAP_POLICY_", "") ?? "";
    return {
        ...row,
        overlap: OVERLAPS.find((one) => one === overlap.toLowerCase().replaceAll("_", "-")) ?? "skip",
        ...{ taken: Number(info?.actionCount ?? 0), skipped: Number(info?.overlapSkipped ?? 0) },
        missed: Number(info?.missedCatchupWindow ?? 0),
    };
}

async function created(
    { client, store, queue, settings }: SchedulesOps,
    world: ProgramWorld,
    kept: KeptOptions,
    options: ScheduleOptions,
): Promise<void> {
    const { id, cron, zone = "UTC", overlap = "skip" } = checked(options);
    const { form, hash, file, root } = world;
    const input: RunInput = { run: id, settings: await answered(settings(), `schedule ${id} was not made`) };
    const begin = beginOf({ file, program: hash, ...shownOf(kept) }, input, queue);
    // The program travels by its hash, as that of every run.
    const text = await store.claims.put(id, JSON.stringify(form));
    const planned: Planned = { program: text, hash, file, root, options: { ...kept, backend: "temporal" } };
    const { program } = begin.memo;
    const memo: Memo = { program, cron, zone };
    const plan: TemporalOptions = {
        scheduleId: id,
        spec: { cronExpressions: [cron], timezone: zone },
        action: {
            ...begin,
            type: "startWorkflow",
            workflowType: WORKFLOW,
            args: [{ ...input, planned }],
            memo: { ...begin.memo, schedule: id },
        },
        policies: { overlap: overlap.toUpperCase().replaceAll("-", "_") as TemporalOverlap, catchupWindow: CATCH_UP },
        memo: { ...memo },
    };
    try {
        await scheduleMade(client, plan);
    } catch (error) {
        if (error instanceof ScheduleAlreadyRunning)
            throw wrong(`there is a schedule ${id} already`, `give this one another id with --id, or remit schedule delete ${id}`);
        const { cause } = error as { readonly cause?: unknown };
        if (isGrpcServiceError(cause) && cause.code === INVALID)
            throw wrong(`the server does not take the schedule: ${cause.details}`, CRON_HINT);
        throw called(error, `schedule ${id} was not made`);
    }
}

/** STW1. */
function scheduleMade(client: Client, plan: TemporalOptions): Promise<void> {
    const { scheduleId } = plan;
    const { namespace } = client.options;
    return started(client, {
        what: `schedule ${scheduleId}`,
        did: "may have been made",
        hint: `remit schedule show ${scheduleId} tells whether it was; where it was not, run the command again`,
        call: (mark) => client.schedule.create({ ...plan, memo: { ...plan.memo, [MARK]: mark } }),
        look: async (mark) => {
            const { memo } = await client.workflowService.describeSchedule({ namespace, scheduleId });
            return (await textIn(client, memo?.fields?.[MARK])) === mark ? "begun" : "other";
        },
        taken: () => new ScheduleAlreadyRunning("Schedule already exists and is running", scheduleId),
    });
}

const CRON_HINT = "five fields: minute, hour, day of the month, month, day of the week; for example 0 7 * * 1-5";

function checked(options: ScheduleOptions): ScheduleOptions {
    const { cron, zone, overlap } = options;
    const problem = cronProblem(cron);
    if (problem !== null) throw wrong(`the cron expression '${cron}' is wrong: ${problem}`, CRON_HINT);
    if (zone !== undefined && !isZone(zone))
        throw wrong(`there is no time zone '${zone}'`, "give its IANA name, for example Europe/Berlin");
    if (overlap !== undefined && !OVERLAPS.includes(overlap))
        throw wrong(`there is no overlap policy '${overlap}'`, `give one of ${OVERLAPS.join(", ")}`);
    return options;
}

function isZone(name: string): boolean {
    try {
        new Intl.DateTimeFormat("en", { timeZone: name });
        return true;
    } catch (error) {
        if (error instanceof RangeError) return false;
        throw error;
    }
}

function wrong(message: string, hint: string): RemitError {
    return new RemitError({ kind: "value", message, hint });
}
