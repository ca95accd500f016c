/**
 * The tables of a ledger in PostgreSQL, and the function that keeps a group of jobs.
 *
 * Boundary: SQL text only.
 *
 * PGT1: `events`, `outcomes`, `programs` and `blobs` are only ever added to, until their run is removed; the others follow the present.
 * PGT2: `apply_jobs` is one statement, so one transaction and one way to the server and back; each job in it is a subtransaction, so one that fails
 *      fails alone. Where two processes stand in each other's way the whole group is refused, to be sent again.
 * PGT3: a group that is sent again after its answer was lost is answered as before, and changes nothing: `writers` holds the last one of each process.
 * PGT4: a text is removed with the last run that claims it, a program with the last of its runs. Nothing is written while runs are removed (REMOVING).
 */

export const PG_SCHEMA_VERSION = 2;

/** Of an advisory lock: shared by who writes, held alone by who removes. */
const REMOVING = 0x526d6974;
export const ALONE = `SELECT pg_advisory_xact_lock(${REMOVING}, 'runs'::regclass::oid::int)`;

/** Texts that are looked up by their beginning are compared by code point, whatever language the database has. */
export const PG_SCHEMA = `
CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL);

-- What the columns mean stands with the tables of the embedded ledger (schema.ts).
CREATE TABLE runs (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL CONSTRAINT runs_id UNIQUE,
    program text NOT NULL,
    file text NOT NULL,
    root text NOT NULL,
    options text NOT NULL,
    started text NOT NULL,
    ended text,
    status text NOT NULL,
    result text,
    usage text NOT NULL,
    steps bigint NOT NULL,
    effects bigint NOT NULL,
    count bigint NOT NULL,
    head text NOT NULL,
    answers bigint NOT NULL,
    answered text NOT NULL,
    owner text,
    beat bigint NOT NULL,
    spent bigint NOT NULL DEFAULT 0,
    bound text NOT NULL,
    epoch bigint NOT NULL DEFAULT 1,
    batches bigint NOT NULL DEFAULT 0,
    pending text NOT NULL DEFAULT '[]'
) WITH (fillfactor = 50);

CREATE TABLE programs (hash text PRIMARY KEY, form text NOT NULL);
-- bytes: of the text, which may hold characters that PostgreSQL takes in no text. packed: the text compressed, bytes are empty then (compression.ts);
-- base: the text that it is compressed on.
CREATE TABLE blobs (sha256 text PRIMARY KEY, bytes bytea NOT NULL, packed bytea, base text);
CREATE INDEX blobs_base ON blobs (base) WHERE base IS NOT NULL;
CREATE TABLE events (
    run bigint NOT NULL, seq bigint NOT NULL, time text NOT NULL, path text NOT NULL, parent text, kind text NOT NULL, principal text NOT NULL,
    site text, labels text NOT NULL, data text NOT NULL, prev text NOT NULL, hash text NOT NULL, salt text NOT NULL, PRIMARY KEY (run, seq)
);
CREATE TABLE outcomes (
    run bigint NOT NULL, n bigint NOT NULL, attempt bigint NOT NULL, time text NOT NULL, path text NOT NULL, data text NOT NULL, hash text NOT NULL,
    PRIMARY KEY (run, n)
);
CREATE TABLE continuations (
    run bigint NOT NULL, place bigint NOT NULL, n bigint NOT NULL, kind text NOT NULL, outcomes bigint NOT NULL, state text NOT NULL,
    packed bytea, PRIMARY KEY (run, place)
);
CREATE TABLE early (run bigint NOT NULL, key text NOT NULL, text text NOT NULL, PRIMARY KEY (run, key));
-- Which runs need a text; a run claims what its commits write (PGT4).
CREATE TABLE claims (run text NOT NULL, sha256 text NOT NULL, PRIMARY KEY (run, sha256));
CREATE TABLE asks (
    row bigint GENERATED ALWAYS AS IDENTITY, id text COLLATE "C" PRIMARY KEY, run text NOT NULL, path text NOT NULL, pending text NOT NULL,
    request text NOT NULL, bound text NOT NULL, schema text NOT NULL, owner text NOT NULL, asked bigint NOT NULL, expires bigint NOT NULL,
    mac text NOT NULL, state text NOT NULL, decision text, decider text, decided bigint, seal text
);
CREATE INDEX claims_sha256 ON claims (sha256);
CREATE INDEX runs_program ON runs (program);
CREATE INDEX runs_open ON runs (id) WHERE status NOT IN ('done', 'failed');
CREATE INDEX asks_run ON asks (run, path);
CREATE TABLE ask_notes (
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ask text NOT NULL, run text NOT NULL, at bigint NOT NULL, kind text NOT NULL, who text NOT NULL,
    text text NOT NULL, mac text NOT NULL
);
CREATE INDEX ask_notes_ask ON ask_notes (ask);
-- Runs that were removed in good order, each with a code under the key: no anchor misses them.
CREATE TABLE removed (run text PRIMARY KEY, mac text NOT NULL);
-- The last group of each process that writes (PGT3).
CREATE TABLE writers (process text PRIMARY KEY, last bigint NOT NULL, done json, seen timestamptz NOT NULL DEFAULT now());
-- What processes say to each other that is too long for a notification, for a moment.
CREATE UNLOGGED TABLE mail (id text PRIMARY KEY, text text NOT NULL, at timestamptz NOT NULL DEFAULT now());
-- What servers share besides runs: a row of a kind and a name, changed only from the version that was read.
CREATE TABLE shared (
    kind text NOT NULL, name text COLLATE "C" NOT NULL, version bigint NOT NULL, expires bigint, value text NOT NULL, PRIMARY KEY (kind, name)
);
`;

