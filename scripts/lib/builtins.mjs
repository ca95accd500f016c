// An esbuild plugin for the bundle: some of Node's own modules are not loaded at start, but when a function of theirs is called. Importing one reads each
// of its properties: those of `node:process` open all three standard streams, those of `node:util` load further modules. A run starts no process and
// no thread and packs nothing unless the program asks for it, and `node:child_process` loads the network, too.
import { getBuiltinModule } from "node:process";

const lazy = (name, keys = Object.keys(getBuiltinModule(name))) =>
    `module.exports = { ${keys.map((key) => `get ${key}() { return process.getBuiltinModule("${name}").${key}; }`).join(", ")} };`;

const CONTENTS = {
    "node:process": "module.exports = process;",
    "node:child_process": lazy("node:child_process"),
    "node:worker_threads": lazy("node:worker_threads"),
    "node:zlib": lazy("node:zlib"),
};
/** Of commander alone, which imports the modules themselves: taking over the properties of one reads them, too. */
const COMMANDER = {
    "node:util": lazy("node:util", ["stripVTControlCharacters"]),
    "node:fs": 'export default process.getBuiltinModule("node:fs");',
    "node:path": 'export default process.getBuiltinModule("node:path");',
};

export function builtins() {
    return {
        name: "builtins",
        setup(build) {
            build.onResolve({ filter: /^node:/ }, ({ path, importer }) =>
                path in CONTENTS || (path in COMMANDER && /[\\/]commander[\\/]/.test(importer))
                    ? { path, namespace: "builtin" }
                    : undefined,
            );
            build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
                contents: CONTENTS[path] ?? COMMANDER[path],
                loader: "js",
            }));
        },
    };
}
