/** What the Containerfile starts and asks, as it stands there, in an empty folder; building it needs a builder and a registry, which no test has. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Room, room } from "./remit.ts";

let at: Room;
beforeEach(() => {
    at = room();
});
afterEach(() => at.clear());

const root = new URL("../../../", import.meta.url);
const text = readFileSync(new URL("Containerfile", root), "utf8").replaceAll("\\\n", " ");

/** The words of an instruction that is written as a list. */
function words(instruction: string): string[] {
    const [, list = "[]"] = new RegExp(`^${instruction} .*?(\\[.*\\])$`, "m").exec(text) ?? [];
    return JSON.parse(list) as string[];
}

async function freePort(): Promise<string> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    return String(port);
}

test("the container's command serves in an empty folder, keeps what it keeps in the volume, and its health check tells whether it is there", async () => {
    const port = await freePort();
    const [command, ...args] = words("ENTRYPOINT").map((one) => (one === "4100" ? port : one));
    expect([command, args[0]]).toEqual(["remit", "serve"]);
    expect(args).toContain(port);
    const [node, ...asks] = words("HEALTHCHECK").map((one) => one.replace(":4100/", `:${port}/`));
    expect(node).toBe("node");
    const healthy = async (): Promise<boolean> => (await once(spawn(process.execPath, asks), "exit"))[0] === 0;
    const volume = join(at.folder, "volume");
    const [, set = ""] = /^ENV (.*)$/m.exec(text) ?? [];
    const env = Object.fromEntries(set.split(" ").map((one) => one.replace("/var/lib/remit", volume).split("=") as [string, string]));
    expect(await healthy()).toBe(false);
    const { child, ran } = at.started({ env }, ...args, "--model", "mock:");
    while (child.exitCode === null && !(await healthy())) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(join(volume, "remit"))).toBe(true);
    // What a container is stopped with.
    child.kill("SIGTERM");
    expect(await ran).toMatchObject({ code: 0, err: expect.stringContaining('"message":"ready"') });
    // The package that the second stage installs is the one that the first stage makes.
    const [, packed = ""] = /^COPY --from=build \/src\/(\S+)/m.exec(text) ?? [];
    expect(packed).toBe("dist/remit-lang.tgz");
    expect(readFileSync(new URL("scripts/pack.mjs", root), "utf8")).toContain("remit-lang.tgz");
    expect(text).toContain("EXPOSE 4100");
});
