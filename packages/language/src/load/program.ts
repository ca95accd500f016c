/**
 * From an entry file to all files of a program: follows the imports of agents, and looks at where every import points.
 *
 * Boundary: reads through `ProgramFiles` alone and knows no file system. What is inside the files is checked later (`check`).
 *
 * PG1: each file is read and parsed once, whatever imports it.
 * PG2: in `order` a file comes after those it imports; the entry is last. Files in a circle come in the order of reading.
 * PG3: nothing is opened that `resolve` puts outside the tree, and no module is named whose import the allow list does not allow.
 */
import type { Schema } from "../authority/schemas.ts";
import { schemeOf } from "../authority/thing.ts";
import type { Signature } from "../contract/signature.ts";
import type { Code } from "../diagnostics/codes.ts";
import { CODES } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { didYouMean } from "../diagnostics/nearest.ts";
import { parse } from "../syntax/parse/parse.ts";
import type { File, Import } from "../syntax/tree.ts";
import { type Range, source } from "../text/source.ts";
import { VERBS_FILE } from "../form/form.ts";
import { NATIVE_VERBS } from "../verbs/native.ts";
import { namesInFlow, preludeFor } from "../verbs/prelude.ts";
import type { Registry } from "../verbs/verb.ts";
import { CODE, COMMANDS, EXAMPLES, MODULE, OF_AGENTSCRIPT, PROGRAM, SCHEMES, SHELLS } from "./schemes.ts";

/** What its types say of a module that is imported as a tool. `open`: it may have members that they do not name. */
export interface Members {
    readonly signatures: readonly Signature[];
    readonly open: boolean;
}

/** `effectful: false`: its functions change nothing. `unread`: why nothing is known of `members`, and what to do about it. `hint`: what to do about it, where the host knows better than the general advice. */
export type Allowed =
    | { readonly allowed: true; readonly effectful?: boolean; readonly members?: Members; readonly unread?: string }
    | { readonly allowed: false; readonly reason: string; readonly hint?: string };

export interface ProgramFiles {
    /** The text of a file named by `resolve`, or of the entry; null where there is none. */
    read(path: string): string | null;
    /** The name of the file that `uri`, written in the file `from`, means; null where it is outside the program's tree and not granted. */
    resolve(from: string, uri: string): string | null;
    /** The tree of a text: where it is absent the text is parsed. A tree may serve many programs, since nothing changes one. */
    parse?(text: string, name: string): File;
    /** The allow list for `node:`, `npm:` and local modules. Without it none is allowed. */
    allowTool?(uri: string, file: string): Allowed;
    /** What a file says of a tool: one that its URI names, or the one that keeps what was pinned of it. Null: there is none, or it is not looked for. */
    describeTool?(uri: string, file: string, name: string): Description | { readonly wrong: string; readonly hint?: string } | null;
}

/** A file that describes a tool. */
export interface Description {
    /** Its name in the program's tree, and its text. */
    readonly file: string;
    readonly text: string;
    readonly schema: Schema;
}

export interface LoadedProgram {
    readonly entry: string;
    readonly files: ReadonlyMap<string, File>;
    readonly order: readonly string[];
    /** For each file, the names of imported agents and the files that declare them. */
    readonly links: ReadonlyMap<string, ReadonlyMap<string, string>>;
    /** Imports of packages and local modules that the allow list says only read. */
    readonly readOnly: ReadonlySet<Import>;
    /** Modules whose types are known. */
    readonly members?: ReadonlyMap<Import, Members>;
    /** Tools that a file of the tree describes. */
    readonly described?: ReadonlyMap<Import, Description>;
    /** Imports of agents from the file that declares them: reported, and the name is the agent's. */
    readonly own?: ReadonlySet<Import>;
    /** What reading, parsing and following the imports found. */
    readonly diagnostics: readonly Diagnostic[];
    /** What stages may call besides what their file has. Absent: the verbs that Remit has. */
    readonly verbs?: Registry;
    /** The file among `files` that holds the code of the verbs that blocks use. */
    readonly prelude?: string;
}

interface Opened {
    readonly file: File;
    readonly imports: readonly Import[];
    /** Next import to follow. */
    at: number;
}

