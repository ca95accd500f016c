/**
 * `ras:FILE`: a RAS program as a tool of the bridge that answers it.
 *
 * Boundary: processes by number, calls made ready for the language's built-ins, answers in the shapes of Re in Act. Decides nothing about
 * authority: what a program may do is the bridge's, whose tools its calls go to.
 *
 * TOO1: a call reaches only tools that the bridge names and Riffs that are registered: the bridge's own names are out of reach.
 * TOO2: what ends a run ends its processes.
 * TOO5: `start` starts nothing yet; the first step does. A step of a process that is not here says so, and nothing else: the caller has its
 *     history, with which `again` runs it anew. That does no harm where the process is confined: without the answers it reaches nothing.
 * TOO6: run anew, the program is given the answers of its history, each to the next call that equals the one it was given to. A program that
 *     makes another call before it made all of those is not the same any more: that call is named.
 */
import { isAbsolute, resolve } from "node:path";
import { isObject, canonicalJson, type Json } from "@remit/language";
import { type Fields as ToolFields, type Given, toolOf } from "../tool/args.ts";
import { type CallIO, type Open, type ToolContext, ToolFail } from "../tool/tool.ts";
import { BRIDGE_NAMES } from "./bridge.ts";
import { rootOf } from "../tool/root.ts";
import { typedArguments } from "./command.ts";
import type { Fields } from "./frames.ts";
import { RAS_LIMITS, type RasAnswer, type RasCall, type RasLimits, type RasProcess, type RasStep, startRas } from "./process.ts";
import { findRiffs, type Riff, type Riffs, withheldOf } from "./riffs.ts";
import { rasSource } from "./source.ts";

const START: ToolFields = {
    riff: { type: "text", description: "a registered Riff; without it the import's own program" },
    inputs: { type: "json", description: "what the program is given" },
    tools: { type: "json", description: "names of tools that it may call" },
    servers: { type: "json", description: "true where some are servers, whose tools have names of their own" },
    folders: { type: "json", description: "URIs of folders whose files it may read" },
    riffs: { type: "json", description: "files of Riffs that are registered for this run" },
    depth: { type: "count", description: "how deep Riffs call each other, from 1", default: 1 },
    limits: { type: "object", description: "time, memory, processes, calls, output" },
    confinement: { type: "text", description: "how it runs", one: ["sandbox", "unconfined"], default: "sandbox" },
};
const AGAIN: ToolFields = {
    ...START,
    history: { type: "json", description: "what it called and was answered: [{calls, answers}]", needed: true },
};
const STEP: ToolFields = {
    id: { type: "text", description: "which process", needed: true },
    answers: { type: "json", description: "answers to its calls: [{id, value}]", needed: true },
};

const READY: ToolFields = {
    name: { type: "text", description: "a tool, or a tool's method", needed: true },
    args: { type: "json", description: "what it is called with" },
    flags: { type: "json", description: "true where they came by name, as texts" },
    manual: { type: "object", description: "what is said of it", default: {} },
};

/** Riffs within Riffs. */
export const MAX_DEPTH = 5;
/** Text of a result that a caller is given, characters. */
const MAX_RESULT = 262_144;

interface Kept {
    /** Begun with the first step. */
    process: RasProcess | null;
    readonly begin: () => Promise<RasProcess>;
    /** Answers that go along with the next ones. */
    readonly ready: { readonly id: number; readonly value: Json }[];
    readonly calls: Map<number, Ready>;
    readonly riffs: Riffs;
    readonly tools: readonly string[];
    readonly servers: boolean;
    readonly depth: number;
}

/** A call as the bridge performs it: `result` where there is nothing to perform. */
interface Ready {
    readonly id: number;
    readonly kind: "reason" | "act" | "agent" | "riff" | "manual" | "result";
    readonly args: Fields;
    /** It fails in the program where it fails at all (`on_error: "fail"`). */
    readonly fails?: true;
}

const METHODS = {
    start: { description: "Names the program that is run.", fields: START, readOnly: false, repeatable: true },
    step: {
        description: "Answers its calls, and waits until it has others or has ended; starts it first.",
        fields: STEP,
        readOnly: false,
        repeatable: true,
    },
    again: {
        description: "Runs the program anew with the answers it had, up to the calls that it had none for.",
        fields: AGAIN,
        readOnly: false,
        repeatable: true,
    },
    ready: { description: "Makes arguments ready for a tool, and says whether it only reads.", fields: READY, readOnly: true },
} as const;

