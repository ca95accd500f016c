/**
 * The layer table of the design, enforced: who may import whom, and that language and machine know neither Node nor a library. Below that, what
 * holds for each package: no import cycle, no long function or file, no long list of parameters, no id of an invariant twice.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Package → packages of the project it may import; `node`: may import Node's modules and libraries. */
const LAYERS: Record<string, { may: string[]; node: boolean }> = {
    language: { may: [], node: false },
    machine: { may: ["language"], node: false },
    host: { may: ["language", "machine"], node: true },
    temporal: { may: ["language", "machine", "host"], node: true },
    serve: { may: ["language", "machine", "host"], node: true },
    cli: { may: ["language", "machine", "host", "temporal", "serve"], node: true },
};

/** Names of a host that pure packages may not mention as globals. */
const HOST_GLOBALS = new Set(
    (
        "process Buffer console setTimeout setInterval setImmediate clearTimeout queueMicrotask fetch crypto performance require module global " +
        "globalThis window document navigator TextEncoder TextDecoder URL AbortController Date WebAssembly structuredClone Function eval"
    ).split(" "),
);

function files(folder: string): string[] {
    return readdirSync(folder).flatMap((name) => {
        const path = join(folder, name);
        if (name === "node_modules" || name === "dist") return [];
        return statSync(path).isDirectory() ? files(path) : /\.m?ts$|\.mjs$/.test(path) ? [path] : [];
    });
}

const parsed = new Map<string, ts.SourceFile>();

function parse(path: string): ts.SourceFile {
    const known = parsed.get(path) ?? ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
    parsed.set(path, known);
    return known;
}

