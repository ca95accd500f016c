/**
 * What is known of a function outside the program, which its arguments reach by place: parameters and result as contracts.
 *
 * Boundary: a shape and what follows from it; who reads signatures from where is the host's business. No names of shapes are in its contracts.
 */
import type { Contract, Field } from "./contract.ts";

export interface Signature {
    readonly name: string;
    readonly description?: string;
    readonly params: readonly SignatureParam[];
    readonly result: Contract;
}

export interface SignatureParam {
    readonly name: string;
    readonly contract: Contract;
    readonly description?: string;
    /** It may be left out. */
    readonly optional?: true;
    /** The last one, of which there may be any number. */
    readonly rest?: true;
}

/**
 * What an object must hold that stands for the lone argument, by its name: a model gives objects. Null where the argument may be an object itself, and
 * of several parameters: rules name those by their places (`arg 2: trusted`), and an object would be a way around them.
 */
export function namedArgument({ params }: Signature): (Contract & { readonly type: "object" }) | null {
    const [only] = params;
    if (only === undefined || params.length > 1 || only.rest === true || !SCALARS.has(only.contract.type)) return null;
    return { type: "object", fields: [fieldOf(only)] };
}

const SCALARS: ReadonlySet<Contract["type"]> = new Set(["string", "number", "boolean", "list", "literal"]);

function fieldOf({ name, contract, description, optional }: SignatureParam): Field {
    return {
        name,
        contract,
        ...(optional === undefined ? {} : { optional }),
        ...(description === undefined ? {} : { description }),
    };
}

/** The one object that a model gives: the lone argument, or one that holds it by its name. Null where it can give none. */
export function objectArgument(signature: Signature): Contract | null {
    const { params } = signature;
    const [only] = params;
    if (only === undefined) return { type: "object", fields: [] };
    return namedArgument(signature) ?? (params.length === 1 && only.rest === undefined ? only.contract : null);
}
