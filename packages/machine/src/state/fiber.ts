/**
 * Fibers and frames: where a run stands.
 *
 * Boundary: data. A frame is `{fn, body, pc, locals}`; what it waits for inside one instruction is its `native` state.
 *
 * M3: a fiber is saved only between instructions: `pc` is the instruction that waits, or the next one.
 */
import type { Json, Site } from "@remit/language";
import type { Slots } from "../compile/code.ts";
import type { BodyForm, FrameForm, PathSite } from "../compile/instructions.ts";
import type { AgentEntry, Fn } from "../compile/program.ts";
import { isLoose, labelAt } from "../compile/strict.ts";
import type { Effect, Outcome } from "../effect/effect.ts";
import type { Fail } from "../effect/failure.ts";
import type { List, Owner } from "../value/value.ts";
import type { HandoverWait } from "./handover.ts";
import type { Stop } from "../run/stops.ts";

/** The place in the run of a call site of a frame. */
export function pathOf(frame: Frame, site: PathSite): string {
    let path = frame.path;
    for (const loop of site.loops) path += `/${loop.word}[${frame.locals[loop.slot] as number}]`;
    return site.name === "" ? path : `${path}/${site.name}`;
}

/** Whether a path is inside that of another. */
export function isInside(path: string, outer: string): boolean {
    return path.length > outer.length && path.charCodeAt(outer.length) === SLASH && path.startsWith(outer);
}

const SLASH = 0x2f;

/** Where a frame stands in the run, who runs there and who pays. */
export type Whose = Pick<Frame, "path" | "parent" | "agent" | "principal" | "token" | "account" | "opened">;

export class Frame {
    readonly fn: Fn;
    /** Number of the body: 0 the function's own, others bodies of parallel fors. */
    readonly body: number;
    readonly form: BodyForm;
    pc: number;
    readonly locals: Slots;
    /** Path of this call or iteration. */
    readonly path: string;
    /** Path of the agent call, iteration or run that events here belong to. */
    readonly parent: string | null;
    /** Set where this call crossed into an agent. */
    readonly agent: AgentEntry | null;
    /** Who runs here. */
    readonly principal: string;
    /** Token of what was given with this call, 0 for nothing. */
    readonly token: number;
    /** Account that pays outside regions of this frame. */
    readonly account: number;
    /** Whether that was opened for this call. */
    readonly opened: boolean;
    native: Native | null = null;
    approved: Approved | null = null;

    constructor(fn: Fn, body: number, form: BodyForm, locals: Slots, whose: Whose) {
        this.fn = fn;
        this.body = body;
        this.form = form;
        this.pc = 0;
        this.locals = locals;
        this.path = whose.path;
        this.parent = whose.parent;
        this.agent = whose.agent;
        this.principal = whose.principal;
        this.token = whose.token;
        this.account = whose.account;
        this.opened = whose.opened;
    }

    /** The frame form that its body is one of. */
    get forms(): FrameForm {
        return this.fn.framesFor(this.form.flow !== 0);
    }

    /** Strict: not just for who chooses (W9 of `strict.ts`). */
    get isStrict(): boolean {
        return this.form.flow !== 0 && !isLoose(this.locals, this.form.flow);
    }

    /** In strict code, label set of what the place where it stands depends on; 0 elsewhere. */
    get placeLabel(): number {
        return this.form.flow === 0 ? 0 : labelAt(this.locals, this.form.flow);
    }
}

/** What an instruction that has begun keeps until it is done. */
export type Native = EffectWait | AskWait | DescribeWait | CountsWait | GenerateWait | ParallelWait | PlanWait | StageWait | HandoverWait;

/** The use at the present instruction that a person said yes to, as canonical JSON, and how its tool described its method then. */
export interface Approved {
    readonly use: string;
    readonly described: string;
}

export interface EffectWait {
    readonly kind: "effect";
    readonly path: string;
}

/** A question about the use at the present instruction, which runs again once it is answered. */
export interface AskWait {
    readonly kind: "ask";
    readonly path: string;
    /** Canonical JSON of what is asked about. */
    readonly use: string;
    /** Key of the answer for the session. */
    readonly session: string;
}

/** A tool is asked what it has; then the present instruction runs again. */
export interface DescribeWait {
    readonly kind: "describe";
    readonly path: string;
    /** `FILE INDEX/NAME` of its import. */
    readonly place: string;
}

