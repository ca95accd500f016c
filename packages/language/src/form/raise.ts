/**
 * A program form as a tree again, for the printer, and as source text.
 *
 * Boundary: valid forms in, trees out. The nodes have no places: their ranges are empty. Comments are gone; they are not in a form.
 *
 * L2: lower(raise(form)) is the form, places aside.
 */
import { MAIN_AGENT, MAIN_FUNC } from "../check/names.ts";
import type { Contract, Field, Json } from "../contract/contract.ts";
import { numberText } from "../contract/show.ts";
import { format, printExpr } from "../syntax/print/print.ts";
import { STATEMENT_WORDS } from "../syntax/tokens.ts";
import type * as tree from "../syntax/tree.ts";
import { type Range, source } from "../text/source.ts";
import { raiseBound, raiseClause, raiseRef, raiseRemit, raiseRemitBody, raiseSpend } from "./raise-authority.ts";
import type {
    AgentForm,
    BranchForm,
    BudgetForm,
    ExprForm,
    FileForm,
    FuncForm,
    GenerateForm,
    Program,
    StmtForm,
    UseForm,
    UseOneForm,
    WithForm,
} from "./form.ts";
import { WITH_OPTIONS } from "./with.ts";

const NOWHERE: Range = { start: 0, end: 0 };
const at = { range: NOWHERE };

/** The source text of each file of a program, in the order of its files. */
export function printForm(program: Program): string[] {
    return program.files.map((file) => format(raiseFile(file)));
}

/** An expression on one line, as a context item names its source: `a.b[0]`, `{ k: v }`, `[x, y]`, `x + y`, strings in JSON's quotes. */
export function printFormExpr(expr: ExprForm): string {
    return printExpr(raiseExpr(expr));
}

export function raise(program: Program): tree.File[] {
    return program.files.map(raiseFile);
}

/** Imports, shapes, functions, agents: in this order, whatever order they had. */
export function raiseFile(form: FileForm): tree.File {
    const items: tree.Item[] = [];
    for (const i of form.imports)
        items.push({
            kind: "import",
            what: i.what,
            name: name(i.name),
            uri: text(i.uri),
            ...(i.clauses === undefined ? {} : { clauses: i.clauses.map(raiseClause) }),
            ...(i.remit === undefined ? {} : { remit: raiseRemit(i.remit) }),
            ...(i.unconfined === true ? { unconfined: true } : {}),
            ...at,
        });
    if (form.flow === "strict") items.push({ kind: "flow", ...at });
    for (const r of form.remits ?? []) items.push({ kind: "remit", name: name(r.name ?? ""), body: raiseRemitBody(r), ...at });
    for (const s of form.shapes) items.push({ kind: "shape", name: name(s.name), contract: raiseContract(s.contract), ...at });
    for (const f of form.funcs) items.push(raiseFunc(f));
    for (const a of form.agents) items.push(raiseAgent(a));
    return { source: source("", form.file), items, comments: [], diagnostics: [] };
}

function raiseAgent(form: AgentForm): tree.Agent {
    return {
        kind: "agent",
        main: form.main === true,
        ...(form.name === MAIN_AGENT && form.main === true ? {} : { name: name(form.name) }),
        config: form.config.map(raiseSetting),
        funcs: form.funcs.map(raiseFunc),
        ...(form.remit === undefined ? {} : { remit: raiseRemit(form.remit) }),
        ...at,
    };
}

export function raiseFunc(form: FuncForm): tree.Func {
    return {
        kind: "func",
        main: form.main === true,
        ...(form.name === MAIN_FUNC && form.main === true ? {} : { name: name(form.name) }),
        params: form.params.map((p) => ({
            name: name(p.name),
            ...(p.contract === undefined ? {} : { contract: raiseContract(p.contract) }),
            ...(p.default === undefined ? {} : { default: raiseJson(p.default) }),
            ...at,
        })),
        ...(form.result === undefined ? {} : { result: raiseContract(form.result) }),
        body: raiseBlock(form.body),
        ...at,
    };
}

// ---- contracts -------------------------------------------------------------------------------------------------------

