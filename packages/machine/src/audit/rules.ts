/**
 * Deterministic auditors: rules over the events of a run and what its program gives. No model is needed and none can take a finding away.
 *
 * Boundary: pure; events and a program form in, findings out.
 *
 * Rules: `taint-to-target` (what an untrusted source said chooses where a call goes), `boundary-breach` (a principal tried what it may not),
 * `flow-refused`, `flow-approved` (a person let a forbidden flow through), `endorsed`, `broad-grant`, `unused-grant`, `invariant`, `drift`.
 *
 * RUL1: what is found follows from the events in their order and the program alone: told event by event or all at once, it is the same.
 * RUL2: texts in the events are compared and shown, never followed.
 */
import { isObject, type Json, type Program, shownUse, trustedOrigins } from "@remit/language";
import { shownPrincipal } from "../authority/authority.ts";
import { refusalIn, refusalText } from "../authority/refusal.ts";
import type { EventKind, LedgerEvent } from "../ledger/events.ts";
import { isOrigin } from "../value/label.ts";
import { drifted, type Profile } from "./drift.ts";
import type { Evidence, Finding, Severity } from "./finding.ts";
import { grants } from "./grants.ts";
import { breaks, type Call, type Invariant, meant, sameImports } from "./invariant.ts";
import { type Declared, declarations } from "./reads.ts";
import { isAmong, letIn, type Target, targetsOf } from "./targets.ts";

export interface RuleRow {
    readonly id: string;
    readonly severity: Severity;
    readonly summary: string;
}

export const RULES: readonly RuleRow[] = [
    { id: "taint-to-target", severity: "medium", summary: "What an untrusted source said chooses where a call goes." },
    { id: "boundary-breach", severity: "high", summary: "A principal used, or tried to use, what it may not." },
    { id: "flow-refused", severity: "high", summary: "A value was stopped on its way to where a clause does not let it go." },
    { id: "flow-approved", severity: "low", summary: "A person let a value through that a clause forbids." },
    { id: "endorsed", severity: "note", summary: "A value was called trusted, or its readers were widened." },
    { id: "broad-grant", severity: "low", summary: "A remit gives every method, and only some were used." },
    { id: "unused-grant", severity: "note", summary: "A remit gives what was not used in this run." },
    { id: "invariant", severity: "high", summary: "A declared invariant does not hold." },
    { id: "drift", severity: "medium", summary: "A principal has, or does, what it did not in what the run is compared with." },
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
    const trusted = new Set([...(options.trusted ?? []), ...trustedOrigins(program)]);
    const audit: Audit = {
        program,
        found: [],
        invariants: options.invariants ?? [],
        same: sameImports(program),
        declared: declarations(),
        untrusted: (origins) => origins.filter((o) => isOrigin(o) && o !== "user" && !o.startsWith("endorsed:") && !trusted.has(o)),
        used: new Map(),
        asked: new Set(),
        flows: new Map(),
        answered: new Set(),
    };
    const drift = options.against === undefined ? null : drifted(program, options.against);
    return {
        begin: () => drift?.begin() ?? [],
        event: (event) => {
            LOOKS.get(event.kind)?.(audit, event, (event.data ?? {}) as Data);
            const other = drift?.event(event) ?? null;
            if (other !== null) add(audit, "drift", event, other.message, { severity: other.severity, detail: { key: other.key } });
            return audit.found.splice(0);
        },
        end: () => grants(program, { methods: audit.used, asked: audit.asked }),
    };
}

/** What one audit knows, and what it found in the event at hand. */
interface Audit {
    readonly program: Program;
    readonly found: Finding[];
    readonly invariants: readonly Invariant[];
    readonly same: ReturnType<typeof sameImports>;
    readonly declared: Declared;
    untrusted(origins: readonly string[]): string[];
    readonly used: Map<string, Set<string>>;
    readonly asked: Set<string>;
    /** Questions about a flow, by path. */
    readonly flows: Map<string, LedgerEvent>;
    /** Tools that gave something: the description of one that did not is no data of others. */
    readonly answered: Set<string>;
}

function add(audit: Audit, rule: string, event: LedgerEvent, message: string, more: Partial<Finding> = {}): void {
    const { severity } = RULES.find((r) => r.id === rule) as RuleRow;
    const principal = shownPrincipal(event.principal);
    const evidence = [evidenceOf(event)];
    audit.found.push({
        rule,
        severity,
        message,
        site: event.site,
        path: event.path,
        principal,
        evidence,
        confidence: 1,
        by: "remit",
        ...more,
    });
}

type Look = (audit: Audit, event: LedgerEvent, data: Data) => void;

