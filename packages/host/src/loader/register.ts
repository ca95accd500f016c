/**
 * `node --import remit-lang/register`: this process imports programs as modules.
 *
 * Boundary: Node's hooks. A program is compiled when it is imported; its errors are then those of the import.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { moduleAt, PROGRAM_FILE } from "./text.ts";

registerHooks({
    load: (url, context, next) => {
        const [at = ""] = url.split(/[?#]/);
        if (!url.startsWith("file:") || !PROGRAM_FILE.test(at)) return next(url, context);
        const path = fileURLToPath(at);
        return { format: "module", shortCircuit: true, source: moduleAt(path, readFileSync(path, "utf8")) };
    },
});
