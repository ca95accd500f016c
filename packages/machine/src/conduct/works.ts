/**
 * What was asked for and has no outcome yet: performed, waiting for time, for room, or for a person.
 *
 * Boundary: who performs what is the host's; when the run goes on is the conductor's, which is told what was settled.
 */
import type { Json } from "@remit/language";
import type { AgentNote, AgentTurn, Effect, Outcome } from "../effect/effect.ts";
import { type Admitted, joined } from "./draft.ts";
import type { ConductDoc, Decision, PendingEffect } from "./messages.ts";
import { beginsSession, type ParkedDoc, type Telling, telling, withRead } from "./parked.ts";
import { type Asked, docOf, isPersonal, Work } from "./requests.ts";
import type { RunTime } from "./time.ts";

export const CONCURRENCY = 16;

const MIDDLE = 3;

const NOTHING: Admitted = { begin: [], fresh: [] };

export interface WorksOps {
    say(decision: Decision): void;
    /** Nothing more is heard of it. */
    settled(work: Work): void;
    /** It arose in what was settled, and had no outcome by then. */
    left(work: Work, reason: string): void;
    /** What agents made in turns that broke off. */
    readonly made: readonly ParkedDoc[];
}

export class Works {
    /** Being performed, by path; those that only wait for time; those that no person can answer now. */
    readonly running = new Map<string, Work>();
    readonly sleeping = new Map<string, Effect>();
    readonly later = new Map<string, Effect>();
    /** Turns of agents whose questions wait for a person, by path, up to when they begin again. */
    readonly parked = new Map<string, Work>();
    /** Asked for, not begun for want of room. */
    queue: Effect[] = [];
    readonly sessions: Set<string>;
    /** By session, where another process can take it up. */
    private readonly loads: Map<string, NonNullable<AgentTurn["load"]>>;
    private rested = false;
    private readonly time: RunTime;
    private readonly ops: WorksOps;

    /** H8: by path of the turn. */
    private readonly made: Map<string, ParkedDoc>;

    constructor(time: RunTime, { sessions, loads = [] }: Pick<ConductDoc, "sessions" | "loads">, ops: WorksOps) {
        this.time = time;
        this.sessions = new Set(sessions);
        this.loads = new Map(loads.map(({ session, ...load }) => [session, load]));
        this.made = new Map(ops.made.map((one) => [one.path, one]));
        this.ops = ops;
    }

    /** It counts as running from here on; `after` says when it is begun. */
    begin(effect: Effect, of: Asked | null, after: Decision[]): void {
        const { path, deadline } = effect;
        this.running.set(path, this.unparked(path) ?? this.toldAgain(path, effect) ?? new Work(effect, of));
        if (isPersonal(effect)) this.time.person(1);
        if (deadline !== undefined) this.time.set(`deadline\n${path}`, deadline);
        if (effect.kind === "agent") this.sessions.add(turnIn(effect).session);
        after.push({ kind: "begin", effect, ...(of === null ? {} : { parent: of.work.effect.path }) });
    }

    /** H9. */
    loaded({ effect, of }: Work, { loads: id, usd }: Extract<AgentNote, { readonly loads: string }>): void {
        if (effect.kind !== "agent" || of !== null || id === "" || id.length > MOST_ID) return;
        this.loads.set(turnIn(effect).session, { id, ...(usd === undefined ? {} : { usd }) });
    }

    /** H9. Whether such a turn can begin in another process. */
    canBeginAgain(effect: Effect): boolean {
        return effect.kind === "agent" && (beginsSession(effect) || this.loads.has(turnIn(effect).session));
    }

    /** As its performer is given it. */
    sent(effect: Effect): Effect {
        const load = effect.kind === "agent" && !beginsSession(effect) ? this.loads.get(turnIn(effect).session) : undefined;
        return load === undefined ? effect : { ...effect, request: { ...(effect.request as { readonly [key: string]: Json }), load } };
    }

    /** `began`: when the budget whose time it is began, undefined where it is none's; `left`: what an earlier part of the run left of a wait. */
    sleep(effect: Effect, began: number | null | undefined, left?: number): void {
        const id = `sleep\n${effect.path}`;
        const { ms } = effect.request as { readonly ms: number };
        this.sleeping.set(effect.path, effect);
        // After a resume, waiting for time goes on where it was.
        if (began === undefined) this.time.set(id, left ?? ms, false);
        else if (began === null) this.time.set(id, ms);
        else this.time.until(id, began + ms);
    }

