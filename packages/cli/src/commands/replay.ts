/** `remit replay`: the same run from its record. Nothing is performed; the record must come out equal. */
import { openLedger, type Replayed } from "@remit/host";
import type { Json } from "@remit/language";
import { counted, EXIT, paint, plain, print, printJson } from "../io.ts";
import { secretsNow } from "../here.ts";
import { ranByMachine } from "../ledger.ts";

export default async function replay(args: string[], options: Record<string, unknown>): Promise<number> {
    const ledger = await openLedger(options["ledger"] as string | undefined);
    try {
        const run = await ledger.run(args[0] as string);
        ranByMachine(run.id, "replay");
        const found = secretsNow().scrub((await ledger.replay(run.id)) as unknown as Json) as unknown as Replayed;
        if (options["json"]) {
            printJson(found as unknown as Json, true);
            return found.equal ? EXIT.ok : EXIT.failed;
        }
        const colour = paint(process.stdout);
        const sizes = `${counted(found.steps.replayed, "step")}, ${counted(found.events.replayed, "event")}, ${counted(found.outcomes, "outcome")} from the ledger`;
        if (found.equal) print(`${run.id}: ${colour("green", "equal")}: ${sizes}; nothing was performed`);
        else {
            print(`${run.id}: ${colour("red", "DIFFERENT")}: ${sizes}`);
            if (found.first)
                print(
                    `  first at ${plain(found.first.path)}${found.first.seq ? ` (event ${found.first.seq})` : ""}: ${plain(found.first.message)}`,
                );
            if (found.engine)
                print(
                    `  it was recorded by another build of Remit (${plain(found.engine.recorded)}; this one is ${plain(found.engine.present)}), which may count steps and sizes otherwise`,
                );
        }
        return found.equal ? EXIT.ok : EXIT.failed;
    } finally {
        await ledger.close();
    }
}
