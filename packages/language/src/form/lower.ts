/**
 * A checked tree as a program form.
 *
 * Boundary: trees in, JSON out. Says nothing about mistakes: the checker has, and what could not be read becomes none. Effects of
 * functions are told by the checker's caller. What a node of a kind holds is in the table; here is what the table cannot say.
 *
 * LW1: parentheses are dropped, a negative number is one literal, `else if` stays flat; everything else is one to one.
 * LW2: lower(raise(lower(tree))) is lower(tree), places aside.
 */
import type { Contract } from "../contract/contract.ts";
import { contractOf, literalOf } from "../contract/from-tree.ts";
import { numberText } from "../contract/show.ts";
import { entryOf, MAIN_AGENT, MAIN_FUNC } from "../syntax/entry.ts";
import type * as tree from "../syntax/tree.ts";
import { position, type Range, type Source } from "../text/source.ts";
import {
    type AgentForm,
    type At,
    type BlockForm,
    BLOCKS,
    type BudgetForm,
    type ClauseForm,
    type FileForm,
    FORM,
    type FuncForm,
    type Gate,
    type GrantForm,
    type ImportForm,
    type Program,
    type AmongForm,
    type ReadersForm,
    type RemitForm,
    type SpendForm,
    type StartForm,
} from "./form.ts";
import { GENERATE_OPTIONS, lowerOptions, type Options, STAGE_OPTIONS, YIELD_OPTIONS } from "./options.ts";
import { lowerArg } from "./stages.ts";
import { NODE_ROWS, RECORD_ROWS, type Rows, type Rule } from "./table.ts";

/** A program whose files have been read, and checked. */
export interface Lowerable {
    /** Name of the file that the program starts with. */
    readonly entry: string;
    readonly files: ReadonlyMap<string, tree.File>;
    /** Imported files before their importers. */
    readonly order: readonly string[];
    /** For each file, the names of imported agents and the files that declare them. */
    readonly links: ReadonlyMap<string, ReadonlyMap<string, string>>;
    /** The file that holds the code of the verbs that blocks use. */
    readonly prelude?: string;
}

export type EffectsOf = (func: tree.Func) => readonly string[];

const NO_EFFECTS: EffectsOf = () => [];

/** Forms without effects, by their trees, for as long as a tree is there; `from`: where its imported agents were. */
const forms = new WeakMap<tree.File, { readonly from: string; readonly form: FileForm }>();

export function lower(program: Lowerable, effectsOf: EffectsOf = NO_EFFECTS): Program {
    const names = program.order.filter((name) => program.files.has(name));
    const index = new Map(names.map((name, i) => [name, i]));
    const files = names.map((name) => {
        const file = program.files.get(name) as tree.File;
        const links = program.links.get(name);
        const form = fileForm(file, effectsOf, new Map([...(links ?? [])].map(([agent, target]) => [agent, index.get(target)])));
        return name === program.prelude ? { ...form, prelude: true as const } : form;
    });
    return { format: FORM, files, ...startOf(program, index.get(program.entry) ?? -1) };
}

function fileForm(file: tree.File, effectsOf: EffectsOf, links: ReadonlyMap<string, number | undefined>): FileForm {
    const lowered = (): FileForm => lowerFile(file, { at: placesIn(file.source), effectsOf }, (agent) => links.get(agent));
    if (effectsOf !== NO_EFFECTS) return lowered();
    const from = JSON.stringify([...links]);
    const known = forms.get(file);
    if (known?.from === from) return known.form;
    const form = lowered();
    forms.set(file, { from, form });
    return form;
}

/** Where the program begins: with its blocks, if it has any. */
function startOf({ files, entry: name }: Lowerable, file: number): Pick<Program, "entry" | "main"> {
    const start = files.get(name);
    const entry = start === undefined ? null : entryOf(start);
    const main: StartForm | undefined =
        entry === null
            ? undefined
            : {
                  file,
                  ...(entry.agent === null ? {} : { agent: entry.agent.name?.text ?? MAIN_AGENT }),
                  func: entry.func.name?.text ?? MAIN_FUNC,
              };
    if (start?.items.some((item) => item.kind === "block") !== true) return main === undefined ? {} : { entry: main };
    return { entry: { file, func: BLOCKS }, ...(main === undefined ? {} : { main }) };
}

/** What is the same for all nodes of a file. */
interface Within {
    readonly at: (range: Range) => At;
    readonly effectsOf: EffectsOf;
}

function placesIn(source: Source): (range: Range) => At {
    return ({ start, end }) => {
        const from = position(source, start);
        const to = position(source, end);
        return [from.line, from.column, to.line, to.column];
    };
}

/** Clauses and remits of a text that is in no file. */
const NOWHERE: Within = { at: () => [0, 0, 0, 0], effectsOf: () => [] };

