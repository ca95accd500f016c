export * from "./effect.ts";
export * from "./failure.ts";
export * from "./ledger/events.ts";
export * from "./value/label.ts";
export * from "./value/value.ts";
export * from "./value/json.ts";
export * from "./builtin/table.ts";
export * from "./prompt/setup.ts";
export { continueGenerate, startGenerate } from "./prompt/generate.ts";
