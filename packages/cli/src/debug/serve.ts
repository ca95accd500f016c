/**
 * `remit debug --dap`: the adapter on standard input and output, until the editor is done.
 *
 * Boundary: streams and ledgers. What requests mean is `adapter.ts`.
 */
import { here, secretsNow } from "../here.ts";
import { changedFiles, debugRun, type LedgerStore } from "@remit/host";
import type { Json } from "@remit/language";
import { EXIT, say, UsageError } from "../io.ts";
import { openRun } from "../ledger.ts";
import { Adapter } from "./adapter.ts";
import { framed, FramingError, Messages } from "./framing.ts";

export async function serve(run: string | undefined, options: Record<string, unknown>): Promise<number> {
    const stores: LedgerStore[] = [];
    const scrubber = secretsNow();
    return new Promise<number>((resolve, reject) => {
        const end = (code: number): void => {
            process.stdin.removeAllListeners("data");
            // A pause while bytes are being handed out is undone; the process would wait for the editor.
            process.stdin.destroy();
            void Promise.all(stores.splice(0).map((store) => store.close())).then(() => resolve(code), reject);
        };
        const adapter = new Adapter({
            // What was no secret when the run was recorded may be one that is known now.
            send: (message) => void process.stdout.write(framed(scrubber.scrub(message as unknown as Json) as unknown as typeof message)),
            open: async (named, ledger) => {
                const id = named ?? run;
                if (id === undefined) throw new UsageError("say which run: `run` in the launch configuration");
                const { store, run: info } = await openRun(id, ledger === undefined ? options : { ...options, ledger });
                stores.push(store);
                return { session: await debugRun(store, info.id, { scrubber }), changed: await changedFiles(store, info, here()) };
            },
            end: () => end(EXIT.ok),
        });
        const messages = new Messages((text) => adapter.take(text));
        process.stdin.on("data", (chunk: Buffer) => {
            try {
                messages.push(chunk);
            } catch (error) {
                if (!(error instanceof FramingError)) throw error;
                say(`error: ${error.message}`);
                adapter.close();
                end(EXIT.failed);
            }
        });
        process.stdin.on("end", () => {
            adapter.close();
            end(EXIT.ok);
        });
    });
}
