/**
 * The gate before every use of a capability: decided by the tables, asked where they say so, refused where they do not let it through.
 *
 * Boundary: from a use in the running program to a decision, a question or a failure, with the events that tell of it.
 *
 * A10: a use that was refused or asked about has an event with the principal, the thing, the arguments' origins and the clause.
 * A11: a yes is for this use with these arguments (`once`), or for this principal, thing and method (`session`). Everything else is a no.
 * A11b: no person is asked about arguments that cannot be shown whole.
 * A12: a violation names who committed it, so that its own code cannot catch it.
 */
import { canonicalJson, type Json, readsByScheme, type Site, schemeOf, shownUse, nameText, toolSchema, unknownIn } from "@remit/language";
import { type Decision, decide, type Standing, type Use } from "../authority/decide.ts";
import { brokenBound } from "../authority/bound.ts";
import { type CountedUse, countedIn, withDaily } from "../authority/counts.ts";
import { flowJson, type Refusal, refusalJson } from "../authority/refusal.ts";
import { aliasOf, aliasOfJson, type Given, jsonGiven, valuesGiven } from "../authority/given.ts";
import {
    type AskRequest,
    type Effect,
    type MemoryRequest,
    type Outcome,
    type Reach,
    type ToolRequest,
    ANSWERS,
    verdictOf,
} from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import type { Capability, Value } from "../value/value.ts";
import { aborted, answerFor, describedIn, keepAnswer } from "./verdicts.ts";
import { awaitDescription, isToBeAsked, namedOn, placeOf, toldAt } from "./descriptions.ts";
import { shownArgs } from "./events.ts";
import { type AskWait, type Fiber, type Frame, isInside } from "./fiber.ts";
import { type Ops, type Call, deniedAs, type Waits } from "./ops.ts";
import { awaitCounts, isLater } from "./lent-counts.ts";
import { keptWithin } from "./frames.ts";
import { refuse } from "./refusal.ts";
import { isRepeated, keepUse, type Repeatable } from "./repeats.ts";
import { inForce, policiesOn } from "./delegations.ts";
import { isWritten } from "./agent-code.ts";

export interface Target {
    readonly c: Capability;
    readonly name: string;
    readonly uri: string;
    readonly method: string | null;
    /** By its own name: what the principal itself may. */
    readonly direct: boolean;
}

/** As it is shown: `Repo.read`. */
function textOf({ name, method }: Pick<Target, "name" | "method">): string {
    return method === null ? name : `${name}.${nameText(method)}`;
}

/**
 * No gate is needed: nothing is said anywhere, nothing in the run is for some to read, and the program's own text uses what is its own. What somebody
 * else wrote or chose has one always. What is for some comes in from elsewhere, too: a memory, the input. A call of `agent()` may say something by its
 * policy.
 */
export function isFree(m: Ops, frame: Frame, c: Capability, chosen: "program" | "model" = "program"): boolean {
    return (
        m.authority.book.plain &&
        !m.run.labels.isRestricted &&
        c.right === null &&
        chosen === "program" &&
        m.sessions.size === 0 &&
        !isWritten(m, frame.fn)
    );
}

export const UNBOUND: Reach = {};
const NOT_DELEGATED: readonly [] = [];

/** What a principal wants to do with a thing. */
export interface Wish {
    readonly principal: string;
    readonly target: Target;
    /** What it is given, as rules look at it. */
    readonly given: Given;
    readonly chosenBy: Use["chosenBy"];
    readonly chosen: number;
    readonly readOnly?: boolean | undefined;
}

export function decideFor(m: Ops, fiber: Fiber, wish: Wish): Decision {
    return decideOn(m, wish, standingOf(m, fiber, wish));
}

function standingOf(m: Ops, fiber: Fiber, { principal, target: { c } }: Wish): Standing {
    return standingOn(m, fiber, principal, c, m.authority.keyOf(c));
}

function decideOn(m: Ops, { principal, target, given, chosenBy, chosen, readOnly }: Wish, on: Standing): Decision {
    const { uri, method, direct, c } = target;
    const right = direct ? null : c.right;
    return decide({ principal, key: m.authority.keyOf(c), uri, method, given, chosenBy, chosen, readOnly, right }, on);
}

