/**
 * News of runs between processes: which may have changed.
 *
 * Boundary: notifications of the database. What has changed is read from the rows.
 *
 * NWS1: news may be lost, with the process that has them or with a connection; a waiting caller looks for itself at times, and after a break.
 * NWS2: they are sent behind the commits, many at once: a notification inside a commit would make the commits of all processes wait for each other.
 */
import { LedgerError } from "../error.ts";
import type { Connections } from "./connections.ts";

const CHANNEL = "runs";
/** Longest text of a notification, bytes. */
const MOST_BYTES = 7_900;

export interface News {
    tell(runs: readonly string[]): void;
    /** `heard`: with a run that may have changed, or with null where any may have. Gives what ends it. */
    hear(heard: (run: string | null) => void): () => void;
    close(): Promise<void>;
}

export function newsOf(connections: Connections): News {
    const ears = new Set<(run: string | null) => void>();
    let untold = new Set<string>();
    let telling: Promise<void> | null = null;
    let listens = false;
    const say = (run: string | null): void => {
        for (const ear of ears) ear(run);
    };
    async function send(): Promise<void> {
        while (untold.size > 0) {
            const runs = [...untold].filter((run) => Buffer.byteLength(run) < MOST_BYTES);
            untold = new Set();
            await connections.rows("SELECT pg_notify($1, run) FROM unnest($2::text[]) AS run", [connections.channelOf(CHANNEL), runs]);
        }
        telling = null;
    }
    return {
        tell: (runs) => {
            for (const run of runs) untold.add(run);
            // NWS1.
            telling ??= new Promise((begin) => setImmediate(begin)).then(send).catch((error: unknown) => {
                telling = null;
                if (!(error instanceof LedgerError)) throw error;
            });
        },
        hear: (heard) => {
            ears.add(heard);
            if (!listens) {
                listens = true;
                connections.listen(CHANNEL, say).catch((error: unknown) => {
                    listens = false;
                    if (!(error instanceof LedgerError)) throw error;
                });
            }
            return () => ears.delete(heard);
        },
        close: async () => {
            ears.clear();
            await telling;
        },
    };
}
