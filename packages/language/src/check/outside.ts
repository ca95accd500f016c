/**
 * Calls of functions of modules whose types are known.
 *
 * Boundary: signatures come from the host (`LoadedProgram.members`); what is allowed to be called is told elsewhere.
 */
import { namedArgument, type Signature } from "../contract/signature.ts";
import { raiseContract } from "../form/raise.ts";
import type { LoadedProgram } from "../load/program.ts";
import type { Binding, Members, Outside, Walk } from "../scope/model.ts";
import { ANY, contractType, MAY_GROW, misfit, type Type } from "../scope/types.ts";
import type { Call, ContractNode, Expr } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { suggestion } from "./names.ts";
import { arity } from "./sites.ts";

export function membersOf({ members }: Pick<LoadedProgram, "members">): Members {
    return new Map(
        [...(members ?? [])].map(([node, { signatures, open }]) => [
            node,
            { functions: new Map(signatures.map((one) => [one.name, outsideOf(one)])), open },
        ]),
    );
}

function outsideOf(signature: Signature): Outside {
    const named = namedArgument(signature);
    return {
        signature,
        params: signature.params.map((one) => raiseContract(one.contract)),
        result: raiseContract(signature.result),
        named: named === null ? null : raiseContract(named),
    };
}

interface Called {
    readonly tool: Binding;
    readonly name: string;
    readonly at: Range;
    /** Of the arguments. */
    readonly types: readonly Type[];
}

/** What the call gives. */
export function outsideCall(
    w: Walk,
    e: Call,
    { tool, name, at, types }: Called,
    { functions, open }: NonNullable<ReturnType<Members["get"]>>,
): Type {
    const found = functions.get(name);
    if (found === undefined) {
        const known = [...functions.keys()];
        if (!open && name !== "")
            w.report(
                "UNKNOWN_METHOD",
                at,
                `the tool '${tool.name}' has no method '${name}'`,
                suggestion(w.checking, name, at, known) ?? { hint: `it has ${known.join(", ")}` },
            );
        return ANY;
    }
    const { signature, params, named } = found;
    const [first] = types;
    const shown = `${tool.name}.${name}`;
    const isNamed = named !== null && types.length === 1 && (first?.kind === "object" || first?.kind === "any");
    if (isNamed) fits(w, { type: first, expr: e.args[0]?.value, node: named, what: `the argument of ${shown}()` });
    else {
        const required = signature.params.filter((one) => one.optional !== true && one.rest !== true).length;
        const last = signature.params.at(-1);
        arity(w, e, `${shown}()`, { min: required, max: last?.rest === true ? Number.POSITIVE_INFINITY : params.length });
        types.forEach((type, i) => {
            const place = Math.min(i, params.length - 1);
            const [node, param] = [params[place], signature.params[place]];
            if (node === undefined || param === undefined || (i > place && param.rest !== true)) return;
            fits(w, { type, expr: e.args[i]?.value, node, what: `'${param.name}' of ${shown}()` });
        });
    }
    return contractType(found.result, w.file);
}

interface Fitting {
    readonly type: Type;
    readonly expr: Expr | undefined;
    readonly node: ContractNode;
    readonly what: string;
}

function fits(w: Walk, { type, expr, node, what }: Fitting): void {
    const reason = expr === undefined ? null : misfit(type, expr, node, w.file);
    if (reason === null || expr === undefined) return;
    const message = `${what}: ${reason}`;
    const isPlace = expr.kind === "ident" || expr.kind === "member" || expr.kind === "index";
    if (isPlace) w.suspect("CONTRACT_MISMATCH", expr.range, message, type.soft | (type.kind === "object" ? MAY_GROW : 0));
    else w.report("CONTRACT_MISMATCH", expr.range, message);
}
