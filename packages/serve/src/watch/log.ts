/**
 * What a server writes of what it does: a level, a message, and fields.
 *
 * Boundary: from events to fields. Where lines go is the caller's that started the server.
 *
 * WLG1: a field is an id, a name of this server's own making, a number or a word of a closed set: no text of a person, a page or a model, no argument,
 *     no result and no credential.
 */
import { isObject, type Json } from "@remit/language";

export const LEVELS = ["error", "warn", "info", "debug"] as const;
export type Level = (typeof LEVELS)[number];

export type Fields = { readonly [name: string]: string | number };

export type Log = (level: Level, message: string, about: Fields) => void;

/** Event of a session → fields of it that are written. */
const WRITTEN: { readonly [event: string]: readonly string[] } = {
    "session.opened": ["by"],
    "session.closed": [],
    "turn.submitted": ["turn", "by"],
    "turn.started": ["turn", "run"],
    "turn.cancelled": ["turn", "by"],
    "turn.ended": ["turn", "status"],
    "lent.registered": ["client", "tool", "registration"],
    "lent.withdrawn": ["client", "tool", "registration"],
    "ask.requested": ["turn", "ask"],
    "ask.decided": ["turn", "ask", "by"],
    "ask.withdrawn": ["turn", "ask"],
};

/** Null where nothing is written of it. */
export function fieldsOf(session: string, event: string, data: Json): Fields | null {
    const names = Object.hasOwn(WRITTEN, event) ? WRITTEN[event] : undefined;
    if (names === undefined || !isObject(data)) return null;
    const said = names.flatMap((name) => (typeof data[name] === "string" ? [[name, data[name]] as const] : []));
    return { session, ...Object.fromEntries(said) };
}
