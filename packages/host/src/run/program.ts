/**
 * The library's face: a program becomes a typed function.
 *
 * Boundary: the local shell over the world of a program, its runs in a ledger; each is elsewhere.
 *
 * X1: nothing is kept of a run that has ended, unless its caller keeps the handle (or its ledger is durable).
 * X2: tools and models are shared by the runs of one program, what is behind them by the programs of one process; what no run uses is closed soon
 *     after.
 */
import { type Json, type Program, shownName } from "@remit/language";
import { memoryStore } from "../ledger/memory.ts";
import { type LedgerStore, type NewRun, recordOf } from "../ledger/store.ts";
import type { LoadSource } from "../load/load.ts";
import type { CompiledProgram } from "../load/phases.ts";
import type { Answering } from "../model/models.ts";
import type { Process } from "../process/process.ts";
import { execute, type RunHandle } from "./handle.ts";
import type { Bringing, DeclaredEntries, DeclaredPath, NotDeclared, OpenProgram, ProgramAt, RemitEntry } from "../load/typed.ts";
import { entryOf } from "./machine.ts";
import { type Entry, type KeptOptions, newRunId } from "./options.ts";
import { openWorld, type ProgramWorld } from "./program-world.ts";
import type { Unperformed } from "./rehearse.ts";
import type { Handlers, HostOptions, LoadOptions, RunOptions } from "./setup.ts";
import { sharedHost } from "./shared.ts";
import { beginTold, wayOf } from "./way.ts";

/** What runs of a program that is not declared can begin with: any of its functions. */
interface AnyEntries {
    readonly [name: string]: { readonly input: Json; readonly output: Json };
}

export interface RemitProgram<I = Json, O = Json, Entries extends DeclaredEntries = AnyEntries>
    extends Pick<ProgramWorld, "form" | "hash" | "file" | "root" | "diagnostics"> {
    (input: I, options?: RunOptions): Promise<O>;
    /** Begins a run and gives its handle. Throws `RemitError`, and begins no run, if the input does not fit and no person can be asked for it. */
    run(input: I, options?: RunOptions): RunHandle<O>;
    /**
     * Begins a run that first repeats run `run` of the same ledger, then goes on. This program has to begin as the program of that run does, statement
     * by statement. The run gets the recorded outcomes and performs none of them again. Rejects with `RemitError` `value` where the programs differ.
     */
    after(run: string, input: I, options?: RunOptions): Promise<RunHandle<O>>;
    /** One of its functions by name: `Agent`, `Agent.func` or `func`. Throws `RemitError` where there is none. */
    entry<Name extends keyof Entries & string>(name: Name): RemitEntry<Entries[Name]["input"], Entries[Name]["output"]>;
    /** The options that a shell elsewhere begins such a run with. Throws as `run` does. */
    kept(input: I, options?: RunOptions): KeptOptions;
    /** Which models answered so far, in plain words, with the line that puts better ones in their place. */
    answering(): readonly Answering[];
    /** Calls that a dry run answered without performing them, in order. */
    unperformed(): readonly Unperformed[];
    /** The ledger that runs are kept in; null where each run has its own in memory. */
    ledger(): Promise<LedgerStore | null>;
    /** Closes connections of tools and models, and the ledger if this program opened it. Does not wait for runs that go on. */
    close(): Promise<void>;
}

/**
 * Reads, checks and compiles. Throws `RemitError` with every error of all files. The path of a program that `remit types` declares gives its types;
 * then the options have to bring the tools that it wants.
 */
export function load<Path extends DeclaredPath>(
    path: Path,
    ...options: Bringing<ProgramAt<Path>["tools"]>
): Promise<OpenProgram<ProgramAt<Path>>>;
export function load<I = Json, O = Json, Source extends string = string>(
    source: NotDeclared<Source> | LoadSource | CompiledProgram,
    options?: LoadOptions,
): Promise<RemitProgram<I, O>>;
export function load(source: string | LoadSource | CompiledProgram, options: LoadOptions = {}): Promise<never> {
    return opened(source, options) as Promise<never>;
}

