/**
 * The trace as text, for commands that load it only when it is asked for: `import()` of a whole package would put all of it into every bundle.
 */
export { traceText } from "@remit/machine";
