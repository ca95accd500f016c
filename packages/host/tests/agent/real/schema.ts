/**
 * Messages of the protocol against the SDK's own JSON Schema, one by one: the params of a request by its method, a result by the request that it
 * answers. Said of each message: whether it is valid, and what it has that the schema does not know.
 */
import { createRequire } from "node:module";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

type Json = { readonly [key: string]: unknown };

const schema = createRequire(import.meta.url)("@agentclientprotocol/sdk/schema/v1/schema.json") as {
    readonly $defs: { readonly [name: string]: { readonly "x-method"?: string } };
};
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(schema, "acp");

/** Method → definition of what is sent, and of what is answered. */
const SENT = new Map<string, string>();
const ANSWERED = new Map<string, string>();
for (const [name, one] of Object.entries(schema.$defs)) {
    const method = one["x-method"];
    if (method !== undefined) (name.endsWith("Response") ? ANSWERED : SENT).set(method, name);
}

interface Checks {
    readonly valid: ValidateFunction;
    /** The same without any property that the definition does not have. */
    readonly closed: ValidateFunction;
}
const checks = new Map<string, Checks>();
function checksOf(name: string): Checks {
    const known = checks.get(name);
    if (known !== undefined) return known;
    const $ref = `acp#/$defs/${name}`;
    // of updates, which are most of what is sent, one level more
    const more =
        name === "SessionNotification"
            ? { properties: { update: { $ref: "acp#/$defs/SessionUpdate", unevaluatedProperties: false } } }
            : {};
    const made = { valid: ajv.compile({ $ref }), closed: ajv.compile({ $ref, ...more, unevaluatedProperties: false }) };
    checks.set(name, made);
    return made;
}

export interface Verdict {
    /** Messages that are known and not valid, in words. */
    readonly invalid: readonly string[];
    /** What is not in the schema, each once: `method NAME`, `Definition.property`. Methods that begin with an underscore or `$/` are allowed for. */
    readonly outside: readonly string[];
    /** Messages that were looked at. */
    readonly count: number;
}

export interface Message {
    readonly from: "client" | "agent";
    readonly message: unknown;
}

/** `of`: the side whose messages are judged. Responses are matched with the other side's requests. */
export function judge(seen: readonly Message[], of: Message["from"]): Verdict {
    const invalid: string[] = [];
    const outside = new Set<string>();
    const asked = new Map<unknown, string>();
    let count = 0;
    for (const { from, message } of seen) {
        if (typeof message !== "object" || message === null) {
            if (from === of) invalid.push(`no object: ${JSON.stringify(message)}`);
            continue;
        }
        const one = message as Json;
        const method = typeof one.method === "string" ? one.method : null;
        if (from !== of) {
            if (method !== null && one.id !== undefined) asked.set(one.id, method);
            continue;
        }
        count++;
        if (one.jsonrpc !== "2.0") invalid.push(`no jsonrpc 2.0: ${JSON.stringify(message)}`);
        if (method === null && "error" in one) continue;
        const name = method === null ? ANSWERED.get(asked.get(one.id) ?? "") : SENT.get(method);
        if (name === undefined) {
            const what = method ?? `answer to ${asked.get(one.id) ?? JSON.stringify(one.id)}`;
            if (!/^(answer to )?(_|\$\/)/.test(what)) outside.add(`method ${what}`);
            continue;
        }
        const value = method === null ? one.result : one.params;
        const { valid, closed } = checksOf(name);
        if (!valid(value)) invalid.push(`${name}: ${ajv.errorsText(valid.errors)}: ${JSON.stringify(value).slice(0, 400)}`);
        else if (!closed(value)) {
            for (const error of closed.errors ?? []) {
                if (error.keyword !== "unevaluatedProperties") continue;
                const at = error.instancePath.replaceAll("/", ".");
                outside.add(`${name}${at}.${(error.params as { unevaluatedProperty: string }).unevaluatedProperty}`);
            }
        }
    }
    return { invalid, outside: [...outside].sort(), count };
}
