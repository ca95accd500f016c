/**
 * A session as the AI SDK's `useChat` speaks to it: a turn is the answer to the last message, and its approvals are answered in the same way.
 *
 * Boundary: from the SDK's requests to a session's turns and decisions, with the same rules as every other route. The conversation is the session's:
 * of the messages that a page sends only the last one counts.
 */
import { z } from "zod";
import type { Client } from "../access/clients.ts";
import { lacks } from "../access/guard.ts";
import { KeyConflict } from "../session/keys.ts";
import type { Session } from "../session/session.ts";
import type { Recording } from "../ui/recording.ts";
import type { UiChunk } from "../ui/message.ts";
import { uiResponse } from "../ui/stream.ts";
import type { TurnInfo } from "../wire/messages.ts";
import { type Asked, HttpError, refused, type Route, route, streamOf } from "./route.ts";

/** A page sends the whole conversation each time. */
const MAX_CHAT = 8 << 20;

/** The SDK's messages have more than the server reads; it reads no more than this. */
const Message = z.object({
    id: z.string().max(200),
    role: z.string().max(40),
    parts: z.array(z.looseObject({ type: z.string().max(200) })).max(10_000),
});
const Chat = z.strictObject({
    /** Of the session. */
    id: z.string().max(80),
    messages: z.array(Message).min(1).max(10_000),
    trigger: z.enum(["submit-message", "regenerate-message"]),
    messageId: z.string().max(200).optional(),
});
type Chat = z.infer<typeof Chat>;

const Approved = z.looseObject({
    state: z.literal("approval-responded"),
    approval: z.looseObject({ id: z.string(), approved: z.boolean() }),
});

async function sessionAt({ server }: Pick<Asked<unknown>, "server">, id: string): Promise<Session> {
    if ((await server.processes?.has(id)) === true)
        throw new HttpError(421, "misdirected", "another process of this server has the session", {
            hint: "let the balancer keep a page at the process that opened its session",
        });
    const session = server.sessions.get(id);
    if (session === undefined) throw new HttpError(404, "unknown", "there is no such session", { hint: "POST /v1/sessions opens one" });
    return session;
}

export const CHAT_ROUTES: readonly Route[] = [
    route({
        method: "post",
        path: "/v1/chat",
        scope: "submit",
        summary: "For `useChat` of the AI SDK: submits a turn, or decides about its calls, and streams what comes of it",
        body: Chat,
        most: MAX_CHAT,
        answers: {
            200: "the UI message stream (text/event-stream)",
            400: "the last message has no text, or another kind of part",
            409: "the decision does not count",
            429: "too many wait",
        },
        run: async (asked) => streamed(asked, asked.body.messages.at(-1)?.role === "user" ? submitted : decided),
    }),
    route({
        method: "get",
        path: "/v1/chat/{session}",
        scope: "observe",
        summary: "What was said in a session so far, as messages of the AI SDK",
        answers: { 200: "`{ messages }`", 404: "no such session" },
        run: async (asked) => ({ json: { messages: messagesOf(await sessionAt(asked, asked.params["session"] ?? "")) as never } }),
    }),
    route({
        method: "get",
        path: "/v1/chat/{session}/stream",
        scope: "observe",
        summary: "The turn that runs or waits, from its beginning: for a page that was loaded again",
        answers: { 200: "the UI message stream (text/event-stream)", 204: "no turn runs", 404: "no such session" },
        run: async (asked) => {
            const session = await sessionAt(asked, asked.params["session"] ?? "");
            const turn = session.info().turns.find(({ ended }) => ended === undefined);
            if (turn === undefined) return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
            return streamed(asked, ({ server, client }) => told(session, server.recordings.of(session, turn.id, 0), 0, client));
        },
    }),
];

