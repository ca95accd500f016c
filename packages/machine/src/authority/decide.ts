/**
 * The one decision about a use of a capability: may it, must a person be asked, is it refused.
 *
 * Boundary: pure; tables and arguments in, a decision out. Who is asked and what is written is `run/gate.ts`.
 *
 * DC1: every layer must permit, and the strictest gate counts: never, ask, nothing said, may.
 * DC2: what nothing names is refused.
 * DC3: a flow that a clause forbids is refused for every principal, `user` included; `or ask` makes it a question that shows the flow.
 * DC4: what is used through a value is bounded by what the value was given with, whatever its holder has besides: who names a thing to
 *     another principal does not borrow its rights.
 * DC5: bounds hold for what is reached, not for what is written: the decision says what the one who performs the call has to keep to.
 * DC6: what says which commands may run means them in the tool's own folder, unless it says in which: elsewhere the same words start other programs.
 * DC7: the policy of a call binds what its agent has in any way: by its remit, by a delegation, by a value that it was given or was there before.
 * DC8: what gives a model gives it to be asked: it may look at what is hidden from it where a line names `look`, and else a person is asked.
 */
import {
    type Json,
    methodName,
    type ReachRule,
    readsByScheme,
    isOnResource,
    resourceOf,
    schemeOf,
    type Site,
    speaksOfLook,
    type ToolSchema,
    type Untrusted,
} from "@remit/language";
import type { Reach } from "../effect/effect.ts";
import type { Labels } from "../value/label.ts";
import { type BrokenCount, brokenCount, countsOn, type Daily, dailyOf, type Uses } from "./counts.ts";
import type { Given } from "./given.ts";
import { flowsOf } from "./flows.ts";
import { type Clauses, type Permit, type Remit, stricter, type Verdict } from "./policy.ts";
import type { People } from "./readers.ts";
import type { Unknown } from "./named.ts";
import { type Outside, outsideOf, patternsOf } from "./reach.ts";
import { holds, inItsFolder } from "./within.ts";

/** A right that was given with a value: never wider than what the giver had (LANGUAGE 5). Null for a value means everything `user` may. */
export interface Right {
    readonly holder: string;
    /** Who gave it. */
    readonly from: string;
    /** Each is enough by itself. */
    readonly ways: readonly Way[];
    /** What `.only` left: all of them must permit, whichever way is taken and whatever the holder has besides. */
    readonly only: readonly (readonly Permit[])[];
    /** Calls that must still be going on. */
    readonly alive: readonly number[];
}

/** One way in which a right was come by. */
export interface Way {
    /** All of them must permit. */
    readonly layers: readonly (readonly Permit[])[];
    /** Blocks that must still be going on. */
    readonly alive: readonly number[];
    /** It was delegated without `onward`: its holder may use it and not pass it on. */
    readonly stays?: true;
}

/** What is used, and how. */
export interface Use {
    readonly principal: string;
    readonly key: string;
    readonly uri: string;
    readonly method: string | null;
    readonly given: Given;
    readonly chosenBy: "program" | "model" | "agent";
    /** Label set of those who decided that the use happens, besides what its arguments say of that. */
    readonly chosen: number;
    /** The method only reads, as its tool says; undefined where it was not asked. */
    readonly readOnly: boolean | undefined;
    /** Null: by its own name. */
    readonly right: Right | null;
}

export type Decision =
    | { readonly kind: "may"; readonly reach: Reach }
    | {
          readonly kind: "ask";
          readonly why: "gate" | "flow";
          readonly clause: Site | null;
          readonly flow?: Flow;
          /** Where more than one flow is asked about: the others. */
          readonly flows?: readonly Flow[];
          readonly reach: Reach;
      }
    | {
          readonly kind: "refused";
          readonly why: "remit" | "narrowed" | "gate" | "holder" | "revoked" | "use after" | "flow" | "name" | "reach" | "count";
          readonly clause: Site | null;
          readonly flow?: Flow;
          readonly unknown?: Unknown;
          readonly outside?: Outside;
          readonly count?: BrokenCount;
          /** The row that speaks of the method and refuses it: by its bounds, or because it says `never`. */
          readonly row?: Permit;
          /** Who handed on the value that it is used through, without the right to it. */
          readonly giver?: string;
      };

