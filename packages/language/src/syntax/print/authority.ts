/**
 * Remits, clauses and delegations as text.
 */
import { argText, nameText, quoteString } from "../strings.ts";
import type { Among, Amount, ArgClause, Bound, Count, Grant, ImportClause, Readers, Ref, RemitBody, RemitUse, StringLit } from "../tree.ts";
import { put, sequence, type Writer } from "./writer.ts";

function strings(list: readonly StringLit[]): string {
    return list.map((s) => quoteString(s.value, '"')).join(", ");
}

export function boundsText(bounds: readonly Bound[]): string {
    return bounds
        .map(
            (b) =>
                ` in ${b.arg === undefined ? "" : `${nameText(b.arg.text)}: `}${b.numbers ? b.patterns.map((s) => s.value).join(", ") : strings(b.patterns)}`,
        )
        .join("");
}

function countsText(counts: readonly Count[]): string {
    return counts
        .map(({ most, per, by }) =>
            most === undefined ? `once by ${argText(by?.text ?? "")}` : `at most ${most.text}${per === undefined ? "" : ` per ${per}`}`,
        )
        .join(" ");
}

export function refsText(refs: readonly Ref[]): string {
    return refs
        .map(({ name, method, bounds, counts }) => {
            const counted = counts === undefined ? "" : ` ${countsText(counts)}`;
            return `${name.text}${method === undefined ? "" : `.${nameText(method.text)}`}${boundsText(bounds)}${counted}`;
        })
        .join(", ");
}

function grantText(grant: Grant): string {
    return `${grant.gate} ${grant.all ? "all" : refsText(grant.refs)}`;
}

export function amountsText(amounts: readonly Amount[]): string {
    return amounts.map((a) => a.text).join(", ");
}

function readersText(readers: Readers): string {
    switch (readers.kind) {
        case "readers.names":
            return strings(readers.names);
        case "readers.arg":
        case "readers.result": {
            const { kind, name, through } = readers;
            const rows = through === undefined ? "" : ` through ${amongText(through.at)} to ${nameText(through.to.text)}`;
            return `${kind === "readers.arg" ? "arg" : "result"} ${nameText(name.text)}${rows}`;
        }
        case "readers.everyone":
            return "everyone";
    }
}

function wordsText({ addresses, plain }: Pick<ArgClause, "addresses" | "plain">, from: string): string {
    return plain ? (from === "trusted" ? "plain" : `plain ${from}`) : `${addresses ? "addresses " : ""}${from}`;
}

function amongText({ of, method, path }: Among): string {
    return [of, ...(method === undefined ? [] : [method]), ...path].map(({ text }) => nameText(text)).join(".");
}

export function clauseText(clause: ImportClause): string {
    switch (clause.kind) {
        case "clause.trusted":
            return "trusted";
        case "clause.untrusted":
            return "untrusted";
        case "clause.labels":
            return "labels from server";
        case "clause.choice": {
            const by = clause.any ? "any" : clause.from === undefined ? "trusted" : `from(${strings(clause.from)})`;
            return `choice${clause.method === undefined ? "" : ` ${nameText(clause.method.text)}`}: ${by}${clause.ask ? " or ask" : ""}`;
        }
        case "clause.gate":
            return `${nameText(clause.method.text)}: ${clause.gate.text}`;
        case "clause.count":
            return `${nameText(clause.method.text)}: ${countsText(clause.counts)}`;
        case "clause.arg": {
            const method = clause.method === undefined ? "" : `${nameText(clause.method.text)}.`;
            const { from: origins, fields = [] } = clause;
            const list = [...(origins === undefined || origins.length === 0 ? [] : [strings(origins)]), ...fields.map(amongText)].join(
                ", ",
            );
            const from = origins === undefined && fields.length === 0 ? "trusted" : `${clause.among ? "among" : "from"}(${list})`;
            return `arg ${method}${argText(clause.name.text)}: ${wordsText(clause, from)}${clause.ask ? " or ask" : ""}`;
        }
        case "clause.readers": {
            const method = clause.method === undefined ? "" : ` ${nameText(clause.method.text)}`;
            return `${clause.which}${method}: ${readersText(clause.readers)}${clause.ask ? " or ask" : ""}`;
        }
    }
}

function remitLine(clause: RemitBody["clauses"][number]): string {
    switch (clause.kind) {
        case "remit.grant":
            return grantText(clause.grant);
        case "remit.spend":
            return `spend ${amountsText(clause.amounts)}`;
        case "remit.flow":
            return "flow strict";
    }
}

/** `remit NAME`, `remit { … }`. */
export function remitUse(w: Writer, node: RemitUse): void {
    if (node.kind === "remit.use") put(w, `remit ${node.name.text}`);
    else {
        put(w, "remit ");
        remitBody(w, node);
    }
}

export function remitBody(w: Writer, { clauses, range }: RemitBody): void {
    const brackets = { open: "{", from: range.start + 1, close: range.end - 1, comma: "" } as const;
    sequence(w, brackets, clauses, (_, clause) => put(w, remitLine(clause)), clauses.length === 1 ? 0 : undefined);
}
