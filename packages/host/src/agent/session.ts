/**
 * One session with an agent over the Agent Client Protocol, version 1: opened at its first turn, taken up again where its process was lost, ended by
 * its owner.
 *
 * Boundary: the life of a session. Its connection is `connection.ts`, what is set in it `modes.ts`, a turn of it `turn.ts`.
 */
import type { Json } from "@remit/language";
import type { AgentTurn, Effect, Outcome } from "@remit/machine";
import type { PerformIO } from "../run/host.ts";
import { type Carrier, Connection, type ConnectionOptions } from "./connection.ts";
import { AgentFail, failureOf } from "./fail.ts";
import { inRoot } from "./hands.ts";
import { choose, type Wishes } from "./modes.ts";
import { serving } from "./serve.ts";
import { objectOf } from "./given.ts";
import { RESTART } from "./transcript.ts";
import { Turn } from "./turn.ts";
import type { WorkingCopy } from "./working-copy.ts";

export interface SessionOptions extends ConnectionOptions, Wishes {
    /** Opens it; again where it was lost. */
    readonly carry: () => Promise<Carrier>;
    /** Of the agent's import. */
    readonly name: string;
    /** Servers of tools that are passed on, as far as the agent takes them. */
    readonly servers: (capabilities: { readonly http: boolean; readonly sse: boolean }, turn: AgentTurn) => readonly Json[];
    readonly meta?: ((effect: Effect) => { readonly [key: string]: string } | undefined) | undefined;
    /** What the person who watches is told before its first turn, a sentence each. */
    readonly notices?: readonly string[];
    /** Milliseconds for an agent to start and say hello. */
    readonly startMs?: number;
    /** Absolute folders that it can write itself, as its sandbox was made; null: all. */
    readonly writable?: readonly string[] | null;
    readonly copies?: readonly WorkingCopy[];
    /** What the agent keeps of the session is there for a later process. */
    readonly outlasts?: boolean;
    readonly close: () => Promise<void>;
}

export interface AgentSession {
    turn(turn: AgentTurn, effect: Effect, io: PerformIO): Promise<Outcome>;
    end(): Promise<void>;
}

const START_MS = 60_000;

export function acpSession(options: SessionOptions): AgentSession {
    return new AcpSession(options);
}

class AcpSession implements AgentSession {
    private readonly options: SessionOptions;
    private readonly serve: ReturnType<typeof serving>;
    private open: Connection | null = null;
    private id: string | null = null;
    private current: Turn | null = null;
    private cost: number | undefined;
    private over = false;
    private notices: readonly string[];
    /** Begun, and not in a session yet. */
    private starting: Carrier | null = null;

    constructor(options: SessionOptions) {
        this.options = options;
        this.notices = options.notices ?? [];
        this.serve = serving({ sdk: options.sdk, name: options.name, session: () => this.id, current: () => this.current });
    }

    async turn(turn: AgentTurn, effect: Effect, io: PerformIO): Promise<Outcome> {
        for (const text of this.notices) io.emit({ type: "notice", text });
        this.notices = [];
        try {
            return await this.prompted(await this.within((off) => this.ready(turn, off), io.signal), { turn, effect, io });
        } catch (error) {
            if (!(error instanceof AgentFail)) throw error;
            if (this.open === null || !this.open.carrier.alive()) await this.drop();
            const { usage } = error;
            return { ok: false, failure: failureOf(error, turn.agent.name, effect), ...(usage === undefined ? {} : { usage }) };
        }
    }

    async end(): Promise<void> {
        this.over = true;
        await this.drop();
        await this.options.close();
    }

    private async prompted(at: Connection, about: Pick<Turn, "effect" | "io"> & { readonly turn: AgentTurn }): Promise<Outcome> {
        const { effect, io } = about;
        const { workspace, graceMs, secrets } = this.options;
        const traced = io.traceparent === undefined ? undefined : { traceparent: io.traceparent };
        const meta = this.options.meta?.(effect) ?? traced;
        const kill = (): Promise<void> => this.drop();
        const { writable = [], copies = [] } = this.options;
        if (about.turn.turn > 0) for (const copy of copies) copy.refresh();
        // SV4: it calls itself so, and gains nothing by it but that a write that it could make is not made for it
        const writes = (path: string): boolean =>
            at.agent?.name === "OpenCode" && (writable === null || writable.some((folder) => inRoot(folder, path) !== null));
        this.current = new Turn({
            ...about,
            at,
            session: this.id,
            workspace,
            graceMs,
            secrets,
            cost: this.cost,
            meta,
            writes,
            copies,
            kill,
        });
        const { transcript } = this.current;
        this.keep(at, io, this.cost);
        try {
            return await this.current.run();
        } finally {
            this.current = null;
            this.cost = transcript.cost;
        }
    }

