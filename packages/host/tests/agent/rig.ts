/**
 * The tests' own agent (`agents/agent.ts`) at work for a program: a process of the host's own, in the sandbox unless said otherwise.
 *
 * What the machine would decide, a list of allowed uses decides here; a use that is allowed is made by the real tools.
 */
import { dirname, join } from "node:path";
import type { Json } from "@remit/language";
import type { AgentHand, AgentLimits, AgentPart, AgentReply, Failure, Outcome } from "@remit/machine";
import type { AgentsSetting } from "../../src/agent/agents.ts";
import type { AgentUse, PerformIO, Permission } from "../../src/run/host.ts";
import { type Work, work } from "../tool/setup.ts";
import { type Turning, turning } from "./turning.ts";
import { scriptAt } from "../script.ts";
import { tellingScrubber } from "../secret/told.ts";

export const AGENT = scriptAt("packages/host/tests/agent/agents/agent.ts");
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

export interface Rig extends AsyncDisposable, Pick<Turning, "seen" | "uses" | "parts" | "host"> {
    readonly here: Work;
    readonly secrets: ReadonlyMap<string, string>;
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
    const config = here.config({
        ...more.config,
        agents: { ...(more.config?.agents as object), tester: { ...agent, ...more.agent, env: agent.env } as Json },
    });
    const secrets = new Map<string, string>();
    const decide = (use: AgentUse): Permission => {
        const [first] = use.args;
        const path = first !== null && typeof first === "object" && !Array.isArray(first) ? first?.path : undefined;
        const names = [`${use.tool}.${use.method}`, `${use.tool}.${use.method} ${String(path)}`];
        if (names.some((name) => more.allow?.includes(name))) return { allowed: true, by: "remit" };
        return { allowed: false, by: "remit", message: `the remit does not allow ${names[0]}` };
    };
    const { seen, uses, parts, host, perform } = turning({
        here,
        config,
        uri: more.uri ?? "acp://tester",
        unconfined: more.unconfined,
        setting: {
            env: { PATH: process.env.PATH ?? "", HOME: here.folder, API_KEY: "k-0123456789abcdef" },
            secrets: tellingScrubber(secrets),
            ...more.setting,
        },
        decide,
    });
    const turns = new Map<string, number>();

    const turn: Rig["turn"] = (acts, about = {}) => {
        const session = about.session ?? "main/Fixer.yield#0";
        const key = `${about.run ?? ""} ${session}`;
        const at = turns.get(key) ?? 0;
        turns.set(key, at + 1);
        return perform(
            {
                session,
                turn: at,
                prompt: [...(about.prompt ?? []), { type: "text", text: about.last ?? JSON.stringify(acts) }],
                hands: about.hands ?? [],
                limits: about.limits ?? {},
                ...(about.model === undefined ? {} : { model: about.model }),
            },
            {
                ...(about.signal === undefined ? {} : { signal: about.signal }),
                ...(about.run === undefined ? {} : { run: about.run }),
                ...about.io,
            },
        );
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
