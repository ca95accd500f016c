/**
 * Who stands where: the principal of the running frame, delegations in force, rights that are minted, tokens that are alive.
 *
 * Boundary: state of authority in a run. What it decides is `authority/decide.ts`, what follows from that `gate.ts`.
 *
 * A7: a delegation is in force exactly while a frame of this fiber, or of one it was forked from, stands inside its block: calls elsewhere
 *     never see it, and every way out of the block ends it.
 * A8: a right is a snapshot, never wider than what its giver had; it names the blocks and calls it lives in and dies with them.
 * A9: what one principal alone holds stays as cheap as before: without remits and clauses nothing here runs.
 */
import { type Json, methodName, type Site } from "@remit/language";
import type { Right, Way } from "../authority/decide.ts";
import { lostRows, peopleIn } from "../authority/evidence.ts";
import type { People } from "../authority/readers.ts";
import { type Permit, rank, type Remit } from "../authority/policy.ts";
import type { Why } from "../authority/refusal.ts";
import { holdsWord } from "../authority/whole-words.ts";
import type { DelegateDetail } from "../compile/instructions.ts";
import { type RowsDoc, USES, type UsesDoc } from "../effect/elsewhere.ts";
import { Fail } from "../effect/failure.ts";
import { any, count, flag, is, list, named, ref, says, shape, type Told, text, tuple } from "../shape/build.ts";
import { rawOf } from "../value/operators.ts";
import { Capability, type Value } from "../value/value.ts";
import { type Fiber, type Frame, isInside } from "./fiber.ts";
import type { Call, Ops } from "./ops.ts";
import { refuse } from "./refusal.ts";

export const LAYERS = says(list(list(ref<Permit>("Permit"))), "all must permit");
export type Layers = Told<typeof LAYERS>;

const DELEGATION = shape(
    {
        token: count,
        from: text,
        to: text,
        onward: flag,
        /** By key of the thing; each way is a list of layers. */
        grants: named(list(LAYERS)),
        path: text,
    },
    {
        /** It gives all that its giver has: also to define functions of the program. */
        all: is(true),
        /** Where it stands. */
        site: ref<Site>("Site"),
    },
);
export type Delegation = Told<typeof DELEGATION>;

/** A no; or a yes for as long as the tool describes its method so: a hash, empty where that is not known. */
export type Said = false | string;

/** What a run keeps of authority besides frames and values. */
export const STANDING = shape(
    {
        delegations: list(DELEGATION),
        alive: list(count),
        next: count,
        /** Answers for the session: key of principal and use, and what was said; `true` is a yes whose description is not known. */
        answers: list(tuple(text, any(flag, text))),
        /** Texts that came from origins which `among` clauses ask about. */
        known: list(tuple(text, list(text))),
    },
    {
        /** How often what is counted was used: by counter, or that with the value of its argument. */
        uses: USES,
        /** Parts of the run that were elsewhere: path, whether it has the counts, and what it used by then. */
        parts: list(tuple(text, flag, USES)),
        /** Origins of all that came into the run, where a rule asks who chose; the user's left out. */
        met: list(text),
    },
);
export type StandingDoc = Told<typeof STANDING>;

const OPEN: Permit = { method: null, gate: "open", bounds: [], site: null };
const FULL: Layers = [[OPEN]];
const PASS: Permit = { method: null, gate: "may", bounds: [], site: null };
const ALL: readonly Way[] = [{ layers: FULL, alive: [] }];

/** Ways and layers beyond this are not given: a principal that piles them up has less, never more. */
const MAX_WAYS = 16;
const MAX_LAYERS = 64;

/** Texts kept for one origin. */
const MAX_KNOWN = 100_000;

export class Standing {
    readonly delegations = new Map<number, Delegation>();
    readonly alive = new Set<number>();
    readonly answers = new Map<string, Said>();
    readonly known = new Map<string, Set<string>>();
    readonly uses = new Map<string, number>();
    /** Whatever of it was computed with may have used an amount up (LIC1). */
    readonly met = new Set<string>();
    /** COU4. */
    readonly parts = new Map<string, { readonly isAway: boolean; readonly used: UsesDoc }>();
    next = 1;

    /** Some part has the counts. */
    get isAway(): boolean {
        for (const { isAway } of this.parts.values()) if (isAway) return true;
        return false;
    }

    /** A part has the counts from here on. Gives them; null where another part has them. */
    lend(path: string): UsesDoc | null {
        const before = this.parts.get(path);
        if (before?.isAway !== true && this.isAway) return null;
        this.parts.set(path, { isAway: true, used: before?.used ?? [] });
        return [...this.uses];
    }

