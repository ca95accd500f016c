/** `remit types`: declarations of programs, so that TypeScript knows what they take and give. */
import { lstatSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, relative } from "node:path";
import { declareFile, isDeclaration, makeFolder, orphansIn, programsIn } from "@remit/host";
import { source } from "@remit/language";
import { showDiagnostics } from "../diagnostics.ts";
import { eachFile, writeWhole } from "../files.ts";
import { counted, EXIT, plain, say, UsageError } from "../io.ts";

export default async function types(args: string[], options: Record<string, unknown>): Promise<number> {
    const cwd = process.cwd();
    const check = options["check"] === true;
    const out = options["out"] === undefined ? {} : { out: String(options["out"]) };
    const paths = args.length === 0 ? ["."] : args;
    const programs = programsIn(paths, cwd);
    if (programs.length === 0) throw new UsageError("there is no program here", "name files or folders: remit types src");
    const shown = (path: string): string => plain(relative(cwd, path) || path);
    let stale = 0;
    let broken = false;
    const unread = await eachFile(programs, async (file) => {
        const { target, text, checked } = await declareFile(file, { ...out, cwd });
        if (text === null) {
            const errors = checked.diagnostics.filter((one) => one.severity === "error");
            showDiagnostics(errors, new Map([...checked.texts].map(([name, one]) => [name, source(one, name)])));
            broken = true;
            return;
        }
        if (isThere(target, text)) return;
        stale++;
        if (check) say(`${shown(target)}: not up to date`);
        else {
            makeFolder(dirname(target));
            writeWhole(target, text);
            say(`${shown(target)}: written`);
        }
    });
    for (const target of orphansIn(paths, cwd, out.out)) {
        stale++;
        if (!check) rmSync(target);
        say(`${shown(target)}: ${check ? "its program is gone" : "removed, its program is gone"}`);
    }
    if (broken || unread) return EXIT.failed;
    if (check && stale > 0) {
        say("write them with: remit types");
        return EXIT.failed;
    }
    if (stale === 0) say(`the types of ${counted(programs.length, "program")} are up to date`);
    return EXIT.ok;
}

/** Whether the declaration stands there. Throws `UsageError` for what is there and was not written by this command; a link is refused when it is written. */
function isThere(target: string, text: string): boolean {
    const stat = statSync(target, { throwIfNoEntry: false });
    const before = stat?.isFile() ? readFileSync(target, "utf8") : null;
    if (stat === undefined || before === text || lstatSync(target).isSymbolicLink()) return before === text;
    if (before === null || !isDeclaration(before))
        throw new UsageError(`${plain(target)} was not written by remit types, and stays as it is`, "rename it, or write elsewhere: --out");
    return false;
}
