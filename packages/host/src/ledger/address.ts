/**
 * The address of a ledger in PostgreSQL: `postgres://USER@HOST:PORT/DATABASE?schema=…&pool=…&sslmode=…`.
 *
 * Boundary: a text in, settings out; connects nowhere.
 *
 * PA1: what is shown of an address holds neither user nor password.
 * PA2: another machine is reached over TLS and its certificate is checked, unless the address says otherwise.
 */
import { defined } from "@remit/language";
import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import { systemWords } from "../failure/system.ts";
import { LedgerError } from "./error.ts";

export interface Address {
    /** For messages. */
    readonly shown: string;
    readonly client: ClientConfig;
    readonly schema: string;
    /** Most connections for reading; one more writes, one listens. */
    readonly pool: number;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/;
const POOL = 8;
const MOST_POOL = 100;
const KNOWN = new Set(["schema", "pool", "sslmode", "sslrootcert", "sslcert", "sslkey", "host", "application_name"]);
const SSL_MODES = new Set(["disable", "require", "verify-ca", "verify-full"]);

/** `env`: `PGPASSWORD`, where the address has no password. Throws `LedgerError` `address`. */
export function addressOf(text: string, env: Readonly<Record<string, string | undefined>>): Address {
    const wrong = (message: string): LedgerError => new LedgerError("address", `the address of the ledger ${message}`);
    if (!URL.canParse(text)) throw wrong("is no URL");
    const url = new URL(text);
    const { searchParams: said } = url;
    for (const name of said.keys()) if (!KNOWN.has(name)) throw wrong(`has a setting '${name}', which is not known`);
    const schema = said.get("schema") ?? "remit";
    if (!SCHEMA.test(schema)) throw wrong("has a schema that is no plain name: small letters, digits and _");
    const pool = Number(said.get("pool") ?? POOL);
    if (!Number.isInteger(pool) || pool < 1 || pool > MOST_POOL) throw wrong(`has a pool that is no whole number from 1 to ${MOST_POOL}`);
    let [user, password, database] = ["", "", ""];
    try {
        [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent) as [
            string,
            string,
            string,
        ];
    } catch (error) {
        if (!(error instanceof URIError)) throw error;
        throw wrong("has a % that stands for no character");
    }
    if (database === "") throw wrong("names no database");
    // A folder is where the server's socket is.
    const host = said.get("host") ?? (url.hostname === "" ? "localhost" : url.hostname.replace(/^\[|\]$/g, ""));
    const port = url.port === "" ? 5432 : Number(url.port);
    const secret = password === "" ? env["PGPASSWORD"] : password;
    const name = user === "" ? env["PGUSER"] : user;
    return {
        shown: `postgres://${host.includes(":") ? `[${host}]` : host}:${port}/${encodeURIComponent(database)}${schema === "remit" ? "" : `?schema=${schema}`}`,
        schema,
        pool,
        client: {
            ...{ host, port, database },
            ...(name === undefined ? {} : { user: name }),
            ...(secret === undefined ? {} : { password: secret }),
            ssl: tlsOf(said, host, wrong),
            options: `-c search_path=${schema}`,
            application_name: said.get("application_name") ?? "remit",
            connectionTimeoutMillis: 10_000,
            keepAlive: true,
            keepAliveInitialDelayMillis: 10_000,
        },
    };
}

/** PA2. */
function tlsOf(said: URLSearchParams, host: string, wrong: (message: string) => LedgerError): Exclude<ClientConfig["ssl"], undefined> {
    const isHere = host.startsWith("/") || host === "localhost" || host === "::1" || /^127\./.test(host);
    const mode = said.get("sslmode") ?? (isHere ? "disable" : "verify-full");
    if (!SSL_MODES.has(mode)) throw wrong(`has an sslmode '${mode}': ${[...SSL_MODES].join(", ")} are known`);
    if (mode === "disable") return false;
    const file = (name: string): string | undefined => {
        const path = said.get(name);
        if (path === null) return undefined;
        try {
            return readFileSync(path, "utf8");
        } catch (error) {
            throw wrong(`has an ${name} that cannot be read: ${systemWords(error)}`);
        }
    };
    const [ca, cert, key] = [file("sslrootcert"), file("sslcert"), file("sslkey")];
    return {
        rejectUnauthorized: mode !== "require",
        ...defined({ ca, cert, key }),
        // Whose name the certificate has is not looked at.
        ...(mode === "verify-ca" ? { checkServerIdentity: () => undefined } : {}),
    };
}
