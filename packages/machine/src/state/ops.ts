/**
 * Native operations: what one instruction begins that an effect, another frame or other fibers have to finish, and what such an operation is
 * given. `native/natives.ts` is the table of them all.
 *
 * Boundary: shapes, and the look-up in the table. A room (a file with operations) imports this, the state (`fiber.ts`, `accounts.ts`, …) and what
 * reads it; it imports nothing of `run/`, and no table.
 *
 * To make one: give the instruction's detail a kind (`compile/instructions.ts`), and its wait a kind where it waits (`Native` in `fiber.ts`); write
 * `export const thing: Begins<ThingDetail> & Waits<ThingWait> = { begin, resume }` in its room, and name it in `natives.ts` under these kinds. The
 * fields of its wait are told once, in `WAITS` of `run/document.ts`, from which they are saved, loaded and published.
 * `begin` evaluates its operands, counts its step (`m.countCall`), passes the gate (`m.gate`), asks for effects (`m.raise`) and leaves its wait in
 * `call.frame.native`. `resume` gets each outcome; it keeps it in its wait, or ends with `m.deliver` or a thrown `Fail`.
 *
 * NA1: the interpreter, and all that lies below the rooms, reaches an operation by the table alone (`m.natives`).
 * NA2: what an operation keeps while it waits is its wait, which the continuation holds. Everything else it reads anew from the instruction.
 */
import type { Json, Site, SpendForm } from "@remit/language";
import type { Authority } from "../authority/authority.ts";
import type { Detail, Instruction } from "../compile/instructions.ts";
import type { Compiled } from "../compile/program.ts";
import type { Outcome, Reach } from "../effect/effect.ts";
import type { Fail } from "../effect/failure.ts";
import type { EventKind } from "../ledger/events.ts";
import type { List, Value } from "../value/value.ts";
import type { Session } from "../agent/session.ts";
import type { ImportUse } from "../native/tools.ts";
import type { Accounts, Used } from "./accounts.ts";
import type { Written } from "./agent-code.ts";
import type { Defined } from "./definitions.ts";
import type { Described, Passed } from "./descriptions.ts";
import type { Wanted } from "./effects.ts";
import { type Fiber, type Frame, type Native, type Pending, pathOf } from "./fiber.ts";
import type { Callee } from "./frames.ts";
import type { Target } from "./gate.ts";
import type { StartOptions } from "./options.ts";
import type { Run } from "./run.ts";
import type { Standing } from "./delegations.ts";
import type { Tracer } from "./tracer.ts";

/** Where an operation stands: the present instruction of the innermost frame of a fiber. */
export interface Call {
    readonly fiber: Fiber;
    readonly frame: Frame;
    readonly I: Instruction;
    /** Its place in the run: of its events, and before those of its effects. */
    readonly path: string;
}

/** An outcome, and the effect that it is of. */
export interface Told {
    readonly pending: Pending;
    readonly outcome: Outcome;
}

/** What came of an iteration, or of any other fiber inside a call. */
export interface Inside {
    readonly index: number;
    readonly fail: Fail;
}

export interface Begins<D> {
    /** True where the fiber goes on at once, with its innermost frame; false where it waits or is ready again. */
    begin(m: Ops, call: Call, d: D): boolean;
    /** What the instruction gives where a person does not allow it; null, as where this is absent: it fails. */
    denied?(m: Ops, call: Call, d: D, fail: Fail): Value | null;
}

