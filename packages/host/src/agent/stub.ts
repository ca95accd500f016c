/**
 * `stub:` agents: what stands where an agent would, in tests and demonstrations.
 *
 * Boundary: performs `agent` effects without a process, a model or the net. Each answer follows from the URI, the turn and how many turns of the
 * session came before; nothing depends on time.
 *
 * The file of a sequence is a JSON list, or NDJSON: a text, or an object with one of `text`, `source` (Remit), `json` (a program form), `value`
 * (a function that gives it), `fail` (`{"kind", "message"}`), and besides `stop`, `entries`, `usage`, `use` (`[{"tool", "method", "args"}]`: uses of
 * its hands before it answers). Files are found from the file that imports the agent, inside the program's tree.
 *
 * SU1: a stub begins anew in each session. AG2: it keeps the limits of its turn like any other agent. G3: what it does with its hands goes through
 * the remit.
 */
import { isObject, type Json } from "@remit/language";
import {
    type AgentEntry,
    type AgentReply,
    type AgentTurn,
    FAILURE_KINDS,
    type FailureKind,
    type Outcome,
    type Usage,
} from "@remit/machine";
import { readJson } from "../input/json.ts";
import { type ProgramTree, programTree } from "../load/tree.ts";
import type { AgentUse, PerformIO } from "../run/host.ts";
import { AgentFail, failureOf } from "./fail.ts";
import { fenced, functionText, literalOf, paramsOf } from "./handshake.ts";
import type { AgentSession } from "./session.ts";
import { type Fault, jsonOf, parseStubUri, type StubUri } from "./stub-uri.ts";

/** Opens a session. `root`: absolute folder of the program's tree, absent where there is none. */
export function openStub(_first: AgentTurn, place: StubPlace): AgentSession {
    const session: Session = { turns: 0, asked: null, replies: null };
    return {
        turn: async (turn, effect, io) => {
            try {
                return await unlessStopped(answer(turn, effect.path, session, io, place), io.signal);
            } catch (error) {
                if (!(error instanceof AgentFail)) throw error;
                const failure = failureOf(error, turn.agent.name, effect);
                return { ok: false, failure, ...(error.usage === undefined ? {} : { usage: error.usage }) };
            } finally {
                session.turns++;
            }
        },
        end: async () => undefined,
    };
}

export interface StubPlace {
    readonly root?: string;
    readonly grants?: readonly string[];
}

interface Session {
    turns: number;
    /** The call that last asked for a function, and the parameters it must have. */
    asked: { readonly call: string; readonly params: readonly string[] } | null;
    replies: readonly Json[] | null;
}

/** What a stub does in one turn. */
interface Said {
    readonly text: string;
    readonly stop?: AgentReply["stop"];
    readonly entries?: readonly AgentEntry[];
    readonly usage?: Usage;
    readonly uses?: readonly AgentUse[];
}

async function answer(turn: AgentTurn, path: string, session: Session, io: PerformIO, place: StubPlace): Promise<Outcome> {
    if (io.signal.aborted) throw new AgentFail("cancelled", "it was stopped");
    const uri = parseStubUri(turn.agent.uri);
    if ("message" in uri) throw new AgentFail("unreachable", uri.message, { hint: uri.hint });
    const call = path.replace(/\/turn\[\d+\]$/, "");
    const params = paramsOf(turn);
    if (params !== null) session.asked = { call, params };
    // a further turn of the same call tells what was wrong with the answer
    const asked = session.asked?.call === call ? session.asked.params : null;
    const said = uri.kind === "faulty" ? await fault(uri, asked, session.turns, turn, io) : say(uri, asked, session, turn, place);
    return told(said, turn, io);
}

/** `asked`: parameters of the function that the turn asks for; null where it asks for a text. */
function say(uri: StubUri, asked: readonly string[] | null, session: Session, turn: AgentTurn, place: StubPlace): Said {
    switch (uri.kind) {
        case "text":
            return { text: uri.params.say as string };
        case "noop":
            return { text: asked === null ? "" : functionText(asked, "return none") };
        case "value":
            return valued(jsonOf(uri.params.json), asked);
        case "passthrough": {
            const name = uri.params.param as string;
            if (asked === null) return { text: textOf(turn) };
            if (asked.includes(name)) return { text: functionText(asked, `return ${name}`) };
            throw new AgentFail("unreachable", `there is no parameter '${name}'; there are ${asked.join(", ") || "none"}`);
        }
        case "source":
            return { text: fenced(fileText(uri, turn, place).trimEnd()) };
        default: {
            session.replies ??= repliesOf(fileText(uri, turn, place), uri.file);
            const reply = session.replies[session.turns];
            if (reply === undefined)
                throw new AgentFail("unreachable", `${uri.file} has no reply for turn ${session.turns} of a session`, {
                    hint: `it has ${session.replies.length}; add one`,
                });
            return written(reply, asked, uri.file);
        }
    }
}

