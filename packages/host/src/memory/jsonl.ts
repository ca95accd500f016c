/**
 * Memory in a file of JSON lines: one envelope a line.
 *
 * Boundary: bytes of one file; what a query means is in `memory.ts`.
 *
 * JL1: a record is one write at the end of the file, made while a lock file is held; two processes never mix their lines.
 * JL2: a line that cannot be read is an error with its number, never skipped: something was damaged, and a person should know.
 * JL3: the file is private (0600) when it is made here.
 */
import { isObject } from "@remit/language";
import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, readSync, statSync, writeSync } from "node:fs";
import { ToolFail } from "../tool/tool.ts";
import type { Envelope, Store } from "./memory.ts";
import { withLock } from "./lock.ts";

/** Largest file that is read, bytes. */
const MAX_FILE = 256 * 1024 * 1024;

/** `path` is absolute, its folder exists. `shown` is what messages call it. */
export function jsonlStore(path: string, shown: string): Store {
    return {
        add: async (envelope, signal) => {
            const line = Buffer.from(`${JSON.stringify(envelope)}\n`, "utf8");
            await withLock(`${path}.lock`, signal, () => {
                const fd = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
                try {
                    const stat = fstatSync(fd);
                    if (!stat.isFile()) throw new ToolFail(`${shown} is not a regular file`);
                    // A line without its end is one that a crash cut off, or that was written by hand: ours begins on its own line.
                    const whole = endsLine(fd, stat.size) ? line : Buffer.concat([Buffer.from("\n"), line]);
                    try {
                        for (let done = 0; done < whole.length; ) done += writeSync(fd, whole, done);
                        fsyncSync(fd);
                    } catch (error) {
                        // Half a line would be an error to every later reader (JL2).
                        ftruncateSync(fd, stat.size);
                        throw error;
                    }
                } finally {
                    closeSync(fd);
                }
            });
        },
        newest: async function* () {
            // Every line is read before the first is given: a damaged one is told wherever it is (JL2).
            const found = linesOf(path, shown).flatMap((line, index) => (line.trim() === "" ? [] : [envelopeOf(line, index + 1, shown)]));
            yield* found.reverse();
        },
        close: () => undefined,
    };
}

function endsLine(fd: number, size: number): boolean {
    if (size === 0) return true;
    const last = Buffer.alloc(1);
    readSync(fd, last, 0, 1, size - 1);
    return last[0] === 0x0a;
}

function linesOf(path: string, shown: string): string[] {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    if (!stat.isFile()) throw new ToolFail(`${shown} is not a regular file`);
    if (stat.size > MAX_FILE)
        throw new ToolFail(`${shown} has ${stat.size} bytes; at most ${MAX_FILE} are read`, {
            hint: "keep a large memory in sqlite://PATH.db",
        });
    return readFileSync(path, "utf8").split("\n");
}

function envelopeOf(line: string, number: number, shown: string): Envelope {
    let read: unknown;
    try {
        read = JSON.parse(line);
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new ToolFail(`line ${number} of ${shown} is not JSON`, { hint: "mend or remove that line" });
    }
    if (!isEnvelope(read))
        throw new ToolFail(`line ${number} of ${shown} is not a record with id, created_at, updated_at and record`, {
            hint: "mend or remove that line",
        });
    return read;
}

function isEnvelope(one: unknown): one is Envelope {
    if (!isObject(one)) return false;
    const { id, created_at: made, updated_at: changed, record, origins } = one as { [key: string]: unknown };
    if (origins !== undefined && !(Array.isArray(origins) && origins.every((origin) => typeof origin === "string"))) return false;
    const texts = typeof id === "string" && typeof made === "string" && typeof changed === "string";
    return texts && isObject(record);
}
