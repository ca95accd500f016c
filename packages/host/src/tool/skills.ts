/**
 * `skills:`: the skills of the project and of the user, given step by step (Agent Skills, agentskills.io).
 *
 * Boundary: from the catalogue (`skill/catalogue.ts`) to two methods. The holder of the tool sees in its description what may be activated, name and
 * description; `activate` gives the body of one, `file` what lies beside it.
 *
 * SK13: one that came with the project and is not trusted as it is now is neither in the description nor given, whatever it is called by.
 * SK14: what is given says the digest of the skill, so the ledger says which text a model was given.
 */
import { type SkillCatalogue, skillCatalogue } from "../skill/catalogue.ts";
import { toolOf } from "./args.ts";
import { type Open, ToolFail } from "./tool.ts";

const name = { type: "text", description: "name of the skill", needed: true } as const;
const path = { type: "text", description: "path of a file beside its text, from the skill's folder", needed: true } as const;
const METHODS = {
    activate: { description: "Gives the text of a skill: how something is done here.", fields: { name }, readOnly: true },
    file: { description: "Gives a file of a skill that its text names.", fields: { name, path }, readOnly: true },
} as const;
/** Longest description of a method, UTF-16 units. */
const MAX_OVERVIEW = 32_768;
/** Longest file that is given. */
const MAX_FILE = 1024 * 1024;

export const openSkills: Open = (_uri, _about, context) => {
    const catalogue = (): SkillCatalogue =>
        skillCatalogue({
            ...(context.root === "" ? { project: context.workspace } : { project: context.root }),
            env: context.env,
            trust: context.config.always === true,
        });
    const tool = toolOf(METHODS, (method, given) => {
        const { name, path } = given as { name: string; path: string };
        const found = catalogue();
        const activated = found.activate(name);
        if (!activated.ok)
            throw new ToolFail(activated.message, {
                kind: activated.why === "untrusted" ? "denied" : "value",
                hint: activated.hint ?? namesOf(found),
            });
        const { skill, text } = activated;
        const told = { name: skill.name, sha256: skill.sha256 };
        const files = skill.files.map((one) => one.path).filter((file) => file !== "SKILL.md");
        if (method === "activate") return { ...told, text, files };
        const content = found.file(name, path);
        if (content === null)
            throw new ToolFail(`the skill '${name}' has no file ${path}`, {
                kind: "value",
                hint: `it has ${files.join(", ") || "none"}`,
            });
        if (content.length > MAX_FILE) throw new ToolFail(`${path} has ${content.length} characters; at most ${MAX_FILE} are given`);
        return { ...told, path, content };
    });
    return {
        ...tool,
        methods: () => {
            const { overview } = catalogue();
            const shown = overview.length > MAX_OVERVIEW ? `${overview.slice(0, MAX_OVERVIEW).replace(/[^\n]*$/, "")}- …\n` : overview;
            const says = shown === "" ? "There are none." : `Activate one when what it is for comes up:\n${shown}`;
            return tool.methods().map((one) => (one.name === "activate" ? { ...one, description: `${one.description} ${says}` } : one));
        },
    };
};

function namesOf({ skills }: SkillCatalogue): string {
    const names = skills.filter((one) => one.trust === "trusted").map((one) => one.skill.name);
    return names.length === 0 ? "there are none: remit skills" : `there are ${names.join(", ")}`;
}