export function raiseContract(c: Contract): tree.ContractNode {
    switch (c.type) {
        case "ref":
            return { kind: "c.name", name: name(c.name), ...at };
        case "list":
            return c.item === undefined
                ? { kind: "c.name", name: name("list"), ...at }
                : { kind: "c.list", item: raiseContract(c.item), ...at };
        case "object":
            return { kind: "c.object", fields: c.fields.map(raiseField), ...at };
        case "literal":
            return { kind: "c.literal", value: c.value, ...at };
        case "union":
            return { kind: "c.union", members: c.of.map(raiseContract), ...at };
        case "optional":
            return { kind: "c.optional", of: raiseContract(c.of), ...at };
        default:
            return { kind: "c.name", name: name(c.type), ...at };
    }
}

function raiseField(field: Field): tree.ContractField {
    return {
        name: name(field.name),
        optional: field.optional === true,
        type: raiseContract(field.contract),
        ...(field.default === undefined ? {} : { default: raiseJson(field.default) }),
        ...(field.description === undefined ? {} : { description: text(field.description) }),
        ...at,
    };
}

function raiseJson(value: Json): tree.Expr {
    if (value === null || typeof value !== "object") return literal(value);
    if (Array.isArray(value)) return { kind: "list", items: value.map(raiseJson), ...at };
    return {
        kind: "object",
        entries: Object.entries(value).map(([key, member]) => ({
            kind: "entry",
            key: name(key),
            quoted: false,
            value: raiseJson(member),
            ...at,
        })),
        ...at,
    };
}

// ---- statements ------------------------------------------------------------------------------------------------------

function raiseBlock(body: readonly StmtForm[]): tree.Block {
    return { statements: body.map(raiseStmt), ...at };
}

function raiseSetting(form: AgentForm["config"][number]): tree.Agent["config"][number] {
    switch (form.kind) {
        case "config":
            return { kind: "config", key: form.key, value: raiseExpr(form.value), ...at };
        case "context":
            return { kind: "context", max: raiseBudget(form.max), ...at };
        case "use":
            return raiseUse(form);
        case "use.one":
            return raiseUseOne(form);
    }
}

function raiseUse(form: UseForm): tree.Use {
    const value = opening(raiseExpr(form.value));
    return {
        kind: "use",
        image: form.image === true,
        value: form.image === true && !beginsWithName(value) ? { kind: "paren", value, ...at } : value,
        ...(form.max === undefined ? {} : { max: raiseBudget(form.max) }),
        ...(form.priority === undefined ? {} : { priority: number(form.priority) }),
        ...(form.label === undefined ? {} : { label: label(form.label) }),
        ...at,
    };
}

function raiseUseOne(form: UseOneForm): tree.UseOneOf {
    return {
        kind: "use.one",
        ...(form.priority === undefined ? {} : { priority: number(form.priority) }),
        label: label(form.label),
        candidates: form.candidates.map((c) => ({
            name: name(c.name),
            ...(c.value === undefined ? {} : { value: raiseExpr(c.value) }),
            ...(c.max === undefined ? {} : { max: raiseBudget(c.max) }),
            selected: c.selected === true,
            ...at,
        })),
        ...at,
    };
}

function raiseStmt(form: StmtForm): tree.Stmt {
    switch (form.kind) {
        case "config":
        case "context":
        case "use":
        case "use.one":
            return raiseSetting(form);
        case "return":
        case "raise":
        case "expr":
            return { kind: form.kind, value: form.kind === "expr" ? opening(raiseExpr(form.value)) : raiseExpr(form.value), ...at };
        case "repeat":
            return { kind: "repeat", times: number(form.times), body: raiseBlock(form.body), ...at };
        case "for":
            return {
                kind: "for",
                item: name(form.item),
                list: raiseExpr(form.list),
                max: number(form.max),
                body: raiseBlock(form.body),
                ...at,
            };
        case "loop":
            return { kind: "loop", until: raiseExpr(form.until), max: number(form.max), body: raiseBlock(form.body), ...at };
        case "if":
            return { kind: "if", ...raiseBranches(form), ...at };
        case "try":
            return { kind: "try", ...raiseTrying(form), ...at };
        case "define":
            return { kind: "define", func: raiseFunc(form.func), keep: form.keep === true, ...at };
        case "delegate":
            return {
                kind: "delegate",
                all: form.all === true,
                refs: form.refs.map(raiseRef),
                to: name(form.to),
                onward: form.onward === true,
                body: raiseBlock(form.body),
                ...at,
            };
        case "spend":
            return { kind: "spend", amounts: raiseSpend(form.spend), body: raiseBlock(form.body), ...at };
        case "break":
        case "continue":
        case "debugger":
            return { kind: form.kind, ...at };
        case "assign":
            return {
                kind: "assign",
                target: form.target.kind === "name" ? raiseExpr(form.target) : opening(raiseExpr(form.target)),
                op: form.op,
                value: raiseExpr(form.value),
                ...at,
            };
    }
}

