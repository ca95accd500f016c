/**
 * Counts of uses: `at most 3`, `once by order_id`.
 *
 * Boundary: pure; which counters a program has, which of them a use counts for, and which count stands against it. The numbers are the run's
 * (`Standing.uses`).
 *
 * COU1: a counter is of one thing, method and bounds, whoever uses it: two rules that say the same of them share it, and what one principal uses counts
 *     for every other.
 * COU2: all counters of a program count from its beginning: a rule that comes into force later finds what was used before. A counter that is not among
 *     them, as in code that an agent wrote, gives nothing.
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
import type { Use } from "./decide.ts";
import { argumentText, isPlace } from "./given.ts";
import { refsAbout } from "./named.ts";
import { type Bound, bounds, type Clauses, type Permit } from "./policy.ts";
import { holds } from "./within.ts";

export interface Counter {
    readonly id: string;
    /** Null: every method. */
    readonly method: string | null;
    readonly bounds: readonly Bound[];
    /** The argument that tells uses apart; null: none does. */
    readonly by: string | null;
}

/** How often what was used. */
export interface Uses {
    /** By id of the counter, or that with the value of its argument. */
    readonly uses: ReadonlyMap<string, number>;
    readonly counters: readonly Counter[];
    /** The run is a part of another, which counts. */
    readonly isPart: boolean;
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
    readonly isPart?: true;
}

type Counted = Pick<Use, "uri" | "given"> & { readonly method: string | null };

function counterOf(key: string, uri: string, method: string | null, within: readonly Bound[], by: string | null): Counter {
    const name = method === null ? null : methodName(uri, method);
    const id = canonicalJson([key, name, within.map(({ arg, patterns, numbers }) => [arg, [...patterns], numbers === true]), by]);
    return { id, method: name, bounds: within, by };
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
    for (const { method, count } of clauses.counts) add(counterOf(key, uri, method, [], count.by ?? null));
    for (const { ref, uri: own } of refsAbout(program, policy, imports, () => null))
        for (const { by = null } of ref.counts ?? []) add(counterOf(key, uri, ref.method ?? null, bounds(ref, own), by));
    return [...found.values()];
}

/** What a use adds one to. */
export function countedIn(counters: readonly Counter[], use: Counted): string[] {
    return counters.flatMap((counter) => {
        const { id, method, bounds: within, by } = counter;
        if (use.method === null || (method !== null && method !== methodName(use.uri, use.method))) return [];
        // What may lie within the bounds counts.
        if (!within.every((bound) => holds(bound, use, true))) return [];
        if (by === null) return [id];
        const value = valueBy(use, by);
        return value === null ? [] : [withValue(id, value)];
    });
}

/** The first count that stands against a use. `rows`: those that let it through. */
export function brokenCount(
    use: Counted & { readonly key: string },
    rows: readonly Permit[],
    clauses: Clauses,
    on: Uses,
): { readonly broken: BrokenCount; readonly site: Site | null } | null {
    if (use.method === null) return null;
    const method = methodName(use.uri, use.method);
    const said = clauses.counts.filter((rule) => rule.method === method);
    for (const { site, count } of said) {
        const broken = brokenBy(use, counterOf(use.key, use.uri, method, [], count.by ?? null), count, on);
        if (broken !== null) return { broken, site };
    }
    for (const row of rows)
        for (const count of row.counts ?? []) {
            const broken = brokenBy(use, counterOf(use.key, use.uri, row.method, row.bounds, count.by ?? null), count, on);
            if (broken !== null) return { broken, site: row.site };
        }
    return null;
}

function brokenBy(use: Counted, { id, by }: Counter, count: CountForm, on: Uses): BrokenCount | null {
    const rule = countText(count);
    if (on.isPart) return { rule, used: 0, isPart: true };
    const value = by === null ? null : valueBy(use, by);
    if (by !== null && value === null) return { rule, used: 0, by, value };
    const used = on.uses.get(value === null ? id : withValue(id, value)) ?? 0;
    const isKnown = on.counters.some((one) => one.id === id);
    if (isKnown && used < (count.most ?? 1)) return null;
    return { rule, used, ...(by === null ? {} : { by, value }) };
}

/** COU3. An argument of the call as canonical JSON; null where it has none of that name, or none in it. */
function valueBy({ given }: Counted, by: string): string | null {
    const found = given.named(by);
    const [only] = found;
    if (only === undefined || found.length !== 1 || only.json === null) return null;
    return given.names.includes(by) || isPlace(by) ? canonicalJson(only.json) : null;
}

function withValue(id: string, value: string): string {
    return `${id} ${value}`;
}

/** What is refused, in words. */
export function brokenCountText({ rule, used, by, value, isPart }: BrokenCount, what: string): string {
    if (isPart === true) return `${what} is counted by the run, and this part of it runs elsewhere, where it is not`;
    if (value === null) return `${what} is called without ${argumentText(by ?? "")}, by which its uses are told apart: \`${rule}\``;
    const times = used === 1 ? "once" : `${used} times`;
    return `${what} was used ${times} in this run${value === undefined ? "" : ` with ${argumentText(by ?? "")} ${shortly(value)}`}, and the rule is \`${rule}\``;
}

/** The one thing to do, and what it would open. */
export function brokenCountRemedy({ rule, by, value, isPart }: BrokenCount): string {
    if (isPart === true) return "use it outside of the block, or in a block of the backend that the run has";
    if (value === null) return `give it ${argumentText(by ?? "")}`;
    if (value !== undefined) return `take \`${rule}\` out where several are right: every principal may then repeat it`;
    return `raise the number in \`${rule}\` where more are right: every principal of the run may then use it as much more`;
}

const MAX_VALUE = 120;

function shortly(value: string): string {
    return value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}…`;
}

/** As an event holds it; null where it holds none. */
export function brokenCountIn(data: Json | undefined): BrokenCount | null {
    if (data === undefined || !isObject(data)) return null;
    const { rule, used, by, value, isPart } = data;
    if (typeof rule !== "string" || typeof used !== "number") return null;
    return {
        rule,
        used,
        ...(typeof by === "string" ? { by } : {}),
        ...(typeof value === "string" || value === null ? { value } : {}),
        ...(isPart === true ? { isPart } : {}),
    };
}
