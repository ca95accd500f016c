/**
 * Writes the table of top-level domains from the list of IANA, as the npm package `tlds` holds it.
 *
 *     node packages/machine/scripts/write-tlds.mjs FOLDER
 *
 * Boundary: from `FOLDER/index.json` to `src/authority/tld-data.ts`. Names in other letters than ASCII are left out: any such name counts as one.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
    console.error("usage: node packages/machine/scripts/write-tlds.mjs FOLDER");
    process.exit(2);
}
const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const names = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"))
    .map((name) => name.toLowerCase())
    .filter((name) => /^[a-z]+$/.test(name))
    .sort();
const lines = [];
let line = "";
for (const name of names) {
    if (line.length + name.length > 120) {
        lines.push(line);
        line = "";
    }
    line += `${name} `;
}
lines.push(line);
writeFileSync(
    join(import.meta.dirname, "../src/authority/tld-data.ts"),
    `/**
 * Top-level domains as IANA lists them, of release ${version} of the npm package \`tlds\`: ${names.length} names.
 *
 * Boundary: written by \`scripts/write-tlds.mjs\`; not edited.
 */
export const TOP_LEVEL =
${lines.map((one, at) => `    "${at === lines.length - 1 ? one.trimEnd() : one}"${at === lines.length - 1 ? ";" : " +"}`).join("\n")}
`,
);
