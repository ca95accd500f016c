/**
 * The hash chain of a ledger: how an event is sealed, how parts of it are taken out without breaking the seal, how a chain is verified.
 *
 * Boundary: the hash function (SHA-256, lower-case hex) and the salts come from the host; there is neither in here.
 *
 * An event has a head (everything about where and when it happened, `HEAD_FIELDS`) and three removable parts: `labels`, `content` (the keys
 * of `data` in `CONTENT_KEYS`: what was said, sent and given back) and `data` (its other keys). Each part has a commitment
 * `H(salt of the part + canonical JSON of the part)`; then `hash = H(canonical JSON of [prev, head, commitments])`.
 * The salt is one random text of `SALT_LENGTH` hex digits, a third for each part: the reader of an event without a part gets its
 * commitment instead and not its third of the salt, so that a removed part cannot be guessed from its commitment.
 *
 * SL2: an event whose removed parts are replaced by their commitments verifies as the whole event does.
 * SL3: a verifier names the first event that was changed, dropped or moved. A cut tail is seen only against an anchor kept elsewhere.
 */
import { amountOf, isObject, type Json, type Site } from "@remit/language";
import { json, list, matching, one, orNull, ref, type Shape, says, shape, type Told, text } from "../shape/build.ts";
import { canonicalJson } from "./canonical.ts";
import { EVENT_KINDS, type LedgerEvent, type MachineEvent } from "./events.ts";

/** SHA-256 of a text's UTF-8 bytes, in lower-case hex. */
export type Hash = (text: string) => string;

export type SealedPart = "labels" | "content" | "data";
const PARTS: readonly SealedPart[] = ["labels", "content", "data"];

/** Hex digits of salt for each part: 128 bits. */
const PART_SALT = 32;
export const SALT_LENGTH = PART_SALT * PARTS.length;

/** `prev` of a run's first event. */
export const GENESIS = "0".repeat(64);

const hash = ref<string>("Hash");

/** Commitments of removed parts. */
export const REMOVED = says(
    shape({}, { labels: hash, content: matching("^(?:[0-9a-f]{64})?$"), data: hash }),
    "commitments of removed parts; empty for content that the event did not have",
);
export const HASH = matching("^[0-9a-f]{64}$");

/** A stored event as the stream form has it, one a line: whole, or with parts removed. */
export const EVENT = shape(
    {
        seq: says({ type: "integer", minimum: 1 } as Shape<number>, "place in the run's chain"),
        time: says(matching("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"), "ISO 8601, UTC"),
        run: text,
        path: text,
        /** Path of the enclosing thing (agent call, iteration, generate), null at the top. */
        parent: orNull(text),
        kind: one(EVENT_KINDS),
        principal: text,
        site: orNull(ref<Site>("Site")),
        labels: says(list(text), "sorted origins"),
        data: json,
        prev: says(hash, "hash of the event before; zeros for the first"),
        hash,
        salt: says(
            matching(`^(?:[0-9a-f]{${PART_SALT}}|-{${PART_SALT}}){3}$`),
            "a third for each part (labels, content, data); dashes where the part was removed",
        ),
    },
    { removed: ref<Told<typeof REMOVED>>("Removed") },
);
export type SealedEvent = Told<typeof EVENT>;

/** Keys of `data` that hold what was said, sent or given back: the part `content`. */
export const CONTENT_KEYS: ReadonlySet<string> = new Set([
    "answer",
    "arg",
    "args",
    "calls",
    "detail",
    "error",
    "errors",
    "failure",
    "identity",
    "input",
    "instruction",
    "items",
    "message",
    "messages",
    "origins",
    "outcome",
    "question",
    "record",
    "reply",
    "reply_origins",
    "request",
    "result",
    "scope",
    "text",
    "thinking",
    "value",
]);

type JsonObject = { [key: string]: Json };

/** `data` in its two parts. Data that is no object is content as a whole. */
function partsOf(event: MachineEvent): { content: Json | undefined; data: Json } {
    if (!isObject(event.data)) return { content: event.data, data: {} };
    const content: JsonObject = {};
    const data: JsonObject = {};
    let any = false;
    for (const key of Object.keys(event.data)) {
        const within = CONTENT_KEYS.has(key);
        any ||= within;
        (within ? content : data)[key] = event.data[key] as Json;
    }
    return { content: any ? content : undefined, data };
}

