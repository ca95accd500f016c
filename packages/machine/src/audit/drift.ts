/**
 * Drift: what a principal has or does in this run and had or did not in another.
 *
 * Boundary: pure; a profile is a list of texts.
 *
 * DT1: each new thing is told once, however often it happens.
 * DT2: what a new grant explains is not told again: using what was just given is not a second finding.
 */
import { boundText, type Json, type Program, resourceOf, shownUse, siteAt } from "@remit/language";
import { shownPrincipal } from "../authority/authority.ts";
import { placeOf } from "../authority/match.ts";
import type { LedgerEvent } from "../ledger/events.ts";
import { type Finding, findingAt, type Severity } from "./finding.ts";
import { remitOf } from "./grants.ts";

/** What was given and done: sorted texts such as `Fixer may Repo.write in "src/**"`, `Fixer calls Repo.write`. */
export interface Profile {
    readonly version: 1;
    readonly given: readonly string[];
    readonly done: readonly string[];
}

export interface Drift {
    readonly key: string;
    readonly severity: Severity;
    readonly message: string;
}

/** Who may use what a file imports, for what an import explains. */
const ANYBODY = "*";

interface Seen {
    readonly key: string;
    readonly who: string;
    /** Names of what it is about; empty: anything. */
    readonly things: readonly string[];
}

type Data = { readonly [key: string]: Json };

export function profileOf(events: Iterable<LedgerEvent>, program: Program): Profile {
    const given = new Set(written(program).map((one) => one.key));
    const done = new Set<string>();
    const questions = new Map<string, LedgerEvent>();
    for (const event of events) {
        const grant = grantIn(event, questions);
        if (grant !== null) given.add(grant.key);
        const use = useIn(event);
        if (use !== null) done.add(use.key);
    }
    return { version: 1, given: [...given].sort(), done: [...done].sort() };
}

export function drifted(program: Program, against: Profile): { begin(): Finding[]; event(event: LedgerEvent): Drift | null } {
    const known = new Set([...against.given, ...against.done]);
    /** By principal: what it was newly given; null: everything. */
    const explained = new Map<string, Set<string> | null>();
    const questions = new Map<string, LedgerEvent>();
    const explain = (one: Seen): void => {
        if (one.things.length === 0) explained.set(one.who, null);
        else if (explained.get(one.who) !== null)
            explained.set(one.who, new Set([...(explained.get(one.who) ?? new Set<string>()), ...one.things]));
    };
    const fresh = (one: Seen): boolean => {
        if (known.has(one.key)) return false;
        known.add(one.key);
        return true;
    };
    return {
        begin: () =>
            written(program).flatMap((one): Finding[] => {
                if (!fresh(one)) return [];
                explain(one);
                if (one.site === null) return [];
                const principal = one.who === ANYBODY ? null : one.who;
                const message = `new: ${one.key}`;
                return [findingAt(one.site, { rule: "drift", severity: "medium", message, principal, detail: { key: one.key } })];
            }),
        event: (event) => {
            const grant = grantIn(event, questions);
            if (grant !== null) {
                if (!fresh(grant)) return null;
                explain(grant);
                return { key: grant.key, severity: "medium", message: `new: ${grant.key}` };
            }
            const use = useIn(event);
            if (use === null || !fresh(use)) return null;
            for (const who of [use.who, ANYBODY]) {
                const why = explained.get(who);
                if (why === null || use.things.some((thing) => why?.has(thing) === true)) return null;
            }
            return { key: use.key, severity: "low", message: `new: ${use.key}` };
        },
    };
}

type Written = Seen & { readonly site: Finding["site"] };

