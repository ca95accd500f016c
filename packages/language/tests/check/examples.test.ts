/** The examples of the repository: no error and no warning in any of them. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { check, loadProgram, renderDiagnostic } from "../../src/index.ts";

const examples = join(dirname(fileURLToPath(import.meta.url)), "../../../../examples");
const programs = readdirSync(examples).filter((name) => existsSync(join(examples, name, "main.remit")));

test("there are examples", () => {
    expect(programs.length).toBeGreaterThan(3);
});

test.each(programs)("%s", (name) => {
    const program = check(
        loadProgram("main.remit", {
            read: (path) => (existsSync(join(examples, name, path)) ? readFileSync(join(examples, name, path), "utf8") : null),
            resolve: (from, uri) => posix.join(posix.dirname(from), uri.replace(/^file:\/\//, "")),
            allowTool: () => ({ allowed: true }),
        }),
    );
    expect(
        program.diagnostics.filter((d) => d.severity !== "note").map((d) => renderDiagnostic(d, program.files.get(d.file)?.source)),
    ).toEqual([]);
});