function raiseBranches(form: {
    readonly branches: readonly BranchForm[];
    readonly otherwise?: readonly StmtForm[];
}): Pick<tree.If, "branches" | "otherwise"> {
    return {
        branches: form.branches.map((branch) => ({ test: raiseExpr(branch.test), body: raiseBlock(branch.body) })),
        ...(form.otherwise === undefined ? {} : { otherwise: raiseBlock(form.otherwise) }),
    };
}

function raiseTrying(form: {
    readonly body: readonly StmtForm[];
    readonly name?: string;
    readonly handler: readonly StmtForm[];
}): Pick<tree.Try, "body" | "name" | "handler"> {
    return {
        body: raiseBlock(form.body),
        ...(form.name === undefined ? {} : { name: name(form.name) }),
        handler: raiseBlock(form.handler),
    };
}

// ---- expressions -----------------------------------------------------------------------------------------------------

export function raiseExpr(form: ExprForm): tree.Expr {
    switch (form.kind) {
        case "literal":
            return literal(form.value, form.text);
        case "name":
            return { kind: "ident", name: form.name, ...at };
        case "list":
            return {
                kind: "list",
                items: form.items.map((item) =>
                    item.kind === "spread" ? { kind: "spread", value: raiseExpr(item.value), ...at } : raiseExpr(item),
                ),
                ...at,
            };
        case "object":
            return {
                kind: "object",
                entries: form.entries.map((entry) =>
                    entry.kind === "spread"
                        ? { kind: "spread", value: raiseExpr(entry.value), ...at }
                        : { kind: "entry", key: name(entry.key), quoted: false, value: raiseExpr(entry.value), ...at },
                ),
                ...at,
            };
        case "member":
            return { kind: "member", object: raiseExpr(form.object), name: name(form.name), safe: form.safe === true, ...at };
        case "index":
            return { kind: "index", object: raiseExpr(form.object), index: raiseExpr(form.index), ...at };
        case "call":
            return {
                kind: "call",
                callee: raiseExpr(form.callee),
                args: form.args.map((arg) => ({
                    ...(arg.name === undefined ? {} : { name: name(arg.name) }),
                    // Names alone behind `.only` could be read as methods.
                    value:
                        form.callee.kind === "member" && form.callee.name === "only" && arg.value.kind === "name"
                            ? { kind: "paren", value: raiseExpr(arg.value), ...at }
                            : raiseExpr(arg.value),
                    ...at,
                })),
                ...(form.with === undefined ? {} : { options: raiseWith(form.with) }),
                ...(form.contract === undefined ? {} : { contract: raiseContract(form.contract) }),
                ...at,
            };
        case "unary":
            return { kind: "unary", op: form.op, value: operand(form), ...at };
        case "binary":
            return { kind: "binary", op: form.op, left: raiseExpr(form.left), right: raiseExpr(form.right), ...at };
        case "lambda":
            return { kind: "lambda", params: form.params.map(name), body: raiseExpr(form.body), ...at };
        case "if.expr":
            return { kind: "if.expr", ...raiseBranches(form), ...at };
        case "try.expr":
            return { kind: "try.expr", ...raiseTrying(form), ...at };
        case "narrow":
            return {
                kind: "narrow",
                object: raiseExpr(form.object),
                methods: form.methods.map((m) => ({ method: name(m.method), bounds: (m.in ?? []).map(raiseBound) })),
                ...at,
            };
        case "endorse":
            return {
                kind: "endorse",
                value: raiseExpr(form.value),
                ...(form.readers === undefined ? {} : { readers: form.readers.map(text) }),
                because: raiseExpr(form.because),
                ...at,
            };
        case "generate":
            return raiseGenerate(form);
        case "parallel":
            return {
                kind: "parallel",
                item: name(form.item),
                list: raiseExpr(form.list),
                max: number(form.max),
                body: raiseBlock(form.body),
                ...at,
            };
    }
}

