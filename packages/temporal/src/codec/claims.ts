/**
 * Payloads that are too large to travel are kept beside their run in the ledger; a reference travels.
 *
 * Boundary: between Temporal's external storage and the ledger's claims.
 *
 * CCL1: what is encrypted is encrypted before it is kept, so the ledger holds no more than the history would.
 */
import type { LedgerStore } from "@remit/host";
import { ExternalStorage, type Payload, type StorageDriver, StorageDriverClaim } from "@temporalio/common";

import proto from "@temporalio/proto";

/** Larger payloads are kept in the ledger: a tenth of what one may have. */
const MOST_BYTES = 200_000;
const { Payload: Shape } = proto.temporal.api.common.v1;

export function claimCheck(ledger: () => Promise<LedgerStore>): ExternalStorage {
    const driver: StorageDriver = {
        name: "remit-ledger",
        type: "remit.ledger",
        // The workflow of a run has its id.
        store: ({ target }, payloads) =>
            Promise.all(
                payloads.map(async (payload) => {
                    const text = Buffer.from(Shape.encode(payload).finish()).toString("base64");
                    return new StorageDriverClaim({ sha256: await (await ledger()).claims.put(target?.id ?? "", text) });
                }),
            ),
        retrieve: (_context, claims) =>
            Promise.all(
                claims.map(async ({ claimData }): Promise<Payload> => {
                    const text = await (await ledger()).claims.get(claimData.sha256 ?? "");
                    return Shape.decode(Buffer.from(text, "base64"));
                }),
            ),
    };
    return new ExternalStorage({ drivers: [driver], payloadSizeThreshold: MOST_BYTES });
}
