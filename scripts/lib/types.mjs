// The types of the package: one declaration file an entry, and what several entries declare in files that they share, so that a class is one class.
// What no entry leads to is left out, and with it the libraries that it names: what is left compiles with nothing else installed, but for the parts
// whose package a program installs itself.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { ENTRIES } from "./manifest.mjs";
import { root } from "./setup.mjs";
import { quietly } from "./shell.mjs";

/** What the types may name: Node's, and packages that a program installs. */
const OUTSIDE = /^(node:|@temporalio\/|vitest$)/;

/** Writes them into the folder `to`. Throws where one needs a package that a program does not have. */
export async function declarations(to) {
    const room = mkdtempSync(join(tmpdir(), "remit-types-"));
    try {
        await compile(room);
        const found = (name) => join(room, name, "src", "index.d.ts");
        const own = {
            name: "own",
            resolveId: (id) => (id.startsWith("@remit/") ? found(id.slice("@remit/".length)) : undefined),
        };
        const input = Object.fromEntries(
            Object.entries(ENTRIES).map(([name, source]) => [
                name,
                join(room, relative(join(root, "packages"), resolve(root, source))).replace(/\.ts$/, ".d.ts"),
            ]),
        );
        const warned = [];
        const bundle = await rollup({
            input,
            plugins: [own, dts()],
            external: (id) => !/^[./]/.test(id) && !id.startsWith("@remit/"),
            onwarn: (warning) => warned.push(warning),
        });
        const { output } = await bundle.write({
            dir: to,
            entryFileNames: "[name].d.ts",
            chunkFileNames: "shared-[hash].d.ts",
            // A program of an older target knows these types, too.
            banner: '/// <reference lib="esnext.disposable" />',
        });
        for (const { fileName, code } of output) {
            const named = [...code.matchAll(/^(?:import|export) .*from '([^'.][^']*)';$/gm)].map(([, id]) => id);
            const strange = named.filter((id) => !OUTSIDE.test(id));
            if (strange.length > 0) throw new Error(`the types in ${fileName} name ${strange.join(", ")}, which a program may not have`);
        }
    } finally {
        rmSync(room, { recursive: true, force: true });
    }
}

/** A declaration file for each source of the packages that entries come from. */
async function compile(to) {
    const config = join(to, "tsconfig.json");
    const compilerOptions = {
        noEmit: false,
        // `npm run check` has checked them: what is wanted here is what is written
        noCheck: true,
        declaration: true,
        emitDeclarationOnly: true,
        stripInternal: true,
        rootDir: join(root, "packages"),
        outDir: to,
        typeRoots: [join(root, "node_modules", "@types")],
    };
    const include = [...new Set(Object.values(ENTRIES).map((source) => join(root, source.split("/").slice(0, 4).join("/"))))];
    writeFileSync(config, JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include }));
    await quietly(process.execPath, [join(root, "node_modules", "typescript-7", "bin", "tsc"), "-p", config], { cwd: root });
    for (const file of readdirSync(to, { recursive: true }).filter((path) => path.endsWith(".d.ts"))) {
        const text = readFileSync(join(to, file), "utf8");
        writeFileSync(join(to, file), text.replace(/((?:from|import\() ?")(\.[^"]+)\.ts"/g, '$1$2.js"'));
    }
}
