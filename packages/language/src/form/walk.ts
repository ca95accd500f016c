/**
 * Bodies of a form: names in scope, loops around `break`, where lambdas and calls may stand, and what a `generate` needs.
 *
 * Boundary: one function at a time. The structure has been checked, so the depth is bounded and kinds are known; what a value turns out to
 * be is the machine's affair.
 *
 * S1: a name is known where it was assigned textually before in an enclosing block, or is a parameter; else it is one of the file's or a
 *     built-in's. Anything else is refused.
 *
 * Why it is long: one walk, with one case for each kind of node, over names that all of them share.
 */
import { withArticle } from "../text/words.ts";
import { BUILTINS_ON, HANDOVERS } from "../check/builtins.ts";
import type { Errors, FormCode, Place } from "./errors.ts";
import type { BranchForm, BudgetForm, ExprForm, FuncForm, StmtForm, UseForm, UseOneForm } from "./form.ts";
import { checkRefs } from "./authority.ts";
import { INEXACT, isInexact } from "./structure.ts";
import { below, type Contracts, checkContract, type FileNames, type Named, withHint } from "./names.ts";

type Key = "model" | "role" | "description";

/** What is in force at a place. */
interface Around {
    readonly loop: boolean;
    readonly lambda: boolean;
    /** Inside `use`: nothing is called, nothing is a capability. At an agent's head, only files are known besides. */
    readonly using: boolean;
    readonly head: boolean;
}

const PLAIN: Around = { loop: false, lambda: false, using: false, head: false };
const RESERVED_LABELS: ReadonlySet<string> = new Set(["system", "assistant", "tool", "developer"]);
const CAPABILITIES: ReadonlySet<string> = new Set(["tool", "llm", "agent", "memory", "skill", "func"]);

interface Block {
    readonly names: Set<string>;
    /** The body of a `parallel for`: names of the outside are not assigned in it. */
    readonly fence: boolean;
    readonly config: Readonly<Record<Key, boolean>>;
}

export class Walk {
    private readonly file: FileNames;
    private readonly own: ReadonlyMap<string, Named>;
    private readonly contracts: Contracts;
    private readonly errors: Errors;
    private blocks: Block[] = [];
    private config: Record<Key, boolean> = { model: false, role: false, description: false };

    /** `own`: the functions of the agent. */
    constructor(file: FileNames, own: ReadonlyMap<string, Named>, errors: Errors) {
        this.file = file;
        this.own = own;
        this.contracts = file.contracts;
        this.errors = errors;
    }

    private add(code: FormCode, place: Place | null, message: string): void {
        this.errors.add(code, place, message);
    }

    // ---- declarations ------------------------------------------------------------------------------------------------

    head(lines: readonly StmtForm[], place: Place): void {
        this.blocks = [];
        this.config = { model: false, role: false, description: false };
        lines.forEach((line, i) => {
            this.stmt(line, below(place, i), { ...PLAIN, head: true });
        });
    }

    /** `config`: what the agent's head sets. */
    func(form: FuncForm, place: Place | null, config: Readonly<Record<Key, boolean>>): void {
        this.blocks = [];
        this.config = { ...config };
        this.push(false);
        let optional: string | null = null;
        form.params.forEach((param, i) => {
            const at = below(place, "params", i);
            if (this.isLocal(param.name)) this.add("DUPLICATE_PARAM", below(at, "name"), `two parameters are called '${param.name}'`);
            if (this.file.names.get(param.name)?.imported === true)
                this.add("PARAM_SHADOWS_IMPORT", below(at, "name"), `the parameter '${param.name}' has the name of an import`);
            if (param.contract !== undefined) {
                checkContract(param.contract, this.contracts, below(at, "contract"), this.errors);
                if (param.default !== undefined && !this.contracts.test(param.contract)(param.default))
                    this.add("INVALID_PARAM_CONTRACT", below(at, "default"), `the default of '${param.name}' does not hold its contract`);
            }
            if (param.default !== undefined) optional ??= param.name;
            else if (optional !== null)
                this.add("INVALID_PARAM_CONTRACT", at, `'${param.name}' needs a default too, because '${optional}' before it has one`);
            this.define(param.name);
        });
        if (form.result !== undefined) checkContract(form.result, this.contracts, below(place, "result"), this.errors);
        this.block(form.body, below(place, "body"), PLAIN);
        this.pop();
    }

