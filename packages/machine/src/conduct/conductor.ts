/**
 * The conductor: given its state and what happened, it says what comes next. Every shell runs it, so that a rule about order, room, time,
 * questions, sessions or recovery stands here and nowhere else.
 *
 * Boundary: pure, over values. No promise, no timer, no file: a shell carries decisions out and brings news. What performs an effect is the
 * host's, how things are kept the store's, what follows from an outcome the machine's.
 *
 * D1: an effect's start is committed before it is performed; an outcome is committed before anything that follows from it can be observed.
 *     One commit is under way at a time; what comes meanwhile shares the next.
 * D2: after a commit that failed for good nothing more is begun, and the ledger holds everything that was acknowledged.
 * D3: after cancel every performer is told to stop, answers that still come within the grace time are kept, and the run can be resumed.
 *     A run that was stopped at a question waits for its answer; one that computed goes on at the end of the slice in which it was stopped.
 * D5: events are committed with the state that follows them, so that a crash in between leaves neither.
 * D6: where the run's time ended it is kept in a `budget` event, because it follows from the world: at which step, or waiting.
 * D7: what only waits for time begins when it is asked for, whether or not anything was committed, and its end is told to the machine at the end
 *     of a slice, with the count of steps there, so that a part of a run that only computes ends in time, too, and ends there again.
 * D9: every effect that was begun is answered once, or never if it was dropped; what its performer says later changes nothing.
 */
import type { Effect, Failure, Outcome } from "../effect/effect.ts";
import { addUsage, type Usage, usageSince } from "../effect/usage.ts";
import type { MachineEvent } from "../ledger/events.ts";
import { changed } from "./approvals.ts";
import { Commits } from "./commits.ts";
import { batchOf, type Draft, emptyDraft, isEmpty, keptOf, restOf, struck } from "./draft.ts";
import type { Answered, Batch, ConductEnd, Conducted, ConductOptions, Decision, Down, Missing, News, Up } from "./messages.ts";
import { withRead } from "./parked.ts";
import { anew, Reports } from "./reports.ts";
import { again, begunBefore, decided, lacking, outcomeOf, type Recovered, repeats } from "./recover.ts";
import { answerRequest, askParked, isPersonal, leaveRequest, request, type RequestOps, use, Work } from "./requests.ts";
import { RunTime } from "./time.ts";
import { type Known, Unknowns } from "./unknowns.ts";
import { CONCURRENCY, Works } from "./works.ts";

const GRACE_MS = 800;
/** Events after which a session with an agent has no turn any more. */
const ENDS_SESSION: ReadonlySet<string> = new Set(["yield.closed", "agent.ended"]);

export class Conductor {
    private readonly machine: Conducted;
    private readonly options: ConductOptions;
    private readonly time: RunTime;
    /** `asking`: a person says what became of effects. `winding`: performers were told to stop. `ending`: only the last commit is left. */
    private phase: "asking" | "running" | "winding" | "ending" | "over" = "asking";
    private state: "slice" | "waiting" | "done" = "slice";
    /** The machine was told something since it last computed, or computed since it was last saved. */
    private news = true;
    private changed = false;
    private drains = false;
    /** The run's time is up; what is said of it once it winds up for that. */
    private isLate = false;
    private late: Failure | null = null;
    private graceOver = false;
    /** What came after the cancel. */
    private kept: Answered[] = [];
    private end: ConductEnd | null = null;

    private readonly works: Works;
    private readonly reports: Reports;
    private readonly unknowns: Unknowns;

    private draft: Draft = emptyDraft();
    private readonly commits = new Commits();
    private out: Decision[] = [];
    private wake: number | null = null;

    constructor(machine: Conducted, options: ConductOptions) {
        this.machine = machine;
        this.options = options;
        const before = machine.conduct;
        this.time = new RunTime(options.spent ?? before?.spent ?? 0);
        if (options.timeout !== undefined) this.time.until("run", options.timeout);
        this.works = new Works(this.time, before ?? { sessions: [] }, {
            say: (decision) => this.say(decision),
            settled: (work) => this.reports.tell(work),
            left: (work, reason) => leaveRequest(this.ops, work, reason),
            made: options.recovered?.made ?? [],
        });
        this.reports = new Reports(this.time, (event, answered) => this.reported(event, answered));
        this.unknowns = new Unknowns(this.time, (decision) => this.say(decision));
        if (options.recovered === undefined && before == null) this.phase = "running";
        else this.recover(options.recovered ?? { outcomes: [], begun: begunBefore(machine), repeatable: [] });
    }

