/**
 * Questions that wait for a person: one record each, answered once, from whichever process.
 *
 * Boundary: rules and seals; rows are kept by `asks-rows.ts`. Who asks, and what an answer does, is `run/approving.ts`.
 *
 * AK1: a record is bound to run, path, principal, capability, arguments and the tool's schema (`bound`), and sealed under the user's own key with
 *     its owner and its end: a user who can write the file, but not read the key, can neither make, change nor answer one.
 * AK2: a record is answered at most once and its answer used at most once; of two who answer at the same time one is told that it was late.
 * AK3: only its owner, or one of the approvers that stand in the owner's place, answers a question, only until it expires, and only while its run waits for it. No answer in time: no.
 * AK4: an attempt that is refused changes nothing in the record. Beside it stands, sealed, who tried and was not allowed to.
 */
import { createHmac, type KeyObject, randomBytes } from "node:crypto";
import { isObject, type Json } from "@remit/language";
import { canonicalJson } from "@remit/language";
import { type AskRequest, mayAnswer, shownApprovers } from "@remit/machine";
import { isSameCode } from "./code.ts";
import { sha256 } from "./blob.ts";
import { branded } from "../failure/brand.ts";
import { CodedError, isPassing, mayBeKept } from "./error.ts";
import type { Unused } from "./unused.ts";

/** `expired` and `lost` are told, not kept: its end has passed; its run ended or waits for it no more. */
export type AskState = "open" | "answered" | "used" | "withdrawn" | "expired" | "lost";

export interface Ask {
    readonly id: string;
    readonly run: string;
    /** Of the question's effect. */
    readonly path: string;
    readonly request: AskRequest;
    readonly state: AskState;
    /** Who may answer: one principal, or several (`mayAnswer`). */
    readonly owner: string;
    /** ISO 8601 UTC. */
    readonly asked: string;
    readonly expires: string;
    readonly decision?: string;
    readonly by?: string;
    readonly decided?: string;
    /** The record is signed with another key: it is ignored. */
    readonly tampered?: true;
    /** What became of it besides, oldest first; absent where there is nothing to tell. */
    readonly notes?: readonly AskNote[];
}

/** `sent` and `failed`: to a channel. `refused`: a principal that may not answer tried to. `told`: a program says that a person answered. */
export type AskNoteKind = "sent" | "failed" | "refused" | "told";
export interface AskNote {
    readonly kind: AskNoteKind;
    /** Name of the channel, the principal, or the program. */
    readonly who: string;
    readonly text: string;
    readonly at: string;
}

export interface NewAsk {
    readonly run: string;
    readonly path: string;
    /** The effect that is pending while the question is open: the question's own, or the call that asks again. */
    readonly pending: string;
    readonly request: AskRequest;
    readonly bound: string;
    /** SHA-256 of what the tool says of the method; empty where there is none. */
    readonly schema: string;
    readonly owner: string;
    /** Milliseconds since 1970. */
    readonly expires: number;
}

export type Taken =
    | { readonly kind: "none" }
    | { readonly kind: "open"; readonly ask: Ask }
    /** It stands for this call, under a description that the tool does not give now: open, or answered and not used. */
    | { readonly kind: "kept"; readonly ask: Ask }
    | { readonly kind: "decided"; readonly decision: string; readonly late: boolean };

export interface Asks {
    /** The time that questions end by, milliseconds since 1970: that of the ledger, where processes whose clocks differ share one. */
    now(): number;
    /** Keeps a question; an open one of the same path is withdrawn. */
    put(ask: NewAsk): Promise<Ask>;
    /** Oldest first. */
    list(run?: string): Promise<Ask[]>;
    /** Those of all runs that a person can answer now, oldest first. */
    open(): Promise<Ask[]>;
    /** By id, an unambiguous beginning of one, or path. Rejects with `AskError` `unknown`. */
    find(run: string, id: string): Promise<Ask>;
    /** Keeps what became of an open question besides. */
    note(id: string, note: Pick<AskNote, "kind" | "who" | "text">): Promise<void>;
    /** Rejects with `AskError`; then nothing was changed. */
    decide(id: string, decision: string, by: string): Promise<Ask>;
    /**
     * The answer to the question of this path that is bound like this; given once. `undescribed`: the tool cannot be described now, so that a question
     * that is bound by its own description is kept; a no to it is given all the same.
     */
    take(run: string, path: string, bound: string, undescribed?: (schema: string) => string): Promise<Taken>;
}