/** What a decision about a thing depends on here, besides the use. `key`: of the thing. */
export function standingOn(m: Ops, fiber: Fiber, principal: string, c: Capability, key: string): Standing {
    const { authority, standing } = m;
    const { unknown, schema, namesArgs } = namedOn(m, c, fiber.frames.at(-1)?.placeLabel ?? 0);
    return {
        remits: authority.remitsOf(principal),
        policies: policiesOn(m, fiber, principal),
        delegated:
            standing.delegations.size === 0
                ? NOT_DELEGATED
                : inForce(m, fiber, principal).flatMap((d) => (Object.hasOwn(d.grants, key) ? (d.grants[key] ?? []) : [])),
        clauses: authority.clausesAt(c.file, c.name),
        live: standing.isAlive,
        trusted: authority.trusts,
        neutral: authority.neutral,
        one: authority.isOne,
        labels: m.run.labels,
        known: standing.knows,
        people: standing.people,
        untrusted: authority.untrusted,
        reach: authority.reach,
        used: { uses: standing.uses, counters: authority.countersAt(c.file, c.name), isAway: standing.isAway },
        unknown,
        schema,
        namesArgs,
    };
}

/**
 * Before a use at `path` by the frame at the top of a fiber. Gives where the call may lead; null where a question was put and the fiber waits: the
 * instruction runs again once it is answered. Throws `violation.*` or `denied`.
 */
export function gate(m: Ops, call: Call, target: Target, args: readonly Value[], chosen: "program" | "model" = "program"): Reach | null {
    const { fiber, frame, path } = call;
    const { site } = call.I;
    if (isFree(m, frame, target.c, chosen)) return UNBOUND;
    const written = isWritten(m, frame.fn);
    if (written) isTold(m, call, target);
    const reads = written ? readsOnly(m, frame, target.c, target.method) : undefined;
    const use: Repeatable = { I: call.I, frame, target, args, chosen, reads };
    if (isRepeated(m, use)) return UNBOUND;
    const alias = target.method === null ? null : aliasOf(target.uri, target.method, args, m.run);
    const method = alias?.method ?? target.method;
    const meant = alias === null ? target : { ...target, method };
    // Arguments of an agent stay in the run: no clause is about them, and they may hold capabilities. A model's prompt is looked at when it is made.
    // What is handed to an agent outside the program leaves it.
    const isOutside = target.c.kind === "agent" && m.compiled.agent(target.c.file, target.c.name)?.outside != null;
    const isInner = (target.c.kind === "agent" && !isOutside) || target.c.kind === "llm";
    const given = isInner ? valuesGiven([], m.run) : valuesGiven(alias?.args ?? args, m.run, frame.placeLabel);
    const chosenBy = written ? "agent" : chosen;
    const readOnly =
        chosenBy === "agent"
            ? alias === null
                ? reads
                : readsOnly(m, frame, target.c, method)
            : m.described.size === 0
              ? undefined
              : toldAt(m, target.c, frame.placeLabel)?.reads.includes(method ?? "");
    const wish: Wish = { principal: frame.principal, target: meant, given, chosenBy, chosen: namedBy(m, alias?.chosen), readOnly };
    const on = standingOf(m, fiber, wish);
    const decision = decideOn(m, wish, on);
    const waits = isLater(m, decision);
    // A use that is refused whatever the tool has does not start it.
    if ((decision.kind !== "refused" || waits || decision.flow?.unsaid === true) && isToBeAsked(m, call, target.c)) {
        awaitDescription(m, call, target.c);
        return null;
    }
    if (waits) {
        awaitCounts(call);
        return null;
    }
    if (decision.kind === "may") {
        keepUse(m, use, wish, on);
        return pass(m, wish, decision.reach, call);
    }
    if (chosenBy === "program" && isUnsaid(decision) && isUndescribed(m, target, method, frame)) {
        awaitDescription(m, call, target.c);
        return null;
    }
    const { json, labels, cut } = shownArgs(m, args);
    const about = detailOf(m, wish, decision, { args: json, given: alias === null ? given : valuesGiven(args, m.run), chosenBy, site });
    if (decision.kind === "refused")
        throw refuse(m, call, refusalOf(wish, decision), { labels: [...labels, ...decidersOf(m, decision, target)], about });
    const session = sessionKey(m, wish, decision);
    const known = answerFor(m, session);
    if (known === false)
        throw denied(frame.principal, { capability: textOf(meant), uri: meant.uri }, site, "the answer for the session is no");
    if (known !== undefined) return pass(m, wish, allowedAs(decision.reach, known), call);
    if (cut)
        throw new Fail("value", `${shownUse(textOf(target))} is given more than a person can be shown, who would have to allow it`, {
            site,
            hint: "pass less, or less deeply nested, or in parts",
        });
    const asked = canonicalJson(about);
    if (frame.approved?.use === asked) {
        const { described } = frame.approved;
        frame.approved = null;
        return pass(m, wish, allowedAs(decision.reach, described), call);
    }
    const question = `May ${m.authority.nameOf(frame.principal)} call ${shownUse(textOf(meant), meant.uri)}?`;
    const request = { question, detail: about, options: [...ANSWERS] } satisfies AskRequest as unknown as Json;
    m.raise(fiber, { kind: "ask", path: `${path}/ask`, site, request, labels, origin: "user" });
    m.emit("ask.requested", `${path}/ask`, path, site, labels, request);
    frame.native = { kind: "ask", path: `${path}/ask`, use: asked, session };
    return null;
}