export interface Waits<W> {
    /** It may ask for more when it is told an outcome: inside strict loops it is told in its turn (ORD6). */
    readonly asksOn?: true;
    /** An outcome of one of its effects. Throws the `Fail` that the instruction comes to. */
    resume(m: Ops, call: Call, wait: W, told: Told): void;
    /** The frame over it returned. */
    returned?(m: Ops, call: Call, wait: W, value: Value): void;
    /** A fiber inside it came to its end. */
    ended?(m: Ops, call: Call, wait: W, child: Fiber, end: Value | Fail): void;
    /** A fiber inside it stopped by a failure that nothing takes, or waits for nothing but such fibers. */
    stopped?(m: Ops, call: Call, wait: W, child: Fiber): void;
    /** A fiber inside it in which nothing went on goes on. */
    freed?(m: Ops, call: Call, wait: W, child: Fiber): void;
    /** Whether it answers a failure itself, which then goes no further. */
    takes?(m: Ops, frame: Frame, wait: W, fail: Fail): boolean;
    /** Answers a failure that it takes. */
    caught?(m: Ops, call: Call, wait: W, fail: Fail): void;
    /** A failure passes through it, or it is ended from outside: what it opened is closed. */
    left?(m: Ops, frame: Frame, wait: W, fail: Fail): void;
    /** An effect of it used more than its account had: what it tells of that before it fails. */
    overdrawn?(m: Ops, call: Call, wait: W, told: Told, fail: Fail): void;
    /** It failed, and its run goes on: it goes on from its wait. Absent: the instruction runs again from its beginning. */
    again?(m: Ops, call: Call, wait: W): void;
    /** No part of the run has the counts any more that it waited for (COU5). */
    countsBack?(m: Ops, call: Call, wait: W): void;
    /** Forgets what came of an effect that is asked for again. */
    forget?(wait: W, slot: number): void;
    /** The failure that those of the fibers inside it amount to; null where there is none. */
    failure?(m: Ops, call: Call, wait: W, inside: readonly Inside[]): Fail | null;
    /** Whether it says how many turns its effects may take, whatever they report. */
    saysTurns?(call: Call, wait: W): boolean;
    /** The account of the yield that it is, whose answer is a fault domain of its own (SS7); null where it is none. */
    domain?(m: Ops, wait: W): number | null;
    /** The data that it holds besides the frame's slots. */
    held?(wait: W): readonly List[];
}

type Details = { readonly [D in Detail as D["kind"]]: D };
type WaitsByKind = { readonly [W in Native as W["kind"]]: W };

type OperationOf<K> = (K extends Begun ? Begins<Details[K]> : unknown) & (K extends keyof WaitsByKind ? Waits<WaitsByKind[K]> : unknown);

/** Kinds of details that begin an operation. */
export type Begun = "effect" | "generate" | "define" | "handover" | "parallel" | "plan" | "stage" | "clock" | "delegate" | "endorse";

/** What is called through a value and is no function. */
export interface Through {
    /** A method of a tool or a memory. */
    use(m: Ops, call: Call, use: ImportUse): void;
    /** `send` of an agent. */
    send(m: Ops, call: Call): void;
}

export type Natives = { readonly [K in Begun | Native["kind"]]: OperationOf<K> } & { readonly "call.value": Through };

/** An iteration that runs on a fiber of its own, in a body of the same function. */
export interface Iteration {
    readonly index: number;
    readonly body: number;
    readonly locals: Frame["locals"];
    readonly path: string;
    /** It begins because that one ended, or stopped; null where it begins with the loop or block. */
    readonly after: Fiber | null;
}

/**
 * What an operation is given: what it may look at, and the few things that it may do. Tables of a room (`sessions`, `defined`, `described`) are
 * its own to change.
 */
