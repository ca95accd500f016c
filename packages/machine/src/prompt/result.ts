/**
 * A generate's contract: the schema shown to the model and the check of what it answered.
 *
 * Boundary: the rules are the contract module's; this gives them the words of a generate.
 */
import { acceptValue, type Checked, type Contract, type Json, LLM_RESULT, toJsonSchema } from "@remit/language";

type Shapes = { readonly [name: string]: Contract };

/** The value, coerced unless `strict`, or what is wrong with it. */
export function checkResult(value: Json, contract: Contract, shapes: Shapes, strict: boolean): Checked {
    return acceptValue(contract, value, shapes, { strict, ...LLM_RESULT });
}

export function resultSchema(contract: Contract, shapes: Shapes): Json {
    return toJsonSchema(contract, shapes);
}
