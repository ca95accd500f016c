/**
 * Progress of an effect on its way to the person who watches, and what an agent reports on its way to the ledger: secrets are taken out, also one
 * that comes in two pieces.
 *
 * Boundary: parts in, parts out; what a secret is, is the scrubber's.
 *
 * PA4: no part, and no text that the parts of one effect make together, holds a known secret. What may be the beginning of one is held back until
 *     the next piece, or until the effect is answered. Where the text was to go on, as in an effect that failed, it is shown never.
 */
import type { Json } from "@remit/language";
import type { AgentNote } from "@remit/machine";
import type { Scrubber } from "../secret/scrub.ts";

export interface Parts<T = Json> {
    part(part: T): void;
    /** Gives what was held back. `isCut`: the text was to go on, so that it may be a part of a secret, and is not given. */
    end(isCut: boolean): void;
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
        end: (isCut) => {
            if (!isCut) for (const [type, text] of held) give(type, text);
            held.clear();
        },
    };
}

/** The same for what an agent reports: the text of its last message, and of its last thought, may go on. */
export function notesOf({ scrub, hold }: Pick<Scrubber, "scrub" | "hold">, emit: (note: AgentNote) => void): Parts<AgentNote> {
    const held = new Map<string, Held>();
    const give = (note: AgentNote): void => emit(scrub(note as unknown as Json) as unknown as AgentNote);
    const end = (kind: string): void => {
        const entry = held.get(kind);
        held.delete(kind);
        if (entry !== undefined && entry.text !== "") give({ entry, more: true });
    };
    return {
        part: (note) => {
            const entry = "entry" in note ? note.entry : null;
            if (entry?.kind !== "message" && entry?.kind !== "thought") {
                give(note);
                return;
            }
            const { kind } = entry;
            if (!("more" in note)) end(kind);
            const text = (held.get(kind)?.text ?? "") + entry.text;
            const at = hold(text);
            held.set(kind, { kind, text: text.slice(at), ...(entry.time === undefined ? {} : { time: entry.time }) });
            give({ ...note, entry: { ...entry, text: text.slice(0, at) } });
        },
        end: (isCut) => {
            if (isCut) held.clear();
            for (const kind of [...held.keys()]) end(kind);
        },
    };
}

type Held = { readonly kind: "message" | "thought"; readonly text: string; readonly time?: string };

function pieceOf(part: Json): Piece | null {
    if (typeof part === "string") return { type: null, text: part };
    if (part === null || typeof part !== "object" || Array.isArray(part)) return null;
    const { type, delta } = part;
    return typeof type === "string" && typeof delta === "string" && Object.keys(part).length === 2 ? { type, text: delta } : null;
}

function isRestart(part: Json): boolean {
    return part !== null && typeof part === "object" && !Array.isArray(part) && part.type === "restart";
}
