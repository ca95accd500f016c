// `npm run setup`: everything a checkout needs, nothing run.
import * as setup from "./lib/setup.mjs";

try {
    const node = await setup.node();
    await setup.packages(node);
    const missing = await setup.localModel(node);
    if (missing !== null)
        process.stderr.write(`set-up: no local model (${missing}); a scripted model will answer where none is configured\n`);
    process.stderr.write("set-up: ready. The README's five minutes go on from here.\n");
} catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
}
