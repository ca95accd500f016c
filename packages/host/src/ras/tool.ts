/**
 * `ras:FILE`: a RAS program as a tool of the bridge that answers it.
 *
 * Boundary: processes by number, calls made ready for the language's built-ins, answers in the shapes of Re in Act. Decides nothing about
 * authority: what a program may do is the bridge's, whose tools its calls go to.
 *
 * V1: a call reaches only tools that the bridge names and Riffs that are registered: the bridge's own names are out of reach.
 * V2: what ends a run ends its processes.
 */
import { isAbsolute, resolve } from "node:path";
import type { Json } from "@remit/language";
import { type Fields as ToolFields, objectArgument, readFields, schemaOf, unknownMethod } from "../tool/args.ts";
import { type Open, ToolFail } from "../tool/tool.ts";
import { commandResult } from "./command.ts";
import { type Fields, isFields } from "./frames.ts";
import { RAS_LIMITS, type RasCall, type RasLimits, type RasProcess, startRas } from "./process.ts";
import { findRiffs, type Riff, type Riffs, withheldOf } from "./riffs.ts";
import { rasSource } from "./source.ts";

const START: ToolFields = {
    riff: { type: "text", description: "a registered Riff; without it the import's own program" },
    inputs: { type: "json", description: "what the program is given" },
    tools: { type: "json", description: "names of tools that it may call" },
    riffs: { type: "json", description: "files of Riffs that are registered for this run" },
    depth: { type: "count", description: "how deep Riffs call each other, from 1", default: 1 },
    limits: { type: "object", description: "time, memory, processes, calls, output" },
    confinement: { type: "text", description: "how it runs", one: ["sandbox", "unconfined"], default: "sandbox" },
};
const STEP: ToolFields = {
    id: { type: "count", description: "which process", needed: true },
    answers: { type: "json", description: "answers to its calls: [{id, value}]", needed: true },
};

/** Riffs within Riffs. */
export const MAX_DEPTH = 5;
/** Text of a result that a caller is given, characters. */
const MAX_RESULT = 262_144;

interface Kept {
    readonly process: RasProcess;
    readonly calls: Map<number, Ready>;
    readonly riffs: Riffs;
    readonly tools: readonly string[];
    readonly depth: number;
}

/** A call as the bridge performs it: `result` where there is nothing to perform. */
interface Ready {
    readonly id: number;
    readonly kind: "reason" | "act" | "agent" | "riff" | "manual" | "result";
    readonly args: Fields;
    /** Its result is a command's. */
    readonly shell?: true;
}

export const openRas: Open = (uri, about, context) => {
    const named = uri.slice("ras:".length).replace(/^\/\/(?=[^/])/, "");
    const file = isAbsolute(named) ? named : resolve(context.root === "" ? context.workspace : context.root, named);
    const kept = new Map<number, Kept>();
    let next = 1;

    async function start(given: { readonly [name: string]: Json | undefined }): Promise<Json> {
        const extra = texts(given.riffs);
        const riffs = findRiffs(context.workspace, context.env, extra, context.config.always === true || context.env.REMIT_TRUST === "1");
        const riff = given.riff === undefined ? undefined : riffs.riffs.find((one) => one.name === given.riff);
        const held = riff === undefined ? withheldOf(given.riff, riffs) : null;
        if (held !== null) throw new ToolFail(held.message, { kind: "denied", hint: held.hint });
        if (given.riff !== undefined && riff === undefined)
            throw new ToolFail(`there is no Riff '${String(given.riff)}'`, { kind: "value" });
        const depth = given.depth as number;
        if (depth > MAX_DEPTH) throw new ToolFail(`Riffs call each other more than ${MAX_DEPTH} deep`, { kind: "value" });
        const source = rasSource(riff?.path ?? file);
        const process = await startRas(source, {
            inputs: given.inputs ?? {},
            limits: limitsOf(given.limits),
            unconfined: given.confinement === "unconfined",
            env: context.env,
        });
        const id = next++;
        kept.set(id, { process, calls: new Map(), riffs, tools: texts(given.tools), depth });
        return { id, name: riff?.name ?? source.name, language: source.language, confinement: process.confinement };
    }

    async function step(id: number, answers: Json, signal: AbortSignal): Promise<Json> {
        const one = kept.get(id);
        if (one === undefined)
            throw new ToolFail("the program's process is gone", {
                kind: "unreachable",
                hint: "a run that was interrupted while a program ran is begun anew: remit ras run FILE",
            });
        const given = (Array.isArray(answers) ? answers : []).filter(isFields).map(({ id: call, value }) => {
            const of = one.calls.get(call as number);
            return { id: call as number, value: of === undefined ? null : shaped(of, value ?? null, one.riffs.riffs) };
        });
        one.calls.clear();
        const { calls, ...rest } = await one.process.step(given, signal);
        const ready = calls.map((call) => readyOf(call, one));
        for (const call of ready) one.calls.set(call.id, call);
        if (rest.done) {
            kept.delete(id);
            await one.process.end();
        }
        return { ...rest, calls: ready.map(({ id: call, kind, args }) => ({ id: call, kind, args })) } as unknown as Json;
    }

    return {
        methods: () => [
            { name: "start", description: "Starts the program.", input: schemaOf(START), readOnly: false, repeatable: false },
            {
                name: "step",
                description: "Answers its calls, and waits until it has others or has ended.",
                input: schemaOf(STEP),
                readOnly: false,
                repeatable: false,
            },
        ],
        call: async (method, args, io) => {
            const given = objectArgument(io.name, method, args);
            if (method === "start") return start(readFields(given, START));
            if (method !== "step") throw unknownMethod(about.name, method, ["start", "step"]);
            const { id, answers } = readFields(given, STEP);
            return step(id as number, answers ?? [], io.signal);
        },
        close: async () => {
            const all = [...kept.values()];
            kept.clear();
            await Promise.all(all.map((one) => one.process.end()));
        },
    };
};

