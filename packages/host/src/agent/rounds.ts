/**
 * Which call of its model each report of an agent belongs to: the protocol does not say where one ends and the next begins.
 *
 * Boundary: counts reports; keeps no text.
 *
 * RND1: what was used for a call of the model is told at its end. A call of a tool after that, where only text was said before, still belongs to it:
 *     agents tell of the two in either order. A call that its model is still writing (qwen-code says so) is of a call of the model that goes on: an
 *     agent may have told nothing of the calls of the one before.
 * RND2: a model sees a result in its next call alone: what comes once all tool calls of a round are over begins a round, and so does a message
 *     under another id. A thought has an id of its own where the agent tells of its parts apart (opencode): it is of the message that comes next.
 * RND3: an id that says its place among the calls of one reply is believed over RND2: that agent makes them one after the other.
 */
import { placeOf } from "./reported.ts";

export class Rounds {
    /** From 0. */
    at = 0;
    private message: string | undefined;
    private said = false;
    private calls = 0;
    private readonly open = new Set<string>();
    private isOver = false;

    /** A piece of a message or a thought; the round that it belongs to. */
    text(kind: "message" | "thought", id: string | undefined): number {
        const isOther = id !== undefined && this.message !== undefined && id !== this.message;
        const isBack = kind === "thought" && this.said && this.calls === 0 && id === undefined;
        if (this.isOver || this.seesResults() || isOther || isBack) this.next();
        if (kind === "message") {
            this.said = true;
            this.message = id ?? this.message;
        }
        return this.at;
    }

    /** A call that was not told of before. `isWritten`: its model is still writing it. */
    call(id: string, isWritten = false): number {
        const place = placeOf(id);
        const isNext = place === undefined ? this.seesResults() : place === 0 && this.calls > 0;
        if (isNext || (this.isOver && (isWritten || !this.said || this.calls > 0))) this.next();
        this.calls++;
        this.open.add(id);
        return this.at;
    }

    ended(id: string): void {
        this.open.delete(id);
    }

    /** What a call of the model used was told. */
    used(): number {
        if (this.isOver) this.next();
        this.isOver = true;
        return this.at;
    }

    private seesResults(): boolean {
        return this.calls > 0 && this.open.size === 0;
    }

    private next(): void {
        this.at++;
        this.message = undefined;
        this.said = false;
        this.calls = 0;
        this.open.clear();
        this.isOver = false;
    }
}
