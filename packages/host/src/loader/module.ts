/**
 * A program as a JavaScript module: what `import { Triage } from "./triage.remit"` gives at run time.
 *
 * Boundary: over `load`. The text of such a module is `text.ts`'s, its types are `remit types`'.
 *
 * MOD1: calls without options of the host share one open program, which is opened at the first; a call with such options opens one of its own and
 *     closes it when it has ended.
 */
import { resolve } from "node:path";
import type { Json } from "@remit/language";
import { surroundingsOf } from "../config/setting.ts";
import type { Loaded } from "../load/load.ts";
import type { CompiledProgram } from "../load/phases.ts";
import type { RunHandle } from "../run/handle.ts";
import { load, type RemitProgram } from "../run/program.ts";
import type { LoadOptions, RunOptions } from "../run/setup.ts";

/** A compiled program as JSON. `root`: from the folder that the process starts in, or absolute. */
export type Embedded = Omit<Loaded, "texts" | "diagnostics"> & Pick<CompiledProgram, "plans">;

export interface ProgramModule {
    /** The program with options of the caller's. */
    open(options?: LoadOptions): Promise<RemitProgram>;
    /** One of its functions by name; `null`: what a run begins with. */
    entry(name: string | null): ModuleEntry;
}

export interface ModuleEntry {
    (input: Json, options?: LoadOptions): Promise<Json>;
    run(input: Json, options?: LoadOptions): Promise<RunHandle>;
}

/** `from`: compiled, or as the JSON that a loader wrote. */
export function programModule(from: string | Embedded | CompiledProgram): ProgramModule {
    const embedded = typeof from === "string" ? (JSON.parse(from) as Embedded) : from;
    let shared: Promise<RemitProgram> | null = null;
    const open = (options: LoadOptions = {}): Promise<RemitProgram> => {
        const root = embedded.root === "" ? "" : resolve(surroundingsOf(options).cwd, embedded.root);
        return load({ registry: undefined, diagnostics: [], texts: new Map(), ...embedded, root }, options);
    };
    const own = (): Promise<RemitProgram> => {
        shared ??= open().catch((error: unknown) => {
            shared = null;
            throw error;
        });
        return shared;
    };
    const entry = (name: string | null): ModuleEntry => {
        const begun = (program: RemitProgram, input: Json, options: RunOptions): RunHandle =>
            (name === null ? program : program.entry(name)).run(input, options);
        const run = async (input: Json, options: LoadOptions = {}): Promise<RunHandle> => {
            if (Object.keys(options).every((key) => OF_A_RUN.has(key))) return begun(await own(), input, options);
            const program = await open(options);
            try {
                const handle = begun(program, input, {});
                void handle.result.finally(() => program.close()).catch(() => undefined);
                return handle;
            } catch (error) {
                await program.close();
                throw error;
            }
        };
        return Object.assign(async (input: Json, options?: LoadOptions) => (await run(input, options)).value, { run });
    };
    return { open, entry };
}

/** Options that an open program takes with each run. */
const OF_A_RUN: ReadonlySet<string> = new Set([
    "signal",
    "id",
    "limits",
    "entry",
    "inputOrigins",
    "variants",
    "on",
    "concurrency",
    "interactive",
    "asks",
    "backend",
] satisfies (keyof RunOptions)[]);
