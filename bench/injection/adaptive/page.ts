/** Writes `RESULTS.md` from what `npm run adaptive` kept. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Kept } from "./figures.ts";
import { page } from "./report.ts";

/** Of loops that show what they read, and of those that hide it: frozen apart, so that each has goals of its own. */
export const FOLDERS = {
    shown: fileURLToPath(new URL("./results/shown/", import.meta.url)),
    hidden: fileURLToPath(new URL("./results/hidden/", import.meta.url)),
} as const;

export type Part = keyof typeof FOLDERS;

/** Figures of all worlds, in the order of their names. */
export function kept(part: Part): Kept[] {
    return readdirSync(FOLDERS[part])
        .sort()
        .map((name) => JSON.parse(readFileSync(`${FOLDERS[part]}${name}`, "utf8")) as Kept);
}

export function writePage(): void {
    writeFileSync(fileURLToPath(new URL("./RESULTS.md", import.meta.url)), page(kept("shown"), kept("hidden")));
}
