/**
 * A real agent at work for a program: its process started by our own host, its model on loopback, the program's files in a folder of its own.
 *
 * What the machine would decide (`may`, `use`) a table of gates decides here, so that each case can be had; uses that are allowed are made by the
 * real tools. Every message of the protocol is kept, both ways.
 */
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { AgentHand, AgentLimits, AgentPart, AgentReply, Outcome } from "@remit/machine";
import type { Sandbox } from "../../../src/process/sandbox.ts";
import type { AgentUse, Permission } from "../../../src/run/host.ts";
import { work } from "../../tool/setup.ts";
import { type Turning, turning } from "../turning.ts";
import { type AgentName, type StartOptions, startOf } from "./agents.ts";
import { type ModelServer, modelServer, type Rule } from "./models/server.ts";
import { agentsBelow } from "./processes.ts";

/** What the program gives of its files: by method, freely or only after asking. */
export type Gates = { readonly [method: string]: "may" | "ask" };

export interface TurnOptions {
    readonly gates?: Gates;
    readonly limits?: AgentLimits;
    readonly signal?: AbortSignal;
    /** What a person answers where a gate says `ask`. Default: no. */
    readonly person?: boolean;
}

export type Prompt = string | readonly AgentPart[];

export interface Rig extends Pick<Turning, "seen" | "uses" | "parts"> {
    readonly model: ModelServer;
    readonly workspace: string;
    /** What lies beside the workspace, in the same folder. */
    readonly outside: string;
    write(path: string, text: string): string;
    /** The next turn of the session. */
    turn(prompt: Prompt, options?: TurnOptions): Promise<Outcome>;
    /** The same, which must end well. */
    reply(prompt: Prompt, options?: TurnOptions): Promise<AgentReply>;
    /** Process ids of all programs that run below this process with the agent's name in their command. */
    pids(): number[];
    [Symbol.asyncDispose](): Promise<void>;
}

export async function rig(name: AgentName, rules: (workspace: string) => readonly Rule[], options: RigOptions = {}): Promise<Rig> {
    const here = work();
    for (const [program, at] of Object.entries(options.programs ?? {})) {
        mkdirSync(join(here.folder, "bin"), { recursive: true });
        // npm unpacks what is no command of a package without leave to run it
        copyFileSync(at, join(here.folder, "bin", program));
        chmodSync(join(here.folder, "bin", program), 0o755);
        here.env.PATH = `${join(here.folder, "bin")}${delimiter}${here.env.PATH ?? ""}`;
    }
    const model = await modelServer(rules(here.workspace));
    const { command, args, env } = startOf(name, { model: model.url, ...options.start });
    const config = here.config({ agents: { [name]: { command: [command, ...args], env, endpoints: [model.url], graceMs: 3_000 } } });
    const { seen, uses, parts, host, perform } = turning({
        here,
        config,
        uri: `acp://${name}`,
        unconfined: options.unconfined,
        ...(options.sandbox === undefined ? {} : { setting: { sandbox: options.sandbox } }),
        decide: () => ({ allowed: false, by: "nobody", message: "each turn has its own gates" }),
    });
    let turns = 0;

    const turn: Rig["turn"] = (prompt, more = {}) => {
        const gates = more.gates ?? options.gates ?? GATES;
        const methods = Object.entries(gates).map(([method, gate]) => ({ method, gate, whole: true }));
        const hands: AgentHand[] = methods.length === 0 ? [] : [{ tool: "Repo", uri: "file://workspace", file: "main.remit", methods }];
        const decide = (use: AgentUse): Permission => {
            const gate = use.tool === "Repo" ? gates[use.method] : undefined;
            if (gate === "may") return { allowed: true, by: "remit" };
            if (gate === "ask" && more.person === true) return { allowed: true, by: "person" };
            return {
                allowed: false,
                by: gate === "ask" ? "person" : "remit",
                message: `the remit does not allow ${use.tool}.${use.method}`,
            };
        };
        return perform(
            {
                session: "main/Fixer.yield#0",
                turn: turns++,
                prompt: typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt,
                hands,
                limits: more.limits ?? {},
            },
            more.signal === undefined ? {} : { signal: more.signal },
            decide,
        );
    };
    return {
        model,
        workspace: here.workspace,
        outside: here.folder,
        seen,
        uses,
        parts,
        write: here.write,
        turn,
        reply: async (prompt, more) => {
            const outcome = await turn(prompt, more);
            if (!outcome.ok)
                throw new Error(`${outcome.failure.kind}: ${outcome.failure.message} ${JSON.stringify(outcome.failure.detail ?? null)}`);
            return outcome.value as unknown as AgentReply;
        },
        pids: () => agentsBelow(process.pid, name),
        [Symbol.asyncDispose]: async () => {
            await host.close();
            await model.close();
            await here[Symbol.asyncDispose]();
        },
    };
}

/** What a turn has unless it says otherwise: a sandbox that only reads the files, and writing by way of the program's tool. */
const GATES: Gates = { read: "may", write: "ask" };

export interface RigOptions {
    readonly gates?: Gates;
    /** Programs that the user's search path has besides, by name: where they are. */
    readonly programs?: { readonly [name: string]: string };
    /** Stands for the look whether a sandbox works here. */
    readonly sandbox?: () => Promise<Sandbox>;
    readonly start?: Omit<StartOptions, "model">;
    readonly unconfined?: boolean;
}
