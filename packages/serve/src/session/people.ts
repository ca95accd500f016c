/**
 * What the runs of a session ask people: may a call be made, what is the answer, did a call happen.
 *
 * Boundary: from a run's questions to the log and to what is open (`asks.ts`), and back. Yeses and noes that hold on are the state's.
 *
 * PPL1: a yes for the session answers the next question about the same tool, registration and principal without asking, and the log says so.
 * PPL2: it answers where the client that gave it may decide: what one client said yes to is asked about again in a turn of another.
 *     It answers for no method of another import, however that is called, and not after its run where the call is of the program's own tools.
 * PPL3: what an agent asked in the middle of its turn ends with the server, as the agent's process does: the question and answers to it say so, and the
 *     question whether that turn begins again says what was asked. Begun again, the agent asks again.
 * PPL4: a call of a lent tool that was allowed, and that the server's end cut short, is asked about once: the question also says that its tool was lent
 *     anew. `again` then is a yes to that registration, for that one call, and no other.
 * PPL5: nothing is asked about a call of a tool that no client lends now: it is a no, and its model or program is told why. Of a call that had begun it
 *     says that it is not known whether it happened.
 */
import { randomBytes } from "node:crypto";
import { isObject, type Json, LENT, shownUse } from "@remit/language";
import type { Ask, Decided } from "@remit/host";
import {
    askedCall,
    askedMethod,
    type AskRequest,
    calledMethod,
    type Effect,
    type LedgerEvent,
    type ToolRequest,
    turnAskedIn,
    type UnknownAnswer,
} from "@remit/machine";
import type { AskInfo, ToolInfo } from "../wire/messages.ts";
import type { OpenAsks, Settled, Waiting } from "./asks.ts";
import type { SessionKind } from "./log.ts";
import type { Grant, Turn } from "./state.ts";
import { ModelCalls, Progress } from "./stuck.ts";

type Fields = { readonly [key: string]: Json };

export interface PeopleSetup {
    readonly asks: OpenAsks;
    /** How long a question waits, milliseconds. */
    readonly wait: number;
    /** Runs are conducted in this process, and say which outcomes they have; a workflow does not tell that. */
    readonly isHere: boolean;
    lent(name: string): ToolInfo | null;
    grants(): readonly Grant[];
    /** Who may decide about a turn's calls. */
    approvers(turn: Turn): readonly string[];
    /** `asked`: SLG5. */
    append(kind: SessionKind, data: Fields, asked?: boolean): Promise<void>;
    /** Of the turn that runs. */
    progress(): Progress;
    /** The turn gets nowhere, and ends. */
    stuck(why: string): void;
    /** The server stops: what is open goes on with the next one. */
    isClosing(): boolean;
}

export class People {
    readonly #setup: PeopleSetup;
    /** SAK4: decisions that the run's record has not yet, by path of the question. */
    readonly #unkept = new Map<string, () => void>();
    readonly #modelCalls = new ModelCalls();
    /** PPL3: the call that was asked about, by path of the agent's turn. */
    readonly #cutShort = new Map<string, string>();
    /** PPL4: who said `again`, of which registration, by path of the call. */
    readonly #again = new Map<string, { readonly registration: string; readonly by: string }>();

    constructor(setup: PeopleSetup) {
        this.#setup = setup;
    }

    /** One of the options, or a no with its reason (PPL5); null where the run was stopped. */
    async approve(
        turn: Turn,
        request: AskRequest,
        ask: Pick<Ask, "id" | "expires" | "path">,
        signal: AbortSignal,
    ): Promise<Decided | null> {
        const decision = await this.#decided(turn, request, ask, signal);
        if (typeof decision !== "string" || YES.has(decision) || decision === "abort") return decision;
        const why = this.#setup.progress().refused(keyOf(request));
        if (why !== null) this.#setup.stuck(why);
        return decision;
    }

