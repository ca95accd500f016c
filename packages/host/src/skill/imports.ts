/**
 * The skills that a program imports, read when it is loaded.
 *
 * Boundary: from `import skill` to what the machine is started with; finding and checking is elsewhere.
 *
 * K16: a skill that is missing, not valid, or outside the program's tree is an error with the site of its import, before anything runs.
 */
import { type Program, type Site, siteAt } from "@remit/language";
import type { ImportProblem } from "../load/texts.ts";
import type { ProgramTree } from "../load/tree.ts";
import { RemitError } from "../failure/error.ts";
import type { ImportedSkill } from "./imported.ts";
import { isSkillLink, type LinkedOptions, loadLinkedSkill } from "./linked.ts";
import { loadSkill, type Skill, SkillError } from "./skill.ts";

/** Throws `RemitError`. */
export async function importedSkills(program: Program, tree: ProgramTree | null, options: LinkedOptions): Promise<ImportedSkill[]> {
    const found: ImportedSkill[] = [];
    for (const [index, form] of program.files.entries())
        for (const one of form.imports) {
            if (one.what !== "skill") continue;
            const { at, name, uri } = one;
            const site = siteAt(form.file, at);
            const skill = await skillOf(uri, form.file, tree, site, options);
            found.push({ place: `${index}/${name}`, file: form.file, name, uri, skill });
        }
    return found;
}

/** What `importedSkills` would refuse of the skills beside the program; linked ones are fetched, which is for a run alone. */
export async function skillProblems(program: Program, tree: ProgramTree): Promise<ImportProblem[]> {
    const found: ImportProblem[] = [];
    for (const { file, imports } of program.files)
        for (const { what, name, uri } of imports) {
            if (what !== "skill" || isSkillLink(uri)) continue;
            try {
                await skillOf(uri, file, tree, null, { cache: "" });
            } catch (error) {
                if (!(error instanceof RemitError)) throw error;
                found.push({ file, name, error });
            }
        }
    return found;
}

async function skillOf(uri: string, file: string, tree: ProgramTree | null, site: Site | null, options: LinkedOptions): Promise<Skill> {
    const refused = (message: string, hint?: string) =>
        new RemitError({ kind: "value", message, site, ...(hint === undefined ? {} : { hint }) });
    try {
        if (isSkillLink(uri)) return await loadLinkedSkill(uri, options);
        if (tree === null) throw refused(`a skill is imported from ${uri}, and this program has no folder`, "load it with a root");
        const path = tree.pathOf(uri, file);
        const shown = tree.nameOf(path) || path;
        if (tree.look(path) === "outside")
            throw refused(`the skill ${shown} is outside the program's tree`, "grant the folder, or link the skill with its digest");
        return loadSkill(path);
    } catch (error) {
        if (!(error instanceof SkillError)) throw error;
        throw refused(
            error.message.replaceAll(tree === null || tree.root === "" ? "\0" : `${tree.root}/`, ""),
            "remit skills validate says more",
        );
    }
}
