/**
 * The library's face: a program becomes a typed function.
 *
 * Boundary: puts loading, hosts, ledgers and runs together; each is elsewhere.
 *
 * X1: nothing is kept of a run that has ended, unless its caller keeps the handle (or its ledger is durable).
 * X2: tools and models are shared by the runs of one program and closed soon after the last of them has ended.
 */
import { reckoning } from "../model/prices.ts";
import type { Diagnostic, Json, Program } from "@remit/language";
import { compileProgram, Machine } from "@remit/machine";
import { memoryStore } from "../ledger/memory.ts";
import type { Answering } from "../model/models.ts";
import { openStore } from "../ledger/open.ts";
import type { LedgerStore } from "../ledger/store.ts";
import { machineId } from "../load/engine.ts";
import { type LoadSource, type Loaded, loadProgram } from "../load/load.ts";
import { type Skills, skillContents } from "../skill/imported.ts";
import { checkPolicy, withUntrusted } from "../config/policy.ts";
import { leaving } from "../secret/exits.ts";
import { type RunHandle, execute } from "./handle.ts";
import { SLICE, startOptions } from "./machine.ts";
import { type KeptOptions, newRunId } from "./options.ts";
import type { HostOptions, RunOptions } from "./setup.ts";
import { type Setting, limitsOf, settingOf } from "../config/setting.ts";
import type { Unperformed } from "./rehearse.ts";
import { sharedHost } from "./shared.ts";
import { askingOf, thisUser, withPeople, worldOf } from "./world.ts";

export interface LoadOptions extends HostOptions, RunOptions {
    /** Folder of the program's tree. Default: found upward from the file. */
    readonly root?: string;
    /** Folders outside the tree that file imports may read. */
    readonly grants?: readonly string[];
    /** False: compile afresh, and keep nothing. */
    readonly cache?: boolean;
    /**
     * What becomes of values that are not trusted in arguments of calls that do more than read, where no clause of the program speaks of the
     * argument: `ask` puts a question that shows the flow, `never` refuses. Default: what the project's policy says, else they pass.
     */
    readonly untrusted?: "ask" | "never";
    /** Only with the agents and skills that `remit.lock` pins, unchanged. */
    readonly frozen?: boolean;
    /** Folders of cache and configuration, where not the user's own. */
    readonly folders?: { readonly cache?: string; readonly config?: string };
}

export interface RemitProgram<I = Json, O = Json> {
    (input: I, options?: RunOptions): Promise<O>;
    /** Begins a run and gives its handle. */
    run(input: I, options?: RunOptions): RunHandle<O>;
    readonly form: Program;
    /** SHA-256 of the program form. */
    readonly hash: string;
    readonly file: string;
    readonly root: string;
    /** Warnings and notes. */
    readonly diagnostics: readonly Diagnostic[];
    /** Which models answered so far, in plain words, with the line that puts better ones in their place. */
    answering(): readonly Answering[];
    /** Calls that a dry run answered without performing them, in order. */
    unperformed(): readonly Unperformed[];
    /** The ledger that runs are kept in; null where each run has its own in memory. */
    ledger(): Promise<LedgerStore | null>;
    /** Ends what tools and models hold open, and closes the ledger if it was opened here. Runs that go on are not waited for. */
    close(): Promise<void>;
}

/** Reads, checks and compiles. Throws `RemitError` with every error of all files. */
export async function load<I = Json, O = Json>(source: string | LoadSource, options: LoadOptions = {}): Promise<RemitProgram<I, O>> {
    const from = typeof source === "string" ? { path: source } : source;
    const setting = await settingOf("path" in from ? from.path : options.root, options);
    const loaded = await loadProgram(from, { ...options, config: setting.config });
    if (options.frozen === true) (await import("../lock/lock.ts")).checkFrozen(loaded, { ...options, ...setting });
    return programOf<I, O>(loaded, setting, options);
}

/** Loads a file and runs it once. */
export async function run<O = Json>(source: string | LoadSource, input: Json, options: LoadOptions = {}): Promise<O> {
    const program = await load<Json, O>(source, options);
    try {
        return await program(input);
    } finally {
        await program.close();
    }
}

