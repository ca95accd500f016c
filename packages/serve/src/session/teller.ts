/**
 * What a turn is doing, as it is told to those who listen: pieces of text in one frame every so often, a line a step.
 *
 * Boundary: of what the run keeps and shows, the little that a terminal or a panel needs. All of it is in the run's own events.
 *
 * TEL1: a run that goes on in another process asks the model again where it had said a part: that part is taken back before the first word.
 */
import { isObject, type Json, shownUse } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import type { SessionLog } from "./log.ts";

/** Pieces of text that come within this time are one frame, milliseconds. */
const PIECES_MS = 30;

const STEPS: ReadonlySet<string> = new Set([
    "generate.started",
    "generate.ended",
    "tool.started",
    "tool.ended",
    "agent.started",
    "agent.ended",
    "yield.opened",
    "yield.closed",
    "plan.started",
    "plan.node.started",
    "plan.node.ended",
    "plan.ended",
    "policy.denied",
    "failure",
]);

/** What acknowledges to clients that a run has what they gave. */
export interface RunCalls {
    begun?(path: string, part: Json): void;
    heard?(event: LedgerEvent): void;
    /** The outcome of the effect at this path is durable. */
    recorded(path: string): void;
    over(): void;
}

export class Teller {
    readonly #log: SessionLog;
    readonly #turn: string;
    readonly #calls: readonly RunCalls[];
    #text = "";
    #path = "";
    #timer: NodeJS.Timeout | undefined;
    /** TEL1: where text has come here; null: the run began here. */
    readonly #said: Set<string> | null;

    /** `goesOn`: another process began with the run. */
    constructor(log: SessionLog, turn: string, calls: readonly RunCalls[], goesOn = false) {
        this.#said = goesOn ? new Set() : null;
        this.#log = log;
        this.#calls = calls;
        this.#turn = turn;
    }

    part(path: string, part: Json): void {
        for (const one of this.#calls) one.begun?.(path, part);
        if (!isObject(part)) return;
        if (part.type === "restart") this.#restart(path);
        if (part.type !== "text" || typeof part.delta !== "string") return;
        if (path !== this.#path) this.#flush();
        if (this.#said !== null && !this.#said.has(path)) {
            this.#said.add(path);
            this.#restart(path);
        }
        this.#path = path;
        this.#text += part.delta;
        this.#timer ??= setTimeout(() => this.#flush(), PIECES_MS);
    }

    event(event: LedgerEvent): void {
        for (const one of this.#calls) one.heard?.(event);
        const data = isObject(event.data) ? event.data : {};
        // A turn of the model is told only where it came to nothing.
        if (!STEPS.has(event.kind) && data["nudged"] !== true) return;
        this.#flush();
        const { kind, path, seq, run } = event;
        const some = Object.fromEntries(
            ["tool", "method", "id", "state", "ok", "agent", "label", "message", "rule", "nudged"].flatMap((key) => {
                const value = data[key];
                return typeof value === "string" || typeof value === "boolean" ? [[key, value]] : [];
            }),
        );
        const { tool, method, uri } = data;
        const isCall = typeof tool === "string" && typeof method === "string";
        if (isCall) some["use"] = shownUse(`${tool}.${method}`, typeof uri === "string" ? uri : "");
        this.#log.tell("turn.step", { turn: this.#turn, run, seq, kind, path, ...some });
    }

    /** A try failed, and another one begins: what it said is taken back. */
    #restart(path: string): void {
        if (path === this.#path) this.#text = "";
        this.#log.tell("turn.restart", { turn: this.#turn, path });
    }

    recorded(path: string): void {
        for (const one of this.#calls) one.recorded(path);
    }

    close(): void {
        this.#flush();
        for (const one of this.#calls) one.over();
    }

    #flush(): void {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        if (this.#text === "") return;
        this.#log.tell("turn.text", { turn: this.#turn, path: this.#path, delta: this.#text });
        this.#text = "";
    }
}
