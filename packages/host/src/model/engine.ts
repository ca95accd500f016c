/**
 * What every model is behind its URI: something that answers one turn with raw text, calls and usage.
 *
 * Boundary: shapes only. Reading the text against the contract happens once for all engines, in `models.ts`.
 *
 * M1: an engine performs one provider turn and no tool; it never throws for something that can happen.
 * M2: a failure's message and detail hold no secret and no prompt.
 */
import type { Json } from "@remit/language";
import type { Failure, ModelReply, ModelTurn, ToolCall, Usage } from "@remit/machine";

export interface TurnIO {
    readonly signal: AbortSignal;
    emit(part: Json): void;
    /** The JSON Schema of the contract; absent for free text. */
    readonly schema?: Json;
    /** Path of the effect. */
    readonly path: string;
}

/** A turn as the provider gave it. */
export interface Raw {
    readonly text: string;
    readonly thinking?: string;
    readonly calls?: readonly ToolCall[];
    readonly finish: ModelReply["finish"];
    /** URI of the model that answered, without secrets. */
    readonly model: string;
    readonly usage?: Usage;
    /** Decoding was bound to the contract by the provider. */
    readonly constrained: boolean;
    /** The value itself, where an engine has it without a text (a mock's zero values). */
    readonly value?: Json;
    /** Further tries that were needed because of passing errors. */
    readonly retries?: number;
    /** What the provider did not take, in words. */
    readonly notes?: readonly string[];
    readonly without?: ModelReply["without"];
}

/** With notes of what was not even sent. */
export function noted(raw: Raw, notes: readonly string[]): Raw {
    return notes.length === 0 ? raw : { ...raw, notes: [...notes, ...(raw.notes ?? [])] };
}

export type Turned = { readonly ok: true; readonly raw: Raw } | { readonly ok: false; readonly failure: Failure; readonly usage?: Usage };

export interface Engine {
    /** As shown to people and in the ledger. */
    readonly uri: string;
    turn(request: ModelTurn, io: TurnIO): Promise<Turned>;
    close?(): Promise<void>;
}

export function failed(kind: Failure["kind"], message: string, more: { hint?: string; detail?: Json } = {}): Turned {
    return { ok: false, failure: { kind, message, ...more } };
}

export function cancelled(): Turned {
    return failed("cancelled", "the model's turn was cancelled");
}

/** The prompt as one text, for engines that look for words in it. */
export function promptText(request: ModelTurn): string {
    return request.messages
        .map((message) => {
            if (message.role === "user") return message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
            return message.role === "tool" ? JSON.stringify(message.result) : message.content;
        })
        .join("\n");
}
