/**
 * What a `generate` is given and what it gives back: the shapes between the machine's frames and the coroutine in `generate.ts`.
 *
 * Boundary: shapes only.
 */
import type { BudgetForm, Contract, Json, Site } from "@remit/language";
import type { EffectKind, Failure } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";
import type { EventKind } from "../ledger/events.ts";
import type { Value } from "../value/value.ts";
import type { ToolInput } from "./offers.ts";

/** One `use` that is visible at the `generate`, outermost first, its expression evaluated. */
export interface ItemInput {
    /** The expression as printed source (`scratch.summary`). */
    readonly source: string;
    readonly label: string | null;
    readonly value: Value;
    readonly budget?: BudgetForm;
    /** Higher ones give way later under a total budget; 0 where none is declared. */
    readonly priority?: number;
    /** `use image`: `value` is a data URL (`data:image/png;base64,…`) or an object `{media_type, data}` with base64 data. */
    readonly image?: boolean;
    /** Set for `use one of`: the candidate that was taken. With `empty` the slot is left out of the prompt. */
    readonly variant?: VariantChoice;
    /** Where the `use` stands, for `explain`. */
    readonly site?: Site | null;
}

export interface VariantChoice {
    readonly site_id: string;
    readonly picked: string;
    readonly available: readonly string[];
    readonly reason: "trial" | "selected" | "first";
    readonly empty: boolean;
}

export interface GenerateOptions {
    /** Total tries, the first included; at least 1. */
    readonly attempts: number;
    readonly strict: boolean;
    /** Output tokens. */
    readonly max_output?: number;
    readonly temperature?: number;
    readonly think?: boolean | "auto" | "low" | "medium" | "high";
    readonly debug: boolean;
    readonly stream: boolean;
    /** Provider turns of one attempt with tools; `DEFAULT_TURNS` where absent. */
    readonly turns?: number;
    /** How often in a row a model that says what it is going to do, and calls no tool, is told so; 0 where absent. */
    readonly nudges?: number;
    /** Milliseconds one provider turn may take. */
    readonly timeout?: number;
    /** Of tools' results, those that are not trusted are told as references. */
    readonly hide?: "untrusted";
}

export const DEFAULT_TURNS = 8;

export interface GenerateSetup {
    /** `Agent.func[n]`: the site, for the ledger and for models that answer by label. */
    readonly label: string;
    readonly agent: string;
    /** The model import: its name in the program and its URI. */
    readonly model: { readonly name: string; readonly uri: string };
    /** The file whose import the model is. */
    readonly modelFile?: string;
    /** Values, so that what they carry is known; strings in almost every program. */
    readonly identity: { readonly role: Value; readonly description: Value };
    readonly items: readonly ItemInput[];
    /** The option `input`. */
    readonly instruction: Value;
    readonly options: GenerateOptions;
    /** Absent: free text. */
    readonly contract?: Contract;
    readonly shapes: { readonly [name: string]: Contract };
    /** Tool imports, or single methods of them, that the model may call. */
    readonly tools?: readonly ToolInput[];
    /** `context max`. */
    readonly contextMax?: BudgetForm;
    /** Names visible at the site, for `explain`: what was in scope and not used. */
    readonly scope?: readonly string[];
}

/** An event to be written at `path + "/" + suffix`, at the path itself where the suffix is empty. */
export interface StepEvent {
    readonly kind: EventKind;
    readonly suffix: string;
    readonly data: Json;
    /** Sorted origins. */
    readonly labels: readonly string[];
    /** Suffix of what it is a part of; absent: of the whole. */
    readonly under?: string;
}

export interface StepEffect {
    readonly suffix: string;
    readonly kind: EffectKind;
    readonly request: Json;
    /** Sorted origins of what is in the request. */
    readonly labels: readonly string[];
    readonly deadline?: number;
}

/**
 * One step: what happened, and either effects to perform (all of them, concurrently where the host can; their outcomes come back together, in
 * this order), or the end. `origins` at the end are those of the value, or of what the failure's message and detail show.
 */
export type GenerateStep = { readonly state: Json; readonly events: readonly StepEvent[] } & (
    | { readonly effects: readonly StepEffect[] }
    | { readonly value: Json; readonly origins: readonly string[]; readonly usage: Usage }
    | { readonly failure: Failure; readonly origins: readonly string[]; readonly usage: Usage }
);
