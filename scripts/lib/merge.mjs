// After bundling with splitting: one script in place of the many small pieces that a command always loads. Opening a module costs Node about half a
// millisecond, and V8 keeps the compiled functions of a script, where those of a module are compiled again in each process. Each merged piece stays
// as a module that hands on its names, for those commands and imports that ask for it by itself: in Node from the script, in a page from a module
// that holds the same pieces as far as they are free of Node.
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { build } from "esbuild";
import { isLater } from "./later.mjs";
import { root } from "./setup.mjs";

/** What every `remit run` of a program that is in the cache loads; the first is the command. */
export const RUN = ["cli/src/main.ts", "commands/run.ts", "ledger/sqlite.ts", "config/config.ts", "config/check.ts"];
/** Some libraries of the Node world still call require. Without an import, so that a page can load a piece that never calls it. */
export const BANNER = "const require=globalThis.process?.getBuiltinModule('node:module').createRequire(import.meta.url);\n";

/** `imports` of package.json: from where pieces that a page can use hand on their names. */
export const IMPORTS = { "#pure": { browser: "./dist/pure-all.mjs", default: "./dist/all.mjs" } };

/**
 * Merges what the outputs of the sources `of` (the ends of their paths) load without `import()` into `core.cjs`, and what of it is for later into
 * `later.cjs`. The `start` of the first is that of the first source, its `atOnce` and `later` evaluate every piece and give the names.
 * `within`: what the outputs of these sources load of that is for pages, too.
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
        later: isLater(Object.keys(outputs[path].inputs)),
        names: outputs[path].exports.map((name) => ({ name, outer: `p${i}_${name}` })),
    }));
    const pure = pieces.filter((one) => one.pure);
    const page =
        pure.length === 0
            ? null
            : await bundled(out, pure, {
                  format: "esm",
                  contents: pure.map((one) => `export { ${listed(one)} } from ${JSON.stringify(one.file)};`).join("\n"),
              });
    const merged = new Map(pieces.map(({ file, names }) => [file, new Map(names.map(({ name, outer }) => [name, outer]))]));
    const atOnce = pieces.filter((one) => !one.later);
    const later = pieces.filter((one) => one.later);
    const table = (some) => `${some.map((one) => `import { ${listed(one)} } from ${JSON.stringify(one.file)};`).join("\n")}
export const table = () => ({ ${outers(some)} });`;
    const rest = await bundled(out, later, { format: "cjs", contents: table(later), others: { name: "core", merged } });
    const taken = [...new Set(rest.match(/(?<=\bimport_core\d*\.)p\d+_\w+/g))];
    const core = await bundled(out, atOnce, {
        format: "cjs",
        contents: `export { start } from ${JSON.stringify(resolve(root, pieceOf(of[0])))};
export const atOnce = () => require("table").table();
export const later = () => require("later").table();
export const taken = () => require("taken").table();`,
        modules: { table: table(atOnce), taken: table(pickedFrom(atOnce, taken)) },
        others: { name: "later", merged },
    });
    if (page !== null) writeFileSync(join(out, "pure-all.mjs"), page);
    // The starter evaluates each by itself and brings what imports and opens then. The pieces take files beside them by their own ending.
    const head = [
        '"use strict";const __here=require("node:url").pathToFileURL(__filename.replace(/cjs$/,"mjs")).href;',
        "const __import=module.importing??(path=>import(path));",
    ].join("\n");
    // The first use of a name puts the whole table in its place.
    const opens = `let __opens=false,__later=new Proxy({},{get:(_,name)=>{
if(__opens)throw new Error(name+" is used while what uses it is evaluated: take its file out of scripts/lib/later.mjs");
__opens=true;const table=(module.opening??require)("./later.cjs").later(module.exports.taken());table.table=()=>table;__later=table;return table[name]}});`;
    script(out, "core.cjs", [head, opens, named(withoutImport(core), "later", "__later.")].join("\n"));
    const body = named(withoutImport(rest), "core", "");
    // The brackets around the function let V8 compile it with the script: without them it reads a megabyte twice.
    script(out, "later.cjs", `${head}\nexports.later=(({${taken}})=>{const module={exports:{}};${body}\nreturn module.exports.table()});`);
    writeFileSync(
        join(out, "all.mjs"),
        `import { createRequire } from "node:module";
const core=createRequire(import.meta.url)("./core.cjs");
export const{${outers(atOnce)}}=core.atOnce();
export const{${outers(later)}}=core.later();
`,
    );
    for (const { file, pure, names } of pieces)
        writeFileSync(
            file,
            `export{${names.map(({ name, outer }) => `${outer} as ${name}`).join(",")}}from"${pure ? "#pure" : "./all.mjs"}";\n`,
        );
    const inPages = closure(within, () => true);
    const ofPages = new Map([...merged].filter(([file]) => pure.some((one) => one.file === file)));
    for (const path of Object.keys(outputs)) {
        const file = resolve(root, path);
        if (!file.endsWith(".mjs") || merged.has(file)) continue;
        if (inPages.has(path)) takingFrom(file, "#pure", ofPages);
        else takingFrom(file, relative(dirname(file), join(out, "all.mjs")).replace(/^(?!\.)/, "./"), merged);
    }
    // A piece, and what makes a file of its own of one, stays where a module names it or a program can import it.
    const all = Object.entries(outputs).map(([path, { entryPoint }]) => ({ file: resolve(root, path), entryPoint }));
    const mayGo = all.filter(({ file, entryPoint }) => (entryPoint === undefined ? merged.has(file) : isLater([entryPoint])));
    const staying = all.filter((one) => !mayGo.includes(one)).map(({ file }) => file);
    const used = new Set([...staying, join(out, "core.cjs"), join(out, "later.cjs")].flatMap(taking));
    for (const { file } of mayGo) if (!used.has(basename(file))) rmSync(file);
    return pieces.length;
}

/** Names of the modules beside it that the text of a file names. */
function taking(file) {
    return [...readFileSync(file, "utf8").matchAll(/"\.\/([^"]+\.mjs)"/g)].map(([, name]) => name);
}

