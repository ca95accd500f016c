/**
 * Payloads made smaller: what travels with an effect says much twice (the call, its event, the state that waits for it).
 *
 * Boundary: payloads in, payloads out; no meaning. A chain's history is a third of its size by it (`tests/cost.test.ts`).
 */
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import type { PayloadCodec } from "@temporalio/common";
import proto from "@temporalio/proto";

const ENCODING = Buffer.from("binary/deflate");
/**
 * Smaller ones, results mostly, stay as they are: people read them in Temporal's own interface. What begins an effect is larger: a server that has not been
 * told otherwise keeps 512 kB of events at hand, and where those of a fan-out are more it reads them all again for each effect (section `temporal` of
 * `bench/`).
 */
const LEAST_BYTES = 384;
const { Payload: Shape } = proto.temporal.api.common.v1;

/** Larger ones are left to another thread; for smaller ones the way there takes longer than the work. */
const APART_BYTES = 32_768;
const [shrinkApart, growApart] = [promisify(deflateRaw), promisify(inflateRaw)];
/** Larger ones are seldom kept in the history: to look longer for repetitions takes a second for 64 MB of text, and saves nothing there. */
const QUICK_BYTES = 1_048_576;
/** Tables as large as a small payload needs: those of 256 kB, made for each, call for collections of the whole heap. */
const SMALL = { windowBits: 12, memLevel: 5 };
const shrink = (data: Uint8Array): Buffer | Promise<Buffer> =>
    data.length < APART_BYTES ? deflateRawSync(data, SMALL) : shrinkApart(data, data.length < QUICK_BYTES ? {} : { level: 1 });
const grow = (data: Uint8Array): Buffer | Promise<Buffer> => (data.length < APART_BYTES / 8 ? inflateRawSync(data) : growApart(data));

export const compression: PayloadCodec = {
    encode: (payloads, context) =>
        Promise.all(
            payloads.map(async (payload) => {
                // What a local activity is given stands in no history.
                const least = context?.type === "activity" && context.isLocal ? APART_BYTES : LEAST_BYTES;
                if ((payload.data?.length ?? 0) < least) return payload;
                const data = await shrink(Shape.encode(payload).finish());
                return { metadata: { encoding: ENCODING }, data };
            }),
        ),
    decode: (payloads) =>
        Promise.all(
            payloads.map(async (payload) => {
                const encoding = payload.metadata?.encoding;
                if (encoding === undefined || !ENCODING.equals(encoding)) return payload;
                return Shape.decode(await grow(payload.data ?? Buffer.alloc(0)));
            }),
        ),
};
