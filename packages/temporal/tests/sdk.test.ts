/** SDL1, in a thread that has loaded nothing else. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

test("SDL1: who only asks a server loads Temporal's client, and nothing of its workers", async () => {
    const index = new URL("../src/index.ts", import.meta.url).href;
    const code = `const { parentPort } = require("node:worker_threads");
        import(${JSON.stringify(index)}).then(({ remitClient }) => parentPort.postMessage([typeof remitClient, ...Object.keys(require.cache)]));`;
    const thread = new Worker(code, { eval: true, execArgv: ["--conditions", "development"] });
    const [loaded] = (await once(thread, "message")) as [string[]];
    await thread.terminate();
    expect(loaded[0]).toBe("function");
    const of = (name: string): string[] => loaded.filter((path) => path.includes(`/@temporalio/${name}/`));
    expect(of("client")).not.toEqual([]);
    expect([...of("worker"), ...of("core-bridge")]).toEqual([]);
});
