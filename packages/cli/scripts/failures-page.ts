/** Writes `docs/failures.md` from the table of kinds: `node packages/cli/scripts/failures-page.ts`. A test says that the file is what this makes. */
import { writeFileSync } from "node:fs";
import { failuresPage } from "../src/of-failures.ts";

writeFileSync(new URL("../../../docs/failures.md", import.meta.url), failuresPage());
