/**
 * Contracts that a function of TypeScript brings along: Standard Schema (zod, Valibot, ArkType and others).
 *
 * Boundary: the interface of the standard, by the part that is used. Which library made a schema is not asked.
 */
import { isObject, type Json } from "@remit/language";
import { ToolFail } from "./tool.ts";

/** A schema as https://standardschema.dev describes it, with its JSON Schema where the library gives one. */
export interface StandardSchema<Input = unknown, Output = Input> {
    readonly "~standard": {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
        readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => object };
        readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    };
}
type StandardResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };
interface StandardIssue {
    readonly message: string;
    readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function isStandard(schema: unknown): schema is StandardSchema {
    const is = (typeof schema === "object" && schema !== null) || typeof schema === "function";
    return is && "~standard" in schema && typeof schema["~standard"] === "object";
}

/** What a caller has to give. Throws `ToolFail` where the schema holds what JSON cannot. */
export function jsonSchemaOf(schema: StandardSchema, name: string): Json {
    const { jsonSchema } = schema["~standard"];
    if (jsonSchema === undefined) return { type: "object" };
    try {
        const { $schema: _draft, ...rest } = JSON.parse(JSON.stringify(jsonSchema.input({ target: "draft-2020-12" }))) as {
            [key: string]: Json;
        };
        return rest;
    } catch (error) {
        throw new ToolFail(`the input schema of ${name} is no JSON Schema: ${Error.isError(error) ? error.message : String(error)}`);
    }
}

/** The value as the schema gives it, with its defaults. Throws `ToolFail` with every issue. */
export async function accepted(schema: StandardSchema, value: unknown, what: string): Promise<unknown> {
    const result = await schema["~standard"].validate(value);
    if (result.issues === undefined) return result.value;
    const issues = result.issues.slice(0, MOST_ISSUES).map((one) => `${placeOf(one)}${one.message}`);
    throw new ToolFail(`${what} does not hold its contract: ${issues.join("; ")}`);
}
const MOST_ISSUES = 10;

function placeOf({ path = [] }: StandardIssue): string {
    const keys = path.map((one) => String(typeof one === "object" && isObject(one as Json) ? one.key : one));
    return keys.length === 0 ? "" : `${keys.join(".")}: `;
}
