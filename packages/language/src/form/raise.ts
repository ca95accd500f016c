/**
 * A program form as a tree again, for the printer, and as source text.
 *
 * Boundary: valid forms in, trees out. The nodes have no places: their ranges are empty. Comments are gone; they are not in a form. What a
 * node of a kind holds is in the table; here is what the table cannot say.
 *
 * RS2: lower(raise(form)) is the form, places aside.
 */
import type { Contract, Field, Json } from "../contract/contract.ts";
import { MAIN_AGENT, MAIN_FUNC } from "../syntax/entry.ts";
import { format, printExpr } from "../syntax/print/print.ts";
import { METERS, STATEMENT_WORDS } from "../syntax/tokens.ts";
import type * as tree from "../syntax/tree.ts";
import { source } from "../text/source.ts";
import type {
    BudgetForm,
    ClauseForm,
    ExprForm,
    FileForm,
    FlowForm,
    FuncForm,
    GenerateForm,
    Program,
    AmongForm,
    ReadersForm,
    RemitForm,
    SpendForm,
    StmtForm,
} from "./form.ts";
import { at, ident, literal, name, number, paren, raiseJson, text, timeText } from "./nodes.ts";
import { GENERATE_OPTIONS, raiseOptions, STAGE_OPTIONS, YIELD_OPTIONS } from "./options.ts";
import { raiseArg } from "./stages.ts";
import { NODE_ROWS, RECORD_ROWS, type Rows, type Rule } from "./table.ts";

/** The source text of each file of a program, in the order of its files. */
export function printForm(program: Program): string[] {
    return raise(program).map(format);
}

/** An expression on one line, as a context item names its source: `a.b[0]`, `{ k: v }`, `[x, y]`, `x + y`, strings in JSON's quotes. */
export function printFormExpr(expr: ExprForm): string {
    return printExpr(raiseExpr(expr));
}

export function raise(program: Program): tree.File[] {
    return program.files.map(raiseFile);
}

/** Imports, shapes, functions, agents, blocks: in this order, whatever order they had. */
function raiseFile(form: FileForm): tree.File {
    const named = (kind: string, of: object): tree.Item => record(of, kind === "import" ? "Import" : "Agent", { kind }) as tree.Item;
    const items: tree.Item[] = form.imports.map((one) => named("import", one));
    if (form.flow === "strict") items.push({ kind: "flow", ...at });
    for (const r of form.remits ?? []) items.push({ kind: "remit", name: name(r.name ?? ""), body: raiseRemitBody(r), ...at });
    for (const s of form.shapes) items.push({ kind: "shape", name: name(s.name), contract: raiseContract(s.contract), ...at });
    for (const f of form.funcs) items.push(raiseFunc(f));
    for (const a of form.agents) items.push(unnamed(named("agent", a) as tree.Agent, MAIN_AGENT));
    for (const b of form.blocks ?? []) items.push(node(b) as tree.BlockDecl);
    return { source: source("", form.file), items, comments: [], diagnostics: [] };
}

function raiseFunc(form: FuncForm): tree.Func {
    const made = record(form, "Func", { kind: "func" }) as tree.Func;
    const params = made.params.map((one): tree.Param => (one.contract?.kind === "c.object" ? { ...one, colon: true } : one));
    return unnamed({ ...made, params }, MAIN_FUNC);
}

/** What is main has no name where its name is the internal one. */
function unnamed<T extends tree.Agent | tree.Func>(node: T, internal: string): T {
    return node.main && node.name?.text === internal ? { ...node, name: undefined } : node;
}

// ---- by the table ----------------------------------------------------------------------------------------------------

type Tree = { [key: string]: unknown };

function record(of: object, type: string, tree: Tree = {}): unknown {
    return fill(tree, RECORD_ROWS.get(type) as Rows, of as Tree);
}

function fill(tree: Tree, { rows }: Rows, form: Tree): Tree {
    for (const { key, tree: called, rule, required } of rows) {
        const value = form[key];
        if (value !== undefined) tree[called] = raiseAs(rule, value);
        else if (rule.rule === "boolean" || (rule.rule === "one" && rule.of[0] === true)) tree[called] = false;
        else if (called === "bounds") tree[called] = [];
        else if (required) throw new Error(`a form without ${key}`);
    }
    tree.range = at.range;
    return tree;
}

