/**
 * Effects of which it is not known whether they happened, until a person says so (U2).
 *
 * Boundary: what is asked and answered; what follows from an answer is the conductor's. Meanwhile the run's time does not count (D4).
 */
import type { Effect } from "../effect/effect.ts";
import type { Decision, UnknownAnswer } from "./messages.ts";
import type { RunTime } from "./time.ts";

/** `said` null: no person knows it now. */
export interface Known {
    readonly effect: Effect;
    readonly said: UnknownAnswer | null;
}

export class Unknowns {
    private readonly open = new Map<string, Effect>();
    private answered: Known[] = [];
    private readonly time: RunTime;
    private readonly say: (decision: Decision) => void;

    constructor(time: RunTime, say: (decision: Decision) => void) {
        this.time = time;
        this.say = say;
    }

    /** A person has not answered yet. */
    get isOpen(): boolean {
        return this.open.size > 0;
    }

    ask(effect: Effect): void {
        this.open.set(effect.path, effect);
        this.time.person(1);
        this.say({ kind: "unknown", effect });
    }

    answer(path: string, said: UnknownAnswer | null): void {
        const effect = this.open.get(path);
        if (effect === undefined) return;
        this.drop(path);
        this.answered.push({ effect, said });
    }

    /** Its outcome is wanted no longer. */
    drop(path: string): void {
        if (this.open.delete(path)) this.time.person(-1);
    }

    /** Of them, those that no person knows. */
    unsaid(): Effect[] {
        return this.answered.flatMap(({ effect, said }) => (said === null ? [effect] : []));
    }

    /** Those that were answered since the last call. */
    take(): Known[] {
        const { answered } = this;
        this.answered = [];
        return answered;
    }
}
