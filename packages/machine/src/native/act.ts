/**
 * `act(name, args)`: a tool or function by its name, with a result in the shape of MCP's `CallToolResult` (Re in Act 1.4).
 *
 * Boundary: which thing a name means and what its result is shown as. The use itself passes the gate like every other.
 *
 * ACT1: what fails is told as `{isError: true}`; a violation or a limit is not.
 * ACT3: a tool of an MCP server has its own name too, where one server alone that the caller may use has a tool of that name. A tool, a function of the
 *     file and one that an agent defined come before it. Servers are asked what they have once a run, and only for this.
 * ACT2: a name that a tool, a model or an agent chose makes it that one's call: what a clause leaves open is asked then, and so is a function of the program.
 * ACT5: what comes back carries what the name carries, since it says which name that was. What is handed out carries it too where it says who may
 *     read, and in strict code with all that the place depends on.
 */
import { type Json, schemeOf, isObject } from "@remit/language";
import type { HandoverDetail } from "../compile/instructions.ts";
import { capabilityOf, type ImportEntry } from "../compile/program.ts";
import { lent, withPc } from "../compile/strict.ts";
import type { ToolRequest } from "../effect/effect.ts";
import { Fail } from "../effect/failure.ts";
import { toJson } from "../value/json.ts";
import { join, labelOf, rawOf } from "../value/operators.ts";
import { type Capability, Labelled, List, Obj, type Value } from "../value/value.ts";
import { type Defined, definedAs } from "../state/definitions.ts";
import { learnDescription, placeOf, toldAt } from "../state/descriptions.ts";
import { askDescription, failureOf, givenValue } from "../state/effects.ts";
import type { Frame } from "../state/fiber.ts";
import { type Handing, type HandoverState, type HandoverWait, stateOf } from "../state/handover.ts";
import type { Call, Ops, Told } from "../state/ops.ts";
import { hasSome } from "../state/delegations.ts";
import { byNames, ownFile } from "../state/stage.ts";
import { gateLeft } from "./hands.ts";
import { askTool } from "./tools.ts";
import { isWritten } from "../state/agent-code.ts";

/** Lists what there is. */
const MANUAL = "__manual__";
/** Scheme of what runs a Re in Act program, which no code calls by name. */
const RUNNER = "ras";

/** A call of `act()`: what it names, what it gives, and the tools that there are. */
interface Acting extends Call {
    readonly d: HandoverDetail;
    readonly named: Value;
    readonly given: Value;
    readonly tools: readonly ImportEntry[];
}

function acting(m: Ops, call: Call, d: HandoverDetail): Acting {
    const file = ownFile(m, call.fiber, call.frame);
    const written = isWritten(m, call.frame.fn);
    // An agent is told of no tool that it may not use (HN1).
    const tools = [...(m.compiled.files[file]?.imports.values() ?? [])].filter(
        ({ form, value }) =>
            form.what === "tool" &&
            schemeOf(form.uri) !== RUNNER &&
            (!written || (value !== null && hasSome(m, call.fiber, call.frame.principal, value))),
    );
    return { ...call, d, ...argsOf(m, call.frame, d), tools };
}

export function beginAct(m: Ops, call: Call, d: HandoverDetail): void {
    const act = acting(m, call, d);
    const name = rawOf(act.named);
    if (typeof name !== "string") throw new Fail("value", "act takes the name of a tool", { site: call.I.site });
    m.countCall();
    const dot = name.indexOf(".");
    const tool = act.tools.find((one) => one.form.name === (dot < 0 ? name : name.slice(0, dot)));
    if (name === MANUAL) manual(m, act);
    else if (tool !== undefined) use(m, act, tool, dot < 0 ? soleMethod(tool) : name.slice(dot + 1));
    else if (!callsFunction(m, act, name)) {
        // A call that was asked about runs again: what it found then it finds now.
        const isUnknown = ({ value }: ImportEntry): boolean => toldAt(m, value as Capability, call.frame.placeLabel) === undefined;
        const unknown = call.frame.approved === null ? serversFor(m, act).filter(isUnknown) : [];
        if (unknown.length > 0) {
            const { state } = describing(m, act, "servers", { asked: unknown });
            state.params = unknown.map(({ value }) => placeOf(value as Capability));
        } else byBareName(m, act, name);
    }
}