/**
 * Who decided that a use is refused, besides what it is given. Of a count (LIC1) it is those who chose the uses before; where it depends on what a tool
 * says of itself, the tool.
 */
export function decidersOf(m: Ops, decision: Decision & { readonly kind: "refused" }, { c, name }: Target): readonly string[] {
    if (decision.why === "count") return [...m.standing.met];
    const isTold = decision.why === "name" || decision.flow?.unsaid === true;
    return isTold && m.described.has(placeOf(c)) ? [`tool:${name}`] : [];
}

/** COU1. From here on the use counts in the run; in the ledger from its call on. `call`: of the program's code, not of a model's turn. */
export function pass(m: Ops, wish: Wish, reach: Reach, call: Call | null): Reach {
    const { run, daily } = countedBy(m, wish);
    if (call !== null && run.length + daily.length > 0) keptWithin(m, call.frame, call.I);
    m.standing.count(run, 1);
    return withDaily(reach, daily);
}

const COUNTS_NOWHERE: CountedUse = { run: [], daily: [] };

/** What a use counts for. */
export function countedBy(m: Pick<Ops, "authority">, { target: { c, uri, method }, given }: Pick<Wish, "target" | "given">): CountedUse {
    const counters = m.authority.countersAt(c.file, c.name);
    return counters.length === 0 ? COUNTS_NOWHERE : countedIn(counters, { uri, method, given });
}

/** The use that an effect is: the generic call of a server as the tool that it names. Null for an effect that is none. */
export function usedIn(
    m: Pick<Ops, "compiled">,
    { kind, request }: Effect,
): { readonly target: Target; readonly args: readonly Json[] } | null {
    if (kind !== "tool" && kind !== "remember" && kind !== "recall") return null;
    const asked = request as unknown as ToolRequest & MemoryRequest;
    if (kind === "tool" && asked.op !== "call") return null;
    const c = m.compiled.capabilityAt(asked.file, kind === "tool" ? asked.tool : asked.memory);
    const method = kind === "tool" ? (asked.method ?? null) : kind === "recall" ? "query" : "add";
    const args = kind === "tool" ? (asked.args ?? []) : [asked.arg];
    const alias = method !== null && args.length === 1 ? aliasOfJson(asked.uri, method, args[0] as Json) : null;
    return { target: { c, name: c.name, uri: asked.uri, method: alias?.method ?? method, direct: true }, args: alias?.args ?? args };
}