const LOOK: { readonly [K in EventKind]?: Look } = {
    "tool.started": lookAtCall,
    "memory.started": lookAtCall,
    "effect.ended": ({ declared }, _, data) => {
        if (data["op"] === "describe") declared.learn(String(data["tool"]), String(data["uri"]), data["result"] ?? null);
    },
    "tool.ended": ({ answered }, _, data) => answered.add(`tool:${String(data["tool"])}`),
    "policy.denied": (audit, event, data) => {
        const refusal = refusalIn(data);
        const what = String(data["capability"] ?? data["why"] ?? "something");
        const said = () => `${shownPrincipal(event.principal)} tried ${shownUse(what)}, which it may not (${String(data["why"])})`;
        const message = refusal === null ? said() : refusalText(refusal);
        const flow = data["flow"] === undefined ? {} : { detail: (data["flow"] ?? {}) as Data };
        const by = refusal === null ? {} : { principal: shownPrincipal(refusal.principal) };
        add(audit, data["flow"] === undefined ? "boundary-breach" : "flow-refused", event, message, { ...flow, ...by });
    },
    "ask.requested": ({ flows, asked }, event, data) => {
        const about = (data["detail"] ?? {}) as Data;
        if (about["flow"] !== undefined) flows.set(event.path, event);
        asked.add(`${String(about["principal"])} ${String(about["tool"])}`);
        asked.add(`${String(about["principal"])} ${String(about["tool"])}.${String(about["method"])}`);
    },
    "ask.decided": (audit, event, data) => {
        const question = audit.flows.get(event.path);
        if (question === undefined || (data["decision"] !== "once" && data["decision"] !== "session")) return;
        const detail = ((question.data as Data)["detail"] ?? {}) as Data;
        const refusal = refusalIn(detail);
        const message = `${refusal === null ? shownUse(String(detail["capability"])) : refusalText(refusal)}, and a person said yes`;
        const evidence = [evidenceOf(question), evidenceOf(event)];
        add(audit, "flow-approved", event, message, { evidence, principal: shownPrincipal(question.principal) });
    },
    "policy.endorsed": (audit, event, data) => {
        const principal = shownPrincipal(event.principal);
        add(audit, "endorsed", event, `${principal} endorsed what carries ${list(data["before"])}, because: ${String(data["because"])}`);
    },
};
/** A ledger may hold kinds that are names of `Object.prototype`. */
const LOOKS: ReadonlyMap<string, Look> = new Map(Object.entries(LOOK));

function lookAtCall(audit: Audit, event: LedgerEvent, data: Data): void {
    const { declared, used } = audit;
    const principal = shownPrincipal(event.principal);
    const name = String(data["tool"] ?? data["memory"] ?? "");
    const said = data["method"] ?? data["operation"];
    const method = typeof said === "string" ? said : null;
    const args = Array.isArray(data["args"]) ? data["args"] : data["args"] === undefined ? [] : [data["args"]];
    const uri = String(data["uri"] ?? "");
    const what = event.kind === "tool.started" ? "tool" : "memory";
    const call: Call = { principal, tool: name, uri, method, args, same: audit.same(what, name, uri) };
    const key = `${event.principal} ${name}`;
    used.set(key, (used.get(key) ?? new Set()).add(method ?? ""));
    for (const rule of audit.invariants)
        if (breaks(call, rule))
            add(
                audit,
                "invariant",
                event,
                `${rule.text}: ${principal} called ${shownUse(`${name}${method === null ? "" : `.${method}`}`)}`,
            );
    // By what only reads nothing goes anywhere but the address itself.
    const did = meant(call).method;
    if (what === "memory" || did === null || declared.reads(name, uri, String(data["scheme"]), did)) return;
    for (const { from, certain, shown } of taints(audit, event, data, call)) {
        const more = shown.length - MAX_SHOWN;
        const argument = more > 0 ? `${shown.slice(0, MAX_SHOWN).join(", ")} and ${more} more` : shown.join(", ");
        const message = `${shownUse(`${name}.${did}`)} goes where ${from.join(", ")} ${certain ? "says" : "may have said"} (argument ${argument})`;
        add(audit, "taint-to-target", event, message, { detail: { argument, origins: from }, confidence: certain ? 1 : 0.5 });
    }
}

interface Taint {
    readonly from: string[];
    readonly certain: boolean;
    /** The targets, as a person is told. */
    readonly shown: string[];
}

/** What untrusted sources may have said of where a call goes: targets of one argument and the same origins together. */
function taints(audit: Audit, event: LedgerEvent, data: Data, call: Call): Iterable<Taint> {
    const groups = new Map<string, Taint>();
    const origins = audit.untrusted(event.labels);
    if (origins.length === 0) return [];
    const told = (origin: string): boolean => (origin.startsWith("tool:") ? audit.answered.has(origin) : !origin.startsWith("model:"));
    // A model that chose the call had all of its prompt before it: who said it is not certain, only who could have.
    const possible = data["chosen_by"] === "model" ? origins.filter(told) : [];
    const method = meant(call).method as string;
    for (const target of targetsOf(call, audit.declared.parameters(call.tool, call.uri, method))) {
        if (isAmong(audit.program, call.tool, method, target.name)) continue;
        const carried = audit
            .untrusted(originsOf(data, target))
            .filter((one) => !letIn(audit.program, call.tool, method, target.name, one));
        const from = carried.length > 0 ? carried : possible;
        if (from.length === 0) continue;
        const certain = carried.length > 0 && target.whole;
        const key = JSON.stringify([target.holder, certain, from]);
        const group = groups.get(key) ?? { from, certain, shown: [] };
        groups.set(key, group);
        group.shown.push(target.shown);
    }
    return groups.values();
}

/** Origins of the argument that holds a target, where the event has them. */
function originsOf(data: Data, { holder }: Target): string[] {
    const byName = data["origins"];
    const own = isObject(byName) && Object.hasOwn(byName, holder) ? byName[holder] : undefined;
    return Array.isArray(own) ? own.filter((o): o is string => typeof o === "string") : [];
}

function evidenceOf(event: LedgerEvent): Evidence {
    return { kind: "event", run: event.run, seq: event.seq, hash: event.hash };
}

function list(value: Json | undefined): string {
    return Array.isArray(value) ? value.map(String).join(", ") : "what it may not";
}
