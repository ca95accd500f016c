/** Workers in processes of their own (`worker.ts`). */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { scriptAt } from "../../../host/tests/script.ts";
import { BUNDLES } from "../bundles.ts";
import type { Room } from "../room.ts";
import type { ChildOptions } from "./worker.ts";

export interface Child extends AsyncDisposable {
    readonly process: ChildProcess;
    readonly over: Promise<unknown>;
}

/** Resolves when it is ready. */
export async function startChild(
    room: Room,
    at: { readonly address: string },
    how: Pick<ChildOptions, "kill" | "outcomes" | "ended" | "pause" | "together" | "ledger" | "version"> = {},
): Promise<Child> {
    const { queue, folder } = room;
    const options: ChildOptions = { address: at.address, queue, folder, cache: BUNDLES, ...how };
    const file = scriptAt("packages/temporal/tests/process/worker.ts");
    const env = Object.fromEntries(Object.entries(room.on.env).filter((one) => one[1] !== undefined)) as NodeJS.ProcessEnv;
    const made = spawn(process.execPath, [file, JSON.stringify(options)], {
        stdio: ["ignore", "pipe", "inherit"],
        env: { ...env, NODE_OPTIONS: "" },
    });
    const over = once(made, "close");
    await Promise.race([once(made.stdout, "data"), over.then(() => Promise.reject(new Error("the worker ended before it was ready")))]);
    return {
        process: made,
        over,
        [Symbol.asyncDispose]: async () => {
            made.kill("SIGKILL");
            await over;
        },
    };
}
