// Jest, which one of the tests' hooks is for: pinned, in a folder of its own in the cache.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installInto } from "./agents.mjs";
import { cacheFolder } from "./setup.mjs";

const VERSION = "30.5.2";
const PROGRAM = ["jest", "bin", "jest.js"];

/** The folder in whose `node_modules` it is, installed where it is missing. */
export async function jest(binary) {
    const target = join(cacheFolder(), "jest", VERSION);
    if (!existsSync(join(target, "node_modules", ...PROGRAM))) {
        process.stderr.write(`set-up: installing jest ${VERSION} …\n`);
        await installInto(binary, target, [`jest@${VERSION}`], PROGRAM, `jest ${VERSION}`);
    }
    return target;
}
