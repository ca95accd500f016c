/**
 * The bodies of requests as they are checked.
 *
 * Boundary: shapes and their limits; what a field means is said in `messages.ts`.
 *
 * WIR1: a body has no field that says who sends it: the server knows that from the credential.
 * WIR2: a body with a field that is not here is refused, not read in part.
 */
import { isIdentity } from "@remit/host";
import type { Json } from "@remit/language";
import { z } from "zod";
import { MAX_PICTURES, PICTURE_TYPES, SCOPES } from "./bounds.ts";
import type * as Wire from "./messages.ts";

/** Longest description of a lent tool with its schema, bytes of its JSON. */
export const MAX_SPEC_BYTES = 4096;

/** Deepest nesting of what a client sends: what checks and writes it calls itself once a level. */
export const MAX_DEPTH = 100;

export function isTooDeep(json: unknown, left: number = MAX_DEPTH): boolean {
    if (typeof json !== "object" || json === null) return false;
    return left === 0 || Object.values(json).some((one) => isTooDeep(one, left - 1));
}

/** An origin of HTTP, as a browser writes it. */
function isOrigin(said: string): boolean {
    return /^https?:\/\/[^*]+$/.test(said) && URL.canParse(said) && new URL(said).origin === said;
}

const name = z.string().min(1).max(80);
const scopes = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length);
const Picture = z.strictObject({ media_type: z.enum(PICTURE_TYPES), data: z.base64() });
const pictures = z.array(Picture).min(1).max(MAX_PICTURES).optional();

const address = z.string().min(1).max(2000);
const json = z.json() as unknown as z.ZodType<Json>;

/** On whose behalf the client's turns make requests. */
const as = z.string().refine(isIdentity, "it is no identity such as user:alice").optional();

export const NewClient = z.strictObject({ name, scopes, origin: z.string().max(200).optional(), as });
export const Pairing = z.strictObject({ scopes: scopes.default(["observe", "submit", "lend", "approve"]), as });
export const Pair = z.strictObject({ code: z.string().min(4).max(40), name });
export const Login = z.strictObject({ code: z.string().min(4).max(40) });
export const NewSession: z.ZodType<Wire.NewSession> = z.strictObject({
    title: z.string().max(200).optional(),
    model: z.string().max(400).optional(),
    approvers: z.array(z.string().max(80)).max(50).optional(),
    reach: z.array(z.string().max(300).refine(isOrigin, "it is no origin such as https://shop.example")).max(100).optional(),
});
export const NewTurn: z.ZodType<Wire.NewTurn> = z
    .strictObject({
        text: z.string().min(1).max(100_000).optional(),
        input: json.optional(),
        images: pictures,
        model: z.string().max(400).optional(),
    })
    .refine((turn) => turn.images === undefined || turn.text !== undefined, "pictures go with `text`")
    .refine((turn) => (turn.text === undefined) !== (turn.input === undefined), "a turn has either `text` or `input`");
export const ToolSpec: z.ZodType<Wire.ToolSpec> = z.strictObject({
    description: z.string().min(1),
    input: z.record(z.string(), json).default({ type: "object" }),
    readOnly: z.boolean().optional(),
    repeatable: z.boolean().optional(),
});
export const CallResult: z.ZodType<Wire.CallResult> = z.union([
    z.strictObject({
        ok: z.literal(true),
        value: json.default(null),
        images: pictures,
        site: z.union([address, z.array(address).min(1).max(20)]).optional(),
    }),
    z.strictObject({ ok: z.literal(false), error: z.string().max(10_000).default("the tool failed without saying why") }),
]);
export const Decision: z.ZodType<{ decision: Wire.Decision }> = z.strictObject({
    decision: z.enum(["once", "session", "deny", "deny session", "abort", "again", "give up"]),
});
/** Without `answer`: the person gives none. */
export const Answer = z.strictObject({ answer: json.optional() });
