/**
 * What an agent may reach: the tools that it is told of, with their methods, and the ruling on a use that it wants to make with its own hands.
 *
 * Boundary: questions about authority at one moment. Nothing is performed and nothing is changed.
 *
 * HS1: a hand is a tool that the agent's principal has at this moment, by its remit, by a delegation in force, or because it was passed.
 * HS2: what it does with its hands is decided like any use; its arguments carry its own origin and that of everything it was told, by the program or by
 *     what it used before. What it may use without a ruling it may have used.
 * HS3: what a clause, a remit or a delegation names is told by its name, so that a tool as a whole never stands for it. What only some may read
 *     is no use for an agent's hands, even where it is one of them: no rule follows where it goes from there. Its function may use it.
 * HS5: what is counted is no use for an agent's hands: nothing counts it once they have it. Its function may use it.
 * HS6: what the remit gives is told of by its name in the file of the agent, where its answer finds it (W6).
 * HS4: what an agent writes is not trusted. Where a policy says something of that, no method that does more than read holds for every call.
 */
import {
    type Field,
    type Json,
    methodName,
    schemeOf,
    showContract,
    showJson,
    toJsonSchema,
    isObject,
    shownName,
    readingOf,
    readsByScheme,
} from "@remit/language";
import { aliasOfJson, type Given, jsonGiven } from "../authority/given.ts";
import { readersNamed } from "../authority/readers.ts";
import { refusalJson, refusalText } from "../authority/refusal.ts";
import type { Callable, Handle, HandleDoc, HandleMethod } from "../agent/handshake.ts";
import type { Session } from "../agent/session.ts";
import type { AgentUse } from "../conduct/messages.ts";
import { answering, type Fn, type ImportEntry, isLent } from "../compile/program.ts";
import { type AgentHand, FAILURE_KINDS, type FailureKind, type Reach, type Read, type ToolRequest } from "../effect/effect.ts";
import { rawOf } from "../value/operators.ts";
import { Capability, type Value } from "../value/value.ts";
import { answerNow } from "../state/verdicts.ts";
import { originsRead } from "../state/result-readers.ts";
import { isUnread, placeOf, unreadText } from "../state/descriptions.ts";
import type { Fiber } from "../state/fiber.ts";
import { countedBy, decideFor, detailOf, refusalOf, sessionKey, type Target, type Wish } from "../state/gate.ts";
import { type HandoverWait, heardIn } from "../state/handover.ts";
import type { Ops } from "../state/ops.ts";
import { hasSome, inForce, methodsOf, minted, policiesOn, type Said, waysOf } from "../state/delegations.ts";

const MEMORY: readonly HandleMethod[] = [
    { method: "add", description: "Keeps a record.", input: { type: "object" }, gate: "ask" },
    { method: "query", description: "Finds records.", input: { type: "object" }, gate: "may" },
];
/** What an agent that answers can be asked. */
const AGENT: readonly HandleMethod[] = [
    { method: "yield", description: "Hands over control: yield(name: value) -> contract.", gate: "ask" },
    { method: "send", description: "One text, one text back.", gate: "ask" },
];

