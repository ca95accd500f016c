/**
 * `local:` and `local:PATH.gguf`: a model in this process, its decoding bound to the contract by a grammar.
 *
 * Boundary: one turn at a time. What is loaded, and how, is in `llama.ts`.
 *
 * A model of 135 million parameters sorts short texts and picks from a list; it does not reason. What it is asked has to be small enough for it.
 */
import type { Json } from "@remit/language";
import { CONTRACT_HEAD, type Message, type ModelTurn } from "@remit/machine";
import { cancelled, type Engine, failed, type Turned, type TurnIO } from "./engine.ts";
import { GRAMMAR_LIMITS, grammarOf } from "./grammar.ts";
import { limiter } from "./limiter.ts";
import { enginePath, exists, type LocalModel, loadLocal, weightsPath } from "./llama.ts";
import type { Environment } from "./secrets.ts";

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
}

/** Loaded models of this process by their files, with how many hold them: weights take hundreds of megabytes, so nobody loads them twice. */
const loaded = new Map<string, { readonly model: Promise<LocalModel>; holders: number }>();

export const SETUP_HINT = "fetch the model with `remit models --fetch` (180 MB, once), or choose another with --model URI";

/** Why the model cannot be used, or null. */
export async function localReason(setup: Omit<LocalSetup, "uri">): Promise<string | null> {
    const weights = weightsPath(setup.path, setup.env);
    if (!(await exists(weights))) return `no weights at ${weights}`;
    return (await enginePath(setup.folder, setup.env)) === null ? "node-llama-cpp is not installed" : null;
}

export function localEngine(setup: LocalSetup): Engine {
    const { uri } = setup;
    const turns = limiter(1);
    let held: { key: string; model: Promise<LocalModel> } | null = null;

    async function hold(): Promise<LocalModel | string> {
        if (held !== null) return held.model;
        const reason = await localReason(setup);
        if (reason !== null) return reason;
        if (held !== null) return (held as { model: Promise<LocalModel> }).model;
        const weights = weightsPath(setup.path, setup.env);
        const engine = (await enginePath(setup.folder, setup.env)) as string;
        const size = Number(setup.env.REMIT_LOCAL_CONTEXT) || CONTEXT;
        const key = JSON.stringify([engine, weights, size]);
        const known = loaded.get(key);
        const model = known?.model ?? loadLocal(engine, weights, size);
        if (known === undefined) loaded.set(key, { model, holders: 1 });
        else known.holders++;
        held = { key, model };
        return model;
    }

    async function turn(request: ModelTurn, io: TurnIO): Promise<Turned> {
        if ((request.tools?.length ?? 0) > 0)
            return failed("model", `${uri} takes no tools`, { hint: "call the tools in the program, or use a larger model" });
        if (request.messages.some((message) => message.role === "user" && message.content.some((part) => part.type === "file")))
            return failed("model", `${uri} takes no pictures or files`);
        try {
            await turns.enter(io.signal);
        } catch {
            // The only way out of the queue but a place is the abort.
            return cancelled();
        }
        try {
            const model = await hold();
            if (typeof model === "string") return failed("unreachable", `${uri} cannot be used: ${model}`, { hint: SETUP_HINT });
            return await answer(model, request, io);
        } catch (error) {
            if (io.signal.aborted) return cancelled();
            return failed("model", `${uri} failed: ${error instanceof Error ? error.message : String(error)}`, { hint: SETUP_HINT });
        } finally {
            turns.leave();
        }
    }

    async function answer(model: LocalModel, request: ModelTurn, io: TurnIO): Promise<Turned> {
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

    async function close(): Promise<void> {
        if (held === null) return;
        const { key, model } = held;
        held = null;
        const entry = loaded.get(key);
        if (entry === undefined) return;
        entry.holders--;
        if (entry.holders > 0) return;
        loaded.delete(key);
        await (await model).close();
    }
    return { uri, turn, close };
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
