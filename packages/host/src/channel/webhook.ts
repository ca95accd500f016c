/**
 * A question as a signed POST, by the Standard Webhooks specification: `webhook-id`, `webhook-timestamp`, and `webhook-signature`, an HMAC-SHA256
 * over all three and the body. Libraries that check it exist for every language.
 *
 * CHW1: the id is the question's: a receiver that keeps ids takes none twice, however often it is sent.
 */
import { createHmac } from "node:crypto";
import { type Channel, post, type Reveal } from "./channel.ts";

export function webhook(url: string, secret: string, reveal: Reveal): Channel {
    return {
        send: async (message, signal) => {
            const body = JSON.stringify(message);
            const [id, time] = [`${message.run}.${message.question}`, Math.floor(Date.now() / 1000)];
            const signature = createHmac("sha256", keyOf(reveal(secret)))
                .update(`${id}.${time}.${body}`)
                .digest("base64");
            const headers = { "webhook-id": id, "webhook-timestamp": `${time}`, "webhook-signature": `v1,${signature}` };
            await post(url, { body, headers, signal });
        },
    };
}

/** As the specification writes secrets, `whsec_` and base64; another text is the key itself. */
function keyOf(secret: string): Buffer {
    return secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
}
