/**
 * The clock of a workflow that rings once, at the moment that was said last.
 *
 * Boundary: timers of Temporal. A timer that rings too early costs less than ending it, so one that is open is kept where a later moment is said.
 */
import { CancellationScope, sleep } from "@temporalio/workflow";

export class Alarm {
    private readonly ring: () => void;
    private due: number | null = null;
    private timer: { readonly at: number; readonly scope: CancellationScope } | null = null;

    constructor(ring: () => void) {
        this.ring = ring;
    }

    /** Milliseconds since 1970; null: not any more. */
    set(at: number | null): void {
        this.due = at;
        if (at === null || (this.timer !== null && this.timer.at <= at)) return;
        this.timer?.scope.cancel();
        void this.wait(at);
    }

    end(): void {
        this.due = null;
        this.timer?.scope.cancel();
    }

    private async wait(at: number): Promise<void> {
        const timer = { at, scope: new CancellationScope() };
        this.timer = timer;
        const rang = await timer.scope
            .run(() => sleep(Math.max(1, at - Date.now())))
            .then(
                () => true,
                () => false,
            );
        if (this.timer === timer) this.timer = null;
        if (!rang || this.due === null) return;
        if (this.due <= Date.now()) this.ring();
        else this.set(this.due);
    }
}
