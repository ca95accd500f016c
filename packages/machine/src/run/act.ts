/**
 * `act(name, args)`: a tool or function by its name, with a result in the shape of MCP's `CallToolResult` (Re in Act 1.4).
 *
 * Boundary: which thing a name means and what its result is shown as. The use itself passes the gate like every other.
 *
 * R1: what fails is told as `{isError: true}`; a violation or a limit is not.
 * R2: a name that somebody else chose makes it their call: what a clause leaves open is asked then.
 */
import type { Json, Site } from "@remit/language";
import type { HandoverDetail } from "../compile/instructions.ts";
import type { ImportEntry } from "../compile/program.ts";
import type { Outcome } from "../effect.ts";
import { Fail } from "../failure.ts";
import { isObject } from "../prompt/schema.ts";
import { toJson } from "../value/json.ts";
import { join, labelOf, rawOf } from "../value/operators.ts";
import { type Capability, Labelled, List, Obj, type Value } from "../value/value.ts";
import { type Defined, definedAs } from "./define.ts";
import { callFunction, countCall, pathOf } from "./execute.ts";
import type { Fiber, Frame, Pending } from "./fiber.ts";
import type { HandoverState, HandoverWait } from "./handover.ts";
import type { Machine } from "./machine.ts";
import { askDescription, askTool, failureOf, givenValue } from "./perform.ts";
import { isWritten } from "./written.ts";

/** Lists what there is. */
const MANUAL = "__manual__";

export function beginAct(m: Machine, fiber: Fiber, frame: Frame, d: HandoverDetail, site: Site | null): void {
    const path = pathOf(frame, d.path);
    const [named, given = m.fromJson({})] = d.args.map((arg) => arg.code(frame.locals)) as [Value, Value?];
    const name = rawOf(named);
    if (typeof name !== "string") throw new Fail("value", "act takes the name of a tool", { site });
    const tools = [...(m.compiled.files[frame.fn.file]?.imports.values() ?? [])].filter((one) => one.form.what === "tool");
    if (name === MANUAL) {
        countCall(m);
        manual(m, fiber, frame, path, tools, given, site);
        return;
    }
    const dot = name.indexOf(".");
    const tool = tools.find((one) => one.form.name === (dot < 0 ? name : name.slice(0, dot)));
    if (tool === undefined) {
        countCall(m);
        if (callsFunction(m, fiber, frame, d, path, name, given, site)) return;
        const known = [...tools.map((one) => one.form.name), ...definedFor(m, frame).map((one) => one.name)].join(", ");
        m.deliver(fiber, m.fromJson(shown(`there is no tool '${name}'${known === "" ? "" : `; there are ${known}`}`, true)));
        return;
    }
    const method = dot < 0 ? soleMethod(tool) : name.slice(dot + 1);
    const isChosen = named instanceof Labelled && !m.run.labels.origins(named.l).every((origin) => m.authority.trusts(origin));
    countCall(m);
    try {
        askTool(m, fiber, frame, tool, method, argsFor(m, tool, given), path, site, null, isChosen ? "model" : "program");
    } catch (error) {
        if (!(error instanceof Fail) || !error.isTold) throw error;
        m.deliver(fiber, failed(m, error));
        return;
    }
    if (frame.native?.kind === "effect") frame.native = waits(m, path, "tool", [path]);
}

/** Functions that agents defined, as far as they are there for whoever calls: for an agent's own code those of the same agent. */
function definedFor(m: Machine, frame: Frame): Defined[] {
    const all = [...m.defined.values()];
    if (!isWritten(m, frame.fn)) return all;
    return all.filter(({ agent: [file, name] }) => frame.agent?.file === file && frame.agent.name === name);
}

/** A function that an agent defined, or one of the file. False: there is none of that name. */
function callsFunction(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    d: HandoverDetail,
    path: string,
    name: string,
    given: Value,
    site: Site | null,
): boolean {
    const made = definedFor(m, frame).find((one) => one.name === name);
    const defined = made === undefined ? null : definedAs(m, made);
    const own = defined?.fn ?? m.compiled.files[frame.fn.file]?.funcs.get(name);
    if (own === undefined) return false;
    const raw = rawOf(given);
    const { params } = own.form;
    const named = raw instanceof Obj && params.some((p) => raw.has(p.name));
    const args = named
        ? params.map((p) => join(m.run, raw.get(p.name) ?? m.fromJson(p.default ?? null), labelOf(given)))
        : params.map((p, i) => (i === 0 ? given : m.fromJson(p.default ?? null)));
    frame.native = waits(m, path, "run", []);
    try {
        callFunction(m, fiber, frame, own, args, defined?.author ?? null, d.path, site);
    } catch (error) {
        frame.native = null;
        throw error;
    }
    return true;
}

