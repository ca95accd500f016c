/**
 * Runs and schedules as a server lists them, in a namespace that others may use, too.
 *
 * Boundary: reads rows as the server sends them. Temporal's own lists decode the whole memo of each row, and end at the first that cannot be decoded.
 *
 * LST1: a row whose memo cannot be read here hides no other row. It is listed without what the memo says, and how many there are is told once. So is
 *     one that is looked at alone.
 */
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import { isNotFound, noNamespace } from "../server/connect.ts";
import { textIn } from "./payloads.ts";
import { called } from "./workers.ts";

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

export interface Listed {
    readonly run: string;
    readonly status: string;
    readonly started: Date;
    /** Null: it cannot be read here. */
    readonly program: string | null;
}

export interface ScheduleListed {
    readonly id: string;
    /** These three are null where they cannot be read here. */
    readonly program: string | null;
    readonly cron: string | null;
    readonly zone: string | null;
    readonly paused: boolean;
    readonly note: string | null;
    readonly next: readonly Date[];
    /** Runs that it began last, oldest first. */
    readonly runs: readonly { readonly run: string; readonly at: Date }[];
}

/** Hears of the rows that cannot be read, once, after the last row. */
export type Tell = (text: string) => void;

export async function* listedRuns(client: Client, query: string, tell: Tell = () => undefined): AsyncIterable<Listed> {
    const { namespace } = client.options;
    let unread = 0;
    const pages = paged(namespace, async (nextPageToken) => {
        const { executions: rows, nextPageToken: next } = await client.workflowService.listWorkflowExecutions({
            namespace,
            query,
            nextPageToken,
        });
        return { rows, next };
    });
    for await (const { execution, status, startTime, memo } of pages) {
        const workflowId = execution?.workflowId ?? "";
        const program = await textIn(client, memo?.fields?.["program"], { type: "workflow", namespace, workflowId });
        if (program === null) unread += 1;
        yield { run: workflowId, status: statusOf(status ?? 0), started: dateOf(startTime), program };
    }
    tellUnread(unread, "runs", tell);
}

export async function* listedSchedules(client: Client, tell: Tell = () => undefined): AsyncIterable<ScheduleListed> {
    const { namespace } = client.options;
    let unread = 0;
    const pages = paged(namespace, async (nextPageToken) => {
        const { schedules: rows, nextPageToken: next } = await client.workflowService.listSchedules({ namespace, nextPageToken });
        return { rows, next };
    });
    for await (const { scheduleId, memo, info } of pages) {
        const row = await scheduleOf(client, scheduleId ?? "", { memo, state: info, info });
        if (row.program === null) unread += 1;
        yield row;
    }
    tellUnread(unread, "schedules", tell);
}

/** As a list and a look at one send it. */
export interface ScheduleRow {
    readonly memo?: proto.temporal.api.common.v1.IMemo | null;
    readonly state?: { readonly paused?: boolean | null; readonly notes?: string | null } | null;
    readonly info?: Pick<proto.temporal.api.schedule.v1.IScheduleInfo, "futureActionTimes" | "recentActions"> | null;
}

export async function scheduleOf(client: Client, id: string, { memo, state, info }: ScheduleRow): Promise<ScheduleListed> {
    const of = (name: string): Promise<string | null> => textIn(client, memo?.fields?.[name]);
    const [program, cron, zone] = [await of("program"), await of("cron"), await of("zone")];
    return {
        ...{ id, program, cron, zone, paused: state?.paused === true, note: state?.notes || null },
        next: (info?.futureActionTimes ?? []).map(dateOf),
        runs: (info?.recentActions ?? []).map(({ startWorkflowResult, actualTime }) => ({
            run: startWorkflowResult?.workflowId ?? "",
            at: dateOf(actualTime),
        })),
    };
}

interface Page<T> {
    readonly rows: readonly T[];
    readonly next: Uint8Array;
}

async function* paged<T>(namespace: string, ask: (token: Uint8Array) => Promise<Page<T>>): AsyncIterable<T> {
    let token: Uint8Array = new Uint8Array();
    do {
        let page: Page<T>;
        try {
            page = await ask(token);
        } catch (error) {
            if (isNotFound(error)) throw noNamespace(namespace, error);
            throw called(error, "the rest of the list is not known");
        }
        yield* page.rows;
        token = page.next;
    } while (token.length > 0);
}

export function tellUnread(count: number, what: string, tell: Tell): void {
    if (count === 0) return;
    tell(
        `${count} of these ${what} cannot be read here: they are encrypted with a key, or encoded by a codec, that this client does not have`,
    );
}

/** As Temporal's client spells it. */
function statusOf(code: number): string {
    const name = WorkflowExecutionStatus[code]?.replace("WORKFLOW_EXECUTION_STATUS_", "") ?? "UNKNOWN";
    return name === "CANCELED" ? "CANCELLED" : name;
}

function dateOf(time: proto.google.protobuf.ITimestamp | null | undefined): Date {
    return new Date(Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1_000_000);
}
