/**
 * What an agent may ask of its client: permission, files, terminals, questions to a person.
 *
 * Boundary: from requests of the protocol to uses of the program's tools and back. Every decision is the machine's.
 *
 * SV1: nothing is done or allowed outside a turn, after its stop, or for another session.
 * SV2: only options that hold once are chosen: what a remit says now says nothing of later.
 * SV4: an allowed write is made once. opencode says what it is going to write and then writes it: where it can, what it says is not written as well.
 * SV5: a call that the agent told of as failed is over: it is not decided about any more, and what it would write is not written. opencode fails all calls
 *     that wait for a permission when one is refused, and asks about them all the same.
 * SV3: permissions are asked for one at a time, and only so many in a turn; what waits to be answered is bounded, too: a person may take long.
 */
import type { ClientApp, RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import { isAbsolute } from "node:path";
import type { AgentUse, Permission } from "../run/host.ts";
import { headOf } from "../secret/cut.ts";
import { elicit } from "../tool/mcp-elicit.ts";
import { fileUse, usesOf } from "./hands.ts";
import type { Sdk } from "./link.ts";
import { Terminals } from "./terminals.ts";
import { objectOf } from "./given.ts";
import { type Refuse, type Turn, use } from "./turn.ts";

export interface ServeOptions {
    readonly sdk: Sdk;
    /** Name of the agent's import. */
    readonly name: string;
    readonly session: () => string | null;
    readonly current: () => Turn | null;
}

export function serving({ sdk, name, session, current }: ServeOptions): (app: ClientApp) => ClientApp {
    const refuse: Refuse = (message, code = -32603) => new sdk.RequestError(code, message);
    const terminals = new Terminals(refuse);
    /** SV1. Null: there is none. */
    const turnOf = (sessionId: string | null): Turn | null => {
        const turn = current();
        return turn === null || turn.stopped.aborted || (sessionId !== null && sessionId !== session()) ? null : turn;
    };
    const counted = (sessionId: string): Turn => {
        const turn = turnOf(sessionId);
        if (turn === null) throw refuse("no turn of this session is under way", -32602);
        turn.count();
        return turn;
    };
    const terminal = ({ terminalId, sessionId }: { readonly terminalId: string; readonly sessionId: string }): string => {
        if (sessionId !== session()) throw refuse("there is no terminal of this session", -32002);
        return terminalId;
    };
    return (app) =>
        app
            .onRequest("session/request_permission", async ({ params }) => {
                const turn = turnOf(params.sessionId);
                return turn === null ? CANCELLED : permission(turn, params);
            })
            .onRequest("fs/read_text_file", async ({ params }) => {
                const { path, line, limit } = params;
                const turn = counted(params.sessionId);
                const { content } = await fileDone({ turn, method: "read", path, refuse });
                if (typeof content !== "string") throw refuse(`'${headOf(path, MAX_NOTE, turn.secrets)}' is no text`);
                return { content: linesOf(content, line ?? undefined, limit ?? undefined) };
            })
            .onRequest("fs/write_text_file", async ({ params }) => {
                const { path, content } = params;
                const turn = counted(params.sessionId);
                // SV4
                if (!turn.makesItself(path, content)) await fileDone({ turn, method: "write", path, content, refuse });
                return {};
            })
            .onRequest("terminal/create", async ({ params }) => ({ terminalId: terminals.create(counted(params.sessionId), params) }))
            .onRequest("terminal/output", async ({ params }) => terminals.output(terminal(params)) as never)
            .onRequest("terminal/wait_for_exit", async ({ params }) => terminals.exit(terminal(params)))
            .onRequest("terminal/kill", async ({ params }) => {
                terminals.stop(terminal(params));
                await terminals.exit(terminal(params));
                return {};
            })
            .onRequest("terminal/release", async ({ params }) => {
                terminals.release(terminal(params));
                return {};
            })
            .onRequest("elicitation/create", async ({ params }) => {
                const turn = turnOf("sessionId" in params ? (params.sessionId as string) : null);
                if (turn === null) return { action: "cancel" };
                turn.count();
                const calls = turn.elicited(name);
                return (await turn.answering(() => elicit(name, params, calls, turn.secrets, "agent"), params)) as { action: "decline" };
            });
}

/** What a use says of itself beside its arguments, a path, and why something is refused, UTF-16 units. */
const MAX_NOTE = 500;
/** Why the program's tool failed, as the agent is told, UTF-16 units. */
const MAX_REFUSED = 2000;
const CANCELLED = { outcome: { outcome: "cancelled" } } as const;

async function permission(turn: Turn, params: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    turn.count();
    const { toolCall, options } = params;
    const isOver = turn.transcript.call(toolCall.toolCallId)?.status === "failed";
    turn.transcript.asked({ ...toolCall });
    const { name = "", toolKind: kind, title, input: told, locations, diffs = [] } = turn.transcript.call(toolCall.toolCallId) ?? {};
    // What would be done is what it asks about, whatever it said before.
    const input = Object.keys(objectOf(toolCall.rawInput)).length > 0 ? toolCall.rawInput : told;
    // What a call changes may have been told before it is asked about.
    const shown = diffs.map(({ path, old, new: newText }) => ({ type: "diff", path, oldText: old, newText }));
    const note = title === undefined ? undefined : headOf(title, MAX_NOTE, turn.secrets);
    const wanted = { name, kind, title: note, input, locations, content: toolCall.content ?? shown };
    const stopped = new Promise<null>((done) => turn.stopped.addEventListener("abort", () => done(null), { once: true }));
    const asked = turn.inOrder(async () => {
        if (turn.stopped.aborted || isOver) return null;
        await turn.edits.written();
        const uses = usesOf(wanted, turn);
        const said = await decide(turn, uses);
        if (said.allowed) await turn.edits.allowed(toolCall.toolCallId, uses ?? []);
        return said;
    });
    const said = await turn.answering(() => Promise.race([asked, stopped]), params);
    if (said === null || turn.stopped.aborted) return CANCELLED;
    const why = said.allowed ? {} : { why: headOf(said.message, MAX_NOTE, turn.secrets) };
    turn.transcript.decided(toolCall.toolCallId, { allowed: said.allowed, by: said.by, ...why });
    // SV2.
    const wish = said.allowed ? "allow_once" : "reject_once";
    const option = options.find((one) => one.kind === wish) ?? options.find((one) => one.kind === "reject_once");
    return option === undefined ? CANCELLED : { outcome: { outcome: "selected", optionId: option.optionId } };
}

async function decide(turn: Turn, uses: readonly AgentUse[] | null): Promise<Permission> {
    if (uses === null) return { allowed: false, by: "remit", message: "no tool that it was given stands for this" };
    let by: "remit" | "person" = "remit";
    for (const one of uses) {
        const said = (await turn.io.may?.(one, turn.stopped)) ?? { allowed: false, by: "remit", message: "no rule decides here" };
        if (!said.allowed) return said;
        if (said.by === "person") by = "person";
    }
    return { allowed: true, by };
}

interface FileUse {
    readonly turn: Turn;
    readonly method: "read" | "write";
    readonly path: string;
    /** What is written. */
    readonly content?: string;
    readonly refuse: Refuse;
}

/** A file that is read or written by the program's tool. Throws what the agent is told. */
function fileDone({ turn, method, path, content, refuse }: FileUse): Promise<{ readonly [key: string]: unknown }> {
    const shown = headOf(path, MAX_NOTE, turn.secrets);
    if (!isAbsolute(path)) throw refuse(`'${shown}' is not an absolute path`, -32602);
    const at = fileUse(turn.files, method, path, turn.cwd);
    if (at === null) throw refuse(`'${shown}' is in no folder that this agent may ${method}`);
    const args = [{ path: at.path, ...(content === undefined ? {} : { content }) }];
    const done = async (): Promise<{ readonly [key: string]: unknown }> => {
        const asked = content === undefined ? undefined : turn.transcript.changing(path, content);
        if (asked?.status === "failed") throw refuse("its call has failed, so nothing is written for it");
        const outcome = await use(turn, { tool: at.tool, method, args });
        if (outcome.ok && asked !== undefined) asked.made = `${at.tool}.${method}`;
        if (outcome.ok) return objectOf(outcome.value);
        const isMissing = method === "read" && outcome.failure.kind === "tool";
        throw refuse(headOf(outcome.failure.message, MAX_REFUSED, turn.secrets), isMissing ? -32002 : -32603);
    };
    const write = { tool: at.tool, path: at.path, content: content ?? "" };
    return turn.answering(() => (content === undefined ? done() : turn.edits.request(write, done)), content ?? null);
}

/** `line` from 1. */
function linesOf(content: string, line: number | undefined, limit: number | undefined): string {
    if (line === undefined && limit === undefined) return content;
    const lines = content.split(/(?<=\n)/);
    const from = Math.max(0, (line ?? 1) - 1);
    return lines.slice(from, limit === undefined ? undefined : from + limit).join("");
}