/** An argument that carries what a clause forbids. */
export interface Flow {
    readonly arg: string;
    /** Sorted origins that are not allowed there, or readers that the value is not for. */
    readonly origins: readonly string[];
    readonly rule: string;
    /** No clause speaks of the argument, or of who may choose the use: refused by the policy for that. */
    readonly unsaid?: true;
    /** Models that wrote it, whose own names count only where a clause lists origins. */
    readonly besides?: readonly string[];
    /** It is about who decided that the use happens; `arg` is empty. */
    readonly choice?: true;
    /** Of what only some may read: who may read all of it, and the line that says who reads what is sent, where one does. */
    readonly readers?: { readonly names: readonly string[]; readonly audience: string | null };
}

export interface Standing {
    /** All must permit. Empty: runs as the run's own principal. */
    readonly remits: readonly Remit[];
    /** Of the calls of `agent()` around it: all must permit, whatever else gives it (DC7). */
    readonly policies: readonly Remit[];
    /** What delegations in force give for this key, each a list of layers. */
    readonly delegated: readonly (readonly (readonly Permit[])[])[];
    readonly clauses: Clauses;
    readonly live: (token: number) => boolean;
    readonly trusted: (origin: string) => boolean;
    /** Whether an origin is a model, which counts for nothing beside what it read. */
    readonly neutral: (origin: string) => boolean;
    /** Whether one thing alone gives this origin. */
    readonly one: (origin: string) => boolean;
    readonly labels: Labels;
    /** Whether a word occurred in what came from an origin. */
    readonly known: (origin: string, word: string) => boolean;
    readonly people: People;
    readonly untrusted: Untrusted | null;
    /** Where uses may lead. */
    readonly reach: readonly ReachRule[];
    readonly used: Uses;
    /** A rule about the thing names what it does not have. */
    readonly unknown: Unknown | null;
    /** What the thing says it has; null where it does not say. */
    readonly schema: ToolSchema | null;
    /** Some rule about the thing names an argument. */
    readonly namesArgs: boolean;
}

/** Everything at once: rights, gates, flows. */
export function decide(use: Use, on: Standing): Decision {
    const { clauses } = on;
    const method = use.method === null ? null : methodName(use.uri, use.method);
    const seen: Seen = { hits: [], missed: [], unsure: [], outside: [] };
    const bound = on.policies.length === 0 ? "may" : ownVerdict(on.policies, use, method, seen);
    if (bound === null || bound === "never") return remitRefuses(seen, lineOf(on.policies));
    let verdict: Verdict;
    if (use.right === null && on.remits.length === 0) verdict = "open";
    else {
        if (use.right !== null) {
            if (use.right.holder !== use.principal) return { kind: "refused", why: "holder", clause: null };
            if (!use.right.alive.every(on.live)) return { kind: "refused", why: "revoked", clause: null };
        }
        const own = ownVerdict(on.remits, use, method, seen);
        if (own === "never") return remitRefuses(seen, null);
        // Of all ways that there are.
        let given: Verdict | null = null;
        if (use.right === null) {
            given = own;
            for (const layers of on.delegated) given = either(given, layered(layers, use, method, seen));
        } else {
            const left = layered(use.right.only, use, method, seen);
            if (left === null) {
                const no = remitRefuses(seen, null);
                return no.row === undefined ? { ...no, why: "narrowed" } : no;
            }
            let dead = false;
            for (const way of use.right.ways)
                if (way.alive.every(on.live)) given = either(given, layered(way.layers, use, method, seen));
                else dead = true;
            if (given === null && dead) return { kind: "refused", why: "use after", clause: null };
            // DC4. What is asked of the holder, or was asked of the principal that handed it on, is asked all the same.
            if (given !== null && (own === "ask" || left === "ask")) given = "ask";
        }
        if (given === null) {
            const no = remitRefuses(seen, use.right === null ? lineOf(on.remits) : null);
            const { from } = use.right ?? { from: use.principal };
            return from === use.principal || no.row !== undefined ? no : { ...no, giver: from };
        }
        verdict = given;
    }
    verdict = stricter(verdict, seen.unsure.length > 0 ? "ask" : bound);
    const gate = method === null ? undefined : clauses.gates.get(method);
    if (gate?.gate === "never") return { kind: "refused", why: "gate", clause: gate.site };
    const settled = gate?.gate ?? (verdict === "open" ? (use.chosenBy === "program" || use.readOnly === true ? "may" : "ask") : verdict);
    const final = gate === undefined ? settled : stricter(verdict === "open" ? "may" : verdict, settled);
    if (on.unknown !== null) return { kind: "refused", why: "name", clause: on.unknown.site, unknown: on.unknown };
    const far = on.reach.length === 0 ? null : outsideOf(use, on.reach);
    if (far !== null) return { kind: "refused", why: "reach", clause: far.rule.site ?? null, outside: far.outside };
    const counts =
        clauses.counts.length === 0 && seen.hits.every((row) => row.counts === undefined) ? [] : countsOn(use, seen.hits, clauses);
    const over = brokenCount(use, counts, on.used);
    if (over !== null) return { kind: "refused", why: "count", clause: over.site, count: over.broken };
    const daily = counts.length === 0 ? NO_DAILY : dailyOf(counts);
    const leads = led(reachOf(use.uri, seen), use.uri, on.reach);
    const reach = daily.length === 0 ? leads : { ...leads, daily };
    const flows = flowsOf(use, method, on);
    const first = flows[0];
    if (first !== undefined) {
        const bad = flows.find((hit) => !hit.rule.ask);
        if (bad !== undefined) return { kind: "refused", why: "flow", clause: bad.rule.site, flow: bad.flow };
        const more = flows.slice(1);
        return {
            kind: "ask",
            why: "flow",
            clause: first.rule.site,
            flow: first.flow,
            ...(more.length === 0 ? {} : { flows: more.map((hit) => hit.flow) }),
            reach,
        };
    }
    if (final === "ask") return { kind: "ask", why: "gate", clause: gate?.site ?? askSite(seen), reach };
    return { kind: "may", reach };
}