async function opened<I, O>(source: string | LoadSource | CompiledProgram, options: LoadOptions): Promise<RemitProgram<I, O>> {
    const opened = await openWorld(source, options);
    const { form, hash, file, root, diagnostics, world, process } = opened;
    const shared = sharedHost(world.host, options.idle);
    const store = await storeOf(options.ledger, process, world);

    /** What it is begun with, and its machine. */
    const made = (input: I, call: RunOptions, on: Handlers) => {
        const kept = opened.kept(input as Json, { ...call, ...whoIsAsked({ ...options, ...call }, on) });
        const id = call.id ?? newRunId();
        return { kept, id, machine: opened.machine(id, kept) };
    };
    const begins = (input: I, call: RunOptions) => {
        const { signal = options.signal } = call;
        const on = { ...options.on, ...call.on };
        const { kept, id, machine } = made(input, call, on);
        const own = store ?? memoryStore();
        const about: NewRun = { id, program: form, hash, file, root, options: kept as unknown as Json };
        // The shared host is taken last, so that what fails before holds none.
        const run = () => {
            const { secrets } = opened;
            const host = opened.host(id, kept, on, own);
            return { host, secrets, on, signal, timeout: kept.limits.time, over: shared.take() };
        };
        return { machine, store: own, about, run };
    };
    const start = (input: I, call: RunOptions = {}): RunHandle<O> => {
        const { machine, store: own, about, run } = begins(input, call);
        return execute<O>(machine, { store: own, id: about.id, program: form, writer: own.create(about), ...run() });
    };
    const after = async (before: string, input: I, call: RunOptions = {}): Promise<RunHandle<O>> => {
        const { machine, store: own, about, run } = begins(input, call);
        const way = await wayOf(machine, await recordOf(own, (await own.run(before)).id));
        if (way === null) return execute<O>(machine, { store: own, id: about.id, program: form, writer: own.create(about), ...run() });
        return beginTold<O>(machine, way, { store: own, about, execute: run() });
    };

    return Object.assign(async (input: I, call?: RunOptions) => start(input, call).value, {
        run: start,
        entry: (name: string): RemitEntry<Json, Json> => {
            const entry = named(form, name);
            const run = (input: Json, call?: RunOptions) => start(input as I, { ...call, entry }) as RunHandle<never>;
            return Object.assign(async (input: Json, call?: RunOptions) => run(input, call).value, { run });
        },
        after,
        kept: (input: I, call: RunOptions = {}) => made(input, call, { ...options.on, ...call.on }).kept,
        form,
        hash,
        file,
        root,
        diagnostics,
        answering: world.answering,
        unperformed: world.unperformed,
        ledger: async () => store,
        close: async () => {
            await shared.close();
            await process.release(world);
        },
    });
}

/** Throws `RemitError` where the program has nothing of that name. */
function named(form: Program, name: string): Entry {
    const dot = name.indexOf(".");
    const agents = form.files.at(-1)?.agents ?? [];
    const entry =
        dot > 0
            ? { agent: name.slice(0, dot), func: name.slice(dot + 1) }
            : agents.some((one) => shownName(one.name) === name)
              ? { agent: name }
              : { func: name };
    entryOf(form, entry);
    return entry;
}

/** Missing fields of the input are asked for where there is a person to ask, or where the run may wait for one. */
function whoIsAsked({ interactive, asks }: RunOptions, { input }: Handlers): Pick<RunOptions, "interactive"> {
    return interactive === true && input === undefined && asks?.park !== true ? { interactive: false } : {};
}

/** Loads a file and runs it once. */
export async function runOnce<O = Json>(source: string | LoadSource, input: Json, options: LoadOptions = {}): Promise<O> {
    const program = await load<Json, O>(source, options);
    try {
        return await program(input);
    } finally {
        await program.close();
    }
}

/** The ledger a caller named; null: each run gets one of its own in memory. */
async function storeOf(ledger: HostOptions["ledger"], on: Process, holder: object): Promise<LedgerStore | null> {
    if (ledger === undefined || ledger === "memory") return null;
    if (typeof ledger === "object") return ledger;
    return on.store(ledger, holder);
}
