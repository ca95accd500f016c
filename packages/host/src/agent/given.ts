/**
 * What an agent says, before anything is known of it: hostile JSON.
 *
 * Boundary: takes objects for what they are; what they mean is told elsewhere.
 */

export interface Given {
    readonly [key: string]: unknown;
}

/** Anything else is an object without keys. */
export function objectOf(value: unknown): Given {
    return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Given) : {};
}
