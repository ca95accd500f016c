/**
 * The one place where reading asks the contract module whether a value holds.
 *
 * Boundary: coercion and check are the contract module's. A compiled check is kept for as long as the contract is held.
 */
import { type Checked, type Contract, compileAcceptance, type Json, LLM_RESULT, type Shapes } from "@remit/language";

type Check = (value: unknown) => Checked;
interface Kept {
    readonly shapes: Shapes;
    readonly check: Check;
}

const strictly = new WeakMap<Contract, Kept>();
const laxly = new WeakMap<Contract, Kept>();

/** Coerces (unless strict) and checks. */
export function verify(value: Json, contract: Contract, shapes: Shapes, strict: boolean): Checked {
    const kept = strict ? strictly : laxly;
    let known = kept.get(contract);
    if (known === undefined || known.shapes !== shapes) {
        known = { shapes, check: compileAcceptance(contract, shapes, { strict, ...LLM_RESULT }) };
        kept.set(contract, known);
    }
    return known.check(value);
}
