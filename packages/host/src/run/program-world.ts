/**
 * What a shell needs of a program: how its machine starts, who performs its effects, and what it must not say.
 *
 * Boundary: puts loading and the world together. What is done with them is the shell's: the local one (`program.ts`), or one of the caller's own.
 *
 * PW1: the machine and the host know the same secrets. What the machine says has none of them; what is performed is made whole again.
 */
import { join } from "node:path";
import type { Diagnostic, Json, Program } from "@remit/language";
import { type Conducted, compileProgram, Machine, outsized, type StartOptions } from "@remit/machine";
import { checkPolicy, withReach, withUntrusted } from "../config/policy.ts";
import { checkIdentities } from "../credential/identity.ts";
import { limitsOf, type Setting, settingOf } from "../config/setting.ts";
import { memoryAsks } from "../ledger/memory.ts";
import { machineId } from "../load/engine.ts";
import { RemitError } from "../failure/error.ts";
import { type Loaded, loadProgram, type LoadSource } from "../load/load.ts";
import { type CompiledProgram, isCompiled } from "../load/phases.ts";
import { pricesWithheld } from "../config/models.ts";
import { reckoning } from "../model/prices.ts";
import { openProcess, type Process } from "../process/process.ts";
import { leaving } from "../secret/exits.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type Skills, skillContents } from "../skill/imported.ts";
import type { Host } from "./host.ts";
import { SLICE, startOptions } from "./machine.ts";
import { given } from "../input/given.ts";
import type { KeptOptions } from "./options.ts";
import type { Handlers, LoadOptions, RunOptions } from "./setup.ts";
import { type AskStore, type World, withPeople, worldOf } from "./world.ts";

export interface ProgramWorld {
    readonly form: Program;
    /** SHA-256 of the program form. */
    readonly hash: string;
    readonly file: string;
    /** Absolute folder of the program's tree; empty where it has none. */
    readonly root: string;
    /** Warnings and notes. */
    readonly diagnostics: readonly Diagnostic[];
    /** The shared part: performers, and what they have said so far. */
    readonly world: World;
    /** Of which process; its own, where the caller named none. */
    readonly process: Process;
    readonly secrets: Scrubber;
    /** What a run is started with: JSON, to be kept with the run. The same gives the same machine, anywhere. */
    kept(input: Json, call?: RunOptions): KeptOptions;
    /** What a machine elsewhere begins with: JSON, for `Machine.start` or `Machine.load`. That machine knows no secrets (EL3). Throws `RemitError`. */
    start(run: string, kept: KeptOptions): StartOptions;
    /**
     * A machine at the start of a run, or in the state that `documents` hold (an image and its deltas). Throws `RemitError`, also where the run would
     * fail before it begins because the input does not fit.
     */
    machine(run: string, kept: KeptOptions, documents?: readonly Json[]): Conducted;
    /** Performs the effects of one run. Questions go to `on`; `store` keeps them where another process may answer, too; else they are in memory. */
    host(run: string, kept: KeptOptions, on?: Handlers, store?: AskStore): Host;
    /** Ends what tools and models hold open. */
    close(): Promise<void>;
}

/** Reads, checks and compiles, and opens the world that the program runs in. Throws `RemitError` with every error of all files. */
export async function openWorld(source: string | LoadSource | CompiledProgram, options: LoadOptions = {}): Promise<ProgramWorld> {
    if (isCompiled(source)) return worldOfCompiled(source, options);
    const from = typeof source === "string" ? { path: source } : source;
    const setting = await settingOf("path" in from ? from.path : options.root, options);
    const { here, config } = setting;
    const loaded = await loadProgram(from, { ...options, here, config });
    await checkPins(loaded.program, loaded.root);
    if (options.frozen === true) await (await import("../lock/now.ts")).checkFrozen(loaded, { ...options, ...setting, env: here.env });
    return worldFor(loaded, setting, options);
}

/** A program without tools loads nothing that looks for their pins: that took a small run a third of its processor time. */
async function checkPins(program: Program, root: string): Promise<void> {
    if (program.files.some(({ imports }) => imports.some(({ what }) => what === "tool")))
        (await import("../lock/tools.ts")).checkLock(program, root);
}

