/**
 * Effects that are performed for a conductor in this process, by path.
 *
 * Boundary: from the conductor's decisions to performers, and from what they say to its news.
 */
import type { Down, Effect, News } from "@remit/machine";
import type { Scrubber } from "../secret/scrub.ts";
import type { Host, Missing } from "./host.ts";
import { type Performing, performing } from "./performing.ts";

export interface WorksOptions {
    readonly host: Host;
    /** What is known to be a secret: it is taken out of what comes from outside. */
    readonly secrets: Scrubber;
    /** Performs one effect, here or in another process. */
    readonly perform?: typeof performing;
    /** An effect that cannot be performed now, and what it wants. */
    readonly missing?: (path: string, why: Missing) => void;
}

export class Works {
    private readonly options: WorksOptions;
    private readonly tell: (news: News) => void;
    private readonly open = new Map<string, Performing>();

    constructor(options: WorksOptions, tell: (news: News) => void) {
        this.options = options;
        this.tell = tell;
    }

    get size(): number {
        return this.open.size;
    }

    /** `parent`: path of the effect in which it arose. */
    begin(effect: Effect, parent: string | undefined): void {
        const { host, secrets, perform = performing } = this.options;
        const { path } = effect;
        const work = perform(effect, {
            host,
            secrets,
            ...(parent === undefined ? {} : { parent }),
            up: (up) => this.tell({ kind: "up", path, up }),
            answered: (outcome, why) => {
                if (why !== undefined) this.options.missing?.(path, why);
                if (this.open.get(path) === work) this.open.delete(path);
                if (outcome !== null) this.tell({ kind: "outcome", path, outcome });
                else this.tell({ kind: "later", path, ...(why === undefined ? {} : { why }) });
            },
        });
        this.open.set(path, work);
    }

    /** `waits`: it may still answer. */
    stop(path: string, reason: string, waits: boolean): void {
        this.open.get(path)?.stop(reason, waits);
        if (!waits) this.open.delete(path);
    }

    down(path: string, down: Down): void {
        this.open.get(path)?.down(down);
    }

    /** Nothing that they say counts any more. */
    end(reason: string): void {
        for (const path of [...this.open.keys()]) this.stop(path, reason, false);
    }
}
