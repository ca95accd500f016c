/**
 * llama.cpp in this process, through `node-llama-cpp`: found, loaded once, ended at the end.
 *
 * Boundary: the only file that knows that package. It is not a dependency: a user who wants a local model installs it, in the project, in the
 * folder `REMIT_LLAMA` names, or in Remit's cache.
 *
 * LL1: nothing is compiled or downloaded here, and nothing is written to the terminal.
 * LL2: at temperature 0 the same prompt gives the same text: one sequence, emptied before each turn, no other work beside it.
 */
import { access } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Message } from "@remit/machine";
import { cacheFolder } from "../ledger/place.ts";
import type { Environment } from "../ledger/place.ts";

/** What is used of the package. */
interface LlamaModule {
    getLlama(options: object): Promise<Llama>;
    LlamaChat: new (options: { contextSequence: Sequence; chatWrapper?: "auto" }) => Chat;
}
interface Llama {
    loadModel(options: { modelPath: string }): Promise<Model>;
    createGrammar(options: {
        grammar: string;
        stopGenerationTriggers?: readonly string[][];
        trimWhitespaceSuffix?: boolean;
    }): Promise<object>;
    dispose(): Promise<void>;
}
interface Model {
    readonly trainContextSize: number;
    tokenize(text: string): readonly number[];
    createContext(options: { contextSize: number; sequences: number }): Promise<Context>;
    dispose(): Promise<void>;
}
interface Context {
    readonly contextSize: number;
    getSequence(): Sequence;
    dispose(): Promise<void>;
}
interface Sequence {
    readonly tokenMeter: { getState(): { usedInputTokens: number; usedOutputTokens: number } };
    clearHistory(): Promise<void>;
}
interface Chat {
    generateResponse(
        history: readonly HistoryItem[],
        options: object,
    ): Promise<{ response: string; metadata: { stopReason: "eogToken" | "stopGenerationTrigger" | "maxTokens" | "abort" | string } }>;
    dispose(options?: object): void;
}
type HistoryItem = { type: "system" | "user"; text: string } | { type: "model"; response: string[] };

export interface LocalTurn {
    readonly messages: readonly Message[];
    readonly grammar: string | null;
    readonly maxTokens: number;
    readonly temperature: number;
    readonly signal: AbortSignal;
    onText(text: string): void;
}

export interface LocalReply {
    readonly text: string;
    readonly cut: boolean;
    readonly input: number;
    readonly output: number;
}

export interface LocalModel {
    readonly contextSize: number;
    tokens(text: string): number;
    turn(turn: LocalTurn): Promise<LocalReply>;
    close(): Promise<void>;
}

export const WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf";

/** Where the weights are looked for: the URI's path, `REMIT_LOCAL_MODEL`, the cache. */
export function weightsPath(path: string, env: Environment): string {
    if (path !== "") return path;
    return env.REMIT_LOCAL_MODEL ?? join(cacheFolder(env), "models", WEIGHTS);
}

/** The engine's entry file, or null where it is not installed. */
export async function enginePath(folder: string, env: Environment): Promise<string | null> {
    const named = env.REMIT_LLAMA === undefined ? [] : [env.REMIT_LLAMA, join(env.REMIT_LLAMA, "node_modules")];
    for (const at of [join(folder, "node_modules"), ...named, join(cacheFolder(env), "llama", "node_modules")]) {
        const file = join(at, "node-llama-cpp", "dist", "index.js");
        if (await exists(file)) return file;
    }
    return null;
}

export async function exists(file: string): Promise<boolean> {
    try {
        await access(file);
        return true;
    } catch {
        // Not there, or not to be read: for the caller that is the same.
        return false;
    }
}

export async function loadLocal(engine: string, weights: string, contextSize: number): Promise<LocalModel> {
    const module = (await import(pathToFileURL(engine).href)) as LlamaModule;
    const llama = await module.getLlama({
        gpu: false,
        build: "never",
        skipDownload: true,
        progressLogs: false,
        logLevel: "disabled",
        maxThreads: freeCores(),
    });
    const model = await llama.loadModel({ modelPath: weights });
    const context = await model.createContext({ contextSize: Math.min(contextSize, model.trainContextSize), sequences: 1 });
    const sequence = context.getSequence();
    const chat = new module.LlamaChat({ contextSequence: sequence, chatWrapper: "auto" });
    return {
        contextSize: context.contextSize,
        tokens: (text) => model.tokenize(text).length,
        turn: async (turn) => {
            await sequence.clearHistory();
            const before = sequence.tokenMeter.getState();
            const grammar =
                turn.grammar === null
                    ? {}
                    : {
                          grammar: await llama.createGrammar({
                              grammar: turn.grammar,
                              stopGenerationTriggers: [],
                              trimWhitespaceSuffix: true,
                          }),
                      };
            const { response, metadata } = await chat.generateResponse(historyOf(turn.messages), {
                ...grammar,
                maxTokens: turn.maxTokens,
                temperature: turn.temperature,
                seed: 1,
                signal: turn.signal,
                repeatPenalty: false,
                onTextChunk: turn.onText,
            });
            const after = sequence.tokenMeter.getState();
            return {
                text: response,
                cut: metadata.stopReason === "maxTokens",
                input: after.usedInputTokens - before.usedInputTokens,
                output: after.usedOutputTokens - before.usedOutputTokens,
            };
        },
        close: async () => {
            chat.dispose();
            await context.dispose();
            await model.dispose();
            await llama.dispose();
        },
    };
}

/**
 * Cores that nothing else uses. Its threads wait for each other by spinning: one thread more than there are free cores makes a turn a hundred
 * times slower.
 */
function freeCores(): number {
    return Math.max(1, Math.min(8, Math.floor(availableParallelism() - (loadavg()[0] ?? 0) + 0.5)));
}

function historyOf(messages: readonly Message[]): HistoryItem[] {
    const history = messages.flatMap((message): HistoryItem[] => {
        if (message.role === "system") return message.content === "" ? [] : [{ type: "system", text: message.content }];
        if (message.role === "assistant") return [{ type: "model", response: [message.content] }];
        if (message.role === "tool") return [{ type: "user", text: JSON.stringify(message.result) }];
        return [{ type: "user", text: message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n") }];
    });
    // The package writes into the last item, which is the model's.
    return [...history, { type: "model", response: [] }];
}
