/**
 * The worlds of the runs that a worker performs for, each opened once and closed when no activity has needed it for a while.
 *
 * Boundary: lifetimes only. What a world is, is the host's.
 */
import { type LedgerStore, type ResumeRunOptions, type RunWorld, runWorld, type Scrubber } from "@remit/host";

/** After so long without an activity a world is closed, milliseconds: a session with an agent is one, as long as its effects come. */
const IDLE_MS = 10 * 60_000;

interface Held {
    readonly world: Promise<RunWorld>;
    secrets: Scrubber | null;
    users: number;
    timer: NodeJS.Timeout | null;
}

export interface Worlds {
    use<T>(run: string, work: (world: RunWorld) => Promise<T>): Promise<T>;
    /** The run has ended, or goes on elsewhere. */
    drop(run: string): Promise<void>;
    /** What those that are open know to be secrets. */
    secrets(): Iterable<Scrubber>;
    close(): Promise<void>;
}

export function worldsOf(store: LedgerStore, options: ResumeRunOptions): Worlds {
    const held = new Map<string, Held>();
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
        const world = runWorld(store, run, options);
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
                return await work(await one.world);
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
