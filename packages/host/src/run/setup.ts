/**
 * What a caller of the library may say about a run.
 *
 * Boundary: shapes only.
 */
import type { Backend, Json, ReachRule, Shapes } from "@remit/language";
import type { AskRequest, Effect, InputRequest, LedgerEvent, Limits, UnknownAnswer } from "@remit/machine";
import type { CredentialSources } from "../credential/source.ts";
import type { Ask } from "../ledger/asks.ts";
import type { LedgerError } from "../ledger/error.ts";
import type { LedgerStore } from "../ledger/store.ts";
import type { Process } from "../process/process.ts";
import type { HostToolSource } from "../tool/functions.ts";
import type { QueueCaller } from "../tool/queue.ts";
import type { VerbRegistry } from "../verb/registry.ts";
import type { Wrap } from "../wrap/wrap.ts";
import type { Performers } from "./host.ts";
import type { BlockRunner } from "./nested.ts";
import type { Entry } from "./options.ts";
import type { Mode } from "./rehearse.ts";

/** What a person says became of an effect; null: it is not known now. `signal`: where it may be said elsewhere, and is not asked any more then. */
export type AskUnknown = (effect: Effect, signal?: AbortSignal) => Promise<UnknownAnswer | null> | UnknownAnswer | null;

/** What `ask` says: one of the options, or a no with its reason. */
export type Decided = string | { readonly deny: string };

/** Handlers that ask a person or report to one. A handler that gives null has no answer now: the run may stop as waiting. */
export interface Handlers {
    /**
     * A question about a call: one of `options`, or a no of which the program is told why. Without a handler the answer is no, or later (`asks.park`). `ask` is its record, which another
     * process may answer too; then the signal is aborted.
     */
    readonly ask?: (
        request: AskRequest,
        about: { readonly effect: Effect; readonly ask: Ask; readonly signal: AbortSignal },
    ) => Promise<Decided | null> | Decided | null;
    /** `ask` puts questions to the clients of a server: those that a project sends to the channel `server` are put there, too. */
    readonly atServer?: boolean;
    /** Whether `ask` is for a question; to any other nobody answers here. Default: it is for all. */
    readonly takes?: (request: AskRequest) => boolean;
    /** The program that says what a person answered to `ask`, such as `the client NAME`. Default: the owner answers, and is the one who decided. */
    readonly told?: string;
    /** A missing field of the input, or `input.NAME`. */
    readonly input?: (
        request: InputRequest,
        /** `shapes`: what the contract refers to, where it is known. */
        about: { readonly effect: Effect; readonly signal: AbortSignal; readonly shapes?: Shapes },
    ) => Promise<Json | null> | Json | null;
    /** What became of an effect that had begun when the run was interrupted. */
    readonly unknown?: AskUnknown;
    /** Each event after it is kept. */
    readonly event?: (event: LedgerEvent) => void;
    /** The outcome of the effect at this path is kept: what it was made of is not asked for again. */
    readonly kept?: (path: string) => void;
    /** Progress of an effect: a piece of streamed text, a note of a tool. */
    readonly part?: (path: string, part: Json) => void;
    /** The run waits, because the ledger's disk is full or another process keeps the ledger locked; null: it goes on. */
    readonly stalled?: (why: LedgerError | null) => void;
}

export interface RunOptions {
    readonly signal?: AbortSignal;
    /** Id of the run that it becomes; default: a new one. A part of another run has the id of that one, a point, and more. */
    readonly id?: string;
    /** Bounds of the whole run; `time` in milliseconds. */
    readonly limits?: Limits;
    readonly entry?: Entry;
    /** Origins of the input. Default `user`. Name another one, such as `web:form`, for an input that other people wrote. */
    readonly inputOrigins?: readonly string[];
    readonly variants?: { readonly [site: string]: string };
    readonly on?: Handlers;
    /** Iterations of a `parallel for` that run at once. Default 4. */
    readonly concurrency?: number;
    /** Ask `on.input` for missing fields of the input. */
    readonly interactive?: boolean;
    /** How questions about calls are kept and answered. */
    readonly asks?: AskOptions;
    /** Where the blocks of the program run that are no runs of their own. Default `memory`: in this process. */
    readonly backend?: Backend;
}

