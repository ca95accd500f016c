// `npm run extension [FOLDER]`: the browser extension for Chrome and for Firefox, each as a folder to load and as a zip to hand on or to publish;
// default: dist/extension. The zips stand beside the folder.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import JSZip from "jszip";
import { root } from "./lib/setup.mjs";

const serve = join(root, "packages", "serve");
const own = join(serve, "extension");
const browsers = ["chrome", "firefox"];

/** The console's views speak to the server through the panel's connection in place of the console's own requests. */
const overPanel = {
    name: "over-panel",
    setup: (building) => building.onResolve({ filter: /^\.\/api\.ts$/ }, () => ({ path: join(own, "api.ts") })),
};

async function bundle(name, format) {
    const { outputFiles } = await build({
        entryPoints: [join(own, `${name}.ts`)],
        absWorkingDir: root,
        bundle: true,
        write: false,
        format,
        platform: "browser",
        target: ["chrome137", "firefox140"],
        legalComments: "inline",
        alias: { "@remit/language": join(root, "packages", "language", "src", "text", "plain.ts") },
        plugins: [overPanel],
        logLevel: "warning",
    });
    return outputFiles[0].contents;
}

/** The same bytes whenever and wherever it is made: no times of files. */
async function zipped(folder, file) {
    const zip = new JSZip();
    for (const name of readdirSync(folder).sort())
        zip.file(name, readFileSync(join(folder, name)), { date: new Date("1980-01-01T00:00:00Z") });
    writeFileSync(file, await zip.generateAsync({ type: "uint8array", compression: "DEFLATE", compressionOptions: { level: 9 } }));
}

/** Builds both; gives the folder of each, and its zip. */
export async function extension(out = join(root, "dist", "extension")) {
    // What runs in a page is run again for each call: it leaves no name behind.
    const files = { "panel.js": await bundle("panel", "esm"), "page.js": await bundle("page", "iife") };
    const made = await Promise.all(
        browsers.map(async (browser) => {
            const folder = join(out, browser);
            rmSync(folder, { recursive: true, force: true });
            mkdirSync(folder, { recursive: true });
            for (const [name, contents] of Object.entries(files)) writeFileSync(join(folder, name), contents);
            for (const name of ["panel.html", "panel.css"]) cpSync(join(own, name), join(folder, name));
            for (const name of ["style.css", "icon.svg"]) cpSync(join(serve, "console", name), join(folder, name));
            if (browser === "chrome") cpSync(join(own, "background.js"), join(folder, "background.js"));
            const json = (name) => JSON.parse(readFileSync(join(own, `${name}.json`), "utf8"));
            writeFileSync(join(folder, "manifest.json"), `${JSON.stringify({ ...json("manifest"), ...json(browser) }, null, 4)}\n`);
            const zip = join(dirname(out), `remit-extension-${browser}.zip`);
            await zipped(folder, zip);
            return { [browser]: { folder, zip } };
        }),
    );
    return Object.assign({}, ...made);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
    const made = await extension(process.argv[2] === undefined ? undefined : resolve(process.argv[2]));
    for (const { folder, zip } of Object.values(made))
        process.stdout.write(`${relative(process.cwd(), folder)}, ${relative(process.cwd(), zip)}\n`);
}