/** Parentheses keep a sign before a plain number from becoming part of the number. */
function operand(form: ExprForm & { kind: "unary" }): tree.Expr {
    const value = raiseExpr(form.value);
    return form.op === "-" && value.kind === "number" && value.value !== 0 ? { kind: "paren", value, ...at } : value;
}

/** Words that mean something else right after `use`. */
const USE_WORDS: ReadonlySet<string> = new Set(["image", "one"]);

/**
 * An expression at the beginning of a statement, with parentheses around what would be read as a statement of its own there, or as going on
 * with the line before.
 */
function opening(node: tree.Expr): tree.Expr {
    switch (node.kind) {
        case "binary":
            return { ...node, left: opening(node.left) };
        case "member":
        case "index":
            return { ...node, object: opening(node.object) };
        case "call":
            return { ...node, callee: opening(node.callee) };
        case "narrow":
            return { ...node, object: opening(node.object) };
        case "if.expr":
        case "try.expr":
            return { kind: "paren", value: node, ...at };
        case "unary":
            return node.op === "-" ? { kind: "paren", value: node, ...at } : node;
        case "ident":
            return STATEMENT_WORDS.has(node.name) || USE_WORDS.has(node.name) ? { kind: "paren", value: node, ...at } : node;
        default:
            return node;
    }
}

/** After `use image` a number, for one, would begin a statement of its own. */
function beginsWithName(node: tree.Expr): boolean {
    return node.kind === "ident" || (node.kind === "member" && beginsWithName(node.object));
}

const OPTIONS = ["max_output", "attempts", "temperature", "think", "strict", "debug", "stream", "turns", "timeout"] as const;

function raiseGenerate(form: GenerateForm): tree.Generate {
    const options: tree.GenerateOption[] = [option("input", raiseExpr(form.input))];
    if (form.model !== undefined) options.push(option("model", raiseExpr(form.model)));
    if (form.tools !== undefined) options.push(option("tools", { kind: "list", items: form.tools.map(raiseExpr), ...at }));
    for (const key of OPTIONS) {
        const value = form[key];
        if (value !== undefined) options.push(option(key, literal(value)));
    }
    return { kind: "generate", options, ...(form.contract === undefined ? {} : { contract: raiseContract(form.contract) }), ...at };
}

function raiseWith(form: WithForm): tree.GenerateOption[] {
    const options: tree.GenerateOption[] = [];
    for (const key of WITH_OPTIONS.keys()) {
        const value = form[key];
        if (value === undefined) continue;
        options.push(
            option(
                key,
                key === "skills" ? { kind: "list", items: (form.skills ?? []).map(ident), ...at } : literal(value as string | number),
            ),
        );
    }
    return options;
}

function ident(called: string): tree.Expr {
    return { kind: "ident", name: called, ...at };
}

function option(key: string, value: tree.Expr): tree.GenerateOption {
    return { key: name(key), value, ...at };
}

// ---- small things ----------------------------------------------------------------------------------------------------

function literal(value: string | number | boolean | null, written?: string): tree.Expr {
    if (value === null) return { kind: "none", ...at };
    if (typeof value === "string") return text(value);
    if (typeof value === "boolean") return { kind: "bool", value, ...at };
    if (value < 0 || Object.is(value, -0)) return { kind: "unary", op: "-", value: number(-value, written?.slice(1)), ...at };
    return number(value, written);
}

function number(value: number, written = numberText(value)): tree.NumberLit {
    return { kind: "number", value, text: written, ...at };
}

function text(value: string): tree.StringLit {
    return { kind: "string", value, style: "double", ...at };
}

function name(of: string): tree.Name {
    return { text: of, ...at };
}

/** A label of one plain word needs no quotes. */
function label(of: string): tree.Label {
    return { text: of, quoted: !/^[A-Za-z_][A-Za-z0-9_]*$/.test(of), ...at };
}

function raiseBudget(form: BudgetForm): tree.Budget {
    const suffix = /^[0-9.]+(k?)/.exec(form.text)?.[1] ?? "";
    return { text: form.text, amount: form.amount, unit: form.unit, keep: form.keep ?? "start", suffix, ...at };
}