    /** What a part used in all; undefined: it is not known. */
    cameBack(path: string, used: UsesDoc | undefined): void {
        const before = this.parts.get(path);
        if (before === undefined || used === undefined) return;
        for (const [one, times] of before.used) this.add(one, -times);
        for (const [one, times] of used) this.add(one, times);
        this.parts.set(path, { isAway: false, used });
    }

    /** A part may go on: what it used is known, and what it is going to use is not. */
    keepsCounts(path: string): void {
        const part = this.parts.get(path);
        if (part !== undefined) this.parts.set(path, { ...part, isAway: true });
    }

    meets(origins: Iterable<string>): void {
        for (const one of origins) if (one !== "user") this.met.add(one);
    }

    private add(counter: string, times: number): void {
        this.uses.set(counter, Math.max(0, (this.uses.get(counter) ?? 0) + times));
    }

    /** `by`: 1 for a use that begins, -1 for one that certainly did not happen. */
    count(counters: readonly string[], by: 1 | -1): void {
        for (const one of counters) this.add(one, by);
    }

    /** Keeps the texts and numbers of a value that came from an origin, without those that are no evidence (EVI2). */
    learn(origin: string, value: Json, isNone: (word: string) => boolean = () => false): void {
        const words = this.known.get(origin) ?? new Set<string>();
        this.known.set(origin, words);
        const rest: Json[] = [value];
        for (let one = rest.pop(); one !== undefined && words.size < MAX_KNOWN; one = rest.pop()) {
            if (typeof one === "string" || typeof one === "number") {
                if (!isNone(String(one))) words.add(String(one));
            } else if (one !== null && typeof one === "object") for (const part of Object.values(one) as Json[]) rest.push(part);
        }
    }

    /** Whether a word occurred: as a text of its own, or for what the user wrote, as whole words within it. */
    readonly knows = (origin: string, word: string): boolean => {
        const words = this.known.get(origin);
        if (words === undefined || word === "") return false;
        if (words.has(word)) return true;
        if (origin !== "user") return false;
        for (const text of words) if (holdsWord(text, word)) return true;
        return false;
    };

    /** Whom the rows of a table name that came in this run. */
    readonly people: People = (table, key) => {
        const rows = this.known.get(table);
        // Of more rows than are kept another may say otherwise.
        return rows === undefined || rows.size >= MAX_KNOWN ? undefined : peopleIn(rows, key);
    };

    /** Keeps the rows of a table. */
    learnRows(table: string, rows: readonly string[]): void {
        const known = this.known.get(table) ?? new Set<string>();
        this.known.set(table, known);
        for (const row of rows) if (known.size < MAX_KNOWN) known.add(row);
    }

    /** What came of tables and fields, besides `before`. */
    rowsOf(told: Iterable<string>, before: RowsDoc = []): RowsDoc {
        const given = new Map(before.map(([table, rows]) => [table, new Set(rows)] as const));
        return [...told].flatMap((table) => {
            const rows = [...(this.known.get(table) ?? [])].filter((row) => given.get(table)?.has(row) !== true);
            return rows.length === 0 ? [] : [[table, rows] as const];
        });
    }

    /** What came of tables and fields in a part of the run at `path`, or before it; undefined: rows are not known, and so no person is. */
    rowsCame(path: string, tables: Iterable<string>, rows: RowsDoc | undefined): void {
        const lost = lostRows(path);
        for (const table of tables) {
            const known = this.known.get(table);
            if (rows === undefined) this.learnRows(table, [lost]);
            // Of a full table rows were left out: it stays full.
            else if (known !== undefined && known.size < MAX_KNOWN) known.delete(lost);
        }
        const told = (rows ?? []).map(([table, some]) => [table, some.filter((row) => row !== lost)] as const);
        for (const [table, some] of told) this.learnRows(table, some);
    }

    readonly isAlive = (token: number): boolean => this.alive.has(token);

    doc(): StandingDoc {
        return {
            delegations: [...this.delegations.values()],
            alive: [...this.alive],
            next: this.next,
            answers: [...this.answers].map(([key, said]) => [key, said === "" ? true : said] as const),
            known: [...this.known].map(([origin, words]) => [origin, [...words]] as const),
            ...(this.uses.size === 0 ? {} : { uses: [...this.uses] }),
            ...(this.met.size === 0 ? {} : { met: [...this.met] }),
            ...(this.parts.size === 0 ? {} : { parts: [...this.parts].map(([path, { isAway, used }]) => [path, isAway, used] as const) }),
        };
    }

