/**
 * What a project's configuration says of questions: channels that they are sent to, and routes that say which question goes where and who may answer.
 *
 * Boundary: keys, and what is wrong with them. Sending is `channel/`'s.
 *
 * CHN1: all of it needs trust: a channel sends what a run asks to another machine, and approvers may answer in the place of the owner.
 */
import type { Json } from "@remit/language";
import type { Read, Rule } from "./check.ts";

const text = { is: "text" } as const satisfies Rule;
const texts = { is: "list", of: text } as const satisfies Rule;
const reference = { is: "text", form: /^(env|file):./, say: "a secret such as env:NAME or file:PATH" } as const satisfies Rule;
const url = { is: "text", form: /^https?:\/\/[^\s@]+$/, say: "an http or https URL without a password" } as const satisfies Rule;
const address = { is: "text", form: /^[^\s<>@,;:"]+@[^\s<>@,;:"]+$/, say: "an address such as ada@example.com" } as const satisfies Rule;
const principal = { is: "text", form: /^\S+$/, say: "a principal such as user:alice, os:1000 or owner" } as const satisfies Rule;

export const CHANNEL = {
    is: "object",
    keys: {
        kind: { is: "text", one: ["webhook", "slack", "mail"], needed: true },
        /** Webhook: where questions are posted, and the secret that signs them. */
        url,
        secret: reference,
        /** Where approvers answer, told in the message; else it tells the command. */
        answers: url,
        /** Slack: the address of an incoming webhook, or a token and the channel to post to. */
        webhook: reference,
        token: reference,
        channel: text,
        /** Of Slack's Web API, where it is not Slack's own. */
        api: url,
        /** Mail: the server. */
        host: text,
        port: { is: "number", min: 1, whole: true },
        /** TLS from the first byte; else it begins in plain text and is asked for. */
        secure: { is: "yes or no" },
        user: text,
        password: reference,
        from: address,
        to: { is: "list", of: address },
        /** Arguments go along, secrets removed and cut; else their names and origins alone. */
        arguments: { is: "yes or no" },
    },
} as const satisfies Rule;

export const ROUTE = {
    is: "object",
    keys: {
        /** A gate about a call, or a stage `approve`. Absent: both. */
        kind: { is: "text", one: ["call", "approve"] },
        /** Glob over what is called, such as `Mail.*`. */
        call: text,
        /** Names of channels, `terminal` and `server`. Absent: as if there were no route. */
        to: texts,
        /** Who may answer; `owner` is the user who began the run. Absent: the owner. */
        approvers: { is: "list", of: principal },
    },
} as const satisfies Rule;

export type ChannelConfig = Read<typeof CHANNEL>;
export type RouteConfig = Read<typeof ROUTE>;

/** The terminal of the person who runs the program. */
export const TERMINAL = "terminal";
/** Every `remit serve` over the ledger of the run, and its clients that may approve. */
export const SERVER = "server";

const OWN: { readonly [K in ChannelConfig["kind"]]: readonly string[] } = {
    webhook: ["url", "secret", "answers"],
    slack: ["webhook", "token", "channel", "api"],
    mail: ["host", "port", "secure", "user", "password", "from", "to"],
};
const NEEDED: { readonly [K in ChannelConfig["kind"]]: readonly string[] } = {
    webhook: ["url", "secret"],
    slack: [],
    mail: ["host", "from", "to"],
};

/** What a channel must say beyond the form of its keys; null where nothing is wrong. */
export function channelProblem(name: string, said: { readonly [key: string]: Json }): string | null {
    if (name === TERMINAL || name === SERVER) return `'${name}' is a name of Remit's own; call the channel something else`;
    const kind = said.kind as ChannelConfig["kind"];
    const own = OWN[kind] ?? [];
    const foreign = Object.keys(said).filter((key) => key !== "kind" && key !== "arguments" && !own.includes(key));
    if (foreign.length > 0) return `${foreign.join(", ")} ${foreign.length === 1 ? "does" : "do"} not belong to a channel of kind ${kind}`;
    const missing = NEEDED[kind]?.filter((key) => said[key] === undefined) ?? [];
    if (missing.length > 0) return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`;
    const open = ["url", "api"].filter((key) => typeof said[key] === "string" && !isPrivate(said[key] as string));
    if (open.length > 0) return `${open.join(", ")}: questions and tokens go over https, or stay on this machine`;
    if (kind === "mail" && (said.to as Json[]).length === 0) return "to names no address";
    if (kind !== "slack") return null;
    if ((said.webhook === undefined) === (said.token === undefined)) return "webhook is missing, or token and channel: one of the two";
    return (said.token === undefined) === (said.channel === undefined) ? null : "token and channel belong together";
}

function isPrivate(url: string): boolean {
    if (!URL.canParse(url)) return false;
    const { protocol, hostname } = new URL(url);
    return protocol === "https:" || /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** The same of a route. `known`: channels of the same file and of others. */
export function routeProblem(said: { readonly [key: string]: Json }, known: ReadonlySet<string>): string | null {
    const { to, approvers } = said as { readonly to?: readonly string[]; readonly approvers?: readonly string[] };
    const unknown = (to ?? []).filter((one) => one !== TERMINAL && one !== SERVER && !known.has(one));
    if (unknown.length > 0)
        return `there is no channel ${unknown.join(", ")}; ${known.size === 0 ? "channels names none" : `channels has ${[...known].join(", ")}`}`;
    if (to?.length === 0) return "to names no channel";
    return approvers?.length === 0 ? "approvers names no user, so no answer would count" : null;
}