    async #decided(
        turn: Turn,
        request: AskRequest,
        ask: Pick<Ask, "id" | "expires" | "path">,
        signal: AbortSignal,
    ): Promise<Decided | null> {
        const { principal = "" } = request.detail as { readonly principal?: string };
        // Another import may call a method as a lent tool is called.
        const asked = askedMethod(request.detail);
        const name = asked?.uri === LENT ? asked.method : null;
        const tool = name === null ? null : this.#setup.lent(name);
        const about: Fields = {
            path: ask.path,
            ...(tool === null ? {} : { name: tool.name, registration: tool.registration, principal }),
        };
        const isSame = (one: Grant): boolean =>
            one.name === tool?.name && one.registration === tool.registration && one.principal === principal;
        // No client is asked.
        const decided = async (decision: string, by: string): Promise<string> => {
            await this.#setup.append("ask.decided", { turn: turn.id, ask: ask.id, decision, by, remembered: true, ...about });
            return decision;
        };
        // PPL5.
        if (name !== null && tool === null) {
            await decided("deny", "gone");
            return this.#gone(request, name);
        }
        // STK1.
        if (this.#setup.progress().wasRefused(keyOf(request))) return decided("deny", "repeat");
        // PPL2.
        const may = this.#setup.approvers(turn);
        const before = this.#setup.grants().find((one) => isSame(one) && may.includes(one.by));
        if (before !== undefined) return decided(before.yes ? "session" : "deny session", before.by);
        // PPL4.
        const path = ask.path.slice(0, ask.path.indexOf("/ask/"));
        const again = this.#again.get(path);
        this.#again.delete(path);
        if (again !== undefined && isChanged(request) && again.registration === tool?.registration) return decided("once", again.by);
        const { question, options, detail } = request;
        const put = { id: ask.id, expires: ask.expires, question, options, detail };
        const settled = await this.#ask(turn, put, { late: "deny", tool: name }, signal, about);
        if (settled?.by === "gone" && name !== null) return this.#gone(request, name);
        return settled === null ? null : String(settled.answer);
    }

    /** PPL5. It counts as a call that failed, and not as one that a person refused: its client may come back. */
    #gone(request: AskRequest, tool: string): Decided {
        const gave = goneText(tool);
        const why = this.#setup.progress().called(keyOf(request), { ok: false, gave, reads: false });
        if (why !== null) this.#setup.stuck(why);
        return { deny: gave };
    }

    /** PPL3. A question that a server before this one left open, as the log has it: why it has ended. */
    endedWithServer({ ask, path, detail }: Fields): string {
        const turn = typeof path === "string" ? turnAskedIn(path) : null;
        const again = "the server was started anew";
        if (turn !== null) this.#cutShort.set(turn, String((detail as Fields | null)?.["capability"] ?? path));
        const why =
            turn === null
                ? again
                : `${again}, and the agent that waited for the answer ended with the one before: nothing of this call was done; decide whether its turn begins again`;
        this.#setup.asks.endedBefore(String(ask), why);
        return why;
    }

    /** SAK4: a decision about a call, at a path, is kept when the run says so. */
    #keep(path: Json | undefined, kept: () => void): void {
        if (typeof path === "string" && this.#setup.isHere) this.#unkept.set(path, kept);
        else kept();
    }

    /** The run has the outcome of the effect at this path. */
    recorded(path: string): void {
        this.#unkept.get(path)?.();
        this.#unkept.delete(path);
    }

    /** The run is over for this process. */
    over(): void {
        for (const kept of this.#unkept.values()) kept();
        this.#unkept.clear();
    }

    /** STK4, STK5. What an agent was asked about in the middle of its turn is no effect of the run's own: its record says that it is decided. */
    heard(event: LedgerEvent): void {
        if (event.kind === "ask.decided") this.recorded(event.path);
        for (const { key, called } of this.#modelCalls.heard(event)) {
            const why = this.#setup.progress().called(key, called);
            if (why !== null) this.#setup.stuck(why);
        }
    }

    question(turn: Turn, question: string, signal: AbortSignal): Promise<Settled | null> {
        return this.#ask(turn, { ...this.#fresh(), question, options: [], detail: null }, { late: null, tool: null }, signal);
    }

    async unknown(turn: Turn, effect: Effect, signal: AbortSignal): Promise<UnknownAnswer | null> {
        const asked = this.#cutShort.get(effect.path);
        const { allowed } = effect.request as Partial<ToolRequest>;
        const called = allowed === undefined ? null : calledMethod(effect);
        const name = called?.uri === LENT ? called.method : null;
        // What is lent is lent to a server: the one before had another registration.
        const tool = name === null ? null : this.#setup.lent(name);
        const fresh = this.#fresh();
        if (name !== null && tool === null) {
            // PPL5.
            const gone: Fields = { turn: turn.id, ask: fresh.id, decision: "give up", by: "gone", remembered: true };
            await this.#setup.append("ask.decided", gone);
            return { answer: "give up", why: goneText(name) };
        }
        const anew = tool === null ? "" : " Its tool was lent anew since, and may not be what it was when the call was allowed.";
        const question =
            asked === undefined
                ? `It is not known whether ${whatOf(effect)} happened.${anew} Perform it again?`
                : `The server ended at ${effect.path} while its agent waited for an answer about ${asked}: nothing of that call was done. Begin that turn again? The agent then asks again, and may do again what it had done before.`;
        const request = { ...fresh, question, options: ["again", "give up"], detail: effect.request };
        const settled = await this.#ask(turn, request, { late: "give up", tool: name }, signal);
        if (settled === null) return null;
        if (settled.by === "gone" && name !== null) return { answer: "give up", why: goneText(name) };
        if (settled.answer !== "again") return { answer: "give up" };
        if (tool !== null) this.#again.set(effect.path, { registration: tool.registration, by: settled.by });
        return { answer: "again" };
    }

    #fresh(): Pick<AskInfo, "id" | "expires"> {
        return { id: randomBytes(5).toString("hex"), expires: new Date(this.#setup.asks.now() + this.#setup.wait).toISOString() };
    }

    async #ask(
        turn: Turn,
        request: Omit<AskInfo, "turn" | "approvers" | "call">,
        { late, tool }: Pick<Waiting, "late" | "tool">,
        signal: AbortSignal,
        about: Fields = {},
    ): Promise<Settled | null> {
        const { asks, append, isClosing, approvers: of } = this.#setup;
        const { id, expires, question, options, detail } = request;
        const approvers = [...of(turn)];
        // SAK1.
        const call = askedCall(detail);
        const broken = new AbortController();
        const info = { id, turn: turn.id, question, options: [...options], detail, call, expires, approvers };
        const named = { turn: turn.id, ask: id, ...about };
        const waits = asks.wait(info, {
            late,
            tool,
            signal: AbortSignal.any([signal, broken.signal]),
            at: { run: turn.run ?? "", path: typeof about["path"] === "string" ? about["path"] : "" },
            log: ({ answer, by }, asked) => append("ask.decided", { ...named, decision: answer, by }, asked),
        });
        waits.catch(() => undefined);
        try {
            await append("ask.requested", { ...named, question, options: [...options], detail, expires, approvers });
            asks.lapsed(id);
            const taken = await waits;
            if (taken === null && !isClosing()) await append("ask.withdrawn", named);
            if (taken !== null) this.#keep(about["path"], taken.kept);
            return taken;
        } catch (error) {
            broken.abort();
            throw error;
        }
    }
}

/** PPL5. */
function goneText(tool: string): string {
    return `no client lends ${shownUse(`Lent.${tool}`, LENT)} any more`;
}

/** In a person's words, and where. */
function whatOf({ kind, path, request }: Effect): string {
    const { tool, method, uri } = request as Partial<ToolRequest>;
    return kind === "tool" && method !== undefined ? `the call of ${shownUse(`${tool}.${method}`, uri)}, at ${path},` : path;
}

/** Whether a call may be made although its tool is not what it was. */
function isChanged({ detail }: AskRequest): boolean {
    return isObject(detail) && detail["why"] === "changed";
}

const YES: ReadonlySet<string> = new Set(["once", "session"]);

function keyOf({ detail }: AskRequest): string {
    const { capability = "", args = [] } = detail as { readonly capability?: string; readonly args?: readonly Json[] };
    return Progress.key(capability, [...args]);
}