    restore(doc: StandingDoc): void {
        for (const d of doc.delegations) this.delegations.set(d.token, d);
        for (const token of doc.alive) this.alive.add(token);
        for (const [key, said] of doc.answers) this.answers.set(key, said === true ? "" : said);
        for (const [origin, words] of doc.known) this.known.set(origin, new Set(words));
        for (const [one, times] of doc.uses ?? []) this.uses.set(one, times);
        for (const one of doc.met ?? []) this.met.add(one);
        for (const [path, isAway, used] of doc.parts ?? []) this.parts.set(path, { isAway, used });
        this.next = doc.next;
    }
}

/** Delegations to a principal that are in force where a fiber stands, innermost first. */
export function inForce(m: Ops, fiber: Fiber, principal: string): Delegation[] {
    return m.standing.delegations.size === 0 ? [] : delegations(m, fiber, principal).map(({ d }) => d);
}

/** With the frames that stand inside their blocks. */
export function delegations(m: Ops, fiber: Fiber, principal: string): { readonly d: Delegation; readonly frame: Frame }[] {
    const found: { d: Delegation; frame: Frame }[] = [];
    for (let f: Fiber | null = fiber; f !== null; f = f.parent)
        for (let i = f.frames.length - 1; i >= 0; i--) {
            const frame = f.frames[i] as Frame;
            const { regions } = frame.form;
            for (let r = regions.length - 1; r >= 0; r--) {
                const region = regions[r] as (typeof regions)[number];
                if (region.kind !== "delegate" || frame.pc < region.from || frame.pc >= region.to) continue;
                const d = m.standing.delegations.get(frame.locals[region.slot] as number);
                if (d !== undefined && d.to === principal) found.push({ d, frame });
            }
        }
    return found;
}

/** Remits that calls of `agent()` around a fiber bind their agent with. */
export function policiesOn(m: Ops, fiber: Fiber, principal: string): readonly Remit[] {
    if (m.sessions.size === 0) return NONE;
    const found: Remit[] = [];
    for (const { path, principal: who, policy, agent } of m.sessions.values()) {
        if (policy === null || who !== principal) continue;
        let inside = false;
        for (let f: Fiber | null = fiber; f !== null && !inside; f = f.parent)
            inside = f.frames.some((frame) => frame.native?.path === path || isInside(frame.path, path));
        const remit = inside ? m.authority.policyNamed(policy, agent) : null;
        if (remit !== null) found.push(remit);
    }
    return found;
}

const NONE: readonly Remit[] = [];

/** What a principal has on a thing at this moment, what lives longest first; empty where it has nothing. */
export function waysOf(m: Ops, fiber: Fiber, principal: string, key: string): readonly Way[] {
    const remits = m.authority.remitsOf(principal);
    if (remits.length === 0) return ALL;
    // What a project's remit alone lets through stays as open as it was without it.
    const given = remits.every((remit) => remit.project === true);
    const own = remits.map((remit) => {
        const rows = [...(remit.rows.get(key) ?? []), ...remit.all];
        return given ? rows.map((row): Permit => (row.gate === "may" ? { ...row, gate: "open" } : row)) : rows;
    });
    const ways: Way[] = own.every(givesSome) ? [{ layers: own, alive: [] }] : [];
    const kept = restrictions(m, principal, key);
    for (const d of inForce(m, fiber, principal).reverse())
        for (const layers of Object.hasOwn(d.grants, key) ? (d.grants[key] ?? []) : [])
            ways.push({
                layers: [...layers, ...kept],
                alive: [d.token],
                ...(d.onward ? {} : { stays: true as const }),
            });
    return fewest(ways);
}

/** Whether a principal may use anything of a thing, through this value. */
export function hasSome(m: Ops, fiber: Fiber, principal: string, c: Capability): boolean {
    const { right } = c;
    if (policyLayers(m, fiber, principal, m.authority.keyOf(c)).some((layer) => !givesSome(layer))) return false;
    if (right === null) return waysOf(m, fiber, principal, m.authority.keyOf(c)).length > 0;
    const alive = (tokens: readonly number[]): boolean => tokens.every((token) => m.standing.alive.has(token));
    return right.holder === principal && alive(right.alive) && right.ways.some((way) => alive(way.alive));
}

/** What a principal's own remits forbid or ask about a thing, as layers: it stands for whomever the principal passes the thing on to. */
function restrictions(m: Ops, principal: string, key: string): Layers {
    return m.authority
        .remitsOf(principal)
        .map((remit) => [...(remit.rows.get(key) ?? []), ...remit.all].filter((row) => row.gate === "never" || row.gate === "ask"))
        .filter((rows) => rows.length > 0)
        .map((rows) => [...rows, PASS]);
}

