/** Contracts as written, for tests: one line a case. */
import type { Contract, Shapes } from "../../src/contract/contract.ts";
import { contractOf } from "../../src/contract/from-tree.ts";
import { setOwn } from "../../src/contract/open.ts";
import { parse } from "../../src/syntax/parse/parse.ts";
import { source } from "../../src/text/source.ts";

export function contract(text: string): Contract {
    const { It } = shapes(`shape It { it: ${text}\n}`);
    if (It?.type !== "object") throw new Error(text);
    return (It.fields[0] as { contract: Contract }).contract;
}

export function shapes(text: string): Shapes {
    const file = parse(source(text));
    const errors = file.diagnostics.filter((d) => d.severity === "error");
    if (errors.length > 0) throw new Error(`${text}: ${errors[0]?.message}`);
    const found: { [name: string]: Contract } = {};
    for (const item of file.items) if (item.kind === "shape") setOwn(found, item.name.text, contractOf(item.contract));
    return found;
}
