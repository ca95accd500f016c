/**
 * The table that an adaptive attacker would make: what is left to hostile data of each use, and what stops the rest.
 *
 * Boundary: what was found in, rows out; texts for people are `show.ts`'s.
 */
import type { Site } from "../text/source.ts";
import type { Fact, Facts } from "./facts.ts";
import { ANY, type Known } from "./known.ts";
import type { Bound, Does, Rules, Ruling, Stop } from "./rules.ts";
import { type Scope, USER } from "./scope.ts";
import type { By, Seen, Uses } from "./uses.ts";

/** What is assumed, besides what the program says. `remit check` prints it. */
export const ASSUMED: readonly string[] = [
    "every question is answered no; what is let through by a yes, now or for the session, can do more",
    "the other data of the run (the user's words, other tools) is not hostile, and other tools do not pass hostile data on behind the program's back: a tool gives back what was written to it, tools of the workspace what any of them wrote, and no tool what another one was sent",
    "tools do what they say of themselves: what calls itself reading alone only reads, and results and descriptions come from where the import says",
    "that a run fails, ends at a limit or takes longer is not counted, unless the program catches the failure; nor is what `time.now()` gives, which whoever answers late may choose",
    "an endorsed value is counted as hostile where hostile data was endorsed, and listed with the place",
];

export interface HostileArg {
    /** `*`: any that no other line names; a number: by its place. */
    readonly name: string;
    /** `writes`: the data is in it; `picks`: the data decides which of the program's own values it is. */
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

export function tableOf(found: Found): HostileTable {
    const uses: HostileUse[] = [];
    const stopped: HostileStop[] = [];
    for (const use of found.uses.all.values()) {
        const principals = new Set([...use.in].flatMap((id) => [...found.known.set(`runs ${id}`)]));
        for (const principal of principals) rowsOf(found, use, principal, { uses, stopped });
    }
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
    out: { readonly uses: HostileUse[]; readonly stopped: HostileStop[] },
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
        stop("use", null, gate.stop, all);
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
    const facts = chosen.let.map(({ fact }) => fact);
    const choice = chosen.let.length === 0 ? null : { bounds: leastOf(chosen), from: fromOf(facts), decides: sitesOf(facts) };
    out.uses.push({ ...row, choice, args, bounds: gate.bounds });
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
    return kind !== "allowed" && kind !== "endorsed";
}

/** The bounds of the way that leaves most. */
function leastOf(parted: Parted): readonly Bound[] {
    const ways = parted.let.map(({ bounds }) => bounds);
    return ways.reduce((a, b) => (b.filter(isNarrow).length < a.filter(isNarrow).length ? b : a), ways[0] ?? []);
}

/** One for each way in which data gets into it; a way that leaves all stands for the others. */
function argsOf(name: string, how: HostileArg["how"], parted: Parted): HostileArg[] {
    const ways = new Map<string, { bounds: readonly Bound[]; facts: Fact[] }>();
    for (const { fact, bounds } of parted.let) {
        const key = JSON.stringify(bounds.filter(isNarrow));
        const known = ways.get(key);
        if (known === undefined) ways.set(key, { bounds, facts: [fact] });
        else known.facts.push(fact);
    }
    const free = ways.get("[]");
    return [...(free === undefined ? ways.values() : [free])].map(({ bounds, facts }) => ({ name, how, bounds, from: fromOf(facts) }));
}

function fromOf(facts: readonly Fact[]): readonly string[] {
    return [...new Set(facts.map(({ from }) => from))].sort();
}

function sitesOf(facts: readonly Fact[]): readonly Site[] {
    const sites = facts.flatMap(({ decides }) => decides ?? []);
    return [...new Map(sites.map((site) => [`${site.file}:${site.line}:${site.column}`, site])).values()];
}
