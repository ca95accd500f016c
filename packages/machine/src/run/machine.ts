/**
 * The machine: one run of a compiled program. Pure: what it cannot do itself it hands out as effects and takes back as outcomes.
 *
 * Boundary: the state of a run and what a host may do with it, whose fields no host touches. Each folder knows only those below it: `run/` (the
 * interpreter, outcomes, the continuation) over `native/` (operations, reached by their table) over `state/` (fibers, accounts, the gate, effects).
 *
 * M4: same program, options and outcomes in the same order: same effects, events, steps and result.
 * M5: outcomes are applied one at a time, each until every fiber waits again, so it does not matter how a host batches them.
 */
import type { Json, Site, SpendForm } from "@remit/language";
import { born } from "../compile/containers.ts";
import { type Instruction, OP } from "../compile/instructions.ts";
import type { Compiled } from "../compile/program.ts";
import type { Effect, FailureKind, Outcome, Reach, Read } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import type { EventKind, MachineEvent } from "../ledger/events.ts";
import { DerivedLabels } from "../value/derive.ts";
import { fromJson } from "../value/json.ts";
import { roomOf, type Value } from "../value/value.ts";
import { Authority } from "../authority/authority.ts";
import type { AgentUse, ConductDoc } from "../conduct/messages.ts";
import type { Session } from "../agent/session.ts";
import { Accounts, type Spender } from "../state/accounts.ts";
import { takeNotes } from "../native/agent-call.ts";
import { keepTold } from "../state/verdicts.ts";
import type { Defined } from "../state/definitions.ts";
import { type Described, NONE_PASSED, type Passed } from "../state/descriptions.ts";
import { payWaiting, raise, type Wanted } from "../state/effects.ts";
import { Fiber, type Frame, type Pending } from "../state/fiber.ts";
import { fork, push, type Callee } from "../state/frames.ts";
import { type Target, gate } from "../state/gate.ts";
import { discardAll, unwind, yieldAround } from "../state/handlers.ts";
import { type Ruling, rule } from "../native/hands.ts";
import { NATIVES } from "../native/natives.ts";
import type { Ops, Call, Iteration } from "../state/ops.ts";
import { DEFAULTS, type StartOptions } from "../state/options.ts";
import { goesOn, Waiting } from "../state/places.ts";
import { Run } from "../state/run.ts";
import { accountAt, closeAccount, openAccount, overdrawn, struckAt } from "../state/spending.ts";
import { minted, narrowed, Standing } from "../state/delegations.ts";
import { countCall } from "../state/steps.ts";
import { Tracer } from "../state/tracer.ts";
import { serveTurns } from "../native/turns.ts";
import { takeIn, type Written, dropWritten } from "../state/agent-code.ts";
import { ended, type Result } from "./ending.ts";
import { type Entry, startEntry } from "./entry.ts";
import { nextFiber, runFiber, grantSlice } from "./execute.ts";
import { type Note, strike, takes, nextTold } from "./inbox.ts";
import { type AuthorityView, authorityAt, type Inspection, inspect, look, type Looked, type Place } from "./inspect.ts";
import { inspected, inspectorAnswers, isInspector } from "./inspector.ts";
import { load } from "./load.ts";
import type { Clean } from "./look.ts";
import { applyOutcome, takeTold } from "./outcomes.ts";
import { Saved, save } from "./save.ts";
import { type Bound, failureOfRun, type GoOn, goOn, isStuck, type Remedies, remediesOf } from "./stops.ts";

export interface Advance {
    /** `waiting`: for outcomes; `slice`: call again, now or after other work; `done`: it ended. */
    readonly state: "waiting" | "slice" | "done";
    /** Asked for since the last call, in order. */
    readonly effects: Effect[];
    /** Paths of effects whose outcomes are no longer wanted. */
    readonly withdrawn: string[];
    readonly events: MachineEvent[];
    readonly result?: Result;
}

