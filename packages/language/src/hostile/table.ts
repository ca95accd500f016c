/**
 * The table that an adaptive attacker would make: what is left to hostile data of each use, and what stops the rest.
 *
 * Boundary: what was found in, rows out; texts for people are `show.ts`'s.
 */
import type { Site } from "../text/source.ts";
import type { Fact, Facts } from "./facts.ts";
import { differing } from "./again.ts";
import { ANY, type Known } from "./known.ts";
import type { Bound, Does, Rules, Ruling, Stop } from "./rules.ts";
import { type Scope, USER } from "./scope.ts";
import type { By, Seen, Uses } from "./uses.ts";

/** What is assumed, besides what the program says. `remit check` prints it. */
export const ASSUMED: readonly string[] = [
    "every question is answered no; what is let through by a yes, now or for the session, can do more",
    "the other data of the run (the user's words, other tools) is not hostile, and other tools do not pass hostile data on behind the program's back: a tool gives back what was written to it, tools of the workspace what any of them wrote, and no tool what another one was sent",
    "tools do what they say of themselves: what calls itself reading alone only reads, and results and descriptions come from where the import says",
    "that a run fails, ends at a limit or takes longer is not counted, unless the program catches the failure; nor is what `time.now()` gives, which a tool or person that answers late may choose",
    "an endorsed value is counted as hostile where hostile data was endorsed, and listed with the place",
];

export interface HostileArg {
    /** `*`: any that no other line names; a number: by its place. */
    readonly name: string;
    /** `writes`: the data is in it; `picks`: the data decides which of the program's own values it is, or which of the calls that send others is made. */
    readonly how: "writes" | "picks";
    /** What is left to it, and what lets it in. All of them hold. */
    readonly bounds: readonly Bound[];
    /** Where the data comes from. */
    readonly from: readonly string[];
}

interface Row {
    /** `user`, or the name of an agent. */
    readonly principal: string;
    /** As the program calls it; its file is `file`. */
    readonly tool: string;
    readonly what: "tool" | "memory" | "agent";
    readonly uri: string;
    readonly file: string;
    /** `*`: any that no other line names. */
    readonly method: string;
    readonly does: Does;
    /** Who makes the call. */
    readonly by: By;
    readonly site: Site | null;
}

export interface HostileUse extends Row {
    /** What may decide that it is called; null where no hostile data may. */
    readonly choice: { readonly bounds: readonly Bound[]; readonly from: readonly string[]; readonly decides: readonly Site[] } | null;
    readonly args: readonly HostileArg[];
    /** Of the use as a whole: counts, the bounds of the lines that give it, gates that let it through. */
    readonly bounds: readonly Bound[];
}

export interface HostileStop extends Row {
    readonly outcome: Stop["outcome"];
    /** What is stopped: the use as a whole (by its gate), the choice of it, or an argument. */
    readonly of: "use" | "choice" | "argument";
    readonly arg: string | null;
    /** The rule as it is written, and where. */
    readonly rule: string;
    readonly clause: Site | null;
    readonly from: readonly string[];
    /** Of a choice: the condition, loop, name or prompt that it depends on. */
    readonly decides: readonly Site[];
}

export interface HostileTable {
    readonly hostile: readonly string[];
    readonly assumed: readonly string[];
    readonly uses: readonly HostileUse[];
    readonly stopped: readonly HostileStop[];
}

interface Found {
    readonly hostile: readonly string[];
    readonly scope: Scope;
    readonly known: Known;
    readonly rules: Rules;
    readonly uses: Uses;
}

/** A row with what it is made of. */
interface Told {
    readonly use: Seen;
    readonly row: HostileUse;
}

export function tableOf(found: Found): HostileTable {
    const told: Told[] = [];
    const stopped: HostileStop[] = [];
    for (const use of found.uses.all.values()) {
        const principals = new Set([...use.in].flatMap((id) => [...found.known.set(`runs ${id}`)]));
        for (const principal of principals) rowsOf(found, use, principal, { told, stopped });
    }
    const uses = withPicked(told);
    const order = (a: Row, b: Row): number => placeText(a).localeCompare(placeText(b));
    return { hostile: found.hostile, assumed: ASSUMED, uses: uses.sort(order), stopped: stopped.sort(order) };
}

function placeText({ site, file, tool, method }: Row): string {
    const number = (n: number | undefined): string => String(n ?? 0).padStart(6, "0");
    return `${site?.file ?? file} ${number(site?.line)} ${number(site?.column)} ${tool} ${method}`;
}

