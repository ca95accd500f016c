#!/usr/bin/env node
// `npm create remit-lang [FOLDER]`: `remit init --npm`, by the command that came with this package.
process.argv.splice(2, 0, "init", "--npm");
await import(new URL("bin/remit.mjs", import.meta.resolve("remit-lang/package.json")).href);
