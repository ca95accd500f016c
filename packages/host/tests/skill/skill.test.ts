/** Reading a skill: the rules of its head, the bounds, the digest (RL1–K7). */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { validate as reference } from "skills-ref";
import { expect, test } from "vitest";
import { loadSkill, readSkill, SkillError, validateSkill } from "../../src/skill/skill.ts";
import { place } from "./support.ts";

const FULL = `name: triage
description: "Sorts failing builds. Use when: a build is red."
license: MIT
compatibility: Needs git
metadata:
  riff: "true"
  version: "1.0"
allowed-tools: Bash(git add:*) Read`;

test("a skill with every key", async () => {
    using at = place();
    const folder = at.skill("skills/triage", FULL, "# Triage\n\nLook.\n\n");
    at.write("skills/triage/references/a.md", "A");
    const skill = loadSkill(folder);
    expect(skill).toMatchObject({
        name: "triage",
        description: "Sorts failing builds. Use when: a build is red.",
        license: "MIT",
        compatibility: "Needs git",
        metadata: { riff: "true", version: "1.0" },
        allowedTools: ["Bash(git add:*)", "Read"],
        body: "# Triage\n\nLook.",
        problems: [],
    });
    expect(skill.files.map((one) => one.path)).toEqual(["SKILL.md", "references/a.md"]);
    const lines = skill.files.map((one) => `${one.sha256}  ${one.path}\n`).join("");
    expect(skill.sha256).toBe(createHash("sha256").update(`remit-skill/1\n${lines}`).digest("hex"));
    expect(await reference(folder)).toEqual([]);
});

/** Head, what is wrong, whether a catalogue takes it, whether the reference validator refuses it too. */
const WRONG: readonly [string, RegExp, boolean, boolean?][] = [
    ["description: d", /name: is missing/, false],
    ["name: triage", /description: is missing/, false],
    ['name: triage\ndescription: "  "', /description: is empty/, false],
    ["name: other\ndescription: d", /is 'other', and the folder is called 'triage'/, true],
    [`name: ${"a".repeat(65)}\ndescription: d`, /65 characters, at most 64/, true],
    ["name: Triage\ndescription: d", /lower-case/, false],
    ["name: -triage\ndescription: d", /lower-case/, false],
    ["name: tri--age\ndescription: d", /single hyphens/, false],
    ["name: ../triage\ndescription: d", /lower-case/, false],
    [`name: triage\ndescription: ${"d".repeat(1025)}`, /1025 characters/, true],
    ["name: triage\ndescription: d\nversion: 1", /version: is not a key of a skill/, true],
    [`name: triage\ndescription: d\ncompatibility: ${"c".repeat(501)}`, /501 characters/, true],
    // the reference leaves these to its readers
    ["name: triage\ndescription: d\nmetadata: [a]", /metadata: must be a map/, false, false],
    ["name: triage\ndescription: d\nallowed-tools:\n  a: b", /allowed-tools: must be a text, not a map/, false, false],
    ["name: triage\ndescription:\n  - a", /description: must be a text, not a list/, false, false],
    ["name: triage\ndescription: &a d\nlicense: *a", /alias|anchor/, false, false],
    ["name: triage\ndescription: !!js/function 'd'", /tag|YAML/i, false],
    ["name: triage\nname: triage\ndescription: d", /unique/, false],
    ["- name", /not a map/, false],
];

test("FN5: numbers, truths and nothing are the texts that stand there, and a list of tools is one of them", async () => {
    using at = place();
    const head = `name: triage
description: 7
metadata:
  version: 1.10
  riff: true
  none: null
  octal: 017
  1: a
allowed-tools:
  - Read
  - Bash`;
    const folder = at.skill("triage", head);
    const { description, metadata, allowedTools } = loadSkill(folder);
    expect({ description, metadata, allowedTools }).toEqual({
        description: "7",
        metadata: { version: "1.10", riff: "true", none: "null", octal: "017", 1: "a" },
        allowedTools: ["Read", "Bash"],
    });
    expect(await reference(folder)).toEqual([]);
});

test.each(WRONG)("F61: refused: %j", async (head, message, listed, refused = true) => {
    using at = place();
    const folder = at.skill("triage", head);
    expect(() => loadSkill(folder)).toThrow(SkillError);
    expect(() => loadSkill(folder)).toThrow(message);
    if (listed) expect(loadSkill(folder, { lenient: true }).problems.map((one) => one.level)).toContain("tolerable");
    else expect(() => loadSkill(folder, { lenient: true })).toThrow(SkillError);
    expect((await reference(folder)).length > 0).toBe(refused);
});

test("YAML that needs quotes is read with them, and that is said", () => {
    using at = place();
    const folder = at.skill("triage", "name: triage\ndescription: Use when: a build is red [really]");
    const skill = loadSkill(folder, { lenient: true });
    expect(skill.description).toBe("Use when: a build is red [really]");
    expect(skill.problems[0]?.message).toMatch(/is not YAML.*read with its values in quotes/);
    expect(() => loadSkill(folder)).toThrow(/not YAML/);
});

