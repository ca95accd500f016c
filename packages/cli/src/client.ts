/** A client of the runs on a Temporal server, for one command. */
import { openStore, RemitError } from "@remit/host";
import type { RemitClient } from "@remit/temporal";
import { showFailure } from "./failure.ts";
import { here, ledgerHere } from "./here.ts";
import { EXIT, printJson } from "./io.ts";
import { queue, settings, temporal } from "./temporal.ts";

type Options = Record<string, unknown>;

/** With a client of the ledger that is named; both are closed. */
export async function asking<T>(
    options: Options,
    ask: (client: RemitClient, store: Awaited<ReturnType<typeof openStore>>) => Promise<T>,
): Promise<T> {
    const { connect, placeOf, remitClient } = await temporal();
    const { env } = here();
    const place = placeOf(settings(options));
    const store = await openStore(ledgerHere(options), { env });
    try {
        const connection = await connect(place);
        try {
            return await ask(remitClient({ connection, store, namespace: place.namespace, env, ...queue(options) }), store);
        } finally {
            await connection.close();
        }
    } finally {
        await store.close();
    }
}

export async function resultOf(client: RemitClient, run: string, options: Options): Promise<number> {
    try {
        printJson(await client.result(run), options["json"] === true);
        return EXIT.ok;
    } catch (error) {
        if (!(error instanceof RemitError)) throw error;
        showFailure(error.failure, { run, json: options["json"] === true });
        return error.kind === "cancelled" ? EXIT.cancelled : EXIT.failed;
    }
}
