/**
 * `remit open`: the console over the ledger of this machine, until Ctrl-C. Nothing can be done in it but look.
 *
 * OPN1: the code of the link stands in no argument of a process, where other users of the machine could read it: the browser gets it from a file of
 *     this user.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLedgerAddress, LedgerError } from "@remit/host";
import { ledgerHere } from "../here.ts";
import { isLedgerThere } from "../ledger.ts";
import { EXIT, paint, plainLine, print, say, UsageError } from "../io.ts";
import { portOf } from "../amounts.ts";
import { serving } from "../serving.ts";
import { untilStopped } from "../stopped.ts";

export default async function open([id]: string[], options: Record<string, unknown>): Promise<number> {
    const ledger = ledgerHere(options);
    if (!isLedgerAddress(ledger) && !isLedgerThere(ledger))
        throw new UsageError(`there is no ledger at ${ledger}`, "remit run FILE makes the first run");
    const { runMeant, Server, ServeError } = await serving();
    const stopped = untilStopped();
    const log = (_level: string, message: string): void => say(plainLine(message));
    const port = options["port"] === undefined ? {} : { port: portOf(String(options["port"])) };
    const server = await Server.start({ view: true, ledger, log, ...port }).catch((error: unknown) => {
        if (error instanceof ServeError) throw new UsageError(error.message, error.hint);
        throw error;
    });
    let page: string | null = null;
    try {
        const to = id === undefined ? "/runs" : `/runs/${encodeURIComponent((await runMeant(server.ledger.store, id)).id)}`;
        const link = `${server.url}/#code=${await server.loginCode()}&to=${to}`;
        print(link);
        say(`The link opens it once; ${paint(process.stderr)("bold", "Ctrl-C")} ends it.`);
        if (options["browser"] !== false && process.stderr.isTTY === true)
            page = show(`${server.url}/#code=${await server.loginCode()}&to=${to}`);
        await stopped;
    } catch (error) {
        if (!(error instanceof LedgerError)) throw error;
        throw new UsageError(error.message, "remit runs lists what there is");
    } finally {
        await server.stop();
        if (page !== null) rmSync(page, { recursive: true, force: true });
    }
    return EXIT.ok;
}

/** OPN1. Gives the folder of the file. Where no browser can be begun, the printed link is what there is. */
function show(link: string): string {
    const folder = mkdtempSync(join(tmpdir(), "remit-open-"));
    const file = join(folder, "open.html");
    writeFileSync(
        file,
        `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${link.replaceAll("&", "&amp;")}">`,
        { mode: 0o600 },
    );
    const [command, ...args] =
        process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
    const child = spawn(command as string, [...args, file], { stdio: "ignore", detached: true });
    child.on("error", () => say("No browser could be begun here: open the link yourself."));
    child.unref();
    return folder;
}
