/**
 * The agents of a run: effects of kind `agent` are performed here, one session and one process for each session of the program.
 *
 * Boundary: which session a turn belongs to, and how long it lives. How an agent is spoken to is its scheme's.
 *
 * AG1: a session is known by its run and the path of the call that opened it. It ends with that call, and all end with `close`.
 * AG3: what a session keeps for another process is removed when the session is over, at the latest a month after its last use.
 * AG2: turns of one session come one after another.
 */
import { realpathSync } from "node:fs";
import type { AgentTurn, Effect, Outcome } from "@remit/machine";
import type { Config } from "../config/config.ts";
import { type Children, children } from "../process/child.ts";
import type { Environment } from "../ledger/place.ts";
import type { PerformIO, Performer } from "../run/host.ts";
import { AgentFail, failureOf } from "./fail.ts";
import type { Trace } from "./link.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { findSandbox, type Sandbox } from "../process/sandbox.ts";
import { sessionRooms } from "./rooms.ts";
import type { AgentSession } from "./session.ts";

export interface AgentsSetting {
    readonly config: Config;
    /** Absolute folder that tools may reach. */
    readonly workspace: string;
    /** Absolute folder of the program's tree; absent where there is none. */
    readonly root?: string;
    readonly env: Environment;
    /** Told of each secret before its first use; takes known ones out of what an agent says, before it is cut. */
    readonly secrets: Scrubber;
    /** What travels with a prompt in `_meta`: `traceparent`, `tracestate`, `baggage`. */
    readonly meta?: (effect: Effect) => { readonly [key: string]: string } | undefined;
    /** Who owns the processes of agents; one of this host's own where absent. @internal */
    readonly children?: Children;
    /** Every message of the protocol, both ways. */
    readonly trace?: Trace;
    /** Stands for the look whether a sandbox works here. */
    readonly sandbox?: () => Promise<Sandbox>;
    /** Milliseconds for an agent to start and say hello. Default 60,000. */
    readonly startMs?: number;
}

/** A setting with its defaults. */
export interface AgentsContext extends AgentsSetting {
    readonly env: Environment;
    readonly children: Children;
    readonly sandbox: () => Promise<Sandbox>;
}

/** `kept`: the folder of what another process needs to take the session up; null where nothing is kept. */
export type OpenAgent = (first: AgentTurn, context: AgentsContext, kept: () => string | null) => AgentSession | Promise<AgentSession>;

export interface Agents {
    readonly perform: Performer;
    /** The call that opened a session is over. `keeps`: what it holds is kept for another process. */
    end(session: string, run?: string, keeps?: boolean): Promise<void>;
    close(): Promise<void>;
}

interface Scheme {
    /** As written in documentation. */
    readonly form: string;
    readonly fits: (uri: string) => boolean;
    readonly open: () => Promise<OpenAgent>;
}

const SCHEMES: readonly Scheme[] = [
    { form: "acp://NAME", fits: (uri) => uri.startsWith("acp:"), open: async () => (await import("./acp.ts")).openAcp },
    { form: "acp+http://…", fits: (uri) => /^acp\+https?:/.test(uri), open: async () => (await import("./acp.ts")).openAcp },
    { form: "stub:…", fits: (uri) => uri.startsWith("stub:"), open: async () => (await import("./stub.ts")).openStub },
    { form: "acp+ws://…", fits: (uri) => /^acp\+wss?:/.test(uri), open: async () => (await import("./acp.ts")).openAcp },
];

interface Kept {
    readonly session: Promise<AgentSession>;
    last: Promise<unknown>;
}

export function agents(setting: AgentsSetting): Agents {
    let found: Promise<Sandbox> | null = null;
    const env = setting.env;
    const context: AgentsContext = {
        ...setting,
        workspace: realpathSync(setting.workspace),
        env,
        children: setting.children ?? children(),
        sandbox:
            setting.sandbox ??
            (() => {
                found ??= findSandbox(env);
                return found;
            }),
    };
    const open = new Map<string, Kept>();
    const ending = new Set<Promise<void>>();
    const rooms = sessionRooms(env, context.workspace);

    async function opened(turn: AgentTurn, run: string | undefined): Promise<AgentSession> {
        const scheme = SCHEMES.find(({ fits }) => fits(turn.agent.uri));
        if (scheme === undefined)
            throw new AgentFail("unreachable", `nothing here opens '${turn.agent.uri}'`, {
                hint: `agents are ${SCHEMES.map(({ form }) => form).join(", ")}`,
            });
        const key = keyOf(turn.session, run);
        const isNew = turn.load === undefined;
        return (await scheme.open())(turn, context, () => (run === undefined ? null : rooms.of(key, isNew)));
    }
    async function turned(effect: Effect, io: PerformIO): Promise<Outcome> {
        const turn = turnOf(effect);
        const key = keyOf(turn.session, io.run);
        let kept = open.get(key);
        if (kept === undefined) {
            const session = opened(turn, io.run);
            kept = { session, last: session };
            open.set(key, kept);
        }
        try {
            const { session } = kept;
            const before = kept.last;
            const work = (async () => {
                // How the turn before went was told to the caller that asked for it.
                await before.catch(() => undefined);
                return (await session).turn(turn, effect, io);
            })();
            kept.last = work;
            return await work;
        } catch (error) {
            if (!(error instanceof AgentFail)) throw error;
            // It never opened; the next turn may find what is missing.
            open.delete(key);
            return { ok: false, failure: failureOf(error, turn.agent.name, effect) };
        }
    }
    function over(key: string, kept: Kept | undefined, keeps: boolean): Promise<void> {
        open.delete(key);
        const work = ended(kept).then(() => {
            if (!keeps) rooms.remove(key);
        });
        ending.add(work);
        const done = (): void => void ending.delete(work);
        work.then(done, done);
        return work;
    }

    return {
        perform: turned,
        end: async (session, run, keeps = false) => {
            const key = keyOf(session, run);
            await over(key, open.get(key), keeps);
        },
        close: async () => {
            for (const [key, kept] of open) over(key, kept, false);
            await Promise.allSettled(ending);
        },
    };
}

/** A turn that an earlier build scheduled says the name of the session that is loaded, and nothing else of it. */
function turnOf({ request }: Effect): AgentTurn {
    const turn = request as unknown as Omit<AgentTurn, "load"> & { readonly load?: AgentTurn["load"] | string };
    const { load, ...rest } = turn;
    if (load === undefined) return rest;
    return { ...rest, load: typeof load === "string" ? { id: load } : load };
}

function keyOf(session: string, run: string | undefined): string {
    return `${run ?? ""}\n${session}`;
}

async function ended(kept: Kept | undefined): Promise<void> {
    try {
        await (await kept?.session)?.end();
    } catch (error) {
        // A session that never opened has nothing to end, and was told of.
        if (!(error instanceof AgentFail)) throw error;
    }
}
