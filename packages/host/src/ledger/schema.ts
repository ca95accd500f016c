/**
 * The tables of the embedded ledger and their versions.
 *
 * Boundary: SQL text only.
 *
 * S1: `events`, `programs` and `blobs` are only ever added to, until their run is removed; `continuations`, `early` and `runs` follow the present.
 * S2: a file of a newer version is refused, one of an older version is brought up by `MIGRATIONS`, one transaction a step.
 */

/** "Rmit": tells our file from any other SQLite file. */
export const APPLICATION_ID = 0x526d6974;
export const SCHEMA_VERSION = 7;

/**
 * S3: in `events` and `continuations` the key `at` is the run's key times 2^28 plus a place in the run, so that a commit changes no index beside each
 *     table. Events and outcomes of a run share one table, and its row holds its pending effects where they are few, so that a commit touches few pages (`bench/store.ts`).
 */
const EVENTS = `
-- An event has a seq, an outcome an n; both count from 1 in each run, and the place of either is how many of the two there are up to it.
-- An outcome is what an effect answered, in the order in which the machine was told: data holds it, hash is chained like that of an event.
CREATE TABLE events (
    at INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER, n INTEGER, attempt INTEGER,
    time TEXT NOT NULL, path TEXT NOT NULL, parent TEXT, kind TEXT, principal TEXT, site TEXT, labels TEXT,
    data TEXT NOT NULL, prev TEXT, hash TEXT NOT NULL, salt TEXT
) STRICT;
`;
const CONTINUATIONS = `
-- The last image is at place 0 and the deltas after it behind it, so that states take the room of older ones: a row belongs to them where its n
-- follows that of the row before. outcomes: how many outcomes of the run the state contains.
CREATE TABLE continuations (
    at INTEGER PRIMARY KEY, run INTEGER NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL, outcomes INTEGER NOT NULL, state TEXT NOT NULL
) STRICT;
`;
const PACKED = `
-- A long text is kept compressed here (compression.ts), its own column is empty then.
ALTER TABLE blobs ADD COLUMN packed BLOB;
ALTER TABLE continuations ADD COLUMN packed BLOB;
`;
const EARLY = `
-- What came before its turn: batches and outcomes of runs that several processes write. And the pending effects of a run that has many.
CREATE TABLE early (run INTEGER NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (run, key)) STRICT, WITHOUT ROWID;
`;

export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- status: running (it is owned, or its owner died), waiting (for a person), stopped (may be resumed), done, failed.
-- owner: who runs it now, JSON, NULL when it is let go; epoch: one more with each owner; beat: its last heartbeat, ms since 1970.
-- batches: how many were taken in order; count and head: of the events; answers and answered: of the outcomes.
-- pending: effects without an outcome, [path, begun, attempt] each, or "rows" where they stand in early. bound: what binds all of this under the user's key, see bound.ts.
CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    program TEXT NOT NULL,
    file TEXT NOT NULL,
    root TEXT NOT NULL,
    options TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT,
    status TEXT NOT NULL,
    result TEXT,
    usage TEXT NOT NULL,
    steps INTEGER NOT NULL,
    effects INTEGER NOT NULL,
    count INTEGER NOT NULL,
    head TEXT NOT NULL,
    answers INTEGER NOT NULL,
    answered TEXT NOT NULL,
    owner TEXT,
    beat INTEGER NOT NULL,
    spent INTEGER NOT NULL DEFAULT 0,
    bound TEXT NOT NULL DEFAULT '',
    epoch INTEGER NOT NULL DEFAULT 1,
    batches INTEGER NOT NULL DEFAULT 0,
    pending TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE TABLE programs (hash TEXT PRIMARY KEY, form TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, bytes TEXT NOT NULL) STRICT;
${EVENTS}${CONTINUATIONS}${EARLY}${PACKED}`;

/** SQL that brings a file from version `n` to `n + 1`, by `n`. */
export const MIGRATIONS: { readonly [from: number]: string } = {
    1: "ALTER TABLE runs ADD COLUMN spent INTEGER NOT NULL DEFAULT 0",
    2: "ALTER TABLE runs ADD COLUMN bound TEXT NOT NULL DEFAULT ''",
    // Versions 3 and 4 differ in the keys of tables that the next step writes anew.
    3: "",
    4: `
ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;
ALTER TABLE runs ADD COLUMN batches INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN pending TEXT NOT NULL DEFAULT '[]';
UPDATE runs SET pending = (SELECT json_group_array(json_array(path, begun, 1)) FROM pending WHERE run = key);
ALTER TABLE events RENAME TO events4;
ALTER TABLE continuations RENAME TO continuations4;
${EVENTS}${CONTINUATIONS}${EARLY}
INSERT INTO events SELECT run * 268435456 + n, run, NULL, n, 1, time, path, NULL, NULL, NULL, NULL, NULL, outcome, NULL, hash, NULL FROM outcomes;
INSERT INTO events SELECT run * 268435456 + answers + seq, run, seq, NULL, NULL, time, path, parent, kind, principal, site, labels, data, prev, hash, salt
    FROM (SELECT events4.*, (SELECT answers FROM runs WHERE key = run) AS answers FROM events4);
INSERT INTO continuations SELECT run * 268435456 + n - (SELECT min(n) FROM continuations4 AS c WHERE c.run = continuations4.run), run, n, kind, outcomes, state
    FROM continuations4;
DROP TABLE events4;
DROP TABLE outcomes;
DROP TABLE continuations4;
DROP TABLE pending;
DROP INDEX IF EXISTS runs_started;
`,
    5: PACKED,
    // The tables are the same; many pending effects stand in `early`, and sets are bound in another way (BN5).
    6: "",
};