/** A call that its performer refused did not happen: it does not count. */
export function release(m: Pick<Ops, "authority" | "compiled" | "standing">, effect: Effect): void {
    const use = usedIn(m, effect);
    if (use !== null) m.standing.count(countedBy(m, { target: use.target, given: jsonGiven(use.args, 0) }).run, -1);
}

/** Who said which method is called. Who chose the place of the call and its arguments is among what it is given. */
export function namedBy(m: Ops, named = 0): number {
    return m.run.tracks ? m.run.labels.withoutChoosers(named) : 0;
}

/** Whether the policy for what no clause speaks of has a word in a decision: it is about calls that do more than read. */
function isUnsaid(decision: Decision): boolean {
    if (decision.kind === "may" || decision.flow === undefined) return false;
    return [decision.flow, ...(decision.kind === "ask" ? (decision.flows ?? []) : [])].some((one) => one.unsaid === true);
}

function isUndescribed(m: Ops, { c, uri }: Target, method: string | null, { placeLabel }: Frame): boolean {
    return method !== null && readsByScheme(schemeOf(uri), method) === undefined && toldAt(m, c, placeLabel) === undefined;
}

/** Who chose the tool of a generic call made the call: where that was not the trusted program, it is as if a model did. */
export function chooserOf(m: Ops, uri: string, method: string, args: readonly Value[]): "program" | "model" {
    const alias = aliasOf(uri, method, args, m.run);
    return alias === null || m.run.labels.origins(m.run.labels.withoutChoosers(alias.chosen)).every(m.authority.trusts)
        ? "program"
        : "model";
}

/** A tool is to an agent what its description says: a method that is not in it is none, whatever the tool would make of it. */
function isTold(m: Ops, call: Call, { c, name, method }: Target): void {
    const { principal, path } = call.frame;
    const place = placeOf(c);
    if (c.kind !== "tool" || method === null) return;
    for (const session of m.sessions.values()) {
        if (!isInside(path, session.path) || !Object.hasOwn(session.told, place)) continue;
        const told = session.told[place] as readonly string[];
        if (told.includes(method)) return;
        throw refuse(m, call, { principal, capability: `${name}.${method}`, why: "not told", clause: null });
    }
}

/** Whether the agent whose answer runs here was told that a method only reads. */
function readsOnly(m: Ops, frame: Frame, c: Capability, method: string | null): boolean | undefined {
    if (method === null) return undefined;
    const place = placeOf(c);
    for (const session of m.sessions.values())
        if (isInside(frame.path, session.path) && Object.hasOwn(session.reads, place))
            return session.reads[place]?.includes(method) === true;
    return undefined;
}

/** Flows beyond the one that the question begins with, too: a yes for one is none for another. Null for an argument: who chose. */
export function flowsOf(decision: Decision): Json {
    if (decision.kind !== "ask" || decision.flow === undefined) return null;
    return [decision.flow, ...(decision.flows ?? [])].map(({ arg, origins, rule, choice }) => [
        choice === true ? null : arg,
        rule,
        ...origins,
    ]);
}

/** What a yes for the session is about. */
export function sessionKey(m: Ops, { principal, target: { c, method } }: Wish, decision: Decision): string {
    return canonicalJson([principal, m.authority.keyOf(c), c.file, c.name, method, flowsOf(decision)]);
}

/** A use as it is shown: what it is given as it was written, who chose it, and where it stands. */
export interface Shown {
    readonly args: readonly Json[];
    readonly given: Given;
    readonly chosenBy: string;
    readonly site: Site | null;
}

/** Who wants to do what with which arguments, and why it is refused or asked: what is shown, and what a yes is bound to. */
export function detailOf(m: Ops, wish: Wish, decision: Exclude<Decision, { kind: "may" }>, shown: Shown): { readonly [key: string]: Json } {
    const { target } = wish;
    return {
        ...refusalJson(refusalOf(wish, decision)),
        kind: target.c.kind,
        tool: target.name,
        uri: target.uri,
        file: m.compiled.fileName(target.c.file),
        method: target.method,
        args: [...shown.args],
        origins: originsByName(m, shown.given, jsonGiven(shown.args, 0).names),
        chosen_by: shown.chosenBy,
        ...(decision.kind === "ask" && decision.flows !== undefined ? { flows: decision.flows.map(flowJson) } : {}),
        site: shown.site as unknown as Json,
    };
}