/** What `act` is given, with what goes along (ACT5). */
export function argsOf(m: Ops, frame: Frame, d: HandoverDetail): { readonly named: Value; readonly given: Value } {
    const [named, given = m.fromJson({})] = d.args.map((arg) => arg.code(frame.locals)) as [Value, Value?];
    const { labels } = m.run;
    const { flow } = frame.form;
    if (flow !== 0)
        return {
            named: withPc(frame.locals, flow, named),
            given: join(m.run, withPc(frame.locals, flow, given), labels.union(labelOf(named), lent(frame.locals, flow, labelOf(named)))),
        };
    const readers = labels.origins(labelOf(named)).filter((origin) => origin.startsWith("only:"));
    return { named, given: readers.length === 0 ? given : join(m.run, given, labels.of(readers)) };
}

/** Whether a name was chosen by none of those whom the program trusts. */
function isForeign(m: Ops, named: Value): boolean {
    const { labels } = m.run;
    return named instanceof Labelled && !labels.origins(labels.withoutChoosers(named.l)).every((origin) => m.authority.trusts(origin));
}

/** The use of a tool, as if it were named. */
function use(m: Ops, act: Acting, tool: ImportEntry, method: string): void {
    const { frame, fiber, named, given, path } = act;
    try {
        const isModel = isForeign(m, named) ? ({ chosen: "model" } as const) : {};
        askTool(m, act, { entry: tool, method, args: argsFor(m, tool, given), ...isModel });
    } catch (error) {
        if (!(error instanceof Fail) || !error.isTold) throw error;
        m.deliver(fiber, join(m.run, failed(m, error), labelOf(named)));
        return;
    }
    if (frame.native?.kind === "effect") frame.native = waits(m, path, "tool", { named, waiting: [path] });
}

/** Asks tools what they have. */
function describing(
    m: Ops,
    { fiber, frame, path, named }: Acting,
    phase: "servers" | "describe",
    { asked, labels = 0 }: { readonly asked: readonly ImportEntry[]; readonly labels?: number },
): HandoverWait {
    const waiting = asked.map((one) => `${path}/${one.form.name}`);
    const wait = waits(m, path, phase, { named, labels, waiting });
    frame.native = wait;
    asked.forEach(({ value }, slot) => {
        askDescription(m, fiber, value as Capability, { path: waiting[slot] as string, slot });
    });
    return wait;
}

// ---- tools by their own name -----------------------------------------------------------------------------------------------

/** The servers that the caller may use anything of. */
function serversFor(m: Ops, { fiber, frame, tools }: Acting): ImportEntry[] {
    return tools.filter(
        ({ form, value }) => /^mcp\b/i.test(schemeOf(form.uri)) && value !== null && hasSome(m, fiber, frame.principal, value),
    );
}

/** The one tool of that name among all servers; an error where there is none, or several. */
function byBareName(m: Ops, act: Acting, name: string): void {
    const found = serversFor(m, act).filter((one) => hasTool(m, one, name));
    const [only] = found;
    if (only !== undefined && found.length === 1) {
        use(m, act, only, name);
        return;
    }
    const several = `there are several tools '${name}': ${found.map(({ form }) => `${form.name}.${name}`).join(", ")}`;
    const told = m.fromJson(found.length > 1 ? shown(several, true) : unknown(m, act, name));
    m.deliver(act.fiber, join(m.run, told, labelOf(act.named)));
}

function unknown(m: Ops, { frame, tools }: Acting, name: string): Json {
    const known = [...tools.map(({ form }) => form.name), ...definedFor(m, frame).map((one) => one.name)];
    const others = known.length === 0 ? "" : `; there are ${known.join(", ")}`;
    // What it was passed an answer has as its parameters, and by no other name.
    const passed = isWritten(m, frame.fn) ? "; a tool that was passed is called by its parameter, not by act()" : "";
    return shown(`there is no tool '${name}'${others}${passed}`, true);
}

