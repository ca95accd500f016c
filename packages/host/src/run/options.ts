/**
 * What a run is started with, and what of it the ledger keeps so that the run can be resumed anywhere.
 *
 * Boundary: shapes and defaults. Secrets are not options: configuration names where they come from.
 */
import { randomBytes } from "node:crypto";
import type { Json } from "@remit/language";

/** Bounds of a whole run. What is absent is not bounded, and `run.started` says so; `steps` and `depth` have defaults. */
export interface Limits {
    readonly steps?: number;
    readonly depth?: number;
    /** Input and output tokens of all model turns together. */
    readonly tokens?: number;
    /** US dollars. */
    readonly usd?: number;
    /** Tool calls. */
    readonly calls?: number;
    /** Milliseconds; time spent waiting for a person does not count. */
    readonly time?: number;
    /** Iterations of a `parallel for` that run at once. */
    readonly parallel?: number;
}

export interface Entry {
    readonly agent?: string;
    readonly func?: string;
}

/** Kept with the run: plain JSON. */
export interface KeptOptions {
    readonly input: Json;
    readonly entry?: Entry;
    readonly limits: Limits;
    /** Model URI that stands for every `import llm`. */
    readonly model?: string;
    /** Absolute folder that tools may reach. */
    readonly workspace: string;
    /** Chosen candidates of `use one of`: site id → name. */
    readonly variants?: { readonly [site: string]: string };
    /** Contents of file imports: `file:URI` of the importing file's index → text or parsed JSON. */
    readonly imports: { readonly [key: string]: Json };
}

/** Sorts by time of start; unique enough for one ledger, short enough to type its beginning. */
export function newRunId(now: number = Date.now()): string {
    return `${now.toString(36)}-${randomBytes(4).toString("hex")}`;
}