export class Machine implements Ops {
    /** With what agents wrote behind it, as long as that runs. */
    compiled: Compiled;
    /** Files of the author. */
    readonly authored: number;
    /** Files behind them. */
    readonly written: Written[] = [];
    /** Functions that agents defined for the rest of the run, by name. */
    readonly defined = new Map<string, Defined>();
    /** Methods of tool servers that were asked for them so that `act()` finds a tool by its name alone, by `FILE INDEX/NAME`. */
    readonly described = new Map<string, Described>();
    passed: Passed = NONE_PASSED;
    /** Sessions with agents, by path. */
    readonly sessions = new Map<string, Session>();
    readonly options: StartOptions;
    readonly run: Run;
    readonly root: Fiber;
    readonly accounts: Accounts;
    readonly fibers = new Map<number, Fiber>();
    readonly waiting = new Waiting();
    /** Of them, those that wait for the budget, in order, with the account whose turns in flight have to be settled. */
    readonly unpaid = new Map<string, number>();
    ready: Fiber[] = [];
    inbox: Note[] = [];
    entry: Entry | null = null;
    result: Result | null = null;
    /** What the conductor kept in the continuation that this machine was loaded from; null where it began here. */
    conduct: ConductDoc | null = null;
    /** Fibers that stopped by failures that nothing takes. */
    readonly stopped = new Set<Fiber>();
    /** The run ended because the host's time for it was up. */
    timedOut = false;
    /** 1, and one more for each retry of what failed. */
    attempt = 1;
    /** Bounds of the run that its owner raised. */
    raised: { readonly [B in Bound]?: number } = {};
    /** Path of the entry function. */
    entryPath = "main";
    nextFiber = 1;
    /** Step count until which calls stay on frames, after a stretch was given up. */
    framesUntil = 0;
    effects: Effect[] = [];
    /** Effects that the machine answers itself: never there between two advances. */
    own: string[] = [];
    events: MachineEvent[] = [];
    withdrawn: string[] = [];
    readonly saved = new Saved();
    depthLimit: number;
    stepLimit: number;
    readonly concurrency: number;
    readonly principal: string;
    readonly authority: Authority;
    readonly standing = new Standing();
    /** Set where the run keeps derivations. */
    readonly tracer: Tracer | null;
    current: Fiber | null = null;

    get natives(): typeof NATIVES {
        return NATIVES;
    }

    /** Use `Machine.start` or `load`. */
    constructor(compiled: Compiled, options: StartOptions) {
        this.compiled = compiled;
        this.authored = compiled.files.length;
        this.options = options;
        this.root = new Fiber(0, null, 0, 0);
        this.fibers.set(0, this.root);
        const derived = options.derive === true ? new DerivedLabels() : null;
        this.tracer = derived === null ? null : new Tracer(derived);
        const units = roomOf(options.limits?.memory ?? DEFAULTS.memory);
        this.run = new Run(this.root, options.limits?.bytes ?? Number.POSITIVE_INFINITY, units, ...(derived === null ? [] : [derived]));
        this.accounts = new Accounts(this.run, options.limits ?? {}, options.prices, options.unpriced);
        this.run.bytesSpent = () => this.bytesSpent();
        this.stepLimit = options.limits?.steps ?? DEFAULTS.steps;
        this.depthLimit = options.limits?.depth ?? DEFAULTS.depth;
        this.concurrency = Math.max(1, options.concurrency ?? DEFAULTS.concurrency);
        this.principal = options.principal ?? DEFAULTS.principal;
        const imports = options.imports ?? {};
        this.authority = new Authority(compiled, this.principal, options.policy ?? {}, (place) =>
            Object.hasOwn(imports, place) ? (imports[place]?.origins ?? []) : [],
        );
        Object.assign(this.run, { tracks: this.authority.book.tracks, acting: this.principal });
        this.run.narrower = (c, layer) => narrowed(this, this.current, this.run.acting, c, layer);
    }

    /** Nothing runs as closures. */
    get inFrames(): boolean {
        return this.options.mode === "frames" || this.tracer !== null || this.run.replaced !== null;
    }

    /** From here on code runs as `principal`. */
    actAs(fiber: Fiber, principal: string): void {
        const { run } = this;
        this.current = fiber;
        if (run.acting === principal) return;
        run.acting = principal;
        run.minter = principal === this.principal ? null : (c) => minted(this, this.current as Fiber, principal, c);
    }

    /** From here on a frame runs: as its principal, on the account that pays where it stands. */
    stand(fiber: Fiber, frame: Frame): void {
        this.actAs(fiber, frame.principal);
        if (this.accounts.open.size > 0) this.accounts.enter(accountAt(frame));
    }

