/**
 * Deterministic auditors: rules over the events of a run and what its program gives. No model is needed and none can take a finding away.
 *
 * Boundary: pure; events and a program form in, findings out.
 *
 * Rules: `taint-to-target` (what an untrusted source said chooses where a call goes), `boundary-breach` (somebody tried what it may not),
 * `flow-refused`, `flow-approved` (a person let a forbidden flow through), `endorsed`, `broad-grant`, `unused-grant`, `invariant`, `drift`.
 *
 * U1: what is found follows from the events in their order and the program alone: told event by event or all at once, it is the same.
 * U2: texts in the events are compared and shown, never followed.
 */
import {
    type GrantForm,
    type ImportForm,
    type Json,
    type Program,
    type RemitForm,
    type Site,
    trustedOrigins,
    isObject,
    shownName,
} from "@remit/language";
import { shownPrincipal } from "../authority/authority.ts";
import type { LedgerEvent } from "../ledger/events.ts";
import { drifted, type Profile } from "./drift.ts";
import type { Evidence, Finding, Severity } from "./finding.ts";
import { breaks, type Call, type Invariant, meant, sameImports } from "./invariant.ts";
import { declarations } from "./reads.ts";

export interface RuleRow {
    readonly id: string;
    readonly severity: Severity;
    readonly summary: string;
}

export const RULES: readonly RuleRow[] = [
    { id: "taint-to-target", severity: "medium", summary: "What an untrusted source said chooses where a call goes." },
    { id: "boundary-breach", severity: "high", summary: "Somebody used, or tried to use, what it may not." },
    { id: "flow-refused", severity: "high", summary: "A value was stopped on its way to where a clause does not let it go." },
    { id: "flow-approved", severity: "low", summary: "A person let a value through that a clause forbids." },
    { id: "endorsed", severity: "note", summary: "A value was called trusted, or its readers were widened." },
    { id: "broad-grant", severity: "low", summary: "A remit gives every method, and only some were used." },
    { id: "unused-grant", severity: "note", summary: "A remit gives what was not used in this run." },
    { id: "invariant", severity: "high", summary: "A declared invariant does not hold." },
    { id: "drift", severity: "medium", summary: "Somebody has, or does, what it did not in what the run is compared with." },
];

export interface AuditOptions {
    readonly invariants?: readonly Invariant[];
    /** Origins that count as trusted besides `user` and what was endorsed. */
    readonly trusted?: readonly string[];
    /** What was given and done before: anything else is a finding. */
    readonly against?: Profile;
}

/** Rules that are told one event after the other. */
export interface Auditor {
    /** What can be seen before anything happened. */
    begin(): Finding[];
    event(event: LedgerEvent): Finding[];
    /** What can be seen only when all has happened. */
    end(): Finding[];
}

/** Arguments that say where a call goes, by their usual names. */
const TARGETS: ReadonlySet<string> = new Set(
    "to cc bcc recipient recipients email address url uri href path file account iban payee beneficiary channel user username phone host command".split(
        " ",
    ),
);

/** Parts of one argument that a finding names. */
const MAX_SHOWN = 5;

type Data = { readonly [key: string]: Json };

export function auditEvents(events: Iterable<LedgerEvent>, program: Program, options: AuditOptions = {}): Finding[] {
    const auditor = auditorOf(program, options);
    const found = auditor.begin();
    for (const event of events) found.push(...auditor.event(event));
    return [...found, ...auditor.end()];
}

