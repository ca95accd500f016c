/**
 * The program form: the JSON a program is compiled to. Also what an agent answers a yield with and what the cache keeps.
 *
 * Boundary: shapes and the closed list of node kinds. `lower` makes it from a checked tree, `raise` turns it back into a tree for the
 * printer, `validate` decides whether foreign JSON is one. Names stay names: the machine resolves them again, so nothing in a form
 * can claim a meaning that the resolution rules do not give it.
 *
 * FOR1: one discriminator, `kind`; unknown kinds and unknown keys are refused.
 * FOR2: positions (`at`) are optional and change nothing but messages.
 */
import type { Contract, Json } from "../contract/contract.ts";
import type { Site } from "../text/source.ts";

export const FORM = "remit-program/1";

/** `[line, column, endLine, endColumn]`, from 1. */
export type At = readonly [number, number, number, number];

export function siteAt(file: string, at: At | undefined): Site | null {
    return at === undefined ? null : { file, line: at[0], column: at[1], endLine: at[2], endColumn: at[3] };
}

export interface Program {
    readonly format: typeof FORM;
    /** Imported files come before their importers; the last one is the program's own. */
    readonly files: readonly FileForm[];
    /** Absent for a library of functions. Its func is `BLOCKS` in a file that has blocks. */
    readonly entry?: StartForm;
    /** Of a program whose entry is its blocks: what the entry would be without them. */
    readonly main?: StartForm;
}

/** Where a run begins. */
export interface StartForm {
    readonly file: number;
    readonly agent?: string;
    readonly func: string;
}

/** The entry of a file that has blocks: all of them in source order. `__block#0` and so on are the single ones. */
export const BLOCKS = "__blocks";

export interface FileForm {
    readonly file: string;
    readonly imports: readonly ImportForm[];
    readonly shapes: readonly { readonly name: string; readonly contract: Contract }[];
    readonly funcs: readonly FuncForm[];
    readonly agents: readonly AgentForm[];
    /** Remits declared by name. */
    readonly remits?: readonly RemitForm[];
    /** `flow strict`: control flow carries labels in the code of this file. */
    readonly flow?: "strict";
    /** In source order. */
    readonly blocks?: readonly BlockForm[];
    /** It holds the code of verbs that blocks of the program use: a func of the name of each. Its own name is `VERBS_FILE`. */
    readonly prelude?: true;
}

export const VERBS_FILE = "verbs.remit";

// ---- blocks (LANGUAGE 8) ---------------------------------------------------------------------------------------------

/** `temporal static ( … ) as verdict`. `name`: what later blocks and functions call its value. */
export interface BlockForm {
    readonly kind: "block";
    readonly backend: Backend;
    readonly mode: "static" | "dynamic";
    readonly body: FlowForm;
    readonly name?: string;
    readonly at?: At;
}

export type Backend = "memory" | "temporal";

/** A pipe in a pipe and a fan-out of one branch do not occur: they mean what stands in them. */
export type FlowForm =
    /** `a >=> b`: two or more. */
    | { readonly kind: "pipe"; readonly stages: readonly FlowForm[]; readonly at?: At }
    /** `a <*> b`: two or more. */
    | { readonly kind: "fan"; readonly branches: readonly FlowForm[]; readonly at?: At }
    | StageForm
    | BlockForm;

/** `read "a.md"`, `Repo.write(path: "x") with { retries: 2 }`. Names are resolved by the machine: func, agent, import, then verb. */
export interface StageForm {
    readonly kind: "stage";
    readonly call: string;
    /** Of a tool: `Repo.write`. */
    readonly method?: string;
    /** Those without a name come first. */
    readonly args: readonly StageArgForm[];
    readonly with?: StageWithForm;
    readonly at?: At;
}

export interface StageArgForm {
    readonly name?: string;
    readonly value: StageValueForm;
}

export type StageValueForm =
    | { readonly kind: "literal"; readonly value: Json }
    /** A verb, func, agent, tool or its method, a file import, or the name of an earlier block. */
    | StageRefForm
    /** `tools: [Search, Repo.read]`. */
    | { readonly kind: "refs"; readonly items: readonly StageNameForm[] };

export interface StageNameForm {
    readonly name: string;
    readonly method?: string;
    readonly at?: At;
}

export interface StageRefForm extends StageNameForm {
    readonly kind: "ref";
}

