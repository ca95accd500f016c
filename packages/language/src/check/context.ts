/**
 * What selects context: `model`, `role`, `description`, `use`, `use one of`, budgets and labels.
 *
 * Boundary: one declaration at a time; which `generate` sees which `use` is kept by the walk.
 *
 * CT1: nothing in a `use` calls anything, and nothing in it is a capability, by whatever name.
 */
import { fix } from "../text/fix.ts";
import { withArticle } from "../text/words.ts";
import { eachNode } from "../syntax/nodes.ts";
import type { Block, Budget, Config, Expr, Ident, Label, NumberLit, Use, UseOneOf } from "../syntax/tree.ts";
import type { Range } from "../text/source.ts";
import { elsewhere, suggestion } from "./names.ts";
import {
    type AgentScope,
    type Binding,
    type Checking,
    diagnostic,
    type Extra,
    type FileScope,
    type UseEntry,
    localAt,
    type Walk,
    type Report,
} from "../scope/model.ts";
import { CAPABILITIES, describe, literalType, MAY_CHANGE, type Type } from "../scope/types.ts";

const RESERVED_LABELS: ReadonlySet<string> = new Set(["system", "assistant", "tool", "developer"]);

// ---- model, role, description ----------------------------------------------------------------------------------------

/** `locals`: the names that are variables at this place. */
export function checkConfig(
    report: Report,
    checking: Checking,
    file: FileScope,
    locals: ReadonlyMap<string, unknown> | null,
    node: Config,
): void {
    if (node.value.kind === "missing") return;
    if (node.key === "model") {
        checkModel(report, checking, file, locals, node.value);
        return;
    }
    if (node.value.kind !== "string")
        report("INVALID_CONFIG_VALUE_TYPE", node.value.range, `${node.key} must be a text written here`, { hint: `write ${node.key} "…"` });
}

/** Also for the option `model` of `generate`. */
export function checkModel(
    report: Report,
    checking: Checking,
    file: FileScope,
    locals: ReadonlyMap<string, unknown> | null,
    value: Expr,
): void {
    if (value.kind !== "ident") {
        const uri = value.kind === "string" ? (value.value.includes(":") ? value.value : `openai://${value.value}`) : "…";
        const hint = `import it at the top of the file, import llm Model from "${uri}", and write model Model here`;
        report("INVALID_MODEL_REFERENCE", value.range, "model takes the name of an imported llm", { hint });
        return;
    }
    const { name, range } = value;
    if (locals?.has(name)) {
        report("INVALID_MODEL_BINDING", range, `'${name}' is a variable here, not an imported llm`);
        return;
    }
    const found = file.names.get(name);
    if (found === undefined) {
        const other = elsewhere(checking, file, name);
        if (other !== null)
            report("IMPORT_NOT_SHARED", range, `'${name}' is imported by ${other.where.name}, not by this file`, other.extra);
        else
            report(
                "UNKNOWN_MODEL",
                range,
                `there is no llm '${name}'`,
                suggestion(checking, name, range, llms(file)) ?? { hint: `add import llm ${name} from "…"` },
            );
        return;
    }
    found.used = true;
    if (found.kind !== "llm")
        report(
            "INVALID_MODEL_BINDING",
            range,
            `'${name}' is ${withArticle(found.kind)}, not an llm`,
            suggestion(checking, name, range, llms(file)),
        );
}

function llms(file: FileScope): string[] {
    return [...file.names.values()].filter((one) => one.kind === "llm").map((one) => one.name);
}

// ---- budgets, labels, priorities -------------------------------------------------------------------------------------

export function checkBudget(report: Report, budget: Budget | undefined): void {
    if (budget === undefined) return;
    if (budget.suffix !== "" && budget.suffix !== "k")
        report("INVALID_BUDGET_UNIT", budget.range, `a budget has no unit '${budget.suffix}'`, thousand(budget));
    else if (!(budget.amount >= 1)) report("INVALID_BUDGET", budget.range, `a budget of ${budget.text} leaves nothing`);
}

/** The fix for `2K`. */
export function thousand(budget: Budget): Extra | undefined {
    if (budget.suffix !== "K") return undefined;
    const text = budget.text.replace("K", "k");
    return { fixes: [fix(`write ${text}`, budget.range, text, true)] };
}

function checkLabel(report: Report, label: Label | undefined): void {
    if (label !== undefined && RESERVED_LABELS.has(label.text))
        report("RESERVED_CONTEXT_LABEL", label.range, `'${label.text}' is no label`);
}

