/**
 * Turns of an agent as a run makes them: our own host, real tools for the uses that are allowed, every message of the protocol kept, both ways.
 *
 * What the machine would decide of a use (`may`, `use`), `decide` decides here.
 */
import type { Json } from "@remit/language";
import type { AgentHand, AgentTurn, Effect, Outcome } from "@remit/machine";
import { agents, type AgentsSetting } from "../../src/agent/agents.ts";
import type { AgentUse, PerformIO, Permission } from "../../src/run/host.ts";
import type { Config } from "../../src/config/config.ts";
import { perform as performTool, type Work } from "../tool/setup.ts";
import type { Message } from "./real/schema.ts";
import { createScrubber } from "../../src/secret/scrub.ts";

/** Every use that was asked about or made, in order. */
export type Uses = readonly { readonly how: "may" | "use"; readonly use: AgentUse; readonly allowed: boolean }[];

export interface Turning {
    readonly seen: readonly Message[];
    readonly uses: Uses;
    /** What was emitted while turns ran. */
    readonly parts: readonly Json[];
    readonly host: ReturnType<typeof agents>;
    perform(request: Omit<AgentTurn, "op" | "agent">, io?: Partial<PerformIO>, decide?: (use: AgentUse) => Permission): Promise<Outcome>;
}

export interface TurningOptions {
    readonly here: Work;
    readonly config: Config;
    readonly uri: string;
    readonly unconfined?: boolean | undefined;
    readonly setting?: Partial<AgentsSetting>;
    readonly decide: (use: AgentUse) => Permission;
}

export function turning({ here, config, uri, unconfined, setting, decide: usual }: TurningOptions): Turning {
    const seen: Message[] = [];
    const uses: { how: "may" | "use"; use: AgentUse; allowed: boolean }[] = [];
    const parts: Json[] = [];
    const tools = here.tools(config);
    const host = agents({
        config,
        env: here.env,
        workspace: here.workspace,
        secrets: createScrubber(),
        trace: (direction, message) =>
            void seen.push({ from: direction === "out" ? "client" : "agent", message: structuredClone(message) }),
        ...setting,
    });
    const perform: Turning["perform"] = (about, more = {}, decide = usual) => {
        const agent = { name: "Fixer", uri, file: "main.remit", ...(unconfined === true ? { unconfined } : {}) };
        const request: AgentTurn = { op: "turn", agent, ...about };
        const effect: Effect = {
            path: `${request.session}/turn[${request.turn}]`,
            kind: "agent",
            principal: "Fixer",
            site: null,
            request: request as unknown as Json,
            labels: [],
        };
        const said = (how: "may" | "use", use: AgentUse): Permission => {
            const decided = decide(use);
            uses.push({ how, use, allowed: decided.allowed });
            return decided;
        };
        const io: PerformIO = {
            signal: new AbortController().signal,
            emit: (part) => void parts.push(part),
            wait: (ms) => new Promise((done) => setTimeout(done, ms).unref()),
            child: async () => ({ ok: false, failure: { kind: "denied", message: "nobody is there" } }),
            may: async (use) => said("may", use),
            use: async (use) => {
                const decided = said("use", use);
                if (!decided.allowed) return { ok: false, failure: { kind: "violation.remit", message: decided.message } };
                return performTool(tools, handed(about.hands, use.tool), use.method, [...use.args], { name: use.tool });
            },
            ...more,
        };
        return host.perform(effect, io) as Promise<Outcome>;
    };
    return { seen, uses, parts, host, perform };
}

function handed(hands: readonly AgentHand[], tool: string): string {
    return hands.find((one) => one.tool === tool)?.uri ?? "";
}