/** What imports and remits say in the text. */
function written(program: Program): Written[] {
    return program.files.flatMap((file): Written[] => [
        ...file.imports
            .filter((one) => one.what === "tool" || one.what === "memory")
            .map(
                (one): Written => ({
                    key: `${file.file} imports ${one.what} ${one.name} from ${one.uri}`,
                    who: ANYBODY,
                    things: [one.name],
                    site: siteAt(file.file, one.at),
                }),
            ),
        ...file.agents.flatMap((agent) => {
            const remit = remitOf(agent.remit, file.remits ?? []);
            if (remit === null) return [];
            const out: Written[] = [];
            for (const grant of remit.grants) {
                if (grant.gate === "never") continue;
                const site = siteAt(file.file, grant.at);
                if (grant.all === true) out.push({ key: `${agent.name} ${grant.gate} all`, who: agent.name, things: [], site });
                for (const ref of grant.refs) {
                    const what = `${ref.name}${ref.method === undefined ? "" : `.${ref.method}`}${(ref.in ?? []).map(boundText).join("")}`;
                    const at = siteAt(file.file, ref.at) ?? site;
                    out.push({ key: `${agent.name} ${grant.gate} ${what}`, who: agent.name, things: [ref.name], site: at });
                }
            }
            return out;
        }),
    ]);
}

/** A delegation, a capability handed over, a yes for the session. */
function grantIn(event: LedgerEvent, questions: Map<string, LedgerEvent>): Seen | null {
    const data = (event.data ?? {}) as Data;
    if (event.kind === "ask.requested") questions.set(event.path, event);
    if (event.kind === "ask.decided" && data["decision"] === "session") {
        const asked = questions.get(event.path);
        const detail = ((asked?.data as Data | undefined)?.["detail"] ?? null) as Data | null;
        if (detail === null) return null;
        const who = shownPrincipal(String(detail["principal"] ?? asked?.principal ?? ""));
        const what = String(detail["capability"] ?? "");
        return { key: `${who} was allowed ${shownUse(what)} for the session`, who, things: [bare(what)] };
    }
    if (event.kind !== "delegate.granted") return null;
    const who = shownPrincipal(String(data["to"] ?? ""));
    const from = shownPrincipal(String(data["from"] ?? ""));
    const list = Array.isArray(data["grants"]) ? data["grants"] : [];
    const all = data["grants"] === "all";
    const shown = list.map(shownGrant).sort();
    const within = withinText(data["within"]);
    const things = list.map((one) => bare(typeof one === "string" ? one : String((one as Data | null)?.["name"] ?? "")));
    const onward = data["onward"] === true ? " onward" : "";
    return { key: `${who} was given ${all ? "all" : shown.join(", ")}${within}${onward} by ${from}`, who, things: all ? [] : things };
}

function shownGrant(one: Json): string {
    if (typeof one === "string") return one;
    const data = (one ?? {}) as Data;
    const methods = Array.isArray(data["methods"]) ? `.only(${data["methods"].join(", ")})` : "";
    return `${String(data["name"])}${methods}${withinText(data["within"])}`;
}

function withinText(patterns: Json | undefined): string {
    return Array.isArray(patterns) ? ` in ${patterns.map((one) => JSON.stringify(one)).join(", ")}` : "";
}

/** A call, with the origin it goes to where its address is a whole one. */
function useIn(event: LedgerEvent): Seen | null {
    if (event.kind !== "tool.started" && event.kind !== "memory.started") return null;
    const data = (event.data ?? {}) as Data;
    const who = shownPrincipal(event.principal);
    const name = String(data["tool"] ?? data["memory"] ?? "");
    const method = data["method"] ?? data["operation"];
    const what = typeof method === "string" ? `${name}.${method}` : name;
    return { key: `${who} calls ${shownUse(what)}${origin(data)}`, who, things: [name] };
}

function origin(data: Data): string {
    const uri = String(data["uri"] ?? "");
    const resource = resourceOf(uri);
    if (resource?.kind !== "url") return "";
    const [first] = Array.isArray(data["args"]) ? data["args"] : [];
    const address = first !== null && typeof first === "object" && !Array.isArray(first) ? (first as Data)[resource.field] : first;
    const place = placeOf(typeof address === "string" ? address : uri, uri);
    return place === null ? " at an address that cannot be read" : ` at ${place.origin}`;
}

function bare(name: string): string {
    return name.split(".")[0] as string;
}
