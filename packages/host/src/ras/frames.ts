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
import { isUtf8 } from "node:buffer";
import { isObject, type Json } from "@remit/language";
import { lineReader } from "../input/bytes.ts";
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
    return lineReader(MAX_FRAME, (line) => {
        if (!isUtf8(line)) return false;
        const read = readJson(line.toString("utf8"));
        return read.ok && isObject(read.value) && take(read.value);
    });
}
