/** Programs that hand over control, from their text, with agents that answer by hand, run to the end however they are saved, loaded and compiled. */
import { readFileSync } from "node:fs";
import type { Json, Program } from "@remit/language";
import { expect } from "vitest";
import { z } from "zod";
import type { AgentReply, AgentTurn, Effect, FailureKind, Outcome } from "../../src/index.ts";
import { type How, type Ran, runAll } from "./forms.ts";
import { formOf } from "./text.ts";

export type Answering = (turn: AgentTurn, effect: Effect) => string | Outcome;

export const reply = (text: string, more: Partial<AgentReply> = {}): AgentReply => ({
    text,
    stop: "end_turn",
    entries: [{ kind: "message", text }],
    confinement: "sandbox",
    spent: { steps: 1, calls: 0, ms: 3 },
    ...more,
});

export const said = (value: Json, origins: string[]): Outcome => ({ ok: true, value, origins });
export const replied = (text: string, more: Partial<AgentReply> = {}, name = "Fixer"): Outcome =>
    said(reply(text, more) as unknown as Json, [`agent:${name}`]);
export const failed = (kind: FailureKind, message: string = kind, detail?: Json): Outcome => ({
    ok: false,
    failure: { kind, message, ...(detail === undefined ? {} : { detail }) },
});

/** Source in its fence. */
export const remit = (source: string): string => `Here it is.\n\n\`\`\`remit\n${source}\n\`\`\`\n`;
/** A function with these statements and the parameters behind `agent`. */
export const answer = (body: string, ...params: string[]): string => remit(`func answer(${["agent", ...params].join(", ")}) {\n${body}\n}`);

export interface Handing extends Omit<How, "answer"> {
    /** What the agents say, turn for turn; a function is asked each time. */
    readonly agents?: Answering | readonly (string | Outcome)[];
    readonly world?: (effect: Effect) => Outcome | undefined;
    readonly yes?: string;
    readonly unchecked?: boolean;
}

/** What tools say of themselves, where nothing else is said. */
export const METHODS: Json = {
    methods: [
        { name: "read", description: "Reads a file.", input: { type: "object", properties: { path: { type: "string" } } }, readOnly: true },
        { name: "write", input: { type: "object" }, readOnly: false },
    ],
};

/** A run whose handshakes are as they are published. */
export function once(files: string | { [file: string]: string }, how: Handing = {}): Ran {
    return onceOf(formOf(files, how.unchecked === true), how);
}

function onceOf(form: Program, how: Handing): Ran {
    const ran = handed(form, how);
    for (const document of handshakes(ran)) expect(wrongHandshake(document)).toBe("");
    return ran;
}

function handed(form: Program, how: Handing): Ran {
    const { agents = [], world, yes, unchecked: _, ...rest } = how;
    return runAll(form, {
        ...rest,
        answer: (effect) => {
            const own = world?.(effect);
            if (own !== undefined) return own;
            const request = effect.request as { op?: string; tool?: string; method?: string };
            if (effect.kind === "agent") {
                const turn = effect.request as unknown as AgentTurn;
                // By its place, so that a run that is loaded again hears the same.
                const one = typeof agents === "function" ? agents(turn, effect) : agents[Math.min(turn.turn, agents.length - 1)];
                if (one === undefined) throw new Error(`nobody answers ${effect.path}`);
                return typeof one === "string" ? replied(one, {}, turn.agent.name) : one;
            }
            if (effect.kind === "ask") return said(yes ?? "deny", ["user"]);
            if (request.op === "describe") return said(METHODS, [`tool:${request.tool}`]);
            if (effect.kind === "sleep") throw new Error("time is not told here");
            return said({ did: `${request.tool}.${request.method}` }, [`tool:${request.tool}`]);
        },
        pick: rest.pick ?? ((waiting) => waiting.findIndex((e) => e.kind !== "sleep")),
    });
}

/** What is wrong with a handshake by its published schema; empty where it is right. */
export const wrongHandshake: (document: unknown) => string = (() => {
    const { $schema, $defs } = JSON.parse(readFileSync(new URL("../../schema/remit-yield-1.json", import.meta.url), "utf8")) as {
        [key: string]: Json;
    };
    const schema = z.fromJSONSchema({ $schema, $ref: "#/$defs/Handshake", $defs } as Parameters<typeof z.fromJSONSchema>[0]);
    return (document) => {
        const read = schema.safeParse(document);
        return read.success ? "" : z.prettifyError(read.error);
    };
})();

/** Every handshake of a run, to agents outside the program and of it. */
export const handshakes = (ran: Ran): { readonly [key: string]: Json }[] =>
    events(ran, "agent.asked").flatMap(({ prompt }) =>
        (prompt as { text: string; uri?: string }[]).flatMap((part) =>
            part.uri?.startsWith("remit:") === true ? [JSON.parse(part.text) as { [key: string]: Json }] : [],
        ),
    );

/** The same run, however it is saved, loaded or compiled. */
export function run(files: string | { [file: string]: string }, how: Handing = {}): Ran {
    const form = formOf(files, how.unchecked === true);
    const ran = onceOf(form, how);
    for (const more of [
        { saving: true },
        { saving: 3 },
        { options: { ...how.options, mode: "frames" } },
        { options: { ...how.options, slice: 3 } },
        { saving: true, options: { ...how.options, slice: 2 } },
    ] as const)
        expect(onceOf(form, { ...how, ...more })).toEqual(ran);
    return ran;
}

/** A program with one agent outside it, and statements of its main function. */
export const withFixer = (body: string, before = "", clauses = ""): string =>
    `import agent Fixer from "acp://opencode"${clauses}\n${before}\nmain agent A {\n main func(input) {\n${body}\n }\n}\n`;

/** The value, or `KIND: message`. */
export const end = ({ result }: Ran): Json =>
    result.ok ? (JSON.parse(JSON.stringify(result.value)) as Json) : `${result.failure.kind}: ${result.failure.message}`;
export const kind = ({ result }: Ran): Json => (result.ok ? result.value : result.failure.kind);
export const origins = ({ result }: Ran): readonly string[] => (result.ok ? result.origins : []);

/** Requests to agents. */
export const turns = (ran: Ran): AgentTurn[] => ran.effects.filter((e) => e.kind === "agent").map((e) => e.request as unknown as AgentTurn);
/** The document of the first turn. */
export const handshake = (ran: Ran, nth = 0): { readonly [key: string]: Json } =>
    JSON.parse((turns(ran)[nth] as AgentTurn).prompt[1]?.text ?? "null") as { [key: string]: Json };
export const events = (ran: Ran, wanted: string): { readonly [key: string]: Json }[] =>
    ran.events.filter((e) => e.kind === wanted).map((e) => e.data as { [key: string]: Json });
/** Uses of tools that reached the world. */
export const did = (ran: Ran): string[] =>
    ran.effects.flatMap((e) => {
        const r = e.request as { op?: string; tool?: string; method?: string };
        return e.kind === "tool" && r.op === "call" ? [`${r.tool}.${r.method}`] : [];
    });
