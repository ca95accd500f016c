/**
 * What stops hostile data at a use, and what is left to it where nothing does.
 *
 * Boundary: one use, one principal, one fact. The rules are the machine's (`decide.ts`, `flows.ts` there); of each only what is certain counts, so
 * that what passes here is all that a run could let pass.
 *
 * HR1: a question stops as a refusal does: the table is what happens where every question is answered with no.
 * HR2: what is not known for certain (a bound that some value fits, origins beside those that a value must have) stops nothing.
 */
import {
    argumentsOf,
    type Imported,
    gives,
    importsByThing,
    methodOf,
    saidTogether,
    sharedOrigins,
    speaksOf,
    perhapsTrusted,
} from "../authority/clauses.ts";
import { addedTo, type ProjectPolicy } from "../authority/project.ts";
import { readsByScheme } from "../authority/reading.ts";
import { toolSchema } from "../authority/schemas.ts";
import { allowedText, boundText, clauseText, countText } from "../authority/show.ts";
import type { Holder, Line } from "../authority/tables.ts";
import type { Thing } from "../authority/tables.ts";
import { methodName, schemeOf, speaksOfLook } from "../authority/thing.ts";
import type { ClauseForm } from "../form/form.ts";
import type { Site } from "../text/source.ts";
import type { Fact } from "./facts.ts";
import { ANY } from "./known.ts";
import { isOutsideAgent, type Scope, USER } from "./scope.ts";
import type { By, Seen } from "./uses.ts";

/** What a call does: `keeps` of a memory's `add`, whose records keep their origins; `unknown`: only the tool can say. */
export type Does = "reads" | "more" | "keeps" | "unknown";

/** What is left to hostile data, or lets it in: as it is written, and where. */
export interface Bound {
    readonly kind:
        | "in"
        | "count"
        | "among"
        | "addresses"
        | "plain"
        | "links"
        | "picks"
        | "reads"
        | "shape"
        | "allowed"
        | "endorsed"
        | "way";
    readonly text: string;
    readonly site: Site | null;
}

export interface Stop {
    readonly outcome: "asks" | "refused";
    readonly rule: string;
    readonly site: Site | null;
}

export type Ruling = { readonly stop: Stop } | { readonly bounds: readonly Bound[] };

interface Told {
    readonly clause: ClauseForm;
    readonly site: Site | null;
    /** It may let something in that `untrusted` would stop. */
    readonly speaks: boolean;
}

/** Whether a tool says that a method only reads; undefined where it is not known. */
export type Reads = (tool: string, uri: string, method: string) => boolean | undefined;

export class Rules {
    private readonly told = new Map<string, readonly Told[]>();
    private readonly trusted: ReadonlySet<string>;
    private readonly shared: ReadonlySet<string>;
    private readonly counting: ReadonlySet<string>;
    private readonly holders: ReadonlyMap<string, Holder>;

    private readonly policy: ProjectPolicy;
    private readonly reads: Reads;

    constructor({ program, tables }: Scope, policy: ProjectPolicy, holders: ReadonlyMap<string, Holder>, reads: Reads) {
        this.policy = policy;
        this.holders = holders;
        this.reads = reads;
        this.trusted = perhapsTrusted(program);
        this.shared = sharedOrigins(program);
        const all = program.files.flatMap(({ imports }) => imports);
        this.counting = new Set(
            all.flatMap(({ what, name, clauses = [] }) =>
                what === "llm" && clauses.some(({ kind }) => kind === "untrusted") ? [`model:${name}`] : [],
            ),
        );
        for (const [key, imports] of importsByThing(program)) {
            const own = saidTogether(imports).map(({ clause, file }) => ({
                clause,
                site: tables.site(file, clause.at),
                speaks: speaks(imports, clause),
            }));
            const added = addedTo(
                policy,
                key,
                imports.map(({ form }) => form),
            ).filter((clause) => !gives(clause));
            this.told.set(key, [...own, ...added.map(({ site = null, ...clause }) => ({ clause, site, speaks: false }))]);
        }
    }

    said(thing: Thing): readonly Told[] {
        return this.told.get(thing.key) ?? [];
    }

