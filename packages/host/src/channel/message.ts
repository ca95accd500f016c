/**
 * A question as it is told on a channel: enough to know what is asked and how it is answered.
 *
 * Boundary: from a record to a value and a text. Which channel carries it, and in which form, is the channel's.
 *
 * CHM1: no known secret goes along, and of arguments only names and origins, unless the channel says that they do.
 * CHM2: what others wrote is one line, made plain: it cannot look like a line of ours, an address of a header or a mark of the channel's own.
 */
import { isObject, type Json, plainLine } from "@remit/language";
import { askedCall, shownApprovers } from "@remit/machine";
import { type Ask, detailOf } from "../ledger/asks.ts";
import type { Scrubber } from "../secret/scrub.ts";

export const MESSAGE = "remit-question/1";

export interface ChannelMessage {
    readonly format: typeof MESSAGE;
    readonly run: string;
    readonly question: string;
    /** Of the question in its run. */
    readonly path: string;
    readonly text: string;
    /** Who wants it, and what: `Clerk`, `Mail.send`. */
    readonly who: string;
    readonly what: string;
    /** Who chose the call, and why it is asked. */
    readonly by: string;
    readonly why: readonly string[];
    readonly arguments: readonly { readonly name: string; readonly origins: readonly string[]; readonly value?: string }[];
    readonly options: readonly string[];
    /** What an answer means that holds beyond this call, by the answer. */
    readonly lasts: { readonly [option: string]: string };
    readonly approvers: string;
    readonly expires: string;
    /** Where it is answered. */
    readonly answer: { readonly command: string; readonly url?: string };
}

/** Characters of a value that goes along, and of a name. */
const MOST_VALUE = 500;
const MOST_NAME = 120;

export interface Telling {
    readonly secrets: Pick<Scrubber, "scrub">;
    /** Arguments go along. */
    readonly values: boolean;
    /** Where approvers answer, if not by the command. */
    readonly answers: string | undefined;
    /** The run is conducted elsewhere, by a workflow, which takes the answer. */
    readonly elsewhere: boolean;
}

export function messageOf(ask: Ask, { secrets, values, answers, elsewhere }: Telling): ChannelMessage {
    const { request, path } = secrets.scrub({ request: ask.request, path: ask.path } as unknown as Json) as unknown as Pick<
        Ask,
        "request" | "path"
    >;
    const about = detailOf(request);
    const call = askedCall(request.detail);
    const lasting = Object.entries(call?.lasts ?? {}).filter(([option]) => request.options.includes(option));
    const record = `${ask.run} ${ask.id}`;
    const url = answers === undefined ? {} : { url: urlOf(answers, ask) };
    return {
        format: MESSAGE,
        run: ask.run,
        question: ask.id,
        path: cut(path, MOST_NAME),
        text: cut(request.question, MOST_VALUE),
        who: cut(call?.who ?? "", MOST_NAME),
        what: cut(call?.what ?? "", MOST_NAME),
        by: cut(call?.by ?? "", MOST_NAME),
        why: (call?.why ?? []).map((one) => cut(one, MOST_VALUE)),
        arguments: argumentsOf(about, values),
        options: request.options,
        lasts: Object.fromEntries(lasting.map(([option, means]) => [option, cut(means, MOST_VALUE)])),
        approvers: shownApprovers(ask.owner),
        expires: ask.expires,
        answer: { command: elsewhere ? `remit approve ${record} once --by WHO` : `remit answer ${record} once --as WHO`, ...url },
    };
}

function urlOf(base: string, { run, id }: Ask): string {
    const url = new URL(base);
    url.searchParams.set("run", run);
    url.searchParams.set("question", id);
    return url.href;
}

function argumentsOf({ args, origins }: { readonly [key: string]: Json }, values: boolean): ChannelMessage["arguments"] {
    const list = Array.isArray(args) ? args : [];
    const [first] = list;
    const named = list.length === 1 && isObject(first) ? Object.entries(first) : list.map((value, i) => [`${i + 1}`, value] as const);
    const from = isObject(origins ?? null) ? (origins as { readonly [name: string]: Json }) : {};
    return named.slice(0, 24).map(([name, value]) => ({
        name: cut(name, MOST_NAME),
        origins: [from[name] ?? []].flat().map((one) => cut(String(one), MOST_NAME)),
        ...(values ? { value: cut(typeof value === "string" ? value : JSON.stringify(value), MOST_VALUE) } : {}),
    }));
}

/** CHM2. */
function cut(text: string, most: number): string {
    const line = plainLine(text);
    return line.length <= most ? line : `${line.slice(0, most)}…`;
}

/** Lines for people. */
export function textOf(message: ChannelMessage): string {
    const { text, who, what, by, why, lasts, arguments: args, approvers, expires, run, question, options, answer } = message;
    const lines = args.map(
        ({ name, origins, value }) =>
            `  ${name}${origins.length === 0 ? "" : ` <- ${origins.join(", ")}`}${value === undefined ? "" : `: ${value}`}`,
    );
    return [
        text,
        "",
        ...(who === "" ? [] : [`who:     ${who}`]),
        ...(what === "" ? [] : [`what:    ${what}${by === "" ? "" : `, chosen by ${by}`}`]),
        ...why.map((one) => `why:     ${one}`),
        ...(lines.length === 0 ? [] : ["with:", ...lines]),
        `run:     ${run}, question ${question}`,
        `answers: ${options.join(", ")}`,
        ...Object.entries(lasts).map(([option, means]) => `  ${option}: ${means}`),
        `from:    ${approvers}, until ${expires}`,
        "",
        answer.url === undefined ? answer.command : answer.url,
    ].join("\n");
}
