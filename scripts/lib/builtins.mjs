// An esbuild plugin for the bundle: two of Node's own modules are not imported at start. Importing `node:process` reads every property of it and
// so opens all three standard streams; commander imports `node:child_process` for commands that are programs of their own, and we have none.
const CONTENTS = {
    "node:process": "module.exports = process;",
    "node:child_process": 'module.exports = { get spawn() { return process.getBuiltinModule("node:child_process").spawn; } };',
};

export function builtins() {
    return {
        name: "builtins",
        setup(build) {
            build.onResolve({ filter: /^node:(process|child_process)$/ }, ({ path, importer }) =>
                path === "node:process" || /[\\/]commander[\\/]/.test(importer) ? { path, namespace: "builtin" } : undefined,
            );
            build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({ contents: CONTENTS[path], loader: "js" }));
        },
    };
}
