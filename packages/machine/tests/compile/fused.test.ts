/** The fused operators are what their generator writes. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("fused.ts is generated", async () => {
    const script = new URL("../../scripts/fused.mjs", import.meta.url).href;
    const { source } = (await import(script)) as { source: string };
    const written = readFileSync(new URL("../../src/compile/fused.ts", import.meta.url), "utf8");
    // Formatting moves white space and final commas only.
    const bare = (text: string): string => text.replaceAll(/[\s,]/g, "");
    expect(bare(written)).toBe(bare(source));
});
