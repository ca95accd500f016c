/**
 * What may be known of a value when some data is hostile: which of that data may be in it, which may have picked it, and which labels it then carries.
 *
 * Boundary: values of the analysis; no program. Everything only grows, so that rounds over a program end.
 *
 * HF1: a fact says what the machine certainly knows: the origins that a value carries whenever hostile data got into it in this way. A fact with more
 *     origins is stopped wherever one with fewer is, so that only the least ones are kept.
 */
import type { Site } from "../text/source.ts";

export interface Fact {
    /** Sorted origins that are certainly among the labels; none: the machine need not know. */
    readonly must: readonly string[];
    /** Where the data entered: `Inbox.read`. */
    readonly from: string;
    /** What it came back by: `what Notes keeps`. Its labels tell of no more than that. */
    readonly way?: string;
    readonly entered: Site | null;
    /** Of what decides: the condition, loop, name or prompt that it decides by. */
    readonly decides?: Site | null;
    /** Places that endorsed it. */
    readonly endorsed?: readonly Site[];
    /** Nothing of it but what references tell of hidden values. */
    readonly only?: "shape";
}

/** By their origins. */
export type Facts = ReadonlyMap<string, Fact>;

export const NO_FACTS: Facts = new Map();

/** More facts than this are one that the machine need not know. */
const MOST = 24;

/** Whether all that stops `a` stops `b`, and `b` is no more of the data. */
function covers(a: Fact, b: Fact): boolean {
    return (a.only === undefined || a.only === b.only) && a.must.every((one) => b.must.includes(one));
}

/** `a` itself where `b` adds nothing. */
export function union(a: Facts, b: Facts): Facts {
    if (a === b || b.size === 0) return a;
    if (a.size === 0) return b;
    let out: Map<string, Fact> | null = null;
    for (const [id, fact] of b) {
        const now: Facts = out ?? a;
        if (now.has(id)) continue;
        const all = [...now];
        if (all.some(([, known]) => covers(known, fact))) continue;
        out = new Map(all.filter(([, known]) => !covers(fact, known)));
        out.set(id, fact);
    }
    if (out === null) return a;
    const first = [...out.values()][0] as Fact;
    const { only: _, ...whole } = first;
    return out.size <= MOST ? out : factOf({ ...whole, must: [] });
}

export function unionOf(all: Iterable<Facts>): Facts {
    let out = NO_FACTS;
    for (const one of all) out = union(out, one);
    return out;
}

export function factOf(fact: Fact): Facts {
    return new Map([[`${fact.only ?? ""} ${fact.must.join("\0")}`, fact]]);
}

function each(facts: Facts, make: (fact: Fact) => Fact): Facts {
    return facts.size === 0 ? facts : unionOf([...facts.values()].map((fact) => factOf(make(fact))));
}

/** The same data with one more origin. */
export function through(facts: Facts, origin: string): Facts {
    return each(facts, (fact) => ({ ...fact, must: [...new Set([...fact.must, origin])].sort() }));
}

/** The same data where nothing but these origins is certain any more. `via`: what it came by. */
export function knownAs(facts: Facts, must: readonly string[], via?: string): Facts {
    return each(facts, (fact) => ({ ...fact, must, ...(via === undefined || fact.way !== undefined ? {} : { way: via }) }));
}

/** What references tell of data that is hidden, which no label shows. */
export function shapesOf(facts: Facts): Facts {
    return each(facts, (fact) => ({ ...fact, must: [], only: "shape" }));
}

/** Facts as what decides at a place. */
export function deciding(facts: Facts, at: Site | null): Facts {
    return each(facts, (fact) => ({ ...fact, decides: at }));
}

/** What a value is known to hold. */
export interface Val {
    /** Hostile data that is in it: the machine labels it. */
    readonly data: Facts;
    /** Hostile data that decided that it is this value and not another. */
    readonly picks: Facts;
    /** Capabilities that it may be, by id. */
    readonly caps: ReadonlySet<string>;
    /** Lists and objects that it may be, by the place that made them. */
    readonly made: ReadonlySet<string>;
}

const NO_NAMES: ReadonlySet<string> = new Set();

export const PLAIN: Val = { data: NO_FACTS, picks: NO_FACTS, caps: NO_NAMES, made: NO_NAMES };

function both(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
    if (b.size === 0 || a === b) return a;
    if (a.size === 0) return b;
    for (const one of b) if (!a.has(one)) return new Set([...a, ...b]);
    return a;
}

/** `a` itself where `b` adds nothing. */
export function join(a: Val, b: Val): Val {
    const data = union(a.data, b.data);
    const picks = union(a.picks, b.picks);
    const caps = both(a.caps, b.caps);
    const made = both(a.made, b.made);
    return data === a.data && picks === a.picks && caps === a.caps && made === a.made ? a : { data, picks, caps, made };
}

export function joinOf(all: Iterable<Val>): Val {
    let out = PLAIN;
    for (const one of all) out = join(out, one);
    return out;
}

export function dataVal(data: Facts, picks: Facts = NO_FACTS): Val {
    return data.size === 0 && picks.size === 0 ? PLAIN : { ...PLAIN, data, picks };
}

export function capVal(id: string): Val {
    return { ...PLAIN, caps: new Set([id]) };
}

export function madeVal(id: string): Val {
    return { ...PLAIN, made: new Set([id]) };
}

/** What it tells whoever decides by it. */
export function factsOf({ data, picks }: Pick<Val, "data" | "picks">): Facts {
    return union(data, picks);
}
