/** A run in a server's ledger that no session began, for tests of what the server shows of runs. */
import { type HostToolSource, load, openProcess, type RunHandle } from "@remit/host";
import type { Json } from "@remit/language";
import type { Room } from "./room.ts";

interface Ran {
    readonly source: string;
    readonly input?: Json;
    readonly file?: string;
    readonly replies?: Json;
    readonly tools?: { readonly [name: string]: HostToolSource };
}

export async function begun(
    at: Room,
    { source, input = null, file = "clerk.remit", replies = [], tools = {} }: Ran,
): Promise<RunHandle<Json>> {
    at.says(replies);
    const own = openProcess({ env: { HOME: at.folder }, cwd: at.folder });
    const program = await load(
        { source, file },
        { process: own, ledger: at.server.ledger.store, model: `scripted:${at.folder}/replies.json`, tools },
    );
    const handle = program.run(input);
    const close = async (): Promise<void> => {
        await program.close();
        await own.close();
    };
    void handle.result.then(close, close);
    return handle;
}
