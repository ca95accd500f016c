/**
 * Making runs and taking them over: who writes a run, in every store that keeps its runs as rows.
 *
 * Boundary: what is decided, and what is written for it. Where rows are, and how they are read, is the store's; writing a run is `writer.ts`.
 *
 * TKN1: what was looked at before a run is taken stands for itself by the code in its row: another process that changed any of it in between has the run.
 * TKN2: unless the owner is still the same: then the last commit of one that is gone was on its way, as a database still does it, and the run is looked at again.
 */
import { GENESIS } from "@remit/machine";
import { type NewBlobs, pack, sha256, unpack } from "./blob.ts";
import { bind, NO_ENTRIES, NO_STATE } from "./bound.ts";
import { type Awaitable, Calls, type LedgerFile, type Standing } from "./calls.ts";
import { Compressor } from "./compression.ts";
import { Entries } from "./entries.ts";
import { LedgerError } from "./error.ts";
import { type Owner, parseOwner, shownOwner, thisOwner } from "./lease.ts";
import { type Begun, released, takenOver } from "./order.ts";
import { entered } from "./progress.ts";
import { pendingText, type RunRow } from "./rows.ts";
import type { NewRun, OwnOptions, RunWriter } from "./store.ts";
import { isFinished, writerOf } from "./writer.ts";

/** Texts of a run's options that are longer stand beside its row, which every commit writes. */
const OPTIONS_THRESHOLD = 512;

/** The open ledger, as it is read where a run is made or taken. All of it throws, or rejects with, `LedgerError`. */
export interface TakenFile extends LedgerFile {
    readonly path: string;
    /** By id, as for `LedgerStore.run`. */
    row(id: string): Awaitable<RunRow>;
    /** As it stands, whether or not it was changed by another hand. */
    looked(row: RunRow): Awaitable<Standing>;
    /** Throws where a resume would begin with something else than what was kept. */
    intact(row: RunRow, acceptForeign: boolean): Awaitable<void>;
    isLive(owner: Owner, beat: number): boolean;
    /** By whole id. */
    at(id: string): Awaitable<Pick<RunRow, "epoch" | "bound"> | undefined>;
}

export async function created(file: TakenFile, run: NewRun): Promise<RunWriter> {
    try {
        return await inserted(file, run);
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "exists") throw error;
        const found = await named(file, run.id, run.by);
        if (found?.row.program !== run.hash) throw error;
        return writerOf(file, found, null);
    }
}

/** T8: the run, where this is its owner's name. */
async function named(file: TakenFile, id: string, by: string | undefined): Promise<Standing | null> {
    const found = by === undefined ? null : await file.standing(id);
    return found !== null && isNamed(found.row, by as string) ? found : null;
}

function isNamed({ owner }: RunRow, by: string): boolean {
    const named = parseOwner(owner);
    return named !== null && "by" in named && named.by === by;
}

/** Q4. */
function lightly(by: string | undefined): { readonly light?: true } {
    return by === undefined ? { light: true } : {};
}

/** TKN2: each time one more commit was on its way. */
const TRIES = 5;

/** The owner that is written, as JSON text. */
function ownerText(by: string | undefined): string {
    return JSON.stringify(by === undefined ? thisOwner() : { by });
}

async function inserted(file: TakenFile, run: NewRun): Promise<RunWriter> {
    const owner = ownerText(run.by);
    const now = file.now();
    const blobs: NewBlobs = new Map();
    const packed = pack(run.options, blobs, true, OPTIONS_THRESHOLD);
    const none = { pending: Entries.of<Begun>(), early: Entries.of<string>() };
    const parts = { options: sha256(packed), state: NO_STATE, pending: NO_ENTRIES, early: NO_ENTRIES };
    const row: RunRow = {
        key: 0,
        id: run.id,
        program: run.hash,
        file: run.file,
        root: run.root,
        options: packed,
        started: new Date(now).toISOString(),
        ended: null,
        status: "running",
        result: null,
        usage: "{}",
        steps: 0,
        effects: 0,
        count: 0,
        head: GENESIS,
        answers: 0,
        answered: "",
        owner,
        beat: now,
        spent: 0,
        bound: "",
        epoch: 1,
        batches: 0,
        pending: pendingText(none.pending),
    };
    const bound = bind(file.key(), row, parts);
    const texts = new Compressor();
    await file.writing.run({
        statements: texts.statements([
            ...[...blobs].map(([text, name]) => ["blob", name, text] as const),
            ["program", run.hash, JSON.stringify(run.program)],
            ["insertRun", row.id, row.program, row.file, row.root, packed, row.started, GENESIS, owner, now, bound],
        ]),
        run: { key: 0, id: run.id },
        ...lightly(run.by),
    });
    const { key } = await file.row(run.id);
    const first: Standing = { row: { ...row, key }, ...none, parts, bound, states: 0, image: 1 };
    return writerOf(file, first, run.by === undefined ? "running" : null, new Calls(file, first, { texts }));
}

