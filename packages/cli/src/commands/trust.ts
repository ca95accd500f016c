/** `remit trust`: whether a project's configuration may start commands, load modules and choose models, and its skills speak to models and its Riffs run. */
import { here } from "../here.ts";
import { resolve } from "node:path";
import {
    distrust,
    distrustSkill,
    findRoot,
    listRiffs,
    loadConfig,
    skillCatalogue,
    skillTrust,
    trustSkill,
    trust as trustNow,
    trustState,
} from "@remit/host";
import { EXIT, paint, plain, print, safeJson, say, UsageError } from "../io.ts";
import { isPersonThere, prompted } from "../prompts.ts";

export default async function trust(args: string[], options: Record<string, unknown>): Promise<number> {
    const folder = resolve(args[0] ?? ".");
    const { env } = here();
    const { files } = loadConfig({ env, from: folder, folder });
    // what counts only with trust; the person's own configuration needs none
    const asking = files.filter((file) => file.needs.length > 0);
    const skills = skillCatalogue({ env, project: findRoot(resolve(folder, "x")) }).skills.filter(({ scope }) => scope === "project");
    const found = listRiffs({ workspace: findRoot(resolve(folder, "x")), trust: false });
    // a Riff that is one of these skills is trusted as that
    const riffs = [...found.riffs, ...found.withheld].flatMap(({ name, description, language, trust: mark }) =>
        mark === null || skills.some(({ skill }) => skill.folder === mark.path) ? [] : [{ name, description, language, mark }],
    );
    if (asking.length === 0 && skills.length === 0 && riffs.length === 0) {
        say(`${args[0] ?? "This folder"} has no configuration that needs trust.`);
        return EXIT.ok;
    }
    const colour = paint(process.stdout);
    for (const file of asking) {
        print(`${plain(file.path)}: ${file.needs.map(plain).join(", ")}`);
        for (const [name, server] of Object.entries(file.content.mcpServers ?? {})) print(`  starts ${plain(name)}: ${safeJson(server)}`);
        for (const [name, agent] of Object.entries(file.content.agents ?? {}))
            print(`  starts the agent ${plain(name)}: ${safeJson(agent)}`);
        if (options["show"]) print(`  ${trustState(file.path, env).state}`);
        else if (options["revoke"]) print(distrust(file.path, env) ? "  no longer trusted" : "  was not trusted");
        else {
            if (options["yes"] !== true && !(await agreed(file.path))) throw new UsageError("not trusted");
            trustNow(file.path, env, file.trust);
            print(`  ${colour("green", "trusted")} as it is now; a change of the file ends it`);
        }
    }
    for (const { skill } of skills) {
        print(
            `skill ${plain(skill.name)}: ${plain(skill.description)}\n  ${plain(skill.folder ?? "")}, ${skill.files.length === 1 ? "1 file" : `${skill.files.length} files`}`,
        );
        if (options["show"]) print(`  ${skillTrust(skill, env)?.state}`);
        else if (options["revoke"]) print(distrustSkill(skill, env) ? "  no longer trusted" : "  was not trusted");
        else {
            if (options["yes"] !== true && !(await agreed(skill.folder ?? skill.name))) throw new UsageError("not trusted");
            trustSkill(skill, env);
            print(`  ${colour("green", "trusted")} as it is now; a change of any of its files ends it`);
        }
    }
    for (const { name, description, language, mark } of riffs) {
        print(`Riff ${plain(name)}${description === "" ? "" : `: ${plain(description)}`}\n  ${plain(mark.path)}, ${language}`);
        if (options["show"]) print(`  ${mark.state}`);
        else if (options["revoke"]) print(distrust(mark.path, env) ? "  no longer trusted" : "  was not trusted");
        else {
            if (options["yes"] !== true && !(await agreed(mark.path))) throw new UsageError("not trusted");
            trustNow(mark.path, env, mark);
            print(`  ${colour("green", "trusted")} as it is now; a change of it ends it`);
        }
    }
    return EXIT.ok;
}

async function agreed(path: string): Promise<boolean> {
    if (!isPersonThere())
        throw new UsageError("no person is here to be asked, so nothing is trusted", "read what the file wants, then: remit trust --yes");
    const message = `Trust ${plain(path)} as it is now?`;
    return (await prompted(({ confirm }, around) => confirm({ message, initialValue: false, ...around }))) === true;
}
