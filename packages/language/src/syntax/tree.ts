/**
 * The syntax tree: exactly what the text says, one node per construct, comments kept beside it.
 *
 * Boundary: shapes only. The parser makes them, the printer writes them, the checker reads them, `form/lower` turns them into
 * the program form. Every node has a `range`. Nodes made by error recovery are `Missing`.
 *
 * TRE1: print(parse(text)) parses to an equal tree (ranges and comments aside).
 *
 * Why it is long: it is a list of shapes.
 */
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Range, Source } from "../text/source.ts";

export interface Node {
    readonly range: Range;
}

export interface Name extends Node {
    readonly text: string;
}

/** `//` and block comments with their delimiters. `ownLine`: nothing but white space stands before it on its line. */
export interface Comment extends Node {
    readonly text: string;
    readonly ownLine: boolean;
}

/** One file. `tree.items` are in source order; comments are in source order and belong to no node. */
export interface File {
    readonly source: Source;
    readonly items: readonly Item[];
    readonly comments: readonly Comment[];
    readonly diagnostics: readonly Diagnostic[];
    /** What cannot be trusted: for each error of reading, from the beginning of its statement to its end. */
    readonly damaged?: readonly Range[];
}

// ---- top level -------------------------------------------------------------------------------------------------------

export type Item = Import | Agent | Func | ShapeDecl | RemitDecl | FlowDecl | BlockDecl;

export type ImportKind = "tool" | "llm" | "file" | "agent" | "memory" | "skill";

export interface Import extends Node {
    readonly kind: "import";
    readonly what: ImportKind;
    readonly name: Name;
    readonly uri: StringLit;
    /** `{ send: ask, arg to: trusted }` at an import. */
    readonly clauses?: readonly ImportClause[];
    /** `{ remit { … } }`, `{ remit Careful }` at the import of an agent. */
    readonly remit?: RemitUse;
    /** `unconfined` after the URI of an agent. */
    readonly unconfined?: boolean;
}

// ---- authority (LANGUAGE 5) ------------------------------------------------------------------------------------------

/** What an import says of what it brings in. Several are separated by commas or lines. */
export type ImportClause =
    | GateClause
    | CountClause
    | ArgClause
    | ChoiceClause
    | TrustedClause
    | UntrustedClause
    | LabelsClause
    | ReadersClause;

/** `send: ask`. */
export interface GateClause extends Node {
    readonly kind: "clause.gate";
    readonly method: Name;
    readonly gate: Name;
}
/** `refund: at most 3 once by order_id`. */
export interface CountClause extends Node {
    readonly kind: "clause.count";
    readonly method: Name;
    readonly counts: readonly Count[];
}
/** `arg to: trusted`, `arg send.to: from("user", "tool:Contacts") or ask`, `arg 1: trusted`, `arg body: addresses among("user")`. */
export interface ArgClause extends Node {
    readonly kind: "clause.arg";
    readonly method?: Name;
    /** A name, or a place from 1. */
    readonly name: Name;
    /** Absent: `trusted`. */
    readonly from?: readonly StringLit[];
    /** `among(…)`: also values that occurred in what came from there. */
    readonly among?: boolean;
    /** `among(input.recipients, Contacts.find.email)`. */
    readonly fields?: readonly Among[];
    /** `addresses among(…)`: of what comes from elsewhere only the addresses in it. */
    readonly addresses?: boolean;
    /** `plain`, `plain among(…)`: of what comes from elsewhere only what acts where texts act. */
    readonly plain?: boolean;
    /** `or ask`. */
    readonly ask: boolean;
}
/** `choice send: trusted or ask`, `choice: from("user", "tool:Inbox")`, `choice send: any`. */
export interface ChoiceClause extends Node {
    readonly kind: "clause.choice";
    /** Absent: every method that does more than read. */
    readonly method?: Name;
    /** Absent: `trusted`, or `any`. */
    readonly from?: readonly StringLit[];
    readonly any?: boolean;
    /** `or ask`. */
    readonly ask: boolean;
}
/** `input.recipients`, `Contacts.find.email`. */
export interface Among extends Node {
    readonly of: Name;
    readonly method?: Name;
    readonly path: readonly Name[];
}
/** `trusted`. */
export interface TrustedClause extends Node {
    readonly kind: "clause.trusted";
}
/** `untrusted`, of a model: its own origin counts, beside what it read. */
export interface UntrustedClause extends Node {
    readonly kind: "clause.untrusted";
}
/** `labels from server`: what the server states of a result may grant, too. */
export interface LabelsClause extends Node {
    readonly kind: "clause.labels";
}
/** `reads: "alice"`, `reads find: arg owner`, `audience: everyone`, `audience send: arg to or ask`. */
export interface ReadersClause extends Node {
    readonly kind: "clause.readers";
    readonly which: "reads" | "audience";
    readonly method?: Name;
    readonly readers: Readers;
    readonly ask: boolean;
}
export type Readers =
    | (Node & { readonly kind: "readers.names"; readonly names: readonly StringLit[] })
    | (Node & { readonly kind: "readers.arg" | "readers.result"; readonly name: Name; readonly through?: Through })
    | (Node & { readonly kind: "readers.everyone" });

