// After bundling with splitting: one script in place of the many small pieces that a command always loads. Opening a module costs Node about half a
// millisecond, and V8 keeps the compiled functions of a script, where those of a module are compiled again in each process. Each merged piece stays
// as a module that hands on its names, for those commands and imports that ask for it by itself: in Node from the script, in a page from a module
// that holds the same pieces as far as they are free of Node.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { root } from "./setup.mjs";

/** What every `remit run` of a program that is in the cache loads; the first is the command. */
export const RUN = ["cli/src/main.ts", "commands/run.ts", "ledger/sqlite.ts", "config/config.ts", "config/check.ts"];
/** Some libraries of the Node world still call require. Without an import, so that a page can load a piece that never calls it. */
export const BANNER = "const require=globalThis.process?.getBuiltinModule('node:module').createRequire(import.meta.url);\n";

/** `imports` of package.json: from where pieces that a page can use hand on their names. */
export const IMPORTS = { "#pure": { browser: "./dist/pure-all.mjs", default: "./dist/all.mjs" } };

/**
 * Merges what the outputs of the sources `of` (the ends of their paths) load without `import()` into `core.cjs`. Its `start` is that of the
 * first of them, its `all` evaluates every piece and gives the names. `within`: what the outputs of these sources load of that is for pages, too.
 */
export async function merge(out, { outputs }, { of, within }) {
    const pieceOf = (source) => {
        const path = Object.keys(outputs).find((one) => outputs[one].entryPoint?.endsWith(source.replace(/^\.\//, "")));
        if (path === undefined) throw new Error(`nothing in the bundle comes from ${source}`);
        return path;
    };
    const closure = (sources, follows = (kind) => kind === "import-statement") => {
        const pieces = new Set();
        const add = (path) => {
            if (pieces.has(path)) return;
            for (const { path: next, kind } of outputs[path].imports) if (follows(kind) && outputs[next] !== undefined) add(next);
            pieces.add(path);
        };
        for (const source of sources) add(pieceOf(source));
        return pieces;
    };
    const forPages = closure(within);
    const pieces = [...closure(of)].map((path, i) => ({
        file: resolve(root, path),
        pure: forPages.has(path),
        names: outputs[path].exports.map((name) => ({ name, outer: `p${i}_${name}` })),
    }));
    const pure = pieces.filter((one) => one.pure);
    const listed = (one) => one.names.map(({ name, outer }) => `${name} as ${outer}`).join(", ");
    const page =
        pure.length === 0
            ? null
            : await bundled(out, pure, "esm", pure.map((one) => `export { ${listed(one)} } from ${JSON.stringify(one.file)};`).join("\n"));
    const core = await bundled(
        out,
        pieces,
        "cjs",
        `export { start } from ${JSON.stringify(resolve(root, pieceOf(of[0])))}; export const all = () => require("table").table();`,
        {
            table: `${pieces.map((one) => `import { ${listed(one)} } from ${JSON.stringify(one.file)};`).join("\n")}
export const table = () => ({ ${outers(pieces)} });`,
        },
    );
    if (page !== null) writeFileSync(join(out, "pure-all.mjs"), page);
    // The starter evaluates it by itself and brings what imports then. The pieces take files beside them by their own ending.
    const text = [
        '"use strict";const __here=require("node:url").pathToFileURL(__filename.replace(/cjs$/,"mjs")).href;',
        `const __import=module.importing??(path=>import(path));\n${withoutImport(core)}`,
    ].join("\n");
    // Its first line names it.
    writeFileSync(join(out, "core.cjs"), `//${createHash("sha256").update(text).digest("hex").slice(0, 32)}\n${text}`);
    const required = 'createRequire(import.meta.url)("./core.cjs")';
    writeFileSync(
        join(out, "all.mjs"),
        `import { createRequire } from "node:module";\nexport const{${outers(pieces)}}=${required}.all();\n`,
    );
    for (const { file, pure, names } of pieces)
        writeFileSync(
            file,
            `export{${names.map(({ name, outer }) => `${outer} as ${name}`).join(",")}}from"${pure ? "#pure" : "./all.mjs"}";\n`,
        );
    const inPages = closure(within, () => true);
    const merged = new Map(pieces.map(({ file, names }) => [file, new Map(names.map(({ name, outer }) => [name, outer]))]));
    for (const path of Object.keys(outputs)) {
        const file = resolve(root, path);
        if (file.endsWith(".mjs") && !merged.has(file) && !inPages.has(path)) fromScript(file, join(out, "all.mjs"), merged);
    }
    return pieces.length;
}

/** A module takes from the script what it took from pieces: opening each of them would cost more than what they hand on. `all`: hands on all names. */
function fromScript(file, all, merged) {
    const at = `"${relative(dirname(file), all).replace(/^(?!\.)/, "./")}"`;
    const text = readFileSync(file, "utf8");
    const taken = text.replace(/\b(import|export)(?:\{([^}]*)\}from)?"(\.{1,2}\/[^"]+)";/g, (line, verb, said, from) => {
        const names = merged.get(resolve(dirname(file), from));
        if (names === undefined) return line;
        if (said === undefined) return `${verb}${at};`;
        const outer = said.split(",").map((one) => {
            const [name, inner = name] = one.split(" as ");
            return `${names.get(name)} as ${inner}`;
        });
        return `${verb}{${outer.join(",")}}from${at};`;
    });
    if (taken !== text) writeFileSync(file, taken);
}

