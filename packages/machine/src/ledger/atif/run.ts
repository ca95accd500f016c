/**
 * Projection **ATIF**: a run of the ledger as a trajectory.
 *
 * Boundary: from events to JSON and the files beside it.
 *
 * | happening | step |
 * | --- | --- |
 * | input of the run, an answer to a question for input | user |
 * | messages of a `generate` before its reply | system, user |
 * | provider turn | agent, with its calls, their results, and what it used |
 * | call of a tool or a memory by the program's own text | agent, `llm_call_count` 0 |
 * | call of another agent, session with an agent outside the program | agent, `llm_call_count` 0; what it did is an embedded trajectory |
 * | question that is about no call | system |
 *
 * RUN1: a step stands where its happening began; a result stands in the step of its call, whenever it came.
 * RUN2: every step says its place in `extra.path`. Each `generate` begins a context of its own, with its system step.
 * RUN3: a use of an agent's own hands is a call of the agent where it tells of it; all of them stand in `extra.hands` of its trajectory.
 * RUN5: a turn that was told again has the steps of each time, each after its prompt.
 * RUN4: of a Re in Act program the agent is the program: what runs it is left out.
 */
import type { Json } from "@remit/language";
import type { AgentPart, AgentReply, Failure } from "../../effect/effect.ts";
import type { Usage } from "../../effect/usage.ts";
import type { LedgerEvent } from "../events.ts";
import { replyNoted } from "../notes.ts";
import { type RasRun, rasRunOf } from "../ras.ts";
import { field, listIn, modelName, numberIn, objectIn, partsIn, saidOf, textIn } from "../read.ts";
import {
    account,
    addCall,
    addExtra,
    addResult,
    addStep,
    type Building,
    building,
    contentOf,
    finished,
    MEDIA_FOLDER,
    metricsOf,
    resultContent,
    type Written,
} from "./build.ts";
import { beginsTurn, notesIn } from "../told.ts";
import { addEnd, addPrompt, addReply, argumentsIn, sessionAgent } from "./session.ts";
import type { AtifToolCall, JsonObject, ObservationResult, Step } from "./types.ts";

export interface AtifOfRunOptions {
    /** Folder of its files, beside the trajectory. */
    readonly mediaFolder?: string;
}

export function atifOfRun(events: Iterable<LedgerEvent>, options: AtifOfRunOptions = {}): Written {
    const media = { folder: options.mediaFolder ?? MEDIA_FOLDER, files: [] };
    let p: Projecting | null = null;
    const all = [...events];
    const ras = rasRunOf(all);
    for (const event of all) {
        p ??= begun(event, media, ras);
        if (ras !== null && isRunner(ras, event)) continue;
        STEPS[event.kind]?.(p, event);
    }
    if (p === null) throw new RangeError("a run has at least one event");
    noted(p, null);
    return { trajectory: finished(p.root), media: media.files };
}

interface Call {
    readonly to: Building;
    readonly step: Step;
    readonly call: AtifToolCall;
    result?: ObservationResult;
}

interface Projecting {
    readonly root: Building;
    readonly ras: RasRun | null;
    readonly run: string;
    readonly version: string;
    /** By path of the call of an agent, or of the session. */
    readonly agents: Map<string, Building>;
    readonly calls: Map<string, Call>;
    /** Calls of models that have no result yet, by path of the `generate` and id. */
    readonly open: Map<string, Call>;
    /** Uses of agents' own hands, by path. */
    readonly hands: Map<string, JsonObject>;
    /** By path of the `generate`: how hard its model was to think; by path of a description: what it told. */
    readonly efforts: Map<string, string>;
    readonly described: Map<string, readonly JsonObject[]>;
    /** By session: what the agent said last, where that is what the call gives. */
    readonly said: Map<string, string>;
    /** By path of a turn that was not answered: what the agent reported. */
    readonly noted: Map<string, readonly LedgerEvent[]>;
    /** By path of a turn: how it was told. */
    readonly asked: Map<string, LedgerEvent>;
    /** By path: the questions that are put to a person. */
    readonly questions: Map<string, string>;
}

/** What only runs a Re in Act program. */
function isRunner(ras: RasRun, event: LedgerEvent): boolean {
    if (event.kind === "tool.started" || event.kind === "tool.ended") return ras.runner(event.path);
    return (event.kind === "agent.started" || event.kind === "agent.ended") && ras.answers(textIn(field(event, "agent")));
}