/** What policies say of a thing, as layers: they bind what the principal under them passes on, too. */
function policyLayers(m: Ops, fiber: Fiber, principal: string, key: string): Layers {
    return policiesOn(m, fiber, principal).map((remit) => [...(remit.rows.get(key) ?? []), ...remit.all]);
}

function givesSome(layer: readonly Permit[]): boolean {
    return layer.some((row) => rank(row.gate) < rank("never"));
}

/** The same without what is said twice. */
function fewest(ways: readonly Way[]): Way[] {
    if (ways.length === 1 && (ways[0] as Way).layers.length < 2) return [...ways];
    const known = new Set<string>();
    const out: Way[] = [];
    for (const way of ways) {
        if (out.length >= MAX_WAYS) break;
        const layers = distinct(way.layers);
        const said = JSON.stringify([layers, way.stays ?? false]);
        if (layers.length > MAX_LAYERS || known.has(said)) continue;
        known.add(said);
        out.push({ ...way, layers });
    }
    return out;
}

function distinct(layers: Layers): Layers {
    if (layers.length < 2) return layers;
    return [...new Map(layers.map((layer) => [JSON.stringify(layer), layer])).values()];
}

/** A capability that is named as a value by a principal under a remit. */
export function minted(m: Ops, fiber: Fiber, principal: string, c: Capability): Capability {
    return c.with(rightOf(m, fiber, principal, c));
}

function rightOf(m: Ops, fiber: Fiber, principal: string, c: Capability): Right {
    return { holder: principal, from: principal, ways: waysOf(m, fiber, principal, m.authority.keyOf(c)), only: [], alive: [] };
}

/** One more layer for its holder. */
export function narrowed(m: Ops, fiber: Fiber | null, principal: string, c: Capability, layer: readonly Permit[]): Capability {
    const right = c.right ?? (fiber === null || principal === m.principal ? null : rightOf(m, fiber, principal, c));
    const before: Right = right ?? { holder: principal, from: principal, ways: ALL, only: [], alive: [] };
    const only = distinct([...before.only, layer]);
    if (only.length > MAX_LAYERS) throw new Fail("value", `${c.name} was narrowed in more than ${MAX_LAYERS} different ways`);
    return c.with({ ...before, only });
}

/** A call that crosses from one principal to another. */
export interface Crossing {
    /** From whose principal. */
    readonly frame: Frame;
    readonly to: string;
    readonly args: Value[];
    readonly path: string;
    readonly site: Site | null;
}

/**
 * Capabilities among the arguments of a call that crosses to another principal: each is a grant for that call. Gives the token that dies with
 * the call, 0 where nothing was granted.
 */
export function granted(m: Ops, fiber: Fiber, { frame, to, args, path, site }: Crossing): number {
    const from = frame.principal;
    let token = 0;
    const given: Json[] = [];
    args.forEach((arg, i) => {
        const c = rawOf(arg);
        if (!(c instanceof Capability)) return;
        if (token === 0) token = m.standing.next++;
        // What was not given, as what lay in a list, is as good as its name: it gives what the principal that hands it on has.
        const held = c.right ?? rightOf(m, fiber, from, c);
        const no = (why: Why, clause: Site | null = null): Fail =>
            refuse(m, { frame, path, I: { site } }, { principal: from, capability: c.name, why, clause }, { about: { to } });
        if (held.holder !== from) throw no("hand");
        if (!held.alive.every((one) => m.standing.alive.has(one))) throw no("hand after");
        const ways = held.ways.filter((way) => way.stays === undefined);
        if (ways.length < held.ways.length && ways.length === 0) throw no("hand onward", delegatedAt(m, held));
        const key = m.authority.keyOf(c);
        const only = distinct([...held.only, ...restrictions(m, from, key), ...policyLayers(m, fiber, from, key)]);
        args[i] = c.with({ holder: to, from, ways, only, alive: [...held.alive, token] });
        given.push({
            what: c.kind,
            name: c.name,
            methods: methodsOf(held),
            ...within([...ways.flatMap((way) => way.layers), ...only].flat()),
        });
    });
    if (token === 0) return 0;
    m.standing.alive.add(token);
    m.emit("delegate.granted", path, null, site, [], { by: "argument", token, from, to, grants: given });
    return token;
}

/** Where the block stands that gave a right. */
function delegatedAt(m: Ops, { ways }: Right): Site | null {
    for (const token of ways.flatMap(({ alive }) => alive)) {
        const site = m.standing.delegations.get(token)?.site;
        if (site !== undefined) return site;
    }
    return null;
}

