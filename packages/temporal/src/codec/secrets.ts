/**
 * No secret that is known in this process goes into a history: in its place stands a reference, which a process that knows it puts back.
 *
 * Boundary: JSON payloads; what a secret is, is the scrubber's. The machine in the workflow may put a secret together from parts; this is its way out.
 *
 * CS1: a worker reads what it wrote, so that a value in the workflow is the same in every replay. A client is shown the name.
 */
import type { Scrubber } from "@remit/host";
import type { Json } from "@remit/language";
import type { Payload, PayloadCodec } from "@temporalio/common";

const MARK = "remit-secrets";

/** `shows`: names stand for secrets in what is read. */
export function secretsCodec(scrubbers: () => Iterable<Scrubber>, shows: boolean): PayloadCodec {
    return {
        encode: async (payloads) => payloads.map((payload) => concealed(payload, scrubbers())),
        decode: async (payloads) => payloads.map((payload) => revealed(payload, [...scrubbers()], shows)),
    };
}

function concealed(payload: Payload, scrubbers: Iterable<Scrubber>): Payload {
    const text = jsonOf(payload);
    if (text === null) return payload;
    const holding = [...scrubbers].filter((one) => one.find(text) !== null);
    if (holding.length === 0) return payload;
    let json = JSON.parse(text) as Json;
    for (const one of holding) json = one.conceal(json);
    const metadata = { ...payload.metadata, [MARK]: Buffer.from(String(holding.length)) };
    return { metadata, data: Buffer.from(JSON.stringify(json)) };
}

function revealed(payload: Payload, scrubbers: readonly Scrubber[], shows: boolean): Payload {
    const mark = payload.metadata?.[MARK];
    const text = jsonOf(payload);
    if (mark === undefined || text === null) return payload;
    const { [MARK]: _, ...metadata } = payload.metadata ?? {};
    let json = JSON.parse(text) as Json;
    // Each that held something wrapped what the one before had left.
    for (let times = Number(Buffer.from(mark).toString()); times > 0; times--) json = opened(json, scrubbers, shows);
    return { metadata, data: Buffer.from(JSON.stringify(json)) };
}

/** With the secrets of the first scrubber that knows them all. Throws its `RemitError` where none does, unless names will do. */
function opened(json: Json, scrubbers: readonly Scrubber[], shows: boolean): Json {
    let error: unknown;
    for (const one of scrubbers) {
        try {
            const whole = one.reveal(json);
            return shows ? one.scrub(whole) : whole;
        } catch (unknown) {
            error = unknown;
        }
    }
    if (shows) return json;
    throw error;
}

function jsonOf({ metadata, data }: Payload): string | null {
    const encoding = Buffer.from(metadata?.encoding ?? []).toString();
    return encoding === "json/plain" && data !== undefined && data !== null ? Buffer.from(data).toString("utf8") : null;
}
