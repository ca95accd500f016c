/**
 * Checkpoints of a ledger that many runs write: a thread of their own copies what the write-ahead log holds into the file, and no commit waits for that.
 *
 * Boundary: one ledger file and two threads that have it open. What is written is `jobs.ts`'s.
 *
 * CKP1: the copying thread copies and syncs while commits go on. Then the writing thread copies the few pages that were written meanwhile: SQLite begins
 *     the log anew only where all of it was copied, so the log's size stays bounded, however long and fast runs write.
 * CKP2: a checkpoint that fails is no failure of a commit, as SQLite has it: the log still holds everything, and the next checkpoint copies it.
 *
 * Why a thread: SQLite's own checkpoint runs in the commit that fills 1,000 pages, about one in 200; that one copies and syncs some 900 pages, and all
 * commits behind it wait.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type MessagePort, Worker } from "node:worker_threads";
import { connect, type SqliteOptions } from "./connect.ts";
import { LedgerError, ledgerError } from "./error.ts";

/** Jobs between two checkpoints, where `SqliteOptions` say none; one writes about five pages. */
const JOBS = 1_000;
/** Where jobs are large, the log takes at most about so many bytes more than is written during a checkpoint. */
const MOST_BYTES = 32 << 20;
/** Jobs between two looks at its size. */
const LOOK = 20;
/** Each pass copies what was written during the one before it, and syncs the file where that leaves nothing, as it soon does. */
const PASSES = 8;

export interface CopyingStart {
    readonly path: string;
    readonly options: SqliteOptions;
    readonly copies: true;
}

/** What the writing thread was begun with. */
export interface WritingStart {
    readonly path: string;
    readonly options: SqliteOptions;
    /** Address of the script that both threads run. */
    readonly script: string;
}

export interface Checkpoints {
    /** So many jobs more are durable. */
    wrote(jobs: number): void;
    /** Before the connection is closed. */
    close(): void;
}

/** True: the file has everything that was in the log. */
function copied(path: string, db: DatabaseSync): boolean {
    try {
        const { log, checkpointed } = db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as { log: number; checkpointed: number };
        return log === checkpointed;
    } catch (error) {
        // CKP2.
        if (ledgerError(path, error) instanceof LedgerError) return false;
        throw error;
    }
}

/** Of the writing thread. */
export function checkpointsOf(db: DatabaseSync, { path, options, script }: WritingStart): Checkpoints {
    // What is longer is cut off when the log begins anew.
    db.exec(`PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${MOST_BYTES}`);
    const { checkpointFrom = JOBS } = options;
    let since = 0;
    let looked = 0;
    const isDue = (): boolean => {
        if (since >= checkpointFrom) return true;
        if (since - looked < LOOK) return false;
        looked = since;
        return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > MOST_BYTES;
    };
    let copying: Worker | null = null;
    let isUnderWay = false;
    let closing = false;
    const finish = (): void => {
        isUnderWay = false;
        if (!closing) copied(path, db);
    };
    function begin(): Worker {
        const start: CopyingStart = { path, options, copies: true };
        const made = new Worker(new URL(script), { workerData: start, execArgv: [] });
        made.on("message", finish);
        // A mistake of ours: this thread copies all, and the commits go on.
        made.on("error", (error) => process.emitWarning(error));
        made.on("exit", () => {
            copying = null;
            finish();
        });
        return made;
    }
    return {
        wrote: (jobs) => {
            since += jobs;
            if (isUnderWay || !isDue()) return;
            since = 0;
            looked = 0;
            isUnderWay = true;
            copying ??= begin();
            copying.postMessage(true);
        },
        close: () => {
            closing = true;
            copying?.postMessage(false);
        },
    };
}

/** The copying thread: copies at each message, until one says that no more will come. */
export function copyAt(port: MessagePort, { path, options }: CopyingStart): void {
    let db: DatabaseSync;
    try {
        db = connect(path, options);
    } catch (error) {
        // CKP2. The file cannot be opened here: the writing thread copies all.
        if (!(error instanceof LedgerError)) throw error;
        port.close();
        return;
    }
    port.on("message", (more: boolean) => {
        if (!more) {
            db.close();
            port.close();
            return;
        }
        for (let pass = 0; pass < PASSES && !copied(path, db); pass++);
        port.postMessage(true);
    });
}