/** A capability that is handed over. `described`: what its tool says of itself. */
function handleOf(m: Ops, session: Session, c: Capability, described: Json): Handle {
    const left = c.right === null ? null : methodsOf(c.right);
    const clauses = m.authority.clausesAt(c.file, c.name);
    const { kind } = c;
    const gated = (all: readonly HandleMethod[]): HandleMethod[] =>
        all.flatMap((one): HandleMethod[] => {
            if (left !== null && !left.includes(one.method)) return [];
            const said = clauses.gates.get(one.method)?.gate;
            return said === "never" ? [] : [{ ...one, gate: said ?? one.gate }];
        });
    if (kind === "memory") return { kind, handle: gated(MEMORY) };
    if (kind === "agent") {
        const agent = m.compiled.agent(c.file, c.name);
        if (agent === undefined) return { kind, handle: [] };
        // A main func that has a name goes by it too: who may use it may call the agent, and hand control to it. Without one, that is for the principal that has the whole agent.
        const main = answering(agent);
        const own = [...agent.funcs].filter(([of, fn]) => fn.form.main !== true || of === main);
        const named = own.map(([method, fn]): HandleMethod => ({ method, ...callableOf(fn, method, "ask") }));
        const asked = AGENT.filter((one) => !own.some(([name]) => name === one.method));
        const handle = gated(named);
        if (agent.outside !== null) return { kind, handle: [...handle, ...gated(asked)] };
        const gate = main === null ? (left === null ? "ask" : undefined) : handle.find((one) => one.method === main)?.gate;
        if (agent.main === null || gate === undefined) return { kind, handle };
        return {
            kind,
            handle: [...handle, ...asked.map((one): HandleMethod => ({ ...one, gate }))],
            call: callableOf(agent.main, shownName(agent.name), gate),
        };
    }
    if (kind === "func") {
        const fn = m.compiled.functionOf(c);
        return { kind, handle: [], ...(fn === undefined ? {} : { call: callableOf(fn, fn.name, "may") }) };
    }
    if (kind !== "tool") return { kind, handle: [] };
    const told = toldOf(described);
    // Of a tool that cannot say what it has, what is known is what it was narrowed to.
    const named = told === null ? (left ?? []).map((method): HandleMethod => ({ method, gate: "ask" })) : told;
    const place = placeOf(c);
    session.reads = { ...session.reads, [place]: named.filter((one) => one.gate === "may").map((one) => one.method) };
    session.told = { ...session.told, [place]: named.map((one) => one.method) };
    const why = unavailableFor(described);
    return { kind, handle: gated(named), ...(why === null ? {} : { unavailable: why }) };
}

/** The methods that a tool's description names; null where there is none. */
function toldOf(described: Json): HandleMethod[] | null {
    if (!isObject(described) || !Array.isArray(described.methods)) return null;
    return described.methods.flatMap((one): HandleMethod[] =>
        isObject(one) && typeof one.name === "string" && one.name !== ""
            ? [
                  {
                      method: one.name,
                      ...(typeof one.description === "string" ? { description: one.description } : {}),
                      input: isObject(one.input) ? one.input : { type: "object" },
                      gate: one.readOnly === true ? "may" : "ask",
                  },
              ]
            : [],
    );
}

/** What stands for the description of a tool that gave none. Its words are the tool's and may be for some to read: they do not leave. */
export function undescribed(kind: FailureKind): Json {
    return { unavailable: kind };
}

function unavailableFor(described: Json): FailureKind | null {
    if (toldOf(described) !== null) return null;
    const kind = isObject(described) ? described.unavailable : undefined;
    return typeof kind === "string" && Object.hasOwn(FAILURE_KINDS, kind) ? (kind as FailureKind) : "tool";
}

/** How a function of the program is called, in words and as schemas that name nothing else. */
function callableOf(fn: Fn, name: string, gate: Callable["gate"]): Callable {
    const shapes = fn.program.shapesOf(fn.file);
    const { params, result } = fn.form;
    const fields = params.map((p): Field => {
        const { contract = { type: "json" }, default: otherwise } = p;
        return { name: p.name, contract, ...(otherwise === undefined ? {} : { default: otherwise }) };
    });
    const shown = params.map((p) => {
        const type = p.contract === undefined ? "" : `: ${showContract(p.contract)}`;
        return `${p.name}${type}${p.default === undefined ? "" : ` = ${showJson(p.default)}`}`;
    });
    return {
        signature: `${name}(${shown.join(", ")})${result === undefined ? "" : ` -> ${showContract(result)}`}`,
        input: toJsonSchema({ type: "object", fields }, shapes),
        ...(result === undefined ? {} : { output: toJsonSchema(result, shapes) }),
        gate,
    };
}

