/**
 * `remit init`: a small project that runs as it is, without an account; `--from` shows a small agent of another framework beside the same here.
 *
 * INI1: what is there, a link too, is not written over; a file that the disk has no room for is not left cut short, as the next try would keep it.
 */
import { existsSync, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { createModels, makeFolder } from "@remit/host";
import { here } from "../here.ts";
import { EXIT, plain, print, say, UsageError } from "../io.ts";
import { isPersonThere, prompted } from "../prompts.ts";
import { FRAMEWORKS, sideBySide } from "./init-from.ts";
import { modelLine, type ProjectFile, projectOf, type TemplateName, TEMPLATES } from "./init-files.ts";

/** Columns where the output is no terminal. */
const WIDE = 200;

export default async function init(args: string[], options: Record<string, unknown>): Promise<number> {
    if (options["from"] !== undefined) {
        const framework = oneOf("--from", FRAMEWORKS, String(options["from"]));
        print(sideBySide(framework, process.stdout.isTTY === true ? process.stdout.columns : WIDE));
        return EXIT.ok;
    }
    const folder = resolve(args[0] ?? ".");
    if (lstatSync(folder, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`${args[0]} is a file`, "name a new folder");
    const there = existsSync(folder) ? readdirSync(folder).filter((name) => name !== ".git") : [];
    if (there.length > 0 && !options["force"])
        throw new UsageError(
            `${args[0] ?? "this folder"} is not empty`,
            "name a new folder, or use --force (files that are there stay as they are)",
        );
    const given = options["template"];
    const template = given === undefined ? await asked() : oneOf("--template", Object.keys(TEMPLATES) as TemplateName[], String(given));
    if (template === null) return EXIT.cancelled;
    const about = TEMPLATES[template];
    const npm = options["npm"] === true || "npm" in about;
    const { env } = here();
    made(folder, modelLine(projectOf(template, npm), env));
    const models = createModels({ folder });
    try {
        const chosen = await models.choose(null);
        if (chosen.uri === "") say("\nNo model is here yet. One command brings a small one that needs no account: remit models pull local");
        else if (template === "review") say("\nIt needs no model: its agent is a stub, until you name a real one.");
        else say(`\n${plain(chosen.text)}`);
    } finally {
        await models.close();
    }
    const at = relative(process.cwd(), folder);
    const remit = options["npm"] === true ? "npx remit" : "remit";
    const next = [
        ...(at ? [`cd ${at}`] : []),
        ...(npm ? ["npm install"] : []),
        `${remit} run main.remit --input @input.json${template === "research" ? " --trust" : ""}`,
        about.next.replace(/^remit/, remit),
    ];
    print(`\nReady. Now:\n${next.map((line) => `  ${line}`).join("\n")}`);
    return EXIT.ok;
}

/** INI1. */
function made(folder: string, project: readonly ProjectFile[]): void {
    const clash = new Set(project.map((file) => file.path).filter((path) => isThere(join(folder, path))));
    for (const { path, text } of project) {
        if (clash.has(path)) {
            say(`kept ${path}`);
            continue;
        }
        const target = join(folder, path);
        makeFolder(dirname(target));
        try {
            // `wx`: never over a file that appeared meanwhile
            writeFileSync(target, text, { flag: "wx" });
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "EEXIST") rmSync(target, { force: true });
            throw error;
        }
        say(`made ${path}`);
    }
}

function isThere(path: string): boolean {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function oneOf<T extends string>(option: string, offered: readonly T[], said: string): T {
    const found = offered.find((one) => one === said);
    if (found === undefined) throw new UsageError(`${option} takes ${offered.join(", ")}; not ${plain(said)}`);
    return found;
}

/** What the person wants to build; the first template where no person is at a terminal, null where the person gave up. */
async function asked(): Promise<TemplateName | null> {
    if (!isPersonThere()) return "start";
    const options = Object.entries(TEMPLATES).map(([value, { about }]) => ({ value: value as TemplateName, label: about }));
    return prompted<TemplateName>(({ select }, around) => select({ message: "What do you want to build?", options, ...around }));
}