export function loadProgram(entry: string, files: ProgramFiles, verbs: Registry = NATIVE_VERBS): LoadedProgram {
    const trees = new Map<string, File>();
    const imports = new Imports(files);
    const order: string[] = [];
    const own = new Set<Import>();
    /** Files whose imports are being followed, outermost first. */
    const path: Opened[] = [];
    const open = new Set<string>();

    const enter = (name: string): boolean => {
        const text = files.read(name);
        if (text === null) return false;
        const tree = files.parse?.(text, name) ?? parse(source(text, name));
        trees.set(name, tree);
        imports.found.push(...tree.diagnostics);
        path.push({ file: tree, imports: tree.items.filter((item): item is Import => item.kind === "import"), at: 0 });
        open.add(name);
        return true;
    };

    if (!enter(entry)) imports.report(entry, "IMPORT_NOT_FOUND", { start: 0, end: 0 }, `there is no file ${entry}`);
    for (let top = path[path.length - 1]; top !== undefined; top = path[path.length - 1]) {
        const name = top.file.source.file;
        const node = top.imports[top.at++];
        if (node === undefined) {
            path.pop();
            open.delete(name);
            order.push(name);
            continue;
        }
        const target = imports.agentFile(node, name);
        if (target === null) continue;
        if (target === name) {
            const declared = top.file.items.some((item) => item.kind === "agent" && item.name?.text === node.name.text);
            if (declared) own.add(node);
            const hint = "leave the import out: agents of one file know each other";
            imports.report(name, "IMPORT_CYCLE", node.uri.range, "the file imports from itself", hint);
            continue;
        }
        if (open.has(target)) {
            const circle = path.slice(path.findIndex((one) => one.file.source.file === target)).map((one) => one.file.source.file);
            imports.report(
                name,
                "IMPORT_CYCLE",
                node.uri.range,
                `files import one another in a circle: ${[...circle, target].join(" → ")}`,
                "move what both need into a third file",
            );
            continue;
        }
        if (!trees.has(target) && enter(target)) {
            top.at--;
            // Followed first; then this import is looked at again, with its file read.
            continue;
        }
        const tree = trees.get(target);
        if (tree === undefined) imports.report(name, "IMPORT_NOT_FOUND", node.uri.range, `there is no file ${target}`);
        else imports.linkAgent(node, name, tree);
    }
    const { links, readOnly, members, described, found } = imports;
    const prelude = addPrelude(trees, verbs);
    if (prelude !== null) order.unshift(prelude);
    const more = prelude === null ? {} : { prelude };
    return { entry, files: trees, order, links, readOnly, members, described, own, diagnostics: found, verbs, ...more };
}

/** The code of the verbs that blocks use, under a name that no other file has. */
function addPrelude(trees: Map<string, File>, verbs: Registry): string | null {
    const used = new Set<string>();
    for (const { items } of trees.values()) {
        const own = new Set(items.map((item) => ("name" in item ? item.name?.text : undefined)));
        for (const item of items) if (item.kind === "block") for (const name of namesInFlow(item.body)) if (!own.has(name)) used.add(name);
    }
    if (used.size === 0) return null;
    let name = VERBS_FILE;
    for (let n = 2; trees.has(name); n++) name = VERBS_FILE.replace(".", `-${n}.`);
    const file = preludeFor(verbs, used, name);
    if (file === null) return null;
    trees.set(name, file);
    return name;
}

/** What imports of all files mean, and what is wrong with them. */
class Imports {
    private readonly files: ProgramFiles;
    readonly found: Diagnostic[] = [];
    readonly links = new Map<string, Map<string, string>>();
    readonly readOnly = new Set<Import>();
    readonly members = new Map<Import, Members>();
    readonly described = new Map<Import, Description>();

    constructor(files: ProgramFiles) {
        this.files = files;
    }

    report(file: string, code: Code, range: Range, message: string, hint: string | undefined = CODES[code].hint): void {
        this.found.push({ code, severity: CODES[code].severity, message, file, range, ...(hint === undefined ? {} : { hint }) });
    }

