/**
 * Remits, clauses and amounts as they are declared: names and methods that are there, bounds that something can match, amounts that
 * leave something to spend.
 *
 * Boundary: one declaration at a time; whether it is used is in `authority.ts`.
 */
import { isOutside } from "./handover.ts";
import { unknownIn } from "../authority/schemas.ts";
import { isOnResource, resourceOf } from "../authority/thing.ts";
import { isEndorse } from "../form/lower.ts";
import type { Among, Amount, Bound, Count, Import, ImportClause, Name, Readers, Ref, RemitBody, RemitUse } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { withArticle } from "../text/words.ts";
import { type Binding, type Checking, type FileScope, type Walk, reporter, type Report } from "../scope/model.ts";
import { shown } from "../syntax/entry.ts";
import { fix } from "../text/fix.ts";
import { suggestion } from "./names.ts";
import { checkBound, checkRanges } from "./bounds.ts";

/** What the checks of declarations need of the program. */
interface Whole {
    readonly checking: Checking;
}

/** What a remit or a delegation can name. */
export const GRANTABLE: ReadonlySet<string> = new Set(["tool", "llm", "agent", "memory", "skill"]);
const GATES: readonly string[] = ["may", "ask", "never"];

// ---- declarations ----------------------------------------------------------------------------------------------------

export function checkDeclarations(a: Whole, file: FileScope): void {
    const report = reporter(file);
    const names = new Map<string, Range>();
    let flow = false;
    for (const item of file.tree.items) {
        if (item.kind === "flow") {
            if (flow) report("REMIT_UNUSED", item.range, "`flow strict` is said already", { hint: "leave one out" });
            flow = true;
        } else if (item.kind === "remit") {
            const { text, range } = item.name;
            const other = names.get(text);
            if (other !== undefined && text !== "")
                report("REMIT_REFERENCE", range, `two remits are called '${text}'`, {
                    related: [{ message: "the other one", file: file.name, range: other }],
                });
            else names.set(text, range);
            checkRemit(a, report, file, item.body);
        } else if (item.kind === "import") {
            checkClauses(a, report, item, file);
            if (item.remit?.kind === "remit.body") {
                const declares = file.names.get(item.name.text)?.agent?.file;
                // An agent outside the program has no names of its own: its remit speaks of this file's.
                if (declares !== undefined || isOutside(item)) checkRemit(a, report, declares ?? file, item.remit);
            } else if (item.remit !== undefined) checkRemitName(a, report, file, item.remit);
        }
    }
    for (const agent of file.agents) {
        const { remit } = agent.node;
        if (remit === undefined) continue;
        if (remit.kind === "remit.body") checkRemit(a, report, file, remit);
        else checkRemitName(a, report, file, remit);
    }
}

function checkRemitName(a: Whole, report: Report, file: FileScope, use: RemitUse): void {
    if (use.kind !== "remit.use" || use.name.text === "" || file.broken) return;
    const { text, range } = use.name;
    if (!file.remits.has(text))
        report(
            "REMIT_REFERENCE",
            range,
            `there is no remit '${text}' in this file`,
            suggestion(a.checking, text, range, [...file.remits.keys()]),
        );
}

function checkRemit(a: Whole, report: Report, file: FileScope, body: RemitBody): void {
    const amounts: Amount[] = [];
    let flow = false;
    for (const clause of body.clauses) {
        if (clause.kind === "remit.spend") amounts.push(...clause.amounts);
        else if (clause.kind === "remit.flow") {
            if (flow) report("REMIT_UNUSED", clause.range, "`flow strict` is said already", { hint: "leave one out" });
            flow = true;
        } else
            for (const ref of clause.grant.refs) {
                if (!isEndorse(ref)) {
                    checkRef(a, report, file, ref);
                    if (clause.grant.gate === "never" && ref.counts !== undefined)
                        report("REMIT_BOUND", ref.range, "what is forbidden is not counted", { hint: "leave the count out" });
                } else if (clause.grant.gate !== "may")
                    report("REMIT_REFERENCE", ref.range, `there is no '${clause.grant.gate} endorse'`, {
                        hint: "write `may endorse`, or nothing: without it an agent endorses nothing",
                    });
            }
    }
    checkAmounts(report, amounts);
}

export function checkAmounts(report: Report, amounts: readonly Amount[]): void {
    const seen = new Set<string>();
    for (const { meter, amount, range, text } of amounts) {
        if (amount === 0) report("SPEND_NOTHING", range, `'${text}' lets nothing be spent`);
        else if (seen.has(meter))
            report("SPEND_NOTHING", range, `${meter} ${meter === "time" || meter === "usd" ? "is" : "are"} given twice`);
        seen.add(meter);
    }
}