function saltOf(salt: string, part: SealedPart): string {
    const at = PARTS.indexOf(part) * PART_SALT;
    return salt.slice(at, at + PART_SALT);
}

interface Commitments {
    readonly labels: string;
    /** Empty where the event has no content. */
    readonly content: string;
    readonly data: string;
}

function commitments(event: MachineEvent, salt: string, removed: SealedEvent["removed"], hash: Hash): Commitments {
    const { content, data } = partsOf(event);
    const commit = (part: SealedPart, value: Json | undefined): string =>
        removed?.[part] ?? (value === undefined ? "" : hash(saltOf(salt, part) + canonicalJson(value)));
    return { labels: commit("labels", event.labels as Json), content: commit("content", content), data: commit("data", data) };
}

function chainHash(event: Omit<LedgerEvent, "hash">, made: Commitments, hash: Hash): string {
    const { prev, seq, time, run, path, parent, kind, principal, site } = event;
    const fields = [prev, seq, time, run, path, parent, kind, principal, site as Json, made.labels, made.content, made.data];
    // A field that is not there is not one that holds null, though their canonical texts are the same: no hash is that of such an event.
    return fields.includes(undefined as unknown as Json) ? "" : hash(canonicalJson(fields));
}

/** The place of an event in its chain. `time` in ISO 8601 UTC; `prev` is the hash of the event before, `GENESIS` for the first. */
export interface Place {
    readonly seq: number;
    readonly time: string;
    readonly run: string;
    readonly prev: string;
}

/** Three or four hash calls. `salt`: `SALT_LENGTH` random hex digits. */
export function sealEvent(event: MachineEvent, place: Place, salt: string, hash: Hash): SealedEvent {
    if (salt.length !== SALT_LENGTH) throw new RangeError(`a salt has ${SALT_LENGTH} hex digits, not ${salt.length}`);
    const { path, parent, kind, principal, site, labels, data } = event;
    const { seq, time, run, prev } = place;
    const placed = { seq, time, run, path, parent, kind, principal, site, labels, data, prev };
    return { ...placed, hash: chainHash(placed, commitments(event, salt, undefined, hash), hash), salt };
}

/** The event without these parts, carrying their commitments. It verifies as before. */
export function redactEvent(event: SealedEvent, parts: readonly SealedPart[], hash: Hash): SealedEvent {
    const made = commitments(event, event.salt, event.removed, hash);
    const removed: { [part in SealedPart]?: string } = { ...event.removed };
    let { salt } = event;
    for (const part of parts) {
        removed[part] = made[part];
        const at = PARTS.indexOf(part) * PART_SALT;
        salt = `${salt.slice(0, at)}${"-".repeat(PART_SALT)}${salt.slice(at + PART_SALT)}`;
    }
    const { content, data } = partsOf(event);
    const left: JsonObject = {
        ...(parts.includes("content") || !isObject(content ?? null) ? {} : (content as JsonObject)),
        ...(parts.includes("data") ? {} : (data as JsonObject)),
    };
    return {
        ...event,
        labels: parts.includes("labels") ? [] : event.labels,
        data: isObject(event.data) || parts.includes("content") ? left : event.data,
        salt,
        removed,
    };
}

/** A head kept outside the ledger: the chain must hold this hash at this event, and not end before it. */
export interface Anchor {
    readonly seq: number;
    readonly hash: string;
}

export type Verdict =
    | { readonly ok: true; readonly count: number; readonly head: string }
    | { readonly ok: false; readonly seq: number; readonly what: "changed" | "dropped" | "moved"; readonly message: string };

/** Verifies the events of one run, from its first. Reads on after a gap only to tell a moved event from a dropped one. */
export function verifyChain(events: Iterable<SealedEvent>, hash: Hash, anchor?: Anchor): Verdict {
    const verdict = verifying(hash, anchor);
    let step = verdict.next();
    for (const event of events) {
        if (step.done === true) return step.value;
        step = verdict.next(event);
    }
    return concluded(step, verdict);
}