/** What was handed over, in order: a capability as what can be called of it, null for data. */
export function handlesOf(m: Ops, session: Session, native: HandoverWait): (Handle | null)[] {
    let nth = 0;
    return native.args.items.map((arg) => {
        const raw = rawOf(arg);
        if (!(raw instanceof Capability)) return null;
        return handleOf(m, session, raw, raw.kind === "tool" ? (native.state.came[nth++] ?? null) : null);
    });
}

/** What the remit of an agent gives at this moment: what its file imports, by the names there (HS6). Without a remit it gives nothing. */
export function givenBy(m: Ops, fiber: Fiber, { agent: [file], principal }: Session): (ImportEntry & { readonly value: Capability })[] {
    if (m.authority.remitsOf(principal).length === 0) return [];
    return [...(m.compiled.files[file]?.imports.values() ?? [])].flatMap((one) => {
        const { form, value } = one;
        return value !== null && isLent(form) && hasSome(m, fiber, principal, value) ? [{ ...one, value }] : [];
    });
}

/** The same as an agent is told of it: the methods that are left, each with the gate that a use by it would meet. */
export function givenHandles(
    m: Ops,
    fiber: Fiber,
    session: Session,
    native: HandoverWait,
    given = givenBy(m, fiber, session),
): HandleDoc[] {
    let nth = passed(native.args.items).length;
    return given.map(({ form: { name, uri }, value }): HandleDoc => {
        const described = value.kind === "tool" ? (native.state.came[nth++] ?? null) : null;
        const right = minted(m, fiber, session.principal, value);
        const told = handleOf(m, session, right, described);
        const target = { c: value, name, uri, direct: true };
        const handle = told.handle.flatMap((one): HandleMethod[] => {
            const gate = gateLeft(m, fiber, session.principal, { ...target, method: one.method }, one.gate);
            return gate === null ? [] : [{ ...one, gate }];
        });
        return { name, ...told, handle };
    });
}

/** The gate that a use by what an agent wrote meets, as far as the method alone decides. Null: it is refused, whatever it is given. `own`: the tool's. */
export function gateLeft(m: Ops, fiber: Fiber, principal: string, target: Target, own: HandleMethod["gate"]): HandleMethod["gate"] | null {
    const decision = decideFor(m, fiber, {
        principal,
        target,
        given: jsonGiven([], 0),
        chosenBy: "agent",
        chosen: 0,
        readOnly: own === "may",
    });
    if (decision.kind !== "refused") return decision.kind;
    const { why, row } = decision;
    const isNever = row === undefined || (row.gate === "never" && row.bounds.length === 0);
    if (why === "gate" || why === "name" || (why === "remit" && isNever)) return null;
    // Refused only for what it was given here, which is nothing.
    return row?.gate === "may" ? "may" : row?.gate === "ask" ? "ask" : own;
}

/** The tools within reach of an agent's own hands. `args`: what it was handed over. */
export function handsOf(m: Ops, fiber: Fiber, session: Session, args: readonly Value[]): AgentHand[] {
    const [file] = session.agent;
    const hands: AgentHand[] = [];
    const add = (c: Capability, methods: readonly string[] | null): void => {
        const form = m.compiled.importOf(c);
        if (form === undefined) return;
        const target = (method: string | null): Target => ({ c, name: c.name, uri: form.uri, method, direct: c.right === null });
        const clauses = m.authority.clausesAt(c.file, c.name);
        const isCounted = m.authority.countersAt(c.file, c.name).length > 0;
        const scheme = schemeOf(form.uri);
        // HS4.
        const isOpen = m.authority.untrusted === null;
        const told = (method: string | null): AgentHand["methods"][number] => {
            const decision = decideFor(m, fiber, {
                principal: session.principal,
                target: target(method),
                given: jsonGiven([], 0),
                chosenBy: "agent",
                chosen: 0,
            });
            // What is decided without any argument holds for all of them, unless it says where the call may lead, or what may be in it.
            const whole =
                decision.kind === "may" &&
                !isCounted &&
                decision.reach.within === undefined &&
                decision.reach.without === undefined &&
                (isOpen || (method !== null && readsByScheme(scheme, method) === true)) &&
                ![...clauses.args, ...clauses.choices, ...clauses.reads].some((rule) => rule.method === null || rule.method === method);
            return { method, gate: decision.kind === "may" ? "may" : "ask", whole };
        };
        const spoken = methods ?? [...namedOf(m, fiber, session, c), ...(isOpen ? [] : readingOf(scheme))];
        const named = [...new Set(spoken.map((method) => methodName(form.uri, method)))].sort();
        const known = [...named.map(told), ...(methods === null ? [told(null)] : [])];
        if (known.length > 0) hands.push({ tool: c.name, uri: form.uri, file: m.compiled.fileName(c.file), methods: known });
    };
    for (const entry of m.compiled.files[file]?.imports.values() ?? []) {
        if (entry.form.what !== "tool" || entry.value === null) continue;
        const ways = waysOf(m, fiber, session.principal, m.authority.keyOf(entry.value));
        if (ways.length === 0) continue;
        add(entry.value, methodsOf({ holder: session.principal, from: session.principal, ways, only: [], alive: [] }));
    }
    for (const c of passed(args)) add(c, c.right === null ? null : methodsOf(c.right));
    return hands;
}

