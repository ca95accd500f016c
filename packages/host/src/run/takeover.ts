/**
 * A run that a shell elsewhere takes from the ledger: who performs its effects here, and from where its machine goes on there.
 *
 * Boundary: reads the ledger and opens the world; JSON for the machine elsewhere. How it is conducted is that shell's, performing `elsewhere.ts`.
 *
 * TKO2: where a run is taken without a word to its execution, its blocks that are runs of their own are taken before it: each would go on by itself.
 * TKO1: what the machine elsewhere begins with is what a resume here would begin with.
 */
import type { Json } from "@remit/language";
import { type GoOn, partOf, type Recovered, type StartOptions } from "@remit/machine";
import { type KeptRun, keptRun, type LedgerStore, recordOf } from "../ledger/store.ts";
import { shownStore } from "../ledger/shown.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { machineGoingOn } from "./going-on.ts";
import type { GoesOn } from "./handover.ts";
import type { Host } from "./host.ts";
import { machineOf, startOptionsOf } from "./machine.ts";
import type { ResumeRunOptions } from "./open.ts";
import type { KeptOptions } from "./options.ts";
import { worldAgain } from "./resumption.ts";
import { infoOf } from "./nested.ts";
import { continueRun } from "./resume.ts";
import { withPeople } from "./world.ts";

export interface RunWorld {
    readonly run: KeptRun;
    readonly host: Host;
    readonly secrets: Scrubber;
    /** Who answers its questions. */
    readonly owner: string;
    /** A question is kept for later, and missing input asked for. */
    readonly interactive: boolean;
}

/** The world of a run of the ledger, in this process. Questions are kept in the ledger and answered later. The caller closes the host. */
export async function runWorld(store: LedgerStore, id: string, options: ResumeRunOptions = {}): Promise<RunWorld> {
    const run = await keptRun(store, id);
    const kept = run.options as unknown as KeptOptions;
    const user = kept.asks?.owner ?? options.user;
    const world = await worldAgain(run, user === undefined ? options : { ...options, user });
    const interactive = kept.interactive === true;
    const on = interactive ? { ...options.on, input: () => null } : (options.on ?? {});
    const host = withPeople(world, {
        run: run.info.id,
        store,
        on,
        asks: kept.asks,
        park: true,
        elsewhere: true,
        as: kept.as ?? options.as,
    });
    return { run, host, secrets: world.secrets, owner: user ?? world.user, interactive };
}

/** TKO2. Gives the epoch from which the run itself is taken; `from` of a resume. */
export async function fenced(store: LedgerStore, id: string): Promise<number> {
    const { id: run, epoch } = await store.run(id);
    for (const { path } of await store.pending(run)) {
        const part = await infoOf(store, partOf(run, path));
        if (part?.by === undefined) continue;
        await (await store.own(part.id, { from: await fenced(store, part.id) })).release();
    }
    return epoch;
}

export interface Takeover {
    /** What the machine is started with. */
    readonly start: StartOptions;
    /** An image of its state, with secrets; null: it begins. */
    readonly state: Json | null;
    readonly recovered: Recovered;
    /** Milliseconds that count towards the run's time. */
    readonly spent: number;
    /** Of the whole run, milliseconds. */
    readonly timeout: number | undefined;
    /** How the machine goes on that failed, in that state: it is told so before anything else. */
    readonly goesOn?: { readonly how: GoOn; readonly by: string };
}

/** From where a run goes on that the caller owns (TKO1). `said`: what its resume said of it. Throws `RemitError`. */
export async function takeover(store: LedgerStore, { run, host, secrets }: RunWorld, said: GoesOn | null = null): Promise<Takeover> {
    const { id } = run.info;
    let begins = true;
    const { machine, info, recovered } = await continueRun(store, id, host, (of, saved) => {
        begins = saved === null;
        return saved === null ? machineOf(of, secrets) : machineGoingOn(of, saved, secrets, () => recordOf(shownStore(store, secrets), id));
    });
    const { spent } = info;
    const saved = begins ? null : machine.save({ spent, image: true });
    const state = saved !== null && "image" in saved ? secrets.reveal(saved.image) : null;
    const { limits } = run.options as unknown as KeptOptions;
    const { pending } = machine;
    const goesOn = said?.how == null ? null : { how: said.how, by: said.by };
    // Only for its bounds: the machine elsewhere is told the same.
    if (goesOn !== null) machine.goOn?.(goesOn.how, goesOn.by);
    return {
        ...{ start: startOptionsOf(run), state, spent, timeout: machine.raised?.time ?? limits.time },
        recovered: said === null ? recovered : withGiven(recovered, said.given, goesOn === null ? null : pending),
        ...(goesOn === null ? {} : { goesOn }),
    };
}

function withGiven({ answers = [], ...rest }: Recovered, given: GoesOn["given"], pending: Recovered["pending"] | null): Recovered {
    return { ...rest, ...(pending == null ? {} : { pending }), answers: [...answers, ...given] };
}
