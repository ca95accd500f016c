/**
 * The tables of the embedded ledger and their versions.
 *
 * Boundary: SQL text only.
 *
 * S1: `events`, `outcomes`, `programs` and `blobs` are only ever added to, until their run is removed; `pending`, `continuations` and `runs`
 *     follow the present.
 * S2: a file of a newer version is refused, one of an older version is brought up by `MIGRATIONS`, one transaction a step.
 */

/** "Rmit": tells our file from any other SQLite file. */
export const APPLICATION_ID = 0x526d6974;
export const SCHEMA_VERSION = 4;

/**
 * S3: in `events`, `outcomes` and `continuations` the key `at` is the run's key times 2^28 plus the number in the run, so that a commit changes no index
 *     beside each table (`bench/store.ts`).
 */
const TABLES = `
CREATE TABLE events (
    at INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL,
    time TEXT NOT NULL, path TEXT NOT NULL, parent TEXT, kind TEXT NOT NULL, principal TEXT NOT NULL, site TEXT, labels TEXT NOT NULL,
    data TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL, salt TEXT NOT NULL
) STRICT;

-- What effects answered, in the order in which the machine was told: n counts from 1 in each run. hash: chained like that of an event.
CREATE TABLE outcomes (
    at INTEGER PRIMARY KEY, run INTEGER NOT NULL, n INTEGER NOT NULL,
    time TEXT NOT NULL, path TEXT NOT NULL, outcome TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;

-- outcomes: how many outcomes of the run the state contains.
CREATE TABLE continuations (
    at INTEGER PRIMARY KEY, run INTEGER NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL, outcomes INTEGER NOT NULL, state TEXT NOT NULL
) STRICT;
`;

export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- One row a run. count and head: events so far and the hash of the last one; answers and
-- answered: the same of the outcomes. spent: milliseconds that counted towards its time. owner: the process that may write, null when nobody does.
-- bound: see bound.ts, empty where the run was never bound.
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
    bound TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX runs_started ON runs (started);

-- Effects that were asked for and have no outcome. begun: 1 from just before it is performed.
CREATE TABLE pending (
    run INTEGER NOT NULL, path TEXT NOT NULL, begun INTEGER NOT NULL,
    PRIMARY KEY (run, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE programs (hash TEXT PRIMARY KEY, form TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, bytes TEXT NOT NULL) STRICT;
${TABLES}`;

/** SQL that brings a file from version `n` to `n + 1`, by `n`. */
export const MIGRATIONS: { readonly [from: number]: string } = {
    1: "ALTER TABLE runs ADD COLUMN spent INTEGER NOT NULL DEFAULT 0",
    2: "ALTER TABLE runs ADD COLUMN bound TEXT NOT NULL DEFAULT ''",
    3: `
ALTER TABLE events RENAME TO events3;
ALTER TABLE outcomes RENAME TO outcomes3;
ALTER TABLE continuations RENAME TO continuations3;
${TABLES}
INSERT INTO events SELECT run * 268435456 + seq, run, seq, time, path, parent, kind, principal, site, labels, data, prev, hash, salt FROM events3;
INSERT INTO outcomes SELECT run * 268435456 + n, run, n, time, path, outcome, hash FROM outcomes3;
INSERT INTO continuations SELECT run * 268435456 + n, run, n, kind, outcomes, state FROM continuations3;
DROP TABLE events3;
DROP TABLE outcomes3;
DROP TABLE continuations3;
`,
};
