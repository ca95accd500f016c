/** `remit init`: a small project that runs as it is, without an account. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { makeFolder } from "@remit/host";
import { EXIT, print, say, UsageError } from "../io.ts";
import { AGENT_PROJECT, PROJECT } from "./init-files.ts";

export default async function init(args: string[], options: Record<string, unknown>): Promise<number> {
    const folder = resolve(args[0] ?? ".");
    const project = options["agent"] === true ? AGENT_PROJECT : PROJECT;
    const there = existsSync(folder) ? readdirSync(folder).filter((name) => name !== ".git") : [];
    const clash = project.map((file) => file.path).filter((path) => existsSync(join(folder, path)));
    if (there.length > 0 && !options["force"])
        throw new UsageError(
            `${args[0] ?? "this folder"} is not empty`,
            "name a new folder, or use --force (files that are there stay as they are)",
        );
    for (const { path, text } of project) {
        if (clash.includes(path)) {
            say(`kept ${path}`);
            continue;
        }
        const target = join(folder, path);
        makeFolder(dirname(target));
        // `wx`: never over a file that appeared meanwhile
        writeFileSync(target, text, { flag: "wx" });
        say(`made ${path}`);
    }
    const at = relative(process.cwd(), folder);
    print(
        `\nReady. Now:\n${at ? `  cd ${at}\n` : ""}  remit run main.remit --input @input.json\n  ${project === PROJECT ? "remit explain main.remit" : "remit trace last"}`,
    );
    return EXIT.ok;
}