    /** Who wants something at `path` now. */
    spender(path: string): Spender {
        return { who: this.run.acting, path };
    }

    /** Said of the account's own path: which call of those inside came to it depends on how the program is run. */
    private bytesSpent(): Fail | null {
        const over = this.accounts.bytesSpent(this.spender(""));
        return over === null ? null : overdrawn(this, over, over.account, null);
    }

    /** A machine at the beginning of a run. Nothing happens before `advance`. */
    static start(compiled: Compiled, options: StartOptions): Machine {
        const m = new Machine(compiled, options);
        startEntry(m);
        return m;
    }

    /** Goes on where another was saved, by a whole image, then the deltas after it. Throws `Fail` (`invalid_payload`) for another program's or version's. */
    static load(compiled: Compiled, options: StartOptions, documents: readonly Json[]): Machine {
        return load(new Machine(compiled, options), documents);
    }

    /**
     * The continuation: what changed since the last call, or all of it the first time, when asked for, and when that is shorter. `spent`:
     * milliseconds of the run so far, from which accounts with a time go on after a resume.
     */
    save(
        wanted: { readonly image?: boolean; readonly spent?: number; readonly conduct?: ConductDoc } = {},
    ): { readonly image: Json } | { readonly delta: Json } {
        this.conduct = wanted.conduct ?? this.conduct;
        for (const account of this.accounts.open.values()) account.began ??= wanted.spent ?? null;
        return save(this, wanted.image === true);
    }

    /** What runs where, in the words of the Debug Adapter Protocol. */
    inspect(clean?: Clean): Inspection {
        return inspect(this, clean);
    }

    /** A value of a frame with `count` of its parts from part `from` on; null where there is none. */
    look(place: Place, from = 0, count = 0, clean?: Clean): Looked | null {
        return look(this, place, from, count, clean);
    }

    /** What the principal of a frame of a thread (0: the innermost) may do there; null where there is no such frame. */
    authorityAt(thread: number, frame: number): AuthorityView | null {
        return authorityAt(this, thread, frame);
    }

    /** What `inspect:` would answer here; nothing changes by it. */
    inspected(thread: number, method: string, arg: { readonly [key: string]: Json }, clean?: Clean): ReturnType<typeof inspected> {
        return inspected(this, thread, method, arg, clean);
    }

    /** The ruling on a use that the agent at work at `path`, which read so much by others, wants to make itself. Nothing changes by it. */
    rule(path: string, use: Pick<AgentUse, "tool" | "method" | "args">, read: readonly Read[] = []): Ruling {
        return rule(this, path, use, read);
    }

    /**
     * One statement of one fiber, for debuggers: the shortest advance that gets anywhere, however long a single instruction takes, but never
     * beyond `until` steps. The same run, in smaller pieces. `hold` as in `advance`.
     */
    step(until = Number.POSITIVE_INFINITY, hold = false): Advance {
        const { run } = this;
        const to = Math.min(run.steps + 1, until);
        run.overdraft = Math.max(0, Math.min(until, this.stepLimit, ...this.inbox.map(struckAt)) - to);
        const advance = this.advance(to, hold);
        run.overdraft = 0;
        return advance;
    }

    /**
     * Runs until every fiber waits or ends, or the slice is over. `until`: no slice goes beyond this count of steps. `hold`: also until the run asks
     * about itself (`asking`), which the next advance answers before anything else happens.
     */
    advance(until = Number.POSITIVE_INFINITY, hold = false): Advance {
        const state: Advance["state"] = this.result === null ? this.work(until, hold) : "done";
        const { effects, events, withdrawn } = this;
        this.effects = [];
        this.events = [];
        this.withdrawn = [];
        return { state, effects, events, withdrawn, ...(this.result === null ? {} : { result: this.result }) };
    }

    /** Path of the question about itself that was held back; null where there is none. */
    get asking(): string | null {
        return this.own[0] ?? null;
    }

