/**
 * Payloads that only holders of a key read: AES-256-GCM, a key id with each, keys that follow one another.
 *
 * Boundary: payloads in, payloads out. Where keys come from is the caller's.
 *
 * ENC1: what is sent is encrypted under the current key; what was encrypted under an earlier one that is still given is read.
 * ENC2: the key's id, and namespace and workflow where they are known, are authenticated: a payload that was moved to another workflow is not read.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Payload, PayloadCodec, SerializationContext } from "@temporalio/common";

import proto from "@temporalio/proto";

export interface Keys {
    /** Id of the key that is encrypted with. */
    readonly current: string;
    /** 32 bytes each, by id. */
    readonly keys: { readonly [id: string]: Uint8Array };
}

/** A payload that cannot be read here. */
export class CodecError extends Error {
    override readonly name = "CodecError";
    readonly hint: string;
    constructor(message: string, hint: string, cause?: unknown) {
        super(message, cause === undefined ? undefined : { cause });
        this.hint = hint;
    }
}

const ENCODING = Buffer.from("binary/encrypted");
const KEY = "encryption-key-id";
const PLACE = "encryption-place";
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const { Payload: Shape } = proto.temporal.api.common.v1;

export function encryption({ current, keys }: Keys): PayloadCodec {
    for (const [id, key] of Object.entries(keys))
        if (key.length !== 32) throw new CodecError(`the key ${id} has ${key.length} bytes`, "give a key of 32 bytes");
    if (!Object.hasOwn(keys, current)) throw new CodecError(`there is no key ${current}`, "name one of the keys as the current one");
    return {
        encode: async (payloads, context) =>
            payloads.map((payload) => {
                const place = placeOf(context);
                const iv = randomBytes(IV_BYTES);
                const cipher = createCipheriv(CIPHER, keys[current] as Uint8Array, iv);
                cipher.setAAD(bound(current, place));
                const sealed = [cipher.update(Shape.encode(payload).finish()), cipher.final()];
                const metadata = { encoding: ENCODING, [KEY]: Buffer.from(current), [PLACE]: Buffer.from(place) };
                return { metadata, data: Buffer.concat([iv, ...sealed, cipher.getAuthTag()]) };
            }),
        decode: async (payloads, context) => payloads.map((payload) => opened(payload, keys, placeOf(context))),
    };
}

function opened(payload: Payload, keys: Keys["keys"], here: string): Payload {
    const { metadata, data } = payload;
    if (metadata === null || metadata === undefined || textOf(metadata.encoding) !== ENCODING.toString()) return payload;
    const id = textOf(metadata[KEY]);
    const place = textOf(metadata[PLACE]);
    const key = Object.hasOwn(keys, id) ? keys[id] : undefined;
    if (key === undefined) throw new CodecError(`a payload is encrypted under the key ${id}, which is not given here`, "give that key too");
    // ENC2. A reader that knows no place takes the one that is said, which the key has signed.
    if (here !== "" && place !== "" && here !== place)
        throw new CodecError(`a payload of ${place} was found in ${here}`, "look for who wrote it there; it is not read");
    const bytes = Buffer.from(data ?? []);
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES));
    decipher.setAAD(bound(id, place));
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    try {
        const open = [decipher.update(bytes.subarray(IV_BYTES, bytes.length - TAG_BYTES)), decipher.final()];
        return Shape.decode(Buffer.concat(open));
    } catch (error) {
        throw new CodecError(
            `a payload under the key ${id} was changed, or the key is another one`,
            "give the key that it was written with",
            error,
        );
    }
}

function placeOf(context: SerializationContext | undefined): string {
    if (context?.workflowId === undefined || context.workflowId === "") return "";
    return `${context.namespace}/${context.workflowId}`;
}

function bound(key: string, place: string): Buffer {
    return Buffer.from(JSON.stringify(["remit-payload/1", key, place]));
}

function textOf(bytes: Uint8Array | null | undefined): string {
    return Buffer.from(bytes ?? []).toString("utf8");
}
