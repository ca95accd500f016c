/**
 * Making a ledger's tables in a database, and looking whether they are ours and of this version.
 *
 * Boundary: one connection, before the store opens; no runs.
 *
 * PM1: one process at a time makes them, under a lock of the database, in one transaction: whole or not at all.
 * PM2: tables of a newer version are refused, those of an older one are brought up; a schema with other tables is not ours.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { LedgerError } from "../error.ts";
import type { Address } from "../address.ts";
import { isGone, told } from "./error.ts";
import { pause } from "./connections.ts";
import { PG_FUNCTION, PG_SCHEMA, PG_SCHEMA_VERSION } from "./schema.ts";

export interface Meta {
    /** Of this ledger, wherever it is reached. */
    readonly id: string;
    /** Of the database, milliseconds since 1970. */
    readonly now: number;
    readonly started: number;
}

/** How long a server that is being started is waited for, milliseconds. */
const COMES_UP = 15_000;
/** A group of a process that wrote nothing for so long is not sent again any more. */
const FORGOTTEN = "30 days";

/** Rejects with `LedgerError`. */
export async function madeReady(address: Address, readOnly: boolean): Promise<Meta> {
    const { shown: at } = address;
    const began = performance.now();
    for (let tries = 0; ; tries++) {
        const client = new pg.Client({ ...address.client, query_timeout: 60_000 });
        client.on("error", () => undefined);
        try {
            await client.connect();
            return await ready(client, address, readOnly);
        } catch (error) {
            const comesUp = error instanceof pg.DatabaseError && error.code === "57P03" && performance.now() - began < COMES_UP;
            if (!comesUp) throw told(at, error);
            await new Promise((resolve) => setTimeout(resolve, pause(tries)));
        } finally {
            await client.end().catch((error: unknown) => {
                if (!isGone(error)) throw error;
            });
        }
    }
}

async function ready(client: pg.Client, address: Address, readOnly: boolean): Promise<Meta> {
    const version = await versionIn(client, address);
    if (version < PG_SCHEMA_VERSION) {
        if (readOnly && version === 0) throw new LedgerError("unknown", `there is no ledger at ${address.shown} yet`);
        if (!readOnly) await make(client, address);
    }
    const { rows } = await client.query(
        `SELECT (SELECT value FROM meta WHERE key = 'id') AS id, floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
            floor(extract(epoch FROM pg_postmaster_start_time()) * 1000)::float8 AS started`,
    );
    const [meta] = rows as Meta[];
    if (meta === undefined || !/^[0-9a-f]{32}$/.test(meta.id)) throw new LedgerError("foreign", `${address.shown} is not a Remit ledger`);
    return meta;
}

/** 0 where there is none. */
async function versionIn(client: pg.Client, { shown: at, schema }: Address): Promise<number> {
    const { rows } = await client.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = $1", [schema]);
    if (rows.length === 0) return 0;
    if (!rows.some(({ name }) => name === "meta") || !rows.some(({ name }) => name === "runs"))
        throw new LedgerError("foreign", `the schema '${schema}' of ${at} holds tables, and they are no ledger`);
    const found = await client.query<{ value: string }>("SELECT value FROM meta WHERE key = 'version'");
    const version = Number(found.rows[0]?.value);
    if (!Number.isInteger(version) || version < 1) throw new LedgerError("foreign", `${at} is not a Remit ledger`);
    if (version > PG_SCHEMA_VERSION)
        throw new LedgerError("schema", `the ledger ${at} has schema version ${version}, this Remit knows ${PG_SCHEMA_VERSION}`);
    return version;
}

/** PM1. */
async function make(client: pg.Client, address: Address): Promise<void> {
    const { schema } = address;
    await client.query("BEGIN");
    try {
        await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`remit ${schema}`]);
        await client.query(`CREATE SCHEMA IF NOT EXISTS ${pg.escapeIdentifier(schema)}`);
        // Another process may have made them while this one waited for the lock.
        if ((await versionIn(client, address)) === 0) {
            await client.query(PG_SCHEMA);
            await client.query(PG_FUNCTION);
            const values = [String(PG_SCHEMA_VERSION), randomBytes(16).toString("hex")];
            await client.query("INSERT INTO meta (key, value) VALUES ('version', $1), ('id', $2)", values);
        }
        // Versions 1 and 2 have the same tables; many pending effects stand in another one of them.
        await client.query("UPDATE meta SET value = $1 WHERE key = 'version'", [String(PG_SCHEMA_VERSION)]);
        await client.query(`DELETE FROM writers WHERE seen < now() - interval '${FORGOTTEN}'`);
        await client.query("COMMIT");
    } catch (error) {
        await client.query("ROLLBACK").catch((reason: unknown) => {
            if (!isGone(reason)) throw reason;
        });
        throw error;
    }
}
