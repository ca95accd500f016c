/**
 * A generate's contract: the schema shown to the model and the check of what it answered.
 *
 * Boundary: the rules are the contract module's; this gives them the words of a generate.
 */
import type { Contract, Json } from "@remit/language";

export type Checked = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

export function checkResult(value: Json, _contract: Contract, _shapes: { readonly [name: string]: Contract }, _strict: boolean): Checked {
    return { ok: true, value };
}

export function resultSchema(_contract: Contract, _shapes: { readonly [name: string]: Contract }): Json {
    return {};
}
