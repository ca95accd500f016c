/**
 * The tests' own agent (`agents/agent.ts`) at work for a program: a process of the host's own, in the sandbox unless said otherwise.
 *
 * What the machine would decide, a list of allowed uses decides here; a use that is allowed is made by the real tools.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Json } from "@remit/language";
import type { AgentHand, AgentLimits, AgentPart, AgentReply, AgentTurn, Effect, Failure, Outcome } from "@remit/machine";
import { agents, type AgentsSetting } from "../../src/agent/agents.ts";
import type { AgentUse, PerformIO, Permission } from "../../src/run/host.ts";
import { perform as performTool, type Work, work } from "../tool/setup.ts";
import type { Message } from "./real/schema.ts";

export const AGENT = join(dirname(fileURLToPath(import.meta.url)), "agents", "agent.ts");
const ROOT = join(dirname(AGENT), "..", "..", "..", "..", "..");

export type Act = { readonly do: string; readonly [key: string]: Json };

export interface TurnMore {
    readonly hands?: readonly AgentHand[];
    readonly limits?: AgentLimits;
    readonly signal?: AbortSignal;
    readonly model?: string;
    readonly session?: string;
    readonly run?: string;
    readonly prompt?: readonly AgentPart[];
    /** Text of the prompt's last part, instead of acts. */
    readonly last?: string;
    readonly io?: Partial<PerformIO>;
}

export interface RigMore {
    readonly fault?: string;
    readonly unconfined?: boolean;
    readonly agent?: { readonly [key: string]: Json };
    readonly config?: { readonly [key: string]: Json };
    readonly setting?: Partial<AgentsSetting>;
    readonly uri?: string;
    /** Uses that are allowed: `Repo.read`, `Repo.write src/a.txt`. */
    readonly allow?: readonly string[];
}

export interface Rig extends AsyncDisposable {
    readonly here: Work;
    readonly seen: readonly Message[];
    readonly uses: readonly { readonly how: "may" | "use"; readonly use: AgentUse; readonly allowed: boolean }[];
    readonly parts: readonly Json[];
    readonly secrets: ReadonlyMap<string, string>;
    readonly host: ReturnType<typeof agents>;
    turn(acts: readonly Act[], more?: TurnMore): Promise<Outcome>;
    reply(acts: readonly Act[], more?: TurnMore): Promise<AgentReply>;
    failure(acts: readonly Act[], more?: TurnMore): Promise<Failure & { readonly reply: AgentReply | undefined }>;
    /** What the acts found out, in order. */
    found(acts: readonly Act[], more?: TurnMore): Promise<readonly Json[]>;
}

export function handOf(uri: string, methods: { readonly [method: string]: "may" | "ask" }, whole?: boolean, tool = "Repo"): AgentHand {
    const list = Object.entries(methods).map(([method, gate]) => ({
        method: method === "*" ? null : method,
        gate,
        ...(whole === undefined ? {} : { whole }),
    }));
    return { tool, uri, file: "main.remit", methods: list };
}

export function rig(more: RigMore = {}): Rig {
    const here = work();
    const agent = {
        command: [process.execPath, AGENT],
        env: { ...(more.fault === undefined ? {} : { FAULT: more.fault }), ...((more.agent?.env ?? {}) as object) },
        sandbox: { read: [ROOT] },
        graceMs: 300,
    };
    const config = here.config({ ...more.config, agents: { tester: { ...agent, ...more.agent, env: agent.env } as Json } });
    const seen: Message[] = [];
    const uses: { how: "may" | "use"; use: AgentUse; allowed: boolean }[] = [];
    const parts: Json[] = [];
    const secrets = new Map<string, string>();
    const tools = here.tools(config);
    const host = agents({
        config,
        env: { PATH: process.env.PATH ?? "", HOME: here.folder, API_KEY: "k-0123456789abcdef" },
        workspace: here.workspace,
        secret: (name, value) => void secrets.set(name, value),
        trace: (direction, message) =>
            void seen.push({ from: direction === "out" ? "client" : "agent", message: structuredClone(message) }),
        ...more.setting,
    });
    const turns = new Map<string, number>();

    const turn: Rig["turn"] = (acts, about = {}) => {
        const session = about.session ?? "main/Fixer.yield#0";
        const key = `${about.run ?? ""} ${session}`;
        const at = turns.get(key) ?? 0;
        turns.set(key, at + 1);
        const request: AgentTurn = {
            op: "turn",
            agent: {
                name: "Fixer",
                uri: more.uri ?? "acp://tester",
                file: "main.remit",
                ...(more.unconfined === true ? { unconfined: true } : {}),
            },
            session,
            turn: at,
            prompt: [...(about.prompt ?? []), { type: "text", text: about.last ?? JSON.stringify(acts) }],
            hands: about.hands ?? [],
            limits: about.limits ?? {},
            ...(about.model === undefined ? {} : { model: about.model }),
        };
        const effect: Effect = {
            path: `${session}/turn[${at}]`,
            kind: "agent",
            principal: "Fixer",
            site: null,
            request: request as unknown as Json,
            labels: [],
        };
        const decide = (use: AgentUse): Permission => {
            const [first] = use.args;
            const path = first !== null && typeof first === "object" && !Array.isArray(first) ? first?.path : undefined;
            const names = [`${use.tool}.${use.method}`, `${use.tool}.${use.method} ${String(path)}`];
            if (names.some((name) => more.allow?.includes(name))) return { allowed: true, by: "remit" };
            return { allowed: false, by: "remit", message: `the remit does not allow ${names[0]}` };
        };
        const io: PerformIO = {
            signal: about.signal ?? new AbortController().signal,
            emit: (part) => void parts.push(part),
            wait: (ms) => new Promise((done) => setTimeout(done, ms).unref()),
            child: async () => ({ ok: false, failure: { kind: "denied", message: "nobody is there" } }),
            may: async (use) => {
                const said = decide(use);
                uses.push({ how: "may", use, allowed: said.allowed });
                return said;
            },
            use: async (use) => {
                const said = decide(use);
                uses.push({ how: "use", use, allowed: said.allowed });
                if (!said.allowed) return { ok: false, failure: { kind: "violation.remit", message: said.message } };
                const hand = about.hands?.find(({ tool }) => tool === use.tool);
                return performTool(tools, hand?.uri ?? "", use.method, [...use.args], { name: use.tool });
            },
            ...(about.run === undefined ? {} : { run: about.run }),
            ...about.io,
        };
        return host.perform(effect, io) as Promise<Outcome>;
    };
    const reply: Rig["reply"] = async (acts, about) => {
        const outcome = await turn(acts, about);
        if (!outcome.ok) throw new Error(`${JSON.stringify(outcome.failure)}`);
        return outcome.value as unknown as AgentReply;
    };
    return {
        here,
        seen,
        uses,
        parts,
        secrets,
        host,
        turn,
        reply,
        failure: async (acts, about) => {
            const outcome = await turn(acts, about);
            if (outcome.ok) throw new Error(`it did not fail: ${JSON.stringify(outcome.value)}`);
            return { ...outcome.failure, reply: (outcome.failure.detail as { reply?: AgentReply } | undefined)?.reply };
        },
        found: async (acts, about) => {
            const said = (await reply(acts, about)).text;
            return said
                .split("\n")
                .filter((line) => line !== "")
                .map((line) => JSON.parse(line) as Json);
        },
        [Symbol.asyncDispose]: async () => {
            await host.close();
            await here[Symbol.asyncDispose]();
        },
    };
}
