/**
 * The machine: one run of a compiled program. Pure: what it cannot do itself it hands out as effects and takes back as outcomes.
 *
 * Boundary: the state of a run and what a host may do with it. Instructions are in `execute.ts`, effects in `perform.ts`, `generate.ts` and
 * `parallel.ts`, the continuation in `save.ts` and `load.ts`; they share this class, whose fields no host touches.
 *
 * M4: same program, options and outcomes in the same order: same effects, events, steps and result.
 * M5: outcomes are applied one at a time, each until every fiber waits again, so it does not matter how a host batches them.
 */
import type { Json, Site } from "@remit/language";
import type { Compiled } from "../compile/program.ts";
import type { Effect, FailureKind, Outcome } from "../effect.ts";
import { Fail } from "../failure.ts";
import type { EventKind, MachineEvent } from "../ledger/events.ts";
import { fromJson, toJson } from "../value/json.ts";
import { ROOM, type Value } from "../value/value.ts";
import { Budgets } from "./budgets.ts";
import { type Entry, startEntry } from "./entry.ts";
import { runFiber, unwind } from "./execute.ts";
import { Fiber, type Pending } from "./fiber.ts";
import { DEFAULTS, type StartOptions } from "./options.ts";
import { applyOutcome } from "./perform.ts";
import { type Inspection, inspect } from "./inspect.ts";
import { load } from "./load.ts";
import { Run } from "./run.ts";
import { Saved, save } from "./save.ts";

/** How a run ended. `origins` are those of the value. */
export type Result =
    | { readonly ok: true; readonly value: Json; readonly origins: readonly string[] }
    | { readonly ok: false; readonly failure: ReturnType<Fail["toFailure"]> };

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

export class Machine {
    readonly compiled: Compiled;
    readonly options: StartOptions;
    readonly run: Run;
    readonly root: Fiber;
    readonly budgets: Budgets;
    readonly fibers = new Map<number, Fiber>();
    readonly waiting = new Map<string, Pending>();
    ready: Fiber[] = [];
    inbox: { readonly path: string; readonly outcome: Outcome }[] = [];
    entry: Entry | null = null;
    result: Result | null = null;
    /** Path of the entry function. */
    entryPath = "main";
    nextFiber = 1;
    /** Step count until which calls stay on frames, after a stretch was given up. */
    framesUntil = 0;
    effects: Effect[] = [];
    events: MachineEvent[] = [];
    withdrawn: string[] = [];
    readonly saved = new Saved();
    readonly depthLimit: number;
    readonly stepLimit: number;
    readonly concurrency: number;
    readonly principal: string;

    /** Use `Machine.start` or `load`. */
    constructor(compiled: Compiled, options: StartOptions) {
        this.compiled = compiled;
        this.options = options;
        this.root = new Fiber(0, null, 0, 0);
        this.fibers.set(0, this.root);
        const units = Math.min(2 ** 30 - 1, Math.ceil((options.limits?.memory ?? DEFAULTS.memory) / ROOM.unit));
        this.run = new Run(this.root, options.limits?.bytes ?? Number.POSITIVE_INFINITY, units);
        this.budgets = new Budgets(options.limits ?? {});
        this.stepLimit = options.limits?.steps ?? DEFAULTS.steps;
        this.depthLimit = options.limits?.depth ?? DEFAULTS.depth;
        this.concurrency = Math.max(1, options.concurrency ?? DEFAULTS.concurrency);
        this.principal = options.principal ?? DEFAULTS.principal;
    }

    /** A machine at the beginning of a run. Nothing happens before `advance`. */
    static start(compiled: Compiled, options: StartOptions): Machine {
        const m = new Machine(compiled, options);
        startEntry(m);
        return m;
    }

    /**
     * A machine that goes on where another was saved: a whole image, then the deltas saved after it, in order. Throws `Fail`
     * (`invalid_payload`) for what another program, engine or version wrote.
     */
    static load(compiled: Compiled, options: StartOptions, documents: readonly Json[]): Machine {
        return load(new Machine(compiled, options), documents);
    }

    /** The continuation: what changed since the last call, or all of it the first time, when asked for, and when that is shorter. */
    save(wanted: { readonly image?: boolean } = {}): { readonly image: Json } | { readonly delta: Json } {
        return save(this, wanted.image === true);
    }

    /** What runs where, in the words of the Debug Adapter Protocol. */
    inspect(): Inspection {
        return inspect(this);
    }

    /** Runs until every fiber waits or ends, or the slice is over. `until`: no slice goes beyond this count of steps. */
    advance(until = Number.POSITIVE_INFINITY): Advance {
        let state: Advance["state"] = "done";
        if (this.result === null) state = this.work(until);
        const { effects, events, withdrawn } = this;
        this.effects = [];
        this.events = [];
        this.withdrawn = [];
        return { state, effects, events, withdrawn, ...(this.result === null ? {} : { result: this.result }) };
    }

    private work(until: number): Advance["state"] {
        const { run } = this;
        this.grant(until);
        for (;;) {
            const fiber = this.ready[0];
            if (fiber !== undefined) {
                if (runFiber(this, fiber) === "slice") return "slice";
                if (this.result !== null) return "done";
                this.ready.shift();
                continue;
            }
            run.given = 0;
            const next = this.inbox.shift();
            if (next === undefined) {
                run.grant(0);
                return "waiting";
            }
            const pending = this.waiting.get(next.path);
            if (pending === undefined) continue;
            this.waiting.delete(next.path);
            applyOutcome(this, pending, next.outcome);
            if (this.result !== null) return "done";
        }
    }