/** Why an answer is not taken, and what to do. */
export const ASK_ERRORS = {
    unknown: "remit asks lists the open questions.",
    answered: "A question is answered once; remit asks --all shows how.",
    withdrawn: "The program asked anew: remit asks lists what is open.",
    expired: "It counts as a no; remit resume goes on with the run.",
    owner: "The person on whose behalf the run was started answers, or an approver of the project: remit answer RUN ASK once --as WHO.",
    tampered: "The record is signed with another key, so it is ignored; remit resume asks again.",
    lost: "The run has ended, or goes on without this answer.",
    elsewhere: "Answer it there: remit approve RUN ASK ANSWER.",
    option: "Answer once, session, deny, deny session or abort.",
} as const;
export type AskErrorCode = keyof typeof ASK_ERRORS;

export class AskError extends CodedError<AskErrorCode> {
    static {
        branded(AskError, "AskError");
    }
    override readonly name = "AskError";
    constructor(code: AskErrorCode, message: string) {
        super(ASK_ERRORS, code, message);
    }
}

export interface AskRow {
    readonly id: string;
    readonly run: string;
    readonly path: string;
    readonly pending: string;
    readonly request: string;
    readonly bound: string;
    readonly schema: string;
    readonly owner: string;
    readonly asked: number;
    readonly expires: number;
    readonly mac: string;
    readonly state: "open" | "answered" | "used" | "withdrawn";
    readonly decision: string | null;
    readonly decider: string | null;
    readonly decided: number | null;
    readonly seal: string | null;
}

export interface AskNoteRow {
    readonly ask: string;
    readonly run: string;
    readonly at: number;
    readonly kind: AskNoteKind;
    readonly who: string;
    readonly text: string;
    readonly mac: string;
}

/** A question's row as it is to be, where it was in state `from`. */
export interface AskChange {
    readonly row: AskRow;
    readonly from: AskRow["state"];
}

/** Where rows are kept. */
export interface AskRows {
    /** The changes that still can be made, and the new row, together. */
    insert(row: AskRow, changes: readonly AskChange[]): Promise<void>;
    /** By beginning of an id, at most two. */
    byId(id: string): Promise<AskRow[]>;
    /** Of one run, or of all, oldest first. */
    all(run?: string): Promise<AskRow[]>;
    /** Of all runs in the state `open`, oldest first. */
    open(): Promise<AskRow[]>;
    /** Newest first. */
    ofPath(run: string, path: string): Promise<AskRow[]>;
    /** Makes the change where the row is in its state `from`, at one stroke. True where it was made. */
    update(change: AskChange): Promise<boolean>;
    /** Kept up to a number of them. */
    note(row: AskNoteRow): Promise<void>;
    /** Of one question, oldest first. */
    notes(ask: string): Promise<AskNoteRow[]>;
    /** The run has not ended and waits for this effect. */
    waits(run: string, pending: string): Promise<boolean>;
}

/** What a yes is bound to. `schema` is empty where no tool is called. */
export function boundOf(run: string, path: string, request: AskRequest, schema: string): string {
    const about = detailOf(request);
    return sha256(
        canonicalJson([
            "remit-ask/1",
            run,
            path,
            about.principal ?? null,
            about.capability ?? null,
            about.uri ?? null,
            about.args ?? null,
            request.detail,
            schema,
        ]),
    );
}

export function detailOf(request: AskRequest): { readonly [key: string]: Json } {
    const { detail } = request;
    return isObject(detail) ? detail : {};
}

/** What the rules work with. */
interface Asking {
    readonly rows: AskRows;
    readonly key: () => KeyObject;
    /** Null where the record cannot be copied, as in memory (AU1). */
    readonly unused: Unused | null;
    readonly now: () => number;
}

/** `unused`: see `Asking`. */
export function asksOver(rows: AskRows, key: () => KeyObject, unused: Unused | null = null, now: () => number = Date.now): Asks {
    const asking: Asking = { rows, key, unused, now };
    return {
        now,
        put: (ask) => put(asking, ask),
        list: async (run) => Promise.all((await rows.all(run)).map((r) => shown(asking, r))),
        open: async () => {
            const all = await Promise.all((await rows.open()).map((r) => shown(asking, r)));
            return all.filter(({ state, tampered }) => state === "open" && tampered !== true);
        },
        find: async (run, id) => {
            const all = await rows.all(run);
            const named = all.filter((r) => r.path === id);
            const open = named.filter((r) => r.state === "open");
            const begins = all.filter((r) => id !== "" && r.id.startsWith(id));
            return shown(asking, one(named.length === 0 ? begins : open.length > 0 ? open : named.slice(-1), id));
        },
        note: async (id, note) => noted(asking, one(await rows.byId(id), id), note),
        decide: (id, decision, by) => decide(asking, id, decision, by),
        take: (run, path, bound, undescribed) => take(asking, run, path, { bound, undescribed }),
    };
}

