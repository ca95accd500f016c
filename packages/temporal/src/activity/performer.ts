/**
 * One effect that an activity performs: what its performer says goes to the workflow, whose answers come back.
 *
 * Boundary: between the host's performer and Temporal's calls. What the ledger has to know is `activities.ts`.
 *
 * WA1: what an agent reports reaches the workflow while it works, in pieces that become rarer; what was not sent comes with the outcome.
 * WA2: an answer of the workflow carries what the ledger has to have before the performer hears it.
 */
import { type Missing, perform, type Performing } from "@remit/host";
import type { AgentNote, Down, Effect, Outcome, Up } from "@remit/machine";
import type { UpAnswer, UpInput } from "../wire/messages.ts";
import type { HeldWorld } from "./worlds.ts";

/** First after so long, then after twice as long, up to the most; milliseconds. */
const NOTE_MS = 1_000;
const MOST_NOTE_MS = 30_000;

export interface Messages {
    /** The workflow's answer to a message of a performer. */
    ask(up: UpInput): Promise<UpAnswer>;
    say(ups: readonly UpInput[]): Promise<void>;
    /** WA2. */
    keep(answer: UpAnswer): Promise<void>;
}

export interface Said {
    /** Null: no person can answer it now. */
    readonly outcome: Outcome | null;
    readonly notes: readonly AgentNote[];
    /** What is missing. */
    readonly why?: Missing;
}

export interface PerformerOptions {
    readonly world: HeldWorld;
    readonly messages: Messages;
    readonly signal: AbortSignal;
    readonly parent?: string;
}

export function performed(effect: Effect, options: PerformerOptions): Promise<Said> {
    return new Promise((resolve) => {
        new Performer(effect, options, resolve).begin();
    });
}

class Performer {
    private readonly effect: Effect;
    private readonly options: PerformerOptions;
    private readonly resolve: (said: Said) => void;
    private work: Performing | null = null;
    private notes: AgentNote[] = [];
    private wait = NOTE_MS;
    private timer: NodeJS.Timeout | null = null;
    /** What is on its way to the workflow, in order. */
    private saying: Promise<void> = Promise.resolve();
    private readonly sleeping = new Map<number, NodeJS.Timeout>();
    private readonly stop = (): void => this.work?.stop("the run needs it no longer", true);

    constructor(effect: Effect, options: PerformerOptions, resolve: (said: Said) => void) {
        this.effect = effect;
        this.options = options;
        this.resolve = resolve;
    }

    begin(): void {
        const { world, signal, parent } = this.options;
        const { host, secrets } = world;
        const more = parent === undefined ? {} : { parent };
        const told = { up: (up: Up) => this.heard(up), answered: (outcome: Outcome | null, why?: Missing) => this.answered(outcome, why) };
        this.work = perform(this.effect, { host, secrets, ...told, ...more });
        if (signal.aborted) this.stop();
        else signal.addEventListener("abort", this.stop, { once: true });
    }

    private heard(up: Up): void {
        const { path } = this.effect;
        // A part is for who watches in this process; no history holds it.
        if ("part" in up) this.options.world.part?.(path, up.part);
        else if ("note" in up) {
            this.notes.push(up.note);
            this.timer ??= setTimeout(() => this.queue(() => this.sayNotes()), this.wait);
        } else if ("child" in up && up.child.kind === "sleep") {
            const { ms } = up.child.request as { readonly ms: number };
            this.sleeping.set(
                up.n,
                setTimeout(() => this.awake(up.n), ms),
            );
        } else if ("stop" in up) {
            clearTimeout(this.sleeping.get(up.n));
            if (this.sleeping.has(up.n)) this.awake(up.n);
            else this.queue(() => this.options.messages.say([{ path, up }]));
        } else this.queue(() => this.ask("use" in up ? { ...up, parts: false } : up));
    }

    private awake(n: number): void {
        this.sleeping.delete(n);
        this.work?.down({ n, outcome: { ok: true, value: null, origins: [] } });
    }

    /** A workflow that hears nothing any more has stopped its activities. */
    private queue(said: () => Promise<void>): void {
        this.saying = this.saying
            .then(said)
            .catch((error: unknown) => this.work?.stop(`the workflow does not hear: ${String(error)}`, true));
    }

    private async sayNotes(): Promise<void> {
        if (this.timer !== null) clearTimeout(this.timer);
        this.timer = null;
        const { path } = this.effect;
        const ups = this.notes.map((note) => ({ path, up: { n: 0, note } }));
        this.notes = [];
        if (ups.length === 0) return;
        this.wait = Math.min(2 * this.wait, MOST_NOTE_MS);
        await this.options.messages.say(ups);
    }

    /** The next message does not wait for the answer to this one. */
    private async ask(up: Up): Promise<void> {
        await this.sayNotes();
        const { messages } = this.options;
        messages.ask({ path: this.effect.path, up }).then(
            async (said) => {
                await messages.keep(said);
                this.work?.down(said.down);
            },
            (error: unknown) => this.work?.down(unanswered(up.n, error, this.effect)),
        );
    }

    private answered(outcome: Outcome | null, why?: Missing): void {
        this.options.signal.removeEventListener("abort", this.stop);
        if (this.timer !== null) clearTimeout(this.timer);
        for (const one of this.sleeping.values()) clearTimeout(one);
        // What was said before the outcome is heard before it.
        void this.saying.then(() => this.resolve({ outcome, notes: this.notes, ...(why === undefined ? {} : { why }) }));
    }
}

function unanswered(n: number, error: unknown, { site }: Effect): Down {
    const message = `the workflow gave no answer: ${error instanceof Error ? error.message : String(error)}`;
    return { n, outcome: { ok: false, failure: { kind: "cancelled", message, site } } };
}
