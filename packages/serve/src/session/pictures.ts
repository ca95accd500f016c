/**
 * Pictures of turns and results: what is one, how it is told of, and what a program and a model are given.
 *
 * Boundary: base64 in, base64 out; nothing is read from a path or an address.
 *
 * PCT1: a picture is taken only if its bytes are what its type says, and no longer than `MAX_PICTURE_BYTES`.
 * PCT2: the log keeps a turn's pictures; what is told of the turn, and kept in memory, names them by type, size and hash alone.
 */
import { createHash } from "node:crypto";
import { isObject, type Json } from "@remit/language";
import { mediaTypeOf } from "@remit/host";
import { MAX_PICTURE_BYTES } from "../wire/bounds.ts";
import type { Picture, PictureInfo } from "../wire/messages.ts";

/** Why one of them is not taken (PCT1); null where all are. */
export function notTaken(pictures: readonly Picture[] = []): string | null {
    for (const [at, { media_type, data }] of pictures.entries()) {
        const bytes = Buffer.from(data, "base64");
        const name = `picture ${at + 1}`;
        if (bytes.length > MAX_PICTURE_BYTES) return `${name} has ${bytes.length} bytes; at most ${MAX_PICTURE_BYTES} are taken`;
        const is = mediaTypeOf(bytes);
        if (is !== media_type) return `${name} is said to be ${media_type}, and its bytes are ${is ?? "no picture"}`;
    }
    return null;
}

export function told({ media_type, data }: Picture): PictureInfo {
    const bytes = Buffer.from(data, "base64");
    return { media_type, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

type Data = { readonly at: string; readonly [key: string]: Json };

/** Of an event's data what is told (PCT2). */
export function toldData(data: Data): Data {
    const { images } = data;
    return images === undefined ? data : { ...data, images: picturesIn(data).map((one) => ({ ...told(one) })) };
}

/** Pictures as the log has them. */
export function picturesIn({ images = [] }: { readonly [key: string]: Json }): Picture[] {
    return (Array.isArray(images) ? images : []).filter((one) => isObject(one) && typeof one.data === "string") as unknown as Picture[];
}

/** For `use image`: a model that takes none is told that they were left out. */
export function given(pictures: readonly Picture[]): Json {
    return pictures.map(({ media_type, data }) => ({ media_type, data, optional: true }));
}

/** A result with pictures, as content blocks that models, trajectories and MCP know. */
export function withPictures(value: Json, pictures: readonly Picture[] | undefined): Json {
    if (pictures === undefined) return value;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const said: Json[] = value === null ? [] : [{ type: "text", text }];
    return { content: [...said, ...pictures.map(({ media_type, data }) => ({ type: "image", mimeType: media_type, data }))] };
}
