// What a bundle took in from other packages comes with their licences, as they ask for.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes `licences.txt` beside a bundle: name, version, declared licence and licence text of every package in it. Fails where one names none. */
export function licences(root, metafile, folder) {
    const packages = new Set(
        Object.keys(metafile.inputs).flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
    );
    const texts = [...packages].sort().map((path) => {
        const { name, version, license } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
        if (license === undefined) throw new Error(`${name} ${version} names no licence, so it cannot be part of the bundle`);
        const file = readdirSync(join(root, path)).find((one) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(one));
        const text = file === undefined ? "" : `\n\n${readFileSync(join(root, path, file), "utf8").trim()}`;
        return `${name} ${version}: ${license}${text}\n`;
    });
    writeFileSync(join(folder, "licences.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
    return texts.length;
}
