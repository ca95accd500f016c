/** The page on contracts: its programs run and its JSON is what is made. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Shapes } from "../../src/contract/contract.ts";
import { toJsonSchema } from "../../src/contract/schema.ts";
import { FORBIDDEN_NAMES } from "../../src/contract/open.ts";
import { lower } from "../../src/form/lower.ts";
import { validateProgram } from "../../src/answer/validate.ts";
import { run } from "../check/cases.ts";
import { shapes } from "./read.ts";

const page = readFileSync(new URL("../../../../docs/contracts.md", import.meta.url), "utf8");

function samples(language: string): string[] {
    return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map((found) => found[1] as string);
}

describe("docs/contracts.md", () => {
    test("programs are correct, and valid forms", () => {
        expect(samples("remit").length).toBeGreaterThan(1);
        for (const text of samples("remit")) {
            const program = run(text);
            expect(program.diagnostics.filter((d) => d.severity !== "note").map((d) => `${d.code} ${d.message}`)).toEqual([]);
            expect(validateProgram(lower(program)).ok).toBe(true);
        }
    });

    test("the JSON is what is said to be made", () => {
        const [schema, form] = samples("json").map((text) => JSON.parse(text) as unknown);
        const declared = Object.assign({}, ...samples("remit").map(shapes)) as Shapes;
        expect(JSON.stringify(toJsonSchema({ type: "ref", name: "Finding" }, declared))).toBe(JSON.stringify(schema));
        expect(form).toEqual({ name: "Order", contract: declared.Order });
    });

    test("names the names that are refused", () => {
        for (const name of FORBIDDEN_NAMES) expect(page).toContain(`\`${name}\``);
    });
});
