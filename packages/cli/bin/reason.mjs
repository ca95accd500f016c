#!/usr/bin/env node
// `remit reason`, under its own name for pipelines.
process.argv.splice(2, 0, "reason");
await import("./remit.mjs");