/** One of the client's streams, until it ends or the client is gone. */
async function streamed<B>(
    asked: Asked<B>,
    begin: (asked: Asked<B>) => AsyncGenerator<UiChunk> | Promise<AsyncGenerator<UiChunk>>,
): Promise<Response> {
    const leave = streamOf(asked);
    asked.signal.addEventListener("abort", leave, { once: true });
    try {
        return uiResponse(await begin(asked), leave);
    } catch (error) {
        leave();
        throw error;
    }
}

async function submitted(asked: Asked<Chat>): Promise<AsyncGenerator<UiChunk>> {
    const { body, server, client } = asked;
    const session = await sessionAt(asked, body.id);
    const last = body.messages.at(-1) as Chat["messages"][number];
    const other = last.parts.find(({ type }) => type !== "text");
    if (other !== undefined) throw new HttpError(400, "contract", `a part of the message is ${other.type}, and a turn takes text`);
    const text = last.parts.map((part) => String(part["text"] ?? "")).join("\n");
    if (text.trim() === "") throw new HttpError(400, "contract", "the message has no text");
    const after = session.info().seq;
    const again = body.trigger === "regenerate-message" ? `:${session.info().turns.length}` : "";
    let turn: TurnInfo | null;
    try {
        turn = await session.submit(client.id, { text }, `chat:${last.id}${again}`);
    } catch (error) {
        if (!(error instanceof KeyConflict)) throw error;
        throw new HttpError(409, "conflict", "a message of this id was sent before, with another text");
    }
    if (turn === null) throw new HttpError(429, "too-many", "too many turns of this session wait", { headers: { "retry-after": "5" } });
    return told(session, server.recordings.of(session, turn.id, after), 0, client);
}

async function decided(asked: Asked<Chat>): Promise<AsyncGenerator<UiChunk>> {
    const { body, server, client } = asked;
    const no = lacks(client, "approve");
    if (no !== null) throw refused(no);
    const session = await sessionAt(asked, body.id);
    const said = (body.messages.at(-1)?.parts ?? []).flatMap((part) => {
        const read = Approved.safeParse(part);
        return read.success ? [read.data.approval] : [];
    });
    const open = new Map(session.info().asks.map((ask) => [ask.id, ask]));
    const counted = said.filter(({ id }) => open.has(id));
    const turn = open.get(counted[0]?.id ?? "")?.turn;
    if (turn === undefined)
        throw new HttpError(409, "conflict", "the message decides about nothing that waits", {
            hint: "it was decided elsewhere, or its time was up: resume the stream",
        });
    const recording = server.recordings.of(session, turn, 0);
    const from = recording.after(counted.map(({ id }) => id));
    for (const { id, approved } of counted) {
        const ack = await session.decide(client.id, id, approved ? "once" : "deny");
        if (ack.status !== "accepted") throw new HttpError(409, "conflict", `the decision does not count: ${ack.reason}`);
        recording.answered(id);
    }
    return told(session, recording, from, client);
}

async function* told(session: Session, recording: Recording, from: number, client: Client): AsyncGenerator<UiChunk> {
    const about = { session: session.id, turn: recording.turn };
    yield { type: "start", messageId: `${session.id}.${recording.turn}`, messageMetadata: about };
    yield { type: "start-step" };
    yield* recording.from(from, client.id);
}

/** Of turns that are over, and what was asked in those that are not. */
function messagesOf(session: Session): unknown[] {
    return session.info().turns.flatMap((turn) => {
        const { id, text, input, value, failure, status, ended } = turn;
        const asked = { id: `${session.id}.${id}.asked`, role: "user", parts: [{ type: "text", text: text ?? JSON.stringify(input) }] };
        if (ended === undefined) return [asked];
        const said = failure === undefined ? value : `${failure.kind}: ${failure.message}`;
        const answer = typeof said === "string" ? said : JSON.stringify(said ?? null, null, 2);
        const metadata = { session: session.id, turn: id, status };
        return [asked, { id: `${session.id}.${id}`, role: "assistant", metadata, parts: [{ type: "text", text: answer }] }];
    });
}
