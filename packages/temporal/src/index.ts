/** What the Temporal shell gives to programs that embed it, and to the command line. Exports only. */
export { type ConnectPatience, type ConnectSettings, ConnectError, connect, connectWorker, type Place, placeOf } from "./server/connect.ts";
export {
    type Asked,
    type RemitClient,
    type RemitClientOptions,
    type RemitClientSettings,
    remitClient,
    type SubmitOptions,
} from "./client/client.ts";
export type { Listed, ScheduleListed, Tell } from "./client/lists.ts";
export {
    OVERLAPS,
    type Overlap,
    type ScheduleOptions,
    type Schedules,
    type ScheduleShown,
} from "./client/schedules.ts";
export type { Released, ReleaseOptions } from "./client/owner.ts";
export { type TemporalBlocks, type TemporalBlocksOptions, temporalBlocks } from "./client/blocks.ts";
export { refusalOf } from "./client/asked.ts";
export { queueCaller } from "./client/queues.ts";
export { CodecError, type Keys } from "./codec/encryption.ts";
export * from "./wire/messages.ts";
export { type DevServer, type DevServerOptions, findServer, startDevServer } from "./server/dev.ts";
export type { Programs } from "./activity/begun.ts";
export type { OfRun } from "@remit/host";
export type { OfRuns } from "./activity/worlds.ts";
export { RemitPlugin, type RemitPluginOptions } from "./worker/plugin.ts";
export { type RunCarrierOptions, runCarriers } from "./worker/carrier.ts";
export { createWorker, onlyErrors, type RemitWorker, type RemitWorkerOptions } from "./worker/worker.ts";
