/**
 * What a client says to the server and hears from it: the bodies of requests, acknowledgements, resources and the events of a session.
 *
 * Boundary: shapes and their limits. Who may say what is `access/`; what follows is `session/`.
 *
 * WIR1: a body has no field that says who sends it: the server knows that from the credential.
 * WIR2: a body with a field that is not here is refused, not read in part.
 */
import { isIdentity } from "@remit/host";
import type { Json } from "@remit/language";
import type { AskedCall } from "@remit/machine";
import { z } from "zod";
import { MAX_PICTURES, PICTURE_TYPES, SCOPES } from "./bounds.ts";

export { SCOPES } from "./bounds.ts";

export type Scope = (typeof SCOPES)[number];

/** Longest description of a lent tool with its schema, bytes of its JSON. */
export const MAX_SPEC_BYTES = 4096;

/** Deepest nesting of what a client sends: what checks and writes it calls itself once a level. */
export const MAX_DEPTH = 100;

export function isTooDeep(json: unknown, left: number = MAX_DEPTH): boolean {
    if (typeof json !== "object" || json === null) return false;
    return left === 0 || Object.values(json).some((one) => isTooDeep(one, left - 1));
}

/** An origin of HTTP, as a browser writes it. */
export function isOrigin(said: string): boolean {
    return /^https?:\/\/[^*]+$/.test(said) && URL.canParse(said) && new URL(said).origin === said;
}

const name = z.string().min(1).max(80);
const scopes = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);
/** A picture as data; never a path or an address. Its bytes have to be what it says (`../session/pictures.ts`). */
const Picture = z.strictObject({ media_type: z.enum(PICTURE_TYPES), data: z.base64() });
export type Picture = z.infer<typeof Picture>;
const pictures = z.array(Picture).min(1).max(MAX_PICTURES).optional();

const address = z.string().min(1).max(2000);
const json = z.json() as unknown as z.ZodType<Json>;

/** On whose behalf the client's turns make requests. */
const as = z.string().refine(isIdentity, "it is no identity such as user:alice").optional();

export const NewClient = z.strictObject({ name, scopes, origin: z.string().max(200).optional(), as });
export const Pairing = z.strictObject({ scopes: scopes.default(["observe", "submit", "lend", "approve"]), as });
export const Pair = z.strictObject({ code: z.string().min(4).max(40), name });
export const Login = z.strictObject({ code: z.string().min(4).max(40) });
export const NewSession = z.strictObject({
    title: z.string().max(200).optional(),
    model: z.string().max(400).optional(),
    /** Ids of clients that may decide about the calls of this session; default: the submitter of a turn. */
    approvers: z.array(z.string().max(80)).max(50).optional(),
    /** Origins that its tools may reach, those that are lent and those of HTTP; default: all that the server lets it. */
    reach: z.array(z.string().max(300).refine(isOrigin, "it is no origin such as https://shop.example")).max(100).optional(),
});
export const NewTurn = z
    .strictObject({
        /** What the person says; goes to the program as `task`. */
        text: z.string().min(1).max(100_000).optional(),
        /** The program's input, in place of `text`. */
        input: json.optional(),
        /** Go to the program as `images`, beside `task`. */
        images: pictures,
        model: z.string().max(400).optional(),
    })
    .refine((turn) => turn.images === undefined || turn.text !== undefined, "pictures go with `text`")
    .refine((turn) => (turn.text === undefined) !== (turn.input === undefined), "a turn has either `text` or `input`");
export const ToolSpec = z.strictObject({
    description: z.string().min(1),
    /** JSON Schema of the one object argument. */
    input: z.record(z.string(), json).default({ type: "object" }),
    readOnly: z.literal(true).optional(),
    /** A second time does no harm; default: what only reads. */
    repeatable: z.boolean().optional(),
});
export const CallResult = z.union([
    z.strictObject({
        ok: z.literal(true),
        value: json.default(null),
        /** What is to be seen: the value becomes `{ content: [text, …pictures] }`, and a model that takes pictures is shown them. */
        images: pictures,
        /** Whose word it is, for the flow policies: the address of the page, or of each page and frame that it shows. */
        site: z.union([address, z.array(address).min(1).max(20)]).optional(),
    }),
    z.strictObject({ ok: z.literal(false), error: z.string().max(10_000).default("the tool failed without saying why") }),
]);
export const Decision = z.strictObject({ decision: z.enum(["once", "session", "deny", "deny session", "abort", "again", "give up"]) });
export const Answer = z.strictObject({ answer: json });

export type NewSession = z.infer<typeof NewSession>;
export type NewTurn = z.infer<typeof NewTurn>;
export type ToolSpec = z.infer<typeof ToolSpec>;
export type CallResult = z.infer<typeof CallResult>;
export type Decision = z.infer<typeof Decision>["decision"];

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
