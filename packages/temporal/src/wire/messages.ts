/**
 * What passes between the workflow, its activities and its clients: plain JSON, all of it.
 *
 * Boundary: shapes and names only; imported in the workflow's sandbox and outside it.
 */
import type { GoesOn, KeptOptions, RunOptions } from "@remit/host";
import type { Json, Program } from "@remit/language";
import type {
    AgentNote,
    Answered,
    Batch,
    Down,
    Effect,
    Failure,
    GoOn,
    MachineEvent,
    Outcome,
    Recovered,
    StartOptions,
    UnknownAnswer,
    Up,
} from "@remit/machine";

import type { Begun } from "./begin.ts";

/** Types and names as Temporal shows them. */
export const WORKFLOW = "remitRun";
export const GUARD = "remitGuard";
export const QUEUE = "remit";
export const UPDATES = { answer: "answer", up: "up" } as const;
export const SIGNALS = {
    cancel: "cancel",
    drain: "drain",
    ups: "ups",
    /** The workflow around it wants to be told when it ends. */
    follow: "follow",
    /** A block that is a workflow of its own has ended. */
    ended: "ended",
    /** Nothing is meant: that it came says that the workflow goes on. */
    here: "here",
} as const;
export const QUERIES = { status: "status", ledger: "ledger", questions: "questions" } as const;

/** Name of the owner of a run in the ledger, up to the execution. */
export function ownerOf(namespace: string, workflow: string): string {
    return `temporal ${namespace}/${workflow}/`;
}

/** Search attributes of a run, all of type Keyword. */
export const ATTRIBUTES = ["RemitProgram", "RemitBlock", "RemitPrincipal", "RemitStatus"] as const;

// ---- the workflow --------------------------------------------------------------------------------------------------------

/** How the workflow runs, whatever the program. Times in milliseconds. */
export interface Settings {
    /** Events of history after which the run goes on in a new execution. */
    readonly events: number;
    /** After so long without a sign of life an activity is lost. */
    readonly heartbeat: number;
    /** What one effect may take that says nothing of it. */
    readonly patience: number;
    /** What an effect of an agent may take. */
    readonly agents: number;
    /** Steps of computing between two turns of the server. */
    readonly slice: number;
    /** Effects performed at once, questions not counted; absent: as on the local shell. */
    readonly concurrency?: number;
    /** Effects that are local activities of the workflow's worker: cheaper, and for what is done within seconds. */
    readonly local: readonly Effect["kind"][];
    /** The server knows the search attributes. */
    readonly attributes: boolean;
}

export const SETTINGS: Settings = {
    events: 4000,
    heartbeat: 30_000,
    patience: 600_000,
    agents: 24 * 3_600_000,
    slice: 1_000_000,
    local: [],
    attributes: false,
};

/** Heartbeats reach the server at most this often, milliseconds: a cancel is heard with one. */
export const BEAT_MS = 1_000;

/** Of what a worker does beside its workflow. What passes (a locked ledger) is tried again soon: a run says nothing of itself before it is open. */
export const LOCAL = { startToCloseTimeout: 60_000, retry: { maximumInterval: 2_000 } } as const;

export interface RunInput {
    /** Id of the run in the ledger, which holds all else. */
    readonly run: string;
    readonly settings: Settings;
    /** What was said of a run that goes on here; not in the executions after the first. */
    readonly goesOn?: GoesOn;
    /** Of a schedule: its run has the id of the workflow, and is made when that begins. */
    readonly planned?: Planned;
    /** Of executions after the first. */
    readonly followers?: readonly Follower[];
    /** Runs of the parts that they began. */
    readonly parts?: readonly string[];
}

/** Of the workflow that ends a part which would go on alone: ids of workflows. */
export interface GuardInput {
    readonly around: string;
    readonly part: string;
}

/** A workflow that waits for the end of another one. */
export interface Follower {
    readonly workflow: string;
    /** Of that other one among its effects. */
    readonly path: string;
}

