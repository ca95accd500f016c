/**
 * Tools of folders that lie inside one another: two things, so that what is said of one does not bind the other, though both reach the same files.
 *
 * Boundary: `file:` tools, and the searches of `sh:`, which read the whole workspace; what clauses and the lines of one remit say of both. That the
 * things are two is `authority/thing.ts`.
 *
 * FS1: told only where one is forbidden, asked about, or for some to read, and the other does the same to the same files without it.
 */
import { isOnResource, keyOf, resourceOf, schemeOf } from "../authority/thing.ts";
import type { Import, ImportClause, Ref, RemitBody } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { type Checking, type FileScope, report } from "../scope/model.ts";

/** What imports of one thing say of a folder. */
interface Folder {
    readonly key: string;
    readonly isSearch: boolean;
    /** `workspace/src/`: a folder inside another has its place as a beginning. */
    readonly place: string;
    readonly imports: { readonly node: Import; readonly file: FileScope }[];
}

type Gate = "may" | "ask" | "never";
const RANK: { readonly [G in Gate]: number } = { may: 0, ask: 1, never: 2 };
const METHODS: readonly string[] = ["read", "list", "write", "patch", "undo"];

export function checkFolders(checking: Checking): void {
    const folders = new Map<string, Folder>();
    for (const file of checking.order)
        for (const node of file.tree.items) {
            if (node.kind !== "import") continue;
            const found = folderOf(node, file);
            if (found === null) continue;
            const known = folders.get(found.key);
            if (known === undefined) folders.set(found.key, found);
            else known.imports.push({ node, file });
        }
    if (folders.size < 2) return;
    const all = [...folders.values()];
    // Once for each that is bound by less.
    for (const other of all) {
        const around = all.filter((one) => one !== other && !(one.isSearch && other.isSearch) && overlap(one.place, other.place));
        around.some((one) => compare(one, other));
    }
    for (const file of checking.order) {
        for (const item of file.tree.items) if (item.kind === "remit") checkRemit(file, item.body, folders);
        for (const { node } of file.agents) if (node.remit?.kind === "remit.body") checkRemit(file, node.remit, folders);
    }
}

function folderOf(node: Import, file: FileScope): Folder | null {
    if (node.what !== "tool") return null;
    const scheme = schemeOf(node.uri.value);
    if (scheme !== "file" && scheme !== "sh") return null;
    const key = keyOf("tool", node.uri.value, file.name);
    const imports = [{ node, file }];
    if (scheme === "sh") return { key, isSearch: true, place: "workspace/", imports };
    const [, path] = /^tool:file:\/\/(workspace(?:\/.*)?|\/.*)$/s.exec(key) ?? [];
    return path === undefined ? null : { key, isSearch: false, place: path.endsWith("/") ? path : `${path}/`, imports };
}

function overlap(a: string, b: string): boolean {
    return a.startsWith(b) || b.startsWith(a);
}

// ---- clauses ---------------------------------------------------------------------------------------------------------

function clausesOf(folder: Folder): { readonly clause: ImportClause; readonly file: FileScope }[] {
    return folder.imports.flatMap(({ node, file }) => (node.clauses ?? []).map((clause) => ({ clause, file })));
}

/** Whether `one` says what `other` does not, which is told. */
function compare(one: Folder, other: Folder): boolean {
    const theirs = clausesOf(other).map(({ clause }) => clause);
    const missing = clausesOf(one).find(({ clause }) => binds(clause) && !isSaid(clause, one, other, theirs));
    if (missing === undefined) return false;
    const from = one.imports.find(({ file }) => file === missing.file) ?? one.imports[0];
    const first = other.imports.find(({ file }) => file === missing.file) ?? other.imports[0];
    if (first === undefined || from === undefined) return false;
    const name = from.node.name.text;
    report(
        first.file,
        "FOLDERS_OVERLAP",
        first.node.uri.range,
        `'${first.node.name.text}' reaches files of '${name}', and what is said of '${name}' does not bind it`,
        { related: [{ message: "it is said here", file: missing.file.name, range: missing.clause.range }] },
    );
    return true;
}

function binds(clause: ImportClause): boolean {
    switch (clause.kind) {
        case "clause.gate":
            return clause.gate.text !== "may";
        case "clause.arg":
        case "clause.count":
            return true;
        case "clause.choice":
            return clause.any !== true;
        case "clause.readers":
            return clause.which === "reads" && clause.readers.kind !== "readers.everyone";
        default:
            return false;
    }
}

