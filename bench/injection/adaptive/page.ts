/** Writes `RESULTS.md` from what `npm run adaptive` kept. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Kept } from "./figures.ts";
import { page } from "./report.ts";

const FOLDER = fileURLToPath(new URL("./results/", import.meta.url));

/** Figures of all worlds, in the order of their names. */
export function kept(): Kept[] {
    return readdirSync(FOLDER)
        .sort()
        .map((name) => JSON.parse(readFileSync(`${FOLDER}${name}`, "utf8")) as Kept);
}

export function writePage(): void {
    writeFileSync(fileURLToPath(new URL("./RESULTS.md", import.meta.url)), page(kept()));
}
