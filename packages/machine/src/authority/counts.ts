/**
 * Counts of uses: `at most 3`, `at most 20 per day`, `once by order_id`.
 *
 * Boundary: pure; which counters a program has, which of them a use counts for, and which count stands against it. The numbers are the run's
 * (`Standing.uses`); those of a day are the ledger's, whose keeper counts a call before it is made.
 *
 * COU1: a counter is of one thing, method and bounds, and of all principals: two rules that say the same of them share it, and what one principal uses counts
 *     for every other.
 * COU2: all counters of a program count from its beginning: a rule that comes into force later finds what was used before. A counter that is not among
 *     them, as in code that an agent wrote, gives nothing.
 * COU4: while a part of the run is elsewhere it has the counts, and what it used comes back with its outcome. Until then a use that is counted waits, of
 *     the program as of a model in its turn, as does another part that can reach what is counted. A part that does not come back keeps the counts: from
 *     then on all of these are refused.
 * COU3: a use that cannot be told apart by the argument that a rule names is refused.
 */
import {
    canonicalJson,
    type CountForm,
    countText,
    type Imported,
    type Json,
    isObject,
    methodName,
    type Program,
    type ProjectPolicy,
    type Site,
} from "@remit/language";
import type { Reach } from "../effect/effect.ts";
import type { Use } from "./decide.ts";
import { argumentText, isPlace } from "./given.ts";
import { refsAbout } from "./named.ts";
import { type Bound, bounds, type Clauses, type Permit } from "./policy.ts";
import { holds, namedBy } from "./within.ts";

export interface Counter {
    readonly id: string;
    /** Null: every method. */
    readonly method: string | null;
    readonly bounds: readonly Bound[];
    /** The argument that tells uses apart; null: none does. */
    readonly by: string | null;
    /** Counted over runs. */
    readonly isDaily: boolean;
}

/** What a use counts for. */
export interface CountedUse {
    /** In the run. */
    readonly run: readonly string[];
    /** In the ledger. */
    readonly daily: readonly string[];
}

/** What the ledger counts a call for. */
export type Daily = NonNullable<Reach["daily"]>;

/** How often what was used. */
export interface Uses {
    /** By id of the counter, or that with the value of its argument. */
    readonly uses: ReadonlyMap<string, number>;
    readonly counters: readonly Counter[];
    /** A part of the run that is elsewhere has the counts (COU4). */
    readonly isAway: boolean;
}

/** A count that stands against a use. */
export interface BrokenCount {
    /** As it is written: `at most 3`. */
    readonly rule: string;
    /** Uses so far. */
    readonly used: number;
    /** The argument by which they are told apart. */
    readonly by?: string;
    /** What stands there, as JSON text; null where it cannot be told. */
    readonly value?: string | null;
    readonly isAway?: true;
}

type Counted = Pick<Use, "uri" | "given"> & { readonly method: string | null };

type Bounded = Pick<Counter, "method" | "bounds">;

function counterOf(key: string, uri: string, { method, bounds: within }: Bounded, count: CountForm): Counter {
    const { by = null, per }: { readonly by?: string | null; readonly per?: string } = count;
    const name = method === null ? null : methodName(uri, method);
    const about = within.map(({ arg, patterns, numbers }) => [arg, [...patterns], numbers === true]);
    const id = canonicalJson([key, name, about, by, ...(per === undefined ? [] : [per])]);
    return { id, method: name, bounds: within, by, isDaily: per !== undefined };
}

/** COU2. */
export function countersOf(
    program: Program,
    policy: ProjectPolicy,
    [key, imports]: readonly [string, readonly Imported[]],
    clauses: Clauses,
): readonly Counter[] {
    const found = new Map<string, Counter>();
    const add = (counter: Counter): unknown => found.set(counter.id, counter);
    const uri = imports[0]?.form.uri ?? "";
    for (const { method, count } of clauses.counts) add(counterOf(key, uri, { method, bounds: [] }, count));
    for (const { ref, uri: own } of refsAbout(program, policy, imports, () => null))
        for (const count of ref.counts ?? []) add(counterOf(key, uri, { method: ref.method ?? null, bounds: bounds(ref, own) }, count));
    return [...found.values()];
}

/** What a use counts for. */
export function countedIn(counters: readonly Counter[], use: Counted): CountedUse {
    const run: string[] = [];
    const daily: string[] = [];
    for (const { id, method, bounds: within, by, isDaily } of counters) {
        if (use.method === null || (method !== null && method !== methodName(use.uri, use.method))) continue;
        // What may lie within the bounds counts.
        if (!within.every((bound) => holds(bound, use, true))) continue;
        const value = by === null ? null : valueBy(use, by);
        if (by === null) (isDaily ? daily : run).push(id);
        else if (value !== null) run.push(withValue(id, value));
    }
    return { run, daily };
}

