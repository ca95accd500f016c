/**
 * What processes that share a ledger have beside its runs: what they say to each other, what they keep together, and which runs wait for an owner.
 *
 * Boundary: shapes. A ledger that one machine has alone has no team.
 *
 * TEA1: what another process said or kept was said or kept by one that has the key: a user who can write the database alone can forge neither.
 * TEA2: what is said may be lost, and is heard at most once; what is kept is changed only by who has seen what it changes.
 */
import type { Json } from "@remit/language";

export interface Team {
    /** Hears what others say; gives what ends it. Rejects with `LedgerError`. */
    hear(heard: (message: Json) => void): Promise<() => void>;
    /** To all others. */
    say(message: Json): Promise<void>;
    readonly shared: Shared;
    /** Runs that are not over and whose ids begin so, without their parts; `live`: it has an owner, or a process owns a part of it. */
    open(prefix: string): Promise<OpenRun[]>;
}

export interface OpenRun {
    readonly id: string;
    readonly epoch: number;
    readonly live: boolean;
}

/** Values by kind and name. What has expired is not there. */
export interface Shared {
    list(kind: string): Promise<SharedValue[]>;
    get(kind: string, name: string): Promise<SharedValue | null>;
    /** False where there is one of that name. `expires`: milliseconds since 1970. */
    put(kind: string, name: string, value: Json, expires?: number): Promise<boolean>;
    /** False where another process changed or dropped it meanwhile. */
    change(before: SharedValue, value: Json): Promise<boolean>;
    /** The same. */
    drop(before: SharedValue): Promise<boolean>;
    /** What a secret is kept under: nothing can be told of it by who has not the key. */
    nameOf(kind: string, secret: string): string;
}

export interface SharedValue {
    readonly kind: string;
    readonly name: string;
    readonly version: number;
    readonly value: Json;
}