async function worldOfCompiled(program: CompiledProgram, options: LoadOptions): Promise<ProgramWorld> {
    const { root, file, registry } = program;
    const setting = await settingOf(root === "" ? options.root : join(root, file), options);
    await checkPins(program.program, root);
    if (options.frozen === true)
        await (await import("../lock/now.ts")).checkFrozen(program, { ...options, ...setting, env: setting.here.env });
    return worldFor(program, setting, { ...(registry === undefined ? {} : { registry }), ...options });
}

function worldFor(loaded: Loaded, setting: Setting, options: LoadOptions): ProgramWorld {
    const { program, hash } = loaded;
    const compiled = compileProgram(program);
    const process = options.process ?? openProcess();
    const policy = withReach(withUntrusted(setting.config.policy, options.untrusted), options.reach);
    if (policy !== null) checkPolicy(program, policy);
    const world = worldOf(loaded, setting, { ...options, process });
    const { secrets } = world;
    const always: Omit<KeptOptions, "input" | "limits" | "asks"> = {
        workspace: setting.workspace,
        modelFolder: setting.modelFolder,
        engine: machineId(),
        imports: secrets.scrub(loaded.imports as unknown as Json) as unknown as Loaded["imports"],
        ...(loaded.skills.length === 0
            ? {}
            : { skills: secrets.scrub(skillContents(loaded.skills) as unknown as Json) as unknown as Skills }),
        ...pricesOf(program, setting, options),
        ...given(options, ["model", "mode", "as"]),
        ...(policy === null ? {} : { policy }),
    };
    return {
        form: program,
        hash,
        file: loaded.file,
        root: loaded.root,
        diagnostics: loaded.diagnostics,
        world,
        process,
        secrets,
        kept: (input, call = {}) => {
            const of = { ...options, ...call };
            if (of.entry === undefined && options.mode === undefined) checkIdentities(program, options.as);
            // Secrets stay out of prompts and ledgers also where a caller hands them in.
            const clean = secrets.scrub(input === undefined ? null : input);
            const large = outsized(clean);
            if (large !== null) throw new RemitError({ kind: "limit.bytes", message: `the input is too large: ${large}` });
            return {
                ...always,
                input: clean,
                limits: limitsOf(setting.config, of.limits),
                ...given(of, ["entry", "inputOrigins", "variants", "concurrency", "interactive", "backend"]),
                asks: { ...of.asks, owner: of.asks?.owner ?? world.user },
            };
        },
        start: (run, kept) => startOptions(run, program, hash, kept, SLICE),
        machine: (run, kept, documents) => {
            const start = startOptions(run, program, hash, kept, SLICE);
            const machine =
                documents === undefined
                    ? Machine.start(compiled, start)
                    : Machine.load(
                          compiled,
                          start,
                          documents.map((one) => secrets.reveal(one)),
                      );
            const { result } = machine;
            if (documents === undefined && result !== null && !result.ok)
                throw new RemitError(secrets.scrub(result.failure as unknown as Json) as unknown as typeof result.failure);
            return leaving(machine, secrets);
        },
        // The effect of a question waits as long as its performer asks.
        host: (run, kept, on = {}, store = { asks: memoryAsks(() => true), durable: false }) =>
            withPeople(world, { run, store, on, asks: kept.asks, as: kept.as }),
        close: async () => world.host.close?.(),
    };
}

/** What the models of the imports cost, as far as it is known. */
function pricesOf(program: Program, { config, here }: Setting, { model, mode }: LoadOptions): Pick<KeptOptions, "prices" | "unpriced"> {
    const instead = model ?? (mode === undefined ? here.env["REMIT_MODEL"]?.trim() || undefined : "mock:");
    const prices = reckoning(program, { prices: config.prices, named: config.models, instead });
    const unpriced = pricesWithheld(config);
    return { ...(Object.keys(prices).length === 0 ? {} : { prices }), ...(unpriced === null ? {} : { unpriced }) };
}
