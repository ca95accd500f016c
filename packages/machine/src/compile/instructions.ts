/**
 * Instructions of the frame form: what a function that can stop in the middle is compiled to.
 *
 * Boundary: shapes. An instruction's operands are closures over the frame's slots and its result goes into a slot, so between two
 * instructions a frame is `{fn, pc, locals}` and nothing else.
 *
 * One class with the same fields for all: the interpreter's loads stay monomorphic.
 */
import type { BudgetForm, Contract, FuncForm, Shapes, Site, SpendForm, WithForm } from "@remit/language";
import type { Permit } from "../authority/policy.ts";
import type { BlockCode, NodeCode, StageCall } from "./blocks.ts";
import type { Arg } from "./calls.ts";
import type { Code, Step } from "./code.ts";
import type { HandoverKind } from "./handover.ts";
import type { Rows } from "./members.ts";
import type { AgentEntry, Fn, ImportEntry } from "./program.ts";
import type { Along } from "./ways.ts";

export const OP = {
    /** Runs a statement that has no jump and no effect. */
    DO: 0,
    /** `slot = code`. */
    SET: 1,
    JUMP: 2,
    /** Jumps where `code` is false. */
    UNLESS: 3,
    WHEN: 4,
    /** Jumps where `slot` is not none. */
    PRESENT: 5,
    NEXT: 6,
    CALL: 7,
    CALL_VALUE: 8,
    EFFECT: 9,
    GENERATE: 10,
    PARALLEL: 11,
    RETURN: 12,
    USE: 13,
    /** Like SET (`slot` 0: like DO), of code that may run long because it holds a lambda. */
    STRETCH: 14,
    /** Checks the list of a `for` and puts its number of passes into a slot. */
    ENTER: 15,
    /** A whole loop as closures, where it reaches no effect; the same loop as instructions follows, for when that is given up. */
    LOOP: 16,
    /** Opens the region that begins behind it: a delegation or a budget of its own. */
    OPEN: 17,
    /** Closes the region of `slot`. */
    CLOSE: 18,
    ENDORSE: 19,
    /** `code` is the agent of a yield or a send. */
    HANDOVER: 20,
    DEFINE: 21,
    /** The nodes of a block. `code` is what flows in. */
    PLAN: 22,
    /** A stage that only waits: for time, for a person. `code` is its argument. */
    STAGE: 23,
    /** Asks what time it is. */
    CLOCK: 24,
} as const;

/** The code of a loop that never runs as closures. */
export const FRAMES_ONLY: Step = () => undefined;

export class Instruction {
    readonly op: number;
    /** Steps it counts before it runs: 1 at the start of a statement. */
    step: number;
    readonly site: Site | null;
    readonly code: Code | Step;
    /** Of a loop in code that keeps labels of control flow, of which `code` keeps none: its loose form, where it has one (`loose.ts`). */
    loose: Step | null = null;
    readonly slot: number;
    /** Where it jumps; patched once known. */
    to: number;
    readonly detail: Detail | null;
    /** In strict code: what is raised where a failure here is caught. */
    readonly failing: Along;
    constructor({ op, step, site, code, slot, detail, failing }: Omit<Instruction, "to" | "loose">) {
        this.op = op;
        this.step = step;
        this.site = site;
        this.code = code;
        this.slot = slot;
        this.to = -1;
        this.detail = detail;
        this.failing = failing;
    }
}

/** Loop indices and name of a call site: with the frame's own path, its place in the run. */
export interface PathSite {
    readonly loops: readonly { readonly word: string; readonly slot: number }[];
    /** `helper#0`, `generate#1`. */
    readonly name: string;
}

