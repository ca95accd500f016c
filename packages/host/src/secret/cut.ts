/**
 * Texts that are cut and hold nothing of a secret at the cut: what the world says is longer than what is told of it.
 *
 * Boundary: texts in, texts out. How much is told is the caller's.
 *
 * CUT1: a known secret is taken out before the text is cut, and where pieces come one after the other, when the text is asked for: what is cut meanwhile
 *     leaves nothing of one either.
 */
import type { Scrubber } from "./scrub.ts";

/** The beginning of a text, at most `max` UTF-16 units and an ellipsis where more follows. */
export function headOf(text: string, max: number, secrets: Pick<Scrubber, "beginning">): string {
    const begun = secrets.beginning(text, max);
    if (begun.text.length <= max) return begun.more ? `${begun.text}…` : begun.text;
    return `${begun.text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** The end of a text, at most `max` UTF-16 units behind an ellipsis where more went before. `isCut`: as of `Scrubber.ending`. */
export function tailOf(text: string, max: number, secrets: Pick<Scrubber, "ending">, isCut = false): string {
    const ended = secrets.ending(text, max, isCut);
    if (ended.text.length <= max) return ended.more ? `…${ended.text}` : ended.text;
    return `…${ended.text.slice(-max).replace(/^[\uDC00-\uDFFF]/, "")}`;
}

/** Reasons to stop for which the last text of an agent may end within a word. */
const STOPS_WITHIN: readonly unknown[] = ["cancelled", "max_tokens", "refusal"];

export function stopsWithin(stop: unknown): boolean {
    return STOPS_WITHIN.includes(stop);
}

/** A text that was to go on: without what may be the beginning of a secret at its end. */
export function stopped(text: string, secrets: Pick<Scrubber, "hold">): string {
    return text.slice(0, secrets.hold(text));
}

/** The beginning of a text that comes in pieces. */
export class Head {
    /** UTF-16 units that came. */
    size = 0;
    private readonly max: number;
    private raw = "";

    constructor(max: number) {
        this.max = max;
    }

    take(piece: string): void {
        if (this.raw.length < 2 * this.max) this.raw += piece;
        this.size += piece.length;
    }

    /** At most `max` UTF-16 units, and whether more followed. */
    text(secrets: Pick<Scrubber, "beginning" | "hold">): { readonly text: string; readonly more: boolean } {
        const { raw, max, size } = this;
        // What goes on in a piece that was not kept is no whole secret here.
        const known = raw.length === size ? raw : raw.slice(0, secrets.hold(raw));
        const begun = secrets.beginning(known, max);
        const more = begun.more || known.length < size || begun.text.length > max;
        return { text: more ? begun.text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "") : begun.text, more };
    }
}

/** The end of a text that comes in pieces. */
export class Tail {
    private readonly max: number;
    private raw = "";
    private isCut = false;

    constructor(max: number) {
        this.max = max;
    }

    take(piece: string): void {
        this.raw += piece;
        if (this.raw.length <= 2 * this.max) return;
        this.raw = this.raw.slice(-2 * this.max);
        this.isCut = true;
    }

    /** What is kept of it, more than `max`: the caller cuts it. */
    kept(secrets: Pick<Scrubber, "ending">): string {
        return secrets.ending(this.raw, this.raw.length, this.isCut).text;
    }

    text(secrets: Pick<Scrubber, "ending">): string {
        return tailOf(this.raw, this.max, secrets, this.isCut);
    }
}
