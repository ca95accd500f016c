/**
 * Temporal, as the command line reaches it: the package is loaded when a command needs it, and settings come from options, environment and profile.
 *
 * Boundary: names and options. What a worker, a client and a server are is `@remit/temporal`'s.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { appear, type BlockRunner, type QueueCaller, RemitError, type ResumeRunOptions, type RunCarriers, writePrivate } from "@remit/host";
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
    const there = async (): Promise<Temporal.TemporalBlocks> => {
        const { temporalBlocks } = await temporal().catch((error: unknown) => {
            if (!(error instanceof UsageError)) throw error;
            const hint = error.hint === undefined ? {} : { hint: error.hint };
            throw new RemitError({ kind: "unreachable", message: error.message, ...hint });
        });
        return temporalBlocks({ connect: settings(options), env: here().env, ...queue(options) });
    };
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
            // what could not be made has failed the run, which told why
            await made?.then(
                (one) => one[Symbol.asyncDispose](),
                () => undefined,
            );
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
        const end = onlyErrors();
        const made = runCarriers({ connect: settings(options), env: here().env, host, ...signer(options, true) });
        return (store) => endedUnless(made(store), end);
    }
    if (on !== undefined && on !== "memory") throw new UsageError(`--on takes memory or temporal, not '${plainLine(String(on))}'`);
    const idle = ["address", "namespace", "profile", "decisionKey"].find((name) => options[name] !== undefined);
    if (idle !== undefined) throw new UsageError(`--${idle === "decisionKey" ? "decision-key" : idle} is for --on temporal`);
    return undefined;
}

export function settings(options: Options): Temporal.ConnectSettings {
    const said = (name: "address" | "namespace" | "profile"): object =>
        options[name] === undefined ? {} : { [name]: String(options[name]) };
    return { env: here().env, ...said("address"), ...said("namespace"), ...said("profile") };
}

/** The private key of `--decision-key`. `makes`: where the file is not there, it is written. Throws `UsageError`. */
export function signer(options: Options, makes = false): { readonly signer?: KeyObject } {
    const { decisionKey: file } = options;
    if (file === undefined) return {};
    if (makes && !existsSync(String(file))) {
        const { privateKey } = generateKeyPairSync("ed25519");
        // Of two servers that begin at once the first one's key counts, for both.
        appear(String(file), (draft) => writePrivate(draft, privateKey.export({ type: "pkcs8", format: "pem" }).toString(), true));
        say(`wrote ${plainLine(String(file))}: who has it can answer the questions of this server's turns`);
    }
    return { signer: keyIn(String(file), createPrivateKey, "a private Ed25519 key") };
}

/** What a worker needs of the key of `--decision-key`, of which the public half does. Throws `UsageError`. */
export function signers(options: Options): { readonly signers?: readonly KeyObject[] } {
    const { decisionKey: file } = options;
    return file === undefined ? {} : { signers: [keyIn(String(file), createPublicKey, "an Ed25519 key")] };
}

function keyIn(file: string, read: (pem: string) => KeyObject, what: string): KeyObject {
    let pem: string;
    try {
        pem = readFileSync(file, "utf8");
    } catch (error) {
        throw new UsageError(`--decision-key ${plainLine(file)} cannot be read: ${(error as Error).message}`);
    }
    try {
        const key = read(pem);
        if (key.asymmetricKeyType === "ed25519") return key;
    } catch {
        // Below: the library's reason may hold parts of the key.
    }
    throw new UsageError(`--decision-key ${plainLine(file)} is not ${what}`, "openssl genpkey -algorithm ed25519 makes one");
}

export function queue(options: Options): { readonly queue?: string } {
    return options["queue"] === undefined ? {} : { queue: String(options["queue"]) };
}

/** Ends the library where nothing came of it: else it keeps the process. */
export function endedUnless<T>(made: Promise<T>, end: () => Promise<void>): Promise<T> {
    return made.catch(async (error: unknown) => {
        await end();
        throw error;
    });
}