/** `index` and `count` are slots. For a `for`: the list's slot and the item's. */
export interface NextDetail {
    readonly kind: "next";
    readonly index: number;
    /** Passes at most: a constant, or the slot that holds it. */
    readonly times: number;
    readonly count: number;
    readonly list: number;
    readonly item: number;
    readonly max: number;
    /** Set where passes may leave an event: the item's name. */
    readonly name: string | null;
    /** The body can reach an effect: then every pass leaves an event. */
    readonly reaching: boolean;
    readonly path: PathSite;
}

export interface CallDetail {
    readonly kind: "call";
    readonly fn: Fn;
    readonly args: readonly Code[];
    /** The agent called, where the call crosses into one. */
    readonly agent: AgentEntry | null;
    readonly path: PathSite;
}

/** A call through a value. `name` null: the value itself is called. */
export interface CallValueDetail {
    readonly kind: "call.value";
    readonly name: string | null;
    readonly args: readonly Arg[];
    readonly rows: Rows;
    readonly safe: boolean;
    readonly path: PathSite;
    /** In strict code: what is raised by what is called. */
    readonly along: Along;
}

export interface EffectDetail {
    readonly kind: "effect";
    readonly import: ImportEntry;
    readonly method: string;
    /** Null: a member of a module is read, not called. */
    readonly args: readonly Arg[] | null;
    readonly path: PathSite;
    /** A result that says of itself that it is an error is a failure: nothing looks at it. */
    readonly fails?: true;
}

/** One `use`, ready to be evaluated in the frame it stands in. `code` is null for `empty`. */
export interface UseSpec {
    readonly source: string;
    readonly label: string | null;
    readonly code: Code | null;
    readonly budget: BudgetForm | null;
    readonly priority: number | null;
    readonly image: boolean;
    readonly site: Site | null;
    /** Set for `use one of`. */
    readonly oneOf: {
        readonly siteId: string;
        readonly candidates: readonly {
            readonly name: string;
            readonly source: string;
            readonly code: Code | null;
            readonly budget: BudgetForm | null;
            readonly selected: boolean;
        }[];
    } | null;
}

/** What a `generate` sees of the declarations before it. */
export interface AgentContext {
    readonly model: Code | null;
    readonly role: Code | null;
    readonly description: Code | null;
    readonly max: BudgetForm | null;
    readonly uses: readonly UseSpec[];
}

export interface UseDetail {
    readonly kind: "use";
    readonly use: UseSpec;
    readonly path: PathSite;
}

export interface GenerateDetail {
    readonly kind: "generate";
    readonly context: AgentContext;
    readonly input: Code;
    readonly model: Code | null;
    readonly tools: readonly { readonly code: Code; readonly method: string | null }[] | null;
    readonly contract: Contract | null;
    readonly shapes: Shapes;
    readonly label: string;
    readonly agent: string;
    readonly options: GenerateOptionsForm;
    readonly scope: readonly string[];
    readonly path: PathSite;
}

export interface GenerateOptionsForm {
    readonly max_output?: number;
    readonly attempts?: number;
    readonly temperature?: number;
    readonly think?: boolean | "auto" | "low" | "medium" | "high";
    readonly strict?: boolean;
    readonly debug?: boolean;
    readonly stream?: boolean;
    readonly turns?: number;
    readonly nudges?: number;
    readonly timeout?: number;
    readonly hide?: "untrusted";
}

export interface ParallelDetail {
    readonly kind: "parallel";
    readonly list: Code;
    readonly max: number;
    /** So many failed iterations begin no more of them. */
    readonly stop?: number;
    readonly item: string;
    /** Slot of the item in an iteration's slots. */
    readonly slot: number;
    /** Number of the body among the function's bodies. */
    readonly body: number;
    readonly source: string;
    readonly path: PathSite;
}

/** `refs` null: all that the one who delegates has. */
export interface DelegateDetail {
    readonly kind: "delegate";
    readonly refs: readonly { readonly key: string; readonly text: string; readonly permit: Permit }[] | null;
    /** Null: the name means no agent. */
    readonly to: AgentEntry | null;
    readonly name: string;
    readonly onward: boolean;
    readonly path: PathSite;
}