/** `through Customers.list.id to email`: the row of a result whose field has that value, and its field that names people. */
export interface Through extends Node {
    readonly at: Among;
    readonly to: Name;
}

/** `in "src/**"`, `in to: "*@example.com"`, `in amount: 0..500`. */
export interface Bound extends Node {
    readonly arg?: Name;
    readonly patterns: readonly StringLit[];
    /** The patterns are ranges of numbers, `0..500`, both ends in them. */
    readonly numbers: boolean;
}
/** `at most 3`, `at most 20 per day`: `most`; `once by order_id`: `by`. */
export interface Count extends Node {
    readonly most?: NumberLit;
    readonly per?: "day";
    /** A name, or a place from 1. */
    readonly by?: Name;
}
/** `Repo`, `Repo.write in "src/**"`, `Pay.refund at most 3`. */
export interface Ref extends Node {
    readonly name: Name;
    readonly method?: Name;
    readonly bounds: readonly Bound[];
    readonly counts?: readonly Count[];
}
/** `may Repo.read`, `ask Repo.write in "src/**"`, `never Mail`, `may all`, `may endorse` (a ref of that name). */
export interface Grant extends Node {
    readonly gate: "may" | "ask" | "never";
    readonly all: boolean;
    readonly refs: readonly Ref[];
}
/** `200k tokens`, `10 min`; `unit` as one of the meters; time in milliseconds. `text`: as written. */
export interface Amount extends Node {
    readonly meter: "tokens" | "usd" | "time" | "steps" | "calls" | "turns" | "bytes";
    readonly amount: number;
    readonly text: string;
}
export interface RemitBody extends Node {
    readonly kind: "remit.body";
    /** Clauses in source order. */
    readonly clauses: readonly (RemitGrant | RemitSpend | RemitFlow)[];
}
export interface RemitGrant extends Node {
    readonly kind: "remit.grant";
    readonly grant: Grant;
}
export interface RemitSpend extends Node {
    readonly kind: "remit.spend";
    readonly amounts: readonly Amount[];
}
/** `flow strict`. */
export interface RemitFlow extends Node {
    readonly kind: "remit.flow";
}
export type RemitUse = RemitBody | (Node & { readonly kind: "remit.use"; readonly name: Name });
/** `remit NAME { … }`. */
export interface RemitDecl extends Node {
    readonly kind: "remit";
    readonly name: Name;
    readonly body: RemitBody;
}
/** `flow strict` at the top of a file. */
export interface FlowDecl extends Node {
    readonly kind: "flow";
}

export interface Agent extends Node {
    readonly kind: "agent";
    readonly main: boolean;
    /** Absent only for an unnamed `main agent`. */
    readonly name?: Name;
    readonly config: readonly (Config | ContextBudget | Use | UseOneOf)[];
    readonly funcs: readonly Func[];
    readonly remit?: RemitUse;
}

export interface ShapeDecl extends Node {
    readonly kind: "shape";
    readonly name: Name;
    readonly contract: ContractNode;
}

export interface Func extends Node {
    readonly kind: "func";
    readonly main: boolean;
    /** Absent only for an unnamed `main func`. */
    readonly name?: Name;
    readonly params: readonly Param[];
    /** `func f(x) -> { … }`. */
    readonly result?: ContractNode;
    readonly body: Block;
}

