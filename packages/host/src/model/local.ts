/**
 * `local:` and `local:PATH.gguf`: a model in this process, its decoding bound to the contract by a grammar.
 *
 * Boundary: one turn at a time. What is loaded, and how, is in `llama.ts`.
 *
 * A model of 135 million parameters sorts short texts and picks from a list; it does not reason. What it is asked has to be small enough for it.
 */
import type { Json } from "@remit/language";
import { CONTRACT_HEAD, type Message, type ModelTurn } from "@remit/machine";
import { cancelled, type Engine, failed, noted, type Turned, type TurnIO } from "./engine.ts";
import { withoutPictures } from "./pictures.ts";
import { GRAMMAR_LIMITS, grammarOf } from "./grammar.ts";
import type { Pool } from "../process/pool.ts";
import { type Limiter, limiter } from "../process/limiter.ts";
import { enginePath, exists, type LocalModel, loadLocal, weightsPath } from "./llama.ts";
import type { Environment } from "../ledger/place.ts";

const CONTEXT = 4096;
/** Tokens of an answer where the program sets no limit. */
const OUTPUT = 512;
/** Tokens that the chat template puts around each message, at most. */
const AROUND = 24;

export interface LocalSetup {
    readonly uri: string;
    /** Path of the weights; empty for the default. */
    readonly path: string;
    /** Folder of the project, where the engine may be installed. */
    readonly folder: string;
    readonly env: Environment;
    /** Weights take hundreds of megabytes: a process loads them once. */
    readonly models: Pool<LoadedModel>;
}

export interface LoadedModel {
    readonly model: LocalModel;
    /** It answers one turn at a time, whatever asks. */
    readonly turns: Limiter;
}

export const SETUP_HINT = "fetch the model with `remit models pull local` (180 MB, once), or choose another with --model URI";

/** Why the model cannot be used, or null. */
export async function localReason(setup: Omit<LocalSetup, "uri" | "models">): Promise<string | null> {
    const weights = weightsPath(setup.path, setup.env);
    if (!(await exists(weights))) return `no weights at ${weights}`;
    return (await enginePath(setup.folder, setup.env)) === null ? "node-llama-cpp is not installed" : null;
}

export function localEngine(setup: LocalSetup): Engine {
    const { uri } = setup;
    const holder = {};

    async function hold(): Promise<LoadedModel | string> {
        const reason = await localReason(setup);
        if (reason !== null) return reason;
        const weights = weightsPath(setup.path, setup.env);
        const engine = (await enginePath(setup.folder, setup.env)) as string;
        const size = Number(setup.env.REMIT_LOCAL_CONTEXT) || CONTEXT;
        return setup.models.take(JSON.stringify([engine, weights, size]), holder, async () => ({
            model: await loadLocal(engine, weights, size),
            turns: limiter(1),
        }));
    }

    async function turn(given: ModelTurn, io: TurnIO): Promise<Turned> {
        const { request, notes } = withoutPictures(given, uri);
        if (request.messages.some((message) => message.role === "user" && message.content.some((part) => part.type === "file")))
            return failed("model", `${uri} takes no pictures or files`);
        try {
            const loaded = await hold();
            if (typeof loaded === "string") return failed("unreachable", `${uri} cannot be used: ${loaded}`, { hint: SETUP_HINT });
            await loaded.turns.enter(io.signal);
            try {
                const turned = await answer(loaded.model, uri, request, io);
                return turned.ok ? { ok: true, raw: noted(turned.raw, notes) } : turned;
            } finally {
                loaded.turns.leave();
            }
        } catch (error) {
            if (io.signal.aborted) return cancelled();
            return failed("model", `${uri} failed: ${Error.isError(error) ? error.message : String(error)}`, { hint: SETUP_HINT });
        }
    }
    return { uri, turn, close: () => setup.models.release(holder) };
}

async function answer(model: LocalModel, uri: string, request: ModelTurn, io: TurnIO): Promise<Turned> {
    const { messages, shortened } = withoutSchema(request, io.schema);
    const prompt = messages.reduce((sum, message) => sum + model.tokens(textOf(message)) + AROUND, 0);
    const room = model.contextSize - prompt;
    const maxTokens = Math.min(request.maxOutput ?? OUTPUT, room);
    if (room < 32) {
        const hint = "give the context items a budget (use x max 1k tokens), or set REMIT_LOCAL_CONTEXT";
        return failed("model", `${uri} holds ${model.contextSize} tokens, and the prompt has about ${prompt}`, {
            hint,
            detail: { prompt, context: model.contextSize },
        });
    }
    const grammar = request.contract === undefined ? null : grammarOf(request.contract, request.shapes ?? {});
    const reply = await model.turn({
        messages,
        grammar,
        maxTokens,
        temperature: request.temperature ?? 0,
        signal: io.signal,
        onText: (delta) => {
            if (request.stream) io.emit({ type: "text", delta });
        },
    });
    const notes = grammar === null ? [] : [BOUNDS, ...(shortened ? [SHORTENED] : [])];
    return {
        ok: true,
        raw: {
            text: reply.text,
            finish: reply.cut ? "length" : "stop",
            model: uri,
            constrained: grammar !== null,
            usage: { input: reply.input, output: reply.output, usd: 0 },
            ...(notes.length === 0 ? {} : { notes }),
            ...(shortened ? { without: "contract" } : {}),
        },
    };
}

const BOUNDS = `the grammar allows texts of at most ${GRAMMAR_LIMITS.text} characters and lists of at most ${GRAMMAR_LIMITS.items} items`;
const SHORTENED = "the contract was given as a grammar, not as the text of its schema";

/**
 * The messages without the contract layer at the end of the last one. The grammar holds the contract better than words do, and a schema in the
 * prompt takes a small model's mind off the question (measured: 10 of 20 comments sorted rightly with it, which is chance; 18 of 20 without).
 */
function withoutSchema(request: ModelTurn, schema: Json | undefined): { messages: readonly Message[]; shortened: boolean } {
    if (schema === undefined) return { messages: request.messages, shortened: false };
    const layer = `\n\n${CONTRACT_HEAD}\n${JSON.stringify(schema, null, 2)}`;
    let shortened = false;
    const messages = request.messages.map((message): Message => {
        if (message.role !== "user") return message;
        const content = message.content.map((part) => {
            if (part.type !== "text" || !part.text.endsWith(layer)) return part;
            shortened = true;
            return { ...part, text: part.text.slice(0, -layer.length) };
        });
        return { ...message, content };
    });
    return { messages, shortened };
}

function textOf(message: ModelTurn["messages"][number]): string {
    if (message.role === "user") return message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
    return message.role === "tool" ? JSON.stringify(message.result) : message.content;
}