/** A count that binds a use, and where it stands. */
interface Binding {
    readonly count: CountForm;
    readonly counter: Counter;
    readonly site: Site | null;
}

/** The counts that bind a use. `rows`: those that let it through. */
export function countsOn(use: Counted & { readonly key: string }, rows: readonly Permit[], clauses: Clauses): readonly Binding[] {
    const { key, uri } = use;
    if (use.method === null) return [];
    const method = methodName(uri, use.method);
    const of = (site: Site | null, about: Bounded, count: CountForm): Binding => ({
        count,
        site,
        counter: counterOf(key, uri, about, count),
    });
    return [
        ...clauses.counts.flatMap(({ method: its, site, count }) => (its === method ? [of(site, { method, bounds: [] }, count)] : [])),
        ...rows.flatMap((row) => (row.counts ?? []).map((count) => of(row.site, row, count))),
    ];
}

/** The first of them that stands against the use in the run. */
export function brokenCount(
    use: Counted,
    all: readonly Binding[],
    on: Uses,
): { readonly broken: BrokenCount; readonly site: Site | null } | null {
    for (const { count, counter, site } of all) {
        const broken = counter.isDaily ? null : brokenBy(use, counter, count, on);
        if (broken !== null) return { broken, site };
    }
    return null;
}

/** Those that the ledger holds against it. */
export function dailyOf(all: readonly Binding[]): Daily {
    return all.flatMap(({ count, counter: { id, isDaily }, site }) =>
        isDaily && count.most !== undefined
            ? [{ counter: id, most: count.most, rule: `\`${countText(count)}\`${site === null ? "" : ` (${site.file}:${site.line})`}` }]
            : [],
    );
}

/** With what else the ledger counts the call for. */
export function withDaily(reach: Reach, counters: readonly string[]): Reach {
    const bound = reach.daily ?? [];
    const rest = counters.filter((counter) => !bound.some((one) => one.counter === counter));
    return bound.length + rest.length === 0 ? reach : { ...reach, daily: [...bound, ...rest.map((counter) => ({ counter }))] };
}

function brokenBy(use: Counted, { id, by }: Counter, count: CountForm, on: Uses): BrokenCount | null {
    const rule = countText(count);
    if (on.isAway) return { rule, used: 0, isAway: true };
    const value = by === null ? null : valueBy(use, by);
    if (by !== null && value === null) return { rule, used: 0, by, value };
    const used = on.uses.get(value === null ? id : withValue(id, value)) ?? 0;
    const isKnown = on.counters.some((one) => one.id === id);
    if (isKnown && used < (count.most ?? 1)) return null;
    return { rule, used, ...(by === null ? {} : { by, value }) };
}

/** COU3. An argument of the call as canonical JSON; null where it has none of that name, or none in it. */
function valueBy({ uri, given }: Counted, by: string): string | null {
    const found = given.named(by);
    const [only] = found;
    if (only === undefined || found.length !== 1 || only.json === null) return null;
    return given.names.includes(by) || isPlace(by) ? canonicalJson(namedBy(uri, by, only.json)) : null;
}

function withValue(id: string, value: string): string {
    return `${id} ${value}`;
}

/** What is refused, in words. */
export function brokenCountText({ rule, used, by, value, isAway }: BrokenCount, what: string): string {
    if (isAway === true)
        return `${what} is counted in the run, and a block that runs elsewhere, or was stopped there, has the counts: \`${rule}\``;
    if (value === null) return `${what} is called without ${argumentText(by ?? "")}, by which its uses are told apart: \`${rule}\``;
    const times = used === 1 ? "once" : `${used} times`;
    return `${what} was used ${times} in this run${value === undefined ? "" : ` with ${argumentText(by ?? "")} ${shortly(value)}`}, and the rule is \`${rule}\``;
}

/** The one thing to do, and what it would open. */
export function brokenCountRemedy({ rule, used, by, value, isAway }: BrokenCount): string {
    if (isAway === true) return "use it before the block begins, inside it, or once it has given its value";
    if (value === null) return `give it ${argumentText(by ?? "")}`;
    if (value !== undefined) return `take \`${rule}\` out where several are right: every principal may then repeat what it counts`;
    const more = rule.replace(/\d+/, String(used + 1));
    return `write \`${more}\` in place of \`${rule}\` where more are right: every principal of the run may then use it once more`;
}

const MAX_VALUE = 120;

function shortly(value: string): string {
    return value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}…`;
}

/** As an event holds it; null where it holds none. */
export function brokenCountIn(data: Json | undefined): BrokenCount | null {
    if (data === undefined || !isObject(data)) return null;
    const { rule, used, by, value, isAway } = data;
    if (typeof rule !== "string" || typeof used !== "number") return null;
    return {
        rule,
        used,
        ...(typeof by === "string" ? { by } : {}),
        ...(typeof value === "string" || value === null ? { value } : {}),
        ...(isAway === true ? { isAway } : {}),
    };
}
