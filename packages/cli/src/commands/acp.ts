/** `remit acp`: a program as an agent that editors talk to, over standard input and output, until the editor is gone. */
import { VERSION } from "../version.ts";
import { ledgerHere } from "../here.ts";
import { EXIT, plainLine, say } from "../io.ts";
import { hostOptions, limitsOf, untrusted } from "../running.ts";
import { notBegun, serving } from "../serving.ts";
import { untilStopped } from "../stopped.ts";

export default async function acp([program]: string[], options: Record<string, unknown>): Promise<number> {
    const serve = await serving();
    const { process: on, model, workspace, ...load } = hostOptions(options);
    const stopped = untilStopped();
    try {
        const serves = await serve.serveAcp({
            ...(program === undefined ? {} : { program }),
            ...(model === undefined ? {} : { model }),
            ...(workspace === undefined ? {} : { workspace }),
            ...(on === undefined ? {} : { process: on }),
            ledger: ledgerHere(options),
            load: { ...load, ...untrusted(options) },
            limits: limitsOf(options),
            version: VERSION,
            log: (message) => say(plainLine(message)),
        });
        await Promise.race([serves.closed, stopped]);
        await serves.close();
    } catch (error) {
        throw notBegun(serve, error);
    }
    await on?.close();
    return EXIT.ok;
}
