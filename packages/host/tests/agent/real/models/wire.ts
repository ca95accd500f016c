/**
 * What the four wires have in common: a request read as a conversation, and what the model says to it.
 *
 * Boundary: shapes and small readers. Each wire (chat.ts, responses.ts, anthropic.ts, gemini.ts) turns a request body into `Heard` and a `Said`
 * into the bytes of its stream; server.ts decides what is said.
 */

/** Anything that JSON can be. Requests are read defensively: an agent may send what no documentation says. */
export type Body = { readonly [key: string]: unknown };

/** A request to the model, whatever its wire. */
export interface Heard {
    readonly wire: "chat" | "responses" | "anthropic" | "gemini";
    readonly model: string;
    readonly system: string;
    /** Text of the last message of the user that is not a tool's result. */
    readonly user: string;
    /** Texts of the tool results that came after it. */
    readonly results: readonly string[];
    /** Names of the tools that the agent offers. */
    readonly tools: readonly string[];
    /** The client wants events and not one body. */
    readonly stream: boolean;
    readonly body: Body;
}

export interface Called {
    readonly name: string;
    readonly input: Body;
}

/** All calls of a reply, in order. */
export function callsOf(said: Said): readonly Called[] {
    return "call" in said ? [said.call, ...(said.also ?? [])] : [];
}

/** What the model says: a text, or a call of one of the agent's tools. */
export type Said =
    | { readonly text: string }
    /** `also`: further calls of the same reply. */
    | { readonly call: Called; readonly also?: readonly Called[]; readonly text?: string }
    /** Begins an answer and never ends it. */
    | { readonly hang: true; readonly text?: string };

/** Counts that every answer reports. */
export const USAGE = { input: 100, output: 20 };

export interface Wire {
    /** Null where the request is none of this wire. */
    hear(path: string, body: Body): Heard | null;
    /** Events of the stream, in order; an event without a name has only data. `id` differs with every answer. */
    events(said: Said, id: string, model: string): readonly { readonly event?: string; readonly data: unknown }[];
    /** The answer as one body, for clients that want no stream. */
    whole(said: Said, id: string, model: string): unknown;
    /** What ends a stream, after the events. */
    readonly end?: string;
}

export function isObject(value: unknown): value is Body {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objects(value: unknown): Body[] {
    return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Text of a message's content: a string, or parts that have a `text`. */
export function textOf(content: unknown): string {
    if (typeof content === "string") return content;
    return objects(content)
        .map((part) => (typeof part.text === "string" ? part.text : ""))
        .join("\n");
}

export function nameOf(value: unknown): string {
    return typeof value === "string" ? value : "";
}
