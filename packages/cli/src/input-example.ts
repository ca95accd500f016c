/**
 * An input that a program takes, as an example for a person who gave none, or one that does not fit.
 *
 * Boundary: from a program's form to JSON. Whether it is the input that is meant, only the person knows.
 */
import { type Contract, type Json, type Program, type Shapes, zeroValue } from "@remit/language";

/** What a person writes over. */
const BLANKS = { string: "…", number: 1, json: "…", defaults: false };

/** JSON of an object with each part that has to be there. */
export function inputExample({ entry, files }: Pick<Program, "entry" | "files">): string {
    const file = entry === undefined ? undefined : files[entry.file];
    const funcs = entry?.agent === undefined ? file?.funcs : file?.agents.find(({ name }) => name === entry.agent)?.funcs;
    const params = funcs?.find(({ name }) => name === entry?.func)?.params ?? [];
    const shapes: Shapes = Object.fromEntries((file?.shapes ?? []).map(({ name, contract }) => [name, contract]));
    const example = (contract: Contract): Json => zeroValue(contract, shapes, BLANKS) ?? {};
    const [only] = params;
    const whole = params.length === 1 && only?.contract !== undefined ? example(only.contract) : null;
    // The machine takes a lone parameter that is no scalar as the whole input, and others by name.
    const isWhole = typeof whole === "object" && whole !== null && !Array.isArray(whole);
    const named = params.filter((one) => one.default === undefined && one.contract?.type !== "optional");
    return JSON.stringify(
        isWhole ? whole : Object.fromEntries(named.map(({ name, contract }) => [name, example(contract ?? { type: "string" })])),
    );
}
