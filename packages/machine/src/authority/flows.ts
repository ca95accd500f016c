/**
 * What the arguments of a use carry, held against the rules about it: clauses, what no rule names, the policy for what no clause speaks of, readers.
 *
 * Boundary: pure; a use and where it stands in, forbidden flows out. What follows from them is `decide.ts`.
 */
import {
    methodName,
    readersText,
    readsByScheme,
    readsHere,
    schemeOf,
    type Site,
    type Untrusted,
    sourceOf,
    argText,
    nameText,
} from "@remit/language";
import { actingIn } from "./acting.ts";
import { addressesIn, hasLink } from "./addresses.ts";
import type { Flow, Standing, Use } from "./decide.ts";
import { type Given, isPlace, wordsOf } from "./given.ts";
import { argumentsIn, NOT_THERE, UNNAMED } from "./named.ts";
import { isOrigin } from "../value/label.ts";
import type { ArgRule, ReadersRule } from "./policy.ts";
import { namesAt, readersOf } from "./readers.ts";

/** A rule and what it does not allow. */
export interface Hit {
    readonly rule: Pick<ArgRule, "ask" | "site">;
    readonly flow: Flow;
}

/** What was decided. `does`: it does more than read. */
interface Chosen {
    readonly method: string | null;
    readonly does: boolean;
}

type Choosing = Pick<Standing, "clauses" | "untrusted" | "labels" | "trusted" | "neutral" | "one">;

/** All of them: who is asked is shown every one, and says yes to no other. */
export function flowsOf(use: Use, method: string | null, on: Standing): readonly Hit[] {
    const { args, choices } = on.clauses;
    const unnamed = method !== null && on.namesArgs && use.key.startsWith("tool:") ? unnamedFlows(use, method, on) : NO_HITS;
    let hits: Hit[] | null = null;
    for (const rule of args) {
        if (rule.method !== null && rule.method !== method) continue;
        const bad = forbidden(rule, use.given, on);
        if (bad.length === 0) continue;
        hits ??= [];
        hits.push({
            rule,
            flow: {
                arg: rule.name,
                origins: [...new Set(bad)].sort(),
                rule: `arg ${rule.method === null ? "" : `${nameText(rule.method)}.`}${argText(rule.name)}: ${rule.says}`,
            },
        });
    }
    const untrusted = on.untrusted !== null && method !== null && use.key.startsWith("tool:") ? untrustedFlows(use, method, on) : NO_HITS;
    const chosen = choices.length === 0 && on.untrusted === null ? NO_HITS : choicesIn(use, method, on);
    const readers = readersFlows(use, method, on);
    // No list is made where nothing is forbidden: this stands before every call.
    if (hits === null && unnamed.length + untrusted.length + chosen.length + readers.length === 0) return NO_HITS;
    return [...(hits ?? NO_HITS), ...unnamed, ...untrusted, ...chosen, ...readers];
}

function choicesIn(use: Use, method: string | null, on: Standing): readonly Hit[] {
    const by = on.labels.union(use.chosen, on.labels.choosers(use.given.whole));
    return choiceFlows(by, { method, does: doesMore(use, method) }, on);
}

/**
 * Who decided that a use happens, held against the clauses that speak of it, all of them; where the program has none, against `untrusted`, of a use
 * that does more than read.
 */
export function choiceFlows(by: number, { method, does }: Chosen, on: Choosing): readonly Hit[] {
    const { untrusted } = on;
    const { choices } = on.clauses;
    if (by === 0 || (choices.length === 0 && untrusted === null)) return NO_HITS;
    const origins = on.labels.origins(by);
    const hits: Hit[] = [];
    let said = false;
    for (const rule of choices) {
        if (rule.method === null ? !does : rule.method !== method) continue;
        said ||= rule.project !== true && rule.partly !== true;
        if (rule.any || origins.every((origin) => mayChoose(origin, rule.from, on))) continue;
        hits.push({ rule, flow: choiceFlow(origins, rule.from, `choice${rule.method === null ? "" : ` ${nameText(rule.method)}`}: `, on) });
    }
    if (said || untrusted === null || !does || origins.every((origin) => mayChoose(origin, null, on))) return hits;
    const { gate, site = null } = untrusted;
    const flow: Flow = { ...choiceFlow(origins, null, "", on), rule: `untrusted: ${gate}`, unsaid: true };
    return [...hits, { rule: { ask: gate === "ask", site }, flow }];
}

function mayChoose(origin: string, from: readonly string[] | null, on: Choosing): boolean {
    return !isOrigin(origin) || on.neutral(origin) || lists(from, origin, on);
}

/** Made only where a choice is not allowed: the check itself stands before every call. */
function choiceFlow(origins: readonly string[], from: readonly string[] | null, head: string, on: Choosing): Flow {
    const words = from === null ? "trusted" : `from(${from.map((one) => JSON.stringify(one)).join(", ")})`;
    return { arg: "", origins: origins.filter((origin) => !mayChoose(origin, from, on)), rule: head + words, choice: true };
}

