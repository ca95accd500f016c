/**
 * A run as one assistant message of the AI SDK's UI message stream (version 7): text, tool calls, questions about them, and how it ended.
 *
 * Boundary: from events of the ledger and pieces of text to chunks; pure. Who sends them where is the caller's.
 *
 * UIM1: a call is told once, with its arguments, before anything is said of it: where a person is asked about it, before the question.
 * UIM3: text of a try that failed is taken back: the part `data-restart` behind it says so, and what the next try says is a text of its own. A chunk that
 *     takes a text away the SDK has not.
 * UIM2: what is too long for a page is told by its place in the ledger.
 */
import { isObject, type Json, LENT, shownUse } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { reasonOf } from "../faces/reason.ts";

/** What a page hears; each is a chunk of the AI SDK's. */
export type UiChunk =
    | { readonly type: "start"; readonly messageId?: string; readonly messageMetadata?: Json }
    | { readonly type: "start-step" | "finish-step" }
    | { readonly type: "text-start" | "text-end"; readonly id: string }
    | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
    | {
          readonly type: "tool-input-available";
          readonly toolCallId: string;
          readonly toolName: string;
          /** What a person calls a tool that a client lends. */
          readonly title?: string;
          readonly input: Json;
          readonly dynamic: true;
      }
    | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string; readonly reason?: string }
    | { readonly type: "tool-approval-response"; readonly approvalId: string; readonly approved: boolean }
    | { readonly type: "tool-output-available"; readonly toolCallId: string; readonly output: Json; readonly dynamic: true }
    | { readonly type: "tool-output-error"; readonly toolCallId: string; readonly errorText: string; readonly dynamic: true }
    | { readonly type: "tool-output-denied"; readonly toolCallId: string }
    | { readonly type: `data-${string}`; readonly id?: string; readonly data: Json }
    | { readonly type: "error"; readonly errorText: string }
    | { readonly type: "abort"; readonly reason?: string }
    | { readonly type: "finish"; readonly messageMetadata?: Json };

/** A question about a call; `path`: of the question, below that of the call. */
export interface UiAsk {
    readonly id: string;
    readonly path: string;
    readonly question: string;
    readonly detail: Json;
}

/** How a run or a turn ended. */
export interface UiEnd {
    readonly status: string;
    readonly value?: Json;
    readonly origins?: readonly string[];
    readonly failure?: { readonly kind: string; readonly message: string };
}

/** Longest argument or result that a page gets, characters of its JSON. */
const MOST = 64_000;

const YES: ReadonlySet<string> = new Set(["once", "session"]);

/** Tools that the server gives to its own program; a page has no use for them. */
const OWN: ReadonlySet<string> = new Set(["Conversation"]);

export class UiMessage {
    readonly #calls = new Set<string>();
    readonly #asks = new Map<string, { readonly call: string; decided: boolean }>();
    #open: string | null = null;
    #said = "";
    #texts = 0;

