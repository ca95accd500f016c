/**
 * Binding a run under the user's own key: another user who can write the ledger file, but not read the key, cannot change what a resume does.
 *
 * Boundary: pure; rows and the key come from the store. One text in the run's row (`runs.bound`): an id of the key, hashes of what stands in
 * other tables, and a MAC (HMAC-SHA-256) over them and the row.
 *
 * BN1: bound are what the run was started with, its progress, its saved state, its effects without an outcome, and by the last hash of their
 *     chains its events and outcomes. Not bound are owner and heartbeat: they say who runs it now, and nothing about the run.
 * BN2: a run that was bound with this key and does not hold is not gone on with, whatever the caller says.
 * BN3: one that was bound with another key, or never, is gone on with only where a person says so and its chains hold; then it is bound anew.
 * BN4: the time that a run took is kept with each heartbeat, so that a crash gives back no more than the time between two.
 *
 * Not seen: a run put back to an earlier state of its own, unless its anchor is further.
 */
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { sha256 } from "./blob.ts";
import type { Early, Pending } from "./order.ts";
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
export type BoundRow = Pick<RunRow, (typeof BOUND_FIELDS)[number] | "batches">;

/** Hashes of what is bound beside the row's fields: `options` as kept, `stateHash`, `pendingHash`, `earlyHash`. */
export interface BoundParts {
    readonly options: string;
    readonly state: string;
    readonly pending: string;
    readonly early: string;
}
const PARTS: { readonly [K in keyof BoundParts]: string } = {
    options: "what the run was started with is not what was kept",
    state: "the saved state is not the one that was kept",
    pending: "the list of effects that had begun is not the one that was kept",
    early: "what came before its turn is not what was kept",
};

/** Of no state at all. */
export const NO_STATE = "";

/** Chained: an image begins anew, a delta follows the document before it. */
export function stateHash(before: string, kind: string, outcomes: number, text: string): string {
    return sha256(`${kind === "image" ? "" : before}\n${kind}\n${outcomes}\n${text}`);
}

export function pendingHash(pending: Pending): string {
    const all = [...pending].sort(([a], [b]) => (a < b ? -1 : 1));
    return sha256(JSON.stringify(all.map(([path, { begun, attempt }]) => (attempt === 1 ? [path, begun] : [path, begun, attempt]))));
}

/** Empty where nothing came early. */
export function earlyHash(early: Early): string {
    return early.size === 0 ? "" : sha256(JSON.stringify([...early].sort(([a], [b]) => (a < b ? -1 : 1))));
}

const ids = new WeakMap<KeyObject, string>();
function keyId(key: KeyObject): string {
    let id = ids.get(key);
    if (id === undefined) {
        id = createHmac("sha256", key).update("remit-key-id/1").digest("hex").slice(0, 16);
        ids.set(key, id);
    }
    return id;
}

/** What an earlier version did not have is left out where it is empty, so that its codes hold. */
function mac(key: KeyObject, row: BoundRow, parts: readonly string[]): string {
    const fields = BOUND_FIELDS.map((name) => row[name]);
    const { batches } = row;
    return createHmac("sha256", key)
        .update(JSON.stringify(["remit-run/1", ...fields, ...parts, ...(batches === 0 ? [] : [batches])]))
        .digest("hex");
}

/** The text for `runs.bound`. */
export function bind(key: KeyObject, row: BoundRow, { options, state, pending, early }: BoundParts): string {
    const parts = [options, state || "-", pending, ...(early === "" ? [] : [early])];
    return [keyId(key), ...parts, mac(key, row, parts)].join(" ");
}

/** `foreign`: bound with another key; `no`: never bound; `broken`: with this key, and it does not hold. */
export type Held = { readonly held: "yes" | "foreign" | "no" } | { readonly held: "broken"; readonly message: string };

export function held(key: KeyObject, bound: string, row: BoundRow, parts: BoundParts): Held {
    if (bound === "") return { held: "no" };
    const [id, ...kept] = bound.split(" ");
    if (id !== keyId(key)) return { held: "foreign" };
    const code = kept.pop() ?? "";
    const expected = mac(key, row, kept);
    if (code.length !== expected.length || !timingSafeEqual(Buffer.from(code), Buffer.from(expected)))
        return { held: "broken", message: "the run's row is not as it was kept" };
    for (const [i, part] of (["options", "state", "pending", "early"] as const).entries())
        if ((kept[i] ?? "").replace(/^-$/, NO_STATE) !== parts[part]) return { held: "broken", message: PARTS[part] };
    return { held: "yes" };
}
