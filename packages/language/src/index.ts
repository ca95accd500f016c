export * from "./contract/contract.ts";
export * from "./diagnostics/diagnostic.ts";
export * from "./form/form.ts";
export * from "./text/source.ts";
export type * as tree from "./syntax/tree.ts";
export { BUILTINS, type BuiltinRow } from "./check/builtins.ts";
export { CODES, type Code, type CodeRow } from "./diagnostics/codes.ts";
export { didYouMean, nearest } from "./diagnostics/nearest.ts";
export { type RenderOptions, renderDiagnostic } from "./diagnostics/render.ts";