/**
 * Whether a decision about uses of a method depends on nothing but who makes them, who chose them, the names and labels of what they are given, and
 * whether what their right names is alive: no rule reads an argument, counts, or ends before the run.
 */
export function labelsDecide(use: Pick<Use, "key" | "uri" | "method" | "readOnly" | "right">, on: Standing): boolean {
    const { clauses, remits, policies, delegated, reach, untrusted, labels } = on;
    if (policies.length + delegated.length + reach.length + clauses.counts.length > 0 || labels.isRestricted) return false;
    const method = use.method === null ? null : methodName(use.uri, use.method);
    // Of what only reads, `untrusted` looks for links in the arguments.
    if (untrusted !== null && (use.readOnly ?? (method !== null && readsByScheme(schemeOf(use.uri), method))) === true) return false;
    const isRead = (row: Permit): boolean => speaksOf(row, use, method) && (row.bounds.length > 0 || row.counts !== undefined);
    const { right } = use;
    if (right !== null && [...right.only, ...right.ways.flatMap(({ layers }) => layers)].some((rows) => rows.some(isRead))) return false;
    return (
        !remits.some((remit) => remit.rows.get(use.key)?.some(isRead) === true || remit.all.some(isRead)) &&
        clauses.args.every((rule) => (rule.method !== null && rule.method !== method) || (!rule.among && rule.words === "all"))
    );
}

/** Rows that speak of a use. */
interface Seen {
    readonly hits: Permit[];
    /** They forbid it or ask about it only where it leads into their bounds, which what was written does not. */
    readonly missed: Permit[];
    /** They ask about it as long as it cannot be told; they give nothing. */
    readonly unsure: Permit[];
    /** They would let it through, but for their bounds. */
    readonly outside: Permit[];
}

/** `otherwise`: the line of the remit, where none of its rows speaks of the method. */
function remitRefuses({ hits, outside }: Seen, otherwise: Site | null): Extract<Decision, { kind: "refused" }> {
    const row = hits.find(({ gate }) => gate === "never") ?? outside.at(-1);
    return { kind: "refused", why: "remit", clause: row?.site ?? otherwise, ...(row === undefined ? {} : { row }) };
}

function askSite(seen: Seen): Site | null {
    return [...seen.hits, ...seen.unsure].find(({ gate }) => gate === "ask")?.site ?? null;
}

/** Where the remit stands that does not name a use; the last one is the narrowest. */
function lineOf(remits: readonly Remit[]): Site | null {
    return remits.findLast(({ site }) => site !== null)?.site ?? null;
}

/** What two ways give: an `ask` stands whatever else was given, an explicit `may` settles what was left open. */
function either(a: Verdict | null, b: Verdict | null): Verdict | null {
    if (a === null || b === null) return a ?? b;
    return a === "ask" || b === "ask" ? "ask" : a === "may" || b === "may" ? "may" : "open";
}

function ownVerdict(remits: readonly Remit[], use: Use, method: string | null, seen: Seen): Verdict | null {
    if (remits.length === 0) return null;
    // A project's remit alone leaves open what depends on who chose the call: it gives nothing (A2).
    let verdict: Verdict | null = remits.every((remit) => remit.project === true) ? "open" : "may";
    for (const remit of remits) {
        const named = remit.rows.get(use.key);
        const first = named === undefined ? null : rowVerdict(named, use, method, seen, null);
        const found = rowVerdict(remit.all, use, method, seen, first);
        if (found === "never") return "never";
        verdict = verdict === null || found === null ? null : stricter(verdict, found);
    }
    return verdict;
}

