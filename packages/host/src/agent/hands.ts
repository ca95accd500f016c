/**
 * From what an agent wants to do with its own hands to a use of the program's tools.
 *
 * Boundary: finds the hand and the call that stand for it; whether that may be is the machine's (`PerformIO.may`, `PerformIO.use`).
 *
 * HA1: what no hand stands for is null, and refused. A use says what would be done: the path, the command, the URL, the text that a file will hold.
 * HA2: a path is held against the roots of the `file:` hands in its own text; where links lead is kept by the tool's own jail, and no root is
 *     outside the workspace.
 * HA3: a command is one in a folder, the agent's own where it names none: it is what the use says, and a folder outside that of the `shell:` hand,
 *     or an environment, is nothing that the tool takes.
 */
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Json } from "@remit/language";
import type { AgentHand } from "@remit/machine";
import { shellWord } from "../process/word.ts";
import type { AgentUse } from "../run/host.ts";
import { realOf, rootOf } from "../tool/root.ts";
import { type Edit, shownEdits, textBefore } from "./edits.ts";
import { objectOf } from "./given.ts";

/** A hand that reaches files, and where they are. */
export interface FileHand {
    readonly hand: AgentHand;
    /** Absolute, as it is written. */
    readonly root: string;
    /** The same, links followed. */
    readonly real: string;
}

/** What an agent asks about, as far as it said. */
export interface Wanted {
    readonly name: string;
    readonly kind?: string | undefined;
    readonly title?: string | undefined;
    readonly input?: unknown;
    readonly locations?: readonly string[] | undefined;
    readonly content?: unknown;
}

/** `workspace`: absolute folder of `file://workspace`. Hands whose folder is not there, or is a link out of the workspace, are left out. */
export function fileHands(hands: readonly AgentHand[], workspace: string): FileHand[] {
    return hands.flatMap((hand) => {
        const root = rootOf(hand.uri, workspace);
        return root === null ? [] : [{ hand, ...root }];
    });
}

/** The gate of a method of a hand; null where it may not be used at all. */
export function gateOf(hand: AgentHand, method: string): { readonly gate: "may" | "ask"; readonly whole: boolean | undefined } | null {
    const own = hand.methods.find((one) => one.method === method) ?? hand.methods.find((one) => one.method === null);
    return own === undefined ? null : { gate: own.gate, whole: own.whole };
}

/** The innermost file hand that has the method and holds the path; the path as its tool takes it. */
export function fileUse(
    files: readonly FileHand[],
    method: string,
    path: string,
    cwd: string,
): { readonly tool: string; readonly path: string; readonly of: FileHand } | null {
    const full = isAbsolute(path) ? resolve(path) : resolve(cwd, path);
    let best: { readonly of: FileHand; readonly path: string; readonly depth: number } | null = null;
    for (const of of files) {
        const { hand, root, real } = of;
        if (gateOf(hand, method) === null) continue;
        for (const base of [root, real]) {
            const from = relative(base, full);
            if (from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from)) continue;
            if (best === null || base.length > best.depth)
                best = { of, path: from === "" ? "." : from.split(sep).join("/"), depth: base.length };
        }
    }
    return best === null ? null : { tool: best.of.hand.tool, path: best.path, of: best.of };
}

/** Where an agent stands: what it was given, and its folder and the program's, absolute. */
export interface Standing {
    readonly hands: readonly AgentHand[];
    readonly files: readonly FileHand[];
    readonly cwd: string;
    readonly workspace: string;
}