export interface SpendDetail {
    readonly kind: "spend";
    readonly spend: SpendForm;
    readonly path: PathSite;
}

export interface EndorseDetail {
    readonly kind: "endorse";
    readonly because: Code;
    /** Null: as trusted. */
    readonly readers: readonly string[] | null;
    readonly path: PathSite;
}

/** `yield`, `send`, `agent()`, `reason()`, `act()`. */
export interface HandoverDetail {
    readonly kind: "handover";
    readonly what: HandoverKind;
    /** Names for a yield, null elsewhere. */
    readonly args: readonly { readonly name: string | null; readonly code: Code }[];
    readonly with: WithForm;
    readonly skills: readonly ImportEntry[];
    /** For `agent()`: the name of the remit that binds it besides its own. */
    readonly policy: string | null;
    readonly contract: Contract | null;
    readonly shapes: Shapes;
    /** For `reason()`: the model in force. */
    readonly model: Code | null;
    readonly label: string;
    readonly agent: string;
    readonly path: PathSite;
}

/** `define name = func …` in what an agent answered. */
export interface DefineDetail {
    readonly kind: "define";
    readonly func: FuncForm;
    readonly keep: boolean;
    readonly path: PathSite;
}

/** One node: a body of the block's function. */
export interface NodeDetail {
    readonly code: NodeCode;
    readonly body: number;
    /** Slots of what flows in, one for each of `code.params`. */
    readonly slots: readonly number[];
}

export interface PlanDetail {
    readonly kind: "plan";
    readonly block: BlockCode;
    readonly nodes: readonly NodeDetail[];
    readonly path: PathSite;
}

export interface StageDetail {
    readonly kind: "stage";
    readonly what: StageCall;
    /** What flows in, and is passed on. */
    readonly passes: Code;
    /** Milliseconds in which a person can answer; undefined: as the run says. */
    readonly within?: number;
    readonly path: PathSite;
}

/** `time.now()`. */
export interface ClockDetail {
    readonly kind: "clock";
    readonly path: PathSite;
}

/** `debugger`: does nothing; a debugger of the run sees that it stands there. */
export interface DebuggerDetail {
    readonly kind: "debugger";
}

export type Detail =
    | ClockDetail
    | DebuggerDetail
    | DefineDetail
    | HandoverDetail
    | DelegateDetail
    | SpendDetail
    | EndorseDetail
    | NextDetail
    | CallDetail
    | CallValueDetail
    | EffectDetail
    | UseDetail
    | GenerateDetail
    | ParallelDetail
    | PlanDetail
    | StageDetail;

/** Instructions `from` to before `to` are guarded: a failure in them continues at `at`, bound to `slot` if that is not 0. */
export interface Handler {
    readonly from: number;
    readonly to: number;
    readonly at: number;
    readonly slot: number;
}

/** Instructions `from` to before `to` stand inside a `delegate` or `spend`, whose token is in `slot`. */
export interface Region {
    readonly from: number;
    readonly to: number;
    readonly slot: number;
    readonly kind: "delegate" | "spend";
}

/** Code of a function's body, or of the body of a parallel for in it, which has the same slots. */
export interface BodyForm {
    /** The first hidden slot of strict code (`strict.ts`), 0 in other code. */
    readonly flow: number;
    readonly code: readonly Instruction[];
    /** Innermost first. */
    readonly handlers: readonly Handler[];
    /** Outermost first. */
    readonly regions: readonly Region[];
    /** Names of slots for debuggers: visible from instruction `from` on, before `to`. */
    readonly names: readonly { readonly name: string; readonly slot: number; readonly from: number; readonly to: number }[];
}

export interface FrameForm {
    readonly slots: number;
    /** The function's own body first, then bodies of parallel fors in it. */
    readonly bodies: readonly BodyForm[];
}