export interface StageWithForm {
    /** Milliseconds. */
    readonly timeout?: number;
    readonly retries?: number;
    readonly on_error?: "fail" | "collect" | "none";
    readonly queue?: string;
    readonly credential?: CredentialForm;
    /** On whose behalf. */
    readonly as?: string;
    /** 1 comes first. */
    readonly priority?: number;
    /** A second. */
    readonly rate?: number;
    /** The name of an imported llm. */
    readonly model?: string;
}

/** `env("KEY")`, `exec("op read …")`. */
export interface CredentialForm {
    readonly source: "env" | "file" | "exec" | "oauth" | "secret";
    readonly arg: string;
}

// ---- authority (LANGUAGE 5) ------------------------------------------------------------------------------------------

/** What stands between a capability and its use. `never` beats `ask` beats `may`. */
export type Gate = "may" | "ask" | "never";

/** `in "src/**", "docs/**"`: one of the patterns must match. `arg`: the argument that is bound, absent for the one that names the resource. */
export interface BoundForm {
    readonly arg?: string;
    readonly patterns: readonly string[];
}

/** `Repo`, `Repo.write`, `Repo.write in "src/**"`. All bounds must hold. */
export interface RefForm {
    readonly name: string;
    /** Absent: every method. */
    readonly method?: string;
    readonly in?: readonly BoundForm[];
    readonly at?: At;
}

/** `may Repo.read, Repo.list`. `all`: everything that the file imports and declares; `refs` is empty then. */
export interface GrantForm {
    readonly gate: Gate;
    readonly refs: readonly RefForm[];
    readonly all?: true;
    readonly at?: At;
}

/** `spend 200k tokens, 10 min, 2 usd`. `time` in milliseconds. */
export interface SpendForm {
    readonly tokens?: number;
    readonly usd?: number;
    readonly time?: number;
    readonly steps?: number;
    readonly calls?: number;
    readonly turns?: number;
    readonly bytes?: number;
}

export interface RemitForm {
    /** Absent for one that stands inline. */
    readonly name?: string;
    /** The name of a remit of the same file that stands here; `grants` is empty then. */
    readonly use?: string;
    readonly grants: readonly GrantForm[];
    readonly spend?: SpendForm;
    /** `may endorse`: the right to call a value trusted, or to widen its readers. */
    readonly endorse?: true;
    readonly flow?: "strict";
    readonly at?: At;
}

/** Who may read, one of: names, whoever an argument of the call names, whoever a field of the result names, everybody. */
export interface ReadersForm {
    readonly names?: readonly string[];
    readonly arg?: string;
    readonly result?: string;
    readonly everyone?: true;
}

/** What an import says of a tool, model, memory or file; it binds everybody. */
export type ClauseForm =
    /** `send: ask`. */
    | { readonly kind: "gate"; readonly method: string; readonly gate: Gate; readonly at?: At }
    /** `arg to: trusted`, `arg send.to: from("user", "tool:Contacts") or ask`. */
    | {
          readonly kind: "arg";
          readonly method?: string;
          /** Name of the argument, or its place from 1. */
          readonly name: string;
          /** Origins that may be in it; absent: trusted ones. */
          readonly from?: readonly string[];
          /** Also a value that occurred in what came from there, whatever else chose it. */
          readonly among?: true;
          /** Only the addresses in it: a text from elsewhere that holds none may stand there. */
          readonly addresses?: true;
          /** A refused flow becomes a question that shows the flow. */
          readonly ask?: true;
          readonly at?: At;
      }
    /** `trusted`: what comes from here counts as trusted. */
    | { readonly kind: "trusted"; readonly at?: At }
    /** `reads: "alice"`, `reads find: arg owner`: who may read what comes from here. */
    | { readonly kind: "reads"; readonly method?: string; readonly readers: ReadersForm; readonly at?: At }
    /** `audience: arg to`, `audience post: everyone`: who reads what is sent here. */
    | { readonly kind: "audience"; readonly method?: string; readonly readers: ReadersForm; readonly ask?: true; readonly at?: At };

export interface ImportForm {
    readonly what: "tool" | "llm" | "file" | "agent" | "memory" | "skill";
    readonly name: string;
    readonly uri: string;
    /** For a Remit agent: index into `files` of the file that declares it. */
    readonly from?: number;
    readonly clauses?: readonly ClauseForm[];
    /** For an agent: what it is given here, within what its own file gives it. */
    readonly remit?: RemitForm;
    /** An external agent that runs without a sandbox, said so. */
    readonly unconfined?: true;
    readonly at?: At;
}