function valued(json: Json, asked: readonly string[] | null): Said {
    if (asked === null) return { text: typeof json === "string" ? json : JSON.stringify(json) };
    return { text: functionText(asked, `return ${literalOf(json)}`) };
}

/**
 * What an agent would have said in a turn to give this value: where a function was asked for one that returns it, else the text (or the JSON).
 * `by`: who says it instead.
 */
export function replyWith(json: Json, turn: AgentTurn, by: string): AgentReply {
    return { ...replyOf(valued(json, paramsOf(turn)), "end_turn", 0), agent: { name: by, version: "" } };
}

const KEYS: ReadonlySet<string> = new Set(["text", "source", "json", "value", "fail", "stop", "entries", "usage", "use"]);

function written(reply: Json, asked: readonly string[] | null, file: string): Said {
    if (typeof reply === "string") return { text: reply };
    const bad = (what: string): AgentFail => new AgentFail("unreachable", `${file} holds a reply ${what}`);
    if (!isObject(reply)) throw bad("that is neither a text nor an object");
    const unknown = Object.keys(reply).find((name) => !KEYS.has(name));
    if (unknown !== undefined) throw bad(`with a key '${unknown}'; known are ${[...KEYS].join(", ")}`);
    if (reply.fail !== undefined) {
        const { kind = "unreachable", message = "it failed" } = isObject(reply.fail) ? reply.fail : {};
        if (typeof kind !== "string" || !Object.hasOwn(FAILURE_KINDS, kind) || typeof message !== "string")
            throw bad("that fails with an unknown kind");
        throw new AgentFail(kind as FailureKind, message);
    }
    const { text, source, json, value } = reply;
    const said =
        typeof text === "string"
            ? text
            : typeof source === "string"
              ? fenced(source.trimEnd())
              : json !== undefined
                ? fenced(JSON.stringify(json, null, 2), "json")
                : value !== undefined
                  ? valued(value, asked).text
                  : null;
    if (said === null) throw bad("that says nothing: give text, source, json, value or fail");
    const uses = reply.use === undefined ? [] : usesOf(reply.use);
    if (uses === null) throw bad('whose use is not [{"tool", "method", "args"}]');
    return {
        text: said,
        uses,
        ...(typeof reply.stop === "string" ? { stop: reply.stop as AgentReply["stop"] } : {}),
        ...(Array.isArray(reply.entries) ? { entries: reply.entries as unknown as AgentEntry[] } : {}),
        ...(isObject(reply.usage) ? { usage: reply.usage as Usage } : {}),
    };
}

function usesOf(json: Json): AgentUse[] | null {
    if (!Array.isArray(json)) return null;
    const uses = json.flatMap((one) =>
        isObject(one) && typeof one.tool === "string" && typeof one.method === "string" && Array.isArray(one.args)
            ? [{ tool: one.tool, method: one.method, args: one.args, ...(typeof one.note === "string" ? { note: one.note } : {}) }]
            : [],
    );
    return uses.length === json.length ? uses : null;
}

/** Bytes of a `huge` answer where nothing is said. */
const HUGE = 10 * 1024 * 1024;

