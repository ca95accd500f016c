/**
 * The top level of one file: what its names stand for, and that each stands for one thing. Also what a name that is not there may
 * have meant.
 *
 * Boundary: declarations only; bodies of functions are walked elsewhere.
 *
 * NM2: a file sees its own imports, agents, functions and shapes, and nothing of any other file.
 */
import { nameText } from "../syntax/strings.ts";
import { toolSchema } from "../authority/schemas.ts";
import type { LoadedProgram } from "../load/program.ts";
import { nearest } from "../diagnostics/nearest.ts";
import { MAIN_AGENT, MAIN_FUNC, shown } from "../syntax/entry.ts";
import { eachNode } from "../syntax/nodes.ts";
import type { Agent, BlockDecl, File, Func, Import } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { checkShapes } from "./contracts.ts";
import {
    type AgentScope,
    type Binding,
    type Checking,
    type Extra,
    type FileScope,
    type FuncInfo,
    meant,
    UNCONFIGURED,
    report,
} from "../scope/model.ts";
import { ANY, contractType, makeType, STRING, type Type } from "../scope/types.ts";

export function binding(kind: Binding["kind"], name: string, range: Range, more: Partial<Binding> = {}): Binding {
    const made: { -readonly [K in keyof Binding]: Binding[K] } = {
        kind,
        name,
        range,
        type: ANY,
        import: more.import ?? null,
        has: more.has ?? null,
        agent: more.agent ?? null,
        func: more.func ?? null,
        used: false,
        maybe: null,
    };
    made.type = typeOf(made);
    return made;
}

function typeOf(made: Binding): Type {
    switch (made.kind) {
        case "file":
            return /\.json$/i.test(made.import?.uri.value ?? "") ? ANY : STRING;
        case "shape":
        case "block":
            return ANY;
        default:
            return makeType(made.kind, { cap: made });
    }
}

interface DeclareOptions extends Partial<Pick<LoadedProgram, "own" | "described">> {
    readonly prelude?: boolean;
}

/** Reads the declarations of one file. Imported agents are linked afterwards. */
export function declareFile(tree: File, { own, prelude = false, described }: DeclareOptions = {}): FileScope {
    const file: FileScope = {
        name: tree.source.file,
        tree,
        names: new Map(),
        shapes: new Map(),
        remits: new Map(),
        agents: [],
        funcs: [],
        diagnostics: [],
        types: [new Map(), new Map()],
        policies: new Set(),
        broken: tree.diagnostics.some((d) => d.severity === "error"),
        prelude,
    };
    for (const item of tree.items) if (item.kind === "shape" && !file.shapes.has(item.name.text)) file.shapes.set(item.name.text, item);
    for (const item of tree.items) if (item.kind === "remit" && !file.remits.has(item.name.text)) file.remits.set(item.name.text, item);
    // Imports first, then agents and functions: a later thing is the one that clashes, whatever the order in the text.
    for (const item of tree.items) if (item.kind === "import" && !own?.has(item)) declareImport(file, item, described);
    for (const item of tree.items) if (item.kind === "agent") declareAgent(file, item);
    for (const item of tree.items) if (item.kind === "func") declareFunc(file, item);
    for (const item of tree.items) {
        if (item.kind !== "shape") continue;
        const { text, range } = item.name;
        if (text === "") continue;
        const other = file.names.get(text);
        if (other !== undefined) clash(file, "DUPLICATE_BINDING", range, `the shape '${text}' has the name of ${article(other)}`, other);
        else file.names.set(text, binding("shape", text, range));
    }
    if (file.shapes.size > 0) checkShapes(file);
    for (const item of tree.items) if (item.kind === "block") declareBlocks(file, item);
    return file;
}

/** The name of a block, and those of blocks in it. */
function declareBlocks(file: FileScope, node: BlockDecl): void {
    eachNode(node, (one) => {
        const { name } = one as unknown as BlockDecl;
        if (one.kind !== "block" || name === undefined || name.text === "") return;
        const { text, range } = name;
        const other = file.names.get(text);
        if (other === undefined) file.names.set(text, binding("block", text, range));
        else {
            const message =
                other.kind === "block" ? `two blocks are called '${text}'` : `the block '${text}' has the name of ${article(other)}`;
            clash(file, "DUPLICATE_BINDING", range, message, other);
        }
    });
}