function raiseAs(rule: Rule, value: unknown): unknown {
    switch (rule.rule) {
        case "list": {
            const all = (value as unknown[]).map((one) => raiseAs(rule.of, one));
            return rule.of.rule === "node" && rule.of.of === "statement" ? { statements: all, ...at } : all;
        }
        case "node":
            if (rule.of === "contract") return raiseContract(value as Contract);
            return rule.of === "clause" ? raiseClause(value as ClauseForm) : node(value as ExprForm | StmtForm | FlowForm);
        case "record":
            return RECORDS_OF[rule.of]?.(value as never) ?? record(value as object, rule.of);
        case "json":
            return raiseJson(value as Json);
        case "integer":
            return number(value as number);
        case "name":
        case "variable":
        case "key":
            return name(value as string);
        case "text":
            return rule.tree === "name" ? name(value as string) : rule.tree === "label" ? label(value as string) : text(value as string);
        default:
            return value;
    }
}

/** Records that a tree says in another way. */
const RECORDS_OF: { readonly [name: string]: (value: never) => unknown } = {
    Func: raiseFunc,
    Remit: raiseRemit,
    Budget: raiseBudget,
    Spend: raiseSpend,
    With: (form: object) => raiseOptions(YIELD_OPTIONS, form, raiseExpr),
    StageArg: raiseArg,
    StageWith: (form: object) => raiseOptions(STAGE_OPTIONS, form, raiseExpr),
    Readers: raiseReaders,
};

// ---- nodes -----------------------------------------------------------------------------------------------------------

function raiseExpr(form: ExprForm): tree.Expr {
    return node(form) as unknown as tree.Expr;
}

function node(form: ExprForm | StmtForm | FlowForm): object {
    switch (form.kind) {
        case "literal":
            return literal(form.value, form.text);
        case "name":
            return ident(form.name);
        case "generate":
            return raiseGenerate(form);
        default: {
            const made = fill({ kind: form.kind }, NODE_ROWS.get(form.kind) as Rows, form as unknown as Tree);
            return FURTHER.get(form.kind)?.(made as never) ?? made;
        }
    }
}

/** What a kind needs besides. */
const FURTHER: ReadonlyMap<string, (made: never) => object> = new Map<string, (made: never) => object>([
    ["entry", (made: tree.ObjectEntry) => ({ ...made, quoted: false })],
    ["expr", (made: tree.ExprStmt) => ({ ...made, value: opening(made.value) })],
    ["assign", (made: tree.Assign) => (made.target.kind === "ident" ? made : { ...made, target: opening(made.target) })],
    [
        "use",
        (made: tree.Use) => {
            const value = opening(made.value);
            return { ...made, value: made.image && !beginsWithName(value) ? paren(value) : value };
        },
    ],
    // Names alone behind `.only` could be read as methods.
    [
        "call",
        (made: tree.Call) =>
            made.callee.kind === "member" && made.callee.name.text === "only"
                ? { ...made, args: made.args.map((arg) => (arg.value.kind === "ident" ? { ...arg, value: paren(arg.value) } : arg)) }
                : made,
    ],
    // As a text in backticks, which lowers to the same sums.
    ["binary", (made: tree.Binary) => (isTemplate(made) ? { ...made, template: true } : made)],
    // Parentheses keep a sign before a plain number from becoming part of the number.
    [
        "unary",
        (made: tree.Unary) =>
            made.op === "-" && made.value.kind === "number" && made.value.value !== 0 ? { ...made, value: paren(made.value) } : made,
    ],
]);

function isTemplate({ op, left, right }: tree.Binary): boolean {
    const isInside = left.kind === "binary" && left.template === true;
    if (op !== "+" || (left.kind !== "string" && !isInside)) return false;
    if (right.kind === "unary") return right.op === "text";
    return right.kind === "string" && right.value !== "" && isInside && left.right.kind === "unary";
}