export function checkRef(a: Whole, report: Report, file: FileScope, ref: Ref): void {
    const { text, range } = ref.name;
    if (text === "") return;
    const found = file.names.get(text);
    if (found === undefined || !GRANTABLE.has(found.kind)) {
        if (found === undefined && file.broken) return;
        const names = [...file.names.values()].filter((one) => GRANTABLE.has(one.kind)).map((one) => one.name);
        report(
            "REMIT_REFERENCE",
            range,
            found === undefined ? `there is no '${text}' in ${file.name}` : `'${text}' is a ${found.kind}, which is not granted`,
            suggestion(a.checking, text, range, names),
        );
        return;
    }
    found.used = true;
    checkBounds(a, report, found, ref.method, ref.bounds);
    checkCounts(a, report, found, ref.method, ref.counts ?? []);
}

/** How often a method, or any of a thing, may be used. */
function checkCounts(a: Whole, report: Report, thing: Binding, method: Name | undefined, counts: readonly Count[]): void {
    for (const { range, most, by } of counts) {
        if (thing.kind !== "tool" && thing.kind !== "memory")
            report("REMIT_BOUND", range, `uses of '${thing.name}' are not counted: it is no tool and no memory`, {
                hint: "bound what it spends: `spend 3 turns`, `spend 10 calls`",
            });
        else if (by !== undefined) checkArg(a, report, thing, method, by);
        else if (most === undefined || !Number.isSafeInteger(most.value) || most.value < 1)
            report("REMIT_BOUND", most?.range ?? range, `'${most?.text ?? ""}' is no number of uses`, {
                hint: most?.value === 0 ? "write `never` for none" : "write a whole number: `at most 3`",
            });
    }
}

/** A method, and what of its calls is bound. */
function checkBounds(a: Whole, report: Report, thing: Binding, method: Name | undefined, bounds: readonly Bound[]): void {
    if (method !== undefined) checkMethod(a, report, thing, method.text, method.range);
    for (const bound of bounds) {
        if (bound.arg !== undefined) checkArg(a, report, thing, method, bound.arg);
        const named = resourceOf(thing.kind === "tool" ? (thing.import?.uri.value ?? "") : "");
        if (isOnResource({ ...bound, arg: bound.arg?.text }, named)) checkBound(report, thing, bound);
        if (bound.numbers) checkRanges(report, bound);
    }
}

/** SN1. */
function checkArg(a: Whole, report: Report, { kind, name, import: node, has }: Binding, method: Name | undefined, arg: Name): void {
    if (has === null || arg.text === "") return;
    const unknown = unknownIn(has, node?.uri.value ?? "", method?.text ?? null, arg.text);
    // A method that is not there has been told.
    if (unknown?.what !== "argument") return;
    report(
        "REMIT_UNKNOWN_ARGUMENT",
        arg.range,
        `${method === undefined ? `the ${kind} '${name}'` : `${name}.${method.text}`} takes no argument '${arg.text}'`,
        suggestion(a.checking, arg.text, arg.range, unknown.known) ?? {
            hint: unknown.known.length === 0 ? "leave it out" : `it takes ${unknown.known.map(shown).join(", ")}`,
        },
    );
}

/** `.only(read, write in "src/**")` on something known. */
export function checkNarrowed(w: Walk, binding: Binding, method: Name, bounds: readonly Bound[]): void {
    const { text } = w.file.tree.source;
    checkBounds(w, pointed(w.report, text), binding, method, bounds);
}

/** There a name in quotes has a point before it, a word has none: fixes that write a method's name set or take the point. */
function pointed(report: Report, source: string): Report {
    return (code, range, message, extra) => {
        const edit = extra?.fixes?.[0]?.edits[0];
        if (code !== "REMIT_UNKNOWN_METHOD" || edit === undefined) {
            report(code, range, message, extra);
            return;
        }
        const start = source[range.start - 1] === "." ? range.start - 1 : range.start;
        const written = edit.text.startsWith('"') ? `.${edit.text}` : edit.text;
        report(code, range, message, { ...extra, fixes: [fix(`write '${written}'`, { start, end: range.end }, written)] });
    };
}

/** Methods that a thing has; null where that is not known here. */
export function known(binding: Binding): readonly string[] | null {
    switch (binding.kind) {
        case "file":
            return [];
        default: {
            if (binding.agent !== null) return [...binding.agent.funcs.keys()];
            return binding.has === null ? null : [...binding.has.methods.keys()];
        }
    }
}

function checkMethod(a: Whole, report: Report, binding: Binding, method: string, range: Range): void {
    if (method === "") return;
    const uri = binding.import?.uri.value ?? "";
    const { has } = binding;
    const methods = known(binding);
    if (methods === null || (has === null ? methods.includes(method) : unknownIn(has, uri, method, null) === null)) return;
    const what = `the ${binding.kind} '${binding.name}' has no ${binding.kind === "agent" ? "func" : "method"} '${method}'`;
    const extra = suggestion(a.checking, method, range, methods);
    report(
        "REMIT_UNKNOWN_METHOD",
        range,
        what,
        extra ?? { hint: methods.length === 0 ? "leave the method out" : `it has ${methods.map(shown).join(", ")}` },
    );
}