export function auditorOf(program: Program, options: AuditOptions = {}): Auditor {
    let found: Finding[] = [];
    const used = new Map<string, Set<string>>();
    /** What was asked about, whether or not somebody said yes: it was not given for nothing. */
    const asked = new Set<string>();
    const flows = new Map<string, LedgerEvent>();
    /** Tools that gave something: the description of one that did not is no data of others. */
    const answered = new Set<string>();
    const declared = declarations();
    const same = sameImports(program);
    const drift = options.against === undefined ? null : drifted(program, options.against);
    const trusted = new Set([...(options.trusted ?? []), ...trustedOrigins(program)]);
    const untrusted = (origins: readonly string[]): string[] =>
        origins.filter((o) => o !== "user" && !o.startsWith("endorsed:") && !o.startsWith("only:") && !trusted.has(o));
    const told = (origin: string): boolean => (origin.startsWith("tool:") ? answered.has(origin) : !origin.startsWith("model:"));
    const add = (rule: string, event: LedgerEvent, message: string, more: Partial<Finding> = {}): void => {
        const row = RULES.find((r) => r.id === rule) as RuleRow;
        found.push({
            rule,
            severity: row.severity,
            message,
            site: event.site,
            path: event.path,
            principal: shownPrincipal(event.principal),
            evidence: [evidenceOf(event)],
            confidence: 1,
            by: "remit",
            ...more,
        });
    };
    const take = (): Finding[] => {
        const taken = found;
        found = [];
        return taken;
    };
    const look = (event: LedgerEvent): void => {
        const data = (event.data ?? {}) as Data;
        const principal = shownPrincipal(event.principal);
        switch (event.kind) {
            case "tool.started":
            case "memory.started": {
                const name = String(data["tool"] ?? data["memory"] ?? "");
                const method =
                    typeof data["method"] === "string" ? data["method"] : typeof data["operation"] === "string" ? data["operation"] : null;
                const args = Array.isArray(data["args"]) ? data["args"] : data["args"] === undefined ? [] : [data["args"]];
                const uri = String(data["uri"] ?? "");
                const what = event.kind === "tool.started" ? "tool" : "memory";
                const call: Call = { principal, tool: name, uri, method, args, same: same(what, name, uri) };
                const key = `${event.principal} ${name}`;
                used.set(key, (used.get(key) ?? new Set()).add(method ?? ""));
                for (const rule of options.invariants ?? [])
                    if (breaks(call, rule))
                        add("invariant", event, `${rule.text}: ${principal} called ${name}${method === null ? "" : `.${method}`}`);
                const origins = untrusted(event.labels);
                const did = meant(call);
                // By what only reads nothing goes anywhere but the address itself.
                if (event.kind === "memory.started" || origins.length === 0 || did.method === null) break;
                if (declared.reads(name, uri, String(data["scheme"]), did.method)) break;
                // A model that chose the call had all of its prompt before it: who said it is not certain, only who could have.
                const possible = data["chosen_by"] === "model" ? origins.filter(told) : [];
                const groups = new Map<string, { readonly from: string[]; readonly certain: boolean; readonly shown: string[] }>();
                for (const target of targetsOf(call, declared.parameters(name, uri, did.method))) {
                    const says = tainted(data, target, (origins) =>
                        untrusted(origins).filter((one) => !letIn(program, name, did.method as string, target.name, one)),
                    );
                    const from = says ?? (possible.length > 0 ? possible : null);
                    if (from === null) continue;
                    const certain = says !== null && target.whole;
                    const key = JSON.stringify([target.holder, certain, from]);
                    const group = groups.get(key) ?? { from, certain, shown: [] };
                    groups.set(key, group);
                    group.shown.push(target.shown);
                }
                for (const { from, certain, shown } of groups.values()) {
                    const argument =
                        shown.length > MAX_SHOWN
                            ? `${shown.slice(0, MAX_SHOWN).join(", ")} and ${shown.length - MAX_SHOWN} more`
                            : shown.join(", ");
                    add(
                        "taint-to-target",
                        event,
                        `${name}.${did.method} goes where ${from.join(", ")} ${certain ? "says" : "may have said"} (argument ${argument})`,
                        { detail: { argument, origins: from }, confidence: certain ? 1 : 0.5 },
                    );
                }
                break;
            }
            case "effect.ended":
                if (data["op"] === "describe") declared.learn(String(data["tool"]), String(data["uri"]), data["result"] ?? null);
                break;
            case "tool.ended":
                answered.add(`tool:${String(data["tool"])}`);
                break;
            case "policy.denied": {
                const what = String(data["capability"] ?? data["why"] ?? "something");
                if (data["why"] === "flow") {
                    const flow = (data["flow"] ?? {}) as Data;
                    add("flow-refused", event, `${what}: argument ${String(flow["arg"])} carries ${list(flow["origins"])}`, {
                        detail: flow,
                    });
                } else add("boundary-breach", event, `${principal} tried ${what}, which it may not (${String(data["why"])})`);
                break;
            }
            case "ask.requested": {
                const about = (data["detail"] ?? {}) as Data;
                if (about["flow"] !== undefined) flows.set(event.path, event);
                asked.add(`${String(about["principal"])} ${String(about["tool"])}`);
                asked.add(`${String(about["principal"])} ${String(about["tool"])}.${String(about["method"])}`);
                break;
            }
            case "ask.decided": {
                const question = flows.get(event.path);
                if (question === undefined || (data["decision"] !== "once" && data["decision"] !== "session")) break;
                const detail = ((question.data as Data)["detail"] ?? {}) as Data;
                const flow = (detail["flow"] ?? {}) as Data;
                add(
                    "flow-approved",
                    event,
                    `${String(detail["capability"])}: argument ${String(flow["arg"])} carries ${list(flow["origins"])}, and somebody said yes`,
                    {
                        evidence: [evidenceOf(question), evidenceOf(event)],
                        principal: shownPrincipal(question.principal),
                    },
                );
                break;
            }
            case "policy.endorsed":
                add("endorsed", event, `${principal} endorsed what carries ${list(data["before"])}, because: ${String(data["because"])}`);
                break;
            default:
                break;
        }
        const other = drift?.event(event) ?? null;
        if (other !== null) add("drift", event, other.message, { severity: other.severity, detail: { key: other.key } });
    };
    return {
        begin: () => drift?.begin() ?? [],
        event: (event) => {
            look(event);
            return take();
        },
        end: () => grants(program, used, asked),
    };
}

