/**
 * What a run is started with, and what of it the ledger keeps so that the run can be resumed anywhere.
 *
 * Boundary: shapes and defaults. Secrets are not options: configuration names where they come from.
 */
import { randomUUID } from "node:crypto";
import type { Backend, Json } from "@remit/language";
import type { FileContent, Limits, Policy, Prices, RunRequest, SkillContent } from "@remit/machine";
import type { Mode } from "./rehearse.ts";
import type { AskOptions } from "./setup.ts";

/** The program's entry by name; absent parts are the program's own. */
export interface Entry {
    /** Where it would begin without its blocks; then the other parts are absent. */
    readonly main?: true;
    readonly agent?: string;
    readonly func?: string;
}

/** What a part of a run knows of the run around it, where there is something to know. */
export const PART_KNOWS = ["evidence", "uses", "met", "rows", "under"] as const;

/** What a run is a part of, and which, as the other run asked for it. */
export interface Part extends Pick<RunRequest, "path" | "entry" | "bindings" | (typeof PART_KNOWS)[number]> {
    readonly parent: string;
}

/** Kept with the run: plain JSON. */
export interface KeptOptions {
    readonly input: Json;
    /** Origins of the input; `user` where absent. */
    readonly inputOrigins?: readonly string[];
    readonly entry?: Entry;
    /** Of a run that is a part of another. */
    readonly part?: Part;
    /** Where its blocks run: those of the other backend are runs of their own. Default `memory`. */
    readonly backend?: Backend;
    readonly limits: Limits;
    /** What the models of the imports cost, as far as it was known when the run began; to reserve by. */
    readonly prices?: Prices;
    /** What to do so that the prices of a file count that is not trusted. */
    readonly unpriced?: string;
    /** Model URI that stands for every `import llm`. */
    readonly model?: string;
    /** On whose behalf requests are made whose stage names no identity. */
    readonly as?: string;
    /** What is performed; all where absent. */
    readonly mode?: Mode;
    /** Absolute folder from which files in model URIs (`scripted:FILE`) are found. */
    readonly modelFolder: string;
    /** Absolute folder that tools may reach. */
    readonly workspace: string;
    /** Chosen candidates of `use one of`: site id → name. */
    readonly variants?: { readonly [site: string]: string };
    /** Iterations of a `parallel for` that run at once. */
    readonly concurrency?: number;
    /** Missing fields of the input are asked for. */
    readonly interactive?: boolean;
    /** What becomes of questions; `owner` is the user who began the run. */
    readonly asks?: AskOptions;
    /** What the project adds to what the program says about authority. */
    readonly policy?: Policy;
    /** The build of the machine that the run began with. */
    readonly engine?: string;
    /** Contents of file imports as they were when the run began, by `FILE INDEX/NAME`. */
    readonly imports: { readonly [place: string]: FileContent };
    /** Skills as they were when the run began, by `FILE INDEX/NAME`; absent where the program imports none. */
    readonly skills?: { readonly [place: string]: SkillContent };
}

/**
 * Sorts by time of start; unique enough for one ledger, short enough to type its beginning. (The first eight digits of a UUID of version 4 are
 * random, and Node draws random bytes for many of them at once.)
 */
export function newRunId(): string {
    return `${Date.now().toString(36)}-${randomUUID().slice(0, 8)}`;
}