export interface AgentForm {
    /** `__main_agent` where the source gives none. */
    readonly name: string;
    readonly main?: boolean;
    readonly config: readonly (ConfigForm | ContextForm | UseForm | UseOneForm)[];
    readonly funcs: readonly FuncForm[];
    /** Absent: the agent runs as `user`. */
    readonly remit?: RemitForm;
    readonly at?: At;
}

export interface FuncForm {
    /** `__main` where the source gives none. */
    readonly name: string;
    readonly main?: boolean;
    readonly params: readonly ParamForm[];
    readonly result?: Contract;
    /** Sorted kinds of effect the function can reach, itself or through calls, as the checker found them. The machine finds them again. */
    readonly effects: readonly string[];
    readonly body: readonly StmtForm[];
    readonly at?: At;
}

export interface ParamForm {
    readonly name: string;
    readonly contract?: Contract;
    readonly default?: Json;
}

export interface BudgetForm {
    readonly amount: number;
    readonly unit: "chars" | "tokens";
    readonly keep?: "end";
    /** As written (`4k tokens`). */
    readonly text: string;
}

// ---- statements ------------------------------------------------------------------------------------------------------

export interface ConfigForm {
    readonly kind: "config";
    readonly key: "model" | "role" | "description";
    readonly value: ExprForm;
    readonly at?: At;
}
export interface ContextForm {
    readonly kind: "context";
    readonly max: BudgetForm;
    readonly at?: At;
}
export interface UseForm {
    readonly kind: "use";
    readonly value: ExprForm;
    readonly max?: BudgetForm;
    readonly priority?: number;
    readonly label?: string;
    readonly image?: true;
    readonly at?: At;
}
export interface UseOneForm {
    readonly kind: "use.one";
    readonly label: string;
    readonly priority?: number;
    readonly candidates: readonly {
        readonly name: string;
        /** Absent: `empty`. */
        readonly value?: ExprForm;
        readonly max?: BudgetForm;
        readonly selected?: true;
    }[];
    readonly at?: At;
}

export type StmtForm =
    | ConfigForm
    | ContextForm
    | UseForm
    | UseOneForm
    | { readonly kind: "return"; readonly value: ExprForm; readonly at?: At }
    | { readonly kind: "repeat"; readonly times: number; readonly body: readonly StmtForm[]; readonly at?: At }
    | {
          readonly kind: "for";
          readonly item: string;
          readonly list: ExprForm;
          readonly max: number;
          readonly body: readonly StmtForm[];
          readonly at?: At;
      }
    | { readonly kind: "loop"; readonly until: ExprForm; readonly max: number; readonly body: readonly StmtForm[]; readonly at?: At }
    | { readonly kind: "if"; readonly branches: readonly BranchForm[]; readonly otherwise?: readonly StmtForm[]; readonly at?: At }
    | {
          readonly kind: "try";
          readonly body: readonly StmtForm[];
          readonly name?: string;
          readonly handler: readonly StmtForm[];
          readonly at?: At;
      }
    | { readonly kind: "raise"; readonly value: ExprForm; readonly at?: At }
    /** `delegate all to Fixer onward { … }`. */
    | {
          readonly kind: "delegate";
          readonly refs: readonly RefForm[];
          readonly all?: true;
          readonly to: string;
          readonly onward?: true;
          readonly body: readonly StmtForm[];
          readonly at?: At;
      }
    /** `spend 10k tokens, 2 min { … }`. */
    | { readonly kind: "spend"; readonly spend: SpendForm; readonly body: readonly StmtForm[]; readonly at?: At }
    /** `define name = func … keep`: only in what an agent answers. `keep`: written as source for review. */
    | { readonly kind: "define"; readonly func: FuncForm; readonly keep?: true; readonly at?: At }
    | { readonly kind: "break"; readonly at?: At }
    | { readonly kind: "continue"; readonly at?: At }
    /** Where a debugger stops; nothing in a run. */
    | { readonly kind: "debugger"; readonly at?: At }
    | { readonly kind: "assign"; readonly target: ExprForm; readonly op: "=" | "+=" | "-="; readonly value: ExprForm; readonly at?: At }
    | { readonly kind: "expr"; readonly value: ExprForm; readonly at?: At };