    /** Starts a slice: no longer than what is left of the budget, longer than usual where one instruction needs it. */
    private grant(until: number): void {
        const usual = this.options.slice ?? DEFAULTS.slice;
        const wanted = Math.max(usual, this.ready[0]?.need ?? 0);
        const left = this.stepLimit - this.run.steps;
        // Below zero where an instruction went beyond the budget: the next one finds it spent.
        this.run.grant(Math.min(wanted, left, 2 ** 30, Math.max(0, until - this.run.steps)), usual);
    }

    /** Count of steps at which the last slice was over, whether or not an instruction stopped short of it or went a step beyond. */
    get reach(): number {
        return this.run.before + this.run.granted;
    }

    /** True where so many steps more are beyond the budget. */
    spends(steps: number): boolean {
        return this.run.steps + steps > this.stepLimit;
    }

    /** Gives the outcome of a pending effect; it counts at the next `advance`. False where nothing waits for it (any more). */
    resolve(path: string, outcome: Outcome): boolean {
        if (!this.waiting.has(path) || this.inbox.some((i) => i.path === path)) return false;
        this.inbox.push({ path, outcome });
        return true;
    }

    /** Effects that have no outcome yet, in the order in which they were asked for. */
    get pending(): Effect[] {
        return [...this.waiting.values()].map((p) => p.effect);
    }

    /** Ends the run: failure kind `cancelled`. */
    cancel(reason: string): void {
        this.stop(new Fail("cancelled", reason === "" ? "the run was cancelled" : reason, { whole: true }));
    }

    /** Ends the run because something that the host measures is used up. `hint`: what the user may do about it. */
    exceed(kind: FailureKind, message: string, hint?: string): void {
        this.stop(new Fail(kind, message, { whole: true, ...(hint === undefined ? {} : { hint }) }));
    }

    private stop(fail: Fail): void {
        if (this.result !== null) return;
        const fiber = this.ready[0] ?? this.root;
        const frame = fiber.frames[fiber.frames.length - 1];
        fail.site = frame === undefined ? null : (frame.form.code[frame.pc]?.site ?? null);
        this.finish(fail);
    }

    get usage(): { steps: number; tokens: number; usd: number; calls: number; turns: number; bytes: number } {
        const { tokens, usd, calls, turns } = this.budgets.used;
        return { steps: this.run.steps, tokens, usd, calls, turns, bytes: this.run.bytes };
    }

    // ---- for the files beside ----

    emit(kind: EventKind, path: string, parent: string | null, site: Site | null, labels: readonly string[], data: Json): void {
        this.events.push({ path, parent, kind, principal: this.principal, site, labels, data });
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
            this.finish(error);
        }
    }

    fromJson(json: Json): Value {
        return fromJson(json, this.run.heap);
    }

    /** Asks the host for an effect. */
    ask(pending: Pending): void {
        this.waiting.set(pending.effect.path, pending);
        this.effects.push(pending.effect);
    }

    /** Gives the instruction that waits at the top of a fiber its value. */
    deliver(fiber: Fiber, value: Value): void {
        const frame = fiber.top;
        const instruction = frame.form.code[frame.pc] as { slot: number };
        frame.native = null;
        frame.locals[instruction.slot] = value;
        frame.pc++;
        if (fiber.frames.length - 1 < fiber.low) fiber.low = fiber.frames.length - 1;
        this.ready.push(fiber);
    }

    deliverFail(fiber: Fiber, fail: Fail): void {
        if (unwind(this, fiber, fail)) this.ready.push(fiber);
    }

    /** The run's last event and its result. */
    finish(end: Value | Fail): void {
        if (this.result !== null) return;
        const { run } = this;
        let failed: Fail | null = end instanceof Fail ? end : null;
        let json: Json = null;
        let origins: readonly string[] = [];
        if (!(end instanceof Fail)) {
            try {
                const out = toJson(end, run.labels);
                json = out.json;
                origins = run.labels.origins(out.labels);
            } catch (error) {
                if (!(error instanceof Fail)) throw error;
                failed = error;
            }
        }
        // Also what this very call hands out: whether it does must not depend on where a slice ended.
        this.withdrawn.push(...this.waiting.keys());
        this.waiting.clear();
        this.inbox = [];
        this.ready = [];
        const path = this.entryPath;
        if (failed !== null) {
            const failure = failed.toFailure();
            const labels = run.labels.origins(failed.labels);
            this.emit("failure", path, null, failed.site, labels, {
                kind: failure.kind,
                message: failure.message,
                detail: failure.detail ?? null,
                hint: failure.hint ?? null,
            });
            this.result = { ok: false, failure };
            this.emit("run.ended", path, null, failed.site, labels, { ok: false, value: null, kind: failure.kind, ...this.account() });
        } else {
            this.result = { ok: true, value: json, origins };
            this.emit("run.ended", path, null, null, origins, { ok: true, value: json, ...this.account() });
        }
    }

    private account(): { steps: number; usage: Json } {
        const { steps, ...usage } = this.usage;
        return { steps, usage };
    }
}
