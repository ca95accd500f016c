// An esbuild plugin for the bundle: some of Node's own modules are not loaded at start, but when a function of theirs is called. Importing one reads each
// of its properties: those of `node:process` open all three standard streams, those of `node:util` load further modules. A run starts no process and
// no thread and packs nothing unless the program asks for it, and `node:child_process` loads the network, too.
//
// Others have names that an older Node lacks, which would end an import there before the package can say which Node it needs.
import { getBuiltinModule } from "node:process";

const lazy = (name, keys = Object.keys(getBuiltinModule(name))) =>
    `module.exports = { ${keys.map((key) => `get ${key}() { return process.getBuiltinModule("${name}").${key}; }`).join(", ")} };`;

const CONTENTS = {
    "node:process": "module.exports = process;",
    "node:child_process": lazy("node:child_process"),
    "node:module": lazy("node:module"),
    "node:worker_threads": lazy("node:worker_threads"),
    "node:zlib": lazy("node:zlib"),
};
/** Of some files alone: taking over the properties of a module reads them, too. */
const OF_FILES = [
    {
        // it imports the modules themselves
        files: /[\\/]commander[\\/]/,
        contents: {
            "node:util": lazy("node:util", ["stripVTControlCharacters"]),
            "node:fs": 'export default process.getBuiltinModule("node:fs");',
            "node:path": 'export default process.getBuiltinModule("node:path");',
        },
    },
    {
        files: /[\\/]load[\\/]declare\.ts$/,
        contents: { "node:fs": lazy("node:fs", ["existsSync", "globSync", "lstatSync", "readFileSync", "realpathSync", "statSync"]) },
    },
];

export function builtins() {
    return {
        name: "builtins",
        setup(build) {
            build.onResolve({ filter: /^node:/ }, ({ path, importer }) => {
                const of = OF_FILES.findIndex((one) => one.files.test(importer) && path in one.contents);
                if (of === -1) return path in CONTENTS ? { path, namespace: "builtin", pluginData: CONTENTS[path] } : undefined;
                // a module of its own
                return { path: `${path} ${of}`, namespace: "builtin", pluginData: OF_FILES[of].contents[path] };
            });
            build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ pluginData }) => ({ contents: pluginData, loader: "js" }));
        },
    };
}
