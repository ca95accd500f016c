/**
 * What arises while effects are performed: requests of a tool server or an agent, and what an agent wants to do with its own hands.
 *
 * Boundary: messages in, messages and events out. Who may what is the machine's ruling; beginning and stopping is the conductor's.
 *
 * H1: such events have `host: true` in their data: they follow from the world, not from the program, and a replay does not expect them.
 * H2: a use is made exactly as it was ruled on: the request is the machine's.
 * H3: a question is put while the agent waits; no answer is a no. One that is left for later ends the turn once nothing else of it is under way, and
 *     the turn is told again when the question is answered (H5, H6 in `parked.ts`); where it cannot be told again, the answer is no.
 * H4: a yes to whether a use may be made holds once for making it in the same turn, with the very arguments that were shown.
 * H7: `abort` ends the run, also as the answer about an agent's own use: the machine is told, and its end stops the agent. No turn is told again for it.
 */
import { canonicalJson, type Json } from "@remit/language";
import { ANSWERS, type Effect, type Outcome, type Read, type ToolRequest, verdictOf } from "../effect/effect.ts";
import { sentWith } from "../effect/stage.ts";
import type { Usage } from "../effect/usage.ts";
import type { EventKind, MachineEvent } from "../ledger/events.ts";
import type { Notes } from "../ledger/notes.ts";
import type { Ruling } from "../native/hands.ts";
import { describedIn, REDESCRIBED } from "../state/verdicts.ts";
import { kept, redescribed } from "./approvals.ts";
import type { AgentUse, Down, Permission, UseUp } from "./messages.ts";
import {
    agreesToMade,
    beginsSession,
    madeOf,
    type ParkedDoc,
    parkedDoc,
    reads,
    statedIn,
    takeSaid,
    type Telling,
    telling,
    toldBefore,
} from "./parked.ts";

/** Path of the agent's turn in which the question at this path was put about the agent's own hands; null: it was about something else. */
export function turnAskedIn(path: string): string | null {
    return /^(.+)\/hand\[\d+\]\/ask$/.exec(path)?.[1] ?? null;
}

const NO_REQUESTS: ReadonlyMap<number, string> = new Map();

/** What the conductor keeps of an effect that is performed. */
export class Work {
    readonly effect: Effect;
    /** For a request: what it arose in. */
    readonly of: Asked | null;
    /** Uses so far. */
    uses: number;
    /** What its agent reported and the machine was not told yet, and how often the machine was told. */
    noted: Notes | null = null;
    told = 0;
    /** Of what its agent used: as much as the machine was told. */
    used: Usage = {};
    /** Its turn waits for answers before it is told again: no agent is at work. */
    held: boolean;
    private readonly doc: ParkedDoc | undefined;
    private kept: Telling | null = null;
    private yes: Map<string, string> | null = null;
    private open: Map<number, string> | null = null;

    constructor(effect: Effect, of: Asked | null, doc?: ParkedDoc) {
        this.effect = effect;
        this.of = of;
        this.doc = doc;
        this.uses = doc?.uses ?? 0;
        this.held = doc !== undefined;
    }

    /** Made where it is first asked for: most effects are no agent's, and what it holds takes as much room as the rest of a step. */
    get telling(): Telling {
        this.kept ??= telling(this.doc, !beginsSession(this.effect));
        return this.kept;
    }

    /** `telling`, where it was made or a saved run had one; else none, so that reading it makes none. */
    get tellings(): readonly Telling[] {
        return this.kept === null && this.doc === undefined ? [] : [this.telling];
    }

    /** Uses that a person said yes to and that were not made yet, with the description under which it was said. */
    get agreed(): Map<string, string> {
        this.yes ??= new Map();
        return this.yes;
    }

    /** Requests that its performer waits for, by number. */
    get requests(): ReadonlyMap<number, string> {
        return this.open ?? NO_REQUESTS;
    }

    waitsFor(n: number, path: string): void {
        this.open ??= new Map();
        this.open.set(n, path);
    }

