/**
 * One prompt turn of a session with an agent: asked, watched, ended.
 *
 * Boundary: the limits and the end of a turn. What is served meanwhile is `serve.ts`, what was told `transcript.ts`.
 *
 * TU2: a turn that is to end is cancelled first; an agent that does not answer within its grace time is killed, with all it started.
 * TU3: a turn that ended early fails with what there was of its reply in `detail.reply`.
 * TU6: a turn that ended ends nothing more: what comes later, as the end of its time, neither cancels nor kills the turns after it.
 * TU5: a limit on tokens or cost with an agent that reports none of it, or its last call alone (TN6), fails after the first turn, unless steps or time are bounded, too.
 */
import type { Json } from "@remit/language";
import type { AgentReply, AgentTurn, Effect, FailureKind, Outcome } from "@remit/machine";
import type { AgentUse, PerformIO } from "../run/host.ts";
import type { CallIO } from "../tool/tool.ts";
import { headOf } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Connection } from "./connection.ts";
import { AgentFail } from "./fail.ts";
import { type FileHand, fileHands } from "./hands.ts";
import { OwnEdits } from "./own-edits.ts";
import { type Given, objectOf } from "./given.ts";
import { weightOf } from "./reported.ts";
import { Transcript } from "./transcript.ts";
import type { WorkingCopy } from "./working-copy.ts";

export interface TurnOptions {
    readonly at: Connection;
    readonly session: string | null;
    readonly turn: AgentTurn;
    readonly effect: Effect;
    readonly io: PerformIO;
    readonly workspace: string;
    readonly secrets: Scrubber;
    readonly graceMs: number;
    /** What the session cost before, US dollars. */
    readonly cost: number | undefined;
    /** Goes with the prompt. */
    readonly meta: { readonly [key: string]: string } | undefined;
    /** Whether the agent writes this file by itself once a write of it was allowed (an absolute path): then it is not written here as well. */
    readonly writes: (path: string) => boolean;
    /** Copies of folders in which it makes its edits. */
    readonly copies: readonly WorkingCopy[];
    /** Ends the agent. */
    readonly kill: () => Promise<void>;
}

const STOPS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] as const;

/** Requests of the agent in one turn. */
const MAX_ASKS = 500;
/** Notices that are shown of one turn, and the longest, UTF-16 units. */
const MAX_NOTICES = 20;
const MAX_NOTICE = 500;
/** What the requests that wait hold together, UTF-16 units. */
const MAX_WAITING = 64 * 1024 * 1024;

/** An error that the agent is told. */
export type Refuse = (message: string, code?: number) => Error;

export class Turn {
    readonly effect: Effect;
    readonly io: PerformIO;
    readonly hands: AgentTurn["hands"];
    readonly files: readonly FileHand[];
    readonly cwd: string;
    readonly workspace: string;
    readonly secrets: Scrubber;
    /** Its name in the program. */
    readonly agent: string;
    readonly transcript: Transcript;
    readonly edits: OwnEdits;
    readonly stopped: AbortSignal;
    private readonly options: TurnOptions;
    private readonly stopping = new AbortController();
    private halted: { readonly kind: FailureKind; readonly message: string } | null = null;
    /** Requests of the agent that are being answered. */
    private readonly works = new Set<Promise<unknown>>();
    private silence: NodeJS.Timeout | undefined;
    private grace: NodeJS.Timeout | undefined;
    private killed = false;
    private over = false;
    private asks = 0;
    private waiting = 0;
    private notices = 0;
    private last: Promise<unknown> = Promise.resolve();
    private readonly questions = new Map<CallIO, number>();