/** A field in which values that may stand somewhere have to have stood. */
function checkAmong(a: Whole, report: Report, file: FileScope, { of, method }: Among): void {
    if (method === undefined || of.text === "") return;
    const found = file.names.get(of.text);
    if (found !== undefined && (found.kind === "tool" || found.kind === "memory")) {
        checkMethod(a, report, found, method.text, method.range);
        return;
    }
    if (found === undefined && file.broken) return;
    const names = [...file.names.values()].filter(({ kind }) => kind === "tool" || kind === "memory").map(({ name }) => name);
    report(
        "REMIT_REFERENCE",
        of.range,
        found === undefined ? `there is no '${of.text}' in ${file.name}` : `'${of.text}' is a ${found.kind}, which gives no results`,
        suggestion(a.checking, of.text, of.range, [...names, "input"]),
    );
}

// ---- clauses at imports ----------------------------------------------------------------------------------------------

/** Clauses that each kind of import takes. */
const CLAUSES: Readonly<Record<string, readonly ImportClause["kind"][]>> = {
    tool: ["clause.gate", "clause.count", "clause.arg", "clause.choice", "clause.trusted", "clause.labels", "clause.readers"],
    memory: ["clause.gate", "clause.count", "clause.arg", "clause.choice", "clause.trusted", "clause.readers"],
    llm: ["clause.gate", "clause.trusted", "clause.untrusted", "clause.readers"],
    file: ["clause.trusted", "clause.readers"],
    agent: ["clause.choice"],
};

/** What readers cannot be told from: a model and a file are not called, and what a model answers has no name. */
function isNowhere(what: Import["what"], readers: Readers["kind"]): boolean {
    return (readers === "readers.arg" && (what === "llm" || what === "file")) || (readers === "readers.result" && what === "llm");
}

function checkClauses(a: Whole, report: Report, node: Import, file: FileScope): void {
    const binding = file.names.get(node.name.text);
    for (const clause of node.clauses ?? []) {
        const takes =
            CLAUSES[node.what]?.includes(clause.kind) === true &&
            (node.what !== "agent" || isOutside(node)) &&
            !(node.what === "file" && clause.kind === "clause.readers" && clause.which === "audience");
        if (!takes) {
            report(
                "REMIT_REFERENCE",
                clause.range,
                `the import of ${withArticle(node.what)}${node.what === "agent" ? " of the program" : ""} has no such clause`,
                node.what === "agent" ? { hint: "say who may choose at the imports of what the agent uses" } : undefined,
            );
            continue;
        }
        if (clause.kind === "clause.trusted" || clause.kind === "clause.untrusted" || clause.kind === "clause.labels") continue;
        if (clause.kind === "clause.gate" && !GATES.includes(clause.gate.text))
            report(
                "REMIT_REFERENCE",
                clause.gate.range,
                `'${clause.gate.text}' is no gate`,
                suggestion(a.checking, clause.gate.text, clause.gate.range, GATES) ?? { hint: "a gate is may, ask or never" },
            );
        if (clause.kind === "clause.readers" && clause.which === "audience" && clause.readers.kind === "readers.result")
            report("REMIT_REFERENCE", clause.readers.range, "who reads what is sent is known before there is a result", {
                hint: "name people, or an argument: `audience: arg to`",
            });
        else if (clause.kind === "clause.readers" && isNowhere(node.what, clause.readers.kind)) {
            const part = clause.readers.kind === "readers.arg" ? "arguments" : "fields";
            report(
                "REMIT_REFERENCE",
                clause.readers.range,
                `${node.what === "llm" ? "an llm" : "a file"} has no ${part} that name who reads`,
                {
                    hint: "name people, or `everyone`",
                },
            );
        }
        if (binding?.import !== node) continue;
        if (clause.method !== undefined) checkMethod(a, report, binding, clause.method.text, clause.method.range);
        if (clause.kind === "clause.count") checkCounts(a, report, binding, clause.method, clause.counts);
        if (clause.kind === "clause.arg") {
            checkArg(a, report, binding, clause.method, clause.name);
            for (const one of clause.fields ?? []) checkAmong(a, report, file, one);
        } else if (clause.kind === "clause.readers") {
            const { readers } = clause;
            if (readers.kind === "readers.arg") checkArg(a, report, binding, clause.method, readers.name);
            if ((readers.kind !== "readers.arg" && readers.kind !== "readers.result") || readers.through === undefined) continue;
            if (node.what === "file")
                report("REMIT_REFERENCE", readers.through.range, "a file is read before any tool has given a result", {
                    hint: "name people, or `everyone`",
                });
            checkAmong(a, report, file, readers.through.at);
        }
    }
}