function sealed({ key }: Asking, kind: string, parts: readonly (string | number | null)[]): string {
    return createHmac("sha256", key())
        .update(JSON.stringify([`remit-${kind}/1`, ...parts]))
        .digest("hex");
}
function macOf(asking: Asking, r: AskRow): string {
    return sealed(asking, "ask", [r.id, r.run, r.path, r.pending, sha256(r.request), r.bound, r.schema, r.owner, r.asked, r.expires]);
}
function sealOf(asking: Asking, r: AskRow): string {
    return sealed(asking, "answer", [r.id, r.mac, r.decision, r.decider, r.decided]);
}
function isSound(asking: Asking, r: AskRow): boolean {
    if (!isSameCode(r.mac, macOf(asking, r))) return false;
    return r.decision === null ? r.state === "open" || r.state === "withdrawn" : isSameCode(r.seal ?? "", sealOf(asking, r));
}
function isExpired({ now }: Asking, r: AskRow): boolean {
    return r.state === "open" && r.expires <= now();
}

function noteMac(asking: Asking, { ask, run, at, kind, who, text }: Omit<AskNoteRow, "mac">): string {
    return sealed(asking, "ask-note", [ask, run, at, kind, who, text]);
}

/** Characters of what a user tried to answer, or of why a channel failed. */
const MOST_TEXT = 300;

async function noted(asking: Asking, { id, run }: AskRow, { kind, who, text }: Pick<AskNote, "kind" | "who" | "text">): Promise<void> {
    const row = { ask: id, run, at: asking.now(), kind, who: who.slice(0, MOST_TEXT), text: text.slice(0, MOST_TEXT) };
    await asking.rows.note({ ...row, mac: noteMac(asking, row) });
}

/** Those that were written with the key. */
async function notesOf(asking: Asking, id: string): Promise<AskNote[]> {
    const rows = await asking.rows.notes(id);
    return rows
        .filter((row) => isSameCode(row.mac, noteMac(asking, row)))
        .map(({ kind, who, text, at }) => ({ kind, who, text, at: iso(at) }));
}

async function shown(asking: Asking, r: AskRow): Promise<Ask> {
    const notes = await notesOf(asking, r.id);
    const over = r.state === "open" || r.state === "answered" ? !(await asking.rows.waits(r.run, r.pending)) : false;
    return {
        id: r.id,
        run: r.run,
        path: r.path,
        request: requestOf(r),
        state: over ? "lost" : isExpired(asking, r) ? "expired" : r.state,
        owner: r.owner,
        asked: iso(r.asked),
        expires: iso(r.expires),
        ...(r.decision === null ? {} : { decision: r.decision }),
        ...(r.decider === null ? {} : { by: r.decider }),
        ...(r.decided === null ? {} : { decided: iso(r.decided) }),
        ...(isSound(asking, r) ? {} : { tampered: true as const }),
        ...(notes.length === 0 ? {} : { notes }),
    };
}
function answered(asking: Asking, r: AskRow, state: "answered" | "used", decision: string, by: string): AskRow {
    const made: AskRow = { ...r, state, decision, decider: by, decided: asking.now() };
    return { ...made, seal: sealOf(asking, made) };
}
function one(found: readonly AskRow[], id: string): AskRow {
    const [row] = found;
    if (id === "" || row === undefined) throw new AskError("unknown", `there is no question ${id}`);
    if (found.length > 1 && !found.some((r) => r.id === id)) throw new AskError("unknown", `more than one question begins with ${id}`);
    return found.find((r) => r.id === id) ?? row;
}

