// Runs samples one after the other in one process, each in its own folder: `node together.mjs REPORT FILE…`. Most of what a sample takes is to load the
// library. REPORT becomes a JSON record, file → null or what it threw; a sample that ends the process, or that nothing goes on with, is the last in it.
import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const [report, ...files] = process.argv.slice(2);
const ended = {};
for (const file of files) {
    process.chdir(dirname(file));
    ended[file] = "the process ended in this sample";
    writeFileSync(report, JSON.stringify(ended));
    ended[file] = await import(pathToFileURL(file)).then(
        () => null,
        (error) => String(error?.stack ?? error),
    );
}
writeFileSync(report, JSON.stringify(ended));