    /** Milliseconds of the run's time at `at`. */
    spent(at: number): number {
        return Math.round(this.time.spentAt(at));
    }

    /** What happened, and what comes next. `at`: milliseconds by the shell's clock, never less than before. */
    next(at: number, news: readonly News[] = []): Decision[] {
        this.time.now(at);
        for (const one of news) this.take(one);
        for (const id of this.time.rung()) this.ring(id);
        this.goOn();
        const wake = this.phase === "over" ? null : this.time.next();
        if (wake !== this.wake) this.say({ kind: "wake", at: wake });
        this.wake = wake;
        const { out } = this;
        this.out = [];
        return out;
    }

    // ---- news ----

    private take(news: News): void {
        if (this.phase === "over") return;
        switch (news.kind) {
            case "outcome":
                this.answered(this.works.running.get(news.path), news.outcome);
                return;
            case "later":
                this.answered(this.works.running.get(news.path), null, news.why);
                return;
            case "up":
                this.up(this.works.running.get(news.path), news.up);
                return;
            case "committed":
                this.committed(news.n);
                return;
            case "failed":
                this.failed(news.n, news.again);
                return;
            case "time":
                this.wake = null;
                return;
            case "cancel":
                if (this.phase === "asking") this.conclude({ status: "stopped" });
                else if (this.phase === "running") this.wind("the run was cancelled");
                return;
            case "drain":
                this.drains = true;
                return;
            case "lost":
                this.lost(this.works.running.get(news.path), news.repeatable);
                return;
            case "known":
                this.unknowns.answer(news.path, news.said);
        }
    }

    private ring(id: string): void {
        const [what, path = "", n] = id.split("\n");
        switch (what) {
            case "run":
                this.isLate = true;
                return;
            case "grace":
                this.graceOver = true;
                return;
            case "commit":
                this.out.push(...this.commits.said);
                return;
            case "notes":
                this.reports.isDue = true;
                return;
            // Of a `rate` what waits for it is admitted below.
            case "sleep":
                this.works.sleeping.delete(path);
                // What was reported until then may be of what ends with it.
                this.reports.tellAll(this.works.running.values());
                // D7.
                this.tell(path, this.works.slept(this.machine.began?.(path), this.state === "slice" ? { at: this.machine.reach } : null));
                return;
            case "wait":
                this.say({ kind: "down", path, down: { n: Number(n), outcome: { ok: true, value: null, origins: [] } } });
                return;
            case "deadline": {
                const work = this.works.running.get(path) as Work;
                const { deadline, site } = work.effect;
                this.say({ kind: "stop", path, reason: "it took too long", waits: false });
                this.answered(work, { ok: false, failure: { kind: "timeout", message: `no answer after ${deadline} ms`, site } });
            }
        }
    }

    /** The machine is told an outcome, which the next commit holds. */
    private tell(path: string, outcome: Outcome, counted: Usage = {}): void {
        this.machine.resolve(path, outcome);
        this.draft.outcomes.push({ path, outcome });
        this.count(outcome, counted);
        this.news = true;
    }

    /** `counted`: of what it used, what was counted before it came. */
    private count({ usage = {} }: Outcome, counted: Usage): void {
        this.draft.usage = addUsage(this.draft.usage, usageSince(counted, usage));
    }

    private answered(work: Work | undefined, outcome: Outcome | null, why?: Missing): void {
        // D9.
        if (work === undefined) return;
        const { effect } = work;
        // The reply holds all of it.
        if (outcome?.ok === true) work.noted = null;
        const isCut = this.phase !== "running" && outcome?.ok === false && outcome.failure.kind === "cancelled";
        if (isCut && outcome.usage !== undefined) this.reports.add(work, { usage: outcome.usage });
        this.works.settle(work, "what it arose in was answered");
        if (work.of !== null) answerRequest(this.ops, work, outcome);
        else if (outcome === null) {
            this.works.later.set(effect.path, effect);
            if (why !== undefined) this.draft.notes.push(lacking(effect, why));
            // It was not performed: the next resume begins it.
            if (!isPersonal(effect)) this.draft.unbegun.push(effect.path);
        } else if (this.phase === "running") this.tell(effect.path, withRead(outcome, work.tellings), work.used);
        else {
            // What was cut short says so; whether it happened is not known, so it is no outcome.
            if (!isCut) this.kept.push({ path: effect.path, outcome: withRead(outcome, work.tellings) });
            this.count(outcome, work.used);
        }
    }

