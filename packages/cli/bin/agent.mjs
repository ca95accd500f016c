#!/usr/bin/env node
// `remit agent`, under its own name for pipelines.
process.argv.splice(2, 0, "agent");
await import("./remit.mjs");