    /** What has been set at this place. */
    get configured(): Readonly<Record<Key, boolean>> {
        return this.config;
    }

    // ---- names -------------------------------------------------------------------------------------------------------

    private push(fence: boolean): void {
        this.blocks.push({ names: new Set(), fence, config: { ...this.config } });
    }

    private pop(): void {
        const block = this.blocks.pop() as Block;
        this.config = { ...block.config };
    }

    private define(name: string): void {
        this.blocks[this.blocks.length - 1]?.names.add(name);
    }

    private isLocal(name: string): boolean {
        return this.blocks.some((block) => block.names.has(name));
    }

    private isFenced(name: string): boolean {
        for (let i = this.blocks.length - 1; i >= 0; i--) {
            const block = this.blocks[i] as Block;
            if (block.names.has(name)) return false;
            if (block.fence) return this.isLocal(name);
        }
        return false;
    }

    private outer(name: string): Named | undefined {
        const found = this.own.get(name) ?? this.file.names.get(name);
        return found?.kind === "shape" ? undefined : found;
    }

    private known(): string[] {
        return [
            ...this.blocks.flatMap((block) => [...block.names]),
            ...this.own.keys(),
            ...this.file.names.keys(),
            ...BUILTINS_ON.global.keys(),
        ];
    }

    private read(name: string, place: Place, around: Around): void {
        if (this.isLocal(name)) return;
        const found = this.outer(name);
        if (found === undefined) {
            if (around.using || (!BUILTINS_ON.global.has(name) && name !== "json"))
                this.add("UNKNOWN_IDENTIFIER", below(place, "name"), withHint(`'${name}' is not defined here`, name, this.known()));
        } else if (around.using && CAPABILITIES.has(found.kind))
            this.add("INVALID_USE_RESOURCE", below(place, "name"), `'${name}' is ${withArticle(found.kind)}, which is never data`);
        else if (around.using && around.head && found.kind !== "file")
            this.add("INVALID_AGENT_USE", below(place, "name"), "a `use` of an agent sees literals and file imports only");
    }

    // ---- statements --------------------------------------------------------------------------------------------------

    private block(statements: readonly StmtForm[], place: Place, around: Around): void {
        for (let i = 0; i < statements.length; i++) this.stmt(statements[i] as StmtForm, below(place, i), around);
    }

    private scoped(statements: readonly StmtForm[], place: Place, around: Around, name?: string, fence = false): void {
        this.push(fence);
        if (name !== undefined) this.define(name);
        this.block(statements, place, around);
        this.pop();
    }