export interface Param extends Node {
    readonly name: Name;
    readonly contract?: ContractNode;
    /** A colon stands before an object contract; every other contract is printed with one. */
    readonly colon?: true;
    /** Literal default after `=`. */
    readonly default?: Expr;
}

// ---- blocks (LANGUAGE 8) ---------------------------------------------------------------------------------------------

/** `temporal static ( … ) as verdict`. */
export interface BlockDecl extends Node {
    readonly kind: "block";
    readonly backend: "memory" | "temporal";
    readonly mode: "static" | "dynamic";
    readonly body: Flow;
    /** What later blocks and functions call its value. */
    readonly name?: Name;
}

/** Parentheses that only group leave no trace: a pipe of a pipe is one pipe, a fan-out of one branch is the branch. */
export type Flow = FlowPipe | FlowFan | Stage | BlockDecl | Missing;

/** `a >=> b`: two or more, none of them a pipe. */
export interface FlowPipe extends Node {
    readonly kind: "pipe";
    readonly stages: readonly Flow[];
}
/** `a <*> b`: two or more. */
export interface FlowFan extends Node {
    readonly kind: "fan";
    readonly branches: readonly Flow[];
}
/** `read "a.md"`, `Repo.write "x" (text: report) with { retries: 2 }`. */
export interface Stage extends Node {
    readonly kind: "stage";
    readonly call: Name;
    readonly method?: Name;
    /** Those without a name come first. */
    readonly args: readonly StageArg[];
    /** `with { … }`. */
    readonly options?: readonly GenerateOption[];
}
/** `duration`: `30s`, `2 min`; its value is in milliseconds then. */
export interface StageArg extends Node {
    readonly name?: Name;
    readonly value: Expr;
    readonly duration?: Duration;
}

// ---- contracts -------------------------------------------------------------------------------------------------------

export type ContractNode = ContractName | ContractList | ContractObject | ContractLiteral | ContractUnion | ContractOptional;

/** `string number boolean json none list`, or the name of a shape. */
export interface ContractName extends Node {
    readonly kind: "c.name";
    readonly name: Name;
}
export interface ContractList extends Node {
    readonly kind: "c.list";
    readonly item: ContractNode;
}
export interface ContractObject extends Node {
    readonly kind: "c.object";
    readonly fields: readonly ContractField[];
}
export interface ContractField extends Node {
    readonly name: Name;
    /** `name?: T`. */
    readonly optional: boolean;
    /** Absent for a lone label (string in `generate`, an error in an input contract). */
    readonly type?: ContractNode;
    /** Literal after `=`. */
    readonly default?: Expr;
    /** String after the field. */
    readonly description?: StringLit;
}
/** `"a"` in `"a" | "b"`; numbers, `true`, `false` and `none` too. */
export interface ContractLiteral extends Node {
    readonly kind: "c.literal";
    readonly value: string | number | boolean | null;
}
export interface ContractUnion extends Node {
    readonly kind: "c.union";
    readonly members: readonly ContractNode[];
}
/** `T?`: T or none. */
export interface ContractOptional extends Node {
    readonly kind: "c.optional";
    readonly of: ContractNode;
}

// ---- statements ------------------------------------------------------------------------------------------------------

export interface Block extends Node {
    readonly statements: readonly Stmt[];
}

export type Stmt =
    | Config
    | ContextBudget
    | Use
    | UseOneOf
    | Return
    | Repeat
    | For
    | Loop
    | If
    | Try
    | Raise
    | Break
    | Continue
    | Debugger
    | Delegate
    | Spend
    | Define
    | Assign
    | ExprStmt;

/** `delegate Repo.write in "src/**", Mail.send to Fixer onward { … }`. */
export interface Delegate extends Node {
    readonly kind: "delegate";
    readonly all: boolean;
    readonly refs: readonly Ref[];
    readonly to: Name;
    readonly onward: boolean;
    readonly body: Block;
}
/** `spend 10k tokens, 2 min { … }`. */
export interface Spend extends Node {
    readonly kind: "spend";
    readonly amounts: readonly Amount[];
    readonly body: Block;
}