    does(thing: Thing, method: string | null): Does {
        if (thing.what === "memory") return method === "add" ? "keeps" : method === "query" ? "reads" : "unknown";
        if (thing.what === "agent" || thing.what === "llm") return "more";
        const uri = thing.import?.uri ?? "";
        if (method === null) return "unknown";
        const told = this.reads(thing.name, uri, method) ?? readsByScheme(schemeOf(uri), method);
        return told === undefined ? "unknown" : told ? "reads" : "more";
    }

    private trusts(origin: string): boolean {
        return origin === USER || this.trusted.has(origin) || origin.startsWith("endorsed:");
    }

    /** Whether a loop that hides what is not trusted hides this. */
    hides({ must }: Fact): boolean {
        return must.some((origin) => !this.trusts(origin) && !this.isNeutral(origin));
    }

    private isAllowed(origin: string, from: readonly string[] | undefined): boolean {
        if (from === undefined) return this.trusts(origin);
        return from.some((one) => (one === origin && !this.shared.has(origin)) || (one === "trusted" && this.trusts(origin)));
    }

    private isNeutral(origin: string): boolean {
        return origin.startsWith("model:") && !this.counting.has(origin);
    }

    private isAbout(thing: Thing, named: string | undefined, method: string | null): boolean {
        if (named === undefined) return true;
        return method !== null && methodName(thing.import?.uri ?? "", named) === method;
    }

    /** What of a thing may be meant where no method is named; null: any that no rule names. */
    methodsOf(thing: Thing): readonly (string | null)[] {
        const uri = thing.import?.uri ?? "";
        const schema = toolSchema(thing.what, uri);
        const named = this.said(thing).flatMap(({ clause }) => methodOf(clause) ?? []);
        const granted = [...this.holders.values()].flatMap(({ lines }) =>
            lines.flatMap((line) => (line.thing.key === thing.key ? (line.method ?? []) : [])),
        );
        const all = new Set(
            [...(schema?.methods.keys() ?? []), ...named, ...granted].map((one) => (thing.what === "tool" ? methodName(uri, one) : one)),
        );
        return schema === null || schema.others !== undefined ? [...all, null] : [...all];
    }

    /** The arguments that may be meant where none is named; `*`: one that no rule names. */
    argsOf(thing: Thing, method: string | null): readonly string[] {
        const uri = thing.import?.uri ?? "";
        const told = toolSchema(thing.what, uri)?.methods.get(method ?? "") ?? null;
        const named = this.said(thing).flatMap(({ clause }) => (this.isAbout(thing, methodOf(clause), method) ? argumentsOf(clause) : []));
        const places = [...new Set([...(told ?? []), ...named])].filter((name) => !/^[1-9][0-9]*$/.test(name));
        return told === null ? [...places, ANY] : places;
    }

    // ---- whether it may be used ----------------------------------------------------------------------------------------

    /** `by` `model` also for a call that hostile data named. */
    gate(principal: string, thing: Thing, method: string | null, by: By): Ruling {
        const bounds: Bound[] = [];
        const gates = this.said(thing).flatMap(({ clause, site }) =>
            clause.kind === "gate" && this.isAbout(thing, clause.method, method)
                ? [{ gate: clause.gate, site, rule: clauseText(clause) }]
                : [],
        );
        const closed = gates.find(({ gate }) => gate === "never") ?? gates.find(({ gate }) => gate === "ask");
        if (closed !== undefined) return stopped(closed.gate === "never" ? "refused" : "asks", closed.rule, closed.site);
        const opened = gates[0];
        if (opened !== undefined) bounds.push({ kind: "allowed", text: opened.rule, site: opened.site });
        for (const { clause, site } of this.said(thing))
            if (clause.kind === "count" && this.isAbout(thing, clause.method, method))
                bounds.push(...clause.counts.map((one): Bound => ({ kind: "count", text: countText(one), site })));
        const holder = principal === USER ? undefined : this.holders.get(principal);
        if (holder !== undefined) return this.granted(holder, { thing, method, by }, bounds);
        // What a model chooses is asked about where nothing says `may`, unless the tool says that the method only reads.
        if (by === "program" || opened !== undefined || (thing.what !== "tool" && thing.what !== "llm")) return { bounds };
        const does = this.does(thing, method);
        if (does === "more") return stopped("asks", "no clause says `may`, and a model chose the call", null);
        return { bounds: does === "unknown" ? [...bounds, ONLY_READS] : bounds };
    }

