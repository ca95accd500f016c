/**
 * Keys that were not declared, by what keys of well-known providers look like: what a provider says may quote one.
 *
 * Boundary: texts and JSON in, the same shape out. What is known is the scrubber's.
 */
import type { Json } from "@remit/language";
import { mapped } from "./pieces.ts";
import type { Scrubber } from "./scrub.ts";

const SHAPE =
    /\b(?:sk|pk|rk|xox[abp]|gh[pousr]|AIza)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}|\bglpat-[A-Za-z0-9_.-]{16,}|\b(?:npm|hf)_[A-Za-z0-9]{30,}|\bBearer\s+[A-Za-z0-9._~+/-]{16,}=*/g;

/** Without what is known to be a secret, and without what looks like one. */
export function withoutKeys<T extends Json>(json: T, secrets: Scrubber): T {
    return mapped(json, (text) => secrets.text(text).replace(SHAPE, "[removed]")) as T;
}
