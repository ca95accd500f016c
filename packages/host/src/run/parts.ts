/**
 * Progress of an effect on its way to whoever watches: secrets are taken out, also one that comes in two pieces.
 *
 * Boundary: parts in, parts out; what a secret is, is the scrubber's.
 *
 * F4: no part, and no text that the parts of one effect make together, holds a known secret. What may be the beginning of one is held back until
 *     the next piece, or until the effect is answered.
 */
import type { Json } from "@remit/language";
import type { Scrubber } from "../secret/scrub.ts";

export interface Parts {
    part(part: Json): void;
    /** Gives what was held back. */
    end(): void;
}

/** A piece of a longer text: `{type, delta}`, or a bare string. */
interface Piece {
    readonly type: string | null;
    readonly text: string;
}

export function partsOf({ scrub, hold }: Pick<Scrubber, "scrub" | "hold">, emit: (part: Json) => void): Parts {
    const held = new Map<string | null, string>();
    const give = (type: string | null, text: string): void => {
        if (text !== "") emit(scrub(type === null ? text : { type, delta: text }));
    };
    return {
        part: (part) => {
            const piece = pieceOf(part);
            if (piece === null) {
                // A reply that begins anew: what was held back belongs to the one before.
                if (isRestart(part)) held.clear();
                emit(scrub(part));
                return;
            }
            const text = (held.get(piece.type) ?? "") + piece.text;
            const at = hold(text);
            held.set(piece.type, text.slice(at));
            give(piece.type, text.slice(0, at));
        },
        end: () => {
            for (const [type, text] of held) give(type, text);
            held.clear();
        },
    };
}

function pieceOf(part: Json): Piece | null {
    if (typeof part === "string") return { type: null, text: part };
    if (part === null || typeof part !== "object" || Array.isArray(part)) return null;
    const { type, delta } = part;
    return typeof type === "string" && typeof delta === "string" && Object.keys(part).length === 2 ? { type, text: delta } : null;
}

function isRestart(part: Json): boolean {
    return part !== null && typeof part === "object" && !Array.isArray(part) && part.type === "restart";
}
