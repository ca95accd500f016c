/**
 * One session: turns one after another, the tools that clients lend to it, and the people who decide about their calls.
 *
 * Boundary: between the routes and the runs of the ledger. What is kept is `log.ts`, what it means `state.ts`; a turn's run `turn-run.ts`.
 *
 * SSN1: a control call (a result, a decision, a cancel) never waits for the turn that runs.
 * SSN2: a turn that was taken is in the log; a server that comes back goes on with it where its run is.
 * SSN3: a yes for the session holds for one client, tool, registration and principal, and dies with any of them, and with the client that gave it.
 * SSN4: a turn that waits begins for no client that was revoked: it ends, and says so. One that runs goes on without its client.
 */
import { LENT, defined, type Json, type ReachRule } from "@remit/language";
import type { Limits } from "@remit/machine";
import type { HostTool, Ledger, LedgerError, RunCarrier, Scrubber } from "@remit/host";
import type { Client } from "../access/clients.ts";
import type { At } from "../watch/stalls.ts";
import {
    ACCEPTED,
    type Ack,
    type CallResult,
    type NewTurn,
    type Picture,
    rejected,
    type SessionInfo,
    type ToolSpec,
    type TurnInfo,
} from "../wire/messages.ts";
import { OpenAsks } from "./asks.ts";
import type { SessionBounds } from "./bounds.ts";
import type { Brain } from "./brain.ts";
import { endsRevoked, failureOf, isStuck, leftTurn, outcomeOf } from "./ends.ts";
import { conversation, person } from "./given.ts";
import { checkSame } from "./keys.ts";
import { LentTools } from "./lent.ts";
import type { Listener, SessionLog } from "./log.ts";
import { People } from "./people.ts";
import { withPictures } from "./pictures.ts";
import { shownTurn } from "./shown.ts";
import { apply, emptyState, type SessionState, type Turn } from "./state.ts";
import { Presence } from "./presence.ts";
import { Progress } from "./stuck.ts";
import { Teller } from "./teller.ts";
import { type Stops, TurnRuns } from "./turn-run.ts";

export interface SessionSetup {
    readonly log: SessionLog;
    readonly ledger: Ledger;
    readonly brain: Brain;
    /** Carries out the runs of turns; absent: this process. */
    readonly carrier?: RunCarrier | null;
    readonly bounds: SessionBounds;
    readonly scrub: Scrubber["scrub"];
    /** The token of the client does not work any more; default: all work. */
    readonly isRevoked?: (client: string) => boolean;
    /** Bounds of every turn, beside its time. */
    readonly limits?: Limits;
    /** Its log takes nothing more: another process has the session, or the ledger is broken. Nothing goes on here. */
    readonly failed?: (error: unknown) => void;
    /** A run of a turn waits for the ledger; null: it goes on. */
    readonly stalled?: (at: At, why: LedgerError | null) => void;
}

/** What is submitted; `inputOrigins`: where it is not all the user's word. No client says that of itself. */
export type Submitted = NewTurn & { readonly inputOrigins?: string[] };

/** The turn that runs. */
interface Running {
    readonly turn: Turn;
    readonly cancel: AbortController;
    readonly leave: AbortController;
    readonly over: Promise<void>;
    readonly progress: Progress;
    /** Why it gets nowhere. */
    stuck?: string;
}

type Fields = { readonly [key: string]: Json };

export class Session {
    readonly id: string;
    readonly #setup: SessionSetup;
    readonly #state: SessionState;
    readonly #asks: OpenAsks;
    readonly #people: People;
    readonly #lent: LentTools;
    readonly #runs: TurnRuns;
    readonly #presence: Presence;
    /** Of those whose token was revoked, the ones that this session was told of: another process may have revoked them. */
    readonly #revoked = new Set<string>();
    /** Names of turns that end before they begin. */
    readonly #dropped = new Map<string, Promise<void>>();
    #running: Running | null = null;
    /** When all that were submitted before are kept. */
    #submitted: Promise<unknown> = Promise.resolve();
    readonly #waiters = new Map<string, (() => void)[]>();
    #closing = false;
    /** Names of the tools that turns wait for after a new start; null: they wait for none. */
    #missing: ReadonlySet<string> | null = null;
    #found: (name: string | null) => void = () => undefined;

