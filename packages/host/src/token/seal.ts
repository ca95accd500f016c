/**
 * Sealing: AES-256-GCM under one of several keys.
 *
 * Boundary: texts and keys; where either is kept is elsewhere. NIST SP 800-38D: a nonce of 96 random bits for each seal, a tag of 128.
 *
 * TSL1: what was sealed for one place opens for no other: provider, identity and key are authenticated with it.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Keys by their ids; `current` is the one that seals. */
export interface KeyRing {
    readonly current: string;
    readonly keys: { readonly [id: string]: Buffer };
}

/** For what something is sealed. */
export interface Place {
    readonly provider: string;
    readonly as: string;
}

const NONCE = 12;
const TAG = 16;

export function newRing(): KeyRing {
    const id = randomBytes(6).toString("hex");
    return { current: id, keys: { [id]: randomBytes(32) } };
}

/** `KEY.BASE64URL` of nonce, ciphertext and tag. */
export function seal(text: string, place: Place, ring: KeyRing): string {
    const id = ring.current;
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv("aes-256-gcm", ring.keys[id] as Buffer, nonce, { authTagLength: TAG });
    cipher.setAAD(about(place, id));
    const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return `${id}.${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString("base64url")}`;
}

/** Null where it was not sealed for this place with one of these keys, or was changed. */
export function unseal(sealed: string, place: Place, ring: KeyRing): string | null {
    const [id = "", text = ""] = sealed.split(".");
    const key = Object.hasOwn(ring.keys, id) ? ring.keys[id] : undefined;
    const bytes = Buffer.from(text, "base64url");
    if (key === undefined || bytes.length < NONCE + TAG) return null;
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAAD(about(place, id));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
    try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()]).toString("utf8");
    } catch (error) {
        // Node's only word for a tag that does not fit.
        if (!(error instanceof Error)) throw error;
        return null;
    }
}

function about({ provider, as }: Place, id: string): Buffer {
    return Buffer.from(JSON.stringify(["remit-tokens/1", provider, as, id]));
}
