/**
 * Remit's codecs beside those of a team: payloads of Remit's runs go through both, all others through the team's alone.
 *
 * Boundary: payloads of which the workflow is known. What a run is, the ledger says.
 *
 * CBS1: a payload of another workflow is neither changed nor kept in the ledger, so that a client without Remit reads it as before.
 * CBS2: what was encoded here says so itself, and is decoded wherever it is met.
 */
import { LedgerError, type LedgerStore } from "@remit/host";
import { type DataConverter, ExternalStorage, type PayloadCodec, type StorageDriver } from "@temporalio/common";

/** Workflows of which it is remembered whether they are runs. */
const MOST = 10_000;

export class Runs {
    private readonly store: () => Promise<LedgerStore>;
    private readonly known = new Map<string, Promise<boolean>>();
    private readonly found = new Set<string>();

    constructor(store: () => Promise<LedgerStore>) {
        this.store = store;
    }

    /** The workflow of a run has its id, and the ledger has the run before it begins. */
    has(workflow: string | undefined): Promise<boolean> {
        if (workflow === undefined || workflow === "") return Promise.resolve(false);
        const known = this.known.get(workflow) ?? this.look(workflow);
        if (!this.known.has(workflow)) {
            if (this.known.size >= MOST) this.known.clear();
            this.known.set(workflow, known);
            // A ledger that cannot be read now may be read next time.
            known.catch(() => this.known.delete(workflow));
        }
        return known;
    }

    /** Of those that `has` was asked about. */
    hasFound(workflow: string | undefined): boolean {
        return workflow !== undefined && this.found.has(workflow);
    }

    private async look(workflow: string): Promise<boolean> {
        try {
            const { id } = await (await this.store()).run(workflow);
            if (id !== workflow) return false;
        } catch (error) {
            if (error instanceof LedgerError && error.code === "unknown") return false;
            throw error;
        }
        if (this.found.size >= MOST) this.found.clear();
        this.found.add(workflow);
        return true;
    }
}

/** `ours`: of Remit. */
export function beside(theirs: DataConverter, ours: DataConverter, runs: Runs): DataConverter {
    const codecs = (ours.payloadCodecs ?? []).map((one) => ofRuns(one, runs));
    const storage = joined(theirs.externalStorage, ours.externalStorage, runs);
    return {
        ...theirs,
        payloadCodecs: [...codecs, ...(theirs.payloadCodecs ?? [])],
        ...(storage === undefined ? {} : { externalStorage: storage }),
    };
}

function ofRuns(codec: PayloadCodec, runs: Runs): PayloadCodec {
    return {
        encode: async (payloads, context) => ((await runs.has(context?.workflowId)) ? codec.encode(payloads, context) : payloads),
        decode: (payloads, context) => codec.decode(payloads, context),
    };
}

function joined(theirs: ExternalStorage | undefined, ours: ExternalStorage | undefined, runs: Runs): ExternalStorage | undefined {
    if (ours === undefined) return theirs;
    const [driver] = ours.drivers;
    const isLarge = (one: ExternalStorage, bytes: number): boolean => bytes > one.payloadSizeThreshold;
    return new ExternalStorage({
        drivers: [...(theirs?.drivers ?? []), ...ours.drivers],
        driverSelector: (context, payload) => {
            const bytes = payload.data?.length ?? 0;
            // The codecs have asked about its workflow before it is kept.
            if (runs.hasFound(context.target?.id)) return isLarge(ours, bytes) ? (driver as StorageDriver) : null;
            return theirs !== undefined && isLarge(theirs, bytes) ? theirs.driverSelector(context, payload) : null;
        },
        payloadSizeThreshold: Math.min(ours.payloadSizeThreshold, theirs?.payloadSizeThreshold ?? Number.POSITIVE_INFINITY),
    });
}