    /** Whether a remit gives a thing method by method: then there is no other for who has it. */
    namesMethods(principal: string, thing: Thing): boolean {
        const lines = this.holders.get(principal)?.lines.filter((line) => line.thing.key === thing.key) ?? [];
        return lines.length > 0 && lines.every(({ method }) => method !== null);
    }

    private granted(
        holder: Holder,
        { thing, method, by }: { readonly thing: Thing; readonly method: string | null; readonly by: By },
        bounds: readonly Bound[],
    ): Ruling {
        const fits = holder.lines.filter(
            (line) =>
                line.thing.key === thing.key &&
                (line.method === null || line.method === method || (method !== null && this.isAbout(thing, line.method, method))),
        );
        const whole = fits.filter((line) => line.bounds.length === 0 && line.by === "remit");
        const never = whole.find(({ gate }) => gate === "never");
        if (never !== undefined) return stopped("refused", `never ${nameOf(never)}`, never.site);
        const ask = whole.find(({ gate }) => gate === "ask");
        if (ask !== undefined) return stopped("asks", `ask ${nameOf(ask)}`, ask.site);
        const may = fits.filter(({ gate }) => gate === "may");
        if (may.length === 0) {
            const asks = fits.find(({ gate }) => gate === "ask");
            if (asks !== undefined) return stopped("asks", `ask ${nameOf(asks)}`, asks.site);
            // A right can also come with a value that the table does not show.
            return by === "program" ? { bounds } : stopped("refused", `the remit does not give ${thing.name}`, holder.site);
        }
        if (bounds.every(({ kind }) => kind !== "allowed") && !may.some((line) => speaksOfLook(thing.key, method, line)))
            return stopped("asks", "no line says `may` of it, and a model chose the call", may[0]?.site ?? null);
        const lent = may.every((line) => line.by === "argument" || line.by === "delegate");
        const does = this.does(thing, method);
        if (by === "agent" && lent && thing.what === "tool") {
            if (does === "more") return stopped("asks", "no line says `may`, and the agent chose the call", may[0]?.site ?? null);
            if (does === "unknown") bounds = [...bounds, ONLY_READS];
        }
        return { bounds: [...bounds, ...boundsOf(may)] };
    }

    // ---- who decides -----------------------------------------------------------------------------------------------------

    /** Whether data of this kind may decide that it is called. */
    choice(thing: Thing, method: string | null, fact: Fact): Ruling {
        const does = this.does(thing, method);
        const isMore = (thing.what === "tool" && does !== "reads") || isOutsideAgent(thing);
        // The word of the user is no choice that a rule could be about.
        const isFree = (origin: string): boolean => origin === USER || this.isNeutral(origin);
        let said = false;
        const bounds: Bound[] = [];
        for (const { clause, site, speaks } of this.said(thing)) {
            if (clause.kind !== "choice") continue;
            // Of a method of which only the tool can say what it does, a clause about all that do more stops where it does more.
            if (clause.method === undefined ? !isMore : !this.isAbout(thing, clause.method, method)) continue;
            said ||= speaks;
            if (clause.any === true || fact.must.every((origin) => isFree(origin) || this.isAllowed(origin, clause.from)))
                bounds.push({ kind: "allowed", text: clauseText(clause), site });
            else if (clause.method === undefined && does === "unknown") bounds.push({ ...ONLY_READS, site });
            else return stopped(clause.ask === true ? "asks" : "refused", clauseText(clause), site);
        }
        const { untrusted } = this.policy;
        if (said || untrusted === undefined || !isMore || fact.must.every((origin) => isFree(origin) || this.trusts(origin)))
            return { bounds: [...bounds, ...marked(fact)] };
        if (does === "unknown") return { bounds: [...bounds, ONLY_READS] };
        return stopped(untrusted.gate === "ask" ? "asks" : "refused", `untrusted: ${untrusted.gate}`, untrusted.site ?? null);
    }

    /** What stops a use by what its choice carries whatever the data is. */
    always({ thing, method, certain }: Pick<Seen, "thing" | "method" | "certain">): Stop | null {
        const ruling = this.choice(thing, method, { must: certain, from: "", entered: null });
        return certain.length > 0 && "stop" in ruling ? ruling.stop : null;
    }