async function fault(uri: StubUri, asked: readonly string[] | null, turns: number, turn: AgentTurn, io: PerformIO): Promise<Said> {
    const { params } = uri;
    const kind = params.kind as Fault;
    const message = (otherwise: string): string => params.message ?? otherwise;
    switch (kind) {
        case "refusal":
            return { text: message("I cannot help with that."), stop: "refusal" };
        case "unreachable":
        case "timeout":
        case "rate_limited":
        case "tool":
        case "model":
        case "denied":
        case "cancelled":
            throw new AgentFail(kind, message(WORDS[kind]));
        case "invalid_payload":
            return { text: message("Here is what I would do: nothing.") };
        case "crash": {
            const reply = replyOf({ text: "I begin by" }, "end_turn", 0);
            throw new AgentFail("unreachable", message("it ended in the middle of its turn"), {
                detail: { reply: reply as unknown as Json },
            });
        }
        case "silence": {
            const { silence, ms } = turn.limits;
            const limit = Math.min(silence ?? Number.POSITIVE_INFINITY, ms ?? Number.POSITIVE_INFINITY);
            await silent(limit, io);
            if (io.signal.aborted) throw new AgentFail("cancelled", "it was stopped");
            throw new AgentFail(limit === silence ? "timeout" : "limit.time", message(`it said nothing for ${limit} ms`));
        }
        case "limit.time": {
            await silent(turn.limits.ms ?? Number.POSITIVE_INFINITY, io);
            throw new AgentFail(kind, message("it went on until its time was over"));
        }
        case "limit.calls":
            return {
                text: "",
                entries: Array.from({ length: CALLS }, (_, i) => ({ kind: "call", id: `call-${i}`, name: "Look", status: "completed" })),
            };
        case "limit.tokens":
            return { ...valued(null, asked), usage: { input: 999_999_000, output: 1000 } };
        case "limit.cost":
            return { ...valued(null, asked), usage: { usd: 1e6 } };
        case "limit.depth":
            return {
                text: fenced(
                    `func again(n) {\n    return again(n + 1)\n}\n\nmain func answer(${["agent", ...(asked ?? [])].join(", ")}) {\n    return again(0)\n}`,
                ),
            };
        case "violation.payload":
            return { text: fenced(HOSTILE, "json") };
        case "contract":
        case "raised":
        case "value":
        case "limit.steps":
        case "limit.bytes":
        case "limit.turns":
        case "violation.capability":
            return { text: asked === null ? message("It is done.") : functionText(asked, BODIES[kind](message)) };
        case "bad_source":
            return { text: wrongSource(asked) };
        case "wrong_signature":
            return { text: functionText(["somebody", ...(asked ?? []), "more"], "return none") };
        case "huge": {
            const bytes = Number(params.bytes ?? HUGE);
            return { text: asked === null ? "x".repeat(bytes) : functionText(asked, `return "${"x".repeat(bytes)}"`) };
        }
        case "error_then_ok":
            return turns < Number(params.times ?? 1) ? { text: wrongSource(asked) } : valued(jsonOf(params.json), asked);
    }
}

/** What an agent that fails at once says. */
const WORDS = {
    unreachable: "it is not there",
    timeout: "it took too long",
    rate_limited: "it is told to wait",
    tool: "a tool of its own failed",
    model: "its model failed",
    denied: "it is not let in",
    cancelled: "it was called off",
} as const;

/** Tool calls of `limit.calls`. */
const CALLS = 100;

const HOSTILE = '{"name":"constructor","params":[{"name":"agent"}],"effects":[],"body":[],"__proto__":{"x":1}}';

/** Statements of functions that do what their fault says. */
const BODIES = {
    contract: () => "return { unexpected: true }",
    raised: (message: (otherwise: string) => string) => `raise ${literalOf(message("it will not"))}`,
    value: () => "items = [1]\nreturn items[5]",
    "limit.steps": () => "count = 0\nloop until false max 1000000000 { count += 1 }",
    "limit.bytes": () => 'doubled = "x"\nloop until false max 1000 { doubled += doubled }',
    "limit.turns": () => 'loop until false max 1000000 { agent.send("And now?") }',
    "violation.capability": () => 'return "I am " + agent',
} as const satisfies { readonly [kind in Fault]?: (message: (otherwise: string) => string) => string };

function wrongSource(asked: readonly string[] | null): string {
    return functionText(asked ?? [], "return (");
}

/** Ends at the limit, or when the turn is stopped; without a limit at the stop alone. */
async function silent(limit: number, io: PerformIO): Promise<void> {
    const stopped = new Promise<void>((done) => io.signal.addEventListener("abort", () => done(), { once: true }));
    await (Number.isFinite(limit) ? Promise.race([stopped, io.wait(limit).catch(() => undefined)]) : stopped);
}

/** What it waits for, such as a person who is asked about a use, is waited for no longer than its turn goes on. */
async function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const stopped = Promise.withResolvers<never>();
    const stop = (): void => stopped.reject(new AgentFail("cancelled", "it was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    try {
        return await Promise.race([work, stopped.promise]);
    } finally {
        signal.removeEventListener("abort", stop);
    }
}

