/**
 * Performs `model` effects: chooses the model, asks it for one turn, reads the reply against the contract, counts tokens.
 *
 * Boundary: from effect to outcome. Every engine answers the same way; what is read, priced and said about it is decided here once.
 *
 * MO1: an outcome holds no secret and no header; a failure holds no prompt.
 */
import { resolve } from "node:path";
import { openProcess, type Process } from "../process/process.ts";
import type { Credentials, Given } from "../credential/credentials.ts";
import { CredentialError, type Destination } from "../credential/source.ts";
import { type Contract, defined, isObject, type Json, toJsonSchema } from "@remit/language";
import {
    type CountReply,
    type Effect,
    joined,
    type Message,
    type ModelCount,
    type ModelReply,
    type ModelTurn,
    type Outcome,
    type Usage,
} from "@remit/machine";
import { type ChoiceSetup, type Chosen, chooseModel, describeModel, type ListedModel, listModels } from "./default.ts";
import { failed, noted, type Raw, type Turned } from "./engine.ts";
import { enginesOf } from "./engines.ts";
import type { Rate } from "../process/limiter.ts";
import { withLastPictures } from "./pictures.ts";
import { PRICES, type Prices, priced } from "./prices.ts";
import { PATIENCE, type Patience } from "./provider.ts";
import { readReply } from "./reading.ts";
import type { Environment } from "../ledger/place.ts";
import { environmentSecrets } from "../secret/names.ts";
import { createScrubber, type Scrubber } from "../secret/scrub.ts";
import { withoutKeys } from "../secret/shapes.ts";
import { countItems, tokenizerOf } from "./tokens.ts";
import { parseModelUri } from "./uri.ts";

/** The URI of an import that leaves the choice of a model to the environment. */
const DEFAULT = "default:";

/** A model that configuration describes: it answers for imports of this name. */
export interface NamedModel {
    readonly uri: string;
    readonly baseUrl?: string;
    /** The key, read anew at each use. Rejects where it cannot be had. */
    readonly key?: () => Promise<string>;
    /** What tells the account of the key from others. */
    readonly account?: string;
    readonly headers?: { readonly [name: string]: string };
    /** Whether it takes tools: `native`, or `text`: they are given to it in words. Absent: found out at the first turn with tools. */
    readonly tools?: "native" | "text";
}

export interface ModelsConfig {
    /** What programs of one process share; one of its own where absent. */
    readonly process?: Process;
    /** Environment; that of the process where absent. */
    readonly env?: Environment;
    /** `--model URI`: overrides every import of the program. */
    readonly model?: string;
    /** Folder that relative files of URIs are resolved against, and where a local engine may be installed. The working folder where absent. */
    readonly folder?: string;
    /** Models by the name of the import they answer for. */
    readonly named?: { readonly [name: string]: NamedModel };
    /** Last resort where no model can be had; `REMIT_FALLBACK` where absent. */
    readonly fallback?: string;
    /** File that every reply is recorded to. */
    readonly record?: string;
    /** Prices by the beginning of a model's name, over the built-in ones. */
    readonly prices?: Prices;
    readonly patience?: Partial<Patience>;
    /** Turns of one endpoint at once; 8 where absent. */
    readonly concurrency?: number;
    /** How much in a minute, by host (`models.example.com`, with its port if it has one) or by provider (`openai`). Shared by all turns of an endpoint. */
    readonly rates?: { readonly [hostOrProvider: string]: Rate };
    /** Said once to the person who watches, at the first turn. */
    readonly notice?: string | null;
    /** What stages name; absent: keys alone. */
    readonly credentials?: Credentials;
    /** Secrets to be kept out of what is said; those of the environment where absent. */
    readonly secrets?: Scrubber;
    readonly fetch?: typeof fetch;
    readonly probeMs?: number;
    readonly namedMs?: number;
}

export interface ModelIO {
    readonly signal: AbortSignal;
    emit(part: Json): void;
    child?(effect: Effect): Promise<unknown>;
}

export interface Answering {
    /** Import name in the program, and its URI there. */
    readonly name: string;
    readonly imported: string;
    /** The model that answers for it. */
    readonly uri: string;
    readonly text: string;
    /** The user was told before it was asked first. */
    readonly told?: boolean;
}

export interface Models {
    perform(effect: Effect, io: ModelIO): Promise<Outcome>;
    /** Which models answered so far, in plain words, with the line that puts better ones in their place. */
    describe(): readonly Answering[];
    /** What is configured and reachable. `imports`: URIs of a program's own imports. */
    list(imports?: readonly string[]): Promise<ListedModel[]>;
    /** The model that would answer for an import, or for a program without one. */
    choose(imported: string | null): Promise<Chosen & { readonly text: string }>;
    close(): Promise<void>;
}

