/**
 * What data of each origin chose in a run, and which arguments it was in: how often without a question, after a yes, and in vain.
 *
 * Boundary: pure; events in, counts out. What it could have done is the checker's (`hostileUses` of the language).
 *
 * AUC1: who chose is kept where a `choice` clause or the policy `untrusted` applies, and of a model's or an agent's calls always; elsewhere the record
 *     does not tell it, and nothing is counted.
 */
import { isObject, type Json, type Program, trustedOrigins } from "@remit/language";
import { shownPrincipal } from "../authority/authority.ts";
import type { LedgerEvent } from "../ledger/events.ts";
import { chooserIn, isOrigin } from "../value/label.ts";

/** One origin at one use. */
export interface Reached {
    readonly principal: string;
    /** `Mail.send`. */
    readonly use: string;
    /** Null: it chose that the call is made. */
    readonly arg: string | null;
    readonly origin: string;
    /** Calls that were made without a question, and after a yes to one. */
    readonly unasked: number;
    readonly asked: number;
    /** Calls that a person did not allow, and that a rule refused. */
    readonly denied: number;
    readonly refused: number;
}

type Outcome = "unasked" | "asked" | "denied" | "refused";
type Data = { readonly [key: string]: Json };

/** Of a call: what its record says. */
interface Call {
    readonly principal: string;
    readonly use: string;
    readonly data: Data;
    readonly labels: readonly string[];
}

/** Origins that the program trusts, the user's and endorsements are left out; so is the name of a model, of what it chose. */
export function reachedIn(
    events: Iterable<Pick<LedgerEvent, "kind" | "path" | "principal" | "labels" | "data">>,
    program: Program,
): Reached[] {
    const trusted = trustedOrigins(program);
    const rows = new Map<string, { -readonly [K in keyof Reached]: Reached[K] }>();
    const count = ({ principal, use, data, labels }: Call, outcome: Outcome): void => {
        const isOther = (origin: string): boolean =>
            isOrigin(origin) && origin !== "user" && !origin.startsWith("endorsed:") && !trusted.has(origin);
        const add = (arg: string | null, origins: Iterable<string>): void => {
            for (const origin of new Set(origins)) {
                if (!isOther(origin)) continue;
                const key = JSON.stringify([principal, use, arg, origin]);
                const row = rows.get(key) ?? { principal, use, arg, origin, unasked: 0, asked: 0, denied: 0, refused: 0 };
                row[outcome]++;
                rows.set(key, row);
            }
        };
        add(null, choosersOf(data, labels));
        for (const [arg, origins] of argsOf(data, labels)) add(arg, origins);
    };
    /** Calls that a person was asked about, by the path of the call, and what was said. */
    const questions = new Map<string, { readonly call: Call; said?: string }>();
    const session = new Set<string>();
    for (const { kind, path, principal, labels, data: json } of events) {
        const data = (json ?? {}) as Data;
        const of = (about: Data, who: Json): Call => ({
            principal: shownPrincipal(String(who)),
            use: [about["tool"] ?? about["memory"] ?? about["capability"], about["method"] ?? about["operation"]]
                .filter((one) => one != null)
                .join("."),
            data: about,
            labels,
        });
        if (kind === "ask.requested" && isObject(data["detail"]) && data["detail"]["tool"] !== undefined)
            questions.set(bare(path), { call: of(data["detail"], data["detail"]["principal"] ?? principal) });
        else if (kind === "ask.decided") {
            const question = questions.get(bare(path));
            if (question === undefined) continue;
            const said = String(data["decision"]);
            question.said = said;
            if (said === "session") session.add(`${question.call.principal} ${question.call.use}`);
            if (said !== "session" && said !== "once") count(question.call, "denied");
        } else if (kind === "policy.denied" && data["tool"] !== undefined) count(of(data, data["principal"] ?? principal), "refused");
        else if (kind === "tool.started" || kind === "memory.started") {
            const call = of(data, principal);
            const said = questions.get(path)?.said;
            count(call, said !== undefined || session.has(`${call.principal} ${call.use}`) ? "asked" : "unasked");
        }
    }
    return [...rows.values()].sort((a, b) => order(a, b));
}

function order(a: Reached, b: Reached): number {
    const text = ({ principal, use, arg, origin }: Reached): string => [principal, use, arg ?? "", origin].join("\0");
    return text(a) < text(b) ? -1 : 1;
}

/** The path of the call that a question is about. */
function bare(path: string): string {
    return path.endsWith("/ask") ? path.slice(0, -"/ask".length) : path;
}

const texts = (json: Json | undefined): string[] => (Array.isArray(json) ? json.filter((one) => typeof one === "string") : []);

/** Who chose: of a model's call all that it had seen, of the program's what decided over it. */
function choosersOf(data: Data, labels: readonly string[]): string[] {
    const by = String(data["chosen_by"] ?? "program");
    if (by === "program") return labels.flatMap((label) => chooserIn(label) ?? []);
    const seen = data["chosen"] === undefined ? labels : texts(data["chosen"]);
    return seen.map((label) => chooserIn(label) ?? label).filter((origin) => !origin.startsWith("model:"));
}

/** Origins by argument; of a model's call all that it had seen, and what it was given by references. */
function argsOf(data: Data, labels: readonly string[]): [string, string[]][] {
    const by = String(data["chosen_by"] ?? "program");
    const named = isObject(data["origins"]) ? data["origins"] : {};
    const seen = by === "program" ? [] : data["chosen"] === undefined ? labels : texts(data["chosen"]);
    const [first] = Array.isArray(data["args"]) ? data["args"] : [data["args"] ?? null];
    const names = new Set([...Object.keys(named), ...(by !== "program" && isObject(first) ? Object.keys(first) : [])]);
    return [...names].map((name) => [name, [...texts(named[name]), ...seen]]);
}
