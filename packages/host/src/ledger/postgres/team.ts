/**
 * A team over PostgreSQL: notifications, letters that are too long for one, and a table of what is kept together.
 *
 * Boundary: texts and their codes; what they mean is said by who sends and keeps them.
 *
 * PGM1: a message carries a code under the ledger's key over its text, its sender and its time. One that is older than a minute, or was heard before,
 *       counts for nothing.
 * PGM2: a value carries such a code over its kind, name, version and end.
 */
import { createHmac, type KeyObject, randomBytes } from "node:crypto";
import { isObject, type Json } from "@remit/language";
import { isSameCode } from "../code.ts";
import { LedgerError } from "../error.ts";
import { type Owner, parseOwner } from "../lease.ts";
import type { OpenRun, Shared, SharedValue, Team } from "../team.ts";
import type { Writing } from "../thread.ts";
import type { Connections } from "./connections.ts";

const CHANNEL = "team";
/** Longest notification, bytes. */
const MOST_BYTES = 7_500;
const MOST_AGE_MS = 60_000;

export interface TeamSetup {
    readonly connections: Connections;
    readonly writing: Writing;
    readonly key: () => KeyObject;
    readonly now: () => number;
    readonly isLive: (owner: Owner, beat: number) => boolean;
    /** Names this process. */
    readonly process: string;
}

/** `text`, or the id of a letter that holds it. */
interface Envelope {
    readonly id: string;
    readonly from: string;
    readonly at: number;
    readonly code: string;
    readonly text?: string;
}

export function teamOver(setup: TeamSetup): Team {
    const { connections, process, now } = setup;
    const ears = new Set<(message: Json) => void>();
    const seen = new Map<string, number>();
    const codeOf = (id: string, from: string, at: number, text: string): string => coded(setup.key(), ["message", id, from, at, text]);

    async function take(payload: string): Promise<void> {
        const envelope = JSON.parse(payload) as Json;
        // Any user of the database may say something.
        if (!isObject(envelope)) return;
        const { id, from, at, code, text: said } = envelope as unknown as Envelope;
        if (from === process || seen.has(id) || Math.abs(now() - at) > MOST_AGE_MS) return;
        const text = said ?? (await connections.rows<{ text: string }>("SELECT text FROM mail WHERE id = $1", [id]))[0]?.text;
        if (text === undefined || !same(code, codeOf(id, from, at, text))) return;
        if (seen.has(id)) return;
        seen.set(id, at);
        for (const [old, when] of seen) {
            // They came in about the order of their times.
            if (now() - when <= 2 * MOST_AGE_MS) break;
            seen.delete(old);
        }
        for (const ear of ears) ear(JSON.parse(text) as Json);
    }
    /** In the order in which they came, letters too. */
    let last: Promise<void> = Promise.resolve();
    const heard = (payload: string | null): void => {
        if (payload === null) return;
        last = last
            .then(() => take(payload))
            .catch((error: unknown) => {
                // What is no message of ours, or cannot be read now, counts for nothing.
                if (!(error instanceof SyntaxError) && !(error instanceof LedgerError)) throw error;
            });
    };
    let listens: Promise<void> | null = null;
    return {
        hear: async (ear) => {
            ears.add(ear);
            listens ??= connections.listen(CHANNEL, heard);
            await listens;
            return () => ears.delete(ear);
        },
        say: async (message) => {
            const text = JSON.stringify(message);
            const [id, at] = [randomBytes(12).toString("hex"), now()];
            const head = { id, from: process, at, code: codeOf(id, process, at, text) };
            const isShort = Buffer.byteLength(JSON.stringify({ ...head, text })) < MOST_BYTES;
            const payload = JSON.stringify(isShort ? { ...head, text } : head);
            const channel = connections.channelOf(CHANNEL);
            if (isShort) await connections.rows("SELECT pg_notify($1, $2)", [channel, payload]);
            else
                await connections.rows(
                    `WITH old AS (DELETE FROM mail WHERE at < now() - interval '2 minutes'),
                        letter AS (INSERT INTO mail (id, text) VALUES ($3, $4) ON CONFLICT DO NOTHING) SELECT pg_notify($1, $2)`,
                    [channel, payload, id, text],
                );
        },
        shared: sharedOver(setup),
        open: (prefix) => openRuns(setup, prefix),
    };
}

