/**
 * A checked tree as a program form.
 *
 * Boundary: trees in, JSON out. Says nothing about mistakes: the checker has, and what could not be read becomes none. Effects of
 * functions are told by whoever has checked.
 *
 * L1: parentheses are dropped, a negative number is one literal, `else if` stays flat; everything else is one to one.
 * L2: lower(raise(lower(tree))) is lower(tree), places aside.
 */
import { entryOf } from "../check/entry.ts";
import { MAIN_AGENT, MAIN_FUNC } from "../check/names.ts";
import type { Contract } from "../contract/contract.ts";
import { contractOf, literalOf } from "../contract/from-tree.ts";
import { numberText } from "../contract/show.ts";
import type * as tree from "../syntax/tree.ts";
import { position, type Range, type Source } from "../text/source.ts";
import { withForm } from "./with.ts";
import { boundForm, clauseForm, refForm, remitForm, spendForm } from "./lower-authority.ts";
import {
    type AgentForm,
    type ArgForm,
    type At,
    type BranchForm,
    type BudgetForm,
    type EntryForm,
    type ExprForm,
    type FileForm,
    FORM,
    type FuncForm,
    type GenerateForm,
    type ImportForm,
    type ParamForm,
    type Program,
    type RemitForm,
    type SpreadForm,
    type StmtForm,
    type UseForm,
    type UseOneForm,
} from "./form.ts";

