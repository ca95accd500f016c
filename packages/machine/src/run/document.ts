/**
 * The continuation's shape: what `save.ts` writes and `load.ts` reads.
 *
 * Boundary: shapes only.
 */
import type { Contract, Json, Site } from "@remit/language";
import type { SessionDoc, WrittenDoc } from "../agent/session.ts";
import type { Right } from "../authority/decide.ts";
import type { ConductDoc } from "../conduct/messages.ts";
import type { FailureKind, Outcome } from "../effect/effect.ts";
import type { AccountDoc } from "./accounts.ts";
import type { Defined } from "./definitions.ts";
import type { Pending } from "./fiber.ts";
import type { StandingDoc } from "./standing.ts";
import type { Bound } from "./suspended.ts";

export const CONTINUATION = { version: 1, engine: "remit-machine/1" } as const;

/**
 * A value: primitives stand for themselves, `{r: id}` is a list or object, `{l, v}` carries label set `l`, `{c: [kind, file, name, agent]}` is a
 * capability, `{n: text}` a number that JSON has no text for.
 */
export type Cell =
    | null
    | boolean
    | number
    | string
    | { readonly r: number }
    | { readonly l: number; readonly v: Cell }
    | { readonly c: readonly [string, number, string, string | null]; readonly right?: Right }
    | { readonly n: string };

/** `at`: it grew from there, what stands before is as it was. `o`: the fiber it belongs to, absent for the run's own. `l`: the label set of its keys, `all`: of the whole. */
export type ThingDoc = { readonly id: number; readonly o?: number; readonly at?: number; readonly all?: number } & (
    | { readonly list: readonly Cell[] }
    | { readonly keys: readonly string[]; readonly values: readonly Cell[]; readonly l?: number }
);

export interface FailDoc {
    readonly kind: FailureKind;
    readonly message: string;
    readonly detail?: Json;
    readonly hint?: string;
    readonly site: Site | null;
    readonly labels: number;
    readonly whole: boolean;
    /** Account whose limit it is. */
    readonly region?: number;
    readonly by?: string;
}

export type NativeDoc =
    | { readonly kind: "effect"; readonly path: string }
    | { readonly kind: "ask"; readonly path: string; readonly use: string; readonly session: string }
    | { readonly kind: "describe"; readonly path: string; readonly place: string }
    | {
          readonly kind: "generate";
          readonly path: string;
          /** In a delta without the fields of `kept`. */
          readonly state: Json;
          /** Fields that are as they were in the document before, or, of a list that grew, how many of its items are. */
          readonly kept?: { readonly [field: string]: true | number };
          readonly waiting: readonly string[];
          readonly outcomes: readonly (Outcome | null)[];
          readonly envelope?: true;
      }
    | {
          readonly kind: "handover";
          readonly path: string;
          readonly what: string;
          readonly args: Cell;
          readonly state: Json;
          readonly noted?: Cell;
      }
    | {
          readonly kind: "parallel";
          readonly path: string;
          readonly prefix: string;
          readonly items: Cell;
          readonly label: number;
          readonly next: number;
          readonly running: number;
          readonly done: Cell;
          readonly failures: readonly { readonly index: number; readonly fail: FailDoc }[];
      };

export interface FrameDoc {
    readonly fn: number;
    readonly body: number;
    /** Control flow carries labels in it. */
    readonly strict?: boolean;
    readonly pc: number;
    readonly locals: readonly Cell[];
    readonly path: string;
    readonly parent: string | null;
    readonly agent: readonly [number, string] | null;
    readonly principal: string;
    readonly token: number;
    /** Account that pays, and whether it was opened for this call. */
    readonly account: number;
    readonly opened: boolean;
    readonly approved: string | null;
    readonly site: Site | null;
    readonly native: NativeDoc | null;
}

/** `from`: frames below it are as they were. */
export interface FiberDoc {
    readonly id: number;
    readonly parent: number | null;
    readonly index: number;
    readonly base: number;
    readonly from: number;
    readonly frames: readonly FrameDoc[];
    readonly need: number;
    readonly waiting: string | null;
    /** It stopped by a failure that nothing takes. */
    readonly stop?: { readonly fail: FailDoc; readonly again: readonly StoppedDoc[] };
}

export interface StoppedDoc {
    readonly pending: PendingDoc;
    readonly asked: boolean;
    readonly outcome?: Outcome;
}

/** A pending effect, with the id of its fiber. The request of a model's turn has only what does not follow from the state of its `generate`. */
export type PendingDoc = Omit<Pending, "fiber"> & { readonly fiber: number };

/** `strict`: of the file's functions as they run with labels in their control flow. */
export interface CodeDoc {
    readonly file: number;
    readonly strict?: true;
    readonly version: string;
}

export interface EntryDoc {
    readonly fn: number;
    readonly args: readonly Json[];
    /** Which of `args` are not there yet. */
    readonly absent: readonly number[];
    readonly questions: readonly {
        readonly name: string;
        readonly contract: Contract;
        readonly description?: string;
        readonly param: number;
        readonly field: string | null;
    }[];
    readonly origins: readonly string[];
}

export interface Continuation {
    readonly version: 1;
    readonly engine: string;
    readonly program: string;
    /** Versions of the compiled code of the files that have frames here (K4). */
    readonly code: readonly CodeDoc[];
    readonly run: string;
    readonly form: "image" | "delta";
    /** Counts saves; a delta follows the document before it. */
    readonly seq: number;
    /** Label sets from id `from` on, each as its sorted origins. */
    readonly labels: { readonly from: number; readonly sets: readonly (readonly string[])[] };
    /**
     * Large texts, by ids of the run: in an image all that it has, in a delta those that are new. `{"$text": id}` stands for one wherever it is, and
     * `{"$plain": …}` for an object that has a key of either name. Absent: no such thing stands in it.
     */
    readonly texts?: readonly (readonly [id: number, text: string])[];
    readonly heap: readonly ThingDoc[];
    readonly fibers: readonly FiberDoc[];
    readonly gone: readonly number[];
    readonly imports?: readonly Cell[];
    readonly asked: readonly PendingDoc[];
    readonly answered: readonly string[];
    readonly inbox: readonly { readonly path: string; readonly outcome: Outcome }[];
    readonly ready: readonly number[];
    readonly entry: EntryDoc | null;
    readonly budgets: {
        readonly tokens: number;
        readonly usd: number;
        readonly calls: number;
        readonly turns: number;
        readonly bytes: number;
        readonly given: number;
        /** Tokens reserved in the whole. */
        readonly reserved: number;
        /** Millionths of a dollar. */
        readonly reservedUsd: number;
        readonly room: number;
    };
    readonly accounts: readonly AccountDoc[];
    /** Sessions with agents, and what agents wrote that is in the running program. */
    readonly sessions: readonly SessionDoc[];
    readonly written: readonly WrittenDoc[];
    readonly defined: readonly Defined[];
    /** Methods of servers whose tools `act()` was asked for by their names alone: file and name of the import, methods. */
    readonly described: readonly (readonly [place: string, methods: readonly string[], reads: readonly string[]])[];
    readonly standing: StandingDoc;
    readonly steps: number;
    readonly nextFiber: number;
    readonly framesUntil: number;
    readonly ended: boolean;
    /** The conductor's part. */
    readonly conduct?: ConductDoc;
    /** Bounds of the run that its owner raised, by meter; which attempt effects are; whether the run's time was up. */
    readonly raised: { readonly [B in Bound]?: number };
    readonly attempt: number;
    readonly timedOut: boolean;
    /** The run ended as failed, and may go on. */
    readonly failed: boolean;
}