function imports(file: ts.SourceFile): string[] {
    const found: string[] = [];
    const walk = (node: ts.Node): void => {
        if (
            (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
            node.moduleSpecifier &&
            ts.isStringLiteral(node.moduleSpecifier)
        )
            found.push(node.moduleSpecifier.text);
        if (
            ts.isCallExpression(node) &&
            node.expression.kind === ts.SyntaxKind.ImportKeyword &&
            node.arguments[0] &&
            ts.isStringLiteral(node.arguments[0])
        )
            found.push(node.arguments[0].text);
        ts.forEachChild(node, walk);
    };
    walk(file);
    return found;
}

/** Identifiers read as free names that are host globals (property names, declarations and types do not count). */
function hostGlobals(file: ts.SourceFile): string[] {
    const found: string[] = [];
    const walk = (node: ts.Node): void => {
        if (ts.isTypeNode(node)) return;
        if (ts.isIdentifier(node) && HOST_GLOBALS.has(node.text)) {
            const up = node.parent;
            const property =
                (ts.isPropertyAccessExpression(up) && up.name === node) ||
                (ts.isPropertyAssignment(up) && up.name === node) ||
                ts.isPropertySignature(up) ||
                ts.isPropertyDeclaration(up) ||
                ts.isMethodDeclaration(up) ||
                ts.isShorthandPropertyAssignment(up) ||
                (ts.isBindingElement(up) && up.propertyName === node);
            if (!property) found.push(`${node.text} at ${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
        }
        if (node.kind === ts.SyntaxKind.PropertyAccessExpression && node.getText() === "Math.random") found.push("Math.random");
        ts.forEachChild(node, walk);
    };
    walk(file);
    return found;
}

const MAX_LINES = 80;
const MAX_PARAMETERS = 5;

/** The project's own files that a file imports, types aside. */
function valueImports(path: string): Set<string> {
    const own = [...valueModules(path)].filter((name) => name.startsWith("."));
    return new Set(own.map((name) => join(dirname(path), name)));
}

/** What a file imports when it is loaded, types aside, as it names it. */
function valueModules(path: string): Set<string> {
    const found = new Set<string>();
    for (const statement of parse(path).statements) {
        if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
        const { moduleSpecifier } = statement;
        if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) continue;
        const names = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause;
        const isType = ts.isImportDeclaration(statement)
            ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
            : statement.isTypeOnly;
        const onlyTypes =
            names !== undefined &&
            "elements" in names &&
            names.elements.length > 0 &&
            names.elements.every((one) => "isTypeOnly" in one && one.isTypeOnly);
        const alone = ts.isExportDeclaration(statement) || statement.importClause?.name === undefined;
        if (!isType && !(onlyTypes && alone)) found.add(moduleSpecifier.text);
    }
    return found;
}

/** Groups of nodes each of which leads to all others of its group (Tarjan). */
function cycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
    const found: string[][] = [];
    const index = new Map<string, number>();
    const low = new Map<string, number>();
    const stack: string[] = [];
    const visit = (node: string): number => {
        const own = index.size;
        index.set(node, own);
        low.set(node, own);
        stack.push(node);
        for (const next of graph.get(node) ?? []) {
            if (!index.has(next)) low.set(node, Math.min(low.get(node) as number, visit(next)));
            else if (stack.includes(next)) low.set(node, Math.min(low.get(node) as number, index.get(next) as number));
        }
        if (low.get(node) === own) {
            const group = stack.splice(stack.indexOf(node));
            if (group.length > 1) found.push(group.sort());
        }
        return low.get(node) as number;
    };
    for (const node of graph.keys()) if (!index.has(node)) visit(node);
    return found;
}

interface FunctionShape {
    readonly text: string;
    readonly lines: number;
    readonly parameters: number;
    readonly comment: string;
}

function functionsIn(path: string): FunctionShape[] {
    const file = parse(path);
    const found: FunctionShape[] = [];
    const walk = (node: ts.Node): void => {
        ts.forEachChild(node, walk);
        if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
        const from = file.getLineAndCharacterOfPosition(node.getStart()).line;
        const lines = file.getLineAndCharacterOfPosition(node.end).line - from + 1;
        const parameters = node.parameters.filter((one) => one.name.getText() !== "this").length;
        if (lines <= MAX_LINES && parameters <= MAX_PARAMETERS) return;
        const holder = ts.findAncestor(node, (one) => ts.isStatement(one) || ts.isClassElement(one)) ?? node;
        const comment = file.text.slice(holder.getFullStart(), holder.getStart());
        const text = `${relative(root, path)}:${from + 1}: ${lines} lines, ${parameters} parameters`;
        found.push({ text, lines, parameters, comment });
    };
    walk(file);
    return found;
}

describe.each(Object.entries(LAYERS))("package %s", (name, layer) => {
    const src = join(root, "packages", name, "src");
    const allowed = new Set(layer.may.map((other) => `@remit/${other}`));

    test("imports only what the layer table allows", () => {
        const wrong: string[] = [];
        for (const path of files(src)) {
            for (const target of imports(parse(path))) {
                const own = target.startsWith(".") && !relative(src, join(dirname(path), target)).startsWith("..");
                // or an entry of its own, which the package exports
                const project = allowed.has(target.split("/", 2).join("/"));
                const outside = layer.node && !target.startsWith(".") && !target.startsWith("@remit/");
                if (!own && !project && !outside) wrong.push(`${relative(root, path)} imports ${target}`);
            }
        }
        expect(wrong).toEqual([]);
    });

    test("has no import cycle among files or folders, types aside", () => {
        const graph = new Map(files(src).map((path) => [path, valueImports(path)]));
        expect(cycles(graph).map((group) => group.map((path) => relative(src, path)))).toEqual([]);
        const folders = new Map<string, Set<string>>();
        for (const [path, targets] of graph)
            for (const target of targets)
                if (dirname(target) !== dirname(path))
                    folders.set(dirname(path), (folders.get(dirname(path)) ?? new Set()).add(dirname(target)));
        expect(cycles(folders).map((group) => group.map((path) => relative(src, path)))).toEqual([]);
    });

    test("has no function over 80 lines or five parameters without saying why in its comment", () => {
        const all = files(src)
            .filter((path) => path.endsWith(".ts"))
            .flatMap(functionsIn);
        const long = all.filter((one) => one.lines > MAX_LINES && !/\bwhy it is long: /i.test(one.comment));
        const wide = all.filter((one) => one.parameters > MAX_PARAMETERS && !/\bwhy so many: /i.test(one.comment));
        expect([...long, ...wide].map(({ text }) => text)).toEqual([]);
    });

    if (!layer.node)
        test("mentions no global of a host", () => {
            const wrong = files(src).flatMap((path) => hostGlobals(parse(path)).map((found) => `${relative(root, path)}: ${found}`));
            expect(wrong).toEqual([]);
        });
});

/** What a file reads of the process's surroundings. */
function surroundings(path: string): string[] {
    const found: string[] = [];
    const walk = (node: ts.Node): void => {
        if (ts.isPropertyAccessExpression(node) && /^process\.(?:env|cwd|argv|title)$/.test(node.getText())) found.push(node.getText());
        if (ts.isImportDeclaration(node) && (node.moduleSpecifier as ts.StringLiteral).text === "node:os")
            for (const name of ["homedir", "userInfo"]) if (node.getText().includes(name)) found.push(name);
        ts.forEachChild(node, walk);
    };
    walk(parse(path));
    return found;
}

test("the host reads the environment, the current folder and the user in one file", () => {
    const src = join(root, "packages/host/src");
    const reading = files(src).filter((path) => surroundings(path).length > 0);
    expect(reading.map((path) => relative(src, path))).toEqual(["process/here.ts"]);
});

/** Modules of Node and of packages that are loaded with a file, by itself or by the files that it loads. */
function loadedWith(entry: string): string[] {
    const own = new Set([entry]);
    for (const path of own) for (const next of valueImports(path)) own.add(next);
    return [...new Set([...own].flatMap((path) => [...valueModules(path)]))].filter((name) => !name.startsWith("."));
}

// A process of the command takes 0.07 s of processor time without them, and 0.25 with them.
test("the command's names and help load no host, and the host no servers and no MCP, before they are needed", () => {
    const src = (name: string): string => join(root, "packages", name, "src");
    expect(loadedWith(join(src("cli"), "main.ts")).filter((name) => name.startsWith("@remit/"))).toEqual(["@remit/language"]);
    const dear = /^(?:node:(?:https?|http2|tls)|@modelcontextprotocol\/.*)$/;
    expect(loadedWith(join(src("host"), "index.ts")).filter((name) => dear.test(name))).toEqual([]);
});

test("an operation of the machine knows nothing of the machine, types included", () => {
    const src = join(root, "packages/machine/src");
    const wrong = files(join(src, "native")).filter((path) => imports(parse(path)).some((target) => target.startsWith("../run/")));
    expect(wrong.map((path) => relative(src, path))).toEqual([]);
});

test("no file is over 500 lines without saying why in its first comment", () => {
    const folders = ["packages", "tests", "scripts", "bench/src"].map((name) => join(root, name));
    const long = folders.flatMap(files).filter((path) => {
        const text = readFileSync(path, "utf8");
        const first = /^\s*(\/\*[\s\S]*?\*\/|(?:\/\/.*\n)+)/.exec(text)?.[1] ?? "";
        return text.split("\n").length > 501 && !/\bwhy it is long: /i.test(first);
    });
    expect(long.map((path) => relative(root, path))).toEqual([]);
});

test("an id of an invariant is defined in one file", () => {
    const places = new Map<string, string[]>();
    for (const path of ["packages", "tests", "scripts", "bench/src"].flatMap((name) => files(join(root, name))))
        for (const [, id] of readFileSync(path, "utf8").matchAll(/^ ?\* {1,2}([A-Z]{1,3}\d+): /gm))
            places.set(id as string, [...(places.get(id as string) ?? []), relative(root, path)]);
    const same = [...places].filter(([, paths]) => new Set(paths).size > 1);
    expect(same.map(([id, paths]) => `${id}: ${paths.join(", ")}`)).toEqual([]);
});