/** A part of the run that is elsewhere has the counts of the use at the present instruction (COU4), which runs again once it is back. */
export interface CountsWait {
    readonly kind: "counts";
    readonly path: string;
}

export interface GenerateWait {
    readonly kind: "generate";
    readonly path: string;
    state: Json;
    /** Paths of the effects of the present step, in order, and their outcomes. */
    waiting: readonly string[];
    outcomes: (Outcome | null)[];
    /** It is a `reason()`, which gives `{data}` or `{error}`. */
    readonly envelope?: true;
    /** All outcomes are there, and a part of the run has the counts of a call that the model made (COU5). */
    counts?: true;
}

export interface ParallelWait {
    readonly kind: "parallel";
    readonly path: string;
    readonly prefix: string;
    /** A copy of what there is to do. */
    readonly items: List;
    /** Label of the list's reference, joined to each item. */
    readonly label: number;
    next: number;
    running: number;
    /** Index and value of each iteration that succeeded, in the order in which they ended: it only grows, so saving it is cheap. */
    readonly done: List;
    readonly failures: { readonly index: number; readonly fail: Fail }[];
}

export interface PlanWait {
    readonly kind: "plan";
    readonly path: string;
    /** What flows into the block, as a list of one. */
    readonly input: List;
    /** How many nodes were started, of those that became ready, in their order. */
    started: number;
    /** A node failed: no other begins. */
    closed: boolean;
    /** Place and value of each node that gave one, in the order in which they did: it only grows, so saving it is cheap. */
    readonly done: List;
    readonly failures: { readonly index: number; readonly fail: Fail }[];
}

/** A stage waits for time or for a person, or a block runs elsewhere. */
export interface StageWait {
    readonly kind: "stage";
    readonly path: string;
}

export class Fiber implements Owner {
    readonly id: number;
    readonly parent: Fiber | null;
    /** Index of its iteration, 0 for the run's own. */
    readonly index: number;
    /** Calls nested outside this fiber. */
    readonly base: number;
    readonly frames: Frame[] = [];
    /** Lowest frame that ran since the last save. */
    low = 0;
    /** Among the fibers inside strict loops (`places.ts`); 0 outside them. */
    place = 0;
    /** The place in which it is among `Turns`, 0 where it is not; and how many effects it waits for outside, times left out. */
    queued = 0;
    outside = 0;
    /** Slice that a single instruction needs, where it is more than usual. */
    need = 0;
    /** Set where it stopped by a failure that nothing takes. */
    stop: Stop | null = null;
    /** What came for it that it goes on with in its turn (ORD6), in the order in which it came. */
    told: { readonly pending: Pending; readonly outcome: Outcome }[] = [];
    /** Effects behind the failure that is about to be delivered. */
    refused: Stop["again"] = [];

    constructor(id: number, parent: Fiber | null, index: number, base: number) {
        this.id = id;
        this.parent = parent;
        this.index = index;
        this.base = base;
    }

    /** Its innermost frame changed since the last save, or is going to. */
    touch(): void {
        if (this.frames.length - 1 < this.low) this.low = this.frames.length - 1;
    }

    get top(): Frame {
        return this.frames[this.frames.length - 1] as Frame;
    }
}

export function siteAt(frame: Frame): Site | null {
    return frame.form.code[frame.pc]?.site ?? null;
}

/** The site of the innermost instruction of a fiber that has one. */
export function siteOfTop(fiber: Fiber): Fail["site"] {
    for (let i = fiber.frames.length - 1; i >= 0; i--) {
        const frame = fiber.frames[i] as Frame;
        const site = frame.form.code[frame.pc]?.site;
        if (site !== undefined && site !== null) return site;
    }
    return null;
}

/** An effect that was asked for and has no outcome yet. `slot`: which of a generate's effects it is. */
export interface Pending {
    readonly effect: Effect;
    readonly fiber: Fiber;
    readonly slot: number;
    /** Origin of a failure's text: `tool:Search`. */
    readonly origin: string;
    /** Account that pays for it, and what is reserved there and in those around it, innermost first. */
    readonly account: number;
    readonly held: readonly number[];
    /** Account whose time this is. */
    readonly timer?: number;
    /** It is not asked for yet: account whose turns in flight have to be settled first. */
    readonly waits?: number;
}
