/**
 * The tests' agent as a process: the protocol over its standard input and output. What it does wrong is said by `FAULT` in its environment, `LOG`
 * names the file that tells how its session went. Its home and its working folder are whatever it was started in.
 */
import { appendFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { actor } from "./acting.ts";

const fault = process.env.FAULT ?? "";
const raw = (line: string | Uint8Array): void => void process.stdout.write(line);
const log = (method: string): void => {
    if (process.env.LOG !== undefined) appendFileSync(process.env.LOG, `${method}\n`);
};

if (fault === "dies at once") {
    process.stderr.write(`fatal: no licence ${process.env.API_KEY ?? ""}\n`);
    process.exit(3);
}
if (fault === "garbage") raw('warning: this is no JSON\n[1,2]\n"text"\n{"jsonrpc":"2.0","id":99,"result":{}}\n{"foo":1}\nnull\n');
if (fault === "ignores the end") {
    process.stdin.on("end", () => undefined);
    process.on("SIGTERM", () => undefined);
    setInterval(() => undefined, 1000);
}

async function crash(): Promise<void> {
    process.stderr.write(`panic: out of luck ${process.env.API_KEY ?? ""}${process.env.AFTER ?? ""}\n`);
    await new Promise((done) => setTimeout(done, 50));
    log("closed");
    process.exit(7);
}

const app = actor({ fault, home: process.env.HOME ?? "/nowhere", raw, crash, log });
const connection = app.connect(
    ndJsonStream(Writable.toWeb(process.stdout) as WritableStream<Uint8Array>, Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
);
connection.closed.then(() => log("closed"));