function rowsOf(
    { scope, rules }: Found,
    use: Seen,
    principal: string,
    out: { readonly told: Told[]; readonly stopped: HostileStop[] },
): void {
    const { thing, method } = use;
    const row: Row = {
        principal: principal === USER ? USER : principal.slice(principal.lastIndexOf("#") + 1),
        tool: thing.name,
        what: thing.what as Row["what"],
        uri: thing.import?.uri ?? "",
        file: scope.program.files[use.file]?.file ?? "",
        method: method ?? ANY,
        does: rules.does(thing, method),
        by: use.by,
        site: use.site,
    };
    const stop = (of: HostileStop["of"], arg: string | null, { outcome, rule, site }: Stop, facts: readonly Fact[]): void => {
        out.stopped.push({ ...row, of, arg, outcome, rule, clause: site, from: fromOf(facts), decides: sitesOf(facts) });
    };
    const by = use.named && use.by === "program" ? "model" : use.by;
    const gate = rules.gate(principal, thing, method, by);
    const all = [...use.choice.values(), ...[...use.args.values()].flatMap(({ data }) => [...data.values()])];
    if ("stop" in gate) {
        if (method !== null || !rules.namesMethods(principal, thing)) stop("use", null, gate.stop, all);
        return;
    }
    const always = rules.always(use);
    if (always !== null) {
        stop("choice", null, always, all);
        return;
    }
    const chosen = partedBy(use.choice, (fact) => rules.choice(thing, method, fact));
    for (const one of chosen.stops) stop("choice", null, one.stop, one.facts);
    const args: HostileArg[] = [];
    for (const [name, { data, picks }] of use.args) {
        const written = partedBy(data, (fact) => {
            // What a model or agent writes, it was shown, where nothing is hidden: who chose the call is who wrote it.
            const whole = use.by === "program" || use.hides ? null : rules.choice(thing, method, fact);
            return whole !== null && "stop" in whole ? whole : rules.arg(thing, method, name, fact);
        });
        if (use.by === "program") for (const one of written.stops) stop("argument", name, one.stop, one.facts);
        args.push(...argsOf(name, "writes", written));
        if (use.by === "program")
            args.push(
                ...argsOf(
                    name,
                    "picks",
                    partedBy(picks, (fact) => rules.choice(thing, method, fact)),
                ),
            );
    }
    if (chosen.let.length === 0 && args.length === 0) return;
    out.told.push({ use, row: { ...row, choice: choiceOf(chosen), args, bounds: gate.bounds } });
}

/** Where data chooses between calls of one method, it picks the arguments in which they differ; so does what chooses a model's call. */
function withPicked(told: readonly Told[]): HostileUse[] {
    const groups = new Map<string, Told[]>();
    for (const one of told) {
        if (one.row.choice === null) continue;
        const key = one.use.by === "program" ? `${one.use.thing.key} ${one.row.method}` : `model ${groups.size}`;
        groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    const rows = new Map(told.map(({ row }) => [row, row]));
    for (const group of groups.values()) {
        const names = differing([...new Map(group.map(({ use }) => [use, use])).values()]);
        for (const { row } of group) {
            const { choice, args } = row;
            if (choice === null) continue;
            const { bounds, from } = choice;
            const isTold = (name: string): boolean => args.some((arg) => arg.name === name && leavesAll(arg.bounds, bounds));
            const more = names.filter((name) => !isTold(name)).map((name): HostileArg => ({ name, how: "picks", bounds, from }));
            rows.set(row, { ...row, args: [...args, ...more] });
        }
    }
    return [...rows.values()];
}

interface Parted {
    readonly let: readonly { readonly fact: Fact; readonly bounds: readonly Bound[] }[];
    readonly stops: readonly { readonly stop: Stop; readonly facts: readonly Fact[] }[];
}

function partedBy(facts: Facts, rule: (fact: Fact) => Ruling): Parted {
    const passed: { fact: Fact; bounds: readonly Bound[] }[] = [];
    const stops = new Map<string, { stop: Stop; facts: Fact[] }>();
    for (const fact of facts.values()) {
        const ruling = rule(fact);
        if ("bounds" in ruling) passed.push({ fact, bounds: ruling.bounds });
        else {
            const key = JSON.stringify(ruling.stop);
            const known = stops.get(key);
            if (known === undefined) stops.set(key, { stop: ruling.stop, facts: [fact] });
            else known.facts.push(fact);
        }
    }
    return { let: passed, stops: [...stops.values()] };
}

function isNarrow({ kind }: Bound): boolean {
    return kind !== "allowed" && kind !== "endorsed" && kind !== "way";
}

/** By the way that leaves most. */
function choiceOf({ let: ways }: Parted): HostileUse["choice"] {
    const [first] = ways;
    if (first === undefined) return null;
    const facts = ways.map(({ fact }) => fact);
    const narrow = (bounds: readonly Bound[]): number => bounds.filter(isNarrow).length;
    const { bounds } = ways.reduce((a, b) => (narrow(b.bounds) < narrow(a.bounds) ? b : a), first);
    return { bounds, from: fromOf(facts), decides: sitesOf(facts) };
}

/** One for each way in which data gets into it; a way that leaves more stands for the others. */
function argsOf(name: string, how: HostileArg["how"], parted: Parted): HostileArg[] {
    const ways = new Map<string, { bounds: readonly Bound[]; facts: Fact[] }>();
    for (const { fact, bounds } of parted.let) {
        const key = JSON.stringify(bounds.filter(isNarrow));
        const known = ways.get(key);
        if (known === undefined) ways.set(key, { bounds, facts: [fact] });
        else known.facts.push(fact);
    }
    const all = [...ways.values()];
    const most = all.filter((way) => !all.some((other) => other !== way && leavesAll(other.bounds, way.bounds)));
    return most.map(({ bounds, facts }) => ({ name, how, bounds, from: fromOf(facts) }));
}

/** Whether `bounds` leave all that `others` leave. */
function leavesAll(bounds: readonly Bound[], others: readonly Bound[]): boolean {
    const texts = new Set(others.filter(isNarrow).map((one) => JSON.stringify(one)));
    return bounds.filter(isNarrow).every((one) => texts.has(JSON.stringify(one)));
}

function fromOf(facts: readonly Fact[]): readonly string[] {
    return [...new Set(facts.map(({ from, way }) => (way === undefined ? from : `${from}, by way of ${way}`)))].sort();
}

function sitesOf(facts: readonly Fact[]): readonly Site[] {
    const sites = facts.flatMap(({ decides }) => decides ?? []);
    return [...new Map(sites.map((site) => [`${site.file}:${site.line}:${site.column}`, site])).values()];
}
