/**
 * Remits, clauses and delegations as text.
 */
import { quoteString } from "../strings.ts";
import type { Amount, Bound, Grant, ImportClause, Readers, Ref, RemitBody, RemitUse, StringLit } from "../tree.ts";
import { commentsBefore, hasComments, leading, leadingClose, newline, put, room, trailing, trailingOpen, type Writer } from "./writer.ts";

function strings(list: readonly StringLit[]): string {
    return list.map((s) => quoteString(s.value, '"')).join(", ");
}

export function boundsText(bounds: readonly Bound[]): string {
    return bounds.map((b) => ` in ${b.arg === undefined ? "" : `${b.arg.text}: `}${strings(b.patterns)}`).join("");
}

export function refsText(refs: readonly Ref[]): string {
    return refs.map((r) => `${r.name.text}${r.method === undefined ? "" : `.${r.method.text}`}${boundsText(r.bounds)}`).join(", ");
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
            return `arg ${readers.name.text}`;
        case "readers.result":
            return `result ${readers.name.text}`;
        case "readers.everyone":
            return "everyone";
    }
}

export function clauseText(clause: ImportClause): string {
    switch (clause.kind) {
        case "clause.trusted":
            return "trusted";
        case "clause.gate":
            return `${clause.method.text}: ${clause.gate.text}`;
        case "clause.arg": {
            const method = clause.method === undefined ? "" : `${clause.method.text}.`;
            const from = clause.from === undefined ? "trusted" : `${clause.among ? "among" : "from"}(${strings(clause.from)})`;
            return `arg ${method}${clause.name.text}: ${clause.addresses ? "addresses " : ""}${from}${clause.ask ? " or ask" : ""}`;
        }
        case "clause.readers": {
            const method = clause.method === undefined ? "" : ` ${clause.method.text}`;
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

export function remitBody(w: Writer, node: RemitBody): void {
    const close = node.range.end - 1;
    if (node.clauses.length === 0 && !commentsBefore(w, close)) {
        put(w, "{}");
        return;
    }
    const only = node.clauses.length === 1 ? `{ ${remitLine(node.clauses[0] as RemitBody["clauses"][number])} }` : undefined;
    if (only !== undefined && !hasComments(w, node.range) && only.length <= room(w) - 2) {
        put(w, only);
        return;
    }
    lines(w, node.clauses, (clause) => put(w, remitLine(clause)), node.range.start + 1, close, "");
}

/** `{`, one element a line, `}`. */
export function lines<X extends { readonly range: { readonly start: number; readonly end: number } }>(
    w: Writer,
    items: readonly X[],
    write: (item: X, comma: string) => void,
    from: number,
    close: number,
    comma: string,
): void {
    put(w, "{");
    w.indent++;
    w.at = from;
    trailingOpen(w, from, items[0]?.range.start ?? close);
    newline(w);
    items.forEach((item, index) => {
        const last = index === items.length - 1;
        leading(w, item.range.start, index === 0);
        write(item, last ? "" : comma);
        trailing(w, item.range.end, last ? close : (items[index + 1] as X).range.start, last);
        newline(w);
    });
    leadingClose(w, close, items.length === 0);
    w.indent--;
    put(w, "}");
}