function clash(
    file: FileScope,
    code: "DUPLICATE_IMPORT" | "DUPLICATE_AGENT" | "DUPLICATE_FUNCTION" | "DUPLICATE_BINDING",
    range: Range,
    message: string,
    other: Binding,
): void {
    report(file, code, range, message, { related: [{ message: "the other one", file: file.name, range: other.range }] });
}

function article(other: Binding): string {
    return other.import !== null
        ? `the import '${other.name}'`
        : other.kind === "func"
          ? `the function '${other.name}'`
          : `the ${other.kind} '${other.name}'`;
}

function declareImport(file: FileScope, node: Import, described: LoadedProgram["described"] | undefined): void {
    const { text, range } = node.name;
    if (text === "") return;
    const other = file.names.get(text);
    if (other !== undefined) clash(file, "DUPLICATE_IMPORT", range, `'${text}' is imported twice`, other);
    else {
        const has = described?.get(node)?.schema ?? toolSchema(node.what, node.uri.value);
        file.names.set(text, binding(node.what, text, range, { import: node, has }));
    }
}

function declareAgent(file: FileScope, node: Agent): void {
    const name = node.name?.text ?? MAIN_AGENT;
    const range = node.name?.range ?? { start: node.range.start, end: Math.min(node.range.end, node.range.start + 10) };
    const agent: AgentScope = { node, name, file, funcs: new Map(), main: null, config: UNCONFIGURED, uses: null, generates: false };
    file.agents.push(agent);
    const other = file.names.get(name);
    if (other !== undefined && name !== "") {
        if (other.kind === "agent" && other.import === null) {
            // Two unnamed main agents are told as two main agents.
            if (node.name !== undefined) clash(file, "DUPLICATE_AGENT", range, `two agents are called '${name}'`, other);
        } else clash(file, "DUPLICATE_BINDING", range, `the agent '${name}' has the name of ${article(other)}`, other);
    } else if (name !== "") file.names.set(name, binding("agent", name, range, { agent }));
    for (const func of node.funcs) {
        const info = newFunc(func, file, agent);
        const at = func.name?.range ?? headOf(func);
        if (func.main) {
            if (agent.main === null) agent.main = info;
            else
                report(file, "DUPLICATE_MAIN_FUNC", at, `agent '${shown(name)}' has more than one main func`, {
                    related: [{ message: "the other one", file: file.name, range: agent.main.node.name?.range ?? headOf(agent.main.node) }],
                });
        }
        bindFunc(file, agent.funcs, info, at);
    }
}

function declareFunc(file: FileScope, node: Func): void {
    const info = newFunc(node, file, null);
    const at = node.name?.range ?? headOf(node);
    if (node.main) {
        const other = file.funcs.find((one) => one.agent === null && one.node.main && one !== info);
        if (other !== undefined) report(file, "DUPLICATE_MAIN_FUNC", at, "the file has more than one main func");
    }
    bindFunc(file, file.names, info, at);
}

function bindFunc(file: FileScope, names: Map<string, Binding>, info: FuncInfo, at: Range): void {
    const { name } = info;
    if (name === "") return;
    const other = names.get(name);
    if (other !== undefined && other.kind === "func") {
        if (info.node.name !== undefined) clash(file, "DUPLICATE_FUNCTION", at, `two functions are called '${name}'`, other);
        return;
    }
    const outside = other ?? file.names.get(name);
    if (outside !== undefined && (outside.import !== null || outside === other)) {
        clash(file, "DUPLICATE_BINDING", at, `the function '${name}' has the name of ${article(outside)}`, outside);
        if (outside === other) return;
    }
    names.set(name, binding("func", name, at, { func: info }));
}

