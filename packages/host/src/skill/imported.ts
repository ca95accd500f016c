/**
 * What an import of a skill becomes.
 *
 * Boundary: shapes. Apart from `imports.ts`, so that a program without skills does not load what reads them.
 */
import type { SkillContent } from "@remit/machine";
import type { Skill } from "./skill.ts";

export type Skills = { readonly [place: string]: SkillContent };

/** An import of a skill and what it means. */
export interface ImportedSkill {
    /** `FILE INDEX/NAME`. */
    readonly place: string;
    /** Name of the file that imports it, and the name there. */
    readonly file: string;
    readonly name: string;
    readonly uri: string;
    readonly skill: Skill;
}

export function skillContents(skills: readonly ImportedSkill[]): Skills {
    return Object.fromEntries(
        skills.map(({ place, skill: { name, description, sha256, body } }) => [place, { name, description, sha256, text: body }]),
    );
}