    private work(until: number, hold: boolean): Advance["state"] {
        const { run } = this;
        if (!this.answerOwn()) return "done";
        strike(this);
        if (this.result !== null) return "done";
        grantSlice(this, until);
        for (;;) {
            if (hold && this.own.length > 0 && this.result === null) return "waiting";
            if (!this.answerOwn()) return "done";
            const fiber = nextFiber(this);
            if (fiber !== undefined) {
                if (takeTold(this, fiber)) continue;
                if (runFiber(this, fiber) === "slice") return "slice";
                if (this.result !== null) return "done";
                if (this.ready[0] === fiber) this.ready.shift();
                continue;
            }
            if (this.sessions.size > 0 && serveTurns(this)) continue;
            if (payWaiting(this)) {
                if (this.result !== null) return "done";
                continue;
            }
            run.given = 0;
            const next = nextTold(this);
            if (next === undefined) {
                run.grant(0);
                if (!isStuck(this)) return "waiting";
                this.finish(failureOfRun(this), false);
                return "done";
            }
            keepTold(this, next);
            if (this.result !== null) return "done";
            takeNotes(this, next);
            const pending = this.waiting.get(next.path);
            if (pending === undefined) continue;
            this.waiting.delete(next.path);
            applyOutcome(this, pending, next.outcome);
            if (this.result !== null) return "done";
        }
    }

    /** Answers what the run asked about itself, before anything else happens. False where the run ended by it. */
    private answerOwn(): boolean {
        for (let path = this.own.shift(); path !== undefined && this.result === null; path = this.own.shift()) {
            const pending = this.waiting.get(path);
            if (pending === undefined) continue;
            this.waiting.delete(path);
            applyOutcome(this, pending, inspectorAnswers(this, pending.fiber, pending.effect.request));
        }
        return this.result === null;
    }

    /** Count of steps at which the last slice was over, whether or not an instruction stopped short of it or went a step beyond. */
    get reach(): number {
        return this.run.before + this.run.granted;
    }

    /** True where so many steps more are beyond the budget. */
    spends(steps: number): boolean {
        return this.run.steps + steps > this.stepLimit || this.accounts.spends(steps);
    }

    /**
     * Gives the outcome of a pending effect; it counts at the next `advance`, or where it says that it came. False where nothing waits for it
     * (any more).
     */
    resolve(path: string, outcome: Outcome): boolean {
        const told = { path, outcome };
        if (!takes(this, told)) return false;
        this.inbox.push(told);
        return true;
    }

    /** Milliseconds of the run at which the time of a budget began to run; null where no save said so, undefined where `path` is no budget's. */
    began(path: string): number | null | undefined {
        const timer = this.waiting.get(path)?.timer;
        return timer === undefined ? undefined : (this.accounts.open.get(timer)?.began ?? null);
    }

    /** Effects that were asked for and have no outcome yet, in order. */
    get pending(): Effect[] {
        return [...this.waiting.values()].filter((p) => p.waits === undefined).map((p) => p.effect);
    }

    /** Goes on with a run that failed (LANGUAGE 7). Throws `Fail` where the changes let nothing go on; then nothing was changed. */
    goOn(how: GoOn, by: string): void {
        if (!this.canGoOn) throw new Fail("value", "the run has not failed, or cannot go on");
        goOn(this, how, by);
    }

    /** What lets the run go on, where it failed. */
    get remedies(): Remedies {
        return remediesOf(this);
    }

    /** The run failed, and its state is one that it can go on from. */
    get canGoOn(): boolean {
        return this.result !== null && !this.result.ok && (this.stopped.size > 0 || this.timedOut);
    }

    /** Ends the run: failure kind `cancelled`. */
    cancel(reason: string): void {
        this.stop(new Fail("cancelled", reason === "" ? "the run was cancelled" : reason, { whole: true }));
    }

    /** Ends the run because something that the host measures is used up. `hint`: what the user may do about it. */
    exceed(kind: FailureKind, message: string, hint?: string): void {
        this.timedOut = this.result === null;
        this.stop(new Fail(kind, message, { whole: true, ...(hint === undefined ? {} : { hint }) }));
    }

    private stop(fail: Fail): void {
        if (this.result !== null) return;
        const frame = (nextFiber(this) ?? this.root).frames.at(-1);
        fail.site = frame === undefined ? null : (frame.form.code[frame.pc]?.site ?? null);
        this.finish(fail, !this.timedOut);
    }

