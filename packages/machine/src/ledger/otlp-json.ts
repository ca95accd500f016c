/**
 * OTLP in its JSON form: ids in hex, made from run and path; times in nanoseconds as texts; attributes by the type of their value.
 *
 * Boundary: pure. What is a span is `otel.ts`.
 */
import type { Json } from "@remit/language";
import { hash32 } from "../value/text.ts";
import { millis } from "./read.ts";

/** Trace context (W3C) of what the effect of `path` does in the world: the ids of its span. */
export function traceparent(run: string, path: string): string {
    return `00-${traceId(run)}-${spanId(run, path, 0)}-01`;
}

export const traceId = (run: string): string => idOf(run, 32);
export const spanId = (run: string, path: string, nth: number): string => idOf(`${run} ${path} ${nth}`, 16);

export function attributes(values: { readonly [name: string]: Json | undefined }): Json[] {
    return Object.entries(values).flatMap(([key, value]) =>
        value === undefined || value === null ? [] : [{ key, value: anyValue(value) }],
    );
}

function anyValue(value: Json): Json {
    if (typeof value === "string") return { stringValue: value };
    if (typeof value === "boolean") return { boolValue: value };
    if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
    return { stringValue: JSON.stringify(value) };
}

export function nanos(time: string): string {
    const ms = millis(time);
    return ms === null ? "0" : `${ms}000000`;
}

/** `digits` hex digits made from a text. */
function idOf(of: string, digits: number): string {
    let out = "";
    for (let part = 1; out.length < digits; part++) out += hash32(of, part).toString(16).padStart(8, "0");
    return out.slice(0, digits);
}