/** `define name = func (x) { … } keep`: only in what an agent answers. */
export interface Define extends Node {
    readonly kind: "define";
    readonly func: Func;
    readonly keep: boolean;
}

/** `model M`, `role "…"`, `description "…"`. */
export interface Config extends Node {
    readonly kind: "config";
    readonly key: "model" | "role" | "description";
    readonly value: Expr;
}

/** `context max 20k tokens`. */
export interface ContextBudget extends Node {
    readonly kind: "context";
    readonly max: Budget;
}

/** `4k`, `4k tokens`, `4k tokens keep end`. `amount` is after the unit `k` was applied. */
export interface Budget extends Node {
    readonly text: string;
    readonly amount: number;
    readonly unit: "chars" | "tokens";
    readonly keep: "start" | "end";
    /** Letters glued to the number as written, so that one that is no unit can be refused: `k`; empty for none. */
    readonly suffix?: string;
}

/** `30s`, `500ms`, `2 min`. */
export interface Duration extends Node {
    readonly text: string;
    readonly milliseconds: number;
}

export interface Use extends Node {
    readonly kind: "use";
    /** `use image EXPR`. */
    readonly image: boolean;
    readonly value: Expr;
    readonly max?: Budget;
    /** Declared `priority N`; higher is kept longer. */
    readonly priority?: NumberLit;
    readonly label?: Label;
}

/** `quoted`: written as a string. */
export interface Label extends Node {
    readonly text: string;
    readonly quoted: boolean;
}

export interface UseOneOf extends Node {
    readonly kind: "use.one";
    readonly candidates: readonly Candidate[];
    readonly priority?: NumberLit;
    readonly label?: Label;
}

export interface Candidate extends Node {
    readonly name: Name;
    /** Absent: `empty`. */
    readonly value?: Expr;
    readonly max?: Budget;
    readonly selected: boolean;
}

export interface Return extends Node {
    readonly kind: "return";
    readonly value: Expr;
}
export interface Repeat extends Node {
    readonly kind: "repeat";
    readonly times: NumberLit;
    readonly body: Block;
}
export interface For extends Node {
    readonly kind: "for";
    readonly item: Name;
    readonly list: Expr;
    readonly max: NumberLit;
    readonly body: Block;
}
/** `loop until C max N { … }`. */
export interface Loop extends Node {
    readonly kind: "loop";
    readonly until: Expr;
    readonly max: NumberLit;
    readonly body: Block;
}
/** `branches` are `if` and every `else if`, so that a long chain is not a deep tree. */
export interface If extends Node {
    readonly kind: "if";
    readonly branches: readonly { readonly test: Expr; readonly body: Block }[];
    readonly otherwise?: Block;
}
export interface Try extends Node {
    readonly kind: "try";
    readonly body: Block;
    readonly name?: Name;
    readonly handler: Block;
}
export interface Raise extends Node {
    readonly kind: "raise";
    readonly value: Expr;
}
export interface Break extends Node {
    readonly kind: "break";
}
export interface Continue extends Node {
    readonly kind: "continue";
}
/** Where a debugger stops; nothing in a run. */
export interface Debugger extends Node {
    readonly kind: "debugger";
}
export interface Assign extends Node {
    readonly kind: "assign";
    readonly target: Expr;
    readonly op: "=" | "+=" | "-=";
    readonly value: Expr;
}
export interface ExprStmt extends Node {
    readonly kind: "expr";
    readonly value: Expr;
}

// ---- expressions -----------------------------------------------------------------------------------------------------

export type Expr =
    | StringLit
    | NumberLit
    | BoolLit
    | NoneLit
    | Ident
    | ListLit
    | ObjectLit
    | Member
    | Index
    | Call
    | Unary
    | Binary
    | Paren
    | Lambda
    | IfExpr
    | TryExpr
    | Narrow
    | Endorse
    | Generate
    | ParallelFor
    | Missing;

