/** `remit skills`: skills of the project and the user, one of them, or whether a folder is a valid one. */
import { here } from "../here.ts";
import { findRoot, problemText, skillCatalogue, validateSkill } from "@remit/host";
import type { Json } from "@remit/language";
import { resolve } from "node:path";
import { counted, EXIT, paint, plain, plainLine, print, printJson, say, UsageError } from "../io.ts";

export default async function skills(args: string[], options: Record<string, unknown>): Promise<number> {
    const [what = "list", subject, ...rest] = args;
    if (rest.length > 0) throw new UsageError(`${what} takes one argument`);
    if (what === "validate") return validate(subject ?? ".", options);
    if (what !== "list" && what !== "show")
        throw new UsageError(`there is no remit skills ${what}`, "known are list, show NAME, validate DIR");
    const found = skillCatalogue({ env: here().env, project: findRoot(resolve("x")) });
    if (what === "show") {
        if (subject === undefined) throw new UsageError("show takes the name of a skill", "remit skills lists them");
        return show(found, subject, options);
    }
    if (subject !== undefined) throw new UsageError("list takes no argument");
    const listed = found.skills.map(({ scope, trust, skill: { name, description, sha256, folder } }) => ({
        name,
        description,
        scope,
        trust,
        sha256,
        folder,
    }));
    if (options["json"]) {
        printJson({ skills: listed, warnings: found.warnings } as unknown as Json);
        return EXIT.ok;
    }
    const colour = paint(process.stdout);
    for (const { name, description, scope, trust } of listed) {
        const state =
            trust === "trusted" ? "" : colour("yellow", `  ${trust === "changed" ? "changed since it was trusted" : "not trusted"}`);
        print(`${colour("bold", plainLine(name))}  ${scope}${state}\n  ${plainLine(description)}`);
    }
    if (listed.length === 0) say("No skills. They are looked for in .remit/skills, .agents/skills and ~/.agents/skills.");
    for (const { place, message } of found.warnings)
        say(`${paint(process.stderr)("yellow", "warning")}: ${plainLine(`${place} ${message}`)}`);
    return EXIT.ok;
}

function show(found: ReturnType<typeof skillCatalogue>, name: string, options: Record<string, unknown>): number {
    const one = found.skills.find(({ skill }) => skill.name === name);
    if (one === undefined) throw new UsageError(`there is no skill '${name}'`, "remit skills lists them");
    const { skill, trust, scope } = one;
    if (options["json"]) {
        printJson({ ...skill, scope, trust } as unknown as Json);
        return EXIT.ok;
    }
    const head = [
        `${skill.name}  ${scope}  ${trust}`,
        plainLine(skill.description),
        `sha256 ${skill.sha256}`,
        ...(skill.folder === null ? [] : [plainLine(skill.folder)]),
        ...skill.files.map((file) => `  ${plainLine(file.path)}  ${counted(file.bytes, "byte")}`),
    ];
    print(`${head.join("\n")}\n\n${plain(skill.body)}`);
    return EXIT.ok;
}

function validate(folder: string, options: Record<string, unknown>): number {
    const problems = validateSkill(folder);
    const over = problems.filter(({ level }) => level !== "advice");
    if (options["json"]) printJson(problems as unknown as Json);
    else {
        for (const one of problems) print(plainLine(`${one.level === "advice" ? "advice" : "error"}: ${problemText(one)}`));
        if (over.length === 0) print(plainLine(`${folder} is a valid skill`));
    }
    return over.length === 0 ? EXIT.ok : EXIT.failed;
}