/** Grants of remits against what was used. */
function grants(program: Program, used: ReadonlyMap<string, ReadonlySet<string>>, asked: ReadonlySet<string>): Finding[] {
    const found: Finding[] = [];
    for (const file of program.files)
        for (const agent of file.agents) {
            const remit = remitOf(agent.remit, file.remits ?? []);
            if (remit === null) continue;
            const id = `agent:${file.file}#${agent.name}`;
            const who = shownName(agent.name);
            for (const grant of remit.grants.filter((g) => g.gate !== "never" && g.all === true)) {
                const site = siteOf(file.file, grant.at);
                if (site === null) continue;
                const names = file.imports.map((i) => i.name);
                const did = names.flatMap((name) => [...(used.get(`${id} ${name}`) ?? [])].map((m) => (m === "" ? name : `${name}.${m}`)));
                found.push({
                    rule: did.length === 0 ? "unused-grant" : "broad-grant",
                    severity: did.length === 0 ? "note" : "low",
                    message: `${who} has all that its file names and used ${did.length === 0 ? "nothing of it" : did.sort().join(", ")}`,
                    site,
                    path: null,
                    principal: who,
                    evidence: [{ kind: "site", site }],
                    confidence: 1,
                    by: "remit",
                });
            }
            for (const grant of remit.grants.filter((g) => g.gate !== "never" && g.all !== true))
                for (const ref of grant.refs) {
                    const methods = used.get(`${id} ${ref.name}`) ?? new Set<string>();
                    const site = siteOf(file.file, ref.at ?? grant.at);
                    if (site === null) continue;
                    const what = `${ref.name}${ref.method === undefined ? "" : `.${ref.method}`}`;
                    const base = {
                        site,
                        path: null,
                        principal: who,
                        evidence: [{ kind: "site", site }] as Evidence[],
                        confidence: 1,
                        by: "remit",
                    };
                    const isTool = file.imports.some((i) => i.name === ref.name && (i.what === "tool" || i.what === "memory"));
                    if (!isTool) continue;
                    const isUsed = ref.method === undefined ? methods.size > 0 : methods.has(ref.method);
                    if (!isUsed && asked.has(`${id} ${what}`)) continue;
                    if (!isUsed)
                        found.push({
                            ...base,
                            rule: "unused-grant",
                            severity: "note",
                            message: `${who} has ${what} and did not use it`,
                        });
                    else if (ref.method === undefined)
                        found.push({
                            ...base,
                            rule: "broad-grant",
                            severity: "low",
                            message: `${who} has all of ${what} and used ${[...methods].sort().join(", ")}`,
                        });
                }
        }
    return found;
}

export function remitOf(use: RemitForm | undefined, named: readonly RemitForm[]): { readonly grants: readonly GrantForm[] } | null {
    if (use === undefined) return null;
    return use.use === undefined ? use : (named.find((r) => r.name === use.use) ?? null);
}