    constructor(options: TurnOptions) {
        const { at, turn, effect, io, workspace, cost, secrets } = options;
        this.options = options;
        this.effect = effect;
        this.io = io;
        this.hands = turn.hands;
        this.files = fileHands(turn.hands, workspace);
        this.cwd = at.carrier.cwd;
        this.workspace = workspace;
        this.secrets = secrets;
        this.agent = turn.agent.name;
        this.transcript = new Transcript({ limits: turn.limits, costBefore: cost, note: io.note, secrets });
        this.stopped = this.stopping.signal;
        this.edits = new OwnEdits(this, options.copies, (wanted) => use(this, wanted));
        io.note?.({ about: { confinement: at.carrier.confinement, ...(at.agent === undefined ? {} : { agent: at.agent }) } });
    }

    /** Shows what the agent tells beside its messages, as far as that is no flood. */
    notice(title: string): void {
        if (++this.notices > MAX_NOTICES + 1) return;
        const said =
            this.notices > MAX_NOTICES ? "its further notices of this turn are not shown" : headOf(title, MAX_NOTICE, this.secrets);
        this.io.emit({ type: "notice", text: `${this.agent}: ${said}` });
    }

    async run(): Promise<Outcome> {
        const { io } = this;
        const { ms } = this.options.turn.limits;
        const onAbort = (): void => this.halt("cancelled", Error.isError(io.signal.reason) ? io.signal.reason.message : "it was cancelled");
        try {
            if (io.signal.aborted) onAbort();
            else io.signal.addEventListener("abort", onAbort, { once: true });
            // Ends with the turn or with the run's time; a wait that is cut short says what the signal says.
            if (ms !== undefined)
                io.wait(ms).then(
                    () => this.halt("limit.time", `it may take ${ms} ms`),
                    () => undefined,
                );
            this.listen();
            const response = await this.prompt();
            await this.edits.finish();
            return this.outcome(response);
        } finally {
            this.over = true;
            this.stopping.abort();
            clearTimeout(this.silence);
            clearTimeout(this.grace);
            io.signal.removeEventListener("abort", onAbort);
            if (this.killed) await this.options.kill();
            // What it left under way stops with its turn; each tells how it ended before the turn does.
            await settled(this.works, this.options.graceMs);
        }
    }

    /** A sign of life, which may have passed a limit. */
    changed(): void {
        const { breach } = this.transcript;
        if (breach !== null) this.halt(breach.kind, breach.message);
        this.listen();
    }

    /** An edit was allowed, and the agent makes it itself: what it sends beside it is no second one. */
    makesItself(path: string, content: string): boolean {
        return this.options.writes(path) && this.transcript.changing(path, content) !== undefined;
    }

    /** Counts a request (SV3). */
    count(): void {
        if (++this.asks > MAX_ASKS) this.flooded();
    }

    /** A request is being answered until this settles: the agent waits for us. `held`: what the request says. */
    answering<T>(begin: () => Promise<T>, held: unknown = null): Promise<T> {
        const units = weightOf(held, MAX_WAITING) ?? 0;
        this.waiting += units;
        if (this.waiting > MAX_WAITING) this.flooded();
        const work = begin();
        const over = (): void => {
            this.waiting -= units;
            this.works.delete(work);
            this.listen();
        };
        this.works.add(work);
        this.listen();
        work.then(over, over);
        return work;
    }

    /** After all that went before it, however that ended. */
    inOrder<T>(work: () => Promise<T>): Promise<T> {
        const asked = this.last.then(work);
        this.last = asked.catch(() => undefined);
        return asked;
    }

    /** Questions that the agent put to a person, by what they are asked through. */
    elicited(name: string): Map<CallIO, number> {
        const { signal, emit, child } = this.io;
        if (this.questions.size === 0) this.questions.set({ name, effect: this.effect, signal, emit, child }, 0);
        return this.questions;
    }

    private flooded(): void {
        this.halt("limit.calls", "it asked for more than can be answered in a turn");
    }

    private halt(kind: FailureKind, message: string): void {
        if (this.halted !== null || this.over) return;
        const { at, session, graceMs, kill } = this.options;
        this.halted = { kind, message };
        this.stopping.abort();
        // Where it cannot be told any more, it has ended.
        at.link.notify("session/cancel", { sessionId: session }).catch(() => undefined);
        this.grace = setTimeout(() => {
            this.killed = true;
            void kill();
        }, graceMs);
    }

