/** What the host gives to programs that embed it, and to the command line. Exports only. */
export { type Breakpoint, readBreakpoint, sameFile, shownBreakpoint } from "./debug/breakpoint.ts";
export {
    DebugSession,
    debugRun,
    type Movement,
    moved,
    movedUnless,
    type Standing,
    type Stop,
    type StopReason,
    type Target,
} from "./debug/session.ts";
export { applyChange, type Change } from "./debug/change.ts";
export { changedFiles } from "./debug/changed.ts";
export { type Forked, forkRun } from "./debug/fork.ts";
export { askAgent, effectAt, type Proposal, type Proposed } from "./debug/hand.ts";
export { SNAPSHOT, type Snapshot } from "@remit/machine";
export { applyChanges, diffSnapshots, type SnapshotChange, snapshotOf } from "./debug/snapshot.ts";
export type { Moment, TimelineOptions } from "./debug/timeline.ts";
export type { WrittenSource } from "./debug/written.ts";
export { isLater, isPassing, LEDGER_ERRORS, LedgerError, type LedgerErrorCode, mayBeKept } from "./ledger/error.ts";
export { type ExportOptions, exported, exportRun } from "./ledger/export.ts";
export { shownStore } from "./ledger/shown.ts";
export { type FollowOptions, follow } from "./ledger/follow.ts";
export { type Ask, ASK_ERRORS, AskError, type AskErrorCode, type AskNote, type Asks, type AskState } from "./ledger/asks.ts";
export { isLivingSince, startOf as processStart } from "./ledger/living.ts";
export { memoryStore } from "./ledger/memory.ts";
export type { OpenRun, Shared, SharedValue, Team } from "./ledger/team.ts";
export { openStore, openStore as openSqlite, shownLedger } from "./ledger/open.ts";
export {
    appear,
    cacheFolder,
    configFolder,
    isAddress as isLedgerAddress,
    ledgerPath,
    makeFolder,
    privateFile,
    privateFolder,
    privateKey,
    stateFolder,
    writePrivate,
    userLedger,
} from "./ledger/place.ts";
export type {
    LedgerStore,
    NewRun,
    OwnOptions,
    PendingEffect,
    RecordedOutcome,
    Removed,
    RunInfo,
    RunStatus,
    RunWriter,
    UnreadableRun,
    Verification,
} from "./ledger/store.ts";
export { isSession, keptRun, SESSION } from "./ledger/store.ts";
export { RemitError, type RunFailure } from "./failure/error.ts";
export { SYSTEM_WORDS, systemWords } from "./failure/system.ts";
export type { RunHandle, RunResult } from "./run/handle.ts";
export { type OfRun, resultElsewhere, type RunCarrier, type RunCarriers, type RunElsewhere } from "./run/carrier.ts";
export { type Host, hostOf, type Later, type Missing, type Performer, type Performers, type PerformIO } from "./run/host.ts";
export { type Entry, type KeptOptions, newRunId } from "./run/options.ts";
export type { Divergence, Replayed } from "./run/replay.ts";
export { type Why, whyOf } from "./run/why.ts";
export type { Mode, Unperformed } from "./run/rehearse.ts";
export { authorizationOf, type Credentials, type Given, type Sender, type Sending } from "./credential/credentials.ts";
export {
    type CredentialAnswer,
    CredentialError,
    type CredentialErrorCode,
    type CredentialSource,
    type CredentialSources,
    type CredentialWanted,
    type Destination,
} from "./credential/source.ts";
export { isIdentity } from "./credential/identity.ts";
export { named as namedSecret } from "./credential/stored.ts";
export { OAuthError, type OAuthErrorCode } from "./oauth/error.ts";
export { type LoginOptions, loginElsewhere, loginHere } from "./oauth/login.ts";
export { type Provider, PROVIDERS, providerOf } from "./oauth/providers.ts";
export { revoked } from "./oauth/renew.ts";
export { isAddress, resourceAt, resourceOf, resourceProvider } from "./oauth/resource.ts";
export { serverOf } from "./oauth/server.ts";
export { TokenError, type TokenErrorCode } from "./token/error.ts";
export { type Listed as ListedToken, openTokens, type Token, type TokenStore } from "./token/store.ts";
export type { UnknownAnswer } from "@remit/machine";
export { fromThisProcess, type Surroundings } from "./process/here.ts";
export { REFUSED_PORTS } from "./process/ports.ts";
export { openProcess, type Process } from "./process/process.ts";
export type { AskOptions, AskUnknown, Decided, Handlers, HostOptions, LoadOptions, RunOptions } from "./run/setup.ts";
export { machineId } from "./load/engine.ts";
export { LoadError } from "./load/error.ts";
export { hashOf, type Loaded, loadProgram, type LoadSource } from "./load/load.ts";
export { findRoot, type ProgramTree, programTree } from "./load/tree.ts";
export type {
    Bringing,
    DeclaredEntries,
    DeclaredPath,
    DeclaredProgram,
    EntryOf,
    ImportedEntry,
    Main,
    Open,
    OpenProgram,
    ProgramAt,
    Programs,
    RemitEntry,
    ToolWith,
} from "./load/typed.ts";
export type { Json } from "@remit/language";
export { answerTo, isCarriedElsewhere, isOwnedElsewhere, type Ledger, openLedger, type ResumeRunOptions } from "./run/open.ts";
export { type GoesOn, handOver } from "./run/handover.ts";
export { fenced, type RunWorld, runWorld, type Takeover, takeover } from "./run/takeover.ts";
export { remedyOptions } from "./run/remedies.ts";
export { load, type RemitProgram } from "./run/program.ts";
export { type Embedded, type ModuleEntry, programModule, type ProgramModule } from "./loader/module.ts";
export { run, type RunBlocksOptions } from "./run/blocks.ts";
export { compile, type CompiledProgram, type CompileOptions } from "./load/phases.ts";
export {
    type Attempt,
    type Complete,
    translate,
    type Translated,
    type TranslateOptions,
    TranslationError,
} from "./translate/translate.ts";
export { systemPrompt, type TranslationPrompt } from "./translate/prompt.ts";
export { type Translator, translator } from "./translate/model.ts";
export { type VerbEntry, type VerbPlugin, type VerbRegistry, verbRegistry } from "./verb/registry.ts";
export { type About, chain, only, type Work, type Wrap } from "./wrap/wrap.ts";
export { cache, type CacheOptions, log, type Logged, retry, type RetryOptions, timeout } from "./wrap/wrappers.ts";
export { openWorld, type ProgramWorld } from "./run/program-world.ts";
export { type BlockElsewhere, type BlockRunner, gaveOf, infoOf, leftBy, partOptions } from "./run/nested.ts";
export { append, type Carried, type Elsewhere, performOnce } from "./run/elsewhere.ts";
export { shellWord } from "./process/word.ts";
export { performing as perform, type Performing, type PerformingOptions } from "./run/performing.ts";
export { type DeclaredFile, declareFile, type DeclareFilesOptions, isDeclaration, orphansIn, programsIn } from "./load/declare.ts";
export { suggestPolicy, type Suggestion } from "./audit/suggest.ts";
export { checkFile, type CheckedFile, type CheckFileOptions } from "./load/check.ts";
export { SERVER as SERVER_CHANNEL } from "./config/channels.ts";
export { CONFIG_HINT, ConfigError, type Problem } from "./config/check.ts";
export { type Config, type ConfigFile, type ConfigOptions, loadConfig, NO_CONFIG, untrusted } from "./config/config.ts";
export { configuredModels, namedModels } from "./config/models.ts";
export type { ModelConfig, NpmAllow, Price, ServerConfig } from "./config/rules.ts";
export { distrust, trust, type TrustState, trustFile, trustState } from "./config/trust.ts";
export { type Answer, expectedOf, readAnswer } from "./input/answer.ts";
export { askField, type LineAsker } from "./input/ask.ts";
export { type ReadJson, readJson } from "./input/json.ts";
export { createMemories, type Memories, type MemoriesOptions } from "./memory/memory.ts";
export { headOf, Tail } from "./secret/cut.ts";
export { knownSecrets } from "./secret/known.ts";
export { environmentSecrets, looksSecret } from "./secret/names.ts";
export { isSecretRef, resolveSecret, type SecretRef } from "./secret/ref.ts";
export { isSameSecret } from "./secret/same.ts";
export { createScrubber, type Scrubber, type Secret } from "./secret/scrub.ts";
export { type HostFunction, type HostMethod, type HostTool, type HostToolSource, method, type ToolCallContext } from "./tool/functions.ts";
export type { StandardSchema } from "./tool/standard.ts";
export { FailedWithOrigins, type Parts, WithOrigins, withOrigins } from "./tool/origins.ts";
export { mediaTypeOf } from "./tool/signature.ts";
export type { QueueCall, QueueCaller } from "./tool/queue.ts";
export type { MethodInfo, ToolImport } from "./tool/tool.ts";
export { allowTool, createTools, type ToolListing, type Tools, type ToolsOptions } from "./tool/tools.ts";
export { type Chosen, describeModel, type ListedModel } from "./model/default.ts";
export { type Meant, modelMeant } from "./model/named.ts";
export { type Answering, createModels, type ModelIO, type Models, type ModelsConfig, type NamedModel } from "./model/models.ts";
export { type Fetched, fetchLocal } from "./model/fetch.ts";
export { PRICES, PRICES_AS_OF, type Prices } from "./model/prices.ts";
export type { Patience } from "./model/provider.ts";
export { readReply, type ReadOptions, type ReadResult } from "./model/reading.ts";
export { requestHash } from "./model/recorded.ts";
export { RECORDING_HINT, repliesProblem, SCRIPT_HINT } from "./model/replies.ts";
export { type ModelUri, parseModelUri } from "./model/uri.ts";
export { type Audited, auditRun, type AuditRunOptions, doubtsOf, invariantsOf } from "./audit/audit.ts";
export { monitor, type MonitorOptions, profileOfRun, today } from "./audit/monitor.ts";
export { type HeardRun, RUNS } from "./run/started.ts";
export { type Agents, type AgentsSetting, agents } from "./agent/agents.ts";
export { RESTART } from "./agent/transcript.ts";
export { type AgentsSaid, auditorsSay } from "./audit/agents.ts";
export { type LockChange, LOCK_FILE } from "./lock/lock.ts";
export { type Locked, type LockOptions, lockedPrograms, lockPrograms } from "./lock/project.ts";
export {
    type Activated,
    type ListedSkill,
    type SkillCatalogue,
    skillCatalogue,
    type SkillScope,
    type SkillWarning,
} from "./skill/catalogue.ts";
export { loadLinkedSkill } from "./skill/linked.ts";
export type { SkillProblem } from "./skill/rules.ts";
export { loadSkill, problemText, type Skill, SkillError, validateSkill } from "./skill/skill.ts";
export { distrustSkill, skillTrust, trustSkill } from "./skill/trust.ts";
export { type AuditConfig, FAIL_ON } from "./config/audit.ts";
export { type Command, COMMAND_HELP, readCommand, readsInput, shownAnswer } from "./ras/command.ts";
export type { CallKind } from "./ras/frames.ts";
export { RAS_LIMITS, type RasLimits } from "./ras/process.ts";
export type { Riff, Riffs } from "./ras/riffs.ts";
export { agentGiven } from "./ras/tool.ts";
export { callProgram, listRiffs, loadRas, type RasObservation, type RasProgram, type RasRunOptions, talkToRun } from "./ras/run.ts";
export { RIA_CAPABILITIES } from "./ras/capabilities.ts";
export { type Collector, collectorHeaders, collectorUrl, type Sent, SpanStream, sendSpans } from "./telemetry/otlp.ts";