export async function owned(file: TakenFile, id: string, how: OwnOptions): Promise<RunWriter> {
    try {
        return await taken(file, id, how);
    } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "owned") throw error;
        const found = await named(file, (await file.row(id)).id, how.by);
        if (found === null) throw error;
        return writerOf(file, found, null);
    }
}

function parsed({ path }: TakenFile, row: RunRow): Owner | null {
    try {
        return parseOwner(row.owner);
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new LedgerError("tampered", `the ledger ${path} has a run ${row.id} whose owner cannot be read`, error);
    }
}

async function taken(file: TakenFile, id: string, how: OwnOptions, tries = TRIES): Promise<RunWriter> {
    const { acceptForeign = false, by, from } = how;
    const found = await file.looked(await file.row(id));
    const { row } = found;
    if (isFinished(found)) throw new LedgerError("finished", `run ${row.id} is over`);
    const before = parsed(file, row);
    const isGone = row.epoch === from || file.left.has(row.owner as string);
    if (before !== null && !isGone && file.isLive(before, row.beat))
        throw new LedgerError("owned", `run ${row.id} is owned by ${shownOwner(before)}`);
    await file.intact(row, acceptForeign);
    const left = takenOver(found, (text) => unpack(text, file.blobs));
    const owner = ownerText(by);
    const now = file.now();
    const { statements, pending, codes } = entered(file.key(), found, left);
    const next: RunRow = { ...row, owner, beat: now, status: "running", epoch: row.epoch + 1, pending };
    const parts = { ...found.parts, ...codes };
    const bound = bind(file.key(), next, parts);
    // TKN1.
    try {
        await file.writing.run({
            statements: [["take", owner, now, bound, pending, row.key, row.owner, row.epoch, row.bound], ...statements],
            run: { key: row.key, id: row.id },
            claim: `run ${row.id} was taken over by another process`,
            ...lightly(by),
        });
    } catch (error) {
        // TKN2.
        if (!(error instanceof LedgerError) || error.code !== "owned" || tries === 1) throw error;
        const is = await file.row(row.id);
        if (is.owner !== row.owner || is.epoch !== row.epoch) throw error;
        return await taken(file, row.id, how, tries - 1);
    }
    return writerOf(file, { ...found, ...left, row: next, parts, bound }, by === undefined ? row.status : null);
}

/** Where the writers that were joined last stand, by run. */
export type Joined = Map<string, Calls>;
const JOINED = 64;

/**
 * T5. Writers of one run share one line of calls, so that none reads again what another has just written, and none finds itself overtaken by another one
 * of the same process (section `temporal` of `bench/`).
 */
export async function joined(file: TakenFile, known: Joined, id: string, epoch: number): Promise<RunWriter> {
    const at = await file.at(id);
    if (at !== undefined && at.epoch !== epoch) throw released(id, epoch);
    let calls = known.get(id);
    // What another process wrote is read; where calls are under way, they find it out by themselves.
    if (calls === undefined || at === undefined || calls.now.row.epoch !== epoch || (calls.isIdle && calls.now.bound !== at.bound)) {
        const found = await file.standing((await file.row(id)).id);
        if (found.row.epoch !== epoch) throw released(found.row.id, epoch);
        calls = new Calls(file, found, { shared: true });
    }
    known.delete(id);
    known.set(id, calls);
    const [oldest] = known.size > JOINED ? [...known].filter(([, one]) => one.isIdle) : [];
    if (oldest !== undefined) known.delete(oldest[0]);
    return writerOf(file, calls.now, null, calls);
}
