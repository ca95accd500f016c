/**
 * What an agent may ask of its client: permission, files, terminals, questions to a person.
 *
 * Boundary: from requests of the protocol to uses of the program's tools and back. Every decision is the machine's.
 *
 * V1: nothing is done or allowed outside a turn, after its stop, or for another session.
 * V2: only options that hold once are chosen: what a remit says now says nothing of later.
 * V3: permissions are asked for one at a time, and only so many in a turn.
 *     What waits to be answered is bounded, too: a person may take long.
 * V4: what is asked about or under way stops with its turn, and a command with its terminal.
 * V5: a terminal shows what its command printed so far, both streams in the order in which they came, without secrets: the end of it, from the
 *     beginning of a character, as many bytes as it may keep.
 */
import type { ClientApp } from "@agentclientprotocol/sdk";
import { isAbsolute } from "node:path";
import type { Json } from "@remit/language";
import type { AgentHand, Effect, Outcome } from "@remit/machine";
import type { AgentUse, PerformIO, Permission } from "../run/host.ts";
import { elicit } from "../tool/mcp-elicit.ts";
import type { CallIO } from "../tool/tool.ts";
import { commandUse, type FileHand, fileUse, lineOf, shellFolder, usesOf } from "./hands.ts";
import type { Sdk } from "./link.ts";
import { type Transcript, objectOf, weightOf } from "./transcript.ts";

/** A turn while it runs. */
export interface Serving {
    readonly effect: Effect;
    readonly io: PerformIO;
    readonly hands: readonly AgentHand[];
    readonly files: readonly FileHand[];
    readonly cwd: string;
    /** Absolute folder of the program's workspace. */
    readonly workspace: string;
    readonly transcript: Transcript;
    /** Aborted once the turn is to end. */
    readonly stopped: AbortSignal;
    /** A request is being answered until this settles: the agent waits for us. */
    busy(work: Promise<unknown>): void;
    /** Too many requests. */
    flooded(): void;
}

export interface ServeOptions {
    readonly sdk: Sdk;
    /** Name of the agent's import. */
    readonly name: string;
    readonly session: () => string | null;
    readonly current: () => Serving | null;
}

/** Requests for permission in one turn. */
const MAX_ASKS = 500;
/** What the requests that wait hold together, UTF-16 units. */
const MAX_WAITING = 64 * 1024 * 1024;
const MAX_TERMINALS = 64;
const OUTPUT_LIMIT = 1024 * 1024;

interface Terminal {
    readonly output: Output;
    exit: { exitCode: number | null; signal: string | null } | null;
    readonly done: Promise<void>;
    stop(): void;
}

