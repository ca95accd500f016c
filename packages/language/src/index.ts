/** What the language gives to the machine, the host, editors and other tools. Exports only. */
export { type AuthorityRow, authorityOf } from "./authority/rows.ts";
export type { Exception as AuthorityException } from "./authority/tables.ts";
export {
    argumentsOf,
    argumentsOfRef,
    gives,
    type Imported,
    importsByThing,
    methodOf,
    originsOf,
    type Said,
    saidTogether,
    sharedOrigins,
    speaksOf,
    fieldsOf,
    perhapsTrusted,
    sourceOf,
    statedOrigin,
    trustedOrigins,
} from "./authority/clauses.ts";
export {
    type Project,
    type ProjectClause,
    addedTo,
    type ProjectPolicy,
    type ProjectRemit,
    remitsOfProject,
    type Untrusted,
    type ReachRule,
} from "./authority/project.ts";
export { readingOf, readsByScheme, readsHere } from "./authority/reading.ts";
export { LENT, shownUse } from "./authority/uses.ts";
export { type NumberRange, patternsText, rangeOf } from "./authority/range.ts";
export {
    readersText,
    AUTHORITY_HEAD,
    allowedText,
    amongText,
    authorityCells,
    boundText,
    clauseText,
    countText,
    showAuthority,
    spendText,
} from "./authority/show.ts";
export {
    argumentNames,
    describedSchema,
    type Schema as ToolSchema,
    type ToolParam,
    toolParams,
    isOutside,
    toolSchema,
    type Unknown,
    unknownIn,
} from "./authority/schemas.ts";
export {
    declaredKey,
    isOnResource,
    keyOf,
    LOOK,
    methodName,
    plainCodes,
    type Resource,
    resourceOf,
    schemeOf,
    speaksOfLook,
} from "./authority/thing.ts";
export {
    type Checked,
    type Checker,
    type CheckOptions,
    checkValue,
    compileContract,
    compileTest,
    LLM_RESULT,
} from "./contract/check.ts";
export { acceptValue, coerceValue, compileAcceptance } from "./contract/coerce.ts";
export * from "./contract/contract.ts";
export { contractOf, literalOf } from "./contract/from-tree.ts";
export { inferContract } from "./contract/infer.ts";
export type { Mismatch } from "./contract/problem.ts";
export { toJsonSchema } from "./contract/schema.ts";
export { namedArgument, objectArgument, type Signature, type SignatureParam } from "./contract/signature.ts";
export { showContract, showJson } from "./contract/show.ts";
export { typescriptDeclarations, type TypeTextOptions, typescriptType } from "./contract/typescript.ts";
export { zeroValue } from "./contract/zero.ts";
export * from "./diagnostics/diagnostic.ts";
export { declarationsOf, type DeclareOptions, isReserved } from "./declare/declare.ts";
export { type Declared, declaredOf, exportedNames, type Start } from "./declare/starts.ts";
export { timeText } from "./form/nodes.ts";
export { canonicalJson } from "./form/canonical.ts";
export { FORM_CODES, type FormCode, type FormError } from "./form/errors.ts";
export * from "./form/form.ts";
export { parseClausesText, parseRemitText, type ReadPolicy } from "./form/policy.ts";
export { type EffectsOf, type Lowerable, lower } from "./form/lower.ts";
export { AUTHOR_CAPS, type Caps, DEFAULT_CAPS } from "./form/measure.ts";
export { printForm, printFormExpr, raise } from "./form/raise.ts";
export { NODE_ROWS, RECORD_ROWS, type RecordName, type Rule } from "./form/table.ts";
export { failingCalls } from "./form/failing.ts";
export { saysErrors } from "./authority/thing.ts";
export { type FormNode, type FormPart, isBlock, stagesOf, walk } from "./form/walk.ts";
export { PROGRAM_SCHEMA_ID, programJsonSchema } from "./form/schema.ts";
export {
    type FuncOptions,
    type ValidatedFunc,
    type ValidatedProgram,
    type ValidateOptions,
    validateFunc,
    validateProgram,
} from "./answer/validate.ts";
export { isUtf16 } from "./text/encoding.ts";
export { compilePattern, type Op, type Pattern, PatternFault } from "./text/pattern.ts";
export { plain, plainColumns, plainLine, safeJson } from "./text/plain.ts";
export * from "./text/source.ts";
export { amountOf, withArticle } from "./text/words.ts";
export { SYNTAX_CODES } from "./syntax/codes.ts";
export { choicesAsked } from "./hostile/choices.ts";
export { type HostileOptions, hostileUses } from "./hostile/hostile.ts";
export type { Bound as HostileBound, Does, Reads } from "./hostile/rules.ts";
export { type Descriptions, type UnknownSeed, unknownSeeds } from "./hostile/seeds.ts";
export { showHostile } from "./hostile/show.ts";
export { ASSUMED, type HostileArg, type HostileStop, type HostileTable, type HostileUse } from "./hostile/table.ts";
export { parse } from "./syntax/parse/parse.ts";
export { isIdentifier as isName } from "./contract/open.ts";
export { argText, nameText } from "./syntax/strings.ts";
export { applyFixes, format, printExpr } from "./syntax/print/print.ts";
export type * as tree from "./syntax/tree.ts";
export { BUILTINS, type BuiltinRow, isNamespace } from "./scope/builtins.ts";
export { type BlockInfo, type CheckedProgram, type CheckInfo, check, type FunctionInfo } from "./check/check.ts";
export { TOOL_RESULTS } from "./check/tool-results.ts";
export { type Entry, entryOf, shown as shownName } from "./syntax/entry.ts";
export { type PromptSurface, promptSurfaces, type SurfaceItem } from "./check/surfaces.ts";
export { CODES, type Code, type CodeRow } from "./diagnostics/codes.ts";
export { didYouMean, nearest } from "./diagnostics/nearest.ts";
export { builtinHint } from "./scope/elsewhere.ts";
export { columns } from "./text/columns.ts";
export { markedLine, type RenderOptions, renderDiagnostic } from "./diagnostics/render.ts";
export { type Allowed, type Description, type LoadedProgram, loadProgram, type Members, type ProgramFiles } from "./load/program.ts";
export { isModule } from "./load/schemes.ts";
export { type Answer, type AnswerOptions, type ReadAnswer, readAnswer, schemaOfValue } from "./answer/answer.ts";
export { isSource } from "./answer/fences.ts";
export { fencesOf } from "./answer/fences.ts";
export { HANDOVERS } from "./scope/builtins.ts";
export { BUDGET_OPTIONS } from "./check/handover.ts";
export { PROTOCOL_SKILL } from "./protocol/skill.ts";
export type { ProtocolSkill } from "./protocol/types.ts";
export { type Bound, bindStage, type Callee, type StageParam } from "./verbs/binding.ts";
export { type Catalogue, type CatalogueParam, type CatalogueVerb, catalogueOf, type Sentence } from "./verbs/catalogue.ts";
export { NATIVE_VERBS } from "./verbs/native.ts";
export { DuplicateVerb, FLOWING, type Registry, registryOf, type Verb, type VerbParam } from "./verbs/verb.ts";
