/**
 * Writes the published JSON Schema of the program form, from the table that the validator uses: `node packages/language/scripts/write-schema.mjs`.
 * A test says that the file is what this writes.
 */
import { writeFileSync } from "node:fs";
import { programJsonSchema } from "../src/form/schema.ts";

writeFileSync(new URL("../schema/program-form-1.json", import.meta.url), `${JSON.stringify(programJsonSchema(), null, 2)}\n`);