export async function programOf<I, O>(loaded: Loaded, setting: Setting, options: LoadOptions): Promise<RemitProgram<I, O>> {
    const compiled = compileProgram(loaded.program);
    const engine = machineId();
    const { workspace } = setting;
    const policy = withUntrusted(setting.config.policy, options.untrusted);
    if (policy !== null) checkPolicy(loaded.program, policy);
    const world = worldOf(loaded, setting, options);
    const shared = sharedHost(world.host);
    const store = await storeOf(options.ledger);

    const { secrets } = world;
    const imports = secrets.scrub(loaded.imports as unknown as Json) as unknown as Loaded["imports"];
    const skills = secrets.scrub(skillContents(loaded.skills) as unknown as Json) as unknown as Skills;

    const prices = reckoning(loaded.program, {
        prices: setting.config.prices,
        named: setting.config.models,
        instead: options.model ?? (options.mode === undefined ? (options.env ?? process.env).REMIT_MODEL?.trim() || undefined : "mock:"),
    });

    const start = (input: I, call: RunOptions = {}): RunHandle<O> => {
        const of = { ...options, ...call };
        const on = { ...options.on, ...call.on };
        const kept: KeptOptions = {
            // Secrets stay out of prompts and ledgers also where a caller hands them in.
            input: secrets.scrub((input === undefined ? null : input) as Json),
            limits: limitsOf(setting.config, of.limits),
            ...(Object.keys(prices).length === 0 ? {} : { prices }),
            workspace,
            imports,
            ...(loaded.skills.length === 0 ? {} : { skills }),
            engine,
            ...(of.entry === undefined ? {} : { entry: of.entry }),
            ...(options.model === undefined ? {} : { model: options.model }),
            ...(options.mode === undefined ? {} : { mode: options.mode }),
            modelFolder: setting.modelFolder,
            ...(of.inputOrigins === undefined ? {} : { inputOrigins: of.inputOrigins }),
            ...(of.variants === undefined ? {} : { variants: of.variants }),
            ...(of.concurrency === undefined ? {} : { concurrency: of.concurrency }),
            ...(of.interactive === undefined ? {} : { interactive: of.interactive }),
            ...(policy === null ? {} : { policy }),
            asks: { ...of.asks, owner: of.asks?.owner ?? thisUser() },
        };
        const id = newRunId();
        const machine = leaving(Machine.start(compiled, startOptions(id, loaded.program, loaded.hash, kept, SLICE)), secrets);
        const own = store ?? memoryStore();
        const writer = own.create({
            id,
            program: loaded.program,
            hash: loaded.hash,
            file: loaded.file,
            root: loaded.root,
            options: kept as unknown as Json,
        });
        const release = shared.take();
        return execute<O>(machine, {
            store: own,
            id,
            program: loaded.program,
            writer,
            host: withPeople(world, on, askingOf(id, own, kept.asks)),
            secrets,
            over: release,
            ...(of.signal === undefined ? {} : { signal: of.signal }),
            ...(kept.limits.time === undefined ? {} : { timeout: kept.limits.time }),
            ...(on.event === undefined ? {} : { event: on.event }),
            ...(on.part === undefined ? {} : { part: on.part }),
        });
    };

    return Object.assign((input: I, call?: RunOptions) => start(input, call).value, {
        run: start,
        form: loaded.program,
        hash: loaded.hash,
        file: loaded.file,
        root: loaded.root,
        diagnostics: loaded.diagnostics,
        answering: world.answering,
        unperformed: world.unperformed,
        ledger: async () => store,
        close: async () => {
            await shared.close();
            if (store !== null && store !== options.ledger) await store.close();
        },
    });
}

/** The ledger a caller named; null: each run gets one of its own in memory. */
async function storeOf(ledger: HostOptions["ledger"]): Promise<LedgerStore | null> {
    if (ledger === undefined || ledger === "memory") return null;
    if (typeof ledger === "object") return ledger;
    return openStore(ledger);
}