test.each([
    ["no head", "# Triage\n", /does not begin with a line ---/],
    ["no end", "---\nname: triage\n", /has no end/],
    ["a bomb", `---\na: &a [x]\n${"b: &b [*a, *a]\n".repeat(20)}---\n`, /YAML|alias|anchor/],
    ["nesting", `---\nname: triage\nmetadata: ${"[".repeat(300)}${"]".repeat(300)}\n---\n`, /nested|YAML/],
    ["many values", `---\nmetadata: [${"1,".repeat(3000)}]\n---\n`, /more than 400 values/],
    ["a long head", `---\n${"a: b\n".repeat(5000)}---\n`, /at most 16384 are read/],
    ["not text", Uint8Array.of(0x2d, 0xff, 0xfe), /not UTF-8/],
    ["nothing at all", "", /does not begin/],
] as const)("%s is an error, and no crash", (_, text, message) => {
    using at = place();
    at.write("triage/SKILL.md", text);
    expect(() => loadSkill(join(at.folder, "triage"))).toThrow(message);
});

test("line ends, a byte order mark and text behind the head", () => {
    using at = place();
    at.write("triage/SKILL.md", "\uFEFF---\r\nname: triage\r\ndescription: d\r\n---\r\n\r\nOne\r\n---\r\nTwo\r\n");
    expect(loadSkill(join(at.folder, "triage")).body).toBe("One\n---\nTwo");
});

test("FN4: a key like __proto__ is data", () => {
    using at = place();
    const skill = loadSkill(at.skill("triage", 'name: triage\ndescription: d\nmetadata:\n  __proto__: "x"\n  constructor: "y"'));
    expect(Object.entries(skill.metadata)).toEqual([
        ["__proto__", "x"],
        ["constructor", "y"],
    ]);
});

test("K5: the digest covers names and contents of all files, and nothing else", () => {
    using at = place();
    const folder = at.skill("triage");
    const before = loadSkill(folder).sha256;
    at.write("triage/scripts/run.sh", "echo 1\n");
    const more = loadSkill(folder).sha256;
    at.write("triage/scripts/run.sh", "echo 2\n");
    const other = loadSkill(folder).sha256;
    renameSync(join(folder, "scripts/run.sh"), join(folder, "scripts/ran.sh"));
    expect(new Set([before, more, other, loadSkill(folder).sha256]).size).toBe(4);
});

test("K5: two lists of files that differ have two digests", async () => {
    const { listingDigest } = await import("../../src/skill/files.ts");
    const file = fc.record({ path: fc.stringMatching(/^[a-z./ ]{1,8}$/), sha256: fc.stringMatching(/^[0-9a-f]{64}$/) });
    fc.assert(
        fc.property(fc.array(file, { maxLength: 4 }), fc.array(file, { maxLength: 4 }), (a, b) => {
            expect(listingDigest(a) === listingDigest(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
        }),
    );
});

test("K6: nothing outside the folder is read", () => {
    using at = place();
    const folder = at.skill("triage");
    const outside = at.write("secret.txt", "secret");
    at.write("triage/inside.md", "i");
    symlinkSync("inside.md", join(folder, "again.md"));
    expect(loadSkill(folder).files.map((one) => one.path)).toContain("again.md");
    for (const target of [outside, "..", "nowhere", "loop"]) {
        symlinkSync(target, join(folder, "loop"));
        expect(() => loadSkill(folder)).toThrow(/loop: is neither a regular file nor a link to one inside/);
        spawnSync("rm", [join(folder, "loop")]);
    }
    spawnSync("mkfifo", [join(folder, "pipe")]);
    expect(() => loadSkill(folder)).toThrow(/pipe: is neither/);
});

test("bounds", () => {
    using at = place();
    const deep = at.skill("deep");
    at.write(`deep/${"a/".repeat(7)}f`, "x");
    expect(() => loadSkill(deep)).toThrow(/more than 6 folders deep/);
    const large = at.skill("large");
    at.write("large/big.bin", new Uint8Array(8 * 1024 * 1024 + 1));
    expect(() => loadSkill(large)).toThrow(/big.bin: has 8388609 bytes/);
    const many = at.skill("many");
    for (let i = 0; i < 501; i++) writeFileSync(join(many, `f${i}`), "");
    expect(() => loadSkill(many)).toThrow(/more than 500 files/);
    expect(validateSkill(at.skill("long", undefined, "line\n".repeat(600)))).toMatchObject([{ level: "advice" }]);
    expect(readSkill(join(at.folder, "none")).problems).toMatchObject([{ message: "there is no such folder" }]);
    writeFileSync(join(at.folder, "file"), "");
    expect(readSkill(join(at.folder, "file", "skill")).problems).toMatchObject([
        { message: "cannot be read: a part of the path is not a folder" },
    ]);
});
