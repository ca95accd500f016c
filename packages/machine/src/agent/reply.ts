/**
 * Whether what a turn gave is a reply: a recording, a stub or a host may be wrong about it.
 *
 * Boundary: the shape alone. What an answer in it is worth is the language's.
 */
import { isObject, type Json } from "@remit/language";
import type { AgentReply, Outcome } from "../effect/effect.ts";

const STOPS: readonly AgentReply["stop"][] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

/** The reply as it is, with what may be missing; null where it is none. */
export function readReply(value: Json | undefined): AgentReply | null {
    if (!isObject(value)) return null;
    const { text, stop, entries, resources, spent } = value;
    if (typeof text !== "string" || !STOPS.includes(stop as AgentReply["stop"])) return null;
    if (!Array.isArray(entries) || !entries.every((one) => isObject(one) && typeof one.kind === "string")) return null;
    if (!isObject(spent ?? null)) return null;
    if (resources !== undefined && !(Array.isArray(resources) && resources.every(isResource))) return null;
    return value as unknown as AgentReply;
}

function isResource(value: Json): boolean {
    return isObject(value) && typeof value.uri === "string" && typeof value.mediaType === "string" && typeof value.text === "string";
}

/** What there was of a turn: a failure may hold what came before it. */
export function replyIn(outcome: Outcome): AgentReply | null {
    if (outcome.ok) return readReply(outcome.value);
    const { detail } = outcome.failure;
    return readReply(isObject(detail ?? null) ? (detail as { [key: string]: Json }).reply : undefined);
}