    /** Its performer is gone, and no outcome was kept. */
    private lost(work: Work | undefined, repeatable: boolean): void {
        if (work === undefined) return;
        // What it arose in is told, and goes on without it.
        if (work.of !== null) this.answered(work, outcomeOf(work.effect, { answer: "give up" }));
        else this.works.broken(work, "its performer is gone");
        if (work.of === null && this.phase === "running") this.unheard(work.effect, repeatable);
    }

    private up(work: Work | undefined, up: Up): void {
        if (work === undefined) return;
        const { path } = work.effect;
        if ("part" in up) this.works.show(work, up.part);
        else if ("note" in up && "loads" in up.note) this.works.loaded(work, up.note);
        else if ("note" in up) this.reports.add(work, up.note);
        else if ("changed" in up) request(this.ops, changed(work.effect), { work, n: up.n, parts: false, changed: true });
        else if ("stop" in up) {
            if (this.time.clear(`wait\n${path}\n${up.n}`)) return;
            const request = work.requests.get(up.n);
            if (request !== undefined)
                this.say({ kind: "stop", path: request, reason: "its performer waits for it no longer", waits: true });
        } else if ("use" in up) use(this.ops, work, up);
        else if (up.child.kind === "sleep") {
            const { ms } = up.child.request as { readonly ms: number };
            this.time.set(`wait\n${path}\n${up.n}`, ms);
        } else request(this.ops, up.child, { work, n: up.n, parts: false });
    }

    private reported(event: MachineEvent, answered: Answered): void {
        this.draft.notes.push(event);
        if (this.phase === "running") this.tell(answered.path, answered.outcome);
        else if (this.phase === "winding") {
            this.kept.push(answered);
            this.count(answered.outcome, {});
        }
    }

    private readonly ops: RequestOps = {
        rule: (path, wanted, read) => this.machine.rule(path, wanted, read),
        note: (event) => void this.draft.notes.push(event),
        begin: (effect, of) => {
            if (this.works.running.has(effect.path)) {
                const failure: Failure = { kind: "tool", message: `there is a request ${effect.path} already`, site: effect.site };
                this.ops.tell(of.work, { n: of.n, outcome: { ok: false, failure } });
                return;
            }
            of.work.waitsFor(of.n, effect.path);
            this.works.begin(effect, of, this.draft.after);
        },
        tell: ({ effect }: Work, down: Down) => void this.draft.after.push({ kind: "down", path: effect.path, down }),
        learn: (path, outcome) => this.tell(path, outcome),
        parks: () => this.phase === "running",
        canBeginAgain: (turn) => this.works.canBeginAgain(turn),
        rests: (work) => {
            this.changed = true;
            if (!work.held) this.works.park(work, this.draft.after);
            else if (work.telling.parked.length === 0) this.begunAgain(work.effect);
        },
    };

    // ---- going on ----

    private goOn(): void {
        if (this.phase === "asking") this.recovered();
        if (this.phase === "running") for (const known of this.unknowns.take()) this.known(known);
        if (this.phase === "running" && !this.commits.isOpen && (this.reports.isDue || this.news))
            this.reports.tellAll(this.works.running.values());
        if (this.phase === "running" && (this.news || this.state === "slice")) this.compute();
        if (this.phase === "running" && this.isLate) this.timeUp();
        if (this.phase === "winding") this.windUp();
        this.flush();
        if (this.phase === "running") this.rest();
        if (this.phase === "running" && this.state === "slice") this.say({ kind: "compute" });
    }

    private compute(): void {
        this.news = false;
        const { state, effects, events, withdrawn, result } = this.machine.advance();
        this.state = state;
        this.changed = true;
        for (const event of events) this.draft.events.push(event);
        for (const path of withdrawn) {
            this.draft.dropped.push(path);
            this.draft.fresh = this.draft.fresh.filter((effect) => effect.path !== path);
            this.works.withdraw(path);
            this.unknowns.drop(path);
        }
        for (const effect of effects) if (!withdrawn.includes(effect.path)) this.asks(effect);
        if (result !== undefined)
            this.conclude(result.ok ? { status: "done", value: result.value } : { status: "failed", failure: result.failure });
    }