export interface Ops {
    readonly run: Run;
    readonly compiled: Compiled;
    readonly authority: Authority;
    readonly accounts: Accounts;
    readonly standing: Standing;
    readonly sessions: Map<string, Session>;
    readonly fibers: ReadonlyMap<number, Fiber>;
    /** Effects that were asked for and have no outcome yet, and outcomes that were told and are not applied yet. */
    readonly waiting: ReadonlyMap<string, Pending>;
    /** Fibers that stopped by a failure that nothing takes. */
    readonly stopped: ReadonlySet<Fiber>;
    readonly inbox: readonly { readonly path: string; readonly outcome: Outcome }[];
    readonly defined: Map<string, Defined>;
    readonly described: Map<string, Described>;
    readonly written: Written[];
    readonly tracer: Tracer | null;
    readonly options: StartOptions;
    readonly principal: string;
    readonly concurrency: number;
    readonly depthLimit: number;
    /** Number of files that are the author's: those behind them are agents'. */
    readonly authored: number;
    readonly natives: Natives;
    /** The run has its result: nothing goes on. */
    readonly isOver: boolean;
    /** Counts the step of a call, after its arguments; throws where the budget of steps is used up. */
    countCall(): void;
    /** Tells of what happened. */
    emit(kind: EventKind, path: string, parent: string | null, site: Site | null, labels: readonly string[], data: Json): void;
    /** Counts what an event hands out. Where that is too much the run ends, or what it makes next fails. */
    give(bytes: number): void;
    fromJson(json: Json): Value;
    /** Hands out an effect, or lets it wait for the budget; throws the failure of the budget that stands against it. */
    raise(fiber: Fiber, wanted: Wanted): void;
    /**
     * The gate before a use. Gives where it may lead; null where a question was put: the fiber waits, and the instruction runs again once it is
     * answered. Throws what refuses it.
     */
    gate(call: Call, target: Target, args: readonly Value[], chosen?: "program" | "model"): Reach | null;
    /** Whether a use is one that a record holds whose build did not ask for this description of its tool (DS3). */
    readonly passed: Passed;
    /** Opens an account for a call, inside the one that pays where it stands; gives its token. */
    openAccount(call: Call, limits: SpendForm, name: string): number;
    /** Closes it; gives what it used, null where it is closed already. */
    closeAccount(token: number): { readonly limits: SpendForm; readonly used: Readonly<Used> } | null;
    /** Runs a function on a frame over the innermost one. */
    push(fiber: Fiber, callee: Callee, args: Value[]): void;
    /** Takes a file of functions that an agent wrote into the running program; gives its number. */
    takeIn(written: Written): number;
    /** Forgets the code that answered a call, as soon as nothing that came after it is in use. */
    dropCode(path: string): void;
    /** Ends fibers inside a call from outside, with what is inside them; what they asked for is withdrawn. */
    discard(inside: readonly Fiber[], fail: Fail): void;
    /** Starts a fiber inside the call's. */
    fork(call: Call, iteration: Iteration): void;
    /** Gives the call its value: the instruction is done. */
    deliver(fiber: Fiber, value: Value): void;
    deliverFail(fiber: Fiber, fail: Fail): void;
    /** Ends the run. */
    finish(end: Fail): void;
    /** Makes a fiber the one that runs: what it makes is its own. */
    enter(fiber: Fiber): void;
    /** From here on a frame of it runs: as its principal, on the account that pays where it stands. */
    stand(fiber: Fiber, frame: Frame): void;
    /** A fiber that neither waits nor stopped is ready. */
    awake(fiber: Fiber): void;
}

/** The operation that a frame waits for. */
export function waitsOf({ natives }: { readonly natives: Natives }, wait: Native): Waits<Native> {
    return natives[wait.kind] as Waits<Native>;
}

/** The operation at the top of a fiber. */
export function waitingCall(fiber: Fiber, { path }: Pick<Native, "path">): Call {
    const frame = fiber.top;
    return { fiber, frame, I: frame.form.code[frame.pc] as Instruction, path };
}

/** What a call gives where a person did not allow it; null where it fails. */
export function deniedAs(m: Ops, call: Call, fail: Fail): Value | null {
    const { detail } = call.I;
    if (detail === null || !Object.hasOwn(m.natives, detail.kind)) return null;
    return (m.natives[detail.kind as Begun] as Partial<Begins<Detail>>).denied?.(m, call, detail, fail) ?? null;
}

/** Begins the operation of an instruction. True where the fiber goes on at once. */
export function begin(m: Ops, fiber: Fiber, frame: Frame, I: Instruction): boolean {
    const d = I.detail as Details[Begun];
    return (m.natives[d.kind] as Begins<typeof d>).begin(m, { fiber, frame, I, path: pathOf(frame, d.path) }, d);
}