    /** True once, where something waits for time: what is left of it is kept as it is now. */
    rests(): boolean {
        const rests = this.sleeping.size > 0 && !this.rested;
        this.rested ||= rests;
        return rests;
    }

    settle(work: Work, reason: string): void {
        const { path } = work.effect;
        this.ops.settled(work);
        this.running.delete(path);
        this.time.clear(`deadline\n${path}`);
        if (isPersonal(work.effect)) this.time.person(-1);
        for (const path of work.requests.values()) {
            const request = this.running.get(path);
            this.drop(path, reason);
            if (request !== undefined) this.ops.left(request, reason);
        }
    }

    /** Its performer is told to stop, and what it says counts no more. */
    drop(path: string, reason: string): void {
        const work = this.running.get(path);
        if (work === undefined) return;
        this.ops.say({ kind: "stop", path, reason, waits: false });
        this.settle(work, reason);
    }

    /** Performers are told to stop; what they still say counts. */
    stop(reason: string): void {
        for (const path of this.running.keys()) this.ops.say({ kind: "stop", path, reason, waits: true });
        this.wakeNone();
    }

    /** Nothing that arose is wanted any more. */
    end(): void {
        for (const path of [...this.running.keys()]) this.drop(path, "the run has ended");
        this.wakeNone();
    }

    private wakeNone(): void {
        for (const path of this.sleeping.keys()) this.time.clear(`sleep\n${path}`);
    }

    /** Nothing waits for the outcome of an effect any more. */
    withdraw(path: string): void {
        this.queue = this.queue.filter((effect) => effect.path !== path);
        this.later.delete(path);
        for (const asked of this.parked.get(path)?.requests.values() ?? []) this.drop(asked, "its outcome is wanted no longer");
        this.parked.delete(path);
        this.sleeping.delete(path);
        this.time.clear(`sleep\n${path}`);
        this.drop(path, "its outcome is wanted no longer");
    }

    /** A turn's agent is stopped, and its session ends with it: the turn waits for a person. */
    park(work: Work, after: Decision[]): void {
        this.drop(work.effect.path, "a question of its agent waits for a person");
        after.push({ kind: "close", session: turnIn(work.effect).session, ...(beginsSession(work.effect) ? {} : { keeps: true }) });
        this.hold(Object.assign(work, { held: true }));
    }

    hold(work: Work): Work {
        this.parked.set(work.effect.path, work);
        this.later.set(work.effect.path, work.effect);
        return work;
    }

    /** A turn that begins again, with what holds in it. */
    private unparked(path: string): Work | undefined {
        const work = this.parked.get(path);
        if (work === undefined) return undefined;
        this.parked.delete(path);
        this.later.delete(path);
        return Object.assign(work, { held: false });
    }

    /** H8, H10. What holds in a turn that broke off, where it is told again. */
    broken(work: Work, reason: string): void {
        this.settle(work, reason);
        if (work.effect.kind === "agent") this.made.set(work.effect.path, docOf(work));
    }

    /** H10. `began`: as above; with the end of a budget is told what the agents at work have read by then. */
    slept(began: number | null | undefined, value: Json): Outcome {
        const works = began === undefined ? [] : [...this.running.values()];
        return withRead(
            { ok: true, value, origins: [] },
            works.flatMap((work) => work.tellings),
        );
    }

    /** H10. Of a turn that broke off and is not told again. */
    tellingOf(path: string): Telling[] {
        const doc = this.made.get(path);
        return doc === undefined ? [] : [telling(doc, true)];
    }

    /** H8. */
    private toldAgain(path: string, effect: Effect): Work | undefined {
        const doc = this.made.get(path);
        if (doc === undefined || !this.made.delete(path)) return undefined;
        return Object.assign(new Work(effect, null, doc), { held: false });
    }

    /** What a person is waited for: of a turn that is held its questions. */
    waiting(): Effect[] {
        return [...this.later.values()].flatMap((effect) => {
            const held = this.parked.get(effect.path);
            if (held === undefined) return [effect];
            const open = [...held.requests.values()].flatMap((path) => this.running.get(path)?.effect ?? []);
            return [...held.telling.parked.map(({ ask }) => ask), ...open];
        });
    }

