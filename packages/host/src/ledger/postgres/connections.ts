/**
 * Connections to one database: some that read, one that writes, one that listens; each made anew where it broke.
 *
 * Boundary: connections and patience; knows no rows. What is written is `jobs.ts`, what is read `reading.ts`.
 *
 * PGC1: a question that only reads is asked again, with growing pauses, while the server is away; at most `PATIENCE` long.
 * PGC3: a connection keeps the process alive only while an answer is waited for.
 * PGC2: a listener hears of a break too: what was said meanwhile is lost, so the listener looks for itself.
 * PGC4: the connection that listens ends with the others, also one that is being made while they end.
 */
import pg from "pg";
import type { Address } from "../address.ts";
import { LedgerError } from "../error.ts";
import { isGone, told } from "./error.ts";

/** How long a server may be away before a reader is told, milliseconds. */
const PATIENCE = 60_000;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 2_000;
/** No answer within this time is a connection that is dead, milliseconds. */
const ANSWER = 60_000;

export type Row = { readonly [column: string]: unknown };

/** `ref` and `unref` are not among the types of `pg` (8.16 and later have them). */
export type Client = pg.Client & { ref(): void; unref(): void };

export interface Connections {
    /** Of the ledger, for messages. */
    readonly at: string;
    /** Rejects with `LedgerError`. */
    rows<T>(sql: string, values?: readonly unknown[]): Promise<T[]>;
    /** One transaction, kept where the work resolves. Rejects with `LedgerError`; then nothing of it is kept. */
    transaction(work: (query: <T>(sql: string, values?: readonly unknown[]) => Promise<T[]>) => Promise<void>): Promise<void>;
    /** The connection that writes. Rejects with the error of `pg`. */
    writer(): Promise<Client>;
    /** It gave no answer: the next call of `writer` makes another. */
    broke(writer: Client): void;
    /** What the database calls the channel: that of one ledger among several. */
    channelOf(channel: string): string;
    /** Calls `heard` with what is said on the channel, and with null after each break. Resolves when it listens. */
    listen(channel: string, heard: (said: string | null) => void): Promise<void>;
    /** Resolves when nothing is open any more. */
    close(): Promise<void>;
}

/** Numbers of 64 bits are read as numbers: none of ours is larger than 2^53. */
const types = {
    getTypeParser: (oid: number, format?: "text" | "binary") => (oid === 20 ? Number : pg.types.getTypeParser(oid, format as "text")),
} as pg.CustomTypesConfig;

export function pause(tries: number): number {
    return Math.min(FIRST_PAUSE * 2 ** tries, LONGEST_PAUSE);
}

export interface Opening {
    readonly readOnly: boolean;
    /** What each new writer asks first. */
    readonly first: readonly (readonly [sql: string, values: readonly string[]])[];
}

export function connectionsTo(address: Address, opening: Opening): Connections {
    return new Broken(address, opening);
}

/** Connections that are made anew where they broke. */
class Broken implements Connections {
    readonly at: string;
    readonly #schema: string;
    readonly #config: pg.ClientConfig;
    readonly #opening: Opening;
    readonly #pool: pg.Pool;
    #closed = false;
    #writer: Promise<Client> | null = null;
    #listener: Client | null = null;
    /** Resolves when no connection listens any more. */
    #listened: Promise<void> = Promise.resolve();
    /** What ends the pauses. */
    readonly #pauses = new Set<() => void>();
    readonly #ears = new Map<string, (said: string | null) => void>();

