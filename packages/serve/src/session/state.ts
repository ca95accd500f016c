/**
 * What a session is, as its log says: turns, yeses and noes that hold on, approvals. A server that starts anew reads the same from the same log.
 *
 * Boundary: pure; one event after another. Tools and clients that are connected are not in it: they do not outlive a server.
 */
import type { Json } from "@remit/language";
import type { PictureInfo, TurnStatus } from "../wire/messages.ts";
import type { SessionEvent } from "./log.ts";

export interface Turn {
    readonly id: string;
    readonly by: string;
    readonly submitted: string;
    readonly text?: string;
    readonly input?: Json;
    /** Origins of what was submitted; `user` where absent. */
    readonly inputOrigins?: readonly string[];
    /** Its pictures, without their data (PCT2). */
    readonly images?: readonly PictureInfo[];
    readonly model?: string;
    /** Idempotency key, and what was submitted under it. */
    readonly key?: string;
    status: TurnStatus;
    run?: string;
    value?: Json;
    origins?: readonly string[];
    failure?: { readonly kind: string; readonly message: string; readonly hint?: string };
    usage?: Json;
    /** It was cancelled while it ran, and ends so (TRUN3). */
    isCancelled?: true;
    ended?: string;
}

/** A yes or a no for the session. It is bound to the tool's registration: a tool that is lent anew is asked about anew. */
export interface Grant {
    readonly name: string;
    readonly registration: string;
    readonly principal: string;
    readonly yes: boolean;
    readonly by: string;
}

export interface SessionState {
    title: string;
    created: string;
    by: string;
    model?: string;
    /** The client's folder, where it has one. */
    folder?: string;
    /** Null: the submitter of a turn. */
    approvers: readonly string[] | null;
    closed: boolean;
    /** Origins that its tools may reach; absent: nothing was said. */
    reach?: readonly string[];
    readonly turns: Map<string, Turn>;
    readonly grants: Grant[];
}

/** Length of a title that is taken from a task, in UTF-16 units. */
const TITLE = 72;

export function emptyState(): SessionState {
    return { title: "", created: "", by: "", approvers: null, closed: false, turns: new Map(), grants: [] };
}

type Data = { readonly [key: string]: Json };

export function apply(state: SessionState, { kind, data }: SessionEvent): void {
    const d: Data = data;
    switch (kind) {
        case "session.opened":
            state.title = text(d["title"]);
            state.created = data.at;
            state.by = text(d["by"]);
            if (typeof d["model"] === "string") state.model = d["model"];
            if (typeof d["folder"] === "string") state.folder = d["folder"];
            if (Array.isArray(d["reach"])) state.reach = d["reach"].map(text);
            state.approvers = Array.isArray(d["approvers"]) ? d["approvers"].map(text) : null;
            return;
        case "session.closed":
            state.closed = true;
            return;
        case "turn.submitted":
            state.turns.set(text(d["turn"]), {
                id: text(d["turn"]),
                by: text(d["by"]),
                submitted: data.at,
                status: "queued",
                ...some(d, ["text", "input", "inputOrigins", "images", "model", "key"]),
            });
            // A session that was given no name has that of its first task.
            if (state.title === "") state.title = titleOf(text(d["text"]));
            return;
        case "turn.started":
            change(state, d, { status: "running", run: text(d["run"]) });
            return;
        case "turn.cancelled":
            change(state, d, { isCancelled: true });
            return;
        case "turn.ended":
            change(state, d, {
                status: text(d["status"]) as TurnStatus,
                ended: data.at,
                ...some(d, ["value", "origins", "failure", "usage"]),
            });
            return;
        case "ask.decided":
            grant(state, d);
            return;
        case "lent.withdrawn":
            // A grant dies with the registration that it is for.
            remove(state, ({ registration }) => registration === d["registration"]);
            return;
    }
}

function grant(state: SessionState, d: Data): void {
    const { decision, name, registration, principal, by } = d;
    if (decision !== "session" && decision !== "deny session") return;
    if (typeof name !== "string" || typeof registration !== "string" || d["remembered"] === true) return;
    state.grants.push({ name, registration, principal: text(principal), yes: decision === "session", by: text(by) });
}

function remove(state: SessionState, which: (grant: Grant) => boolean): void {
    for (let i = state.grants.length - 1; i >= 0; i--) if (which(state.grants[i] as Grant)) state.grants.splice(i, 1);
}

function change(state: SessionState, d: Data, to: Partial<Turn>): void {
    const turn = state.turns.get(text(d["turn"]));
    if (turn !== undefined) Object.assign(turn, to);
}

function some(d: Data, keys: readonly string[]): Data {
    return Object.fromEntries(keys.flatMap((key) => (d[key] === undefined ? [] : [[key, d[key] as Json]])));
}

/** The first line of a task, cut at a word. */
function titleOf(task: string): string {
    const line = task.trim().split(/\r?\n/, 1)[0] ?? "";
    return line.length <= TITLE ? line : `${line.slice(0, TITLE).replace(/\s+\S*$/, "")}…`;
}

function text(json: Json | undefined): string {
    return typeof json === "string" ? json : "";
}
