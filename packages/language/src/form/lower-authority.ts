/**
 * Remits, clauses and amounts of a tree as they stand in a form.
 *
 * Boundary: one to one; a name that means nothing is the checker's to report.
 */
import type * as tree from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import type { At, BoundForm, ClauseForm, Gate, GrantForm, ReadersForm, RefForm, RemitForm, SpendForm } from "./form.ts";

type AtOf = (range: Range) => At;

export function remitForm(node: tree.RemitUse, at: AtOf): RemitForm {
    if (node.kind === "remit.use") return { use: node.name.text, grants: [], at: at(node.range) };
    const grants: GrantForm[] = [];
    let endorse = false;
    let strict = false;
    const amounts: tree.Amount[] = [];
    for (const clause of node.clauses) {
        if (clause.kind === "remit.flow") strict = true;
        else if (clause.kind === "remit.spend") amounts.push(...clause.amounts);
        else {
            const { grant } = clause;
            const refs = grant.refs.filter((ref) => !isEndorse(ref));
            if (refs.length < grant.refs.length && grant.gate === "may") endorse = true;
            if (grant.all) grants.push({ gate: grant.gate, refs: [], all: true, at: at(grant.range) });
            else if (refs.length > 0) grants.push({ gate: grant.gate, refs: refs.map((ref) => refForm(ref, at)), at: at(grant.range) });
        }
    }
    return {
        grants,
        ...(amounts.length === 0 ? {} : { spend: spendForm(amounts) }),
        ...(endorse ? { endorse: true as const } : {}),
        ...(strict ? { flow: "strict" as const } : {}),
        at: at(node.range),
    };
}

/** `may endorse`: a right of its own, no tool. */
export function isEndorse(ref: tree.Ref): boolean {
    return ref.name.text === "endorse" && ref.method === undefined && ref.bounds.length === 0;
}

export function refForm(node: tree.Ref, at: AtOf): RefForm {
    return {
        name: node.name.text,
        ...(node.method === undefined ? {} : { method: node.method.text }),
        ...(node.bounds.length === 0 ? {} : { in: node.bounds.map(boundForm) }),
        at: at(node.range),
    };
}

export function boundForm(node: tree.Bound): BoundForm {
    return { ...(node.arg === undefined ? {} : { arg: node.arg.text }), patterns: node.patterns.map((p) => p.value) };
}

/** Of a meter that is named twice the smaller amount counts. */
export function spendForm(amounts: readonly tree.Amount[]): SpendForm {
    const spend: { -readonly [K in keyof SpendForm]: SpendForm[K] } = {};
    for (const { meter, amount } of amounts) spend[meter] = Math.min(amount, spend[meter] ?? amount);
    return spend;
}

export function clauseForm(node: tree.ImportClause, at: AtOf): ClauseForm {
    const place = { at: at(node.range) };
    switch (node.kind) {
        case "clause.trusted":
            return { kind: "trusted", ...place };
        case "clause.gate":
            // What is no gate is reported by the checker, and forbids.
            return { kind: "gate", method: node.method.text, gate: isGate(node.gate.text) ? node.gate.text : "never", ...place };
        case "clause.arg":
            return {
                kind: "arg",
                ...(node.method === undefined ? {} : { method: node.method.text }),
                name: node.name.text,
                ...(node.from === undefined ? {} : { from: node.from.map((o) => o.value) }),
                ...(node.among === true ? { among: true as const } : {}),
                ...(node.addresses === true ? { addresses: true as const } : {}),
                ...(node.ask ? { ask: true as const } : {}),
                ...place,
            };
        case "clause.readers": {
            const method = node.method === undefined ? {} : { method: node.method.text };
            const readers = readersForm(node.readers);
            if (node.which === "reads") return { kind: "reads", ...method, readers, ...place };
            return { kind: "audience", ...method, readers, ...(node.ask ? { ask: true as const } : {}), ...place };
        }
    }
}

export function isGate(text: string): text is Gate {
    return text === "may" || text === "ask" || text === "never";
}

function readersForm(node: tree.Readers): ReadersForm {
    switch (node.kind) {
        case "readers.names":
            return { names: node.names.map((n) => n.value) };
        case "readers.arg":
            return { arg: node.name.text };
        case "readers.result":
            return { result: node.name.text };
        case "readers.everyone":
            return { everyone: true };
    }
}