    private stmt(s: StmtForm, place: Place, around: Around): void {
        switch (s.kind) {
            case "config":
                this.setting(s.key, s.value, below(place, "value"));
                return;
            case "context":
                this.budget(s.max, below(place, "max"));
                return;
            case "use":
            case "use.one":
                this.use(s, place, around);
                return;
            case "return":
                if (around.lambda) this.add("LAMBDA_RETURN", place, "`return` stands inside a lambda");
                this.expr(s.value, below(place, "value"), around);
                return;
            case "raise":
            case "expr":
                this.expr(s.value, below(place, "value"), around);
                return;
            case "assign":
                this.assign(s, place, around);
                return;
            case "repeat":
                this.scoped(s.body, below(place, "body"), { ...around, loop: true });
                return;
            case "loop":
                this.expr(s.until, below(place, "until"), around);
                this.scoped(s.body, below(place, "body"), { ...around, loop: true });
                return;
            case "for":
                this.expr(s.list, below(place, "list"), around);
                this.scoped(s.body, below(place, "body"), { ...around, loop: true }, s.item);
                return;
            case "if":
                this.branches(s.branches, s.otherwise, place, around);
                return;
            case "try":
                this.scoped(s.body, below(place, "body"), around);
                this.scoped(s.handler, below(place, "handler"), around, s.name);
                return;
            case "define":
                // Closed: it sees its parameters and the built-ins.
                new Walk({ names: new Map(), contracts: this.contracts }, new Map(), this.errors).func(s.func, below(place, "func"), {
                    model: false,
                    role: false,
                    description: false,
                });
                return;
            case "delegate":
                checkRefs(s.refs, this.file, below(place, "refs"), this.errors);
                if (this.file.names.get(s.to)?.kind !== "agent")
                    this.add(
                        "REMIT_REFERENCE",
                        below(place, "to"),
                        withHint(`there is no agent '${s.to}' here`, s.to, this.file.names.keys()),
                    );
                this.scoped(s.body, below(place, "body"), around);
                return;
            case "spend":
                this.scoped(s.body, below(place, "body"), around);
                return;
            case "break":
            case "continue":
                if (!around.loop) this.add("BREAK_OUTSIDE_LOOP", place, `'${s.kind}' stands outside a loop`);
                return;
        }
    }

    private branches(branches: readonly BranchForm[], otherwise: readonly StmtForm[] | undefined, place: Place, around: Around): void {
        branches.forEach((branch, i) => {
            const at = below(place, "branches", i);
            this.expr(branch.test, below(at, "test"), around);
            this.scoped(branch.body, below(at, "body"), around);
        });
        if (otherwise !== undefined) this.scoped(otherwise, below(place, "otherwise"), around);
    }

    private setting(key: Key, value: ExprForm, place: Place): void {
        this.config[key] = true;
        if (key === "model") this.model(value, place);
        else if (value.kind !== "literal" || typeof value.value !== "string")
            this.add("INVALID_CONFIG_VALUE_TYPE", place, `${key} must be a literal text`);
    }

    private model(value: ExprForm, place: Place): void {
        if (value.kind !== "name") this.add("INVALID_MODEL_REFERENCE", place, "model takes the name of an imported llm");
        else if (this.isLocal(value.name) || this.file.names.get(value.name)?.kind !== "llm")
            this.add(
                this.isLocal(value.name) || this.file.names.has(value.name) ? "INVALID_MODEL_BINDING" : "UNKNOWN_MODEL",
                below(place, "name"),
                `'${value.name}' is no imported llm`,
            );
    }

    private budget(budget: BudgetForm | undefined, place: Place): void {
        if (budget === undefined) return;
        const found = /^(\d+(?:\.\d+)?)(k?)( tokens)?(?: keep (start|end))?$/.exec(budget.text);
        if (found === null) return;
        const amount = found[2] === "k" ? Number(`${found[1]}e3`) : Number(found[1]);
        const unit = found[3] === undefined ? "chars" : "tokens";
        const keep = found[4] === "end" ? "end" : undefined;
        if (amount !== budget.amount || unit !== budget.unit || keep !== budget.keep)
            this.add("INVALID_BUDGET", below(place, "text"), `'${budget.text}' says something else than the keys beside it`);
    }

    private use(s: UseForm | UseOneForm, place: Place, around: Around): void {
        const inside: Around = { ...around, using: true };
        if (s.label !== undefined && RESERVED_LABELS.has(s.label))
            this.add("RESERVED_CONTEXT_LABEL", below(place, "label"), `'${s.label}' is no label`);
        if (s.kind === "use") {
            this.budget(s.max, below(place, "max"));
            this.expr(s.value, below(place, "value"), inside);
            return;
        }
        const seen = new Set<string>();
        let selected = 0;
        s.candidates.forEach((candidate, i) => {
            const at = below(place, "candidates", i);
            if (seen.has(candidate.name))
                this.add("DUPLICATE_USE_ONE_OF_CANDIDATE", below(at, "name"), `two candidates are called '${candidate.name}'`);
            seen.add(candidate.name);
            if (candidate.selected === true && ++selected === 2)
                this.add("MULTIPLE_USE_ONE_OF_SELECTED", below(at, "selected"), "only one candidate can be selected");
            this.budget(candidate.max, below(at, "max"));
            if (candidate.value === undefined && candidate.max !== undefined)
                this.add("INVALID_USE_ONE_OF", below(at, "max"), "an empty candidate has no budget");
            if (candidate.value !== undefined) this.expr(candidate.value, below(at, "value"), inside);
        });
    }