function begun(first: LedgerEvent, media: Building["media"], ras: RasRun | null): Projecting {
    const entry = objectIn(field(first, "entry"));
    const program = textIn(field(first, "program"));
    const version = program === undefined ? "unknown" : `sha256:${program}`;
    const agent = { name: ras?.name ?? textIn(entry.agent) ?? textIn(entry.file) ?? "remit", version };
    const root = building({ id: first.run, session: first.run, agent, media });
    return {
        root,
        ras,
        run: first.run,
        version,
        agents: new Map(),
        calls: new Map(),
        open: new Map(),
        hands: new Map(),
        efforts: new Map(),
        described: new Map(),
        said: new Map(),
        noted: new Map(),
        asked: new Map(),
        questions: new Map(),
    };
}

/** Whose doing it is: the innermost agent's whose call the path is under. */
function ownerOf(p: Projecting, path: string): Building {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
        const found = p.agents.get(path.slice(0, at));
        if (found !== undefined) return found;
    }
    return p.root;
}

type On = (p: Projecting, event: LedgerEvent) => void;

const STEPS: { readonly [kind: string]: On } = {
    "run.started": (p, event) => {
        const input = p.ras === null ? field(event, "input") : p.ras.inputs;
        const empty = input === undefined || input === null || Object.keys(objectIn(input)).length === 0;
        addExtra(p.root, { limits: field(event, "limits"), entry: p.ras === null ? field(event, "entry") : undefined });
        if (!empty || typeof input === "string")
            addExtra(addStep(p.root, { source: "user", message: jsonText(input as Json) }, event.time), { path: event.path, input: true });
    },
    "run.ended": (p, event) => {
        const ok = field(event, "ok") === true;
        addEnd(p.root, {
            reason: ok ? "done" : (textIn(field(event, "kind")) ?? "failed"),
            spent: { steps: field(event, "steps") ?? null, usage: field(event, "usage") ?? null },
        });
        if (ok) addExtra(p.root, { result: field(event, "value") });
    },
    failure: (p, event) => {
        if (!event.path.includes("/")) addExtra(p.root, { termination_message: textIn(field(event, "message")) });
    },
    "input.given": (p, event) => {
        if (field(event, "value") === undefined) return;
        const step = addStep(ownerOf(p, event.path), { source: "user", message: jsonText(field(event, "value") as Json) }, event.time);
        addExtra(step, { path: event.path, input: textIn(field(event, "name")) });
    },
    "effect.ended": (p, event) => {
        if (!/\/describe\[[^/]*\]$/.test(event.path)) return;
        p.described.set(event.path, listIn(objectIn(field(event, "result")).methods).map(objectIn));
    },
    "generate.started": (p, event) => {
        const think = textIn(objectIn(field(event, "config")).think);
        if (think !== undefined) p.efforts.set(event.path, think);
        define(p, event);
    },
    "generate.attempt": attempt,
    "tool.started": (p, event) => {
        if (field(event, "host") === true) hand(p, event);
        else call(p, event, toolName(event));
    },
    "tool.ended": (p, event) => {
        const used = p.hands.get(event.path);
        if (used === undefined) ended(p, event, toolName(event));
        else used.ok = field(event, "ok") !== false;
    },
    "memory.started": (p, event) => call(p, event, memoryName(event)),
    "memory.ended": (p, event) => ended(p, event, memoryName(event)),
    "ask.requested": (p, event) => {
        const question = textIn(saidOf(event, "question"));
        if (question !== undefined) p.questions.set(event.path, question);
    },
    "ask.decided": decided,
    "agent.started": (p, event) => {
        const named = agentName(event);
        opened(p, event, event.path, { name: named, version: p.version }, field(event, "args"));
    },
    "agent.ended": closed,
    "yield.opened": (p, event) => {
        const to = opened(p, event, event.path, { name: agentName(event), version: "unknown" }, undefined);
        addExtra(to, { uri: textIn(field(event, "uri")), limits: field(event, "limits"), opened_by: textIn(field(event, "by")) });
    },
    "yield.closed": closed,
    "agent.asked": (p, event) => {
        const session = textIn(field(event, "session")) ?? event.path;
        const to = opened(p, event, session, { name: agentName(event), version: "unknown" }, undefined);
        noted(p, session);
        const handing = p.calls.get(session);
        if (handing !== undefined && Object.keys(handing.call.arguments).length === 0)
            handing.call.arguments = argumentsIn(promptOf(field(event, "prompt")), textIn(to.extra.opened_by));
        p.asked.set(event.path, event);
        prompted(to, event, event.time);
    },
    "agent.noted": (p, event) => {
        const before = p.noted.get(event.path) ?? [];
        const again = before.length > 0 && beginsTurn(event);
        if (again) toldAgain(p, event);
        p.noted.set(event.path, again ? [event] : [...before, event]);
    },
    "agent.answered": (p, event) => {
        const before = takeNoted(p, event.path);
        const session = textIn(field(event, "session")) ?? event.path;
        const to = p.agents.get(session) ?? opened(p, event, session, { name: agentName(event), version: "unknown" }, undefined);
        const reply = replyOf(field(event, "reply")) ?? before?.reply;
        const kind = textIn(field(event, "kind"));
        const message = textIn(field(event, "error"));
        addReply(
            to,
            {
                ...(reply === undefined ? {} : { reply }),
                ...usage(event),
                ...(kind === undefined && message === undefined
                    ? {}
                    : { failure: { kind: (kind ?? "tool") as Failure["kind"], message: message ?? "" } }),
            },
            event.time,
        );
        if (reply?.agent !== undefined) Object.assign(to.agent, sessionAgent({ name: to.agent.name }, reply));
        if (reply !== undefined) p.said.set(session, reply.text);
    },
};