export function newFunc(node: Func, file: FileScope, agent: AgentScope | null): FuncInfo {
    const info: FuncInfo = {
        node,
        name: node.name?.text ?? MAIN_FUNC,
        file,
        agent,
        state: "new",
        walks: 0,
        queued: false,
        diagnostics: [],
        pending: [],
        calls: [],
        effects: new Set(),
        generates: [],
        locals: [],
        mutates: 0,
        blocks: new Set(),
        stores: null,
        returns: 0,
        data: 0,
        result: node.result === undefined ? ANY : contractType(node.result, file),
        own: null,
        passed: [],
        readers: new Set(),
        blind: new Set(),
    };
    file.funcs.push(info);
    return info;
}

/** The word `func` of a function without a name. */
function headOf(node: Func): Range {
    return { start: node.range.start, end: Math.min(node.range.end, node.range.start + (node.main ? 9 : 4)) };
}

// ---- names that are not there ----------------------------------------------------------------------------------------

/** Another file of the program that imports or declares the name, as the original would have shared it; with the import to add. */
export function elsewhere(checking: Checking, file: FileScope, name: string): { readonly where: FileScope; readonly extra: Extra } | null {
    // A function that an answer defines is a file without the answer's names, and an import is no cure there.
    if (checking.answer) return null;
    for (const other of checking.order) {
        if (other === file) continue;
        const found = other.names.get(name);
        if (found === undefined || found.kind === "func" || found.kind === "shape" || found.kind === "block") continue;
        const uri = found.import === null ? relative(file.name, other.name) : moved(found.import, other.name, file.name);
        const line = `import ${found.kind} ${name} from ${JSON.stringify(uri)}\n`;
        const at = file.tree.items.reduce((end, item) => (item.kind === "import" ? item.range.end : end), -1);
        const edit = at < 0 ? { range: { start: 0, end: 0 }, text: line } : { range: { start: at, end: at }, text: `\n${line.trimEnd()}` };
        return {
            where: other,
            extra: {
                hint: `each file has its own imports: add ${line.trimEnd()}`,
                fixes: [{ title: `add ${line.trimEnd()}`, edits: [edit], safe: false }],
                related: [{ message: found.import === null ? "declared here" : "imported here", file: other.name, range: found.range }],
            },
        };
    }
    return null;
}

const FILE_RELATIVE: ReadonlySet<Binding["kind"]> = new Set(["file", "agent", "memory"]);

/** The URI of an import as another file has to write it. */
function moved(node: Import, from: string, to: string): string {
    const uri = node.uri.value;
    const local = FILE_RELATIVE.has(node.what as Binding["kind"]) || (node.what === "tool" && /^\.{0,2}\/.*\.[cm]?[jt]s$/.test(uri));
    const scheme = /^(?:file|sqlite):\/\//.exec(uri)?.[0] ?? "";
    const path = uri.slice(scheme.length);
    if (!local || path.startsWith("/") || /^[a-z][a-z0-9+.-]+:/i.test(path)) return uri;
    return scheme + relative(to, normal(`${folder(from)}${path}`));
}

function folder(path: string): string {
    return path.slice(0, path.lastIndexOf("/") + 1);
}

function normal(path: string): string {
    const parts: string[] = [];
    for (const part of path.split("/")) {
        if (part === "." || part === "") continue;
        if (part === ".." && parts.length > 0 && parts[parts.length - 1] !== "..") parts.pop();
        else parts.push(part);
    }
    return (path.startsWith("/") ? "/" : "") + parts.join("/");
}

/** `target` as the file `from` has to write it: with `./` or `../` in front. */
function relative(from: string, target: string): string {
    const start = normal(from).split("/").slice(0, -1);
    const end = normal(target).split("/");
    let same = 0;
    while (same < start.length && same < end.length - 1 && start[same] === end[same]) same++;
    const up = start.slice(same).map(() => "..");
    return `${up.length === 0 ? "./" : ""}${[...up, ...end.slice(same)].join("/")}`;
}

/** A hint for a name that nothing defines at `range`, and the fix that writes the near one. */
export function suggestion(checking: Checking, name: string, range: Range, ...known: Iterable<string>[]): Extra | undefined {
    if (--checking.suggestions < 0) return undefined;
    const found = nearest(
        name,
        known.flatMap((names) => [...names]),
    );
    return found === null ? undefined : meant(found, range, nameText(found));
}
