/**
 * What the server tells of runs, of its program and of models.
 *
 * Boundary: shapes; `../runs/` makes them, the console shows them.
 */
import type { Json, Site } from "@remit/language";
import type { Cost, Explanation, PlanRow, TraceRow, Usage } from "@remit/machine";

/** A run as it stands in a list. */
export interface ListedRun {
    readonly id: string;
    readonly file: string;
    /** Name of the folder of its program's tree; absent where the program has none. */
    readonly folder?: string;
    /** ISO 8601. */
    readonly started: string;
    readonly ended: string | null;
    /** `running waiting stopped done failed`, or `interrupted` where its process is gone. A turn that asks a person waits. */
    readonly state: string;
    /** What was asked for, where it is a turn of a session that this process has. */
    readonly task?: string;
    readonly usage: Usage;
    readonly steps: number;
    /** Effects with an outcome. */
    readonly effects: number;
    /** Milliseconds that counted, all but the waiting for a person. */
    readonly spent: number;
    readonly failure?: RunFailed;
}

export interface RunFailed {
    readonly kind: string;
    readonly message: string;
    readonly hint?: string;
    readonly site?: Site | null;
    /** The line of the program that the place names, as it stands in the file now. */
    readonly source?: string;
}

export interface RunPage {
    readonly runs: readonly ListedRun[];
    /** Id of the last one, where more follow. */
    readonly next: string | null;
}

/** A question of a run that can be answered until it `expires` (ISO 8601). */
export interface RunWaits {
    readonly id: string;
    readonly question: string;
    readonly expires: string;
}

export interface RunView extends ListedRun {
    readonly events: number;
    readonly live: boolean;
    /** Questions to a person that are open, oldest first. */
    readonly waits: readonly RunWaits[];
    readonly value?: Json;
    readonly models: Cost["models"];
    readonly total: Cost["total"];
}

export interface TraceView {
    readonly rows: readonly Omit<TraceRow, "detail">[];
    /** Number of the last event that the rows are made of. */
    readonly seq: number;
}

/** What came back from a model at one attempt or turn. */
export interface Replied {
    readonly path: string;
    readonly reply: Json;
    readonly error: Json;
    readonly usage: Json;
    readonly answeredBy: Json;
}

/** `shown`: what a person calls it, where the model's name for it is made of that of its client; else null. */
export type ShownTool = Explanation["tools"][number] & { readonly shown: string | null };

export interface PromptView extends Omit<Explanation, "tools"> {
    readonly tools: readonly ShownTool[];
    readonly replies: readonly Replied[];
    /** What all items together may have. */
    readonly total: Json;
    readonly ended: { readonly ok: Json; readonly result: Json; readonly error: Json };
}

/** A block of a run, as far as it has come. */
export interface PlanView {
    readonly path: string;
    readonly title: string;
    readonly tree: PlanRow;
    /** Ids of the nodes whose values it gives. */
    readonly results: readonly string[];
    /** What is known of its nodes, by id; the others wait. */
    readonly nodes: { readonly [id: string]: NodeView };
    readonly state: "running" | "done" | "failed";
}

export interface NodeView {
    readonly state: string;
    readonly ms?: number;
    readonly value?: Json;
    readonly error?: string;
}

export interface ProgramView {
    readonly file: string;
    readonly hash: string;
    readonly head: readonly string[];
    readonly rows: readonly (readonly string[])[];
}

export interface ModelsView {
    readonly models: readonly { readonly uri: string; readonly ok: boolean; readonly note: string }[];
    readonly chosen: { readonly uri: string; readonly text: string };
}
