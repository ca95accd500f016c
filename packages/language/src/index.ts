export * from "./contract/contract.ts";
export * from "./diagnostics/diagnostic.ts";
export * from "./form/form.ts";
export * from "./text/source.ts";
export type * as tree from "./syntax/tree.ts";