async function put(asking: Asking, ask: NewAsk): Promise<Ask> {
    const { rows, now } = asking;
    const { run, path, pending, bound, schema, owner } = ask;
    const made: AskRow = {
        id: randomBytes(5).toString("hex"),
        ...{ run, path, pending, bound, schema, owner },
        request: JSON.stringify(ask.request),
        asked: now(),
        // What is no moment is one that has passed: no question waits for ever by a mistake.
        expires: Math.trunc(Math.min(ask.expires, FURTHEST)) || 0,
        mac: "",
        state: "open",
        ...{ decision: null, decider: null, decided: null, seal: null },
    };
    const row = { ...made, mac: macOf(asking, made) };
    // A record that is not sound stays as it is, so that it can be examined.
    const old = (await rows.ofPath(run, path)).filter((r) => isSound(asking, r) && (r.state === "open" || r.state === "answered"));
    await rows.insert(
        row,
        old.map((r) => ({ row: { ...r, state: "withdrawn" }, from: r.state })),
    );
    return shown(asking, row);
}

async function decide(asking: Asking, id: string, decision: string, by: string): Promise<Ask> {
    const { rows } = asking;
    const row = one(await rows.byId(id), id);
    if (!isSound(asking, row)) throw new AskError("tampered", `the question ${row.id} was changed since it was asked`);
    if (!mayAnswer(row.owner, by)) {
        await noted(asking, row, { kind: "refused", who: by, text: decision });
        throw new AskError("owner", `the question ${row.id} is for ${shownApprovers(row.owner)}, not for ${by}`);
    }
    if (row.state === "withdrawn") throw new AskError("withdrawn", `the question ${row.id} was withdrawn`);
    if (row.state !== "open") throw new AskError("answered", `the question ${row.id} was answered already: ${row.decision}`);
    if (!(await rows.waits(row.run, row.pending))) throw new AskError("lost", `nothing waits for the question ${row.id} any more`);
    if (isExpired(asking, row)) throw new AskError("expired", `the question ${row.id} could be answered until ${iso(row.expires)}`);
    if (!requestOf(row).options.includes(decision)) throw new AskError("option", `'${decision}' is no answer to the question ${row.id}`);
    const next = answered(asking, row, "answered", decision, by);
    asking.unused?.keep(next.seal as string);
    try {
        if (!(await rows.update({ row: next, from: "open" })))
            throw new AskError("answered", `the question ${row.id} was answered already`);
    } catch (error) {
        if (isUnkept(error)) asking.unused?.take(next.seal as string);
        throw error;
    }
    return shown(asking, next);
}

interface Bound {
    readonly bound: string;
    readonly undescribed: ((schema: string) => string) | undefined;
}

async function take(asking: Asking, run: string, path: string, { bound, undescribed }: Bound): Promise<Taken> {
    const { rows, unused } = asking;
    // A record that was changed without the key is passed over.
    const row = (await rows.ofPath(run, path)).find((r) => (r.state === "open" || r.state === "answered") && isSound(asking, r));
    if (row === undefined) return { kind: "none" };
    if (row.bound !== bound) {
        if (undescribed?.(row.schema) !== row.bound) return { kind: "none" };
        const isYes = row.decision === "once" || row.decision === "session";
        if (isYes || (row.state === "open" && !isExpired(asking, row))) return { kind: "kept", ask: await shown(asking, row) };
    }
    if (row.state === "answered") {
        // AU1.
        if (unused !== null && !unused.take(row.seal as string)) return { kind: "none" };
        try {
            if (!(await rows.update({ row: { ...row, state: "used" }, from: "answered" }))) return { kind: "none" };
        } catch (error) {
            if (isUnkept(error)) unused?.keep(row.seal as string);
            throw error;
        }
        return { kind: "decided", decision: row.decision as string, late: false };
    }
    if (!isExpired(asking, row)) return { kind: "open", ask: await shown(asking, row) };
    if (!(await rows.update({ row: answered(asking, row, "used", "deny", "expiry"), from: "open" }))) return { kind: "none" };
    return { kind: "decided", decision: "deny", late: true };
}

/** It is known that nothing was kept: what stands beside the record is put back as it was, for the next try. */
function isUnkept(error: unknown): boolean {
    return isPassing(error) && !mayBeKept(error);
}

/** The furthest moments that a `Date` can be. */
const FURTHEST = 8.64e15;

/** Of whatever number a row holds: one that was written by hand is shown too. */
function iso(time: number): string {
    return new Date(Math.min(Math.max(time, -FURTHEST), FURTHEST)).toISOString();
}

function requestOf(r: AskRow): AskRequest {
    try {
        const read = JSON.parse(r.request) as Partial<AskRequest>;
        if (typeof read.question === "string" && Array.isArray(read.options) && read.detail !== undefined) return read as AskRequest;
    } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
    }
    // Only another program's writing looks like this; its seal does not hold either.
    return { question: "(this record cannot be read)", detail: null, options: [] };
}