    constructor({ shown, client, pool, schema }: Address, opening: Opening) {
        this.at = shown;
        this.#schema = schema;
        this.#opening = opening;
        this.#config = { ...client, types, query_timeout: ANSWER };
        const only = opening.readOnly ? " -c default_transaction_read_only=on" : "";
        this.#pool = new pg.Pool({
            ...this.#config,
            // What readers write is notifications, which need no sync.
            options: `${client.options} -c synchronous_commit=off${only}`,
            max: pool,
            idleTimeoutMillis: 30_000,
            allowExitOnIdle: true,
        });
        // A connection that broke while it was idle is taken out of the pool; the next question makes another.
        this.#pool.on("error", () => undefined);
    }

    /** PGC1. */
    rows = async <T>(sql: string, values: readonly unknown[] = []): Promise<T[]> => {
        const began = performance.now();
        for (let tries = 0; ; tries++)
            try {
                return (await this.#pool.query(sql, values.map(plain))).rows as T[];
            } catch (error) {
                if (!isGone(error) || this.#closed || performance.now() - began > PATIENCE) throw told(this.at, error);
                await this.#rest(tries);
            }
    };

    async transaction(work: Parameters<Connections["transaction"]>[0]): Promise<void> {
        try {
            const client = await this.#pool.connect();
            let broke: unknown;
            try {
                await client.query("BEGIN");
                await work(async (sql, values = []) => (await client.query(sql, [...values])).rows);
                await client.query("COMMIT");
            } catch (error) {
                broke = error;
                // A connection that cannot say so any more has ended its transaction.
                await client.query("ROLLBACK").catch(() => undefined);
                throw error;
            } finally {
                client.release(isGone(broke));
            }
        } catch (error) {
            throw told(this.at, error);
        }
    }

    writer(): Promise<Client> {
        if (this.#writer !== null) return this.#writer;
        const ended = (): void => {
            if (this.#writer === made) this.#writer = null;
        };
        const made: Promise<Client> = (async () => {
            const client = await this.#connected({}, () => ended());
            for (const [sql, values] of this.#opening.first) await client.query(sql, [...values]);
            return client;
        })();
        made.catch(ended);
        this.#writer = made;
        return made;
    }

    broke(client: Client): void {
        this.#writer = null;
        // Where a question is under way, this ends the connection at once. That it is not answered is why it is ended.
        client.end().catch(() => undefined);
    }

    channelOf(channel: string): string {
        return `remit_${this.#schema}_${channel}`.slice(0, 63);
    }

    async listen(channel: string, heard: (said: string | null) => void): Promise<void> {
        const own = this.channelOf(channel);
        const isFirst = this.#ears.size === 0;
        await new Promise<void>((resolve, reject) => {
            this.#ears.set(own, (said) => {
                resolve();
                heard(said);
            });
            const failed = (error: unknown): void => reject(told(this.at, error));
            if (isFirst) this.#listened = this.#listening();
            // One that was closed before it heard anything hears nothing.
            this.#listened.then(() => failed(new LedgerError("away", `the ledger ${this.at} was closed`)), failed);
            if (!isFirst && this.#listener !== null) this.#hear(this.#listener, own).catch(failed);
        });
    }

    async close(): Promise<void> {
        this.#closed = true;
        for (const over of this.#pauses) over();
        const ended = async (client: Promise<Client> | Client | null): Promise<void> => {
            try {
                await (await client)?.end();
            } catch (error) {
                if (!isGone(error)) throw error;
            }
        };
        // PGC3: the end of a connection is waited for, too.
        const waits = setInterval(() => undefined, 60_000);
        try {
            await Promise.all([ended(this.#writer), ended(this.#listener), this.#pool.end(), this.#listened.catch(() => undefined)]);
        } finally {
            clearInterval(waits);
        }
    }

    async #connected(more: Partial<pg.ClientConfig>, ended: () => void): Promise<Client> {
        const client = new pg.Client({ ...this.#config, ...more }) as Client;
        client.on("error", ended);
        client.on("end", ended);
        await client.connect();
        // A process that is done ends without closing its store, as with a file.
        client.unref();
        return client;
    }

    async #hear(client: Client, channel: string): Promise<void> {
        // PGC3.
        client.ref();
        try {
            await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
        } finally {
            client.unref();
        }
        this.#ears.get(channel)?.(null);
    }

    /** PGC2. */
    async #listening(): Promise<void> {
        for (let tries = 0; !this.#closed; tries++) {
            let broke = (): void => undefined;
            const broken = new Promise<void>((resolve) => {
                broke = resolve;
            });
            try {
                const client = await this.#connected({ query_timeout: 0 }, () => broke());
                // PGC4.
                if (this.#closed) {
                    await client.end();
                    return;
                }
                client.on("notification", ({ channel, payload = "" }) => this.#ears.get(channel)?.(payload));
                this.#listener = client;
                for (const channel of this.#ears.keys()) await this.#hear(client, channel);
                tries = 0;
                await broken;
            } catch (error) {
                if (!isGone(error)) throw error;
            }
            this.#listener = null;
            if (!this.#closed) await this.#rest(tries);
        }
    }

    #rest(tries: number): Promise<void> {
        return new Promise((resolve) => {
            const over = (): void => {
                clearTimeout(timer);
                this.#pauses.delete(over);
                resolve();
            };
            const timer = setTimeout(over, pause(tries));
            this.#pauses.add(over);
        });
    }
}

/** PostgreSQL takes no character 0 in a text: what is looked for with one is not there. */
function plain(value: unknown): unknown {
    return typeof value === "string" ? value.replaceAll("\0", "\ufffd") : value;
}
