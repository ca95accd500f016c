/**
 * Sessions with agents: who was handed control, since when, and what it was told of the tools that it was passed.
 *
 * Boundary: data of a run, kept in the continuation. A session's process and connection are the host's; it is known to it by its path.
 *
 * SES2: one prompt turn at a time; calls that want theirs at once get it in the order in which they asked, which outcomes and the program decide.
 * SES3: an agent outside the program remembers what it was told: whatever comes of a turn comes of all that was handed over before it, in any call, and
 *     of all that its own uses gave it.
 * SES1: a session lives as long as the call that opened it, whichever way that ends; what was given with it dies with it.
 */
import type { Json } from "@remit/language";
import type { AgentEntry } from "../effect/effect.ts";
import type { Usage } from "../effect/usage.ts";

export interface Session {
    /** Path of the call that opened it. */
    readonly path: string;
    /** File and name of the agent. */
    readonly agent: readonly [number, string];
    readonly principal: string;
    /** What was given with it: also what makes `agent` in an answer the agent of this session. */
    readonly token: number;
    /** The account that pays for it. */
    readonly account: number;
    /** Prompt turns so far, of all calls. */
    turns: number;
    /** Prompt turns of sessions that were opened inside its answers. */
    inner: number;
    /** Most prompt turns, those of `inner` included. */
    most: number;
    /** File and name of a remit that binds the agent besides its own. */
    readonly policy: readonly [number, string] | null;
    /** Path of the call whose prompt turn it is now. */
    turning: string | null;
    /** Paths of calls that wait for theirs, first come first. */
    queue: readonly string[];
    /** Methods that only read, and all methods, by `FILE INDEX/NAME` of the tools that it was passed. */
    reads: { readonly [place: string]: readonly string[] };
    told: { readonly [place: string]: readonly string[] };
    /** Origins of all that its agent was handed over, and read (SES3); absent: none. */
    heard?: readonly string[];
    /** Of an `agent()` call. */
    readonly doing: Doing | null;
}

/** What the agent of an `agent()` call did, over all its tries. */
export interface Doing {
    /** Most of each, where that is bounded. */
    readonly most: { readonly steps?: number; readonly calls?: number };
    /** Messages and tool calls. Of an agent of the program: turns of its models and agents, and calls of its tools and memories. */
    steps: number;
    /** Tool calls. */
    calls: number;
    /** Of an agent of the program, in its present try: what it did, what that used, and the origins of what it saw. */
    entries: readonly AgentEntry[];
    usage: Usage | null;
    origins: readonly string[];
}

export type SessionDoc = Session;

/** Functions that an agent wrote and that are in the running program, in the order in which they came. */
export interface WrittenDoc {
    readonly form: Json;
    /** Path of the call that they answer. */
    readonly path: string;
    readonly agent: readonly [number, string];
    readonly live: boolean;
}