function hasTool(m: Ops, server: ImportEntry, name: string): boolean {
    if (m.described.get(placeOf(server.value as Capability))?.methods.includes(name) !== true) return false;
    return m.authority.clausesAt(server.file, server.form.name).gates.get(name)?.gate !== "never";
}

/** A server said what it has: when all did, the call goes on. One that cannot say it has nothing that is found by name. */
function serverTold(m: Ops, h: Handing, { pending, outcome }: Told): void {
    const { frame, fiber, wait } = h;
    const { state } = wait;
    learnDescription(m, state.params[pending.slot] as string, pending, outcome);
    state.came[pending.slot] = true;
    if (state.came.some((one) => one === null)) return;
    frame.native = null;
    fiber.touch();
    const act = acting(m, h, h.d);
    byBareName(m, act, rawOf(act.named) as string);
}

/** Functions that agents defined, as far as they are there for the caller: for an agent's own code those of the same agent. */
function definedFor(m: Ops, frame: Frame): Defined[] {
    const all = [...m.defined.values()];
    if (!isWritten(m, frame.fn)) return all;
    return all.filter(({ agent: [file, name] }) => frame.agent?.file === file && frame.agent.name === name);
}

/** A function that an agent defined, or one of the file. False: there is none of that name. */
function callsFunction(m: Ops, act: Acting, name: string): boolean {
    const { d, frame, named, given, path } = act;
    const made = definedFor(m, frame).find((one) => one.name === name);
    const defined = made === undefined ? null : definedAs(m, made);
    const own = defined?.fn ?? m.compiled.files[frame.fn.file]?.funcs.get(name);
    if (own === undefined) return false;
    // An answer finds only what its own agent defined. Programs of a runner choose among what their host's file offers them (`ras:`).
    if (isForeign(m, named) && !isWritten(m, frame.fn) && !isOfRunner(m, frame, named)) {
        const about = { c: capabilityOf(own), name, uri: "", method: null, direct: true };
        if (m.gate(act, about, [given], "model") === null) return true;
    }
    const args = byNames(m, own.form, given);
    frame.native = waits(m, path, "run", { named });
    try {
        m.push(
            act.fiber,
            { fn: own, agent: defined?.author ?? null, path: d.path, written: defined !== null, by: defined?.by ?? [] },
            args,
        );
    } catch (error) {
        frame.native = null;
        throw error;
    }
    return true;
}

/** What `act()` called gave a value. */
export function actReturned(m: Ops, h: Handing, value: Value): void {
    const out = toJson(value, m.run);
    give(m, h, m.fromJson(shown(out.json, false)), out.labels);
}

/** The call gives its value (ACT5). */
function give(m: Ops, { fiber, wait }: Pick<Handing, "fiber" | "wait">, value: Value, labels: number): void {
    m.deliver(fiber, join(m.run, value, m.run.labels.union(labels, m.run.labels.of(wait.state.labels))));
}

/** Whether programs that a runner runs, and nothing else, chose a name. */
function isOfRunner(m: Ops, frame: Frame, named: Value): boolean {
    const imports = m.compiled.files[frame.fn.file]?.imports;
    const runners = [...(imports?.values() ?? [])].filter(({ form }) => form.what === "tool" && schemeOf(form.uri) === RUNNER);
    const origins = m.run.labels.origins(labelOf(named));
    return origins.every((origin) => m.authority.trusts(origin) || runners.some(({ form }) => origin === `tool:${form.name}`));
}

interface Waiting {
    readonly named: Value;
    /** Of what else it was given. */
    readonly labels?: number;
    readonly waiting?: readonly string[];
}

function waits(m: Ops, path: string, phase: HandoverState["phase"], { named, labels = 0, waiting = [] }: Waiting): HandoverWait {
    const origins = m.run.labels.origins(m.run.labels.union(labelOf(named), labels));
    return { kind: "handover", path, what: "act", args: new List([], m.run.heap), state: stateOf(phase, { labels: origins, waiting }) };
}

