/**
 * Rows of the embedded ledger: the statements that write them and what they mean.
 *
 * Boundary: row in, value out; opens nothing.
 */
import { plainLine } from "@remit/language";
import type { LedgerEvent, SealedEvent, Usage } from "@remit/machine";
import { type Blobs, unpack } from "./blob.ts";
import { LedgerError } from "./error.ts";
import { isLive, type Owner, parseOwner } from "./lease.ts";
import { Entries } from "./entries.ts";
import type { Begun, Early, Pending } from "./order.ts";
import type { RunInfo, RunStatus } from "./store.ts";

export const RUN_COLUMNS =
    "key, id, program, file, root, options, started, ended, status, result, usage, steps, effects, count, head, answers, answered, owner, beat, spent, bound, epoch, batches, pending";

export interface RunRow {
    key: number;
    id: string;
    program: string;
    file: string;
    root: string;
    options: string;
    started: string;
    ended: string | null;
    status: RunStatus;
    result: string | null;
    usage: string;
    steps: number;
    effects: number;
    count: number;
    head: string;
    answers: number;
    answered: string;
    owner: string | null;
    beat: number;
    spent: number;
    bound: string;
    epoch: number;
    batches: number;
    pending: string;
}

export interface EventRow {
    at: number;
    seq: number;
    time: string;
    path: string;
    parent: string | null;
    kind: LedgerEvent["kind"];
    principal: string;
    site: string | null;
    labels: string;
    data: string;
    prev: string;
    hash: string;
    salt: string;
}
export interface OutcomeRow {
    at: number;
    n: number;
    attempt: number;
    time: string;
    path: string;
    data: string;
    hash: string;
}

/** Instead of a list: the run's pending effects are rows of `early`. A run with many of them would write them all with every commit otherwise. */
export const IN_ROWS = "rows";
const PENDING = "pending ";

export const pendingKey = (path: string): string => `${PENDING}${path}`;
export const begunText = ({ begun, attempt }: Begun): string => `${begun ? 1 : 0} ${attempt}`;
function begunOf(text: string): Begun {
    const [begun, attempt] = text.split(" ");
    return { begun: begun === "1", attempt: Number(attempt) };
}

/** Of the run's rows of `early`: effects that are pending, where its own row says so, and what came before its turn. */
export function entriesOf(
    row: RunRow,
    rows: readonly { readonly key: string; readonly text: string }[],
): { readonly pending: Pending; readonly early: Early } {
    const isPending = (key: string): boolean => row.pending === IN_ROWS && key.startsWith(PENDING);
    const [of, early] = [rows.filter(({ key }) => isPending(key)), rows.filter(({ key }) => !isPending(key))];
    return {
        pending: row.pending === IN_ROWS ? Entries.of(of.map(({ key, text }) => [key.slice(PENDING.length), begunOf(text)])) : listed(row),
        early: Entries.of(early.map(({ key, text }) => [key, text])),
    };
}

/** One pending effect. `text`: of its row of `early`, which is asked for only where there is one. */
export function askedIn(row: RunRow, path: string, text: () => string | undefined): Begun | undefined {
    if (row.pending !== IN_ROWS) return listed(row).get(path);
    const found = text();
    return found === undefined ? undefined : begunOf(found);
}

function listed(row: RunRow): Pending {
    const read = JSON.parse(row.pending) as readonly (readonly [string, number, number])[];
    return Entries.of(read.map(([path, begun, attempt]) => [path, { begun: begun === 1, attempt }]));
}
export function pendingText(pending: Pending): string {
    return JSON.stringify([...pending].map(([path, { begun, attempt }]) => [path, begun ? 1 : 0, attempt]));
}

export function eventOf(row: EventRow, run: string, blobs: Blobs): SealedEvent {
    return {
        path: row.path,
        parent: row.parent,
        kind: row.kind,
        principal: row.principal,
        site: row.site === null ? null : JSON.parse(row.site),
        labels: JSON.parse(row.labels),
        data: unpack(row.data, blobs),
        seq: row.seq,
        time: row.time,
        run,
        prev: row.prev,
        hash: row.hash,
        salt: row.salt,
    };
}

const STATUSES: ReadonlySet<string> = new Set<RunStatus>(["running", "waiting", "stopped", "done", "failed"]);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** The first field that is shown to people as it is and does not look as it was written: a file may come from any author. */
function strange(row: RunRow): string | null {
    if (row.id === "" || row.id !== plainLine(row.id)) return "name";
    if (!STATUSES.has(row.status)) return "status";
    if (!TIME.test(row.started)) return "beginning";
    return row.ended === null || TIME.test(row.ended) ? null : "end";
}

const isLiveHere = (owner: Owner, beat: number): boolean => isLive(owner, beat, Date.now());

/** `path`: the ledger, for messages. Throws `LedgerError` where a field of the row cannot be read. */
export function infoOf(row: RunRow, blobs: Blobs, path: string, lives: (owner: Owner, beat: number) => boolean = isLiveHere): RunInfo {
    const readable = <T>(field: string, read: () => T): T => {
        try {
            return read();
        } catch (error) {
            if (!(error instanceof SyntaxError)) throw error;
            throw new LedgerError("tampered", `the ledger ${path} has a run ${row.id} whose ${field} cannot be read`, error);
        }
    };
    const odd = strange(row);
    if (odd !== null) throw new LedgerError("tampered", `the ledger ${path} has a run ${row.id} whose ${odd} cannot be read`);
    const owner = readable("owner", () => parseOwner(row.owner));
    const result = readable("result", () =>
        row.result === null ? {} : (unpack(row.result, blobs) as Pick<RunInfo, "value" | "failure" | "endedBy">),
    );
    const usage = readable("usage", () => JSON.parse(row.usage) as Usage);
    return {
        id: row.id,
        program: row.program,
        file: row.file,
        root: row.root,
        started: row.started,
        ended: row.ended,
        status: row.status,
        live: owner !== null && lives(owner, row.beat),
        epoch: row.epoch,
        ...(owner !== null && "by" in owner ? { by: owner.by } : {}),
        ...result,
        usage,
        steps: row.steps,
        effects: row.effects,
        events: row.count,
        spent: row.spent,
    };
}
