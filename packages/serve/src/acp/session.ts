/**
 * One session of an editor: prompts in, updates and questions out.
 *
 * Boundary: between the protocol and a session of the ledger (`session/`). Which sessions there are is `agent.ts`'s.
 *
 * ACS1: a prompt is answered after all that was told of its turn.
 * ACS2: a stop is no error: the prompt that it ends is answered with `cancelled`.
 * ACS3: a question that the run no longer asks is withdrawn at the editor.
 * ACS4: where a try of the model failed, what it said is taken back: the editor is told so, with the id of that message in `_meta`, and what the next try
 *     says is a message of its own.
 */
import {
    type AgentContext,
    type ContentBlock,
    type PromptResponse,
    RequestError,
    type RequestPermissionResponse,
    type SessionUpdate,
    type StopReason,
} from "@agentclientprotocol/sdk";
import { type Ledger, RESTART } from "@remit/host";
import { isObject, type Json, plainLine } from "@remit/language";
import { askedCall, type LedgerEvent, type Usage } from "@remit/machine";
import { reasonOf } from "../faces/reason.ts";
import type { Session } from "../session/session.ts";
import type { Frame } from "../wire/messages.ts";
import type { LentServers } from "./lent.ts";
import { decisionOf, optionsOf } from "./permission.ts";
import { taskOf } from "./prompt.ts";
import { said, Updates, valueText } from "./updates.ts";

type Fields = { readonly [key: string]: Json };

/** The editor's side of a connection. */
export interface Editor {
    readonly client: AgentContext;
    /** Of its name: `acp:NAME`. */
    readonly id: string;
    /** It can put a question with a form. */
    readonly hasForms: boolean;
    /** It shows what is told beside the messages. */
    readonly hasNotices: boolean;
}

export interface Served {
    readonly session: Session;
    readonly ledger: Ledger;
    /** Absolute folder that the session's tools may reach. */
    readonly workspace: string;
    readonly lent: LentServers;
}

export class EditorSession {
    readonly #editor: Editor;
    readonly #served: Served;
    readonly #over = new AbortController();
    readonly #updates = new Map<string, Updates>();
    readonly #ended = new Map<string, { readonly over: Promise<Fields>; readonly settle: (data: Fields) => void }>();
    readonly #asks = new Map<string, { readonly withdraw: AbortController; readonly turn: string; readonly path: string | null }>();
    /** What the agent said last in a turn, and where. */
    readonly #last = new Map<string, { readonly path: string; readonly id: string; readonly text: string }>();
    #restarts = 0;
    #following: Promise<void> = Promise.resolve();

    constructor(editor: Editor, served: Served) {
        this.#editor = editor;
        this.#served = served;
    }

    get id(): string {
        return this.#served.session.id;
    }

