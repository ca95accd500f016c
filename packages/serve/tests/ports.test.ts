/** Ports at which a server would start and no browser find it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProcess, REFUSED_PORTS } from "@remit/host";
import { expect, test } from "vitest";
import { Server, ServeError } from "../src/index.ts";
import { httpOf } from "../src/mcp/http.ts";

test("the ports are those that fetch refuses, and none beside them", async () => {
    const refuses = async (port: number): Promise<boolean> => {
        const error = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2000) }).then(
            () => null,
            (failed: { readonly cause?: { readonly message?: string } }) => failed,
        );
        return error?.cause?.message === "bad port";
    };
    const near = [...REFUSED_PORTS].flatMap((port) => [port - 1, port, port + 1]).filter((port) => port > 0);
    const found = await Promise.all([...new Set(near)].map(async (port) => ((await refuses(port)) ? [port] : [])));
    expect(found.flat().sort((a, b) => a - b)).toEqual([...REFUSED_PORTS]);
});

test("a server and an MCP server refuse such a port, with what to do", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-ports-"));
    try {
        const process = openProcess({ env: { HOME: folder }, cwd: folder });
        const started = Server.start({ process, ledger: join(folder, "ledger.db"), model: "mock:", port: 4190 });
        await expect(started).rejects.toMatchObject({
            message: expect.stringContaining("refuse port 4190"),
            hint: expect.stringContaining("--port"),
        });
        await expect(started).rejects.toBeInstanceOf(ServeError);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
    const face = httpOf(() => Promise.reject(new Error("nothing asks for it")), { port: 6000 });
    await expect(face).rejects.toMatchObject({
        message: expect.stringContaining("refuse port 6000"),
        hint: expect.stringContaining("--http"),
    });
});
