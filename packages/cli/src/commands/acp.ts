/** `remit acp`: a program as an agent that editors talk to, over standard input and output, until the editor is gone. */
import { defined } from "@remit/language";
import { VERSION } from "../version.ts";
import { ledgerHere } from "../here.ts";
import { plainLine, say } from "../io.ts";
import { hostOptions, limitsOf, untrusted } from "../running.ts";
import { serving, whileServed } from "../serving.ts";

export default async function acp([program]: string[], options: Record<string, unknown>): Promise<number> {
    const serve = await serving();
    const { process: on, model, workspace, ...load } = hostOptions(options);
    return whileServed(serve, on, () =>
        serve.serveAcp({
            ...defined({ program, model, workspace, process: on }),
            ledger: ledgerHere(options),
            load: { ...load, ...untrusted(options) },
            limits: limitsOf(options),
            version: VERSION,
            log: (message) => say(plainLine(message)),
        }),
    );
}
