/**
 * A moment of a run as one JSON document: shapes only.
 *
 * Boundary: what stands in a document that leaves the machine; whoever writes it takes secrets out first.
 */
import type { EffectKind } from "../effect/effect.ts";
import type { Json } from "@remit/language";
import type { CapabilityKind } from "../value/value.ts";
import type { Account, AuthorityView, FrameView, ScopeView, ThreadView } from "./inspect.ts";
import type { RightView } from "./look.ts";

export const SNAPSHOT = "remit-snapshot/1";

export interface SnapshotFrame {
    readonly name: string;
    readonly path: string;
    readonly site: FrameView["site"];
    /** Key in `principals`. */
    readonly principal: string;
    readonly scopes: readonly ScopeView[];
    /** Delegations to its principal that are in force here: tokens, keys in `delegations`. */
    readonly delegations: readonly number[];
}

export interface SnapshotThread extends Omit<ThreadView, "name" | "stackFrames"> {
    readonly path: string;
    /** Innermost first. */
    readonly frames: readonly SnapshotFrame[];
}

export type SnapshotPrincipal = Omit<AuthorityView, "delegations" | "answers">;
export type SnapshotDelegation = AuthorityView["delegations"][number] & { readonly to: string };

/** A variable that holds a capability which somebody was given. */
export interface SnapshotCapability {
    readonly thread: number;
    readonly frame: number;
    readonly name: string;
    readonly held: { readonly kind: CapabilityKind | null; readonly text: string; readonly right: RightView };
}

export interface SnapshotEffect {
    readonly path: string;
    readonly kind: EffectKind;
    readonly principal: string;
    readonly site: FrameView["site"];
    readonly request: Json;
    readonly labels: readonly string[];
}

export interface Snapshot {
    readonly format: typeof SNAPSHOT;
    readonly run: string;
    /** Lower-case hex SHA-256 of the program form. */
    readonly program: string;
    readonly moment: { readonly outcomes: number; readonly steps: number; readonly events: number; readonly ended: boolean };
    readonly state: string;
    readonly site: FrameView["site"];
    readonly threads: readonly SnapshotThread[];
    readonly principals: { readonly [id: string]: SnapshotPrincipal };
    readonly delegations: { readonly [token: string]: SnapshotDelegation };
    readonly capabilities: readonly SnapshotCapability[];
    /** Answers for the session. */
    readonly answers: AuthorityView["answers"];
    readonly pending: readonly SnapshotEffect[];
    readonly budget: Account;
    /** Every origin of anything that is shown, sorted. */
    readonly labels: readonly string[];
    /** How the run ended; null while it goes on. */
    readonly result: Json;
}