export const openRas: Open = (uri, _about, context) => {
    const named = uri.slice("ras:".length).replace(/^\/\/(?=[^/])/, "");
    const file = isAbsolute(named) ? named : resolve(context.root === "" ? context.workspace : context.root, named);
    const programs = new Programs(file, context);
    return {
        ...toolOf(METHODS, async (method, given, io): Promise<Json> => {
            if (method === "start") return programs.start(given, io);
            if (method === "again") return programs.again(given, io);
            if (method === "ready") return ready(given);
            return (await programs.step(keyOf(given.id as string, io), given.answers ?? [], io.signal)) as unknown as Json;
        }),
        close: () => programs.close(),
    };
};

/** By run and id; an id is the path of the call that made it. */
function keyOf(id: string, io: CallIO): string {
    return `${io.run ?? ""}\n${id}`;
}

class Programs {
    private readonly file: string;
    private readonly context: ToolContext;
    private readonly kept = new Map<string, Kept>();

    constructor(file: string, context: ToolContext) {
        this.file = file;
        this.context = context;
    }

    start(given: Given, io: CallIO): { readonly [name: string]: Json } {
        const { context } = this;
        const extra = texts(given.riffs);
        const riffs = findRiffs(context.workspace, context.env, extra, context.config.always === true || context.env.REMIT_TRUST === "1");
        const riff = given.riff === undefined ? undefined : riffs.riffs.find((one) => one.name === given.riff);
        const held = riff === undefined ? withheldOf(given.riff, riffs) : null;
        if (held !== null) throw new ToolFail(held.message, { kind: "denied", hint: held.hint });
        if (given.riff !== undefined && riff === undefined)
            throw new ToolFail(`there is no Riff '${String(given.riff)}'`, { kind: "value" });
        const depth = given.depth as number;
        if (depth > MAX_DEPTH) throw new ToolFail(`Riffs call each other more than ${MAX_DEPTH} deep`, { kind: "value" });
        const source = rasSource(riff?.path ?? this.file);
        const unconfined = given.confinement === "unconfined";
        const options = {
            inputs: given.inputs ?? {},
            limits: limitsOf(given.limits),
            unconfined,
            folders: texts(given.folders).flatMap((uri) => rootOf(uri, context.workspace)?.real ?? []),
            env: context.env,
            children: context.children,
            secrets: context.secrets,
        };
        const id = io.effect.path;
        const begin = (): Promise<RasProcess> => startRas(source, options);
        this.kept.set(keyOf(id, io), {
            process: null,
            begin,
            ready: [],
            calls: new Map(),
            riffs,
            tools: texts(given.tools),
            servers: given.servers === true,
            depth,
        });
        return { id, name: riff?.name ?? source.name, language: source.language, confinement: unconfined ? "unconfined" : "sandbox" };
    }

    async step(key: string, answers: Json, signal: AbortSignal): Promise<Step> {
        const one = this.kept.get(key);
        if (one === undefined) return { calls: [], done: false, gone: true };
        const all = [...one.ready.splice(0), ...(Array.isArray(answers) ? answers : [])];
        const given = all.filter(isObject).map(({ id: call, value }) => {
            const of = one.calls.get(call as number);
            one.calls.delete(call as number);
            return answerTo(call as number, of, value ?? null, one.riffs.riffs);
        });
        one.process ??= await one.begin();
        const { calls, ...rest } = await one.process.step(given, signal);
        const ready = calls.map((call) => readyOf(call, one));
        for (const call of ready) one.calls.set(call.id, call);
        if (rest.done) {
            this.kept.delete(key);
            await one.process.end();
        }
        return { ...rest, gone: false, calls: ready.map(({ id: call, kind, args }) => ({ id: call, kind, args })) };
    }