    /** `left`: milliseconds of what waits for time that an earlier part of the run left. */
    private asks(effect: Effect, left?: number): void {
        if (effect.kind !== "sleep") {
            this.draft.fresh.push(effect);
            return;
        }
        const { path } = effect;
        this.works.sleep(effect, this.machine.began?.(path), left);
        this.draft.timed.push(path);
    }

    /** Commits what there is, where no commit is under way; begins what there is room for once it is kept. */
    private flush(): void {
        if (this.commits.isOpen || this.phase === "asking" || this.phase === "over") return;
        const { draft, end } = this;
        // D5; D3: what winds up computes no further.
        const whole = this.state !== "slice" || this.phase !== "running";
        const isOpen = this.phase === "running" && !this.drains;
        const room = isOpen ? (this.options.concurrency ?? CONCURRENCY) : null;
        const held = this.works.parked.size;
        const kept = keptOf(draft, whole, this.works.admit(whole ? draft.fresh : [], room, draft.after, whole));
        // H5: what a turn does that is told again is no longer what was kept.
        if (this.works.parked.size < held) this.changed = true;
        const ends = this.phase === "ending";
        if (!ends && !(whole && this.changed) && isEmpty(draft, kept)) return;
        const saves = this.options.saves && this.changed && whole && (this.state !== "done" || this.machine.canGoOn === true);
        const more = { ...(saves ? { state: this.saved() } : {}), steps: this.machine.usage.steps, spent: this.time.spent };
        const batch = batchOf(draft, kept, more, ends ? end : null);
        const closes = whole ? draft.events.filter(({ kind }) => ENDS_SESSION.has(kind)) : [];
        for (const { path } of closes) draft.after.push({ kind: "close", session: path });
        this.draft = restOf(draft, whole);
        if (whole) this.changed = false;
        this.say(this.commits.begin(batch, draft.after, ends));
    }

    private saved(): NonNullable<Batch["state"]> {
        const { spent } = this.time;
        const saved = this.machine.save({ spent, conduct: { spent, ...this.works.doc() } });
        return "image" in saved ? { kind: "image", json: saved.image } : { kind: "delta", json: saved.delta };
    }

    private committed(n: number): void {
        const { after = [], ends = false } = this.commits.kept(n) ?? {};
        for (const decision of after)
            if (decision.kind === "close") this.works.close(decision.session, decision.keeps);
            else if (decision.kind === "begin") this.begun(decision);
            else this.say(decision);
        if (ends) this.over();
    }

    /** What was dropped meanwhile is not begun, nor is anything once the run winds up. */
    private begun(decision: Decision & { readonly kind: "begin" }): void {
        const { effect } = decision;
        const work = this.works.running.get(effect.path);
        if (work?.effect !== effect) return;
        if (this.phase === "running") this.say({ ...decision, effect: this.works.sent(effect) });
        else if (work.of !== null)
            this.answered(work, { ok: false, failure: { kind: "cancelled", message: "the run ends", site: effect.site } });
        else {
            this.works.settle(work, "it was not begun");
            this.draft.unbegun.push(effect.path);
        }
    }

    private failed(n: number, isAgain: boolean): void {
        if (!this.commits.isUnder(n)) return;
        if (isAgain) this.time.set("commit", this.commits.again(), false);
        else {
            this.conclude({ status: "broken" });
            this.over();
        }
    }

    // ---- ends ----

    /** The run waits for a person where nothing goes on that does not. */
    private rest(): void {
        if (this.state !== "waiting" || this.news || this.commits.isOpen) return;
        // What is in the queue then waits for the rate of its stage.
        const { later, sleeping, queue, running } = this.works;
        if (running.size > 0 || this.unknowns.isOpen || (queue.length > 0 && !this.drains)) return;
        const drained = this.drains && (queue.length > 0 || (sleeping.size > 0 && later.size === 0));
        if ((drained || later.size > 0) && this.works.rests()) {
            this.changed = true;
            this.flush();
        } else if (drained) {
            this.conclude({ status: "drained" });
            this.over();
        } else if (later.size > 0) {
            this.conclude({ status: "waiting", waiting: this.works.waiting() });
            this.flush();
        } else if (sleeping.size === 0) throw new Error("the machine waits, but nothing it waits for was asked for");
    }

