// `npm run setup`: everything a checkout needs, nothing run. `npm run setup -- temporal` also brings a Temporal server.
import * as setup from "./lib/setup.mjs";
import { temporal } from "./lib/temporal.mjs";

const wanted = process.argv.slice(2);

try {
    if (wanted.some((one) => one !== "temporal"))
        throw new Error(`set-up: '${wanted.join(" ")}' is not known; \`temporal\` brings a Temporal server`);
    const node = await setup.node();
    await setup.packages(node);
    const missing = await setup.localModel(node);
    if (missing !== null)
        process.stderr.write(`set-up: no local model (${missing}); a scripted model will answer where none is configured\n`);
    if (wanted.includes("temporal")) process.stderr.write(`set-up: the Temporal server is ${(await temporal()).server}\n`);
    process.stderr.write("set-up: ready. The README's five minutes go on from here.\n");
} catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
}
