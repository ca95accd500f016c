/** The key of `--decision-key`, which a server makes where there is none. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

/** Takes one key after another, each when the other server does, too; says their public halves. */
const SERVER = `
import { createPublicKey } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
const { files, temporal, ready } = workerData;
const { signer } = await import(temporal);
const count = new Int32Array(ready);
parentPort.postMessage(files.map((file, i) => {
    Atomics.add(count, 0, 1);
    while (Atomics.load(count, 0) < 2 * (i + 1));
    return createPublicKey(signer({ decisionKey: file }, true).signer).export({ type: "spki", format: "pem" });
}));
`;

test("servers that begin at once on a key that is not there have one and the same", async () => {
    const folder = mkdtempSync(join(tmpdir(), "remit-key-"));
    try {
        const names = Array.from({ length: 20 }, (_, i) => `${i}.pem`).sort();
        const files = names.map((name) => join(folder, name));
        const temporal = new URL("../src/temporal.ts", import.meta.url).href;
        const workerData = { files, temporal, ready: new SharedArrayBuffer(4) };
        const code = new URL(`data:text/javascript,${encodeURIComponent(SERVER)}`);
        const [one, other] = await Promise.all(
            [1, 2].map(() => {
                const worker = new Worker(code, { workerData, stderr: true });
                return new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject));
            }),
        );
        expect(one).toEqual(other);
        expect(readdirSync(folder).sort()).toEqual(names);
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
});