    private timeUp(): void {
        const message = `the run took longer than ${this.options.timeout} ms`;
        this.late = { kind: "limit.time", message, hint: "allow more time with --timeout" };
        this.wind(message);
    }

    /** Performers are told to stop; what they still say is waited for, for a while. */
    private wind(reason: string): void {
        this.phase = "winding";
        this.works.stop(reason);
        this.time.set("grace", this.options.grace ?? GRACE_MS, false);
    }

    private windUp(): void {
        this.reports.tellAll(this.works.running.values());
        const isBusy = [...this.works.running.values()].some(({ effect }) => !isPersonal(effect));
        if (isBusy && !this.graceOver) return;
        const isWhole = this.state !== "slice";
        if (this.late !== null) {
            const at = { steps: this.machine.usage.steps, open: this.machine.pending.length };
            this.draft.notes.push(struck(isWhole ? null : this.machine.reach, at, this.late));
            this.machine.exceed(this.late.kind, this.late.message, this.late.hint);
            this.compute();
            // The program hears of it if it goes on.
            for (const { path, outcome } of this.kept) this.machine.resolve(path, outcome);
            this.draft.outcomes.push(...this.kept);
            return;
        }
        if (this.commits.isOpen || this.changed) return; // what was computed is kept first: its state knows nothing of what came after the cancel
        const waiting = [...this.works.own(), ...this.works.waiting()].filter(isPersonal);
        this.draft.outcomes.push(...this.kept);
        this.conclude(waiting.length > 0 ? { status: "waiting", waiting } : { status: "stopped" });
    }

    private conclude(end: ConductEnd): void {
        this.end = end;
        this.phase = "ending";
        this.works.end();
    }

    private over(): void {
        this.phase = "over";
        for (const session of this.works.sessions) this.works.close(session, this.end?.status === "waiting");
        this.say({ kind: "ended", end: this.end as ConductEnd });
    }

    // ---- recovery ----

    private recover({ outcomes, begun, repeatable, answers = [], notes = [], pending = this.machine.pending }: Recovered): void {
        for (const { path, outcome } of outcomes) this.machine.resolve(path, outcome);
        for (const { path, outcome } of answers) this.tell(path, outcome);
        this.draft.notes.push(...notes);
        const known = new Set([...outcomes, ...answers].map(({ path }) => path));
        for (const effect of pending) {
            const { path } = effect;
            if (known.has(path)) continue;
            const parked = this.machine.conduct?.parked?.find((one) => one.path === path);
            if (effect.kind === "sleep") this.asks(effect, this.machine.conduct?.waits?.find((one) => one.path === path)?.left);
            else if (parked !== undefined) askParked(this.ops, this.works.hold(new Work(effect, null, parked)), parked.asks);
            else if (!begun.includes(path)) this.works.queue.push(effect);
            else this.unheard(effect, repeatable.includes(path));
        }
    }

    /** U2. */
    private unheard(effect: Effect, repeatable: boolean): void {
        if (!repeats(effect) && !repeatable) this.unknowns.ask(effect);
        else {
            this.begunAgain(effect);
            this.draft.notes.push(...again(effect));
        }
    }

    private begunAgain(effect: Effect): void {
        this.works.queue.push(effect);
        for (const { path, outcome } of anew(effect)) this.tell(path, outcome);
    }

    /** U2. */
    private recovered(): void {
        if (this.unknowns.isOpen) return;
        this.phase = "running";
        const waiting = this.unknowns.unsaid();
        if (waiting.length === 0) return;
        this.draft = emptyDraft();
        this.conclude({ status: "waiting", waiting });
    }

    private known({ effect, said }: Known): void {
        if (said === null) this.works.later.set(effect.path, effect);
        else {
            this.draft.notes.push(...decided(effect, said));
            const outcome = outcomeOf(effect, said);
            if (outcome === null) this.begunAgain(effect);
            else this.tell(effect.path, withRead(outcome, this.works.tellingOf(effect.path)));
        }
    }

    private say(decision: Decision): void {
        this.out.push(decision);
    }
}