function isSaid(clause: ImportClause, one: Folder, other: Folder, theirs: readonly ImportClause[]): boolean {
    if (clause.kind === "clause.trusted" || clause.kind === "clause.untrusted" || clause.kind === "clause.labels") return true;
    const methods = clause.method === undefined ? null : sameDeed(clause.method.text, one, other);
    // A method without a like is none that the other does.
    if (methods?.length === 0) return true;
    if (clause.kind === "clause.gate") {
        const wanted = RANK[gateOf(clause.gate.text)];
        const gates = theirs.flatMap((said) => (said.kind === "clause.gate" ? [said] : []));
        return (methods ?? []).every((method) =>
            gates.some((said) => said.method.text === method && RANK[gateOf(said.gate.text)] >= wanted),
        );
    }
    // An argument of a search is another one.
    if (clause.kind === "clause.arg") {
        if (one.isSearch || other.isSearch) return true;
        return theirs.some(
            (said) => said.kind === "clause.arg" && said.name.text === clause.name.text && covers(said, clause.method?.text),
        );
    }
    if (clause.kind === "clause.choice")
        return theirs.some((said) => said.kind === "clause.choice" && (methods ?? [undefined]).every((method) => covers(said, method)));
    return theirs.some(
        (said) =>
            said.kind === "clause.readers" && said.which === "reads" && (methods ?? [undefined]).every((method) => covers(said, method)),
    );
}

function covers(said: { readonly method?: { readonly text: string } }, method: string | undefined): boolean {
    return said.method === undefined || said.method.text === method;
}

function gateOf(text: string): Gate {
    return text === "may" || text === "ask" ? text : "never";
}

/** Methods of `other` that do what a method of `one` does. */
function sameDeed(method: string, one: Folder, other: Folder): readonly string[] {
    if (one.isSearch === other.isSearch) return METHODS.includes(method) ? [method] : [];
    // What may not be read may be found; that a search is asked about says nothing of reading what one knows.
    return other.isSearch && method === "read" ? ["run"] : [];
}

// ---- remits ----------------------------------------------------------------------------------------------------------

interface Line {
    readonly gate: Gate;
    readonly ref: Ref;
    readonly folder: Folder;
    /** Where it may lead. */
    readonly places: readonly string[];
}

/** A line that gives what another line of the same remit forbids, or asks about, by the name of another folder. */
function checkRemit(file: FileScope, body: RemitBody, folders: ReadonlyMap<string, Folder>): void {
    const lines = body.clauses.flatMap((clause) =>
        clause.kind !== "remit.grant" || clause.grant.all
            ? []
            : clause.grant.refs.flatMap((ref): Line[] => {
                  const found = file.names.get(ref.name.text)?.import;
                  const folder = found?.what === "tool" ? folders.get(keyOf("tool", found.uri.value, file.name)) : undefined;
                  if (folder === undefined) return [];
                  return [{ gate: gateOf(clause.grant.gate), ref, folder, places: placesOf(ref, folder) }];
              }),
    );
    for (const line of lines) {
        const strict = lines.find(
            (one) =>
                one.folder !== line.folder &&
                RANK[one.gate] > RANK[line.gate] &&
                !(one.folder.isSearch && line.folder.isSearch) &&
                doesSame(one, line) &&
                one.places.some((a) => line.places.some((b) => overlap(a, b))) &&
                !lines.some((own) => own.folder === line.folder && RANK[own.gate] >= RANK[one.gate] && covering(own, line)),
        );
        if (strict === undefined) continue;
        const said = textOf(strict.ref);
        report(
            file,
            "FOLDERS_OVERLAP",
            line.ref.range,
            `'${line.ref.name.text}' reaches files of '${strict.ref.name.text}', and \`${strict.gate} ${said}\` does not bind it`,
            { related: [{ message: "it is said here", file: file.name, range: strict.ref.range as Range }] },
        );
    }
}

function textOf(ref: Ref): string {
    return ref.method === undefined ? ref.name.text : `${ref.name.text}.${ref.method.text}`;
}

function doesSame(one: Line, line: Line): boolean {
    const mine = line.ref.method?.text;
    if (one.ref.method === undefined) return one.folder.isSearch === line.folder.isSearch || line.folder.isSearch;
    const deeds = sameDeed(one.ref.method.text, one.folder, line.folder);
    return deeds.length > 0 && (mine === undefined || deeds.includes(mine));
}

/** A line of the same folder that takes back as much. */
function covering(own: Line, line: Line): boolean {
    return own !== line && own.ref.bounds.length === 0 && (own.ref.method === undefined || own.ref.method.text === line.ref.method?.text);
}

/** The folders in which the bounds of a line let it end up. */
function placesOf(ref: Ref, folder: Folder): readonly string[] {
    const patterns = ref.bounds.find((bound) => isOnResource({ ...bound, arg: bound.arg?.text }, resourceOf("file:")))?.patterns;
    if (patterns === undefined) return [folder.place];
    return patterns.map(({ value }) => {
        const literal = value.replace(/^(?:\.?\/)+/, "").replace(/\*.*$/s, "");
        return `${folder.place}${literal}`;
    });
}