    private assign(s: StmtForm & { kind: "assign" }, place: Place, around: Around): void {
        this.expr(s.value, below(place, "value"), around);
        const { target } = s;
        const at = below(place, "target");
        switch (target.kind) {
            case "name": {
                const name = below(at, "name");
                if (this.isFenced(target.name))
                    this.add("PARALLEL_FOR_OUTER_ASSIGNMENT", name, `'${target.name}' belongs to the outside of this parallel for`);
                else if (!this.isLocal(target.name)) {
                    if (this.own.has(target.name) || this.file.names.has(target.name))
                        this.add("IMMUTABLE_ASSIGNMENT", name, `'${target.name}' cannot be assigned to`);
                    else if (s.op !== "=") this.read(target.name, at, around);
                }
                this.define(target.name);
                return;
            }
            case "member":
                if (target.safe === true) this.add("INVALID_ASSIGNMENT_TARGET", at, "`?.` cannot be assigned to");
                this.expr(target, at, around);
                return;
            case "index":
                this.expr(target, at, around);
                return;
            default:
                this.add("INVALID_ASSIGNMENT_TARGET", at, "only a name, a property or an item can be assigned to");
        }
    }

    // ---- expressions -------------------------------------------------------------------------------------------------

    private expr(e: ExprForm, place: Place, around: Around): void {
        switch (e.kind) {
            case "literal":
                if (e.text !== undefined && (typeof e.value !== "number" || Number(e.text) !== e.value))
                    this.add("FORM_VALUE", below(place, "text"), "the text is not how this number is written");
                else if (typeof e.value === "number" && isInexact(e.value) && e.text?.includes(".") !== true)
                    this.add("NUMBER_TOO_LARGE", below(place, "value"), INEXACT);
                return;
            case "name":
                this.read(e.name, place, around);
                return;
            case "list":
                for (let i = 0; i < e.items.length; i++) {
                    const item = e.items[i] as (typeof e.items)[number];
                    const at = below(place, "items", i);
                    if (item.kind === "spread") this.expr(item.value, below(at, "value"), around);
                    else this.expr(item, at, around);
                }
                return;
            case "object":
                for (let i = 0; i < e.entries.length; i++)
                    this.expr((e.entries[i] as (typeof e.entries)[number]).value, below(below(place, "entries", i), "value"), around);
                return;
            case "member":
                this.expr(e.object, below(place, "object"), around);
                return;
            case "index":
                this.expr(e.object, below(place, "object"), around);
                this.expr(e.index, below(place, "index"), around);
                return;
            case "unary":
                this.expr(e.value, below(place, "value"), around);
                return;
            case "binary":
                this.expr(e.left, below(place, "left"), around);
                this.expr(e.right, below(place, "right"), around);
                return;
            case "call":
                if (around.using) this.add("INVALID_USE_CALL", place, "a call stands inside use");
                this.call(e, place, around);
                return;
            case "lambda":
                this.add("LAMBDA_PLACE", place, "a lambda stands only as an argument of a call");
                this.lambda(e, place, around);
                return;
            case "if.expr":
                if (around.using) for (const branch of e.branches) this.single(branch.body, place);
                if (around.using) this.single(e.otherwise, place);
                this.branches(e.branches, e.otherwise, place, around);
                return;
            case "try.expr":
                if (around.using) this.single(e.body, place);
                if (around.using) this.single(e.handler, place);
                this.scoped(e.body, below(place, "body"), around);
                this.scoped(e.handler, below(place, "handler"), around, e.name);
                return;
            case "narrow":
                if (around.using) this.add("INVALID_USE_RESOURCE", place, "a capability stands inside use");
                if (
                    e.methods.every((m) => m.in === undefined && (this.isLocal(m.method) || this.file.names.get(m.method)?.kind === "file"))
                )
                    this.add(
                        "FORM_VALUE",
                        below(place, "methods"),
                        "every method has the name of a variable, so that the text would be a call",
                    );
                this.expr(e.object, below(place, "object"), around);
                return;
            case "endorse":
                if (around.using) this.add("INVALID_USE_CALL", place, "endorse stands inside use");
                if (around.lambda) this.add("LAMBDA_EFFECT", place, "a lambda cannot endorse anything");
                this.expr(e.value, below(place, "value"), around);
                this.expr(e.because, below(place, "because"), around);
                return;
            case "generate":
                this.generate(e, place, around);
                return;
            case "parallel":
                if (around.using) this.add("INVALID_USE_CALL", place, "parallel for stands inside use");
                if (around.lambda) this.add("LAMBDA_EFFECT", place, "a lambda cannot run anything in parallel");
                this.expr(e.list, below(place, "list"), around);
                if (e.body[e.body.length - 1]?.kind !== "expr")
                    this.add(
                        "INVALID_PARALLEL_FOR_BODY",
                        below(place, "body"),
                        "the body ends in an expression, which is the value of the iteration",
                    );
                this.scoped(e.body, below(place, "body"), { ...around, loop: false }, e.item, true);
                return;
        }
    }

