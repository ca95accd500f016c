/** The world of the program that is killed, in a child process of it. */
import { pathToFileURL } from "node:url";
import type { Effect, Outcome, ToolRequest } from "@remit/machine";
import type { Host, Performers } from "../../../src/run/host.ts";
import { createScrubber } from "../../../src/secret/scrub.ts";
import { remote } from "../remote/remote.ts";
import { world } from "./program.ts";
import { scriptAt } from "../../script.ts";

/** What the child performs with; `SIDE` is the file of steps. */
export function worldOf(side: string): Host {
    const { step } = world(side, { moment: () => undefined });
    return {
        perform: async ({ request }: Effect): Promise<Outcome> => {
            const [n] = (request as unknown as ToolRequest).args ?? [];
            return { ok: true, value: await step(n as number), origins: ["tool:Work"] };
        },
    };
}

/** `moment`: called when a step leaves and when its outcome has arrived. */
export function remotePerformers(side: string, moment: () => void): { readonly performers: Performers } & AsyncDisposable {
    const far = remote(pathToFileURL(scriptAt("packages/host/tests/run/crash/far.ts")), side);
    const secrets = createScrubber();
    const tool = (effect: Effect): Promise<Outcome> =>
        new Promise((resolve, reject) => {
            moment();
            far.perform(effect, {
                host: { perform: () => Promise.reject(new Error("performed in the child alone")) },
                secrets,
                up: () => undefined,
                answered: (outcome) => {
                    moment();
                    if (outcome === null) reject(new Error("a step is never answered later"));
                    else resolve(outcome);
                },
            });
            moment();
        });
    return { performers: { tool }, [Symbol.asyncDispose]: () => far[Symbol.asyncDispose]() };
}
