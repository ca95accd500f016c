#!/usr/bin/env node
// Starts the command with a Node that is new enough: the present one, else the one the set-up put into the checkout.
// In a checkout it runs the sources; in the published package, the bundle beside it.
const wanted = 24;

if (Number(process.versions.node.split(".")[0]) >= wanted) {
    const at = (path) => process.getBuiltinModule("node:url").fileURLToPath(new URL(path, import.meta.url));
    const script = at("../dist/core.cjs");
    if (process.getBuiltinModule("node:fs").existsSync(script)) await (await import("./start.mjs")).start(script, process.argv.slice(2));
    else await (await import("../src/main.ts")).start(process.argv.slice(2));
} else {
    const { existsSync } = await import("node:fs");
    const { constants } = await import("node:os");
    const { dirname, join } = await import("node:path");
    const { fileURLToPath } = await import("node:url");
    const here = dirname(fileURLToPath(import.meta.url));
    const platform = process.platform === "win32" ? "win" : process.platform;
    const own = join(here, "..", "..", "..", ".tools", "node", "node_modules", `node-${platform}-${process.arch}`, "bin", "node");
    if (!existsSync(own)) {
        process.stderr.write(`remit needs Node ${wanted} or newer; this is ${process.versions.node}. Install it (npm install -g node@${wanted}) or, in a checkout, run: npm run setup\n`);
        process.exit(2);
    }
    const { spawn } = await import("node:child_process");
    const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
    const guard = guarded(spawn, child.pid);
    // A terminal sends Ctrl-C to the child as well. The child counts each kind of signal apart, so one Ctrl-C stays one of each.
    let forwarded = null;
    const carry = (got, sent) => process.on(got, () => {
        forwarded = { got, sent };
        child.kill(sent);
    });
    for (const [got, sent] of [["SIGINT", "SIGTERM"], ["SIGTERM", "SIGTERM"], ["SIGHUP", "SIGHUP"]]) carry(got, sent);
    child.on("close", (code, signal) => {
        guard.kill("SIGKILL");
        if (signal === null) process.exit(code);
        const own = forwarded?.sent === signal ? forwarded.got : signal;
        process.removeAllListeners(own);
        process.exitCode = 128 + (constants.signals[own] ?? 0);
        process.kill(process.pid, own);
    });
}

// A shell that reads a pipe of this process: when this process is gone, it ends the child, with a second to end in good order.
function guarded(spawn, pid) {
    const script = "trap '' HUP INT QUIT TERM; read -r line; kill -TERM $1; sleep 1; kill -KILL $1";
    const guard = spawn("/bin/sh", ["-c", script, "remit-guard", String(pid)], { cwd: "/", stdio: ["pipe", "ignore", "ignore"], detached: true });
    // Without a `/bin/sh` there is no guard.
    guard.on("error", () => undefined);
    guard.unref();
    return guard;
}
