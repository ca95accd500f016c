/** Restate's contender: its server on a folder of its own, a service beside it, and flows of so many steps that do nothing. Ends with this process. */
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as restate from "@restatedev/restate-sdk";
import * as clients from "@restatedev/restate-sdk-clients";

const flow = restate.service({
    name: "flow",
    handlers: {
        chain: async (ctx: restate.Context, n: number): Promise<number> => {
            let sum = 0;
            for (let i = 0; i < n; i++) sum += await ctx.run("step", () => 1);
            return sum;
        },
    },
});

/** `folder`: a new one, where the server keeps its log. */
export async function flows(folder: string): Promise<(n: number) => Promise<number>> {
    const [ingress, admin, node, service] = [await port(), await port(), await port(), await port()];
    const command = join(
        dirname(createRequire(import.meta.url).resolve("@restatedev/restate-server-linux-x64/package.json")),
        "bin",
        "restate-server",
    );
    const child = spawn(
        command,
        ["--base-dir", folder, "--bind-ip", "127.0.0.1", "--advertised-host", "127.0.0.1", "--bind-port", String(node)],
        {
            env: {
                ...process.env,
                ...{
                    RESTATE_DISABLE_TELEMETRY: "true",
                    RESTATE_INGRESS__BIND_PORT: String(ingress),
                    RESTATE_ADMIN__BIND_PORT: String(admin),
                    RESTATE_LOG_FILTER: "error",
                },
            },
            stdio: "ignore",
        },
    );
    process.on("exit", () => child.kill("SIGKILL"));
    await restate.serve({ services: [flow], port: service });
    await registered(admin, service);
    const client = clients.connect({ url: `http://127.0.0.1:${ingress}` }).serviceClient<typeof flow>({ name: "flow" });
    return async (n) => {
        const value = await client.chain(n);
        if (value !== n) throw new Error(`${value} is not ${n}`);
        return value;
    };
}

async function registered(admin: number, service: number): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
        const body = JSON.stringify({ uri: `http://127.0.0.1:${service}` });
        const sent = fetch(`http://127.0.0.1:${admin}/deployments`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body,
        });
        if (await sent.then(({ ok }) => ok, refused)) return;
        await sleep(200);
    }
    throw new Error("Restate's server did not take the service");
}

/** The server does not listen yet. */
function refused(): false {
    return false;
}

function port(): Promise<number> {
    return new Promise((resolve) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
            const address = server.address();
            server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
        });
    });
}