/** What esbuild calls `module` becomes what stands before its names. */
function named(text, module, before) {
    const whole = new RegExp(`\\brequire\\("${module}"\\)\\.`, "g");
    const first = new RegExp(`\\brequire\\("${module}"\\)`, "g");
    return text
        .replace(whole, before)
        .replace(first, "0")
        .replace(new RegExp(`\\bimport_${module}\\d*\\.`, "g"), before);
}

/** A module takes what it took from pieces from a module that hands on all names: opening each of them would cost more than what they hand on. */
function takingFrom(file, at, merged) {
    const text = readFileSync(file, "utf8");
    const taken = from(text, dirname(file), at, merged);
    if (taken !== text) writeFileSync(file, taken);
}

/** `text`, in `folder`, with `at` in place of what is merged. */
function from(text, folder, at, merged) {
    return text.replace(/\b(import|export)(?:\{([^}]*)\}from)?"(\.{1,2}\/[^"]+)";/g, (line, verb, said, path) => {
        const names = merged.get(resolve(folder, path));
        if (names === undefined) return line;
        if (said === undefined) return `${verb}"${at}";`;
        const outer = said.split(",").map((one) => {
            const [name, inner = name] = one.split(" as ");
            return `${names.get(name)} as ${inner}`;
        });
        return `${verb}{${outer.join(",")}}from"${at}";`;
    });
}

function listed(piece) {
    return piece.names.map(({ name, outer }) => `${name} as ${outer}`).join(", ");
}

/** The pieces with these of their names. */
function pickedFrom(pieces, outer) {
    const wanted = new Set(outer);
    return pieces
        .map((one) => ({ ...one, names: one.names.filter((name) => wanted.has(name.outer)) }))
        .filter((one) => one.names.length > 0);
}

function outers(pieces) {
    return pieces.flatMap((one) => one.names.map(({ outer }) => outer)).join(",");
}

/**
 * `modules`: texts of modules beside the pieces, by name. `others`: what the pieces take from other merged ones comes from a module of this name.
 * What they import otherwise stays an import.
 */
async function bundled(out, pieces, { format, contents, modules = {}, others = null }) {
    const inside = new Set(pieces.map(({ file }) => file));
    const outside = others === null ? null : new Map([...others.merged].filter(([file]) => !inside.has(file)));
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
                        Object.hasOwn(modules, path)
                            ? { path, namespace: "text" }
                            : path === others?.name || path === "later"
                              ? { path, external: true }
                              : undefined,
                    );
                    if (outside !== null)
                        one.onLoad({ filter: /\.mjs$/ }, ({ path }) => ({
                            contents: from(readFileSync(path, "utf8"), dirname(path), others.name, outside),
                        }));
                    one.onLoad({ filter: /.*/, namespace: "text" }, ({ path }) => ({ contents: modules[path], resolveDir: out }));
                },
            },
        ],
        logLevel: "warning",
    });
    return inAscii(outputFiles[0].text);
}

/** Its first line names it. */
function script(out, name, text) {
    writeFileSync(join(out, name), `//${createHash("sha256").update(text).digest("hex").slice(0, 32)}\n${text}`);
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
