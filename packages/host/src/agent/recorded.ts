/**
 * Recordings of agents: what one answered, by the hash of what it was sent.
 *
 * Lines of the same file as those of models (`model/recorded.ts`): `{"v": 1, "kind": "agent", "request": sha256, "label", "parts", "hands", "reply" |
 * "failure", "usage"}`. `parts` are hashes of the parts of the handshake by name, so that a changed one can be named; what was sent is never
 * written. `hands` are the uses that the agent made of its hands, in order.
 *
 * Boundary: around a performer (recording), or in its place (replaying). Secrets are taken out of a request before it is hashed, and out of the
 * answer before it is written.
 *
 * C3: the hash covers what the agent was sent, its hands and what bounds its answer; not its session's name, its URI, time that is left, or how its
 *     process is kept.
 * C4: a line is on disk before the answer is used. Cancelled turns are not written.
 * C5: a turn that was not recorded fails as `unreachable`, and the failure names what differs from the turn that was recorded in its place.
 * C6: uses of hands are made again through the remit; one that is decided otherwise than it was fails the turn.
 */
import { createHash } from "node:crypto";
import { canonicalJson, isObject, type Json } from "@remit/language";
import type { AgentReply, AgentTurn, Effect, Failure, Outcome, Usage } from "@remit/machine";
import { recordingFile } from "../model/recorded.ts";
import { readRecordedAgents } from "../model/replies.ts";
import type { AgentUse, Later, Performer, PerformIO, Permission } from "../run/host.ts";
import { handshakeOf, type JsonObject } from "./handshake.ts";

/** A use of a hand: asked about (`may`), or made (`use`). */
export interface RecordedHand {
    readonly do: "may" | "use";
    readonly use: AgentUse;
    readonly allowed: boolean;
}

/** One line of a recording. */
export interface AgentLine {
    readonly v: 1;
    readonly kind: "agent";
    readonly request: string;
    readonly label: string;
    readonly parts: { readonly [name: string]: string };
    readonly hands?: readonly RecordedHand[];
    readonly reply?: AgentReply;
    readonly failure?: Failure;
    readonly usage?: Usage;
    readonly origins?: readonly string[];
}

/** What identifies a turn, in canonical order, by name (C3). */
export function canonicalTurn(turn: AgentTurn): JsonObject {
    const nameless = (text: string): string => (turn.session === "" ? text : text.replaceAll(turn.session, "SESSION"));
    const { steps, calls, tokens, usd, bytes } = turn.limits;
    const prompt = turn.prompt.map((part): Json => {
        const handshake = handshakeOf(part);
        if (handshake !== null) return { type: "handshake", ...withoutSession(handshake) };
        if (part.type === "text") return { type: "text", text: nameless(part.text) };
        return { type: "resource", mediaType: part.mediaType, text: nameless(part.text) };
    });
    return plainJson({
        agent: turn.agent.name,
        turn: turn.turn,
        prompt,
        hands: turn.hands.map(({ tool, uri, methods }) => ({ tool, uri, methods })),
        limits: { steps, calls, tokens, usd, bytes },
        model: turn.model,
    });
}

/** Lower-case hex SHA-256 of the canonical turn. */
export function turnHash(turn: AgentTurn): string {
    return hashOf(canonicalTurn(turn));
}

/** Hashes of its parts: `hands`, `limits`, `text 0`, `handshake.expects`, `handshake.params.log` … */
export function turnParts(turn: AgentTurn): { readonly [name: string]: string } {
    const { prompt, ...rest } = canonicalTurn(turn);
    const parts: { [name: string]: string } = Object.create(null);
    for (const [name, json] of Object.entries(rest)) parts[name] = hashOf(json);
    for (const [index, part] of (prompt as readonly JsonObject[]).entries()) {
        if (part.type !== "handshake") {
            parts[`${part.type} ${index}`] = hashOf(part);
            continue;
        }
        for (const [name, json] of Object.entries(part)) {
            if (name === "params" && Array.isArray(json))
                for (const [nth, one] of json.entries()) parts[`handshake.params.${isObject(one) ? String(one.name) : nth}`] = hashOf(one);
            else parts[`handshake.${name}`] = hashOf(json);
        }
    }
    return parts;
}

/** `Fixer main/Fixer.yield#0 turn 1`: for people, and for finding what stood in the place of a turn that is missing. */
function labelOf(turn: AgentTurn): string {
    return `${turn.agent.name} ${turn.session} turn ${turn.turn}`;
}

export interface RecordingOptions {
    /** Absolute. */
    readonly file: string;
    /** Takes every known secret out. */
    readonly scrub: (json: Json) => Json;
}

/** An agent's performer, with what it answers written to a file. */
export function recordingAgents(perform: Performer, { file, scrub }: RecordingOptions): Performer {
    const append = recordingFile(file);
    const write = (line: AgentLine): Promise<void> => append(scrub(line as unknown as Json));
    return async (effect, io): Promise<Outcome | Later> => {
        const turn = scrub(effect.request) as unknown as AgentTurn;
        const hands: RecordedHand[] = [];
        const outcome = await perform(effect, watching(io, hands));
        if ("later" in outcome) return outcome;
        const head = { v: 1, kind: "agent", request: turnHash(turn), label: labelOf(turn), parts: turnParts(turn) } as const;
        const more = { ...(hands.length === 0 ? {} : { hands }), ...(outcome.usage === undefined ? {} : { usage: outcome.usage }) };
        if (outcome.ok) await write({ ...head, ...more, reply: outcome.value as unknown as AgentReply, origins: outcome.origins });
        else if (outcome.failure.kind !== "cancelled") await write({ ...head, ...more, failure: outcome.failure });
        return outcome;
    };
}

