/**
 * Agents behind every transport that play the same script: the tests' own agent as a process in its sandbox, over HTTP and over WebSockets; a stub
 * and an agent of the program inside this process.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import { type Act, actor } from "./agents/acting.ts";
import { far } from "./far.ts";
import { AGENT } from "./rig.ts";

const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");

/** What an agent does in a turn, in order. A path is one of the workspace. */
export type Step =
    /** Lines of a function's body; its parameters behind `agent`. */
    | { readonly answer: string; readonly params?: readonly string[] }
    | { readonly say: string }
    /** Its hands do it: a file is read, or written. */
    | { readonly use: "read" | "write"; readonly path: string }
    | { readonly usage: { readonly input: number; readonly output: number } }
    /** So many tool calls of its own. */
    | { readonly calls: number }
    /** It waits until it is told to stop. */
    | { readonly wait: true }
    /** It ends in the middle of its turn. */
    | { readonly crash: true }
    /** For agents that speak the protocol. */
    | { readonly act: (root: string) => Act };

/** `when`: what is in the text that it is told, where it is not the first; an agent of the program keeps no count. */
export interface Turn {
    readonly when?: string;
    readonly steps: readonly Step[];
}

export interface Script {
    readonly root: string;
    readonly remit: string;
    readonly turns: readonly Turn[];
}

/** An agent at its place. */
export interface Placed {
    /** What declares it in the program, as `Fixer`. */
    readonly declared: string;
    /** It is an agent beside others: the main func has to be in one, too. */
    readonly beside?: true;
    /** What the program gives it as its acts. */
    readonly acts: string;
    readonly config?: Json;
    /** What the agent's side saw of the session, in order; null where nothing but the ledger tells. */
    readonly log: (() => readonly string[]) | null;
    close(): Promise<void>;
}

export interface Transport {
    readonly name: string;
    /** It speaks the Agent Client Protocol: permission and unknown requests, terminals. */
    readonly protocol: boolean;
    /** A time in which an agent is there and has begun its turn, also on a busy machine. */
    readonly begun: string;
    readonly place: (script: Script) => Promise<Placed>;
}

const answerOf = ({ answer, params = ["acts"] }: { readonly answer: string; readonly params?: readonly string[] }): string =>
    `func answer(${["agent", ...params].join(", ")}) {\n${answer}\n}`;

const fenced = (source: string): string => `\`\`\`remit\n${source}\n\`\`\`\n`;

function actsOf(step: Step, root: string): Act[] {
    if ("act" in step) return [step.act(root)];
    if ("answer" in step) return [{ do: "say", text: fenced(answerOf(step)) }];
    if ("say" in step) return [{ do: "say", text: step.say }];
    if ("crash" in step) return [{ do: "crash" }];
    if ("wait" in step) return [{ do: "wait" }];
    if ("usage" in step) {
        const { input, output } = step.usage;
        return [{ do: "stop", with: { usage: { inputTokens: input, outputTokens: output, totalTokens: input + output } } }];
    }
    if ("calls" in step)
        return Array.from({ length: step.calls }, (_, i) => ({
            do: "update",
            update: { sessionUpdate: "tool_call", toolCallId: `own-${i}`, title: "Look", kind: "other", status: "completed" },
        }));
    const path = join(root, step.path);
    const params = step.use === "read" ? { path } : { path, content: "made" };
    return [{ do: "request", method: step.use === "read" ? "fs/read_text_file" : "fs/write_text_file", params }];
}

const actsFor = ({ root, turns }: Script): string => JSON.stringify(turns.map(({ steps }) => steps.flatMap((step) => actsOf(step, root))));

/** Said once in a program, with the remit of a script. */
const imported = (uri: string, remit: string): string => `import agent Fixer from ${JSON.stringify(uri)} { remit { ${remit} } }`;

