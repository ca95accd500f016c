/**
 * The commands of a Bash program, as texts: written beside a run's socket, in a folder that is first on its PATH.
 *
 * Boundary: they hand over their arguments and standard input and print what comes back; reading them is the host's (`command.ts`).
 */
import { shellWord } from "../process/word.ts";

export const BASH_CLIENT = String.raw`
import { isUtf8 } from "node:buffer";
import { connect } from "node:net";

const [kind, ...argv] = process.argv.slice(2);
const link = connect(process.env.REMIT_RAS);
link.setEncoding("utf8");
const fail = (message) => {
    process.stderr.write(kind + ": " + message + "\n");
    process.exit(1);
};
link.on("error", () => fail("the run is over"));
let heard = "";
const next = () =>
    new Promise((resolve) => {
        const look = () => {
            const at = heard.indexOf("\n");
            if (at < 0) return false;
            const line = heard.slice(0, at);
            heard = heard.slice(at + 1);
            resolve(JSON.parse(line));
            return true;
        };
        if (look()) return;
        link.on("data", (piece) => {
            heard += piece;
            look();
        });
    });
link.on("close", () => fail("the run is over"));
link.write(JSON.stringify({ hello: process.env.REMIT_RAS_TOKEN, as: "command", kind, argv }) + "\n");
let told = await next();
if (told.input === true) {
    const pieces = [];
    for await (const piece of process.stdin) pieces.push(piece);
    const input = Buffer.concat(pieces);
    if (!isUtf8(input)) fail("standard input is not UTF-8 text");
    link.write(JSON.stringify({ input: input.toString("utf8") }) + "\n");
    told = await next();
}
link.removeAllListeners("close");
link.destroy();
if (told.err) process.stderr.write(told.err + "\n");
process.exitCode = told.code;
if (told.out !== undefined) process.stdout.write(told.out + "\n");
process.stdout.on("error", () => process.exit(told.code));
`;

/** One of the commands; `node` and `client` are absolute paths. */
export function bashCommand(kind: string, node: string, client: string): string {
    return `#!/bin/sh\nexec ${shellWord(node)} ${shellWord(client)} ${kind} "$@"\n`;
}
