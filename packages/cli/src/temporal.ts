/**
 * Temporal, as the command line reaches it: the package is loaded when a command needs it, and settings come from options, environment and profile.
 *
 * Boundary: names and options. What a worker, a client and a server are is `@remit/temporal`'s.
 */
import type { BlockRunner, QueueCaller, ResumeRunOptions, RunCarriers } from "@remit/host";
import type * as Temporal from "@remit/temporal";
import { here } from "./here.ts";
import { plainLine, say, UsageError } from "./io.ts";

/** By the `imports` of the package: the sources in a checkout, in the published package a module that says what has to be installed. */
const PACKAGE: string = "#temporal";

type Options = Readonly<Record<string, unknown>>;

/** Throws `UsageError` where Temporal's SDK is not installed. */
export async function temporal(): Promise<typeof Temporal> {
    try {
        return (await import(PACKAGE)) as typeof Temporal;
    } catch (error) {
        const { code, message, needs = message, install } = error as Error & { readonly [key in "code" | "needs" | "install"]?: string };
        if (code !== "ERR_MODULE_NOT_FOUND") throw error;
        throw new UsageError(needs, install);
    }
}

/**
 * Carries out `temporal` blocks of programs that run here, and calls what they import from task queues; a server is looked for when the first one comes.
 * `end` closes the connection, and says which blocks go on there although the run here was stopped.
 */
export function blocksThere(options: Options): {
    readonly blocks: BlockRunner;
    readonly queues: QueueCaller;
    readonly end: () => Promise<void>;
} {
    let made: Promise<Temporal.TemporalBlocks> | null = null;
    const left = new Set<string>();
    const there = async (): Promise<Temporal.TemporalBlocks> =>
        (await temporal()).temporalBlocks({ connect: settings(options), env: here().env, ...queue(options) });
    return {
        blocks: async (block) => {
            const { run } = block.request;
            made ??= there();
            const { blocks } = await made;
            left.add(run);
            try {
                const gave = await blocks(block);
                left.delete(run);
                return gave;
            } catch (error) {
                if (!block.io.signal.aborted) left.delete(run);
                throw error;
            }
        },
        queues: async (call) => {
            made ??= there();
            return (await made).queues(call);
        },
        end: async () => {
            for (const run of left) sayGoesOn(run);
            if (made !== null) await (await made)[Symbol.asyncDispose]();
        },
    };
}

function sayGoesOn(run: string): void {
    say(
        `The block goes on on Temporal as run ${run}: remit status ${run} looks at it, remit result ${run} waits for it, remit cancel ${run} stops it.`,
    );
}

/**
 * What `--on temporal` has the turns of a server carried out by; undefined: its own process. `host` is what every run takes from that process; on whose
 * behalf a run is, it says itself.
 */
export async function carriersThere(options: Options, host: Pick<ResumeRunOptions, "process" | "trust">): Promise<RunCarriers | undefined> {
    const { on } = options;
    if (on === "temporal") {
        const { onlyErrors, runCarriers } = await temporal();
        onlyErrors();
        return runCarriers({ connect: settings(options), env: here().env, host });
    }
    if (on !== undefined && on !== "memory") throw new UsageError(`--on takes memory or temporal, not '${plainLine(String(on))}'`);
    const idle = ["address", "namespace", "profile"].find((name) => options[name] !== undefined);
    if (idle !== undefined) throw new UsageError(`--${idle} is for --on temporal`);
    return undefined;
}

export function settings(options: Options): Temporal.ConnectSettings {
    const said = (name: "address" | "namespace" | "profile"): object =>
        options[name] === undefined ? {} : { [name]: String(options[name]) };
    return { env: here().env, ...said("address"), ...said("namespace"), ...said("profile") };
}

export function queue(options: Options): { readonly queue?: string } {
    return options["queue"] === undefined ? {} : { queue: String(options["queue"]) };
}