export function serving({ sdk, name, session, current }: ServeOptions): (app: ClientApp) => ClientApp {
    const asks = new WeakMap<Serving, { count: number; waiting: number; last: Promise<unknown>; elicited: Map<CallIO, number> }>();
    const terminals = new Map<string, Terminal>();
    let ids = 0;

    const refuse = (message: string, code = -32603): Error => new sdk.RequestError(code, message);
    function now(sessionId: string): Serving {
        const turn = current();
        if (turn === null || turn.stopped.aborted || sessionId !== session()) throw refuse("no turn of this session is under way", -32602);
        return turn;
    }
    /** `held`: what the request says. */
    function busily<T>(turn: Serving, work: () => Promise<T>, held: unknown = null): Promise<T> {
        const units = weightOf(held, MAX_WAITING) ?? 0;
        const kept = asks.get(turn);
        if (kept !== undefined) {
            kept.waiting += units;
            if (kept.waiting > MAX_WAITING) turn.flooded();
        }
        const begun = work();
        const over = (): void => {
            if (kept !== undefined) kept.waiting -= units;
        };
        begun.then(over, over);
        turn.busy(begun);
        return begun;
    }
    function counted(turn: Serving): NonNullable<ReturnType<typeof asks.get>> {
        let kept = asks.get(turn);
        if (kept === undefined) {
            kept = { count: 0, waiting: 0, last: Promise.resolve(), elicited: new Map() };
            asks.set(turn, kept);
        }
        kept.count++;
        if (kept.count > MAX_ASKS) turn.flooded();
        return kept;
    }
    async function decide(turn: Serving, uses: readonly AgentUse[] | null): Promise<Permission> {
        if (uses === null) return { allowed: false, by: "remit", message: "no tool that it was given stands for this" };
        let by: "remit" | "person" = "remit";
        for (const use of uses) {
            const said: Permission = (await turn.io.may?.(use, turn.stopped)) ?? {
                allowed: false,
                by: "remit",
                message: "nobody decides here",
            };
            if (!said.allowed) return said;
            if (said.by === "person") by = "person";
        }
        return { allowed: true, by };
    }
    /** A use that is made; what it gave. Throws what the agent is told. */
    async function used(turn: Serving, use: AgentUse, missing: number): Promise<{ readonly [key: string]: unknown }> {
        const outcome = await use_(turn, use);
        if (outcome.ok) return objectOf(outcome.value);
        throw refuse(outcome.failure.message.slice(0, 2000), outcome.failure.kind === "tool" ? missing : -32603);
    }
    async function use_(turn: Serving, use: AgentUse, signal = turn.stopped, part?: (part: Json) => void): Promise<Outcome> {
        return (
            (await turn.io.use?.(use, signal, part)) ?? {
                ok: false,
                failure: { kind: "violation.remit", message: "nobody performs this here", site: null },
            }
        );
    }
    function placed(turn: Serving, method: "read" | "write", path: string): { readonly tool: string; readonly path: string } {
        if (!isAbsolute(path)) throw refuse(`'${path}' is not an absolute path`, -32602);
        const found = fileUse(turn.files, method, path, turn.cwd);
        if (found === null) throw refuse(`'${path.slice(0, 500)}' is in no folder that this agent may ${method}`);
        return found;
    }
    function terminal({ terminalId: id, sessionId }: { readonly terminalId: string; readonly sessionId: string }): Terminal {
        const found = sessionId === session() ? terminals.get(id) : undefined;
        if (found === undefined) throw refuse(`there is no terminal '${id.slice(0, 100)}'`, -32002);
        return found;
    }

    return (app) =>
        app
            .onRequest("session/request_permission", async ({ params }) => {
                const turn = current();
                if (turn === null || turn.stopped.aborted || params.sessionId !== session()) return { outcome: { outcome: "cancelled" } };
                const kept = counted(turn);
                const { toolCall, options } = params;
                turn.transcript.update({ ...toolCall, sessionUpdate: "tool_call_update" });
                const known = turn.transcript.call(toolCall.toolCallId);
                const wanted = {
                    name: known?.name ?? "",
                    kind: known?.toolKind,
                    title: known?.title,
                    input: known?.input,
                    locations: known?.locations,
                    content: toolCall.content ?? undefined,
                };
                const stopped = new Promise<null>((done) => turn.stopped.addEventListener("abort", () => done(null), { once: true }));
                const asked = kept.last.then(() =>
                    turn.stopped.aborted ? null : decide(turn, usesOf(wanted, turn.hands, turn.files, turn.cwd, turn.workspace)),
                );
                // Whoever asks next waits for this one, however it ends; it is told to the one who asked.
                kept.last = asked.catch(() => undefined);
                const said = await busily(turn, () => Promise.race([asked, stopped]), params);
                if (said === null || turn.stopped.aborted) return { outcome: { outcome: "cancelled" } };
                const why = said.allowed ? {} : { why: said.message.slice(0, 500) };
                turn.transcript.decided(toolCall.toolCallId, { allowed: said.allowed, by: said.by, ...why });
                const kind = said.allowed ? "allow_once" : "reject_once";
                const option = options.find((one) => one.kind === kind) ?? options.find((one) => one.kind === "reject_once");
                return { outcome: option === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: option.optionId } };
            })
            .onRequest("fs/read_text_file", async ({ params }) => {
                const turn = now(params.sessionId);
                counted(turn);
                const at = placed(turn, "read", params.path);
                return busily(turn, async () => {
                    const { content } = await used(turn, { tool: at.tool, method: "read", args: [{ path: at.path }] }, -32002);
                    if (typeof content !== "string") throw refuse(`'${params.path.slice(0, 500)}' is no text`);
                    return { content: linesOf(content, params.line ?? undefined, params.limit ?? undefined) };
                });
            })
            .onRequest("fs/write_text_file", async ({ params }) => {
                const turn = now(params.sessionId);
                counted(turn);
                const at = placed(turn, "write", params.path);
                await busily(
                    turn,
                    () => used(turn, { tool: at.tool, method: "write", args: [{ path: at.path, content: params.content }] }, -32603),
                    params.content,
                );
                return {};
            })
            .onRequest("terminal/create", async ({ params }) => {
                const turn = now(params.sessionId);
                counted(turn);
                if (terminals.size >= MAX_TERMINALS) throw refuse(`more than ${MAX_TERMINALS} terminals are open`);
                if ((params.env ?? []).length > 0) throw refuse("a command's environment is not for the agent to set", -32602);
                const folder = params.cwd ?? turn.cwd;
                const inside = shellFolder(turn.hands, turn.workspace, folder);
                const line = lineOf([params.command, ...(params.args ?? [])]);
                const plain = (params.args ?? []).length === 0 ? params.command : line;
                const use = commandUse(turn.hands, plain, inside === "." || inside === null ? undefined : inside, undefined);
                if (use === null || (inside === null && params.cwd !== undefined && params.cwd !== null))
                    throw refuse("this agent may start no command there");
                const id = `terminal-${++ids}`;
                const killed = new AbortController();
                const output = outputOf(Math.min(params.outputByteLimit ?? OUTPUT_LIMIT, OUTPUT_LIMIT));
                const made: Terminal = {
                    output,
                    exit: null,
                    done: busily(turn, () => use_(turn, use, AbortSignal.any([turn.stopped, killed.signal]), output.part)).then(
                        (outcome) => {
                            const { text, code } = commandResult(outcome);
                            // A failure says why there is no more; a tool that shows nothing on its way shows all of it now.
                            if (!outcome.ok || output.isEmpty()) output.add(text);
                            made.exit = killed.signal.aborted ? { exitCode: null, signal: "SIGKILL" } : { exitCode: code, signal: null };
                        },
                    ),
                    stop: () => {
                        if (made.exit === null) killed.abort(new Error("the agent stopped it"));
                    },
                };
                // What `use` throws is a defect of the host; the agent sees a command that did not end well.
                made.done.catch(() => {
                    made.exit ??= { exitCode: 126, signal: null };
                });
                terminals.set(id, made);
                return { terminalId: id };
            })
            .onRequest("terminal/output", async ({ params }) => {
                const { output, exit } = terminal(params);
                return { ...output.shown(), ...(exit === null ? {} : { exitStatus: exit }) };
            })
            .onRequest("terminal/wait_for_exit", async ({ params }) => {
                const one = terminal(params);
                await one.done.catch(() => undefined);
                return one.exit ?? { exitCode: null, signal: null };
            })
            .onRequest("terminal/kill", async ({ params }) => {
                const one = terminal(params);
                one.stop();
                await one.done.catch(() => undefined);
                return {};
            })
            .onRequest("terminal/release", async ({ params }) => {
                terminal(params).stop();
                terminals.delete(params.terminalId);
                return {};
            })
            .onRequest("elicitation/create", async ({ params }) => {
                const turn = current();
                const scoped = "sessionId" in params ? params.sessionId === session() : true;
                if (turn === null || turn.stopped.aborted || !scoped) return { action: "cancel" };
                const kept = counted(turn);
                const io: CallIO = { name, effect: turn.effect, signal: turn.io.signal, emit: turn.io.emit, child: turn.io.child };
                const calls = kept.elicited.size > 0 ? kept.elicited : kept.elicited.set(io, 0);
                return (await busily(turn, () => elicit(name, params, calls, "agent"), params)) as { action: "decline" };
            });
}