/** Whether a row is about the method of a use. What is spelled alike is the same method, however methods are compared. */
function speaksOf(row: Permit, use: Pick<Use, "uri" | "method">, method: string | null): boolean {
    return row.method === null || row.method === use.method || (method !== null && methodName(use.uri, row.method) === method);
}

/** The strictest gate of the rows that fit, and of `before`; null where none does. */
function rowVerdict(rows: readonly Permit[], use: Use, method: string | null, seen: Seen, before: Verdict | null): Verdict | null {
    let verdict = before;
    let given: Verdict | null = null;
    for (const row of rows) {
        if (!speaksOf(row, use, method)) continue;
        // A bound that cannot be told lets nothing through; one on `never` forbids, and one on `ask` asks, as long as it cannot be told.
        const named = row.bounds.length === 0 ? null : resourceOf(use.uri);
        const fits =
            row.bounds.length === 0 ||
            (row.bounds.every((bound) => holds(bound, use, row.gate === "never", named)) &&
                (row.gate !== "may" || inItsFolder(row, use, named)));
        if (!fits) {
            if (
                (row.gate === "never" || row.gate === "ask") &&
                row.bounds.every((bound) => isOnResource(bound, named) || holds(bound, use, true, named))
            )
                seen.missed.push(row);
            if (row.gate !== "never") seen.outside.push(row);
            if (row.gate === "ask" && !isFollowed(row, use) && row.bounds.every((bound) => holds(bound, use, true))) seen.unsure.push(row);
            continue;
        }
        seen.hits.push(row);
        // Rows of one remit: `open` comes from a right and gives way to what is said.
        if (row.gate === "may" && !speaksOfLook(use.key, use.method, row)) given = "open";
        else verdict = verdict === null ? row.gate : stricter(verdict, row.gate);
    }
    return verdict ?? given;
}

function layered(layers: readonly (readonly Permit[])[], use: Use, method: string | null, seen: Seen): Verdict | null {
    const own: Seen = { hits: [], missed: [], unsure: [], outside: seen.outside };
    let verdict: Verdict = "may";
    for (const layer of layers) {
        const found = rowVerdict(layer, use, method, own, null);
        if (found === null || found === "never") return null;
        verdict = stricter(verdict, found);
    }
    seen.hits.push(...own.hits);
    seen.missed.push(...own.missed);
    seen.unsure.push(...own.unsure);
    return verdict;
}

/** Where it leads is told for certain by the one who performs it (DC5). */
function isFollowed({ bounds }: Permit, use: Use): boolean {
    const named = resourceOf(use.uri);
    return (named?.kind === "path" || named?.kind === "url") && bounds.some((bound) => isOnResource(bound, named));
}

const ANYWHERE: Reach = {};
const NO_DAILY: Daily = [];

/** DC5. A link out of what a row allows, or into what one forbids or would have asked about, is refused where it is followed. */
function reachOf(uri: string, { hits, missed }: Seen): Reach {
    if (missed.length === 0 && hits.every((row) => row.bounds.length === 0)) return ANYWHERE;
    const within: string[][] = [];
    const named = resourceOf(uri);
    const ofResource = ({ bounds }: Permit): string[][] => patternsOn(bounds, named);
    for (const row of hits) if (row.gate !== "never") for (const patterns of ofResource(row)) within.push(patterns);
    const kind = missed.length === 0 ? undefined : named?.kind;
    if (kind !== "path" && kind !== "url") return within.length === 0 ? ANYWHERE : { within: distinct(within) };
    const without = distinct(missed.map(ofResource));
    return { ...(within.length === 0 ? {} : { within: distinct(within) }), without };
}

/** DC5. With where it may lead by the lists of origins: a redirect is followed no further. */
function led(reach: Reach, uri: string, rules: readonly ReachRule[]): Reach {
    if (rules.length === 0 || resourceOf(uri)?.kind !== "url") return reach;
    return { ...reach, within: distinct([...(reach.within ?? []).map((one) => [...one]), ...rules.map(patternsOf)]) };
}

/** Copies: what a host is given, it may write on. */
function patternsOn(bounds: Permit["bounds"], named: ReturnType<typeof resourceOf>): string[][] {
    const found: string[][] = [];
    for (const bound of bounds) if (isOnResource(bound, named)) found.push([...bound.patterns]);
    return found;
}

function distinct<T extends Json>(all: readonly T[]): readonly T[] {
    return all.length < 2 ? all : [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}