/** `from`: where an imported agent is declared, by its name. */
function lowerFile(file: tree.File, x: Within, from: (agent: string) => number | undefined): FileForm {
    const imports: ImportForm[] = [];
    const shapes: { name: string; contract: Contract }[] = [];
    const funcs: FuncForm[] = [];
    const agents: AgentForm[] = [];
    const remits: RemitForm[] = [];
    const blocks: BlockForm[] = [];
    let strict = false;
    for (const item of file.items) {
        switch (item.kind) {
            case "import": {
                const declared = item.what === "agent" ? from(item.name.text) : undefined;
                imports.push(record("Import", { ...item, from: declared }, x) as ImportForm);
                break;
            }
            case "shape":
                shapes.push({ name: item.name.text, contract: contractOf(item.contract) });
                break;
            case "func":
                funcs.push(func(item, x));
                break;
            case "agent":
                agents.push(record("Agent", { ...item, name: item.name ?? MAIN_AGENT }, x) as AgentForm);
                break;
            case "remit":
                remits.push({ ...remitForm(item.body, x), name: item.name.text });
                break;
            case "flow":
                strict = true;
                break;
            case "block":
                blocks.push(node(item, x) as unknown as BlockForm);
                break;
        }
    }
    return {
        file: file.source.file,
        imports,
        shapes,
        funcs,
        agents,
        ...(remits.length === 0 ? {} : { remits }),
        ...(strict ? { flow: "strict" as const } : {}),
        ...(blocks.length === 0 ? {} : { blocks }),
    };
}

/** One function of a file, whose effects do not matter. */
export function funcForm(node: tree.Func, source: Source): FuncForm {
    return func(node, { at: placesIn(source), effectsOf: () => [] });
}

function func(node: tree.Func, x: Within): FuncForm {
    return record("Func", { ...node, name: node.name ?? MAIN_FUNC, effects: [...x.effectsOf(node)].sort() }, x) as FuncForm;
}

// ---- by the table ----------------------------------------------------------------------------------------------------

/** A node or record of a tree, whose keys the table has. */
type Held = { readonly [key: string]: unknown } & { readonly range: Range };
type Form = { [key: string]: unknown };
/** A name, text, label or number of a tree, or what it says. */
type Word = string | number | { readonly text?: string; readonly value?: string | number };

function record(of: string, held: object, x: Within): unknown {
    return fill({}, RECORD_ROWS.get(of) as Rows, held as Held, x);
}

function fill(form: Form, { rows, placed }: Rows, held: Held, x: Within): Form {
    for (const { key, tree: name, rule, required } of rows) {
        const value = held[name];
        // A label that could not be read.
        if (value === undefined && required && rule.rule === "text") form[key] = "";
        if (value === undefined || (value === false && rule.rule !== "json")) continue;
        const lowered = lowerAs(rule, value, x);
        if (lowered === undefined || (!required && (name === "bounds" || name === "clauses") && (value as unknown[]).length === 0))
            continue;
        form[key] = lowered;
    }
    if (placed) form.at = x.at(held.range);
    return form;
}

function lowerAs(rule: Rule, value: unknown, x: Within): unknown {
    switch (rule.rule) {
        case "list": {
            const all = Array.isArray(value) ? (value as unknown[]) : (value as tree.Block).statements;
            return all.map((one) => lowerAs(rule.of, one, x));
        }
        case "node":
            if (rule.of === "contract") return contractOf(value as tree.ContractNode);
            // A stage that could not be read.
            if (rule.of === "flow" && (value as tree.Flow).kind === "missing") return { kind: "stage", call: "echo", args: [] };
            return node(value as AnyNode, x);
        case "record":
            return RECORDS_OF[rule.of]?.(value as never, x) ?? record(rule.of, value as object, x);
        case "json":
            return literalOf(value as tree.Expr);
        case "integer":
        case "name":
        case "variable":
        case "key":
        case "text": {
            const word = value as Word;
            return typeof word === "object" ? (word.text === undefined || rule.rule === "integer" ? word.value : word.text) : word;
        }
        default:
            return value;
    }
}

/** What `with { … }` says. */
function withForm(table: Options): (options: readonly tree.GenerateOption[]) => object {
    return (options) => lowerOptions(table, options, () => undefined);
}

/** Records that a tree says in another way. */
const RECORDS_OF: { readonly [name: string]: (value: never, x: Within) => unknown } = {
    Func: func,
    Remit: remitForm,
    Budget: budget,
    Spend: spendForm,
    With: withForm(YIELD_OPTIONS),
    StageArg: (arg: tree.StageArg, x) => lowerArg(arg, x.at),
    StageWith: withForm(STAGE_OPTIONS),
    Readers: readersForm,
};

// ---- nodes -----------------------------------------------------------------------------------------------------------

type AnyNode = tree.Stmt | tree.Expr | tree.Flow | tree.Spread | tree.ObjectEntry | tree.ImportClause;