    /** A block inside `use` holds one expression and nothing else. */
    private single(body: readonly StmtForm[] | undefined, place: Place): void {
        if (body !== undefined && (body.length !== 1 || body[0]?.kind !== "expr"))
            this.add("INVALID_USE_CALL", place, "a block inside use holds one expression and nothing else");
    }

    private lambda(e: ExprForm & { kind: "lambda" }, place: Place, around: Around): void {
        this.push(false);
        for (const name of e.params) this.define(name);
        this.expr(e.body, below(place, "body"), { ...around, loop: false, lambda: true });
        this.pop();
    }

    private call(e: ExprForm & { kind: "call" }, place: Place, around: Around): void {
        const { callee } = e;
        const at = below(place, "callee");
        if (callee.kind === "name") this.callee(callee.name, e.args.length, at, around);
        else if (callee.kind === "member") this.expr(callee.object, below(at, "object"), around);
        else {
            this.add("NOT_CALLABLE", at, "only a name or a member can be called");
            this.expr(callee, at, around);
        }
        const named = callee.kind === "member" && callee.name === "yield";
        if (named) this.yielded(e, place);
        else if (e.with !== undefined || e.contract !== undefined)
            this.add("INVALID_YIELD_OPTION", place, "`with` and a contract stand only after a yield");
        const handover = callee.kind === "name" && this.isHandover(callee.name) ? callee.name : null;
        if (handover !== null && around.lambda) this.add("LAMBDA_EFFECT", place, "a lambda cannot hand over control");
        e.args.forEach((arg, i) => {
            const here = below(place, "args", i);
            if (arg.name !== undefined && !named && !(handover === "reason" && i === 1 && arg.name === "example"))
                this.add("NAMED_ARGUMENT", below(here, "name"), "arguments have names only where an agent is handed control");
            if (handover === "agent" && i === 1 && arg.value.kind === "object") this.options(arg.value, below(here, "value"), around);
            else if (arg.value.kind === "lambda") this.lambda(arg.value, below(here, "value"), around);
            else this.expr(arg.value, below(here, "value"), around);
        });
    }

    /** A built-in that hands over control, where nothing else has its name. */
    private isHandover(name: string): boolean {
        return HANDOVERS.has(name) && !this.isLocal(name) && this.outer(name) === undefined;
    }

