/**
 * The host of a program: models, tools, memory, people.
 *
 * Boundary: puts performers together. Each is loaded when the first effect of its kind comes, so that starting costs only what is used.
 *
 * X3: whatever comes from outside passes the scrubber, which knows every secret of the environment, every one that a trusted configuration names,
 *     and every one that was read since. So does whatever leaves the machine (`secret/exits.ts`).
 */
import { author } from "../agent/author.ts";
import { resolve } from "node:path";
import { type Json, type Program, shownUse } from "@remit/language";
import { type AgentTurn, type Effect, type MethodOf, traceparent } from "@remit/machine";
import type { LedgerStore } from "../ledger/store.ts";
import type { Answering, Models } from "../model/models.ts";
import type { Process } from "../process/process.ts";
import { knownSecrets } from "../secret/known.ts";
import type { Scrubber } from "../secret/scrub.ts";
import type { Asked as Asking } from "../tool/tool.ts";
import type { HostToolSource } from "../tool/functions.ts";
import type { Tools } from "../tool/tools.ts";
import { basics } from "./basics.ts";
import { counting } from "./counting.ts";
import { type Host, type Performer, type Performers, hostOf } from "./host.ts";
import { approving, type Described } from "./approving.ts";
import { questionRoutes, type Routes } from "../channel/routes.ts";
import { given } from "../input/given.ts";
import { type BlockRunner, nestedRuns } from "./nested.ts";
import { people } from "./people.ts";
import { toolOf } from "../verb/registry.ts";
import type { Wrap } from "../wrap/wrap.ts";
import { wrapped } from "./wrapped.ts";
import { type Unperformed, rehearsal } from "./rehearse.ts";
import type { Setting } from "../config/setting.ts";
import type { AskOptions, Handlers, HostOptions } from "./setup.ts";

/** What several runs of one program share. */
export interface World {
    readonly program: Program;
    readonly host: Host;
    /** Performers of the caller's own; they come before everything else. */
    readonly own: Performers;
    /** Requests carry the trace context of their effects. */
    readonly telemetry: boolean;
    /** On whose behalf the program runs. */
    readonly user: string;
    /** Absolute folder of `file://workspace`. */
    readonly workspace: string;
    /** Where the project sends questions; null: nowhere. */
    readonly routes: Routes | null;
    /** What the caller puts around every effect. */
    readonly wraps: readonly Wrap[];
    /** Carries out blocks of another backend; null: there is none. */
    readonly blocks: BlockRunner | null;
    /** Every secret that is known so far. */
    readonly secrets: Scrubber;
    /** Which models answered so far, in plain words. */
    answering(): readonly Answering[];
    /** Calls that a dry run answered without performing them. */
    unperformed(): readonly Unperformed[];
    /** Nothing is performed: nothing is counted in the ledger either. */
    readonly isDry: boolean;
    /** What a tool says of a method now; null where it is not there, cannot be reached, or is not to be reached. */
    describe(about: MethodOf, asked: Asking): Promise<Described>;
}

