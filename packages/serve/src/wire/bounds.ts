/** Limits of what is sent, for servers and clients alike. Constants only. */

/** Pictures of one turn, and of one result. */
export const MAX_PICTURES = 4;
/** Of one picture, bytes. */
export const MAX_PICTURE_BYTES = 5 << 20;
export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;

/** Where panels look for the server that they were paired with: ten ports that no known service has. */
export const KNOWN_PORTS: readonly number[] = Array.from({ length: 10 }, (_, n) => 41_730 + n);
/** What a client may be let do. */
export const SCOPES = ["observe", "submit", "lend", "approve", "admin"] as const;