function raiseGenerate(form: GenerateForm): tree.Generate {
    const options = raiseOptions(GENERATE_OPTIONS, form, raiseExpr);
    return { kind: "generate", options, ...(form.contract === undefined ? {} : { contract: raiseContract(form.contract) }), ...at };
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
        case "narrow":
            return { ...node, object: opening(node.object) };
        case "call":
            return { ...node, callee: opening(node.callee) };
        case "if.expr":
        case "try.expr":
            return paren(node);
        case "unary":
            return node.op === "-" ? paren(node) : node;
        case "ident":
            return STATEMENT_WORDS.has(node.name) || USE_WORDS.has(node.name) ? paren(node) : node;
        default:
            return node;
    }
}

/** After `use image` a number, for one, would begin a statement of its own. */
function beginsWithName(node: tree.Expr): boolean {
    return node.kind === "ident" || (node.kind === "member" && beginsWithName(node.object));
}

// ---- contracts -------------------------------------------------------------------------------------------------------

/** A contract as it would be written; its places are none. */
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

// ---- authority -------------------------------------------------------------------------------------------------------

function raiseRemit(form: RemitForm): tree.RemitUse {
    return form.use === undefined ? raiseRemitBody(form) : { kind: "remit.use", name: name(form.use), ...at };
}

function raiseRemitBody(form: RemitForm): tree.RemitBody {
    const granting = (grant: tree.Grant): tree.RemitGrant => ({ kind: "remit.grant", grant, ...at });
    const clauses: tree.RemitBody["clauses"][number][] = form.grants.map((grant) => granting(record(grant, "Grant") as tree.Grant));
    if (form.endorse === true)
        clauses.push(granting({ gate: "may", all: false, refs: [{ name: name("endorse"), bounds: [], ...at }], ...at }));
    if (form.spend !== undefined) clauses.push({ kind: "remit.spend", amounts: raiseSpend(form.spend), ...at });
    if (form.flow === "strict") clauses.push({ kind: "remit.flow", ...at });
    return { kind: "remit.body", clauses, ...at };
}

function raiseSpend(form: SpendForm): tree.Amount[] {
    return METERS.flatMap((meter) => {
        const amount = form[meter];
        return amount === undefined ? [] : [{ meter, amount, text: amountText(meter, amount), ...at }];
    });
}

function amountText(meter: tree.Amount["meter"], amount: number): string {
    return meter === "time" ? timeText(amount, " ") : `${amount} ${meter}`;
}

function raiseClause(form: ClauseForm): tree.ImportClause {
    const made = fill({ kind: `clause.${form.kind}` }, NODE_ROWS.get(form.kind) as Rows, form as unknown as Tree);
    if (form.kind === "gate") made.gate = name(form.gate);
    if (form.kind === "reads" || form.kind === "audience")
        Object.assign(made, { kind: "clause.readers", which: form.kind, ask: made.ask ?? false });
    return made as unknown as tree.ImportClause;
}

function amongTree({ of, method, path }: AmongForm): tree.Among {
    return { of: name(of), ...(method === undefined ? {} : { method: name(method) }), path: path.map((one) => name(one)), ...at };
}

function raiseReaders(form: ReadersForm): tree.Readers {
    if (form.names !== undefined) return { kind: "readers.names", names: form.names.map(text), ...at };
    const { through, to } = form;
    const rows = through === undefined || to === undefined ? {} : { through: { at: amongTree(through), to: name(to), ...at } };
    if (form.arg !== undefined) return { kind: "readers.arg", name: name(form.arg), ...rows, ...at };
    if (form.result !== undefined) return { kind: "readers.result", name: name(form.result), ...rows, ...at };
    return { kind: "readers.everyone", ...at };
}

// ---- small things ----------------------------------------------------------------------------------------------------

/** A label of one plain word needs no quotes. */
function label(of: string): tree.Label {
    return { text: of, quoted: !/^[A-Za-z_][A-Za-z0-9_]*$/.test(of), ...at };
}

function raiseBudget(form: BudgetForm): tree.Budget {
    const suffix = /^[0-9.]+(k?)/.exec(form.text)?.[1] ?? "";
    return { text: form.text, amount: form.amount, unit: form.unit, keep: form.keep ?? "start", suffix, ...at };
}
