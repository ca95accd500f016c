// After bundling with splitting: one file in place of the many small pieces that a command always loads. Opening a module costs Node about half a
// millisecond, and the pieces shared by different sets of commands are many. Each merged piece stays as a file that hands on its names, for
// those commands that ask for it by itself.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

/**
 * Merges what the outputs of the sources `of` (the ends of their paths) load without `import()`, group by group, into `out/NAME`. `within`: of that
 * only what the outputs of these sources load, too. A piece goes into the first group that has it.
 */
export async function merge(out, { outputs }, groups) {
    const closure = (sources) => {
        const pieces = new Set();
        const add = (path) => {
            if (pieces.has(path)) return;
            for (const { path: next, kind } of outputs[path].imports)
                if (kind === "import-statement" && outputs[next] !== undefined) add(next);
            pieces.add(path);
        };
        for (const source of sources) {
            const path = Object.keys(outputs).find((one) => outputs[one].entryPoint?.endsWith(source.replace(/^\.\//, "")));
            if (path === undefined) throw new Error(`nothing in the bundle comes from ${source}`);
            add(path);
        }
        return pieces;
    };
    const done = new Set();
    for (const { name, of, within } of groups) {
        const only = within === undefined ? null : closure(within);
        const pieces = [...closure(of)].filter((path) => !done.has(path) && (only === null || only.has(path)));
        const files = pieces.map((path) => ({ file: basename(path), names: outputs[path].exports }));
        await mergeOne(out, name, files, new Set([...done].map((path) => basename(path))));
        for (const path of pieces) done.add(path);
    }
    return done.size;
}

/** `before`: pieces of earlier groups. They only hand on names by now, so the file imports from their group itself. */
async function mergeOne(out, name, files, before) {
    const inside = new Set(files.map(({ file }) => file));
    await build({
        stdin: {
            contents: files
                .map(({ file, names }, i) =>
                    names.length === 0
                        ? `import "./${file}";`
                        : `export { ${names.map((one) => `${one} as ${outer(i, one)}`).join(", ")} } from "./${file}";`,
                )
                .join("\n"),
            resolveDir: out,
        },
        outfile: join(out, name),
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node24",
        minifySyntax: true,
        minifyWhitespace: true,
        legalComments: "none",
        plugins: [
            {
                name: "cold",
                setup: (one) =>
                    one.onResolve({ filter: /^\.\// }, ({ path, kind }) =>
                        (inside.has(basename(path)) || before.has(basename(path))) && kind !== "dynamic-import"
                            ? undefined
                            : { path: `./${basename(path)}`, external: true },
                    ),
            },
        ],
        logLevel: "warning",
    });
    const file = join(out, name);
    writeFileSync(file, inAscii(readFileSync(file, "utf8")));
    for (const [i, { file, names }] of files.entries())
        writeFileSync(
            join(out, file),
            names.length === 0
                ? `import "./${name}";\n`
                : `export{${names.map((one) => `${outer(i, one)} as ${one}`).join(",")}}from"./${name}";\n`,
        );
}

/** Characters beyond ASCII stand in regular expressions alone, where esbuild leaves them. Without them V8 keeps the source in half the room, and reads it sooner. */
function inAscii(text) {
    return text.replace(/[\x80-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function outer(i, name) {
    return `p${i}_${name}`;
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