function texts(value: Json | undefined): string[] {
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function limitsOf(given: Json | undefined): RasLimits {
    const said = isFields(given) ? given : {};
    const out: Record<string, number> = {};
    for (const [name, most] of Object.entries(RAS_LIMITS)) {
        const value = said[name];
        if (value === undefined || value === null) out[name] = most;
        else if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) out[name] = value;
        else throw new ToolFail(`limits.${name} must be a positive integer`);
    }
    return out as unknown as RasLimits;
}

// ---- calls -----------------------------------------------------------------------------------------------------------

/** Names under which the tool for commands is built in. */
const SHELL_NAMES: ReadonlySet<string> = new Set(["bash", "shell"]);

function readyOf({ id, kind, args }: RasCall, of: Kept): Ready {
    if (kind === "reason") {
        const prompt = Array.isArray(args.prompt) ? args.prompt.map(asText) : asText(args.prompt ?? "");
        return { id, kind, args: { prompt, example: args.example ?? null, attempts: args.attempts ?? null } };
    }
    if (kind === "agent")
        return { id, kind, args: { prompt: asText(args.prompt ?? ""), config: isFields(args.config) ? args.config : {} } };
    const { name } = args;
    if (typeof name !== "string") return told(id, "act(): the name must be a text");
    const given = args.args ?? {};
    const wanted = name === "__manual__" && isFields(given) && typeof given.name === "string" ? given.name : null;
    if (name === "__manual__") return { id, kind: "manual", args: wanted === null ? {} : { name: wanted } };
    const tool = name.split(".", 1)[0] as string;
    if (of.tools.includes(tool)) {
        if (tool === "webfetch" && typeof given === "string") return { id, kind: "act", args: { name, args: { url: given } } };
        if (!SHELL_NAMES.has(tool)) return { id, kind: "act", args: { name, args: given } };
        const said =
            typeof given === "string" ? { command: given } : isFields(given) && typeof given.cmd === "string" ? renamed(given) : given;
        return { id, kind: "act", args: { name, args: said }, shell: true };
    }
    const riff = of.riffs.riffs.find((one) => one.name === name);
    if (riff === undefined) {
        const held = withheldOf(name, of.riffs);
        if (held !== null) return told(id, `${held.message} (${held.hint})`);
        const known = [...of.tools, ...of.riffs.riffs.map((one) => one.name)];
        return told(id, `there is no tool '${name}'; ${known.length === 0 ? "there are none" : `known are ${known.join(", ")}`}`);
    }
    if (of.depth >= MAX_DEPTH) return told(id, `Riffs call each other more than ${MAX_DEPTH} deep`);
    return { id, kind: "riff", args: { name, inputs: given } };
}

/** `cmd`, as one page of the standard's documents has it, is `command`. */
function renamed({ cmd, ...rest }: Fields): Fields {
    return { ...rest, command: cmd as Json };
}

function asText(value: Json): string {
    return typeof value === "string" ? value : JSON.stringify(value);
}

function told(id: number, message: string): Ready {
    return { id, kind: "result", args: { result: failed(message) } };
}

// ---- answers ---------------------------------------------------------------------------------------------------------

function failed(message: string): Json {
    return { content: [{ type: "text", text: message }], isError: true };
}

/** What the program is given for what the bridge found. */
function shaped(call: Ready, value: Json, riffs: readonly Riff[]): Json {
    if (call.kind === "result") return call.args.result ?? null;
    if (call.kind === "manual") return manualResult(value, riffs, call.args.name);
    if (call.kind === "riff") return riffResult(value);
    return call.shell === true ? commandResult(value) : value;
}

/** What there is to call: the tools without the bridge's own, and the Riffs. */
function manualResult(value: Json, riffs: readonly Riff[], wanted: Json | undefined): Json {
    const listed = isFields(value) && isFields(value.structuredContent) ? value.structuredContent.tools : undefined;
    const tools = (Array.isArray(listed) ? listed : []).filter(isFields).filter((one) => String(one.name).split(".", 1)[0] !== "Ras");
    const named = riffs
        .filter((one) => wanted === undefined || one.name === wanted)
        .map((one) => ({ name: one.name, description: one.description, inputSchema: one.parameters ?? { type: "object" } }));
    const all = [...tools, ...named];
    const text = all.map((one) => {
        const line = `${String(one.name)}: ${String(one.description)}`;
        return wanted === undefined ? line : `${line}\n${JSON.stringify(one.inputSchema)}`;
    });
    return { content: [{ type: "text", text: text.join("\n") }], structuredContent: { tools: all } };
}

/** The one observation of a Riff: what it printed, and what it returned. */
function riffResult(value: Json): Json {
    if (!isFields(value)) return failed("the Riff gave nothing");
    const { output, error } = value;
    const returned = value.value;
    const printed = typeof output === "string" ? output : "";
    const parts = [
        printed,
        ...(returned === undefined || returned === null ? [] : [asText(returned)]),
        ...(typeof error === "string" ? [error] : []),
    ];
    const text = parts
        .filter((one) => one !== "")
        .join("\n")
        .slice(0, MAX_RESULT);
    return {
        content: [{ type: "text", text }],
        ...(isFields(returned) ? { structuredContent: returned } : {}),
        ...(typeof error === "string" ? { isError: true } : {}),
    };
}