    private yielded(e: ExprForm & { kind: "call" }, place: Place): void {
        const seen = new Set(["agent"]);
        e.args.forEach(({ name }, i) => {
            if (name === undefined) return;
            if (seen.has(name))
                this.add(
                    "INVALID_YIELD_ARGUMENT",
                    below(below(place, "args", i), "name"),
                    `'${name}' is given twice, or is the agent's own`,
                );
            seen.add(name);
        });
        e.with?.skills?.forEach((name, i) => {
            if (this.isLocal(name) || this.file.names.get(name)?.kind !== "skill")
                this.add("INVALID_YIELD_OPTION", below(below(below(place, "with"), "skills"), i), `'${name}' is no imported skill`);
        });
        if (e.contract !== undefined) checkContract(e.contract, this.contracts, below(place, "contract"), this.errors);
    }

    /** The options of `agent()`: `policy` and `skills` name what is no value. */
    private options(e: ExprForm & { kind: "object" }, place: Place, around: Around): void {
        e.entries.forEach((entry, i) => {
            const at = below(below(place, "entries", i), "value");
            const { value } = entry;
            const key = entry.kind === "entry" ? entry.key : "";
            if (key === "policy" && value.kind === "name" && !this.isLocal(value.name) && this.file.remits?.has(value.name) === true)
                return;
            if (key === "skills" && value.kind === "list") {
                for (const item of value.items)
                    if (item.kind !== "name" || this.file.names.get(item.name)?.kind !== "skill")
                        this.add("INVALID_YIELD_OPTION", at, "'skills' takes names of imported skills");
                return;
            }
            this.expr(value, at, around);
        });
    }

    private callee(name: string, given: number, place: Place, around: Around): void {
        const at = below(place, "name");
        if (this.isLocal(name)) {
            if (this.file.answer === true && !around.lambda) return;
            this.add("NOT_CALLABLE", at, `'${name}' is a variable, not a function`);
            return;
        }
        const found = this.outer(name);
        if (found === undefined) {
            const row = BUILTINS_ON.global.get(name) ?? HANDOVERS.get(name);
            if (row === undefined) this.add("UNKNOWN_FUNCTION", at, withHint(`there is no function '${name}'`, name, this.known()));
            else if (given < row.min || given > row.max) this.add("INVALID_ARGUMENT_COUNT", at, `${name} does not take ${given} arguments`);
            return;
        }
        if (found.func !== undefined) {
            const { params } = found.func;
            const least = params.filter((param) => param.default === undefined).length;
            if (given < least || given > params.length) {
                const wants = least === params.length ? `${least}` : `${least} to ${params.length}`;
                this.add("INVALID_ARGUMENT_COUNT", at, `${name}() takes ${wants} argument${wants === "1" ? "" : "s"}, not ${given}`);
            }
        } else if (found.kind !== "agent")
            this.add("NOT_CALLABLE", at, `'${name}' is ${withArticle(found.kind)}, which cannot be called by itself`);
    }

    private generate(e: ExprForm & { kind: "generate" }, place: Place, around: Around): void {
        if (around.using) this.add("INVALID_USE_CALL", place, "generate stands inside use");
        if (around.lambda) this.add("LAMBDA_EFFECT", place, "a lambda cannot reach a model");
        this.expr(e.input, below(place, "input"), around);
        if (e.model !== undefined) this.model(e.model, below(place, "model"));
        e.tools?.forEach((tool, i) => {
            this.tool(tool, below(below(place, "tools"), i));
        });
        if (e.contract !== undefined) checkContract(e.contract, this.contracts, below(place, "contract"), this.errors);
        for (const key of ["model", "role", "description"] as const)
            if (!this.config[key] && !(key === "model" && e.model !== undefined))
                this.add("MISSING_GENERATE_CONFIG", place, `generate needs a ${key} in scope`);
    }

    /** `Search`, or `Repo.read`. */
    private tool(tool: ExprForm, place: Place): void {
        const base = tool.kind === "member" ? tool.object : tool;
        const safe = tool.kind === "member" && tool.safe === true;
        if (base.kind !== "name" || safe || this.isLocal(base.name) || this.file.names.get(base.name)?.kind !== "tool")
            this.add("INVALID_GENERATE_TOOLS", place, "tools are imported tools or methods of them, such as [Search, Repo.read]");
    }
}
