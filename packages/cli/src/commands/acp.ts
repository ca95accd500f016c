/** `remit acp`: a program as an agent that editors talk to, over standard input and output, until the editor is gone. */
import { LedgerError } from "@remit/host";
import { VERSION } from "../version.ts";
import { ledgerHere } from "../here.ts";
import { EXIT, plainLine, say, UsageError } from "../io.ts";
import { hostOptions, limitsOf, untrustedGate } from "../running.ts";
import { serving } from "../serving.ts";
import { untilStopped } from "../stopped.ts";

export default async function acp([program]: string[], options: Record<string, unknown>): Promise<number> {
    const { serveAcp, ServeError } = await serving();
    const { process: on, model, workspace, ...load } = hostOptions(options);
    const { untrusted } = options;
    const stopped = untilStopped();
    try {
        const serves = await serveAcp({
            ...(program === undefined ? {} : { program }),
            ...(model === undefined ? {} : { model }),
            ...(workspace === undefined ? {} : { workspace }),
            ...(on === undefined ? {} : { process: on }),
            ledger: ledgerHere(options),
            load: { ...load, ...(untrusted === undefined ? {} : { untrusted: untrustedGate(String(untrusted)) }) },
            limits: limitsOf(options),
            version: VERSION,
            input: process.stdin,
            output: process.stdout,
            log: (message) => say(plainLine(message)),
        });
        await Promise.race([serves.closed, stopped]);
        await serves.close();
    } catch (error) {
        if (error instanceof ServeError) throw new UsageError(error.message, error.hint);
        if (error instanceof LedgerError) throw new UsageError(error.message);
        throw error;
    }
    await on?.close();
    return EXIT.ok;
}