/** A method that is not known to read alone, and handing over to an agent outside the program. A memory's records keep their origins. */
function doesMore({ key, uri, readOnly }: Use, method: string | null): boolean {
    if (key.startsWith("agent:")) return uri !== "";
    return key.startsWith("tool:") && method !== null && !(readOnly ?? readsByScheme(schemeOf(uri), method) ?? false);
}

const WORDS = { all: wordsOf, addresses: addressesIn, acting: actingIn } as const;

/** Origins of an argument that a rule does not allow there. */
function forbidden(rule: ArgRule, given: Given, on: Standing): readonly string[] {
    if (!rule.among && rule.words === "all") return outside(given.carried(rule.name), rule, on);
    return given
        .named(rule.name)
        .flatMap(({ json, labels }) => (known(WORDS[rule.words](json), rule, on) ? [] : outside(labels, rule, on)));
}

const NOTHING_OUTSIDE: readonly string[] = [];

/** A list is made only where something is not allowed: this stands before every call (bench, "1,000 effects"). */
function outside(labels: number, rule: ArgRule, on: Standing): readonly string[] {
    const origins = on.labels.origins(labels);
    for (const origin of origins) if (!allowed(origin, rule, on)) return origins.filter((one) => !allowed(one, rule, on));
    return NOTHING_OUTSIDE;
}

/**
 * Arguments that no clause of the program speaks of (A13), and that carry what is not trusted. What a project says of one lets nothing in (A2). Where a
 * method only reads it is links alone: the author of a link hears what is asked for. A method of which nothing is said counts as doing more.
 */
function untrustedFlows(use: Use, method: string, on: Standing): Hit[] {
    const { gate, site } = on.untrusted as Untrusted;
    const byScheme = readsByScheme(schemeOf(use.uri), method);
    const reads = use.readOnly ?? byScheme ?? false;
    // The runtime's own tools that read reach no place but those that their import names.
    if (reads && byScheme === true) return [];
    // An object without anything in it is an argument all the same.
    const names = use.given.names.length > 0 ? use.given.names : ["1"];
    const said = on.clauses.args.filter(
        (rule) => rule.project !== true && rule.partly !== true && (rule.method === null || rule.method === method),
    );
    // A name that binds all arguments of a call because they have none (A3) lets none of them in: which one is meant cannot be told.
    const meant = meantBy(said, use.given, names);
    const rule = { ask: gate === "ask", site: site ?? null };
    return names.flatMap((name): Hit[] => {
        if (meant.has(name)) return [];
        const found = use.given.named(name).filter((one) => !reads || hasLink(name) || hasLink(one.json));
        const origins = found.flatMap((one) => on.labels.origins(one.labels));
        const bad = [...new Set(origins)].filter((origin) => isOrigin(origin) && !on.trusted(origin) && !on.neutral(origin)).sort();
        if (bad.length === 0) return [];
        const besides = [...new Set(origins)].filter((origin) => on.neutral(origin) && !on.trusted(origin)).sort();
        const flow: Flow = { arg: name, origins: bad, rule: `untrusted: ${gate}`, unsaid: true };
        return [{ rule, flow: besides.length === 0 ? flow : { ...flow, besides } }];
    });
}

/** An argument, as a rule names it. */
type Naming = Pick<ArgRule, "method" | "name" | "site">;

/** Of the arguments of a call those that rules name. */
function meantBy(said: readonly Naming[], given: Given, names: readonly string[]): ReadonlySet<string> {
    return new Set(
        said.flatMap(({ name }) => (names.includes(name) ? [name] : isPlace(name) && given.named(name).length > 0 ? names : [])),
    );
}

/**
 * Arguments that neither a rule names nor the tool itself, where a rule speaks of the method's arguments: a clause of the import, or a bound of what
 * gives the use. Under which name the tool takes what the rule means cannot be told, so they take only what is trusted.
 */
function unnamedFlows(use: Use, method: string, on: Standing): readonly Hit[] {
    const { given, uri } = use;
    const told = on.schema === null ? null : argumentsIn(on.schema, uri, method);
    // A place is one in the call, whatever the arguments are called.
    const isLeft = (name: string): boolean => told === null || (!isPlace(name) && !told.has(name));
    if (!given.names.some(isLeft)) return NO_HITS;
    const left = given.names.filter(isLeft);
    const said = named(use, method, on);
    const [first] = said;
    if (first === undefined) return NO_HITS;
    const meant = meantBy(said, given, given.names);
    return left.flatMap((name): Hit[] => {
        if (meant.has(name)) return [];
        const bad = on.labels.origins(given.carried(name)).filter((origin) => isOrigin(origin) && !on.trusted(origin));
        const rule = { ask: false, site: first.site };
        return bad.length === 0
            ? []
            : [{ rule, flow: { arg: name, origins: [...new Set(bad)].sort(), rule: told === null ? UNNAMED : NOT_THERE, unsaid: true } }];
    });
}

