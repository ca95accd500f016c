/** The page of built-ins is what the table makes. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { builtinsPage } from "../../scripts/built-ins-page.ts";
import { BUILTIN_TABLE } from "../../src/index.ts";

test("docs/built-ins.md is what the table makes (node packages/machine/scripts/built-ins-page.ts)", () => {
    expect(readFileSync(new URL("../../../../docs/built-ins.md", import.meta.url), "utf8")).toBe(builtinsPage());
});

test("every built-in has a line", () => {
    const page = builtinsPage();
    for (const row of BUILTIN_TABLE) expect(page).toContain(`\`${row.signature}\``);
});