    waitsNoMore(n: number): void {
        this.open?.delete(n);
    }
}

/** What an agent wants to do, at its path, and what the machine said of it. */
interface UseAsked {
    readonly use: UseUp;
    readonly path: string;
    readonly ruling: Exclude<Ruling, { readonly kind: "refused" }>;
    /** What its agent had read by then. */
    readonly read: readonly Read[];
}

export interface Asked {
    readonly work: Work;
    readonly n: number;
    /** Progress goes to the performer that asked. */
    readonly parts: boolean;
    /** It is the question whether a call may be made although its tool changed. */
    readonly changed?: true;
    /** The question about a use. */
    readonly about?: AboutUse;
    /** What is made for the agent. */
    readonly makes?: AgentUse;
}

type AboutUse = UseAsked & { readonly ruling: { readonly kind: "ask" } };

export interface RequestOps {
    rule(path: string, use: AgentUse, read: readonly Read[]): Ruling;
    /** Keeps an event. */
    note(event: MachineEvent): void;
    /** Begins it, once what was noted is kept. */
    begin(effect: Effect, of: Asked): void;
    /** Tells a performer, once what was noted is kept. */
    tell(work: Work, down: Down): void;
    /** What a person said holds for the rest of the run, or ends it. */
    learn(path: string, outcome: Outcome): void;
    /** Whether a question may be left for later now. */
    parks(): boolean;
    /** H9. */
    canBeginAgain(turn: Effect): boolean;
    /** Everything that this turn waits for was answered, or left for later. */
    rests(work: Work): void;
}

/** Effects that wait for a person; they take no place under the concurrency limit. */
export function isPersonal({ kind }: Effect): boolean {
    return kind === "ask" || kind === "input";
}

export function docOf({ effect, uses, telling: one }: Work): ParkedDoc {
    return parkedDoc(effect.path, uses, one);
}

/** Events of a request, by the kind of its effect. */
const KINDS: { readonly [kind: string]: readonly [EventKind, EventKind] } = {
    ask: ["ask.requested", "ask.decided"],
    input: ["input.requested", "input.given"],
    tool: ["tool.started", "tool.ended"],
    model: ["model.started", "model.ended"],
};

function eventOf({ effect, of }: Pick<Work, "effect" | "of">, which: 0 | 1, data: { [key: string]: Json }): MachineEvent {
    const { path, principal, site, labels, kind } = effect;
    const pair = KINDS[kind] ?? (["effect.started", "effect.ended"] as const);
    const parent = (of as Asked).work.effect.path;
    return { path, parent, kind: pair[which], principal, site, labels, data: { ...data, effect: kind, host: true } };
}

/** A request that arose. */
export function request(ops: RequestOps, effect: Effect, of: Asked): void {
    ops.note(eventOf({ effect, of }, 0, { request: effect.request }));
    ops.begin(effect, of);
}

/** What a request arose in ended first: what was begun and has no outcome says so, and no person answers the question any more. */
export function leaveRequest(ops: Pick<RequestOps, "note">, work: Work, reason: string): void {
    if (work.effect.kind === "ask") ops.note({ ...eventOf(work, 1, { why: reason }), kind: "ask.withdrawn" });
    if (isPersonal(work.effect)) return;
    const failure: Json = { kind: "cancelled", message: reason, site: work.effect.site as unknown as Json };
    ops.note(eventOf(work, 1, { ok: false, failure }));
}

