/**
 * Keeping keys out of what models say and of what is said about them.
 *
 * Boundary: texts and JSON. The run's own scrubbing of outcomes stands behind this.
 */
import type { Json } from "@remit/language";

export type Environment = { readonly [name: string]: string | undefined };

const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** What keys of well-known providers look like. */
const SECRET_SHAPE =
    /\b(?:sk|pk|rk|xox[abp]|gh[pousr]|AIza)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}|\bglpat-[A-Za-z0-9_.-]{16,}|\b(?:npm|hf)_[A-Za-z0-9]{30,}|\bBearer\s+[A-Za-z0-9._~+/-]{16,}=*/g;
const REMOVED = "[removed]";

/** The values of variables that hold secrets by their name. Short values are words that would be struck out everywhere. */
export function secretsOf(env: Environment): string[] {
    const found = Object.entries(env).flatMap(([name, value]) =>
        value !== undefined && value.length >= 8 && SECRET_NAME.test(name) ? [value] : [],
    );
    return [...new Set(found)].sort((a, b) => b.length - a.length);
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
    let out = text;
    for (const secret of secrets) out = out.replaceAll(secret, REMOVED);
    return out.replace(SECRET_SHAPE, REMOVED);
}

export function jsonWithoutSecrets(value: Json, secrets: readonly string[]): Json {
    if (typeof value === "string") return withoutSecrets(value, secrets);
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((item) => jsonWithoutSecrets(item, secrets));
    return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [withoutSecrets(key, secrets), jsonWithoutSecrets(item, secrets)]),
    );
}
