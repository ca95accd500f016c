/** The service that `remit init --template service` makes, against clients that break off. The folder is in the checkout, so that `remit-lang` is found. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

test("a client that goes away, or sends too much, ends its own request alone", async () => {
    const folder = mkdtempSync(join(root, ".tools-service-"));
    cpSync(join(root, "packages/cli/templates/service"), folder, { recursive: true });
    const server = spawn(process.execPath, ["server.mjs"], {
        cwd: folder,
        env: { ...process.env, PORT: "0" },
        stdio: ["ignore", "pipe", "inherit"],
    });
    try {
        const [said] = (await once(server.stdout, "data")) as [Buffer];
        const url = said.toString().trim();
        const socket = connect(Number(new URL(url).port), "127.0.0.1");
        socket.write("POST /order HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
        await new Promise((resolve) => setTimeout(resolve, 50));
        socket.destroy();
        const status = async (body: string): Promise<number> => (await fetch(url, { method: "POST", body })).status;
        expect(await status("{")).toBe(400);
        expect(await status("x".repeat(200_000))).toBe(413);
        expect(await status("{")).toBe(400);
    } finally {
        server.kill();
        rmSync(folder, { recursive: true, force: true });
    }
});