/** HS2. Origins of what it may use without a ruling: files that it may read, and a server of which every method is allowed. */
export function openTo(hands: readonly AgentHand[]): string[] {
    return hands.flatMap(({ tool, uri, methods }) => {
        const all = methods.find(({ method }) => method === null);
        const read = schemeOf(uri) === "file" ? methods.find(({ method }) => method === "read") : undefined;
        return (read ?? all)?.whole === true ? [`tool:${tool}`] : [];
    });
}

/** Methods of a tool that something says something of (HS3). */
function namedOf(m: Ops, fiber: Fiber, session: Session, c: Capability): string[] {
    const key = m.authority.keyOf(c);
    const { gates, args, choices, reads } = m.authority.clausesAt(c.file, c.name);
    const layers = [
        ...[...m.authority.remitsOf(session.principal), ...policiesOn(m, fiber, session.principal)].flatMap(({ rows, all }) => [
            rows.get(key) ?? [],
            all,
        ]),
        ...inForce(m, fiber, session.principal).flatMap(({ grants }) => (Object.hasOwn(grants, key) ? (grants[key] ?? []) : []).flat()),
        ...(c.right === null ? [] : [...c.right.ways.flatMap((way) => way.layers), ...c.right.only]),
    ];
    const named = [...gates.keys(), ...[...args, ...choices, ...reads, ...layers.flat()].map(({ method }) => method)];
    return named.filter((method) => method !== null);
}

/** Whose alone it is to read what a use gives (HS3). Null: every principal's. */
function readersOfUse(m: Ops, { c, uri }: Target, method: string, given: Given): string | null {
    const named = readersNamed({ ...m.authority.clausesAt(c.file, c.name), people: m.standing.people }, uri, method, given, undefined);
    if (named.length === 0) return null;
    const [names] = named;
    return names === undefined ? "the people whom it names itself" : names.join(", ") || "no person";
}

/** Tools among what was handed over. */
export function passed(args: readonly Value[]): Capability[] {
    return args.flatMap((arg) => {
        const raw = rawOf(arg);
        return raw instanceof Capability && raw.kind === "tool" ? [raw] : [];
    });
}

/** `detail` and `question` are what a person is shown; `use` is what a yes for the session is about. */
export type Ruling =
    | ({ readonly kind: "may"; readonly request: ToolRequest } & Whose)
    | ({
          readonly kind: "ask";
          readonly request: ToolRequest;
          readonly question: string;
          readonly detail: Json;
          readonly use: string;
          /** What a person said for the rest of the run. */
          readonly known?: Said;
      } & Whose)
    | ({ readonly kind: "refused"; readonly message: string; readonly record?: { readonly [key: string]: Json } } & Whose);

/** On whose authority, and the origins of what is given: its own, and those of everything that it was told. */
interface Whose {
    readonly principal: string;
    readonly labels: readonly string[];
}