    /** Questions that are open. */
    get asked(): readonly string[] {
        return [...this.#asks].flatMap(([id, { decided }]) => (decided ? [] : [id]));
    }

    text(delta: string): UiChunk[] {
        if (delta === "") return [];
        const begun: UiChunk[] = [];
        if (this.#open === null) {
            this.#open = `text-${++this.#texts}`;
            this.#said = "";
            begun.push({ type: "text-start", id: this.#open });
        }
        this.#said += delta;
        return [...begun, { type: "text-delta", id: this.#open, delta }];
    }

    /** UIM3. */
    restart(): UiChunk[] {
        if (this.#open === null) return [];
        const text = this.#open;
        this.#said = "";
        return [...this.#close(), { type: "data-restart", id: text, data: { text } }];
    }

    event({ kind, path, data, run, seq }: LedgerEvent): UiChunk[] {
        const d = isObject(data) ? data : {};
        if (OWN.has(String(d["tool"]))) return [];
        const place = { run, event: seq };
        if (kind === "tool.started") return this.#called(path, named(nameOf(d), d), d["args"] ?? [], place);
        if (kind === "tool.ended") {
            const begun = this.#called(path, named(nameOf(d), d), d["args"] ?? [], place);
            return [...begun, ...this.#ended(path, d, place)];
        }
        return [];
    }

    /**
     * A piece of text of a model or an agent; or what a tool says while it is called, whatever it looks like: the last piece of a call stands in the
     * place of the one before.
     */
    part(path: string, part: Json): UiChunk[] {
        if (this.#calls.has(path)) return [{ type: "data-progress", id: path, data: short(part, null) }];
        if (isObject(part) && part.type === "restart") return this.restart();
        return isObject(part) && part.type === "text" && typeof part.delta === "string" ? this.text(part.delta) : [];
    }

    ask({ id, path, question, detail }: UiAsk): UiChunk[] {
        if (this.#asks.has(id)) return [];
        const call = path.replace(/\/ask$/, "");
        const about = isObject(detail) ? detail : {};
        const { capability } = about as { readonly capability?: string };
        const begun = this.#called(call, named(capability ?? "question", about), about["args"] ?? [], null);
        this.#asks.set(id, { call, decided: false });
        return [...begun, { type: "tool-approval-request", approvalId: id, toolCallId: call, reason: reasonOf(question, detail, []) }];
    }

    decided(id: string, decision: string): UiChunk[] {
        const ask = this.#asks.get(id);
        if (ask === undefined || ask.decided) return [];
        ask.decided = true;
        const approved = YES.has(decision);
        const said: UiChunk = { type: "tool-approval-response", approvalId: id, approved };
        return approved ? [said] : [said, { type: "tool-output-denied", toolCallId: ask.call }];
    }

    end({ status, value = null, origins = [], failure }: UiEnd): UiChunk[] {
        const closed: UiChunk[] = this.#asked();
        const metadata = { status, origins: [...origins] };
        const done: UiChunk[] = [{ type: "finish-step" }, { type: "finish", messageMetadata: metadata }];
        if (status === "done") return [...closed, ...this.#value(value), ...done];
        const rest = this.#close();
        if (status === "cancelled") return [...closed, ...rest, { type: "abort", reason: "the turn was cancelled" }];
        const why = failure === undefined ? `the turn is ${status}` : `${failure.kind}: ${failure.message}`;
        return [...closed, ...rest, { type: "error", errorText: why }, ...done];
    }

    /** The value, where it was not said as it came. */
    #value(value: Json): UiChunk[] {
        const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
        if (this.#said.trim() !== "" && this.#said.trim().endsWith(text.trim())) return this.#close();
        const more: UiChunk[] = typeof value === "string" ? [] : [{ type: "data-value", data: short(value, null) }];
        return [...this.#close(), ...this.text(text.length > MOST ? `${text.slice(0, MOST)}…` : text), ...this.#close(), ...more];
    }

    /** Where the run is over, no decision counts any more. */
    #asked(): UiChunk[] {
        return this.asked.flatMap((id) => this.decided(id, "deny"));
    }

    /** UIM1. */
    #called(path: string, name: Named, args: Json, place: Json): UiChunk[] {
        if (this.#calls.has(path)) return [];
        this.#calls.add(path);
        const input = Array.isArray(args) && args.length === 1 ? (args[0] as Json) : args;
        return [...this.#close(), { type: "tool-input-available", toolCallId: path, ...name, input: short(input, place), dynamic: true }];
    }

    #ended(path: string, d: { readonly [key: string]: Json }, place: Json): UiChunk[] {
        if (d["ok"] === true)
            return [{ type: "tool-output-available", toolCallId: path, output: short(d["result"] ?? null, place), dynamic: true }];
        // a refusal was told as one
        if (
            [...this.#asks.values()].some(({ call, decided }) => call === path && decided) &&
            isObject(d["error"]) &&
            d["error"]["kind"] === "denied"
        )
            return [];
        const error = isObject(d["error"]) ? String(d["error"]["message"] ?? "it failed") : String(d["error"] ?? "it failed");
        return [{ type: "tool-output-error", toolCallId: path, errorText: error, dynamic: true }];
    }

    #close(): UiChunk[] {
        if (this.#open === null) return [];
        const id = this.#open;
        this.#open = null;
        return [{ type: "text-end", id }];
    }
}

type Named = { readonly toolName: string; readonly title?: string };

/** Of a call or a question about one. */
function named(toolName: string, { uri }: { readonly uri?: Json }): Named {
    return uri === LENT ? { toolName, title: shownUse(toolName, uri) } : { toolName };
}

function nameOf(d: { readonly [key: string]: Json }): string {
    return `${String(d["tool"])}.${String(d["method"])}`;
}

/** UIM2. */
function short(value: Json, place: Json): Json {
    const text = JSON.stringify(value);
    return text.length <= MOST ? value : { long: text.length, ledger: place };
}
