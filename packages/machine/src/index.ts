export * from "./effect.ts";
export * from "./failure.ts";
export * from "./ledger/events.ts";
export * from "./value/label.ts";
export * from "./value/value.ts";
export * from "./value/json.ts";
