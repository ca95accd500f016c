// What the package `remit-lang` says of itself. The `exports` of the root's package.json are the one table of what can be imported: in a checkout
// they name sources, here the bundled entries of the same names.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { IMPORTS } from "./merge.mjs";
import { root } from "./setup.mjs";

const read = (...path) => JSON.parse(readFileSync(join(root, ...path, "package.json"), "utf8"));
const { name, version, description, license, engines, exports } = read();
const host = read("packages", "host");

/** `.` → `index`, `./serve/client` → `serve-client`. All entries stand in one folder: a piece finds the files of the package from where it is. */
const entryOf = (subpath) => (subpath === "." ? "index" : subpath.slice(2).replaceAll("/", "-"));

/** Runs in a workflow, whose bundle takes it from here: it is a file by itself. */
export const WORKFLOW = "temporal-workflow";

/** Entry → its source, from the root. */
export const ENTRIES = Object.fromEntries(Object.entries(exports).map(([subpath, source]) => [entryOf(subpath), source]));

/** Temporal's SDK has native parts, and is larger than all else: it is installed where it is wanted. Package → the version that is tested. */
const temporal = Object.fromEntries(
    Object.entries(read("packages", "temporal").dependencies).filter(([one]) => one.startsWith("@temporalio/")),
);
export const FOR_TEMPORAL = Object.keys(temporal);
const peers = {
    ...Object.fromEntries(Object.entries(temporal).map(([one, at]) => [one, `^${at}`])),
    ...host.peerDependencies,
    // The types of `temporal` and of `testing/node-test` name some of Node's.
    "@types/node": "*",
};

export const manifest = {
    ...{ name, version, description, license, type: "module", sideEffects: ["./dist/register.mjs"], engines },
    keywords: ["agents", "llm", "language", "mcp", "acp", "workflow"],
    bin: read("packages", "cli").bin,
    exports: {
        ...Object.fromEntries(
            Object.keys(exports).map((subpath) => [
                subpath,
                { types: `./types/${entryOf(subpath)}.d.ts`, default: `./dist/${entryOf(subpath)}.mjs` },
            ]),
        ),
        "./schema/*": "./schema/*",
        "./package.json": "./package.json",
    },
    imports: { "#temporal": "./dist/temporal.mjs", ...IMPORTS },
    files: ["bin", "dist", "prebuilt", "schema", "templates", "types"],
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((one) => [one, { optional: true }])),
};

/** `npm create remit-lang` installs it, and with it the package, whose command it starts. */
export const createManifest = {
    ...{ name: `create-${name}`, version, license, type: "module", engines },
    description: "Makes a project for Remit: npm create remit-lang",
    bin: "./bin/create.mjs",
    dependencies: { [name]: version },
};

/** Puts a module before `temporal.mjs` that says what has to be installed, where that is missing. */
export function onDemand(out, { outputs }) {
    const path = Object.keys(outputs).find((one) => basename(one) === "temporal.mjs");
    const names = outputs[path].exports;
    writeFileSync(join(out, "temporal-sdk.mjs"), readFileSync(join(out, "temporal.mjs")));
    writeFileSync(join(out, "temporal.mjs"), entryFor("remit-lang/temporal", temporal, "./temporal-sdk.mjs", names));
}

/** Puts a module before each entry that says which Node is needed, where the present one is older; an import of what that Node lacks fails later. */
export function guarded(out) {
    const wanted = /\d+/.exec(engines.node)[0];
    writeFileSync(
        join(out, "node.mjs"),
        `const node = globalThis.process?.versions?.node;
if (node !== undefined && Number(node.split(".")[0]) < ${wanted}) {
    const error = new Error(\`${name} needs Node ${wanted} or newer; this is \${node}. Install it (npm install -g node@${wanted}) and start the program with it.\`);
    error.name = "UnsupportedNode";
    // Where it was imported from is not what is wrong.
    error.stack = \`\${error.name}: \${error.message}\`;
    throw Object.assign(error, { code: "ERR_UNSUPPORTED_NODE" });
}
`,
    );
    for (const entry of Object.keys(ENTRIES)) {
        const path = join(out, `${entry}.mjs`);
        if (entry !== WORKFLOW) writeFileSync(path, `import"./node.mjs";\n${readFileSync(path, "utf8")}`);
    }
}

function entryFor(subpath, packages, module, names) {
    const wanted = Object.entries(packages).map(([one, at]) => `${one}@${at}`);
    return `import { existsSync } from "node:fs";
import { createRequire } from "node:module";
const missing = ${JSON.stringify(Object.keys(packages))}.filter((name) => {
    try {
        import.meta.resolve(name);
        return false;
    } catch (error) {
        if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
        return true;
    }
});
if (missing.length > 0) {
    // npm's global folder has no package.json
    const isGlobal = !existsSync(new URL("../../../package.json", import.meta.url));
    const install = \`npm install\${isGlobal ? " --global" : ""} ${wanted.join(" ")}\`;
    const needs = \`${subpath} needs \${missing.join(", ")}, which \${missing.length === 1 ? "is" : "are"} not installed\`;
    throw Object.assign(new Error(\`\${needs}. Install with: \${install}\`), { code: "ERR_MODULE_NOT_FOUND", needs, install });
}
// Without an await, so that it can be required, too.
export const { ${names.join(", ")} } = createRequire(import.meta.url)(${JSON.stringify(module)});
`;
}
