/**
 * What is made once a process: limits of the providers, connections to tool servers, local models and ledgers. Worlds of programs share it.
 *
 * Boundary: holds and closes; each thing is made where it is used. A program's tools, models and workspace are in its world (`../run/world.ts`).
 *
 * PR1: a limit belongs to an endpoint and an account, a connection to all that its server is started or reached with, to a workspace and to a user,
 *      a model to its files, a ledger to its path.
 * PR2: `close` ends the servers and the models first, then what else was started, and the ledgers last, so that what a server's end leads to can still be kept.
 */
import { openStore } from "../ledger/open.ts";
import { placeOf } from "../ledger/place.ts";
import type { LedgerStore } from "../ledger/store.ts";
import { type Limits, limits } from "./limiter.ts";
import type { LoadedModel } from "../model/local.ts";
import type { Connection } from "../tool/mcp-servers.ts";
import { type Children, children } from "./child.ts";
import { fromThisProcess, type Surroundings } from "./here.ts";
import { type Pool, pool } from "./pool.ts";

export interface Process extends Surroundings {
    /** @internal */
    readonly limits: Limits;
    /** @internal */
    readonly servers: Pool<Connection>;
    /** @internal */
    readonly models: Pool<LoadedModel>;
    /** Who owns the processes that are started. @internal */
    readonly children: Children;
    /** The ledger at a path, opened once; `holder` lets go of it with `release`. Rejects with `LedgerError`. */
    store(path: string, holder: object, options?: { readonly readOnly?: boolean; readonly config?: string }): Promise<LedgerStore>;
    /** What the holder had of ledgers. */
    release(holder: object): Promise<void>;
    /** Ends what programs of this process still hold. Close the programs first: calls under way fail as unreachable. */
    close(): Promise<void>;
}

/** `from`: what this process was given, where the caller says nothing else. */
export function openProcess(from: Partial<Surroundings> = {}): Process {
    const here = { ...fromThisProcess(), ...from };
    const servers = pool<Connection>(
        (one) => one.client.close(),
        (one) => one.ended(),
    );
    const models = pool<LoadedModel>(async ({ model }) => model.close());
    const stores = pool<LedgerStore>((one) => one.close());
    const owner = children();
    return {
        ...here,
        limits: limits(),
        servers,
        models,
        children: owner,
        store: (named, holder, options = {}) => {
            const path = placeOf(named, here.cwd);
            return stores.take(JSON.stringify([path, options]), holder, () => openStore(path, { ...options, env: here.env }));
        },
        release: (holder) => stores.release(holder),
        close: async () => {
            await Promise.all([servers.close(), models.close()]);
            await owner.close();
            await stores.close();
        },
    };
}