function checkPriority(report: Report, priority: NumberLit | undefined): void {
    if (priority !== undefined && !Number.isInteger(priority.value))
        report("INVALID_PRIORITY", priority.range, "a priority is a whole number");
}

/** Everything of a `use` but its expressions. */
function checkDeclaration(report: Report, node: Use | UseOneOf): void {
    checkLabel(report, node.label);
    checkPriority(report, node.priority);
    if (node.kind === "use") {
        checkBudget(report, node.max);
        return;
    }
    if (node.candidates.length < 2) report("INVALID_USE_ONE_OF", node.range, "`use one of` needs at least two candidates");
    if (node.label === undefined)
        report("INVALID_USE_ONE_OF", node.range, "`use one of` needs a label", { hint: "write `as LABEL` after the braces" });
    const names = new Set<string>();
    let selected = 0;
    for (const candidate of node.candidates) {
        const { text, range } = candidate.name;
        if (names.has(text)) report("DUPLICATE_USE_ONE_OF_CANDIDATE", range, `two candidates are called '${text}'`);
        names.add(text);
        checkBudget(report, candidate.max);
        if (candidate.selected && ++selected === 2)
            report("MULTIPLE_USE_ONE_OF_SELECTED", candidate.range, "only one candidate can be selected");
    }
}

/** Its expressions; a candidate that is `empty` has none. */
export function valuesOf(node: Use | UseOneOf): Expr[] {
    if (node.kind === "use") return [node.value];
    return node.candidates.flatMap((candidate) => (candidate.value === undefined ? [] : [candidate.value]));
}

/** The new entry of a chain of `use`s. */
export function entry(node: Use | UseOneOf, before: UseEntry | null): UseEntry {
    let twin: UseEntry | null = null;
    if (node.label !== undefined) {
        const label = node.label.text;
        for (let one = before; one !== null && twin === null; one = one.before) if (one.node.label?.text === label) twin = one;
    }
    return { node, before, twin, seen: false };
}

// ---- use in a function -----------------------------------------------------------------------------------------------

export function checkUse(w: Walk, node: Use | UseOneOf): void {
    const { report } = w;
    checkDeclaration(report, node);
    for (const value of valuesOf(node)) {
        const call = callIn(value);
        if (call !== null) {
            reportCall(report, call);
            mention(w.file, value);
            continue;
        }
        w.using = node;
        judge(w, value);
        w.using = null;
        if (node.kind === "use" && node.image) checkImage(w, value);
    }
    w.uses = entry(node, w.uses);
    w.declared.push(w.uses);
}

const NO_PICTURE: ReadonlySet<string> = new Set(["number", "boolean"]);

/** What is no picture by its spelling or its kind. A text of which only its contract is known may be a data URL. */
function checkImage(w: Walk, value: Expr): void {
    let first = value;
    while (first.kind === "paren" || first.kind === "binary") first = first.kind === "paren" ? first.value : first.left;
    const local = value.kind === "ident" ? w.names.get(value.name) : undefined;
    const { kind } = local?.type ?? literalType(value);
    const path = first.kind === "string" && first.value !== "" && !"data:".startsWith(first.value.slice(0, 5));
    if (path || NO_PICTURE.has(kind))
        w.report("IMAGE_FROM_TEXT", value.range, `it is ${path ? "a text that is no data URL" : `a ${kind}`}`);
}

/**
 * Whether what is put into context is, or holds, a capability. A `use` is resolved when a `generate` asks for it, so that what a
 * variable holds is judged at the end of the function, when every assignment is known.
 */
function judge(w: Walk, value: Expr): void {
    switch (value.kind) {
        case "paren":
            judge(w, value.value);
            return;
        case "list":
            for (const item of value.items) judge(w, item.kind === "spread" ? item.value : item);
            return;
        case "object":
            for (const one of value.entries) judge(w, one.value);
            return;
        default: {
            const found = w.func.diagnostics.length;
            const type = w.ring.expr(w, value);
            if (w.func.diagnostics.some((d, i) => i >= found && d.code === "INVALID_USE_RESOURCE")) return;
            if (value.kind === "ident") later(w, value, value.range, false);
            else if (type.cap !== null) resource(w, value.range, type, false);
            else if (type.kind === "any") later(w, value, value.range, true);
        }
    }
}

/** `part`: something inside the variable is read, not all of it. */
function later(w: Walk, value: Expr, range: Range, part: boolean): void {
    const local = localAt(w, value);
    if (local !== undefined) w.used.push({ local, range, part });
}

