/**
 * An input that a program takes, as an example for a person who gave none, or one that does not fit.
 *
 * Boundary: from a program's form to JSON. Whether it is the input that is meant, only the person knows.
 */
import type { Contract, Json, Program, Shapes } from "@remit/language";

/** JSON of an object with each part that has to be there. */
export function inputExample({ entry, files }: Pick<Program, "entry" | "files">): string {
    const file = entry === undefined ? undefined : files[entry.file];
    const funcs = entry?.agent === undefined ? file?.funcs : file?.agents.find(({ name }) => name === entry.agent)?.funcs;
    const params = funcs?.find(({ name }) => name === entry?.func)?.params ?? [];
    const shapes: Shapes = Object.fromEntries((file?.shapes ?? []).map(({ name, contract }) => [name, contract]));
    const [only] = params;
    const whole = params.length === 1 && only?.contract !== undefined ? example(only.contract, shapes) : null;
    // The machine takes a lone parameter that is no scalar as the whole input, and others by name.
    const isWhole = typeof whole === "object" && whole !== null && !Array.isArray(whole);
    const named = params.filter((one) => one.default === undefined && one.contract?.type !== "optional");
    return JSON.stringify(
        isWhole ? whole : Object.fromEntries(named.map(({ name, contract }) => [name, example(contract ?? { type: "string" }, shapes)])),
    );
}

/** `depth`: a shape may hold itself. */
function example(contract: Contract, shapes: Shapes, depth = 0): Json {
    const of = (one: Contract): Json => example(one, shapes, depth + 1);
    switch (contract.type) {
        case "number":
            return 1;
        case "boolean":
            return true;
        case "none":
        case "optional":
            return null;
        case "list":
            return [];
        case "literal":
            return contract.value;
        case "union":
            return of(contract.of[0] ?? { type: "none" });
        case "object": {
            const needed = contract.fields.filter((one) => one.optional !== true && one.default === undefined);
            return depth > 3 ? {} : Object.fromEntries(needed.map((one) => [one.name, of(one.contract)]));
        }
        case "ref": {
            const named = shapes[contract.name];
            return named === undefined || depth > 3 ? {} : of(named);
        }
        case "string":
        case "json":
            return "…";
    }
}
