#!/usr/bin/env node
// `remit act`, under its own name for pipelines.
process.argv.splice(2, 0, "act");
await import("./remit.mjs");