/** An argument, or a part of one, that says where a call goes. */
interface Target {
    /** Its own name: `to`. */
    readonly name: string;
    /** As a person is told: `message.to`. */
    readonly shown: string;
    /** The argument of the call that holds it, as the event names it: by its name, or by its place from 1. */
    readonly holder: string;
    /** Nothing else is in that argument: what it carries, the target carries. */
    readonly whole: boolean;
}

/** Every part that says where a call goes, whatever it stands in. `parameters`: names of what is given by place, as far as they are known. */
function targetsOf(call: Pick<Call, "uri" | "method" | "args">, parameters: readonly string[]): Target[] {
    const { args } = call;
    const inner = meant(call).args;
    if (inner !== args) {
        const found = inner.flatMap((json) => targetsIn(json, "", false));
        return found.map((one) => ({
            ...one,
            holder: "args",
            whole: inner.every((json) => isOnlyTargets(json, false)),
        }));
    }
    const [first] = args;
    const named = args.length === 1 && isObject(first) ? Object.entries(first) : null;
    const all = named ?? args.map((json, at): [string, Json] => [parameters[at] ?? String(at + 1), json]);
    return all.flatMap(([name, json], at) =>
        targetsIn(json, name, isTarget(name)).map((one) => ({
            ...one,
            holder: named === null ? String(at + 1) : name,
            whole: isOnlyTargets(json, isTarget(name)),
        })),
    );
}

function isTarget(name: string): boolean {
    return TARGETS.has(name.toLowerCase());
}

/** Targets of a value: itself where it is one, else the parts of it that are, each once. */
function targetsIn(json: Json, shown: string, is: boolean): { readonly name: string; readonly shown: string }[] {
    if (is) return [{ name: shown.slice(shown.lastIndexOf(".") + 1), shown }];
    const parts: (readonly [string, Json])[] = Array.isArray(json)
        ? json.map((one) => ["", one])
        : isObject(json)
          ? Object.entries(json)
          : [];
    const found = new Map<string, { readonly name: string; readonly shown: string }>();
    for (const [name, part] of parts)
        for (const one of targetsIn(part, [shown, name].filter((text) => text !== "").join("."), isTarget(name))) found.set(one.shown, one);
    return [...found.values()];
}

function isOnlyTargets(json: Json, is: boolean): boolean {
    if (is) return true;
    if (Array.isArray(json)) return json.every((one) => isOnlyTargets(one, false));
    return isObject(json) && Object.entries(json).every(([name, one]) => isOnlyTargets(one, isTarget(name)));
}

/** Whether the clauses of the tool name the origin as one that the argument may come from: the program's author has said so. */
function letIn(program: Program, tool: string, method: string, target: string, origin: string): boolean {
    const imports = program.files.flatMap((file) => file.imports.filter((i) => i.what === "tool" && i.name === tool));
    const says = (i: ImportForm): boolean =>
        i.clauses?.some(
            (c) =>
                c.kind === "arg" &&
                c.name === target &&
                (c.method === undefined || c.method === method) &&
                c.among !== true &&
                c.addresses !== true &&
                c.from?.includes(origin) === true,
        ) === true;
    return imports.length > 0 && imports.every(says);
}

/** Untrusted origins of the argument that holds a target, where the event has them; null where it carries none. */
function tainted(data: Data, { holder }: Target, untrusted: (origins: readonly string[]) => string[]): string[] | null {
    const byName = data["origins"];
    if (byName === null || byName === undefined || typeof byName !== "object" || Array.isArray(byName)) return null;
    const own = Object.hasOwn(byName, holder) ? byName[holder] : undefined;
    if (!Array.isArray(own)) return null;
    const bad = untrusted(own.filter((o): o is string => typeof o === "string"));
    return bad.length === 0 ? null : bad;
}

function evidenceOf(event: LedgerEvent): Evidence {
    return { kind: "event", run: event.run, seq: event.seq, hash: event.hash };
}

export function siteOf(file: string, at: readonly [number, number, number, number] | undefined): Site | null {
    return at === undefined ? null : { file, line: at[0], column: at[1], endLine: at[2], endColumn: at[3] };
}

function list(value: Json | undefined): string {
    return Array.isArray(value) ? value.map(String).join(", ") : "what it may not";
}
