/** Runs programs with `mode: "mock"` in a process that may write nothing and start nothing, and tells of every socket. Arguments: workspace, program files. */
import { subscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import { load } from "../../../src/run/program.ts";

let sockets = 0;
subscribe("net.client.socket", () => {
    sockets++;
});
const [workspace = "", ...files] = process.argv.slice(2);
const found: Json[] = [];
for (const file of files) {
    const env = { HOME: workspace, XDG_CONFIG_HOME: workspace, XDG_STATE_HOME: workspace, LANG: "seen" };
    const program = await load(file, { root: dirname(file), workspace, env, mode: "mock", trust: true, cache: false });
    const input = JSON.parse(readFileSync(join(dirname(file), "input.json"), "utf8")) as Json;
    const { status, value = null, failure = null, effects } = await program.run(input).result;
    found.push({ status, value, failure: failure as unknown as Json, effects, sockets });
    await program.close();
}
process.stdout.write(JSON.stringify(found));