/** A request was answered; null: no person can answer it now. */
export function answerRequest(ops: RequestOps, work: Work, said: Outcome | null): void {
    const of = work.of as Asked;
    const { about, makes } = of;
    if (said === null && about !== undefined && (of.work.held || (ops.parks() && ops.canBeginAgain(of.work.effect)))) {
        of.work.waitsNoMore(of.n);
        of.work.telling.parked.push({ path: about.path, up: about.use, ask: work.effect, read: about.read });
        restsThen(ops, of.work);
        return;
    }
    const outcome: Outcome = said ?? {
        ok: false,
        failure: { kind: "denied", message: noPerson(ops, of), site: work.effect.site, detail: { later: true } },
    };
    ops.note(
        eventOf(
            work,
            1,
            outcome.ok
                ? { ok: true, value: outcome.value, ...statedIn(outcome) }
                : { ok: false, failure: outcome.failure as unknown as Json, ...statedIn(outcome) },
        ),
    );
    of.work.waitsNoMore(of.n);
    if (makes !== undefined) {
        of.work.telling.made.push({ use: madeOf(makes), outcome });
        reads(of.work.telling, makes.tool, outcome);
    }
    if (of.changed === true) stillAllowed(ops, of, outcome);
    else if (about === undefined) ops.tell(of.work, { n: of.n, outcome });
    else decided(ops, of, outcome);
    restsThen(ops, of.work);
}

function noPerson(ops: RequestOps, { about, work }: Asked): string {
    const message = "no person was there to answer";
    if (about === undefined || ops.canBeginAgain(work.effect)) return message;
    return `${message}, and this turn cannot be told again later: it goes on with a session that ends with the agent's process, and the agent does not take it up in another. To be asked, run it on a terminal or on a server; or let the agent's remit say may`;
}

function restsThen(ops: RequestOps, work: Work): void {
    if (work.requests.size === 0 && (work.held || work.telling.parked.length > 0)) ops.rests(work);
}

/** What the agent of a turn that is held asked is put once more, where that is still a question. */
export function askParked(ops: RequestOps, work: Work, asks: ParkedDoc["asks"]): void {
    for (const [n, { path, use, make, read = [] }] of asks.entries()) {
        const ruling = ops.rule(work.effect.path, use, read);
        if (ruling.kind === "ask" && ruling.known === undefined) put(ops, work, { use: { n, use, make }, path, ruling, read });
    }
    restsThen(ops, work);
}

/** What the agent of an effect wants to do. */
export function use(ops: RequestOps, work: Work, up: UseUp): void {
    const { effect } = work;
    // Its turn is told again: then it asks for this again.
    if (work.telling.parked.length > 0) return;
    const path = `${effect.path}/hand[${work.uses++}]`;
    const read = [...work.telling.read.values()];
    const ruling = ops.rule(effect.path, up.use, read);
    const { tool, method, args } = up.use;
    const before = ruling.kind === "refused" || !up.make ? undefined : toldBefore(work.telling, up.use);
    if (before !== undefined) {
        reads(work.telling, tool, before);
        ops.tell(work, { n: up.n, outcome: before });
        return;
    }
    if (ruling.kind === "may") {
        permit(ops, work, { use: up, path, ruling, read }, { by: "remit" });
        return;
    }
    const { principal, labels } = ruling;
    const { site } = effect;
    const no = (by: "remit" | "person", message: string): void => refuse(ops, work, up, { allowed: false, by, message });
    if (ruling.kind === "refused") {
        const record = ruling.record ?? { capability: `${tool}.${method}`, why: ruling.message };
        const data: Json = { ...record, args: [...args], chosen_by: "agent", host: true };
        ops.note({ path, parent: effect.path, kind: "policy.denied", principal, site, labels, data });
        no("remit", ruling.message);
        return;
    }
    if (ruling.known === false) {
        no("person", "the answer for the session is no");
        return;
    }
    const same = sameUse(ruling);
    const said = takeSaid(work.telling, same);
    if (said === false) {
        no("person", "the answer was no");
        return;
    }
    if (said !== undefined && !up.make) work.agreed.set(same, said);
    // It was made, and is answered with what it gave once the agent makes it again.
    const made = (): string | undefined => (agreesToMade(work.telling, up.use) ? "" : undefined);
    const agreed = ruling.known ?? said ?? (up.make ? work.agreed.get(same) : made());
    if (agreed !== undefined) {
        if (up.make) work.agreed.delete(same);
        permit(ops, work, { use: up, path, ruling, read }, { by: "person", described: agreed });
        return;
    }
    put(ops, work, { use: up, path, ruling, read });
}

