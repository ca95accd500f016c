/**
 * Recordings: what a model answered, by the hash of what it was asked.
 *
 * The file is NDJSON. Each line: `{"v": 1, "request": sha256, "label", "reply" | "failure", "usage"}`. A request that was made several times has
 * several lines, given back in order; the last is given again after that.
 *
 * Boundary: the prompt itself is never written; secrets are taken out of what is.
 *
 * RE1: the hash covers everything that can change an answer (messages, contract, tools, limits) and nothing else (model, label, streaming), in
 *     canonical JSON.
 * RE2: a line is on disk before the reply is used.
 */
import { createHash } from "node:crypto";
import { appendFile, chmod } from "node:fs/promises";
import { canonicalJson, type Json } from "@remit/language";
import type { ModelTurn } from "@remit/machine";
import { cancelled, type Engine, failed, type Raw, type Turned, type TurnIO } from "./engine.ts";
import { type Line, type Recording, readRecording, RECORDING_HINT } from "./replies.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { withoutKeys } from "../secret/shapes.ts";

/** Lower-case hex SHA-256 of a request. */
export function requestHash(request: ModelTurn): string {
    const { messages, contract, shapes, strict, maxOutput, temperature, think, tools } = request;
    const asked = { messages, contract, shapes, strict, maxOutput, temperature, think, tools } as unknown as Json;
    return createHash("sha256").update(canonicalJson(asked)).digest("hex");
}

export function recordedEngine(uri: string, file: string): Engine {
    let known: Recording | string | null = null;
    const given = new Map<string, number>();
    return {
        uri,
        turn: async (request, io): Promise<Turned> => {
            known ??= readRecording(file);
            if (typeof known === "string") return failed("model", known, { hint: RECORDING_HINT });
            if (io.signal.aborted) return cancelled();
            const hash = requestHash(request);
            const all = known.get(hash);
            if (all === undefined) {
                const hint = "the prompt, the contract or the tools changed since; record again";
                return failed("model", `${uri} holds no reply for ${request.label}`, {
                    hint,
                    detail: { request: hash, label: request.label },
                });
            }
            const at = given.get(hash) ?? 0;
            given.set(hash, at + 1);
            const line = all[Math.min(at, all.length - 1)] as Line;
            const usage = line.usage === undefined ? {} : { usage: line.usage };
            if (line.failure !== undefined) return { ok: false, failure: line.failure, ...usage };
            const reply = line.reply as Omit<Raw, "usage">;
            if (request.stream && reply.text !== "") io.emit({ type: "text", delta: reply.text });
            return { ok: true, raw: { ...reply, ...usage } };
        },
    };
}

/** Appends lines to a recording, in the order of the calls; settles when the line is on disk (RE2). */
export function recordingFile(file: string): (line: Json) => Promise<void> {
    let last: Promise<void> = Promise.resolve();
    let fresh = true;
    return (line) => {
        const text = `${JSON.stringify(line)}\n`;
        last = last.then(async () => {
            await appendFile(file, text, { mode: 0o600 });
            if (fresh) await chmod(file, 0o600);
            fresh = false;
        });
        return last;
    };
}

/** Any model, with what it answers written to a file. Cancelled turns are not written. */
export function recording(engine: Engine, file: string, secrets: Scrubber): Engine {
    const append = recordingFile(file);
    const write = (line: Line): Promise<void> => append(withoutKeys(line as unknown as Json, secrets));
    return {
        ...engine,
        turn: async (request: ModelTurn, io: TurnIO): Promise<Turned> => {
            const turned = await engine.turn(request, io);
            const head = { v: 1, request: requestHash(request), label: request.label } as const;
            if (turned.ok) {
                const { usage, ...reply } = turned.raw;
                await write({ ...head, reply, ...(usage === undefined ? {} : { usage }) });
            } else if (turned.failure.kind !== "cancelled") {
                await write({ ...head, failure: turned.failure, ...(turned.usage === undefined ? {} : { usage: turned.usage }) });
            }
            return turned;
        },
    };
}
