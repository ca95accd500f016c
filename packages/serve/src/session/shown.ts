/**
 * A turn as clients are told of it.
 *
 * Boundary: pure; from the session's state to the protocol.
 */
import { defined } from "@remit/language";
import type { TurnInfo } from "../wire/messages.ts";
import type { Turn } from "./state.ts";

/** `position`: among those that wait. Its key, and where its input came from, are the server's own. */
export function shownTurn({ key: _key, inputOrigins: _origins, ...turn }: Turn, session: string, position: number | undefined): TurnInfo {
    return defined({ session, position, ...turn }) as unknown as TurnInfo;
}
