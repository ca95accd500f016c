/**
 * The layer table of the design, enforced: who may import whom, and that language and machine know neither Node nor a library.
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
    cli: { may: ["language", "machine", "host"], node: true },
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

function parse(path: string): ts.SourceFile {
    return ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
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

describe.each(Object.entries(LAYERS))("package %s", (name, layer) => {
    const src = join(root, "packages", name, "src");
    const allowed = new Set(layer.may.map((other) => `@remit/${other}`));

    test("imports only what the layer table allows", () => {
        const wrong: string[] = [];
        for (const path of files(src)) {
            for (const target of imports(parse(path))) {
                const own = target.startsWith(".") && !relative(src, join(dirname(path), target)).startsWith("..");
                const project = target.startsWith("@remit/") && allowed.has(target);
                const outside = layer.node && !target.startsWith(".") && !target.startsWith("@remit/");
                if (!own && !project && !outside) wrong.push(`${relative(root, path)} imports ${target}`);
            }
        }
        expect(wrong).toEqual([]);
    });

    if (!layer.node)
        test("mentions no global of a host", () => {
            const wrong = files(src).flatMap((path) => hostGlobals(parse(path)).map((found) => `${relative(root, path)}: ${found}`));
            expect(wrong).toEqual([]);
        });
});

/** What a file needs of its own package before it runs: imports of values, not of types, and not those that wait for their first use. */
function needs(path: string): string[] {
    const found: string[] = [];
    for (const node of parse(path).statements) {
        if (!(ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) || node.moduleSpecifier === undefined) continue;
        const clause = ts.isImportDeclaration(node) ? node.importClause : undefined;
        const named = clause?.namedBindings;
        const types =
            ts.isExportDeclaration(node) && node.isTypeOnly
                ? true
                : clause !== undefined &&
                  (clause.phaseModifier === ts.SyntaxKind.TypeKeyword ||
                      (clause.name === undefined &&
                          named !== undefined &&
                          ts.isNamedImports(named) &&
                          named.elements.length > 0 &&
                          named.elements.every((one) => one.isTypeOnly)));
        const to = (node.moduleSpecifier as ts.StringLiteral).text;
        if (!types && to.startsWith(".")) found.push(join(dirname(path), to));
    }
    return found;
}

/** The names on one way round, the first of them again at its end; null where there is none. */
function circle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
    const done = new Set<string>();
    const way: string[] = [];
    const from = (name: string): string[] | null => {
        if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
        if (done.has(name)) return null;
        way.push(name);
        for (const next of graph.get(name) ?? []) {
            const found = from(next);
            if (found !== null) return found;
        }
        way.pop();
        done.add(name);
        return null;
    };
    for (const name of graph.keys()) {
        const found = from(name);
        if (found !== null) return found;
    }
    return null;
}

test.each(["host", "cli"])("no file and no folder of %s imports itself by a way round", (name) => {
    const src = join(root, "packages", name, "src");
    const byFile = new Map(files(src).map((path) => [relative(src, path), new Set(needs(path).map((to) => relative(src, to)))]));
    const byFolder = new Map<string, Set<string>>();
    for (const [path, all] of byFile) {
        const folder = dirname(path);
        const others = byFolder.get(folder) ?? new Set();
        for (const to of all) if (dirname(to) !== folder) others.add(dirname(to));
        byFolder.set(folder, others);
    }
    expect([circle(byFile), circle(byFolder)]).toEqual([null, null]);
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