/** What `act()` called gave a value. */
export function actReturned(m: Machine, fiber: Fiber, value: Value): void {
    const out = toJson(value, m.run.labels);
    m.deliver(fiber, join(m.run, m.fromJson(shown(out.json, false)), out.labels));
}

function waits(m: Machine, path: string, phase: HandoverState["phase"], waiting: readonly string[]): HandoverWait {
    const state: HandoverState = {
        phase,
        session: "",
        opened: false,
        turn: 0,
        params: [],
        labels: [],
        waiting,
        came: waiting.map(() => null),
        prompt: [],
        turns: [],
        tries: 0,
        config: null,
        account: 0,
        most: 0,
    };
    return { kind: "handover", path, what: "act", args: new List([], m.run.heap), state };
}

/** The method of a tool that is named alone: its only one where its URI says so, else `call`. */
function soleMethod(tool: ImportEntry): string {
    const { uri } = tool.form;
    if (/^sh:/i.test(uri) || /^shell:/i.test(uri)) return "run";
    if (/^https?:/i.test(uri)) return "get";
    return "call";
}

/** One argument: a text for a shell is its command, for HTTP its URL. */
function argsFor(m: Machine, tool: ImportEntry, given: Value): Value[] {
    if (typeof rawOf(given) !== "string") return [given];
    const { uri } = tool.form;
    const key = /^shell:/i.test(uri) ? "command" : /^https?:/i.test(uri) ? "url" : null;
    if (key === null) return [given];
    const out = toJson(given, m.run.labels);
    return [join(m.run, m.fromJson({ [key]: out.json }), out.labels)];
}

/** What all tools say of themselves. */
function manual(
    m: Machine,
    fiber: Fiber,
    frame: Frame,
    path: string,
    tools: readonly ImportEntry[],
    given: Value,
    site: Site | null,
): void {
    const only = toJson(given, m.run.labels).json;
    const wanted = isObject(only) && typeof only.name === "string" ? only.name.split(".")[0] : null;
    const asked = wanted === null ? tools : tools.filter((one) => one.form.name === wanted);
    if (asked.length === 0) {
        m.deliver(fiber, m.fromJson(listing([], [])));
        return;
    }
    const paths = asked.map((one) => `${path}/${one.form.name}`);
    const native = waits(m, path, "describe", paths);
    native.state.params = asked.map((one) => one.form.name);
    frame.native = native;
    asked.forEach(({ value }, slot) => {
        askDescription(m, fiber, value as Capability, paths[slot] as string, slot, site);
    });
}

/** An outcome of an effect that `act()` waits for. */
export function actOutcome(m: Machine, fiber: Fiber, native: HandoverWait, pending: Pending, outcome: Outcome): void {
    const { state } = native;
    if (state.phase === "describe") {
        state.came[pending.slot] = outcome.ok ? outcome.value : { methods: [], error: outcome.failure.message };
        if (state.came.some((one) => one === null)) return;
        const labels = m.run.labels.of(state.params.map((name) => `tool:${name}`));
        m.deliver(fiber, join(m.run, m.fromJson(listing(state.params, state.came)), labels));
        return;
    }
    if (!outcome.ok) {
        const failure = failureOf(m, pending, outcome);
        if (!failure.isTold) throw failure;
        m.deliver(fiber, failed(m, failure));
        return;
    }
    actReturned(m, fiber, givenValue(m, pending.effect, outcome));
}

/** A failure as a result (R1). */
export function failed(m: Machine, fail: Fail): Value {
    return join(m.run, m.fromJson(shown(fail.message, true)), fail.labels);
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

function listing(names: readonly string[], described: readonly Json[]): Json {
    const tools = names.flatMap((name, i): Json[] => {
        const one = described[i] ?? null;
        const methods = isObject(one) && Array.isArray(one.methods) ? one.methods : [];
        return methods.flatMap((method): Json[] =>
            isObject(method) && typeof method.name === "string"
                ? [
                      {
                          name: `${name}.${method.name}`,
                          description: typeof method.description === "string" ? method.description : "",
                          inputSchema: isObject(method.input) ? method.input : { type: "object" },
                      },
                  ]
                : [],
        );
    });
    const text = tools.map((tool) => (isObject(tool) ? `${tool.name as string}: ${tool.description as string}` : "")).join("\n");
    return { content: [{ type: "text", text }], structuredContent: { tools } };
}
