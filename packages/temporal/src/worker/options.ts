/**
 * What a worker of runs is told, whether it is Remit's own (`worker.ts`) or a team's with the plugin (`plugin.ts`).
 *
 * Boundary: shapes. Where it serves, and whose workflows it has besides, is said there.
 */
import type { KeyObject } from "node:crypto";
import type { LedgerStore, ResumeRunOptions } from "@remit/host";
import { defined } from "@remit/language";
import type { Programs } from "../activity/begun.ts";
import type { OfRuns } from "../activity/worlds.ts";
import type { Keys } from "../codec/encryption.ts";

export interface ServingOptions {
    /** Path of the ledger, or the store itself, which the caller closes. */
    readonly ledger: string | LedgerStore;
    /** What performing takes from this process. */
    readonly host?: ResumeRunOptions;
    /** What a single run takes from this process besides; null: nothing. */
    readonly ofRun?: OfRuns;
    /** How often a run whose world cannot be opened here is tried, a second or two apart, before it fails with the reason. Default: 30. */
    readonly tries?: number;
    /** How long one try may take, milliseconds. Default: 45 s. A run of which three tries take longer fails, and says what hangs. */
    readonly opening?: number;
    /** Programs that workflows begin by name (`remitChild`). */
    readonly programs?: Programs;
    /** With which payloads of runs are encrypted; a team's own codecs come after. */
    readonly keys?: Keys;
    /**
     * Ed25519 keys (public ones do): an answer to a question counts only where one of them signed it, since an update says nothing about who sent it.
     * Absent: no answer has to be signed.
     */
    readonly signers?: readonly KeyObject[];
    /** Where built code is kept. Default: the user's own cache. */
    readonly cache?: string;
}

/** Those that the activities of runs take as they are. */
export function ofActivities({ ofRun, signers, tries, opening }: ServingOptions) {
    return defined({ ofRun, signers, tries, opening });
}
