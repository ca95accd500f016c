/** Two runs that differ in a secret alone, as an observer sees them who may see nothing of the secret, nor of what it chose. */
import { deepStrictEqual } from "node:assert/strict";
import type { Json } from "@remit/language";
import fc from "fast-check";
import type { Effect, Outcome } from "../../src/index.ts";
import type { Ran } from "../run/forms.ts";

export const SECRET = "tool:T";

/** Two values of the secret. */
export const secrets = fc.uniqueArray(fc.constantFrom(0, 1, 2, 3, 5), { minLength: 2, maxLength: 2 });

/** Performs effects, by the secret: tools have these methods, `T` gives the secret, and `other` gives what all else gives. */
export const answering =
    (methods: Json, other: (e: Effect, tool: string | undefined) => Outcome) =>
    (secret: Json) =>
    (e: Effect): Outcome => {
        const { tool, op } = e.request as { tool?: string; op?: string };
        if (op === "describe") return { ok: true, value: { methods }, origins: [`tool:${tool}`] };
        return tool === "T" ? { ok: true, value: secret, origins: [SECRET] } : other(e, tool);
    };

const isPublic = (labels: readonly string[]): boolean => !labels.includes(SECRET) && !labels.includes(`choice:${SECRET}`);

/** A request without the limits of a handshake: how many steps a budget leaves depends on all values (documented). */
const unlimited = (request: Json): string => JSON.stringify(request).replace(/\\"limits\\":\{[^}]*\}/, "");

/** Nor what a handshake says of the origins of its values. */
export const withoutOrigins = (request: Json): string => unlimited(request).replaceAll(/\\"origins\\":\[[^\]]*\]/g, "");

/** The effects that the observer sees. */
export function visible({ effects }: Ran): Json[] {
    return effects.filter((e) => isPublic(e.labels)).map((e) => [e.path, unlimited(e.request)]);
}

/**
 * What has to be the same of two runs. A failure that ends a run tells that it happened: what is visible of that run is then the beginning of what is
 * visible of the other.
 */
export function views(a: Ran, b: Ran): readonly [Json, Json] {
    const [one, other] = [visible(a), visible(b)];
    const length = Math.min(a.result.ok ? Number.POSITIVE_INFINITY : one.length, b.result.ok ? Number.POSITIVE_INFINITY : other.length);
    if (!a.result.ok || !b.result.ok) return [one.slice(0, length), other.slice(0, length)];
    const isTold = [a, b].some(({ result }) => result.ok && isPublic(result.origins));
    return [
        [one, isTold ? (a.result as unknown as Json) : null],
        [other, isTold ? (b.result as unknown as Json) : null],
    ];
}

export function sameView(a: Ran, b: Ran): void {
    const [one, other] = views(a, b);
    deepStrictEqual(one, other);
}

export function differ(a: Ran, b: Ran): boolean {
    const [one, other] = views(a, b);
    return JSON.stringify(one) !== JSON.stringify(other);
}