// ---- provider turns ----------------------------------------------------------------------------------------------------

const jsonText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
const generateOf = (path: string): string => path.replace(/\/attempt\[\d+\](\/.*)?$/, "");

function usage(event: LedgerEvent): { readonly usage?: Usage } {
    const given = field(event, "usage");
    return given === undefined || given === null ? {} : { usage: objectIn(given) as Usage };
}

/** The tools that a model was offered, as OpenAI describes functions. */
function define(p: Projecting, event: LedgerEvent): void {
    const { agent } = ownerOf(p, event.path);
    const known = new Set(agent.tool_definitions?.map((one) => textIn(objectIn(one.function).name)));
    for (const offer of listIn(field(event, "tools")).map(objectIn)) {
        const name = textIn(offer.name);
        if (name === undefined || known.has(name)) continue;
        known.add(name);
        const told = p.described.get(`${event.path}/describe[${textIn(offer.tool) ?? ""}]`)?.find((one) => one.name === offer.method);
        const described: JsonObject = { name };
        if (typeof told?.description === "string") described.description = told.description;
        if (told?.input !== undefined) described.parameters = told.input;
        agent.tool_definitions = [...(agent.tool_definitions ?? []), { type: "function", function: described }];
    }
}

function attempt(p: Projecting, event: LedgerEvent): void {
    const to = ownerOf(p, event.path);
    const generate = generateOf(event.path);
    for (const message of listIn(field(event, "messages")).map(objectIn)) sent(p, to, generate, message, event);
    const reply = objectIn(field(event, "reply"));
    const model = textIn(field(event, "answered_by")) ?? modelOf(event);
    const step = addStep(to, { source: "agent", message: textIn(reply.text) ?? "" }, event.time);
    if (model !== undefined) step.model_name = model;
    if (to.agent.model_name === undefined && model !== undefined) to.agent.model_name = model;
    const effort = p.efforts.get(generate);
    if (effort !== undefined) step.reasoning_effort = effort;
    const thought = textIn(reply.thinking);
    if (thought !== undefined && thought !== "") step.reasoning_content = thought;
    const answered = field(event, "reply") !== null && field(event, "reply") !== undefined;
    if (answered) step.llm_call_count = 1;
    const used = usage(event).usage;
    account(to, used);
    const metrics = metricsOf(used);
    if (metrics !== undefined) step.metrics = metrics;
    const failure = objectIn(field(event, "failure"));
    addExtra(step, {
        path: event.path,
        finish: textIn(field(event, "finish")),
        error: textIn(failure.message) ?? textIn(field(event, "error")),
        retries: numberIn(reply.retries),
    });
    for (const [at, made] of listIn(reply.calls).map(objectIn).entries()) {
        const id = textIn(made.id) ?? `${at}`;
        const one: Call = { to, step, call: addCall(step, { id, name: textIn(made.name) ?? "tool", args: made.args }) };
        p.open.set(`${generate} ${id}`, one);
        const attempt = numberIn(field(event, "attempt")) ?? 0;
        p.calls.set(`${generate}/attempt[${attempt}]/turn[${numberIn(field(event, "turn")) ?? 0}]/call[${at}]`, one);
    }
}

function modelOf(event: LedgerEvent): string | undefined {
    const uri = textIn(objectIn(field(event, "model")).uri);
    return uri === undefined ? undefined : modelName(uri);
}