    private constructor(setup: SessionSetup, state: SessionState) {
        this.#setup = setup;
        this.#state = state;
        this.id = setup.log.id;
        const { log, bounds, ledger } = setup;
        this.#asks = new OpenAsks(ledger.store.asks.now, { isRevoked: this.#isRevoked, isLent: (one) => this.#lent.has(one) });
        this.#people = new People({
            asks: this.#asks,
            wait: bounds.ask,
            isHere: (setup.carrier ?? null) === null,
            lent: (name) => this.#lent.get(name),
            grants: () => state.grants.filter(({ by }) => !this.#isRevoked(by)),
            approvers: (turn) => state.approvers ?? [turn.by],
            append: (kind, data, asked) => this.#append(kind, data, asked),
            progress: () => this.#running?.progress ?? new Progress(),
            stuck: (why) => this.#stuck(why),
            isClosing: () => this.#closing,
        });
        this.#presence = new Presence({
            away: bounds.away,
            matters: (client) => !this.#closing && this.#lent.list().some((one) => one.client === client),
            gone: (client) => void this.#lent.gone(client, "its client went away").catch(this.#failed),
        });
        this.#lent = new LentTools(
            {
                registered: ({ name, client, tool, registration, description, readOnly, input }) =>
                    this.#append("lent.registered", { name, client, tool, registration, description, readOnly, input }, true),
                withdrawn: ({ name, client, tool, registration }, why) =>
                    this.#append("lent.withdrawn", { name, client, tool, registration, why }),
                left: () => this.#asks.lapsed(),
                call: (call) => log.tell("call", call as unknown as Json),
                kept: ({ id, client, tool, turn }, ok) => log.tell("call.ended", { id, client, tool, turn, ok }),
                ended: ({ tool, args }, result, reads) => {
                    const gave = result.ok ? withPictures(result.value, result.images) : result.error;
                    const why = this.#running?.progress.called(Progress.key(tool, args), { ok: result.ok, gave, reads }) ?? null;
                    if (why !== null) this.#stuck(why);
                },
            },
            bounds.call,
            () => this.#reach(),
        );
        const { brain, carrier = null, limits, stalled = () => undefined } = setup;
        this.#runs = new TurnRuns({
            ...{ session: this.id, ledger, brain, carrier, people: this.#people, tools: this.#tools() },
            limits: { time: bounds.turn, ...limits },
            ask: bounds.ask,
            reach: () => this.#reach(),
            model: () => state.model,
            pictures: this.pictures,
            stalled,
            started: (turn, run) => this.#append("turn.started", { turn: turn.id, run }),
        });
    }

    static async open(
        setup: SessionSetup,
        about: { title: string; by: string; model?: string; folder?: string; approvers?: readonly string[]; reach?: readonly string[] },
    ): Promise<Session> {
        const session = new Session(setup, emptyState());
        await session.#append("session.opened", {
            title: about.title,
            by: about.by,
            ...(about.model === undefined ? {} : { model: about.model }),
            ...(about.folder === undefined ? {} : { folder: about.folder }),
            ...(about.approvers === undefined ? {} : { approvers: [...about.approvers] }),
            ...(about.reach === undefined ? {} : { reach: [...about.reach] }),
        });
        return session;
    }

    /** SSN2: from its log. `goesOn`: with turns that were taken; else they end here, and the ledger keeps the run of one that ran. */
    static async again(setup: SessionSetup, goesOn = true): Promise<Session> {
        const state = emptyState();
        const lent = new Map<string, Fields>();
        const asked = new Map<string, Fields>();
        for await (const event of setup.log.events()) {
            apply(state, event);
            const { kind, data } = event;
            if (kind === "lent.registered") lent.set(String(data["registration"]), data);
            if (kind === "lent.withdrawn") lent.delete(String(data["registration"]));
            if (kind === "ask.requested") asked.set(String(data["ask"]), data);
            if (kind === "ask.decided" || kind === "ask.withdrawn") asked.delete(String(data["ask"]));
        }
        const session = new Session(setup, state);
        const why = "the server was started anew";
        // What was lent went with the server: its clients lend it anew. What was asked is asked anew by the turn that goes on.
        for (const { name = null, client = null, tool = null, registration = null } of lent.values())
            await session.#append("lent.withdrawn", { name, client, tool, registration, why });
        for (const one of asked.values()) {
            const { turn = null, ask = null } = one;
            await session.#append("ask.withdrawn", { turn, ask, why: session.#people.endedWithServer(one) });
        }
        if (goesOn) session.#expect(new Set([...lent.values()].map(({ name }) => String(name))));
        else
            for (const turn of state.turns.values())
                if (turn.ended === undefined) await session.#end(turn, await leftTurn(setup.ledger, turn));
        return session;
    }

    /** Turns go on when the tools that were lent are lent again, or their clients had time for it. */
    #expect(names: Set<string>): void {
        this.#missing = names;
        const timer = setTimeout(() => this.#found(null), this.#setup.bounds.back);
        this.#found = (name) => {
            if (name !== null) names.delete(name);
            if (name !== null && names.size > 0) return;
            clearTimeout(timer);
            this.#missing = null;
            this.#found = () => undefined;
            this.#pump();
        };
        if (names.size === 0) this.#found(null);
    }

    get closed(): boolean {
        return this.#state.closed;
    }

    info(): SessionInfo {
        const { title, created, by, model, reach, folder, closed, turns } = this.#state;
        return {
            id: this.id,
            title,
            created,
            by,
            closed,
            ...defined({ model, reach, folder }),
            seq: this.#setup.log.seq,
            turns: [...turns.values()].map((turn) => this.#shown(turn)),
            tools: this.#lent.list(),
            asks: this.#asks.list(),
        };
    }

    turn(id: string): TurnInfo | null {
        const turn = this.#state.turns.get(id);
        return turn === undefined ? null : this.#shown(turn);
    }

    /** The turn waits for a person. */
    asks(turn: string): boolean {
        return this.#asks.list().some((one) => one.turn === turn);
    }

    // ---- turns ----

    /**
     * Null where too many wait. Throws `KeyConflict`. One after another: the name of a turn, and whether one with this key is there, follow from those
     * that are kept.
     */
    submit(by: string, body: Submitted, key: string | undefined): Promise<TurnInfo | null> {
        const taken = this.#submitted.then(() => this.#submit(by, body, key));
        const done = (): void => undefined;
        this.#submitted = taken.then(done, done);
        return taken;
    }

    async #submit(by: string, body: Submitted, key: string | undefined): Promise<TurnInfo | null> {
        const said = { ...body, ...(key === undefined ? {} : { key }) };
        if (key !== undefined) {
            const before = [...this.#state.turns.values()].find((turn) => turn.by === by && turn.key === key);
            if (before !== undefined) {
                checkSame(before, body);
                return this.#shown(before);
            }
        }
        if (this.#queued().length >= this.#setup.bounds.queue) return null;
        const turn = `t${this.#state.turns.size + 1}`;
        await this.#append("turn.submitted", { turn, by, ...(defined(said) as unknown as Fields) }, true);
        this.#pump();
        return this.#shown(this.#state.turns.get(turn) as Turn);
    }

    readonly pictures = (turn: string): Promise<Picture[]> => this.#setup.log.pictures(turn);

    /** By the client that submitted it, or an admin. */
    async cancel(id: string, by: Pick<Client, "id" | "scopes">): Promise<Ack> {
        const turn = this.#state.turns.get(id);
        if (turn === undefined) return rejected("there is no such turn in this session");
        if (turn.by !== by.id && !by.scopes.includes("admin")) return rejected("another client submitted the turn");
        if (turn.status === "queued") {
            await this.#drop(turn, { status: "cancelled" });
            return ACCEPTED;
        }
        // TRUN3.
        if (this.#running?.turn === turn && turn.isCancelled === undefined)
            await this.#append("turn.cancelled", { turn: id, by: by.id }, true);
        if (this.#running?.turn !== turn) return rejected(`the turn is over: ${turn.status}`);
        this.#running.cancel.abort();
        return ACCEPTED;
    }

    /** Resolves when the turn is over, or the signal ends the waiting. */
    async ended(id: string, signal: AbortSignal): Promise<TurnInfo | null> {
        const turn = this.#state.turns.get(id);
        if (turn === undefined) return null;
        if (turn.ended === undefined && !signal.aborted)
            await new Promise<void>((resolve) => {
                this.#waiters.set(id, [...(this.#waiters.get(id) ?? []), resolve]);
                signal.addEventListener("abort", () => resolve(), { once: true });
            });
        return this.#shown(turn);
    }

    // ---- tools and people ----

    async lend(client: string, tool: string, spec: ToolSpec): Promise<Ack> {
        const own = this.#lent.list().filter((one) => one.client === client);
        if (own.length >= this.#setup.bounds.tools && !own.some((one) => one.tool === tool))
            return rejected(`the client lends ${own.length} tools to the session, which is as many as it may; withdraw one`);
        this.#found(await this.#lent.register(client, tool, spec));
        this.#presence.waits(client);
        return ACCEPTED;
    }

    async withdraw(client: string, tool: string): Promise<Ack> {
        const gone = await this.#lent.withdraw(client, tool, "its client withdrew it");
        return gone ? ACCEPTED : rejected(`this client lends no tool '${tool}' to the session`);
    }

    result(client: string, call: string, result: CallResult): Promise<Ack> {
        return this.#lent.result(client, call, result);
    }

    /** Resolves when it is kept (SAK4), as the next two. */
    decide(client: string, ask: string, decision: string): Promise<Ack> {
        return this.#asks.decide(ask, decision, client);
    }

    answer(client: string, ask: string, answer: Json): Promise<Ack> {
        return this.#asks.answer(ask, answer, client);
    }

    /** The person gives no answer. */
    lapse(client: string, ask: string): Promise<Ack> {
        return this.#asks.lapse(ask, client);
    }

    /** A stream of the session. The client is here as long as one of its streams is; "" is the server itself. */
    listen(client: string, after: number): { readonly listener: Listener; readonly calls: readonly Json[] } {
        const listener = this.#setup.log.listen(client, after);
        if (client !== "") this.#presence.comes(client);
        return { listener, calls: this.#lent.open(client) as unknown as Json[] };
    }

    gone(client: string): void {
        this.#presence.leaves(client);
    }

    /** The token of the client was revoked. */
    async revoked(client: string): Promise<void> {
        this.#revoked.add(client);
        this.#setup.log.drop(client);
        this.#asks.lapsed();
        await this.#dropRevoked();
        await this.#lent.gone(client, "its client was revoked");
    }

    readonly #isRevoked = (client: string): boolean => this.#revoked.has(client) || this.#setup.isRevoked?.(client) === true;

    /** SSN4. */
    async #dropRevoked(): Promise<void> {
        for (const turn of this.#queued()) if (this.#isRevoked(turn.by)) await this.#drop(turn, endsRevoked(turn.by));
    }

    /** Ends a turn before it begins. */
    #drop(turn: Turn, how: Partial<Turn>): Promise<void> {
        const drops =
            this.#dropped.get(turn.id) ??
            this.#end(turn, how).finally(() => {
                this.#dropped.delete(turn.id);
                this.#pump();
            });
        this.#dropped.set(turn.id, drops);
        return drops;
    }

    /** `end`: for ever; else the turns go on with the next server. */
    async close(end: boolean): Promise<void> {
        this.#closing = true;
        this.#found(null);
        this.#presence.stop();
        const { log } = this.#setup;
        if (!end) log.leave();
        if (end) for (const turn of this.#queued()) await this.#end(turn, { status: "cancelled" });
        const running = this.#running;
        if (end) running?.cancel.abort();
        else running?.leave.abort(new Error("the server stops"));
        await running?.over;
        if (end) {
            if (running !== null && running.turn.ended === undefined) await this.#end(running.turn, { status: "cancelled" });
            await this.#append("session.closed", {}, true).catch((error: unknown) => {
                // It is still open, and its next turn begins.
                this.#closing = false;
                this.#pump();
                throw error;
            });
        }
        await this.#runs.close();
        await log.close(end);
    }

    // ---- running ----

    #pump(): void {
        if (this.#running !== null || this.#closing || this.#missing !== null) return;
        const turns = [...this.#state.turns.values()].filter(({ id }) => !this.#dropped.has(id));
        const next = turns.find(({ status }) => status === "running") ?? turns.find(({ status }) => status === "queued");
        if (next === undefined) return;
        if (next.status === "queued" && this.#isRevoked(next.by)) {
            this.#dropRevoked().catch(this.#failed);
            return;
        }
        const [cancel, leave] = [new AbortController(), new AbortController()];
        if (next.isCancelled) cancel.abort();
        const over = this.#run(next, { signal: cancel.signal, leave: leave.signal })
            .catch(this.#failed)
            .finally(() => {
                this.#running = null;
                this.#pump();
            });
        this.#running = { turn: next, cancel, leave, over, progress: new Progress() };
    }

    readonly #failed = (error: unknown): void => {
        this.#closing = true;
        this.#setup.failed?.(error);
    };

    #stuck(why: string): void {
        if (this.#running === null) return;
        this.#running.stuck ??= why;
        this.#running.cancel.abort();
    }

    async #run(turn: Turn, stops: Stops): Promise<void> {
        this.#lent.turn = turn.id;
        const teller = new Teller(this.#setup.log, turn.id, [this.#lent, this.#people], turn.status !== "queued");
        try {
            const result = await this.#runs.result(turn, teller, stops);
            teller.close();
            if (this.#closing && !result.ok && result.status !== "failed") return;
            const stuck = this.#running?.stuck;
            const how = await outcomeOf(this.#setup.ledger, result, stops.signal.aborted);
            await this.#end(turn, stuck === undefined || result.ok ? how : { ...how, status: "failed", failure: isStuck(stuck) });
        } catch (error) {
            teller.close();
            if (this.#closing) return;
            const { kind = "error", message, hint } = failureOf(error);
            await this.#end(turn, { status: "failed", failure: { kind, message, ...(hint === undefined ? {} : { hint }) } });
        } finally {
            this.#setup.stalled?.({ run: turn.run ?? "", path: "" }, null);
        }
    }

    // ---- what the program is given ----

    /** As its owner said of every session, and as it was said when this one was opened. */
    #reach(): readonly ReachRule[] {
        const { reach, by } = this.#state;
        const { brain } = this.#setup;
        return reach === undefined
            ? brain.reach
            : [...brain.reach, { origins: reach, tools: [LENT], by: `the session, as ${by} opened it,` }];
    }

    #tools(): { readonly [name: string]: () => HostTool } {
        return {
            lent: () => this.#lent.methods(),
            conversation: () => conversation(this.#state.turns.values()),
            person: () =>
                person(async (question, signal) => {
                    const turn = this.#running?.turn;
                    return turn === undefined ? null : this.#people.question(turn, question, signal);
                }),
        };
    }

    // ---- log ----

    /** `asked`: SLG5. */
    async #append(kind: Parameters<SessionLog["append"]>[0], data: Fields, asked = false): Promise<void> {
        apply(this.#state, await this.#setup.log.append(kind, data, asked));
    }

    async #end(turn: Turn, how: Partial<Turn>): Promise<void> {
        await this.#append("turn.ended", { turn: turn.id, ...(how as Fields) });
        for (const wake of this.#waiters.get(turn.id) ?? []) wake();
        this.#waiters.delete(turn.id);
    }

    #queued(): Turn[] {
        return [...this.#state.turns.values()].filter(({ status }) => status === "queued");
    }

    #shown(turn: Turn): TurnInfo {
        return shownTurn(turn, this.id, turn.status === "queued" ? this.#queued().indexOf(turn) + 1 : undefined);
    }
}
