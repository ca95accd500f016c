/**
 * A question in Slack: by the address of an incoming webhook, or by `chat.postMessage` with a token.
 *
 * CHS1: no text of a program or a model is markup there: no mention, no link, no formatting.
 */
import { isObject } from "@remit/language";
import { readJson } from "../input/json.ts";
import { headOf } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { type Channel, ChannelError, post, type Reveal } from "./channel.ts";
import { type ChannelMessage, textOf } from "./message.ts";

const API = "https://slack.com/api";
/** What another try may mend. */
const PASSING: ReadonlySet<string> = new Set([
    "ratelimited",
    "rate_limited",
    "service_unavailable",
    "internal_error",
    "fatal_error",
    "request_timeout",
]);

export function incomingWebhook(address: string, reveal: Reveal): Channel {
    return {
        send: async (message, signal) => {
            await post(reveal(address), { body: JSON.stringify(bodyOf(message)), headers: {}, signal });
        },
    };
}

export function postMessage(
    to: { readonly token: string; readonly channel: string; readonly api?: string | undefined },
    reveal: Reveal,
    secrets: Pick<Scrubber, "beginning">,
): Channel {
    return {
        send: async (message, signal) => {
            const body = JSON.stringify({ channel: to.channel, ...bodyOf(message) });
            const headers = { authorization: `Bearer ${reveal(to.token)}` };
            const read = readJson(await post(`${to.api ?? API}/chat.postMessage`, { body, headers, signal }));
            const said = read.ok && isObject(read.value) ? read.value : {};
            if (said.ok === true) return;
            const error = typeof said.error === "string" ? said.error : "it gave no answer of Slack's";
            throw new ChannelError(`Slack refused it: ${headOf(error, 80, secrets)}`, PASSING.has(error));
        },
    };
}

/** One block of plain text; `text` is what notifications show. */
function bodyOf(message: ChannelMessage): object {
    const text = textOf(message);
    return {
        text: escaped(message.text),
        blocks: [{ type: "section", text: { type: "plain_text", text: text.slice(0, 2900), emoji: false } }],
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
    };
}

function escaped(text: string): string {
    return text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char] as string);
}