/** A message to the model; the model's own ones are its steps. */
function sent(p: Projecting, to: Building, generate: string, message: JsonObject, event: LedgerEvent): void {
    if (message.role === "tool") {
        const open = p.open.get(`${generate} ${textIn(message.call) ?? ""}`);
        if (open === undefined) return;
        p.open.delete(`${generate} ${textIn(message.call) ?? ""}`);
        if (open.result === undefined) give(open, message.result ?? null, null);
        return;
    }
    if (message.role !== "system" && message.role !== "user") return;
    const parts =
        typeof message.content === "string"
            ? [{ text: message.content }]
            : partsIn(message.content).map(({ text, mediaType, data }) => {
                  if (typeof mediaType === "string" && typeof data === "string") return { mediaType, data };
                  return { text: textIn(text) ?? "" };
              });
    const { content, other } = contentOf(to.media, parts);
    const step = addStep(to, { source: message.role, message: content }, event.time);
    addExtra(step, { path: generate, media: other.length === 0 ? undefined : [...other] });
}

// ---- calls -------------------------------------------------------------------------------------------------------------

const toolName = (event: LedgerEvent): string =>
    [field(event, "tool"), field(event, "method")].filter((one) => typeof one === "string").join(".");
const memoryName = (event: LedgerEvent): string =>
    [field(event, "memory"), field(event, "operation") ?? field(event, "op")].filter((one) => typeof one === "string").join(".");

/** RUN3. */
function hand(p: Projecting, event: LedgerEvent): void {
    const { extra } = ownerOf(p, event.path);
    const name = [saidOf(event, "tool"), saidOf(event, "method")].filter((one) => typeof one === "string").join(".");
    const used: JsonObject = { path: event.path, name, arguments: saidOf(event, "args") ?? [] };
    p.hands.set(event.path, used);
    extra.hands = [...listIn(extra.hands), used];
}

/** The call of a step: the model's own, or a step of its own. */
function call(p: Projecting, event: LedgerEvent, name: string): Call {
    const known = p.calls.get(event.path);
    if (known !== undefined) return known;
    const args = field(event, "args") ?? field(event, "arg");
    const given = Array.isArray(args) ? (args.length === 0 ? undefined : args.length === 1 ? args[0] : args) : args;
    return dispatched(p, event, event.path, name || "tool", given);
}

/** A step that no model asked for. */
function dispatched(p: Projecting, event: LedgerEvent, path: string, name: string, args: Json | undefined): Call {
    const to = ownerOf(p, path);
    const step = addStep(to, { source: "agent", message: "", llm_call_count: 0 }, event.time);
    const made: Call = { to, step, call: addCall(step, { id: path, name, args }) };
    p.calls.set(path, made);
    addExtra(step, { path, principal: event.principal });
    return made;
}

function ended(p: Projecting, event: LedgerEvent, name: string): void {
    const made = call(p, event, name);
    const ok = field(event, "ok") !== false;
    give(made, ok ? (field(event, "result") ?? field(event, "value") ?? null) : (textIn(field(event, "error")) ?? ""), ok);
    if (!ok && made.result !== undefined) addExtra(made.result, { kind: textIn(field(event, "kind")) });
}

function give(to: Call, value: Json, ok: boolean | null): void {
    to.result ??= addResult(to.step, { source_call_id: to.call.tool_call_id });
    const { content, other } = resultContent(to.to.media, value);
    to.result.content = content;
    addExtra(to.result, { is_error: ok === null ? undefined : !ok, media: other.length === 0 ? undefined : [...other] });
}

function decided(p: Projecting, event: LedgerEvent): void {
    const decision: Json = {
        decision: field(event, "decision") ?? field(event, "result") ?? field(event, "value") ?? null,
        by: field(event, "by") ?? "person",
    };
    const about = p.calls.get(event.path.replace(/\/ask$/, ""));
    if (about !== undefined) {
        addExtra(about.call, { permission: decision });
        return;
    }
    const message = textIn(field(event, "question")) ?? p.questions.get(event.path) ?? "";
    const step = addStep(ownerOf(p, event.path), { source: "system", message }, event.time);
    addExtra(step, { path: event.path, permission: decision });
}

// ---- other agents ------------------------------------------------------------------------------------------------------

function agentName(event: LedgerEvent): string {
    const agent = field(event, "agent");
    return textIn(agent) ?? textIn(objectIn(agent).name) ?? "agent";
}

