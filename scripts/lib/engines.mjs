// Deno and Bun, in which the tests count steps as in Node: pinned, each in a folder of its own in the cache. What npm's `deno` and `bun` do when they
// are installed is done here: the program is that of the platform's own package.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installInto } from "./agents.mjs";
import { cacheFolder } from "./setup.mjs";

const windows = process.platform === "win32";
const musl = process.platform === "linux" && existsSync("/etc/alpine-release");

const ENGINES = {
    deno: {
        version: "2.9.6",
        package: `@deno/${process.platform}-${process.arch}${process.platform === "linux" ? "-glibc" : ""}`,
        program: [windows ? "deno.exe" : "deno"],
    },
    bun: {
        version: "1.4.5",
        package: `@oven/bun-${windows ? "windows" : process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}${musl ? "-musl" : ""}`,
        program: ["bin", windows ? "bun.exe" : "bun"],
    },
};

/** Paths of the programs by name, installed where they are missing (42 and 52 MB, 100 MB unpacked). Throws with what npm said. */
export async function engines(binary) {
    const found = await Promise.all(Object.entries(ENGINES).map(async ([name, engine]) => [name, await one(binary, name, engine)]));
    return Object.fromEntries(found);
}

async function one(binary, name, engine) {
    const target = join(cacheFolder(), "engines", `${name}-${engine.version}`);
    const program = [...engine.package.split("/"), ...engine.program];
    if (!existsSync(join(target, "node_modules", ...program))) {
        process.stderr.write(`set-up: installing ${name} ${engine.version} …\n`);
        await installInto(binary, target, [`${engine.package}@${engine.version}`], program, `${name} ${engine.version}`);
    }
    return join(target, "node_modules", ...program);
}
