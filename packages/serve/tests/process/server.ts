/** A server in a process of its own, for tests that end it, with SIGTERM in good order: `server.ts FOLDER [OPTIONS]`, options of the server as JSON. */
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { openProcess } from "@remit/host";
import { type ServeOptions, Server } from "../../src/index.ts";

const folder = process.argv[2] as string;
const server = await Server.start({
    model: `scripted:${join(folder, "replies.json")}`,
    ledger: join(folder, "ledger.db"),
    process: openProcess({ env: { HOME: folder, PATH: process.env["PATH"] }, cwd: folder }),
    bounds: { back: 60_000 },
    ...(JSON.parse(process.argv[3] ?? "{}") as ServeOptions),
});
// Else a process that is killed keeps nothing of what V8 compiled for the next one.
flushCompileCache();
process.once("SIGTERM", () => void server.stop().then(() => process.exit(0)));