const processes: Transport = {
    name: "process",
    protocol: true,
    begun: "4 s",
    place: async (script) => {
        // A folder in which it may write, besides what the program gives it.
        const log = join(script.root, "log", "log.txt");
        mkdirSync(dirname(log));
        const tester = { command: [process.execPath, AGENT], sandbox: { read: [ROOT] }, graceMs: 5000, env: { LOG: log } };
        return {
            declared: `import tool Log from "file://workspace/log"\n${imported("acp://tester", `may Log\n${script.remit}`)}`,
            acts: actsFor(script),
            config: { agents: { tester } },
            log: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
            close: async () => undefined,
        };
    },
};

const remote = (scheme: "http" | "ws"): Transport => ({
    name: `acp+${scheme}`,
    protocol: true,
    begun: "800 ms",
    place: async (script) => {
        const told: string[] = [];
        const log = (method: string): void => void told.push(method);
        const server = await far(() => {
            const app = actor({ raw: () => undefined, log, crash: () => server.drop() });
            return {
                connect: (stream) => {
                    const connection = app.connect(stream);
                    connection.closed.then(() => log("closed"));
                    return connection;
                },
            };
        });
        return {
            declared: imported(`acp+${scheme}://127.0.0.1:${server.port}/acp`, script.remit),
            acts: actsFor(script),
            log: () => told,
            close: async () => server[Symbol.asyncDispose](),
        };
    },
});

const stub: Transport = {
    name: "stub",
    protocol: false,
    begun: "200 ms",
    place: async ({ root, remit, turns }) => {
        const none = { acts: "[]", log: null, close: async () => undefined };
        // What a stub says it says at once, so that only one that says nothing can be waited for.
        if (turns.some(({ steps }) => steps.every((step) => "wait" in step)))
            return { declared: imported("stub:faulty?kind=silence", remit), ...none };
        const replies = turns.map(({ steps }): Json => {
            const text: string[] = [];
            const use: Json[] = [];
            const entries: Json[] = [];
            let more: { [key: string]: Json } = {};
            for (const step of steps) {
                if ("answer" in step) text.push(fenced(answerOf(step)));
                else if ("say" in step) text.push(step.say);
                else if ("use" in step)
                    use.push({
                        tool: "Repo",
                        method: step.use,
                        args: [{ path: step.path, ...(step.use === "write" ? { content: "made" } : {}) }],
                    });
                else if ("usage" in step) more = { ...more, usage: step.usage };
                else if ("calls" in step)
                    for (let i = 0; i < step.calls; i++) entries.push({ kind: "call", id: `own-${i}`, name: "Look", status: "completed" });
                else if ("crash" in step) return { fail: { kind: "unreachable", message: "it ended in the middle of its turn" } };
                else if (!("wait" in step)) throw new Error("a stub does not speak the protocol");
            }
            return { text: text.join("\n"), use, ...(entries.length === 0 ? {} : { entries }), ...more };
        });
        writeFileSync(join(root, "replies.json"), JSON.stringify(replies));
        return { declared: imported("stub:sequence:replies.json", remit), ...none };
    },
};

const program: Transport = {
    name: "an agent of the program",
    protocol: false,
    begun: "200 ms",
    place: async ({ remit, turns }) => {
        const lines = ({ steps }: Turn): string =>
            steps
                .flatMap((step): string[] => {
                    if ("answer" in step) return [`return ${JSON.stringify(answerOf(step))}`];
                    if ("say" in step) return [`return ${JSON.stringify(step.say)}`];
                    if ("use" in step) {
                        const args = step.use === "write" ? `path: "${step.path}", content: "made"` : `path: "${step.path}"`;
                        return [`try { Repo.${step.use}({ ${args} }) } catch failure { }`];
                    }
                    throw new Error("an agent of the program does not do this");
                })
                .join("\n");
        const later = turns.slice(1).map((turn) => `if text(what).contains(${JSON.stringify(turn.when)}) {\n${lines(turn)}\n}`);
        const main = `main func(what) {\n${[...later, lines(turns[0] as Turn)].join("\n")}\n}`;
        return {
            declared: `agent Fixer {\nremit { ${remit} }\n${main}\n}`,
            beside: true,
            acts: "[]",
            log: null,
            close: async () => undefined,
        };
    },
};

export const TRANSPORTS: readonly Transport[] = [processes, remote("http"), remote("ws"), stub, program];
