/** A development server that ends at its start. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startDevServer } from "../src/index.ts";

test("one that ends at once is started again where its port was chosen for it, and not where the caller named it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-dev-"));
    try {
        const program = join(folder, "temporal");
        writeFileSync(program, `#!/bin/sh\necho started >> ${folder}/log\necho "the port is taken" >&2\nexit 1\n`);
        chmodSync(program, 0o755);
        const times = (): number => readFileSync(join(folder, "log"), "utf8").trim().split("\n").length;
        await expect(startDevServer({ program })).rejects.toThrow("the Temporal server did not start: the port is taken");
        expect(times()).toBe(3);
        await expect(startDevServer({ program, port: 1 })).rejects.toThrow("the port is taken");
        expect(times()).toBe(4);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
});

test("nothing of a secret is left where what it wrote is cut", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-dev-"));
    const before = process.env["REMIT_TEST_API_KEY"];
    const secret = "sk-0123456789abcdefABCDEFGHIJ";
    process.env["REMIT_TEST_API_KEY"] = secret;
    try {
        const program = join(folder, "temporal");
        writeFileSync(
            program,
            `#!${process.execPath}\nprocess.stderr.write(process.env.REMIT_TEST_API_KEY + "y".repeat(1990)); process.exitCode = 1;\n`,
        );
        chmodSync(program, 0o755);
        const error: unknown = await startDevServer({ program, port: 1 }).catch((reason: unknown) => reason);
        expect(String(error)).toContain("yyyyyyyy");
        for (let at = 0; at + 5 <= secret.length; at++) expect(String(error)).not.toContain(secret.slice(at, at + 5));
    } finally {
        if (before === undefined) delete process.env["REMIT_TEST_API_KEY"];
        else process.env["REMIT_TEST_API_KEY"] = before;
        rmSync(folder, { recursive: true, force: true });
    }
});