function node(of: AnyNode, x: Within): Form {
    switch (of.kind) {
        case "paren":
            return node(of.value, x);
        case "string":
        case "bool":
            return { kind: "literal", value: of.value, at: x.at(of.range) };
        case "number":
            return numberForm(of.value, of.text, x.at(of.range));
        case "none":
        case "missing":
            return { kind: "literal", value: null, at: x.at(of.range) };
        case "ident":
            return { kind: "name", name: of.name, at: x.at(of.range) };
        case "unary":
            // `-0` is not a literal: JSON has no sign for it.
            if (of.op === "-" && of.value.kind === "number" && of.value.value !== 0)
                return numberForm(-of.value.value, `-${of.value.text}`, x.at(of.range));
            break;
        case "binary":
            // Most of a deep tree.
            return { kind: "binary", op: of.op, left: node(of.left, x), right: node(of.right, x), at: x.at(of.range) };
        case "generate":
            return generate(of, x);
        case "clause.gate":
            // What is no gate is reported by the checker, and forbids.
            return { kind: "gate", method: of.method.text, gate: isGate(of.gate.text) ? of.gate.text : "never", at: x.at(of.range) };
        case "clause.readers":
            return byTable(of.which, of, x);
        case "clause.arg":
            return byTable("arg", of, x);
        case "clause.count":
        case "clause.choice":
        case "clause.trusted":
        case "clause.untrusted":
        case "clause.labels":
            return byTable(of.kind.slice("clause.".length), of, x);
    }
    return byTable(of.kind, of, x);
}

function byTable(kind: string, of: AnyNode, x: Within): Form {
    return fill({ kind }, NODE_ROWS.get(kind) as Rows, of as unknown as Held, x);
}

function generate(of: tree.Generate, x: Within): Form {
    const form: Form = { kind: "generate", input: { kind: "literal", value: null } };
    Object.assign(
        form,
        lowerOptions(GENERATE_OPTIONS, of.options, (e) => node(e, x)),
    );
    if (of.contract !== undefined) form.contract = contractOf(of.contract);
    form.at = x.at(of.range);
    return form;
}

function budget(node: tree.Budget): BudgetForm {
    return { amount: node.amount, unit: node.unit, ...(node.keep === "end" ? { keep: "end" as const } : {}), text: node.text };
}

function numberForm(value: number, text: string, at: At): Form {
    return numberText(value) === text ? { kind: "literal", value, at } : { kind: "literal", value, text, at };
}

// ---- authority -------------------------------------------------------------------------------------------------------

/** Of an import, where its place does not matter. */
export function clauseForm(of: tree.ImportClause): ClauseForm {
    return node(of, NOWHERE) as unknown as ClauseForm;
}

export function remitForm(of: tree.RemitUse, x: Within = NOWHERE): RemitForm {
    if (of.kind === "remit.use") return { use: of.name.text, grants: [], at: x.at(of.range) };
    const grants: GrantForm[] = [];
    let endorse = false;
    let strict = false;
    const amounts: tree.Amount[] = [];
    for (const clause of of.clauses) {
        if (clause.kind === "remit.flow") strict = true;
        else if (clause.kind === "remit.spend") amounts.push(...clause.amounts);
        else {
            const { grant } = clause;
            const refs = grant.all ? [] : grant.refs.filter((ref) => !isEndorse(ref));
            if (grant.gate === "may" && grant.refs.some(isEndorse)) endorse = true;
            if (grant.all || refs.length > 0) grants.push(record("Grant", { ...grant, refs }, x) as GrantForm);
        }
    }
    return {
        grants,
        ...(amounts.length === 0 ? {} : { spend: spendForm(amounts) }),
        ...(endorse ? { endorse: true as const } : {}),
        ...(strict ? { flow: "strict" as const } : {}),
        at: x.at(of.range),
    };
}

/** `may endorse`: a right of its own, no tool. */
export function isEndorse(ref: tree.Ref): boolean {
    return ref.name.text === "endorse" && ref.method === undefined && ref.bounds.length === 0;
}

/** Of a meter that is named twice the smaller amount counts. */
function spendForm(amounts: readonly tree.Amount[]): SpendForm {
    const spend: { -readonly [K in keyof SpendForm]: SpendForm[K] } = {};
    for (const { meter, amount } of amounts) spend[meter] = Math.min(amount, spend[meter] ?? amount);
    return spend;
}

export function isGate(text: string): text is Gate {
    return text === "may" || text === "ask" || text === "never";
}

function amongForm({ of, method, path }: tree.Among): AmongForm {
    return { of: of.text, ...(method === undefined ? {} : { method: method.text }), path: path.map((one) => one.text) };
}

function readersForm(of: tree.Readers): ReadersForm {
    if (of.kind === "readers.names") return { names: of.names.map((n) => n.value) };
    if (of.kind === "readers.everyone") return { everyone: true };
    const { kind, name, through } = of;
    const rows = through === undefined ? {} : { through: amongForm(through.at), to: through.to.text };
    return { [kind === "readers.arg" ? "arg" : "result"]: name.text, ...rows };
}