/** The arguments that rules about a use name. */
function named(use: Use, method: string, on: Standing): Naming[] {
    const { clauses, remits, policies, delegated } = on;
    const isAbout = (rule: { readonly method: string | null }): boolean =>
        rule.method === null || rule.method === method || methodName(use.uri, rule.method) === method;
    const readers = [...clauses.reads, ...clauses.audience].flatMap((rule) =>
        rule.readers.arg === undefined ? [] : [{ method: rule.method, name: rule.readers.arg, site: rule.site }],
    );
    const layers = use.right === null ? delegated : [use.right.only, ...use.right.ways.map((way) => way.layers)];
    const rows = [...[...remits, ...policies].map((remit) => remit.rows.get(use.key) ?? []), ...layers.flat()].flat();
    const bounds = rows.flatMap((row) =>
        row.bounds.flatMap(({ arg }) => (arg === null ? [] : [{ method: row.method, name: arg, site: row.site }])),
    );
    const counts = [
        ...clauses.counts,
        ...rows.flatMap(({ method, site, counts: all = [] }) => all.map((count) => ({ method, count, site }))),
    ].flatMap(({ method, count: { by }, site }) => (by === undefined ? [] : [{ method, name: by, site }]));
    return [...clauses.args, ...readers, ...bounds, ...counts].filter(isAbout);
}

/** More words than this are not looked for: no call has so many recipients. */
const MAX_WORDS = 1000;

/**
 * Every word of the argument, or every address in it, occurred in what came from one of the rule's origins: another principal may have chosen it, but not
 * made it up. Null: it cannot be told.
 */
function known(words: readonly string[] | null, rule: ArgRule, on: Standing): boolean {
    // A text without an address leads nowhere; an argument without a word is none that occurred.
    if (words === null || words.length > MAX_WORDS || (words.length === 0 && rule.words === "all")) return false;
    return words.every(
        (word) =>
            rule.among &&
            ((rule.from ?? []).some((origin) => on.one(origin) && on.known(origin, word)) ||
                rule.fields.some(({ id }) => on.known(id, word))),
    );
}

function allowed(origin: string, rule: ArgRule, on: Standing): boolean {
    return !isOrigin(origin) || lists(rule.from, origin, on);
}

/** Whether a list of a clause has an origin. Null: trusted ones. */
function lists(from: readonly string[] | null, origin: string, on: Choosing): boolean {
    if (from === null) return on.trusted(origin);
    const source = sourceOf(origin);
    return from.some((o) => (o === source && on.one(source)) || (o === "trusted" && on.trusted(origin)));
}

const NO_AUDIENCE: ReadersRule = { method: null, readers: { everyone: true }, ask: false, site: null };

const NO_HITS: readonly Hit[] = [];

function readersFlows(use: Use, method: string | null, on: Standing): readonly Hit[] {
    if (!on.labels.isRestricted) return NO_HITS;
    const rules = on.clauses.audience.filter((rule) => rule.method === null || rule.method === method);
    // Nothing outside hears of a read on this machine: who chose it goes on with what it gives (RST2).
    const isHere = rules.length === 0 && use.key.startsWith("tool:") && method !== null && readsHere(schemeOf(use.uri), method);
    const told = (labels: number): number => (isHere ? on.labels.withoutChoosers(labels) : labels);
    const all = use.given.all.map((found) => readersOf(on.labels.origins(told(found.labels)))).filter((readers) => readers !== null);
    if (all.length === 0) return [];
    // Where the program does not say who reads what is sent here, every person may; a project's word for it gives nothing (A2).
    const own = rules.some((rule) => rule.project !== true);
    return (own ? rules : [NO_AUDIENCE, ...rules]).flatMap((rule): Hit[] =>
        outsideOf(rule, all, namesAt(rule, use.given, undefined, on.people)),
    );
}

/** `audience` null: every person; undefined: it cannot be told. */
function outsideOf(rule: ReadersRule, all: readonly (readonly string[])[], audience: readonly string[] | null | undefined): Hit[] {
    const outside = new Set<string>();
    const readers = new Set<string>();
    const both = (all[0] ?? []).filter((name) => all.every((names) => names.includes(name)));
    for (const names of all) {
        const these = audience === null || audience === undefined ? ["anybody"] : audience.filter((name) => !names.includes(name));
        if (these.length === 0) continue;
        for (const name of these) outside.add(name);
        readers.add(names.length === 0 ? "nobody" : names.join(", "));
    }
    if (outside.size === 0) return [];
    const named =
        rule === NO_AUDIENCE ? null : `audience${rule.method === null ? "" : ` ${nameText(rule.method)}`}: ${readersText(rule.readers)}`;
    const flow: Flow = {
        arg: "*",
        origins: [...outside].sort(),
        rule: `may be read by ${[...readers].sort().join("; ")}`,
        readers: { names: both, audience: named },
    };
    return [{ rule, flow }];
}

/** What of these origins may not be read where a model is asked: only where its import says who reads along. */
export function modelFlow(
    origins: readonly string[],
    audience: readonly ReadersRule[],
): { readonly flow: Flow; readonly clause: Site | null } | null {
    const readers = readersOf(origins);
    if (readers === null) return null;
    for (const rule of audience) {
        const hit = outsideOf(rule, [readers], rule.readers.everyone === true ? null : rule.readers.names)[0];
        if (hit !== undefined) return { flow: hit.flow, clause: rule.site };
    }
    return null;
}
