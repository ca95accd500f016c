/**
 * How payloads leave this process: without secrets, small, encrypted where there is a key, and the large ones kept in the ledger.
 *
 * Boundary: puts the codecs in their order, the same for workers and clients.
 */
import type { LedgerStore, Scrubber } from "@remit/host";
import type { DataConverter } from "@temporalio/common";
import { claimCheck } from "./claims.ts";
import { compression } from "./compression.ts";
import { encryption, type Keys } from "./encryption.ts";
import { secretsCodec } from "./secrets.ts";

export interface ConverterOptions {
    /** Absent: what is too large is refused. */
    readonly store?: LedgerStore | (() => Promise<LedgerStore>);
    /** Absent: a reader of the history reads the payloads. */
    readonly keys?: Keys;
    /** What is known to be a secret, now. */
    readonly scrubbers: () => Iterable<Scrubber>;
    /** CS1. */
    readonly shows: boolean;
}

export function converter({ store, keys, scrubbers, shows }: ConverterOptions): DataConverter {
    return {
        payloadCodecs: [secretsCodec(scrubbers, shows), compression, ...(keys === undefined ? [] : [encryption(keys)])],
        ...(store === undefined ? {} : { externalStorage: claimCheck(typeof store === "function" ? store : async () => store) }),
    };
}
