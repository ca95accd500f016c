/** What the machine gives to its hosts: effects, the machine itself, and projections of its events. Exports only. */
export * from "./effect/effect.ts";
export * from "./effect/approvers.ts";
export * from "./effect/usage.ts";
export type { RunRequest } from "./effect/elsewhere.ts";
export { actingIn } from "./authority/acting.ts";
export { addressesIn } from "./authority/addresses.ts";
export { isOfRun, partOf } from "./native/stage.ts";
export * from "./effect/failure.ts";
export { whatIsNew } from "./ledger/known.ts";
export * from "./ledger/events.ts";
export * from "./value/label.ts";
export { DerivedLabels, type Step as DerivedStep } from "./value/derive.ts";
export { Tracer } from "./state/tracer.ts";
export * from "./value/value.ts";
export * from "./value/json.ts";
export * from "./builtin/table.ts";
export * from "./prompt/setup.ts";
export { continueGenerate, startGenerate } from "./prompt/generate.ts";
export { CONTRACT_HEAD, fenceTag, joined } from "./prompt/layers.ts";
export { LARGE_TEXT, mapped, referred, restored } from "./value/texts.ts";
export * from "./ledger/canonical.ts";
export * from "./ledger/seal.ts";
export * from "./ledger/ndjson.ts";
export { Compiled, compileProgram } from "./compile/program.ts";
export { planOf, plansOf } from "./compile/plans.ts";
export type { Plan, PlanNode } from "./plan/plan.ts";
export { type PlanItem, type PlanRow, planTree } from "./plan/tree.ts";
export { type PlanError, type PlanErrorKind, validatePlan } from "./plan/validate.ts";
export { type VariantSite, variantSites } from "./compile/variants.ts";
export { isUnasked } from "./state/verdicts.ts";
export { computedTo, isOfAnotherBuild, takeWorld } from "./run/load.ts";
export { type Advance, Machine } from "./run/machine.ts";
export { nextFiber } from "./run/execute.ts";
export type { Result } from "./run/ending.ts";
export { struckAt } from "./state/spending.ts";
export type { GoOn, Remedies } from "./run/stops.ts";
export type { Account, AuthorityView, FrameView, GrantView, Inspection, Looked, Place, ScopeView, ThreadView } from "./run/inspect.ts";
export { INSPECTOR } from "./run/inspector.ts";
export { type Clean, MAX_PAGE, type RightView, type ValueType, type ValueView } from "./run/look.ts";
export type { Policy } from "./authority/authority.ts";
export type { Flow } from "./authority/decide.ts";
export { type AskedArg, type AskedCall, askedCall, type Place as AskedPlace } from "./authority/asked.ts";
export { flowIn, flowText, type Refusal, refusalIn, refusalText, remedyOf } from "./authority/refusal.ts";
export type { PolicyClause, PolicyRemit } from "./authority/policy.ts";
export { matches, placeOf as urlPlaceOf } from "./authority/match.ts";
export type { FileContent, Limits, Prices, SkillContent, StartOptions } from "./state/options.ts";
export * from "./ledger/cost.ts";
export * from "./ledger/diff.ts";
export * from "./ledger/lines.ts";
export * from "./ledger/explain.ts";
export { type ExplainOptions, explainText } from "./ledger/explain-text.ts";
export * from "./ledger/otel.ts";
export { traceparent } from "./ledger/otlp-json.ts";
export { withEntries } from "./ledger/told.ts";
export { type Paint, type TraceOptions, type TraceRow, traceRows, traceText, watching } from "./ledger/trace.ts";
export {
    type Evidence,
    type Finding as AuditFinding,
    fingerprint,
    merged,
    type Resolver,
    resolved,
    SEVERITIES,
    type Severity,
    severityRank,
} from "./audit/finding.ts";
export * from "./audit/invariant.ts";
export { type AuditOptions, type Auditor, auditEvents, auditorOf, RULES, type RuleRow } from "./audit/rules.ts";
export { type Profile, profileOf } from "./audit/drift.ts";
export { type Reached, reachedIn } from "./audit/reached.ts";
export * from "./audit/report.ts";
export type { AtifMedia, Written as AtifWritten } from "./ledger/atif/build.ts";
export { type AtifCheckOptions, type AtifProblem, checkTrajectory } from "./ledger/atif/check.ts";
export { type ReadTrajectory, readTrajectory } from "./ledger/atif/read.ts";
export { type AtifOfRunOptions, atifOfRun } from "./ledger/atif/run.ts";
export { type SessionEnd, type SessionOf, type SessionTurn, trajectoryOf } from "./ledger/atif/session.ts";
export { atifText, type AtifTextOptions } from "./ledger/atif/show.ts";
export { ATIF_VERSIONS, type AtifVersion, type Trajectory } from "./ledger/atif/types.ts";
export type { Ruling } from "./native/hands.ts";
export { Conductor } from "./conduct/conductor.ts";
export { isPersonal, turnAskedIn } from "./conduct/requests.ts";
export { CONCURRENCY } from "./conduct/works.ts";
export * from "./conduct/messages.ts";
export { askedMethod, calledMethod, type MethodOf } from "./authority/methods.ts";
export { answeredOutcome } from "./conduct/by-hand.ts";
export { madeIn } from "./conduct/parked.ts";
export { type Recovered, repeats } from "./conduct/recover.ts";
export { isStrike, Retelling, type Told, type ToldPart, type ToldPlace, toldParts, toldPlaces } from "./conduct/retelling.ts";

export {
    SNAPSHOT,
    type Snapshot,
    type SnapshotCapability,
    type SnapshotDelegation,
    type SnapshotEffect,
    type SnapshotFrame,
    type SnapshotPrincipal,
    type SnapshotThread,
} from "./run/snapshot.ts";
