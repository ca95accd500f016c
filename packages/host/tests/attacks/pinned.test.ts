/** Attacks on what is pinned and what is read: links within a package, skills that are too large. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandIdentity } from "../../src/lock/identity.ts";
import { LOCK_FILE, readLock, writeLock } from "../../src/lock/lock.ts";
import { SKILL_BOUNDS } from "../../src/skill/rules.ts";
import { loadSkill, SkillError } from "../../src/skill/skill.ts";
import { place } from "../skill/support.ts";

test("a package whose code is behind a link is another one when the link, or what is there, is", () => {
    using at = place();
    const root = "root/node_modules/some-agent";
    at.write(`${root}/package.json`, JSON.stringify({ name: "some-agent", version: "1.0.0" }));
    const command = at.write(`${root}/bin/agent.js`, 'import "../lib/main.js";\n');
    const [one, two] = [at.write("elsewhere/one.js", "1"), at.write("elsewhere/two.js", "1")];
    at.write(`${root}/lib/x.js`, "");
    const link = join(at.folder, root, "lib", "main.js");
    const lead = (to: string): string => {
        rmSync(link, { force: true });
        symlinkSync(to, link);
        return JSON.stringify(commandIdentity(command));
    };
    const first = lead(one);
    expect(lead(one)).toBe(first);
    expect(lead(two)).not.toBe(first);
    lead(one);
    writeFileSync(one, "2");
    expect(JSON.stringify(commandIdentity(command))).not.toBe(first);
    rmSync(one);
    expect(() => commandIdentity(command)).not.toThrow();
});

test("a SKILL.md above its bound is refused, in a folder too", () => {
    using at = place();
    const fits = at.skill("skills/fits", undefined, "x".repeat(SKILL_BOUNDS.document - 1000));
    expect(loadSkill(fits).name).toBe("fits");
    const large = at.skill("skills/large", undefined, "x".repeat(SKILL_BOUNDS.document));
    expect(() => loadSkill(large)).toThrow(SkillError);
    expect(() => loadSkill(large, { lenient: true })).toThrow(/at most 262144 are read/);
});

test("a lock file that is a link is neither read nor written, wherever it leads", () => {
    using at = place();
    const root = join(at.folder, "root");
    mkdirSync(root, { recursive: true });
    const lock = { format: "remit-lock/1", programs: {} } as const;
    const other = at.write("other.json", JSON.stringify(lock));
    const link = join(root, LOCK_FILE);
    for (const to of [other, join(at.folder, "not-there.json"), "/dev/null"]) {
        rmSync(link, { force: true });
        symlinkSync(to, link);
        expect(() => readLock(root)).toThrow(/is a link/);
        expect(() => writeLock(root, lock)).toThrow(/is a link/);
    }
    expect(readFileSync(other, "utf8")).toBe(JSON.stringify(lock));
    expect(existsSync(join(at.folder, "not-there.json"))).toBe(false);
    rmSync(link);
    writeLock(root, lock);
    expect(readLock(root)).toEqual(lock);
});
