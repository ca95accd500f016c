// Running other programs from the set-up scripts. Works on the Node that the machine has, however old.
import { spawn, spawnSync } from "node:child_process";

/** True where the program is on the PATH. */
export function onPath(program) {
    const probe = spawnSync(process.platform === "win32" ? "where" : "which", [program], { encoding: "utf8" });
    return probe.status === 0 ? probe.stdout.split(/\r?\n/)[0].trim() : null;
}

/** Runs a program to its end, its output shown only where it fails. Resolves to true or throws with the last lines. */
export function quietly(program, args, options = {}) {
    return new Promise((resolve, reject) => {
        const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
        let tail = "";
        const keep = (chunk) => {
            tail = (tail + chunk).slice(-4000);
        };
        child.stdout.on("data", keep);
        child.stderr.on("data", keep);
        child.on("error", reject);
        child.on("close", (code) => {
            if (code === 0) resolve(true);
            else reject(new Error(`${program} ${args.join(" ")} ended with ${code}\n${tail.trim()}`));
        });
    });
}

/** Runs a program with this terminal. Resolves to its exit code; passes on Ctrl-C. */
export function attached(program, args, options = {}) {
    return new Promise((resolve, reject) => {
        const child = spawn(program, args, { stdio: "inherit", ...options });
        const pass = (signal) => child.kill(signal);
        process.on("SIGINT", pass);
        process.on("SIGTERM", pass);
        child.on("error", reject);
        child.on("close", (code, signal) => {
            process.off("SIGINT", pass);
            process.off("SIGTERM", pass);
            resolve(signal === "SIGINT" ? 130 : signal ? 143 : (code ?? 1));
        });
    });
}
