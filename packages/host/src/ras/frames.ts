/**
 * What goes over a run's socket: one JSON object a line.
 *
 * Boundary: shapes and the reading of lines. Their writer is code that is not trusted, so each is checked.
 *
 *   program → host   {hello, as: "program"}   {calls: [{id, kind, args}]}, when it has nothing left to do   {ended: true, value?, error?}
 *   host → program   {inputs}                 {answers: [{id, value} or {id, error}]}
 *   command → host   {hello, as: "command", kind, argv}   {input}
 *   host → command   {input: true}            {out?, err?, code}
 */
import { isObject, type Json } from "@remit/language";
import { readJson } from "../input/json.ts";

export type CallKind = "reason" | "act" | "agent";
export const CALL_KINDS: readonly CallKind[] = ["reason", "act", "agent"];

export interface Fields {
    readonly [name: string]: Json;
}

/** Longest line, bytes. */
export const MAX_FRAME = 16 * 1024 * 1024;

/** Cuts bytes into frames. `push` gives false where what came is no frame: the connection is to be ended. */
export function frameReader(take: (frame: Fields) => boolean): (piece: Buffer) => boolean {
    let pieces: Buffer[] = [];
    let size = 0;
    return (piece) => {
        let rest = piece;
        for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
            pieces.push(rest.subarray(0, at));
            const line = Buffer.concat(pieces);
            pieces = [];
            size = 0;
            rest = rest.subarray(at + 1);
            if (line.length > MAX_FRAME) return false;
            const read = readJson(line.toString("utf8"));
            if (!read.ok || !isObject(read.value) || !take(read.value)) return false;
        }
        size += rest.length;
        pieces.push(rest);
        return size <= MAX_FRAME;
    };
}
