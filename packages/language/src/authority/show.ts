/**
 * The table of authority as text, for people.
 */
import type { BoundForm, ClauseForm, ReadersForm, SpendForm } from "../form/form.ts";
import type { AuthorityRow } from "./rows.ts";

const HEAD = ["who", "what", "gate", "by", "where", "besides"] as const;

/** One line a row, in columns; names of a principal stand once, with their file where several have one. */
export function showAuthority(rows: readonly AuthorityRow[]): string {
    let before = "";
    const files = new Map<string, Set<string>>();
    for (const row of rows) files.set(row.principal, (files.get(row.principal) ?? new Set()).add(row.agent?.file ?? ""));
    const cells = rows.map((row) => {
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
                ...(row.unconfined ? ["unconfined: no sandbox holds it"] : []),
            ].join("; "),
        ];
    });
    const all = [[...HEAD], ...cells];
    const widths = HEAD.map((_, i) => Math.max(...all.map((line) => (line[i] as string).length)));
    return all
        .map((line) =>
            line
                .map((cell, i) => cell.padEnd(widths[i] as number))
                .join("  ")
                .trimEnd(),
        )
        .join("\n");
}

function whatText(row: AuthorityRow): string {
    if (row.what === "nothing") return "nothing";
    if (row.what === "endorse") return "endorse";
    return `${row.name}${row.method === "*" ? "" : `.${row.method}`}${row.bounds.map(boundText).join("")}${exceptText(row)} (${row.what} ${row.uri})`;
}

function exceptText(row: AuthorityRow): string {
    const names = (row.except ?? []).map((one) => `${one.method}${one.bounds.map(boundText).join("")}`);
    return names.length === 0 ? "" : ` except ${names.join(" and ")}`;
}

function boundText(bound: BoundForm): string {
    return ` in ${bound.arg === undefined ? "" : `${bound.arg}: `}${bound.patterns.map((one) => JSON.stringify(one)).join(", ")}`;
}

function spendText(spend: SpendForm): string {
    return Object.entries(spend)
        .map(([meter, amount]) => (meter === "time" ? `${amount} ms` : `${amount} ${meter}`))
        .join(", ");
}

function clauseText(clause: ClauseForm): string {
    switch (clause.kind) {
        case "gate":
            return `${clause.method}: ${clause.gate}`;
        case "trusted":
            return "trusted";
        case "arg": {
            const from =
                clause.from === undefined
                    ? "trusted"
                    : `${clause.among === true ? "among" : "from"}(${clause.from.map((one) => JSON.stringify(one)).join(", ")})`;
            return `arg ${clause.method === undefined ? "" : `${clause.method}.`}${clause.name}: ${clause.addresses === true ? "addresses " : ""}${from}${clause.ask ? " or ask" : ""}`;
        }
        default: {
            const ask = clause.kind === "audience" && clause.ask ? " or ask" : "";
            return `${clause.kind}${clause.method === undefined ? "" : ` ${clause.method}`}: ${readersText(clause.readers)}${ask}`;
        }
    }
}

function readersText(readers: ReadersForm): string {
    if (readers.names !== undefined) return readers.names.map((one) => JSON.stringify(one)).join(", ");
    if (readers.arg !== undefined) return `arg ${readers.arg}`;
    return readers.result === undefined ? "everyone" : `result ${readers.result}`;
}
