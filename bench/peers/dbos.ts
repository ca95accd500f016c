/** The contender of DBOS: a PostgreSQL of its own on a folder, and flows of so many steps that do nothing. Ends with this process. */
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { DBOS } from "@dbos-inc/dbos-sdk";

const PLACE = "/usr/lib/postgresql";

/** `folder`: a new one, which every user may look into. */
export async function flows(folder: string): Promise<(n: number) => Promise<number>> {
    const url = await postgres(folder);
    DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, runAdminServer: false, logLevel: "error" });
    const chain = DBOS.registerWorkflow(
        async (n: number): Promise<number> => {
            let sum = 0;
            for (let i = 0; i < n; i++) sum += await DBOS.runStep(async () => 1, { name: "step" });
            return sum;
        },
        { name: "chain" },
    );
    await DBOS.launch();
    return async (n) => {
        const value = await chain(n);
        if (value !== n) throw new Error(`${value} is not ${n}`);
        return value;
    };
}

/** Its server refuses to run as root, so root starts it as the user whom Debian made for it. */
async function postgres(folder: string): Promise<string> {
    const version = existsSync(PLACE) ? readdirSync(PLACE).sort().at(-1) : undefined;
    if (version === undefined) throw new Error(`there is no PostgreSQL in ${PLACE}: \`apt-get install postgresql\` brings it`);
    mkdirSync(folder, { recursive: true });
    const isRoot = userInfo().uid === 0;
    if (isRoot) chownSync(folder, Number(execFileSync("id", ["-u", "postgres"])), Number(execFileSync("id", ["-g", "postgres"])));
    const run = (name: string, ...args: string[]): void => {
        const command = [join(PLACE, version, "bin", name), ...args];
        const [first, ...rest] = isRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
        execFileSync(first as string, rest, { stdio: "ignore", cwd: folder });
    };
    const [data, port] = [join(folder, "data"), await free()];
    run("initdb", "-D", data, "-A", "trust", "-U", "bench");
    run(
        "pg_ctl",
        "-w",
        "-D",
        data,
        "-l",
        join(folder, "log"),
        "-o",
        `-p ${port} -c unix_socket_directories=${folder} -c listen_addresses=127.0.0.1`,
        "start",
    );
    process.on("exit", () => run("pg_ctl", "-D", data, "-m", "immediate", "stop"));
    return `postgresql://bench@127.0.0.1:${port}/bench`;
}

function free(): Promise<number> {
    return new Promise((resolve) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
            const address = server.address();
            server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
        });
    });
}