/** The method of a tool that is named alone: its only one where its URI says so, else `call`. */
function soleMethod(tool: ImportEntry): string {
    const { uri } = tool.form;
    if (/^sh:/i.test(uri) || /^shell:/i.test(uri)) return "run";
    if (/^https?:/i.test(uri)) return "get";
    return "call";
}

/** The argument that a text alone is: a command, a URL. */
const SOLE: { readonly [scheme: string]: string } = { shell: "command", http: "url", https: "url", webfetch: "url" };

/** One argument; a command may be called `cmd`, as one page of the standard's documents has it. */
function argsFor(m: Ops, tool: ImportEntry, given: Value): Value[] {
    const raw = rawOf(given);
    const scheme = schemeOf(tool.form.uri).toLowerCase();
    const sole = SOLE[scheme];
    const isCmd = scheme === "shell" && raw instanceof Obj && raw.has("cmd") && !raw.has("command");
    if (sole === undefined || !(typeof raw === "string" || isCmd)) return [given];
    const { json, labels } = toJson(given, m.run);
    const { cmd = null, ...rest } = isObject(json) ? json : { cmd: json };
    return [join(m.run, m.fromJson({ ...rest, [sole]: cmd }), labels)];
}

/** What all tools say of themselves. */
function manual(m: Ops, act: Acting): void {
    const { fiber, frame, tools } = act;
    const { json: only, labels } = toJson(act.given, m.run);
    const wanted = isObject(only) && typeof only.name === "string" ? only.name : null;
    // A tool is asked what it has only for a caller that has something of it: it may have to be started for that.
    const own = tools.filter(({ value }) => value !== null && hasSome(m, fiber, frame.principal, value));
    const meant = wanted === null ? own : own.filter((one) => one.form.name === wanted.split(".")[0]);
    // A name that no tool has may be that of a tool of a server.
    const bare = meant.length === 0 ? wanted : null;
    const asked = bare === null ? meant : serversFor(m, act);
    if (asked.length === 0) {
        const wait = waits(m, act.path, "describe", { named: act.named, labels });
        give(m, { fiber, wait }, m.fromJson(wanted === null ? listing([]) : unknown(m, act, wanted)), 0);
        return;
    }
    const { state } = describing(m, act, "describe", { asked, labels });
    state.params = asked.map((one) => one.form.name);
    if (bare !== null) state.bare = bare;
}

/** An outcome of an effect that `act()` waits for. */
export function actTold(m: Ops, h: Handing, told: Told): void {
    const { pending, outcome } = told;
    const { state } = h.wait;
    // What came is part of the frame's state, which the next delta has to have.
    h.fiber.touch();
    if (state.phase === "servers") {
        serverTold(m, h, told);
        return;
    }
    if (state.phase === "describe") {
        state.came[pending.slot] = outcome.ok ? outcome.value : { methods: [], error: outcome.failure.message };
        const act = acting(m, h, h.d);
        // A caller that was told what a tool only reads may call it so.
        const told = act.tools.find(({ form }) => form.name === state.params[pending.slot]);
        if (outcome.ok && told?.value != null) learnDescription(m, placeOf(told.value as Capability), pending, outcome);
        if (state.came.some((one) => one === null)) return;
        const labels = m.run.labels.of(state.params.map((name) => `tool:${name}`));
        const tools = listed(m, act, state);
        const said = tools.length === 0 && state.bare !== undefined ? unknown(m, act, state.bare) : listing(tools);
        give(m, h, m.fromJson(said), labels);
        return;
    }
    if (!outcome.ok) {
        const failure = failureOf(m, pending, outcome);
        if (!failure.isTold) throw failure;
        give(m, h, failed(m, failure), 0);
        return;
    }
    const out = toJson(givenValue(m, pending.effect, outcome), m.run);
    const { uri } = pending.effect.request as unknown as ToolRequest;
    give(m, h, m.fromJson(resultOf(uri, out.json)), out.labels);
}