/** Kept with the run. */
export interface AskOptions {
    /** A question without an answer waits in the ledger; the run ends as `waiting` and can be resumed. Otherwise it is a no. */
    readonly park?: boolean;
    /** How long a question can be answered, milliseconds. Default: 24 hours; after that it is a no. */
    readonly expires?: number;
    /** Who answers. Default: the user of the program, `os:UID`. */
    readonly owner?: string;
}

export interface HostOptions {
    /** Functions for `import tool NAME`, by that name, in place of the tool that the import's URI names. */
    readonly tools?: { readonly [name: string]: HostToolSource };
    /** Verbs that stages may call besides Remit's own (`verbRegistry`). */
    readonly registry?: VerbRegistry;
    /** Wrappers around every effect of a run, the first one outermost: a retry, a log, a cache. */
    readonly wrap?: readonly Wrap[];
    /** Model URI that stands for every `import llm`. */
    readonly model?: string;
    /** Folder that tools may reach. Default: the current one. */
    readonly workspace?: string;
    /** `memory` (default of the library), a path, or a store that is open already. */
    readonly ledger?: "memory" | (string & {}) | LedgerStore;
    /** Performers of the caller, by kind of effect; they take the place of the built-in ones. */
    readonly performers?: Performers;
    /** Carries out blocks of another backend than this process, as runs of the same ledger. */
    readonly blocks?: BlockRunner;
    /** Calls activities and workflows of task queues, which a program imports as tools (`temporal://QUEUE/FILE.json`). */
    readonly queues?: QueueCaller;
    /** Connections, models and ledgers that programs of one process share (`openProcess`). Default: the program opens its own, and its `close` closes them. */
    readonly process?: Process;
    /** The user for whom the program runs. Default: `asks.owner`, else the user of the process. Only programs of one user share connections to tool servers. */
    readonly user?: string;
    /** Identity, such as `user:alice`, for requests of stages that name none. Kept with the run. */
    readonly as?: string;
    /** Sources of credentials by the names that programs write, before the built-in ones: `env`, `file`, `exec`, `oauth`, `secret`. */
    readonly credentials?: CredentialSources;
    /** What programs and their configuration read as the environment. Default: that of the process. */
    readonly env?: Readonly<Record<string, string | undefined>>;
    /** The project's configuration may start commands and load modules. */
    readonly trust?: boolean;
    /**
     * `mock`: no tool and no memory is reached; `dry-run`: only what reads is performed. Without `model` the model is `mock:`. Kept with the run:
     * resuming it does not make it real.
     */
    readonly mode?: Mode;
    /** Requests to MCP servers and agents carry the trace context of their spans (`_meta.traceparent`); the code that sends the spans says so. */
    readonly telemetry?: boolean;
    /** Record every model reply to this file, secrets removed. */
    readonly record?: string;
}

export interface LoadOptions extends HostOptions, RunOptions {
    /** Folder of the program's tree. Default: found upward from the file. */
    readonly root?: string;
    /** Folders outside the tree that file imports may read. */
    readonly grants?: readonly string[];
    /** False: compile afresh, and keep nothing. */
    readonly cache?: boolean;
    /**
     * Gate for untrusted values in arguments of calls that do more than read, if no clause of the program is about the argument: `ask` puts a
     * question that shows the flow, `never` refuses. Default: the project's policy; without one they pass.
     */
    readonly untrusted?: "ask" | "never";
    /** Origins that it may reach, besides what the project's policy says: each rule has to allow it. Kept with the run. */
    readonly reach?: readonly ReachRule[];
    /** How long connections of tools and loaded models stay when no run uses them, milliseconds. Default: 500. */
    readonly idle?: number;
    /** Only with the agents, skills and tools that `remit.lock` pins, unchanged. */
    readonly frozen?: boolean;
    /** Folders of cache and configuration. Default: the user's own. */
    readonly folders?: { readonly cache?: string; readonly config?: string };
}
