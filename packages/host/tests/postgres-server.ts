/**
 * A real PostgreSQL for tests: one server a process, begun with the first test that asks for it, and a schema of its own for each.
 *
 * Boundary: starts and ends the server. It ends with this process, however that ends, and its folder goes: it watches a pipe that only this process
 * holds. It is not synced to the disk: tests end its processes, not the machine.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { postgresFolder } from "../../../scripts/lib/postgres.mjs";

export interface PostgresServer {
    /** Of its superuser, without a schema. */
    readonly address: string;
    readonly port: number;
    readonly folder: string;
    /** An address with a schema of its own. */
    fresh(): string;
    query<T>(sql: string, values?: readonly unknown[]): Promise<T[]>;
    /** Ends every process of the server at once, as `kill -9` does. */
    kill(): Promise<void>;
    /** Begins again with what is on the disk. */
    start(): Promise<void>;
    /** In good order, as `pg_ctl restart -m fast` does: open transactions are rolled back, clients are told that the server ends. */
    restart(): Promise<void>;
    stop(): Promise<void>;
}

let shared: Promise<PostgresServer> | null = null;
export function postgres(): Promise<PostgresServer> {
    shared ??= postgresOfItsOwn();
    return shared;
}

/** Another server, for tests that end it or set it up in their own way; the caller stops it. `settings`: lines of `postgresql.conf`; `disk`: the folder that its own is in. */
export async function postgresOfItsOwn(settings = "", disk = tmpdir()): Promise<PostgresServer> {
    const bin = postgresFolder();
    if (bin === null)
        throw new Error("The tests need PostgreSQL: install the package `postgresql` (Debian, Ubuntu) or put its programs on the PATH.");
    const folder = mkdtempSync(join(disk, "remit-postgres-"));
    const data = join(folder, "data");
    const isRoot = process.getuid?.() === 0;
    // PostgreSQL refuses root; its package makes this user.
    const as = (program: string, args: readonly string[]): [string, string[]] =>
        isRoot ? ["runuser", ["-u", "postgres", "--", program, ...args]] : [program, [...args]];
    if (isRoot) {
        const [uid, gid] = ["-u", "-g"].map((which) => Number(spawnSync("id", [which, "postgres"], { encoding: "utf8" }).stdout)) as [
            number,
            number,
        ];
        chownSync(folder, uid, gid);
    }
    const made = spawnSync(
        ...as(join(bin, "initdb"), ["-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C"]),
        {
            encoding: "utf8",
            cwd: folder,
        },
    );
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
    const port = await freePort();
    appendFileSync(
        join(data, "postgresql.conf"),
        `\nport = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\nfsync = off\nmax_connections = 60\nshared_buffers = 32MB\n${settings}\n`,
    );
    let running: ChildProcess | null = null;
    const address = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const query: PostgresServer["query"] = async (sql, values = []) => {
        const client = new pg.Client({ connectionString: address });
        await client.connect();
        try {
            return (await client.query(sql, [...values])).rows;
        } finally {
            await client.end();
        }
    };
    const answers = async (): Promise<boolean> => {
        try {
            await query("SELECT 1");
            return true;
        } catch {
            // It is not up yet, or not any more.
            return false;
        }
    };
    const start = async (): Promise<void> => {
        // A test process that is ended by a signal runs nothing more, so its folder is removed here.
        const script = `"$0" -D "$1" >>"$1/log" 2>&1 & P=$!; read -r KEEP; kill -QUIT $P 2>/dev/null; wait $P; [ "$KEEP" = keep ] || rm -rf "$2"`;
        running = spawn(...as("sh", ["-c", script, join(bin, "postgres"), data, folder]), {
            stdio: ["pipe", "ignore", "ignore"],
            cwd: folder,
        });
        // It holds no test run up, and ends with it.
        running.unref();
        (running.stdin as unknown as { unref(): void }).unref();
        while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const ended = async (child: ChildProcess): Promise<void> => {
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    };
    const server: PostgresServer = {
        address,
        port,
        folder,
        fresh: () => `${address}?schema=t_${randomBytes(6).toString("hex")}`,
        query,
        kill: async () => {
            const [first] = await query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
            // A postmaster whose process dies of a KILL ends all others, and recovers when it is started again.
            const parent = spawnSync("ps", ["-o", "ppid=", "-p", String(first?.pid)], { encoding: "utf8" }).stdout.trim();
            process.kill(Number(parent), "SIGKILL");
            while (await answers()) await new Promise((resolve) => setTimeout(resolve, 20));
            (running as ChildProcess).stdin?.end("keep\n");
            await ended(running as ChildProcess);
        },
        start,
        restart: async () => {
            const [code] = (await once(
                spawn(...as(join(bin, "pg_ctl"), ["-D", data, "-m", "fast", "-w", "-t", "600", "stop"]), { stdio: "ignore", cwd: folder }),
                "exit",
            )) as [number | null];
            if (code !== 0) throw new Error(`pg_ctl stop ended with ${code}`);
            (running as ChildProcess).stdin?.end("keep\n");
            await ended(running as ChildProcess);
            await start();
        },
        stop: async () => {
            (running as ChildProcess).ref();
            (running as ChildProcess).stdin?.end();
            await ended(running as ChildProcess);
            rmSync(folder, { recursive: true, force: true });
        },
    };
    await start();
    return server;
}

async function freePort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    return port;
}
