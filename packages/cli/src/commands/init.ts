/** `remit init`: a small project that runs as it is, without an account. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { makeFolder } from "@remit/host";
import { EXIT, print, say, UsageError } from "../io.ts";
import { VERSION } from "../version.ts";
import { AGENT_PROJECT, PROJECT } from "./init-files.ts";

export default async function init(args: string[], options: Record<string, unknown>): Promise<number> {
    const folder = resolve(args[0] ?? ".");
    const base = options["agent"] === true ? AGENT_PROJECT : PROJECT;
    const project = options["npm"] === true ? forNpm(base) : base;
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
    const remit = options["npm"] === true ? "npx remit" : "remit";
    const next = [
        ...(at ? [`cd ${at}`] : []),
        ...(options["npm"] === true ? ["npm install"] : []),
        `${remit} run main.remit --input @input.json`,
        `${remit} ${base === PROJECT ? "explain main.remit" : "trace last"}`,
    ];
    print(`\nReady. Now:\n${next.map((line) => `  ${line}`).join("\n")}`);
    return EXIT.ok;
}

/** The same project as a package of npm's, which brings the command along. */
function forNpm(project: typeof PROJECT): typeof PROJECT {
    const about = { private: true, type: "module", dependencies: { "remit-lang": `^${VERSION}` } };
    return [
        ...project.map(({ path, text }) => ({ path, text: path === ".gitignore" ? `${text}node_modules/\n` : text })),
        { path: "package.json", text: `${JSON.stringify(about, null, 4)}\n` },
    ];
}
