/**
 * Which skills there are: those of the project, then those of the user.
 *
 * Boundary: finds and lists. Progressive disclosure: the catalogue shows names and descriptions, `activate` gives a body, `file` a file.
 *
 * K10: looked for in `.remit/skills` and `.agents/skills` of the project, then `skills` of Remit's configuration folder and `~/.agents/skills`. The
 *      first of a name counts; the others are told. A folder with a `SKILL.md` is not looked into further.
 * K11: at most 6 folders deep and 2,000 folders in all; a link that leads out of the folder that is looked through is told and not followed.
 * K12: a project's skill that is not trusted is listed and not activated (K9 in `trust.ts`).
 */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemWords } from "../failure/system.ts";
import { configFolder, type Environment, homeOf } from "../ledger/place.ts";
import { byUnits, isInside, sha256Of } from "./files.ts";
import { SKILL_BOUNDS } from "./rules.ts";
import { problemText, readSkill, type Skill } from "./skill.ts";
import { skillTrust } from "./trust.ts";

export type SkillScope = "project" | "user";

export interface ListedSkill {
    readonly scope: SkillScope;
    readonly skill: Skill;
    /** `trusted`: of the user's own folders, or trusted as it is now. */
    readonly trust: "trusted" | "changed" | "unknown";
}

export interface SkillWarning {
    /** Absolute. */
    readonly place: string;
    readonly message: string;
}

export type Activated =
    | { readonly ok: true; readonly skill: Skill; readonly text: string }
    | { readonly ok: false; readonly why: "unknown" | "untrusted"; readonly message: string; readonly hint?: string };

export interface SkillCatalogue {
    /** By name. */
    readonly skills: readonly ListedSkill[];
    readonly warnings: readonly SkillWarning[];
    /** What a model is shown of what may be activated: a line for each, name and description. Empty where there is none. */
    readonly overview: string;
    /** The body of a skill. */
    activate(name: string): Activated;
    /** A file beside the body, as text, by its path from the skill's folder. Null where it has none, or it is not what was listed. */
    file(name: string, path: string): string | null;
}

export interface CatalogueOptions {
    /** Absolute folder of the project; absent: the user's skills alone. */
    readonly project?: string;
    readonly env: Environment;
    /** The person trusts what is found for this time. `REMIT_TRUST=1` says the same. */
    readonly trust?: boolean;
}

/** Folders that are looked through, in the order in which they count. */
export function skillFolders({ project, env }: CatalogueOptions): readonly { readonly scope: SkillScope; readonly path: string }[] {
    const own = project === undefined ? [] : [join(project, ".remit/skills"), join(project, ".agents/skills")];
    const user = [join(configFolder(env), "skills"), join(homeOf(env), ".agents/skills")];
    return [
        // a project that is the user's home has no skills but the user's
        ...own.filter((path) => !user.includes(path)).map((path) => ({ scope: "project" as const, path })),
        ...user.map((path) => ({ scope: "user" as const, path })),
    ];
}

export function skillCatalogue(options: CatalogueOptions): SkillCatalogue {
    const env = options.env;
    const always = options.trust === true || env.REMIT_TRUST === "1";
    const warnings: SkillWarning[] = [];
    const known = new Map<string, ListedSkill>();
    const looked = { folders: 0, seen: new Set<string>() };
    for (const { scope, path } of skillFolders(options))
        for (const folder of foldersWithSkills(path, looked, warnings)) {
            const { skill, problems } = readSkill(folder);
            for (const one of problems.filter(({ level }) => level !== "advice"))
                warnings.push({ place: folder, message: problemText(one) });
            if (skill === null) continue;
            const first = known.get(skill.name);
            if (first !== undefined) {
                warnings.push({ place: folder, message: `'${skill.name}' is already the name of ${first.skill.folder}, which counts` });
                continue;
            }
            const trust = scope === "user" || always ? "trusted" : (skillTrust(skill, env)?.state ?? "unknown");
            known.set(skill.name, { scope, skill, trust });
        }
    const skills = [...known.values()].sort((a, b) => byUnits(a.skill.name, b.skill.name));

    return {
        skills,
        warnings,
        overview: skills
            .filter((one) => one.trust === "trusted")
            .map(({ skill }) => `- ${skill.name}: ${skill.description.replace(/\s+/g, " ")}\n`)
            .join(""),
        activate: (name) => {
            const one = known.get(name);
            if (one === undefined) return { ok: false, why: "unknown", message: `there is no skill '${name}'` };
            if (one.trust === "trusted") return { ok: true, skill: one.skill, text: one.skill.body };
            const why = one.trust === "changed" ? "has changed since it was trusted" : "came with the project and is not trusted";
            return { ok: false, why: "untrusted", message: `the skill '${name}' ${why}`, hint: "read it, then: remit trust" };
        },
        file: (name, path) => {
            const one = known.get(name);
            const listed = one?.skill.files.find((file) => file.path === path);
            if (one === undefined || one.trust !== "trusted" || listed === undefined || one.skill.folder === null) return null;
            const full = join(one.skill.folder, path);
            if (!existsSync(full) || !isInside(realpathSync(full), one.skill.folder)) return null;
            const bytes = readFileSync(full);
            return sha256Of(bytes) === listed.sha256 ? bytes.toString("utf8") : null;
        },
    };
}

function foldersWithSkills(root: string, looked: { folders: number; readonly seen: Set<string> }, warnings: SkillWarning[]): string[] {
    const found: string[] = [];
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return found;
    const real = realpathSync(root);
    let full = false;
    const walk = (at: string, depth: number): void => {
        if (full) return;
        if (++looked.folders > SKILL_BOUNDS.scanFolders) {
            full = true;
            warnings.push({ place: root, message: `holds more than ${SKILL_BOUNDS.scanFolders} folders; the rest was not looked at` });
            return;
        }
        let names: string[];
        try {
            names = readdirSync(at).sort(byUnits);
        } catch (error) {
            warnings.push({ place: at, message: `cannot be read: ${systemWords(error)}` });
            return;
        }
        if (depth > 0 && (names.includes("SKILL.md") || names.includes("skill.md"))) {
            found.push(at);
            return;
        }
        for (const name of names) {
            if (name === "node_modules" || name === ".git") continue;
            const path = folderAt(join(at, name), real, warnings);
            if (path === null || looked.seen.has(path)) continue;
            looked.seen.add(path);
            if (depth < SKILL_BOUNDS.scanDepth) walk(path, depth + 1);
            else warnings.push({ place: path, message: `is more than ${SKILL_BOUNDS.scanDepth} folders deep and was not looked at` });
        }
    };
    looked.seen.add(real);
    walk(real, 0);
    return found;
}

/** A folder, by its own path where it is none of a link; null for everything else. */
function folderAt(path: string, root: string, warnings: SkillWarning[]): string | null {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) return path;
    if (stat?.isSymbolicLink() !== true) return null;
    let real: string;
    try {
        real = realpathSync(path);
    } catch {
        // A link that leads nowhere, or in a circle.
        return null;
    }
    if (!statSync(real).isDirectory()) return null;
    if (isInside(real, root)) return real;
    warnings.push({ place: path, message: "is a link that leads out of the folder of skills; it was not followed" });
    return null;
}