    /** Another process takes the session up where this one left it. */
    private keep(at: Connection, io: PerformIO, usd: number | undefined): void {
        if (this.options.outlasts !== true || at.capabilities.loadSession !== true || this.id === null) return;
        io.note?.({ loads: this.id, ...(usd === undefined ? {} : { usd }) });
    }

    private update(params: unknown): void {
        const { sessionId, update: said } = objectOf(params);
        if (this.current === null || sessionId !== this.id) return;
        const { transcript, io } = this.current;
        const { cost } = transcript;
        transcript.update(said);
        if (transcript.cost !== cost && this.open !== null) this.keep(this.open, io, transcript.cost);
        this.current.edits.update(objectOf(said));
        const { sessionUpdate, content, title, _meta } = objectOf(said);
        const { type, text } = objectOf(content);
        if (sessionUpdate === "agent_message_chunk" && type === "text" && typeof text === "string")
            this.current.io.emit({ type: "text", delta: text });
        if (sessionUpdate === "notice" && typeof objectOf(_meta)[RESTART] === "string") this.current.io.emit({ type: "restart" });
        if (sessionUpdate === "notice" && typeof title === "string") this.current.notice(title);
        this.current.changed();
    }

    /** The connection with the session in it. `off`: no caller waits for it any more, and nothing is left of it. */
    private async ready(turn: AgentTurn, off: AbortSignal): Promise<Connection> {
        if (this.over) throw new AgentFail("unreachable", "its session is over");
        if (this.open?.carrier.alive() === true) return this.open;
        const before = this.open;
        this.open = null;
        await before?.close();
        this.id ??= turn.load?.id ?? null;
        this.cost ??= turn.load?.usd;
        if (this.id === null && turn.turn > 0 && turn.fresh !== true)
            throw new AgentFail("unreachable", "its process was lost, and its session with it", {
                hint: "run it again from the beginning of the yield",
            });
        const carrier = await this.options.carry();
        if (this.over || off.aborted) {
            await carrier.stop(this.options.graceMs);
            throw new AgentFail("cancelled", "it was cancelled while it started");
        }
        this.starting = carrier;
        const made = new Connection(carrier, this.options, {
            serve: this.serve,
            update: (params) => this.update(params),
            life: () => this.current?.changed(),
        });
        try {
            await made.greet(turn);
            await this.begin(made, turn);
            off.throwIfAborted();
            this.open = made;
            return made;
        } catch (error) {
            await made.close();
            throw error;
        } finally {
            if (this.starting === carrier) this.starting = null;
        }
    }

    /** A session in a connection: a new one, or the one that was lost. */
    private async begin(at: Connection, turn: AgentTurn): Promise<void> {
        if (this.id !== null && at.capabilities.loadSession !== true)
            throw new AgentFail("unreachable", "its process was lost, and it cannot take a session up again");
        const { http, sse } = objectOf(at.capabilities.mcpCapabilities);
        const mcpServers = this.options.servers({ http: http === true, sse: sse === true }, turn);
        const place = { cwd: at.carrier.cwd, mcpServers };
        if (this.id !== null) {
            const loaded = await at.ask("session/load", "to take the session up again", { sessionId: this.id, ...place });
            await choose(at, this.options, { ...loaded, sessionId: this.id }, turn);
            return;
        }
        const said = await at.ask("session/new", "a session", place);
        if (typeof said.sessionId !== "string") throw new AgentFail("unreachable", "it opened no session");
        this.id = said.sessionId;
        await choose(at, this.options, said, turn);
    }

    private async drop(): Promise<void> {
        const { open, starting } = this;
        this.open = null;
        this.starting = null;
        await Promise.all([open?.close(), starting?.stop(this.options.graceMs)]);
    }

    /** The start of an agent, which may take long, or be called off. */
    private async within(start: (off: AbortSignal) => Promise<Connection>, signal: AbortSignal): Promise<Connection> {
        const { startMs = START_MS } = this.options;
        const off = new AbortController();
        const started = Promise.withResolvers<Connection>();
        const give = (error: AgentFail): void => {
            off.abort(error);
            started.reject(error);
            void this.drop();
        };
        const onAbort = (): void => give(new AgentFail("cancelled", "it was cancelled while it started"));
        const timer = setTimeout(() => give(new AgentFail("unreachable", `it did not say hello within ${startMs} ms`)), startMs);
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort, { once: true });
        start(off.signal).then(started.resolve, started.reject);
        try {
            return await started.promise;
        } finally {
            clearTimeout(timer);
            signal.removeEventListener("abort", onAbort);
        }
    }
}