export const PG_FUNCTION = `
CREATE OR REPLACE FUNCTION apply_jobs(by_process text, id bigint, locks bigint[], jobs json) RETURNS json LANGUAGE plpgsql AS $apply$
#variable_conflict use_column
DECLARE
    before record;
    job json;
    s json;
    out json[] := '{}';
    changes bigint[];
    n bigint;
    broke text;
BEGIN
    SELECT w.last, w.done INTO before FROM writers w WHERE w.process = by_process FOR UPDATE;
    IF NOT FOUND THEN RAISE EXCEPTION USING ERRCODE = 'RM003', MESSAGE = 'the writer is not known here'; END IF;
    IF before.last = id THEN RETURN before.done; END IF;
    IF before.last > id THEN RAISE EXCEPTION USING ERRCODE = 'RM002', MESSAGE = 'the group came late'; END IF;
    PERFORM pg_advisory_xact_lock_shared(${REMOVING}, 'runs'::regclass::oid::int);
    -- In one order, so that no two groups wait for each other.
    PERFORM 1 FROM runs r WHERE r.key = ANY (locks) ORDER BY r.key FOR NO KEY UPDATE;
    FOR job IN SELECT value FROM json_array_elements(jobs) LOOP
        BEGIN
            changes := '{}';
            FOR s IN SELECT value FROM json_array_elements(job->'statements') LOOP
                CASE s->>0
                WHEN 'progress' THEN
                    UPDATE runs SET status = s->>1, result = s->>2, ended = s->>3, usage = s->>4, steps = (s->>5)::bigint, effects = (s->>6)::bigint,
                        count = (s->>7)::bigint, head = s->>8, answers = (s->>9)::bigint, answered = s->>10, owner = s->>11, beat = (s->>12)::bigint,
                        spent = (s->>13)::bigint, bound = s->>14, batches = (s->>15)::bigint, pending = s->>16
                    WHERE key = (s->>17)::bigint AND epoch = (s->>18)::bigint AND owner IS NOT DISTINCT FROM s->>19 AND bound = s->>20;
                WHEN 'event' THEN
                    INSERT INTO events (run, seq, time, path, parent, kind, principal, site, labels, data, prev, hash, salt)
                    VALUES ((s->>1)::bigint, (s->>3)::bigint, s->>4, s->>5, s->>6, s->>7, s->>8, s->>9, s->>10, s->>11, s->>12, s->>13, s->>14);
                WHEN 'outcome' THEN
                    INSERT INTO outcomes (run, n, attempt, time, path, data, hash)
                    VALUES ((s->>1)::bigint, (s->>3)::bigint, (s->>4)::bigint, s->>5, s->>6, s->>7, s->>8);
                WHEN 'state' THEN
                    INSERT INTO continuations (run, place, n, kind, outcomes, state, packed)
                    VALUES ((s->>1)::bigint, (s->>2)::bigint, (s->>3)::bigint, s->>4, (s->>5)::bigint, s->>6, decode(s->>7, 'base64'))
                    ON CONFLICT (run, place) DO UPDATE SET n = excluded.n, kind = excluded.kind, outcomes = excluded.outcomes, state = excluded.state,
                        packed = excluded.packed;
                WHEN 'blob' THEN
                    IF job->>'run' IS NOT NULL THEN INSERT INTO claims (run, sha256) VALUES (job->>'run', s->>1) ON CONFLICT DO NOTHING; END IF;
                    -- CPR2: what is written alone may be a base, so it stands alone from now on.
                    INSERT INTO blobs (sha256, bytes, packed, base) VALUES (s->>1, decode(s->>2, 'base64'), decode(s->>3, 'base64'), s->>4)
                    ON CONFLICT (sha256) DO UPDATE SET bytes = excluded.bytes, packed = excluded.packed, base = NULL
                        WHERE blobs.base IS NOT NULL AND excluded.base IS NULL;
                WHEN 'early' THEN
                    INSERT INTO early (run, key, text) VALUES ((s->>1)::bigint, s->>2, s->>3);
                WHEN 'settleEarly' THEN DELETE FROM early WHERE run = (s->>1)::bigint AND key = s->>2;
                WHEN 'forgetAll' THEN DELETE FROM continuations WHERE run = (s->>1)::bigint;
                WHEN 'hold' THEN
                    UPDATE runs SET beat = (s->>1)::bigint WHERE key = (s->>2)::bigint AND epoch = (s->>3)::bigint AND bound = s->>4;
                WHEN 'take' THEN
                    UPDATE runs SET owner = s->>1, beat = (s->>2)::bigint, status = 'running', bound = s->>3, pending = s->>4, epoch = epoch + 1
                    WHERE key = (s->>5)::bigint AND owner IS NOT DISTINCT FROM s->>6 AND epoch = (s->>7)::bigint AND bound = s->>8;
                WHEN 'insertRun' THEN
                    INSERT INTO runs (id, program, file, root, options, started, status, usage, steps, effects, count, head, answers, answered, owner, beat, bound)
                    VALUES (s->>1, s->>2, s->>3, s->>4, s->>5, s->>6, 'running', '{}', 0, 0, 0, s->>7, 0, '', s->>8, (s->>9)::bigint, s->>10);
                WHEN 'program' THEN INSERT INTO programs (hash, form) VALUES (s->>1, s->>2) ON CONFLICT DO NOTHING;
                WHEN 'insertAsk' THEN
                    INSERT INTO asks (id, run, path, pending, request, bound, schema, owner, asked, expires, mac, state, decision, decider, decided, seal)
                    VALUES (s->>1, s->>2, s->>3, s->>4, s->>5, s->>6, s->>7, s->>8, (s->>9)::bigint, (s->>10)::bigint, s->>11, s->>12, s->>13, s->>14,
                        (s->>15)::bigint, s->>16);
                WHEN 'changeAsk' THEN
                    UPDATE asks SET state = s->>1, decision = s->>2, decider = s->>3, decided = (s->>4)::bigint, seal = s->>5
                    WHERE id = s->>6 AND state = s->>7;
                WHEN 'insertNote' THEN
                    INSERT INTO ask_notes (ask, run, at, kind, who, text, mac)
                    SELECT s->>1, s->>2, (s->>3)::bigint, s->>4, s->>5, s->>6, s->>7
                    WHERE (SELECT count(*) FROM ask_notes WHERE ask = s->>1) < (s->>8)::bigint;
                WHEN 'insertClaim' THEN INSERT INTO claims (run, sha256) VALUES (s->>1, s->>2) ON CONFLICT DO NOTHING;
                WHEN 'share' THEN
                    INSERT INTO shared (kind, name, version, expires, value) VALUES (s->>1, s->>2, 1, (s->>3)::bigint, s->>4) ON CONFLICT DO NOTHING;
                WHEN 'changeShared' THEN
                    UPDATE shared SET version = version + 1, expires = (s->>1)::bigint, value = s->>2
                    WHERE kind = s->>3 AND name = s->>4 AND version = (s->>5)::bigint;
                WHEN 'dropShared' THEN DELETE FROM shared WHERE kind = s->>1 AND name = s->>2 AND version = (s->>3)::bigint;
                END CASE;
                GET DIAGNOSTICS n = ROW_COUNT;
                changes := changes || n;
                IF cardinality(changes) = 1 AND job->>'claim' IS NOT NULL AND n <> 1 THEN
                    RAISE EXCEPTION USING ERRCODE = 'RM001', MESSAGE = job->>'claim';
                END IF;
            END LOOP;
            out := out || json_build_object('changes', changes);
        EXCEPTION WHEN OTHERS THEN
            -- Deadlocks and the like: PGT2.
            IF SQLSTATE LIKE '40%' OR SQLSTATE LIKE '57%' THEN RAISE; END IF;
            GET STACKED DIAGNOSTICS broke = CONSTRAINT_NAME;
            out := out || json_build_object('code', SQLSTATE, 'message', SQLERRM, 'constraint', broke);
        END;
    END LOOP;
    UPDATE writers SET last = id, done = array_to_json(out), seen = now() WHERE process = by_process;
    RETURN array_to_json(out);
END
$apply$;
`;