function watching(io: PerformIO, hands: RecordedHand[]): PerformIO {
    const { may, use } = io;
    return {
        ...io,
        ...(may === undefined
            ? {}
            : {
                  may: async (one: AgentUse): Promise<Permission> => {
                      const at = hands.length;
                      hands.push({ do: "may", use: one, allowed: false });
                      const said = await may(one);
                      hands[at] = { do: "may", use: one, allowed: said.allowed };
                      return said;
                  },
              }),
        ...(use === undefined
            ? {}
            : {
                  use: async (one: AgentUse): Promise<Outcome> => {
                      const at = hands.length;
                      hands.push({ do: "use", use: one, allowed: false });
                      const outcome = await use(one);
                      hands[at] = { do: "use", use: one, allowed: isAllowed(outcome) };
                      return outcome;
                  },
              }),
    };
}

function isAllowed(outcome: Outcome): boolean {
    return outcome.ok || (outcome.failure.kind !== "denied" && !outcome.failure.kind.startsWith("violation."));
}

/** What stands in the place of all agents: the answers of a recording. A turn that was recorded several times is answered in order, the last again. */
export function recordedAgents({ file, scrub }: RecordingOptions): Performer {
    let known: ReadonlyMap<string, readonly AgentLine[]> | string | null = null;
    const given = new Map<string, number>();
    return async (effect, io): Promise<Outcome> => {
        known ??= readRecordedAgents(file);
        if (typeof known === "string") return failed(effect, known);
        const turn = scrub(effect.request) as unknown as AgentTurn;
        const hash = turnHash(turn);
        const all = known.get(hash);
        if (all === undefined) return missing(effect, turn, hash, [...known.values()].flat());
        const at = given.get(hash) ?? 0;
        given.set(hash, at + 1);
        const line = all[Math.min(at, all.length - 1)] as AgentLine;
        for (const hand of line.hands ?? []) {
            const now = await again(hand, io);
            if (now === hand.allowed) continue;
            const { tool, method } = hand.use;
            const message = `the recorded agent used ${tool}.${method}, which was ${hand.allowed ? "allowed" : "refused"} then and is ${now ? "allowed" : "refused"} now`;
            return failed(effect, message, { request: hash, label: line.label, use: hand.use as unknown as Json });
        }
        const usage = line.usage === undefined ? {} : { usage: line.usage };
        if (line.failure !== undefined) return { ok: false, failure: { ...line.failure, site: effect.site }, ...usage };
        const reply = line.reply as AgentReply;
        if (reply.text !== "") io.emit({ type: "text", delta: reply.text });
        return { ok: true, value: reply as unknown as Json, origins: line.origins ?? [`agent:${turn.agent.name}`], ...usage };
    };
}

async function again(hand: RecordedHand, io: PerformIO): Promise<boolean> {
    if (hand.do === "may") return (await io.may?.(hand.use))?.allowed ?? false;
    const outcome = await io.use?.(hand.use);
    return outcome !== undefined && isAllowed(outcome);
}

/** C5. */
function missing(effect: Effect, turn: AgentTurn, hash: string, lines: readonly AgentLine[]): Outcome {
    const label = labelOf(turn);
    const parts = turnParts(turn);
    const place = lines.filter((line) => line.label === label);
    // the nearest of those that stood in its place, else of the same agent
    const near = (place.length > 0 ? place : lines.filter((line) => line.label.startsWith(`${turn.agent.name} `)))
        .map((line) => ({ line, differs: differences(line.parts, parts) }))
        .sort((a, b) => a.differs.length - b.differs.length)[0];
    const detail: Json = { request: hash, label, ...(near === undefined ? {} : { differs: near.differs, recorded: near.line.label }) };
    const why =
        near === undefined
            ? `the recording holds no turn of ${turn.agent.name}`
            : `what is sent differs from what was recorded as ${near.line.label}: ${near.differs.join(", ") || "its order"}`;
    return failed(effect, `no answer is recorded for ${label}: ${why}`, detail, "the program or its input changed since; record again");
}

function differences(was: { readonly [name: string]: string }, now: { readonly [name: string]: string }): string[] {
    const names = new Set([...Object.keys(was), ...Object.keys(now)]);
    return [...names].filter((name) => was[name] !== now[name]).sort();
}

function failed(effect: Effect, message: string, detail?: Json, hint?: string): Outcome {
    return {
        ok: false,
        failure: {
            kind: "unreachable",
            message,
            site: effect.site,
            ...(detail === undefined ? {} : { detail }),
            ...(hint === undefined ? {} : { hint }),
        },
    };
}

function withoutSession(handshake: JsonObject): JsonObject {
    const { session: _, ...rest } = handshake;
    return rest;
}

/** As JSON has it: keys without a value are absent. */
function plainJson(value: unknown): JsonObject {
    return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function hashOf(json: Json): string {
    return createHash("sha256").update(canonicalJson(json)).digest("hex");
}
