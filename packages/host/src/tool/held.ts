/**
 * Calls of a module's functions, held to what their types say.
 *
 * Boundary: values in, values out. Where the signatures come from is `types.ts`'s.
 *
 * HLD1: an object in the place of a lone argument that is none holds it by its name: a model gives objects. Of several arguments it stands for none
 *     (`namedArgument`).
 */
import {
    checkValue,
    type Contract,
    isObject,
    type Json,
    namedArgument,
    objectArgument,
    type Signature,
    toJsonSchema,
} from "@remit/language";
import { ToolFail } from "./tool.ts";

/** What a model is shown; null where it can give no such arguments. */
export function shownInput(signature: Signature): Json | null {
    const contract = objectArgument(signature);
    return contract === null ? null : (toJsonSchema(contract, {}) as Json);
}

/** The arguments by place. Throws `ToolFail` where they do not hold. */
export function heldArguments(signature: Signature, args: readonly Json[], name: string): readonly unknown[] {
    const { params } = signature;
    const named = namedArgument(signature);
    const [only] = args;
    if (named !== null && args.length === 1 && only !== undefined && isObject(only)) {
        const given = held(named, only, `the argument of ${name}`) as { readonly [key: string]: Json };
        return params.map((one) => (Object.hasOwn(given, one.name) ? given[one.name] : undefined));
    }
    const required = params.filter((one) => one.optional !== true && one.rest !== true).length;
    const most = params.at(-1)?.rest === true ? Number.POSITIVE_INFINITY : params.length;
    if (args.length < required || args.length > most) {
        const wants =
            required === most ? String(most) : most === Number.POSITIVE_INFINITY ? `at least ${required}` : `${required} to ${most}`;
        throw new ToolFail(`${name} takes ${wants} argument${wants === "1" ? "" : "s"}, not ${args.length}`, { hint: listOf(signature) });
    }
    return args.map((value, at) => {
        const param = params[Math.min(at, params.length - 1)];
        return param === undefined ? value : held(param.contract, value, `${name}(${param.name})`);
    });
}

/** What a function gave. Throws `ToolFail` where it is not what its type says. */
export function heldResult(signature: Signature, value: Json, name: string): Json {
    return held(signature.result, value, `the result of ${name}`);
}

function held(contract: Contract, value: Json, what: string): Json {
    const checked = checkValue(contract, value, {}, { what, matching: "its type" });
    if (checked.ok) return checked.value as Json;
    throw new ToolFail(checked.message);
}

function listOf({ params }: Signature): string {
    return params.length === 0
        ? "it takes nothing"
        : `it takes ${params.map((one) => `${one.name}${one.optional === true ? "?" : ""}`).join(", ")}`;
}