    // ---- what is in it ---------------------------------------------------------------------------------------------------

    /** Whether data of this kind may stand in an argument. `name` `*`: one that no clause names. */
    arg(thing: Thing, method: string | null, name: string, fact: Fact): Ruling {
        const bounds: Bound[] = [];
        let said = false;
        for (const { clause, site, speaks } of this.said(thing)) {
            if (clause.kind !== "arg" || clause.name !== name || !this.isAbout(thing, clause.method, method)) continue;
            said ||= speaks;
            if (fact.must.every((origin) => this.isAllowed(origin, clause.from ?? (clause.fields === undefined ? undefined : [])))) {
                bounds.push({ kind: "allowed", text: clauseText(clause), site });
                continue;
            }
            const kind = clause.plain === true ? "plain" : clause.addresses === true ? "addresses" : clause.among === true ? "among" : null;
            if (kind === null) return stopped(clause.ask === true ? "asks" : "refused", clauseText(clause), site);
            bounds.push({ kind, text: allowedText(clause), site });
        }
        const left = [...bounds, ...marked(fact)];
        const { untrusted } = this.policy;
        if (untrusted === undefined || said || thing.what !== "tool") return { bounds: left };
        if (fact.must.every((origin) => this.isNeutral(origin) || this.trusts(origin))) return { bounds: left };
        const does = this.does(thing, method);
        // The runtime's own tools that read reach no place but those that their import names.
        if (does === "reads" && readsByScheme(schemeOf(thing.import?.uri ?? ""), method ?? "") === true) return { bounds: left };
        if (does === "more")
            return stopped(untrusted.gate === "ask" ? "asks" : "refused", `untrusted: ${untrusted.gate}`, untrusted.site ?? null);
        const links: Bound = { kind: "links", text: "no link", site: untrusted.site ?? null };
        return { bounds: [...left, ...(does === "unknown" ? [ONLY_READS] : []), links] };
    }

    /** Ranges and patterns that bind an argument, by the lines that give the use. */
    bounded(principal: string, thing: Thing, method: string | null): readonly Bound[] {
        const ruling = this.gate(principal, thing, method, "program");
        return "bounds" in ruling ? ruling.bounds.filter(({ kind }) => kind === "in") : [];
    }
}

const ONLY_READS: Bound = { kind: "reads", text: "only if the tool says that the method only reads", site: null };

function stopped(outcome: Stop["outcome"], rule: string, site: Site | null): Ruling {
    return { stop: { outcome, rule, site } };
}

/** What is known of the data itself. */
function marked({ endorsed = [], only, way }: Fact): Bound[] {
    return [
        ...(way === undefined ? [] : [{ kind: "way", text: `by way of ${way}`, site: null } as const]),
        ...(only === "shape" ? [SHAPE] : []),
        ...endorsed.map((site): Bound => ({ kind: "endorsed", text: "endorsed as trusted", site })),
    ];
}

const SHAPE: Bound = {
    kind: "shape",
    text: "only by how long hidden results are, how many parts they have, and whether a call came through",
    site: null,
};

/** What all of the lines that let a use through leave to it; where one of them has no bound, none. */
function boundsOf(may: readonly Line[]): Bound[] {
    const found: Bound[] = [];
    if (may.every(({ bounds }) => bounds.length > 0)) {
        const text = may.map(({ bounds }) => bounds.map((one) => boundText(one).trim()).join(" ")).join(", or ");
        found.push({ kind: "in", text, site: may[0]?.site ?? null });
    }
    if (may.every(({ counts = [] }) => counts.length > 0))
        found.push(...may.flatMap(({ counts = [], site }) => counts.map((one): Bound => ({ kind: "count", text: countText(one), site }))));
    return found;
}

function nameOf({ thing, method }: Line): string {
    return method === null ? thing.name : `${thing.name}.${method}`;
}

/** A clause of the program that every import of the thing has. */
function speaks(imports: readonly Imported[], clause: ClauseForm): boolean {
    return (clause.kind === "arg" || clause.kind === "choice") && imports.every((one) => speaksOf(one, clause));
}