/** `root`: absolute folder of the program's tree, empty where there is none; `file`: its main file's name there. */
export function worldOf(
    { program, root, file }: { readonly program: Program; readonly root: string; readonly file: string },
    setting: Setting,
    options: HostOptions & { readonly process: Process },
): World {
    const { config, workspace } = setting;
    const { mode, process, credentials: more = {} } = options;
    const model = options.model ?? (mode === undefined ? undefined : "mock:");
    const { env, user } = setting.here;
    const { functions, own, queues } = brought(options);
    const secrets = knownSecrets(env, config);
    const about = { config, env, workspace, secrets, children: process.children };
    const credentials = lazy(async () => (await import("../credential/setup.ts")).credentialsFor({ ...about, root, more }));
    const tools = lazy(async (): Promise<Tools> => {
        const [{ createTools }, { pinsOf }] = await Promise.all([import("../tool/tools.ts"), import("../lock/tools.ts")]);
        const more = { functions, ...queues, pins: pinsOf(root, file), credentials: await credentials.get() };
        return createTools(config, { ...about, root, user, process, ...more });
    });
    let answering: Models["describe"] = () => [];
    const models = lazy(async (): Promise<Models> => {
        const [{ createModels }, { modelsIn }] = await Promise.all([import("../model/models.ts"), import("../config/models.ts")]);
        const made = createModels({
            env,
            process,
            secrets,
            folder: setting.modelFolder,
            ...modelsIn(config, env, secrets),
            credentials: await credentials.get(),
            ...given({ ...options, model }, ["model", "record"]),
        });
        answering = made.describe;
        return made;
    });
    const memories = lazy(async () => (await import("../memory/memory.ts")).createMemories({ root, workspace }));
    const outside = lazy(async () => (await import("../agent/agents.ts")).agents({ ...about, ...(root === "" ? {} : { root }) }));
    const recorded = lazy(() =>
        agentsRecorded(options, setting, secrets.scrub, async (effect, io) => (await outside.get()).perform(effect, io)),
    );
    const rehearsed = mode === undefined ? null : rehearsal({ mode, program, config, root, own, tools: tools.get });
    const host = hostOf(
        {
            ...basics,
            model: parking(async (effect, io) => (await models.get()).perform(effect, io)),
            tool: parking(async (effect, io) => (await tools.get()).perform(effect, io)),
            remember: async (effect, io) => (await memories.get()).remember(effect, io),
            recall: async (effect, io) => (await memories.get()).recall(effect, io),
            // Keeping what an agent defined writes a file.
            author: rehearsed === null ? author(root) : async () => ({ ok: true, value: { file: null }, origins: [] }),
            agent: async (effect, io) => (await recorded.get())(rehearsed === null ? effect : unmoved(effect), io),
            ...options.performers,
            ...rehearsed?.performers,
        },
        {
            end: async (session, run, keeps) => (await outside.made())?.end(session, run, keeps),
            repeatable: async (effect) => effect.kind === "tool" && (await tools.get()).repeatable(effect),
            close: async () => {
                const open = await Promise.all([models.take(), tools.take(), memories.take(), outside.take()]);
                await Promise.all(open.map((one) => one?.close()));
            },
        },
    );
    return {
        ...{ program, host, workspace },
        own: options.performers ?? {},
        telemetry: options.telemetry === true,
        routes: mode === undefined ? questionRoutes(config, { env, secrets }) : null,
        wraps: options.wrap ?? [],
        blocks: options.blocks ?? null,
        user,
        secrets,
        isDry: mode !== undefined,
        answering: () => answering(),
        unperformed: () => rehearsed?.unperformed() ?? [],
        describe: async (about, asked) =>
            mode !== undefined || options.performers?.tool !== undefined ? NOTHING_SAID : methodOf(await tools.get(), about, asked),
    };
}

/** Functions that the caller brings, the names under which programs import them, and the caller of task queues. */
function brought({ tools = {}, registry, queues }: HostOptions): {
    readonly functions: Readonly<Record<string, HostToolSource>>;
    readonly own: ReadonlySet<string>;
    readonly queues: Pick<HostOptions, "queues">;
} {
    const verbs = registry?.functions ?? {};
    const imported = Object.keys(verbs).map((uri) => toolOf(uri.slice("verb:".length)));
    return {
        functions: { ...tools, ...verbs },
        own: new Set([...Object.keys(tools), ...imported]),
        queues: queues === undefined ? {} : { queues },
    };
}

const NOTHING_SAID: Described = { said: null, missing: null };

async function methodOf(tools: Tools, { tool, uri, file, method }: MethodOf, asked: Asking): Promise<Described> {
    const { ToolFail } = await import("../tool/tool.ts");
    try {
        const { methods } = await tools.describe({ name: tool, uri, file }, asked);
        return { said: (methods.find((one) => one.name === method) as Json | undefined) ?? null, missing: null };
    } catch (error) {
        if (!(error instanceof ToolFail)) throw error;
        const message = `${shownUse(`${tool}.${method}`)} cannot be described now: ${error.message}`;
        return { said: null, missing: { message, hint: error.hint ?? "make the tool reachable again" } };
    }
}

/** A credential that is missing is waited for: the run goes on as far as it can without. */
function parking(perform: Performer): Performer {
    return async (effect, io) => {
        try {
            return await perform(effect, io);
        } catch (error) {
            const { CredentialError } = await import("../credential/source.ts");
            if (!(error instanceof CredentialError)) throw error;
            return { later: true, why: { message: error.message, hint: error.hint, ...(error.atStart ? { atStart: true } : {}) } };
        }
    };
}

/** Longest time a question can be answered where nothing is said, milliseconds. */
const EXPIRES_MS = 24 * 3_600_000;

/** Where the questions of a run are kept. */
export type AskStore = Pick<LedgerStore, "asks" | "durable"> & Partial<LedgerStore>;

/** Blocks that are runs of their own are kept there, too. */
function isWhole(store: AskStore): store is LedgerStore {
    return store.create !== undefined;
}

