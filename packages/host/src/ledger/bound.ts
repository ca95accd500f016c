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
import { createHmac, type KeyObject } from "node:crypto";
import { isSameCode } from "./code.ts";
import { sha256 } from "./blob.ts";
import type { Standing } from "./calls.ts";
import { Entries } from "./entries.ts";
import type { Early, Pending } from "./order.ts";
import { begunText, type RunRow } from "./rows.ts";

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

/** What is bound beside the row's fields: hash of the options as kept, `stateHash`, and the codes of two sets. */
export interface BoundParts {
    readonly options: string;
    readonly state: string;
    readonly pending: SetCode;
    readonly early: SetCode;
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

// ---- sets ----------------------------------------------------------------------------------------------------------------

/**
 * Of a set of entries: the exclusive or of their codes, each a SHA-256 under a secret. So an entry is put in or taken out without a look at the others.
 *
 * BN5: neither the codes nor what is made of them leaves the process: the ledger holds a hash of it under the same secret. A user who saw them could make
 *     another set of the same code.
 */
export type SetCode = bigint;
export const NO_ENTRIES: SetCode = 0n;

const secrets = new WeakMap<KeyObject, string>();
function secretOf(key: KeyObject): string {
    let secret = secrets.get(key);
    if (secret === undefined) {
        secret = createHmac("sha256", key).update("remit-set/1").digest("hex");
        secrets.set(key, secret);
    }
    return secret;
}

function codeOf(key: KeyObject, kind: string, name: string, text: string): SetCode {
    return BigInt(`0x${sha256(`${secretOf(key)}\n${kind}\n${name}\n${text}`)}`);
}

function changedCode<V>(
    key: KeyObject,
    { kind, code, text }: { readonly kind: string; readonly code: SetCode; readonly text: (value: V) => string },
    before: Entries<V>,
    after: Entries<V>,
): SetCode {
    let to = code;
    for (const [name, was, is] of before === after ? [] : after.since(before)) {
        if (was !== undefined) to ^= codeOf(key, kind, name, text(was));
        if (is !== undefined) to ^= codeOf(key, kind, name, text(is));
    }
    return to;
}

export interface Sets {
    readonly pending: Pending;
    readonly early: Early;
}
const EMPTY: Sets = { pending: Entries.of(), early: Entries.of() };

/** Where nothing is said of `before`: of the sets as they are. */
export function setCodes(
    key: KeyObject,
    after: Sets,
    before: Sets & { readonly parts: Pick<BoundParts, "pending" | "early"> } = {
        ...EMPTY,
        parts: { pending: NO_ENTRIES, early: NO_ENTRIES },
    },
): Pick<BoundParts, "pending" | "early"> {
    const { pending, early } = before.parts;
    return {
        pending: changedCode(key, { kind: "pending", code: pending, text: begunText }, before.pending, after.pending),
        early: changedCode(key, { kind: "early", code: early, text: (one) => one }, before.early, after.early),
    };
}

/** BN5. The mark tells it from the hashes of earlier versions. */
const SEALED = "x";
function sealed(key: KeyObject, kind: string, code: SetCode): string {
    return `${SEALED}${sha256(`${secretOf(key)}\nset\n${kind}\n${code.toString(16)}`)}`;
}

/** As earlier versions bound pending effects and what came early. */
function listHash({ pending }: Sets): string {
    const all = [...pending].sort(([a], [b]) => (a < b ? -1 : 1));
    return sha256(JSON.stringify(all.map(([path, { begun, attempt }]) => (attempt === 1 ? [path, begun] : [path, begun, attempt]))));
}
function earlyHash({ early }: Sets): string {
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
    const all: (string | number | null)[] = ["remit-run/1"];
    for (const name of BOUND_FIELDS) all.push(row[name]);
    for (const part of parts) all.push(part);
    if (row.batches !== 0) all.push(row.batches);
    return createHmac("sha256", key).update(JSON.stringify(all)).digest("hex");
}

/** The text for `runs.bound`. */
export function bind(key: KeyObject, row: BoundRow, { options, state, pending, early }: BoundParts): string {
    const parts = [options, state || "-", sealed(key, "pending", pending), ...(early === NO_ENTRIES ? [] : [sealed(key, "early", early)])];
    return [keyId(key), ...parts, mac(key, row, parts)].join(" ");
}

/** `foreign`: bound with another key; `no`: never bound; `broken`: with this key, and it does not hold. */
export type Held = { readonly held: "yes" | "foreign" | "no" } | { readonly held: "broken"; readonly message: string };

export function held(key: KeyObject, { bound, row, ...found }: Pick<Standing, "bound" | "row" | "parts" | "pending" | "early">): Held {
    if (bound === "") return { held: "no" };
    const [id, ...kept] = bound.split(" ");
    if (id !== keyId(key)) return { held: "foreign" };
    const code = kept.pop() ?? "";
    const made = mac(key, row, kept);
    if (!isSameCode(code, made)) return { held: "broken", message: "the run's row is not as it was kept" };
    const [options, state, pending = "", early = ""] = kept;
    const { parts } = found;
    const isSealed = (text: string): boolean => text.startsWith(SEALED);
    const expected = {
        options: parts.options,
        state: parts.state || "-",
        pending: isSealed(pending) ? sealed(key, "pending", parts.pending) : listHash(found),
        early: isSealed(early) ? sealed(key, "early", parts.early) : earlyHash(found),
    };
    const said = { options, state, pending, early };
    for (const part of ["options", "state", "pending", "early"] as const)
        if (said[part] !== expected[part]) return { held: "broken", message: PARTS[part] };
    return { held: "yes" };
}
