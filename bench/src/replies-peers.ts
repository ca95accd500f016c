/**
 * Others that read a model's reply against a shape. Each gives the value, or `REFUSED`.
 */
import type { Contract, Json } from "@remit/language";
import { jsonrepair } from "jsonrepair";
import { z } from "zod";
import { type Subject, SUBJECTS } from "../../packages/host/tests/model/faults.ts";

export const REFUSED = Symbol("refused");
export type Reader = (text: string, subject: string) => Json | typeof REFUSED;

const NAMES = Object.keys(SUBJECTS) as (keyof typeof SUBJECTS)[];

/** BAML's parser, by its native runtime: what its generated client calls, without the copy of the environment that the client makes each time. */
export async function baml(): Promise<Reader> {
    const { BamlRuntime } = await import("@boundaryml/baml");
    const source = `client<llm> Nobody {\n  provider openai\n  options {\n    model "none"\n    api_key "none"\n  }\n}\n${NAMES.map(bamlOf).join("\n")}`;
    const runtime = BamlRuntime.fromFiles(".", { "main.baml": source }, {});
    const context = runtime.createContextManager();
    return (text, subject) => {
        try {
            return runtime.parseLlmResponse(`Read_${subject}`, text, false, context, null, null, {}) as Json;
        } catch {
            // Every way in which it refuses is an error of its own.
            return REFUSED;
        }
    };
}

/** Classes for the objects of a contract, and a function that returns it. */
function bamlOf(name: string): string {
    const classes: string[] = [];
    const typeOf = (contract: Contract, at: string): string => {
        switch (contract.type) {
            case "string":
                return "string";
            case "number":
                return "float";
            case "boolean":
                return "bool";
            case "list":
                return `${bracketed(typeOf(contract.item ?? { type: "string" }, `${at}Item`))}[]`;
            case "literal":
                return JSON.stringify(contract.value);
            case "union":
                return contract.of.map((one) => typeOf(one, at)).join(" | ");
            case "object": {
                const fields = contract.fields.map(
                    (field) =>
                        `  ${field.name} ${field.optional === true ? `${bracketed(typeOf(field.contract, `${at}_${field.name}`))}?` : typeOf(field.contract, `${at}_${field.name}`)}`,
                );
                classes.push(`class ${at} {\n${fields.join("\n")}\n}`);
                return at;
            }
            default:
                throw new Error(`no such type in BAML: ${contract.type}`);
        }
    };
    const type = typeOf((SUBJECTS as { [name: string]: Subject })[name]?.contract as Contract, `C_${name}`);
    return `${classes.join("\n")}\nfunction Read_${name}(x: string) -> ${type} {\n  client Nobody\n  prompt #"{{ x }} {{ ctx.output_format }}"#\n}`;
}

function bracketed(type: string): string {
    return type.includes("|") ? `(${type})` : type;
}

/** `jsonrepair`, then zod. */
export function repaired(): Reader {
    return parsing((text) => JSON.parse(jsonrepair(text)));
}

/** `JSON.parse`, then zod: what holds without any leniency. */
export function strict(): Reader {
    return parsing((text) => JSON.parse(text));
}

function parsing(parse: (text: string) => unknown): Reader {
    const shapes = Object.fromEntries(NAMES.map((name) => [name, zodOf(SUBJECTS[name].contract)]));
    return (text, subject) => {
        let value: unknown;
        try {
            value = parse(text);
        } catch {
            return REFUSED;
        }
        const result = shapes[subject]?.safeParse(value);
        return result?.success === true ? (result.data as Json) : REFUSED;
    };
}

function zodOf(contract: Contract): z.ZodType {
    switch (contract.type) {
        case "string":
            return z.string();
        case "number":
            return z.number();
        case "boolean":
            return z.boolean();
        case "list":
            return z.array(zodOf(contract.item ?? { type: "json" }));
        case "literal":
            return z.literal(contract.value);
        case "union":
            return z.union(contract.of.map(zodOf));
        case "object":
            return z.object(
                Object.fromEntries(
                    contract.fields.map((field) => [
                        field.name,
                        field.optional === true ? zodOf(field.contract).optional() : zodOf(field.contract),
                    ]),
                ),
            );
        default:
            return z.json();
    }
}