export function createModels(config: ModelsConfig = {}): Models {
    const on = config.process ?? openProcess();
    const env = config.env ?? on.env;
    const folder = resolve(on.cwd, config.folder ?? "");
    const secrets = config.secrets ?? createScrubber(environmentSecrets(env));
    const prices: Prices = { ...PRICES, ...config.prices };
    const patience: Patience = { ...PATIENCE, ...timeouts(env), ...config.patience };
    const inner = config.fetch ?? fetch;
    const setup = choiceSetup(config, { env, folder, fetch: inner });
    const engines = enginesOf(config, { on, env, folder, secrets, patience, fetch: inner });
    const { described, chosenFor } = choosing(config, setup);
    const answering = new Map<string, Answering>();
    /** Choices that were told of. */
    const standIns = new Set<Chosen>();
    let notice = config.notice ?? null;

    async function turn(request: ModelTurn, effect: Effect, io: ModelIO): Promise<Outcome> {
        const { name, uri: imported } = request.model;
        const { chosen, own, name: describedAs } = await chosenFor(request.model);
        if (chosen.uri === "") {
            const hint =
                "set REMIT_MODEL or the key of a provider, or bring the small model that runs here with `remit models pull local` (180 MB, once)";
            return { ok: false, failure: { kind: "unreachable", message: `no model can be used: ${chosen.why}`, hint } };
        }
        const told = chosen.standsIn === true;
        if (told && !standIns.has(chosen)) io.emit({ type: "notice", text: describeModel(chosen) });
        standIns.add(chosen);
        const first = engines.of(chosen.uri, { own, name: describedAs, given: null });
        if ("ok" in first) return first;
        const schema =
            request.contract === undefined ? {} : { schema: toJsonSchema(request.contract as Contract, request.shapes ?? {}) as Json };
        const pictured = withLastPictures(request);
        const sender = { credentials: config.credentials, effect, io };
        const turned = await sent(sender, engines.destination(chosen.uri, own), async (given) => {
            const engine = given === null ? first : engines.of(chosen.uri, { own, name: describedAs, given });
            if ("ok" in engine) throw new Error("a model has an engine without a credential alone");
            return engine.turn(pictured.request, { signal: io.signal, emit: io.emit, path: effect.path, ...schema });
        });
        if (!turned.ok)
            return {
                ...turned,
                failure: withoutKeys(turned.failure as unknown as Json, secrets) as unknown as typeof turned.failure,
            };
        answering.set(`${name}\n${imported}`, { name, imported, uri: chosen.uri, text: describeModel(chosen), told });
        const raw = noted(turned.raw, pictured.notes);
        const usage = raw.usage === undefined ? {} : { usage: costed(raw.usage, raw.model, prices) };
        return { ok: true, value: replyOf(raw, request) as unknown as Json, origins: [`model:${name}`], ...usage };
    }

    async function perform(effect: Effect, io: ModelIO): Promise<Outcome> {
        const request = effect.request as unknown as ModelTurn | ModelCount;
        if (notice !== null) io.emit({ type: "notice", text: notice });
        notice = null;
        if (request.op === "turn") return turn({ ...request, messages: request.messages.map(withWholeTexts) }, effect, io);
        if (request.op === "count") return count(request, (await chosenFor(request.model)).chosen.uri);
        return failed("model", "a model effect asks for a turn or a count") as Outcome;
    }

    return {
        perform,
        describe: () => [...answering.values()],
        // What the configuration describes is no URI, and is told of elsewhere.
        list: (imports = []) => listModels(imports, described(config.model) === undefined ? setup : { ...setup, model: undefined }),
        choose: async (imported) => {
            const { chosen } = await chosenFor({ name: "", uri: imported ?? "" });
            return { ...chosen, text: describeModel(chosen) };
        },
        close: engines.close,
    };
}

/** Which model answers for an import: what is chosen once stays. */
function choosing(config: ModelsConfig, setup: ChoiceSetup) {
    const { env } = setup;
    const choices = new Map<string, Promise<Chosen>>();

    function choiceOf(imported: string | null): Promise<Chosen> {
        const key = imported ?? "";
        let known = choices.get(key);
        if (known === undefined) {
            known = chooseModel(imported, setup);
            choices.set(key, known);
        }
        return known;
    }

    /** What the configuration says of a name. */
    function described(name: string | undefined): NamedModel | undefined {
        const { named } = config;
        return name !== undefined && named !== undefined && Object.hasOwn(named, name) ? named[name] : undefined;
    }

    /** The model for an import. One that configuration describes takes the place of the import, and is believed to be reachable. */
    async function chosenFor(model: ModelTurn["model"]): Promise<{ chosen: Chosen; own: NamedModel | undefined; name: string }> {
        const said = config.model ?? (env.REMIT_MODEL ?? "").trim();
        const meant = described(said);
        if (meant !== undefined) {
            const why = config.model === undefined ? "REMIT_MODEL names it" : "--model names it";
            return {
                chosen: { uri: meant.uri, why: `${why} (${said})`, instead: model.uri === meant.uri ? null : model.uri },
                own: meant,
                name: said,
            };
        }
        const { name } = model;
        const own = described(name);
        if (own === undefined || said !== "")
            return { chosen: await choiceOf(model.uri === "" || model.uri === DEFAULT ? null : model.uri), own: undefined, name };
        const instead = own.uri === model.uri ? null : model.uri;
        return { chosen: { uri: own.uri, why: `the configuration names it for ${name}`, instead }, own, name };
    }

    return { described, chosenFor };
}

