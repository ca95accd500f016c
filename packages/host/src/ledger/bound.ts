/**
 * Binding a run under the user's own key: whoever can write the ledger file, but not read the key, cannot change what a resume does.
 *
 * Boundary: pure; rows and the key come from the store. One text in the run's row (`runs.bound`): an id of the key, hashes of what stands in
 * other tables, and a MAC (HMAC-SHA-256) over them and the row.
 *
 * K1: bound are what the run was started with, its progress, its saved state, its effects without an outcome, and by the last hash of their
 *     chains its events and outcomes. Not bound are owner and heartbeat: they say who runs it now, and nothing about the run.
 * K2: a run that was bound with this key and does not hold is not gone on with, whatever anybody says.
 * K3: one that was bound with another key, or never, is gone on with only where a person says so and its chains hold; then it is bound anew.
 * K4: the time that a run took is kept with each heartbeat, so that a crash gives back no more than the time between two.
 *
 * Not seen: a run put back to an earlier state of its own, unless its anchor is further.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256 } from "./blob.ts";
import type { RunRow } from "./rows.ts";

/** What of a run's row is bound. */
export const BOUND_FIELDS = [
    "id",
    "program",
    "file",
    "root",
    "started",
    "ended",
    "status",
    "result",
    "usage",
    "steps",
    "effects",
    "count",
    "head",
    "answers",
    "answered",
    "spent",
] as const satisfies readonly (keyof RunRow)[];
export type BoundRow = Pick<RunRow, (typeof BOUND_FIELDS)[number]>;

/** Hashes of what is bound and stands elsewhere: `options` as kept, `stateHash`, `pendingHash`. */
export interface BoundParts {
    readonly options: string;
    readonly state: string;
    readonly pending: string;
}
const PARTS: { readonly [K in keyof BoundParts]: string } = {
    options: "what the run was started with is not what was kept",
    state: "the saved state is not the one that was kept",
    pending: "the list of effects that had begun is not the one that was kept",
};

/** Of no state at all. */
export const NO_STATE = "";

/** Chained: an image begins anew, a delta follows the document before it. */
export function stateHash(before: string, kind: string, outcomes: number, text: string): string {
    return sha256(`${kind === "image" ? "" : before}\n${kind}\n${outcomes}\n${text}`);
}

/** `pending`: whether each effect without an outcome had begun, by path. */
export function pendingHash(pending: ReadonlyMap<string, boolean>): string {
    return sha256(JSON.stringify([...pending].sort(([a], [b]) => (a < b ? -1 : 1))));
}

function keyId(key: Buffer): string {
    return createHmac("sha256", key).update("remit-key-id/1").digest("hex").slice(0, 16);
}

function mac(key: Buffer, row: BoundRow, parts: readonly string[]): string {
    const fields = BOUND_FIELDS.map((name) => row[name]);
    return createHmac("sha256", key)
        .update(JSON.stringify(["remit-run/1", ...fields, ...parts]))
        .digest("hex");
}

/** The text for `runs.bound`. */
export function bind(key: Buffer, row: BoundRow, { options, state, pending }: BoundParts): string {
    const parts = [options, state || "-", pending];
    return [keyId(key), ...parts, mac(key, row, parts)].join(" ");
}

/** `foreign`: bound with another key; `no`: never bound; `broken`: with this key, and it does not hold. */
export type Held = { readonly held: "yes" | "foreign" | "no" } | { readonly held: "broken"; readonly message: string };

export function held(key: Buffer, bound: string, row: BoundRow, parts: BoundParts): Held {
    if (bound === "") return { held: "no" };
    const [id, options, state, pending, code = ""] = bound.split(" ");
    if (id !== keyId(key)) return { held: "foreign" };
    const expected = mac(key, row, [options ?? "", state ?? "", pending ?? ""]);
    if (code.length !== expected.length || !timingSafeEqual(Buffer.from(code), Buffer.from(expected)))
        return { held: "broken", message: "the run's row is not as it was kept" };
    const kept: BoundParts = { options: options ?? "", state: state === "-" ? NO_STATE : (state ?? ""), pending: pending ?? "" };
    for (const part of ["options", "state", "pending"] as const)
        if (kept[part] !== parts[part]) return { held: "broken", message: PARTS[part] };
    return { held: "yes" };
}
