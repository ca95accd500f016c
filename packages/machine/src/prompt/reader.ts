/**
 * The two tools of a loop with `hide: "untrusted"`: `reader`, which asks about references, and `look`, which shows one.
 *
 * Boundary: what is offered, and what a call of the model means; JSON in, a contract and hidden values out.
 *
 * RDR1: a reader has no tools, sees the references that it is asked about and the question, and answers under a contract; its answer is a reference.
 * RDR2: a name in which no tool is offered: those have the name of their import and `_` in it.
 */
import { type Contract, defined, type Json, LOOK } from "@remit/language";
import type { ToolOffer } from "../effect/effect.ts";
import { type Hidden, hiddenAt, NoReference } from "./hidden.ts";
import type { Offer } from "./offers.ts";
import { checkAgainstSchema } from "./schema.ts";
import { beginningOf, RESULT_LIMIT } from "./shown.ts";
import { BEGUN, originsUnion, type State } from "./state.ts";

export const READER = "reader";

const MAX_SOURCES = 16;
const TYPES = ["text", "number", "boolean", "texts"];

const FIELD: Json = {
    anyOf: [
        { type: "string", enum: TYPES },
        { type: "array", items: { type: "string" }, minItems: 1, description: "one of these texts" },
    ],
};

const READER_INPUT: Json = {
    type: "object",
    properties: {
        from: {
            type: "array",
            items: { type: "string" },
            minItems: 1,
            maxItems: MAX_SOURCES,
            description: "references: r1, or r1/text for a part",
        },
        question: { type: "string", minLength: 1 },
        answer: {
            type: "object",
            additionalProperties: FIELD,
            minProperties: 1,
            description: "the fields of the answer by name, each with its type",
        },
    },
    required: ["from", "question", "answer"],
    additionalProperties: false,
};

const LOOK_INPUT: Json = {
    type: "object",
    properties: { at: { type: "string", description: "a reference: r1, or r1/text for a part" } },
    required: ["at"],
    additionalProperties: false,
};

export const HIDING_TOOLS: readonly ToolOffer[] = [
    {
        name: READER,
        description:
            "Results that are not trusted are hidden: you see a reference such as r1, its type and whether it is short or long. Write {{r1}}, or {{r1/text}} for a part, in an argument of a tool or in your answer where the value shall stand. To find something in a reference, ask this reader; its answer is a new reference.",
        input: READER_INPUT,
    },
    {
        name: LOOK,
        description:
            "Shows you what a reference stands for. It may be refused, and what you do afterwards may need a person's yes. Ask the reader instead where you can.",
        input: LOOK_INPUT,
    },
];

/** What a call of `reader` asks. */
export interface Asked {
    readonly question: string;
    readonly contract: Contract;
    readonly from: readonly { readonly name: string; readonly hidden: Hidden }[];
}

/** What is wrong with the arguments is told as `error`. */
export function askedOf(args: Json, known: readonly Hidden[]): Asked | { readonly error: string } {
    const errors = checkAgainstSchema(args, READER_INPUT);
    if (errors.length > 0) return { error: `The arguments of ${READER} are not valid.\n${errors.join("\n")}` };
    const { from, question, answer } = args as { from: string[]; question: string; answer: { [name: string]: string | string[] } };
    return told(() => ({
        question,
        contract: { type: "object", fields: Object.entries(answer).map(([name, type]) => ({ name, contract: contractOf(type) })) },
        from: from.map((name) => ({ name, hidden: hiddenAt(name, known) })),
    }));
}

/** The value that a call of `look` wants to see. */
export function lookedAt(args: Json, known: readonly Hidden[]): Hidden | { readonly error: string } {
    const errors = checkAgainstSchema(args, LOOK_INPUT);
    if (errors.length > 0) return { error: `The arguments of ${LOOK} are not valid.\n${errors.join("\n")}` };
    return told(() => hiddenAt((args as { at: string }).at, known));
}

function told<T>(found: () => T): T | { readonly error: string } {
    try {
        return found();
    } catch (problem) {
        if (!(problem instanceof NoReference)) throw problem;
        return { error: problem.message };
    }
}

function contractOf(type: string | readonly string[]): Contract {
    if (typeof type !== "string") return { type: "union", of: type.map((value) => ({ type: "literal", value })) };
    switch (type) {
        case "number":
            return { type: "number" };
        case "boolean":
            return { type: "boolean" };
        case "texts":
            return { type: "list", item: { type: "string" } };
        default:
            return { type: "string" };
    }
}

/** A look as a use of the model that a gate rules on: `Claude.look`. */
export function lookOffer({ model }: Pick<State, "model">, file: string): Offer {
    return { name: LOOK, tool: model.name, uri: model.uri, file, method: LOOK, input: LOOK_INPUT, readOnly: false };
}

/** RDR1. The state of a reader's own `generate`. */
export function readerState(loop: State, { question, contract, from }: Asked): State {
    const { max_output, temperature, timeout } = loop.options;
    const items = from.map(({ name, hidden }, index) => {
        const text = clippedText(hidden.value);
        const body = { kind: "string" as const, parts: [text], own: 0, marks: [], sets: [hidden.origins] };
        const size = text.length;
        return {
            index,
            heading: name,
            source: name,
            label: name,
            priority: 0,
            body,
            clipped: false,
            original_size: size,
            clipped_size: size,
            strategy: "whole" as const,
            shown: true,
        };
    });
    return {
        ...BEGUN,
        label: `${loop.label}/${READER}`,
        agent: loop.agent,
        model: loop.model,
        identity: { role: "a careful reader", description: "You answer a question from what is shown, and from nothing else." },
        options: {
            attempts: 2,
            strict: false,
            debug: loop.options.debug,
            stream: false,
            ...defined({ max_output, temperature, timeout }),
        },
        contract,
        shapes: {},
        instruction: { kind: "string", text: question },
        instructionOrigins: loop.origins,
        fit: { stage: "done", items },
        tools: [],
        origins: originsUnion(loop.origins, ...from.map(({ hidden }) => hidden.origins)),
    };
}

function clippedText(value: Json): string {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return text.length <= RESULT_LIMIT ? text : beginningOf(text).result;
}
