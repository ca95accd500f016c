/**
 * The bound of a reply under the name that a model of OpenAI's API takes: newer ones refuse `max_tokens`, older servers do not know the other.
 *
 * Boundary: one field of a request. OpenAI itself takes the newer name for all its models.
 */
import { isObject, type Json } from "@remit/language";
import { readJson } from "../input/json.ts";

/** `isNewer`: the newer name from the start. Elsewhere a refusal of the older one says so, and it is remembered. */
export function replyBound(inner: typeof fetch, isNewer: boolean): typeof fetch {
    let newer = isNewer;
    return async (input, init) => {
        const { body } = init ?? {};
        const asked: Json = typeof body === "string" ? (JSON.parse(body) as Json) : null;
        if (!isObject(asked) || asked["max_tokens"] === undefined) return inner(input, init);
        const { max_tokens, ...rest } = asked;
        const renamed = JSON.stringify({ ...rest, max_completion_tokens: max_tokens });
        if (newer) return inner(input, { ...init, body: renamed });
        const response = await inner(input, init);
        if (response.status !== 400 || !(await isRefused(response.clone()))) return response;
        await response.body?.cancel();
        newer = true;
        return inner(input, { ...init, body: renamed });
    };
}

/** Longer answers are no refusal of one field, bytes. */
const MOST = 65_536;

async function isRefused({ body }: Response): Promise<boolean> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of body ?? []) {
        size += piece.byteLength;
        if (size > MOST) return false;
        pieces.push(piece);
    }
    const read = readJson(Buffer.concat(pieces).toString("utf8"));
    return read.ok && isObject(read.value) && isObject(read.value["error"]) && read.value["error"]["param"] === "max_tokens";
}
