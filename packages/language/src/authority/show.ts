/**
 * The table of authority as text, for people.
 */
import type { AmongForm, BoundForm, ClauseForm, CountForm, ReadersForm, SpendForm } from "../form/form.ts";
import { columns } from "../text/columns.ts";
import { patternsText } from "./range.ts";
import { argText, nameText } from "../syntax/strings.ts";
import { shownImport, shownUse } from "./uses.ts";
import type { AuthorityRow } from "./rows.ts";

export const AUTHORITY_HEAD = ["who", "what", "gate", "by", "where", "besides"] as const;

/** One line a row, in columns. */
export function showAuthority(rows: readonly AuthorityRow[]): string {
    return columns([AUTHORITY_HEAD, ...authorityCells(rows)]);
}

/** As many texts a row as the head has; names of a principal stand once, with their file where several have one. */
export function authorityCells(rows: readonly AuthorityRow[]): string[][] {
    let before = "";
    const files = new Map<string, Set<string>>();
    for (const row of rows) files.set(row.principal, (files.get(row.principal) ?? new Set()).add(row.agent?.file ?? ""));
    return rows.map((row) => {
        const isShared = row.agent !== null && (files.get(row.principal)?.size ?? 0) > 1;
        const name = isShared ? `${row.principal} of ${row.agent?.file}` : row.principal;
        const place = row.outside === undefined ? "" : ` (${row.outside}${row.unconfined ? ", unconfined" : ""})`;
        const who = name + place + (row.spend === null ? "" : ` (spend ${spendText(row.spend)})`) + (row.strict ? " (flow strict)" : "");
        const shown = who === before ? "" : who;
        before = who;
        return [
            shown,
            whatText(row),
            row.what === "nothing" ? "" : row.gate,
            row.by + (row.from === undefined ? "" : ` of ${row.from}`) + (row.onward ? " onward" : ""),
            row.site === null ? "" : `${row.site.file}:${row.site.line}`,
            [
                ...row.flow.map(clauseText),
                ...(row.unsaid && row.by !== "clause" ? ["asked about unless it only reads"] : []),
                ...(row.untrusted === undefined || row.gate === "never" ? [] : [`untrusted: ${row.untrusted}`]),
                ...(row.unconfined ? ["unconfined: no sandbox holds it"] : []),
            ].join("; "),
        ];
    });
}

function whatText(row: AuthorityRow): string {
    if (row.what === "nothing") return "nothing";
    if (row.what === "endorse") return "endorse";
    const name = row.method === "*" ? shownImport(unnamed(row.name)) : shownUse(`${unnamed(row.name)}.${nameText(row.method)}`);
    return `${name}${row.bounds.map(boundText).join("")}${(row.counts ?? []).map((one) => ` ${countText(one)}`).join("")}${exceptText(row)} (${row.what} ${unnamed(row.uri)})`;
}

/** `main` for the main agent without a name, as everywhere. */
function unnamed(text: string): string {
    return text.replace(/(^|#)__main_agent$/, "$1main");
}

function exceptText(row: AuthorityRow): string {
    const names = (row.except ?? []).map((one) => `${nameText(one.method)}${one.bounds.map(boundText).join("")}`);
    return names.length === 0 ? "" : ` except ${names.join(" and ")}`;
}

/** ` in "src/**"`, ` in amount: 0..500`. */
export function boundText(bound: BoundForm): string {
    return ` in ${bound.arg === undefined ? "" : `${nameText(bound.arg)}: `}${patternsText(bound)}`;
}

/** `at most 3`, `at most 20 per day`, `once by order_id`. */
export function countText({ most, per, by }: CountForm): string {
    return most === undefined ? `once by ${argText(by ?? "")}` : `at most ${most}${per === undefined ? "" : ` per ${per}`}`;
}

/** `200k tokens, 10 min`, as it would be written. */
export function spendText(spend: SpendForm): string {
    return Object.entries(spend)
        .map(([meter, amount]) => (meter === "time" ? timeText(amount) : `${shortAmount(amount)} ${meter}`))
        .join(", ");
}

/** As it would be written: `200k`, `2M`, else the number. */
function shortAmount(amount: number): string {
    if (amount >= 1e6 && amount % 1e5 === 0) return `${amount / 1e6}M`;
    return amount >= 1000 && amount % 100 === 0 ? `${amount / 1000}k` : String(amount);
}

/** In the largest unit that it is a whole number of. */
function timeText(ms: number): string {
    for (const [unit, length] of [
        ["h", 3_600_000],
        ["min", 60_000],
        ["s", 1000],
    ] as const)
        if (ms >= length && ms % length === 0) return `${ms / length} ${unit}`;
    return `${ms} ms`;
}

/** As it stands at an import. */
export function clauseText(clause: ClauseForm): string {
    switch (clause.kind) {
        case "gate":
            return `${nameText(clause.method)}: ${clause.gate}`;
        case "trusted":
        case "untrusted":
            return clause.kind;
        case "labels":
            return "labels from server";
        case "choice": {
            const from = clause.from?.map((one) => JSON.stringify(one)).join(", ");
            const by = clause.any === true ? "any" : from === undefined ? "trusted" : `from(${from})`;
            return `choice${clause.method === undefined ? "" : ` ${nameText(clause.method)}`}: ${by}${clause.ask === true ? " or ask" : ""}`;
        }
        case "count":
            return `${nameText(clause.method)}: ${clause.counts.map(countText).join(" ")}`;
        case "arg": {
            return `arg ${clause.method === undefined ? "" : `${nameText(clause.method)}.`}${argText(clause.name)}: ${allowedText(clause)}${clause.ask ? " or ask" : ""}`;
        }
        default: {
            const ask = clause.kind === "audience" && clause.ask ? " or ask" : "";
            return `${clause.kind}${clause.method === undefined ? "" : ` ${nameText(clause.method)}`}: ${readersText(clause.readers)}${ask}`;
        }
    }
}

/** `trusted`, `addresses among("user", Contacts.find.email)`. */
export function allowedText({ from = [], fields = [], among, addresses, plain }: ClauseForm & { readonly kind: "arg" }): string {
    const list = [...from.map((one) => JSON.stringify(one)), ...fields.map(amongText)];
    const said = list.length === 0 ? "trusted" : `${among === true ? "among" : "from"}(${list.join(", ")})`;
    if (plain === true) return list.length === 0 ? "plain" : `plain ${said}`;
    return `${addresses === true ? "addresses " : ""}${said}`;
}

export function amongText({ of, method, path }: AmongForm): string {
    return [of, ...(method === undefined ? [] : [method]), ...path].map(nameText).join(".");
}

export function readersText(readers: ReadersForm): string {
    if (readers.names !== undefined) return readers.names.map((one) => JSON.stringify(one)).join(", ");
    const { arg, result, through, to } = readers;
    if (arg === undefined && result === undefined) return "everyone";
    const rows = through === undefined ? "" : ` through ${amongText(through)} to ${nameText(to ?? "")}`;
    return `${arg === undefined ? `result ${nameText(result ?? "")}` : `arg ${nameText(arg)}`}${rows}`;
}
