/**
 * Tools that clients lend to a session, and their calls.
 *
 * Boundary: registrations and calls in memory: a tool goes with its client. What a call may is the machine's, who may register is the route's.
 *
 * LNT1: a tool has the name `CLIENT__NAME`: no client stands in for another's tool.
 * LNT2: what a tool says of itself holds its registration, so that a yes for one registration is none for the next (AV3 of the machine).
 * LNT3: a call's result counts only from the client that the call went to; what comes later, or from another one, changes nothing.
 * LNT4: a call ends: by its result, when its time is up, when its tool is withdrawn or its client goes.
 * LNT5: a result is acknowledged when the run's record of it is durable: what is acknowledged is not asked about after a crash. It waits for no
 *     other call, also where a model made several at once. Where the run ends here before that (another process took it), it is not acknowledged.
 * LNT7: a tool that is lent anew is lent all the while: what asks whether it is lent between the two finds the new one.
 * LNT8: a result counts once. The same one from the same client again is acknowledged as the first is, so that a client that was told to send it again
 *     knows what became of it; another one for the same call is refused.
 * LNT6: what a client says comes from a site that the session may not reach is not given to the program.
 */
import { hash, randomBytes } from "node:crypto";
import { isObject, type Json, type ReachRule } from "@remit/language";
import type { LedgerEvent } from "@remit/machine";
import { FailedWithOrigins, type HostMethod, type HostTool, type ToolCallContext, withOrigins } from "@remit/host";
import { withPictures } from "./pictures.ts";
import { ACCEPTED, type Ack, type CallInfo, type CallResult, rejected, type ToolInfo, type ToolSpec } from "../wire/messages.ts";

interface Lent extends ToolInfo {
    readonly repeatable: boolean;
}

interface Call {
    readonly info: CallInfo;
    /** Of the tool that is called. */
    readonly registration: string;
    readonly settle: (result: CallResult) => void;
    /** LNT5. False: the run ended here before. */
    readonly kept: Promise<boolean>;
}

/** LNT8. */
interface Answer {
    readonly client: string;
    /** Of the result. */
    readonly hash: string;
    readonly kept: Promise<boolean>;
}

/** Answers that are known at the most. */
const ANSWERS = 256;

/** What is told of tools and calls. */
export interface LentEvents {
    registered(tool: ToolInfo): Promise<unknown>;
    withdrawn(tool: ToolInfo, why: string): Promise<unknown>;
    /** A tool is lent no more. */
    left(): void;
    /** To the client that lent the tool, and to those who watch. */
    call(call: CallInfo): void;
    /** `reads`: the tool only reads. */
    ended(call: CallInfo, result: CallResult, reads: boolean): void;
    /** To those who watch, when the run's record of it is durable. */
    kept(call: CallInfo, ok: boolean): void;
}

export class LentTools {
    readonly #tools = new Map<string, Lent>();
    readonly #calls = new Map<string, Call>();
    readonly #events: LentEvents;
    /** How long a client has for a call, milliseconds. */
    readonly #timeout: number;
    /** LNT5: calls whose outcome is not durable yet, by id; `path` is known when the run has said so. */
    readonly #unkept = new Map<string, { path: string | null; readonly keep: (isKept: boolean) => void }>();
    /** By the id of the call, the oldest first. */
    readonly #answers = new Map<string, Answer>();
    /** The turn that runs. */
    turn = "";

    readonly #reach: () => readonly ReachRule[];

    /** `reach`: where the session may reach; what comes from elsewhere is not given to the program. */
    constructor(events: LentEvents, timeout: number, reach: () => readonly ReachRule[]) {
        this.#events = events;
        this.#timeout = timeout;
        this.#reach = reach;
    }

