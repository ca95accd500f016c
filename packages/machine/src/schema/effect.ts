/**
 * The JSON Schema of effects and outcomes: what passes between the machine and a host.
 *
 * Boundary: puts the shapes of `effect.ts` together. What the value of an outcome has to be follows from the effect that it answers: the
 * definitions `ModelReply`, `CountReply` and `ToolDescription` say it where the machine reads the value.
 */
import type { Contract, Field, Site } from "@remit/language";
import {
    AGENT_PART,
    AGENT_REPLY,
    COUNT_REPLY,
    EFFECT_KINDS,
    type EffectKind,
    effectShape,
    FAILURE,
    FAILURE_KINDS,
    MESSAGE,
    MODEL_REPLY,
    OUTCOMES,
    PART,
    REQUESTS,
    TOOL_CALL,
    TOOL_DESCRIPTION,
    TOOL_OFFER,
} from "../effect/effect.ts";
import { USAGE } from "../effect/usage.ts";
import { any, count, flag, is, json, list, one, record, ref, type Schema, says, schemaOf, text } from "../shape/build.ts";

type Of<K extends string> = Extract<Contract, { readonly type: K }>;

export const SITE: Schema = record<Site>({ file: text, line: count, column: count }, { endLine: count, endColumn: count });

const CONTRACT: Schema = any(
    record<{ type: string }>({ type: one(["string", "number", "boolean", "json", "none"]) }, {}),
    record<Of<"list">>({ type: is("list") }, { item: ref("Contract") }),
    record<Of<"object">>({ type: is("object"), fields: list(ref("Field")) }, {}),
    record<Of<"literal">>({ type: is("literal"), value: { type: ["string", "number", "boolean", "null"] } }, {}),
    record<Of<"union">>({ type: is("union"), of: list(ref("Contract")) }, {}),
    record<Of<"optional">>({ type: is("optional"), of: ref("Contract") }, {}),
    record<Of<"ref">>({ type: is("ref"), name: text }, {}),
);

export function effectOf(kind: EffectKind, request: Schema = REQUESTS[kind]): Schema {
    return effectShape(is(kind), request);
}

/** What the continuation has in common with an effect as it is handed out. */
export const EFFECT_DEFS: { readonly [name: string]: Schema } = {
    Effect: any(...EFFECT_KINDS.map((kind) => ref(`Effect.${kind}`))),
    ...Object.fromEntries(EFFECT_KINDS.map((kind) => [`Effect.${kind}`, effectOf(kind)])),
    Outcome: any(OUTCOMES.done, OUTCOMES.failed),
    Failure: FAILURE,
    FailureKind: one(Object.keys(FAILURE_KINDS)),
    Usage: USAGE,
    Site: SITE,
    Contract: CONTRACT,
    Field: record<Field>({ name: text, contract: ref("Contract") }, { optional: flag, default: json, description: text }),
    Message: MESSAGE,
    AgentPart: AGENT_PART,
    Part: PART,
    ToolCall: TOOL_CALL,
    ToolOffer: TOOL_OFFER,
};

/** Outcome values that the machine reads. */
const VALUES: { readonly [name: string]: Schema } = {
    AgentReply: says(AGENT_REPLY, "value of an agent's turn"),
    ModelReply: says(MODEL_REPLY, "value of a model turn"),
    CountReply: says(COUNT_REPLY, "value of a count of tokens"),
    ToolDescription: says(TOOL_DESCRIPTION, "value of a tool's description"),
};

export function effectJsonSchema(): Schema {
    return schemaOf("effect-1", "Remit effect or outcome", ["Effect", "Outcome"], { ...EFFECT_DEFS, ...VALUES });
}
