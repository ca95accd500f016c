/** What a channel is: it sends a message, or fails with words and says whether another try may help. */
import type { ChannelMessage } from "./message.ts";

export interface Channel {
    send(message: ChannelMessage, signal: AbortSignal): Promise<void>;
}

/** Of a secret: its value now. Throws `ChannelError`. */
export type Reveal = (reference: string) => string;

export class ChannelError extends Error {
    override readonly name = "ChannelError";
    /** Another try may help. */
    readonly passing: boolean;
    /** Not before so many milliseconds, where the other side says so. */
    readonly after: number;
    constructor(message: string, passing: boolean, after = 0) {
        super(message);
        this.passing = passing;
        this.after = after;
    }
}

/** Longest that one try takes, milliseconds. */
export const TRY_MS = 10_000;

/** Posts JSON, follows no redirect, and gives what came back. Throws `ChannelError`, without the address: it may be a secret. */
export async function post(
    url: string,
    {
        body,
        headers,
        signal,
    }: { readonly body: string; readonly headers: { readonly [name: string]: string }; readonly signal: AbortSignal },
): Promise<string> {
    let response: Response;
    try {
        response = await fetch(url, {
            method: "POST",
            headers: { "content-type": "application/json", "user-agent": "remit", ...headers },
            body,
            redirect: "manual",
            signal: AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]),
        });
    } catch (error) {
        if (!(error instanceof Error)) throw error;
        const { code } = (error.cause ?? {}) as { readonly code?: string };
        throw new ChannelError(error.name === "TimeoutError" ? "no answer in time" : `cannot be reached (${code ?? error.name})`, true);
    }
    const { status } = response;
    const text = (await response.text()).slice(0, 4096);
    if (response.ok) return text;
    if (status >= 300 && status < 400)
        throw new ChannelError(`it sends requests elsewhere (status ${status}), which is not followed`, false);
    const wait = Number(response.headers.get("retry-after"));
    const passing = status === 429 || status === 408 || status >= 500;
    throw new ChannelError(`it answered with status ${status}`, passing, Number.isFinite(wait) ? Math.min(wait * 1000, TRY_MS) : 0);
}
