/**
 * `scripted:FILE`: a model whose replies stand in a JSON file.
 *
 * The file is a list (replies in order), or an object with any of
 * - `labels`: `{"Agent.func[n]": reply | [replies]}`; one reply is given every time, a list in order;
 * - `rules`: `[{"when": "text of the prompt" | ["all", "of these"], "reply": …}]`; the first that matches;
 * - `replies`: in order, for what neither label nor rule answers.
 * An object with none of these keys is taken as `labels`.
 *
 * A reply is a text, or an object with `text`, `json` (a value written as JSON), `calls` (`[{"name", "args"}]`) or `fail`
 * (`{"kind", "message"}`), and besides `finish`, `thinking`, `usage`, `delay` (milliseconds), `chunks` (pieces of a streamed text). Any other
 * JSON value is the text of that value.
 *
 * Boundary: what a model says is decided by the file alone. A missing reply is a failure that names the label.
 */
import { isObject, type Json } from "@remit/language";
import { FAILURE_KINDS, type FailureKind, type ModelReply, type ModelTurn, type ToolCall, type Usage } from "@remit/machine";
import { cancelled, type Engine, failed, promptText, type Turned, type TurnIO } from "./engine.ts";
import { pauseFor } from "../process/limiter.ts";
import { readScript, SCRIPT_HINT, type Script } from "./replies.ts";

export function scriptedEngine(uri: string, file: string): Engine {
    let script: Script | string | null = null;
    let next = 0;
    const given = new Map<string, number>();

    function pick(request: ModelTurn, from: Script): Json | undefined {
        const { label } = request;
        if (Object.hasOwn(from.labels, label)) {
            const found = from.labels[label] as Json;
            if (!Array.isArray(found)) return found;
            const at = given.get(label) ?? 0;
            given.set(label, at + 1);
            return found[at];
        }
        const prompt = from.rules.length === 0 ? "" : promptText(request);
        const rule = from.rules.find((one) => one.when.every((words) => prompt.includes(words)));
        return rule === undefined ? from.replies[next++] : rule.reply;
    }

    async function turn(request: ModelTurn, io: TurnIO): Promise<Turned> {
        script ??= readScript(file);
        if (typeof script === "string") return failed("model", script, { hint: SCRIPT_HINT });
        const reply = pick(request, script);
        if (reply === undefined) {
            const hint = `add a reply for ${JSON.stringify(request.label)} to its labels, or one more to its replies`;
            return failed("model", `${uri} has no reply for ${request.label}`, { hint, detail: { label: request.label } });
        }
        return say(reply, request, io, uri);
    }
    return { uri, turn };
}

const KEYS: ReadonlySet<string> = new Set(["text", "json", "calls", "fail", "finish", "thinking", "usage", "delay", "chunks"]);
const FINISHES: ReadonlySet<string> = new Set<ModelReply["finish"]>(["stop", "length", "tool", "refusal", "other"]);

type Written = { readonly [key: string]: Json };

function written(reply: Json): Written | null {
    if (!isObject(reply)) return null;
    const keys = Object.keys(reply);
    return keys.every((key) => KEYS.has(key)) && keys.some((key) => key === "text" || key === "json" || key === "calls" || key === "fail")
        ? reply
        : null;
}

async function say(reply: Json, request: ModelTurn, io: TurnIO, uri: string): Promise<Turned> {
    const it = written(reply);
    if (typeof it?.delay === "number") {
        try {
            await pauseFor(it.delay, io.signal);
        } catch {
            // The only way out of the pause but its end is the abort.
            return cancelled();
        }
    }
    if (io.signal.aborted) return cancelled();
    if (it?.fail !== undefined) return failing(it.fail, uri);
    const text =
        it === null ? textOf(reply) : it.text !== undefined ? textOf(it.text) : it.json !== undefined ? JSON.stringify(it.json) : "";
    const calls = it?.calls === undefined ? [] : callsOf(it.calls, request.label);
    if (calls === null) return failed("model", `${uri} has calls for ${request.label} that are not [{"name", "args"}]`);
    if (request.stream) {
        const size = typeof it?.chunks === "number" && it.chunks >= 1 ? Math.ceil(text.length / it.chunks) : text.length;
        for (let at = 0; at < text.length; at += size) io.emit({ type: "text", delta: text.slice(at, at + size) });
    }
    const finish =
        typeof it?.finish === "string" && FINISHES.has(it.finish)
            ? (it.finish as ModelReply["finish"])
            : calls.length > 0
              ? "tool"
              : "stop";
    return {
        ok: true,
        raw: {
            text,
            finish,
            model: uri,
            constrained: false,
            ...(calls.length === 0 ? {} : { calls }),
            ...(typeof it?.thinking === "string" ? { thinking: it.thinking } : {}),
            // No tokens are reported that none counted; what fixed replies cost is known.
            usage: isUsage(it?.usage) ? it.usage : { usd: 0 },
        },
    };
}

function textOf(json: Json): string {
    return typeof json === "string" ? json : JSON.stringify(json);
}

function callsOf(json: Json, label: string): ToolCall[] | null {
    if (!Array.isArray(json)) return null;
    const made: ToolCall[] = [];
    for (const [at, call] of json.entries()) {
        if (!isObject(call) || typeof call.name !== "string") return null;
        made.push({ id: typeof call.id === "string" ? call.id : `${label}-${at}`, name: call.name, args: call.args ?? {} });
    }
    return made;
}

function failing(json: Json, uri: string): Turned {
    const { kind, message } = isObject(json) ? json : { kind: "model", message: json };
    const known = typeof kind === "string" && Object.hasOwn(FAILURE_KINDS, kind) ? (kind as FailureKind) : "model";
    return failed(known, typeof message === "string" ? message : `${uri} fails, as its file says`);
}

function isUsage(json: Json | undefined): json is Json & Usage {
    return isObject(json) && Object.values(json).every((count) => typeof count === "number");
}