/** The trajectory of what happens under `path`; the first time it is told of, with the step that calls it. */
function opened(p: Projecting, event: LedgerEvent, path: string, agent: Building["agent"], args: Json | undefined): Building {
    const known = p.agents.get(path);
    if (known !== undefined) return known;
    const parent = ownerOf(p, path);
    const func = textIn(field(event, "function"));
    const name = func === undefined ? path.slice(path.lastIndexOf("/") + 1).replace(/#\d+$/, "") || agent.name : `${agent.name}.${func}`;
    const given = Array.isArray(args) ? (args.length === 0 ? undefined : args.length === 1 ? args[0] : args) : args;
    const made = dispatched(p, event, path, name, given);
    const id = `${p.run}:${path}`;
    made.result = addResult(made.step, {
        source_call_id: made.call.tool_call_id,
        subagent_trajectory_ref: [{ trajectory_id: id, session_id: p.run }],
    });
    const child = building({ id, session: p.run, agent: { ...agent }, media: p.root.media });
    if (given !== undefined) addExtra(addStep(child, { source: "user", message: jsonText(given) }, event.time), { path, input: true });
    parent.inside.push(child);
    p.agents.set(path, child);
    return child;
}

function closed(p: Projecting, event: LedgerEvent): void {
    const path = p.agents.has(event.path) ? event.path : (textIn(field(event, "session")) ?? event.path);
    noted(p, path);
    const child = p.agents.get(path);
    const made = p.calls.get(path);
    if (child === undefined || made === undefined) return;
    const ok = field(event, "ok") !== false;
    const value = field(event, "result") ?? field(event, "value");
    const error = textIn(field(event, "error")) ?? textIn(objectIn(field(event, "failure")).message);
    // what a yield gives is the value of a function, which the ledger has where it is used
    const said = child.extra.opened_by === "yield" ? undefined : p.said.get(path);
    if (ok && (value ?? said) !== undefined) give(made, (value ?? said) as Json, true);
    else if (!ok) give(made, error ?? "", false);
    addEnd(child, {
        reason: textIn(field(event, "reason")) ?? (ok ? "done" : (textIn(field(event, "kind")) ?? "failed")),
        ...(error === undefined ? {} : { message: error }),
        ...(field(event, "limits") === undefined ? {} : { limits: field(event, "limits") as Json }),
        ...(field(event, "spent") === undefined ? {} : { spent: field(event, "spent") as Json }),
    });
}

function prompted(to: Building, asked: LedgerEvent, time: string): void {
    const step = addPrompt(to, promptOf(field(asked, "prompt")), time);
    addExtra(step, { path: asked.path, turn: numberIn(field(asked, "turn")) });
}

/** RUN5. */
function toldAgain(p: Projecting, event: LedgerEvent): void {
    const session = textIn(field(event, "session")) ?? event.path;
    noted(p, session);
    const [to, asked] = [p.agents.get(session), p.asked.get(event.path)];
    if (to !== undefined && asked !== undefined) prompted(to, asked, event.time);
}

/** Turns that broke off, of a session (null: of all): what their agents reported while they worked is all that there is. */
function noted(p: Projecting, session: string | null): void {
    for (const [path, [first]] of p.noted) {
        const of = textIn(field(first as LedgerEvent, "session")) ?? path;
        const to = p.agents.get(of);
        const said = to === undefined || (session !== null && of !== session) ? null : takeNoted(p, path);
        if (to === undefined || said === null) continue;
        addReply(to, { reply: said.reply, ...(said.usage === undefined ? {} : { usage: said.usage }) }, first?.time);
        Object.assign(to.agent, sessionAgent({ name: to.agent.name }, said.reply));
    }
}

function takeNoted(p: Projecting, path: string): ReturnType<typeof replyNoted> {
    const events = p.noted.get(path) ?? [];
    p.noted.delete(path);
    return replyNoted(events.flatMap(notesIn));
}

const STOPS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] as const;

/** A reply as it was recorded; an event may have been redacted. */
function replyOf(given: Json | undefined): AgentReply | undefined {
    if (given === undefined || given === null) return undefined;
    const reply = objectIn(given);
    return {
        ...(reply as unknown as AgentReply),
        text: textIn(reply.text) ?? "",
        entries: listIn(reply.entries) as unknown as AgentReply["entries"],
        stop: STOPS.find((one) => one === reply.stop) ?? "end_turn",
        spent: objectIn(reply.spent) as unknown as AgentReply["spent"],
    };
}

function promptOf(given: Json | undefined): AgentPart[] {
    if (typeof given === "string") return [{ type: "text", text: given }];
    return listIn(given).map((part): AgentPart => {
        const { uri, mediaType, text } = objectIn(part);
        if (typeof uri === "string")
            return { type: "resource", uri, mediaType: textIn(mediaType) ?? "text/plain", text: textIn(text) ?? "" };
        return { type: "text", text: textIn(text) ?? "" };
    });
}