/** A run and the people that it may ask. */
export interface Asked {
    readonly run: string;
    readonly store: AskStore;
    readonly on: Handlers;
    /** What was said of questions when it began. */
    readonly asks: AskOptions | undefined;
    /** In place of what was said then. */
    readonly park?: boolean | undefined;
    /** On whose behalf. */
    readonly as?: string | undefined;
    /** A workflow conducts the run, and takes the answers. */
    readonly elsewhere?: boolean;
}

/** What is not the same for all runs of a program. */
const OF_THE_RUN: ReadonlySet<string> = new Set(["ask", "input", "run"]);

/** The host of one run: the shared world, and the people this run may ask. */
export function withPeople(world: World, { run, store, on, asks, as, elsewhere = false, park = asks?.park ?? false }: Asked): Host {
    const owner = asks?.owner ?? world.user;
    const approvals = approving(on, {
        run,
        owner,
        park,
        asks: store.asks,
        expires: asks?.expires ?? EXPIRES_MS,
        describe: (about, signal) => world.describe(about, { signal, owner, ...(as === undefined ? {} : { effect: { as } }) }),
        routes: world.routes,
        workspace: world.workspace,
        secrets: world.secrets,
        elsewhere,
    });
    const host = (part: string): Host => withPeople(world, { run: part, store, on, asks, as, elsewhere, park });
    const { secrets, blocks } = world;
    const nested = isWhole(store) ? { run: nestedRuns({ store, run, secrets, on, host, elsewhere: blocks }) } : {};
    const { ask: own, ...others } = world.own;
    const asked = hostOf({
        ...people(world.program, on, park),
        ...nested,
        ...others,
        ask: parking((effect, io) => approvals.ask(effect, io, own)),
    });
    const perform: Host["perform"] = (effect, io) => world.host.perform(effect, io);
    const one: Host = {
        ...world.host,
        end: async (session, _run, keeps) => world.host.end?.(session, run, keeps),
        perform: (effect: Effect, io) => {
            const ours = { ...io, ...(world.telemetry ? { traceparent: traceparent(run, effect.path) } : {}), run, owner };
            if (effect.kind === "tool") return approvals.call(effect, ours, perform);
            if (effect.kind === "agent") return world.host.perform(effect, ours);
            return (OF_THE_RUN.has(effect.kind) ? asked : world.host).perform(effect, io);
        },
    };
    const counted: Host = world.isDry ? one : { ...one, perform: counting(one.perform, { run, uses: store.uses ?? null }) };
    return onBehalf(wrapped(counted, { wraps: world.wraps, owner }), as);
}

/** An effect whose stage names no identity has that of the run, for wrappers too: what one remembers is of one identity. */
function onBehalf(host: Host, as: string | undefined): Host {
    if (as === undefined) return host;
    const of = (effect: Effect): Effect => (effect.as === undefined ? { ...effect, as } : effect);
    return {
        ...host,
        perform: (effect, io) => host.perform(of(effect), io),
        repeatable: async (effect) => (await host.repeatable?.(of(effect))) === true,
    };
}

/** Agents as the caller wants them: written to a recording, or answered from one. */
async function agentsRecorded(
    { model, record }: HostOptions,
    { modelFolder }: Setting,
    scrub: (json: Json) => Json,
    perform: Performer,
): Promise<Performer> {
    const replayed = /^recorded:(.+)$/.exec(model ?? "")?.[1];
    if (replayed === undefined && record === undefined) return perform;
    const { recordedAgents, recordingAgents } = await import("../agent/recorded.ts");
    if (replayed !== undefined) return recordedAgents({ file: resolve(modelFolder, replayed), scrub });
    return recordingAgents(perform, { file: resolve(modelFolder, record as string), scrub });
}

/** Where nothing is to be changed no agent begins: one stands for it that does nothing. Stubs are what they are. */
function unmoved(effect: Effect): Effect {
    const turn = effect.request as unknown as AgentTurn;
    if (turn.agent.uri.startsWith("stub:")) return effect;
    return { ...effect, request: { ...turn, agent: { ...turn.agent, uri: "stub:noop" } } as unknown as Json };
}

interface Lazy<T> {
    get(): Promise<T>;
    /** What was made, if it was. */
    made(): Promise<T | undefined>;
    /** What was made, if it was; the next `get` makes it anew. */
    take(): Promise<T | undefined>;
}

function lazy<T>(make: () => Promise<T>): Lazy<T> {
    let made: Promise<T> | undefined;
    return {
        get: () => {
            made ??= make();
            return made;
        },
        made: async () => made,
        take: async () => {
            const taken = made;
            made = undefined;
            return taken;
        },
    };
}
