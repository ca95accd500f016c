/**
 * What the adapter reads of requests and says of stops and errors.
 *
 * Boundary: plain data in, plain data out; the protocol's flow is `adapter.ts`.
 */
import { LedgerError, RemitError, type Stop, shownBreakpoint } from "@remit/host";
import { plainLine, UsageError } from "../io.ts";

export type Args = { readonly [name: string]: unknown };

/** Wrong request; the message is for the person. */
export class RequestError extends Error {}

/** Reason and description of a `stopped` event. */
export function whyOf(stop: Stop): readonly [string, string] {
    const point = stop.breakpoint;
    switch (stop.reason) {
        case "breakpoint":
            if (point?.kind === "failure" || point?.kind === "violation") return ["exception", point.kind];
            if (point?.kind === "debugger") return ["breakpoint", "`debugger` in the source"];
            return point?.kind === "line" ? ["breakpoint", ""] : ["function breakpoint", point === undefined ? "" : shownBreakpoint(point)];
        case "start":
            return ["entry", "this is the beginning"];
        case "end":
            return ["pause", "the run ended; going back is possible"];
        case "waiting":
            return ["pause", "the record ends: no answer was recorded"];
        case "cut":
            return ["pause", "the record ends: the run was stopped while it computed"];
        case "diverged":
            return ["pause", stop.message ?? "the record does not fit the program"];
        default:
            return ["step", ""];
    }
}

/** What a person is told of an error; null for a defect. */
export function wordsOf(error: unknown): string | null {
    if (error instanceof RequestError || error instanceof UsageError || error instanceof LedgerError) return plainLine(error.message);
    if (error instanceof RemitError) return plainLine(error.failure.message);
    return null;
}

export function fields(value: unknown): Args {
    return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Args) : {};
}

export function list(value: unknown): readonly unknown[] {
    return Array.isArray(value) ? value : [];
}

export function string(value: unknown): string | undefined {
    return typeof value === "string" && value !== "" ? value : undefined;
}

/** A whole number from 0 on, else `or`. */
export function whole(value: unknown, or: number): number {
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : or;
}

/** Lines of text as names and values, for a list of variables. */
export function pairs(text: string): [string, string][] {
    return text.split("\n").map((line, i) => [i === 0 ? "who" : `${i}`, line.trim()]);
}