    get usage(): { steps: number; tokens: number; usd: number; calls: number; turns: number; bytes: number } {
        const { tokens, usd, calls, turns } = this.accounts.root.used;
        return { steps: this.run.steps, tokens, usd, calls, turns, bytes: this.run.bytes };
    }

    // ---- for the files beside ----

    /** Why so many: an event is these six, and a value of them would be made only to be taken apart. */
    emit(kind: EventKind, path: string, parent: string | null, site: Site | null, labels: readonly string[], data: Json): void {
        this.events.push({ path, parent, kind, principal: this.run.acting, site, labels, data });
    }

    /** Makes a fiber the one that runs: what it makes is its own. */
    enter(fiber: Fiber): void {
        const { heap } = this.run;
        if (heap.owner !== fiber) {
            heap.owner = fiber;
            heap.gen++;
        }
    }

    /** Counts what an event hands out where nothing may be thrown: beyond the limit the run ends. */
    give(bytes: number): void {
        try {
            this.run.give(bytes);
        } catch (error) {
            if (!(error instanceof Fail)) throw error;
            // Beyond that of a part of the run: the next that it makes fails there.
            const isOfPart = error.here && this.current !== null && yieldAround(this, this.current) !== null;
            if (error.region === null && !isOfPart) this.finish(error);
        }
    }

    fromJson(json: Json): Value {
        return fromJson(json, this.run.heap);
    }

    countCall(): void {
        countCall(this);
    }

    raise(fiber: Fiber, wanted: Wanted): void {
        raise(this, fiber, wanted);
    }

    gate(call: Call, target: Target, args: readonly Value[], chosen: "program" | "model" = "program"): Reach | null {
        return gate(this, call, target, args, chosen);
    }

    push(fiber: Fiber, callee: Callee, args: Value[]): void {
        push(this, fiber, callee, args);
    }

    openAccount({ fiber, frame, path, I }: Call, limits: SpendForm, name: string): number {
        return openAccount(this, fiber, { parent: accountAt(frame), limits, path, name, within: frame.parent }, I.site);
    }

    closeAccount(token: number): ReturnType<typeof closeAccount> {
        return closeAccount(this, token);
    }

    dropCode(path: string): void {
        dropWritten(this, path);
    }

    takeIn(written: Written): number {
        return takeIn(this, written);
    }

    discard = (inside: readonly Fiber[], fail: Fail): void => discardAll(this, inside, fail);

    fork(call: Call, iteration: Iteration): void {
        fork(this, call, iteration);
    }

    get isOver(): boolean {
        return this.result !== null;
    }

    /** A fiber that neither waits nor stopped is ready. */
    awake(fiber: Fiber): void {
        const isWaiting = fiber.frames.length === 0 || fiber.stop !== null || fiber.top.native !== null;
        if (!isWaiting && this.result === null && !this.ready.includes(fiber)) goesOn(this, fiber);
    }

    /** Asks the host for an effect. */
    ask(pending: Pending): void {
        this.waiting.set(pending.effect.path, pending);
        if (pending.effect.kind === "tool" && isInspector((pending.effect.request as { uri?: string }).uri ?? "")) {
            this.own.push(pending.effect.path);
            return;
        }
        this.effects.push(pending.effect);
    }

    /** Gives the instruction that waits at the top of a fiber its value. */
    deliver(fiber: Fiber, value: Value): void {
        const frame = fiber.top;
        const instruction = frame.form.code[frame.pc] as Instruction;
        const isHeld = instruction.op === OP.PARALLEL || instruction.op === OP.PLAN;
        // Results of iterations may be what others hold; what else comes from an effect is new.
        if (frame.isStrict) born(this.run, value, 0, isHeld ? 1 : Number.POSITIVE_INFINITY);
        frame.native = null;
        frame.locals[instruction.slot] = this.tracer === null ? value : this.tracer.taken(value, instruction.site, frame.path);
        frame.pc++;
        if (fiber.frames.length - 1 < fiber.low) fiber.low = fiber.frames.length - 1;
        goesOn(this, fiber);
    }

    deliverFail(fiber: Fiber, fail: Fail): void {
        if (unwind(this, fiber, fail)) goesOn(this, fiber);
    }

    /** The run's last event and its result. `final` false: its state stays, and it may go on. */
    finish(end: Value | Fail, final = true): void {
        if (this.result === null) this.result = ended(this, end, final);
    }
}
