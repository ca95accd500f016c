/**
 * Payloads made smaller: what travels with an effect says much twice (the call, its event, the state that waits for it).
 *
 * Boundary: payloads in, payloads out; no meaning. A chain's history is a third of its size by it (`tests/cost.test.ts`).
 */
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import type { PayloadCodec } from "@temporalio/common";
import proto from "@temporalio/proto";

const ENCODING = Buffer.from("binary/deflate");
/** Smaller ones stay as they are: people read them in Temporal's own interface. */
const LEAST_BYTES = 1_024;
const { Payload: Shape } = proto.temporal.api.common.v1;

const shrink = promisify(deflateRaw);
const grow = promisify(inflateRaw);

export const compression: PayloadCodec = {
    encode: (payloads) =>
        Promise.all(
            payloads.map(async (payload) => {
                if ((payload.data?.length ?? 0) < LEAST_BYTES) return payload;
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
