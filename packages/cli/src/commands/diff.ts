/** `remit diff`: two runs compared by path, without time, sequence and hashes: what each saw and did. */
import { diffRuns, diffText } from "@remit/machine";
import type { Json } from "@remit/language";
import { EXIT, paint, print, printJson, say } from "../io.ts";
import { showRun } from "../ledger.ts";

/** Exit code 0 where the runs are equal, 1 where they differ, as diff(1) has it. */
export default async function diff(args: string[], options: Record<string, unknown>): Promise<number> {
    const { store, run: a } = await showRun(args[0] as string, options);
    try {
        const b = await store.run(args[1] as string);
        const found = diffRuns(await Array.fromAsync(store.events(a.id)), await Array.fromAsync(store.events(b.id)));
        if (options["json"]) printJson(found as unknown as Json);
        else if (found.length === 0) say("The runs are equal: same steps, same prompts, same results.");
        else print(diffText(found, { paint: paint(process.stdout) as never }));
        return found.length === 0 ? EXIT.ok : EXIT.failed;
    } finally {
        await store.close();
    }
}
