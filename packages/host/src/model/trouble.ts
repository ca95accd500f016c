/**
 * What went wrong with a provider, as a failure: its kind, whether another try may help, and when.
 *
 * Boundary: told apart by status codes, error codes and classes, never by the words of a message.
 *
 * TB1: no message or detail holds a key, a header or the prompt.
 */
import type { Json } from "@remit/language";
import type { Failure } from "@remit/machine";
import { NotAnApi, Unreadable } from "./taken.ts";
import { causes, networkCode, networkWords } from "../failure/network.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { withoutKeys } from "../secret/shapes.ts";

export interface Trouble {
    readonly failure: Failure;
    /** Another try may help. */
    readonly passing: boolean;
    /** What the provider said about when, in milliseconds. */
    readonly after: number | null;
    readonly status: number | null;
}

/** Why a turn was aborted by this side. */
export class TimeUp {
    readonly message: string;
    constructor(message: string) {
        this.message = message;
    }
}

/** What of an error of the SDK is looked at. Its classes may exist twice in one process, so that `instanceof` says nothing. */
interface ApiError {
    readonly statusCode?: number;
    readonly responseHeaders?: Readonly<Record<string, string>>;
    readonly data?: unknown;
    readonly message: string;
    readonly cause?: unknown;
}

/** Another try gives the same. */
const LASTING = /^(?:ENOTFOUND$|CERT|DEPTH_|ERR_SSL_|HPE_)/;

export interface Subject {
    /** URI of the model. */
    readonly uri: string;
    /** Base URL, or null for the provider's own. */
    readonly address: string | null;
    /** Variable that holds the key, and whether it is set and was sent. */
    readonly keyName: string;
    readonly keySent: boolean;
    readonly keyKept: boolean;
    readonly secrets: Scrubber;
}

export function troubleOf(error: unknown, subject: Subject): Trouble {
    const api = apiError(error);
    if (api?.statusCode !== undefined && api.statusCode >= 400) return byStatus(api, api.statusCode, subject);
    const wrong = causes(error).find((one) => one instanceof NotAnApi);
    if (wrong instanceof NotAnApi) {
        const failure: Failure = {
            kind: "model",
            message: `${subject.uri} answered with ${wrong.what}: there is no API of a model at its address`,
            hint: addressHint(subject),
            detail: { status: wrong.status },
        };
        return { failure, passing: false, after: null, status: null };
    }
    const unreadable = causes(error).find((one) => one instanceof Unreadable);
    if (unreadable !== undefined) {
        const message = `${subject.uri} gave an answer that cannot be read: ${unreadable.message}`;
        return { failure: { kind: "model", message }, passing: false, after: null, status: null };
    }
    const code = networkCode(error);
    if (code !== null) {
        const failure: Failure = {
            kind: "unreachable",
            message: `${subject.uri} cannot be reached: ${networkWords(code)}`,
            detail: { code },
            hint: code === "ECONNREFUSED" && subject.address !== null ? startHint(subject.address) : addressHint(subject),
        };
        return {
            failure,
            passing: !LASTING.test(code),
            after: null,
            status: null,
        };
    }
    const status = api?.statusCode ?? null;
    const what = status === null ? "" : ` (HTTP ${status})`;
    const said = Error.isError(error) ? words(error.message, subject) : "";
    return {
        failure: { kind: "model", message: `${subject.uri} gave an answer that cannot be read${what}${said}` },
        passing: status === null,
        after: null,
        status,
    };
}

function byStatus(api: ApiError, status: number, subject: Subject): Trouble {
    const code = errorCode(api.data);
    const detail: { [key: string]: Json } = { status, ...(code === null ? {} : { code }) };
    const said = words(api.message, subject);
    const make = (kind: Failure["kind"], message: string, passing: boolean, hint?: string): Trouble => ({
        failure: { kind, message: `${subject.uri} ${message}${said}`, detail, ...(hint === undefined ? {} : { hint }) },
        passing,
        after: passing ? retryAfter(api.responseHeaders) : null,
        status,
    });
    if (status === 401 || status === 403)
        return make("model", status === 401 ? "does not know the key" : "does not allow this", false, keyHint(subject));
    if (status === 404) return make("model", "is not known to its provider", false, "look at the model's name, and at the endpoint's path");
    if (status === 408) return make("timeout", "did not answer in time", true);
    if (status === 413) return make("model", "was given more than it takes", false, "use less context, or give it a budget");
    if (status === 429) {
        // The account is used up: waiting does not help.
        if (code === "insufficient_quota" || code === "billing_hard_limit_reached")
            return make("rate_limited", "has no quota left", false, "look at the account's billing");
        return make("rate_limited", "takes no more requests for now", true, "wait, or ask for less at once");
    }
    if (status >= 500 || status === 409 || status === 425)
        return make("unreachable", `answered with an error of its own (HTTP ${status})`, true);
    return make("model", `refused the request (HTTP ${status})`, false);
}

const PARTS = "its host, its port, and its path (often /v1)";

function addressHint({ address }: Subject): string {
    return address === null
        ? "look at the network: is there a proxy or a sign-in page in between?"
        : `look at the address ${address}: ${PARTS}`;
}

function startHint(address: string): string {
    return `start the model's server at ${address}, or look at the address: ${PARTS}`;
}

function keyHint(subject: Subject): string {
    if (subject.keySent) return `look at ${subject.keyName}`;
    if (subject.keyKept)
        return `${subject.keyName} was not sent, since the program names the host itself; name the host in REMIT_KEY_HOSTS to send it there`;
    return `export ${subject.keyName}=YOUR_KEY`;
}

/** Milliseconds from `retry-after-ms` or `Retry-After` (RFC 9110, section 10.2.3). */
export function retryAfter(headers: Readonly<Record<string, string>> | undefined, now: number = Date.now()): number | null {
    const exact = Number(headers?.["retry-after-ms"]);
    if (headers?.["retry-after-ms"] !== undefined && Number.isFinite(exact) && exact >= 0) return exact;
    const said = headers?.["retry-after"];
    if (said === undefined) return null;
    if (/^\d+(?:\.\d+)?$/.test(said.trim())) return Number(said) * 1000;
    const date = Date.parse(said);
    return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function apiError(error: unknown): ApiError | null {
    return Error.isError(error) && "statusCode" in error ? (error as unknown as ApiError) : null;
}

function errorCode(data: unknown): string | null {
    const error = typeof data === "object" && data !== null ? (data as { error?: unknown }).error : undefined;
    if (typeof error !== "object" || error === null) return null;
    const { code, type } = error as { code?: unknown; type?: unknown };
    const found = typeof code === "string" ? code : typeof type === "string" ? type : null;
    return found === null ? null : found.slice(0, 80);
}

/** What the provider said, in brackets. */
function words(message: string, subject: Subject): string {
    const said = withoutKeys(message, subject.secrets).replace(/\s+/g, " ").trim();
    return said === "" ? "" : `: ${said.length > 300 ? `${said.slice(0, 300)}…` : said}`;
}
