// An esbuild plugin for the bundle: what a file imports from a package's index is imported from the file that defines it. An index reaches every
// file of its package, so a bundle split by what each command reaches would otherwise put all of it into one piece that every command loads.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const IMPORT = /^(import|export) \{([^}]*)\} from "@remit\/(\w+)";/gm;
const EXPORT = /^export (?:type )?(?:\{([^}]*)\}|\*(?: as \w+)?) from "(\.[^"]+)";/gm;
const DEFINED = /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class) (\w+)/gm;

/** `root`: folder of the checkout. `changed`: makes what is bundled of a file's text. */
export function direct(root, changed = (text) => text) {
    const tables = new Map();
    const tableOf = (name) => {
        let table = tables.get(name);
        if (table === undefined) {
            table = namesOf(join(root, "packages", name, "src", "index.ts"));
            tables.set(name, table);
        }
        return table;
    };
    return {
        name: "direct",
        setup(build) {
            build.onLoad({ filter: /packages[\\/]\w+[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
                contents: changed(readFileSync(path, "utf8"), path).replace(IMPORT, (_all, verb, names, name) =>
                    rewritten(verb, names, name, tableOf(name)),
                ),
                loader: "ts",
                resolveDir: dirname(path),
            }));
        },
    };
}

/** One line as before, so that positions in messages stay. */
function rewritten(verb, names, name, table) {
    const lines = [];
    for (const one of split(names)) {
        if (one.startsWith("type ")) continue;
        const [outer] = one.split(" as ");
        const found = table.get(outer.trim());
        if (found === undefined) lines.push(`${verb} { ${one} } from "@remit/${name}";`);
        else {
            const inner = one.split(" as ").at(-1).trim();
            lines.push(`${verb} { ${found.name}${found.name === inner ? "" : ` as ${inner}`} } from ${JSON.stringify(found.file)};`);
        }
    }
    return lines.join(" ") + "\n".repeat(names.split("\n").length - 1);
}

/** Exported name → the file that defines it and its name there. */
function namesOf(index) {
    const table = new Map();
    for (const [, names, from] of readFileSync(index, "utf8").matchAll(EXPORT)) {
        const file = resolve(dirname(index), from);
        if (names === undefined) {
            for (const [, name] of readFileSync(file, "utf8").matchAll(DEFINED)) table.set(name, { file, name });
            continue;
        }
        for (const one of split(names)) {
            if (one.startsWith("type ")) continue;
            const [name, outer = name] = one.split(" as ").map((part) => part.trim());
            table.set(outer, { file, name });
        }
    }
    return table;
}

function split(names) {
    return names
        .split(",")
        .map((one) => one.trim())
        .filter((one) => one !== "");
}