/** The same of events that are still being read. */
export async function verifyStream(
    events: AsyncIterable<SealedEvent> | Iterable<SealedEvent>,
    hash: Hash,
    anchor?: Anchor,
): Promise<Verdict> {
    const verdict = verifying(hash, anchor);
    let step = verdict.next();
    for await (const event of events) {
        if (step.done === true) return step.value;
        step = verdict.next(event);
    }
    return concluded(step, verdict);
}

/** Is given one event after the other, and `null` after the last. */
type Verifying = Generator<undefined, Verdict, SealedEvent | null>;

function concluded(step: IteratorResult<undefined, Verdict>, verdict: Verifying): Verdict {
    for (let last = step; ; last = verdict.next(null)) if (last.done === true) return last.value;
}

function* verifying(hash: Hash, anchor?: Anchor): Verifying {
    let head = GENESIS;
    let count = 0;
    let run: string | null = null;
    for (let event = yield; event !== null; event = yield) {
        const expected = count + 1;
        if (event.seq !== expected) return yield* misplaced(event, expected);
        if (run !== null && event.run !== run) return changed(expected, "it belongs to another run");
        if (!isSealed(event)) return changed(expected, "it does not carry its salt and labels");
        if (!isEmptyWhereRemoved(event)) return changed(expected, "it holds something in a part that was removed");
        if (chainHash(event, commitments(event, event.salt, event.removed, hash), hash) !== event.hash)
            return changed(expected, "its hash does not fit it");
        if (event.prev !== head)
            return count === 0
                ? changed(expected, "it is not the beginning of a chain")
                : changed(count, `event ${expected} follows another one`);
        head = event.hash;
        count = expected;
        run = event.run;
        if (anchor?.seq === count && anchor.hash !== head) return changed(count, "it is not the event that was anchored");
    }
    if (anchor !== undefined && anchor.seq > count)
        return {
            ok: false,
            seq: count + 1,
            what: "dropped",
            message: `event ${count + 1} was dropped: the anchor knows ${amountOf(anchor.seq, "event")}, here ${count === 1 ? "is" : "are"} ${count}`,
        };
    return { ok: true, count, head };
}

/** An event may come from a file of any author: what is read of it below is there. */
function isSealed(event: SealedEvent): boolean {
    const { salt, labels, removed } = event;
    if (typeof salt !== "string" || salt.length !== SALT_LENGTH || !Array.isArray(labels) || event.data === undefined) return false;
    return (
        removed === undefined || (isObject(removed as Json) && Object.values(removed).every((commitment) => typeof commitment === "string"))
    );
}

/** What carries a commitment in place of a part must not carry anything in that part: the commitment says nothing about it. */
function isEmptyWhereRemoved(event: SealedEvent): boolean {
    const { content, data } = partsOf(event);
    const { removed } = event;
    if (removed?.labels !== undefined && event.labels.length > 0) return false;
    if (removed?.content !== undefined && content !== undefined) return false;
    return removed?.data === undefined || (isObject(data) && Object.keys(data).length === 0);
}

function changed(seq: number, why: string): Verdict {
    return { ok: false, seq, what: "changed", message: `event ${seq} was changed: ${why}` };
}

/** An event stands where another is expected: the expected one comes later (moved), or nowhere (dropped), or this one is not new (moved). */
function* misplaced(event: SealedEvent, expected: number): Verifying {
    if (!Number.isInteger(event.seq) || event.seq < expected)
        return {
            ok: false,
            seq: event.seq,
            what: "moved",
            message: `event ${event.seq} was moved: it stands again where event ${expected} is expected`,
        };
    for (let next = yield; next !== null; next = yield)
        if (next.seq === expected)
            return { ok: false, seq: expected, what: "moved", message: `event ${expected} was moved: event ${event.seq} stands before it` };
    return { ok: false, seq: expected, what: "dropped", message: `event ${expected} was dropped: event ${event.seq} stands in its place` };
}