/** What the runs of a schedule are begun with. */
export interface Planned {
    /** Name of the text of the program form among what the ledger keeps. */
    readonly program: string;
    /** SHA-256 of the program form. */
    readonly hash: string;
    readonly file: string;
    readonly root: string;
    readonly options: KeptOptions;
}

/** What the workflow gives where the run ended by itself. */
export interface RunOutput {
    readonly run: string;
    readonly value: Json;
}

/** Types of the failures with which the workflow ends, beside the kinds of failures of a program. */
export const FAILURES = {
    /** The program failed; `details` hold its failure. */
    failed: "RemitFailure",
    /** Another owner has the run. */
    fenced: "RemitFenced",
    /** The ledger cannot be read or written. */
    ledger: "RemitLedger",
    /** The run waits for a person, and was let go. */
    waiting: "RemitWaiting",
    /** It was drained, to go on elsewhere. */
    drained: "RemitDrained",
    /** The worker knows no program of that name. */
    unknown: "RemitUnknown",
    /** An answer was not taken. */
    refused: "RemitRefused",
} as const;

export interface Status {
    readonly run: string;
    readonly state: "opening" | "running" | "waiting" | "done" | "failed" | "stopped" | "drained";
    readonly steps: number;
    /** Paths of effects that are performed now. */
    readonly performing: readonly string[];
    readonly questions: readonly Question[];
    /** Blocks that are runs of their own, and go on. */
    readonly parts: readonly { readonly path: string; readonly run: string }[];
    /** Events so far of this execution. */
    readonly events: number;
    readonly value?: Json;
}

/** A question that waits for a person. */
export interface Question {
    /** Id of its record, or the path of the effect. */
    readonly id: string;
    readonly path: string;
    /** `credential`: one that is missing, and how it is given. */
    readonly kind: "ask" | "input" | "unknown" | "credential";
    /** Who may answer. */
    readonly owner: string;
    readonly request: Json;
    /** Where only some answers are possible. */
    readonly options?: readonly string[];
    /** Milliseconds since 1970. */
    readonly expires?: number;
    /** Of this asking of it; there where answers have to be signed. */
    readonly nonce?: string;
}

/** Of a question, what a signature of its answer covers (SGN1). */
export type Asking = Pick<Question, "id" | "nonce" | "kind" | "request" | "options">;

/** Number of the form of signatures: 2 covers what the question shows. */
export const SIGNED_FORM = 2;

/** An answer, of the kind of its question. */
export interface Answer {
    /** Id of the question, or its path. */
    readonly question: string;
    readonly by: string;
    readonly decision?: string;
    readonly value?: Json;
    readonly said?: UnknownAnswer;
    /** With `deny`: what the model or program that asked is told of it. */
    readonly why?: string;
    /** Base64 (`signature.ts`), of this form; absent: the first. */
    readonly signature?: string;
    readonly form?: number;
}

// ---- activities ----------------------------------------------------------------------------------------------------------

/** An outcome of a batch: in full, or (without `outcome`) the one that was recorded when its effect was performed. */
export type SentOutcome = Answered | Omit<Answered, "outcome">;

export interface Sent {
    readonly n: number;
    readonly batch: Omit<Batch, "outcomes"> & { readonly outcomes?: readonly SentOutcome[] };
}

/** What every activity of a run carries. */
export interface Carried {
    readonly run: string;
    readonly epoch: number;
    /** Since the last activity. */
    readonly batches: readonly Sent[];
}

export interface Opened {
    readonly epoch: number;
    /** Batches that the ledger has. */
    readonly batches: number;
    readonly program: string;
    /** What the machine is started with. */
    readonly options: StartOptions;
    /** Image of its state; null: it begins. */
    readonly state: Json | null;
    readonly recovered: Recovered;
    readonly spent: number;
    readonly timeout?: number;
    /** Who answers questions. */
    readonly owner: string;
    /** Answers have to be signed. */
    readonly signed?: true;
    /** Of a machine that failed: it is told so before anything else. */
    readonly goesOn?: { readonly how: GoOn; readonly by: string };
    /** What became of effects whose outcome is not known. */
    readonly became?: { readonly [path: string]: UnknownAnswer };
}

