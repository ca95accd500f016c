// Harbor's own validator of trajectories (Apache-2.0), in the cache folder: the tests of ATIF compare with it.
// Its package asks for Python 3.12 because of its other parts and brings a hundred packages; the validator and its models run on 3.11 and need
// pydantic alone, so it is installed without what it depends on.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, pip, step } from "./setup.mjs";
import { quietly } from "./shell.mjs";

const HARBOR = "harbor==0.25.0";
const PYDANTIC = "pydantic==2.13.4";
const STAMP = `${HARBOR} ${PYDANTIC}`;

/** Folder that `PYTHONPATH` names for `python3 -m harbor.utils.trajectory_validator`. */
export const harborFolder = () => join(cacheFolder(), "harbor");

/** Installs it where it is not there, and gives its folder. */
export async function harbor() {
    const folder = harborFolder();
    const stamp = join(folder, ".version");
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === STAMP) return folder;
    try {
        await step("installing Harbor's validator of trajectories with pip (30 MB, once)", async () => {
            const python = await pip();
            const room = `${folder}.${process.pid}`;
            const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", room];
            mkdirSync(room, { recursive: true, mode: 0o700 });
            try {
                await quietly(python, [...install, "--no-deps", "--ignore-requires-python", HARBOR]);
                await quietly(python, [...install, PYDANTIC]);
                await quietly(python, ["-c", "import harbor.utils.trajectory_validator"], { env: { ...process.env, PYTHONPATH: room } });
                writeFileSync(join(room, ".version"), STAMP);
                rmSync(folder, { recursive: true, force: true });
                renameSync(room, folder);
            } finally {
                rmSync(room, { recursive: true, force: true });
            }
        });
    } catch (error) {
        throw new Error(
            `The tests of ATIF need Harbor's validator (${HARBOR}, ${PYDANTIC} from PyPI), and it could not be installed: ` +
                `${error instanceof Error ? error.message : String(error)}. Install Python 3.11 or newer with pip, then run this again.`,
        );
    }
    return folder;
}