/** `line` from 1. */
function linesOf(content: string, line: number | undefined, limit: number | undefined): string {
    if (line === undefined && limit === undefined) return content;
    const lines = content.split(/(?<=\n)/);
    const from = Math.max(0, (line ?? 1) - 1);
    return lines.slice(from, limit === undefined ? undefined : from + limit).join("");
}

interface Output {
    add(text: string): void;
    /** Progress of the use that a command is. */
    readonly part: (part: Json) => void;
    isEmpty(): boolean;
    shown(): { readonly output: string; readonly truncated: boolean };
}

/** V5. */
function outputOf(limit: number): Output {
    let text = "";
    let truncated = false;
    const cut = (): void => {
        const tail = tailOf(text, limit);
        truncated ||= tail !== text;
        text = tail;
    };
    const add = (more: string): void => {
        text += more;
        // Now and then, so that much in small pieces is not gone through again and again.
        if (text.length > 2 * limit + 4096) cut();
    };
    return {
        add,
        part: (part) => {
            const { type, delta } = objectOf(part);
            if (type === "output" && typeof delta === "string") add(delta);
        },
        isEmpty: () => text === "" && !truncated,
        shown: () => {
            cut();
            return { output: text, truncated };
        },
    };
}

/** The end of a text of at most so many bytes, from the beginning of a character. */
export function tailOf(text: string, limit: number): string {
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length <= limit) return text;
    let from = bytes.length - limit;
    while (from < bytes.length && ((bytes[from] as number) & 0xc0) === 0x80) from++;
    return bytes.subarray(from).toString("utf8");
}

function commandResult(outcome: Outcome): { readonly text: string; readonly code: number } {
    if (!outcome.ok) return { text: outcome.failure.message, code: 126 };
    const { output, stdout, stderr, exit_code: code, ok } = objectOf(outcome.value as Json);
    const said = [output, stdout, stderr].filter((part) => typeof part === "string");
    // A command that a signal ended has no code.
    const ended = typeof code === "number" ? code : ok === false || code === null ? 1 : 0;
    return { text: said.length > 0 ? said.join("") : typeof outcome.value === "string" ? outcome.value : "", code: ended };
}
