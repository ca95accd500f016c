/**
 * Tools that are plain functions of the calling program.
 *
 * Boundary: a call's arguments in, JSON out; what comes back is checked to be JSON, because it goes into the ledger.
 *
 * G1: own functions only: `constructor` and what an object inherits are no methods.
 */
import type { Json } from "@remit/language";
import type { Effect, Outcome, ToolDescription, ToolRequest } from "@remit/machine";
import { failureOf } from "./error.ts";
import type { PerformIO } from "./host.ts";

/** A tool as plain functions: the call's arguments in, then what an effect may use. */
export type ToolFunctions = { readonly [method: string]: (...args: never[]) => unknown };

type Call = (...args: readonly unknown[]) => unknown;

/** Performs a call of `tool`, or describes it. */
export async function callFunctions(tool: ToolFunctions, effect: Effect, io: PerformIO): Promise<Outcome> {
    const request = effect.request as unknown as ToolRequest;
    const origins = [`tool:${request.tool}`];
    const names = Object.keys(tool).filter((name) => typeof tool[name] === "function");
    if (request.op === "describe") {
        const described: ToolDescription = { methods: names.map((name) => ({ name, input: { type: "object" }, readOnly: false })) };
        return { ok: true, value: described as unknown as Json, origins };
    }
    const method = request.method ?? "";
    const call = Object.hasOwn(tool, method) ? (tool[method] as Call | undefined) : undefined;
    if (typeof call !== "function") {
        const message = `tool ${request.tool} has no method ${method}`;
        return { ok: false, failure: { kind: "tool", message, site: effect.site, hint: `it has ${names.join(", ") || "none"}` } };
    }
    try {
        const value: unknown = await call.call(tool, ...(request.args ?? []), { signal: io.signal, emit: io.emit });
        return { ok: true, value: toPlain(value, `${request.tool}.${method}`), origins };
    } catch (error) {
        const failure = failureOf(error, io.signal.aborted ? "cancelled" : "tool");
        return { ok: false, failure: { site: effect.site, ...failure } };
    }
}

/** JSON of what a function gave: `undefined` is none; what JSON cannot hold is an error, never silently another value. */
function toPlain(value: unknown, name: string): Json {
    if (value === undefined) return null;
    const text = JSON.stringify(value, (_key, inner: unknown) => {
        if (
            typeof inner === "bigint" ||
            typeof inner === "function" ||
            typeof inner === "symbol" ||
            (typeof inner === "number" && !Number.isFinite(inner))
        )
            throw new TypeError(`${name} gave a ${typeof inner === "number" ? String(inner) : typeof inner}, which JSON cannot hold`);
        return inner;
    }) as string | undefined;
    if (text === undefined) throw new TypeError(`${name} gave a ${typeof value}, which JSON cannot hold`);
    return JSON.parse(text) as Json;
}