    /** TOO6. */
    async again(given: Given, io: CallIO): Promise<Json> {
        if (given.confinement === "unconfined")
            throw new ToolFail("the program's process is gone", {
                kind: "unreachable",
                hint: "what a program without a sandbox did itself may have happened, so it is not run again: begin anew with remit ras run FILE",
            });
        const begun = this.start(given, io);
        const key = keyOf(io.effect.path, io);
        const left = answered(given.history ?? []);
        for (let answers: { readonly id: number; readonly value: Json }[] = []; ; ) {
            const at = await this.step(key, answers, io.signal);
            answers = [];
            const fresh: Made[] = [];
            for (const call of at.calls) {
                const found = left.findIndex((one) => one.call === wordsOf(call));
                if (found < 0) fresh.push(call);
                else answers.push({ id: call.id, value: (left.splice(found, 1)[0] as Answered).value });
            }
            const [first] = left;
            const [other] = fresh;
            if (first === undefined && (at.done || other !== undefined)) {
                this.kept.get(key)?.ready.push(...answers);
                return { id: begun.id, ...at, calls: fresh } as unknown as Json;
            }
            if (other === undefined && !at.done) continue;
            await this.kept.get(key)?.process?.end();
            this.kept.delete(key);
            throw new ToolFail(
                `run again, the program ${other === undefined ? "ended without" : `called ${shownCall(wordsOf(other))} and not`} ${shownCall((first as Answered).call)}`,
                { kind: "value", hint: "a run that was interrupted goes on only where its program makes the same calls again" },
            );
        }
    }

    async close(): Promise<void> {
        const all = [...this.kept.values()];
        this.kept.clear();
        await Promise.all(all.map((one) => one.process?.end()));
    }
}

/** A call as the bridge sees it. */
type Made = Pick<Ready, "id" | "kind" | "args">;

interface Step extends Omit<RasStep, "calls"> {
    readonly calls: readonly Made[];
    /** There is no such process here. */
    readonly gone: boolean;
}

interface Answered {
    /** The call in words that are the same for the same call. */
    readonly call: string;
    readonly value: Json;
}

/** Calls that were answered, in order. */
function answered(history: Json): Answered[] {
    return (Array.isArray(history) ? history : []).filter(isObject).flatMap(({ calls, answers }) => {
        const values = new Map((Array.isArray(answers) ? answers : []).filter(isObject).map(({ id, value }) => [id, value ?? null]));
        const made = (Array.isArray(calls) ? calls : []).filter(isObject);
        return made.map((call) => ({ call: wordsOf(call as unknown as Made), value: values.get(call.id as Json) ?? null }));
    });
}

function wordsOf({ kind, args }: Made): string {
    return canonicalJson([kind, args as Json]);
}

function shownCall(words: string): string {
    const [kind, args] = JSON.parse(words) as [string, Json];
    const text = JSON.stringify(args) ?? "";
    return `${kind}(${text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text})`;
}

