/**
 * What a client says to the server and hears from it: the bodies of requests, acknowledgements, resources and the events of a session.
 *
 * Boundary: types, which name no library, so that a program that uses them needs none. How a body is checked is `bodies.ts`; who may say what is
 * `access/`; what follows is `session/`.
 */
import type { Json } from "@remit/language";
import type { AskedCall } from "@remit/machine";
import type { PICTURE_TYPES, SCOPES } from "./bounds.ts";

export type Scope = (typeof SCOPES)[number];

/** A picture as data; never a path or an address. Its bytes have to be what it says (`../session/pictures.ts`). */
export interface Picture {
    media_type: (typeof PICTURE_TYPES)[number];
    data: string;
}

export interface NewSession {
    title?: string;
    model?: string;
    /** Ids of clients that may decide about the calls of this session; default: the submitter of a turn. */
    approvers?: string[];
    /** Origins that its tools may reach, those that are lent and those of HTTP; default: all that the server lets it. */
    reach?: string[];
}

export interface NewTurn {
    /** What the person says; goes to the program as `task`. */
    text?: string;
    /** The program's input, in place of `text`. */
    input?: Json;
    /** Go to the program as `images`, beside `task`. */
    images?: Picture[];
    model?: string;
}

export interface ToolSpec {
    description: string;
    /** JSON Schema of the one object argument. */
    input: { [key: string]: Json };
    readOnly?: boolean;
    /** A second time does no harm; default: what only reads. */
    repeatable?: boolean;
}

export type CallResult =
    | {
          ok: true;
          value: Json;
          /** What is to be seen: the value becomes `{ content: [text, …pictures] }`, and a model that takes pictures is shown them. */
          images?: Picture[];
          /** Whose word it is, for the flow policies: the address of the page, or of each page and frame that it shows. */
          site?: string | string[];
      }
    | { ok: false; error: string };

export type Decision = "once" | "session" | "deny" | "deny session" | "abort" | "again" | "give up";

/** Three ways in which a control call is acknowledged; what is not accepted has changed nothing. */
export type Ack = { readonly status: "accepted" } | { readonly status: "rejected" | "unsupported"; readonly reason: string };
export const ACCEPTED: Ack = { status: "accepted" };
export const rejected = (reason: string): Ack => ({ status: "rejected", reason });

export type TurnStatus = "queued" | "running" | "waiting" | "done" | "failed" | "cancelled";

/** A picture as it is told of. */
export interface PictureInfo {
    readonly media_type: string;
    readonly bytes: number;
    readonly sha256: string;
}

/** A turn as it is shown. */
export interface TurnInfo {
    readonly id: string;
    readonly session: string;
    readonly status: TurnStatus;
    /** 1 for the next one to run; only while queued. */
    readonly position?: number;
    readonly text?: string;
    readonly input?: Json;
    /** What it came with; each can be had by its place in this list. */
    readonly images?: readonly PictureInfo[];
    readonly model?: string;
    /** Id of the client that submitted it. */
    readonly by: string;
    /** Id of its run in the ledger, once it has begun. */
    readonly run?: string;
    readonly value?: Json;
    /** Of the value. */
    readonly origins?: readonly string[];
    readonly failure?: { readonly kind: string; readonly message: string; readonly hint?: string };
    readonly usage?: Json;
    readonly submitted: string;
    readonly ended?: string;
}

export interface ToolInfo {
    /** What the model calls it: `CLIENT__NAME`. */
    readonly name: string;
    readonly client: string;
    readonly tool: string;
    /** Changes with every registration. */
    readonly registration: string;
    readonly description: string;
    readonly readOnly: boolean;
    readonly input: Json;
}

/** An approval that is open, or a question about an effect whose outcome is unknown. */
export interface AskInfo {
    readonly id: string;
    readonly turn: string;
    readonly question: string;
    readonly options: readonly string[];
    /** The whole call: capability, method, arguments, origins, the flow that is asked about. */
    readonly detail: Json;
    /** The same in words for a person; null where it is about no call. */
    readonly call: AskedCall | null;
    readonly expires: string;
    /** Ids of the clients that may decide. */
    readonly approvers: readonly string[];
}

/** A question of a run that no session here conducts, which its project sends to the server. */
export interface RoutedAsk extends Omit<AskInfo, "turn"> {
    readonly run: string;
    /** ISO 8601. */
    readonly asked: string;
    /** Principals that may decide. */
    readonly approvers: readonly string[];
    /** The client that looks is one of them. */
    readonly may: boolean;
}

export interface SessionInfo {
    readonly id: string;
    readonly title: string;
    readonly created: string;
    readonly by: string;
    readonly closed: boolean;
    readonly model?: string;
    /** Origins that its tools may reach, as it was said when it was opened. */
    readonly reach?: readonly string[];
    /** Of the editor that opened it. */
    readonly folder?: string;
    /** Sequence number of its last event. */
    readonly seq: number;
    readonly turns: readonly TurnInfo[];
    readonly tools: readonly ToolInfo[];
    readonly asks: readonly AskInfo[];
}

/** As it stands in a list: with the number of its turns. */
export type ListedSession = Omit<SessionInfo, "turns"> & { readonly turns: number };

export function listedSession({ turns, ...info }: SessionInfo): ListedSession {
    return { ...info, turns: turns.length };
}

/** A call of a lent tool, as the client that lent it hears of it. */
export interface CallInfo {
    readonly id: string;
    readonly client: string;
    readonly tool: string;
    readonly args: Json;
    readonly turn: string;
    readonly expires: string;
}

/**
 * What a stream of a session carries. Those with a `seq` are in the ledger and are told again from any of them on; the others (pieces of text, calls,
 * steps) are told as they happen, and calls that are open once more to a client that comes back.
 */
export interface Frame {
    readonly seq?: number;
    readonly event: string;
    readonly data: Json;
}