/** At the end of a function. */
export function checkUsedLocals(w: Walk): void {
    for (const { local, range, part } of w.used)
        if (local.type.cap !== null && (!part || local.type.kind === "any")) resource(w, range, local.type, true);
}

/**
 * An error only where every run that gets here would fail. What is only perhaps a capability (a name assigned twice, an item of a mixed
 * list, a list that something was put into) is left to the machine: a correct program may do that. `named`: it is the value of a
 * variable, all of whose assignments are known.
 */
function resource(w: Walk, range: Range, type: Type, named: boolean): void {
    const cap = type.cap as Binding;
    const what = `the ${cap.kind} '${cap.name}', which is never data`;
    const possible = diagnostic(w.file, "POSSIBLE_USE_RESOURCE", range, `it may be, or hold, ${what}`);
    const is = CAPABILITIES.has(type.kind);
    if (!is && !type.sure) w.func.diagnostics.push(possible);
    else {
        const certain = diagnostic(w.file, "INVALID_USE_RESOURCE", range, `it ${is ? "is" : "holds"} ${what}`);
        if (is && named) w.func.diagnostics.push(certain);
        // Unless the program replaces properties or items.
        else w.func.pending.push({ diagnostic: certain, otherwise: possible, property: null, soft: MAY_CHANGE });
    }
}

function reportCall(report: Report, found: Expr): void {
    const what =
        found.kind === "generate" || found.kind === "endorse"
            ? found.kind
            : found.kind === "parallel"
              ? "parallel for"
              : found.kind === "call"
                ? "a call"
                : "a statement";
    report("INVALID_USE_CALL", found.range, `${what} stands inside use`);
}

const NOT_USED: ReadonlySet<string> = new Set(["call", "generate", "parallel", "lambda", "endorse"]);

/** The first thing in an expression that `use` may not hold. */
function callIn(e: Expr): Expr | null {
    let found: Expr | null = null;
    eachNode(e, (node) => {
        const of = node as Expr;
        if (found === null && (NOT_USED.has(of.kind) || !blocksOf(of).every(isOneExpression))) found = of;
        return found === null;
    });
    return found;
}

/** An import that stands in a refused expression is no unused import. */
function mention(file: FileScope, value: Expr): void {
    eachNode(value, (node) => {
        const e = node as Expr;
        const found = e.kind === "ident" ? file.names.get(e.name) : undefined;
        if (found !== undefined) found.used = true;
        return true;
    });
}

function blocksOf(e: Expr): readonly Block[] {
    if (e.kind === "try.expr") return [e.body, e.handler];
    if (e.kind !== "if.expr") return [];
    return [...e.branches.map(({ body }) => body), ...(e.otherwise === undefined ? [] : [e.otherwise])];
}

/** A block inside `use` holds one expression and nothing else. */
function isOneExpression({ statements }: Block): boolean {
    return statements.length === 1 && statements[0]?.kind === "expr";
}

// ---- use of an agent -------------------------------------------------------------------------------------------------

export function checkAgentUse(report: Report, checking: Checking, agent: AgentScope, node: Use | UseOneOf): void {
    checkDeclaration(report, node);
    for (const value of valuesOf(node)) {
        const call = callIn(value);
        if (call !== null) {
            reportCall(report, call);
            mention(agent.file, value);
        } else names(report, checking, agent, value);
    }
    agent.uses = entry(node, agent.uses);
}

function names(report: Report, checking: Checking, agent: AgentScope, value: Expr): void {
    eachNode(value, (node) => {
        const e = node as Expr;
        if (e.kind === "ident") name(report, checking, agent, e);
        const hasBlocks = e.kind === "if.expr" || e.kind === "try.expr";
        if (hasBlocks) report("INVALID_AGENT_USE", e.range, "a `use` of an agent has no conditions");
        return !hasBlocks;
    });
}

function name(report: Report, checking: Checking, { funcs, file }: AgentScope, e: Ident): void {
    const found = funcs.get(e.name) ?? file.names.get(e.name);
    if (found !== undefined) found.used = true;
    if (found?.kind === "file") return;
    if (found !== undefined && CAPABILITIES.has(found.type.kind)) {
        report("INVALID_USE_RESOURCE", e.range, `'${e.name}' is ${describe(found.type)}, which is never data`);
        return;
    }
    const files = [...file.names.values()].filter((one) => one.kind === "file").map((one) => one.name);
    report(
        "INVALID_AGENT_USE",
        e.range,
        `'${e.name}' is no file import`,
        suggestion(checking, e.name, e.range, files) ?? { hint: "move the `use` into the function that has the value" },
    );
}