/** The run is over: this execution ended it, and lost that it did (WAC5). */
export interface Over {
    readonly end: { readonly status: "done"; readonly value: Json } | { readonly status: "failed"; readonly failure: Failure };
    readonly steps: number;
}

export interface PerformInput extends Carried {
    readonly effect: Effect;
    /** Path of the effect in which it arose. */
    readonly parent?: string;
    /** Number of the batch that begins it: where the ledger has it already, the effect was begun before. */
    readonly begins?: number;
    /** Of a question that was answered by no: why. */
    readonly why?: string;
}

export type Performed =
    /** `recorded`: the ledger has it, so that no batch has to. */
    | {
          readonly outcome: Outcome;
          readonly recorded: boolean;
          readonly notes?: readonly AgentNote[];
          readonly queue?: string;
      }
    /** A person answers it later. */
    | { readonly later: Question | null }
    /** It was begun before, and has no outcome. */
    | { readonly lost: true; readonly repeatable: boolean };

/** Of an effect that is a run of its own. `over`: its workflow has ended. */
export interface PartInput extends Carried {
    readonly effect: Effect;
    readonly over?: true;
}

/** What its workflow begins with; or its outcome, where it has one. */
export type Part = Performed | { readonly begins: Begun; readonly goesOn?: GoesOn };

export interface LookInput extends Carried {
    readonly effect: Effect;
}

export interface DecideInput extends Carried {
    /** Record that keeps the answer; absent: only its signature is looked at. */
    readonly ask?: string;
    readonly decision?: string;
    readonly by: string;
    /** Where answers are signed. */
    readonly signed?: { readonly question: Asking; readonly answer: Answer };
}

/** For a workflow that is not Remit's. */
export interface BeginInput {
    readonly run: string;
    /** A name that the worker knows. */
    readonly program: string;
    readonly input: Json;
    readonly more: Pick<RunOptions, "entry" | "limits" | "inputOrigins" | "concurrency">;
}

export interface CloseInput {
    readonly run: string;
    readonly session: string;
}

export interface Activities {
    /** Takes the run for this execution. */
    open(wanted: Pick<RunInput, "run" | "goesOn" | "planned">): Promise<Opened | Over>;
    program(hash: string): Promise<Program>;
    perform(wanted: PerformInput): Promise<Performed>;
    /** Makes the run that an effect is, where there is none yet; or what that came to. */
    part(wanted: PartInput): Promise<Part>;
    /** What the ledger has of an effect whose activity was lost. */
    look(wanted: LookInput): Promise<Performed>;
    flush(wanted: Carried): Promise<null>;
    decide(wanted: DecideInput): Promise<null>;
    /** A session with an agent is over. */
    close(wanted: CloseInput): Promise<null>;
    /** Begins a run of a program that the worker knows by name. */
    begin(wanted: BeginInput): Promise<null>;
    /** Nothing: a turn of the server. */
    turn(): Promise<null>;
}

/** The activities as Temporal names them: one worker may have a team's own beside them. */
export type NamedActivities = { readonly [K in keyof Activities as `remit.${K}`]: Activities[K] };

const EACH: { readonly [K in keyof Activities]: true } = {
    open: true,
    program: true,
    perform: true,
    part: true,
    look: true,
    flush: true,
    decide: true,
    close: true,
    turn: true,
    begin: true,
};
export const ACTIVITY_NAMES = Object.keys(EACH) as readonly (keyof Activities)[];

export function named<K extends keyof Activities>(name: K): `remit.${K}` {
    return `remit.${name}`;
}

/** What the workflow tells a performer, with what the ledger has to have before. */
export interface UpAnswer extends Carried {
    readonly down: Down;
}

export interface UpInput {
    readonly path: string;
    readonly up: Up;
}

/** Events of this execution, from number `from` on. */
export interface LedgerPage {
    readonly events: readonly MachineEvent[];
    readonly next: number | null;
}