interface TurnSender {
    readonly credentials: Credentials | undefined;
    readonly effect: Effect;
    readonly io: ModelIO;
}

/** With the credential of its stage. Throws `CredentialError` where it is missing. */
async function sent(
    { credentials, effect, io }: TurnSender,
    to: Destination | null,
    send: (given: Given | null) => Promise<Turned>,
): Promise<Turned> {
    if (to === null || credentials === undefined) return send(null);
    try {
        return await credentials.send({ effect, signal: io.signal }, to, { send, unauthorized: isUnauthorized });
    } catch (error) {
        if (!(error instanceof CredentialError) || error.code === "missing") throw error;
        return failed(error.code === "refused" ? "model" : error.kind, error.message, { hint: error.hint });
    }
}

function isUnauthorized(turned: Turned): boolean {
    return !turned.ok && isObject(turned.failure.detail ?? null) && (turned.failure.detail as { status?: Json }).status === 401;
}

/** A text that stands in parts in a request is one text to a model. */
function withWholeTexts(message: Message): Message {
    return message.role === "user" ? { ...message, content: joined(message.content) } : message;
}

function choiceSetup(config: ModelsConfig, here: Pick<ChoiceSetup, "env" | "folder" | "fetch">): ChoiceSetup {
    return {
        ...here,
        resolve: (path) => resolve(here.folder, path),
        probeMs: config.probeMs ?? 400,
        namedMs: config.namedMs ?? 4_000,
        model: config.model,
        fallback: config.fallback ?? (here.env["REMIT_FALLBACK"]?.trim() || undefined),
    };
}

async function count(request: ModelCount, uri: string): Promise<Outcome> {
    // A recording stands for the model that the program names: counted otherwise, its prompts would be others than those that were recorded.
    const parsed = parseModelUri(uri.startsWith("recorded:") ? request.model.uri : uri);
    const tokenizer = await tokenizerOf(parsed.ok && parsed.uri.kind === "provider" ? parsed.uri.model : "");
    const reply: CountReply = countItems(request, tokenizer);
    return { ok: true, value: reply as unknown as Json, origins: [] };
}

/** The raw answer as the machine gets it: read against the contract where there is one and no tool is called. */
function replyOf(raw: Raw, request: ModelTurn): ModelReply {
    const { contract } = request;
    const split = contract === undefined ? leadingThought(raw.text) : null;
    const text = split?.text ?? raw.text;
    const thinking = [raw.thinking, split?.thinking].filter((part) => part !== undefined && part !== "").join("\n");
    const head = {
        text,
        finish: raw.finish,
        model: raw.model,
        ...(raw.calls === undefined ? {} : { calls: raw.calls }),
        ...(thinking === "" ? {} : { thinking }),
        ...defined({ retries: raw.retries, notes: raw.notes, without: raw.without }),
    };
    if (contract === undefined) return raw.value === undefined ? head : { ...head, value: raw.value };
    if (raw.calls !== undefined && raw.calls.length > 0) return head;
    if (raw.value !== undefined)
        return { ...head, value: raw.value, reading: { from: "the engine", repairs: [], constrained: raw.constrained } };
    const { strict } = request;
    const read = readReply(text, contract as Contract, request.shapes ?? {}, { strict, finish: raw.finish, constrained: raw.constrained });
    return { ...head, ...read };
}

/** A think block at the very beginning of free text belongs to the thinking, not to the answer. */
function leadingThought(text: string): { thinking: string; text: string } | null {
    const found = /^\s*<(think|thinking|reasoning)>([\s\S]*?)<\/\1>\s*/i.exec(text);
    return found === null ? null : { thinking: (found[2] as string).trim(), text: text.slice(found[0].length) };
}

function costed(usage: Usage, model: string, prices: Prices): Usage {
    const parsed = parseModelUri(model);
    return parsed.ok && parsed.uri.kind === "provider" ? priced(usage, parsed.uri.model, prices) : usage;
}

/** `AGENTSCRIPT_LLM_TIMEOUT_MS`: how long a model may be silent, and how long an answer in one piece may take. */
function timeouts(env: Environment): Partial<Patience> {
    const ms = Number(env.AGENTSCRIPT_LLM_TIMEOUT_MS);
    return Number.isFinite(ms) && ms > 0 ? { silenceMs: ms, replyMs: ms } : {};
}
