/**
 * The blocks of a compiled program from TypeScript: one value a block, in the order of the source.
 *
 * Boundary: over `load`. Where `temporal` blocks go is a runner that the caller brings, or `@remit/temporal` by an address.
 *
 * RBK1: `@remit/temporal` is looked for where a program names an address, and nowhere else: a program in memory needs no part of it.
 */
import type { Json } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import { ledgerPath } from "../ledger/place.ts";
import type { LoadSource } from "../load/load.ts";
import { type CompiledProgram, isCompiled } from "../load/phases.ts";
import { surroundingsOf } from "../config/setting.ts";
import type { BlockRunner } from "./nested.ts";
import { load, runOnce } from "./program.ts";
import type { LoadOptions } from "./setup.ts";

export interface RunBlocksOptions extends LoadOptions {
    /** What flows into the first stages. */
    readonly input?: Json;
    /** `HOST:PORT` of the Temporal server that carries out `temporal` blocks; its workers share the ledger. */
    readonly address?: string;
    readonly namespace?: string;
    readonly queue?: string;
}

/** What of `@remit/temporal` is needed here. */
interface Temporal {
    temporalBlocks(options: {
        readonly connect: { readonly address: string; readonly namespace?: string };
        readonly queue?: string;
        readonly env: LoadOptions["env"];
    }): AsyncDisposable & { readonly blocks: BlockRunner };
}
/** By the `imports` of the package: the sources in a checkout, in the published package a module that says what has to be installed. */
const PACKAGE: string = "#temporal";

/** The values of the blocks of a compiled program, in order. Rejects with `RemitError` where one fails; what came before it is in the ledger. */
export function run(program: CompiledProgram, options?: RunBlocksOptions): Promise<readonly Json[]>;
/** Loads a program and runs it once. */
export function run<O = Json>(source: string | LoadSource, input: Json, options?: LoadOptions): Promise<O>;
export function run<O = Json>(
    source: string | LoadSource | CompiledProgram,
    given: Json | RunBlocksOptions = {},
    options: LoadOptions = {},
): Promise<O | readonly Json[]> {
    return isCompiled(source) ? runBlocks(source, given as RunBlocksOptions) : runOnce<O>(source, given as Json, options);
}

async function runBlocks(program: CompiledProgram, options: RunBlocksOptions): Promise<readonly Json[]> {
    const { plans } = program;
    if (plans.length === 0)
        throw new RemitError({
            kind: "value",
            message: `${program.file} has no block`,
            hint: "write `memory static ( … )`, or run its main agent with `load`",
        });
    const { input = {}, address, ...how } = options;
    await using there = address === undefined ? null : await temporalAt(address, options);
    const shared = address === undefined || options.ledger !== undefined ? {} : { ledger: sharedLedger(options) };
    const loaded = await load<Json, Json>(program, { ...how, ...shared, ...(there === null ? {} : { blocks: there.blocks }) });
    try {
        const value = await loaded(input);
        return plans.length === 1 ? [value] : (value as readonly Json[]);
    } finally {
        await loaded.close();
    }
}

/** The one that workers read, too, where nothing else is said. */
function sharedLedger(options: RunBlocksOptions): string {
    const { env, cwd } = surroundingsOf(options);
    return ledgerPath(undefined, env, cwd);
}

async function temporalAt(address: string, options: RunBlocksOptions): Promise<ReturnType<Temporal["temporalBlocks"]>> {
    const { namespace, queue } = options;
    const { temporalBlocks } = await temporal();
    return temporalBlocks({
        connect: { address, ...(namespace === undefined ? {} : { namespace }) },
        env: surroundingsOf(options).env,
        ...(queue === undefined ? {} : { queue }),
    });
}

async function temporal(): Promise<Temporal> {
    try {
        return (await import(PACKAGE)) as Temporal;
    } catch (error) {
        const { code, message, needs = message, install } = error as Error & { readonly [key in "code" | "needs" | "install"]?: string };
        if (code !== "ERR_MODULE_NOT_FOUND") throw error;
        const hint = "give a runner as `blocks`";
        throw new RemitError({ kind: "unreachable", message: needs, hint: install === undefined ? hint : `${install}, or ${hint}` });
    }
}
