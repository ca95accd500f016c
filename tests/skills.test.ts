/** The skills that this project publishes are valid: by its own rules, and by the reference validator's. */
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSkill, validateSkill } from "@remit/host";
import { PROTOCOL_SKILL } from "@remit/language";
import { validate } from "skills-ref";
import { expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const skills = ["packages/*/skills/*/SKILL.md", "examples/**/SKILL.md", ".agents/**/SKILL.md"]
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => dirname(path))
    .sort();

test("there are some", () => expect(skills).toContain("packages/language/skills/remit-yield"));

test.each(skills)("%s", async (folder) => {
    expect(validateSkill(join(root, folder))).toEqual([]);
    expect(await validate(join(root, folder))).toEqual([]);
});

test("what goes with a handshake is the body of the protocol skill", () => {
    const { name, description, body } = loadSkill(join(root, "packages/language/skills/remit-yield"));
    expect({ name, description, text: body }).toEqual({
        name: PROTOCOL_SKILL.name,
        description: PROTOCOL_SKILL.description,
        text: PROTOCOL_SKILL.text,
    });
});