/** The ruling on a use that the agent of the effect at `path` wants to make. `read`: what its uses gave it in this turn. */
export function rule(m: Ops, path: string, use: Pick<AgentUse, "tool" | "method" | "args">, read: readonly Read[]): Ruling {
    const pending = m.waiting.get(path);
    const native = pending?.fiber.frames[pending.fiber.frames.length - 1]?.native;
    const session = native?.kind === "handover" ? m.sessions.get(native.state.session) : undefined;
    if (pending === undefined || native?.kind !== "handover" || session === undefined)
        return { kind: "refused", message: "the agent is not at work any more", principal: m.principal, labels: [] };
    const own = m.compiled.files[session.agent[0]]?.imports.get(use.tool);
    const handed = passed(native.args.items).filter((c) => c.name === use.tool);
    const targets: { readonly c: Capability; readonly direct: boolean }[] = [
        ...(own?.form.what === "tool" && own.value !== null ? [{ c: own.value, direct: true }] : []),
        ...handed.map((c) => ({ c, direct: c.right === null })),
    ];
    const labels = m.run.labels.of([...heardIn(session, native.state), ...originsRead(m, read), `agent:${session.agent[1]}`]);
    const whose: Whose = { principal: session.principal, labels: m.run.labels.origins(labels) };
    const who = m.authority.nameOf(session.principal);
    let record: { readonly [key: string]: Json } | undefined;
    let refusal = `${who} has no ${use.tool}.${use.method}`;
    let asked: Ruling | null = null;
    for (const { c, direct } of targets) {
        const form = m.compiled.importOf(c);
        if (form === undefined) continue;
        // What is used is the tool that a generic call names; what is done stays the call as it was made.
        const alias = use.args.length === 1 ? aliasOfJson(form.uri, use.method, use.args[0] as Json) : null;
        const method = alias?.method ?? use.method;
        const given = jsonGiven([...(alias?.args ?? use.args)], labels);
        const target: Target = { c, name: use.tool, uri: form.uri, method, direct };
        const readers = readersOfUse(m, target, method, given);
        if (readers !== null) {
            refusal = `what ${use.tool}.${method} gives is for ${readers} to read, and nothing follows it once ${who} has it in hand: its function may use it`;
            continue;
        }
        const counted = countedBy(m, { target, given });
        if (counted.run.length + counted.daily.length > 0) {
            refusal = `uses of ${use.tool}.${method} are counted, and nothing counts what ${who} does with its own hands: its function may use it`;
            continue;
        }
        if (isUnread(m, c, pending.fiber.top.placeLabel)) {
            refusal = unreadText(use.tool);
            continue;
        }
        const wish: Wish = { principal: session.principal, target, given, chosenBy: "agent", chosen: labels };
        const decision = decideFor(m, pending.fiber, wish);
        if (decision.kind === "refused") {
            const why = refusalOf(wish, decision);
            refusal = refusalText(why);
            record = refusalJson(why);
            continue;
        }
        const request: ToolRequest = {
            op: "call",
            tool: form.name,
            uri: form.uri,
            file: m.compiled.fileName(c.file),
            method: use.method,
            args: [...use.args],
            chosenBy: "model",
            ...(decision.reach as Reach),
        };
        if (decision.kind === "may") return { kind: "may", request, ...whose };
        const shown = alias === null ? given : jsonGiven(use.args, labels);
        const asks = sessionKey(m, wish, decision);
        const known = answerNow(m, asks);
        const chosenBy = `agent:${session.agent[1]}`;
        const detail = detailOf(m, wish, decision, { args: use.args, given: shown, chosenBy, site: pending.effect.site });
        asked ??= {
            kind: "ask",
            ...whose,
            request,
            question: `May ${who} call ${use.tool}.${method}?`,
            detail,
            use: asks,
            ...(known === undefined ? {} : { known }),
        };
    }
    return asked ?? { kind: "refused", message: refusal, ...(record === undefined ? {} : { record }), ...whose };
}