/** `style`: how it was written; the printer keeps block strings as blocks. */
export interface StringLit extends Node {
    readonly kind: "string";
    readonly value: string;
    readonly style: "double" | "single" | "block";
}
/** `text`: as written. */
export interface NumberLit extends Node {
    readonly kind: "number";
    readonly value: number;
    readonly text: string;
}
export interface BoolLit extends Node {
    readonly kind: "bool";
    readonly value: boolean;
}
export interface NoneLit extends Node {
    readonly kind: "none";
}
export interface Ident extends Node {
    readonly kind: "ident";
    readonly name: string;
}
/** `...x` inside a list, an object or nothing else. */
export interface Spread extends Node {
    readonly kind: "spread";
    readonly value: Expr;
}
export interface ListLit extends Node {
    readonly kind: "list";
    readonly items: readonly (Expr | Spread)[];
}
export interface ObjectEntry extends Node {
    readonly kind: "entry";
    readonly key: Name;
    readonly quoted: boolean;
    readonly value: Expr;
}
export interface ObjectLit extends Node {
    readonly kind: "object";
    readonly entries: readonly (ObjectEntry | Spread)[];
}
/** `x.name`, `x?.name`. */
export interface Member extends Node {
    readonly kind: "member";
    readonly object: Expr;
    readonly name: Name;
    readonly safe: boolean;
}
export interface Index extends Node {
    readonly kind: "index";
    readonly object: Expr;
    readonly index: Expr;
}
/** `name` present: a named argument (`Fixer.yield(log: x)`), refused by the checker where not allowed. */
export interface Arg extends Node {
    readonly name?: Name;
    readonly value: Expr;
}
/** `options` (`with {…}`) and `contract` (`-> …`) only after a call of a member `yield`. */
export interface Call extends Node {
    readonly kind: "call";
    readonly callee: Expr;
    readonly args: readonly Arg[];
    readonly options?: readonly GenerateOption[];
    readonly contract?: ContractNode;
}
export interface Unary extends Node {
    readonly kind: "unary";
    /** `text`: the value as text, in a text in backticks. */
    readonly op: "not" | "-" | "text";
    readonly value: Expr;
}
export type BinaryOp = "or" | "and" | "??" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "%";
export interface Binary extends Node {
    readonly kind: "binary";
    readonly op: BinaryOp;
    readonly left: Expr;
    readonly right: Expr;
    /** One of the sums that a text in backticks is: from the left a text, then `unary` `text` and texts. */
    readonly template?: true;
}
export interface Paren extends Node {
    readonly kind: "paren";
    readonly value: Expr;
}
/** `(a, b) => expr`, `x => expr`; only as an argument of a built-in that takes one. */
export interface Lambda extends Node {
    readonly kind: "lambda";
    readonly params: readonly Name[];
    readonly body: Expr;
}
export interface IfExpr extends Node {
    readonly kind: "if.expr";
    readonly branches: readonly { readonly test: Expr; readonly body: Block }[];
    readonly otherwise?: Block;
}
export interface TryExpr extends Node {
    readonly kind: "try.expr";
    readonly body: Block;
    readonly name?: Name;
    readonly handler: Block;
}
/** `Repo.only(read, write in "src/**")`. */
export interface Narrow extends Node {
    readonly kind: "narrow";
    readonly object: Expr;
    readonly methods: readonly { readonly method: Name; readonly bounds: readonly Bound[] }[];
}
/** `endorse x as trusted because "…"`, `endorse x for "bob", "team" because "…"`. */
export interface Endorse extends Node {
    readonly kind: "endorse";
    readonly value: Expr;
    /** Absent: `as trusted`. */
    readonly readers?: readonly StringLit[];
    readonly because: Expr;
}
export interface GenerateOption extends Node {
    readonly key: Name;
    readonly value: Expr;
    /** `max_output: 2k` */
    readonly budget?: Budget;
    /** `timeout: 30s`; `value` is then the number of milliseconds. */
    readonly duration?: Duration;
}
export interface Generate extends Node {
    readonly kind: "generate";
    readonly options: readonly GenerateOption[];
    readonly contract?: ContractNode;
}
export interface ParallelFor extends Node {
    readonly kind: "parallel";
    readonly item: Name;
    readonly list: Expr;
    readonly max: NumberLit;
    /** `stop after N failures` */
    readonly stop?: NumberLit;
    readonly body: Block;
}
/** Stands where the parser found no expression. A diagnostic at the same range says why. */
export interface Missing extends Node {
    readonly kind: "missing";
}