/** The methods that a right leaves; null: all. For people. */
export function methodsOf(right: Right): string[] | null {
    const among = (layers: Layers, start: ReadonlySet<string> | null): ReadonlySet<string> | null => {
        let left = start;
        for (const layer of layers) {
            const named = layer.filter((p) => p.gate !== "never");
            if (named.some((p) => p.method === null)) continue;
            const these = named.map((p) => p.method as string);
            const before = left;
            left = new Set(before === null ? these : these.filter((one) => before.has(one)));
        }
        return left;
    };
    const ways = right.ways.map((way) => among(way.layers, null));
    const any = ways.some((way) => way === null) ? null : new Set(ways.flatMap((way) => [...(way as ReadonlySet<string>)]));
    const left = among(right.only, any);
    return left === null ? null : [...left].sort();
}

/** Begins a block in which a principal has more than its remit. Gives the token. */
export function delegated(m: Ops, call: Call, d: DelegateDetail): number {
    const { fiber, frame, path } = call;
    const { site } = call.I;
    const from = frame.principal;
    if (d.to === null) throw new Fail("value", `there is no agent '${d.name}' here`, { site });
    const to = m.authority.principalOf(d.to);
    const things = m.authority.thingsOf(frame.fn.file);
    const refs = d.refs ?? things.filter((key) => key !== to).map((key) => ({ key, text: key, permit: OPEN }));
    const grants: { [key: string]: Layers[] } = Object.create(null);
    for (const ref of refs) {
        const has = waysOf(m, fiber, from, ref.key).filter((way) => way.stays === undefined && gives(way, ref.key, ref.permit.method));
        const unknown = d.refs !== null && !things.includes(ref.key);
        if (has.length === 0 || (unknown && m.authority.remitsOf(from).length === 0)) {
            if (d.refs === null) continue;
            throw refuse(m, call, { principal: from, capability: ref.text, why: "delegate", clause: null }, { about: { to } });
        }
        const bound = [...policyLayers(m, fiber, from, ref.key), [ref.permit]];
        const ways = has.map((way) => ({ layers: [...way.layers, ...bound], alive: [] }));
        const known = (grants[ref.key] ?? []).map((layers) => ({ layers, alive: [] }));
        grants[ref.key] = fewest([...known, ...ways]).map((way) => way.layers);
    }
    const token = m.standing.next++;
    const all = d.refs === null ? { all: true as const } : {};
    m.standing.delegations.set(token, { token, from, to, onward: d.onward, ...all, grants, path, ...(site === null ? {} : { site }) });
    m.standing.alive.add(token);
    m.emit("delegate.granted", path, frame.parent, site, [], {
        by: "block",
        token,
        from,
        to,
        onward: d.onward,
        grants: d.refs === null ? "all" : d.refs.map((ref) => ref.text),
        ...within((d.refs ?? []).map((ref) => ref.permit)),
    });
    return token;
}

/** Whether a way gives a method of a thing at all; within which bounds is told when it is used. The generic call of a server is any of its tools. */
function gives(way: Way, key: string, method: string | null): boolean {
    if (method === null || method === "call" || !/^(?:tool|memory):/.test(key)) return true;
    const uri = key.slice(key.indexOf(":") + 1);
    const isIt = (row: Permit): boolean =>
        row.method === null || row.method === "call" || methodName(uri, row.method) === methodName(uri, method);
    return way.layers.every((rows) => {
        const about = rows.filter(isIt);
        return about.some((row) => row.gate !== "never") && !about.some((row) => row.gate === "never" && row.bounds.length === 0);
    });
}

/** The patterns that bound what is given, where any do. */
function within(permits: readonly Permit[]): { readonly within?: Json } {
    const patterns = [...new Set(permits.flatMap((permit) => permit.bounds.flatMap((bound) => bound.patterns)))].sort();
    return patterns.length === 0 ? {} : { within: patterns };
}

/** The end of a block or a call: what was given in it is dead. */
export function lifted(m: Ops, token: number, path: string, parent: string | null, site: Site | null): void {
    if (!m.standing.alive.delete(token)) return;
    const d = m.standing.delegations.get(token);
    m.standing.delegations.delete(token);
    m.emit("delegate.lifted", path, parent, site, [], {
        by: d === undefined ? "argument" : "block",
        token,
        ...(d === undefined ? {} : { from: d.from, to: d.to }),
    });
}

/** The regions of a frame that hold instruction `pc`, innermost first. */
export function regionsAt(frame: Frame, pc: number): Frame["form"]["regions"] {
    const { regions } = frame.form;
    return regions.length === 0 ? regions : regions.filter((r) => r.from <= pc && pc < r.to).reverse();
}
