/**
 * Recordings: what a model answered, by the hash of what it was asked.
 *
 * The file is NDJSON. Each line: `{"v": 1, "request": sha256, "label", "reply" | "failure", "usage"}`. A request that was made several times has
 * several lines, given back in order; the last is given again after that.
 *
 * Boundary: the prompt itself is never written; secrets are taken out of what is.
 *
 * C1: the hash covers everything that can change an answer (messages, contract, tools, limits) and nothing else (model, label, streaming), in
 *     canonical JSON.
 * C2: a line is on disk before the reply is used.
 */
import { createHash } from "node:crypto";
import { appendFile, chmod, readFile } from "node:fs/promises";
import type { Json } from "@remit/language";
import type { Failure, ModelTurn, Usage } from "@remit/machine";
import { cancelled, type Engine, failed, type Raw, type Turned, type TurnIO } from "./engine.ts";
import { jsonWithoutSecrets } from "./secrets.ts";

interface Line {
    readonly v: 1;
    readonly request: string;
    readonly label: string;
    readonly reply?: Omit<Raw, "usage">;
    readonly failure?: Failure;
    readonly usage?: Usage;
}

/** Lower-case hex SHA-256 of a request. */
export function requestHash(request: ModelTurn): string {
    const { messages, contract, shapes, strict, maxOutput, temperature, think, tools } = request;
    const asked = { messages, contract, shapes, strict, maxOutput, temperature, think, tools };
    return createHash("sha256").update(canonical(asked)).digest("hex");
}

/** JSON with sorted names and without what is undefined. */
function canonical(value: unknown): string {
    if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${entries
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`)
        .join(",")}}`;
}

export function recordedEngine(uri: string, file: string): Engine {
    let lines: Promise<ReadonlyMap<string, readonly Line[]> | string> | null = null;
    const given = new Map<string, number>();
    return {
        uri,
        turn: async (request, io): Promise<Turned> => {
            lines ??= load(file);
            const known = await lines;
            if (typeof known === "string") return failed("model", known);
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

async function load(file: string): Promise<ReadonlyMap<string, readonly Line[]> | string> {
    let text: string;
    try {
        text = await readFile(file, "utf8");
    } catch (error) {
        return `the recording '${file}' cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`;
    }
    const known = new Map<string, Line[]>();
    for (const [index, written] of text.split("\n").entries()) {
        if (written.trim() === "") continue;
        const line = lineOf(written);
        if (line === null) return `the recording '${file}' cannot be read: line ${index + 1} is no reply`;
        const same = known.get(line.request);
        if (same === undefined) known.set(line.request, [line]);
        else same.push(line);
    }
    return known;
}

function lineOf(text: string): Line | null {
    let json: Json;
    try {
        json = JSON.parse(text) as Json;
    } catch {
        // The caller says which line.
        return null;
    }
    if (json === null || typeof json !== "object" || Array.isArray(json) || json.v !== 1 || typeof json.request !== "string") return null;
    const { reply, failure } = json;
    const good = isObject(reply)
        ? typeof reply.text === "string" && typeof reply.finish === "string"
        : isObject(failure) && typeof failure.kind === "string";
    return good ? (json as unknown as Line) : null;
}

function isObject(json: Json | undefined): json is { [key: string]: Json } {
    return json !== null && typeof json === "object" && !Array.isArray(json);
}

/** Any model, with what it answers written to a file. Cancelled turns are not written. */
export function recording(engine: Engine, file: string, secrets: readonly string[]): Engine {
    let last: Promise<void> = Promise.resolve();
    let fresh = true;
    const write = (line: Line): Promise<void> => {
        const text = `${JSON.stringify(jsonWithoutSecrets(line as unknown as Json, secrets))}\n`;
        last = last.then(async () => {
            await appendFile(file, text, { mode: 0o600 });
            if (fresh) await chmod(file, 0o600);
            fresh = false;
        });
        return last;
    };
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
