// An esbuild plugin for the bundle: some of Node's own modules are not imported at start. Importing one reads each of its properties: those of
// `node:process` open all three standard streams, those of `node:util` load further modules. commander imports `node:child_process` for commands
// that are programs of their own, and we have none.
const CONTENTS = {
    "node:process": "module.exports = process;",
    "node:child_process": 'module.exports = { get spawn() { return process.getBuiltinModule("node:child_process").spawn; } };',
    "node:util":
        'module.exports = { get stripVTControlCharacters() { return process.getBuiltinModule("node:util").stripVTControlCharacters; } };',
};

export function builtins() {
    return {
        name: "builtins",
        setup(build) {
            build.onResolve({ filter: /^node:(process|child_process|util)$/ }, ({ path, importer }) =>
                path === "node:process" || /[\\/]commander[\\/]/.test(importer) ? { path, namespace: "builtin" } : undefined,
            );
            build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({ contents: CONTENTS[path], loader: "js" }));
        },
    };
}