    private listen(): void {
        clearTimeout(this.silence);
        const { silence } = this.options.turn.limits;
        if (silence === undefined || this.works.size > 0 || this.stopped.aborted) return;
        this.silence = setTimeout(() => this.halt("timeout", `it gave no sign of life for ${silence} ms`), silence);
    }

    private async prompt(): Promise<Given> {
        const { at, session, turn, meta } = this.options;
        const params = { sessionId: session, prompt: blocks(turn, at.capabilities), ...(meta === undefined ? {} : { _meta: meta }) };
        try {
            return await at.ask("session/prompt", "the prompt", params);
        } catch (error) {
            if (this.halted !== null) throw this.failed(this.halted.kind, this.halted.message);
            throw error instanceof AgentFail ? this.failed(error.kind, error.message, error) : error;
        }
    }

    private outcome(response: Given): Outcome {
        const { transcript } = this;
        const { limits, agent } = this.options.turn;
        transcript.answered(response);
        const why = this.halted ?? transcript.breach;
        if (why !== null) throw this.failed(why.kind, why.message);
        const stop = STOPS.find((one) => one === response.stopReason);
        if (stop === undefined)
            throw this.failed(
                "invalid_payload",
                `it ended its turn with '${this.options.at.shown(response.stopReason)}', which is no reason to stop`,
            );
        const usage = transcript.usage();
        const [noTokens, noCost] = [
            limits.tokens !== undefined && (usage?.input === undefined || usage.partial === true),
            limits.usd !== undefined && usage?.usd === undefined,
        ];
        if ((noTokens || noCost) && limits.ms === undefined && limits.steps === undefined) {
            const said = usage?.partial === true && noTokens ? "reports the tokens of its last call alone" : undefined;
            const message = `it ${said ?? `does not report its ${noTokens ? "tokens" : "cost"}`}, so that a limit on them bounds nothing`;
            throw this.failed(noTokens ? "limit.tokens" : "limit.cost", message, { hint: "bound its turns or its time as well" });
        }
        const value = this.reply(stop) as unknown as Json;
        return { ok: true, value, origins: [`agent:${agent.name}`], ...(usage === undefined ? {} : { usage }) };
    }

    private reply(stop: AgentReply["stop"]): AgentReply {
        const { at } = this.options;
        return this.transcript.reply({ stop, confinement: at.carrier.confinement, agent: at.agent });
    }

    /** TU3. */
    private failed(kind: FailureKind, message: string, { detail, hint }: Partial<Pick<AgentFail, "detail" | "hint">> = {}): AgentFail {
        const reply = this.reply("cancelled") as unknown as Json;
        return new AgentFail(kind, message, { detail: { ...detail, reply }, hint, usage: this.transcript.usage() });
    }
}

/** A use that is made by the program's tool, where the machine allows it. */
export async function use({ io, stopped }: Turn, wanted: AgentUse, signal = stopped, part?: (part: Json) => void): Promise<Outcome> {
    const failure = { kind: "violation.remit", message: "this host does not perform it", site: null } as const;
    return (await io.use?.(wanted, signal, part)) ?? { ok: false, failure };
}

async function settled(works: ReadonlySet<Promise<unknown>>, ms: number): Promise<void> {
    if (works.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([Promise.allSettled(works), new Promise((done) => (timer = setTimeout(done, ms)))]);
    clearTimeout(timer);
}

/** Embedded documents where the agent takes them, else as text. */
function blocks({ prompt }: AgentTurn, capabilities: Given): Json[] {
    const embedded = objectOf(capabilities.promptCapabilities).embeddedContext === true;
    return prompt.map((part): Json => {
        if (part.type === "text") return { type: "text", text: part.text };
        const { uri, mediaType, text } = part;
        if (embedded) return { type: "resource", resource: { uri, mimeType: mediaType, text } };
        return { type: "text", text: `Document ${uri} (${mediaType}):\n${text}` };
    });
}
