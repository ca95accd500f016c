/** The schemas that are published, by file name without its ending. */
import type { Schema } from "../shape/build.ts";
import { continuationJsonSchema } from "./continuation.ts";
import { effectJsonSchema } from "./effect.ts";
import { handshakeJsonSchema } from "./handshake.ts";
import { ledgerEventJsonSchema } from "./ledger.ts";
import { planJsonSchema } from "./plan.ts";
import { snapshotJsonSchema } from "./snapshot.ts";

export const PUBLISHED: { readonly [name: string]: () => Schema } = {
    "effect-1": effectJsonSchema,
    "ledger-event-1": ledgerEventJsonSchema,
    "continuation-1": continuationJsonSchema,
    "snapshot-1": snapshotJsonSchema,
    "remit-yield-1": handshakeJsonSchema,
    "plan-1": planJsonSchema,
};