    /** What the program itself asked for: not what arose in others. */
    own(): Effect[] {
        return [...this.running.values()].flatMap(({ effect, of }) => (of === null ? [effect] : []));
    }

    /**
     * What there is room for begins with the next commit; the rest waits in the queue. `room` null: nothing begins. `saved`: the commit holds a state
     * where one is needed; without it no turn is told again, as what it does would not be known to have been done (H5).
     */
    admit(asked: readonly Effect[], room: number | null, after: Decision[], saved: boolean): Admitted {
        if (this.queue.length + asked.length === 0) return NOTHING;
        let left = room === null ? 0 : room - this.taken;
        const begun = new Set<string>();
        const all = joined(this.queue, asked);
        for (const effect of inOrder(all)) {
            if (room === null || (!saved && this.parked.has(effect.path))) continue;
            if (!(isPersonal(effect) || (left > 0 && this.isDue(effect)))) continue;
            if (!isPersonal(effect)) left--;
            begun.add(effect.path);
            this.begin(effect, null, after);
        }
        const begin = this.queue.flatMap(({ path }) => (begun.has(path) ? [path] : []));
        const fresh = asked.map((effect) => pendingOf(effect, begun.has(effect.path)));
        this.queue = begun.size === all.length ? [] : all.filter(({ path }) => !begun.has(path));
        return { begin, fresh };
    }

    /** What the continuation keeps of them. */
    doc(): Omit<ConductDoc, "spent"> {
        const parked = [...this.parked.values()].map(docOf);
        const begun = this.own().map(({ path }) => path);
        const idle = [...this.queue, ...this.later.values()].map(({ path }) => path);
        const waits = [...this.sleeping.keys()].flatMap((path) => {
            const left = this.time.leftOf(`sleep\n${path}`);
            return left === null ? [] : [{ path, left }];
        });
        return {
            // The shorter list: this is saved with every commit, so that a wide fan-out would write its width over and over.
            ...(idle.length < begun.length ? { idle } : { begun }),
            sessions: [...this.sessions],
            ...(parked.length === 0 ? {} : { parked }),
            ...(waits.length === 0 ? {} : { waits }),
            ...(this.loads.size === 0 ? {} : { loads: [...this.loads].map(([session, load]) => ({ session, ...load })) }),
        };
    }

    /** Progress, to the one who waits for it. */
    show({ of, effect }: Work, part: Json): void {
        if (of === null) this.ops.say({ kind: "show", path: effect.path, part });
        else if (of.parts) this.ops.say({ kind: "down", path: of.work.effect.path, down: { n: of.n, part } });
        else this.show(of.work, part);
    }

    /** Places that are taken: what arose in others and what waits for a person takes none. */
    private get taken(): number {
        let taken = 0;
        for (const { effect, of } of this.running.values()) if (of === null && !isPersonal(effect)) taken++;
        return taken;
    }

    /** Whether one of its stage may begin now; else the conductor looks again when one may. */
    private isDue({ rate }: Effect): boolean {
        if (rate === undefined) return true;
        const id = `rate\n${rate.stage}`;
        if (this.time.has(id)) return false;
        this.time.set(id, 1000 / rate.second, false);
        return true;
    }

    /** `keeps`: another process takes it up, where it can. */
    close(session: string, keeps = false): void {
        // A session that was begun anew has a number behind it.
        for (const one of [...this.sessions].filter((id) => id === session || id.startsWith(`${session}~`))) {
            this.sessions.delete(one);
            const isKept = keeps && this.loads.has(one);
            if (!isKept) this.loads.delete(one);
            this.ops.say({ kind: "close", session: one, ...(isKept ? { keeps: true } : {}) });
        }
    }
}

/** Longest name of a session, UTF-16 units. */
const MOST_ID = 1000;

function turnIn({ request }: Effect): AgentTurn {
    return request as unknown as AgentTurn;
}

/** What comes first begins first; what says nothing is in the middle. */
function inOrder(effects: readonly Effect[]): readonly Effect[] {
    if (effects.every(({ priority }) => priority === undefined)) return effects;
    return [...effects].sort((a, b) => (a.priority ?? MIDDLE) - (b.priority ?? MIDDLE));
}

function pendingOf({ path, attempt }: Effect, begun: boolean): PendingEffect {
    return { path, begun, ...(attempt === undefined ? {} : { attempt }) };
}