/** The uses that a call of the agent's own tools stands for; all of them must be allowed. Null: no hand is there for it. */
export function usesOf(wanted: Wanted, { hands, files, cwd, workspace }: Standing): AgentUse[] | null {
    const served = mcpUse(wanted, hands);
    if (served !== null) return [served];
    switch (wanted.kind) {
        case "read":
            return each(pathsOf(wanted), (path) => reading(files, path, cwd, wanted));
        case "search":
            return each(pathsOf(wanted, "."), (path) => reading(files, path, cwd, wanted));
        case "edit":
            return each(pathsOf(wanted), (path) => writing(files, path, cwd, wanted));
        case "execute": {
            const named = folderOf(wanted);
            const folder = named === null ? null : shellFolder(hands, workspace, resolve(cwd, named));
            if (folder === null || hasEnvironment(wanted)) return null;
            const use = commandUse(hands, commandOf(wanted), folder === "." ? undefined : folder, wanted.title);
            return use === null ? null : [use];
        }
        case "fetch": {
            const use = fetching(wanted, hands);
            return use === null ? null : [use];
        }
        // Nothing that a tool of a program does: deleting, moving, another mode, whatever else there is.
        default:
            return null;
    }
}

function each(paths: readonly string[], use: (path: string) => AgentUse | null): AgentUse[] | null {
    const uses = paths.map(use);
    return uses.length > 0 && uses.every((one) => one !== null) ? uses : null;
}

function reading(files: readonly FileHand[], path: string, cwd: string, wanted: Wanted): AgentUse | null {
    const found = fileUse(files, "read", path, cwd);
    return found === null ? null : { tool: found.tool, method: "read", args: [{ path: found.path }], ...noteOf(wanted.title) };
}

/** What the file will hold, where the agent shows what it changes (EDI1). Of a file that it may not read, its own pieces alone. */
function writing(files: readonly FileHand[], path: string, cwd: string, wanted: Wanted): AgentUse | null {
    const found = fileUse(files, "write", path, cwd);
    if (found === null) return null;
    const diffs = Array.isArray(wanted.content) ? wanted.content.map(objectOf).filter(({ type }) => type === "diff") : [];
    const edits = diffs.flatMap(({ path: at, oldText, newText }): Edit[] => {
        if (typeof at !== "string" || typeof newText !== "string" || resolve(cwd, at) !== resolve(cwd, path)) return [];
        return [{ old: typeof oldText === "string" ? oldText : undefined, new: newText }];
    });
    const { replace_all: all } = objectOf(wanted.input);
    const before = gateOf(found.of.hand, "read") === null ? undefined : textBefore(found.of.real, found.path);
    const shown = shownEdits(edits, before, all === true);
    return { tool: found.tool, method: "write", args: [{ path: found.path, ...shown }], ...noteOf(wanted.title) };
}

/** Places that a call names: its locations and differences, else what its arguments call a path. */
function pathsOf(wanted: Wanted, none?: string): string[] {
    const diffs = Array.isArray(wanted.content)
        ? wanted.content.map(objectOf).map(({ type, path }) => (type === "diff" ? path : undefined))
        : [];
    const input = objectOf(wanted.input);
    const named = ["path", "file_path", "filePath", "filepath", "abs_path", "absolute_path", "file", "filename", "directory", "dir"].map(
        (name) => input[name],
    );
    const all = [...(wanted.locations ?? []), ...diffs, ...named].filter((path) => typeof path === "string" && path !== "") as string[];
    const paths = [...new Set(all)];
    return paths.length === 0 && none !== undefined ? [none] : paths;
}

function commandOf({ input }: Wanted): string | null {
    const { command, cmd, args } = objectOf(input);
    const said = command ?? cmd;
    if (Array.isArray(said)) return lineOf(said.map(String));
    if (typeof said !== "string" || said === "") return null;
    return Array.isArray(args) ? lineOf([said, ...args.map(String)]) : said;
}

/** What agents call the folder in which a command runs, and its environment. */
const FOLDERS = ["cwd", "workdir", "working_directory", "workingDirectory", "working_dir", "workingDir", "work_dir", "directory", "dir"];
const ENVIRONMENTS = ["env", "environment", "envs", "env_vars", "envVars", "environment_variables", "environmentVariables"];