/** A program whose files have been read, and checked. */
export interface Lowerable {
    /** Name of the file that the program starts with. */
    readonly entry: string;
    readonly files: ReadonlyMap<string, tree.File>;
    /** Imported files before their importers. */
    readonly order: readonly string[];
    /** For each file, the names of imported agents and the files that declare them. */
    readonly links: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export type EffectsOf = (func: tree.Func) => readonly string[];

const NO_EFFECTS: EffectsOf = () => [];

export function lower(program: Lowerable, effectsOf: EffectsOf = NO_EFFECTS): Program {
    const names = program.order.filter((name) => program.files.has(name));
    const index = new Map(names.map((name, i) => [name, i]));
    const files = names.map((name) => {
        const links = program.links.get(name);
        return lowerFile(program.files.get(name) as tree.File, effectsOf, (agent) => index.get(links?.get(agent) ?? ""));
    });
    const start = program.files.get(program.entry);
    const entry = start === undefined ? null : entryOf(start);
    if (entry === null) return { format: FORM, files };
    return {
        format: FORM,
        files,
        entry: {
            file: index.get(program.entry) as number,
            ...(entry.agent === null ? {} : { agent: entry.agent.name?.text ?? MAIN_AGENT }),
            func: entry.func.name?.text ?? MAIN_FUNC,
        },
    };
}

/** One file. `from`: where an imported agent is declared, by its name. */
export function lowerFile(
    file: tree.File,
    effectsOf: EffectsOf = NO_EFFECTS,
    from: (agent: string) => number | undefined = () => undefined,
): FileForm {
    const x = new Lowering(file.source, effectsOf);
    const imports: ImportForm[] = [];
    const shapes: { name: string; contract: Contract }[] = [];
    const funcs: FuncForm[] = [];
    const agents: AgentForm[] = [];
    const remits: RemitForm[] = [];
    let strict = false;
    const place = (range: Range): At => x.at(range);
    for (const item of file.items) {
        switch (item.kind) {
            case "import": {
                const declared = item.what === "agent" ? from(item.name.text) : undefined;
                imports.push({
                    what: item.what,
                    name: item.name.text,
                    uri: item.uri.value,
                    ...(declared === undefined ? {} : { from: declared }),
                    ...(item.clauses === undefined || item.clauses.length === 0
                        ? {}
                        : { clauses: item.clauses.map((c) => clauseForm(c, place)) }),
                    ...(item.remit === undefined ? {} : { remit: remitForm(item.remit, place) }),
                    ...(item.unconfined === true ? { unconfined: true as const } : {}),
                    at: x.at(item.range),
                });
                break;
            }
            case "shape":
                shapes.push({ name: item.name.text, contract: contractOf(item.contract) });
                break;
            case "func":
                funcs.push(x.func(item));
                break;
            case "agent":
                agents.push(x.agent(item));
                break;
            case "remit":
                remits.push({ ...remitForm(item.body, place), name: item.name.text });
                break;
            case "flow":
                strict = true;
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
    };
}

class Lowering {
    private readonly source: Source;
    private readonly effectsOf: EffectsOf;

    constructor(source: Source, effectsOf: EffectsOf) {
        this.source = source;
        this.effectsOf = effectsOf;
    }

    at(range: Range): At {
        const from = position(this.source, range.start);
        const to = position(this.source, range.end);
        return [from.line, from.column, to.line, to.column];
    }

    // ---- declarations ------------------------------------------------------------------------------------------------

    agent(node: tree.Agent): AgentForm {
        return {
            name: node.name?.text ?? MAIN_AGENT,
            ...(node.main ? { main: true as const } : {}),
            config: node.config.map((line) => this.setting(line)),
            funcs: node.funcs.map((func) => this.func(func)),
            ...(node.remit === undefined ? {} : { remit: remitForm(node.remit, (range) => this.at(range)) }),
            at: this.at(node.range),
        };
    }

    func(node: tree.Func): FuncForm {
        return {
            name: node.name?.text ?? MAIN_FUNC,
            ...(node.main ? { main: true as const } : {}),
            params: node.params.map(param),
            ...(node.result === undefined ? {} : { result: contractOf(node.result) }),
            effects: [...this.effectsOf(node)].sort(),
            body: this.block(node.body),
            at: this.at(node.range),
        };
    }

    // ---- statements --------------------------------------------------------------------------------------------------

    block(node: tree.Block): StmtForm[] {
        return node.statements.map((statement) => this.stmt(statement));
    }

    private setting(node: tree.Agent["config"][number]): AgentForm["config"][number] {
        const at = this.at(node.range);
        switch (node.kind) {
            case "config":
                return { kind: "config", key: node.key, value: this.expr(node.value), at };
            case "context":
                return { kind: "context", max: budget(node.max), at };
            case "use":
                return this.use(node);
            case "use.one":
                return this.useOne(node);
        }
    }

    private use(node: tree.Use): UseForm {
        return {
            kind: "use",
            value: this.expr(node.value),
            ...(node.max === undefined ? {} : { max: budget(node.max) }),
            ...(node.priority === undefined ? {} : { priority: node.priority.value }),
            ...(node.label === undefined ? {} : { label: node.label.text }),
            ...(node.image ? { image: true as const } : {}),
            at: this.at(node.range),
        };
    }

    private useOne(node: tree.UseOneOf): UseOneForm {
        return {
            kind: "use.one",
            label: node.label?.text ?? "",
            ...(node.priority === undefined ? {} : { priority: node.priority.value }),
            candidates: node.candidates.map((candidate) => ({
                name: candidate.name.text,
                ...(candidate.value === undefined ? {} : { value: this.expr(candidate.value) }),
                ...(candidate.max === undefined ? {} : { max: budget(candidate.max) }),
                ...(candidate.selected ? { selected: true as const } : {}),
            })),
            at: this.at(node.range),
        };
    }

    private stmt(node: tree.Stmt): StmtForm {
        const at = this.at(node.range);
        switch (node.kind) {
            case "config":
            case "context":
            case "use":
            case "use.one":
                return this.setting(node);
            case "return":
            case "raise":
            case "expr":
                return { kind: node.kind, value: this.expr(node.value), at };
            case "repeat":
                return { kind: "repeat", times: node.times.value, body: this.block(node.body), at };
            case "for":
                return {
                    kind: "for",
                    item: node.item.text,
                    list: this.expr(node.list),
                    max: node.max.value,
                    body: this.block(node.body),
                    at,
                };
            case "loop":
                return { kind: "loop", until: this.expr(node.until), max: node.max.value, body: this.block(node.body), at };
            case "if":
                return { kind: "if", ...this.branches(node), at };
            case "try":
                return { kind: "try", ...this.trying(node), at };
            case "delegate":
                return {
                    kind: "delegate",
                    refs: node.refs.map((ref) => refForm(ref, (range) => this.at(range))),
                    ...(node.all ? { all: true as const } : {}),
                    to: node.to.text,
                    ...(node.onward ? { onward: true as const } : {}),
                    body: this.block(node.body),
                    at,
                };
            case "define":
                return { kind: "define", func: this.func(node.func), ...(node.keep ? { keep: true as const } : {}), at };
            case "spend":
                return { kind: "spend", spend: spendForm(node.amounts), body: this.block(node.body), at };
            case "break":
            case "continue":
            case "debugger":
                return { kind: node.kind, at };
            case "assign":
                return { kind: "assign", target: this.expr(node.target), op: node.op, value: this.expr(node.value), at };
        }
    }

    private branches(node: Pick<tree.If, "branches" | "otherwise">): { branches: BranchForm[]; otherwise?: StmtForm[] } {
        return {
            branches: node.branches.map((branch) => ({ test: this.expr(branch.test), body: this.block(branch.body) })),
            ...(node.otherwise === undefined ? {} : { otherwise: this.block(node.otherwise) }),
        };
    }

    private trying(node: Pick<tree.Try, "body" | "name" | "handler">): { body: StmtForm[]; name?: string; handler: StmtForm[] } {
        return {
            body: this.block(node.body),
            ...(node.name === undefined ? {} : { name: node.name.text }),
            handler: this.block(node.handler),
        };
    }

    // ---- expressions -------------------------------------------------------------------------------------------------

    expr(node: tree.Expr): ExprForm {
        if (node.kind === "paren") return this.expr(node.value);
        const at = this.at(node.range);
        switch (node.kind) {
            case "string":
            case "bool":
                return { kind: "literal", value: node.value, at };
            case "number":
                return numberForm(node.value, node.text, at);
            case "none":
            case "missing":
                return { kind: "literal", value: null, at };
            case "ident":
                return { kind: "name", name: node.name, at };
            case "list":
                return {
                    kind: "list",
                    items: node.items.map((item) => (item.kind === "spread" ? this.spread(item) : this.expr(item))),
                    at,
                };
            case "object":
                return { kind: "object", entries: node.entries.map((entry) => this.entry(entry)), at };
            case "member":
                return {
                    kind: "member",
                    object: this.expr(node.object),
                    name: node.name.text,
                    ...(node.safe ? { safe: true as const } : {}),
                    at,
                };
            case "index":
                return { kind: "index", object: this.expr(node.object), index: this.expr(node.index), at };
            case "call":
                return {
                    kind: "call",
                    callee: this.expr(node.callee),
                    args: node.args.map((arg) => this.arg(arg)),
                    ...(node.options === undefined ? {} : { with: withForm(node.options) }),
                    ...(node.contract === undefined ? {} : { contract: contractOf(node.contract) }),
                    at,
                };
            case "unary":
                // `-0` is not a literal: JSON has no sign for it.
                if (node.op === "-" && node.value.kind === "number" && node.value.value !== 0)
                    return numberForm(-node.value.value, `-${node.value.text}`, at);
                return { kind: "unary", op: node.op, value: this.expr(node.value), at };
            case "binary":
                return { kind: "binary", op: node.op, left: this.expr(node.left), right: this.expr(node.right), at };
            case "lambda":
                return { kind: "lambda", params: node.params.map((name) => name.text), body: this.expr(node.body), at };
            case "if.expr":
                return { kind: "if.expr", ...this.branches(node), at };
            case "try.expr":
                return { kind: "try.expr", ...this.trying(node), at };
            case "narrow":
                return {
                    kind: "narrow",
                    object: this.expr(node.object),
                    methods: node.methods.map(({ method, bounds }) => ({
                        method: method.text,
                        ...(bounds.length === 0 ? {} : { in: bounds.map(boundForm) }),
                    })),
                    at,
                };
            case "endorse":
                return {
                    kind: "endorse",
                    value: this.expr(node.value),
                    ...(node.readers === undefined ? {} : { readers: node.readers.map((r) => r.value) }),
                    because: this.expr(node.because),
                    at,
                };
            case "generate":
                return this.generate(node);
            case "parallel":
                return {
                    kind: "parallel",
                    item: node.item.text,
                    list: this.expr(node.list),
                    max: node.max.value,
                    body: this.block(node.body),
                    at,
                };
        }
    }

    private spread(node: tree.Spread): SpreadForm {
        return { kind: "spread", value: this.expr(node.value), at: this.at(node.range) };
    }

    private entry(node: tree.ObjectEntry | tree.Spread): EntryForm | SpreadForm {
        if (node.kind === "spread") return this.spread(node);
        return { kind: "entry", key: node.key.text, value: this.expr(node.value), at: this.at(node.range) };
    }

    private arg(node: tree.Arg): ArgForm {
        return { ...(node.name === undefined ? {} : { name: node.name.text }), value: this.expr(node.value) };
    }

    private generate(node: tree.Generate): GenerateForm {
        const form: { -readonly [K in keyof GenerateForm]: GenerateForm[K] } = {
            kind: "generate",
            input: { kind: "literal", value: null },
        };
        for (const { key, value, budget: tokens, duration } of node.options) {
            const literal = literalOf(value);
            switch (key.text) {
                case "input":
                    form.input = this.expr(value);
                    break;
                case "model":
                    form.model = this.expr(value);
                    break;
                case "tools":
                    if (value.kind === "list")
                        form.tools = value.items.map((item) => this.expr(item.kind === "spread" ? item.value : item));
                    break;
                case "max_output":
                case "attempts":
                case "temperature":
                case "turns":
                case "timeout":
                    if (tokens !== undefined || duration !== undefined)
                        form[key.text] = tokens?.amount ?? (duration as tree.Duration).milliseconds;
                    else if (typeof literal === "number") form[key.text] = literal;
                    break;
                case "strict":
                case "debug":
                case "stream":
                    if (typeof literal === "boolean") form[key.text] = literal;
                    break;
                case "think":
                    if (typeof literal === "boolean" || isLevel(literal)) form.think = literal;
                    break;
                default:
                    break;
            }
        }
        if (node.contract !== undefined) form.contract = contractOf(node.contract);
        form.at = this.at(node.range);
        return form;
    }
}

function isLevel(value: unknown): value is "auto" | "low" | "medium" | "high" {
    return value === "auto" || value === "low" || value === "medium" || value === "high";
}

function param(node: tree.Param): ParamForm {
    const fallback = node.default === undefined ? undefined : literalOf(node.default);
    return {
        name: node.name.text,
        ...(node.contract === undefined ? {} : { contract: contractOf(node.contract) }),
        ...(fallback === undefined ? {} : { default: fallback }),
    };
}

function budget(node: tree.Budget): BudgetForm {
    return { amount: node.amount, unit: node.unit, ...(node.keep === "end" ? { keep: "end" as const } : {}), text: node.text };
}

function numberForm(value: number, text: string, at: At): ExprForm {
    return numberText(value) === text ? { kind: "literal", value, at } : { kind: "literal", value, text, at };
}
