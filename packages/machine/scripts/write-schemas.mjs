/**
 * Writes the published JSON Schemas of effects, ledger events, continuations, snapshots and handshakes: `node packages/machine/scripts/write-schemas.mjs`.
 * A test says that the files are what this writes.
 */
import { writeFileSync } from "node:fs";
import { PUBLISHED } from "../src/schema/published.ts";

for (const [name, schema] of Object.entries(PUBLISHED))
    writeFileSync(new URL(`../schema/${name}.json`, import.meta.url), `${JSON.stringify(schema(), null, 2)}\n`);