interface SharedRow {
    readonly name: string;
    readonly version: number;
    readonly expires: number | null;
    readonly value: string;
}

function sharedOver({ connections, writing, key, now }: TeamSetup): Shared {
    const text = (kind: string, name: string, version: number, expires: number | null, value: Json): string => {
        const json = JSON.stringify(value);
        return JSON.stringify([json, coded(key(), ["shared", kind, name, version, expires, json])]);
    };
    /** Empty where it has expired, or was not kept by one that has the key. */
    const read = (kind: string, { name, version, expires, value }: SharedRow): SharedValue[] => {
        if (expires !== null && expires <= now()) return [];
        const [json, code] = pairIn(value);
        return same(code, coded(key(), ["shared", kind, name, version, expires, json]))
            ? [{ kind, name, version, value: JSON.parse(json) }]
            : [];
    };
    const ends = new WeakMap<SharedValue, number | null>();
    const found = async (kind: string, where: string, ...values: string[]): Promise<SharedValue[]> => {
        const sql = `SELECT name, version, expires, value FROM shared WHERE kind = $1 ${where} ORDER BY name`;
        const rows = await connections.rows<SharedRow>(sql, [kind, ...values]);
        return rows.flatMap((row) => {
            const read1 = read(kind, row);
            for (const one of read1) ends.set(one, row.expires);
            return read1;
        });
    };
    const wrote = async (statement: Parameters<Writing["run"]>[0]["statements"][number]): Promise<boolean> =>
        (await writing.run({ statements: [statement] }))[0] === 1;
    return {
        list: (kind) => found(kind, ""),
        get: async (kind, name) => (await found(kind, "AND name = $2", name))[0] ?? null,
        put: (kind, name, value, expires) => {
            const end = expires === undefined ? null : Math.trunc(expires);
            return wrote(["share", kind, name, end, text(kind, name, 1, end, value)]);
        },
        change: (before, value) => {
            const { kind, name, version } = before;
            const end = ends.get(before) ?? null;
            return wrote(["changeShared", end, text(kind, name, version + 1, end, value), kind, name, version]);
        },
        drop: ({ kind, name, version }) => wrote(["dropShared", kind, name, version]),
        nameOf: (kind, secret) => coded(key(), ["name", kind, secret]),
    };
}

/** A text and its code; neither where the value is no such pair. */
function pairIn(value: string): readonly [string, unknown] {
    try {
        const read: unknown = JSON.parse(value);
        return Array.isArray(read) && typeof read[0] === "string" ? [read[0], read[1]] : ["", null];
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        return ["", null];
    }
}

async function openRuns({ connections, isLive }: TeamSetup, prefix: string): Promise<OpenRun[]> {
    const rows = await connections.rows<{ id: string; epoch: number; owner: string | null; beat: number }>(
        "SELECT id, epoch, owner, beat FROM runs WHERE id >= $1 AND id < $2 AND status NOT IN ('done', 'failed')",
        [prefix, `${prefix}\uffff`],
    );
    const live = new Set<string>();
    for (const { id, owner, beat } of rows) {
        const read = parseOwner(owner);
        const [whole = ""] = id.split(".");
        // A part that an execution elsewhere has needs no process: who takes the whole goes on with it.
        if (read !== null && (id === whole || !("by" in read)) && isLive(read, beat)) live.add(whole);
    }
    return rows.flatMap(({ id, epoch }) => (id.includes(".") ? [] : [{ id, epoch, live: live.has(id) }]));
}

function coded(key: KeyObject, parts: readonly (string | number | null)[]): string {
    return createHmac("sha256", key)
        .update(JSON.stringify(["remit-team/1", ...parts]))
        .digest("hex");
}

function same(a: unknown, b: string): boolean {
    return typeof a === "string" && isSameCode(a, b);
}
