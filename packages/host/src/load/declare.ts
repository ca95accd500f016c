/**
 * Declaration files of programs: which programs there are, where their declarations stand, what stands in them.
 *
 * Boundary: reads and checks programs, writes nothing.
 *
 * DCF1: a program's path, and so its type in `load`, starts from the nearest folder with a `package.json`: that is where npm starts what loads it.
 * DCF2: no file that a person wrote is a declaration: neither a program nor a file without the head that every declaration has.
 * DCF4: a linked folder, which may have come with a project of another author, leads no declaration out of the project.
 * DCF3: in a folder of their own, declarations have the layout of that folder's project, which may hold several packages.
 */
import { existsSync, globSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { declarationsOf, declaredOf, type Diagnostic } from "@remit/language";
import { RemitError } from "../failure/error.ts";
import { type CheckedFile, checkFile, type CheckFileOptions } from "./check.ts";

export interface DeclareFilesOptions extends CheckFileOptions {
    /** Folder for the declarations, with the layout of the project; default: each beside its program. */
    readonly out?: string;
}

export interface DeclaredFile {
    /** Absolute. */
    readonly file: string;
    /** Absolute: `triage.d.remit.ts` for `triage.remit`, as TypeScript names the declarations of other files. */
    readonly target: string;
    /** Null where the program has errors. */
    readonly text: string | null;
    readonly checked: CheckedFile;
}

const PROGRAMS = "**/*.{remit,as}";
const DECLARATIONS = "**/*.d.{remit,as}.ts";
/** How every declaration begins, and nothing else. */
const HEAD = "// Written by `remit types` ";

const ENDING = /\.(remit|as)$/;

/** The programs that a list of files and folders names, absolute and sorted. Throws `RemitError` where a path is not there, or is no program (DCF2). */
export function programsIn(paths: readonly string[], cwd: string): string[] {
    const found = paths.flatMap((path) => {
        const full = resolve(cwd, path);
        const stat = statSync(full, { throwIfNoEntry: false });
        if (stat === undefined) throw new RemitError({ kind: "value", message: `there is no file or folder ${path}` });
        if (stat.isDirectory()) return listed(full, PROGRAMS);
        if (!ENDING.test(full))
            throw new RemitError({ kind: "value", message: `${path} does not end with .remit or .as: it has no declaration` });
        return [full];
    });
    return [...new Set(found)].sort();
}

/** Declarations in these folders whose program is gone. */
export function orphansIn(paths: readonly string[], cwd: string, out?: string): string[] {
    const folders = (out === undefined ? paths : [out])
        .map((one) => resolve(cwd, one))
        .filter((one) => statSync(one, { throwIfNoEntry: false })?.isDirectory());
    const found = folders.flatMap((folder) => listed(folder, DECLARATIONS)).filter((target) => lstatSync(target).isFile());
    for (const target of found) staysIn(homeOf(target, cwd, out ?? dirname(target)), target);
    return [...new Set(found)].filter((target) => {
        const base = out === undefined ? target : join(layoutOf(out, cwd), relative(resolve(cwd, out), target));
        return !existsSync(base.replace(/\.d\.(remit|as)\.ts$/, ".$1")) && isDeclaration(readFileSync(target, "utf8"));
    });
}

/** Whether the text of a file was written by `remit types` (DCF2). */
export function isDeclaration(text: string): boolean {
    return text.startsWith(HEAD);
}

function listed(folder: string, pattern: string): string[] {
    const hidden = (name: string): boolean => /(?:^|[\\/])(?:node_modules|\.[^\\/]+)$/.test(name);
    const found = globSync(pattern, { cwd: folder, exclude: hidden }).map((name) => join(folder, name));
    return found.filter((path) => !lstatSync(path).isDirectory());
}

/** Checks a program and makes its declarations. Throws `RemitError` where it cannot be read, or has no place in `out` (DCF3). */
export async function declareFile(file: string, options: DeclareFilesOptions & { readonly cwd: string }): Promise<DeclaredFile> {
    const { out, cwd, ...how } = options;
    const full = resolve(cwd, file);
    const project = projectOf(dirname(full));
    const path = relative(project, full).split(sep).join("/");
    const checked = await checkFile(full, how);
    const place = out === undefined ? full : join(resolve(cwd, out), within(layoutOf(out, cwd), full));
    const target = place.replace(ENDING, ".d.$1.ts");
    staysIn(homeOf(target, cwd, out ?? dirname(full)), target);
    const isSound = checked.form !== null && checked.diagnostics.every((one: Diagnostic) => one.severity !== "error");
    return { file: full, target, text: isSound ? declarationsOf(declaredOf(checked.checked), { path }) : null, checked };
}

/** DCF1. Where there is none upward, the folder itself. */
function projectOf(folder: string): string {
    return packageOver(folder) ?? folder;
}

/** DCF3. A folder outside of all packages is laid out as the project that the command is typed in. */
function layoutOf(out: string, cwd: string): string {
    return packageOver(resolve(cwd, out)) ?? projectOf(cwd);
}

function within(folder: string, file: string): string {
    const path = relative(folder, file);
    if (leaves(folder, file))
        throw new RemitError({ kind: "value", message: `${file} is outside of ${folder}, whose layout the declarations have` });
    return path;
}

/** The folder that declarations stay in: the project that the command is typed in, and for a place outside of it the folder that was named. */
function homeOf(target: string, cwd: string, named: string): string {
    const project = projectOf(cwd);
    return leaves(project, target) ? resolve(cwd, named) : project;
}

function leaves(folder: string, path: string): boolean {
    const way = relative(folder, path);
    return way.split(sep)[0] === ".." || isAbsolute(way);
}

/** DCF4. What is not there yet leads nowhere. */
function staysIn(home: string, target: string): void {
    let folder = dirname(target);
    while (!existsSync(folder)) folder = dirname(folder);
    if (!existsSync(home) || !leaves(realpathSync(home), realpathSync(folder))) return;
    const message = `${target} lies behind a link that leads out of ${home}, and is neither written nor removed`;
    throw new RemitError({ kind: "value", message, hint: "name the folder that the link leads to" });
}

function packageOver(folder: string): string | null {
    for (let at = folder; ; at = dirname(at)) {
        if (existsSync(join(at, "package.json"))) return at;
        if (at === dirname(at)) return null;
    }
}
