/**
 * The JSON Schema of the handshake of a yield: the document that an agent is sent (`agent/handshake.ts`).
 *
 * Boundary: one version of the document. What it answers with, as program form, is the language's `program-form-1`, which `answer.schema` names.
 */
import {
    type AnswerDoc,
    type Callable,
    type DataDoc,
    HANDSHAKE,
    type HandleDoc,
    type HandleMethod,
    type HandshakeDoc,
    type HandshakeLimits,
    type SkillDoc,
} from "../agent/handshake.ts";
import { FAILURE_KINDS } from "../effect/effect.ts";
import type { CapabilityKind } from "../value/value.ts";
import { any, count, is, json, list, named, number, one, record, ref, type Schema, says, schemaOf, text } from "../shape/build.ts";

const KINDS: { readonly [K in CapabilityKind]: true } = { tool: true, llm: true, agent: true, memory: true, func: true, skill: true };
const GATE = says(one(["may", "ask"]), "ask: a person is asked first, and may refuse");
const SCHEMA: Schema = { type: "object", description: "a JSON Schema" };
const CALLABLE = {
    signature: says(text, "arguments go by place"),
    input: says(SCHEMA, "JSON Schema: of a tool's one argument, else of an object of the parameters by name"),
    output: says(SCHEMA, "JSON Schema of what it gives"),
};

/** `turn` and what is left of `turns` count the whole session. */
export function handshakeJsonSchema(): Schema {
    return schemaOf("remit-yield-1", `Remit yield handshake (${HANDSHAKE})`, ["Handshake"], {
        Handshake: record<HandshakeDoc>(
            {
                format: is(HANDSHAKE),
                session: says({ ...text, minLength: 1 }, "names the session, and nothing of the program"),
                turn: says(count, "prompt turns of the session before this one"),
                skills: says(named(ref("Skill")), "by name; protocol, which teaches to answer, with the first turn of a session"),
                params: says(list(ref("Param")), "what the answer's function takes after `agent`, in order"),
                expects: says(SCHEMA, "JSON Schema of the value; {}: any"),
                limits: ref("Limits"),
                answer: ref("Answer"),
            },
            {},
        ),
        Skill: record<SkillDoc>(
            { inline: says(text, "Markdown") },
            { name: text, description: text, sha256: says(text, "of its SKILL.md") },
        ),
        Param: any(ref("Data"), ref("Handle")),
        Data: record<DataDoc>(
            {
                name: ref("Name"),
                contract: says(SCHEMA, "JSON Schema of the kind of value it is"),
                value: json,
                origins: says(list(text), "where it comes from, sorted"),
            },
            {},
        ),
        Handle: record<HandleDoc>(
            {
                name: ref("Name"),
                kind: one(Object.keys(KINDS)),
                handle: says(list(ref("Method")), "what can be called of it, and nothing else of it"),
            },
            {
                call: says(ref("Callable"), "it is called by its name alone"),
                unavailable: says(one(Object.keys(FAILURE_KINDS)), "it did not say what it has: the kind of its failure"),
            },
        ),
        Method: record<HandleMethod>({ method: { ...text, minLength: 1 }, gate: GATE }, { description: text, ...CALLABLE }),
        Callable: record<Callable>({ gate: GATE }, CALLABLE),
        Limits: record<HandshakeLimits>(
            { turns: says({ ...count, minimum: 1 }, "prompt turns that are left"), bytes: says(count, "of the function, UTF-8") },
            { steps: says(number, "of its function and what it calls"), seconds: says(number, "of the whole call") },
        ),
        Answer: record<AnswerDoc>(
            {
                forms: list(one(["source", "program"])),
                signature: says(text, "of the function, in source"),
                schema: says(text, "where the published schema of the program form says a function"),
            },
            {},
        ),
        Name: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" },
    });
}
