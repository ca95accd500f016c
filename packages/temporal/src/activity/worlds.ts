/**
 * The worlds of the runs that a worker performs for, each opened once and closed when no activity has needed it for a while.
 *
 * Boundary: lifetimes only. What a world is, is the host's.
 */
import { type LedgerStore, type OfRun, type ResumeRunOptions, type RunWorld, runWorld, type Scrubber } from "@remit/host";
import { openingOf } from "./opening.ts";

/** After so long without an activity a world is closed, milliseconds: a session with an agent is one, as long as its effects come. */
const IDLE_MS = 10 * 60_000;
/**
 * Asked when the world of a run is opened. Where it rejects, the activity fails: one that opens the run is tried again; one that performs an effect is
 * not, and what became of the effect is looked up as if its worker were lost. So a process that is not ready for a run yet waits here.
 */
export type OfRuns = (run: string) => OfRun | null | Promise<OfRun | null>;

export interface HeldWorld extends RunWorld, Omit<OfRun, "tools"> {}

interface Held {
    readonly world: Promise<HeldWorld>;
    secrets: Scrubber | null;
    users: number;
    timer: NodeJS.Timeout | null;
}

export interface Worlds {
    use<T>(run: string, work: (world: HeldWorld) => Promise<T>): Promise<T>;
    /** The run has ended, or goes on elsewhere. */
    drop(run: string): Promise<void>;
    /** What those that are open know to be secrets. */
    secrets(): Iterable<Scrubber>;
    close(): Promise<void>;
}

export interface WorldsOptions {
    readonly ofRun?: OfRuns | undefined;
    /** How long a world may take to open, milliseconds. */
    readonly opening?: number | undefined;
}

export function worldsOf(store: LedgerStore, options: ResumeRunOptions, { ofRun = () => null, opening }: WorldsOptions = {}): Worlds {
    const held = new Map<string, Held>();
    const open = openingOf<HeldWorld>(({ host }) => host.close?.(), opening);
    const close = async (run: string): Promise<void> => {
        const one = held.get(run);
        if (one === undefined) return;
        held.delete(run);
        if (one.timer !== null) clearTimeout(one.timer);
        await (await one.world).host.close?.();
    };
    const take = (run: string): Held => {
        const known = held.get(run);
        if (known !== undefined) return known;
        const world = open(run, (told) => opened({ store, run, options, ofRun, told }));
        const made: Held = { world, secrets: null, users: 0, timer: null };
        held.set(run, made);
        world.then(
            ({ secrets }) => {
                made.secrets = secrets;
            },
            // The next activity tries again.
            () => held.delete(run),
        );
        return made;
    };
    return {
        use: async (run, work) => {
            const one = take(run);
            if (one.timer !== null) clearTimeout(one.timer);
            one.users++;
            try {
                const world = await one.world;
                // What was carried here is kept, whatever became of the work.
                return await work(world).finally(world.acted);
            } finally {
                one.users--;
                if (one.users === 0 && held.get(run) === one) one.timer = setTimeout(() => void close(run), IDLE_MS).unref();
            }
        },
        drop: async (run) => {
            if (held.get(run)?.users === 0) await close(run);
        },
        secrets: function* () {
            for (const { secrets } of held.values()) if (secrets !== null) yield secrets;
        },
        close: async () => {
            await Promise.all([...held.keys()].map(close));
        },
    };
}

interface Opening {
    readonly store: LedgerStore;
    readonly run: string;
    readonly options: ResumeRunOptions;
    readonly ofRun: OfRuns;
    /** What is waited for now. */
    told(what: string): void;
}

async function opened({ store, run, options, ofRun, told }: Opening): Promise<HeldWorld> {
    told("what the worker gives this run (`ofRun`)");
    const { tools, ...heard } = (await ofRun(run)) ?? {};
    told("its program and its configuration");
    const world = await runWorld(store, run, tools === undefined ? options : { ...options, tools: { ...options.tools, ...tools } });
    return { ...world, ...heard };
}