/** Puts the question about a use; of a turn that is held it is in the ledger already. */
function put(ops: RequestOps, work: Work, about: AboutUse): void {
    const { use: up, path, ruling } = about;
    const { note } = up.use;
    const detail = note === undefined ? ruling.detail : { ...(ruling.detail as { [key: string]: Json }), note };
    const question: Json = { question: ruling.question, detail, options: [...ANSWERS] };
    const { principal, labels } = ruling;
    const asks: Effect = { path: `${path}/ask`, kind: "ask", principal, site: work.effect.site, request: question, labels };
    const of: Asked = { work, n: up.n, parts: false, about };
    if (work.held) ops.begin(asks, of);
    else request(ops, asks, of);
}

function stillAllowed(ops: RequestOps, { work, n }: Asked, outcome: Outcome): void {
    const { path, site } = work.effect;
    const learned = redescribed(work.effect, outcome);
    if (learned !== null) ops.learn(`${path}${REDESCRIBED}`, learned);
    if (!outcome.ok) ops.tell(work, { n, outcome });
    else if (outcome.value === "once" || outcome.value === "session") ops.tell(work, { n, ruling: { allowed: true, by: "person" } });
    else if (outcome.value === "abort") ops.learn(`${path}${REDESCRIBED}`, outcome);
    else {
        const message = "the tool had changed since it was allowed";
        const hint = "run it on a terminal to be asked, or with --park to answer later";
        ops.tell(work, { n, outcome: { ok: false, failure: { kind: "denied", message, hint, site } } });
    }
}

function decided(ops: RequestOps, { work, about: of }: Asked, outcome: Outcome): void {
    const about = of as NonNullable<Asked["about"]>;
    const { use: up, path, ruling } = about;
    const verdict = verdictOf(outcome);
    const described = describedIn(outcome);
    if (verdict === "abort") {
        ops.learn(`${path}/ask`, outcome);
        return;
    }
    if (verdict === "session" || verdict === "deny session")
        ops.learn(`${path}/ask`, kept({ use: ruling.use, yes: verdict === "session" }, outcome));
    if (work.held) {
        const isLasting = verdict === "session" || verdict === "deny session";
        if (!isLasting) work.telling.said.set(sameUse(ruling), verdict === "once" ? described : false);
        return;
    }
    if (verdict === "once" && !up.make) work.agreed.set(sameUse(ruling), described);
    if (verdict === "once" || verdict === "session") permit(ops, work, about, { by: "person", described });
    else if (outcome.ok) refuse(ops, work, up, { allowed: false, by: "person", message: "the answer was no" });
    else refuse(ops, work, up, { allowed: false, by: "nobody", message: outcome.failure.message });
}

type Yes = { readonly by: "remit" } | { readonly by: "person"; readonly described: string };

/** `described`: as what a person allowed it. */
function permit(ops: RequestOps, work: Work, { use: { n, use, make, parts = false }, path, ruling }: UseAsked, yes: Yes): void {
    reads(work.telling, use.tool, null);
    if (!make) {
        ops.tell(work, { n, ruling: { allowed: true, by: yes.by } });
        return;
    }
    const { principal, labels } = ruling;
    const { site } = work.effect;
    const call: ToolRequest = "described" in yes ? { ...ruling.request, allowed: yes.described } : ruling.request;
    const effect: Effect = { path, kind: "tool", principal, site, request: call as unknown as Json, labels, ...sentWith(work.effect) };
    request(ops, effect, { work, n, parts, makes: use });
}

function refuse(ops: RequestOps, work: Work, { n, make }: UseUp, said: Permission & { readonly allowed: false }): void {
    const kind = said.by === "remit" ? "violation.remit" : "denied";
    const outcome: Outcome = { ok: false, failure: { kind, message: said.message, site: work.effect.site } };
    ops.tell(work, make ? { n, outcome } : { n, ruling: said });
}

function sameUse({ use, request }: Ruling & { readonly kind: "ask" }): string {
    return canonicalJson([use, request.args ?? []]);
}