export interface BranchForm {
    readonly test: ExprForm;
    readonly body: readonly StmtForm[];
}

// ---- expressions -----------------------------------------------------------------------------------------------------

export type BinaryOpForm = "or" | "and" | "??" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "%";

export interface GenerateForm {
    readonly kind: "generate";
    readonly input: ExprForm;
    /** Output tokens. */
    readonly max_output?: number;
    readonly attempts?: number;
    readonly temperature?: number;
    readonly think?: boolean | "auto" | "low" | "medium" | "high";
    readonly strict?: boolean;
    readonly debug?: boolean;
    readonly stream?: boolean;
    readonly turns?: number;
    /** Milliseconds. */
    readonly timeout?: number;
    /** Expression naming a model capability; overrides the scope's. */
    readonly model?: ExprForm;
    /** Capability references: names (`Search`) or members (`Repo.read`). */
    readonly tools?: readonly ExprForm[];
    readonly contract?: Contract;
    readonly at?: At;
}

/** What `with { … }` after a yield says. Times in milliseconds; `skills` are names of imported ones. */
export interface WithForm {
    readonly skills?: readonly string[];
    readonly turns?: number;
    readonly steps?: number;
    readonly calls?: number;
    readonly tokens?: number;
    readonly bytes?: number;
    readonly usd?: number;
    readonly time?: number;
    readonly silence?: number;
    readonly model?: string;
}

/** `with` and `contract` only where the callee is a member called `yield`. */
export interface CallForm {
    readonly kind: "call";
    readonly callee: ExprForm;
    readonly args: readonly ArgForm[];
    readonly with?: WithForm;
    readonly contract?: Contract;
    readonly at?: At;
}

export type ExprForm =
    /** `text`: a number as written, where that is not the way it would be written anyhow (`2.50`); it changes nothing but how the source is shown. */
    | { readonly kind: "literal"; readonly value: string | number | boolean | null; readonly text?: string; readonly at?: At }
    | { readonly kind: "name"; readonly name: string; readonly at?: At }
    | { readonly kind: "list"; readonly items: readonly (ExprForm | SpreadForm)[]; readonly at?: At }
    | { readonly kind: "object"; readonly entries: readonly (EntryForm | SpreadForm)[]; readonly at?: At }
    | { readonly kind: "member"; readonly object: ExprForm; readonly name: string; readonly safe?: true; readonly at?: At }
    | { readonly kind: "index"; readonly object: ExprForm; readonly index: ExprForm; readonly at?: At }
    | CallForm
    | { readonly kind: "unary"; readonly op: "not" | "-"; readonly value: ExprForm; readonly at?: At }
    | { readonly kind: "binary"; readonly op: BinaryOpForm; readonly left: ExprForm; readonly right: ExprForm; readonly at?: At }
    | { readonly kind: "lambda"; readonly params: readonly string[]; readonly body: ExprForm; readonly at?: At }
    | { readonly kind: "if.expr"; readonly branches: readonly BranchForm[]; readonly otherwise?: readonly StmtForm[]; readonly at?: At }
    | {
          readonly kind: "try.expr";
          readonly body: readonly StmtForm[];
          readonly name?: string;
          readonly handler: readonly StmtForm[];
          readonly at?: At;
      }
    /** `Repo.only(read, write in "src/**")`: a narrower handle of the same thing. */
    | {
          readonly kind: "narrow";
          readonly object: ExprForm;
          readonly methods: readonly { readonly method: string; readonly in?: readonly BoundForm[] }[];
          readonly at?: At;
      }
    /** `endorse x as trusted because "…"` (`readers` absent), `endorse x for "bob" because "…"`. */
    | {
          readonly kind: "endorse";
          readonly value: ExprForm;
          readonly readers?: readonly string[];
          readonly because: ExprForm;
          readonly at?: At;
      }
    | GenerateForm
    | {
          readonly kind: "parallel";
          readonly item: string;
          readonly list: ExprForm;
          readonly max: number;
          readonly body: readonly StmtForm[];
          readonly at?: At;
      };

export interface SpreadForm {
    readonly kind: "spread";
    readonly value: ExprForm;
    readonly at?: At;
}
export interface EntryForm {
    readonly kind: "entry";
    readonly key: string;
    readonly value: ExprForm;
    readonly at?: At;
}
export interface ArgForm {
    readonly name?: string;
    readonly value: ExprForm;
}
