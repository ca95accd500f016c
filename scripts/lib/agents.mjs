// The coding agents that the tests drive, from npm, each version in a folder of its own in the cache: pinned, installed only where it is missing,
// and all at once or not at all. Their install scripts are not run: what needs one (opencode's, which copies its program) is named directly.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder, environment } from "./setup.mjs";
import { quietly } from "./shell.mjs";

const OPENCODE = "1.18.33";

/**
 * Name → package, version, further packages, the program in `node_modules`, and whether Node runs it. `tested`: part of `npm test`; the others belong
 * to `npm run agents`.
 */
export const AGENTS = {
    opencode: {
        package: "opencode-ai",
        version: OPENCODE,
        // without its install script the package is empty: the program is that of the platform's own package
        only: () => [`${opencodePackage()}@${OPENCODE}`],
        program: () => [opencodePackage(), "bin", process.platform === "win32" ? "opencode.exe" : "opencode"],
        node: false,
        tested: true,
    },
    "qwen-code": {
        package: "@qwen-code/qwen-code",
        version: "0.24.4",
        program: () => ["@qwen-code", "qwen-code", "cli-entry.js"],
        node: true,
        tested: true,
    },
    claude: {
        package: "@agentclientprotocol/claude-agent-acp",
        version: "0.100.0",
        program: () => [".bin", "claude-agent-acp"],
        node: true,
        tested: false,
    },
    codex: {
        package: "@agentclientprotocol/codex-acp",
        version: "2.6.0",
        program: () => [".bin", "codex-acp"],
        node: true,
        tested: false,
    },
    gemini: { package: "@google/gemini-cli", version: "0.61.0", program: () => [".bin", "gemini"], node: true, tested: false },
};

/** Those that `npm test` drives. */
export const TESTED = Object.keys(AGENTS).filter((name) => AGENTS[name].tested);

/** The build for any processor of this kind: half the size of both, and it runs where AVX2 is missing. */
function opencodePackage() {
    const platform = process.platform === "win32" ? "windows" : process.platform;
    const musl = platform === "linux" && existsSync("/etc/alpine-release") ? "-musl" : "";
    return `opencode-${platform}-${process.arch}${process.arch === "x64" ? "-baseline" : ""}${musl}`;
}

export function folderOf(name) {
    return join(cacheFolder(), "agents", `${name}-${AGENTS[name].version}`);
}

/** Path of the agent's program, whether it is there or not. */
export function programOf(name) {
    return join(folderOf(name), "node_modules", ...AGENTS[name].program());
}

/** True where it is installed. */
export function has(name) {
    return existsSync(programOf(name));
}

/** Brings those agents that are missing. Throws with what npm said where one cannot be had. */
export async function install(binary, names) {
    const missing = names.filter((name) => !has(name));
    if (missing.length === 0) return;
    const start = Date.now();
    const what = missing.map((name) => `${AGENTS[name].package} ${AGENTS[name].version}`).join(", ");
    process.stderr.write(`set-up: installing ${what} …\n`);
    await Promise.all(missing.map((name) => installOne(binary, name)));
    process.stderr.write(`set-up: installing ${what}: done in ${((Date.now() - start) / 1000).toFixed(0)} s\n`);
}

async function installOne(binary, name) {
    const agent = AGENTS[name];
    const wanted = agent.only?.() ?? [`${agent.package}@${agent.version}`];
    await installInto(binary, folderOf(name), wanted, agent.program(), `The agent ${agent.package} ${agent.version}`);
}

/** Packages into a folder of their own, all at once or not at all. `program`: path in `node_modules` that has to be there then. */
export async function installInto(binary, target, wanted, program, what) {
    const there = () => existsSync(join(target, "node_modules", ...program));
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const room = mkdtempSync(`${target}.part-`);
    try {
        const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
        await quietly("npm", ["install", "--prefix", room, ...flags, ...wanted], { cwd: room, env: environment(binary) });
        if (!existsSync(join(room, "node_modules", ...program))) throw new Error(`${wanted.join(" ")} has no program`);
        // whoever was first has put the same there
        if (there()) return;
        rmSync(target, { recursive: true, force: true });
        renameSync(room, target);
    } catch (error) {
        if (there()) return;
        throw new Error(
            `${what} could not be installed from npm, and the tests need it: ${
                error instanceof Error ? error.message.split("\n").slice(-4).join(" | ") : String(error)
            }`,
        );
    } finally {
        rmSync(room, { recursive: true, force: true });
    }
}