/** What else a call names than nothing, of these. */
function saidOf({ input }: Wanted, names: readonly string[]): unknown[] {
    const of = objectOf(input);
    return names.flatMap((name) => (Object.hasOwn(of, name) && of[name] !== undefined && of[name] !== null ? [of[name]] : []));
}

/** The folder that a command names, "." where it names none; null where it cannot be told which. */
function folderOf(wanted: Wanted): string | null {
    const [folder = ".", ...more] = new Set(saidOf(wanted, FOLDERS));
    return typeof folder === "string" && more.length === 0 ? folder : null;
}

function hasEnvironment(wanted: Wanted): boolean {
    return saidOf(wanted, ENVIRONMENTS).some((env) => typeof env !== "object" || Object.keys(env as object).length > 0);
}

/** Words as a POSIX shell reads them again. */
export function lineOf(words: readonly string[]): string {
    return words.map(shellWord).join(" ");
}

/** A command by the program's `shell:` tool. `cwd`: relative to the granted folder. */
export function commandUse(
    hands: readonly AgentHand[],
    command: string | null,
    cwd: string | undefined,
    note: string | undefined,
): AgentUse | null {
    const hand = hands.find((one) => one.uri.startsWith("shell:") && gateOf(one, "run") !== null);
    if (hand === undefined || command === null) return null;
    return { tool: hand.tool, method: "run", args: [{ command, ...(cwd === undefined ? {} : { cwd }) }], ...noteOf(note) };
}

/** A folder as the program's `shell:` tool takes it: from the folder of that tool, whatever other folders there are. Null: it is not inside. */
export function shellFolder(hands: readonly AgentHand[], workspace: string, folder: string): string | null {
    const hand = hands.find((one) => one.uri.startsWith("shell:") && gateOf(one, "run") !== null);
    const named = /^shell:(?:\/\/(?=[^/\s]|$))?(\S*)/.exec(hand?.uri ?? "")?.[1];
    if (named === undefined) return null;
    const root = resolve(workspace, named === "workspace" ? "" : named);
    const real = realOf(root);
    return inRoot(root, folder) ?? (real === null ? null : inRoot(real, folder));
}

function fetching({ input, title }: Wanted, hands: readonly AgentHand[]): AgentUse | null {
    const { url, method } = objectOf(input);
    if (typeof url !== "string" || !URL.canParse(url)) return null;
    const verb = typeof method === "string" ? method.toLowerCase() : "get";
    const { origin } = new URL(url);
    const hand = hands.find(
        (one) => /^https?:\/\//.test(one.uri) && URL.canParse(one.uri) && new URL(one.uri).origin === origin && gateOf(one, verb) !== null,
    );
    return hand === undefined ? null : { tool: hand.tool, method: verb, args: [{ url }], ...noteOf(title) };
}

/** A tool of a server that was passed on: agents name it after its server in different ways. */
function mcpUse({ name, title, input }: Wanted, hands: readonly AgentHand[]): AgentUse | null {
    for (const hand of hands) {
        const server = /^mcp:\/\/(.+)$/.exec(hand.uri)?.[1];
        if (server === undefined) continue;
        for (const said of [name, title ?? ""]) {
            const method = ["mcp__%__", "%_", "%__", "%.", "%/", "%-", "%: "]
                .map((form) => form.replace("%", server))
                .find((head) => said.startsWith(head));
            if (method === undefined || gateOf(hand, said.slice(method.length)) === null) continue;
            return { tool: hand.tool, method: said.slice(method.length), args: [(input ?? {}) as Json], ...noteOf(title) };
        }
    }
    return null;
}

function noteOf(note: string | undefined): { readonly note?: string } {
    return note === undefined || note === "" ? {} : { note };
}

/** A folder for the agent inside a granted one, as that one's tool takes it. */
export function inRoot(root: string, path: string): string | null {
    const from = relative(root, path);
    if (from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from)) return null;
    return from === "" ? "." : join(from).split(sep).join("/");
}