    /** Begins to tell what happens from now on. */
    begin(): void {
        this.#following = this.#follow().catch((error: unknown) => {
            const message = `the session is told of no more: ${String(error)}`;
            this.#served.lent.log(message);
            for (const { settle } of this.#ended.values()) settle({ status: "failed", failure: { kind: "unreachable", message } });
        });
    }

    async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
        const { session } = this.#served;
        const task = taskOf(blocks, this.#editor.id);
        const isFirst = session.info().turns.length === 0;
        const turn = await session.submit(this.#editor.id, task, undefined);
        if (turn === null) throw new RequestError(-32603, "too many prompts of this session wait; wait for one to end");
        const stop = (): void => void session.cancel(turn.id, { id: this.#editor.id, scopes: [] });
        signal.addEventListener("abort", stop, { once: true });
        if (signal.aborted) stop();
        if (isFirst) await this.#tell({ sessionUpdate: "session_info_update", title: plainLine(task.text).slice(0, 80) });
        const closed = new Promise<null>((resolve) => this.#over.signal.addEventListener("abort", () => resolve(null), { once: true }));
        // ACS1.
        const ended = await Promise.race([this.#end(turn.id).over, closed]);
        signal.removeEventListener("abort", stop);
        this.#forget(turn.id);
        return ended === null ? { stopReason: "cancelled" } : this.#answer(turn.id, ended);
    }

    async cancel(): Promise<void> {
        const { session } = this.#served;
        const open = session.info().turns.filter(({ status }) => status === "queued" || status === "running");
        // the ones that wait first: else the next one begins
        for (const { id } of open.reverse()) await session.cancel(id, { id: this.#editor.id, scopes: [] });
    }

    /** What was said and done before, as updates. */
    async replay(): Promise<void> {
        const { session, ledger, workspace } = this.#served;
        for (const { id, text, run, value, failure } of session.info().turns) {
            if (text !== undefined)
                await this.#tell({ sessionUpdate: "user_message_chunk", content: { type: "text", text }, messageId: `${id}:user` });
            if (run !== undefined) {
                const updates = new Updates(id, workspace);
                for await (const event of eventsOf(ledger, run)) for (const update of updates.of(event)) await this.#tell(update);
            }
            if (value !== undefined) await this.#tell(said(valueText(value), id));
            if (failure !== undefined)
                await this.#tell(said(failure.hint === undefined ? failure.message : `${failure.message}: ${failure.hint}`, id));
        }
    }

    /** A turn that runs stops where it is; the ledger keeps it. */
    async close(): Promise<void> {
        if (this.#over.signal.aborted) return;
        this.#over.abort();
        for (const { withdraw } of this.#asks.values()) withdraw.abort();
        await this.#served.session.close(false);
        await this.#served.lent.close();
        await this.#following;
    }

    // ---- what happens ----

    async #follow(): Promise<void> {
        const { session } = this.#served;
        let seen = session.info().seq;
        // one that was cut off because the editor did not read reads on from where it was
        while (!this.#over.signal.aborted && !session.closed) {
            const { listener } = session.listen(this.#editor.id, seen);
            const take = async (frames: readonly Frame[]): Promise<void> => {
                for (const frame of frames) {
                    seen = frame.seq ?? seen;
                    await this.#take(frame);
                }
            };
            for await (const frames of listener.before) await take(frames);
            for (let frames = await listener.take(60_000); frames !== null; frames = await listener.take(60_000)) await take(frames);
            session.gone(this.#editor.id);
        }
    }

    async #take({ event, data }: Frame): Promise<void> {
        if (!isObject(data) || this.#over.signal.aborted) return;
        const turn = String(data["turn"] ?? "");
        switch (event) {
            case "turn.text":
                return this.#text(turn, String(data["path"]), String(data["delta"]));
            case "turn.restart":
                return this.#restart(turn, String(data["path"]));
            case "turn.step":
                return this.#step(turn, String(data["run"]), Number(data["seq"]));
            case "ask.requested":
                this.#ask(turn, data).catch((error: unknown) => this.#served.lent.log(`an answer was not kept: ${String(error)}`));
                return;
            case "ask.decided":
            case "ask.withdrawn":
                return this.#decided(data);
            case "call":
                void this.#served.lent.call(data, (id, result) => this.#served.session.result(this.#served.lent.client, id, result));
                return;
            case "turn.ended":
                await this.#words(turn, data);
                this.#end(turn).settle(data);
                return;
        }
    }

    #text(turn: string, path: string, delta: string): Promise<void> {
        const last = this.#last.get(turn);
        const { id, text } = last?.path === path ? last : { id: `${turn}:${path}`, text: "" };
        this.#last.set(turn, { path, id, text: text + delta });
        return this.#tell(said(delta, id));
    }

    /** ACS4. */
    async #restart(turn: string, path: string): Promise<void> {
        const last = this.#last.get(turn);
        if (last?.path !== path || last.text === "") return;
        this.#last.set(turn, { path, id: `${turn}:${path}~${++this.#restarts}`, text: "" });
        const _meta = { [RESTART]: last.id };
        const title = "The model begins again: what it said last does not count.";
        if (this.#editor.hasNotices) await this.#tell({ sessionUpdate: "notice", severity: "warning", title, _meta });
        else await this.#tell({ ...said(`\n\n${title}\n\n`, `${last.id}:restart`), _meta });
    }

    async #step(turn: string, run: string, seq: number): Promise<void> {
        const updates = this.#of(turn);
        for await (const event of eventsOf(this.#served.ledger, run, seq)) {
            for (const update of updates.of(event)) await this.#tell(update);
            return;
        }
    }

    /** The value, unless the agent said it as it came. */
    async #words(turn: string, data: Fields): Promise<void> {
        const { value } = data;
        const last = this.#last.get(turn);
        if (value === undefined || value === null || (last !== undefined && last.text.trim() === String(value).trim())) return;
        await this.#tell(said(valueText(value), turn));
    }

    #answer(turn: string, { status, failure, usage }: Fields): PromptResponse {
        const { run } = this.#served.session.turn(turn) ?? {};
        const about = { ...usageOf(usage), ...(run === undefined ? {} : { _meta: { "remit/run": run } }) };
        if (status === "done") return { stopReason: "end_turn", ...about };
        const { kind = "", message = "it failed", hint } = isObject(failure) ? failure : {};
        // ACS2.
        if (status === "cancelled" || kind === "cancelled") return { stopReason: "cancelled", ...about };
        const stopReason = STOPS.find(([prefix]) => String(kind).startsWith(prefix))?.[1];
        if (stopReason === undefined)
            throw new RequestError(-32603, `${String(message)}${hint === undefined ? "" : `: ${String(hint)}`}`, { kind, run });
        void this.#tell(said(`${String(message)}${hint === undefined ? "" : `\n${String(hint)}`}`, turn));
        return { stopReason, ...about };
    }

    // ---- questions ----

    async #ask(turn: string, data: Fields): Promise<void> {
        const id = String(data["ask"]);
        const path = typeof data["path"] === "string" ? data["path"].replace(/\/ask$/, "") : null;
        const withdraw = new AbortController();
        this.#asks.set(id, { withdraw, turn, path });
        const options = Array.isArray(data["options"]) ? data["options"].map(String) : [];
        const { session } = this.#served;
        const by = this.#editor.id;
        if (options.length > 0) await session.decide(by, id, await this.#permission(turn, { ...data, path }, options, withdraw.signal));
        else {
            const answer = await this.#question(String(data["question"]), withdraw.signal);
            await (answer === null ? session.lapse(by, id) : session.answer(by, id, answer));
        }
    }

    async #permission(turn: string, data: Fields, options: readonly string[], signal: AbortSignal): Promise<string> {
        const { path, question, detail = null, ask, registration } = data;
        const updates = this.#of(turn);
        const where = typeof path === "string" ? path : String(ask);
        const about = isObject(detail) ? detail : {};
        const shown = updates.shown(about);
        const offered = optionsOf(options, askedCall(detail));
        const named = offered.map(({ optionId, name }) => [optionId, name] as const);
        const reason = { type: "content", content: { type: "text", text: reasonOf(String(question), detail, named) } } as const;
        try {
            await this.#tell(updates.begun(where, about, "pending"));
            const response = await this.#editor.client.request<RequestPermissionResponse>(
                "session/request_permission",
                {
                    sessionId: this.id,
                    toolCall: { toolCallId: updates.id(where), status: "pending", ...shown, content: [reason, ...shown.content] },
                    options: offered,
                },
                { cancellationSignal: signal, stopWaitingOnCancel: true },
            );
            return decisionOf(response, options);
        } catch (error) {
            this.#unasked(error, signal);
            return decisionOf({ outcome: { outcome: "selected", optionId: "" } }, options);
        }
    }

    /** Null where the editor has no way to ask, or the person does not answer. */
    async #question(message: string, signal: AbortSignal): Promise<Json | null> {
        if (!this.#editor.hasForms) return null;
        const requestedSchema = { type: "object", properties: { answer: { type: "string", title: "Answer" } }, required: ["answer"] };
        try {
            const response = await this.#editor.client.request<{ readonly action: string; readonly content?: Json }>(
                "elicitation/create",
                { mode: "form", sessionId: this.id, message: plainLine(message), requestedSchema },
                { cancellationSignal: signal, stopWaitingOnCancel: true },
            );
            const { content } = response;
            return response.action === "accept" && isObject(content) ? (content["answer"] ?? null) : null;
        } catch (error) {
            this.#unasked(error, signal);
            return null;
        }
    }

    /** An editor that cannot ask, one that is gone, a question that was withdrawn: no answer, and late where it is none of ours any more. */
    #unasked(error: unknown, signal: AbortSignal): void {
        if (error instanceof RequestError || signal.aborted || this.#over.signal.aborted) return;
        this.#served.lent.log(`a question failed: ${String(error)}`);
    }

    async #decided(data: Fields): Promise<void> {
        const id = String(data["ask"]);
        const asked = this.#asks.get(id);
        this.#asks.delete(id);
        // ACS3.
        asked?.withdraw.abort();
        const { decision } = data;
        if (asked?.path == null || decision === "once" || decision === "session" || decision === "again") return;
        await this.#tell(
            this.#of(asked.turn).refused(asked.path, decision === undefined ? "The question was withdrawn." : "The call was not allowed."),
        );
    }

    // ---- small things ----

    #of(turn: string): Updates {
        const known = this.#updates.get(turn) ?? new Updates(turn, this.#served.workspace);
        this.#updates.set(turn, known);
        return known;
    }

    #end(turn: string) {
        let settle: (data: Fields) => void = () => undefined;
        const known = this.#ended.get(turn) ?? {
            over: new Promise<Fields>((resolve) => (settle = resolve)),
            settle: (data: Fields) => settle(data),
        };
        this.#ended.set(turn, known);
        return known;
    }

    #forget(turn: string): void {
        for (const all of [this.#updates, this.#ended, this.#last]) all.delete(turn);
    }

    /** An editor that is gone hears nothing; that its connection ended is `agent.ts`'s to see. */
    async #tell(update: SessionUpdate): Promise<void> {
        if (this.#over.signal.aborted) return;
        await this.#editor.client.notify("session/update", { sessionId: this.id, update }).catch((error: unknown) => {
            this.#served.lent.log(`the editor was not told: ${String(error)}`);
        });
    }
}

/** Ends that are no errors of the agent: what bounds it, and what it may not. */
const STOPS: readonly (readonly [string, StopReason])[] = [
    ["limit.tokens", "max_tokens"],
    ["limit.", "max_turn_requests"],
    ["denied", "refusal"],
    ["violation.", "refusal"],
];

function usageOf(usage: Json | undefined): object {
    const { input = 0, output = 0, cached, reasoning } = isObject(usage) ? (usage as Usage) : {};
    if (input === 0 && output === 0) return {};
    return {
        usage: {
            inputTokens: input,
            outputTokens: output,
            totalTokens: input + output,
            ...(cached === undefined ? {} : { cachedReadTokens: cached }),
            ...(reasoning === undefined ? {} : { thoughtTokens: reasoning }),
        },
    };
}

function eventsOf(ledger: Ledger, run: string, from?: number): AsyncIterable<LedgerEvent> {
    return ledger.events(run, from);
}
