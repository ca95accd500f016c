/**
 * Checking a file with everything it imports, and with what its project says of authority, for tools that want all that was found instead of a
 * program.
 *
 * Boundary: reads files and hands them to the language; never throws for what is wrong in a program.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CheckedProgram, type Descriptions, type Diagnostic, check, lower, type Program, type Project, source } from "@remit/language";
import { agentSlips, serverSlips } from "../config/agents.ts";
import type { Config } from "../config/config.ts";
import { checkPolicy, slipsIn } from "../config/policy.ts";
import { settingOf, surroundingsOf } from "../config/setting.ts";
import type { PinnedTools } from "../lock/said.ts";
import { allowedBy, readTree } from "./compile.ts";
import { knownSecrets } from "../secret/known.ts";
import type { HostOptions } from "../run/setup.ts";
import { noEntry } from "./entry.ts";
import { refuseProgram } from "./secrets.ts";
import { type ImportProblem, textProblems } from "./texts.ts";
import { findRoot, type ProgramTree, programTree } from "./tree.ts";

export interface CheckedFile {
    readonly checked: CheckedProgram;
    /** Of all files, by file and place. */
    readonly diagnostics: readonly Diagnostic[];
    /** Texts and absolute paths of the files by name. */
    readonly texts: ReadonlyMap<string, string>;
    readonly paths: ReadonlyMap<string, string>;
    /** Null where something other than what it does with authority is wrong with it. */
    readonly form: Program | null;
    /** Whose words the descriptions of its tools are. */
    readonly descriptions: () => Promise<Descriptions>;
    /** What the project says besides; null where it says nothing. */
    readonly project: Project | null;
    /** Names that are nearly known ones, of the project's policy in this program and of agents, and pinned tools whose calls were not checked. A sentence each. */
    readonly slips: readonly string[];
}

export interface CheckFileOptions extends Pick<HostOptions, "process" | "env" | "registry"> {
    readonly root?: string;
    readonly grants?: readonly string[];
    readonly workspace?: string;
    readonly trust?: boolean;
}

/** Errors about what a program does with authority, which a policy can be the cause of. */
const OF_AUTHORITY: ReadonlySet<string> = new Set(["FLOW_REFUSED", "REMIT_DENIED", "DELEGATE_DENIED", "ENDORSE_DENIED"]);

/** Throws `RemitError` only where the file itself, or the project's configuration, cannot be read, where the file holds a known secret, or where its policy names what the program has not. */
export async function checkFile(path: string, options: CheckFileOptions = {}): Promise<CheckedFile> {
    const here = surroundingsOf(options);
    const full = resolve(here.cwd, path);
    const tree = programTree(resolve(here.cwd, options.root ?? findRoot(full)), options.grants);
    const main = tree.read(full);
    if (!main.ok) throw noEntry(main, full, path);
    const { config } = await settingOf(full, options);
    const project = projectOf(config);
    const entry = { file: tree.nameOf(main.path), text: main.text, secrets: knownSecrets(here.env, config) };
    const pinned = await pinnedOf(tree.root, entry.file);
    const allowTool = allowedBy(config, tree.root, here.env);
    const read = readTree(tree, entry, { allowTool, verbs: options.registry?.verbs, pinned: pinned?.describe });
    const checked = check(read, { project });
    const isSound = checked.diagnostics.every((one) => one.severity !== "error" || OF_AUTHORITY.has(one.code));
    const form = isSound ? lower(checked) : null;
    if (form !== null) refuseProgram(form, entry.secrets);
    if (config.policy !== null && form !== null) checkPolicy(form, config.policy);
    return {
        checked,
        diagnostics: form === null ? checked.diagnostics : [...checked.diagnostics, ...(await importFindings(form, tree, checked))],
        texts: new Map([...checked.files].map(([name, file]) => [name, file.source.text])),
        paths: new Map([...checked.files.keys()].map((name) => [name, tree.pathOf(name, null)])),
        form,
        descriptions: async () => (await import("../lock/tools.ts")).descriptionsOf(tree.root, entry.file),
        project,
        slips: [
            ...(pinned?.missing ?? []),
            ...(form === null
                ? []
                : [
                      ...agentSlips(form, config),
                      ...serverSlips(form, config),
                      ...(config.policy === null ? [] : slipsIn(form, config.policy)),
                  ]),
        ],
    };
}

/** A project without a lock does not load what reads it. */
async function pinnedOf(root: string, file: string): Promise<PinnedTools | null> {
    return root !== "" && existsSync(join(root, "remit.lock")) ? (await import("../lock/said.ts")).pinnedTools(root, file) : null;
}

/** What a run would refuse of the files and skills (K16) that the program imports, and what its stubs would fail with, at the line of the import. */
async function importFindings(program: Program, tree: ProgramTree, { files }: CheckedProgram): Promise<Diagnostic[]> {
    const found = [...textProblems(program, tree), ...(await skillsRefused(program, tree)), ...(await stubsRefused(program, tree))];
    return found.flatMap(({ file, name, error }) => {
        const at = files.get(file)?.items.find((one) => one.kind === "import" && one.name.text === name);
        if (at?.kind !== "import") return [];
        const { message, hint } = error.failure;
        const said = { message, file, range: at.uri.range, ...(hint === undefined ? {} : { hint }) };
        return [{ code: "INVALID_IMPORT_URI", severity: "error", ...said }];
    });
}

/** A program without skills does not load what reads them. */
async function skillsRefused(program: Program, tree: ProgramTree): Promise<readonly ImportProblem[]> {
    if (!program.files.some(({ imports }) => imports.some(({ what }) => what === "skill"))) return [];
    const { skillProblems } = await import("../skill/imports.ts");
    return skillProblems(program, tree);
}

/** A program without stubs does not load what knows them. */
async function stubsRefused(program: Program, tree: ProgramTree): Promise<readonly ImportProblem[]> {
    if (!program.files.some(({ imports }) => imports.some(({ what, uri }) => what === "agent" && uri.startsWith("stub:")))) return [];
    const { stubProblems } = await import("../agent/stub-problems.ts");
    return stubProblems(program, tree);
}

function projectOf({ policy, files }: Config): Project | null {
    if (policy === null) return null;
    const said = files.filter((one) => one.policy !== null);
    return { policy, sources: new Map(said.map(({ name, path }) => [name, source(readFileSync(path, "utf8"), name)])) };
}
