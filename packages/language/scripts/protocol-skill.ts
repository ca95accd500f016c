/**
 * Writes `src/protocol/skill.ts` from `skills/remit-yield/SKILL.md`: `node packages/language/scripts/protocol-skill.ts`.
 *
 * Boundary: the text is the skill's; a test says that the module is what this makes.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const SKILL = new URL("../skills/remit-yield/SKILL.md", import.meta.url);
export const MODULE = new URL("../src/protocol/skill.ts", import.meta.url);

export function skillModule(document: string): string {
    const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(document) ?? [];
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(head)?.[1] ?? "";
    const text = body.trim();
    const sha256 = createHash("sha256").update(document).digest("hex");
    const lines = text.split("\n").map((line) => `    ${quoted(line)},`);
    return `/**
 * The protocol skill: what teaches a model that never saw Remit to answer a yield.
 *
 * Boundary: data, written by \`scripts/protocol-skill.ts\` from \`skills/remit-yield/SKILL.md\`; change that.
 */
import type { ProtocolSkill } from "./types.ts";

const LINES = [
${lines.join("\n")}
];

export const PROTOCOL_SKILL: ProtocolSkill = {
    name: ${JSON.stringify(field("name"))},
    description:
        ${quoted(field("description"))},
    text: LINES.join("\\n"),
    sha256: ${JSON.stringify(sha256)},
};
`;
}

/** As the formatter would have it: with the quotes that need fewer backslashes. */
function quoted(text: string): string {
    const double = JSON.stringify(text);
    const count = (mark: string): number => text.split(mark).length - 1;
    if (count('"') <= count("'")) return double;
    return `'${double.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(MODULE, skillModule(readFileSync(SKILL, "utf8")));
