/**
 * The program form: the JSON a program is compiled to. Also what an agent answers a yield with and what the cache keeps.
 *
 * Boundary: shapes and the closed list of node kinds, all of them read off the table (`table.ts`), which says what each key means. `lower` makes a form
 * from a checked tree, `raise` turns it back into a tree for the printer, `validate` decides whether foreign JSON is one. Names stay names: the
 * machine resolves them again, so nothing in a form can claim a meaning that the resolution rules do not give it.
 *
 * FOR1: one discriminator, `kind`; unknown kinds and unknown keys are refused.
 * FOR2: positions (`at`) are optional and change nothing but messages.
 */
import type { Contract, Json } from "../contract/contract.ts";
import type { Site } from "../text/source.ts";
import type { GroupName, NODES, RECORDS } from "./table.ts";

export const FORM = "remit-program/1";

/** The entry of a file that has blocks: all of them in source order. `__block#0` and so on are the single ones. */
export const BLOCKS = "__blocks";

/** The file of the program that holds the code of verbs. */
export const VERBS_FILE = "verbs.remit";

/** `[line, column, endLine, endColumn]`, from 1. */
export type At = readonly [number, number, number, number];

export function siteAt(file: string, at: At | undefined): Site | null {
    return at === undefined ? null : { file, line: at[0], column: at[1], endLine: at[2], endColumn: at[3] };
}

// ---- the table as types ----------------------------------------------------------------------------------------------

/** What JSON is that keeps a rule. */
type Of<R> = R extends { readonly of: readonly (infer Value)[] }
    ? Value
    : R extends { readonly rule: "list"; readonly max: 4 }
      ? At
      : R extends { readonly rule: "list"; readonly of: infer Item }
        ? readonly Of<Item>[]
        : R extends { readonly rule: "record"; readonly of: infer Name extends keyof typeof RECORDS }
          ? Keyed<(typeof RECORDS)[Name]>
          : R extends { readonly rule: "node"; readonly of: infer Name extends GroupName }
            ? Groups[Name]
            : R extends { readonly rule: infer Name extends keyof Plain }
              ? Plain[Name]
              : never;

interface Plain {
    readonly text: string;
    readonly name: string;
    readonly variable: string;
    readonly key: string;
    readonly integer: number;
    readonly number: number;
    readonly boolean: boolean;
    readonly literal: string | number | boolean | null;
    readonly json: Json;
}

interface Groups {
    readonly statement: StmtForm;
    readonly setting: ConfigForm | ContextForm | UseForm | UseOneForm;
    readonly expression: ExprForm;
    readonly item: ExprForm | SpreadForm;
    readonly entry: EntryForm | SpreadForm;
    readonly contract: Contract;
    readonly clause: ClauseForm;
    readonly flow: FlowForm;
    readonly block: BlockForm;
    readonly value: StageValueForm;
}

type Keyed<K> = { readonly [F in keyof K as Needed<K[F]> extends true ? F : never]: Of<RuleOf<K[F]>> } & {
    readonly [F in keyof K as Needed<K[F]> extends true ? never : F]?: Of<RuleOf<K[F]>>;
};
type Needed<K> = K extends { readonly required: infer Required } ? Required : never;
type RuleOf<K> = K extends { readonly rule: infer R } ? R : never;

type Kinds<T> = { [Kind in keyof T]: { readonly kind: Kind } & Keyed<T[Kind]> };
type Statements = Kinds<(typeof NODES)["statement"]>;
type Expressions = Kinds<(typeof NODES)["expression"]>;
type Parts = Kinds<(typeof NODES)["part"]>;
type Clauses = Kinds<(typeof NODES)["clause"]>;
type Flows = Kinds<(typeof NODES)["flow"]>;
type Values = Kinds<(typeof NODES)["value"]>;
type Records = { [Name in keyof typeof RECORDS]: Keyed<(typeof RECORDS)[Name]> };

// ---- by name ---------------------------------------------------------------------------------------------------------

export type Program = Records["Program"];
export type StartForm = Records["Entry"];
export type FileForm = Records["File"];
export type ImportForm = Records["Import"];
export type AgentForm = Records["Agent"];
export type FuncForm = Records["Func"];
export type ParamForm = Records["Param"];
export type BudgetForm = Records["Budget"];
export type BranchForm = Records["Branch"];
export type ArgForm = Records["Arg"];
export type WithForm = Records["With"];

/** What stands between a capability and its use. `never` beats `ask` beats `may`. */
export type Gate = GrantForm["gate"];
export type BoundForm = Records["Bound"];
export type CountForm = Records["Count"];
export type AmongForm = Records["Among"];
export type RefForm = Records["Ref"];
export type GrantForm = Records["Grant"];
export type SpendForm = Records["Spend"];
export type RemitForm = Records["Remit"];
export type ReadersForm = Records["Readers"];
export type ClauseForm = Clauses[keyof Clauses];

export type StmtForm = Statements[keyof Statements];
export type ConfigForm = Statements["config"];
export type ContextForm = Statements["context"];
export type UseForm = Statements["use"];
export type UseOneForm = Statements["use.one"];

export type ExprForm = Expressions[keyof Expressions];
export type CallForm = Expressions["call"];
export type GenerateForm = Expressions["generate"];
export type BinaryOpForm = Expressions["binary"]["op"];
export type SpreadForm = Parts["spread"];
export type EntryForm = Parts["entry"];

/** A pipe in a pipe and a fan-out of one branch do not occur: they mean what stands in them. */
export type FlowForm = Flows[keyof Flows];
export type BlockForm = Flows["block"];
export type Backend = BlockForm["backend"];
export type StageForm = Flows["stage"];
export type StageArgForm = Records["StageArg"];
export type StageValueForm = Values[keyof Values];
export type StageNameForm = Records["StageName"];
export type StageWithForm = Records["StageWith"];
export type CredentialForm = Records["Credential"];