function texts(value: Json | undefined): string[] {
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function limitsOf(given: Json | undefined): RasLimits {
    const said = isObject(given) ? given : {};
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

/** Arguments as the tool's manual has them, whether the manual says that it only reads, and its full name there; empty for a tool that is not there. */
function ready({ name, args, flags, manual }: Given): Json {
    const listed = isObject(manual) && isObject(manual.structuredContent) ? manual.structuredContent.tools : undefined;
    const all = (Array.isArray(listed) ? listed : []).filter(isObject);
    const fits = all.filter((one) => one.name === name || one.alias === name || one.name === `${String(name)}.call`);
    const [tool] = fits.length === 0 && all.length === 1 ? all : fits;
    const typed = flags === true && isObject(args) ? typedArguments(args, tool?.inputSchema ?? null) : (args ?? null);
    const said = isObject(tool?.annotations) ? tool.annotations.readOnlyHint : undefined;
    return { args: typed, reads: said === true, name: tool === undefined ? "" : String(tool.name) };
}

function readyOf({ id, kind, args }: RasCall, of: Kept): Ready {
    if (kind === "reason") {
        const prompt = Array.isArray(args.prompt) ? args.prompt.map(asText) : asText(args.prompt ?? "");
        return { id, kind, args: { prompt, example: args.example ?? null, attempts: args.attempts ?? null } };
    }
    if (kind === "agent") return readyAgent(id, args);
    const { name } = args;
    if (typeof name !== "string") return told(id, "act(): the name must be a text");
    const given = args.args ?? {};
    const wanted = name === "__manual__" && isObject(given) && typeof given.name === "string" ? given.name : null;
    if (name === "__manual__") return { id, kind: "manual", args: wanted === null ? {} : { name: wanted } };
    const tool = name.split(".", 1)[0] as string;
    const act = { id, kind: "act", args: { name, args: given, flags: args.flags === true } } as const;
    if (of.tools.includes(tool)) return act;
    const riff = of.riffs.riffs.find((one) => one.name === name);
    if (riff === undefined) {
        const held = withheldOf(name, of.riffs);
        if (held !== null) return told(id, `${held.message} (${held.hint})`);
        // It may be the name of a tool of one of the servers.
        if (of.servers && !BRIDGE_NAMES.has(tool)) return act;
        const known = [...of.tools, ...of.riffs.riffs.map((one) => one.name)];
        return told(id, `there is no tool '${name}'; ${known.length === 0 ? "there are none" : `known are ${known.join(", ")}`}`);
    }
    if (of.depth >= MAX_DEPTH) return told(id, `Riffs call each other more than ${MAX_DEPTH} deep`);
    return { id, kind: "riff", args: { name, inputs: given } };
}

function readyAgent(id: number, args: Fields): Ready {
    const given = agentGiven(args);
    if (typeof given === "string") return { id, kind: "result", args: { result: { error: given } } };
    return { id, kind: "agent", args: given, ...(given.config.on_error === "fail" ? { fails: true as const } : {}) };
}

/** What `agent()` is given, the policy apart, since it names what is no value; else what is wrong with it. */
export function agentGiven({
    prompt = "",
    config = {},
}: Fields): string | { prompt: string; config: { [name: string]: Json }; policy: string | null } {
    if (!isObject(config)) return "agent(): its config must be an object";
    const { policy = null, agent = null, ...rest } = config;
    if (agent !== null) return "agent(): which agent it is, is said by --agent";
    const named = policy === null || typeof policy === "string" ? policy : asText(policy);
    return { prompt: asText(prompt), config: { on_error: null, ...rest }, policy: named };
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

/** What a call is answered with in the program. */
function answerTo(id: number, call: Ready | undefined, value: Json, riffs: readonly Riff[]): RasAnswer {
    if (call === undefined) return { id, value: null };
    if (call.fails === true && isObject(value) && typeof value.failed === "string") return { id, value: null, error: value.failed };
    return { id, value: shaped(call, value, riffs) };
}

/** What the program is given for what the bridge found. */
function shaped(call: Ready, value: Json, riffs: readonly Riff[]): Json {
    if (call.kind === "result") return call.args.result ?? null;
    if (call.kind === "manual") return manualResult(value, riffs, call.args.name);
    if (call.kind === "riff") return riffResult(value);
    return value;
}

/** What there is to call: the tools without the bridge's own, and the Riffs. */
function manualResult(value: Json, riffs: readonly Riff[], wanted: Json | undefined): Json {
    const listed = isObject(value) && isObject(value.structuredContent) ? value.structuredContent.tools : undefined;
    const tools = (Array.isArray(listed) ? listed : []).filter(isObject).filter((one) => String(one.name).split(".", 1)[0] !== "Ras");
    const named = riffs
        .filter((one) => wanted === undefined || one.name === wanted)
        .map((one) => ({ name: one.name, description: one.description, inputSchema: one.parameters ?? { type: "object" } }));
    const all = [...tools, ...named];
    if (all.length === 0 && wanted !== undefined)
        return isObject(value) && value.isError === true ? value : failed(`there is no tool '${asText(wanted)}'`);
    const text = all.map((one) => {
        const line = `${String(one.name)}: ${String(one.description)}`;
        return wanted === undefined ? line : `${line}\n${JSON.stringify(one.inputSchema)}`;
    });
    return { content: [{ type: "text", text: text.join("\n") }], structuredContent: { tools: all } };
}

/** The one observation of a Riff: what it printed, and what it returned. */
function riffResult(value: Json): Json {
    if (!isObject(value)) return failed("the Riff gave nothing");
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
        ...(isObject(returned) ? { structuredContent: returned } : {}),
        ...(typeof error === "string" ? { isError: true } : {}),
    };
}