    /** The file that an import of an agent means; null for other imports, which are looked at here, and for wrong ones. */
    agentFile(node: Import, file: string): string | null {
        const uri = node.uri.value;
        const at = node.uri.range;
        // The parser has said what is missing.
        if (node.name.text === "" || at.start === at.end) return null;
        const scheme = schemeOf(uri);
        if (!SCHEMES[node.what].includes(scheme)) {
            const hint = didYouMean(scheme, SCHEMES[node.what]) ?? `write for example ${EXAMPLES[node.what]}`;
            const message = scheme === "" ? `'${uri}' names no ${node.what}` : `no ${node.what} has the scheme '${scheme}:'`;
            this.report(file, "INVALID_IMPORT_URI", at, message, hint);
            return null;
        }
        if (node.what === "tool") this.tool(node, file, scheme);
        if (node.what === "llm" && scheme.startsWith("http") && !/^https?:\/\/[^/]/i.test(uri))
            this.report(file, "INVALID_IMPORT_URI", at, `'${uri}' names no host`);
        // An agent outside the program.
        if (node.what === "agent" && scheme !== "" && scheme !== "file") return null;
        if (node.what === "skill" && scheme === "https") return null;
        if (node.what !== "file" && node.what !== "agent" && node.what !== "skill") return null;
        const target = this.files.resolve(file, uri);
        if (target === null) {
            this.report(file, "IMPORT_OUTSIDE_TREE", at, `'${uri}' is outside the program's folder`);
            return null;
        }
        if (node.what === "file" || node.what === "skill") return null;
        if (PROGRAM.test(target)) return target;
        this.report(file, "INVALID_IMPORT_URI", at, `'${uri}' is no program`, "an agent is imported from a .remit or .as file");
        return null;
    }

    private tool(node: Import, file: string, scheme: string): void {
        const uri = node.uri.value;
        const at = node.uri.range;
        if (scheme === "sh") {
            const command = uri.slice("sh:".length).replace(/^\/\//, "");
            if (COMMANDS.includes(command)) return;
            if (SHELLS.has(command))
                this.report(
                    file,
                    "INVALID_IMPORT_URI",
                    at,
                    "a shell is never a tool",
                    `known are ${COMMANDS.map((one) => `sh://${one}`).join(", ")}`,
                );
            else
                this.report(
                    file,
                    "INVALID_IMPORT_URI",
                    at,
                    `there is no command '${command}'`,
                    didYouMean(command, COMMANDS) ?? `known are ${COMMANDS.map((one) => `sh://${one}`).join(", ")}`,
                );
            return;
        }
        if (scheme === "host" && OF_AGENTSCRIPT.has(uri.replace(/^host:(?:\/\/)?/, "")))
            this.report(
                file,
                "INVALID_IMPORT_URI",
                at,
                `Remit has no tool '${uri}'`,
                "a program that runs Remit as a library brings tools of its own, under other names",
            );
        if (scheme === "temporal" || scheme === "mcp") this.describedTool(node, file);
        if (!CODE.has(scheme)) return;
        if (scheme === "" && !MODULE.test(uri)) {
            this.report(file, "INVALID_IMPORT_URI", at, `'${uri}' names no tool`, `write for example ${EXAMPLES.tool}`);
            return;
        }
        if (scheme === "" && this.files.resolve(file, uri) === null) {
            this.report(file, "IMPORT_OUTSIDE_TREE", at, `'${uri}' is outside the program's folder`);
            return;
        }
        const answer: Allowed = this.files.allowTool?.(uri, file) ?? { allowed: false, reason: "there is no allow list" };
        if (!answer.allowed) this.report(file, "UNAUTHORIZED_TOOL_IMPORT", at, `'${uri}' is not allowed: ${answer.reason}`, answer.hint);
        else {
            const { effectful, members, unread } = answer;
            if (scheme !== "node" && effectful === false) this.readOnly.add(node);
            if (members !== undefined) this.members.set(node, members);
            if (unread !== undefined) this.report(file, "TOOL_TYPES_UNREAD", at, `nothing is known of '${uri}': ${unread}`);
        }
    }

    private describedTool(node: Import, file: string): void {
        const said = this.files.describeTool?.(node.uri.value, file, node.name.text) ?? null;
        if (said === null) return;
        if ("wrong" in said) this.report(file, "INVALID_IMPORT_URI", node.uri.range, said.wrong, said.hint);
        else this.described.set(node, said);
    }

    linkAgent(node: Import, file: string, tree: File): void {
        const { text, range } = node.name;
        const names = tree.items.flatMap((item) => (item.kind === "agent" && item.name !== undefined ? [item.name.text] : []));
        if (names.includes(text)) {
            const own = this.links.get(file) ?? new Map<string, string>();
            this.links.set(file, own.set(text, tree.source.file));
            return;
        }
        const hint = didYouMean(text, names) ?? (names.length > 0 ? `it declares ${names.join(", ")}` : "it declares no agent with a name");
        this.report(file, "IMPORT_AGENT_MISSING", range, `${tree.source.file} declares no agent '${text}'`, hint);
    }
}