    list(): ToolInfo[] {
        return [...this.#tools.values()].map(({ repeatable: _, ...info }) => info);
    }

    has(name: string): boolean {
        return this.#tools.has(name);
    }

    get(name: string): ToolInfo | null {
        return this.#tools.get(name) ?? null;
    }

    /** Calls that wait for this client. */
    open(client: string): CallInfo[] {
        return [...this.#calls.values()].map(({ info }) => info).filter((info) => info.client === client);
    }

    /** A tool that the client lent before under this name is withdrawn first. Gives what the model calls it. */
    async register(client: string, tool: string, spec: ToolSpec): Promise<string> {
        const name = `${client.replaceAll("-", "_")}__${tool}`;
        const { description, input, readOnly = false, repeatable = readOnly } = spec;
        const registration = randomBytes(6).toString("hex");
        const made: Lent = { name, client, tool, registration, description, input: input as Json, readOnly, repeatable };
        const before = this.#tools.get(name);
        // LNT7.
        this.#tools.set(name, made);
        try {
            if (before !== undefined) await this.#ends(before, "it is lent anew");
            await this.#events.registered(made);
        } catch (error) {
            if (this.#tools.get(name) === made) this.#tools.delete(name);
            this.#events.left();
            throw error;
        }
        return name;
    }

    /** False where the client lends no such tool. */
    async withdraw(client: string, tool: string, why: string): Promise<boolean> {
        const found = [...this.#tools.values()].find((one) => one.client === client && one.tool === tool);
        if (found === undefined) return false;
        this.#tools.delete(found.name);
        const kept = this.#ends(found, why);
        this.#events.left();
        await kept;
        return true;
    }

    /** Of one registration. */
    async #ends(tool: Lent, why: string): Promise<void> {
        for (const call of this.#calls.values())
            if (call.registration === tool.registration) call.settle({ ok: false, error: `the tool was withdrawn: ${why}` });
        await this.#events.withdrawn(tool, why);
    }

    /** The client is gone: everything it lent goes with it. */
    async gone(client: string, why: string): Promise<void> {
        for (const one of [...this.#tools.values()]) if (one.client === client) await this.withdraw(client, one.tool, why);
    }

    async result(client: string, id: string, result: CallResult): Promise<Ack> {
        const said = hash("sha256", JSON.stringify(result));
        const before = this.#answers.get(id);
        if (before?.client === client) {
            if (before.hash !== said) return rejected("the call was answered before with another result, which counts");
            return acknowledged(before.kept);
        }
        const call = this.#calls.get(id);
        if (call === undefined)
            return rejected(
                "there is no open call of this id: its time was up, its tool was withdrawn, or its turn or its server has ended",
            );
        if (call.info.client !== client) return rejected("the call went to another client");
        this.#answered(id, { client, hash: said, kept: call.kept });
        call.settle(result);
        return acknowledged(call.kept);
    }

    #answered(id: string, answer: Answer): void {
        this.#answers.set(id, answer);
        if (this.#answers.size <= ANSWERS) return;
        for (const oldest of this.#answers.keys()) {
            this.#answers.delete(oldest);
            return;
        }
    }

    /** A call of the run says at which path it is. */
    begun(path: string, part: Json): void {
        if (!isObject(part) || part["type"] !== BEGUN) return;
        const unkept = this.#unkept.get(String(part["call"]));
        if (unkept !== undefined) unkept.path = path;
    }

    /** An event of the run that is durable. */
    heard({ kind, path }: Pick<LedgerEvent, "kind" | "path">): void {
        if (kind === "tool.ended") this.recorded(path);
    }

    recorded(path: string): void {
        this.#keep(true, (one) => one.path === path);
    }

    /** The run is over for this process. */
    over(): void {
        this.#keep(false, () => true);
    }

    #keep(isKept: boolean, which: (one: { readonly path: string | null }) => boolean): void {
        for (const [id, one] of this.#unkept) {
            if (!which(one)) continue;
            this.#unkept.delete(id);
            one.keep(isKept);
        }
    }

    /** What the program imports: the methods that are lent now. */
    methods(): HostTool {
        return Object.fromEntries([...this.#tools.values()].map((tool) => [tool.name, this.#method(tool)]));
    }

    #method(tool: Lent): HostMethod {
        return {
            call: ((args: Json, context: ToolCallContext) => this.#call(tool, args, context)) as HostMethod["call"],
            description: tool.description,
            // LNT2.
            input: { ...(tool.input as { readonly [key: string]: Json }), $comment: `registration ${tool.registration}` },
            ...(tool.readOnly ? { readOnly: true } : { readOnly: false }),
            repeatable: tool.repeatable,
        };
    }

    async #call(tool: Lent, args: Json, { signal, emit }: ToolCallContext): Promise<unknown> {
        const id = randomBytes(9).toString("hex");
        const kept = new Promise<boolean>((keep) => this.#unkept.set(id, { path: null, keep }));
        emit({ type: BEGUN, call: id });
        const expires = new Date(Date.now() + this.#timeout).toISOString();
        const info: CallInfo = { id, client: tool.client, tool: tool.tool, args: args ?? {}, turn: this.turn, expires };
        const result = await new Promise<CallResult>((resolve) => {
            const timer = setTimeout(() => settle({ ok: false, error: timeUp(tool, this.#timeout) }), this.#timeout);
            const stop = (): void => settle({ ok: false, error: "the turn was stopped" });
            const settle = (one: CallResult): void => {
                clearTimeout(timer);
                signal.removeEventListener("abort", stop);
                this.#calls.delete(id);
                resolve(one);
            };
            signal.addEventListener("abort", stop, { once: true });
            this.#calls.set(id, { info, registration: tool.registration, settle, kept });
            this.#events.call(info);
        });
        const given = this.#within(result);
        this.#events.ended(info, given, tool.readOnly);
        void kept.then(() => this.#events.kept(info, given.ok));
        if (!given.ok) throw new LentError(given.error, [`lent:${tool.client}`]);
        const sites = [given.site ?? []].flat().map((one) => `site:${siteOf(one)}`);
        return withOrigins(withPictures(given.value, given.images), { "": [`lent:${tool.client}`, ...new Set(sites)] });
    }

    /** LNT6. */
    #within(result: CallResult): CallResult {
        if (!result.ok) return result;
        const sites = [result.site ?? []].flat().map(siteOf);
        for (const { origins, by } of this.#reach()) {
            const other = sites.find((site) => !origins.includes(site));
            if (other === undefined) continue;
            const error = `what the tool gave comes from ${JSON.stringify(other)}, and ${by} allows only ${origins.join(", ") || "nothing"}`;
            return { ok: false, error };
        }
        return result;
    }
}

/** Type of the part by which a call says which one of the client's calls it is. */
const BEGUN = "lent.call";

/** What a lent tool failed with, as its client says. */
export class LentError extends FailedWithOrigins {
    override readonly name = "LentError";
}

/** LNT5. */
async function acknowledged(kept: Promise<boolean>): Promise<Ack> {
    if (await kept) return ACCEPTED;
    return rejected("the turn ended at this server before the ledger had this result: the session says what becomes of the call");
}

function timeUp(tool: Lent, timeout: number): string {
    return `the client ${tool.client} gave no result of ${tool.tool} within ${timeout / 1000} s`;
}

/** Of an address its origin, so that two pages of a site are one; what is no address as it is. */
function siteOf(said: string): string {
    return URL.canParse(said) && new URL(said).origin !== "null" ? new URL(said).origin : said.slice(0, 200);
}