/** Uses of its hands, then the reply, within the limits of the turn (AG2, G3). */
async function told(said: Said, turn: AgentTurn, io: PerformIO): Promise<Outcome> {
    const { limits } = turn;
    const entries: AgentEntry[] = [...(said.entries ?? [])];
    let calls = entries.filter((one) => one.kind === "call").length;
    const steps = (): number => entries.filter((one) => one.kind === "call" || one.kind === "message").length;
    for (const use of said.uses ?? []) {
        calls++;
        if (limits.steps !== undefined && steps() >= limits.steps)
            throw over("limit.steps", `it may use ${limits.steps} steps, and wanted more`, said, entries, calls - 1);
        if (limits.calls !== undefined && calls > limits.calls)
            throw over("limit.calls", `it may make ${limits.calls} tool calls`, said, entries, calls);
        entries.push(await used(use, `use-${calls}`, io));
    }
    if (limits.calls !== undefined && calls > limits.calls)
        throw over("limit.calls", `it may make ${limits.calls} tool calls, and made ${calls}`, said, entries, calls);
    if (said.text !== "" && said.entries === undefined) entries.push({ kind: "message", text: said.text });
    if (limits.steps !== undefined && steps() > limits.steps)
        throw over("limit.steps", `it may use ${limits.steps} steps, and used ${steps()}`, said, entries, calls);
    const bytes = Buffer.byteLength(said.text);
    if (limits.bytes !== undefined && bytes > limits.bytes)
        throw over("limit.bytes", `it may say ${limits.bytes} bytes of text, and said ${bytes}`, { ...said, text: "" }, [], calls);
    const { input = 0, output = 0, usd = 0 } = said.usage ?? {};
    if (limits.tokens !== undefined && input + output > limits.tokens)
        throw over("limit.tokens", `it may use ${limits.tokens} tokens, and used ${input + output}`, said, entries, calls);
    if (limits.usd !== undefined && usd > limits.usd)
        throw over("limit.cost", `it may cost ${limits.usd} US dollars, and cost ${usd}`, said, entries, calls);
    if (said.text !== "") io.emit({ type: "text", delta: said.text });
    const reply = replyOf(said, said.stop ?? "end_turn", calls, entries);
    const origins = [`agent:${turn.agent.name}`];
    return { ok: true, value: reply as unknown as Json, origins, ...(said.usage === undefined ? {} : { usage: said.usage }) };
}

async function used(use: AgentUse, id: string, io: PerformIO): Promise<AgentEntry> {
    const entry = { kind: "call", id, name: `${use.tool}.${use.method}`, input: [...use.args] as Json } as const;
    const outcome = await io.use?.(use);
    if (outcome === undefined)
        return { ...entry, status: "failed", permission: { allowed: false, by: "nobody", why: "it has no hands here" } };
    if (outcome.ok) return { ...entry, status: "completed", output: outcome.value, permission: { allowed: true, by: "remit" } };
    const refused = outcome.failure.kind === "denied" || outcome.failure.kind === "violation.remit";
    return {
        ...entry,
        status: "failed",
        output: outcome.failure.message,
        permission: refused ? { allowed: false, by: "remit", why: outcome.failure.message } : { allowed: true, by: "remit" },
    };
}

function over(kind: FailureKind, message: string, said: Said, entries: readonly AgentEntry[], calls: number): AgentFail {
    const reply = replyOf(said, "cancelled", calls, entries) as unknown as Json;
    return new AgentFail(kind, message, { detail: { reply }, ...(said.usage === undefined ? {} : { usage: said.usage }) });
}

function replyOf(said: Said, stop: AgentReply["stop"], calls: number, entries?: readonly AgentEntry[]): AgentReply {
    const list = entries ?? (said.text === "" ? [] : [{ kind: "message" as const, text: said.text }]);
    return {
        text: said.text,
        stop,
        entries: list,
        agent: { name: "stub", version: "1" },
        confinement: "remote",
        // no time: the same run gives the same record
        spent: { steps: list.filter((one) => one.kind === "call" || one.kind === "message").length, calls, ms: 0 },
    };
}

function textOf(turn: AgentTurn): string {
    return turn.prompt.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function fileText(uri: StubUri, turn: AgentTurn, { root, grants }: StubPlace): string {
    if (root === undefined || root === "") throw new AgentFail("unreachable", `${uri.file} cannot be read: this program has no folder`);
    const tree: ProgramTree = programTree(root, grants);
    const read = tree.read(tree.pathOf(uri.file, turn.agent.file));
    if (!read.ok) throw new AgentFail("unreachable", read.message);
    return read.text;
}

/** A JSON list, or a reply a line. */
function repliesOf(text: string, file: string): readonly Json[] {
    const whole = readJson(text);
    if (whole.ok && Array.isArray(whole.value)) return whole.value;
    return text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line, index) => {
            const read = readJson(line);
            if (!read.ok) throw new AgentFail("unreachable", `${file}: line ${index + 1} ${read.message}`);
            return read.value;
        });
}