/** A failure as a result (ACT1). */
export function failed(m: Ops, fail: Fail): Value {
    return join(m.run, m.fromJson(shown(fail.message, true)), fail.labels);
}

/** What a tool gave (ACT5). */
function resultOf(uri: string, value: Json): Json {
    const scheme = schemeOf(uri).toLowerCase();
    if (!isObject(value)) return shown(value, false);
    if (scheme === "mcp" && Array.isArray(value.content)) {
        const { content, structured, isError } = value;
        return {
            content,
            ...(structured === undefined || structured === null ? {} : { structuredContent: structured }),
            ...(isError === true ? { isError } : {}),
        };
    }
    const { stdout, stderr, exit_code: code } = value;
    if (scheme === "shell" && typeof stdout === "string" && typeof stderr === "string") {
        const text = stdout + stderr;
        return { content: [{ type: "text", text }], structuredContent: value, ...(code === 0 ? {} : { isError: true }) };
    }
    return shown(value, false);
}

/** A value in the shape of MCP's `CallToolResult`; one that has it already as it is. */
function shown(value: Json, isError: boolean): Json {
    if (isObject(value) && Array.isArray(value.content)) return value;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return {
        content: [{ type: "text", text }],
        ...(typeof value === "string" ? {} : { structuredContent: value }),
        ...(isError ? { isError: true } : {}),
    };
}

interface Listed {
    readonly name: string;
    /** Its own name, where that is enough to call it. */
    readonly alias?: string;
    readonly description: string;
    readonly inputSchema: Json;
    /** As MCP has it: only what the tool says of itself. */
    readonly annotations?: { readonly readOnlyHint: true };
}

/** What tools said of themselves; where one alone was asked for by its own name, that. */
function listed(m: Ops, act: Acting, state: HandoverState): Listed[] {
    const { frame } = act;
    const servers = serversFor(m, act).map((one) => one.form.name);
    const all = state.params.flatMap((tool, i) => {
        const one = state.came[i] ?? null;
        const methods = isObject(one) && Array.isArray(one.methods) ? one.methods : [];
        const entry = act.tools.find(({ form }) => form.name === tool);
        return methods.flatMap((method) =>
            isObject(method) && typeof method.name === "string" && isLeft(m, act, entry, method.name, method.readOnly === true)
                ? [{ tool, method, own: method.name }]
                : [],
        );
    });
    const isFree = (own: string): boolean =>
        servers.every((one) => state.params.includes(one)) &&
        m.compiled.files[frame.fn.file]?.funcs.has(own) !== true &&
        !definedFor(m, frame).some((one) => one.name === own) &&
        all.filter((one) => one.own === own && servers.includes(one.tool)).length === 1;
    const { bare } = state;
    return all
        .filter(({ own }) => bare === undefined || own === bare)
        .map(({ tool, method, own }) => ({
            name: `${tool}.${own}`,
            ...(servers.includes(tool) && isFree(own) ? { alias: own } : {}),
            description: typeof method.description === "string" ? method.description : "",
            inputSchema: isObject(method.input) ? method.input : { type: "object" },
            ...(method.readOnly === true ? { annotations: { readOnlyHint: true } } : {}),
        }));
}

/** Whether a caller is told of a method: an agent of none that is refused, whatever it is given. */
function isLeft(m: Ops, { fiber, frame }: Acting, entry: ImportEntry | undefined, method: string, reads: boolean): boolean {
    if (!isWritten(m, frame.fn) || entry === undefined || entry.value === null) return true;
    const target = { c: entry.value, name: entry.form.name, uri: entry.form.uri, method, direct: true };
    return gateLeft(m, fiber, frame.principal, target, reads ? "may" : "ask") !== null;
}

function listing(tools: readonly Listed[]): Json {
    const text = tools
        .map(({ name, alias, description }) => `${name}${alias === undefined ? "" : ` (or ${alias})`}: ${description}`)
        .join("\n");
    return { content: [{ type: "text", text }], structuredContent: { tools: tools.map((one) => ({ ...one })) } };
}