export function refusalOf({ principal, target, given }: Wish, decision: Exclude<Decision, { kind: "may" }>): Refusal {
    const { why, clause, flow } = decision;
    const unknown = decision.kind === "refused" ? decision.unknown : undefined;
    const row = decision.kind === "refused" ? decision.row : undefined;
    const outside = decision.kind === "refused" ? decision.outside : undefined;
    const count = decision.kind === "refused" ? decision.count : undefined;
    const giver = decision.kind === "refused" ? decision.giver : undefined;
    const bound = row === undefined ? null : brokenBound(row, { uri: target.uri, given });
    return {
        principal,
        capability: textOf(target),
        uri: target.uri,
        why,
        clause,
        ...(flow === undefined ? {} : { flow }),
        ...(unknown === undefined ? {} : { unknown }),
        ...(bound === null ? {} : { bound }),
        ...(outside === undefined ? {} : { outside }),
        ...(count === undefined ? {} : { count }),
        ...(giver === undefined ? {} : { giver }),
        ...(why === "remit" && row === undefined ? lackedBy(target) : {}),
    };
}

/** Of the runtime's own tools it is known what they do not have: no right would let that be. */
function lackedBy({ c, uri, method }: Target): Pick<Refusal, "lacks"> {
    const has = toolSchema(c.kind, uri);
    const unknown = has === null || method === null ? null : unknownIn(has, uri, method, null);
    return unknown === null ? {} : { lacks: unknown.known };
}

/** Origins of each argument, by its name where the call has one object, else by place. */
export function originsByName(m: Ops, given: Given, names: readonly string[] = given.names): Json {
    const { labels } = m.run;
    const found: { [name: string]: Json } = {};
    for (const name of names) {
        const value = labels.origins(given.carried(name)).slice();
        // What names an argument may be any text.
        if (name === "__proto__") Object.defineProperty(found, name, { value, enumerable: true, writable: true, configurable: true });
        else found[name] = value;
    }
    return found;
}

/** AV3. Whose method is no tool's needs no description. */
export function allowedAs(reach: Reach, described: string): Reach {
    return { ...reach, allowed: described };
}

/** Keeps what an answer says for the rest of the run. */
export function keepSaid(m: Ops, use: string, outcome: Outcome): void {
    const said = verdictOf(outcome);
    if (said === "session" || said === "deny session") keepAnswer(m, { use, said: said === "session" && describedIn(outcome) });
}

/** The answer: the instruction runs again, or fails. */
export function answered(m: Ops, call: Call, native: AskWait, outcome: Outcome): void {
    const { fiber, frame } = call;
    const { site } = call.I;
    const said = verdictOf(outcome);
    m.emit("ask.decided", native.path, frame.parent, site, [], {
        decision: said,
        ...(outcome.ok ? {} : { error: outcome.failure.message }),
    });
    frame.native = null;
    keepSaid(m, native.session, outcome);
    if (said === "abort") {
        m.finish(aborted(site));
        return;
    }
    if (said === "once" || said === "session") {
        frame.approved = { use: native.use, described: describedIn(outcome) };
        return;
    }
    const about = JSON.parse(native.use) as Used;
    const fail = denied(frame.principal, about, site, outcome.ok ? "" : outcome.failure.message);
    const told = deniedAs(m, call, fail);
    if (told === null) m.deliverFail(fiber, fail);
    else m.deliver(fiber, told);
}

interface Used {
    readonly capability: string;
    readonly uri?: string;
}

function denied(principal: string, { capability, uri }: Used, site: Site | null, why: string): Fail {
    return new Fail("denied", `${shownUse(capability, uri)} was not allowed${why === "" ? "" : `: ${why}`}`, { site, by: principal });
}

/** A question about a use: its instruction runs again, or fails. */
export const ask: Waits<AskWait> = { resume: (m, call, wait, { outcome }) => answered(m, call, wait, outcome) };