function outers(pieces) {
    return pieces.flatMap((one) => one.names.map(({ outer }) => outer)).join(",");
}

/** `modules`: texts of modules beside the pieces, by name. What the pieces import otherwise stays an import. */
async function bundled(out, pieces, format, contents, modules = {}) {
    const inside = new Set(pieces.map(({ file }) => file));
    const { outputFiles } = await build({
        stdin: { contents, resolveDir: out },
        outfile: join(out, "merged"),
        write: false,
        bundle: true,
        format,
        platform: "node",
        target: "node24",
        minifySyntax: true,
        minifyWhitespace: true,
        legalComments: "none",
        ...(format === "cjs" ? { define: { "import.meta.url": "__here" } } : {}),
        plugins: [
            {
                name: "pieces",
                setup(one) {
                    one.onResolve({ filter: /^\.{0,2}\// }, ({ path, resolveDir }) => {
                        const file = resolve(resolveDir, path);
                        return inside.has(file) ? { path: file } : { path: `./${basename(file)}`, external: true };
                    });
                    one.onResolve({ filter: /^\w+$/ }, ({ path }) =>
                        Object.hasOwn(modules, path) ? { path, namespace: "text" } : undefined,
                    );
                    one.onLoad({ filter: /.*/, namespace: "text" }, ({ path }) => ({ contents: modules[path], resolveDir: out }));
                },
            },
        ],
        logLevel: "warning",
    });
    return inAscii(outputFiles[0].text);
}

/** `import()` of a script whose text Node did not load itself warns. */
function withoutImport(text) {
    const without = text.replace(/\bimport(?=\((?:"\.\/[\w-]+\.mjs"|\w+)\))/g, "__import");
    const left = /\bimport\(.{40}/.exec(without);
    if (left !== null) throw new Error(`the merged script imports what is not known: ${left[0]}`);
    return without;
}

/** Characters beyond ASCII stand in regular expressions alone, where esbuild leaves them. Without them V8 keeps the source in half the room, and reads it sooner. */
function inAscii(text) {
    return text.replace(/[\x80-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Takes the line that makes `require` out of the pieces that never call it. */
export function withoutRequire(out, files, banner) {
    for (const file of files) {
        if (!file.endsWith(".mjs")) continue;
        const text = readFileSync(join(out, file), "utf8");
        if (!text.startsWith(banner)) continue;
        const rest = text.slice(banner.length);
        if (!/\brequire\b/.test(rest)) writeFileSync(join(out, file), rest);
    }
}
