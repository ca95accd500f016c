/**
 * Remits, clauses and amounts of a form as a tree, for the printer.
 */
import type * as tree from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import type { BoundForm, ClauseForm, ReadersForm, RefForm, RemitForm, SpendForm } from "./form.ts";

const NOWHERE: Range = { start: 0, end: 0 };
const at = { range: NOWHERE };
const name = (text: string): tree.Name => ({ text, ...at });
const text = (value: string): tree.StringLit => ({ kind: "string", value, style: "double", ...at });

export function raiseRemit(form: RemitForm): tree.RemitUse {
    return form.use === undefined ? raiseRemitBody(form) : { kind: "remit.use", name: name(form.use), ...at };
}

export function raiseRemitBody(form: RemitForm): tree.RemitBody {
    const clauses: tree.RemitBody["clauses"][number][] = form.grants.map((grant) => ({
        kind: "remit.grant",
        grant: { gate: grant.gate, all: grant.all === true, refs: grant.refs.map(raiseRef), ...at },
        ...at,
    }));
    if (form.endorse === true)
        clauses.push({
            kind: "remit.grant",
            grant: { gate: "may", all: false, refs: [{ name: name("endorse"), bounds: [], ...at }], ...at },
            ...at,
        });
    if (form.spend !== undefined) clauses.push({ kind: "remit.spend", amounts: raiseSpend(form.spend), ...at });
    if (form.flow === "strict") clauses.push({ kind: "remit.flow", ...at });
    return { kind: "remit.body", clauses, ...at };
}

export function raiseRef(form: RefForm): tree.Ref {
    return {
        name: name(form.name),
        ...(form.method === undefined ? {} : { method: name(form.method) }),
        bounds: (form.in ?? []).map(raiseBound),
        ...at,
    };
}

export function raiseBound(form: BoundForm): tree.Bound {
    return { ...(form.arg === undefined ? {} : { arg: name(form.arg) }), patterns: form.patterns.map(text), ...at };
}

const METERS = ["tokens", "usd", "time", "steps", "calls", "turns", "bytes"] as const;

export function raiseSpend(form: SpendForm): tree.Amount[] {
    return METERS.flatMap((meter) => {
        const amount = form[meter];
        return amount === undefined ? [] : [{ meter, amount, text: amountText(meter, amount), ...at }];
    });
}

function amountText(meter: tree.Amount["meter"], amount: number): string {
    if (meter !== "time") return `${amount} ${meter}`;
    for (const [unit, size] of [
        ["h", 3_600_000],
        ["min", 60_000],
        ["s", 1000],
    ] as const)
        if (amount > 0 && amount % size === 0) return `${amount / size} ${unit}`;
    return `${amount} ms`;
}

export function raiseClause(form: ClauseForm): tree.ImportClause {
    switch (form.kind) {
        case "trusted":
            return { kind: "clause.trusted", ...at };
        case "gate":
            return { kind: "clause.gate", method: name(form.method), gate: name(form.gate), ...at };
        case "arg":
            return {
                kind: "clause.arg",
                ...(form.method === undefined ? {} : { method: name(form.method) }),
                name: name(form.name),
                ...(form.from === undefined ? {} : { from: form.from.map(text) }),
                ...(form.among === true ? { among: true } : {}),
                ...(form.addresses === true ? { addresses: true } : {}),
                ask: form.ask === true,
                ...at,
            };
        case "reads":
        case "audience":
            return {
                kind: "clause.readers",
                which: form.kind,
                ...(form.method === undefined ? {} : { method: name(form.method) }),
                readers: raiseReaders(form.readers),
                ask: form.kind === "audience" && form.ask === true,
                ...at,
            };
    }
}

function raiseReaders(form: ReadersForm): tree.Readers {
    if (form.names !== undefined) return { kind: "readers.names", names: form.names.map(text), ...at };
    if (form.arg !== undefined) return { kind: "readers.arg", name: name(form.arg), ...at };
    if (form.result !== undefined) return { kind: "readers.result", name: name(form.result), ...at };
    return { kind: "readers.everyone", ...at };
}
