/**
 * Which question goes where, who may answer it, and that it gets there.
 *
 * Boundary: between a question's record and the channels of a configuration. What an answer does is the record's (`ledger/asks.ts`).
 *
 * RTC1: the question is kept before it is sent: a channel that fails loses nothing, is tried again, and what became of it stands beside the record.
 * RTC2: a channel that a question was sent to gets it no second time, whatever process goes on with the run.
 * RTC3: only what a trusted file says counts; what others say is told, and changes nothing.
 */
import { defined } from "@remit/language";
import { setTimeout as after } from "node:timers/promises";
import { approversOf, type AskRequest } from "@remit/machine";
import type { ChannelConfig, RouteConfig } from "../config/channels.ts";
import { SERVER, TERMINAL } from "../config/channels.ts";
import type { Config, From } from "../config/config.ts";
import { type Ask, type Asks, detailOf } from "../ledger/asks.ts";
import { resolveSecret } from "../secret/ref.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { globMatches } from "../tool/glob.ts";
import { type Channel, ChannelError, type Reveal } from "./channel.ts";
import { messageOf } from "./message.ts";

/** Where a question goes. */
export interface Route {
    /** Who may answer, as a record has it. */
    readonly owner: string;
    /** It is put to the person at the terminal, too, where one is. */
    readonly here: boolean;
    /** Names of channels, `server` among them. */
    readonly channels: readonly string[];
}

export interface Routes {
    route(request: AskRequest, owner: string): Route;
    /** Sends an open question to the channels of its route that it was not sent to. Never rejects for a channel. */
    deliver(ask: Ask, route: Route, to: Delivering): Promise<void>;
}

export interface Delivering {
    readonly asks: Pick<Asks, "note">;
    readonly signal: AbortSignal;
    /** A workflow conducts the run, and takes the answer. */
    readonly elsewhere?: boolean;
    /** Says to the person who watches what became of it. */
    tell(text: string): void;
}

export interface RoutesOptions {
    readonly env: Readonly<Record<string, string | undefined>>;
    /** Told of each secret before its first use. */
    readonly secrets: Scrubber;
    /** Between tries, milliseconds. */
    readonly waits?: readonly number[];
}

const WAITS = [500, 2000];

/** Null where no file speaks of questions. */
export function questionRoutes(config: Config, options: RoutesOptions): Routes | null {
    return config.questions.length === 0 && !config.withheld.has("route:") ? null : routesOf(config, options);
}

export function routesOf(config: Pick<Config, "channels" | "questions" | "withheld">, options: RoutesOptions): Routes {
    const { waits = WAITS, secrets } = options;
    let told = false;
    return {
        route: (request, owner) => {
            const found = config.questions.find((one) => fits(one, request));
            const to = found?.to ?? [TERMINAL];
            const approvers = found?.approvers?.map((one) => (one === "owner" ? owner : one));
            return {
                owner: approvers === undefined ? owner : approversOf(approvers),
                here: to.includes(TERMINAL),
                channels: to.filter((one) => one !== TERMINAL),
            };
        },
        deliver: async (ask, { channels }, { asks, signal, tell, elsewhere = false }) => {
            const withheld = config.withheld.get("route:");
            if (withheld !== undefined && !told) {
                told = true;
                tell(`questions of ${withheld.name} are sent nowhere: it is not trusted (remit trust, or --trust)`);
            }
            const sent = new Set(ask.notes?.flatMap(({ kind, who }) => (kind === "sent" ? [who] : [])));
            await Promise.all(
                channels.map(async (name) => {
                    if (sent.has(name)) return;
                    const said = config.channels[name];
                    // A server finds the question in the ledger, by the note.
                    const failure = name === SERVER ? null : said === undefined ? "its file is not trusted" : await tried(said, ask);
                    if (failure === null) {
                        await asks.note(ask.id, { kind: "sent", who: name, text: "" });
                        tell(
                            name === SERVER
                                ? `question ${ask.id} waits for a client of remit serve`
                                : `question ${ask.id} was sent to ${name}`,
                        );
                        return;
                    }
                    await asks.note(ask.id, { kind: "failed", who: name, text: failure });
                    tell(`question ${ask.id} could not be sent to ${name}: ${failure}. It waits in the ledger: remit asks`);
                }),
            );

            /** Null where it was sent, else why not. */
            async function tried(said: From<ChannelConfig>, one: Ask): Promise<string | null> {
                const reveal = revealing(said, options);
                for (let n = 0; ; n++) {
                    try {
                        const { arguments: values = false, answers } = said;
                        const message = messageOf(one, { secrets, values, answers, elsewhere });
                        await channelOf(said, reveal, secrets).send(message, signal);
                        return null;
                    } catch (error) {
                        if (!(error instanceof ChannelError)) throw error;
                        const wait = waits[n];
                        if (!error.passing || wait === undefined || signal.aborted) return error.message;
                        await after(Math.max(wait, error.after), undefined, { signal }).catch(() => undefined);
                    }
                }
            }
        },
    };
}

function fits({ kind, call }: RouteConfig, request: AskRequest): boolean {
    const { tool, uri, method, kind: stage } = detailOf(request);
    const isStage = stage === "stage" && tool === "approve";
    if (kind !== undefined && (kind === "approve") !== isStage) return false;
    if (call === undefined) return true;
    // By the URI too: a program may give the import whatever name it likes.
    const end = typeof method === "string" ? `.${method}` : "";
    return [tool, uri].some((one) => typeof one === "string" && one !== "" && globMatches(call, `${one}${end}`));
}

function revealing({ file }: From<ChannelConfig>, { env, secrets }: RoutesOptions): Reveal {
    return (reference) => {
        const found = resolveSecret(reference, { env, folder: file.folder });
        if (!found.ok) throw new ChannelError(found.message, false);
        secrets.add({ name: reference, value: found.value });
        return found.value;
    };
}

function channelOf(said: From<ChannelConfig>, reveal: Reveal, secrets: Scrubber): Channel {
    // Loaded where a channel of the kind is used: a run without channels pays for none.
    return {
        send: async (message, signal) => (await made(said, reveal, secrets)).send(message, signal),
    };
}

async function made(said: From<ChannelConfig>, reveal: Reveal, secrets: Scrubber): Promise<Channel> {
    const { kind, url = "", secret = "", webhook: address, token = "", channel = "", api, host = "", from = "", to = [] } = said;
    if (kind === "webhook") return (await import("./webhook.ts")).webhook(url, secret, reveal);
    if (kind === "mail") {
        const { port, secure, user, password } = said;
        return (await import("./mail.ts")).mail({ host, from, to, ...defined({ port, secure, user, password }) }, reveal);
    }
    const { incomingWebhook, postMessage } = await import("./slack.ts");
    return address === undefined ? postMessage({ token, channel, api }, reveal, secrets) : incomingWebhook(address, reveal);
}
