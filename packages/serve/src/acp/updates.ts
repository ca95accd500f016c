/**
 * What a run does, as an editor is told of it: tool calls, plans of blocks, refusals.
 *
 * Boundary: events of the ledger to updates of the protocol. When they are sent is `session.ts`'s.
 *
 * ACU1: an event gives the same updates while the run goes on and when its session is loaded later.
 * ACU2: what others wrote is made plain, and cut to a length that an editor can show.
 */
import { isAbsolute, join } from "node:path";
import type { SessionUpdate, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { isObject, type Json, plain, plainLine, safeJson } from "@remit/language";
import type { LedgerEvent, Plan } from "@remit/machine";

type Fields = { readonly [key: string]: Json };

const MAX_TITLE = 200;
const MAX_SHOWN = 10_000;
/** A result with more characters is told by its text alone. */
const MAX_RAW = 100_000;

/** Tools of the session itself; the editor shows what they do in other ways. */
const OWN: ReadonlySet<string> = new Set(["host:conversation", "host:person"]);

/** What a call of a tool is, for the editor's icon; by scheme, then by method. */
const KINDS: { readonly [scheme: string]: { readonly [method: string]: ToolKind } } = {
    file: {
        read: "read",
        list: "read",
        stat: "read",
        glob: "search",
        grep: "search",
        search: "search",
        "": "edit",
        delete: "delete",
        move: "move",
    },
    sh: { "": "execute" },
    shell: { "": "execute" },
    http: { "": "fetch" },
    https: { "": "fetch" },
    webfetch: { "": "fetch" },
    skills: { "": "read" },
    env: { "": "read" },
};

export class Updates {
    readonly #turn: string;
    readonly #workspace: string;
    /** Calls that the editor knows of. */
    readonly #known = new Set<string>();
    readonly #plans = new Map<string, Map<string, { readonly content: string; status: "pending" | "in_progress" | "completed" }>>();

    constructor(turn: string, workspace: string) {
        this.#turn = turn;
        this.#workspace = workspace;
    }

    of(event: LedgerEvent): SessionUpdate[] {
        const data = isObject(event.data) ? event.data : {};
        switch (event.kind) {
            case "tool.started":
                return OWN.has(String(data["uri"])) ? [] : [this.begun(event.path, data, "in_progress")];
            case "tool.ended":
                return OWN.has(String(data["uri"])) ? [] : this.#ended(event.path, data);
            case "agent.started":
                return [this.#named(event.path, `agent ${String(data["agent"])}`, "think")];
            case "agent.ended":
                return this.#known.has(event.path) ? [this.#over(event.path, data["ok"] !== false, [])] : [];
            case "policy.denied":
                return this.#denied(event.path, data);
            case "plan.started":
            case "plan.node.started":
            case "plan.node.ended":
                return this.#planned(event, data);
            default:
                return [];
        }
    }

    id(path: string): string {
        return `${this.#turn}/${path}`;
    }

    /** A call, told of once; then what is new of it. */
    begun(path: string, data: Fields, status: "pending" | "in_progress"): SessionUpdate {
        const toolCallId = this.id(path);
        if (this.#known.has(path)) return { sessionUpdate: "tool_call_update", toolCallId, status };
        this.#known.add(path);
        return { sessionUpdate: "tool_call", toolCallId, status, ...this.shown(data) };
    }

    /** A call that was waited with and is not made. */
    refused(path: string, why: string): SessionUpdate {
        return this.#over(path, false, [text(why)]);
    }

    /** What is shown of a call: its name, its arguments, the files that it speaks of, and what it would write. */
    shown(data: Fields): {
        title: string;
        name: string;
        kind: ToolKind;
        rawInput: Json;
        locations: ToolCallLocation[];
        content: ToolCallContent[];
    } {
        const { uri = "", method: said, args = [] } = data;
        const tool = data["tool"] ?? data["capability"] ?? "";
        const method = typeof said === "string" ? said : "";
        const [first = null] = Array.isArray(args) ? args : [];
        const scheme = String(uri).split(":")[0] ?? "";
        const kind = KINDS[scheme]?.[method] ?? KINDS[scheme]?.[""] ?? "other";
        const path = isObject(first) && typeof first["path"] === "string" && scheme === "file" ? this.#absolute(first["path"]) : null;
        const isWritten = kind === "edit" && isObject(first) && typeof first["content"] === "string";
        return {
            title: title(
                `${String(tool)}${method === "" ? "" : `.${method}`}${path === null ? "" : ` ${(first as Fields)["path"] as string}`}`,
            ),
            name: title(`${String(tool)}_${method}`),
            kind,
            rawInput: Array.isArray(args) && args.length > 1 ? args : first,
            locations: path === null ? [] : [{ path }],
            content: isWritten && path !== null ? [{ type: "diff", path, newText: String((first as Fields)["content"]) }] : [],
        };
    }

    #ended(path: string, data: Fields): SessionUpdate[] {
        const before = this.#known.has(path) ? [] : [this.begun(path, data, "in_progress")];
        const ok = data["ok"] === true;
        const result = ok ? (data["result"] ?? null) : String(data["error"] ?? "it failed");
        const said = this.shown(data).content;
        const update = this.#over(
            path,
            ok,
            said.length > 0 && ok ? said : [text(typeof result === "string" ? result : safeJson(result, 2))],
        );
        const isSmall = JSON.stringify(result).length <= MAX_RAW;
        return [...before, isSmall ? { ...update, rawOutput: result } : update];
    }

    #denied(path: string, data: Fields): SessionUpdate[] {
        const why = String(data["message"] ?? data["why"] ?? data["rule"] ?? "the program's rules");
        const before = this.#known.has(path) ? [] : [this.begun(path, data, "pending")];
        return [...before, this.refused(path, `Refused: ${why}`)];
    }

    #named(path: string, name: string, kind: ToolKind): SessionUpdate {
        this.#known.add(path);
        return { sessionUpdate: "tool_call", toolCallId: this.id(path), title: title(name), kind, status: "in_progress" };
    }

    #over(path: string, ok: boolean, content: ToolCallContent[]): SessionUpdate & { sessionUpdate: "tool_call_update" } {
        this.#known.delete(path);
        const toolCallId = this.id(path);
        return {
            sessionUpdate: "tool_call_update",
            toolCallId,
            status: ok ? "completed" : "failed",
            ...(content.length === 0 ? {} : { content }),
        };
    }

    /** The protocol has one plan a session: those of all blocks of the turn, one after another. */
    #planned(event: LedgerEvent, data: Fields): SessionUpdate[] {
        if (event.kind === "plan.started") {
            const { nodes } = data["plan"] as unknown as Plan;
            const rows = nodes.map(({ id, call }) => [id, { content: title(`${call} (${id})`), status: "pending" as const }] as const);
            this.#plans.set(event.path, new Map(rows));
        } else {
            const plan = this.#plans.get(event.parent ?? "");
            const id = String(data["id"]);
            const row = plan?.get(id);
            if (plan === undefined || row === undefined) return [];
            const { state } = data;
            const how = state === undefined || state === "done" ? "" : ` (${String(state)})`;
            const status = event.kind === "plan.node.started" ? "in_progress" : "completed";
            plan.set(id, { content: `${row.content}${how}`, status });
        }
        const entries = [...this.#plans.values()]
            .flatMap((plan) => [...plan.values()])
            .map((row) => ({ ...row, priority: "medium" as const }));
        return [{ sessionUpdate: "plan", entries }];
    }

    #absolute(path: string): string {
        return isAbsolute(path) ? path : join(this.#workspace, path);
    }
}

/** A piece of what the agent says. */
export function said(delta: string, messageId?: string): SessionUpdate {
    const content = { type: "text", text: plain(delta) } as const;
    return { sessionUpdate: "agent_message_chunk", content, ...(messageId === undefined ? {} : { messageId }) };
}

/** A value as the agent's last words. */
export function valueText(value: Json): string {
    return typeof value === "string" ? value : `\`\`\`json\n${safeJson(value, 2)}\n\`\`\``;
}

function title(words: string): string {
    const line = plainLine(words);
    return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE)}…`;
}

function text(words: string): ToolCallContent {
    const shown = plain(words);
    const cut = shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}\n… ${shown.length - MAX_SHOWN} more characters` : shown;
    return { type: "content", content: { type: "text", text: cut } };
}
